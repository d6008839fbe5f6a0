module {
  coreai.graph @main(%arg0: tensor<6x2xui2> {coreai.name = "a0"}, %arg1: tensor<2x1x4x1xf32> {coreai.name = "a1"}) -> (tensor<6x2xf32> {coreai.name = "r0"}) {
    %0 = coreai.constant dense<0> : tensor<si16>
    %1 = coreai.lut_to_dense %arg0, %arg1, %0 : (tensor<6x2xui2>, tensor<2x1x4x1xf32>, tensor<si16>) -> tensor<6x2xf32>
    coreai.output %1 : tensor<6x2xf32>
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [{coreai.name = "a0"}, {coreai.name = "a1"}], function_type = (tensor<6x2xui2>, tensor<2x1x4x1xf32>) -> tensor<6x2xf32>, param_decls = #param.decl.array<[]>, res_attrs = [{coreai.name = "r0"}], sym_name = "main"}> ({
  ^bb0(%arg0: tensor<6x2xui2>, %arg1: tensor<2x1x4x1xf32>):
    %0 = "coreai.constant"() <{value = dense<0> : tensor<si16>}> : () -> tensor<si16>
    %1 = "coreai.lut_to_dense"(%arg0, %arg1, %0) : (tensor<6x2xui2>, tensor<2x1x4x1xf32>, tensor<si16>) -> tensor<6x2xf32>
    "coreai.output"(%1) : (tensor<6x2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
