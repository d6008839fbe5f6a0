module {
  coreai.graph @main(%arg0: !coreai.handle<tensor<2x3xf32>> {coreai.name = "a0"}) -> (tensor<2x3xf32> {coreai.name = "r0"}, !coreai.token {coreai.name = "r1"}) {
    %0 = coreai.create_token : !coreai.token
    %output, %out_token = coreai.read_handle %arg0, %0 : (<tensor<2x3xf32>>, !coreai.token) -> (tensor<2x3xf32>, !coreai.token)
    coreai.output %output, %out_token : tensor<2x3xf32>, !coreai.token
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [{coreai.name = "a0"}], function_type = (!coreai.handle<tensor<2x3xf32>>) -> (tensor<2x3xf32>, !coreai.token), param_decls = #param.decl.array<[]>, res_attrs = [{coreai.name = "r0"}, {coreai.name = "r1"}], sym_name = "main"}> ({
  ^bb0(%arg0: !coreai.handle<tensor<2x3xf32>>):
    %0 = "coreai.create_token"() : () -> !coreai.token
    %1:2 = "coreai.read_handle"(%arg0, %0) : (!coreai.handle<tensor<2x3xf32>>, !coreai.token) -> (tensor<2x3xf32>, !coreai.token)
    "coreai.output"(%1#0, %1#1) : (tensor<2x3xf32>, !coreai.token) -> ()
  }) : () -> ()
}) : () -> ()
