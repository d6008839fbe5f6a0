// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Errors as values, for the C++ interfaces of Corten.

#ifndef CORTEN_API_RESULT_H
#define CORTEN_API_RESULT_H

#include "corten/C/Common.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace corten {
// Apart from what the library is made of inside.
inline namespace api_v0 {

/// Why something failed.
class Error {
public:
  explicit Error(std::string message) : text(std::move(message)) {}
  const std::string &message() const { return text; }

private:
  std::string text;
};

/// A value, or the reason why there is none.
template <typename T> class Result {
public:
  Result(T value) : content(std::move(value)) {}
  Result(Error error) : content(std::move(error)) {}

  explicit operator bool() const { return std::holds_alternative<T>(content); }
  /// Only of a result that holds one.
  T &operator*() { return std::get<T>(content); }
  const T &operator*() const { return std::get<T>(content); }
  T *operator->() { return &**this; }
  const T *operator->() const { return &**this; }
  /// Only of a result that holds no value.
  const Error &error() const { return std::get<Error>(content); }

private:
  std::variant<T, Error> content;
};

/// Of what gives out nothing.
using Status = Result<std::monostate>;

/// One dimension of a value.
struct Dimension {
  /// None for one that is known only when the program runs.
  std::optional<std::int64_t> size;
  /// The sizes that it may then have, where the program says so.
  std::optional<std::int64_t> min;
  std::optional<std::int64_t> max;
};

namespace detail {
inline Error take(CortenError *error) {
  Error result(cortenErrorMessage(error));
  cortenErrorFree(error);
  return result;
}

inline Status status(CortenError *error) {
  if (error)
    return take(error);
  return std::monostate();
}

inline std::optional<std::int64_t> known(std::int64_t size) {
  if (size == CORTEN_UNKNOWN)
    return std::nullopt;
  return size;
}

/// Names of weights that are tied, as C takes them; of a map that stays longer.
struct TiedNames {
  explicit TiedNames(const std::map<std::string, std::string> &tied) {
    for (const auto &[name, stored] : tied) {
      names.push_back(name.c_str());
      this->stored.push_back(stored.c_str());
    }
  }

  std::vector<const char *> names;
  std::vector<const char *> stored;
};

inline Dimension dimension(const CortenDimension &from) {
  return {known(from.size), known(from.min), known(from.max)};
}
} // namespace detail

/// The release of the library that is loaded.
inline std::string libraryVersion() { return cortenVersion(); }

} // namespace api_v0
} // namespace corten

#endif // CORTEN_API_RESULT_H
