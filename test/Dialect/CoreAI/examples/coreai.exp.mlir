module {
  coreai.graph @main(%arg0: tensor<2x3xf32> {coreai.name = "a0"}) -> (tensor<2x3xf32> {coreai.name = "r0"}) {
    %0 = coreai.exp %arg0 : tensor<2x3xf32> -> tensor<2x3xf32>
    coreai.output %0 : tensor<2x3xf32>
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [{coreai.name = "a0"}], function_type = (tensor<2x3xf32>) -> tensor<2x3xf32>, param_decls = #param.decl.array<[]>, res_attrs = [{coreai.name = "r0"}], sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2x3xf32>):
    %0 = "coreai.exp"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    "coreai.output"(%0) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
