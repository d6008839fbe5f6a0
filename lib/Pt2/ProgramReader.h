// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the JSON form of a program to the program.

#ifndef CORTEN_LIB_PT2_PROGRAMREADER_H
#define CORTEN_LIB_PT2_PROGRAMREADER_H

#include "Json.h"
#include "Payload.h"
#include "SchemaTable.h"

#include "corten/Program/Calls.h"
#include "corten/Program/MemoryLayout.h"
#include "corten/Program/Program.h"
#include "corten/Program/Signature.h"
#include "corten/Program/Weights.h"
#include "corten/Support/FirstError.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringSet.h"

#include <map>
#include <tuple>

namespace corten::pt2 {

/// The alternative of a union and its value; nothing for what is no union.
std::pair<std::string, JsonValue> alternativeOf(JsonValue json);

/// Reads one program. The first thing that is wrong ends the reading; what is
/// returned until then only has to be harmless.
class ProgramReader {
public:
  /// See ProgramWeights for `named` and `needsData`.
  ProgramReader(const Payload &weights, const Payload &constants,
                NamedWeights *named = nullptr, bool needsData = true)
      : weights(weights), constants(constants), chosen(named, needsData),
        calls(builder), signature(builder, chosen) {}

  llvm::Expected<std::unique_ptr<Program>>
  read(JsonValue root, llvm::function_ref<bool(const Operator &)> hasLowering);

private:
  /// What the names in a graph mean.
  struct Scope {
    Graph *graph = nullptr;
    llvm::StringMap<const Node *> values;
    llvm::StringMap<JsonValue> tensors, symInts, symFloats, symBools;
  };

  void fail(const llvm::Twine &what);
  /// With a message that says where.
  void fail(llvm::Error error);
  bool hasFailed() const { return problem.hasFailed(); }

  // Versions and the like.
  void checkVersion(JsonValue root);

  // Graphs.
  /// Fills the scope and its graph.
  void readGraph(JsonValue json, Scope &inner, JsonValue inputSpecs);
  void readPlaceholder(JsonValue json, llvm::StringRef constantName);
  void readNode(JsonValue json);
  void readResults(JsonValue json, Node &node, const Callee &callee);
  void setResults(Node &call, const Callee &callee,
                  llvm::ArrayRef<ValueInfo> results, bool returnsTuple);
  void addGetItem(Node &producer, unsigned index, const std::string &name,
                  llvm::ArrayRef<ValueInfo> infos, bool isTuple);
  void addListItem(Node &producer, unsigned index, JsonValue list);
  void readMetadata(JsonValue metadata, Node &node);
  const ModuleFrame *readModuleStack(llvm::StringRef text);

  // Calls.
  const Callee *calledBy(llvm::StringRef target, JsonValue call);
  const Callee &callee(llvm::StringRef target, const Wrapper &wrapper);
  std::vector<GivenArgument> readArguments(JsonValue inputs, size_t numHidden);

  // Values.
  Argument readArgument(JsonValue json);
  Argument readList(JsonValue json,
                    llvm::function_ref<Argument(JsonValue)> read);
  Argument readSymbolic(JsonValue json);
  Argument readGraphArgument(JsonValue json);
  Argument valueOf(JsonValue name);
  ValueInfo infoOf(JsonValue result, std::string &name);
  ValueInfo tensorInfo(JsonValue meta);
  Size readSize(JsonValue json);
  /// The text of a member, or a failure that names `what`.
  std::string textOf(JsonValue json, llvm::StringRef what);

  // The signature.
  void readSignature(JsonValue json, Purpose purpose);
  void readInput(JsonValue json);
  void readOutput(JsonValue json);
  void readRanges(JsonValue ranges);

  // Memory.
  MemoryLayout layoutOf(const Node &tensor);

  const Payload &weights;
  const Payload &constants;
  ProgramWeights chosen;
  ProgramBuilder builder;
  CallBuilder calls;
  SignatureBuilder signature;
  Scope *scope = nullptr;
  FirstError problem;
  /// What is read at the moment, for messages.
  std::string context;
  /// By target, and by what wraps its calls.
  std::map<std::tuple<std::string, unsigned, bool>, Callee> callees;
  llvm::StringSet<> argumentNames;
  Callee getItem;
  /// By the form in the file.
  llvm::StringMap<unsigned> symbols;
  llvm::StringMap<llvm::StringRef> stackTraces;
  llvm::StringMap<const ModuleFrame *> moduleStacks;
  /// For calls without a name.
  llvm::StringMap<unsigned> generatedNames;
};

} // namespace corten::pt2

#endif // CORTEN_LIB_PT2_PROGRAMREADER_H
