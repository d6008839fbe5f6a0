// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tables in text.

#ifndef CORTEN_SUPPORT_TABLE_H
#define CORTEN_SUPPORT_TABLE_H

#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace corten {

/// How many columns the terminal has that `out` goes to: as COLUMNS says, or
/// the terminal itself; 0 if it goes elsewhere.
size_t terminalWidth(const llvm::raw_ostream &out);

/// Columns as wide as their longest cell, unless a terminal is narrower: there
/// cells go on in further lines. A column is aligned to the right if
/// its title begins with '>', which is not printed.
class Table {
public:
  explicit Table(std::vector<std::string> titles) : titles(std::move(titles)) {}

  void add(std::vector<std::string> row) { rows.push_back(std::move(row)); }

  /// With lines around the cells.
  void print(llvm::raw_ostream &out, unsigned indent) const;
  /// Columns side by side and a line below the titles.
  void printPlain(llvm::raw_ostream &out, unsigned indent) const;
  /// The same without the titles.
  void printRows(llvm::raw_ostream &out, unsigned indent) const;

private:
  void printSideBySide(llvm::raw_ostream &out, unsigned indent,
                       bool withTitles) const;
  std::vector<size_t> widths() const;
  std::vector<size_t> fittedWidths(const llvm::raw_ostream &out,
                                   size_t taken) const;

  std::vector<std::string> titles;
  std::vector<std::vector<std::string>> rows;
};

} // namespace corten

#endif // CORTEN_SUPPORT_TABLE_H
