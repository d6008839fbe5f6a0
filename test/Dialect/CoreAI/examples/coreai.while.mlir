module {
  coreai.graph @main(%arg0: tensor<si32> {coreai.name = "a0"}, %arg1: tensor<2x3xf32> {coreai.name = "a1"}, %arg2: tensor<si32> {coreai.name = "a2"}) -> (tensor<si32> {coreai.name = "r0"}, tensor<2x3xf32> {coreai.name = "r1"}) {
    %0:2 = coreai.while %arg0, %arg1 {
    ^bb0(%arg3: tensor<si32>, %arg4: tensor<2x3xf32>):
      %1 = coreai.not_equal %arg3, %arg2 : (tensor<si32>, tensor<si32>) -> tensor<i1>
      coreai.condition %1, %arg3, %arg4 : (tensor<i1>, tensor<si32>, tensor<2x3xf32>)
    } do {
    ^bb0(%arg3: tensor<si32>, %arg4: tensor<2x3xf32>):
      %1 = coreai.constant dense<1> : tensor<si32>
      %2 = coreai.add %arg3, %1 : (tensor<si32>, tensor<si32>) -> tensor<si32>
      %3 = coreai.add %arg4, %arg4 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
      coreai.yield %2, %3 : tensor<si32>, tensor<2x3xf32>
    } : (tensor<si32>, tensor<2x3xf32>) -> (tensor<si32>, tensor<2x3xf32>)
    coreai.output %0#0, %0#1 : tensor<si32>, tensor<2x3xf32>
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [{coreai.name = "a0"}, {coreai.name = "a1"}, {coreai.name = "a2"}], function_type = (tensor<si32>, tensor<2x3xf32>, tensor<si32>) -> (tensor<si32>, tensor<2x3xf32>), param_decls = #param.decl.array<[]>, res_attrs = [{coreai.name = "r0"}, {coreai.name = "r1"}], sym_name = "main"}> ({
  ^bb0(%arg0: tensor<si32>, %arg1: tensor<2x3xf32>, %arg2: tensor<si32>):
    %0:2 = "coreai.while"(%arg0, %arg1) ({
    ^bb0(%arg5: tensor<si32>, %arg6: tensor<2x3xf32>):
      %4 = "coreai.not_equal"(%arg5, %arg2) : (tensor<si32>, tensor<si32>) -> tensor<i1>
      "coreai.condition"(%4, %arg5, %arg6) : (tensor<i1>, tensor<si32>, tensor<2x3xf32>) -> ()
    }, {
    ^bb0(%arg3: tensor<si32>, %arg4: tensor<2x3xf32>):
      %1 = "coreai.constant"() <{value = dense<1> : tensor<si32>}> : () -> tensor<si32>
      %2 = "coreai.add"(%arg3, %1) : (tensor<si32>, tensor<si32>) -> tensor<si32>
      %3 = "coreai.add"(%arg4, %arg4) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
      "coreai.yield"(%2, %3) : (tensor<si32>, tensor<2x3xf32>) -> ()
    }) : (tensor<si32>, tensor<2x3xf32>) -> (tensor<si32>, tensor<2x3xf32>)
    "coreai.output"(%0#0, %0#1) : (tensor<si32>, tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
