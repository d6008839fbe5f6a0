// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/C/Common.h"

#include "corten/C/Handles.h"

#include <string_view>

using namespace corten;

/// How many bytes the character at the start has; 0 if they are none.
static size_t characterLength(std::string_view text) {
  auto at = [&](size_t index) { return uint8_t(text[index]); };
  uint8_t first = at(0);
  if (first < 0x80)
    return 1;
  size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length)
    return 0;
  for (size_t i = 1; i != length; ++i)
    if ((at(i) & 0xc0) != 0x80)
      return 0;
  // Longer than need be, halves of pairs, and beyond the last one.
  uint8_t second = at(1);
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
      (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f))
    return 0;
  return length;
}

CortenError *capi::makeError(std::string_view message) {
  std::string text;
  for (std::string_view rest = message; !rest.empty();) {
    size_t length = characterLength(rest);
    text += length ? rest.substr(0, length) : "\xef\xbf\xbd";
    rest.remove_prefix(std::max<size_t>(length, 1));
  }
  return new CortenError{std::move(text)};
}

const char *cortenVersion(void) { return CORTEN_RUNTIME_VERSION; }

const char *cortenErrorMessage(const CortenError *error) {
  return error->message.c_str();
}

void cortenErrorFree(CortenError *error) { delete error; }
