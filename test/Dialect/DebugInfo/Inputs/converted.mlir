#file = #debuginfo.file<filename = "model.py", directory = "", sha256Sum = "0000000000000000000000000000000000000000000000000000000000000000">
#file1 = #debuginfo.file<filename = "linear.py", directory = "torch/nn/modules", sha256Sum = "0000000000000000000000000000000000000000000000000000000000000000">
#loc1 = loc("torch/nn/modules/linear.py":0:0)
#metadata = #debuginfo.metadata<"op_id": {type = "coreai", value = 15 : ui64}>
#compile_unit1 = #debuginfo.compile_unit<sourceLanguage = "mlir", file = #file1, producer = "torch", optimized = false, flags = "", allFiles = #file1, #file>
#subprogram = #debuginfo.subprogram<compileUnit = #compile_unit1, file = #file1, name = "main", linkageName = ""> : (tensor<1xf32>, tensor<?x2xf32>) -> (tensor<1xf32>, tensor<?x3xf32>)
#loc27 = #debuginfo.location<#loc1 in #subprogram metadata = [#metadata]>
module {
  coreai.graph @main(%arg0: tensor<1xf32> {MutableBuffers.buffer_mutation = "b_block_count", coreai.name = "b_block_count"} loc(#loc27), %arg1: tensor<?x2xf32> {coreai.name = "x"} loc(#loc27)) -> (tensor<1xf32> {coreai.name = "b_block_count"}, tensor<?x3xf32> {coreai.name = "add_7"}) {
    %0 = coreai.constant dense<[[0.000000e+00, 1.000000e+00], [2.000000e+00, 3.000000e+00], [4.000000e+00, 5.000000e+00]]> : tensor<3x2xf32> loc(#loc16)
    %1 = coreai.constant dense<[0.000000e+00, 1.000000e+00, 2.000000e+00]> : tensor<3xf32> loc(#loc17)
    %2 = coreai.constant dense<1.000000e+00> : tensor<f32> loc(#loc18)
    %3 = coreai.cast %arg0 : tensor<1xf32> to tensor<1xf32> loc(#loc19)
    %4 = coreai.cast %2 : tensor<f32> to tensor<f32> loc(#loc20)
    %5 = coreai.decomposable.broadcasting_add %3, %4 : (tensor<1xf32>, tensor<f32>) -> tensor<1xf32> loc(#loc21)
    %6 = coreai.constant dense<[1, 0]> : tensor<2xui32> loc(#loc22)
    %7 = coreai.transpose %0, %6 : (tensor<3x2xf32>, tensor<2xui32>) -> tensor<2x3xf32> loc(#loc23)
    %8 = coreai.decomposable.broadcasting_batch_matmul %arg1, %7 : (tensor<?x2xf32>, tensor<2x3xf32>) -> tensor<?x3xf32> loc(#loc24)
    %9 = coreai.decomposable.broadcasting_add %8, %1 : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32> loc(#loc25)
    %10 = coreai.relu %9 : (tensor<?x3xf32>) -> tensor<?x3xf32> loc(#loc26)
    %11 = coreai.constant dense<1.000000e+00> : tensor<f32> loc(#loc10)
    %12 = coreai.cast %10 : tensor<?x3xf32> to tensor<?x3xf32> loc(#loc11)
    %13 = coreai.cast %11 : tensor<f32> to tensor<f32> loc(#loc12)
    %14 = coreai.decomposable.broadcasting_add %12, %13 : (tensor<?x3xf32>, tensor<f32>) -> tensor<?x3xf32> loc(#loc13)
    coreai.output %5, %14 : tensor<1xf32>, tensor<?x3xf32> loc(#loc14)
  } loc(#loc27)
} loc(#loc15)
#loc = loc("model.py":0:0)
#loc2 = loc("torch/nn/modules/linear.py":134:0)
#loc3 = loc("model.py":12:0)
#loc4 = loc("model.py":21:0)
#loc5 = loc("model.py":11:0)
#loc6 = loc("model.py":22:0)
#loc7 = loc("-":0:0)
#metadata1 = #debuginfo.metadata<"sources": [{id = 5 : ui64, identifiers = ["permute"], name = "torch"}]>
#metadata2 = #debuginfo.metadata<"op_id": {type = "torch", value = 5 : ui64}>
#metadata3 = #debuginfo.metadata<"op_id": {type = "coreai", value = 5 : ui64}>
#metadata4 = #debuginfo.metadata<"call_stack": ["Linear$1", "Block$1", "Model$1"]>
#metadata5 = #debuginfo.metadata<"sources": [{id = 6 : ui64, identifiers = ["addmm"], name = "torch"}]>
#metadata6 = #debuginfo.metadata<"op_id": {type = "torch", value = 6 : ui64}>
#metadata7 = #debuginfo.metadata<"op_id": {type = "coreai", value = 9 : ui64}>
#metadata8 = #debuginfo.metadata<"sources": [{id = 4 : ui64, identifiers = ["add"], name = "torch"}]>
#metadata9 = #debuginfo.metadata<"op_id": {type = "torch", value = 4 : ui64}>
#metadata10 = #debuginfo.metadata<"op_id": {type = "coreai", value = 3 : ui64}>
#metadata11 = #debuginfo.metadata<"call_stack": ["Block$1", "Model$1"]>
#metadata12 = #debuginfo.metadata<"op_id": {type = "coreai", value = 1 : ui64}>
#metadata13 = #debuginfo.metadata<"op_id": {type = "coreai", value = 2 : ui64}>
#metadata14 = #debuginfo.metadata<"op_id": {type = "coreai", value = 0 : ui64}>
#metadata15 = #debuginfo.metadata<"output_maps": [{source = {id = 4 : ui64, level = "torch", output = 0 : ui32}, target = {level = "coreai", output = 0 : ui32}}]>
#metadata16 = #debuginfo.metadata<"op_id": {type = "coreai", value = 6 : ui64}>
#metadata17 = #debuginfo.metadata<"op_id": {type = "coreai", value = 4 : ui64}>
#metadata18 = #debuginfo.metadata<"output_maps": [{source = {id = 5 : ui64, level = "torch", output = 0 : ui32}, target = {level = "coreai", output = 0 : ui32}}]>
#metadata19 = #debuginfo.metadata<"op_id": {type = "coreai", value = 8 : ui64}>
#metadata20 = #debuginfo.metadata<"op_id": {type = "coreai", value = 7 : ui64}>
#metadata21 = #debuginfo.metadata<"output_maps": [{source = {id = 6 : ui64, level = "torch", output = 0 : ui32}, target = {level = "coreai", output = 0 : ui32}}]>
#metadata22 = #debuginfo.metadata<"sources": [{id = 7 : ui64, identifiers = ["relu"], name = "torch"}]>
#metadata23 = #debuginfo.metadata<"op_id": {type = "torch", value = 7 : ui64}>
#metadata24 = #debuginfo.metadata<"op_id": {type = "coreai", value = 10 : ui64}>
#metadata25 = #debuginfo.metadata<"output_maps": [{source = {id = 7 : ui64, level = "torch", output = 0 : ui32}, target = {level = "coreai", output = 0 : ui32}}]>
#metadata26 = #debuginfo.metadata<"sources": [{id = 8 : ui64, identifiers = ["add_7"], name = "torch"}]>
#metadata27 = #debuginfo.metadata<"op_id": {type = "torch", value = 8 : ui64}>
#metadata28 = #debuginfo.metadata<"op_id": {type = "coreai", value = 14 : ui64}>
#metadata29 = #debuginfo.metadata<"call_stack": ["Model$1"]>
#metadata30 = #debuginfo.metadata<"op_id": {type = "coreai", value = 12 : ui64}>
#metadata31 = #debuginfo.metadata<"op_id": {type = "coreai", value = 13 : ui64}>
#metadata32 = #debuginfo.metadata<"op_id": {type = "coreai", value = 11 : ui64}>
#metadata33 = #debuginfo.metadata<"output_maps": [{source = {id = 8 : ui64, level = "torch", output = 0 : ui32}, target = {level = "coreai", output = 0 : ui32}}]>
#metadata34 = #debuginfo.metadata<"op_id": {type = "coreai", value = 16 : ui64}>
#compile_unit = #debuginfo.compile_unit<sourceLanguage = "mlir", file = #file, producer = "torch", optimized = false, flags = "", allFiles = #file, #file1>
#loc8 = #debuginfo.location<#loc3 in @main>
#loc9 = #debuginfo.location<#loc4 in @main>
#loc10 = #debuginfo.location<#loc6 in @main metadata = [#metadata26, #metadata27, #metadata28, #metadata29]>
#loc11 = #debuginfo.location<#loc6 in @main metadata = [#metadata26, #metadata27, #metadata30, #metadata29]>
#loc12 = #debuginfo.location<#loc6 in @main metadata = [#metadata26, #metadata27, #metadata31, #metadata29]>
#loc13 = #debuginfo.location<#loc6 in @main metadata = [#metadata26, #metadata27, #metadata32, #metadata33, #metadata29]>
#loc14 = #debuginfo.location<#loc7 in unit metadata = [#metadata34]>
#loc15 = #debuginfo.location<#loc in #compile_unit>
#loc16 = #debuginfo.location<#loc2 in @main fused with [#loc8, #loc9] metadata = [#metadata1, #metadata2, #metadata3, #metadata4]>
#loc17 = #debuginfo.location<#loc2 in @main fused with [#loc8, #loc9] metadata = [#metadata5, #metadata6, #metadata7, #metadata4]>
#loc18 = #debuginfo.location<#loc5 in @main fused with [#loc9] metadata = [#metadata8, #metadata9, #metadata10, #metadata11]>
#loc19 = #debuginfo.location<#loc5 in @main fused with [#loc9] metadata = [#metadata8, #metadata9, #metadata12, #metadata11]>
#loc20 = #debuginfo.location<#loc5 in @main fused with [#loc9] metadata = [#metadata8, #metadata9, #metadata13, #metadata11]>
#loc21 = #debuginfo.location<#loc5 in @main fused with [#loc9] metadata = [#metadata8, #metadata9, #metadata14, #metadata15, #metadata11]>
#loc22 = #debuginfo.location<#loc2 in @main fused with [#loc8, #loc9] metadata = [#metadata1, #metadata2, #metadata16, #metadata4]>
#loc23 = #debuginfo.location<#loc2 in @main fused with [#loc8, #loc9] metadata = [#metadata1, #metadata2, #metadata17, #metadata18, #metadata4]>
#loc24 = #debuginfo.location<#loc2 in @main fused with [#loc8, #loc9] metadata = [#metadata5, #metadata6, #metadata19, #metadata4]>
#loc25 = #debuginfo.location<#loc2 in @main fused with [#loc8, #loc9] metadata = [#metadata5, #metadata6, #metadata20, #metadata21, #metadata4]>
#loc26 = #debuginfo.location<#loc3 in @main fused with [#loc9] metadata = [#metadata22, #metadata23, #metadata24, #metadata25, #metadata11]>

