// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s -split-input-file -verify-diagnostics

// A graph returns what its signature says.
coreai.graph @output_count(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{has 0 operands, but '@output_count' returns 1}}
  coreai.output
}

// -----

// A static extent may go out as `?`, but not the reverse.
coreai.graph @output_unknown(%x: tensor<?xf32>) -> tensor<2xf32> {
  // expected-error @below {{cannot be returned as 'tensor<2xf32>'}}
  coreai.output %x : tensor<?xf32>
}

// -----

coreai.graph @output_extent(%x: tensor<2xf32>) -> tensor<3xf32> {
  // expected-error @below {{cannot be returned as 'tensor<3xf32>'}}
  coreai.output %x : tensor<2xf32>
}

// -----

coreai.graph @output_rank(%x: tensor<2xf32>) -> tensor<?x?xf32> {
  // expected-error @below {{cannot be returned as 'tensor<?x?xf32>'}}
  coreai.output %x : tensor<2xf32>
}

// -----

coreai.graph @output_kind(%x: i32) -> i64 {
  // expected-error @below {{operand of type 'i32' cannot be returned as 'i64'}}
  coreai.output %x : i32
}

// -----

// expected-error @below {{symbol declaration cannot have public visibility}}
"coreai.graph"() <{function_type = () -> (), sym_name = "public_declaration",
    param_decls = #param.decl.array<[]>}> ({}) : () -> ()

// -----

// expected-error @below {{cannot be both private and externalized}}
"coreai.graph"() <{function_type = () -> (), sym_name = "externalize_private",
    param_decls = #param.decl.array<[]>, priv, externalize}> ({
  coreai.output
}) : () -> ()

// -----

// expected-error @below {{failed to verify constraint: region with at most 1}}
"coreai.graph"() <{function_type = () -> (), sym_name = "two_blocks",
    param_decls = #param.decl.array<[]>}> ({
  coreai.output
^bb1:
  coreai.output
}) : () -> ()

// -----

// expected-error @below {{must match the type of the corresponding argument}}
"coreai.graph"() <{function_type = (tensor<2xf32>) -> (),
    sym_name = "argument_type", param_decls = #param.decl.array<[]>}> ({
^bb0(%x: tensor<?xf32>):
  coreai.output
}) : () -> ()

// -----

// expected-error @below {{entry block must have 1 arguments}}
"coreai.graph"() <{function_type = (tensor<2xf32>) -> (),
    sym_name = "argument_count", param_decls = #param.decl.array<[]>}> ({
  coreai.output
}) : () -> ()

// -----

// expected-error @below {{requires attribute 'param_decls'}}
"coreai.graph"() <{function_type = () -> (), sym_name = "no_parameters"}> ({
  coreai.output
}) : () -> ()

// -----

// expected-error @below {{to have the same number of elements as the number of}}
"coreai.graph"() <{function_type = (i32) -> (), arg_attrs = [],
    sym_name = "argument_dictionaries", param_decls = #param.decl.array<[]>}> ({
^bb0(%x: i32):
  coreai.output
}) : () -> ()

// -----

// expected-error @below {{arguments may only have dialect attributes}}
coreai.graph @argument_attribute(%x: i32 {name = "x"}) {
  coreai.output
}

// -----

// expected-error @below {{results may only have dialect attributes}}
coreai.graph @result_attribute(%x: i32) -> (i32 {name = "x"}) {
  coreai.output %x : i32
}

// -----

// expected-error @below {{must end in 'coreai.output'}}
coreai.graph @terminator() {
  coreai.yield
}

// -----

coreai.graph @nested() {
  // expected-error @below {{symbol's parent must have the SymbolTable trait}}
  coreai.graph @inner() {
    coreai.output
  }
  coreai.output
}

// -----

%c = coreai.constant 1 : i32
// expected-note @below {{required by region isolation constraints}}
coreai.graph @capture() -> i32 {
  // expected-error @below {{using value defined outside the region}}
  coreai.output %c : i32
}

// -----

// expected-note @below {{see existing symbol definition here}}
coreai.graph @name() {
  coreai.output
}
// expected-error @below {{redefinition of symbol named 'name'}}
coreai.graph @name() {
  coreai.output
}

// -----

// Calls repeat the signature exactly.
coreai.graph private @callee(%x: tensor<2xf32>) -> tensor<2xf32> {
  coreai.output %x : tensor<2xf32>
}
coreai.graph @invoke_operand(%x: tensor<?xf32>) {
  // expected-error @below {{operands do not match the signature of @callee}}
  %0 = "coreai.invoke"(%x) <{callee = #param.constant<@callee> : !param.symbol}>
      : (tensor<?xf32>) -> tensor<2xf32>
  coreai.output
}

// -----

coreai.graph private @callee(%x: tensor<2xf32>) -> tensor<2xf32> {
  coreai.output %x : tensor<2xf32>
}
coreai.graph @invoke_result(%x: tensor<2xf32>) {
  // expected-error @below {{results do not match the signature of @callee}}
  %0 = "coreai.invoke"(%x) <{callee = #param.constant<@callee> : !param.symbol}>
      : (tensor<2xf32>) -> tensor<?xf32>
  coreai.output
}

// -----

coreai.graph @invoke_nothing() {
  // expected-error @below {{callee @callee is neither a 'coreai.graph' nor}}
  "coreai.invoke"() <{callee = #param.constant<@callee> : !param.symbol}>
      : () -> ()
  coreai.output
}

// -----

module @callee {}
coreai.graph @invoke_module() {
  // expected-error @below {{callee @callee is neither a 'coreai.graph' nor}}
  "coreai.invoke"() <{callee = #param.constant<@callee> : !param.symbol}>
      : () -> ()
  coreai.output
}

// -----

coreai.graph @invoke_plain_symbol() {
  // expected-error @below {{Invalid attribute `callee`}}
  "coreai.invoke"() <{callee = @invoke_plain_symbol}> : () -> ()
  coreai.output
}

// -----

coreai.graph private @callee() {
  coreai.output
}
coreai.graph @invoke_too_many_bound() {
  // expected-error @below {{does not bind the parameters of @callee}}
  "coreai.invoke"() <{callee = #param.bind<@callee, [f32]> : !param.symbol}>
      : () -> ()
  coreai.output
}

// -----

coreai.graph private @callee<T: !param.type>() {
  coreai.output
}
coreai.graph @invoke_unbound() {
  // expected-error @below {{does not bind the parameters of @callee}}
  "coreai.invoke"() <{callee = #param.constant<@callee> : !param.symbol}>
      : () -> ()
  coreai.output
}

// -----

coreai.graph private @callee<T: !param.type>() {
  coreai.output
}
coreai.graph @invoke_bound_type() {
  // expected-error @below {{does not bind the parameters of @callee}}
  "coreai.invoke"() <{callee = #param.bind<@callee, [1 : i32]> : !param.symbol}>
      : () -> ()
  coreai.output
}

// -----

coreai.graph private @callee(%x: tensor<2xf32>) {
  coreai.output
}
coreai.graph @invoke_argument_dictionaries(%x: tensor<2xf32>) {
  // expected-error @below {{has 0 argument dictionaries for 1 operands}}
  "coreai.invoke"(%x) <{callee = #param.constant<@callee> : !param.symbol,
      arg_attrs = []}> : (tensor<2xf32>) -> ()
  coreai.output
}

// -----

// Both regions yield the result types exactly.
coreai.graph @if_unknown(%c: tensor<i1>, %x: tensor<2xf32>, %y: tensor<?xf32>) {
  // expected-error @below {{should match successor input type #0 'tensor<2xf32>'}}
  %0 = coreai.if %c {
    coreai.yield %x : tensor<2xf32>
  } else {
    // expected-note @below {{region branch point}}
    coreai.yield %y : tensor<?xf32>
  } : tensor<i1> -> tensor<2xf32>
  coreai.output
}

// -----

coreai.graph @if_count(%c: tensor<i1>, %x: tensor<2xf32>) {
  // expected-error @below {{region branch point has 0 operands}}
  %0 = coreai.if %c {
    coreai.yield %x : tensor<2xf32>
  } else {
    // expected-note @below {{region branch point}}
    coreai.yield
  } : tensor<i1> -> tensor<2xf32>
  coreai.output
}

// -----

coreai.graph @if_without_else(%c: tensor<i1>, %x: tensor<2xf32>) {
  // expected-error @below {{must have an else region to have results}}
  %0 = "coreai.if"(%c) ({
    coreai.yield %x : tensor<2xf32>
  }, {
  }) : (tensor<i1>) -> tensor<2xf32>
  coreai.output
}

// -----

coreai.graph @if_without_then(%c: tensor<i1>) {
  // expected-error @below {{region #0 ('thenRegion') failed to verify}}
  "coreai.if"(%c) ({
  }, {
    coreai.yield
  }) : (tensor<i1>) -> ()
  coreai.output
}

// -----

coreai.graph @if_argument(%c: tensor<i1>) {
  // expected-error @below {{region #0 should have no arguments}}
  "coreai.if"(%c) ({
  ^bb0(%x: tensor<f32>):
    coreai.yield
  }, {
  }) : (tensor<i1>) -> ()
  coreai.output
}

// -----

coreai.graph @if_condition(%c: tensor<1xi1>) {
  // expected-error @below {{operand #0 must be}}
  "coreai.if"(%c) ({
    coreai.yield
  }, {
  }) : (tensor<1xi1>) -> ()
  coreai.output
}

// -----

coreai.graph @output_in_if(%c: tensor<i1>) {
  "coreai.if"(%c) ({
    // expected-error @below {{expects parent op 'coreai.graph'}}
    "coreai.output"() : () -> ()
  }, {
  }) : (tensor<i1>) -> ()
  coreai.output
}

// -----

coreai.graph @condition_in_if(%c: tensor<i1>) {
  "coreai.if"(%c) ({
    // expected-error @below {{expects parent op 'coreai.while'}}
    "coreai.condition"(%c) : (tensor<i1>) -> ()
  }, {
  }) : (tensor<i1>) -> ()
  coreai.output
}

// -----

// All edges of a loop carry identical types.
coreai.graph @while_init(%c: tensor<i1>, %x: tensor<?xf32>) {
  // expected-error @below {{successor operand type #0 'tensor<?xf32>'}}
  // expected-note @below {{region branch point}}
  %0 = "coreai.while"(%x) ({
  ^bb0(%p: tensor<2xf32>):
    "coreai.condition"(%c, %p) : (tensor<i1>, tensor<2xf32>) -> ()
  }, {
  ^bb0(%q: tensor<2xf32>):
    coreai.yield %q : tensor<2xf32>
  }) : (tensor<?xf32>) -> tensor<2xf32>
  coreai.output
}

// -----

coreai.graph @while_result(%c: tensor<i1>, %x: tensor<2xf32>) {
  // expected-error @below {{successor operand type #0 'tensor<2xf32>'}}
  %0 = "coreai.while"(%x) ({
  ^bb0(%p: tensor<2xf32>):
    // expected-note @below {{region branch point}}
    "coreai.condition"(%c, %p) : (tensor<i1>, tensor<2xf32>) -> ()
  }, {
  ^bb0(%q: tensor<2xf32>):
    coreai.yield %q : tensor<2xf32>
  }) : (tensor<2xf32>) -> tensor<?xf32>
  coreai.output
}

// -----

coreai.graph @while_yield(%c: tensor<i1>, %x: tensor<2xf32>) {
  // expected-error @below {{region branch point has 0 operands}}
  %0 = "coreai.while"(%x) ({
  ^bb0(%p: tensor<2xf32>):
    "coreai.condition"(%c, %p) : (tensor<i1>, tensor<2xf32>) -> ()
  }, {
  ^bb0(%q: tensor<2xf32>):
    // expected-note @below {{region branch point}}
    coreai.yield
  }) : (tensor<2xf32>) -> tensor<2xf32>
  coreai.output
}

// -----

coreai.graph @while_without_test(%x: tensor<2xf32>) {
  // expected-error @below {{region #0 ('before') failed to verify}}
  %0 = "coreai.while"(%x) ({
  }, {
  ^bb0(%q: tensor<2xf32>):
    coreai.yield %q : tensor<2xf32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  coreai.output
}

// -----

// A group for a delegate is closed, and says nothing about intents.
coreai.graph @group_capture(%x: tensor<2xf32>) {
  // expected-note @below {{required by region isolation constraints}}
  %0 = "coreai.isolated_group"(%x) <{delegate_id = "d"}> ({
  ^bb0(%p: tensor<2xf32>):
    // expected-error @below {{using value defined outside the region}}
    coreai.yield %x : tensor<2xf32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  coreai.output
}

// -----

coreai.graph @group_intent(%x: tensor<2xf32>) {
  // expected-error @below {{cannot state intents}}
  %0 = "coreai.isolated_group"(%x) <{delegate_id = "d",
      arg_attrs = [{udml.intent = #udml.intent<in>}]}> ({
  ^bb0(%p: tensor<2xf32>):
    coreai.yield %p : tensor<2xf32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  coreai.output
}

// -----

coreai.graph @group_result_dictionaries(%x: tensor<2xf32>) {
  // expected-error @below {{has 2 result dictionaries for 1 results}}
  %0 = "coreai.isolated_group"(%x) <{delegate_id = "d",
      res_attrs = [{}, {}]}> ({
  ^bb0(%p: tensor<2xf32>):
    coreai.yield %p : tensor<2xf32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  coreai.output
}

// -----

coreai.graph @group_without_id() {
  // expected-error @below {{requires attribute 'delegate_id'}}
  "coreai.isolated_group"() ({
    coreai.yield
  }) : () -> ()
  coreai.output
}

// -----

coreai.graph @delegate_arguments(%x: tensor<2xf32>) {
  // expected-error @below {{has 2 argument dictionaries for 1 operands}}
  "coreai.delegate"(%x) <{delegate_id = "d", resource = array<i8: 1>,
      arg_attrs = [{}, {}]}> : (tensor<2xf32>) -> ()
  coreai.output
}

// -----

coreai.graph @delegate_results(%x: tensor<2xf32>) {
  // expected-error @below {{has 1 result dictionaries for 0 results}}
  "coreai.delegate"(%x) <{delegate_id = "d", resource = array<i8: 1>,
      res_attrs = [{}]}> : (tensor<2xf32>) -> ()
  coreai.output
}

// -----

coreai.graph @delegate_blob(%x: tensor<2xf32>) {
  // expected-error @below {{Invalid attribute `resource`}}
  "coreai.delegate"(%x) <{delegate_id = "d", resource = array<i32: 1>}>
      : (tensor<2xf32>) -> ()
  coreai.output
}

// -----

// expected-error @below {{requires attribute 'spec'}}
"coreai.target_spec"() : () -> ()
