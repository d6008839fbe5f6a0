module {
  coreai.graph private @f(tensor<2xf32>) -> tensor<2xf32> 
  coreai.graph @main(%arg0: tensor<2xf32>, %arg1: tensor<i1>) {
    %0 = coreai.invoke @f(%arg0)  {test.note = 1 : i32} : (tensor<2xf32> {coreai.name = "a"}) -> (tensor<2xf32> {coreai.name = "r"})
    coreai.output
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{function_type = (tensor<2xf32>) -> tensor<2xf32>, param_decls = #param.decl.array<[]>, priv, sym_name = "f"}> ({
  }) : () -> ()
  "coreai.graph"() <{function_type = (tensor<2xf32>, tensor<i1>) -> (), param_decls = #param.decl.array<[]>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2xf32>, %arg1: tensor<i1>):
    %0 = "coreai.invoke"(%arg0) <{arg_attrs = [{coreai.name = "a"}], callee = #param.constant<@f> : !param.symbol, res_attrs = [{coreai.name = "r"}]}> {test.note = 1 : i32} : (tensor<2xf32>) -> tensor<2xf32>
    "coreai.output"() : () -> ()
  }) : () -> ()
}) : () -> ()
