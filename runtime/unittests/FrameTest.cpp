// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Frames and their memory: how much it is, that it is used again, and that the
// checks of it find what they are for.

#include "Plans.h"
#include "SamplePlans.h"
#include "Untimed.h"

#include "../lib/Core/Sanitizers.h"
#include "../lib/Execution/Engine.h"
#include "../lib/Execution/FrameChecker.h"

#include <chrono>
#include <thread>

using namespace corten::runtime;
using namespace corten::runtime::execution;

/// `length` times y = relu(y), of [n, 256]; every `skip`-th result is added to
/// the one that comes `skip` steps later.
static PlanBuilder chain(int length, int skip = 0) {
  PlanBuilder plan;
  BlockBuilder main = plan.block();
  int32_t n = main.extentOf(0, 0);
  int32_t width = main.fixed(256);
  int32_t now = main.input({n, width});
  int32_t kept = now;
  for (int i = 0; i != length; ++i) {
    int32_t next = main.arena({n, width});
    if (skip && i % skip == skip - 1) {
      main.kernel("Add", {now, kept}, {next});
      kept = next;
    } else {
      main.kernel("Relu", {now}, {next});
    }
    now = next;
  }
  main.kernel("Relu", {now}, {main.output({n, width})});
  plan.function("main", main, {"x"});
  return plan;
}

static LoadOptions unchecked() {
  LoadOptions options;
  options.check = false;
  options.threads = 1;
  return options;
}

TEST(Frames, ShareMemory) {
  std::shared_ptr<Model> model = loaded(chain(20), unchecked());
  auto report = model->report(model->functions()[0],
                              std::vector<std::vector<int64_t>>{{10, 256}});
  ASSERT_TRUE(report);
  int64_t one = 10 * 256 * 4;
  EXPECT_EQ(report->arenaBytes, 2 * one);
  EXPECT_EQ(report->lowerBound, 2 * one);
  EXPECT_EQ(report->tensorBytes, 20 * one);
  EXPECT_EQ(report->numSteps, 21);
  model = loaded(chain(60, 4), unchecked());
  report = model->report(model->functions()[0],
                         std::vector<std::vector<int64_t>>{{10, 256}});
  EXPECT_EQ(report->arenaBytes, report->lowerBound);
  EXPECT_EQ(report->lowerBound, 3 * one);
}

TEST(Frames, HaveALimit) {
  LoadOptions options = unchecked();
  options.arenaLimit = 100 * 1024;
  std::shared_ptr<Model> model = loaded(chain(5), options);
  Call call(model, model->functions()[0]);
  Owned<float> small({10, 256});
  Owned<float> large({100, 256});
  EXPECT_OK(call.setInput(0, large.tensor));
  EXPECT_FAULT(call.run(), "the memory limit is 102400 bytes");
  EXPECT_FAULT(call.run(), "raise it (corten run --memory-limit, "
                           "corten.load(memory_limit=)");
  EXPECT_OK(call.setInput(0, small.tensor));
  EXPECT_OK(call.run());
}

TEST(Frames, SizesWithoutEnd) {
  std::shared_ptr<Model> model = loaded(chain(2), unchecked());
  Call call(model, model->functions()[0]);
  // More bytes than can be counted: a view that repeats one row.
  Owned<float> row({1, 256});
  for (int64_t rows : {int64_t(1) << 40, int64_t(1) << 60, INT64_MAX}) {
    int64_t shape[] = {rows, 256};
    int64_t strides[] = {0, 1};
    EXPECT_OK(call.setInput(0, row.tensor.view(shape, strides)));
    EXPECT_TRUE(bool(call.run()));
  }
  EXPECT_OK(call.setInput(0, row.tensor));
  EXPECT_OK(call.run());
}

/// Strides of what has no elements come out as zero, and repeat none.
TEST(Frames, ColumnsOfNoElements) {
  PlanBuilder plan;
  BlockBuilder main = plan.block();
  int32_t n = main.extentOf(0, 0);
  int32_t four = main.fixed(4);
  int32_t x = main.input({n, four});
  int32_t columns =
      main.view(main.arena({n, four}), {n, four}, {main.fixed(1), n});
  main.kernel("Relu", {x}, {columns});
  main.kernel("Copy", {columns}, {main.output({n, four})});
  plan.function("main", main, {"x"});
  std::shared_ptr<Model> model = loaded(plan);
  Call call(model, model->functions()[0]);
  for (int64_t rows : {0, 2}) {
    Owned<float> given({rows, 4});
    for (int64_t i = 0; i != given.tensor.size(); ++i)
      given.elements[size_t(i)] = float(i + 1);
    EXPECT_OK(call.setInput(0, given.tensor));
    EXPECT_OK(call.run());
    EXPECT_EQ(numbersOf(call.output(0).tensor()), given.numbers());
  }
}

TEST(Frames, ManyThreadsAtOnce) {
  LoadOptions options = unchecked();
  options.frames = 2;
  for (bool check : {false, true}) {
    options.check = check;
    std::shared_ptr<Model> model = loaded(controlFlow(), options);
    ASSERT_TRUE(model);
    std::vector<std::thread> threads;
    for (int t = 0; t != 4; ++t)
      threads.emplace_back([&, t] {
        Call call(model, model->functions()[0]);
        Owned<bool> flag({}, {1});
        Owned<float> count({}, {double(t)});
        for (int i = 0; i != 50; ++i) {
          int64_t n = 1 + (i + t) % 5;
          Owned<float> x({n});
          for (int64_t k = 0; k != n; ++k)
            x.elements[size_t(k)] = float(k + 1);
          EXPECT_OK(call.setInput(0, flag.tensor));
          EXPECT_OK(call.setInput(1, x.tensor));
          EXPECT_OK(call.setInput(2, count.tensor));
          EXPECT_OK(call.run());
          std::vector<double> wanted;
          for (int64_t k = 0; k != n; ++k)
            wanted.push_back(double((k + 1) << t));
          EXPECT_EQ(numbersOf(call.output(0).tensor()), wanted);
        }
      });
    for (std::thread &thread : threads)
      thread.join();
  }
}

TEST(Frames, NewSizesAreCheap) {
  if (const char *why = whyUntimed())
    GTEST_SKIP() << "times are not held to a limit: " << why;
  // As many values as a BERT-base has.
  std::shared_ptr<Model> model = loaded(chain(1000, 3), unchecked());
  auto best = std::chrono::nanoseconds::max();
  for (int64_t n = 1; n != 40; ++n) {
    auto start = std::chrono::steady_clock::now();
    auto report = model->report(model->functions()[0],
                                std::vector<std::vector<int64_t>>{{n, 256}});
    best = std::min<std::chrono::nanoseconds>(
        best, std::chrono::steady_clock::now() - start);
    ASSERT_TRUE(report);
  }
  RecordProperty("microseconds", int(best / std::chrono::microseconds(1)));
#if !CORTEN_ADDRESS_SANITIZER && !CORTEN_THREAD_SANITIZER
  EXPECT_LT(best, std::chrono::milliseconds(1));
#endif
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// An engine whose kernels can be exchanged.
static std::unique_ptr<Engine> engineOf(const std::string &file, bool check) {
  LoadOptions options = unchecked();
  options.check = check;
  auto opened = openPlan(std::as_bytes(std::span(file)));
  const plan::Plan *plan = plan::GetPlan(opened->data());
  auto program = readProgram(*plan);
  EXPECT_TRUE(program);
  auto engine = std::make_unique<Engine>(options, std::move(*program));
  engine->source = plan;
  EXPECT_OK(engine->choose(1));
  EXPECT_OK(engine->loadConstants(""));
  return engine;
}

static std::string runOn(Engine &engine, const Tensor &input) {
  const Block &block = engine.program.blocks[0];
  std::vector<int64_t> key;
  EXPECT_OK(engine.readKey(block, {&input, 1}, {}, key));
  Expected<Frame *> frame = engine.takeFrame(block, key);
  if (!frame)
    return frame.takeError().message();
  Run run = {1000};
  Error error = (*frame)->run(run, {&input, 1});
  std::string text =
      error ? error.message()
            : testing::PrintToString(numbersOf((*frame)->output(0))[0]);
  engine.giveBack(*frame);
  return text;
}

static bool acceptsAll(const Invocation &) { return true; }

// A sanitizer ends the process when somebody touches what lies around tensors.
#if CORTEN_ADDRESS_SANITIZER
#define EXPECT_CAUGHT(EXPRESSION, PART)                                        \
  EXPECT_DEATH((void)(EXPRESSION), "use-after-poison")
#else
#define EXPECT_CAUGHT(EXPRESSION, PART) EXPECT_MENTIONS(EXPRESSION, PART)
#endif

TEST(Checks, KernelsThatWriteOutside) {
  static int64_t place;
  KernelVariant bad = {"bad", PortableKernel::Relu, Isa::Portable, acceptsAll,
                       [](const Invocation &call) {
                         call.output().as<float>()[place] = 1;
                         return Error::success();
                       }};
  std::string file = chain(3).file();
  Owned<float> x({2, 256}, {5});
  for (bool check : {false, true}) {
    std::unique_ptr<Engine> engine = engineOf(file, check);
    engine->variants[size_t(PortableKernel::Relu)] = {&bad};
    place = 0;
    EXPECT_EQ(runOn(*engine, x.tensor), "1");
    if (!check)
      continue;
    for (int64_t outside : {-1, 2 * 256, 2 * 256 + 3}) {
      place = outside;
      EXPECT_CAUGHT(runOn(*engine, x.tensor), "wrote outside of its results");
    }
  }
}

TEST(Checks, ScratchIsGuarded) {
  static int64_t place;
  KernelVariant greedy = {"greedy",
                          PortableKernel::Relu,
                          Isa::Portable,
                          acceptsAll,
                          [](const Invocation &call) {
                            static_cast<char *>(call.scratch)[place] = 1;
                            call.output().as<float>()[0] = 1;
                            return Error::success();
                          },
                          [](const Invocation &) { return size_t(100); }};
  std::string file = chain(3).file();
  std::unique_ptr<Engine> engine = engineOf(file, true);
  engine->variants[size_t(PortableKernel::Relu)] = {&greedy};
  Owned<float> x({2, 256}, {5});
  place = 99;
  EXPECT_EQ(runOn(*engine, x.tensor), "1");
  place = 100;
  EXPECT_CAUGHT(runOn(*engine, x.tensor),
                "wrote outside of its scratch memory");
}

/// Runs two kernels, of which the second gives what it finds before or behind
/// its input, as the number that it is in this type.
template <typename T> static std::string readOutside(bool before) {
  static int64_t place;
  constexpr int64_t kBytes = 2 * 256 * sizeof(float);
  place = before ? -1 : kBytes / int64_t(sizeof(T));
  KernelVariant curious = {
      "curious", PortableKernel::Relu, Isa::Portable, acceptsAll,
      [](const Invocation &call) {
        bool isFirst = call.input().as<float>()[0] == 5;
        call.output().as<float>()[0] =
            isFirst ? 1.0F : float(ComputeType<T>(call.input().as<T>()[place]));
        return Error::success();
      }};
  std::string file = chain(2).file();
  std::unique_ptr<Engine> engine = engineOf(file, true);
  engine->variants[size_t(PortableKernel::Relu)] = {&curious};
  Owned<float> x({2, 256}, {5});
  return runOn(*engine, x.tensor);
}

TEST(Checks, KernelsThatReadOutside) {
  for (bool before : {false, true}) {
    EXPECT_CAUGHT(readOutside<float>(before), "nan");
    EXPECT_CAUGHT(readOutside<double>(before), "nan");
    EXPECT_CAUGHT(readOutside<Float16>(before), "nan");
    EXPECT_CAUGHT(readOutside<BFloat16>(before), "nan");
    EXPECT_CAUGHT(readOutside<int32_t>(before), "e+09");
    EXPECT_CAUGHT(readOutside<int64_t>(before), "e+18");
  }
}

TEST(Checks, WhatIsNotWrittenIsPoisoned) {
  KernelVariant lazy = {"lazy", PortableKernel::Relu, Isa::Portable, acceptsAll,
                        [](const Invocation &) { return Error::success(); }};
  std::string file = chain(3).file();
  std::unique_ptr<Engine> engine = engineOf(file, true);
  engine->variants[size_t(PortableKernel::Relu)] = {&lazy};
  Owned<float> x({2, 256}, {5});
  EXPECT_MENTIONS(runOn(*engine, x.tensor), "nan");
}

TEST(Checks, TheSecondOpinion) {
  // a = relu(x), b = relu(a), y = a + b
  PlanBuilder plan;
  BlockBuilder main = plan.block();
  int32_t four = main.fixed(4);
  int32_t x = main.input({four});
  int32_t a = main.arena({four});
  int32_t b = main.arena({four});
  main.kernel("Relu", {x}, {a});
  main.kernel("Relu", {a}, {b});
  main.kernel("Add", {a, b}, {main.output({four})});
  plan.function("main", main, {"x"});
  auto check = [&](int64_t placeOfA, int64_t placeOfB, int64_t scratch) {
    FrameLayout layout;
    layout.buffers = {{}, {0, placeOfA, 16}, {0, placeOfB, 16}, {1, 0, 16}};
    layout.scratch.resize(3);
    if (scratch >= 0)
      layout.scratch[1] = {0, scratch, 16};
    layout.values.assign(4, {0, 16, true});
    std::string file = plan.file();
    const plan::Plan &source = *plan::GetPlan(file.data());
    Error error = checkFrame(source, 0, layout);
    return error ? error.message() : "";
  };
  EXPECT_EQ(check(0, 64, 128), "");
  EXPECT_MENTIONS(check(0, 0, -1), "two operands of step 1");
  EXPECT_MENTIONS(check(0, 12, -1), "two operands of step 1");
  EXPECT_MENTIONS(check(0, 64, 68), "two operands of step 1");
  EXPECT_MENTIONS(check(0, 64, 8), "two operands of step 1");
  // Nobody writes b.
  plan.plan.blocks[0]->steps[1]->outputs = {a};
  EXPECT_MENTIONS(check(0, 64, -1),
                  "step 2 reads value 2 of buffer 2, which nobody has written");
  // Somebody else writes over a.
  plan.plan.blocks[0]->steps[1]->inputs = {x};
  plan.plan.blocks[0]->steps[1]->outputs = {b};
  EXPECT_MENTIONS(check(0, 8, -1),
                  "step 2 reads value 1 of buffer 1, over which step 1 wrote "
                  "buffer 2");
}

/// a = relu(x), then b = relu(a) where a lies, y = relu(`read`), which is one
/// of x, a, b, and of views of the last two.
static std::string readAfterInPlace(size_t read) {
  PlanBuilder plan;
  BlockBuilder main = plan.block();
  int32_t four = main.fixed(4);
  int32_t x = main.input({four});
  int32_t a = main.arena({four});
  int32_t b = main.view(a, {four});
  int32_t partOfA = main.view(a, {main.fixed(2)}, {}, main.fixed(1));
  int32_t partOfB = main.view(b, {main.fixed(2)}, {}, main.fixed(1));
  int32_t result = main.output({four});
  main.kernel("Relu", {x}, {a});
  main.kernel("Relu", {a}, {b});
  main.kernel("Relu", {std::vector{x, a, b, partOfA, partOfB}[read]}, {result});
  std::vector<int32_t> versions = {0, 1, 2, 1, 2, 3};
  for (size_t i = 0; i != versions.size(); ++i)
    main.block().values[i]->version = versions[i];
  plan.function("main", main, {"x"});
  FrameLayout layout;
  layout.buffers = {{1, 0, 16}, {0, 0, 16}, {2, 0, 16}};
  layout.scratch.resize(3);
  layout.values.assign(6, {0, 16, true});
  layout.values[3] = layout.values[4] = {4, 12, true};
  std::string file = plan.file();
  Error error = checkFrame(*plan::GetPlan(file.data()), 0, layout);
  return error ? error.message() : "";
}

TEST(Checks, WhatAnInPlaceResultOverwrote) {
  for (size_t right : {0, 2, 4})
    EXPECT_EQ(readAfterInPlace(right), "");
  EXPECT_MENTIONS(readAfterInPlace(1),
                  "step 2 reads value 1 of buffer 1 as it was after 1 steps, "
                  "but step 1 wrote to it since");
  EXPECT_MENTIONS(readAfterInPlace(3), "step 2 reads value 3 of buffer 1");
}

TEST(Checks, AStateThatWasUpdatedTooEarly) {
  PlanBuilder plan;
  BlockBuilder main = plan.block();
  int32_t four = main.fixed(4);
  int32_t state = main.input({four});
  int32_t updated = main.view(state, {four});
  main.kernel("Relu", {state}, {updated});
  main.kernel("Abs", {state}, {main.output({four})});
  main.block().values[size_t(state)]->version = 0;
  main.block().values[size_t(updated)]->version = 1;
  plan.function("main", main, {}, {"s"});
  std::shared_ptr<Model> model = loaded(plan);
  ASSERT_TRUE(model);
  auto given = model->createState("s");
  ASSERT_TRUE(given);
  Call call(model, model->functions()[0]);
  EXPECT_OK(call.setState("s", *given));
  EXPECT_FAULT(call.run(), "memory is planned wrongly: step 1 reads value 0");
  // Of the new one.
  plan.plan.blocks[0]->steps[1]->inputs = {updated};
  model = loaded(plan);
  Call right(model, model->functions()[0]);
  EXPECT_OK(right.setState("s", *given));
  EXPECT_OK(right.run());
}
