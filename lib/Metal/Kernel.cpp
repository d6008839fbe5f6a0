// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Metal/Kernel.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

#include <charconv>
#include <cmath>
#include <limits>

using namespace corten::metal;
using namespace llvm;

/// Metal has that many slots for arguments of a function.
static constexpr size_t kParameterLimit = 31;

static Error refuse(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Expected<std::string> corten::metal::intLiteral(StringRef name, int64_t value) {
  if (value < std::numeric_limits<int32_t>::min() ||
      value > std::numeric_limits<int32_t>::max())
    return refuse("int scalar '" + name + "'=" + Twine(value) +
                  " is outside the 32-bit int range of a Metal int");
  return std::to_string(value);
}

Expected<std::string> corten::metal::floatLiteral(StringRef name,
                                                  double value) {
  char digits[32];
  char *end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
  StringRef text(digits, end - digits);
  if (!std::isfinite(static_cast<float>(value)))
    return refuse("float scalar '" + name + "'=" + text +
                  " is not finite in a Metal float");
  // "3f" is no literal; "3.0f" and "1e-05f" are.
  return (text + (text.find_first_of(".e") == StringRef::npos ? ".0f" : "f"))
      .str();
}

//===----------------------------------------------------------------------===//
// Placeholders of element types
//===----------------------------------------------------------------------===//

static bool isWordStart(char c) { return isAlpha(c) || c == '_'; }
static bool isWordPart(char c) { return isAlnum(c) || c == '_'; }

static bool isIdentifier(StringRef text) {
  return !text.empty() && isWordStart(text.front()) && all_of(text, isWordPart);
}

/// "4" or "4x4", which turn the name of an element type into that of a vector
/// or a matrix.
static bool isExtent(StringRef text) {
  return !text.empty() && text.size() <= 3 && isDigit(text.front()) &&
         all_of(text, [](char c) { return isDigit(c) || c == 'x'; });
}

static void replaceAll(std::string &text, StringRef from, StringRef to) {
  if (from.empty())
    return;
  for (size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// Puts the element types in place. A placeholder that is a word replaces that
/// word only, alone or with the extent of a vector after it; any other text is
/// replaced wherever it stands.
static std::string
replacePlaceholders(StringRef source,
                    ArrayRef<std::pair<std::string, std::string>> types) {
  std::string text = source.str();
  StringMap<StringRef> words;
  for (const auto &[placeholder, type] : types) {
    if (isIdentifier(placeholder))
      words[placeholder] = type;
    else
      replaceAll(text, placeholder, type);
  }
  if (words.empty())
    return text;
  std::string result;
  for (StringRef rest = text; !rest.empty();) {
    if (!isWordPart(rest.front())) {
      result += rest.front();
      rest = rest.drop_front();
      continue;
    }
    StringRef word = rest.take_while(isWordPart);
    rest = rest.drop_front(word.size());
    auto found = words.find(word);
    StringRef suffix;
    if (found == words.end()) {
      StringRef stem = word.rtrim("0123456789x");
      for (size_t length = stem.size(); length < word.size(); ++length)
        if (isExtent(word.substr(length))) {
          found = words.find(word.take_front(length));
          suffix = word.substr(length);
          if (found != words.end())
            break;
        }
    }
    result +=
        found == words.end() ? word.str() : (found->second + suffix).str();
  }
  return result;
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

static std::string tensorParameter(const Operand &operand, StringRef name) {
  return ("tensor<device " + operand.type + ", metal::dextents<int, " +
          Twine(operand.rank) + ">, tensor_handle> " + name)
      .str();
}

/// A name that no operand has, for a vector that the body sees as a number.
static std::string elementName(const Kernel &kernel, StringRef name) {
  std::string result = (name + "_value").str();
  while (is_contained(kernel.results, result) ||
         any_of(kernel.inputs,
                [&](const Kernel::Input &in) { return in.name == result; }))
    result += "_";
  return result;
}

/// Eight letters that stand for the source.
static std::string suffixOf(StringRef source) {
  std::string letters;
  uint64_t hash = xxh3_64bits(source);
  for (unsigned i = 0; i < 8; ++i, hash /= 26)
    letters += static_cast<char>('a' + hash % 26);
  return letters;
}

Expected<KernelText> corten::metal::instantiate(const Kernel &kernel,
                                                ArrayRef<Operand> inputs,
                                                ArrayRef<Operand> results) {
  KernelText text;
  std::vector<std::string> parameters;
  auto addBuffer = [&](const std::string &declaration) {
    parameters.push_back(
        (declaration + " [[buffer(" + Twine(parameters.size()) + ")]]").str());
  };
  for (auto [input, operand] : zip_equal(kernel.inputs, inputs)) {
    if (operand.isElement) {
      std::string vector = elementName(kernel, input.name);
      addBuffer(tensorParameter(operand, vector));
      text.prologue +=
          operand.type + " " + input.name + " = " + vector + "[0];\n";
    } else if (operand.rank == 0) {
      addBuffer("constant " + operand.type + "& " + input.name);
    } else {
      addBuffer(tensorParameter(operand, input.name));
    }
    if (operand.literal)
      text.prologue +=
          operand.type + " " + input.name + " = " + *operand.literal + ";\n";
  }
  for (auto [name, operand] : zip_equal(kernel.results, results))
    addBuffer(tensorParameter(operand, name));
  for (const ThreadParameter &parameter : kernel.parameters)
    parameters.push_back(parameter.type + " " + parameter.name + " [[" +
                         parameter.attribute + "]]");
  if (parameters.size() > kParameterLimit)
    return refuse("metal kernels support " + Twine(kParameterLimit) +
                  " inputs, got " + Twine(parameters.size()));

  std::vector<std::pair<std::string, std::string>> types;
  for (const auto &[input, placeholder] : kernel.templates)
    for (auto [declared, operand] : zip_equal(kernel.inputs, inputs))
      if (declared.name == input)
        types.emplace_back(placeholder, operand.type);
  text.helpers = replacePlaceholders(kernel.helpers, types);
  text.body = replacePlaceholders(kernel.body, types);

  std::string head;
  raw_string_ostream(head)
      << "\n#include <metal_stdlib>\n#include <MetalPerformancePrimitives/"
         "MetalPerformancePrimitives.h>\nusing namespace metal;\nusing "
         "namespace mpp::tensor_ops;\n"
      << text.helpers << "\n[[kernel]] void " << kernel.name;
  std::string tail;
  raw_string_ostream stream(tail);
  text.parameters = join(parameters, ", ");
  stream << "(" << text.parameters << ") { ";
  // The variables hide parameters of their name, which only an inner block
  // may do. A comment at the end of the body must not hide the brace.
  if (!text.prologue.empty())
    stream << "{\n" << text.prologue << text.body << "\n} }";
  else if (StringRef(text.body)
               .substr(text.body.rfind('\n') + 1)
               .contains("//"))
    stream << text.body << "\n}";
  else
    stream << text.body << " }";
  std::string suffix = "_" + suffixOf(head + tail);
  text.name = kernel.name + suffix;
  text.source = head + suffix + tail;
  return text;
}
