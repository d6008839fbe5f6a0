// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Inspect/OpCount.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Dialect/DebugInfo/IR/DebugInfoDialect.h"
#include "corten/Program/Program.h"
#include "corten/Support/Table.h"

#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <tuple>

using namespace corten;
using namespace mlir;

using Counter = std::map<std::string, size_t>;

static size_t sum(llvm::ArrayRef<OpCount> ops) {
  size_t total = 0;
  for (const OpCount &op : ops)
    total += op.count;
  return total;
}

size_t OpCounts::Composite::total() const { return sum(ops); }

size_t OpCounts::total() const { return sum(ops); }

static std::vector<OpCount> sorted(const Counter &counter) {
  std::vector<OpCount> result;
  for (const auto &[name, count] : counter)
    result.push_back({name, count});
  llvm::sort(result, [](const OpCount &lhs, const OpCount &rhs) {
    return std::tie(rhs.count, lhs.name) < std::tie(lhs.count, rhs.name);
  });
  return result;
}

std::vector<OpCount> OpCounts::everywhere() const {
  Counter counter;
  auto add = [&](llvm::ArrayRef<OpCount> counts) {
    for (const OpCount &op : counts)
      counter[op.name] += op.count;
  };
  add(ops);
  for (const Composite &composite : composites)
    add(composite.ops);
  return sorted(counter);
}

std::vector<OpCount> OpCounts::instances() const {
  Counter counter;
  for (const Composite &composite : composites)
    counter[composite.name] = composite.instances;
  return sorted(counter);
}

namespace {
/// A composite while it is counted.
struct CompositeCounter {
  size_t instances = 0;
  size_t calls = 0;
  Counter ops;
};
} // namespace

using CompositeCounters = std::map<std::string, CompositeCounter>;

/// The operations in `graph`, not the graph itself.
static void countIn(coreai::GraphOp graph, const SymbolTable &symbols,
                    CompositeCalls calls, Counter &counter,
                    CompositeCounters &composites) {
  graph.getBodyRegion().walk([&](Operation *op) {
    if (isa_and_present<BuiltinDialect, debuginfo::DebugInfoDialect>(
            op->getDialect()))
      return;
    llvm::StringRef name = op->getName().stripDialect();
    auto invoke = dyn_cast<coreai::InvokeOp>(op);
    SymbolRefAttr callee = invoke ? invoke.getCalleeSymbol() : SymbolRefAttr();
    auto called =
        callee ? symbols.lookup<coreai::GraphOp>(callee.getLeafReference())
               : coreai::GraphOp();
    if (!called || !called.getCompositeDeclAttr()) {
      ++counter[name.str()];
      return;
    }
    std::string composite = called.getCompositeDeclAttr().getName().str();
    ++composites[composite].calls;
    ++counter[calls == CompositeCalls::Collapsed ? "composite." + composite
                                                 : name.str()];
  });
}

OpCounts corten::countOps(ModuleOp module, CompositeCalls calls) {
  SymbolTable symbols(module);
  Counter ops;
  CompositeCounters composites;
  for (auto graph : module.getOps<coreai::GraphOp>()) {
    Counter *counter = &ops;
    if (auto declaration = graph.getCompositeDeclAttr()) {
      CompositeCounter &composite = composites[declaration.getName().str()];
      ++composite.instances;
      counter = &composite.ops;
    }
    countIn(graph, symbols, calls, *counter, composites);
  }
  OpCounts result;
  result.ops = sorted(ops);
  for (const auto &[name, entry] : composites)
    result.composites.push_back(
        {name, entry.instances, entry.calls, sorted(entry.ops)});
  return result;
}

static void countIn(const Graph &graph, Counter &counter) {
  for (const Node *node : graph.nodes) {
    if (node->kind != Node::Kind::Call)
      continue;
    ++counter[node->callee->printedName()];
    for (const Argument &argument : node->arguments)
      if (argument.kind() == Argument::Kind::Graph)
        countIn(*argument.asGraph(), counter);
  }
}

OpCounts corten::countOps(const Program &program) {
  Counter counter;
  countIn(program.main, counter);
  OpCounts result;
  result.ops = sorted(counter);
  return result;
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

static void printTotal(llvm::raw_ostream &out, llvm::ArrayRef<OpCount> ops) {
  out << "Total: " << sum(ops) << " ops  (" << ops.size() << " unique)\n";
}

void corten::printOpCounts(const OpCounts &counts, llvm::raw_ostream &out) {
  auto printOps = [&](llvm::ArrayRef<OpCount> ops, unsigned indent) {
    Table table({"Op", ">Count"});
    for (const OpCount &op : ops)
      table.add({op.name, std::to_string(op.count)});
    table.printPlain(out, indent);
  };
  printOps(counts.ops, 0);
  printTotal(out, counts.ops);
  for (const OpCounts::Composite &composite : counts.composites) {
    out << "\ncomposite." << composite.name << "  (" << composite.instances
        << " instances)\n";
    printOps(composite.ops, 2);
    out << "  ";
    printTotal(out, composite.ops);
    if (composite.instances > 1 && composite.total() % composite.instances == 0)
      out << "  Per instance: " << composite.total() / composite.instances
          << " ops\n";
  }
}

/// The counts of both programs, by name.
static std::map<std::string, std::pair<size_t, size_t>>
together(llvm::ArrayRef<OpCount> first, llvm::ArrayRef<OpCount> second) {
  std::map<std::string, std::pair<size_t, size_t>> result;
  for (const OpCount &op : first)
    result[op.name].first = op.count;
  for (const OpCount &op : second)
    result[op.name].second = op.count;
  return result;
}

static std::string withSign(size_t before, size_t after) {
  auto delta = static_cast<long>(after) - static_cast<long>(before);
  return (delta > 0 ? "+" : "") + std::to_string(delta);
}

static void printSideBySide(llvm::ArrayRef<OpCount> first,
                            llvm::ArrayRef<OpCount> second, unsigned indent,
                            llvm::raw_ostream &out) {
  auto counts = together(first, second);
  std::vector<std::string> names;
  names.reserve(counts.size());
  for (const auto &entry : counts)
    names.push_back(entry.first);
  llvm::sort(names, [&](const auto &lhs, const auto &rhs) {
    auto weight = [&](const std::string &name) {
      auto [before, after] = counts[name];
      return std::max(before, after);
    };
    return std::tuple(weight(rhs), lhs) < std::tuple(weight(lhs), rhs);
  });
  Table table({"Op", ">Model 1", ">Model 2", ">Delta", ""});
  for (const std::string &name : names) {
    auto [before, after] = counts[name];
    table.add({name, std::to_string(before), std::to_string(after),
               withSign(before, after), before == after ? "" : "*"});
  }
  table.add({"Total", std::to_string(sum(first)), std::to_string(sum(second)),
             withSign(sum(first), sum(second)),
             sum(first) == sum(second) ? "" : "*"});
  table.add({"Unique", std::to_string(first.size()),
             std::to_string(second.size()),
             withSign(first.size(), second.size()),
             first.size() == second.size() ? "" : "*"});
  table.printPlain(out, indent);
}

void corten::printOpCounts(const NamedOpCounts &first,
                           const NamedOpCounts &second,
                           llvm::raw_ostream &out) {
  out << "Model 1: " << first.path << "\nModel 2: " << second.path << "\n\n";
  printSideBySide(first.counts.ops, second.counts.ops, 0, out);
  std::map<std::string,
           std::pair<const OpCounts::Composite *, const OpCounts::Composite *>>
      composites;
  for (const OpCounts::Composite &composite : first.counts.composites)
    composites[composite.name].first = &composite;
  for (const OpCounts::Composite &composite : second.counts.composites)
    composites[composite.name].second = &composite;
  for (const auto &[name, pair] : composites) {
    auto instances = [](const OpCounts::Composite *composite) {
      return composite ? composite->instances : 0;
    };
    auto ops = [](const OpCounts::Composite *composite) {
      return composite ? llvm::ArrayRef(composite->ops)
                       : llvm::ArrayRef<OpCount>();
    };
    out << "\ncomposite." << name << "  (" << instances(pair.first) << " and "
        << instances(pair.second) << " instances)\n";
    printSideBySide(ops(pair.first), ops(pair.second), 2, out);
  }
}

static llvm::json::Object toJson(llvm::ArrayRef<OpCount> ops) {
  llvm::json::Object result;
  for (const OpCount &op : ops)
    result[op.name] = op.count;
  return result;
}

llvm::json::Value corten::toJson(const OpCounts &counts) {
  llvm::json::Object composites;
  for (const OpCounts::Composite &composite : counts.composites)
    composites[composite.name] =
        llvm::json::Object{{"instances", composite.instances},
                           {"ops", ::toJson(composite.ops)},
                           {"total", composite.total()}};
  return llvm::json::Object{{"ops", ::toJson(counts.ops)},
                            {"composites", std::move(composites)},
                            {"total", counts.total()},
                            {"unique", counts.ops.size()}};
}
