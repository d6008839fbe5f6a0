// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What torch's schemas say of the arguments and results of operators.

#ifndef CORTEN_PROGRAM_OPERATORSCHEMA_H
#define CORTEN_PROGRAM_OPERATORSCHEMA_H

#include "corten/Program/Program.h"

#include "llvm/ADT/StringRef.h"

#include <vector>

namespace corten {

/// The type of a parameter, as far as it says which arguments it takes.
struct ParameterType {
  enum class Base : uint8_t {
    Tensor,
    Int,
    Float,
    Bool,
    /// Any of the three.
    Scalar,
    String,
    DType,
    /// Layout, device, memory format, generator.
    Opaque,
    /// Of a type that only the operator of a library knows.
    Any,
  };
  Base base = Base::Any;
  bool isOptional = false;
  /// Of a list.
  bool hasOptionalElements = false;
  bool isList = false;
  /// Of a list whose length the schema says; one number stands for as many.
  unsigned length = 0;
  /// An integer or a bool that has to be known.
  bool isConstant = false;
  /// The operator writes to the argument.
  bool isWritten = false;

  /// Whether a call may have this argument.
  bool accepts(const Argument &argument) const;
  /// Whether a call may have this result.
  bool isResult(const ValueInfo &info) const;

private:
  bool acceptsElement(const Argument &argument) const;
};

struct OperatorSchema {
  /// With names and defaults; strings live as long as the text.
  std::vector<Parameter> parameters;
  std::vector<ParameterType> types;
  bool mutates = false;
  bool returnsView = false;
  unsigned numResults = 0;
  /// One for each result that is no list.
  std::vector<ParameterType> results;
  /// The only result is a list.
  bool returnsList = false;
};

/// Parses a schema as torch prints it. Lists among the defaults are saved in
/// `builder`. The text must be well-formed: it comes from torch.
OperatorSchema parseSchema(llvm::StringRef text, ProgramBuilder &builder);

/// The same, with `defaults` of torch's own in place of those in the text: one
/// for each parameter. Names are saved in `builder`.
OperatorSchema parseSchema(llvm::StringRef text,
                           llvm::ArrayRef<Argument> defaults,
                           ProgramBuilder &builder);

} // namespace corten

#endif // CORTEN_PROGRAM_OPERATORSCHEMA_H
