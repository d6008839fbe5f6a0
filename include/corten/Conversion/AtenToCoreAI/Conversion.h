// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversion of exported programs (lib/Program) to one module in the `coreai`
// dialect. Called by the Python bindings and by the command line. It never
// copies a weight, never aborts on a user's program, and gives the same module
// for the same input, byte for byte.

#ifndef CORTEN_CONVERSION_ATENTOCOREAI_CONVERSION_H
#define CORTEN_CONVERSION_ATENTOCOREAI_CONVERSION_H

#include "corten/Conversion/AtenToCoreAI/Locations.h"
#include "corten/Conversion/AtenToCoreAI/ValueNames.h"
#include "corten/Metal/Kernel.h"
#include "corten/Program/Unsupported.h"
#include "corten/Support/Bytes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace corten {

/// One public graph of the module to be made.
struct EntryPoint {
  const Program *program = nullptr;
  std::string name = "main";
  ValueNames inputNames;
  ValueNames outputNames;
  /// Of mutated buffers, then of mutated inputs.
  ValueNames stateNames;
};

/// How debug locations show the files of the user's program.
enum class SourcePaths {
  /// Those of installed packages as their import names say ("torch/nn/..."),
  /// the others as torch recorded them, or by name where they do not exist.
  Packages,
  /// As torch recorded them.
  Absolute,
  /// Below one of the given roots, or where packages are installed, else the
  /// name alone.
  Relative,
  /// Not at all: no files and no lines.
  Hidden,
};

/// Numbers that debug locations give out; a converter carries them on from one
/// conversion to the next.
struct DebugCounters {
  /// Nodes of exported graphs.
  uint64_t nextTorchId = 0;
  /// Operations of converted programs.
  uint64_t nextOperationId = 0;
};

struct ConversionOptions {
  /// Say of every operation which node, module and line it comes from;
  /// otherwise they are only numbered.
  bool debugLocations = true;
  SourcePaths sourcePaths = SourcePaths::Packages;
  /// Folders that relative paths begin in.
  std::vector<std::string> sourceRoots;
  DebugCounters counters;
  /// What calls in the namespace of kernels stand for, by the operator's name
  /// ("rms_norm.default").
  llvm::StringMap<metal::Kernel> kernels;
  /// Operators that the user lowers: "namespace::name.overload", where
  /// ".default" may be left out, and "None::name" for Python operators. They
  /// win over the table.
  llvm::StringSet<> userLowerings;
  /// Keep what the program says that has to hold (`torch._check`), as
  /// operations of the `plan` dialect: for a module that goes to the engine.
  /// Core AI has none for it, so a module for an asset goes without.
  bool assertions = false;
  /// Told now and then how many nodes have been lowered.
  std::function<void(size_t)> progress;
};

/// A constant too large to stand in the module's text. The module refers to
/// `key`; the data stays where it is.
struct Resource {
  std::string key;
  /// The weight's own name, for whoever attaches the data.
  std::string name;
  TensorView data;

  SharedBytes bytes() const {
    return {{static_cast<const char *>(data.data), data.bytes}, data.owner};
  }
};

/// A value of the module and the node that it belongs to.
struct NamedValue {
  const Node *node = nullptr;
  unsigned result = 0;
  mlir::Value value;
};

/// A call that the user lowers. In the module an unrealized conversion cast
/// stands in for it, with the call's values as operands and one result for each
/// result of the node that is a tensor or a number.
struct UserCall {
  std::string entryPoint;
  const Node *node = nullptr;
  /// The entry of ConversionOptions::userLowerings that it matches.
  std::string lowering;
  mlir::Operation *standIn = nullptr;
  /// The values that have been computed before it in its graph: the first
  /// `numVisible` of an entry of ConvertedModule::scopes.
  size_t scope = 0;
  size_t numVisible = 0;
};

/// A value that an entry point changes in place.
struct StateInfo {
  std::string entryPoint;
  std::string name;
  /// Of the buffer ("layers.0.k"); empty for an input.
  std::string path;
};

struct ConvertedModule {
  /// Declared first: the module must go before its context does.
  std::unique_ptr<mlir::MLIRContext> context;
  /// Its operations have unknown locations; theirs are in `locations`.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  LocationTable locations;
  /// In the order in which the module mentions them.
  std::vector<Resource> resources;
  /// Every weight that was emitted, by the memory it comes from and its type in
  /// the module. Entry points that share one list it once.
  llvm::SetVector<std::pair<const void *, mlir::Type>> weights;
  /// The paths of the constants that are weights ("encoder.0.weight").
  llvm::DenseMap<mlir::Operation *, std::string> weightPaths;
  std::vector<StateInfo> states;
  /// In the order of emission. Their nodes belong to the programs.
  std::vector<UserCall> userCalls;
  /// The values of each graph that has user calls, in the order of emission. A
  /// graph that is emitted twice has two.
  std::vector<std::vector<NamedValue>> scopes;
  /// Where the next conversion may go on numbering.
  DebugCounters counters;
  /// What the user should know about a program that was converted all the same.
  std::vector<std::string> warnings;
  /// How many calls became other operations than the official converter makes,
  /// by the number of the Departure.
  std::vector<size_t> departures;
  double emitSeconds = 0;
  double verifySeconds = 0;
};

/// Where a node stands in the user's code, as lines that follow a message.
std::string describeNode(llvm::StringRef entryPoint, const Node &node);

/// All operators of `program`, subgraphs included, that cannot be lowered, in
/// the order of their printed names.
std::vector<UnsupportedOperator> findUnsupported(const Program &program);

/// Refuses a program that has some that are due; see refuseUnsupported().
llvm::Error checkSupported(const Program &program, llvm::StringRef entryPoint,
                           Refusal refusal,
                           const llvm::StringSet<> &registered = {});

/// Which operators count: those that a decomposed program may have, or also
/// those that a decomposition replaces.
enum class OperatorSet : uint8_t { Decomposed, All };

/// The weights that a program has one to the byte and a conversion packs: path
/// and type ("int4"), in the order of the program.
std::vector<std::pair<std::string, ScalarType>>
narrowWeights(const Program &program);

/// True if the table has a lowering for an operator of this name
/// ("add.Tensor", "floordiv", "cond").
bool hasLowering(llvm::StringRef nameSpace, llvm::StringRef name,
                 OperatorSet set = OperatorSet::Decomposed);

/// Whether a call of an operator in a program that is not decomposed is one for
/// functionalize() and the table. Torch has to decompose the others, as long as
/// they are of ATen or made of others (`isComposite`): an operator of the
/// user's stays as it is.
bool takesAsItIs(llvm::StringRef nameSpace, llvm::StringRef name, bool mutates,
                 bool isComposite);

/// A row of the table, for the generated documentation.
struct SupportedOperator {
  llvm::StringRef name;
  llvm::StringRef family;
};
/// Sorted by family, then name. Those of the family "Dropped" only check or
/// print something; a program goes without them.
std::vector<SupportedOperator>
supportedOperators(OperatorSet set = OperatorSet::Decomposed);

/// A declaration as it is written in a program.
std::string declarationText(const CompositeDeclaration &declaration);

/// Why a conversion failed.
class ConversionError : public llvm::ErrorInfo<ConversionError> {
public:
  // NOLINTNEXTLINE(readability-identifier-naming): as llvm::ErrorInfo has it
  static char ID;

  explicit ConversionError(std::string message, bool isTypeError = false)
      : message(std::move(message)), isTypeError(isTypeError) {}

  void log(llvm::raw_ostream &os) const override { os << message; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

  /// For the user: what is wrong, at which node, on which line of their code.
  std::string message;
  /// It is the type of a value that is wrong.
  bool isTypeError;
};

/// Converts all entry points into one verified module, or fails with a
/// ConversionError.
llvm::Expected<std::unique_ptr<ConvertedModule>>
convert(llvm::ArrayRef<EntryPoint> entryPoints,
        const ConversionOptions &options);

} // namespace corten

#endif // CORTEN_CONVERSION_ATENTOCOREAI_CONVERSION_H
