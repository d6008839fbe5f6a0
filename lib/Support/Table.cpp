// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Support/Table.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Unicode.h"
#include "llvm/Support/raw_ostream.h"

using namespace corten;

/// In columns of a terminal.
static size_t widthOf(llvm::StringRef text) {
  int width = llvm::sys::unicode::columnWidthUTF8(text);
  // Negative for what cannot be printed.
  return width < 0 ? text.size() : static_cast<size_t>(width);
}

static bool isRightAligned(llvm::StringRef title) {
  return title.starts_with(">");
}

static llvm::StringRef titleText(llvm::StringRef title) {
  title.consume_front(">");
  return title;
}

static void printCell(llvm::raw_ostream &out, llvm::StringRef text,
                      size_t width, bool right) {
  size_t padding = width - widthOf(text);
  if (right)
    out.indent(padding) << text;
  else
    (out << text).indent(padding);
}

std::vector<size_t> Table::widths() const {
  std::vector<size_t> result;
  result.reserve(titles.size());
  for (const std::string &title : titles)
    result.push_back(widthOf(titleText(title)));
  for (const std::vector<std::string> &row : rows)
    for (auto [width, cell] : llvm::zip_equal(result, row))
      width = std::max(width, widthOf(cell));
  return result;
}

void Table::print(llvm::raw_ostream &out, unsigned indent) const {
  std::vector<size_t> columns = widths();
  auto rule = [&](llvm::StringRef left, llvm::StringRef cross,
                  llvm::StringRef right) {
    out.indent(indent);
    for (auto [i, width] : llvm::enumerate(columns)) {
      out << (i ? cross : left);
      for (size_t j = 0; j < width + 2; ++j)
        out << "─";
    }
    out << right << "\n";
  };
  auto line = [&](const std::vector<std::string> &cells, bool isTitle) {
    out.indent(indent) << "│";
    for (auto [cell, title, width] : llvm::zip_equal(cells, titles, columns)) {
      out << ' ';
      printCell(out, isTitle ? titleText(cell) : llvm::StringRef(cell), width,
                isRightAligned(title));
      out << " │";
    }
    out << "\n";
  };
  rule("┌", "┬", "┐");
  line(titles, /*isTitle=*/true);
  rule("├", "┼", "┤");
  for (const std::vector<std::string> &row : rows)
    line(row, /*isTitle=*/false);
  rule("└", "┴", "┘");
}

void Table::printPlain(llvm::raw_ostream &out, unsigned indent) const {
  std::vector<size_t> columns = widths();
  auto line = [&](const std::vector<std::string> &cells, bool isTitle) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    for (auto [i, cell] : llvm::enumerate(cells)) {
      stream << (i ? "  " : "");
      printCell(stream, isTitle ? titleText(cell) : llvm::StringRef(cell),
                columns[i], isRightAligned(titles[i]));
    }
    out.indent(indent) << llvm::StringRef(text).rtrim() << "\n";
  };
  line(titles, /*isTitle=*/true);
  size_t total = 2 * (columns.size() - 1);
  for (size_t width : columns)
    total += width;
  out.indent(indent) << std::string(total, '-') << "\n";
  for (const std::vector<std::string> &row : rows)
    line(row, /*isTitle=*/false);
}
