module {
  coreai.graph @main(%arg0: tensor<3xf32> {coreai.name = "a0"}, %arg1: tensor<2x3xui1> {coreai.name = "a1"}) -> (tensor<2x3xf32, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>> {coreai.name = "r0"}) {
    %0 = coreai.build_sparse_with_bitmask %arg0, %arg1 : (tensor<3xf32>, tensor<2x3xui1>) -> tensor<2x3xf32, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>>
    coreai.output %0 : tensor<2x3xf32, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>>
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [{coreai.name = "a0"}, {coreai.name = "a1"}], function_type = (tensor<3xf32>, tensor<2x3xui1>) -> tensor<2x3xf32, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>>, param_decls = #param.decl.array<[]>, res_attrs = [{coreai.name = "r0"}], sym_name = "main"}> ({
  ^bb0(%arg0: tensor<3xf32>, %arg1: tensor<2x3xui1>):
    %0 = "coreai.build_sparse_with_bitmask"(%arg0, %arg1) : (tensor<3xf32>, tensor<2x3xui1>) -> tensor<2x3xf32, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>>
    "coreai.output"(%0) : (tensor<2x3xf32, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>>) -> ()
  }) : () -> ()
}) : () -> ()
