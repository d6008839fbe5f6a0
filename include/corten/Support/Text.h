// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text that comes from outside.

#ifndef CORTEN_SUPPORT_TEXT_H
#define CORTEN_SUPPORT_TEXT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace corten {

/// Fails if a path or a name is not UTF-8: loaders bind by names, and pages and
/// JSON hold both. `what` it is, is said in the message.
llvm::Error checkUtf8(llvm::StringRef what, llvm::StringRef text);

} // namespace corten

#endif // CORTEN_SUPPORT_TEXT_H
