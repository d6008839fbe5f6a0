module {
  coreai.graph @main(%arg0: tensor<si32>, %arg1: tensor<si32>) -> tensor<si32> {
    %0 = coreai.while %arg0 {
    ^bb0(%arg2: tensor<si32>):
      %1 = coreai.greater %arg1, %arg2 : (tensor<si32>, tensor<si32>) -> tensor<i1>
      coreai.condition %1, %arg2 : (tensor<i1>, tensor<si32>)
    } do {
    ^bb0(%arg2: tensor<si32>):
      %1 = coreai.constant dense<1> : tensor<si32>
      %2 = coreai.add %arg2, %1 : (tensor<si32>, tensor<si32>) -> tensor<si32>
      coreai.yield %2 : tensor<si32>
    } : (tensor<si32>) -> (tensor<si32>)
    coreai.output %0 : tensor<si32>
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{function_type = (tensor<si32>, tensor<si32>) -> tensor<si32>, param_decls = #param.decl.array<[]>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<si32>, %arg1: tensor<si32>):
    %0 = "coreai.while"(%arg0) ({
    ^bb0(%arg3: tensor<si32>):
      %3 = "coreai.greater"(%arg1, %arg3) : (tensor<si32>, tensor<si32>) -> tensor<i1>
      "coreai.condition"(%3, %arg3) : (tensor<i1>, tensor<si32>) -> ()
    }, {
    ^bb0(%arg2: tensor<si32>):
      %1 = "coreai.constant"() <{value = dense<1> : tensor<si32>}> : () -> tensor<si32>
      %2 = "coreai.add"(%arg2, %1) : (tensor<si32>, tensor<si32>) -> tensor<si32>
      "coreai.yield"(%2) : (tensor<si32>) -> ()
    }) : (tensor<si32>) -> tensor<si32>
    "coreai.output"(%0) : (tensor<si32>) -> ()
  }) : () -> ()
}) : () -> ()
