// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BytecodeCheck.h"

#include "corten/Support/Limits.h"
#include "mlir/Bytecode/Encoding.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <array>
#include <optional>
#include <vector>

using namespace corten;
using llvm::StringRef;
namespace bytecode = mlir::bytecode;
namespace mask = mlir::bytecode::OpEncodingMask;
namespace sections = mlir::bytecode::Section;

/// Regions within regions; programs of models stay below ten. Each takes more
/// of the stack than what kDeepestNesting is for.
static constexpr unsigned kDeepestRegion = 128;
/// How many attributes one may consist of when what it refers to is written
/// out.
static constexpr unsigned kLargestAttribute = 1 << 20;

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

// One letter for each field: s string, a attribute, t type, v number, b byte,
// d bytes with their length, i integer of the width before it, o number that
// may be missing; S, A, T and V are lists, P one of pairs of attributes. The
// place is the code in the file, null one that no file has. AICodeBytecode.td
// is where each comes from.
static constexpr const char *kTypeLayouts[] = {
    /*0*/ nullptr,      "sA", "Vt",   "Vta",    "",
    /*5*/ "",           "",   "",     "",       "",
    /*10*/ "",          "",   "",     "",       "",
    /*15*/ "",          "",   "",     "",       "",
    /*20*/ "",          "",   "",     "",       "",
    /*25*/ "",          "",   "",     "",       "",
    /*30*/ "TT",        "t",  "",     "",       "",
    /*35*/ "st",        "",   "",     "",       "avv",
    /*40*/ "avva",      "t",  "vvsv", "vsvvvt", "vsaavvvA",
    /*45*/ "vsaavvtvA", "",   ""};
static constexpr const char *kAttributeLayouts[] = {
    /*0*/ nullptr, "s",      "vbi",    "vi",    "t",
    /*5*/ "A",     "bd",     "v",      nullptr, "sA",
    /*10*/ "st",   nullptr,  "VVv",    nullptr, "S",
    /*15*/ "atA",  "at",     "v",      "v",     "v",
    /*20*/ "v",    "vvvo",   nullptr,  "vvvoV", nullptr,
    /*25*/ "v",    "vV",     "v",      "v",     "aaa",
    /*30*/ "sss",  "avvvv",  "sasvsA", "a",     nullptr,
    /*35*/ "sa",   "taassv", "tsaavv", "vvvv",  "a",
    /*40*/ "aaAA", "aaaAA",  "A",      "v",     "v",
    /*45*/ "A",    "",       "a"};
// Those of MLIR's own: coreai-core 1.0.0b1 wrote locations so, and what is in
// them. MLIR's BuiltinDialectBytecode.td has the others. w is the width of an
// integer and its sign, r what is left: an integer as wide as its type says,
// which MLIR checks.
static constexpr const char *kBuiltinTypeLayouts[] = {"w"};
static constexpr const char *kBuiltinLayouts[] = {
    /*0*/ "A",     "P",     "s",     nullptr, nullptr,
    /*5*/ nullptr, nullptr, nullptr, "tr",    nullptr,
    /*10*/ "aa",   "avv",   "A",     "Aa",    "aa",
    /*15*/ ""};
namespace {
/// Bytes with a place in them. A read beyond the end, or of something that
/// cannot be, sets `isBad` and gives zeros from then on.
class Cursor {
public:
  explicit Cursor(StringRef bytes) : bytes(bytes) {}

  size_t left() const { return bytes.size(); }
  bool empty() const { return bytes.empty(); }
  StringRef rest() const { return bytes; }

  uint8_t byte() { return static_cast<uint8_t>(take(1).front()); }

  /// MLIR's variable-length number: the zeros at the low end of the first byte
  /// say how many bytes follow.
  uint64_t number() {
    uint8_t first = byte();
    if (first & 1)
      return first >> 1;
    unsigned following = first == 0 ? 8 : llvm::countr_zero(first);
    StringRef tail = take(following);
    uint64_t value = 0;
    for (size_t i = 0; i < tail.size(); ++i)
      value |= static_cast<uint64_t>(static_cast<uint8_t>(tail[i])) << (8 * i);
    if (first == 0)
      return value;
    value = (value << 8) | first;
    return value >> (following + 1);
  }

  /// A number of things of which each takes a byte or more.
  uint64_t count() {
    uint64_t value = number();
    if (value > left())
      fail();
    return isBad ? 0 : value;
  }

  StringRef take(uint64_t size) {
    if (size > left()) {
      fail();
      static constexpr char kZeros[8] = {};
      return {kZeros, std::min<size_t>(size, sizeof(kZeros))};
    }
    StringRef result = bytes.take_front(size);
    bytes = bytes.drop_front(size);
    return result;
  }

  void skipNumbers(uint64_t count) {
    for (uint64_t i = 0; i < count && !isBad; ++i)
      number();
  }

  void fail() {
    isBad = true;
    bytes = {};
  }

  bool isBad = false;

private:
  StringRef bytes;
};

class Checker {
public:
  explicit Checker(StringRef file) : file(file) {}

  llvm::Error check();

private:
  struct SectionData {
    uint8_t id = 0;
    StringRef bytes;
  };

  SectionData section(Cursor &cursor);
  bool checkStrings(StringRef bytes);
  bool checkDialects(StringRef bytes);
  bool checkEntries(StringRef offsets, StringRef entries);
  bool checkEntry(StringRef bytes, bool isType, bool isBuiltin,
                  llvm::SmallVectorImpl<uint64_t> &references);
  bool checkReferences();
  bool checkProperties(StringRef bytes);
  bool checkResources(StringRef offsets);
  bool checkBlock(Cursor &cursor, unsigned depth);
  bool checkRegion(Cursor &cursor, unsigned depth);
  bool checkOp(Cursor &cursor, unsigned depth);

  template <typename... Args>
  bool wrong(const char *format, const Args &...args) {
    if (reason.empty())
      reason = llvm::formatv(format, args...).str();
    return false;
  }

  StringRef file;
  uint64_t version = 0;
  std::vector<StringRef> strings;
  /// The number of MLIR's own dialect, if the file has it.
  std::optional<uint64_t> builtin;
  /// What the attributes and, after them, the types refer to.
  uint64_t attributes = 0;
  uint64_t types = 0;
  std::vector<llvm::SmallVector<uint64_t, 4>> entries;
  /// Values that all regions together claim to hold.
  uint64_t values = 0;
  std::string reason;
};
} // namespace

Checker::SectionData Checker::section(Cursor &cursor) {
  SectionData result;
  uint8_t head = cursor.byte();
  uint64_t size = cursor.number();
  result.id = head & 0x7f;
  if (head & 0x80) {
    uint64_t alignment = cursor.number();
    if (!llvm::isPowerOf2_64(alignment) || alignment > file.size()) {
      cursor.fail();
      return result;
    }
    uint64_t offset = cursor.rest().data() - file.data();
    cursor.take(llvm::alignTo(offset, alignment) - offset);
  }
  result.bytes = cursor.take(size);
  if (cursor.isBad)
    result.bytes = {};
  return result;
}

llvm::Error Checker::check() {
  auto failed = [&](const llvm::Twine &what) {
    return llvm::createStringError(what);
  };
  Cursor cursor(file);
  if (!file.starts_with("ML\xefR"))
    return failed("not MLIR bytecode");
  cursor.take(4);
  version = cursor.number();
  if (cursor.isBad)
    return failed("the file ends in its header");
  if (version < bytecode::kDialectVersioning || version > bytecode::kVersion)
    return failed("bytecode version " + llvm::Twine(version) +
                  " cannot be read, only 1 to 6 can");
  size_t end = cursor.rest().find('\0');
  if (end == StringRef::npos)
    return failed("the file ends in its header");
  cursor.take(end + 1);

  std::array<std::optional<StringRef>, sections::kNumSections> found;
  while (!cursor.empty()) {
    SectionData next = section(cursor);
    if (cursor.isBad)
      return failed("the file is cut off, or a section is longer than it");
    if (next.id >= sections::kNumSections || found[next.id])
      return failed("section " + llvm::Twine(next.id) +
                    " is unknown or is there twice");
    found[next.id] = next.bytes;
  }
  for (sections::ID id :
       {sections::kString, sections::kDialect, sections::kAttrType,
        sections::kAttrTypeOffset, sections::kIR})
    if (!found[id])
      return failed("section " + llvm::Twine(id) + " is missing");
  Cursor ir(*found[sections::kIR]);
  bool isGood = checkStrings(*found[sections::kString]) &&
                checkDialects(*found[sections::kDialect]) &&
                checkEntries(*found[sections::kAttrTypeOffset],
                             *found[sections::kAttrType]) &&
                (!found[sections::kProperties] ||
                 checkProperties(*found[sections::kProperties])) &&
                (!found[sections::kResourceOffset] ||
                 checkResources(*found[sections::kResourceOffset])) &&
                checkBlock(ir, 0);
  return isGood ? llvm::Error::success() : failed(reason);
}

/// A count, the lengths from the last to the first, then the texts, of which
/// each ends in a zero that its length counts.
bool Checker::checkStrings(StringRef bytes) {
  Cursor cursor(bytes);
  uint64_t count = cursor.count();
  uint64_t total = 0;
  std::vector<uint64_t> sizes;
  for (uint64_t i = 0; i < count && !cursor.isBad; ++i) {
    uint64_t size = cursor.number();
    if (size == 0 || size > bytes.size())
      return wrong("a string of {0} bytes", size);
    total += size;
    sizes.push_back(size);
  }
  if (cursor.isBad || total != cursor.left())
    return wrong("the strings do not fill their section");
  for (uint64_t size : llvm::reverse(sizes))
    strings.push_back(cursor.take(size).drop_back());
  return true;
}

bool Checker::checkDialects(StringRef bytes) {
  Cursor cursor(bytes);
  uint64_t count = cursor.count();
  for (uint64_t i = 0; i < count && !cursor.isBad; ++i) {
    uint64_t nameAndVersion = cursor.number();
    uint64_t name = nameAndVersion >> 1;
    if (name < strings.size() && strings[name] == "builtin")
      builtin = i;
    if (nameAndVersion & 1)
      section(cursor);
  }
  if (version >= bytecode::kElideUnknownBlockArgLocation)
    if (cursor.number() > bytes.size())
      cursor.fail();
  while (!cursor.empty()) {
    cursor.number();
    cursor.skipNumbers(cursor.count());
  }
  if (cursor.isBad)
    return wrong("the section of dialects does not hold what it claims");
  return true;
}

/// Two counts, then groups of sizes that have to add up to them.
bool Checker::checkEntries(StringRef offsets, StringRef bytes) {
  Cursor cursor(offsets);
  Cursor content(bytes);
  attributes = cursor.count();
  types = cursor.count();
  for (uint64_t expected : {attributes, types}) {
    uint64_t seen = 0;
    while (seen < expected && !cursor.isBad) {
      bool isBuiltin = cursor.number() == builtin;
      uint64_t count = cursor.count();
      seen += count;
      // Groups without an entry would never end.
      if (count == 0 || seen > expected)
        cursor.fail();
      for (uint64_t i = 0; i < count && !cursor.isBad; ++i) {
        uint64_t sizeAndForm = cursor.number();
        StringRef entry = content.take(sizeAndForm >> 1);
        if (content.isBad || !(sizeAndForm & 1))
          return wrong("an attribute or type that is cut off or is text");
        if (!checkEntry(entry, entries.size() >= attributes, isBuiltin,
                        entries.emplace_back()))
          return false;
      }
    }
  }
  if (cursor.isBad)
    return wrong("the section of attributes does not hold what it claims");
  return checkReferences();
}

/// Collects what an attribute or type refers to.
bool Checker::checkEntry(StringRef bytes, bool isType, bool isBuiltin,
                         llvm::SmallVectorImpl<uint64_t> &references) {
  Cursor cursor(bytes);
  uint64_t code = cursor.number();
  llvm::ArrayRef<const char *> layouts = kAttributeLayouts;
  if (isType)
    layouts = isBuiltin ? llvm::ArrayRef(kBuiltinTypeLayouts)
                        : llvm::ArrayRef(kTypeLayouts);
  else if (isBuiltin)
    layouts = kBuiltinLayouts;
  if (code >= layouts.size() || !layouts[code])
    return wrong("{0} of the unknown kind {1}", isType ? "type" : "attribute",
                 code);
  auto refer = [&](bool toType) {
    uint64_t index = cursor.number();
    if (index >= (toType ? types : attributes))
      cursor.fail();
    references.push_back(toType ? attributes + index : index);
  };
  uint64_t width = 0;
  for (char field : StringRef(layouts[code])) {
    switch (field) {
    case 'a':
    case 't':
      refer(field == 't');
      break;
    case 'A':
    case 'T':
      for (uint64_t left = cursor.count(); left > 0 && !cursor.isBad; --left)
        refer(field == 'T');
      break;
    case 'P':
      for (uint64_t left = cursor.count(); left > 0 && !cursor.isBad; --left) {
        refer(/*toType=*/false);
        refer(/*toType=*/false);
      }
      break;
    case 'S':
    case 'V':
      cursor.skipNumbers(cursor.count());
      break;
    case 's':
      cursor.number();
      break;
    case 'v':
      width = cursor.number();
      break;
    case 'b':
      cursor.byte();
      break;
    case 'd':
      cursor.take(cursor.number());
      break;
    case 'w':
      width = cursor.number();
      // Signless, signed and unsigned.
      if (width >> 2 == 0 || width >> 2 > 64 || (width & 3) > 2)
        cursor.fail();
      break;
    case 'r':
      cursor.take(cursor.left());
      break;
    case 'o':
      if (cursor.byte())
        cursor.number();
      break;
    case 'i':
      if (width <= 8)
        cursor.byte();
      else
        cursor.number();
      break;
    default:
      llvm_unreachable("a letter that stands for no field");
    }
  }
  if (cursor.isBad || !cursor.empty())
    return wrong("{0} of kind {1} with the wrong content",
                 isType ? "type" : "attribute", code);
  return true;
}

/// No attribute or type may lead back to itself, and what they lead to is
/// bounded: readers and printers follow each path.
bool Checker::checkReferences() {
  enum class State : uint8_t { New, Open, Done };
  struct Measure {
    State state = State::New;
    uint32_t depth = 1;
    uint32_t size = 1;
  };
  std::vector<Measure> measures(entries.size());
  // An entry, and how many of its references have been followed.
  llvm::SmallVector<std::pair<uint64_t, size_t>> path;
  for (uint64_t first = 0; first < entries.size(); ++first) {
    if (measures[first].state == State::Done)
      continue;
    path.emplace_back(first, 0);
    measures[first].state = State::Open;
    while (!path.empty()) {
      auto &[entry, followed] = path.back();
      Measure &measure = measures[entry];
      if (followed == entries[entry].size()) {
        if (measure.depth > kDeepestNesting || measure.size > kLargestAttribute)
          return wrong("attributes nested too deeply");
        measure.state = State::Done;
        path.pop_back();
        continue;
      }
      uint64_t next = entries[entry][followed];
      Measure &inner = measures[next];
      if (inner.state == State::Open)
        return wrong("an attribute that contains itself");
      if (inner.state == State::New) {
        inner.state = State::Open;
        path.emplace_back(next, 0);
        continue;
      }
      measure.depth = std::max(measure.depth, inner.depth + 1);
      // Stays far below what the type holds: both are at most the limit.
      measure.size = std::min(measure.size + inner.size, kLargestAttribute + 1);
      ++followed;
    }
  }
  return true;
}

bool Checker::checkProperties(StringRef bytes) {
  Cursor cursor(bytes);
  uint64_t count = cursor.count();
  for (uint64_t i = 0; i < count && !cursor.isBad; ++i)
    cursor.take(cursor.number());
  if (cursor.isBad)
    return wrong("the section of properties does not hold what it claims");
  return true;
}

/// Groups of names, sizes and kinds; those of other owners than dialects come
/// first. A weight is a blob, kind 0.
bool Checker::checkResources(StringRef offsets) {
  Cursor cursor(offsets);
  if (cursor.number() != 0)
    return wrong("resources that belong to no dialect");
  while (!cursor.empty()) {
    cursor.number();
    uint64_t count = cursor.count();
    for (uint64_t i = 0; i < count && !cursor.isBad; ++i) {
      cursor.skipNumbers(2);
      if (cursor.byte() != 0)
        return wrong("a resource that is no blob");
    }
  }
  if (cursor.isBad)
    return wrong("the list of resources does not hold what it claims");
  return true;
}

bool Checker::checkRegion(Cursor &cursor, unsigned depth) {
  uint64_t blocks = cursor.count();
  if (blocks == 0)
    return !cursor.isBad || wrong("a region ends too early");
  uint64_t held = cursor.number();
  values += held;
  // Each value takes a byte at least; regions count those inside them too.
  if (held > cursor.left() || values > kDeepestRegion * uint64_t(file.size()))
    return wrong("a region with {0} values", held);
  for (uint64_t i = 0; i < blocks; ++i)
    if (!checkBlock(cursor, depth))
      return false;
  return true;
}

bool Checker::checkBlock(Cursor &cursor, unsigned depth) {
  uint64_t head = cursor.number();
  if (head & 1) {
    uint64_t arguments = cursor.count();
    for (uint64_t i = 0; i < arguments && !cursor.isBad; ++i) {
      uint64_t type = cursor.number();
      if (version < bytecode::kElideUnknownBlockArgLocation || (type & 1))
        cursor.number();
    }
    if (version >= bytecode::kUseListOrdering && cursor.byte() != 0)
      return wrong("an order of uses, which assets do not have");
  }
  if (cursor.isBad)
    return wrong("a block ends too early");
  for (uint64_t ops = head >> 1; ops > 0; --ops)
    if (!checkOp(cursor, depth))
      return false;
  return true;
}

bool Checker::checkOp(Cursor &cursor, unsigned depth) {
  cursor.number();
  uint8_t parts = cursor.byte();
  cursor.number();
  if (parts & mask::kHasAttrs)
    cursor.number();
  if (parts & mask::kHasProperties)
    cursor.number();
  for (uint8_t part :
       {mask::kHasResults, mask::kHasOperands, mask::kHasSuccessors})
    if (parts & part)
      cursor.skipNumbers(cursor.count());
  if (parts & mask::kHasUseListOrders)
    return wrong("an order of uses, which assets do not have");
  if (cursor.isBad)
    return wrong("an op ends too early");
  if (!(parts & mask::kHasInlineRegions))
    return true;
  if (depth == kDeepestRegion)
    return wrong("regions more than {0} deep", kDeepestRegion);
  uint64_t head = cursor.number();
  uint64_t regions = head >> 1;
  if (cursor.isBad || regions > cursor.left())
    return wrong("an op with {0} regions", regions);
  std::optional<Cursor> inner;
  if (version >= bytecode::kLazyLoading && (head & 1) && regions > 0) {
    SectionData nested = section(cursor);
    if (cursor.isBad || nested.id != sections::kIR)
      return wrong("a region is cut off");
    inner.emplace(nested.bytes);
  }
  for (uint64_t i = 0; i < regions; ++i)
    if (!checkRegion(inner ? *inner : cursor, depth + 1))
      return false;
  return true;
}

llvm::Error corten::checkBytecode(StringRef bytecode) {
  return Checker(bytecode).check();
}
