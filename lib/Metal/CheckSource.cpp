// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Metal/Check.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace corten::metal;
using namespace llvm;

/// What Metal gives for an attribute of a parameter: a vector of three, or a
/// number; empty if there is no such attribute.
static std::string threadValue(StringRef attribute, StringRef type) {
  StringRef position =
      StringSwitch<StringRef>(attribute)
          .Case("thread_position_in_grid", "positionInGrid")
          .Case("thread_position_in_threadgroup", "positionInGroup")
          .Case("threadgroup_position_in_grid", "groupPosition")
          .Case("threads_per_threadgroup", "groupSize")
          .Case("dispatch_threads_per_threadgroup", "fullGroupSize")
          .Case("threadgroups_per_grid", "numGroups")
          .Case("threads_per_grid", "gridSize")
          .Default("");
  if (!position.empty())
    return ("metal::corten_position<" + type + ">(corten_thread->" + position +
            ")")
        .str();
  StringRef number =
      StringSwitch<StringRef>(attribute)
          .Case("thread_index_in_threadgroup", "index")
          .Case("thread_index_in_simdgroup", "index % 32")
          .Case("simdgroup_index_in_threadgroup", "index / 32")
          .Cases({"simdgroups_per_threadgroup",
                  "dispatch_simdgroups_per_threadgroup"},
                 "(size + 31) / 32")
          .Cases({"threads_per_simdgroup", "thread_execution_width"}, "32")
          .Case("thread_index_in_quadgroup", "index % 4")
          .Case("quadgroup_index_in_threadgroup", "index / 4")
          .Cases({"quadgroups_per_threadgroup",
                  "dispatch_quadgroups_per_threadgroup"},
                 "(size + 3) / 4")
          .Default("");
  if (number.empty())
    return "";
  return ("static_cast<" + type + ">(" + number + ")").str();
}

/// The function that runs one thread.
static void writeEntry(StringRef function, ArrayRef<std::string> arguments,
                       raw_ostream &stream) {
  stream << "extern \"C\" __attribute__((visibility(\"default\"))) void\n"
         << "corten_kernel(const CortenThread *corten_thread,\n"
         << "              const CortenBuffer *corten_buffers) {\n"
         << "  unsigned index = corten_thread->indexInGroup;\n"
         << "  const unsigned *sizes = corten_thread->groupSize;\n"
         << "  unsigned size = sizes[0] * sizes[1] * sizes[2];\n"
         << "  " << function << "(" << join(arguments, ",\n      ")
         << ");\n}\n";
}

Expected<std::string> corten::metal::checkSource(const Kernel &kernel,
                                                 ArrayRef<Operand> inputs,
                                                 ArrayRef<Operand> results) {
  // The text that Metal would get, so that what is wrong with that is found.
  Expected<KernelText> text = instantiate(kernel, inputs, results);
  if (!text)
    return text.takeError();
  unsigned numShared = 0;
  Expected<std::string> helpers =
      rewriteMetal(text->helpers, kHelperPart, numShared);
  if (!helpers)
    return helpers.takeError();
  Expected<std::string> body = rewriteMetal(text->body, kBodyPart, numShared);
  if (!body)
    return body.takeError();
  Expected<std::string> parameters =
      rewriteMetal(text->parameters, "parameters", numShared);
  if (!parameters)
    return parameters.takeError();

  std::vector<std::string> arguments;
  auto addBuffer = [&](const Operand &operand, bool isReference) {
    std::string buffer =
        ("corten_buffers[" + Twine(arguments.size()) + "]").str();
    if (isReference)
      arguments.push_back("*static_cast<const " + operand.type + " *>(" +
                          buffer + ".data)");
    else
      arguments.push_back(("metal::corten_argument<" + operand.type + ", " +
                           Twine(operand.rank) + ">(" + buffer + ")")
                              .str());
  };
  for (const Operand &input : inputs)
    addBuffer(input, /*isReference=*/input.rank == 0);
  for (const Operand &result : results)
    addBuffer(result, /*isReference=*/false);
  for (const ThreadParameter &parameter : kernel.parameters) {
    arguments.push_back(threadValue(parameter.attribute, parameter.type));
    if (arguments.back().empty())
      return createStringError(
          inconvertibleErrorCode(),
          "cannot be checked: parameter '%s' has the attribute '%s', which no "
          "thread of a compute kernel has here",
          parameter.name.c_str(), parameter.attribute.c_str());
  }

  std::string result;
  raw_string_ostream stream(result);
  stream << "using namespace metal;\nusing namespace mpp::tensor_ops;\n"
         << "#line 1 \"" << kHelperPart << "\"\n"
         << *helpers << "\n#line 1 \"parameters\"\n"
         << "static void corten_body(" << *parameters << ") {\n{\n"
         << text->prologue << "#line 1 \"" << kBodyPart << "\"\n"
         << *body << "\n}\n}\n";
  writeEntry("corten_body", arguments, stream);
  return result;
}

//===----------------------------------------------------------------------===//
// The source of a program
//===----------------------------------------------------------------------===//

/// Where the parameters of a function stand, without the parentheses; empty if
/// there is no such function.
static StringRef parametersOf(StringRef name, StringRef source) {
  auto isPart = [](char c) { return isAlnum(c) || c == '_'; };
  for (size_t at = source.find(name); at != StringRef::npos;
       at = source.find(name, at + 1)) {
    StringRef rest = source.substr(at + name.size());
    if ((at != 0 && isPart(source[at - 1])) || !rest.ltrim().starts_with("("))
      continue;
    rest = rest.ltrim().drop_front();
    unsigned depth = 1;
    for (size_t i = 0; i < rest.size(); ++i) {
      depth += rest[i] == '(' ? 1 : 0;
      depth -= rest[i] == ')' ? 1 : 0;
      if (depth == 0)
        return rest.take_front(i);
    }
  }
  return {};
}

/// Parts that commas separate which stand in no brackets.
static std::vector<StringRef> splitParameters(StringRef text) {
  std::vector<StringRef> parts;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += StringRef("(<[").contains(text[i]) ? 1 : 0;
    depth -= StringRef(")>]").contains(text[i]) ? 1 : 0;
    if (text[i] == ',' && depth == 0) {
      parts.push_back(text.slice(start, i).trim());
      start = i + 1;
    }
  }
  parts.push_back(text.substr(start).trim());
  return parts;
}

Expected<Translation> corten::metal::translateSource(StringRef name,
                                                     StringRef source) {
  unsigned numShared = 0;
  Expected<std::string> body = rewriteMetal(source, kSourcePart, numShared);
  if (!body)
    return body.takeError();
  StringRef parameters = parametersOf(name, source);
  if (parameters.empty())
    return createStringError("cannot be checked: there is no function of this "
                             "name in its source");
  Translation result;
  std::vector<std::string> arguments;
  for (StringRef parameter : splitParameters(parameters)) {
    auto [declaration, rest] = parameter.split("[[");
    StringRef attribute = rest.split("]]").first.trim();
    declaration = declaration.rtrim();
    StringRef word = declaration.take_back(
        declaration.size() -
        (declaration.find_last_not_of("abcdefghijklmnopqrstuvwxyz"
                                      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") +
         1));
    StringRef type = declaration.drop_back(word.size()).rtrim();
    unsigned slot = 0;
    if (attribute.consume_front("buffer(")) {
      // Inputs and results are bound in the order of their slots.
      if (attribute.rtrim(")").trim().getAsInteger(10, slot) ||
          slot != result.buffers.size())
        return createStringError("cannot be checked: parameter '" + word +
                                 "' is not the next buffer");
      arguments.push_back(("metal::corten_parameter<" + type +
                           ">::from(corten_buffers[" + Twine(slot) + "])")
                              .str());
      result.buffers.push_back(word.str());
      continue;
    }
    arguments.push_back(threadValue(attribute, type));
    if (arguments.back().empty())
      return createStringError("cannot be checked: parameter '" + word +
                               "' has the attribute '" + attribute +
                               "', which no thread of a compute kernel has "
                               "here");
  }
  raw_string_ostream stream(result.source);
  stream << "#line 1 \"" << kSourcePart << "\"\n" << *body << "\n";
  writeEntry(name, arguments, stream);
  return result;
}
