module {
  coreai.graph @main(%arg0: tensor<2x3xf32> {coreai.name = "a0"}) -> (tensor<2x6xf32> {coreai.name = "r0"}) {
    %0 = coreai.constant dense<[0, 0, 1, 2]> : tensor<4xui32>
    %1 = coreai.constant dense<0.000000e+00> : tensor<f32>
    %2 = coreai.pad %arg0, %0, %1 mode = <constant> : (tensor<2x3xf32>, tensor<4xui32>, tensor<f32>) -> tensor<2x6xf32>
    coreai.output %2 : tensor<2x6xf32>
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [{coreai.name = "a0"}], function_type = (tensor<2x3xf32>) -> tensor<2x6xf32>, param_decls = #param.decl.array<[]>, res_attrs = [{coreai.name = "r0"}], sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2x3xf32>):
    %0 = "coreai.constant"() <{value = dense<[0, 0, 1, 2]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %1 = "coreai.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %2 = "coreai.pad"(%arg0, %0, %1) <{padding_mode = #coreai.padding_mode<constant>}> : (tensor<2x3xf32>, tensor<4xui32>, tensor<f32>) -> tensor<2x6xf32>
    "coreai.output"(%2) : (tensor<2x6xf32>) -> ()
  }) : () -> ()
}) : () -> ()
