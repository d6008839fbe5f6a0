module {
  coreai.graph @main(%arg0: tensor<2xf32>, %arg1: tensor<i1>) {
    coreai.while  {
      coreai.condition %arg1 : (tensor<i1>)
    } do {
      coreai.yield
    } : () -> ()
    coreai.output
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{function_type = (tensor<2xf32>, tensor<i1>) -> (), param_decls = #param.decl.array<[]>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2xf32>, %arg1: tensor<i1>):
    "coreai.while"() ({
      "coreai.condition"(%arg1) : (tensor<i1>) -> ()
    }, {
      "coreai.yield"() : () -> ()
    }) : () -> ()
    "coreai.output"() : () -> ()
  }) : () -> ()
}) : () -> ()
