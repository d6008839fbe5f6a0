module {
  coreai.graph @main(%arg0: tensor<2x1x4xf32> {coreai.name = "a0"}) -> (tensor<2x3x4xf32> {coreai.name = "r0"}) {
    %0 = coreai.constant dense<3> : tensor<1xui32>
    %1 = coreai.constant dense<1> : tensor<1xsi32>
    %2 = coreai.broadcast_in_dims %arg0, %0, %1 : (tensor<2x1x4xf32>, tensor<1xui32>, tensor<1xsi32>) -> tensor<2x3x4xf32>
    coreai.output %2 : tensor<2x3x4xf32>
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [{coreai.name = "a0"}], function_type = (tensor<2x1x4xf32>) -> tensor<2x3x4xf32>, param_decls = #param.decl.array<[]>, res_attrs = [{coreai.name = "r0"}], sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2x1x4xf32>):
    %0 = "coreai.constant"() <{value = dense<3> : tensor<1xui32>}> : () -> tensor<1xui32>
    %1 = "coreai.constant"() <{value = dense<1> : tensor<1xsi32>}> : () -> tensor<1xsi32>
    %2 = "coreai.broadcast_in_dims"(%arg0, %0, %1) : (tensor<2x1x4xf32>, tensor<1xui32>, tensor<1xsi32>) -> tensor<2x3x4xf32>
    "coreai.output"(%2) : (tensor<2x3x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
