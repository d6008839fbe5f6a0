// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the libraries refuse, as exceptions.

#ifndef CORTEN_PYTHON_BINDINGS_ERRORS_H
#define CORTEN_PYTHON_BINDINGS_ERRORS_H

#include "llvm/Support/Error.h"

#include <nanobind/nanobind.h>

#include <utility>

namespace corten::bindings {

/// The value, or else a ValueError with the message.
template <typename T> T unwrap(llvm::Expected<T> result) {
  if (!result)
    throw nanobind::value_error(llvm::toString(result.takeError()).c_str());
  return std::move(*result);
}

} // namespace corten::bindings

#endif // CORTEN_PYTHON_BINDINGS_ERRORS_H
