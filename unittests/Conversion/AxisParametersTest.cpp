// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// torch's schemas do not say which integers are axes. An operator whose
// integers have names that nobody has thought of fails here.

#include "SchemaTable.h"

#include "corten/Conversion/AtenToCoreAI/Conversion.h"
#include "corten/Program/Arguments.h"

#include "llvm/ADT/StringSet.h"

#include <gtest/gtest.h>

using namespace corten;
using llvm::StringRef;

/// Integers that are sizes, counts, places or choices.
static const llvm::StringSet<> &otherIntegers() {
  static const llvm::StringSet<> names = {"C",
                                          "HxW",
                                          "N",
                                          "bins",
                                          "block_size",
                                          "chunks",
                                          "col",
                                          "compute_mode",
                                          "decimals",
                                          "diagonal",
                                          "dilation",
                                          "divisor_override",
                                          "end",
                                          "expand1",
                                          "expand2",
                                          "expand3",
                                          "fill_value",
                                          "group",
                                          "group_size",
                                          "groups",
                                          "index",
                                          "indices",
                                          "interpolation_mode",
                                          "k",
                                          "kernel_size",
                                          "last_dim_size",
                                          "length",
                                          "m",
                                          "max",
                                          "min",
                                          "minlength",
                                          "mode",
                                          "n",
                                          "normalization",
                                          "normalized_shape",
                                          "num_classes",
                                          "num_groups",
                                          "offset",
                                          "output_padding",
                                          "output_size",
                                          "pad",
                                          "padding",
                                          "padding_idx",
                                          "padding_mode",
                                          "path",
                                          "physical_layout",
                                          "quant_max",
                                          "quant_min",
                                          "repeats",
                                          "row",
                                          "sections",
                                          "shape",
                                          "shifts",
                                          "size",
                                          "sizes",
                                          "split_size",
                                          "split_sizes",
                                          "start",
                                          "step",
                                          "storage_offset",
                                          "stride",
                                          "sumdim",
                                          "unroll_dim",
                                          "upscale_factor",
                                          "zero_point"};
  return names;
}

TEST(AxisParameters, EveryIntegerIsAnAxisOrKnownToBeNone) {
  ProgramBuilder builder;
  for (const SupportedOperator &each : supportedOperators(OperatorSet::All)) {
    auto [nameSpace, name] = StringRef(each.name).split("::");
    if (name.empty())
      std::tie(nameSpace, name) = std::pair(StringRef("aten"), nameSpace);
    StringRef text = pt2::findSchema(nameSpace, name);
    if (text.empty())
      continue;
    OperatorSchema schema = parseSchema(text, builder);
    for (auto [parameter, type] :
         llvm::zip_equal(schema.parameters, schema.types))
      if (type.base == ParameterType::Base::Int)
        EXPECT_NE(isAxisParameter(parameter.name),
                  otherIntegers().contains(parameter.name))
            << each.name.str() << ": " << parameter.name.str();
  }
}
