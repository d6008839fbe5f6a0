module {
  coreai.graph @main(%arg0: tensor<2x3xsi8> {coreai.name = "a0"}, %arg1: tensor<3xf32> {coreai.name = "a1"}, %arg2: tensor<3xsi8> {coreai.name = "a2"}, %arg3: tensor<3xf32> {coreai.name = "a3"}) -> (tensor<2x3xf32> {coreai.name = "r0"}) {
    %0 = coreai.constant dense<1> : tensor<si32>
    %1 = coreai.dequantize %arg0, %arg1, %arg2, %arg3, %0 : (tensor<2x3xsi8>, tensor<3xf32>, tensor<3xsi8>, tensor<3xf32>, tensor<si32>) -> tensor<2x3xf32>
    coreai.output %1 : tensor<2x3xf32>
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [{coreai.name = "a0"}, {coreai.name = "a1"}, {coreai.name = "a2"}, {coreai.name = "a3"}], function_type = (tensor<2x3xsi8>, tensor<3xf32>, tensor<3xsi8>, tensor<3xf32>) -> tensor<2x3xf32>, param_decls = #param.decl.array<[]>, res_attrs = [{coreai.name = "r0"}], sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2x3xsi8>, %arg1: tensor<3xf32>, %arg2: tensor<3xsi8>, %arg3: tensor<3xf32>):
    %0 = "coreai.constant"() <{value = dense<1> : tensor<si32>}> : () -> tensor<si32>
    %1 = "coreai.dequantize"(%arg0, %arg1, %arg2, %arg3, %0) : (tensor<2x3xsi8>, tensor<3xf32>, tensor<3xsi8>, tensor<3xf32>, tensor<si32>) -> tensor<2x3xf32>
    "coreai.output"(%1) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
