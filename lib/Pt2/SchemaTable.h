// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The schemas of torch's operators. A `.pt2` file names the arguments of a call
// but leaves out those that have their default, and says nothing of types: what
// torch knows is in a generated table here (OperatorSchemas.inc).

#ifndef CORTEN_LIB_PT2_SCHEMATABLE_H
#define CORTEN_LIB_PT2_SCHEMATABLE_H

#include "corten/Program/OperatorSchema.h"

namespace corten::pt2 {

/// The text of the schema of "aten", "add.Tensor" in the table; empty for an
/// operator that is not there.
llvm::StringRef findSchema(llvm::StringRef nameSpace, llvm::StringRef name);

/// All texts of the table, for its test.
llvm::ArrayRef<llvm::StringLiteral> allSchemas();

} // namespace corten::pt2

#endif // CORTEN_LIB_PT2_SCHEMATABLE_H
