module {
  coreai.graph @main() {
    %0 = coreai.create_token : !coreai.token
    %1 = coreai.create_token : !coreai.token
    %2 = coreai.join_token %0, %1 : (!coreai.token, !coreai.token) -> !coreai.token
    coreai.output
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [], function_type = () -> (), param_decls = #param.decl.array<[]>, res_attrs = [], sym_name = "main"}> ({
    %0 = "coreai.create_token"() : () -> !coreai.token
    %1 = "coreai.create_token"() : () -> !coreai.token
    %2 = "coreai.join_token"(%0, %1) : (!coreai.token, !coreai.token) -> !coreai.token
    "coreai.output"() : () -> ()
  }) : () -> ()
}) : () -> ()
