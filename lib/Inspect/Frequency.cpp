// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Inspect/Frequency.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <numeric>

using namespace corten;
using llvm::StringRef;
namespace json = llvm::json;

uint64_t OpFrequency::total() const {
  return std::accumulate(
      operations.begin(), operations.end(), uint64_t{0},
      [](uint64_t sum, const OperationCount &op) { return sum + op.count; });
}

namespace {
/// An op and how often each file has it.
struct Row {
  StringRef name;
  std::vector<uint64_t> counts;

  uint64_t sum() const {
    return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
  }
  int64_t delta() const {
    return static_cast<int64_t>(counts[1]) - static_cast<int64_t>(counts[0]);
  }
};
} // namespace

/// All ops of all files, most frequent first.
static std::vector<Row> rowsOf(const std::vector<OpFrequency> &files) {
  llvm::MapVector<StringRef, std::vector<uint64_t>> table;
  for (auto [i, file] : llvm::enumerate(files))
    for (const OperationCount &op : file.operations) {
      std::vector<uint64_t> &counts = table[op.name];
      counts.resize(files.size());
      counts[i] = op.count;
    }
  std::vector<Row> rows;
  for (auto &[name, counts] : table)
    rows.push_back({name, std::move(counts)});
  llvm::sort(rows, [](const Row &a, const Row &b) {
    uint64_t sumA = a.sum(), sumB = b.sum();
    return std::tie(sumB, a.name) < std::tie(sumA, b.name);
  });
  return rows;
}

json::Object corten::frequencyJson(const std::vector<OpFrequency> &files) {
  auto countsJson = [](const std::vector<OperationCount> &operations) {
    json::Array array;
    for (const OperationCount &op : operations)
      array.push_back(
          json::Object{{"name", json::fixUTF8(op.name)}, {"count", op.count}});
    return array;
  };
  json::Array array;
  for (const OpFrequency &file : files) {
    json::Array composites;
    for (const CompositeInfo &composite : file.composites)
      composites.push_back(
          json::Object{{"name", json::fixUTF8(composite.name)},
                       {"graphs", composite.graphs},
                       {"calls", composite.calls},
                       {"operations", countsJson(composite.operations)}});
    array.push_back(json::Object{{"path", json::fixUTF8(file.path)},
                                 {"total", file.total()},
                                 {"unique", file.operations.size()},
                                 {"operations", countsJson(file.operations)},
                                 {"composites", std::move(composites)}});
  }
  json::Object result{{"files", std::move(array)}};
  if (files.size() == 2) {
    json::Array deltas;
    for (const Row &row : rowsOf(files))
      if (row.delta() != 0)
        deltas.push_back(json::Object{{"name", json::fixUTF8(row.name)},
                                      {"delta", row.delta()}});
    result["delta"] = std::move(deltas);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// For people
//===----------------------------------------------------------------------===//

static constexpr unsigned kNumberWidth = 9;

static void printNumbers(llvm::ArrayRef<uint64_t> numbers,
                         llvm::raw_ostream &os) {
  for (uint64_t number : numbers)
    os << llvm::right_justify(std::to_string(number), kNumberWidth);
  if (numbers.size() != 2)
    return;
  auto delta =
      static_cast<int64_t>(numbers[1]) - static_cast<int64_t>(numbers[0]);
  os << llvm::right_justify((delta > 0 ? "+" : "") + std::to_string(delta),
                            kNumberWidth);
  if (delta != 0)
    os << " *";
}

void corten::printFrequency(const std::vector<OpFrequency> &files,
                            llvm::raw_ostream &os) {
  std::vector<Row> rows = rowsOf(files);
  size_t width = StringRef("unique").size();
  for (const Row &row : rows)
    width = std::max(width, row.name.size());
  if (files.size() > 1) {
    for (auto [i, file] : llvm::enumerate(files))
      os << "model " << i + 1 << ": " << file.path << '\n';
    os << llvm::left_justify("", width);
    for (size_t i = 0; i < files.size(); ++i)
      os << llvm::right_justify("model " + std::to_string(i + 1), kNumberWidth);
    os << (files.size() == 2 ? llvm::right_justify("delta", kNumberWidth)
                             : llvm::right_justify("", 0))
       << '\n';
  }
  auto line = [&](StringRef name, llvm::ArrayRef<uint64_t> numbers) {
    os << llvm::left_justify(name, width);
    printNumbers(numbers, os);
    os << '\n';
  };
  for (const Row &row : rows)
    line(row.name, row.counts);
  std::vector<uint64_t> totals, uniques;
  for (const OpFrequency &file : files) {
    totals.push_back(file.total());
    uniques.push_back(file.operations.size());
  }
  line("total", totals);
  line("unique", uniques);

  for (const OpFrequency &file : files)
    for (const CompositeInfo &composite : file.composites) {
      os << "composite." << composite.name << ": " << composite.calls
         << " calls of " << composite.graphs << " graphs";
      if (files.size() > 1)
        os << " in " << file.path;
      os << '\n';
      for (const OperationCount &op : composite.operations)
        os << "  " << llvm::left_justify(op.name, width)
           << llvm::right_justify(std::to_string(op.count), kNumberWidth)
           << '\n';
    }
}
