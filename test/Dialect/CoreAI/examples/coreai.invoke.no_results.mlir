module {
  coreai.graph private @"f.a-b"() 
  coreai.graph @main(%arg0: tensor<2xf32>, %arg1: tensor<i1>) {
    coreai.invoke @"f.a-b"()  : () -> ()
    coreai.output
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{function_type = () -> (), param_decls = #param.decl.array<[]>, priv, sym_name = "f.a-b"}> ({
  }) : () -> ()
  "coreai.graph"() <{function_type = (tensor<2xf32>, tensor<i1>) -> (), param_decls = #param.decl.array<[]>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2xf32>, %arg1: tensor<i1>):
    "coreai.invoke"() <{callee = #param.constant<@"f.a-b"> : !param.symbol}> : () -> ()
    "coreai.output"() : () -> ()
  }) : () -> ()
}) : () -> ()
