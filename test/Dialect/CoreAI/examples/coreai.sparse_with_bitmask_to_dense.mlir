module {
  coreai.graph @main(%arg0: tensor<2x3xf32, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>> {coreai.name = "a0"}) -> (tensor<2x3xf32> {coreai.name = "r0"}) {
    %0 = coreai.sparse_with_bitmask_to_dense %arg0 : tensor<2x3xf32, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>> -> tensor<2x3xf32>
    coreai.output %0 : tensor<2x3xf32>
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [{coreai.name = "a0"}], function_type = (tensor<2x3xf32, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>>) -> tensor<2x3xf32>, param_decls = #param.decl.array<[]>, res_attrs = [{coreai.name = "r0"}], sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2x3xf32, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>>):
    %0 = "coreai.sparse_with_bitmask_to_dense"(%arg0) : (tensor<2x3xf32, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>>) -> tensor<2x3xf32>
    "coreai.output"(%0) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
