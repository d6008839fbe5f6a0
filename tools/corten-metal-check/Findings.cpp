// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Findings.h"

#include <algorithm>

using namespace corten::check;

/// Beyond that many different ones nobody reads on.
static constexpr size_t kLimit = 40;

void Findings::add(Finding finding) {
  auto same = std::ranges::find_if(all, [&](const Finding &other) {
    return other.kind == finding.kind && other.buffer == finding.buffer &&
           other.pc == finding.pc && other.line == finding.line &&
           other.column == finding.column && other.file == finding.file;
  });
  if (same != all.end())
    same->count += isCounting;
  else if (all.size() < kLimit)
    all.push_back(std::move(finding));
}

static void printText(std::FILE *out, const std::string &text) {
  std::fputc('"', out);
  for (char c : text) {
    if (c == '"' || c == '\\')
      std::fprintf(out, "\\%c", c);
    else if (static_cast<unsigned char>(c) < 0x20)
      std::fprintf(out, "\\u%04x", c);
    else
      std::fputc(c, out);
  }
  std::fputc('"', out);
}

void Findings::print(std::FILE *out, uintptr_t base) const {
  std::fputc('[', out);
  const char *separator = "";
  for (const Finding &finding : all) {
    std::fprintf(out, "%s{\"kind\": ", separator);
    separator = ",\n";
    printText(out, finding.kind);
    std::fprintf(out, ", \"buffer\": ");
    printText(out, finding.buffer);
    std::fprintf(out, ", \"message\": ");
    printText(out, finding.message);
    std::fprintf(out, ", \"file\": ");
    printText(out, finding.file);
    // The address after a call is in the next line of the source, perhaps.
    std::fprintf(out, ", \"line\": %u, \"column\": %u, \"pc\": %lu",
                 finding.line, finding.column,
                 finding.pc ? static_cast<unsigned long>(finding.pc - base)
                            : 0);
    if (finding.hasThread)
      std::fprintf(out, ", \"thread\": [%u, %u, %u], \"group\": [%u, %u, %u]",
                   finding.thread[0], finding.thread[1], finding.thread[2],
                   finding.group[0], finding.group[1], finding.group[2]);
    std::fprintf(out, ", \"count\": %lu}", finding.count);
  }
  std::fputs("]", out);
}
