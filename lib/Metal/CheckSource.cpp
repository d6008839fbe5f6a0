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
  raw_string_ostream(result)
      << "using namespace metal;\nusing namespace mpp::tensor_ops;\n"
      << "#line 1 \"" << kHelperPart << "\"\n"
      << *helpers << "\n#line 1 \"parameters\"\n"
      << "static void corten_body(" << *parameters << ") {\n{\n"
      << text->prologue << "#line 1 \"" << kBodyPart << "\"\n"
      << *body << "\n}\n}\n"
      << "extern \"C\" __attribute__((visibility(\"default\"))) void\n"
      << "corten_kernel(const CortenThread *corten_thread,\n"
      << "              const CortenBuffer *corten_buffers) {\n"
      << "  unsigned index = corten_thread->indexInGroup;\n"
      << "  const unsigned *sizes = corten_thread->groupSize;\n"
      << "  unsigned size = sizes[0] * sizes[1] * sizes[2];\n"
      << "  corten_body(" << join(arguments, ",\n              ") << ");\n}\n";
  return result;
}
