// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the fuzz target of plans starts from is still of use: a plan that is
// refused at the door leads nowhere.

#include "PlanCorpus.h"
#include "Plans.h"
#include "RunAll.h"

#include <set>

using namespace corten::runtime;

TEST(PlanCorpus, IsOfThisVersion) {
  for (const auto &[name, file] : planCorpus()) {
    flatbuffers::Verifier verifier(
        reinterpret_cast<const uint8_t *>(file.data()), file.size());
    ASSERT_TRUE(plan::VerifyPlanBuffer(verifier)) << name;
    EXPECT_EQ(plan::GetPlan(file.data())->version(), kPlanVersion)
        << name << " has to be written anew; scripts/fuzz-plans does that for "
        << "those of the compiler";
  }
}

TEST(PlanCorpus, CompiledOnesRun) {
  std::set<std::string> kernels;
  for (const auto &[name, file] : compiledPlans()) {
    EXPECT_LT(file.size(), 20000U) << name;
    auto model = load(file, bounded());
    ASSERT_TRUE(model) << name << ": " << model.takeError().message()
                       << "; run scripts/fuzz-plans";
    // Errors are lines.
    std::string text = runAll(*model);
    EXPECT_EQ(text.find('\n'), std::string::npos) << name << ": " << text;
    for (const auto *kernel : *plan::GetPlan(file.data())->kernels())
      kernels.insert(kernel->str());
  }
  for (const char *kernel : {"Attention",
                             "AttentionWithSinks",
                             "MatMulRoutedCompressed",
                             "TopK",
                             "ConvolutionPairs",
                             "ConvolutionWinograd",
                             "GatherNd",
                             "GatherSparse",
                             "LayerNorm",
                             "LutToDense",
                             "MatMulCompressed",
                             "MatMulPacked",
                             "MatMulSparse",
                             "MatMulPairs",
                             "MatMulQuads",
                             "MatMulRouted",
                             "NonZero",
                             "PackCodes",
                             "PackPlaces",
                             "PackValues",
                             "ScatterNd",
                             "Tile",
                             "TileReduce"})
    EXPECT_TRUE(kernels.contains(kernel)) << kernel << " is in no plan";
}
