module {
  coreai.graph @main(%arg0: tensor<3x4x5xf32> {coreai.name = "a0"}, %arg1: tensor<3x2x5xsi32> {coreai.name = "a1"}) -> (tensor<3x2x5xf32> {coreai.name = "r0"}) {
    %0 = coreai.constant dense<1> : tensor<si32>
    %1 = coreai.gather_along_axis %arg0 at %arg1 along %0 : (tensor<3x4x5xf32>, tensor<3x2x5xsi32>, tensor<si32>) to tensor<3x2x5xf32>
    coreai.output %1 : tensor<3x2x5xf32>
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [{coreai.name = "a0"}, {coreai.name = "a1"}], function_type = (tensor<3x4x5xf32>, tensor<3x2x5xsi32>) -> tensor<3x2x5xf32>, param_decls = #param.decl.array<[]>, res_attrs = [{coreai.name = "r0"}], sym_name = "main"}> ({
  ^bb0(%arg0: tensor<3x4x5xf32>, %arg1: tensor<3x2x5xsi32>):
    %0 = "coreai.constant"() <{value = dense<1> : tensor<si32>}> : () -> tensor<si32>
    %1 = "coreai.gather_along_axis"(%arg0, %arg1, %0) : (tensor<3x4x5xf32>, tensor<3x2x5xsi32>, tensor<si32>) -> tensor<3x2x5xf32>
    "coreai.output"(%1) : (tensor<3x2x5xf32>) -> ()
  }) : () -> ()
}) : () -> ()
