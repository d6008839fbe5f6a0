module {
  coreai.graph @main(%arg0: tensor<2x3xf32> {coreai.name = "a0"}) -> (tensor<3xf32> {coreai.name = "r0"}, tensor<3xsi8> {coreai.name = "r1"}) {
    %0 = coreai.constant dense<[-128, 127]> : tensor<2xsi8>
    %1 = coreai.constant dense<1> : tensor<si32>
    %scale, %zero_point = coreai.asymmetric_quantization_statistics %arg0, %0, %1 : (tensor<2x3xf32>, tensor<2xsi8>, tensor<si32>) -> (tensor<3xf32>, tensor<3xsi8>)
    coreai.output %scale, %zero_point : tensor<3xf32>, tensor<3xsi8>
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [{coreai.name = "a0"}], function_type = (tensor<2x3xf32>) -> (tensor<3xf32>, tensor<3xsi8>), param_decls = #param.decl.array<[]>, res_attrs = [{coreai.name = "r0"}, {coreai.name = "r1"}], sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2x3xf32>):
    %0 = "coreai.constant"() <{value = dense<[-128, 127]> : tensor<2xsi8>}> : () -> tensor<2xsi8>
    %1 = "coreai.constant"() <{value = dense<1> : tensor<si32>}> : () -> tensor<si32>
    %2:2 = "coreai.asymmetric_quantization_statistics"(%arg0, %0, %1) : (tensor<2x3xf32>, tensor<2xsi8>, tensor<si32>) -> (tensor<3xf32>, tensor<3xsi8>)
    "coreai.output"(%2#0, %2#1) : (tensor<3xf32>, tensor<3xsi8>) -> ()
  }) : () -> ()
}) : () -> ()
