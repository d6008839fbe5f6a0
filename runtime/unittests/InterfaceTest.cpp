// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C interface, and the C++ one over it, as others see them.

#include "Plans.h"
#include "SamplePlans.h"

#include "corten/API/Engine.h"

#include <atomic>
#include <thread>

using corten::runtime::PlanBuilder;

/// The message of an error, which is freed.
static std::string text(CortenError *error) {
  std::string message = error ? cortenErrorMessage(error) : "no error";
  cortenErrorFree(error);
  return message;
}

template <typename T> static std::string text(const corten::Result<T> &result) {
  return result ? "no error" : result.error().message();
}

/// A plan in memory that stays, and an engine of it.
struct Loaded {
  explicit Loaded(const PlanBuilder &plan, corten::LoadOptions options = {})
      : file(plan.file()) {
    options.check = true;
    auto loaded = corten::Engine::load(file.data(), file.size(), options);
    EXPECT_EQ(text(loaded), "no error");
    if (loaded)
      engine.emplace(std::move(*loaded));
  }

  std::string file;
  std::optional<corten::Engine> engine;
};

static std::vector<float> elements(const corten::Tensor &tensor) {
  EXPECT_TRUE(tensor.isContiguous());
  const float *data = tensor.as<float>();
  return data ? std::vector<float>(data, data + tensor.size())
              : std::vector<float>();
}
using Floats = std::vector<float>;

// A plan has its own precision: another is refused, not forgotten.
TEST(Interface, PlansHaveTheirPrecision) {
  std::string file = corten::runtime::straightLine().file();
  corten::LoadOptions options;
  options.precision = "bf16";
  auto loaded = corten::Engine::load(file.data(), file.size(), options);
  EXPECT_NE(text(loaded).find("compile the asset again in bf16"),
            std::string::npos)
      << text(loaded);
}

TEST(Interface, Describes) {
  Loaded loaded(corten::runtime::straightLine());
  ASSERT_TRUE(loaded.engine);
  ASSERT_EQ(loaded.engine->functions().size(), 1u);
  corten::Function main = loaded.engine->functions()[0];
  EXPECT_EQ(main.name(), "main");
  ASSERT_EQ(main.inputs().size(), 1u);
  corten::Parameter x = main.inputs()[0];
  EXPECT_EQ(x.name, "x");
  EXPECT_EQ(x.elementType, CORTEN_F32);
  EXPECT_EQ(x.description, "f32[n, 3]");
  EXPECT_EQ(x.symbols, (std::vector<std::string>{"n", ""}));
  EXPECT_EQ(x.shape[0].size, std::nullopt);
  EXPECT_EQ(x.shape[0].min, 1);
  EXPECT_EQ(x.shape[0].max, 1000);
  EXPECT_EQ(x.shape[1].size, 3);
  EXPECT_EQ(main.states().at(0).name, "s");
  EXPECT_EQ(main.outputs().size(), 1u);
  EXPECT_EQ(text(loaded.engine->function("other")),
            "there is no function 'other'; the model has main");

  const CortenEngine *engine = loaded.engine->c();
  EXPECT_EQ(cortenEngineFunction(engine, 1), nullptr);
  EXPECT_EQ(cortenEngineFindFunction(engine, nullptr), nullptr);
  const CortenFunction *function = cortenEngineFunction(engine, 0);
  EXPECT_EQ(cortenFunctionParameterCount(function, CortenRole(3)), 0u);
  CortenParameter parameter = {};
  parameter.size = sizeof(parameter);
  EXPECT_EQ(
      text(cortenFunctionParameter(function, CORTEN_STATE, 1, &parameter)),
      "function 'main' has 1 parameters of this role, and none with the "
      "number 1");
  EXPECT_STREQ(cortenElementTypeName(CORTEN_BF16), "bf16");
  EXPECT_EQ(cortenElementTypeSize(CORTEN_C64), 8u);
  EXPECT_EQ(cortenElementTypeName(CortenElementType(99)), nullptr);
  EXPECT_EQ(cortenElementTypeSize(CortenElementType(-1)), 0u);
}

TEST(Interface, RunsWithBorrowedMemory) {
  Loaded loaded(corten::runtime::straightLine());
  ASSERT_TRUE(loaded.engine);
  auto call = loaded.engine->call();
  ASSERT_TRUE(call);
  EXPECT_EQ(text(call->output(0)),
            "there are no outputs: the call has not been run, or failed");
  auto state = loaded.engine->createState("s");
  ASSERT_TRUE(state);
  ASSERT_TRUE(call->setState(*state));
  // Columns of a matrix: strides count elements.
  const Floats columns = {1, 10, 2, 20, 3, 30};
  ASSERT_TRUE(call->setInput(
      0, corten::Tensor(CORTEN_F32, columns.data(), {2, 3}, {1, 2})));
  ASSERT_TRUE(call->run());
  auto output = call->output(0);
  ASSERT_TRUE(output);
  EXPECT_EQ(elements(*output), (Floats{2, 0, 6, 11, 18, 33}));
  EXPECT_EQ(output->as<double>(), nullptr);
  EXPECT_EQ(output->shape(), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(output->strides(), (std::vector<std::int64_t>{3, 1}));
  EXPECT_EQ(elements(state->read()), (Floats{11, 22, 33}));

  // One that is kept stays, also without the engine.
  auto kept = call->keepOutput(0);
  ASSERT_TRUE(kept);
  const Floats other = {0, 0, 0};
  ASSERT_TRUE(call->setInput("x", corten::Tensor(other.data(), {1, 3})));
  Floats target(3, -1);
  ASSERT_TRUE(call->setOutput(0, corten::Tensor(target.data(), {1, 3})));
  loaded.engine.reset();
  ASSERT_TRUE(call->run());
  EXPECT_EQ(target, (Floats{1, 0, 3}));
  EXPECT_EQ(call->output(0)->data(), target.data());
  EXPECT_EQ(elements(kept->tensor()), (Floats{2, 0, 6, 11, 18, 33}));
  call->reset();
  EXPECT_EQ(text(call->run()),
            "function 'main' needs the input 'x', f32[n, 3]");
}

TEST(Interface, States) {
  Loaded loaded(corten::runtime::preparedConstants());
  ASSERT_TRUE(loaded.engine);
  auto state = loaded.engine->createState("s", {1, 2});
  ASSERT_TRUE(state);
  auto first = loaded.engine->call("first");
  auto second = loaded.engine->call("second");
  ASSERT_TRUE(first && second);
  const Floats x = {1, 10};
  for (corten::Call *call : {&*first, &*second}) {
    ASSERT_TRUE(call->setInput("x", corten::Tensor(x.data(), {1, 2})));
    ASSERT_TRUE(call->setState("s", *state));
    ASSERT_TRUE(call->run());
  }
  EXPECT_EQ(elements(state->read()), (Floats{0, 0}));
  ASSERT_TRUE(first->run());
  auto fork = state->fork();
  ASSERT_TRUE(fork);
  ASSERT_TRUE(state->reset());
  EXPECT_EQ(elements(fork->read()), (Floats{21, 43}));
  EXPECT_EQ(elements(state->read()), (Floats{0, 0}));
  ASSERT_TRUE(state->write(fork->read()));
  EXPECT_EQ(elements(state->read()), (Floats{21, 43}));
  EXPECT_EQ(fork->name(), "s");
  EXPECT_EQ(text(state->write(corten::Tensor(x.data(), {2}))),
            "the state 's' is f32[1, 2], and cannot become f32[2]");
  // The call keeps what the caller lets go of.
  {
    auto dropped = std::move(*state);
  }
  ASSERT_TRUE(first->run());
  EXPECT_NE(text(loaded.engine->createState("s")), "no error");
  EXPECT_NE(text(loaded.engine->createState("t", {1})), "no error");
}

TEST(Interface, Cancels) {
  Loaded loaded(corten::runtime::straightLine());
  ASSERT_TRUE(loaded.engine);
  auto state = loaded.engine->createState("s");
  auto call = loaded.engine->call();
  const Floats x = {1, 2, 3};
  ASSERT_TRUE(state && call);
  ASSERT_TRUE(call->setInput("x", corten::Tensor(x.data(), {1, 3})));
  ASSERT_TRUE(call->setState(*state));
  call->cancel();
  EXPECT_EQ(text(call->run()), "the call was cancelled");
  EXPECT_TRUE(call->wasCancelled());
  EXPECT_EQ(elements(state->read()), (Floats{0, 0, 0}));
  ASSERT_TRUE(call->run());
  EXPECT_FALSE(call->wasCancelled());
  EXPECT_EQ(elements(state->read()), x);
}

TEST(Interface, Faults) {
  Loaded loaded(corten::runtime::straightLine());
  ASSERT_TRUE(loaded.engine);
  CortenCall *call = nullptr;
  EXPECT_EQ(text(cortenCallCreate(nullptr, &call)),
            "no function to call: the model has none of this name");
  ASSERT_EQ(
      cortenCallCreate(cortenEngineFunction(loaded.engine->c(), 0), &call),
      nullptr);
  EXPECT_EQ(text(cortenCallSetInput(call, nullptr, nullptr)),
            "an input without a name");
  EXPECT_EQ(text(cortenCallSetInput(call, "x", nullptr)),
            "input 'x': no tensor is given");
  float data[3] = {};
  int64_t shape[17] = {3};
  CortenTensor tensor = {
      sizeof(CortenTensor), data, CORTEN_F32, 17, shape, nullptr};
  EXPECT_EQ(text(cortenCallSetInputAt(call, 0, &tensor)),
            "input 0: a tensor has at most 16 axes, not 17");
  tensor.rank = 1;
  EXPECT_EQ(text(cortenCallSetInput(call, "x", &tensor)),
            "input 'x' is f32[3], and has to be f32[n, 3]");
  EXPECT_EQ(text(cortenCallSetOutput(call, "z", &tensor)),
            "function 'main' has no output 'z'; it has 'y0'");
  tensor.elementType = CortenElementType(77);
  EXPECT_EQ(text(cortenCallSetOutputAt(call, 0, &tensor)),
            "output 0: there is no element type 77");
  tensor.elementType = CORTEN_F32;
  tensor.shape = nullptr;
  EXPECT_EQ(text(cortenCallSetOutputAt(call, 0, &tensor)),
            "output 0: a tensor without a shape");
  EXPECT_EQ(text(cortenCallSetState(call, "s", nullptr)),
            "a state, or its name, is not given");
  EXPECT_EQ(text(cortenCallOutput(call, 7, &tensor)),
            "there is no output 7: the function has 1");
  cortenCallFree(call);
  cortenCallFree(nullptr);

  EXPECT_EQ(text(corten::Engine::load("model.aimodel/")),
            "model.aimodel: the runtime alone loads plans: make one with "
            "`corten compile`, or link libcorten");
  corten::LoadOptions withWeights;
  withWeights.weights = "weights";
  EXPECT_EQ(text(corten::Engine::load("model.cplan", withWeights)),
            "model.cplan is a plan, which has its own weights: only NAME.pt2 "
            "takes them from a folder");
  corten::LoadOptions fewerThanNone;
  fewerThanNone.threads = -1;
  for (const auto &refused :
       {corten::Engine::load("model.cplan", fewerThanNone),
        corten::Engine::load(loaded.file.data(), loaded.file.size(),
                             fewerThanNone)})
    EXPECT_EQ(text(refused), "threads is -1: want how many work on a call, or "
                             "0 for as many as may run");
  EXPECT_EQ(text(corten::Engine::load("no\xffwhere.cplan"))
                .rfind("no\xef\xbf\xbdwhere.cplan: ", 0),
            0u);
  EXPECT_NE(text(corten::Engine::load(data, sizeof(data))), "no error");
  EXPECT_EQ(text(corten::Engine::load(nullptr, 0)), "no bytes of a plan");
}

/// Callers of an older release have smaller structures.
TEST(Interface, LeavesUnknownMembersAlone) {
  Loaded loaded(corten::runtime::straightLine());
  ASSERT_TRUE(loaded.engine);
  CortenParameter parameter = {};
  parameter.size = offsetof(CortenParameter, rank);
  parameter.rank = 77;
  ASSERT_EQ(cortenFunctionParameter(cortenEngineFunction(loaded.engine->c(), 0),
                                    CORTEN_INPUT, 0, &parameter),
            nullptr);
  EXPECT_STREQ(parameter.name, "x");
  EXPECT_EQ(parameter.rank, 77u);
}

TEST(Interface, ManyThreads) {
  Loaded loaded(corten::runtime::straightLine());
  ASSERT_TRUE(loaded.engine);
  auto shared = loaded.engine->createState("s");
  ASSERT_TRUE(shared);
  std::atomic<int> wrong = 0;
  std::atomic<int> ran = 0;
  auto work = [&](int rows) {
    auto call = loaded.engine->call();
    auto own = loaded.engine->createState("s");
    Floats x(size_t(rows) * 3, float(rows));
    if (!call->setInput("x", corten::Tensor(x.data(), {rows, 3})))
      ++wrong;
    for (int i = 0; i != 50; ++i) {
      // Somebody else may have it: then it is an error, and nothing else.
      if (!call->setState(*shared))
        ++wrong;
      if (call->run())
        ++ran;
      if (!call->setState(*own) || !call->run() ||
          elements(*call->output(0))[2] != float(rows + 3))
        ++wrong;
    }
    if (elements(own->read())[0] != 50.0f * float(rows * rows))
      ++wrong;
  };
  std::vector<std::thread> threads;
  for (int rows = 1; rows != 5; ++rows)
    threads.emplace_back(work, rows);
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(ran, 0);
}
