module {
  coreai.graph @main(%arg0: tensor<2xf32>, %arg1: tensor<i1>) {
    %0:2 = coreai.isolated_group<"x">(%arg0, %arg1) {arg_attrs = [{coreai.name = "a"}, {}], res_attrs = [{}, {coreai.name = "r"}], test.note = 1 : i32} : (tensor<2xf32>, tensor<i1>) -> (tensor<2xf32>, tensor<i1>) {
    ^bb0(%arg2: tensor<2xf32>, %arg3: tensor<i1>):
      coreai.yield %arg2, %arg3 : tensor<2xf32>, tensor<i1>
    }
    coreai.output
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{function_type = (tensor<2xf32>, tensor<i1>) -> (), param_decls = #param.decl.array<[]>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2xf32>, %arg1: tensor<i1>):
    %0:2 = "coreai.isolated_group"(%arg0, %arg1) <{arg_attrs = [{coreai.name = "a"}, {}], delegate_id = "x", res_attrs = [{}, {coreai.name = "r"}]}> ({
    ^bb0(%arg2: tensor<2xf32>, %arg3: tensor<i1>):
      "coreai.yield"(%arg2, %arg3) : (tensor<2xf32>, tensor<i1>) -> ()
    }) {test.note = 1 : i32} : (tensor<2xf32>, tensor<i1>) -> (tensor<2xf32>, tensor<i1>)
    "coreai.output"() : () -> ()
  }) : () -> ()
}) : () -> ()
