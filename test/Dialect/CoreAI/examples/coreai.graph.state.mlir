module {
  coreai.graph @main(%arg0: !coreai.handle<tensor<2xf32>> {coreai.name = "s"}, %arg1: tensor<2xf32> {MutableBuffers.buffer_mutation = "y", coreai.name = "x"}) -> (!coreai.token {coreai.name = "s"}, tensor<2xf32> {coreai.name = "y"}) {
    %0 = coreai.create_token : !coreai.token
    %output, %out_token = coreai.read_handle %arg0, %0 : (<tensor<2xf32>>, !coreai.token) -> (tensor<2xf32>, !coreai.token)
    %1 = coreai.add %output, %arg1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %2 = coreai.write_handle %arg0, %1, %out_token : (<tensor<2xf32>>, tensor<2xf32>, !coreai.token) -> !coreai.token
    %output_0, %out_token_1 = coreai.read_handle %arg0, %2 : (<tensor<2xf32>>, !coreai.token) -> (tensor<2xf32>, !coreai.token)
    coreai.output %out_token_1, %output_0 : !coreai.token, tensor<2xf32>
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [{coreai.name = "s"}, {MutableBuffers.buffer_mutation = "y", coreai.name = "x"}], function_type = (!coreai.handle<tensor<2xf32>>, tensor<2xf32>) -> (!coreai.token, tensor<2xf32>), param_decls = #param.decl.array<[]>, res_attrs = [{coreai.name = "s"}, {coreai.name = "y"}], sym_name = "main"}> ({
  ^bb0(%arg0: !coreai.handle<tensor<2xf32>>, %arg1: tensor<2xf32>):
    %0 = "coreai.create_token"() : () -> !coreai.token
    %1:2 = "coreai.read_handle"(%arg0, %0) : (!coreai.handle<tensor<2xf32>>, !coreai.token) -> (tensor<2xf32>, !coreai.token)
    %2 = "coreai.add"(%1#0, %arg1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %3 = "coreai.write_handle"(%arg0, %2, %1#1) : (!coreai.handle<tensor<2xf32>>, tensor<2xf32>, !coreai.token) -> !coreai.token
    %4:2 = "coreai.read_handle"(%arg0, %3) : (!coreai.handle<tensor<2xf32>>, !coreai.token) -> (tensor<2xf32>, !coreai.token)
    "coreai.output"(%4#1, %4#0) : (!coreai.token, tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
