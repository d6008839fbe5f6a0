module {
  coreai.graph @main(%arg0: tensor<2x3xf32> {coreai.name = "a0"}) -> (tensor<3xf32> {coreai.name = "r0"}) {
    %0 = coreai.constant dense<[-1.280000e+02, 1.270000e+02]> : tensor<2xf32>
    %1 = coreai.constant dense<1> : tensor<si32>
    %2 = coreai.symmetric_quantization_statistics %arg0, %0, %1 : (tensor<2x3xf32>, tensor<2xf32>, tensor<si32>) -> tensor<3xf32>
    coreai.output %2 : tensor<3xf32>
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [{coreai.name = "a0"}], function_type = (tensor<2x3xf32>) -> tensor<3xf32>, param_decls = #param.decl.array<[]>, res_attrs = [{coreai.name = "r0"}], sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2x3xf32>):
    %0 = "coreai.constant"() <{value = dense<[-1.280000e+02, 1.270000e+02]> : tensor<2xf32>}> : () -> tensor<2xf32>
    %1 = "coreai.constant"() <{value = dense<1> : tensor<si32>}> : () -> tensor<si32>
    %2 = "coreai.symmetric_quantization_statistics"(%arg0, %0, %1) : (tensor<2x3xf32>, tensor<2xf32>, tensor<si32>) -> tensor<3xf32>
    "coreai.output"(%2) : (tensor<3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
