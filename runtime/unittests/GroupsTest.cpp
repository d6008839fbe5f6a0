// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps that are run side by side: which, what they compute, and what is told
// of them.

#include "Plans.h"

#include "../lib/Core/Sanitizers.h"
#include "../lib/Execution/Engine.h"
#include "../lib/Execution/FrameChecker.h"
#include "corten/Runtime/Isa.h"

#include <condition_variable>
#include <set>
#include <thread>

using namespace corten::runtime;
using namespace corten::runtime::execution;

static constexpr int64_t kWidth = 20000;

/// Strands of `length` steps each that begin with x, and come together as parts
/// of y: the last of each copies to its own.
static PlanBuilder strands(int count, int length, int64_t width = kWidth) {
  PlanBuilder plan;
  BlockBuilder main = plan.block();
  int32_t n = main.extentOf(0, 0);
  int32_t across = main.fixed(width);
  int32_t x = main.input({n, across});
  int32_t whole = main.fixed(count * width);
  int32_t joined = main.arena({n, whole});
  const char *const kernels[] = {"Abs", "Relu", "Sin", "Exp"};
  for (int i = 0; i != count; ++i) {
    int32_t now = x;
    for (int k = 0; k + 1 != length; ++k) {
      int32_t next = main.arena({n, across});
      main.kernel(kernels[(i + k) % 4], {now}, {next});
      now = next;
    }
    main.kernel("Copy", {now},
                {main.view(joined, {n, across}, {whole, main.fixed(1)},
                           main.fixed(i * width))});
  }
  main.kernel("Relu", {joined}, {main.output({n, whole})});
  plan.function("main", main, {"x"});
  return plan;
}

static LoadOptions threads(int count, bool check = true) {
  LoadOptions options;
  options.threads = count;
  options.check = check;
  return options;
}

static Owned<float> numbers(int64_t rows, int64_t width = kWidth) {
  Owned<float> x({rows, width});
  for (int64_t i = 0; i != rows * width; ++i)
    x.elements[size_t(i)] = float(int(i * 7919 % 1000) - 500) / 250;
  return x;
}

/// Whether kernels are those of vectors: with portable ones steps of this size
/// are too long to stand beside others.
static bool areStepsSmall() { return *chooseIsa() != Isa::Portable; }

static int64_t groupsOf(const PlanBuilder &plan, int count = 2,
                        int64_t width = kWidth) {
  std::shared_ptr<Model> model = loaded(plan, threads(count, false));
  auto report = model->report(model->functions()[0],
                              std::vector<std::vector<int64_t>>{{1, width}});
  EXPECT_TRUE(report);
  return report ? report->numGroups : -1;
}

TEST(Groups, SmallStepsThatDoNotDependOnEachOther) {
  EXPECT_EQ(groupsOf(strands(4, 3)), 1);
  EXPECT_EQ(groupsOf(strands(2, 1)), 1);
  // There is nobody to do the other.
  EXPECT_EQ(groupsOf(strands(4, 3), 1), 0);
  EXPECT_EQ(groupsOf(strands(1, 8)), 0);
  // Too little, and too much.
  EXPECT_EQ(groupsOf(strands(4, 1, 10), 2, 10), 0);
  EXPECT_EQ(groupsOf(strands(4, 3, 400000), 2, 400000), 0);
}

TEST(Groups, GiveTheSameForAnyNumberOfThreads) {
  for (int length : {1, 2, 5})
    for (int64_t rows : {1, 2}) {
      Owned<float> x = numbers(rows);
      std::vector<double> wanted;
      for (int count : {1, 2, 3, 7})
        for (bool check : {false, true}) {
          std::shared_ptr<Model> model =
              loaded(strands(5, length), threads(count, check));
          ASSERT_TRUE(model);
          Call call(model, model->functions()[0]);
          EXPECT_OK(call.setInput(0, x.tensor));
          for (int i = 0; i != 20; ++i)
            EXPECT_OK(call.run());
          if (count == 1 || areStepsSmall())
            EXPECT_EQ(call.report().numGroups, count == 1 ? 0 : 1);
          std::vector<double> found = numbersOf(call.output(0).tensor());
          if (wanted.empty())
            wanted = found;
          EXPECT_TRUE(found == wanted) << count << " threads";
        }
    }
}

/// p = abs(x), then three steps that read it, of which the last writes its
/// result where p lies, and what is read of all of them.
TEST(Groups, WhoWritesOverAnInputComesLater) {
  PlanBuilder plan;
  BlockBuilder main = plan.block();
  int32_t n = main.extentOf(0, 0);
  int32_t across = main.fixed(kWidth);
  int32_t x = main.input({n, across});
  int32_t p = main.arena({n, across});
  int32_t a = main.arena({n, across});
  int32_t b = main.arena({n, across});
  int32_t c = main.view(p, {n, across});
  main.kernel("Abs", {x}, {p});
  main.kernel("Sin", {p}, {a});
  main.kernel("Exp", {p}, {b});
  main.kernel("Sin", {p}, {c});
  int32_t sum = main.arena({n, across});
  main.kernel("Add", {a, b}, {sum});
  main.kernel("Add", {sum, c}, {main.output({n, across})});
  plan.function("main", main, {"x"});
  Owned<float> x2 = numbers(1);
  std::vector<double> wanted;
  for (int count : {1, 4}) {
    std::shared_ptr<Model> model = loaded(plan, threads(count));
    Call call(model, model->functions()[0]);
    EXPECT_OK(call.setInput(0, x2.tensor));
    for (int i = 0; i != 50; ++i) {
      EXPECT_OK(call.run());
      std::vector<double> found = numbersOf(call.output(0).tensor());
      if (wanted.empty())
        wanted = found;
      EXPECT_TRUE(found == wanted);
    }
    // a and b, c and the first sum.
    EXPECT_EQ(call.report().numGroups, count == 1 ? 0 : 2);
  }
}

TEST(Groups, PartsThatOverlapAreNoGroup) {
  PlanBuilder plan = strands(2, 1);
  EXPECT_EQ(groupsOf(plan), 1);
  // The second part begins within the first.
  plan::BlockT &main = *plan.plan.blocks[0];
  int32_t part = main.steps[1]->outputs[0];
  BlockBuilder builder = {plan, 0};
  main.values[size_t(part)]->offset = builder.fixed(kWidth - 1);
  EXPECT_EQ(groupsOf(plan), 0);
}

static Tensor view(std::vector<int64_t> shape, std::vector<int64_t> steps) {
  Tensor result(ElementType::F32, nullptr, shape);
  for (size_t axis = 0; axis != steps.size(); ++axis)
    result.steps[axis] = steps[axis];
  return result;
}

TEST(Groups, ViewsThatAreApart) {
  auto apart = [](const Tensor &a, int64_t offsetOfA, const Tensor &b,
                  int64_t offsetOfB) {
    bool result = areApart(a, 4 * offsetOfA, b, 4 * offsetOfB);
    EXPECT_EQ(result, areApart(b, 4 * offsetOfB, a, 4 * offsetOfA));
    return result;
  };
  // Columns of rows of 8.
  Tensor three = view({4, 3}, {8, 1});
  Tensor five = view({4, 5}, {8, 1});
  EXPECT_TRUE(apart(three, 0, five, 3));
  EXPECT_FALSE(apart(three, 0, five, 2));
  EXPECT_FALSE(apart(three, 0, three, 1));
  // What goes on in the next row.
  EXPECT_FALSE(apart(five, 4, three, 0));
  // One behind the other.
  EXPECT_TRUE(apart(three, 0, three, 32));
  EXPECT_FALSE(apart(three, 0, three, 24));
  // Rows, and channels that are last in memory.
  Tensor rows = view({2, 8}, {8, 1});
  EXPECT_TRUE(apart(rows, 0, rows, 16));
  EXPECT_FALSE(apart(rows, 0, rows, 8));
  Tensor channels = view({1, 3, 5, 5}, {175, 1, 35, 7});
  EXPECT_TRUE(apart(channels, 0, channels, 3));
  EXPECT_TRUE(apart(channels, 0, channels, 4));
  EXPECT_FALSE(apart(channels, 0, channels, 2));
  // Other strides, and elements that are read from the end.
  EXPECT_FALSE(apart(three, 0, view({4, 3}, {9, 1}), 3));
  EXPECT_FALSE(apart(view({8}, {-1}), 7, view({8}, {-1}), 9));
  EXPECT_FALSE(apart(view({4, 4}, {3, 2}), 0, view({4, 4}, {3, 2}), 1));
  // Every other element.
  EXPECT_TRUE(apart(view({4}, {2}), 0, view({4}, {2}), 1));
}

/// Whatever areApart says is so: all views of two axes in a small buffer.
TEST(Groups, ViewsThatAreSaidToBeApartAre) {
  auto places = [](const Tensor &tensor, int64_t offset) {
    uint64_t result = 0;
    for (int64_t i = 0; i != tensor.extents[0]; ++i)
      for (int64_t k = 0; k != tensor.extents[1]; ++k)
        result |= uint64_t(1)
                  << (offset + i * tensor.steps[0] + k * tensor.steps[1]);
    return result;
  };
  int numApart = 0;
  for (int64_t outer = 1; outer != 7; ++outer)
    for (int64_t inner = 1; inner != 5; ++inner)
      for (int64_t shape = 0; shape != 81; ++shape)
        for (int64_t offsets = 0; offsets != 100; ++offsets) {
          Tensor a = view({1 + shape % 3, 1 + shape / 3 % 3}, {outer, inner});
          Tensor b = view({1 + shape / 9 % 3, 1 + shape / 27}, {outer, inner});
          int64_t offsetOfA = offsets % 10;
          int64_t offsetOfB = offsets / 10;
          if (!areApart(a, 4 * offsetOfA, b, 4 * offsetOfB))
            continue;
          ++numApart;
          ASSERT_EQ(places(a, offsetOfA) & places(b, offsetOfB), 0u);
        }
  EXPECT_GT(numApart, 10000);
}

//===----------------------------------------------------------------------===//
// Kernels that are exchanged
//===----------------------------------------------------------------------===//

static std::unique_ptr<Engine> engineOf(const std::string &file, int count,
                                        bool check = true) {
  auto opened = openPlan(std::as_bytes(std::span(file)));
  const plan::Plan *plan = plan::GetPlan(opened->data());
  auto program = readProgram(*plan);
  EXPECT_TRUE(program);
  auto engine =
      std::make_unique<Engine>(threads(count, check), std::move(*program));
  engine->source = plan;
  EXPECT_OK(engine->choose(count));
  EXPECT_OK(engine->loadConstants(""));
  return engine;
}

/// Runs the first block, and says what came of it.
static std::string runOn(Engine &engine, const Tensor &input,
                         execution::Run run = {1000}) {
  const Block &block = engine.program.blocks[0];
  std::vector<int64_t> key;
  EXPECT_OK(engine.readKey(block, {&input, 1}, {}, key));
  Expected<Frame *> frame = engine.takeFrame(block, key);
  if (!frame)
    return frame.takeError().message();
  Error error = (*frame)->run(run, {&input, 1});
  std::string text = error ? error.message() : "it ran";
  engine.giveBack(*frame);
  return text;
}

static bool acceptsAll(const Invocation &) { return true; }

/// Two strands: abs and copy, relu and copy.
TEST(Groups, AreRunAtTheSameTime) {
  static std::mutex mutex;
  static std::condition_variable changed;
  static int inside;
  static std::atomic<bool> hadPool;
  inside = 0;
  hadPool = false;
  // Nobody is done before all have come.
  auto wait = [](const Invocation &call) {
    if (call.pool)
      hadPool = true;
    std::unique_lock lock(mutex);
    ++inside;
    changed.notify_all();
    bool came = changed.wait_for(lock, std::chrono::seconds(60),
                                 [] { return inside == 2; });
    return came ? Error::success() : Error("nobody came");
  };
  KernelVariant first = {"first", PortableKernel::Abs, Isa::Portable,
                         acceptsAll, wait};
  KernelVariant second = {"second", PortableKernel::Relu, Isa::Portable,
                          acceptsAll, wait};
  std::string file = strands(2, 2).file();
  std::unique_ptr<Engine> engine = engineOf(file, 2);
  engine->variants[size_t(PortableKernel::Abs)] = {&first};
  engine->variants[size_t(PortableKernel::Relu)] = {&second};
  Owned<float> x = numbers(1);
  // The last step is by itself, and finds that two have come.
  execution::Run run = {4};
  EXPECT_EQ(runOn(*engine, x.tensor, run),
            "the call takes more steps than the limit allows");
  EXPECT_EQ(inside, 2);
  EXPECT_FALSE(hadPool);
}

TEST(Groups, TellTheFirstErrorInTheOrderOfThePlan) {
  static std::atomic<bool> secondFailed;
  // The first one waits for the second one's error.
  KernelVariant first = {"first", PortableKernel::Abs, Isa::Portable,
                         acceptsAll, [](const Invocation &) {
                           while (!secondFailed)
                             std::this_thread::yield();
                           return Error("the first");
                         }};
  KernelVariant second = {"second", PortableKernel::Relu, Isa::Portable,
                          acceptsAll, [](const Invocation &) {
                            secondFailed = true;
                            return Error("the second");
                          }};
  PlanBuilder plan = strands(2, 2);
  plan.plan.locations = {"model.py:1", "model.py:2"};
  plan.plan.blocks[0]->steps[0]->location = 0;
  plan.plan.blocks[0]->steps[2]->location = 1;
  std::string file = plan.file();
  Owned<float> x = numbers(1);
  std::unique_ptr<Engine> engine = engineOf(file, 2);
  engine->variants[size_t(PortableKernel::Relu)] = {&second};
  EXPECT_EQ(runOn(*engine, x.tensor), "model.py:2: Relu: the second");
  engine = engineOf(file, 2);
  engine->variants[size_t(PortableKernel::Abs)] = {&first};
  engine->variants[size_t(PortableKernel::Relu)] = {&second};
  for (int i = 0; i != 20; ++i) {
    secondFailed = false;
    EXPECT_EQ(runOn(*engine, x.tensor), "model.py:1: Abs: the first");
  }
}

TEST(Groups, WhatNoKernelHasAcceptedYetIsNotLookedInto) {
  // How long steps take is asked before they are run: one of these has no
  // weights.
  PlanBuilder plan;
  BlockBuilder main = plan.block();
  int32_t one = main.fixed(1), four = main.fixed(4);
  int32_t x = main.input({one, four, four, four});
  int32_t y = main.output({one, four, four, four});
  main.kernel("ConvolutionDepthwise", {x}, {y});
  int32_t z = main.output({one, four, four, four});
  main.kernel("Abs", {x}, {z});
  plan.function("main", main, {"x"});
  std::shared_ptr<Model> model = loaded(plan, threads(2));
  Owned<float> image({1, 4, 4, 4});
  Call call(model, model->functions()[0]);
  EXPECT_OK(call.setInput(0, image.tensor));
  Error error = call.run();
  ASSERT_TRUE(error);
  EXPECT_NE(error.message().find("ConvolutionDepthwise"), std::string::npos)
      << error.message();
}

/// Which threads run the kernels of a plan whose group is about to win less
/// than it takes to wake one, when all but the caller sleep.
static size_t threadsThatTakePart(int rounds) {
  static std::mutex mutex;
  static std::set<std::thread::id> seen;
  seen.clear();
  auto note = [](const Invocation &) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    std::lock_guard lock(mutex);
    seen.insert(std::this_thread::get_id());
    return Error::success();
  };
  KernelVariant first = {"first", PortableKernel::Abs, Isa::Portable,
                         acceptsAll, note};
  KernelVariant second = {"second", PortableKernel::Relu, Isa::Portable,
                          acceptsAll, note};
  std::string file = strands(2, 2).file();
  std::unique_ptr<Engine> engine = engineOf(file, 5, false);
  engine->variants[size_t(PortableKernel::Abs)] = {&first};
  engine->variants[size_t(PortableKernel::Relu)] = {&second};
  while (engine->pool->isAwake())
    std::this_thread::yield();
  Owned<float> x = numbers(1);
  const Block &block = engine->program.blocks[0];
  std::vector<int64_t> key;
  EXPECT_OK(engine->readKey(block, {&x.tensor, 1}, {}, key));
  Frame *frame = *engine->takeFrame(block, key);
  execution::Run run = {100000};
  for (int i = 0; i != rounds; ++i)
    EXPECT_OK(frame->run(run, {&x.tensor, 1}));
  EXPECT_EQ(frame->report().numGroups, 1);
  engine->giveBack(frame);
  return seen.size();
}

TEST(Groups, WakeThreadsWhenThatIsWorthIt) {
  EXPECT_EQ(threadsThatTakePart(1), 1u);
  EXPECT_GT(threadsThatTakePart(200), 1u);
}

/// Threads that come late are done without, for as many groups as would have
/// won what they cost.
TEST(Groups, DoWithoutThreadsThatKeepThemWaiting) {
  static std::thread::id caller;
  static std::atomic<int> others;
  caller = std::this_thread::get_id();
  others = 0;
  auto slow = [](const Invocation &) {
    bool isOther = std::this_thread::get_id() != caller;
    others += isOther;
    std::this_thread::sleep_for(std::chrono::milliseconds(isOther ? 20 : 1));
    return Error::success();
  };
  KernelVariant first = {"first", PortableKernel::Abs, Isa::Portable,
                         acceptsAll, slow};
  KernelVariant second = {"second", PortableKernel::Relu, Isa::Portable,
                          acceptsAll, slow};
  std::string file = strands(2, 2).file();
  std::unique_ptr<Engine> engine = engineOf(file, 2, false);
  engine->variants[size_t(PortableKernel::Abs)] = {&first};
  engine->variants[size_t(PortableKernel::Relu)] = {&second};
  ThreadPool::Active active(*engine->pool);
  Owned<float> x = numbers(1);
  while (others == 0) {
    // The caller's own milliseconds are nobody's fault.
    engine->lost = 0;
    engine->pool->run(2, [](int64_t, int) {});
    EXPECT_EQ(runOn(*engine, x.tensor), "it ran");
  }
  others = 0;
  for (int i = 0; i != 5; ++i) {
    engine->pool->run(2, [](int64_t, int) {});
    EXPECT_EQ(runOn(*engine, x.tensor), "it ran");
  }
  EXPECT_EQ(others, 0);
  // What is made up for is forgotten.
  int64_t before = engine->lost;
  EXPECT_EQ(runOn(*engine, x.tensor), "it ran");
  EXPECT_LT(engine->lost, before);
}

// A sanitizer ends the process when somebody touches what lies around tensors.
#if !CORTEN_ADDRESS_SANITIZER
TEST(Groups, KernelsThatWriteOutside) {
  KernelVariant bad = {"bad", PortableKernel::Relu, Isa::Portable, acceptsAll,
                       [](const Invocation &call) {
                         call.output().as<float>()[kWidth] = 1;
                         return Error::success();
                       }};
  std::string file = strands(2, 2).file();
  std::unique_ptr<Engine> engine = engineOf(file, 2);
  engine->variants[size_t(PortableKernel::Relu)] = {&bad};
  Owned<float> x = numbers(1);
  EXPECT_MENTIONS(runOn(*engine, x.tensor), "wrote outside of its results");
  EXPECT_MENTIONS(runOn(*engine, x.tensor), "a step that runs beside this one");
}
#endif

TEST(Groups, ScratchIsOfEachStep) {
  // Fills its scratch, waits for others to do so, and looks.
  auto fill = [](const Invocation &call) {
    auto *scratch = static_cast<uint8_t *>(call.scratch);
    uint8_t mark = call.output().as<uint8_t>() < scratch ? 1 : 2;
    mark += uint8_t(reinterpret_cast<uintptr_t>(scratch) / 64 % 100);
    std::fill_n(scratch, 1000, mark);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    for (int i = 0; i != 1000; ++i)
      if (scratch[i] != mark)
        return Error("somebody else wrote to it");
    std::fill_n(call.output().as<float>(), call.output().size(), 1.0F);
    return Error::success();
  };
  auto scratch = [](const Invocation &) { return size_t(1000); };
  KernelVariant first = {
      "first", PortableKernel::Abs, Isa::Portable, acceptsAll, fill, scratch};
  KernelVariant second = {
      "second", PortableKernel::Relu, Isa::Portable, acceptsAll, fill, scratch};
  std::string file = strands(2, 2).file();
  for (bool check : {false, true}) {
    std::unique_ptr<Engine> engine = engineOf(file, 2, check);
    engine->variants[size_t(PortableKernel::Abs)] = {&first};
    engine->variants[size_t(PortableKernel::Relu)] = {&second};
    Owned<float> x = numbers(1);
    for (int i = 0; i != 20; ++i)
      EXPECT_EQ(runOn(*engine, x.tensor), "it ran");
  }
}

//===----------------------------------------------------------------------===//
// What is told
//===----------------------------------------------------------------------===//

TEST(Groups, ObserversGetEachStepInOrder) {
  std::shared_ptr<Model> model = loaded(strands(3, 2), threads(3));
  Call call(model, model->functions()[0]);
  Owned<float> x = numbers(1);
  EXPECT_OK(call.setInput(0, x.tensor));
  std::vector<std::string> seen;
  call.setObserver([&](const StepEvent &event) {
    seen.emplace_back(event.step);
    EXPECT_GT(event.nanoseconds, 0);
    EXPECT_EQ(event.outputs.size(), 1u);
  });
  for (int i = 0; i != 2; ++i) {
    seen.clear();
    EXPECT_OK(call.run());
    EXPECT_EQ(call.report().numGroups, 1);
    EXPECT_EQ(seen, (std::vector<std::string>{"Abs", "Copy", "Relu", "Copy",
                                              "Sin", "Copy", "Relu"}));
  }
}

TEST(Groups, AreCancelledBetweenTheirSteps) {
  std::shared_ptr<Model> model = loaded(strands(3, 2), threads(3));
  Call call(model, model->functions()[0]);
  Owned<float> x = numbers(1);
  EXPECT_OK(call.setInput(0, x.tensor));
  int seen = 0;
  call.setObserver([&](const StepEvent &) {
    if (++seen == 3)
      call.cancel();
  });
  EXPECT_FAULT(call.run(), "the call was cancelled");
  EXPECT_TRUE(call.wasCancelled());
  EXPECT_EQ(seen, 3);
  call.setObserver(nullptr);
  EXPECT_OK(call.run());
}

TEST(Groups, CountAsTheirSteps) {
  LoadOptions options = threads(2);
  for (uint64_t limit = 1; limit != 8; ++limit) {
    options.stepLimit = limit;
    std::shared_ptr<Model> model = loaded(strands(3, 2), options);
    Call call(model, model->functions()[0]);
    Owned<float> x = numbers(1);
    EXPECT_OK(call.setInput(0, x.tensor));
    uint64_t seen = 0;
    call.setObserver([&](const StepEvent &) { ++seen; });
    Error error = call.run();
    EXPECT_EQ(bool(error), limit < 7);
    EXPECT_EQ(seen, std::min<uint64_t>(limit, 7));
  }
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Sizes that come with data: groups of a later stage, which are found anew.
TEST(Groups, OfSizesThatDataDecide) {
  PlanBuilder plan;
  BlockBuilder main = plan.block();
  int32_t n = main.extentOf(0, 0);
  int32_t x = main.input({n});
  int32_t unit = main.fixed(1);
  int32_t found = main.arena({n, unit}, ElementType::SI32);
  main.kernel("NonZero", {x}, {found});
  int32_t k = main.symbol("k", plan::SymbolSource::Extent, found, 0, 0);
  int32_t chosen = main.arena({k});
  main.kernel("GatherNd", {x, main.view(found, {k, unit})}, {chosen});
  std::vector<int32_t> made;
  for (const char *kernel : {"Abs", "Sin", "Exp", "Relu"}) {
    made.push_back(main.arena({k}));
    main.kernel(kernel, {chosen}, {made.back()});
  }
  int32_t sum = main.arena({k});
  main.kernel("Add", {made[0], made[1]}, {sum});
  int32_t other = main.arena({k});
  main.kernel("Add", {made[2], made[3]}, {other});
  main.kernel("Add", {sum, other}, {main.output({k})});
  plan.function("main", main, {"x"});
  std::shared_ptr<Model> one = loaded(plan, threads(1));
  std::shared_ptr<Model> many = loaded(plan, threads(4));
  Call reference(one, one->functions()[0]);
  Call call(many, many->functions()[0]);
  for (int64_t length : {30000, 50, 20000, 0, 25000}) {
    Owned<float> x2({64000});
    for (int64_t i = 0; i != length; ++i)
      x2.elements[size_t(i)] = float(i % 17 - 8) + 0.5F;
    EXPECT_OK(reference.setInput(0, x2.tensor));
    EXPECT_OK(call.setInput(0, x2.tensor));
    EXPECT_OK(reference.run());
    EXPECT_OK(call.run());
    if (areStepsSmall())
      EXPECT_EQ(call.report().numGroups, length < 1000 ? 0 : 2);
    EXPECT_TRUE(numbersOf(call.output(0).tensor()) ==
                numbersOf(reference.output(0).tensor()));
  }
}

namespace {
/// Three steps of two strands: a = abs(x), b = relu(a), and c = sin(x).
struct Beside : testing::Test {
  Beside() {
    BlockBuilder main = plan.block();
    four = main.fixed(4);
    int32_t x = main.input({four});
    int32_t a = main.arena({four});
    int32_t b = main.arena({four});
    int32_t c = main.arena({four});
    main.kernel("Abs", {x}, {a});
    main.kernel("Relu", {a}, {b});
    main.kernel("Sin", {x}, {c});
    main.kernel("Add", {b, c}, {main.output({four})});
    plan.function("main", main, {"x"});
    layout.buffers = {
        {1, 0, 16}, {0, 0, 16}, {0, 64, 16}, {0, 128, 16}, {2, 0, 16}};
    layout.scratch.resize(4);
    layout.values.assign(5, {0, 16, true});
    layout.beside = {{0, 0}, {0, 0}, {0, 1}, {}};
  }
  std::string check() const {
    std::string file = plan.file();
    Error error = checkFrame(*plan::GetPlan(file.data()), 0, layout);
    return error ? error.message() : "";
  }

  PlanBuilder plan;
  FrameLayout layout;
  int32_t four;
};
} // namespace

TEST_F(Beside, MemoryOfItsOwn) { EXPECT_EQ(check(), ""); }

TEST_F(Beside, MemoryThatIsFreeInTheOrderOfThePlanOnly) {
  // a is not needed any more when c is written, if nobody is in a hurry.
  layout.buffers[3].begin = 0;
  EXPECT_MENTIONS(check(), "steps 1 and 2 run side by side");
  layout.beside.clear();
  EXPECT_EQ(check(), "");
}

TEST_F(Beside, StepsThatDependOnEachOther) {
  layout.beside = {{0, 0}, {0, 1}, {0, 1}, {}};
  EXPECT_MENTIONS(check(), "steps 0 and 1 run side by side");
  layout.beside = {{}, {}, {0, 0}, {0, 1}};
  EXPECT_MENTIONS(check(), "steps 2 and 3 run side by side");
}

TEST_F(Beside, Scratch) {
  layout.scratch[2] = {0, 192, 64};
  EXPECT_EQ(check(), "");
  layout.scratch[0] = {0, 256, 64};
  EXPECT_EQ(check(), "");
  layout.scratch[0] = {0, 248, 64};
  EXPECT_MENTIONS(check(), "steps 0 and 2 run side by side");
  layout.scratch[0] = {0, 136, 8};
  EXPECT_MENTIONS(check(), "steps 0 and 2 run side by side");
}

TEST_F(Beside, PartsOfOneBuffer) {
  // b and c are columns of one buffer.
  plan::BlockT &main = *plan.plan.blocks[0];
  main.values[3]->buffer = 2;
  layout.buffers[2].bytes = 32;
  layout.buffers[3] = {};
  Tensor columns = view({4}, {2});
  layout.values[2] = {0, 28, true, &columns, 0};
  layout.values[3] = {4, 32, true, &columns, 4};
  EXPECT_EQ(check(), "");
  layout.values[3] = {0, 28, true, &columns, 0};
  EXPECT_MENTIONS(check(), "steps 1 and 2 run side by side");
}
