module {
  coreai.graph private noinline @f(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    coreai.output %arg0 : tensor<2xf32>
  }
  coreai.graph @main(%arg0: tensor<2xf32> {coreai.name = "x"}) -> (tensor<2xf32> {coreai.name = "y"}) {
    %0 = coreai.invoke @f(%arg0)  : (tensor<2xf32>) -> tensor<2xf32>
    coreai.output %0 : tensor<2xf32>
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{function_type = (tensor<2xf32>) -> tensor<2xf32>, no_inline, param_decls = #param.decl.array<[]>, priv, sym_name = "f"}> ({
  ^bb0(%arg1: tensor<2xf32>):
    "coreai.output"(%arg1) : (tensor<2xf32>) -> ()
  }) : () -> ()
  "coreai.graph"() <{arg_attrs = [{coreai.name = "x"}], function_type = (tensor<2xf32>) -> tensor<2xf32>, param_decls = #param.decl.array<[]>, res_attrs = [{coreai.name = "y"}], sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2xf32>):
    %0 = "coreai.invoke"(%arg0) <{callee = #param.constant<@f> : !param.symbol}> : (tensor<2xf32>) -> tensor<2xf32>
    "coreai.output"(%0) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
