module {
  coreai.graph @main(%arg0: tensor<1x4x8x8xf32> {coreai.name = "a0"}) -> (tensor<1x4x4x4xf32> {coreai.name = "r0"}) {
    %0 = coreai.constant dense<2> : tensor<2xui32>
    %1 = coreai.constant dense<2> : tensor<2xui32>
    %2 = coreai.constant dense<1> : tensor<2xui32>
    %3 = coreai.sum_pool_2d %arg0, %0, %1, %2 : (tensor<1x4x8x8xf32>, tensor<2xui32>, tensor<2xui32>, tensor<2xui32>) -> tensor<1x4x4x4xf32>
    coreai.output %3 : tensor<1x4x4x4xf32>
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [{coreai.name = "a0"}], function_type = (tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32>, param_decls = #param.decl.array<[]>, res_attrs = [{coreai.name = "r0"}], sym_name = "main"}> ({
  ^bb0(%arg0: tensor<1x4x8x8xf32>):
    %0 = "coreai.constant"() <{value = dense<2> : tensor<2xui32>}> : () -> tensor<2xui32>
    %1 = "coreai.constant"() <{value = dense<2> : tensor<2xui32>}> : () -> tensor<2xui32>
    %2 = "coreai.constant"() <{value = dense<1> : tensor<2xui32>}> : () -> tensor<2xui32>
    %3 = "coreai.sum_pool_2d"(%arg0, %0, %1, %2) : (tensor<1x4x8x8xf32>, tensor<2xui32>, tensor<2xui32>, tensor<2xui32>) -> tensor<1x4x4x4xf32>
    "coreai.output"(%3) : (tensor<1x4x4x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
