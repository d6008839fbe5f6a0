// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A Metal kernel as its author describes it, and the source that Metal gets
// for one set of operands. The conversion puts that source into a program; the
// checker runs the same source on the CPU. Nothing in here knows MLIR or torch.

#ifndef CORTEN_METAL_KERNEL_H
#define CORTEN_METAL_KERNEL_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace corten::metal {

/// A parameter that Metal fills in, such as the position of the thread.
struct ThreadParameter {
  std::string name;
  /// "uint", "uint2", …
  std::string type;
  /// "thread_position_in_grid", …
  std::string attribute;
};

/// What the reference function declares for an input.
enum class InputKind { Tensor, Int, Float, Bool };

struct Kernel {
  struct Input {
    std::string name;
    InputKind kind = InputKind::Tensor;
  };

  std::string name;
  std::vector<Input> inputs;
  std::vector<std::string> results;
  /// The body of the function.
  std::string body;
  /// Stands in front of the function.
  std::string helpers;
  std::vector<ThreadParameter> parameters;
  /// (input, placeholder): the text that stands for the input's element type.
  std::vector<std::pair<std::string, std::string>> templates;
};

/// One input or result of one use of a kernel.
struct Operand {
  /// In Metal: "half", "uint8_t", …
  std::string type;
  unsigned rank = 0;
  /// The literal of a number that is known: the body sees a variable of that
  /// value in place of the parameter.
  std::optional<std::string> literal;
  /// The operand is a vector of one element, and the body sees a number.
  bool isElement = false;
};

/// The kernel for one tuple of operands.
struct KernelText {
  /// The kernel's name and a suffix that follows from the source.
  std::string name;
  /// Everything that Metal compiles.
  std::string source;
  // The parts of `source` for whoever compiles them for something else. The
  // numbers that `prologue` defines stand in front of the body, in one block.
  std::string helpers;
  std::string parameters;
  std::string prologue;
  std::string body;
};

/// A literal of a number in Metal, or an error that says why it has none.
/// `name` is that of the input.
llvm::Expected<std::string> intLiteral(llvm::StringRef name, int64_t value);
llvm::Expected<std::string> floatLiteral(llvm::StringRef name, double value);

/// Writes the source of `kernel` for these operands. Equal operands give equal
/// text and an equal name.
llvm::Expected<KernelText> instantiate(const Kernel &kernel,
                                       llvm::ArrayRef<Operand> inputs,
                                       llvm::ArrayRef<Operand> results);

} // namespace corten::metal

#endif // CORTEN_METAL_KERNEL_H
