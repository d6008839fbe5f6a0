// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Compiler/Explanation.h"

#include "Decompression.h"
#include "Fusion.h"

#include "corten/Dialect/DebugInfo/IR/SourceLine.h"
#include "corten/Dialect/Plan/IR/PlanDialect.h"
#include "corten/Support/Table.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace corten;
using namespace mlir;

/// `model.py:12`, or nothing.
static std::string lineOf(Location location) {
  FileLineColRange line = debuginfo::sourceLine(location);
  if (!line)
    return {};
  return (llvm::sys::path::filename(line.getFilename().getValue()) + ":" +
          Twine(line.getStartLine()))
      .str();
}

/// As in `f32[1, ?, 768]`.
static std::string shapeOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  std::string text;
  llvm::raw_string_ostream os(text);
  if (!tensor) {
    os << type;
    return text;
  }
  os << tensor.getElementType() << '[';
  llvm::interleaveComma(tensor.getShape(), os, [&](int64_t extent) {
    if (ShapedType::isDynamic(extent))
      os << '?';
    else
      os << extent;
  });
  os << ']';
  return text;
}

/// The order of the axes in memory where it is not theirs.
static std::string layoutOf(plan::KernelOp op) {
  if (!op.getOrder())
    return {};
  return llvm::join(
      llvm::map_range(*op.getOrder(),
                      [](int64_t axis) { return std::to_string(axis); }),
      " ");
}

/// The instructions that a kernel has, or does besides.
static std::string programOf(plan::KernelOp op) {
  if (op.getProgram().empty())
    return {};
  std::string text;
  for (auto lane : op.getProgram().front().getOps<plan::LaneOp>())
    text += (text.empty() ? "" : " ") + lane.getOpcode().str();
  return text;
}

static void explainFunction(plan::FunctionOp function, llvm::raw_ostream &out) {
  Table kernels({">step", "kernel", "result", "order in memory", "program",
                 ">operations", "line"});
  Table apart({">step", "not fused with", "because"});
  Table expanded({"compressed weights made floats", "line", "because"});
  llvm::DenseMap<Operation *, size_t> numbers;
  size_t numPrepared = 0;
  size_t numPairs = 0, numQuads = 0;
  bool isApart = false, isExpanded = false;
  function.walk([&](plan::KernelOp op) {
    if (op.getPrepared()) {
      ++numPrepared;
      if (auto why = op->getAttrOfType<StringAttr>(kExpandedAttr)) {
        isExpanded = true;
        expanded.add({shapeOf(op.getResult(0).getType()), lineOf(op.getLoc()),
                      why.str()});
      }
      return;
    }
    size_t number = numbers.size();
    numbers[op] = number;
    numPairs += op.getKernel().ends_with("Pairs");
    numQuads += op.getKernel().ends_with("Quads");
    size_t operations = debuginfo::originOf(op.getLoc()).operations.size();
    kernels.add({std::to_string(number), op.getKernel().str(),
                 op.getNumResults() ? shapeOf(op.getResult(0).getType()) : "",
                 layoutOf(op), programOf(op),
                 operations ? std::to_string(operations) : "",
                 lineOf(op.getLoc())});
    for (auto [producer, reason] : whatStayedApart(op)) {
      isApart = true;
      apart.add(
          {std::to_string(number),
           (producer.getKernel() + ", step " + Twine(numbers.lookup(producer)))
               .str(),
           reason});
    }
  });
  out << function.getSymName() << ": " << numbers.size()
      << " kernels in a call, " << numPrepared << " when the plan is loaded\n";
  if (numPairs)
    out << "  products rounded to bf16: " << numPairs << '\n';
  if (numQuads)
    out << "  products quantized to int8: " << numQuads << '\n';
  kernels.printPlain(out, 2);
  if (isApart) {
    out << '\n';
    apart.printPlain(out, 2);
  }
  if (auto misses = function->getAttrOfType<ArrayAttr>(kNearMissesAttr)) {
    Table table({"nearly", "line", "because"});
    for (auto miss : misses.getAsRange<ArrayAttr>())
      table.add({cast<StringAttr>(miss[0]).str(),
                 lineOf(Location(cast<LocationAttr>(miss[2]))),
                 cast<StringAttr>(miss[1]).str()});
    out << '\n';
    table.printPlain(out, 2);
  }
  if (isExpanded) {
    out << '\n';
    expanded.printPlain(out, 2);
  }
}

void corten::explainPlan(ModuleOp plans, const StageTimes &times,
                         llvm::raw_ostream &out) {
  for (auto function : plans.getOps<plan::FunctionOp>()) {
    explainFunction(function, out);
    out << '\n';
  }
  Table stages({"stage", ">ms"});
  for (const auto &[name, milliseconds] : times)
    stages.add({name, llvm::formatv("{0:F2}", milliseconds)});
  stages.printPlain(out, 2);
}
