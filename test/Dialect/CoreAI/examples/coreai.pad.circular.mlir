module {
  coreai.graph @main(%arg0: tensor<2xf32>, %arg1: tensor<i1>) {
    %0 = coreai.constant dense<1> : tensor<2xui32>
    %1 = coreai.constant dense<0.000000e+00> : tensor<f32>
    %2 = coreai.pad %arg0, %0, %1 mode = <circular> : (tensor<2xf32>, tensor<2xui32>, tensor<f32>) -> tensor<4xf32> {test.note}
    coreai.output
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{function_type = (tensor<2xf32>, tensor<i1>) -> (), param_decls = #param.decl.array<[]>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2xf32>, %arg1: tensor<i1>):
    %0 = "coreai.constant"() <{value = dense<1> : tensor<2xui32>}> : () -> tensor<2xui32>
    %1 = "coreai.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %2 = "coreai.pad"(%arg0, %0, %1) <{padding_mode = #coreai.padding_mode<circular>}> {test.note} : (tensor<2xf32>, tensor<2xui32>, tensor<f32>) -> tensor<4xf32>
    "coreai.output"() : () -> ()
  }) : () -> ()
}) : () -> ()
