// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Support/Table.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Unicode.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <numeric>
#include <sys/ioctl.h>
#include <unistd.h>

using namespace corten;

/// In columns of a terminal.
static size_t widthOf(llvm::StringRef text) {
  int width = llvm::sys::unicode::columnWidthUTF8(text);
  // Negative for what cannot be printed.
  return width < 0 ? text.size() : static_cast<size_t>(width);
}

size_t corten::terminalWidth(const llvm::raw_ostream &out) {
  if (!out.is_displayed())
    return 0;
  size_t columns = 0;
  const char *text = std::getenv("COLUMNS");
  if (text && !llvm::StringRef(text).getAsInteger(10, columns) && columns)
    return columns;
  struct winsize size = {};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/// The lines of a cell, broken at blanks where there are some.
static std::vector<llvm::StringRef> wrapped(llvm::StringRef text,
                                            size_t width) {
  if (widthOf(text) <= width)
    return {text};
  std::vector<llvm::StringRef> lines;
  while (!text.empty()) {
    size_t end = 0, blank = 0;
    while (end < text.size()) {
      size_t next = end + 1;
      while (next < text.size() && (text[next] & 0xC0) == 0x80)
        ++next;
      if (end > 0 && widthOf(text.take_front(next)) > width)
        break;
      end = next;
      if (text[end - 1] == ' ')
        blank = end;
    }
    if (end < text.size() && blank > 0)
      end = blank;
    lines.push_back(text.take_front(end).rtrim());
    text = text.drop_front(end);
  }
  return lines;
}

static bool isRightAligned(llvm::StringRef title) {
  return title.starts_with(">");
}

static llvm::StringRef titleText(llvm::StringRef title) {
  title.consume_front(">");
  return title;
}

static std::vector<llvm::StringRef>
textsOf(const std::vector<std::string> &cells) {
  return {cells.begin(), cells.end()};
}

static std::vector<llvm::StringRef>
titleTexts(const std::vector<std::string> &titles) {
  std::vector<llvm::StringRef> result = textsOf(titles);
  llvm::transform(result, result.begin(), titleText);
  return result;
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

/// The widths that fit a terminal; `taken` is what stands around the cells.
std::vector<size_t> Table::fittedWidths(const llvm::raw_ostream &out,
                                        size_t taken) const {
  constexpr size_t kNarrowest = 6;
  std::vector<size_t> result = widths();
  size_t limit = terminalWidth(out);
  size_t total = std::accumulate(result.begin(), result.end(), taken);
  for (; limit && total > limit; --total) {
    auto widest = llvm::max_element(result);
    if (*widest <= kNarrowest)
      break;
    --*widest;
  }
  return result;
}

/// Calls `line` with the cells of each line that a row takes.
static void
forEachLine(llvm::ArrayRef<llvm::StringRef> row,
            const std::vector<size_t> &columns,
            llvm::function_ref<void(llvm::ArrayRef<llvm::StringRef>)> line) {
  std::vector<std::vector<llvm::StringRef>> cells;
  size_t count = 1;
  for (auto [cell, width] : llvm::zip_equal(row, columns)) {
    cells.push_back(wrapped(cell, width));
    count = std::max(count, cells.back().size());
  }
  for (size_t i = 0; i < count; ++i) {
    std::vector<llvm::StringRef> texts;
    texts.reserve(cells.size());
    for (const std::vector<llvm::StringRef> &cell : cells)
      texts.push_back(i < cell.size() ? cell[i] : llvm::StringRef());
    line(texts);
  }
}

void Table::print(llvm::raw_ostream &out, unsigned indent) const {
  std::vector<size_t> columns =
      fittedWidths(out, indent + 3 * titles.size() + 1);
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
  auto line = [&](llvm::ArrayRef<llvm::StringRef> cells) {
    out.indent(indent) << "│";
    for (auto [cell, title, width] : llvm::zip_equal(cells, titles, columns)) {
      out << ' ';
      printCell(out, cell, width, isRightAligned(title));
      out << " │";
    }
    out << "\n";
  };
  rule("┌", "┬", "┐");
  forEachLine(titleTexts(titles), columns, line);
  rule("├", "┼", "┤");
  for (const std::vector<std::string> &row : rows)
    forEachLine(textsOf(row), columns, line);
  rule("└", "┴", "┘");
}

void Table::printSideBySide(llvm::raw_ostream &out, unsigned indent,
                            bool withTitles) const {
  size_t gaps = 2 * (titles.size() - 1);
  std::vector<size_t> columns = fittedWidths(out, indent + gaps);
  auto line = [&](llvm::ArrayRef<llvm::StringRef> cells) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    for (auto [i, cell] : llvm::enumerate(cells)) {
      stream << (i ? "  " : "");
      printCell(stream, cell, columns[i], isRightAligned(titles[i]));
    }
    out.indent(indent) << llvm::StringRef(text).rtrim() << "\n";
  };
  if (withTitles) {
    forEachLine(titleTexts(titles), columns, line);
    size_t total = std::accumulate(columns.begin(), columns.end(), gaps);
    out.indent(indent) << std::string(total, '-') << "\n";
  }
  for (const std::vector<std::string> &row : rows)
    forEachLine(textsOf(row), columns, line);
}

void Table::printPlain(llvm::raw_ostream &out, unsigned indent) const {
  printSideBySide(out, indent, /*withTitles=*/true);
}

void Table::printRows(llvm::raw_ostream &out, unsigned indent) const {
  printSideBySide(out, indent, /*withTitles=*/false);
}
