// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the steps of a model cost, collected call by call, and the forms that
// others read it in.

#ifndef CORTEN_TOOLS_CORTEN_STEPTIMES_H
#define CORTEN_TOOLS_CORTEN_STEPTIMES_H

#include "corten/Runtime/Model.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/JSON.h"

#include <chrono>

namespace corten::tool {

/// One step of a plan, in all calls together.
struct StepTimes {
  std::string kernel;
  std::string variant;
  std::string location;
  std::string module;
  /// The numbers of the operations that it was made of.
  std::vector<uint64_t> operations;
  /// Results, as in `f32[2, 3]`, of the last time.
  std::string shapes;
  int depth = 0;
  int64_t runs = 0;
  /// Of the step alone, without those that it runs.
  int64_t nanoseconds = 0;
  double bytes = 0;
  double arithmetic = 0;
};

class StepCollector {
public:
  using Clock = std::chrono::steady_clock;

  /// What to give to a call. The collector must live as long.
  runtime::StepObserver observer();

  /// Around a call: steps outside are not counted.
  void beginCall(bool isTraced);
  void endCall();

  /// In the order in which they were first seen.
  llvm::ArrayRef<StepTimes> steps() const { return list; }
  int64_t numCalls() const { return calls; }
  /// Of whole calls.
  int64_t nanoseconds() const { return total; }

  /// {"times": {"131": 0.8}}: milliseconds of a call by operation, as `corten
  /// view` takes them. Those of one step share its time.
  llvm::json::Value overlay() const;
  /// As Chrome, Perfetto and Speedscope read it: the calls that were traced.
  llvm::json::Value trace() const;

private:
  struct Event {
    size_t step;
    double start;
    double duration;
  };
  void observe(const runtime::StepEvent &event);
  size_t placeOf(const runtime::StepEvent &event);

  llvm::DenseMap<const void *, size_t> places;
  std::vector<StepTimes> list;
  /// By depth: what steps took that the next one around them has run.
  std::vector<int64_t> inside;
  std::vector<Event> events;
  Clock::time_point origin = Clock::now();
  Clock::time_point callStart;
  int64_t calls = 0;
  int64_t total = 0;
  bool isTraced = false;
};

} // namespace corten::tool

#endif // CORTEN_TOOLS_CORTEN_STEPTIMES_H
