module {
  coreai.graph @main(%arg0: tensor<2xf32>, %arg1: tensor<i1>) {
    coreai.if %arg1 {
    } : tensor<i1> -> 
    coreai.output
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{function_type = (tensor<2xf32>, tensor<i1>) -> (), param_decls = #param.decl.array<[]>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2xf32>, %arg1: tensor<i1>):
    "coreai.if"(%arg1) ({
      "coreai.yield"() : () -> ()
    }, {
    }) : (tensor<i1>) -> ()
    "coreai.output"() : () -> ()
  }) : () -> ()
}) : () -> ()
