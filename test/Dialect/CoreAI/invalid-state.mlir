// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s -split-input-file -verify-diagnostics

!state = !coreai.handle<tensor<2xf32>>
coreai.graph @read_type(%h: !state) -> !coreai.token {
  %t = coreai.create_token : !coreai.token
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %x, %u = "coreai.read_handle"(%h, %t) : (!state, !coreai.token)
      -> (tensor<?xf32>, !coreai.token)
  coreai.output %u : !coreai.token
}

// -----

!state = !coreai.handle<tensor<2xf32>>
coreai.graph @write_type(%h: !state, %x: tensor<3xf32>) -> !coreai.token {
  %t = coreai.create_token : !coreai.token
  // expected-error @below {{data must be of type 'tensor<2xf32>'}}
  %u = "coreai.write_handle"(%h, %x, %t)
      : (!state, tensor<3xf32>, !coreai.token) -> !coreai.token
  coreai.output %u : !coreai.token
}

// -----

// A token orders the accesses to one handle.
!state = !coreai.handle<tensor<2xf32>>
coreai.graph @read_other(%h: !state, %g: !state)
    -> (!coreai.token, !coreai.token) {
  %t = coreai.create_token : !coreai.token
  %x, %u = "coreai.read_handle"(%h, %t) : (!state, !coreai.token)
      -> (tensor<2xf32>, !coreai.token)
  // expected-error @below {{token stems from an access to another handle}}
  %y, %v = "coreai.read_handle"(%g, %u) : (!state, !coreai.token)
      -> (tensor<2xf32>, !coreai.token)
  coreai.output %u, %v : !coreai.token, !coreai.token
}

// -----

!state = !coreai.handle<tensor<2xf32>>
coreai.graph @write_other(%h: !state, %g: !state)
    -> (!coreai.token, !coreai.token) {
  %t = coreai.create_token : !coreai.token
  %x, %u = "coreai.read_handle"(%h, %t) : (!state, !coreai.token)
      -> (tensor<2xf32>, !coreai.token)
  // expected-error @below {{token stems from an access to another handle}}
  %v = "coreai.write_handle"(%g, %x, %u)
      : (!state, tensor<2xf32>, !coreai.token) -> !coreai.token
  coreai.output %u, %v : !coreai.token, !coreai.token
}

// -----

!state = !coreai.handle<tensor<2xf32>>
coreai.graph @join(%h: !state, %g: !state) -> (!coreai.token, !coreai.token) {
  %t = coreai.create_token : !coreai.token
  %x, %u = "coreai.read_handle"(%h, %t) : (!state, !coreai.token)
      -> (tensor<2xf32>, !coreai.token)
  %y, %v = "coreai.read_handle"(%g, %t) : (!state, !coreai.token)
      -> (tensor<2xf32>, !coreai.token)
  // expected-error @below {{tokens stem from accesses to different handles}}
  %w = "coreai.join_token"(%t, %u, %v)
      : (!coreai.token, !coreai.token, !coreai.token) -> !coreai.token
  coreai.output %u, %v : !coreai.token, !coreai.token
}

// -----

// As many tokens come out as handles go in, in the same order.
// expected-error @below {{has 1 handle arguments but 0 token results}}
coreai.graph @no_token(%h: !coreai.handle<tensor<2xf32>>) {
  coreai.output
}

// -----

// expected-error @below {{has 0 handle arguments but 1 token results}}
coreai.graph @no_handle() -> !coreai.token {
  %t = coreai.create_token : !coreai.token
  coreai.output %t : !coreai.token
}

// -----

!state = !coreai.handle<tensor<2xf32>>
// expected-error @below {{returns the tokens of its handles out of order}}
coreai.graph @token_order(%h: !state, %g: !state)
    -> (!coreai.token, !coreai.token) {
  %t = coreai.create_token : !coreai.token
  %x, %u = "coreai.read_handle"(%h, %t) : (!state, !coreai.token)
      -> (tensor<2xf32>, !coreai.token)
  %y, %v = "coreai.read_handle"(%g, %t) : (!state, !coreai.token)
      -> (tensor<2xf32>, !coreai.token)
  coreai.output %v, %u : !coreai.token, !coreai.token
}

// -----

coreai.graph @create_something_else() {
  // expected-error @below {{result #0 must be}}
  %t = "coreai.create_token"() : () -> i32
  coreai.output
}
