module {
  coreai.graph @main(%arg0: tensor<3x8xf32> {coreai.name = "a0"}) -> (tensor<3x2xf32> {coreai.name = "r0"}, tensor<3x3xf32> {coreai.name = "r1"}, tensor<3x3xf32> {coreai.name = "r2"}) {
    %0 = coreai.constant dense<[2, 3, 3]> : tensor<3xui32>
    %1 = coreai.constant dense<1> : tensor<si32>
    %2:3 = coreai.split %arg0, %0, %1 : (tensor<3x8xf32>, tensor<3xui32>, tensor<si32>) -> (tensor<3x2xf32>, tensor<3x3xf32>, tensor<3x3xf32>)
    coreai.output %2#0, %2#1, %2#2 : tensor<3x2xf32>, tensor<3x3xf32>, tensor<3x3xf32>
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [{coreai.name = "a0"}], function_type = (tensor<3x8xf32>) -> (tensor<3x2xf32>, tensor<3x3xf32>, tensor<3x3xf32>), param_decls = #param.decl.array<[]>, res_attrs = [{coreai.name = "r0"}, {coreai.name = "r1"}, {coreai.name = "r2"}], sym_name = "main"}> ({
  ^bb0(%arg0: tensor<3x8xf32>):
    %0 = "coreai.constant"() <{value = dense<[2, 3, 3]> : tensor<3xui32>}> : () -> tensor<3xui32>
    %1 = "coreai.constant"() <{value = dense<1> : tensor<si32>}> : () -> tensor<si32>
    %2:3 = "coreai.split"(%arg0, %0, %1) : (tensor<3x8xf32>, tensor<3xui32>, tensor<si32>) -> (tensor<3x2xf32>, tensor<3x3xf32>, tensor<3x3xf32>)
    "coreai.output"(%2#0, %2#1, %2#2) : (tensor<3x2xf32>, tensor<3x3xf32>, tensor<3x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
