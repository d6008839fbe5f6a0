module {
  coreai.graph @main(%arg0: tensor<4x6xsi8> {coreai.name = "a0"}, %arg1: tensor<2x1xf32> {coreai.name = "a1"}, %arg2: tensor<2x1xsi8> {coreai.name = "a2"}, %arg3: tensor<2x1xf32> {coreai.name = "a3"}) -> (tensor<4x6xf32> {coreai.name = "r0"}) {
    %0 = coreai.blockwise_shift_scale %arg0, %arg1, %arg2, %arg3 : (tensor<4x6xsi8>, tensor<2x1xf32>, tensor<2x1xsi8>, tensor<2x1xf32>) -> tensor<4x6xf32>
    coreai.output %0 : tensor<4x6xf32>
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [{coreai.name = "a0"}, {coreai.name = "a1"}, {coreai.name = "a2"}, {coreai.name = "a3"}], function_type = (tensor<4x6xsi8>, tensor<2x1xf32>, tensor<2x1xsi8>, tensor<2x1xf32>) -> tensor<4x6xf32>, param_decls = #param.decl.array<[]>, res_attrs = [{coreai.name = "r0"}], sym_name = "main"}> ({
  ^bb0(%arg0: tensor<4x6xsi8>, %arg1: tensor<2x1xf32>, %arg2: tensor<2x1xsi8>, %arg3: tensor<2x1xf32>):
    %0 = "coreai.blockwise_shift_scale"(%arg0, %arg1, %arg2, %arg3) : (tensor<4x6xsi8>, tensor<2x1xf32>, tensor<2x1xsi8>, tensor<2x1xf32>) -> tensor<4x6xf32>
    "coreai.output"(%0) : (tensor<4x6xf32>) -> ()
  }) : () -> ()
}) : () -> ()
