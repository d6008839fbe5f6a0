// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the fuzz target of plans starts from is still of use: a plan that is
// refused at the door leads nowhere.

#include "PlanCorpus.h"
#include "Plans.h"
#include "RunAll.h"

#include "corten/Runtime/Kernel.h"

#include <set>
#include <string_view>

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
  for (const auto &[name, file] : compiledPlans()) {
    EXPECT_LT(file.size(), 24000U) << name;
    auto model = load(file, bounded());
    ASSERT_TRUE(model) << name << ": " << model.takeError().message()
                       << "; run scripts/fuzz-plans";
    // Errors are lines.
    std::string text = runAll(*model);
    EXPECT_EQ(text.find('\n'), std::string::npos) << name << ": " << text;
  }
}

/// Functions of floats alone, and of booleans, which the compiler writes as
/// instructions of tile programs, however lonely they are.
static const std::set<std::string_view> kOnlyInPrograms = {
    "Acos", "Acosh", "Asin",  "Asinh", "Atan",        "Atanh",    "Cos",
    "Cosh", "Erf",   "Exp",   "Gelu",  "GeluSigmoid", "GeluTanh", "Log",
    "Not",  "Relu",  "Round", "Rsqrt", "Sigmoid",     "Silu",     "Sin",
    "Sinh", "Sqrt",  "Tan",   "Tanh"};
/// Kernels that a program brings, as source that somebody has to compile.
static const std::set<std::string_view> kNotCompiled = {"Foreign"};

/// What no seed has is not fuzzed, and its allocations are not counted: of each
/// kernel there is one, and of programs, conditions and loops.
TEST(PlanCorpus, HasEveryKernel) {
  std::set<std::string_view> kernels;
  std::set<plan::StepKind> steps;
  std::map<std::string, std::string> files = compiledPlans();
  for (const auto &[name, file] : files) {
    const plan::Plan *plan = plan::GetPlan(file.data());
    for (const auto *kernel : *plan->kernels())
      kernels.insert(kernel->string_view());
    for (const auto *block : *plan->blocks())
      if (block->steps())
        for (const auto *step : *block->steps())
          steps.insert(step->kind());
  }
  for (const KernelInfo &kernel : portableKernels()) {
    bool isExcused = kOnlyInPrograms.contains(kernel.name) ||
                     kNotCompiled.contains(kernel.name);
    EXPECT_NE(kernels.contains(kernel.name), isExcused)
        << kernel.name
        << (isExcused ? " is in a plan, and has no excuse any more"
                      : " is in no plan: a file of test/Compiler has to have "
                        "it, then run scripts/fuzz-plans");
  }
  // Of a graph that is called, the compiler puts the body where it is called.
  for (plan::StepKind kind : plan::EnumValuesStepKind())
    EXPECT_NE(steps.contains(kind), kind == plan::StepKind::Call)
        << plan::EnumNameStepKind(kind);
}
