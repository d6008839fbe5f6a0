// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A call that has been made before allocates nothing. Counts what the C library
// and the system are asked for, by anybody; sanitizers have a library of their
// own.

#include "PlanCorpus.h"
#include "Plans.h"
#include "RunAll.h"
#include "SamplePlans.h"

#include "corten/Runtime/Memory.h"

#include "../lib/Core/Sanitizers.h"

#include <atomic>
#include <cerrno>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace corten::runtime;

#if !CORTEN_ADDRESS_SANITIZER && !CORTEN_THREAD_SANITIZER && defined(__GLIBC__)

static std::atomic<int64_t> allocations = 0;

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

// The other libraries of the process are to find these.
#pragma GCC visibility push(default)
void *malloc(size_t bytes) {
  ++allocations;
  return __libc_malloc(bytes);
}
void *calloc(size_t count, size_t bytes) {
  ++allocations;
  return __libc_calloc(count, bytes);
}
void *realloc(void *old, size_t bytes) {
  ++allocations;
  return __libc_realloc(old, bytes);
}
void *aligned_alloc(size_t alignment, size_t bytes) {
  ++allocations;
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void **result, size_t alignment, size_t bytes) {
  ++allocations;
  *result = __libc_memalign(alignment, bytes);
  return *result ? 0 : ENOMEM;
}
// The C library has another way to the system for what is below malloc.
void *mmap(void *address, size_t bytes, int protection, int flags, int file,
           off_t offset) noexcept {
  ++allocations;
  return reinterpret_cast<void *>(
      syscall(SYS_mmap, address, bytes, protection, flags, file, offset));
}
#pragma GCC visibility pop
}

/// How many allocations the second of two equal calls makes.
static int64_t allocationsOf(Call &call) {
  EXPECT_OK(call.run());
  EXPECT_OK(call.run());
  int64_t before = allocations;
  for (int i = 0; i != 10; ++i)
    if (Error error = call.run())
      ADD_FAILURE() << error.message();
  return allocations - before;
}

TEST(Allocations, AreCounted) {
  int64_t before = allocations;
  int *volatile number = new int;
  delete number;
  EXPECT_EQ(allocations - before, 1);
  // Pages of the system, and what is known of them.
  auto pool = std::make_shared<MemoryPool>();
  before = allocations;
  Memory pages = pool->takeApart(2 * kHugePage);
  EXPECT_TRUE(pages);
  EXPECT_EQ(allocations - before, 2);
}

TEST(Allocations, NoneInStraightLines) {
  LoadOptions options;
  options.check = false;
  std::shared_ptr<Model> model = loaded(straightLine(), options);
  State state = std::move(*model->createState("s"));
  Call call(model, model->functions()[0]);
  Owned<float> x({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_OK(call.setInput(0, x.tensor));
  EXPECT_OK(call.setState("s", state));
  EXPECT_EQ(allocationsOf(call), 0);
  // An input that is copied.
  Owned<float> columns({3, 2}, {1, 4, 2, 5, 3, 6});
  int permutation[] = {1, 0};
  EXPECT_OK(call.setInput(0, columns.tensor.transposed(permutation)));
  EXPECT_EQ(allocationsOf(call), 0);
}

TEST(Allocations, NoneInControlFlow) {
  LoadOptions options;
  options.check = false;
  std::shared_ptr<Model> model = loaded(controlFlow(), options);
  Call call(model, model->functions()[0]);
  Owned<bool> flag({}, {1});
  Owned<float> x({4}, {1, 0, 2, 3});
  Owned<float> count({}, {5});
  EXPECT_OK(call.setInput(0, flag.tensor));
  EXPECT_OK(call.setInput(1, x.tensor));
  EXPECT_OK(call.setInput(2, count.tensor));
  EXPECT_EQ(allocationsOf(call), 0);
  EXPECT_NUMBERS(numbersOf(call.output(0).tensor()), 32, 64, 96);
}

/// Steps that run side by side.
TEST(Allocations, NoneInGroups) {
  if (*chooseIsa() == Isa::Portable)
    GTEST_SKIP() << "its steps are too long for groups";
  PlanBuilder plan;
  BlockBuilder main = plan.block();
  int32_t n = main.extentOf(0, 0);
  int32_t x = main.input({n});
  for (const char *kernel : {"Abs", "Sin", "Relu"})
    main.kernel(kernel, {x}, {main.output({n})});
  plan.function("main", main, {"x"});
  LoadOptions options;
  options.check = false;
  options.threads = 2;
  std::shared_ptr<Model> model = loaded(plan, options);
  Call call(model, model->functions()[0]);
  Owned<float> x2({40000});
  EXPECT_OK(call.setInput(0, x2.tensor));
  EXPECT_EQ(allocationsOf(call), 0);
  EXPECT_EQ(call.report().numGroups, 1);
}

/// Sorts, and makes an image larger.
static PlanBuilder sortedImage() {
  PlanBuilder plan;
  int32_t scales = plan.constant({2.0f, 3.0f});
  int32_t shifts = plan.constant({0.0f, 0.0f});
  BlockBuilder main = plan.block();
  int32_t two = main.fixed(2);
  int32_t three = main.fixed(3);
  int32_t zero = main.fixed(0);
  int32_t one = main.fixed(1);
  int32_t x = main.input({two, three});
  int32_t sorted = main.arena({two, three});
  main.kernel("Sort", {x}, {sorted}, {one, zero});
  main.kernel("Argsort", {x}, {main.output({two, three}, ElementType::SI32)},
              {one, zero});
  main.kernel(
      "Interpolate",
      {sorted, main.constant(scales, {two}), main.constant(shifts, {two})},
      {main.output({main.fixed(4), main.fixed(9)})}, {zero});
  plan.function("main", main, {"x"});
  return plan;
}

/// Whatever kernels there are: the fast ones, and the portable ones; on one
/// thread, and with work that is handed out to two.
static void expectNone(std::optional<Isa> isa, int threads) {
  std::map<std::string, std::string> plans = compiledPlans();
  plans["sorted image"] = sortedImage().file();
  for (const auto &[name, file] : plans) {
    LoadOptions options = bounded(threads);
    options.isa = isa;
    options.check = false;
    // What a thread has for itself is there once for each.
    options.arenaLimit *= threads;
    auto model = Model::load(std::as_bytes(std::span(file)), options);
    ASSERT_TRUE(model) << name;
    for (const Function &function : (*model)->functions()) {
      Call call(*model, function);
      std::vector<std::vector<double>> memory;
      EXPECT_EQ(setInputs(call, function, memory), "");
      std::vector<State> states;
      for (const Parameter &parameter : function.states())
        states.push_back(
            std::move(*(*model)->createState(parameter, shapeOf(parameter))));
      for (size_t i = 0; i != states.size(); ++i)
        EXPECT_OK(call.setState(function.states()[i].name, states[i]));
      EXPECT_EQ(allocationsOf(call), 0)
          << name << ", " << function.name() << ", " << threads << " threads"
          << (isa ? " with portable kernels" : "");
    }
  }
}

TEST(Allocations, NoneInKernels) {
  for (std::optional<Isa> isa : {std::optional<Isa>(), {Isa::Portable}})
    for (int threads : {1, 2})
      expectNone(isa, threads);
}

TEST(Allocations, NoneWhenAFrameIsBuiltAnew) {
  LoadOptions options;
  options.check = false;
  options.frames = 2;
  std::shared_ptr<Model> model = loaded(straightLine(), options);
  State state = std::move(*model->createState("s"));
  Call call(model, model->functions()[0]);
  EXPECT_OK(call.setState("s", state));
  std::vector<Owned<float>> inputs;
  for (int64_t n = 1; n != 60; ++n)
    inputs.push_back(Owned<float>({n, 3}));
  int64_t total = 0;
  for (const Owned<float> &x : inputs) {
    EXPECT_OK(call.setInput(0, x.tensor));
    int64_t before = allocations;
    EXPECT_OK(call.run());
    total += allocations - before;
  }
  // Memory that grows, by an eighth each time; nothing for each frame.
  EXPECT_LT(total, 100);
}

#endif
