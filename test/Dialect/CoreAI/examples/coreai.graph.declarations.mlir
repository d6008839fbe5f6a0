module {
  coreai.graph private noinline @f(tensor<2xf32> {coreai.name = "x"}) -> tensor<2xf32> attributes {test.note} 
  coreai.graph private @g<T: !param.type, N: i64>(tensor<2xf32>, tensor<i1>) -> (tensor<2xf32>, tensor<i1> {coreai.name = "z"}) 
  coreai.graph private @h() 
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [{coreai.name = "x"}], function_type = (tensor<2xf32>) -> tensor<2xf32>, no_inline, param_decls = #param.decl.array<[]>, priv, sym_name = "f"}> ({
  }) {test.note} : () -> ()
  "coreai.graph"() <{function_type = (tensor<2xf32>, tensor<i1>) -> (tensor<2xf32>, tensor<i1>), param_decls = #param.decl.array<[<T: !param.type>, <N: i64>]>, priv, res_attrs = [{}, {coreai.name = "z"}], sym_name = "g"}> ({
  }) : () -> ()
  "coreai.graph"() <{function_type = () -> (), param_decls = #param.decl.array<[]>, priv, sym_name = "h"}> ({
  }) : () -> ()
}) : () -> ()
