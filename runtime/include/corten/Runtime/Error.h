// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Errors as values: what goes wrong at run time is a message for the caller,
// and the model stays usable.

#ifndef CORTEN_RUNTIME_ERROR_H
#define CORTEN_RUNTIME_ERROR_H

#include <memory>
#include <string>
#include <utility>
#include <variant>

namespace corten::runtime {

/// Nothing, or why something could not be done. Costs a pointer when all is
/// well.
class [[nodiscard]] Error {
public:
  Error() = default;
  explicit Error(std::string message)
      : text(std::make_unique<std::string>(std::move(message))) {}

  static Error success() { return {}; }
  /// True if something went wrong.
  explicit operator bool() const { return text != nullptr; }
  const std::string &message() const { return *text; }

private:
  std::unique_ptr<std::string> text;
};

/// A value, or why there is none.
template <typename T> class [[nodiscard]] Expected {
public:
  Expected(T value) : content(std::move(value)) {}
  Expected(Error error) : content(std::move(error)) {}

  /// True if there is a value.
  explicit operator bool() const { return content.index() == 0; }
  T &operator*() { return std::get<0>(content); }
  const T &operator*() const { return std::get<0>(content); }
  T *operator->() { return &std::get<0>(content); }
  const T *operator->() const { return &std::get<0>(content); }
  Error takeError() { return std::move(std::get<1>(content)); }

private:
  std::variant<T, Error> content;
};

} // namespace corten::runtime

#endif // CORTEN_RUNTIME_ERROR_H
