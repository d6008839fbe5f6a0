module {
  coreai.graph @main(%arg0: tensor<2xf32>, %arg1: tensor<i1>) {
    %0 = coreai.create_token : !coreai.token {test.note}
    %1 = coreai.join_token %0 : (!coreai.token) -> !coreai.token {test.note}
    coreai.output
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{function_type = (tensor<2xf32>, tensor<i1>) -> (), param_decls = #param.decl.array<[]>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2xf32>, %arg1: tensor<i1>):
    %0 = "coreai.create_token"() {test.note} : () -> !coreai.token
    %1 = "coreai.join_token"(%0) {test.note} : (!coreai.token) -> !coreai.token
    "coreai.output"() : () -> ()
  }) : () -> ()
}) : () -> ()
