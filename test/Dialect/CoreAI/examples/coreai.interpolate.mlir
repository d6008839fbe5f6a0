module {
  coreai.graph @main(%arg0: tensor<1x3x4x4xf32> {coreai.name = "a0"}) -> (tensor<1x3x8x8xf32> {coreai.name = "r0"}) {
    %0 = coreai.constant dense<[1, 3, 8, 8]> : tensor<4xsi32>
    %1 = coreai.constant dense<[1.000000e+00, 1.000000e+00, 2.000000e+00, 2.000000e+00]> : tensor<4xf32>
    %2 = coreai.constant dense<0.000000e+00> : tensor<4xf32>
    %3 = coreai.interpolate %arg0, %0, %1, %2 {interpolation_mode = #coreai.interpolation_mode<linear>} : (tensor<1x3x4x4xf32>, tensor<4xsi32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x3x8x8xf32>
    coreai.output %3 : tensor<1x3x8x8xf32>
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [{coreai.name = "a0"}], function_type = (tensor<1x3x4x4xf32>) -> tensor<1x3x8x8xf32>, param_decls = #param.decl.array<[]>, res_attrs = [{coreai.name = "r0"}], sym_name = "main"}> ({
  ^bb0(%arg0: tensor<1x3x4x4xf32>):
    %0 = "coreai.constant"() <{value = dense<[1, 3, 8, 8]> : tensor<4xsi32>}> : () -> tensor<4xsi32>
    %1 = "coreai.constant"() <{value = dense<[1.000000e+00, 1.000000e+00, 2.000000e+00, 2.000000e+00]> : tensor<4xf32>}> : () -> tensor<4xf32>
    %2 = "coreai.constant"() <{value = dense<0.000000e+00> : tensor<4xf32>}> : () -> tensor<4xf32>
    %3 = "coreai.interpolate"(%arg0, %0, %1, %2) <{interpolation_mode = #coreai.interpolation_mode<linear>}> : (tensor<1x3x4x4xf32>, tensor<4xsi32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x3x8x8xf32>
    "coreai.output"(%3) : (tensor<1x3x8x8xf32>) -> ()
  }) : () -> ()
}) : () -> ()
