module {
  coreai.graph @main(%arg0: tensor<i1> {coreai.name = "a0"}, %arg1: tensor<2x3xf32> {coreai.name = "a1"}, %arg2: tensor<2x3xf32> {coreai.name = "a2"}) -> (tensor<2x3xf32> {coreai.name = "r0"}) {
    %0 = coreai.if %arg0 {
      coreai.yield %arg1 : tensor<2x3xf32>
    } else {
      coreai.yield %arg2 : tensor<2x3xf32>
    } : tensor<i1> -> tensor<2x3xf32>
    coreai.output %0 : tensor<2x3xf32>
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [{coreai.name = "a0"}, {coreai.name = "a1"}, {coreai.name = "a2"}], function_type = (tensor<i1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>, param_decls = #param.decl.array<[]>, res_attrs = [{coreai.name = "r0"}], sym_name = "main"}> ({
  ^bb0(%arg0: tensor<i1>, %arg1: tensor<2x3xf32>, %arg2: tensor<2x3xf32>):
    %0 = "coreai.if"(%arg0) ({
      "coreai.yield"(%arg1) : (tensor<2x3xf32>) -> ()
    }, {
      "coreai.yield"(%arg2) : (tensor<2x3xf32>) -> ()
    }) : (tensor<i1>) -> tensor<2x3xf32>
    "coreai.output"(%0) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
