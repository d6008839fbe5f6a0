// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// State: handles and the tokens that order the accesses to them. None of these
// ops declares a side effect, so a write whose token is unused is dead.

#ifndef CORTEN_DIALECT_COREAI_IR_STATEOPS_TD
#define CORTEN_DIALECT_COREAI_IR_STATEOPS_TD

include "corten/Dialect/CoreAI/IR/CoreAIBase.td"
include "corten/Dialect/CoreAI/IR/CoreAITypes.td"

// A token has one possible type, so ODS infers it.

def CoreAI_CreateTokenOp : CoreAI_PureOp<"create_token"> {
  let summary = "a token before every access";
  let description = [{ It belongs to no handle until an access takes it. }];
  let results = (outs CoreAI_TokenType:$token);
  let assemblyFormat = "`:` qualified(type($token)) attr-dict";
}

def CoreAI_JoinTokenOp : CoreAI_PureOp<"join_token"> {
  let summary = "a token after several others";
  let description = [{
    Tokens that stem from accesses must all belong to one handle.
  }];
  let arguments = (ins
    CoreAI_TokenType:$in_token,
    Variadic<CoreAI_TokenType>:$rest_tokens);
  let results = (outs CoreAI_TokenType:$token);
  let assemblyFormat = CoreAI_PrimitiveFormat;
  let hasVerifier = 1;
}

def CoreAI_ReadHandleOp : CoreAI_InferredOp<"read_handle", CoreAI_Exact> {
  let summary = "the value of a state";
  let description = [{
    The token must be fresh or stem from an access to the same handle.
  }];
  let arguments = (ins
    CoreAI_HandleType:$handle,
    CoreAI_TokenType:$in_token);
  let results = (outs AnyType:$output, CoreAI_TokenType:$out_token);
  let assemblyFormat = [{
    operands `:` `(` type($handle) `,` qualified(type($in_token)) `)` `->`
    `(` type($output) `,` qualified(type($out_token)) `)` attr-dict
  }];
  let hasVerifier = 1;
}

def CoreAI_WriteHandleOp : CoreAI_PureOp<"write_handle"> {
  let summary = "a new value for a state";
  let description = [{
    The data have the type inside the handle. Returning an older token than
    that of the last write is not caught.
  }];
  let arguments = (ins
    CoreAI_HandleType:$handle,
    AnyType:$data,
    CoreAI_TokenType:$in_token);
  let results = (outs CoreAI_TokenType:$out_token);
  let assemblyFormat = [{
    operands `:` `(` type($handle) `,` type($data) `,`
    qualified(type($in_token)) `)` `->` qualified(type($out_token)) attr-dict
  }];
  let hasVerifier = 1;
}

#endif // CORTEN_DIALECT_COREAI_IR_STATEOPS_TD
