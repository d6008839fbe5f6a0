// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt --coreai-to-plan %s | FileCheck %s
//
// Regions stay regions, and see what is around them.

// Work is not fused into a branch that need not be taken. What comes out is
// memory of the branch, or an input: a copy makes it the caller's.
// CHECK-LABEL: plan.function @branches
// CHECK: ^bb0(%[[FLAG:.*]]: tensor<i1>, %[[X:.*]]: tensor<?x3xf32>):
// CHECK: %[[TWICE:.*]] = plan.kernel "Tile"() with(%[[X]])
// CHECK: plan.lane "Add"
// CHECK: %[[Y:.*]] = plan.if %[[FLAG]] : tensor<i1> -> (tensor<?x3xf32>) {
// CHECK: %[[SIN:.*]] = plan.kernel "Tile"() with(%[[TWICE]])
// CHECK: plan.lane "Sin"
// CHECK: plan.return %[[SIN]]
// CHECK-NEXT: } else {
// CHECK-NEXT: plan.return %[[X]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[N:.*]] = plan.extent %[[Y]], 0
// CHECK-NEXT: %[[COPY:.*]] = plan.kernel "Copy"(%[[Y]]) numbers [] sizes(%[[N]])
// CHECK-NEXT: plan.return %[[COPY]]
coreai.graph @branches(%flag: tensor<i1> {coreai.name = "flag"}, %x: tensor<?x3xf32> {coreai.name = "x"}) -> (tensor<?x3xf32> {coreai.name = "y"}) {
  %twice = coreai.add %x, %x : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %0 = coreai.if %flag {
    %1 = coreai.sin %twice : tensor<?x3xf32> -> tensor<?x3xf32>
    coreai.yield %1 : tensor<?x3xf32>
  } else {
    coreai.yield %x : tensor<?x3xf32>
  } : tensor<i1> -> tensor<?x3xf32>
  coreai.output %0 : tensor<?x3xf32>
}

// What is carried goes from region to region; what is not is read from outside.
// CHECK-LABEL: plan.function @loop
// CHECK: ^bb0(%[[STOP:.*]]: tensor<si32>, %[[X:.*]]: tensor<3xf32>, %[[STEP:.*]]: tensor<3xf32>):
// CHECK: %[[START:.*]] = plan.constant dense<0>
// CHECK: %[[LAST:.*]]:2 = plan.while(%[[START]], %[[X]])
// CHECK-NEXT: ^bb0(%[[I:.*]]: tensor<si32>, %[[V:.*]]: tensor<3xf32>):
// CHECK-NEXT: %[[MORE:.*]] = plan.kernel "Tile"() with(%[[STOP]], %[[I]])
// CHECK: plan.lane "IntegerGreater"
// CHECK: plan.return %[[MORE]], %[[I]], %[[V]]
// CHECK-NEXT: } do {
// CHECK-NEXT: ^bb0(%[[J:.*]]: tensor<si32>, %[[W:.*]]: tensor<3xf32>):
// CHECK: %[[NEXT:.*]] = plan.kernel "Tile"() with(%[[J]])
// CHECK: %[[SUM:.*]] = plan.kernel "Tile"() with(%[[W]], %[[STEP]])
// CHECK: plan.return %[[NEXT]], %[[SUM]]
// CHECK-NEXT: }
// CHECK-NEXT: plan.kernel "Copy"(%[[LAST]]#0)
// CHECK-NEXT: plan.kernel "Copy"(%[[LAST]]#1)
coreai.graph @loop(%stop: tensor<si32> {coreai.name = "stop"}, %x: tensor<3xf32> {coreai.name = "x"}, %step: tensor<3xf32> {coreai.name = "step"}) -> (tensor<si32> {coreai.name = "i"}, tensor<3xf32> {coreai.name = "y"}) {
  %start = coreai.constant dense<0> : tensor<si32>
  %both:2 = coreai.while %start, %x {
  ^bb0(%i: tensor<si32>, %state: tensor<3xf32>):
    %more = coreai.greater %stop, %i : (tensor<si32>, tensor<si32>) -> tensor<i1>
    coreai.condition %more, %i, %state : (tensor<i1>, tensor<si32>, tensor<3xf32>)
  } do {
  ^bb0(%i: tensor<si32>, %state: tensor<3xf32>):
    %one = coreai.constant dense<1> : tensor<si32>
    %next = coreai.add %i, %one : (tensor<si32>, tensor<si32>) -> tensor<si32>
    %sum = coreai.add %state, %step : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    coreai.yield %next, %sum : tensor<si32>, tensor<3xf32>
  } : (tensor<si32>, tensor<3xf32>) -> (tensor<si32>, tensor<3xf32>)
  coreai.output %both#0, %both#1 : tensor<si32>, tensor<3xf32>
}

// A branch in a loop, of which one side leaves what is carried as it is.
// CHECK-LABEL: plan.function @branchInLoop
// CHECK: plan.while(
// CHECK: } do {
// CHECK-NEXT: ^bb0(%[[V:.*]]: tensor<f32>):
// CHECK: plan.if %{{.*}} : tensor<i1> -> (tensor<f32>) {
// CHECK: } else {
// CHECK-NEXT: plan.return %[[V]]
coreai.graph @branchInLoop(%flag: tensor<i1> {coreai.name = "flag"}, %x: tensor<f32> {coreai.name = "x"}, %limit: tensor<f32> {coreai.name = "limit"}) -> (tensor<f32> {coreai.name = "y"}) {
  %0 = coreai.while %x {
  ^bb0(%v: tensor<f32>):
    %more = coreai.greater %limit, %v : (tensor<f32>, tensor<f32>) -> tensor<i1>
    coreai.condition %more, %v : (tensor<i1>, tensor<f32>)
  } do {
  ^bb0(%v: tensor<f32>):
    %next = coreai.if %flag {
      %twice = coreai.add %v, %v : (tensor<f32>, tensor<f32>) -> tensor<f32>
      coreai.yield %twice : tensor<f32>
    } else {
      coreai.yield %v : tensor<f32>
    } : tensor<i1> -> tensor<f32>
    coreai.yield %next : tensor<f32>
  } : (tensor<f32>) -> (tensor<f32>)
  coreai.output %0 : tensor<f32>
}
