module {
  coreai.graph @main(%arg0: tensor<1x4x8x8x8xf32> {coreai.name = "a0"}, %arg1: tensor<4x6x3x3x3xf32> {coreai.name = "a1"}) -> (tensor<1x6x10x10x10xf32> {coreai.name = "r0"}) {
    %0 = coreai.constant dense<1> : tensor<3xui32>
    %1 = coreai.constant dense<0> : tensor<3xui32>
    %2 = coreai.constant dense<1> : tensor<3xui32>
    %3 = coreai.constant dense<0> : tensor<3xui32>
    %4 = coreai.constant dense<1> : tensor<ui32>
    %5 = coreai.conv_transpose3d %arg0, %arg1, %0, %1, %2, %3, %4 : (tensor<1x4x8x8x8xf32>, tensor<4x6x3x3x3xf32>, tensor<3xui32>, tensor<3xui32>, tensor<3xui32>, tensor<3xui32>, tensor<ui32>) -> tensor<1x6x10x10x10xf32>
    coreai.output %5 : tensor<1x6x10x10x10xf32>
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [{coreai.name = "a0"}, {coreai.name = "a1"}], function_type = (tensor<1x4x8x8x8xf32>, tensor<4x6x3x3x3xf32>) -> tensor<1x6x10x10x10xf32>, param_decls = #param.decl.array<[]>, res_attrs = [{coreai.name = "r0"}], sym_name = "main"}> ({
  ^bb0(%arg0: tensor<1x4x8x8x8xf32>, %arg1: tensor<4x6x3x3x3xf32>):
    %0 = "coreai.constant"() <{value = dense<1> : tensor<3xui32>}> : () -> tensor<3xui32>
    %1 = "coreai.constant"() <{value = dense<0> : tensor<3xui32>}> : () -> tensor<3xui32>
    %2 = "coreai.constant"() <{value = dense<1> : tensor<3xui32>}> : () -> tensor<3xui32>
    %3 = "coreai.constant"() <{value = dense<0> : tensor<3xui32>}> : () -> tensor<3xui32>
    %4 = "coreai.constant"() <{value = dense<1> : tensor<ui32>}> : () -> tensor<ui32>
    %5 = "coreai.conv_transpose3d"(%arg0, %arg1, %0, %1, %2, %3, %4) : (tensor<1x4x8x8x8xf32>, tensor<4x6x3x3x3xf32>, tensor<3xui32>, tensor<3xui32>, tensor<3xui32>, tensor<3xui32>, tensor<ui32>) -> tensor<1x6x10x10x10xf32>
    "coreai.output"(%5) : (tensor<1x6x10x10x10xf32>) -> ()
  }) : () -> ()
}) : () -> ()
