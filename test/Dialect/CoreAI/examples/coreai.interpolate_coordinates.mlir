module {
  coreai.graph @main(%arg0: tensor<4x4xf32> {coreai.name = "a0"}, %arg1: tensor<5x2xf32> {coreai.name = "a1"}) -> (tensor<5xf32> {coreai.name = "r0"}) {
    %0 = coreai.interpolate_coordinates %arg0, %arg1 {interpolation_mode = #coreai.interpolation_mode<linear>} : (tensor<4x4xf32>, tensor<5x2xf32>) -> tensor<5xf32>
    coreai.output %0 : tensor<5xf32>
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [{coreai.name = "a0"}, {coreai.name = "a1"}], function_type = (tensor<4x4xf32>, tensor<5x2xf32>) -> tensor<5xf32>, param_decls = #param.decl.array<[]>, res_attrs = [{coreai.name = "r0"}], sym_name = "main"}> ({
  ^bb0(%arg0: tensor<4x4xf32>, %arg1: tensor<5x2xf32>):
    %0 = "coreai.interpolate_coordinates"(%arg0, %arg1) <{interpolation_mode = #coreai.interpolation_mode<linear>}> : (tensor<4x4xf32>, tensor<5x2xf32>) -> tensor<5xf32>
    "coreai.output"(%0) : (tensor<5xf32>) -> ()
  }) : () -> ()
}) : () -> ()
