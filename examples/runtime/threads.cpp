// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// threads PLAN COUNT: one engine, and a call of its own in each of so many
// threads, with the smallest inputs, all zeros. Says whether all saw the same.

#include "corten/API/Engine.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <thread>

/// The bytes of the first output, which is dense.
static corten::Result<std::vector<char>> runOnce(const corten::Engine &engine) {
  corten::Result<corten::Call> call = engine.call();
  if (!call)
    return call.error();
  std::vector<std::vector<char>> memory;
  for (const corten::Parameter &input : engine.functions().front().inputs()) {
    std::vector<std::int64_t> shape;
    std::size_t size = cortenElementTypeSize(input.elementType);
    for (const corten::Dimension &dim : input.shape) {
      shape.push_back(
          dim.size.value_or(std::max<std::int64_t>(dim.min.value_or(1), 1)));
      size *= static_cast<std::size_t>(shape.back());
    }
    memory.emplace_back(size);
    corten::Tensor zeros(input.elementType, memory.back().data(), shape);
    if (corten::Status set = call->setInput(input.name, zeros); !set)
      return set.error();
  }
  for (int i = 0; i < 100; ++i)
    if (corten::Status run = call->run(); !run)
      return run.error();
  corten::Result<corten::Tensor> output = call->output(0);
  if (!output)
    return output.error();
  const char *data = static_cast<const char *>(output->data());
  return std::vector<char>(
      data, data + static_cast<std::size_t>(output->size()) *
                       cortenElementTypeSize(output->elementType()));
}

int main(int argc, char **argv) {
  if (argc != 3) {
    std::cerr << "usage: threads PLAN COUNT\n";
    return 2;
  }
  corten::LoadOptions options;
  options.threads = 1;
  corten::Result<corten::Engine> engine =
      corten::Engine::load(argv[1], options);
  if (!engine) {
    std::cerr << "threads: " << engine.error().message() << '\n';
    return 2;
  }
  std::vector<corten::Result<std::vector<char>>> results(
      static_cast<std::size_t>(std::atoi(argv[2])),
      corten::Error("did not run"));
  std::vector<std::thread> threads;
  for (corten::Result<std::vector<char>> &result : results)
    threads.emplace_back([&] { result = runOnce(*engine); });
  for (std::thread &thread : threads)
    thread.join();
  for (const corten::Result<std::vector<char>> &result : results) {
    if (!result) {
      std::cerr << "threads: " << result.error().message() << '\n';
      return 2;
    }
    if (*result != *results.front()) {
      std::cout << "results differ\n";
      return 1;
    }
  }
  std::cout << results.size() << " threads, one result\n";
  return 0;
}
