// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the fuzz target of plans starts from is still of use: a plan that is
// refused at the door leads nowhere.

#include "Plans.h"
#include "RunAll.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

using namespace corten::runtime;

/// Plans of the corpus by their name. Those that the compiler wrote are files
/// with a trailer.
static std::map<std::string, std::string> corpus() {
  std::map<std::string, std::string> files;
  for (const auto &entry : std::filesystem::directory_iterator(CORTEN_PLANS)) {
    std::ifstream stream(entry.path(), std::ios::binary);
    files[entry.path().filename()] = {std::istreambuf_iterator(stream), {}};
  }
  return files;
}

static bool isCompiled(const std::string &name) {
  return name.ends_with(".cplan");
}

TEST(PlanCorpus, IsOfThisVersion) {
  for (const auto &[name, file] : corpus()) {
    flatbuffers::Verifier verifier(
        reinterpret_cast<const uint8_t *>(file.data()), file.size());
    ASSERT_TRUE(plan::VerifyPlanBuffer(verifier)) << name;
    EXPECT_EQ(plan::GetPlan(file.data())->version(), kPlanVersion)
        << name << " is of another version: "
        << (isCompiled(name) ? "run scripts/fuzz-plans" : "write it anew");
  }
}

TEST(PlanCorpus, CompiledOnesRun) {
  std::set<std::string> kernels;
  for (const auto &[name, file] : corpus()) {
    if (!isCompiled(name))
      continue;
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
  for (const char *kernel :
       {"Attention", "ConvolutionPairs", "ConvolutionWinograd", "GatherNd",
        "LayerNorm", "LutToDense", "MatMulCompressed", "MatMulPacked",
        "MatMulPairs", "MatMulQuads", "MatMulRouted", "NonZero", "PackCodes",
        "ScatterNd", "Tile", "TileReduce"})
    EXPECT_TRUE(kernels.contains(kernel)) << kernel << " is in no plan";
}
