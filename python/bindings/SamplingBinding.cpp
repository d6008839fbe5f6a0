// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The choice of a token from a row of logits.

#include "Bindings.h"

#include "corten/Sampling/Sampler.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace corten;
using runtime::ElementType;
using sampling::TokenSampler;

using Array = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

static ElementType typeOf(const Array &array) {
  constexpr nb::dlpack::dtype kHalf{uint8_t(nb::dlpack::dtype_code::Float), 16,
                                    1};
  if (array.dtype() == nb::dtype<float>())
    return ElementType::F32;
  if (array.dtype() == kHalf)
    return ElementType::F16;
  if (array.dtype() == nb::dtype<uint16_t>())
    return ElementType::BF16;
  throw nb::type_error("logits are float32, float16, or the bits of bfloat16 "
                       "as uint16");
}

static sampling::Logits logitsOf(const Array &array) {
  if (array.shape(0) == 0)
    throw nb::value_error("there are no logits");
  return {array.data(), array.shape(0), typeOf(array)};
}

using Top = std::vector<std::pair<int64_t, double>>;

static std::pair<double, Top> tokenLogprobs(const Array &array, int64_t token,
                                            size_t count) {
  sampling::Logits logits = logitsOf(array);
  if (token < 0 || size_t(token) >= logits.count)
    throw nb::index_error("there is no such token");
  sampling::TokenLogprobs found = sampling::tokenLogprobs(logits, token, count);
  return {found.token, std::move(found.top)};
}

void bindings::bindSampling(nb::module_ &module) {
  nb::class_<TokenSampler>(module, "TokenSampler",
                           "Chooses tokens of one sequence.")
      .def(
          "__init__",
          [](TokenSampler *self, double temperature, size_t topK, double topP,
             double minP, double repetitionPenalty, double presencePenalty,
             double frequencyPenalty, std::map<int64_t, double> bias) {
            new (self) TokenSampler({temperature, topK, topP, minP,
                                     repetitionPenalty, presencePenalty,
                                     frequencyPenalty, std::move(bias)});
          },
          nb::kw_only(), nb::arg("temperature"), nb::arg("top_k"),
          nb::arg("top_p"), nb::arg("min_p"), nb::arg("repetition_penalty"),
          nb::arg("presence_penalty"), nb::arg("frequency_penalty"),
          nb::arg("bias"))
      .def("note", &TokenSampler::note, nb::arg("token"),
           nb::arg("is_generated"), "A token that penalties are to know.")
      .def(
          "choose",
          [](TokenSampler &self, const Array &logits, double number) {
            return self.choose(logitsOf(logits), number);
          },
          nb::arg("logits"), nb::arg("number"),
          "A token; `number`, from 0 to 1, decides which of the possible "
          "ones.")
      .def(
          "choose_and_describe",
          [](TokenSampler &self, const Array &logits, double number,
             size_t count) {
            auto [token, found] =
                self.chooseAndDescribe(logitsOf(logits), number, count);
            return std::tuple(token, found.token, std::move(found.top));
          },
          nb::arg("logits"), nb::arg("number"), nb::arg("count"),
          "A token with its log-probability, and the most probable ones.");
  module.def("token_logprobs", &tokenLogprobs, nb::arg("logits"),
             nb::arg("token"), nb::arg("count"),
             "The log-probability of a token, and the most probable ones.");
}
