module {
  coreai.graph @main() -> (tensor<2xsi32> {coreai.name = "r0"}) {
    %0 = coreai.constant dense<[1, 2]> : tensor<2xsi32>
    coreai.output %0 : tensor<2xsi32>
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [], function_type = () -> tensor<2xsi32>, param_decls = #param.decl.array<[]>, res_attrs = [{coreai.name = "r0"}], sym_name = "main"}> ({
    %0 = "coreai.constant"() <{value = dense<[1, 2]> : tensor<2xsi32>}> : () -> tensor<2xsi32>
    "coreai.output"(%0) : (tensor<2xsi32>) -> ()
  }) : () -> ()
}) : () -> ()
