module {
  coreai.graph @main(%arg0: tensor<1x4x8x8x8xf32> {coreai.name = "a0"}) -> (tensor<1x4x4x4x4xf32> {coreai.name = "r0"}) {
    %0 = coreai.constant dense<2> : tensor<3xui32>
    %1 = coreai.constant dense<2> : tensor<3xui32>
    %2 = coreai.constant dense<1> : tensor<3xui32>
    %3 = coreai.constant dense<false> : tensor<i1>
    %4 = coreai.max_pool_3d %arg0, %0, %1, %2, %3 : (tensor<1x4x8x8x8xf32>, tensor<3xui32>, tensor<3xui32>, tensor<3xui32>, tensor<i1>) -> tensor<1x4x4x4x4xf32>
    coreai.output %4 : tensor<1x4x4x4x4xf32>
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [{coreai.name = "a0"}], function_type = (tensor<1x4x8x8x8xf32>) -> tensor<1x4x4x4x4xf32>, param_decls = #param.decl.array<[]>, res_attrs = [{coreai.name = "r0"}], sym_name = "main"}> ({
  ^bb0(%arg0: tensor<1x4x8x8x8xf32>):
    %0 = "coreai.constant"() <{value = dense<2> : tensor<3xui32>}> : () -> tensor<3xui32>
    %1 = "coreai.constant"() <{value = dense<2> : tensor<3xui32>}> : () -> tensor<3xui32>
    %2 = "coreai.constant"() <{value = dense<1> : tensor<3xui32>}> : () -> tensor<3xui32>
    %3 = "coreai.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
    %4 = "coreai.max_pool_3d"(%arg0, %0, %1, %2, %3) : (tensor<1x4x8x8x8xf32>, tensor<3xui32>, tensor<3xui32>, tensor<3xui32>, tensor<i1>) -> tensor<1x4x4x4x4xf32>
    "coreai.output"(%4) : (tensor<1x4x4x4x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
