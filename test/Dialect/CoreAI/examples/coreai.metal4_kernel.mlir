module {
  coreai.graph @main(%arg0: tensor<2x3xf32, #coreaix.hw_constraints<MTLBuffer, alignments: [1x1x1], interleave: [1x1]>> {coreai.name = "a0"}) -> (tensor<2x3xf32, #coreaix.hw_constraints<MTLBuffer, alignments: [1x1x1], interleave: [1x1]>> {coreai.name = "r0"}) {
    %0 = coreai.constant dense<1> : tensor<3xui32>
    %1 = coreai.constant dense<1> : tensor<3xui32>
    %2 = coreai.constant dense<[2, 3]> : tensor<2xui32>
    %3 = coreai.metal4_kernel kernel_args(%arg0), threads_per_grid %0, threads_per_thread_group %1, result_shapes(%2) {kernel_name = "k", kernel_source = "kernel void k() {}"} : (tensor<2x3xf32, #coreaix.hw_constraints<MTLBuffer, alignments: [1x1x1], interleave: [1x1]>>, tensor<3xui32>, tensor<3xui32>, tensor<2xui32>) -> tensor<2x3xf32, #coreaix.hw_constraints<MTLBuffer, alignments: [1x1x1], interleave: [1x1]>>
    coreai.output %3 : tensor<2x3xf32, #coreaix.hw_constraints<MTLBuffer, alignments: [1x1x1], interleave: [1x1]>>
  }
}

// -----

"builtin.module"() ({
  "coreai.graph"() <{arg_attrs = [{coreai.name = "a0"}], function_type = (tensor<2x3xf32, #coreaix.hw_constraints<MTLBuffer, alignments: [1x1x1], interleave: [1x1]>>) -> tensor<2x3xf32, #coreaix.hw_constraints<MTLBuffer, alignments: [1x1x1], interleave: [1x1]>>, param_decls = #param.decl.array<[]>, res_attrs = [{coreai.name = "r0"}], sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2x3xf32, #coreaix.hw_constraints<MTLBuffer, alignments: [1x1x1], interleave: [1x1]>>):
    %0 = "coreai.constant"() <{value = dense<1> : tensor<3xui32>}> : () -> tensor<3xui32>
    %1 = "coreai.constant"() <{value = dense<1> : tensor<3xui32>}> : () -> tensor<3xui32>
    %2 = "coreai.constant"() <{value = dense<[2, 3]> : tensor<2xui32>}> : () -> tensor<2xui32>
    %3 = "coreai.metal4_kernel"(%arg0, %0, %1, %2) <{kernel_name = "k", kernel_source = "kernel void k() {}", operandSegmentSizes = array<i32: 1, 1, 1, 1>}> : (tensor<2x3xf32, #coreaix.hw_constraints<MTLBuffer, alignments: [1x1x1], interleave: [1x1]>>, tensor<3xui32>, tensor<3xui32>, tensor<2xui32>) -> tensor<2x3xf32, #coreaix.hw_constraints<MTLBuffer, alignments: [1x1x1], interleave: [1x1]>>
    "coreai.output"(%3) : (tensor<2x3xf32, #coreaix.hw_constraints<MTLBuffer, alignments: [1x1x1], interleave: [1x1]>>) -> ()
  }) : () -> ()
}) : () -> ()
