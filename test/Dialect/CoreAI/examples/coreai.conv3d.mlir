module {
  coreai.graph @main(%arg0: tensor<1x4x8x8x8xf32> {coreai.name = "a0"}, %arg1: tensor<6x4x3x3x3xf32> {coreai.name = "a1"}) -> (tensor<1x6x6x6x6xf32> {coreai.name = "r0"}) {
    %0 = coreai.constant dense<1> : tensor<3xui32>
    %1 = coreai.constant dense<1> : tensor<3xui32>
    %2 = coreai.constant dense<1> : tensor<ui32>
    %3 = coreai.conv3d %arg0, %arg1, %0, %1, %2 : (tensor<1x4x8x8x8xf32>, tensor<6x4x3x3x3xf32>, tensor<3xui32>, tensor<3xui32>, tensor<ui32>) -> tensor<1x6x6x6x6xf32>
    coreai.output %3 : tensor<1x6x6x6x6xf32>
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [{coreai.name = "a0"}, {coreai.name = "a1"}], function_type = (tensor<1x4x8x8x8xf32>, tensor<6x4x3x3x3xf32>) -> tensor<1x6x6x6x6xf32>, param_decls = #param.decl.array<[]>, res_attrs = [{coreai.name = "r0"}], sym_name = "main"}> ({
  ^bb0(%arg0: tensor<1x4x8x8x8xf32>, %arg1: tensor<6x4x3x3x3xf32>):
    %0 = "coreai.constant"() <{value = dense<1> : tensor<3xui32>}> : () -> tensor<3xui32>
    %1 = "coreai.constant"() <{value = dense<1> : tensor<3xui32>}> : () -> tensor<3xui32>
    %2 = "coreai.constant"() <{value = dense<1> : tensor<ui32>}> : () -> tensor<ui32>
    %3 = "coreai.conv3d"(%arg0, %arg1, %0, %1, %2) : (tensor<1x4x8x8x8xf32>, tensor<6x4x3x3x3xf32>, tensor<3xui32>, tensor<3xui32>, tensor<ui32>) -> tensor<1x6x6x6x6xf32>
    "coreai.output"(%3) : (tensor<1x6x6x6x6xf32>) -> ()
  }) : () -> ()
}) : () -> ()
