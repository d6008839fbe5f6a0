// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// states PLAN: a function with one state of floats and one input of ones is
// called twice, its state is forked, and both go on by themselves.

#include "corten/API/Engine.h"

#include <iostream>

static int fail(const corten::Error &error) {
  std::cerr << "states: " << error.message() << '\n';
  return 2;
}

/// Runs the call with a state, and prints the first element of its result.
static corten::Status step(corten::Call &call, const corten::State &state,
                           const char *who) {
  if (corten::Status set = call.setState(state); !set)
    return set;
  if (corten::Status run = call.run(); !run)
    return run;
  corten::Result<corten::Tensor> result = call.output(0);
  if (!result)
    return result.error();
  if (const float *elements = result->as<float>())
    std::cout << who << ' ' << elements[0] << '\n';
  return std::monostate();
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::cerr << "usage: states PLAN\n";
    return 2;
  }
  corten::Result<corten::Engine> engine = corten::Engine::load(argv[1]);
  if (!engine)
    return fail(engine.error());
  corten::Result<corten::Call> call = engine->call();
  if (!call)
    return fail(call.error());
  corten::Function main = engine->functions().front();
  corten::Parameter input = main.inputs().at(0);
  std::vector<std::int64_t> shape;
  std::size_t size = 1;
  for (const corten::Dimension &dim : input.shape) {
    shape.push_back(dim.size.value_or(1));
    size *= static_cast<std::size_t>(shape.back());
  }
  std::vector<float> ones(size, 1.0f);
  if (corten::Status set =
          call->setInput(input.name, corten::Tensor(ones.data(), shape));
      !set)
    return fail(set.error());
  corten::Result<corten::State> state =
      engine->createState(main.states().at(0).name);
  if (!state)
    return fail(state.error());
  for (int i = 0; i < 2; ++i)
    if (corten::Status done = step(*call, *state, "first"); !done)
      return fail(done.error());
  corten::Result<corten::State> fork = state->fork();
  if (!fork)
    return fail(fork.error());
  if (corten::Status reset = state->reset(); !reset)
    return fail(reset.error());
  if (corten::Status done = step(*call, *state, "reset"); !done)
    return fail(done.error());
  if (corten::Status done = step(*call, *fork, "fork"); !done)
    return fail(done.error());
  return 0;
}
