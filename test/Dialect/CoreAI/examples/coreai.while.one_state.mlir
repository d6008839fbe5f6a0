module {
  coreai.graph @main(%arg0: tensor<2xf32>, %arg1: tensor<i1>) {
    %0 = coreai.while %arg0 {
    ^bb0(%arg2: tensor<2xf32>):
      coreai.condition %arg1, %arg2 : (tensor<i1>, tensor<2xf32>)
    } do {
    ^bb0(%arg2: tensor<2xf32>):
      coreai.yield %arg2 : tensor<2xf32>
    } : (tensor<2xf32>) -> (tensor<2xf32>)
    coreai.output
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{function_type = (tensor<2xf32>, tensor<i1>) -> (), param_decls = #param.decl.array<[]>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2xf32>, %arg1: tensor<i1>):
    %0 = "coreai.while"(%arg0) ({
    ^bb0(%arg3: tensor<2xf32>):
      "coreai.condition"(%arg1, %arg3) : (tensor<i1>, tensor<2xf32>) -> ()
    }, {
    ^bb0(%arg2: tensor<2xf32>):
      "coreai.yield"(%arg2) : (tensor<2xf32>) -> ()
    }) : (tensor<2xf32>) -> tensor<2xf32>
    "coreai.output"() : () -> ()
  }) : () -> ()
}) : () -> ()
