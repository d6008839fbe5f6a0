module {
  coreai.graph @main() -> (tensor<5xsi32> {coreai.name = "r0"}) {
    %0 = coreai.constant dense<0> : tensor<si32>
    %1 = coreai.constant dense<10> : tensor<si32>
    %2 = coreai.constant dense<2> : tensor<si32>
    %3 = coreai.range %0, %1, %2 : (tensor<si32>, tensor<si32>, tensor<si32>) -> tensor<5xsi32>
    coreai.output %3 : tensor<5xsi32>
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [], function_type = () -> tensor<5xsi32>, param_decls = #param.decl.array<[]>, res_attrs = [{coreai.name = "r0"}], sym_name = "main"}> ({
    %0 = "coreai.constant"() <{value = dense<0> : tensor<si32>}> : () -> tensor<si32>
    %1 = "coreai.constant"() <{value = dense<10> : tensor<si32>}> : () -> tensor<si32>
    %2 = "coreai.constant"() <{value = dense<2> : tensor<si32>}> : () -> tensor<si32>
    %3 = "coreai.range"(%0, %1, %2) : (tensor<si32>, tensor<si32>, tensor<si32>) -> tensor<5xsi32>
    "coreai.output"(%3) : (tensor<5xsi32>) -> ()
  }) : () -> ()
}) : () -> ()
