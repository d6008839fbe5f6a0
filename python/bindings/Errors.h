// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the libraries refuse, as exceptions.

#ifndef CORTEN_PYTHON_BINDINGS_ERRORS_H
#define CORTEN_PYTHON_BINDINGS_ERRORS_H

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <nanobind/nanobind.h>

#include <utility>

namespace corten::bindings {

/// A ValueError with the message, which may show bytes of a file.
inline nanobind::builtin_exception valueError(llvm::Error error) {
  return nanobind::value_error(
      llvm::json::fixUTF8(llvm::toString(std::move(error))).c_str());
}

/// The value, or else a ValueError.
template <typename T> T unwrap(llvm::Expected<T> result) {
  if (!result)
    throw valueError(result.takeError());
  return std::move(*result);
}

/// Nothing, or else a ValueError.
inline void unwrap(llvm::Error error) {
  if (error)
    throw valueError(std::move(error));
}

} // namespace corten::bindings

#endif // CORTEN_PYTHON_BINDINGS_ERRORS_H
