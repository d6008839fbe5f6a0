// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Json.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

#include <array>
#include <limits>

using namespace corten::pt2;
using llvm::StringRef;
using Kind = JsonValue::Kind;

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

namespace corten::pt2 {
/// Walks over the text once. Containers that are open stand on a stack of its
/// own.
class JsonParser {
public:
  explicit JsonParser(JsonDocument &document)
      : document(document), text(document.text) {}

  llvm::Error run() {
    do {
      if (llvm::Error error = parseValue())
        return error;
      // What may follow a value depends on what it stands in.
      while (!open.empty()) {
        skipSpace();
        Container &container = open.back();
        if (consume(container.isObject ? '}' : ']')) {
          close();
          continue;
        }
        if (!container.isEmpty && !consume(','))
          return fail(container.isObject ? "',' or '}' expected"
                                         : "',' or ']' expected");
        container.isEmpty = false;
        if (!container.isObject)
          break;
        if (llvm::Error error = parseKey())
          return error;
        break;
      }
    } while (!open.empty());
    skipSpace();
    if (position != text.size())
      return fail("text behind the end of the document");
    return llvm::Error::success();
  }

private:
  struct Container {
    uint32_t entry;
    bool isObject;
    bool isEmpty;
  };

  llvm::Error fail(const llvm::Twine &what) const {
    return llvm::createStringError("JSON: " + what + " at byte " +
                                   llvm::Twine(position));
  }

  void skipSpace() {
    while (position < text.size() &&
           (text[position] == ' ' || text[position] == '\n' ||
            text[position] == '\r' || text[position] == '\t'))
      ++position;
  }
  bool consume(char wanted) {
    if (position == text.size() || text[position] != wanted)
      return false;
    ++position;
    return true;
  }

  void add(Kind kind, size_t begin, size_t extent, bool isEscaped = false) {
    document.entries.push_back({static_cast<uint32_t>(begin),
                                static_cast<uint32_t>(extent), kind,
                                isEscaped});
  }
  void close() {
    document.entries[open.back().entry].extent =
        static_cast<uint32_t>(document.entries.size());
    open.pop_back();
  }

  llvm::Error parseKey() {
    skipSpace();
    if (!consume('"'))
      return fail("the name of a member expected");
    if (llvm::Error error = parseString())
      return error;
    skipSpace();
    if (!consume(':'))
      return fail("':' expected");
    return llvm::Error::success();
  }

  llvm::Error parseValue() {
    skipSpace();
    if (position == text.size())
      return fail("the text ends where a value is expected");
    switch (char c = text[position]) {
    case '{':
    case '[':
      if (open.size() == JsonDocument::kMaxDepth)
        return fail("nested more than " + llvm::Twine(JsonDocument::kMaxDepth) +
                    " deep");
      open.push_back({static_cast<uint32_t>(document.entries.size()), c == '{',
                      /*isEmpty=*/true});
      add(c == '{' ? Kind::Object : Kind::Array, position, 0);
      ++position;
      return llvm::Error::success();
    case '"':
      ++position;
      return parseString();
    case 't':
      return parseWord("true", Kind::True);
    case 'f':
      return parseWord("false", Kind::False);
    case 'n':
      return parseWord("null", Kind::Null);
    default:
      return parseNumber();
    }
  }

  llvm::Error parseWord(StringRef word, Kind kind) {
    if (!text.substr(position).starts_with(word))
      return fail("a value expected");
    add(kind, position, word.size());
    position += word.size();
    return llvm::Error::success();
  }

  llvm::Error parseNumber() {
    size_t begin = position;
    auto digits = [&] {
      size_t first = position;
      while (position < text.size() && llvm::isDigit(text[position]))
        ++position;
      return position > first;
    };
    consume('-');
    bool isValid = digits();
    if (isValid && consume('.'))
      isValid = digits();
    if (isValid && (consume('e') || consume('E'))) {
      if (!consume('+'))
        consume('-');
      isValid = digits();
    }
    if (!isValid) {
      position = begin;
      return fail("a value expected");
    }
    add(Kind::Number, begin, position - begin);
    return llvm::Error::success();
  }

  /// From behind the opening quote.
  llvm::Error parseString() {
    // Bytes at which a scan has to look: quote, backslash, control characters.
    static constexpr std::array<bool, 256> kIsSpecial = [] {
      std::array<bool, 256> table{};
      for (unsigned c = 0; c < 0x20; ++c)
        table[c] = true;
      table['"'] = table['\\'] = true;
      return table;
    }();
    size_t begin = position;
    bool isEscaped = false;
    for (;;) {
      while (position < text.size() &&
             !kIsSpecial[static_cast<unsigned char>(text[position])])
        ++position;
      if (position == text.size())
        return fail("the text ends in a string");
      char c = text[position++];
      if (c == '"')
        break;
      if (c != '\\') {
        --position;
        return fail("a control character in a string");
      }
      isEscaped = true;
      if (llvm::Error error = parseEscape())
        return error;
    }
    add(Kind::String, begin, position - 1 - begin, isEscaped);
    return llvm::Error::success();
  }

  /// From behind the backslash.
  llvm::Error parseEscape() {
    if (position == text.size())
      return fail("the text ends in a string");
    char c = text[position++];
    if (StringRef("\"\\/bfnrt").contains(c))
      return llvm::Error::success();
    StringRef hex = text.substr(position, 4);
    if (c != 'u' || hex.size() != 4 || !llvm::all_of(hex, llvm::isHexDigit))
      return fail("an unknown escape in a string");
    position += 4;
    return llvm::Error::success();
  }

  JsonDocument &document;
  StringRef text;
  size_t position = 0;
  llvm::SmallVector<Container> open;
};
} // namespace corten::pt2

llvm::Expected<JsonDocument> JsonDocument::parse(StringRef text) {
  if (text.size() > std::numeric_limits<uint32_t>::max())
    return llvm::createStringError("JSON: more than four gigabytes of text");
  JsonDocument document;
  document.text = text;
  // What torch writes has one value in about twenty bytes.
  document.entries.reserve(text.size() / 16 + 1);
  if (llvm::Error error = JsonParser(document).run())
    return error;
  return document;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

uint32_t JsonDocument::next(uint32_t index) const {
  const Entry &entry = entries[index];
  bool isContainer = entry.kind == Kind::Array || entry.kind == Kind::Object;
  return isContainer ? entry.extent : index + 1;
}

static void appendCodePoint(std::string &out, unsigned codePoint) {
  std::array<char, UNI_MAX_UTF8_BYTES_PER_CODE_POINT> buffer;
  constexpr unsigned kReplacement = 0xFFFD;
  char *end = buffer.data();
  // Half of a surrogate pair has no UTF-8.
  if (!llvm::ConvertCodePointToUTF8(codePoint, end))
    llvm::ConvertCodePointToUTF8(kReplacement, end);
  out.append(buffer.data(), end);
}

/// Four hexadecimal digits, which the parser has seen.
static unsigned hexDigits(StringRef digits) {
  unsigned value = 0;
  for (char c : digits.take_front(4))
    value = value * 16 + llvm::hexDigitValue(c);
  return value;
}

std::string JsonDocument::decode(const Entry &entry) const {
  StringRef rest = textOf(entry);
  if (!entry.isEscaped)
    return rest.str();
  std::string result;
  result.reserve(rest.size());
  for (;;) {
    size_t plain = std::min(rest.find('\\'), rest.size());
    result += rest.take_front(plain);
    rest = rest.drop_front(plain);
    if (rest.empty())
      return result;
    char c = rest[1];
    rest = rest.drop_front(2);
    switch (c) {
    case 'b':
      result += '\b';
      break;
    case 'f':
      result += '\f';
      break;
    case 'n':
      result += '\n';
      break;
    case 'r':
      result += '\r';
      break;
    case 't':
      result += '\t';
      break;
    case 'u': {
      unsigned codePoint = hexDigits(rest);
      rest = rest.drop_front(4);
      if (codePoint >= 0xD800 && codePoint < 0xDC00 &&
          rest.starts_with("\\u")) {
        unsigned low = hexDigits(rest.drop_front(2));
        if (low >= 0xDC00 && low < 0xE000) {
          codePoint = 0x10000 + ((codePoint - 0xD800) << 10) + (low - 0xDC00);
          rest = rest.drop_front(6);
        }
      }
      appendCodePoint(result, codePoint);
      break;
    }
    default:
      result += c;
    }
  }
}

Kind JsonValue::kind() const {
  return document ? document->entries[index].kind : Kind::Null;
}

std::optional<bool> JsonValue::boolean() const {
  if (kind() == Kind::True)
    return true;
  if (kind() == Kind::False)
    return false;
  return std::nullopt;
}

std::optional<int64_t> JsonValue::integer() const {
  int64_t value = 0;
  if (kind() != Kind::Number ||
      document->textOf(document->entries[index]).getAsInteger(10, value))
    return std::nullopt;
  return value;
}

std::optional<double> JsonValue::number() const {
  if (isString("Infinity"))
    return std::numeric_limits<double>::infinity();
  if (isString("-Infinity"))
    return -std::numeric_limits<double>::infinity();
  if (isString("NaN"))
    return std::numeric_limits<double>::quiet_NaN();
  double value = 0;
  // Numbers beyond the largest double are infinite, as in Python.
  if (kind() != Kind::Number || document->textOf(document->entries[index])
                                    .getAsDouble(value, /*AllowInexact=*/true))
    return std::nullopt;
  return value;
}

std::optional<std::string> JsonValue::string() const {
  if (!isString())
    return std::nullopt;
  return document->decode(document->entries[index]);
}

bool JsonValue::isString(StringRef wanted) const {
  if (!isString())
    return false;
  const JsonDocument::Entry &entry = document->entries[index];
  return entry.isEscaped ? document->decode(entry) == wanted
                         : document->textOf(entry) == wanted;
}

llvm::iterator_range<JsonValue::Iterator> JsonValue::elements() const {
  if (!isArray() && !isObject())
    return {Iterator({}, false), Iterator({}, false)};
  uint32_t end = document->entries[index].extent;
  return {Iterator({document, index + 1}, isObject()),
          Iterator({document, end}, isObject())};
}

size_t JsonValue::size() const {
  auto range = elements();
  return std::distance(range.begin(), range.end());
}

llvm::iterator_range<JsonValue::MemberIterator> JsonValue::members() const {
  if (!isObject())
    return {MemberIterator({}), MemberIterator({})};
  uint32_t end = document->entries[index].extent;
  return {MemberIterator({document, index + 1}),
          MemberIterator({document, end})};
}

JsonValue JsonValue::operator[](StringRef key) const {
  if (!isObject())
    return {};
  uint32_t end = document->entries[index].extent;
  for (uint32_t at = index + 1; at != end; at = document->next(at + 1))
    if (JsonValue(document, at).isString(key))
      return {document, at + 1};
  return {};
}

JsonValue JsonValue::Iterator::operator*() const {
  return {value.document, value.index + step};
}

JsonValue::Iterator &JsonValue::Iterator::operator++() {
  value.index = value.document->next(value.index + step);
  return *this;
}

JsonValue::MemberIterator::value_type
JsonValue::MemberIterator::operator*() const {
  return {*key.string(), JsonValue(key.document, key.index + 1)};
}

JsonValue::MemberIterator &JsonValue::MemberIterator::operator++() {
  key.index = key.document->next(key.index + 1);
  return *this;
}
