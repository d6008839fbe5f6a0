// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Program/Unsupported.h"

#include "corten/Program/Calls.h"
#include "corten/Program/Functionalize.h"
#include "corten/Program/Outline.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <string>
#include <utility>

using namespace corten;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

using Operators = std::vector<UnsupportedOperator>;

//===----------------------------------------------------------------------===//
// Finding them
//===----------------------------------------------------------------------===//

/// Whether a call of what torch expands has no graph: torch has not seen it.
static bool wantsGraph(const Node &node) {
  const Operator &op = *node.callee;
  if (op.nameSpace != "higher_order" || !isExpanded(op.name))
    return false;
  return node.arguments.empty() ||
         node.arguments.front().kind() != Argument::Kind::Graph;
}

static void collect(const Graph &graph,
                    llvm::function_ref<bool(const Operator &)> hasLowering,
                    bool isNested,
                    std::map<std::string, UnsupportedOperator> &found) {
  for (const Node *node : graph.nodes) {
    if (node->kind != Node::Kind::Call)
      continue;
    const Operator &op = *node->callee;
    // A write to an argument would be lost: values never change.
    if (op.mutates || wantsGraph(*node) ||
        !(isModuleCall(*node) || hasLowering(op))) {
      UnsupportedOperator &entry = found[op.printedName()];
      entry.op = &op;
      entry.uses.push_back({node, isNested});
    }
    // Graphs that come with such a call are part of what is not known.
    if (wantsGraph(*node))
      continue;
    for (const Argument &argument : node->arguments)
      if (argument.kind() == Argument::Kind::Graph)
        collect(*argument.asGraph(), hasLowering, /*isNested=*/true, found);
  }
}

Operators corten::findUnsupported(
    const Program &program,
    llvm::function_ref<bool(const Operator &)> hasLowering) {
  std::map<std::string, UnsupportedOperator> found;
  collect(program.main, hasLowering, /*isNested=*/false, found);
  Operators result;
  result.reserve(found.size());
  for (auto &entry : found)
    result.push_back(std::move(entry.second));
  return result;
}

//===----------------------------------------------------------------------===//
// Sorting them
//===----------------------------------------------------------------------===//

/// The operators of ATen that torch's run_decompositions() replaces, in the
/// order of their names: "add.Tensor".
static constexpr llvm::StringLiteral kDecomposed[] = {
#include "Decompositions.inc"
};

/// Whether torch takes the operator out of a program that it decomposes. Of the
/// higher-order ones that is only so for regions without gradients or with
/// automatic casts. What a user's operator writes becomes a value: that helps
/// only where the operator may get a lowering.
static bool isTakenOut(const UnsupportedOperator &entry, Refusal refusal) {
  const Operator &op = *entry.op;
  if (op.mutates && refusal != Refusal::Read)
    return true;
  if (op.nameSpace == "higher_order")
    return isRegion(op);
  return op.nameSpace == "aten" &&
         (op.mutates || llvm::binary_search(kDecomposed, op.name));
}

/// Torch may leave a write in a branch or the body of a loop as it is.
static bool isNestedWrite(const UnsupportedOperator &entry) {
  return entry.op->mutates &&
         llvm::any_of(entry.uses, [](const auto &use) { return use.isNested; });
}

static bool isKernel(const UnsupportedOperator &entry) {
  return entry.op->nameSpace == kKernelNamespace;
}

/// There are no lowerings of operators that write. Those of Python go by no
/// namespace.
static bool isRegistered(const Operator &op,
                         const llvm::StringSet<> &registered) {
  if (op.mutates)
    return false;
  StringRef nameSpace = op.nameSpace == "_operator" ? "None" : op.nameSpace;
  std::string name = (nameSpace + "::" + op.name).str();
  StringRef shortName = name;
  shortName.consume_back(".default");
  return registered.contains(name) || registered.contains(shortName);
}

/// Whether it is refused now, if there is no lowering.
static bool isDue(const Operator &op, Refusal refusal) {
  // The official package, too, looks at those of ATen first.
  bool isEarly = op.mutates || op.nameSpace == "aten";
  return refusal == Refusal::Read || isEarly == (refusal == Refusal::Added);
}

//===----------------------------------------------------------------------===//
// Naming them
//===----------------------------------------------------------------------===//

/// "float32[3, s0]", of the first tensor that a call is given; or nothing.
static std::string typeOfOperand(const Node &call, const Program &program) {
  const auto *operand = llvm::find_if(call.arguments, [](const Argument &arg) {
    return arg.isValue() && !arg.asNode()->results.empty() &&
           arg.asNode()->info().isTensor();
  });
  if (operand == call.arguments.end())
    return {};
  const ValueInfo &info = operand->asNode()->info();
  auto extents = llvm::map_range(info.sizes, [&](Size size) {
    return size.isDynamic() ? program.symbols[size.symbol()].expression.str()
                            : std::to_string(size.get());
  });
  return (scalarTypeName(info.dtype) + "[" + llvm::join(extents, ", ") + "]")
      .str();
}

/// Where a call stands in the user's code, in one line.
static std::string describe(const UnsupportedUse &use, const Program &program) {
  const Node &node = *use.node;
  const ModuleFrame *module = node.module;
  std::string text;
  llvm::raw_string_ostream stream(text);
  SourceLocation source = node.source();
  stream << "\n      ";
  if (source.isKnown())
    stream << source.file << ":" << source.line;
  else
    stream << "(no source line)";
  if (use.isNested)
    stream << "  inside a branch or loop";
  if (!source.function.empty())
    stream << "  in "
           << (module ? (module->shortClassName() + ".").str() : std::string())
           << source.function;
  if (module && !module->path.empty())
    stream << "  " << module->path;
  if (std::string type = typeOfOperand(node, program); !type.empty())
    stream << "  " << type;
  return text;
}

/// What is used most comes first; of two that are used as often, the one whose
/// name does.
static std::string describe(ArrayRef<UnsupportedOperator> found,
                            const Program &program) {
  /// Uses of one operator that are listed before the rest is only counted.
  constexpr size_t kShown = 4;
  std::vector<const UnsupportedOperator *> sorted;
  for (const UnsupportedOperator &entry : found)
    sorted.push_back(&entry);
  llvm::sort(sorted, [](const auto *a, const auto *b) {
    return std::pair(b->uses.size(), a->op->printedName()) <
           std::pair(a->uses.size(), b->op->printedName());
  });
  std::string text;
  for (const UnsupportedOperator *entry : sorted) {
    size_t count = entry->uses.size();
    text += ("\n  " + entry->op->printedName() + "  " + Twine(count) +
             (count == 1 ? " use" : " uses"))
                .str();
    for (const UnsupportedUse &use : ArrayRef(entry->uses).take_front(kShown))
      text += describe(use, program);
    if (count > kShown)
      text += ("\n      (" + Twine(count - kShown) + " more)").str();
  }
  return text;
}

static std::string namesOf(ArrayRef<UnsupportedOperator> found) {
  return llvm::join(llvm::map_range(found,
                                    [](const UnsupportedOperator &entry) {
                                      return entry.op->printedName();
                                    }),
                    ", ");
}

static std::string titleOf(ArrayRef<UnsupportedOperator> found,
                           Refusal refusal) {
  // The names are those of the official package.
  if (refusal == Refusal::Converted) {
    auto targets = llvm::map_range(found, [](const UnsupportedOperator &entry) {
      return ("target: " + entry.op->name +
              ", namespace: " + entry.op->nameSpace)
          .str();
    });
    return "unable to handle call function op: " + llvm::join(targets, "; ");
  }
  std::string what;
  if (refusal == Refusal::Read)
    what = found.size() == 1 ? "operator has no lowering"
                             : "operators have no lowering";
  else
    what = isTakenOut(found.front(), refusal) ? "non-decomposed ops"
                                              : "unsupported ATen ops";
  return std::to_string(found.size()) + " " + what + ": " + namesOf(found);
}

//===----------------------------------------------------------------------===//
// What to do
//===----------------------------------------------------------------------===//

static std::string adviceOnDecomposed(const Operators &decomposed,
                                      Refusal refusal) {
  if (decomposed.empty())
    return {};
  std::string text =
      refusal == Refusal::Read
          ? "\nFix: only torch can decompose " + namesOf(decomposed) +
                ": call run_decompositions(coreai_torch.get_decomp_table()) "
                "before saving the program."
          : "\nFix: call run_decompositions() before adding the program: ep = "
            "ep.run_decompositions(coreai_torch.get_decomp_table()); or add it "
            "as it is, with decompose=True";
  if (llvm::any_of(decomposed, isNestedWrite))
    text +=
        "\nA write inside cond or while_loop that is still there then cannot "
        "be decomposed: return the new value, and copy_() it to its place "
        "after the call.";
  return text;
}

static std::string adviceOnOthers(const Operators &others, Refusal refusal) {
  if (others.empty())
    return {};
  if (refusal == Refusal::Read)
    return "\nFix: no decomposition replaces " + namesOf(others) +
           ": change the model, or convert it in Python, where TorchConverter "
           "takes lowerings (register_torch_lowering) and Metal kernels "
           "(register_custom_kernels).";
  std::string text;
  auto kernels = llvm::map_range(llvm::make_filter_range(others, isKernel),
                                 [](const UnsupportedOperator &entry) {
                                   return entry.op->name.take_until(
                                       [](char c) { return c == '.'; });
                                 });
  if (!kernels.empty())
    text += "\nFix: register the Metal kernels with "
            "register_custom_kernels([...]): " +
            llvm::join(kernels, ", ") + ".";
  if (!llvm::all_of(others, isKernel))
    text += "\nFix: add a lowering with register_torch_lowering().";
  return text;
}

llvm::Error corten::refuseUnsupported(const Program &program,
                                      StringRef entryPoint, Refusal refusal,
                                      Operators found,
                                      const llvm::StringSet<> &registered) {
  llvm::erase_if(found, [&](const UnsupportedOperator &entry) {
    return !isDue(*entry.op, refusal) || isRegistered(*entry.op, registered);
  });
  if (found.empty())
    return llvm::Error::success();
  Operators decomposed, others;
  for (const UnsupportedOperator &entry : found)
    (isTakenOut(entry, refusal) ? decomposed : others).push_back(entry);
  // Whether a decomposition leaves something without a lowering is seen when it
  // has been made.
  if (refusal == Refusal::Added && !decomposed.empty()) {
    found = decomposed;
    others.clear();
  }
  return llvm::createStringError(entryPoint + ": " + titleOf(found, refusal) +
                                 describe(found, program) +
                                 adviceOnDecomposed(decomposed, refusal) +
                                 adviceOnOthers(others, refusal));
}
