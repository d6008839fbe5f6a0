// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s -coreai-merge-casts | FileCheck %s

// CHECK-LABEL: @to_itself
// CHECK-NEXT:    coreai.output %arg0
coreai.graph @to_itself(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = coreai.cast %x : tensor<?xf32> to tensor<?xf32>
  coreai.output %0 : tensor<?xf32>
}

// Wider and back.
// CHECK-LABEL: @back
// CHECK-NEXT:    coreai.output %arg0, %arg1, %arg2, %arg3, %arg4
coreai.graph @back(%a: tensor<2xf16>, %b: tensor<2xbf16>, %c: tensor<2xui8>, %d: tensor<2xi1>, %e: tensor<2xf8E5M2>) -> (tensor<2xf16>, tensor<2xbf16>, tensor<2xui8>, tensor<2xi1>, tensor<2xf8E5M2>) {
  %0 = coreai.cast %a : tensor<2xf16> to tensor<2xf32>
  %1 = coreai.cast %0 : tensor<2xf32> to tensor<2xf16>
  %2 = coreai.cast %b : tensor<2xbf16> to tensor<2xf64>
  %3 = coreai.cast %2 : tensor<2xf64> to tensor<2xbf16>
  %4 = coreai.cast %c : tensor<2xui8> to tensor<2xf16>
  %5 = coreai.cast %4 : tensor<2xf16> to tensor<2xui8>
  %6 = coreai.cast %d : tensor<2xi1> to tensor<2xui8>
  %7 = coreai.cast %6 : tensor<2xui8> to tensor<2xi1>
  %8 = coreai.cast %e : tensor<2xf8E5M2> to tensor<2xf16>
  %9 = coreai.cast %8 : tensor<2xf16> to tensor<2xf8E5M2>
  coreai.output %1, %3, %5, %7, %9 : tensor<2xf16>, tensor<2xbf16>, tensor<2xui8>, tensor<2xi1>, tensor<2xf8E5M2>
}

// Wider on the way; to something narrower whose limits decide.
// CHECK-LABEL: @onward
// CHECK-NEXT:    coreai.cast %arg0 : tensor<2xsi8> to tensor<2xf32>
// CHECK-NEXT:    coreai.cast %arg1 : tensor<2xf32> to tensor<2xsi8>
// CHECK-NEXT:    coreai.cast %arg2 : tensor<2xui32> to tensor<2xi1>
// CHECK-NEXT:    coreai.cast %arg3 : tensor<2xi1> to tensor<2xcomplex<f32>>
// CHECK-NEXT:    coreai.output
coreai.graph @onward(%a: tensor<2xsi8>, %b: tensor<2xf32>, %c: tensor<2xui32>, %d: tensor<2xi1>) -> (tensor<2xf32>, tensor<2xsi8>, tensor<2xi1>, tensor<2xcomplex<f32>>) {
  %0 = coreai.cast %a : tensor<2xsi8> to tensor<2xsi16>
  %1 = coreai.cast %0 : tensor<2xsi16> to tensor<2xf32>
  %2 = coreai.cast %b : tensor<2xf32> to tensor<2xsi32>
  %3 = coreai.cast %2 : tensor<2xsi32> to tensor<2xsi8>
  %4 = coreai.cast %c : tensor<2xui32> to tensor<2xsi16>
  %5 = coreai.cast %4 : tensor<2xsi16> to tensor<2xi1>
  %6 = coreai.cast %d : tensor<2xi1> to tensor<2xf32>
  %7 = coreai.cast %6 : tensor<2xf32> to tensor<2xcomplex<f32>>
  coreai.output %1, %3, %5, %7 : tensor<2xf32>, tensor<2xsi8>, tensor<2xi1>, tensor<2xcomplex<f32>>
}

// What is cut off or clipped on the way is missing at the end.
// CHECK-LABEL: @cut
// CHECK-COUNT-12: coreai.cast
coreai.graph @cut(%a: tensor<2xf32>, %b: tensor<2xsi32>, %c: tensor<2xui8>, %d: tensor<2xcomplex<f32>>) -> (tensor<2xf32>, tensor<2xi1>, tensor<2xi1>, tensor<2xsi8>, tensor<2xf32>, tensor<2xi1>) {
  %0 = coreai.cast %a : tensor<2xf32> to tensor<2xsi32>
  %1 = coreai.cast %0 : tensor<2xsi32> to tensor<2xf32>
  %2 = coreai.cast %a : tensor<2xf32> to tensor<2xsi8>
  %3 = coreai.cast %2 : tensor<2xsi8> to tensor<2xi1>
  %4 = coreai.cast %b : tensor<2xsi32> to tensor<2xui32>
  %5 = coreai.cast %4 : tensor<2xui32> to tensor<2xi1>
  %6 = coreai.cast %b : tensor<2xsi32> to tensor<2xui8>
  %7 = coreai.cast %6 : tensor<2xui8> to tensor<2xsi8>
  %8 = coreai.cast %c : tensor<2xui8> to tensor<2xi1>
  %9 = coreai.cast %8 : tensor<2xi1> to tensor<2xf32>
  %10 = coreai.cast %d : tensor<2xcomplex<f32>> to tensor<2xf32>
  %11 = coreai.cast %10 : tensor<2xf32> to tensor<2xi1>
  coreai.output %1, %3, %5, %7, %9, %11 : tensor<2xf32>, tensor<2xi1>, tensor<2xi1>, tensor<2xsi8>, tensor<2xf32>, tensor<2xi1>
}

// What rounds on the way rounds twice.
// CHECK-LABEL: @rounded
// CHECK-COUNT-10: coreai.cast
coreai.graph @rounded(%a: tensor<2xf64>, %b: tensor<2xf16>, %c: tensor<2xui16>, %d: tensor<2xsi32>, %e: tensor<2xf32>) -> (tensor<2xf16>, tensor<2xf32>, tensor<2xui16>, tensor<2xsi32>, tensor<2xi1>) {
  %0 = coreai.cast %a : tensor<2xf64> to tensor<2xf32>
  %1 = coreai.cast %0 : tensor<2xf32> to tensor<2xf16>
  %2 = coreai.cast %b : tensor<2xf16> to tensor<2xbf16>
  %3 = coreai.cast %2 : tensor<2xbf16> to tensor<2xf32>
  %4 = coreai.cast %c : tensor<2xui16> to tensor<2xf16>
  %5 = coreai.cast %4 : tensor<2xf16> to tensor<2xui16>
  %6 = coreai.cast %d : tensor<2xsi32> to tensor<2xf32>
  %7 = coreai.cast %6 : tensor<2xf32> to tensor<2xsi32>
  %8 = coreai.cast %e : tensor<2xf32> to tensor<2xf16>
  %9 = coreai.cast %8 : tensor<2xf16> to tensor<2xi1>
  coreai.output %1, %3, %5, %7, %9 : tensor<2xf16>, tensor<2xf32>, tensor<2xui16>, tensor<2xsi32>, tensor<2xi1>
}

// A format without zero holds no booleans.
// CHECK-LABEL: @scales
// CHECK-COUNT-2: coreai.cast
coreai.graph @scales(%x: tensor<2xi1>) -> tensor<2xf32> {
  %0 = coreai.cast %x : tensor<2xi1> to tensor<2xf8E8M0FNU>
  %1 = coreai.cast %0 : tensor<2xf8E8M0FNU> to tensor<2xf32>
  coreai.output %1 : tensor<2xf32>
}

// An extent that is only stated between the two stays stated.
// CHECK-LABEL: @extents
// CHECK:         coreai.cast %{{.*}} : tensor<?xf16> to tensor<2xf32>
// CHECK:         coreai.cast %{{.*}} : tensor<2xf32> to tensor<?xf16>
// CHECK:         %[[R:.*]] = coreai.cast %arg0 : tensor<?xf16> to tensor<2xf16>
// CHECK:         coreai.output %{{.*}}, %[[R]]
coreai.graph @extents(%x: tensor<?xf16>) -> (tensor<?xf16>, tensor<2xf16>) {
  %0 = coreai.cast %x : tensor<?xf16> to tensor<2xf32>
  %1 = coreai.cast %0 : tensor<2xf32> to tensor<?xf16>
  %2 = coreai.cast %x : tensor<?xf16> to tensor<?xf32>
  %3 = coreai.cast %2 : tensor<?xf32> to tensor<2xf16>
  coreai.output %1, %3 : tensor<?xf16>, tensor<2xf16>
}
