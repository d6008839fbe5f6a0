// RUN: corten-opt --coreai-to-plan %s | FileCheck %s
//
// A composite that is known by name is one kernel.

// CHECK-LABEL: plan.function @known
// CHECK: plan.kernel "GatedDelta"({{.*}}) numbers [1] : ({{.*}}) -> (tensor<1x3x2x5xf32>, tensor<1x2x4x5xf32>)
// CHECK-NOT: plan.kernel
coreai.graph private noinline @update(%q: tensor<1x1x3x4xf32>, %k: tensor<1x1x3x4xf32>, %v: tensor<1x2x3x5xf32>, %g: tensor<1x2x3xf32>, %b: tensor<1x2x3xf32>, %s: tensor<1x2x4x5xf32>) -> (tensor<1x3x2x5xf32>, tensor<1x2x4x5xf32>) attributes {composite_decl = #coreai.composite_declaration<"gated_delta_update" = {input_names = ["query", "key", "value", "g", "beta", "initial_state"], op_attrs = {use_qk_l2_norm = true}, output_names = ["output_0", "output_1"]}>} {
  %0 = coreai.constant dense<0.0> : tensor<1x3x2x5xf32>
  coreai.output %0, %s : tensor<1x3x2x5xf32>, tensor<1x2x4x5xf32>
}
coreai.graph @known(%q: tensor<1x1x3x4xf32> {coreai.name = "q"}, %k: tensor<1x1x3x4xf32> {coreai.name = "k"}, %v: tensor<1x2x3x5xf32> {coreai.name = "v"}, %g: tensor<1x2x3xf32> {coreai.name = "g"}, %b: tensor<1x2x3xf32> {coreai.name = "b"}, %s: tensor<1x2x4x5xf32> {coreai.name = "s"}) -> (tensor<1x3x2x5xf32> {coreai.name = "y"}, tensor<1x2x4x5xf32> {coreai.name = "t"}) {
  %0, %1 = coreai.invoke @update(%q, %k, %v, %g, %b, %s) : (tensor<1x1x3x4xf32>, tensor<1x1x3x4xf32>, tensor<1x2x3x5xf32>, tensor<1x2x3xf32>, tensor<1x2x3xf32>, tensor<1x2x4x5xf32>) -> (tensor<1x3x2x5xf32>, tensor<1x2x4x5xf32>)
  coreai.output %0, %1 : tensor<1x3x2x5xf32>, tensor<1x2x4x5xf32>
}

// One of the name that does not say what it has to, and takes something else,
// is its body.
// CHECK-LABEL: plan.function @another
// CHECK-NOT: "GatedDelta"
// CHECK: plan.return
coreai.graph private noinline @other_update(%q: tensor<4xf32>) -> tensor<4xf32> attributes {composite_decl = #coreai.composite_declaration<"gated_delta_update" = {input_names = ["query"]}>} {
  %0 = coreai.relu %q : (tensor<4xf32>) -> tensor<4xf32>
  coreai.output %0 : tensor<4xf32>
}
coreai.graph @another(%q: tensor<4xf32> {coreai.name = "q"}) -> (tensor<4xf32> {coreai.name = "y"}) {
  %0 = coreai.invoke @other_update(%q) : (tensor<4xf32>) -> tensor<4xf32>
  coreai.output %0 : tensor<4xf32>
}
