// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that a plan brings as source.

#include "Plans.h"

using namespace corten::runtime;

namespace {
/// Adds a number to each element.
class Adding : public ForeignKernel {
public:
  explicit Adding(float number) : number(number) {}
  Error run(const Invocation &call) const override {
    if (call.number(0) != call.input().size())
      return Error("too few threads");
    for (int64_t i = 0; i != call.input().size(); ++i)
      call.output().as<float>()[i] = call.input().as<float>()[i] + number;
    return Error::success();
  }

private:
  float number;
};
} // namespace

/// One that adds what its source says.
static Expected<std::shared_ptr<const ForeignKernel>>
compileNumber(const ForeignSource &source) {
  if (source.language != "number")
    return Error("'" + source.name + "' is in " + source.language);
  return std::shared_ptr<const ForeignKernel>(
      std::make_shared<Adding>(std::stof(source.source)));
}

static PlanBuilder foreignPlan(const char *language, int64_t threads = 3) {
  PlanBuilder plan;
  auto kernel = std::make_unique<plan::ForeignKernelT>();
  kernel->language = language;
  kernel->name = "plus";
  kernel->source = "2.5";
  plan.plan.foreign.push_back(std::move(kernel));
  BlockBuilder block = plan.block();
  int32_t three = block.fixed(3);
  int32_t one = block.fixed(1);
  int32_t x = block.input({three});
  int32_t y = block.output({three});
  block
      .kernel("Foreign", {x}, {y},
              {block.fixed(threads), one, one, one, one, one})
      .foreign = 0;
  plan.function("main", block, {"x"});
  return plan;
}

static LoadOptions withNumbers() {
  LoadOptions options;
  options.foreign = &compileNumber;
  return options;
}

TEST(Foreign, RunsWhatTheLoaderMade) {
  std::shared_ptr<Model> model = loaded(foreignPlan("number"), withNumbers());
  ASSERT_TRUE(model);
  Call call(model, *model->function("main"));
  Owned<float> x({3}, {1, 2, 3});
  EXPECT_OK(call.setInput("x", x.tensor));
  EXPECT_OK(call.run());
  EXPECT_EQ(numbersOf(call.output(0).tensor()),
            (std::vector<double>{3.5, 4.5, 5.5}));
}

TEST(Foreign, NothingIsCompiledUnasked) {
  std::string fault = faultOf(foreignPlan("number").file());
  EXPECT_NE(fault.find("brings the kernel 'plus' as source in number"),
            std::string::npos)
      << fault;
}

TEST(Foreign, WhatTheLoaderSaysIsTheError) {
  auto model = load(foreignPlan("poetry").file(), withNumbers());
  ASSERT_FALSE(model);
  EXPECT_EQ(model.takeError().message(), "'plus' is in poetry");
}

TEST(Foreign, WhatTheLoaderSaysHasTheLine) {
  PlanBuilder plan = foreignPlan("poetry");
  plan.plan.locations = {"model.py:12"};
  plan.plan.blocks[0]->steps[0]->location = 0;
  auto model = load(plan.file(), withNumbers());
  ASSERT_FALSE(model);
  EXPECT_EQ(model.takeError().message(), "model.py:12: 'plus' is in poetry");
}

TEST(Foreign, ErrorsOfTheKernelAreThoseOfTheCall) {
  std::shared_ptr<Model> model =
      loaded(foreignPlan("number", 2), withNumbers());
  ASSERT_TRUE(model);
  Call call(model, *model->function("main"));
  Owned<float> x({3}, {1, 2, 3});
  EXPECT_OK(call.setInput("x", x.tensor));
  EXPECT_EQ(call.run().message(), "Foreign: too few threads");
}

TEST(Foreign, StepsNameWhatIsThere) {
  PlanBuilder plan = foreignPlan("number");
  for (int32_t wrong : {-1, 1}) {
    plan.plan.blocks[0]->steps[0]->foreign = wrong;
    auto model = load(plan.file(), withNumbers());
    ASSERT_FALSE(model);
    EXPECT_NE(model.takeError().message().find("does not bring"),
              std::string::npos);
  }
}
