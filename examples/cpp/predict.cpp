// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// predict MODEL: compiles an asset or a NAME.pt2, runs it on ones and says what
// comes out.

#include "corten/API/Engine.h"

#include <algorithm>
#include <iostream>

static int fail(const corten::Error &error) {
  std::cerr << "predict: " << error.message() << '\n';
  return 2;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::cerr << "usage: predict MODEL\n";
    return 2;
  }
  corten::Result<corten::Engine> engine = corten::Engine::load(argv[1]);
  if (!engine)
    return fail(engine.error());
  for (const std::string &warning : engine->warnings())
    std::cerr << "predict: " << warning << '\n';
  corten::Result<corten::Function> main = engine->function("main");
  if (!main)
    return fail(main.error());
  corten::Result<corten::Call> call = engine->call("main");
  if (!call)
    return fail(call.error());
  // The memory of inputs is ours.
  std::vector<std::vector<float>> memory;
  for (const corten::Parameter &input : main->inputs()) {
    if (input.elementType != CORTEN_F32)
      return fail(corten::Error("input " + input.name + " is " +
                                input.description + ", not of floats"));
    std::vector<std::int64_t> shape;
    std::size_t size = 1;
    for (const corten::Dimension &dim : input.shape) {
      shape.push_back(
          dim.size.value_or(std::max<std::int64_t>(dim.min.value_or(1), 1)));
      size *= static_cast<std::size_t>(shape.back());
    }
    memory.emplace_back(size, 1.0f);
    corten::Tensor ones(memory.back().data(), shape);
    if (corten::Status set = call->setInput(input.name, ones); !set)
      return fail(set.error());
  }
  for (const corten::Parameter &parameter : main->states()) {
    corten::Result<corten::State> state = engine->createState(parameter.name);
    if (!state)
      return fail(state.error());
    // The call keeps it.
    if (corten::Status set = call->setState(*state); !set)
      return fail(set.error());
  }
  if (corten::Status run = call->run(); !run)
    return fail(run.error());
  std::size_t number = 0;
  for (const corten::Parameter &output : main->outputs()) {
    corten::Result<corten::Tensor> result = call->output(number++);
    if (!result)
      return fail(result.error());
    std::cout << output.name << ": " << result->size() << " of "
              << cortenElementTypeName(result->elementType()) << '\n';
  }
  return 0;
}
