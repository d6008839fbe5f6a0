module {
  coreai.graph @main(%arg0: tensor<5x6xf32> {coreai.name = "a0"}) -> (tensor<3x3xf32> {coreai.name = "r0"}) {
    %0 = coreai.constant dense<[1, 2]> : tensor<2xsi32>
    %1 = coreai.constant dense<[4, 5]> : tensor<2xsi32>
    %2 = coreai.constant dense<1> : tensor<2xsi32>
    %3 = coreai.slice %arg0, %0, %1, %2 : (tensor<5x6xf32>, tensor<2xsi32>, tensor<2xsi32>, tensor<2xsi32>) -> tensor<3x3xf32>
    coreai.output %3 : tensor<3x3xf32>
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [{coreai.name = "a0"}], function_type = (tensor<5x6xf32>) -> tensor<3x3xf32>, param_decls = #param.decl.array<[]>, res_attrs = [{coreai.name = "r0"}], sym_name = "main"}> ({
  ^bb0(%arg0: tensor<5x6xf32>):
    %0 = "coreai.constant"() <{value = dense<[1, 2]> : tensor<2xsi32>}> : () -> tensor<2xsi32>
    %1 = "coreai.constant"() <{value = dense<[4, 5]> : tensor<2xsi32>}> : () -> tensor<2xsi32>
    %2 = "coreai.constant"() <{value = dense<1> : tensor<2xsi32>}> : () -> tensor<2xsi32>
    %3 = "coreai.slice"(%arg0, %0, %1, %2) : (tensor<5x6xf32>, tensor<2xsi32>, tensor<2xsi32>, tensor<2xsi32>) -> tensor<3x3xf32>
    "coreai.output"(%3) : (tensor<3x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
