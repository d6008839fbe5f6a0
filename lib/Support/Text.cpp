// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Support/Text.h"

#include "llvm/Support/JSON.h"

using namespace corten;

llvm::Error corten::checkUtf8(llvm::StringRef what, llvm::StringRef text) {
  if (llvm::json::isUTF8(text))
    return llvm::Error::success();
  // The message itself is.
  return llvm::createStringError(what +
                                 " is not UTF-8: " + llvm::json::fixUTF8(text));
}
