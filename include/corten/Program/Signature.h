// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The signature of a program, from that of torch: a front door hands over one
// entry after another as torch has it, and what it means is decided here.

#ifndef CORTEN_PROGRAM_SIGNATURE_H
#define CORTEN_PROGRAM_SIGNATURE_H

#include "corten/Program/Weights.h"

#include "llvm/ADT/StringMap.h"

#include <cstdint>

namespace corten {

/// An input as torch has it.
struct RecordedInput {
  /// What torch calls it: "user_input", "parameter", "tensor_constant".
  llvm::StringRef kind;
  /// The placeholder; null for a plain value.
  const Node *node = nullptr;
  /// The path of a parameter, a buffer, a constant or an object.
  llvm::StringRef target;
  /// Of a buffer: whether it is in checkpoints.
  bool isPersistent = true;
  /// Of a parameter, a buffer or a constant; null if the program has it not.
  const ProgramTensor *tensor = nullptr;
};

/// An output as torch has it.
struct RecordedOutput {
  llvm::StringRef kind;
  /// None for a plain value.
  Argument value;
  /// What it is the new value of: the path of a parameter or a buffer, the name
  /// of an input.
  llvm::StringRef target;
};

/// What a program is built for.
enum class Purpose : uint8_t {
  Conversion,
  /// It may have what has no form in an asset.
  Looking,
};

/// Gives a program its signature, when its main graph is complete.
class SignatureBuilder {
public:
  SignatureBuilder(ProgramBuilder &builder, ProgramWeights &weights)
      : builder(builder), weights(weights) {}

  /// Fails for a kind that is not known, and for a weight that cannot be had.
  llvm::Error addInput(const RecordedInput &input);
  /// Fails for outputs that only training has. All inputs must be there.
  llvm::Error addOutput(const RecordedOutput &output);
  /// Checks what was added as a whole. For a conversion there must be no calls
  /// with an object of a class of the user's, also none whose results nobody
  /// needs: what they do to the object would be lost. What rewrites a program
  /// before it is finished drops those, so they are looked for here.
  llvm::Error finish(Purpose purpose = Purpose::Conversion);

  /// Some weight is a copy: a change of the original will not reach it.
  bool hasCopies() const { return isSomeCopied; }

private:
  const Node *inputCalled(llvm::StringRef name) const;

  ProgramBuilder &builder;
  ProgramWeights &weights;
  /// The placeholders of parameters and buffers, by path.
  llvm::StringMap<const Node *> owned;
  bool isSomeCopied = false;
};

} // namespace corten

#endif // CORTEN_PROGRAM_SIGNATURE_H
