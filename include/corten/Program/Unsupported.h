// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators of a program that cannot be converted, and what is said of them.

#ifndef CORTEN_PROGRAM_UNSUPPORTED_H
#define CORTEN_PROGRAM_UNSUPPORTED_H

#include "corten/Program/Program.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <vector>

namespace corten {

/// The namespace of the operators that Metal kernels are in torch.
inline constexpr llvm::StringRef kKernelNamespace = "coreai_metal_kernels";

/// One place where an unsupported operator is used.
struct UnsupportedUse {
  const Node *node = nullptr;
  /// Inside a branch or the body of a loop.
  bool isNested = false;
};

/// An operator of the program that cannot be converted, because no lowering
/// exists for it or because it works in place, with all its uses.
struct UnsupportedOperator {
  const Operator *op = nullptr;
  std::vector<UnsupportedUse> uses;
};

/// All operators of `program`, subgraphs included, that cannot be lowered, in
/// the order of their printed names.
std::vector<UnsupportedOperator>
findUnsupported(const Program &program,
                llvm::function_ref<bool(const Operator &)> hasLowering);

/// Who refuses a program: it decides which operators are due, and what can be
/// done about them.
enum class Refusal : uint8_t {
  /// The reader of a file, to which nobody can bring lowerings.
  Read,
  /// A converter that the program is added to. Lowerings of operators that are
  /// not ATen's may still come.
  Added,
  /// The same converter when it converts: all others are due.
  Converted,
};

/// An error that lists what of `found` is due at once, with lines of the user's
/// and a remedy. `registered` has the names that the user has lowerings for, as
/// in "aten::relu.default"; ".default" may be left out.
llvm::Error refuseUnsupported(const Program &program,
                              llvm::StringRef entryPoint, Refusal refusal,
                              std::vector<UnsupportedOperator> found,
                              const llvm::StringSet<> &registered = {});

} // namespace corten

#endif // CORTEN_PROGRAM_UNSUPPORTED_H
