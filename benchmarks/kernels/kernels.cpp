// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How fast kernels of the runtime are, against what the
// machine can do, measured in the same run: a line of JSON for each.
//
//   corten-bench-kernels [--threads 1,2] [--isa avx2] [--filter conv]
//                        [--seconds 0.3]

#include "Case.h"
#include "MemoryCase.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <sstream>

using namespace corten;
using namespace corten::runtime;
using namespace corten::benchmarks;

static Options parse(int argc, char **argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    std::string name = argv[i], value = argv[i + 1];
    if (name == "--threads") {
      options.threads.clear();
      std::stringstream list(value);
      for (std::string part; std::getline(list, part, ',');)
        options.threads.push_back(std::stoi(part));
    } else if (name == "--isa") {
      for (Isa isa : knownIsas())
        if (corten::runtime::name(isa) == value && isa <= detectedIsa())
          options.isa = isa;
    } else if (name == "--filter") {
      options.filter = value;
    } else if (name == "--seconds") {
      options.seconds = std::stod(value);
    }
  }
  return options;
}

int main(int argc, char **argv) {
  Options options = parse(argc, argv);
  std::vector<Case> cases = products();
  for (const auto &family : {convolutions(), sequences()})
    std::ranges::copy(family, std::back_inserter(cases));
  std::vector<MemoryCase> memoryCases = rowCases();
  for (const auto &family :
       {indexCases(), elementCases(), maskCases(), imageCases()})
    std::ranges::copy(family, std::back_inserter(memoryCases));
  for (int threads : options.threads) {
    std::shared_ptr<ThreadPool> pool = ThreadPool::shared(threads);
    double peak = measurePeak(options.isa, *pool);
    double reading = measureReading(*pool);
    std::printf("{\"machine\": \"%s\", \"isa\": \"%s\", \"threads\": %d, "
                "\"peak_gflops\": %.1f, \"read_gbs\": %.1f}\n",
                machine().c_str(), std::string(name(options.isa)).c_str(),
                threads, peak, reading);
    for (const Case &test : cases) {
      if (test.name.find(options.filter) == std::string::npos)
        continue;
      // Other guests of the machine come and go.
      peak = measurePeak(options.isa, *pool, test.kernel);
      Result result = measure(test, options, *pool);
      if (!result.variant)
        continue;
      double gflops = 2 * test.multiplications / result.seconds * 1e-9;
      double rate = result.weightBytes / result.seconds * 1e-9;
      std::printf("{\"name\": \"%s\", \"variant\": \"%s\", \"threads\": %d, "
                  "\"us\": %.1f, \"gflops\": %.1f, \"peak_gflops\": %.1f, "
                  "\"of_peak\": %.2f, "
                  "\"weights_gbs\": %.1f, \"of_reading\": %.2f}\n",
                  test.name.c_str(), std::string(result.variant->name).c_str(),
                  threads, result.seconds * 1e6, gflops, peak,
                  peak ? gflops / peak : 0, rate, rate / reading);
      std::fflush(stdout);
    }
    for (const MemoryCase &test : memoryCases) {
      if (test.name.find(options.filter) == std::string::npos)
        continue;
      reading = measureReading(*pool);
      MemoryResult result = measure(test, options, *pool);
      double rate = test.bytes / result.seconds * 1e-9;
      std::printf("{\"name\": \"%s\", \"variant\": \"%s\", \"threads\": %d, "
                  "\"us\": %.1f, \"gbs\": %.2f, \"read_gbs\": %.1f, "
                  "\"of_reading\": %.3f}\n",
                  test.name.c_str(), result.name.c_str(), threads,
                  result.seconds * 1e6, rate, reading, rate / reading);
      std::fflush(stdout);
    }
  }
}
