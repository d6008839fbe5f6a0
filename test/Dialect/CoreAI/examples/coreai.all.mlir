module {
  coreai.graph @main(%arg0: tensor<2x3xi1> {coreai.name = "a0"}) -> (tensor<2x1xi1> {coreai.name = "r0"}) {
    %0 = coreai.constant dense<1> : tensor<1xsi32>
    %1 = coreai.all %arg0, %0 : (tensor<2x3xi1>, tensor<1xsi32>) -> tensor<2x1xi1>
    coreai.output %1 : tensor<2x1xi1>
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [{coreai.name = "a0"}], function_type = (tensor<2x3xi1>) -> tensor<2x1xi1>, param_decls = #param.decl.array<[]>, res_attrs = [{coreai.name = "r0"}], sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2x3xi1>):
    %0 = "coreai.constant"() <{value = dense<1> : tensor<1xsi32>}> : () -> tensor<1xsi32>
    %1 = "coreai.all"(%arg0, %0) : (tensor<2x3xi1>, tensor<1xsi32>) -> tensor<2x1xi1>
    "coreai.output"(%1) : (tensor<2x1xi1>) -> ()
  }) : () -> ()
}) : () -> ()
