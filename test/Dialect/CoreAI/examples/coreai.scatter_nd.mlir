module {
  coreai.graph @main(%arg0: tensor<4x3xf32> {coreai.name = "a0"}, %arg1: tensor<2x1xsi32> {coreai.name = "a1"}, %arg2: tensor<2x3xf32> {coreai.name = "a2"}) -> (tensor<4x3xf32> {coreai.name = "r0"}) {
    %0 = coreai.scatter_nd %arg0 with %arg2 at %arg1 {
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      coreai.yield %arg4 : tensor<f32>
    } : (tensor<4x3xf32>, tensor<2x3xf32>, tensor<2x1xsi32>) to tensor<4x3xf32>
    coreai.output %0 : tensor<4x3xf32>
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [{coreai.name = "a0"}, {coreai.name = "a1"}, {coreai.name = "a2"}], function_type = (tensor<4x3xf32>, tensor<2x1xsi32>, tensor<2x3xf32>) -> tensor<4x3xf32>, param_decls = #param.decl.array<[]>, res_attrs = [{coreai.name = "r0"}], sym_name = "main"}> ({
  ^bb0(%arg0: tensor<4x3xf32>, %arg1: tensor<2x1xsi32>, %arg2: tensor<2x3xf32>):
    %0 = "coreai.scatter_nd"(%arg0, %arg1, %arg2) ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      "coreai.yield"(%arg4) : (tensor<f32>) -> ()
    }) : (tensor<4x3xf32>, tensor<2x1xsi32>, tensor<2x3xf32>) -> tensor<4x3xf32>
    "coreai.output"(%0) : (tensor<4x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
