// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s --split-input-file --verify-diagnostics

udml.class @c {
  // expected-error @below {{'udml.member' op of type 'f32' starts with 1 : i32}}
  member @m : f32 = 1 : i32
}

// -----

// expected-error @below {{'udml.member' op expects parent op 'udml.class'}}
udml.member @m : f32

// -----

// expected-error @below {{'udml.import' op of a Clang module must name the module}}
udml.import [ClangModule] @m

// -----

// expected-error @below {{expected '['}}
udml.import @m

// -----

udml.class @c {
  // expected-error @below {{'udml.func' op cannot be a member of a class}}
  func @f() {
    return
  }
}

// -----

// expected-error @below {{entry block must have 1 arguments to match function signature}}
"udml.func"() <{function_type = (f32) -> (), lifecycle_phases = #udml.lifecycle<stateless>, param_decls = #param.decl.array<[]>, sym_name = "f"}> ({
  "udml.return"() : () -> ()
}) : () -> ()

// -----

udml.func @f() {
  // expected-error @below {{calls #param.constant<@g> : !param.symbol, which is neither a function nor an import}}
  call @g() : () -> ()
  return
}

// -----

udml.func @f<S: !param.symbol>() {
  // expected-error @below {{which is neither a function nor an import}}
  call #param.ref<S> : !param.symbol() : () -> ()
  return
}

// -----

udml.func @f() {
  // expected-error @below {{is made in other phases than its function runs in}}
  call @f() {lifecycle_phases = #udml.lifecycle<init>} : () -> ()
  return
}

// -----

udml.func @f(%x: f32) {
  // expected-error @below {{does not match @f, which is '(f32) -> ()'}}
  call @f() : () -> ()
  return
}

// -----

udml.func @f<T: !param.type>(%x: !param.param_ref<#param.ref<T> : !param.type>) {
  // expected-error @below {{does not match @f, which is '(f32) -> ()'}}
  call @f<f32>(%x) : (!param.param_ref<#param.ref<T> : !param.type>) -> ()
  return
}

// -----

udml.func @f<T: !param.type>() {
  // expected-error @below {{does not bind the parameters of @f}}
  call @f() : () -> ()
  return
}

// -----

udml.func @f() {
  // expected-error @below {{does not bind the parameters of @f}}
  call @f<f32>() : () -> ()
  return
}

// -----

udml.func @f(%x: f32) {
  // expected-error @below {{operand #0 must be tensor of any type values, but got 'f32'}}
  %0 = "udml.is_defined"(%x) : (f32) -> i1
  return
}

// -----

// expected-error @below {{attribute 'buffer' failed to satisfy constraint: symbol of type '!udml.ptr'}}
%0 = udml.to_memref(buffer <@a : f32>, aligned <@b : !udml.ptr>, dims <@c : !udml.array<1 : index, #param.constant<index> : !param.type>>, strides <@d : !udml.array<1 : index, #param.constant<index> : !param.type>>) : memref<?xf32>

// -----

// expected-error @below {{attribute 'dims' failed to satisfy constraint: symbol of type '!udml.array' with elements of type 'index'}}
%0 = udml.to_memref(buffer <@a : !udml.ptr>, aligned <@b : !udml.ptr>, dims <@c : !udml.array<1 : index, #param.constant<i64> : !param.type>>, strides <@d : !udml.array<1 : index, #param.constant<index> : !param.type>>) : memref<?xf32>

// -----

// expected-error @below {{needs as many strides as extents}}
%0 = udml.to_memref(buffer <@a : !udml.ptr>, aligned <@b : !udml.ptr>, dims <@c : !udml.array<1 : index, #param.constant<index> : !param.type>>, strides <@d : !udml.array<2 : index, #param.constant<index> : !param.type>>) : memref<?xf32>

// -----

// expected-error @below {{makes a memref of rank 1 from 2 extents}}
%0 = udml.to_memref(buffer <@a : !udml.ptr>, aligned <@b : !udml.ptr>, dims <@c : !udml.array<2 : index, #param.constant<index> : !param.type>>, strides <@d : !udml.array<2 : index, #param.constant<index> : !param.type>>) : memref<?xf32>

// -----

// expected-error @below {{size of an array must be an index, not 4 : i64}}
udml.placeholder "test"() {t = !udml.array<4, #param.constant<f32> : !param.type>} : () -> ()

// -----

// expected-error @below {{elements of an array need a type, not 4 : i64}}
udml.placeholder "test"() {t = !udml.array<4 : index, 4>} : () -> ()

// -----

// expected-error @below {{expected '>'}}
udml.placeholder "test"() {a = #udml.lifecycle<init|encode>} : () -> ()

// -----

// expected-error @below {{reshape and prepare work on what init sets up}}
udml.placeholder "test"() {a = #udml.lifecycle<reshape>} : () -> ()

// -----

// expected-error @below {{reshape and prepare work on what init sets up}}
udml.placeholder "test"() {a = #udml.lifecycle<prepare, encode>} : () -> ()
