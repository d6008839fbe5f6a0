// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parts of descriptions, as JSON and for people, that those of programs and of
// archives share.

#ifndef CORTEN_LIB_INSPECT_INFOTEXT_H
#define CORTEN_LIB_INSPECT_INFOTEXT_H

#include "corten/Inspect/Info.h"
#include "corten/Support/Table.h"

#include "llvm/Support/JSON.h"

#include <utility>

namespace corten {

/// Files hold any bytes as names; JSON wants UTF-8.
llvm::json::Value textJson(llvm::StringRef string);
llvm::json::Array valuesJson(const std::vector<InterfaceValue> &values);
llvm::json::Array countsJson(const std::vector<OpCount> &ops);
llvm::json::Array weightsJson(const std::vector<WeightGroup> &weights);

/// Rows of two columns under a heading.
class Section {
public:
  explicit Section(std::string heading) : heading(std::move(heading)) {}

  void add(std::string left, std::string right);
  /// Nothing at all if there are no rows.
  void print(llvm::raw_ostream &os) const;

private:
  std::string heading;
  Table rows{{"", ""}};
  bool isEmpty = true;
};

/// Inputs, outputs and states, one to a row.
void printInterface(std::string heading, const EntryPointInfo &entry,
                    llvm::raw_ostream &os);
void printOperations(const OpCounts &operations, llvm::raw_ostream &os);
void printWeights(const std::vector<WeightGroup> &weights,
                  llvm::raw_ostream &os);

} // namespace corten

#endif // CORTEN_LIB_INSPECT_INFOTEXT_H
