// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is behind the handles of the C interfaces. Not installed: for the
// libraries that implement them.

#ifndef CORTEN_C_HANDLES_H
#define CORTEN_C_HANDLES_H

#include "corten/C/Engine.h"
#include "corten/Runtime/Model.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct CortenError {
  std::string message;
};

/// A parameter as C sees it.
struct CortenParameterData {
  explicit CortenParameterData(const corten::runtime::Parameter &parameter);

  const corten::runtime::Parameter &parameter;
  std::vector<CortenDimension> shape;
  std::vector<const char *> symbols;
  std::string description;
};

struct CortenFunction {
  CortenFunction(std::shared_ptr<corten::runtime::Model> model,
                 const corten::runtime::Function &function);

  std::shared_ptr<corten::runtime::Model> model;
  const corten::runtime::Function &function;
  /// By role.
  std::array<std::vector<CortenParameterData>, 3> parameters;
};

struct CortenEngine {
  explicit CortenEngine(std::shared_ptr<corten::runtime::Model> model,
                        std::vector<std::string> warnings = {});

  std::shared_ptr<corten::runtime::Model> model;
  std::vector<std::string> warnings;
  /// They stay where they are.
  std::deque<CortenFunction> functions;
};

namespace corten::capi {

/// Messages are UTF-8, whatever the caller gave: other bytes become U+FFFD.
CortenError *makeError(std::string_view message);

/// What the caller says about loading; fails if it makes no sense.
runtime::Expected<runtime::LoadOptions>
loadOptions(const CortenLoadOptions *options);

/// Copies the members that the caller's release of a structure has.
template <typename Struct> void give(const Struct &value, Struct *out) {
  size_t known = std::min(out->size, sizeof(Struct));
  std::memcpy(reinterpret_cast<char *>(out) + sizeof(size_t),
              reinterpret_cast<const char *>(&value) + sizeof(size_t),
              known > sizeof(size_t) ? known - sizeof(size_t) : 0);
}

/// The members that the caller's release has, defaults for the others.
template <typename Struct> Struct take(const Struct *options) {
  Struct result{};
  if (options)
    std::memcpy(&result, options, std::min(options->size, sizeof(Struct)));
  return result;
}

} // namespace corten::capi

#endif // CORTEN_C_HANDLES_H
