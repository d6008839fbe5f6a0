module {
  coreai.graph @main(%arg0: !coreai.image<<k24RGB> x 4 : i64 x 6 : i64> {coreai.name = "a0"}) -> (tensor<4x6x3xui8> {coreai.name = "r0"}) {
    %0 = coreai.image_to_tensor %arg0 : <<k24RGB> x 4 : i64 x 6 : i64> -> tensor<4x6x3xui8>
    coreai.output %0 : tensor<4x6x3xui8>
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [{coreai.name = "a0"}], function_type = (!coreai.image<<k24RGB> x 4 : i64 x 6 : i64>) -> tensor<4x6x3xui8>, param_decls = #param.decl.array<[]>, res_attrs = [{coreai.name = "r0"}], sym_name = "main"}> ({
  ^bb0(%arg0: !coreai.image<<k24RGB> x 4 : i64 x 6 : i64>):
    %0 = "coreai.image_to_tensor"(%arg0) : (!coreai.image<<k24RGB> x 4 : i64 x 6 : i64>) -> tensor<4x6x3xui8>
    "coreai.output"(%0) : (tensor<4x6x3xui8>) -> ()
  }) : () -> ()
}) : () -> ()
