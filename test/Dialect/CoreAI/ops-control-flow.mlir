// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s | corten-opt | FileCheck %s
// RUN: corten-opt %s --mlir-print-op-generic | corten-opt | FileCheck %s
// RUN: corten-opt %s --emit-bytecode | corten-opt | FileCheck %s

// CHECK: coreai.target_spec{spec = <triple = "t", soc = "s", delegateOptions = {}>, compilation = <partial>}
coreai.target_spec{spec = <triple = "t", soc = "s", delegateOptions = {}>, compilation = <partial>}

// CHECK: coreai.graph private noinline @composite(%{{.*}}: tensor<2xf32> {coreai.name = "x"}) -> (tensor<2xf32> {coreai.name = "y"}) attributes {composite_decl = #coreai.composite_declaration<"gelu" = {input_names = ["x"]}>, template_op = "gelu"} {
coreai.graph private noinline @composite(%x: tensor<2xf32> {coreai.name = "x"}) -> (tensor<2xf32> {coreai.name = "y"}) attributes {composite_decl = #coreai.composite_declaration<"gelu" = {input_names = ["x"]}>, template_op = "gelu"} {
  // CHECK: coreai.output %{{.*}} : tensor<2xf32>{{$}}
  coreai.output %x : tensor<2xf32>
}

// CHECK: coreai.graph private @declared<T: !param.type>(tensor<2xf32>, tensor<i1> {coreai.name = "flag"}) -> (tensor<2xf32>, tensor<i1>)
coreai.graph private @declared<T: !param.type>(tensor<2xf32>, tensor<i1> {coreai.name = "flag"}) -> (tensor<2xf32>, tensor<i1>)

// CHECK: coreai.graph externalize @"name.with-dash"() {
coreai.graph externalize @"name.with-dash"() {
  // CHECK: coreai.output{{$}}
  coreai.output
}

// CHECK-LABEL: coreai.graph @calls
coreai.graph @calls(%x: tensor<2xf32>, %flag: tensor<i1>) {
  // CHECK: coreai.invoke @composite(%{{.*}})  : (tensor<2xf32>) -> tensor<2xf32>
  %y = coreai.invoke @composite(%x) : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: coreai.invoke @composite(%{{.*}})  {test.note} : (tensor<2xf32> {coreai.name = "x"}) -> (tensor<2xf32> {coreai.name = "y"})
  %z = coreai.invoke @composite(%x) {test.note} : (tensor<2xf32> {coreai.name = "x"}) -> (tensor<2xf32> {coreai.name = "y"})
  // CHECK: coreai.invoke @declared<f32>(%{{.*}}, %{{.*}})  : (tensor<2xf32>, tensor<i1>) -> (tensor<2xf32>, tensor<i1>)
  %both:2 = coreai.invoke @declared<f32>(%x, %flag) : (tensor<2xf32>, tensor<i1>) -> (tensor<2xf32>, tensor<i1>)
  // CHECK: coreai.invoke @"name.with-dash"()  : () -> ()
  coreai.invoke @"name.with-dash"() : () -> ()
  coreai.output
}

// CHECK-LABEL: coreai.graph @branches
coreai.graph @branches(%x: tensor<2xf32>, %y: tensor<2xf32>, %flag: tensor<i1>) {
  // CHECK: coreai.if %[[FLAG:.*]] {
  // CHECK-NEXT: coreai.yield %[[X:.*]] : tensor<2xf32>
  // CHECK-NEXT: } else {
  // CHECK-NEXT: coreai.yield %[[Y:.*]] : tensor<2xf32>
  // CHECK-NEXT: } : tensor<i1> -> tensor<2xf32> {test.note}
  %one = coreai.if %flag {
    coreai.yield %x : tensor<2xf32>
  } else {
    coreai.yield %y : tensor<2xf32>
  } : tensor<i1> -> tensor<2xf32> {test.note}
  // CHECK: } : tensor<i1> -> tensor<2xf32>, tensor<2xf32>
  %two:2 = coreai.if %flag {
    coreai.yield %x, %y : tensor<2xf32>, tensor<2xf32>
  } else {
    coreai.yield %y, %x : tensor<2xf32>, tensor<2xf32>
  } : tensor<i1> -> tensor<2xf32>, tensor<2xf32>
  // An empty yield is not shown, and the arrow stays.
  // CHECK: coreai.if %[[FLAG]] {
  // CHECK-NEXT: } : tensor<i1> -> {{$}}
  coreai.if %flag {
  } : tensor<i1> ->
  coreai.output
}

// CHECK-LABEL: coreai.graph @loops
coreai.graph @loops(%start: tensor<si32>, %x: tensor<2xf32>, %stop: tensor<si32>, %flag: tensor<i1>) {
  // CHECK: coreai.while %[[START:.*]], %[[X:.*]] {
  // CHECK-NEXT: ^bb0(%[[I:.*]]: tensor<si32>, %[[STATE:.*]]: tensor<2xf32>):
  // CHECK-NEXT: %[[MORE:.*]] = coreai.not_equal
  // CHECK-NEXT: coreai.condition %[[MORE]], %[[I]], %[[STATE]] : (tensor<i1>, tensor<si32>, tensor<2xf32>)
  // CHECK-NEXT: } do {
  // CHECK: coreai.yield
  // CHECK-NEXT: } : (tensor<si32>, tensor<2xf32>) -> (tensor<si32>, tensor<2xf32>) {test.note}
  %both:2 = coreai.while %start, %x {
  ^bb0(%i: tensor<si32>, %state: tensor<2xf32>):
    %more = coreai.not_equal %i, %stop : (tensor<si32>, tensor<si32>) -> tensor<i1>
    coreai.condition %more, %i, %state : (tensor<i1>, tensor<si32>, tensor<2xf32>)
  } do {
  ^bb0(%i: tensor<si32>, %state: tensor<2xf32>):
    %one = coreai.constant dense<1> : tensor<si32>
    %next = coreai.add %i, %one : (tensor<si32>, tensor<si32>) -> tensor<si32>
    %twice = coreai.add %state, %state : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    coreai.yield %next, %twice : tensor<si32>, tensor<2xf32>
  } : (tensor<si32>, tensor<2xf32>) -> (tensor<si32>, tensor<2xf32>) {test.note}
  // CHECK: coreai.while {
  // CHECK-NEXT: coreai.condition %{{.*}} : (tensor<i1>)
  // CHECK-NEXT: } do {
  // CHECK-NEXT: coreai.yield
  // CHECK-NEXT: } : () -> ()
  coreai.while {
    coreai.condition %flag : (tensor<i1>)
  } do {
    coreai.yield
  } : () -> ()
  coreai.output
}

// CHECK-LABEL: coreai.graph @delegates
coreai.graph @delegates(%x: tensor<2xf32>) {
  // CHECK: coreai.isolated_group<"Interpreter">(%{{.*}}) {test.note} : (tensor<2xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<2xf32>):
  %group = coreai.isolated_group<"Interpreter">(%x) {test.note} : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%inside: tensor<2xf32>):
    %relu = coreai.relu %inside : (tensor<2xf32>) -> tensor<2xf32>
    coreai.yield %relu : tensor<2xf32>
  }
  // CHECK: coreai.isolated_group<"Interpreter">() : () -> () {
  // CHECK-NEXT: }
  coreai.isolated_group<"Interpreter">() : () -> () {
  }
  // CHECK: coreai.delegate<"X">(%{{.*}}) {lifecycle = #udml.lifecycle<init>, resource = array<i8: 1, 2>} : (tensor<2xf32>) -> tensor<2xf32>
  %delegate = coreai.delegate<"X">(%x) {lifecycle = #udml.lifecycle<init>, resource = array<i8: 1, 2>} : (tensor<2xf32>) -> tensor<2xf32>
  coreai.output
}
