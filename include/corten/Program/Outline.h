// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Taking calls of modules out of an exported program. The export leaves two
// marks around each call of a marked module:
//
//   %token = corten_mark.enter([arguments], "names of the arguments|path")
//   ... the module's own nodes, on the arguments themselves ...
//   %out = corten_mark.exit([results], %token, "path")
//
// What stands between them becomes a graph of its own, and the `exit` a call of
// it. Whoever has read a marked program calls this before finishing it.

#ifndef CORTEN_PROGRAM_OUTLINE_H
#define CORTEN_PROGRAM_OUTLINE_H

#include "corten/Program/Program.h"

#include "llvm/Support/Error.h"

namespace corten {

/// Namespace of the marks.
inline constexpr llvm::StringLiteral kMarkNamespace = "corten_mark";

/// What an output that is the value of `node` goes by.
llvm::StringRef nameAsOutput(const Node &node);

/// Whether callers of a converted program give this input; weights are not.
bool isGraphInput(const InputSpec &input);

/// True for a node that picks a result of a call.
bool isPick(const Node &node);

/// True for a node that calls an outlined graph.
bool isModuleCall(const Node &node);

/// Outlines every marked call whose results the program needs; the marks of
/// others go and leave their nodes where they are. Afterwards no mark is left.
/// Fails when the marks do not nest, or name a module that is not in `modules`.
llvm::Error outlineModules(ProgramBuilder &builder,
                           std::vector<ExternalModule> modules);

} // namespace corten

#endif // CORTEN_PROGRAM_OUTLINE_H
