// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The schemas of torch's operators. A `.pt2` file names the arguments of a call
// but leaves out those that have their default, and says nothing of types: what
// torch knows is in a generated table here (OperatorSchemas.inc).

#ifndef CORTEN_LIB_PT2_OPERATORSCHEMA_H
#define CORTEN_LIB_PT2_OPERATORSCHEMA_H

#include "corten/Program/Program.h"

#include "llvm/ADT/StringRef.h"

#include <vector>

namespace corten::pt2 {

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
  };
  Base base = Base::Opaque;
  bool isOptional = false;
  /// Of a list.
  bool hasOptionalElements = false;
  bool isList = false;
  /// Of a list whose length the schema says; one number stands for as many.
  unsigned length = 0;
  /// An integer or a bool that has to be known.
  bool isConstant = false;

  /// Whether a call may have this argument.
  bool accepts(const Argument &argument) const;
  /// Whether a call may have this result.
  bool isResult(const ValueInfo &info) const;

private:
  bool acceptsElement(const Argument &argument) const;
};

struct OperatorSchema {
  /// With names and defaults; strings live in the table.
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

/// The text of the schema of "aten", "add.Tensor" in the table; empty for an
/// operator that is not there.
llvm::StringRef findSchema(llvm::StringRef nameSpace, llvm::StringRef name);

/// Parses a schema as torch prints it. Lists among the defaults are saved in
/// `builder`. The text must be well-formed: it comes from the table.
OperatorSchema parseSchema(llvm::StringRef text, ProgramBuilder &builder);

/// All texts of the table, for its test.
llvm::ArrayRef<llvm::StringLiteral> allSchemas();

} // namespace corten::pt2

#endif // CORTEN_LIB_PT2_OPERATORSCHEMA_H
