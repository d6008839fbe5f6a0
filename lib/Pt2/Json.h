// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JSON as torch.export writes it: documents of many megabytes that are made of
// millions of tiny objects. A document is parsed once into one flat array with
// twelve bytes for each value; strings and numbers stay slices of the text and
// are decoded when somebody asks. Parsing does not recurse, and depth is
// bounded, so no document can exhaust the stack of the parser or of a reader
// that recurses over it.

#ifndef CORTEN_LIB_PT2_JSON_H
#define CORTEN_LIB_PT2_JSON_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/iterator_range.h"
#include "llvm/Support/Error.h"

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace corten::pt2 {

class JsonDocument;

/// A value of a document, which must outlive it. Every accessor gives nothing
/// for a value of another kind: readers say what they expected.
class JsonValue {
public:
  enum class Kind : uint8_t {
    Null,
    False,
    True,
    Number,
    String,
    Array,
    Object
  };

  JsonValue() = default;

  /// False for a member that does not exist; it behaves like null.
  explicit operator bool() const { return document != nullptr; }
  Kind kind() const;
  bool isNull() const { return kind() == Kind::Null; }
  bool isString() const { return kind() == Kind::String; }
  bool isArray() const { return kind() == Kind::Array; }
  bool isObject() const { return kind() == Kind::Object; }

  std::optional<bool> boolean() const;
  /// A number without fraction and exponent that fits.
  std::optional<int64_t> integer() const;
  /// Any number; also the strings that torch writes for those that JSON lacks.
  std::optional<double> number() const;
  std::optional<std::string> string() const;

  /// True for a string that has this text.
  bool isString(llvm::StringRef text) const;

  class Iterator;
  /// Elements of an array, or the values of an object; nothing for others.
  llvm::iterator_range<Iterator> elements() const;
  /// The number of those.
  size_t size() const;
  /// Keys and values of an object.
  class MemberIterator;
  llvm::iterator_range<MemberIterator> members() const;

  /// The member of an object; the first one if there are several.
  JsonValue operator[](llvm::StringRef key) const;

private:
  friend class JsonDocument;
  JsonValue(const JsonDocument *document, uint32_t index)
      : document(document), index(index) {}

  const JsonDocument *document = nullptr;
  uint32_t index = 0;
};

/// A parsed text.
class JsonDocument {
public:
  /// Deeper values are refused. A branch within a branch of a program takes
  /// eight levels.
  static constexpr unsigned kMaxDepth = 512;

  /// `text` must outlive the document.
  static llvm::Expected<JsonDocument> parse(llvm::StringRef text);
  template <std::same_as<std::string> Temporary>
  static llvm::Expected<JsonDocument> parse(Temporary &&text) = delete;

  JsonValue root() const { return {this, 0}; }

private:
  friend class JsonValue;
  friend class JsonParser;

  /// A container is followed by its contents, of which those of an object are
  /// key, value, key, value.
  struct Entry {
    /// Where the value begins in the text: behind the quote of a string.
    uint32_t begin = 0;
    /// Of a container: the index of the entry behind its contents. Of others:
    /// the length of the text.
    uint32_t extent = 0;
    JsonValue::Kind kind = JsonValue::Kind::Null;
    /// Of a string: there are escapes in it.
    bool isEscaped = false;
  };

  llvm::StringRef textOf(const Entry &entry) const {
    return text.substr(entry.begin, entry.extent);
  }
  uint32_t next(uint32_t index) const;
  std::string decode(const Entry &entry) const;

  llvm::StringRef text;
  std::vector<Entry> entries;
};

class JsonValue::Iterator {
public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = JsonValue;
  using difference_type = std::ptrdiff_t;
  using pointer = const JsonValue *;
  using reference = JsonValue;

  Iterator(JsonValue value, bool isObject) : value(value), step(isObject) {}
  JsonValue operator*() const;
  Iterator &operator++();
  bool operator==(const Iterator &other) const {
    return value.index == other.value.index;
  }

private:
  JsonValue value;
  /// Keys to pass over before a value.
  uint32_t step;
};

class JsonValue::MemberIterator {
public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = std::pair<std::string, JsonValue>;
  using difference_type = std::ptrdiff_t;
  using pointer = const value_type *;
  using reference = value_type;

  explicit MemberIterator(JsonValue key) : key(key) {}
  value_type operator*() const;
  MemberIterator &operator++();
  bool operator==(const MemberIterator &other) const {
    return key.index == other.key.index;
  }

private:
  JsonValue key;
};

} // namespace corten::pt2

#endif // CORTEN_LIB_PT2_JSON_H
