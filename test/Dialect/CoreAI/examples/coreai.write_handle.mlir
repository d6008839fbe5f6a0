module {
  coreai.graph @main(%arg0: !coreai.handle<tensor<2x3xf32>> {coreai.name = "a0"}, %arg1: tensor<2x3xf32> {coreai.name = "a1"}) -> (!coreai.token {coreai.name = "r0"}) {
    %0 = coreai.create_token : !coreai.token
    %1 = coreai.write_handle %arg0, %arg1, %0 : (<tensor<2x3xf32>>, tensor<2x3xf32>, !coreai.token) -> !coreai.token
    coreai.output %1 : !coreai.token
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [{coreai.name = "a0"}, {coreai.name = "a1"}], function_type = (!coreai.handle<tensor<2x3xf32>>, tensor<2x3xf32>) -> !coreai.token, param_decls = #param.decl.array<[]>, res_attrs = [{coreai.name = "r0"}], sym_name = "main"}> ({
  ^bb0(%arg0: !coreai.handle<tensor<2x3xf32>>, %arg1: tensor<2x3xf32>):
    %0 = "coreai.create_token"() : () -> !coreai.token
    %1 = "coreai.write_handle"(%arg0, %arg1, %0) : (!coreai.handle<tensor<2x3xf32>>, tensor<2x3xf32>, !coreai.token) -> !coreai.token
    "coreai.output"(%1) : (!coreai.token) -> ()
  }) : () -> ()
}) : () -> ()
