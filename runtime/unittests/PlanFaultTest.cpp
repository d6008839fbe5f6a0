// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans that are wrong: an error that says what to do, never a crash.

#include "Plans.h"
#include "RunAll.h"
#include "SamplePlans.h"

#include <functional>

using namespace corten::runtime;

static std::vector<PlanBuilder> samples() {
  std::vector<PlanBuilder> plans;
  plans.push_back(straightLine());
  plans.push_back(controlFlow());
  plans.push_back(preparedConstants());
  return plans;
}

TEST(PlanFaults, SamplesRun) {
  for (const PlanBuilder &plan : samples()) {
    std::shared_ptr<Model> model = loaded(plan, bounded());
    ASSERT_TRUE(model);
    EXPECT_NE(runAll(model).find("f32"), std::string::npos) << runAll(model);
  }
}

TEST(PlanFaults, CutOffAtEveryLength) {
  std::string file = controlFlow().file();
  for (size_t length = 0; length != file.size(); ++length) {
    std::string fault = faultOf(file.substr(0, length));
    ASSERT_TRUE(fault.find("cut off") != std::string::npos ||
                fault.find("no plan") != std::string::npos)
        << length << ": " << fault;
  }
}

TEST(PlanFaults, EveryFlippedBitIsFound) {
  std::string file = straightLine().file();
  for (size_t i = 0; i != file.size(); ++i)
    for (int bit = 0; bit != 8; ++bit) {
      std::string flipped = file;
      flipped[i] = char(flipped[i] ^ (1 << bit));
      ASSERT_NE(faultOf(flipped), "it can be loaded") << i;
    }
}

TEST(PlanFaults, FlippedBitsUnderARightDigest) {
  // Somebody may write the digest anew: then the plan means something else, but
  // still does no harm.
  for (const PlanBuilder &plan : samples()) {
    std::string file = plan.file();
    file.resize(file.size() - planTrailer({}).size());
    int loadedOnes = 0;
    for (size_t i = 0; i != file.size(); ++i)
      for (int bit = int(i % 2); bit < 8; bit += 2) {
        std::string flipped = file;
        flipped[i] = char(flipped[i] ^ (1 << bit));
        flipped += planTrailer(std::as_bytes(std::span(flipped)));
        auto model = load(flipped, bounded());
        if (!model)
          continue;
        ++loadedOnes;
        runAll(*model);
      }
    EXPECT_GT(loadedOnes, 100);
  }
}

TEST(PlanFaults, OfAnotherVersion) {
  PlanBuilder plan = straightLine();
  plan.plan.version = kPlanVersion + 1;
  EXPECT_MENTIONS(faultOf(plan.file()), "the plan has version 2 of the format");
  EXPECT_MENTIONS(faultOf(plan.file()), "compile the model again");
}

TEST(PlanFaults, NoPlanAtAll) {
  EXPECT_MENTIONS(faultOf(""), "this is no plan");
  EXPECT_MENTIONS(faultOf(std::string(100, 'x')), "this is no plan");
  auto missing = Model::load("/nonexistent/model.cplan");
  ASSERT_FALSE(missing);
  EXPECT_MENTIONS(missing.takeError().message(), "No such file");
  auto folder = Model::load("/tmp");
  ASSERT_FALSE(folder);
}

TEST(PlanFaults, WhatTheCheckFinds) {
  struct Case {
    const char *part;
    std::function<void(plan::PlanT &)> damage;
  };
  auto block = [](plan::PlanT &plan) -> plan::BlockT & {
    return *plan.blocks.back();
  };
  std::vector<Case> straight = {
      {"wants the kernel 'Addd', which this runtime does not know",
       [](auto &plan) { plan.kernels[0] = "Addd"; }},
      {"has no kernel", [&](auto &plan) { block(plan).steps[0]->target = 9; }},
      {"calls Add with too many or too few arguments",
       [&](auto &plan) { block(plan).steps[0]->inputs.pop_back(); }},
      {"has an operand that is no value",
       [&](auto &plan) { block(plan).steps[0]->inputs[0] = 99; }},
      {"has an operand that is no value",
       [&](auto &plan) { block(plan).steps[0]->outputs[0] = -1; }},
      {"calls Add without an input that it needs",
       [&](auto &plan) { block(plan).steps[0]->inputs[1] = -1; }},
      {"has a number that is no size",
       [&](auto &plan) { block(plan).steps[0]->numbers = {99}; }},
      {"has a location that is not there",
       [&](auto &plan) { block(plan).steps[0]->location = 1; }},
      {"has an origin that is not there",
       [&](auto &plan) { block(plan).steps[0]->origin = 0; }},
      {"has an origin that is not there",
       [&](auto &plan) { block(plan).steps[0]->origin = -2; }},
      {"has a program that is wrong",
       [&](auto &plan) {
         block(plan).steps[1]->program->instructions[0] =
             plan::TileInstruction(uint16_t(TileOpcode::Relu), 1, 7, 0, 0);
       }},
      {"has a program with other results",
       [&](auto &plan) { block(plan).steps[1]->program->results = {1, 1}; }},
      {"has a program with too many inputs",
       [&](auto &plan) { block(plan).steps[1]->program_inputs = 5; }},
      {"refers to what does not come before it",
       [&](auto &plan) {
         for (plan::Size &size : block(plan).sizes)
           if (size.kind() == plan::SizeKind::Mul)
             size = plan::Size(0, int32_t(block(plan).sizes.size()),
                               size.right(), size.kind());
       }},
      {"is of something that is not there",
       [&](auto &plan) { block(plan).symbols[0]->axis = 2; }},
      {"has no element type",
       [&](auto &plan) { block(plan).values[0]->type = 200; }},
      {"has no buffer",
       [&](auto &plan) { block(plan).values[0]->buffer = 99; }},
      {"has too many axes or strides",
       [&](auto &plan) { block(plan).values[0]->strides = {0}; }},
      {"has too many axes or strides",
       [&](auto &plan) {
         block(plan).values[0]->shape.resize(size_t(kMaxRank) + 1);
       }},
      {"has an axis without a size",
       [&](auto &plan) { block(plan).values[0]->shape[0] = 99; }},
      {"does not begin where its buffer does",
       [&](auto &plan) {
         std::swap(block(plan).inputs[0], block(plan).inputs[1]);
       }},
      {"writes to its input 'x'",
       [&](auto &plan) {
         block(plan).steps[0]->outputs[0] = block(plan).inputs[0];
       }},
      {"writes to a constant",
       [&](auto &plan) {
         block(plan).steps[0]->outputs[0] = block(plan).steps[0]->inputs[1];
       }},
      {"is of an output that has one already",
       [&](auto &plan) {
         auto &buffers = block(plan).buffers;
         auto output = std::ranges::find(
             buffers, plan::Storage::Output,
             [](const auto &buffer) { return buffer->storage; });
         buffers.push_back(std::make_unique<plan::BufferT>(**output));
       }},
      {"has other parameters than its block",
       [&](auto &plan) { plan.functions[0]->inputs.clear(); }},
      {"there are two functions 'main'",
       [&](auto &plan) {
         plan.functions.push_back(
             std::make_unique<plan::FunctionT>(*plan.functions[0]));
       }},
      {"lies outside of what it is taken from",
       [](auto &plan) { plan.constants[0]->bytes = 1 << 20; }},
      {"reaches out of its memory",
       [](auto &plan) { plan.constants[0]->bytes = 8; }},
  };
  for (const Case &test : straight) {
    PlanBuilder plan = straightLine();
    test.damage(plan.plan);
    auto model = load(plan.file(), bounded());
    std::string text = model ? runAll(*model) : model.takeError().message();
    EXPECT_MENTIONS(text, test.part);
  }
  std::vector<Case> nested = {
      {"blocks run each other in a circle",
       [](auto &plan) { plan.blocks[2]->steps[1]->blocks = {0, 2}; }},
      {"runs a block that is not there",
       [](auto &plan) { plan.blocks[2]->steps[1]->blocks = {0, 77}; }},
      {"runs a block that is not there",
       [](auto &plan) { plan.blocks[4]->steps[2]->blocks = {3, -1}; }},
      {"is a loop whose blocks do not fit",
       [](auto &plan) {
         plan.blocks[0]->outputs[0] = plan.blocks[0]->inputs[0];
       }},
      {"runs a block of another signature",
       [](auto &plan) { plan.blocks[4]->steps[2]->blocks = {3, 1}; }},
      {"has too many or too few blocks",
       [](auto &plan) { plan.blocks[4]->steps[2]->blocks = {3}; }},
      {"has no condition",
       [](auto &plan) {
         plan.blocks[4]->steps[2]->inputs[0] = plan.blocks[4]->inputs[1];
       }},
      {"uses a size before it is known",
       [](auto &plan) {
         std::swap(plan.blocks[4]->steps[0], plan.blocks[4]->steps[1]);
         plan.blocks[4]->symbols[1]->step = 1;
       }},
      {"is of a value that its step does not give",
       [](auto &plan) {
         plan.blocks[4]->symbols[1]->index = plan.blocks[4]->inputs[1];
       }},
      {"reads what no block has returned yet",
       [](auto &plan) {
         std::swap(plan.blocks[4]->steps[2], plan.blocks[4]->steps[3]);
       }},
      {"nothing returns a buffer",
       [](auto &plan) { plan.blocks[4]->steps.resize(2); }},
      {"has memory of a caller, and is no function",
       [](auto &plan) {
         plan.blocks[1]->buffers[4]->storage = plan::Storage::Output;
         plan.blocks[1]->buffers[4]->index = 0;
       }},
  };
  for (const Case &test : nested) {
    PlanBuilder plan = controlFlow();
    test.damage(plan.plan);
    EXPECT_MENTIONS(faultOf(plan.file()), test.part);
  }
}

TEST(PlanFaults, LoopsWithoutEnd) {
  PlanBuilder plan = controlFlow();
  // What is compared does not change.
  plan.plan.blocks[1]->outputs[0] = plan.plan.blocks[1]->inputs[0];
  std::shared_ptr<Model> model = loaded(plan, bounded());
  ASSERT_TRUE(model);
  EXPECT_MENTIONS(runAll(model), "more steps than the limit");
}
