// RUN: not corten-opt --coreai-to-plan %s 2>&1 | FileCheck %s

// CHECK: error: 'coreai.delegate' op cannot be run by the engine: there is no kernel for it
coreai.graph @outside(%x: tensor<4xf32> {coreai.name = "x"}) -> (tensor<4xf32> {coreai.name = "y"}) {
  %0 = coreai.delegate <"other">(%x) {resource = array<i8: 1>} : (tensor<4xf32>) -> tensor<4xf32>
  coreai.output %0 : tensor<4xf32>
}
