// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SHA-256 at the speed of the processor's own instructions: an asset is as
// large as its weights, and each byte of it is hashed when it is written.

#ifndef CORTEN_SUPPORT_DIGEST_H
#define CORTEN_SUPPORT_DIGEST_H

#include "llvm/ADT/ArrayRef.h"

#include <array>
#include <cstdint>
#include <memory>

namespace corten {

using Digest = std::array<uint8_t, 32>;

class Sha256 {
public:
  Sha256();
  ~Sha256();
  void update(llvm::ArrayRef<char> bytes);
  /// Ends the hash; nothing may be added afterwards.
  Digest finish();

private:
  struct State;
  std::unique_ptr<State> state;
};

/// The hash of one block.
Digest sha256(llvm::ArrayRef<char> bytes);

} // namespace corten

#endif // CORTEN_SUPPORT_DIGEST_H
