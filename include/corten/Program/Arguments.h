// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the arguments that a call gives to those that a program has: one for
// each parameter of the schema, of the type that it says.

#ifndef CORTEN_PROGRAM_ARGUMENTS_H
#define CORTEN_PROGRAM_ARGUMENTS_H

#include "corten/Program/OperatorSchema.h"

#include "llvm/Support/Error.h"

namespace corten {

/// An argument as a call gives it.
struct GivenArgument {
  /// Empty for one that is given by its position.
  llvm::StringRef name;
  Argument value;
};

/// Whether a node is one tensor.
inline bool isTensor(const Node &node) {
  return !node.returnsTuple && !node.results.empty() && node.info().isTensor();
}
inline bool isTensor(const Argument &argument) {
  return argument.isValue() && isTensor(*argument.asNode());
}

/// Whether what torch's operators call so is an axis, or a list of axes. A test
/// knows all other names of integers, so that none is forgotten.
bool isAxisParameter(llvm::StringRef name);

/// Sets the arguments of `call`, whose callee is known. Defaults are filled in;
/// a bool becomes an integer and a number a list where the schema asks for one.
/// Fails if an argument is missing, unknown or of the wrong type, or if an axis
/// is none of the operand. An operator without a schema takes what is given.
llvm::Error setArguments(ProgramBuilder &builder, Node &call,
                         const OperatorSchema *schema,
                         llvm::ArrayRef<GivenArgument> given);

} // namespace corten

#endif // CORTEN_PROGRAM_ARGUMENTS_H
