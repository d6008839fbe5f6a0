// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `torch.export.export` returns still writes to tensors: `add_`, `copy_`
// into a slice of a buffer, a write through any chain of views. The conversion
// knows values only. This pass turns every write into a new value.

#ifndef CORTEN_PROGRAM_FUNCTIONALIZE_H
#define CORTEN_PROGRAM_FUNCTIONALIZE_H

#include "corten/Program/Program.h"

namespace corten {

/// Why a program could not be rewritten.
struct Obstacle {
  const Node *node = nullptr;
  std::string reason;
};

/// The operator that computes what an in-place one writes: "add.Tensor" for
/// "add_.Tensor", "__and__.Tensor" for "__iand__.Tensor"; nothing if the name
/// is not that of an in-place operator.
std::optional<std::string> functionalName(llvm::StringRef name);

/// Whether an in-place operator of ATen's only says something about a tensor,
/// as detach_ does.
bool writesNothing(llvm::StringRef name);

/// Whether calls of an operator run a region of the program without gradients,
/// or with automatic casts.
bool isRegion(const Operator &op);

/// Whether a program is as run_decompositions() leaves it, and functionalize()
/// has nothing to do: no writes, no regions, no calls that returned a view
/// where a decomposition has another operator, and none of operators without a
/// lowering.
bool isDecomposed(ProgramBuilder &builder,
                  llvm::function_ref<bool(const Operator &)> hasLowering);

/// Rewrites a program that is complete but not finished, in place:
///
/// - a write becomes a new value of what is written to, and whatever shares its
///   memory is computed anew where it is read later;
/// - a write to a parameter, a buffer or an input becomes an output that is its
///   new value;
/// - regions that only switch the recording of gradients dissolve.
///
/// Returns what stands in the way, if anything; the program is then unusable. A
/// write is never dropped.
std::optional<Obstacle> functionalize(ProgramBuilder &builder);

} // namespace corten

#endif // CORTEN_PROGRAM_FUNCTIONALIZE_H
