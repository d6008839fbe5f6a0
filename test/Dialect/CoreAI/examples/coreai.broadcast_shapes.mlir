module {
  coreai.graph @main(%arg0: tensor<2xui32> {coreai.name = "a0"}, %arg1: tensor<3xui32> {coreai.name = "a1"}) -> (tensor<3xui32> {coreai.name = "r0"}) {
    %0 = coreai.broadcast_shapes %arg0, %arg1 : (tensor<2xui32>, tensor<3xui32>) -> tensor<3xui32>
    coreai.output %0 : tensor<3xui32>
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [{coreai.name = "a0"}, {coreai.name = "a1"}], function_type = (tensor<2xui32>, tensor<3xui32>) -> tensor<3xui32>, param_decls = #param.decl.array<[]>, res_attrs = [{coreai.name = "r0"}], sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2xui32>, %arg1: tensor<3xui32>):
    %0 = "coreai.broadcast_shapes"(%arg0, %arg1) : (tensor<2xui32>, tensor<3xui32>) -> tensor<3xui32>
    "coreai.output"(%0) : (tensor<3xui32>) -> ()
  }) : () -> ()
}) : () -> ()
