// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "StepTimes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace corten;
using namespace corten::tool;
using runtime::StepEvent;
using runtime::Tensor;

runtime::StepObserver StepCollector::observer() {
  return [this](const StepEvent &event) { observe(event); };
}

size_t StepCollector::placeOf(const StepEvent &event) {
  auto [place, isNew] = places.try_emplace(event.identity, list.size());
  if (isNew) {
    StepTimes &step = list.emplace_back();
    step.kernel = event.step;
    step.variant = event.variant;
    step.location = event.location;
    step.module = event.module;
    step.operations.assign(event.operations.begin(), event.operations.end());
    step.depth = event.depth;
  }
  return place->second;
}

void StepCollector::observe(const StepEvent &event) {
  size_t place = placeOf(event);
  auto depth = size_t(event.depth);
  inside.resize(std::max(inside.size(), depth + 2));
  StepTimes &step = list[place];
  step.nanoseconds += event.nanoseconds - inside[depth + 1];
  inside[depth + 1] = 0;
  inside[depth] += event.nanoseconds;
  ++step.runs;
  step.arithmetic += event.arithmetic;
  step.bytes += double(event.bytes());
  step.shapes = llvm::join(
      llvm::map_range(event.outputs,
                      [](const Tensor &tensor) { return tensor.describe(); }),
      ", ");
  if (!isTraced)
    return;
  double end =
      std::chrono::duration<double, std::micro>(Clock::now() - origin).count();
  double duration = double(event.nanoseconds) / 1000;
  events.push_back({place, end - duration, duration});
}

void StepCollector::beginCall(bool isTracedCall) {
  isTraced = isTracedCall;
  inside.assign(inside.size(), 0);
  callStart = Clock::now();
}

void StepCollector::endCall() {
  total += (Clock::now() - callStart) / std::chrono::nanoseconds(1);
  ++calls;
}

llvm::json::Value StepCollector::overlay() const {
  std::map<uint64_t, double> times;
  for (const StepTimes &step : list)
    for (uint64_t operation : step.operations)
      times[operation] += double(step.nanoseconds) / 1e6 / double(calls) /
                          double(step.operations.size());
  llvm::json::Object object;
  for (auto [operation, time] : times)
    object[std::to_string(operation)] = time;
  return llvm::json::Object{{"times", std::move(object)}};
}

llvm::json::Value StepCollector::trace() const {
  llvm::json::Array array;
  for (const Event &event : events) {
    const StepTimes &step = list[event.step];
    llvm::json::Object details{{"result", step.shapes}};
    for (auto [key, text] :
         {std::pair("variant", &step.variant),
          std::pair("module", &step.module), std::pair("line", &step.location)})
      if (!text->empty())
        details[key] = *text;
    array.push_back(llvm::json::Object{{"name", step.kernel},
                                       {"cat", step.module},
                                       {"ph", "X"},
                                       {"pid", 1},
                                       {"tid", 1},
                                       {"ts", event.start},
                                       {"dur", event.duration},
                                       {"args", std::move(details)}});
  }
  return llvm::json::Object{{"displayTimeUnit", "ms"},
                            {"traceEvents", std::move(array)}};
}
