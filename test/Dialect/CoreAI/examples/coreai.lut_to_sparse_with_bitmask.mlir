module {
  coreai.graph @main(%arg0: tensor<4x6xui1, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>> {coreai.name = "a0"}, %arg1: tensor<1x1x2x1xf16> {coreai.name = "a1"}) -> (tensor<4x6xf16, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>> {coreai.name = "r0"}) {
    %0 = coreai.constant dense<0> : tensor<si16>
    %1 = coreai.lut_to_sparse_with_bitmask %arg0, %arg1, %0 : (tensor<4x6xui1, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>>, tensor<1x1x2x1xf16>, tensor<si16>) -> tensor<4x6xf16, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>>
    coreai.output %1 : tensor<4x6xf16, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>>
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [{coreai.name = "a0"}, {coreai.name = "a1"}], function_type = (tensor<4x6xui1, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>>, tensor<1x1x2x1xf16>) -> tensor<4x6xf16, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>>, param_decls = #param.decl.array<[]>, res_attrs = [{coreai.name = "r0"}], sym_name = "main"}> ({
  ^bb0(%arg0: tensor<4x6xui1, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>>, %arg1: tensor<1x1x2x1xf16>):
    %0 = "coreai.constant"() <{value = dense<0> : tensor<si16>}> : () -> tensor<si16>
    %1 = "coreai.lut_to_sparse_with_bitmask"(%arg0, %arg1, %0) : (tensor<4x6xui1, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>>, tensor<1x1x2x1xf16>, tensor<si16>) -> tensor<4x6xf16, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>>
    "coreai.output"(%1) : (tensor<4x6xf16, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>>) -> ()
  }) : () -> ()
}) : () -> ()
