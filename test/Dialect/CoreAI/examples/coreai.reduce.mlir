module {
  coreai.graph @main(%arg0: tensor<2x3xf32> {coreai.name = "a0"}) -> (tensor<2x1xf32> {coreai.name = "r0"}) {
    %0 = coreai.constant dense<1> : tensor<1xsi32>
    %1 = coreai.constant dense<0.000000e+00> : tensor<f32>
    %2 = coreai.reduce %arg0, %0, init %1 {
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %3 = coreai.add %arg1, %arg2 : (tensor<f32>, tensor<f32>) -> tensor<f32>
      coreai.yield %3 : tensor<f32>
    } : (tensor<2x3xf32>, tensor<1xsi32>, tensor<f32>) -> tensor<2x1xf32>
    coreai.output %2 : tensor<2x1xf32>
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [{coreai.name = "a0"}], function_type = (tensor<2x3xf32>) -> tensor<2x1xf32>, param_decls = #param.decl.array<[]>, res_attrs = [{coreai.name = "r0"}], sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2x3xf32>):
    %0 = "coreai.constant"() <{value = dense<1> : tensor<1xsi32>}> : () -> tensor<1xsi32>
    %1 = "coreai.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %2 = "coreai.reduce"(%arg0, %0, %1) ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %3 = "coreai.add"(%arg1, %arg2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "coreai.yield"(%3) : (tensor<f32>) -> ()
    }) : (tensor<2x3xf32>, tensor<1xsi32>, tensor<f32>) -> tensor<2x1xf32>
    "coreai.output"(%2) : (tensor<2x1xf32>) -> ()
  }) : () -> ()
}) : () -> ()
