module {
  coreai.graph private @f<T: !param.type>(tensor<2xf32>) -> tensor<2xf32> 
  coreai.graph @main(%arg0: tensor<2xf32>, %arg1: tensor<i1>) {
    %0 = coreai.invoke @f<f32>(%arg0)  : (tensor<2xf32>) -> tensor<2xf32>
    coreai.output
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{function_type = (tensor<2xf32>) -> tensor<2xf32>, param_decls = #param.decl.array<[<T: !param.type>]>, priv, sym_name = "f"}> ({
  }) : () -> ()
  "coreai.graph"() <{function_type = (tensor<2xf32>, tensor<i1>) -> (), param_decls = #param.decl.array<[]>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2xf32>, %arg1: tensor<i1>):
    %0 = "coreai.invoke"(%arg0) <{callee = #param.bind<@f, [f32]> : !param.symbol}> : (tensor<2xf32>) -> tensor<2xf32>
    "coreai.output"() : () -> ()
  }) : () -> ()
}) : () -> ()
