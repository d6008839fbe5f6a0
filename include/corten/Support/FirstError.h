// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For what goes on after something was wrong, with values that are harmless,
// and says what it was in the end.

#ifndef CORTEN_SUPPORT_FIRSTERROR_H
#define CORTEN_SUPPORT_FIRSTERROR_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <utility>

namespace corten {

/// Keeps the first of several errors.
class FirstError {
public:
  bool hasFailed() const { return message.has_value(); }
  void fail(const llvm::Twine &what) {
    if (!hasFailed())
      message = what.str();
  }
  void fail(llvm::Error error) {
    std::string what = llvm::toString(std::move(error));
    fail(what);
  }
  /// The error, if there was one; there is none afterwards.
  llvm::Error take() {
    if (!hasFailed())
      return llvm::Error::success();
    return llvm::createStringError(*std::exchange(message, std::nullopt));
  }

private:
  std::optional<std::string> message;
};

} // namespace corten

#endif // CORTEN_SUPPORT_FIRSTERROR_H
