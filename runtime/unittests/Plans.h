// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans that are loaded, and what came of it.

#ifndef CORTEN_RUNTIME_UNITTESTS_PLANS_H
#define CORTEN_RUNTIME_UNITTESTS_PLANS_H

#include "PlanBuilder.h"
#include "Tensors.h"

#include "corten/Runtime/Model.h"

namespace corten::runtime {

/// In the checking mode, unless the options say otherwise.
inline Expected<std::shared_ptr<Model>> load(const std::string &file,
                                             LoadOptions options = {}) {
  if (!options.check)
    options.check = true;
  auto bytes = std::make_shared<std::string>(file);
  return Model::load(std::as_bytes(std::span(*bytes)), std::move(options),
                     bytes);
}

/// Why a plan cannot be loaded.
inline std::string faultOf(const std::string &file, LoadOptions options = {}) {
  auto model = load(file, std::move(options));
  return model ? "it can be loaded" : model.takeError().message();
}

/// The elements of a tensor, in row-major order.
template <typename T = float>
std::vector<double> numbersOf(const Tensor &tensor) {
  std::vector<double> numbers;
  std::array<int64_t, kMaxRank> index = {};
  for (int64_t done = 0; done != tensor.size(); ++done) {
    int64_t offset = 0;
    for (size_t axis = 0; axis != tensor.rank; ++axis)
      offset += index[axis] * tensor.steps[axis];
    numbers.push_back(double(ComputeType<T>(tensor.as<T>()[offset])));
    for (size_t axis = tensor.rank; axis-- > 0;) {
      if (++index[axis] != tensor.extents[axis])
        break;
      index[axis] = 0;
    }
  }
  return numbers;
}

/// A model, or a failed test.
inline std::shared_ptr<Model> loaded(const PlanBuilder &plan,
                                     LoadOptions options = {}) {
  auto model = load(plan.file(), std::move(options));
  if (model)
    return *model;
  ADD_FAILURE() << model.takeError().message();
  return nullptr;
}

#define EXPECT_OK(EXPRESSION)                                                  \
  do {                                                                         \
    Error outcome = (EXPRESSION);                                              \
    EXPECT_FALSE(outcome) << outcome.message();                                \
  } while (false)
#define EXPECT_FAULT(EXPRESSION, PART)                                         \
  do {                                                                         \
    Error outcome = (EXPRESSION);                                              \
    ASSERT_TRUE(outcome);                                                      \
    EXPECT_MENTIONS(outcome.message(), PART);                                  \
  } while (false)

} // namespace corten::runtime

#endif // CORTEN_RUNTIME_UNITTESTS_PLANS_H
