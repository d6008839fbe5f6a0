// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s -split-input-file -verify-diagnostics

// Each extent of a result that is not known is an operand.
plan.function @sizes inputs ["x"] states [] outputs ["y"] {
^bb0(%x: tensor<?xf32>):
  // expected-error @below {{has 0 sizes for 1 extents that are not known}}
  %y = plan.kernel "Relu"(%x) numbers [] : (tensor<?xf32>) -> tensor<?xf32>
  plan.return %y : tensor<?xf32>
}

// -----

// And so is each number.
plan.function @numbers inputs ["x"] states [] outputs ["y"] {
^bb0(%x: tensor<2xf32>):
  // expected-error @below {{has 0 numbers for 1 that are not known}}
  %y = plan.kernel "ReduceSum"(%x) numbers [-9223372036854775808] : (tensor<2xf32>) -> tensor<1xf32>
  plan.return %y : tensor<1xf32>
}

// -----

// Two kernels are nothing without their program.
plan.function @no_program inputs ["x"] states [] outputs ["y"] {
^bb0(%x: tensor<2xf32>):
  // expected-error @below {{has no program}}
  %y = plan.kernel "TileReduce"() with(%x) numbers [0] : (tensor<2xf32>) -> tensor<1xf32>
  plan.return %y : tensor<1xf32>
}

// -----

// Those get what they are called with.
plan.function @program_inputs inputs ["x"] states [] outputs ["y"] {
^bb0(%x: tensor<2xf32>):
  // expected-error @below {{needs a program that takes what it gets}}
  %y = plan.kernel "Tile"() with(%x) numbers [] : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: f32, %b: f32):
    plan.yield %a : f32
  }
  plan.return %y : tensor<2xf32>
}

// -----

// All others get what they computed as well.
plan.function @program_of_product inputs ["x"] states [] outputs ["y"] {
^bb0(%x: tensor<2x2xf32>):
  // expected-error @below {{needs a program that takes what it gets}}
  %y = plan.kernel "MatMul"(%x, %x) with(%x) numbers [] : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> {
  ^bb0(%a: f32):
    plan.yield %a : f32
  }
  plan.return %y : tensor<2x2xf32>
}

// -----

plan.function @program_results inputs ["x"] states [] outputs ["y"] {
^bb0(%x: tensor<2xf32>):
  // expected-error @below {{needs a program that gives as much as it does}}
  %y = plan.kernel "Tile"() with(%x) numbers [] : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: f32):
    plan.yield %a, %a : f32, f32
  }
  plan.return %y : tensor<2xf32>
}

// -----

// A view has as many sizes, strides and offsets as it needs.
plan.function @view_sizes inputs ["x"] states [] outputs ["y"] {
^bb0(%x: tensor<?xf32>):
  // expected-error @below {{has too many or too few sizes, strides or offsets}}
  %y = plan.view %x sizes() offset 0() strides [1]() : tensor<?xf32> to tensor<?xf32>
  plan.return %y : tensor<?xf32>
}

// -----

plan.function @view_rank inputs ["x"] states [] outputs ["y"] {
^bb0(%x: tensor<4xf32>):
  // expected-error @below {{has too many or too few sizes, strides or offsets}}
  %y = plan.view %x sizes() offset 0() strides [1]() : tensor<4xf32> to tensor<2x2xf32>
  plan.return %y : tensor<2x2xf32>
}

// -----

plan.function @view_strides inputs ["x"] states [] outputs ["y"] {
^bb0(%x: tensor<4xf32>):
  // expected-error @below {{has too many or too few sizes, strides or offsets}}
  %y = plan.view %x sizes() offset 0() strides [-9223372036854775808]() : tensor<4xf32> to tensor<2xf32>
  plan.return %y : tensor<2xf32>
}

// -----

plan.function @view_offset inputs ["x"] states [] outputs ["y"] {
^bb0(%x: tensor<4xf32>):
  %n = plan.extent %x, 0 : tensor<4xf32>
  // expected-error @below {{has too many or too few sizes, strides or offsets}}
  %y = plan.view %x sizes() offset 0(%n) strides [1]() : tensor<4xf32> to tensor<2xf32>
  plan.return %y : tensor<2xf32>
}

// -----

// What is inserted into stays what it is.
plan.function @insert inputs ["x"] states [] outputs ["y"] {
^bb0(%x: tensor<4xf32>):
  // expected-error @below {{failed to verify that all of {target, result} have same type}}
  %y = "plan.insert"(%x, %x) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>, static_offset = 0 : i64, static_strides = array<i64: 1>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<5xf32>
  plan.return %y : tensor<5xf32>
}
