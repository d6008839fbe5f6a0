module {
  coreai.graph @main(%arg0: tensor<2x3xf32> {coreai.name = "a0"}) -> (tensor<2x1xui32> {coreai.name = "r0"}) {
    %0 = coreai.constant dense<1> : tensor<si32>
    %1 = coreai.constant dense<0.000000e+00> : tensor<f32>
    %2 = coreai.constant dense<0> : tensor<ui32>
    %3 = coreai.reduce_index %arg0, %0, init %1 init_index %2 {
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %4 = coreai.greater %arg2, %arg1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      coreai.yield %4 : tensor<i1>
    } : (tensor<2x3xf32>, tensor<si32>, tensor<f32>, tensor<ui32>) -> tensor<2x1xui32>
    coreai.output %3 : tensor<2x1xui32>
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [{coreai.name = "a0"}], function_type = (tensor<2x3xf32>) -> tensor<2x1xui32>, param_decls = #param.decl.array<[]>, res_attrs = [{coreai.name = "r0"}], sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2x3xf32>):
    %0 = "coreai.constant"() <{value = dense<1> : tensor<si32>}> : () -> tensor<si32>
    %1 = "coreai.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %2 = "coreai.constant"() <{value = dense<0> : tensor<ui32>}> : () -> tensor<ui32>
    %3 = "coreai.reduce_index"(%arg0, %0, %1, %2) ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %4 = "coreai.greater"(%arg2, %arg1) : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "coreai.yield"(%4) : (tensor<i1>) -> ()
    }) : (tensor<2x3xf32>, tensor<si32>, tensor<f32>, tensor<ui32>) -> tensor<2x1xui32>
    "coreai.output"(%3) : (tensor<2x1xui32>) -> ()
  }) : () -> ()
}) : () -> ()
