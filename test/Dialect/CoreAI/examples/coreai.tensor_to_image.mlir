module {
  coreai.graph @main(%arg0: tensor<4x6x3xui8> {coreai.name = "a0"}) -> (!coreai.image<<k24RGB> x 4 : i64 x 6 : i64> {coreai.name = "r0"}) {
    %0 = coreai.tensor_to_image %arg0 : tensor<4x6x3xui8> -> <<k24RGB> x 4 : i64 x 6 : i64>
    coreai.output %0 : !coreai.image<<k24RGB> x 4 : i64 x 6 : i64>
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [{coreai.name = "a0"}], function_type = (tensor<4x6x3xui8>) -> !coreai.image<<k24RGB> x 4 : i64 x 6 : i64>, param_decls = #param.decl.array<[]>, res_attrs = [{coreai.name = "r0"}], sym_name = "main"}> ({
  ^bb0(%arg0: tensor<4x6x3xui8>):
    %0 = "coreai.tensor_to_image"(%arg0) : (tensor<4x6x3xui8>) -> !coreai.image<<k24RGB> x 4 : i64 x 6 : i64>
    "coreai.output"(%0) : (!coreai.image<<k24RGB> x 4 : i64 x 6 : i64>) -> ()
  }) : () -> ()
}) : () -> ()
