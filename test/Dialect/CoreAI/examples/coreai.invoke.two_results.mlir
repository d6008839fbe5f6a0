module {
  coreai.graph private @f() -> (tensor<2xf32>, tensor<i1>) 
  coreai.graph @main(%arg0: tensor<2xf32>, %arg1: tensor<i1>) {
    %0:2 = coreai.invoke @f()  : () -> (tensor<2xf32>, tensor<i1> {coreai.name = "r"})
    %1:2 = coreai.invoke @f()  : () -> (tensor<2xf32>, tensor<i1>)
    coreai.output
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{function_type = () -> (tensor<2xf32>, tensor<i1>), param_decls = #param.decl.array<[]>, priv, sym_name = "f"}> ({
  }) : () -> ()
  "coreai.graph"() <{function_type = (tensor<2xf32>, tensor<i1>) -> (), param_decls = #param.decl.array<[]>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2xf32>, %arg1: tensor<i1>):
    %0:2 = "coreai.invoke"() <{callee = #param.constant<@f> : !param.symbol, res_attrs = [{}, {coreai.name = "r"}]}> : () -> (tensor<2xf32>, tensor<i1>)
    %1:2 = "coreai.invoke"() <{callee = #param.constant<@f> : !param.symbol}> : () -> (tensor<2xf32>, tensor<i1>)
    "coreai.output"() : () -> ()
  }) : () -> ()
}) : () -> ()
