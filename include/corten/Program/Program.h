// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The typed model of one exported PyTorch program: its graph, the operators it
// calls with their schemas, the signature that says which values are inputs,
// weights and state, symbolic sizes, source lines, and the weights as views of
// memory owned elsewhere.
//
// A front door (the Python walker, the `.pt2` reader) fills it once through
// ProgramBuilder; the conversion reads it. Nothing in here knows Python, torch
// or MLIR, and no weight is ever copied into it.

#ifndef CORTEN_PROGRAM_PROGRAM_H
#define CORTEN_PROGRAM_PROGRAM_H

#include "corten/Program/ExternalModule.h"
#include "corten/Program/ScalarType.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/StringSaver.h"

#include <cassert>
#include <complex>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace corten {

struct Graph;
struct Node;

/// One extent of a tensor: a number, or a symbol of the program.
class Size {
public:
  Size() = default;
  Size(int64_t value) : value(value) {}
  static Size symbolic(unsigned symbol) {
    Size size;
    size.value = symbol;
    size.isSymbol = true;
    return size;
  }

  bool isDynamic() const { return isSymbol; }
  int64_t get() const {
    assert(!isSymbol && "size of a symbolic dimension");
    return value;
  }
  /// Index into Program::symbols.
  unsigned symbol() const {
    assert(isSymbol && "symbol of a static dimension");
    return static_cast<unsigned>(value);
  }
  bool operator==(const Size &other) const = default;

private:
  int64_t value = 0;
  bool isSymbol = false;
};

/// A symbolic size expression as torch prints it ("s77", "2*s77 + 1") and the
/// range that the export proved for it.
struct Symbol {
  llvm::StringRef expression;
  std::optional<int64_t> min;
  std::optional<int64_t> max;
};

/// What is known about one value of the graph.
struct ValueInfo {
  enum class Kind : uint8_t { None, Tensor, SymInt, SymFloat, SymBool, Other };
  Kind kind = Kind::None;
  ScalarType dtype = ScalarType::Float32;
  /// Extents of a tensor; the value of a SymInt as the only entry.
  llvm::ArrayRef<Size> sizes;

  bool isTensor() const { return kind == Kind::Tensor; }
};

/// One argument of a call. Lists and strings live in the program's arena.
class Argument {
public:
  enum class Kind : uint8_t {
    None,
    Bool,
    Int,
    Float,
    Complex,
    String,
    DType,
    /// Device, layout, memory format, generator: the text is kept for messages.
    Opaque,
    Value,
    List,
    Graph,
  };

  Argument() = default;
  static Argument boolean(bool value) {
    Argument result(Kind::Bool);
    result.storage.integer = value;
    return result;
  }
  static Argument integer(int64_t value) {
    Argument result(Kind::Int);
    result.storage.integer = value;
    return result;
  }
  static Argument floating(double value) {
    Argument result(Kind::Float);
    result.storage.floating = value;
    return result;
  }
  static Argument complex(const std::complex<double> *value) {
    Argument result(Kind::Complex);
    result.storage.complex = value;
    return result;
  }
  static Argument string(llvm::StringRef value) {
    return text(Kind::String, value);
  }
  static Argument opaque(llvm::StringRef value) {
    return text(Kind::Opaque, value);
  }
  static Argument dtype(ScalarType value) {
    Argument result(Kind::DType);
    result.storage.integer = static_cast<int64_t>(value);
    return result;
  }
  static Argument node(const Node *value) {
    Argument result(Kind::Value);
    result.storage.node = value;
    return result;
  }
  static Argument graph(const Graph *value) {
    Argument result(Kind::Graph);
    result.storage.graph = value;
    return result;
  }
  static Argument list(llvm::ArrayRef<Argument> value) {
    Argument result(Kind::List);
    result.storage.list = value.data();
    result.length = static_cast<uint32_t>(value.size());
    return result;
  }

  Kind kind() const { return tag; }
  bool isNone() const { return tag == Kind::None; }
  bool isValue() const { return tag == Kind::Value; }
  bool isList() const { return tag == Kind::List; }
  bool isInt() const { return tag == Kind::Int; }
  /// True for a bool, an integer or a float literal.
  bool isNumber() const {
    return tag == Kind::Bool || tag == Kind::Int || tag == Kind::Float;
  }

  bool asBool() const {
    assert(tag == Kind::Bool && "not a bool");
    return storage.integer != 0;
  }
  int64_t asInt() const {
    assert((tag == Kind::Int || tag == Kind::Bool) && "not an integer");
    return storage.integer;
  }
  /// Any number as a double.
  double asDouble() const {
    assert(isNumber() && "not a number");
    return tag == Kind::Float ? storage.floating
                              : static_cast<double>(storage.integer);
  }
  std::complex<double> asComplex() const {
    assert(tag == Kind::Complex && "not a complex number");
    return *storage.complex;
  }
  llvm::StringRef asString() const {
    assert((tag == Kind::String || tag == Kind::Opaque) && "not a string");
    return {storage.text, length};
  }
  ScalarType asDType() const {
    assert(tag == Kind::DType && "not a dtype");
    return static_cast<ScalarType>(storage.integer);
  }
  const Node *asNode() const {
    assert(tag == Kind::Value && "not a value");
    return storage.node;
  }
  const Graph *asGraph() const {
    assert(tag == Kind::Graph && "not a graph");
    return storage.graph;
  }
  llvm::ArrayRef<Argument> asList() const {
    assert(tag == Kind::List && "not a list");
    return {storage.list, length};
  }

private:
  explicit Argument(Kind kind) : tag(kind) {}
  static Argument text(Kind kind, llvm::StringRef value) {
    Argument result(kind);
    result.storage.text = value.data();
    result.length = static_cast<uint32_t>(value.size());
    return result;
  }

  union {
    int64_t integer;
    double floating;
    const std::complex<double> *complex;
    const char *text;
    const Node *node;
    const Graph *graph;
    const Argument *list;
  } storage = {0};
  uint32_t length = 0;
  Kind tag = Kind::None;
};

/// One parameter of an operator's schema.
struct Parameter {
  llvm::StringRef name;
  bool hasDefault = false;
  Argument defaultValue;
};

/// The callee of a call node, shared by all its call sites.
struct Operator {
  /// "aten", "higher_order", "_operator" for Python operators and torch.sym_*
  /// functions, or a custom namespace.
  llvm::StringRef nameSpace;
  /// With overload where there is one: "add.Tensor", "floordiv", "cond".
  llvm::StringRef name;
  /// In schema order; empty for operators without a schema, whose arguments
  /// are positional.
  llvm::ArrayRef<Parameter> parameters;
  /// The schema says that a call writes to one of its arguments. A functional
  /// program has no such calls.
  bool mutates = false;
  /// The schema says that a result shares the memory of an argument, or may.
  bool returnsView = false;

  /// As torch prints it: "aten.add.Tensor".
  std::string printedName() const;
};

/// The file that code which marks calls of modules claims to come from: its
/// frames are no lines of the user's.
inline constexpr llvm::StringLiteral kBoundaryFile = "<module boundary>";

/// A line of user code, from the innermost frame that torch recorded.
struct SourceLocation {
  llvm::StringRef file;
  llvm::StringRef function;
  unsigned line = 0;
  bool isKnown() const { return line != 0; }
};

/// A module on the way from the program's root to a call.
struct ModuleFrame {
  /// The module that called this one; null for the root.
  const ModuleFrame *caller = nullptr;
  /// What torch calls this use of the module; a module that is called twice has
  /// two.
  llvm::StringRef instance;
  /// Dotted path, empty for the root ("encoder.layer.0").
  llvm::StringRef path;
  /// With its Python module ("torch.nn.modules.linear.Linear").
  llvm::StringRef className;

  /// The class without its Python module.
  llvm::StringRef shortClassName() const;
};

/// One node of a graph: a placeholder, a call, or a reference to an attribute.
struct Node {
  enum class Kind : uint8_t { Placeholder, Call, Attribute };
  Kind kind = Kind::Call;
  /// True when the call returns a tuple or list; its results are then picked
  /// by `getitem` nodes, even if there is only one.
  bool returnsTuple = false;
  /// Of an operator that returns a view where it can and a copy elsewhere:
  /// here it returned a view.
  bool sharesMemory = false;
  /// The result was written to memory of its type: whatever type the operator
  /// computes in, the result is converted.
  bool isStored = false;
  unsigned index = 0;
  llvm::StringRef name;
  /// What an output of the program that is this value goes by; empty where that
  /// is the name.
  llvm::StringRef outputName;
  const Operator *callee = nullptr;
  /// One per schema parameter, defaults filled in; positional where the
  /// operator has no schema.
  llvm::ArrayRef<Argument> arguments;
  llvm::ArrayRef<ValueInfo> results;
  /// The recorded stack trace, innermost frame last; parsed on demand.
  llvm::StringRef stackTrace;
  /// The innermost module that made the call; null when torch recorded none.
  const ModuleFrame *module = nullptr;
  /// What the front door read the call from, in a form that only it knows.
  /// Lives as long as the program.
  const void *origin = nullptr;

  /// Value information of a node with a single result.
  const ValueInfo &info() const {
    assert(!results.empty() && "node without a result");
    return results.front();
  }

  /// The argument for schema parameter `name`; asserts that it exists.
  const Argument &argument(llvm::StringRef name) const;
  /// The same, or null when the schema has no such parameter.
  const Argument *findArgument(llvm::StringRef name) const;

  SourceLocation source() const;
  /// All recorded lines of the user's and of libraries, outermost first.
  llvm::SmallVector<SourceLocation> sourceFrames() const;
};

struct Graph {
  llvm::StringRef name;
  std::vector<const Node *> nodes;
  /// The values that the graph returns, in order. May hold literals and None.
  std::vector<Argument> outputs;
};

/// Visits the nodes among `arguments`, those in lists too.
void forEachOperand(llvm::ArrayRef<Argument> arguments,
                    llvm::function_ref<void(const Node *)> visit);

/// Nodes that some output of `graph` depends on. Assertions and what only feeds
/// them are not among them, nor is anything else that torch left dead.
llvm::DenseSet<const Node *> liveNodes(const Graph &graph);

/// The graph that a call of an external module became. The call is a node of
/// the operator `corten.module_call`: the graph, then one value for each of its
/// placeholders that is not a weight.
struct ModuleCall {
  /// Index into Program::modules.
  unsigned module = 0;
  const Graph *body = nullptr;
  /// Names for the placeholders that are arguments of the user's call. What the
  /// body takes from around it comes behind them.
  std::vector<llvm::StringRef> argumentNames;
  /// How many of the outputs the module returns; behind them are values that
  /// are used outside, such as the new ones of buffers.
  unsigned numResults = 0;
  /// Placeholders at the end of the body's that stand for weights, with their
  /// index into Program::weights.
  std::vector<std::pair<const Node *, int>> weights;
  /// Counts the calls of one module.
  unsigned ordinal = 0;
  /// Grows in the order in which the program makes the calls.
  unsigned position = 0;
};

/// A weight: a view of row-major contiguous memory that `owner` keeps alive.
struct TensorView {
  ScalarType dtype = ScalarType::Float32;
  llvm::ArrayRef<int64_t> shape;
  const void *data = nullptr;
  size_t bytes = 0;
  std::shared_ptr<const void> owner;

  int64_t numElements() const;
};

struct InputSpec {
  enum class Kind : uint8_t {
    UserInput,
    Parameter,
    Buffer,
    Constant,
    CustomObject,
    Token,
  };
  Kind kind = Kind::UserInput;
  /// The placeholder; null for a user input that is a plain Python value.
  const Node *node = nullptr;
  /// Attribute path of a parameter, buffer or constant ("encoder.0.weight").
  llvm::StringRef target;
  /// Index into Program::weights, or -1.
  int weight = -1;
  /// The buffer or user input is written by the program.
  bool isMutated = false;
};

/// What the user knows a placeholder by: a parameter, buffer or constant by its
/// path in the model.
llvm::StringRef userName(llvm::ArrayRef<InputSpec> inputs,
                         const Node &placeholder);

struct OutputSpec {
  enum class Kind : uint8_t {
    UserOutput,
    ParameterMutation,
    BufferMutation,
    UserInputMutation,
    Token,
  };
  Kind kind = Kind::UserOutput;
  Argument value;
  /// The placeholder that this output is the new value of.
  const Node *mutated = nullptr;
};

/// An exported program. Immutable once built; may be shared between threads.
class Program {
public:
  Program() : saver(arena) {}
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;

  Graph main;
  std::vector<InputSpec> inputs;
  std::vector<OutputSpec> outputs;
  std::vector<TensorView> weights;
  std::vector<Symbol> symbols;
  /// False for a program as torch.export returns it, with the operators that a
  /// decomposition would replace.
  bool isDecomposed = true;
  std::vector<ExternalModule> modules;
  /// Those in a body come before the call that it is the body of.
  std::vector<ModuleCall> moduleCalls;
  /// Keeps the origins of nodes alive.
  std::shared_ptr<const void> originOwner;

private:
  friend class ProgramBuilder;
  llvm::BumpPtrAllocator arena;
  llvm::StringSaver saver;
  std::deque<Operator> operators;
  std::deque<Node> nodes;
  std::deque<ModuleFrame> moduleFrames;
  std::deque<Graph> subgraphs;
};

/// Fills a Program. Every pointer that it hands out lives as long as the
/// program. Not thread-safe.
class ProgramBuilder {
public:
  ProgramBuilder() : program(std::make_unique<Program>()) {}

  llvm::StringRef save(llvm::StringRef text);
  llvm::ArrayRef<Argument> save(llvm::ArrayRef<Argument> arguments);
  llvm::ArrayRef<Size> save(llvm::ArrayRef<Size> sizes);
  llvm::ArrayRef<ValueInfo> save(llvm::ArrayRef<ValueInfo> infos);
  const std::complex<double> *save(std::complex<double> value);

  /// The symbol for a printed expression; the same one for the same text.
  unsigned symbol(llvm::StringRef expression);
  void setRange(unsigned symbol, std::optional<int64_t> min,
                std::optional<int64_t> max);

  const Operator *addOperator(llvm::StringRef nameSpace, llvm::StringRef name,
                              llvm::ArrayRef<Parameter> parameters,
                              bool mutates = false, bool returnsView = false);

  /// The frame for a use of a module; the same one for the same use.
  const ModuleFrame *addModule(const ModuleFrame *caller,
                               llvm::StringRef instance, llvm::StringRef path,
                               llvm::StringRef className);

  /// A node that belongs to no graph yet. The caller fills in the rest.
  Node &createNode(Node::Kind kind, llvm::StringRef name);
  /// Appends a node to `graph`.
  Node &addNode(Graph &graph, Node::Kind kind, llvm::StringRef name);
  /// A node that was made here, to be changed.
  Node &edit(const Node &node) { return program->nodes[node.index]; }
  Graph &mainGraph() { return program->main; }
  /// In the order of their making: a graph before those that it uses.
  std::deque<Graph> &subgraphs() { return program->subgraphs; }
  Graph &addSubgraph(llvm::StringRef name);

  /// Registers a weight and returns its index. Views of the same memory, type
  /// and shape share one entry: tied weights are one weight.
  int addWeight(ScalarType dtype, llvm::ArrayRef<int64_t> shape,
                const void *data, size_t bytes,
                std::shared_ptr<const void> owner);
  void addInput(InputSpec spec);
  void addOutput(OutputSpec spec);

  // For passes over a program that is not finished yet.
  llvm::ArrayRef<InputSpec> inputs() const { return program->inputs; }
  std::vector<OutputSpec> &outputs() { return program->outputs; }
  Node &edit(const Node *node) { return program->nodes[node->index]; }
  Graph &edit(const Graph *graph);
  void setIsDecomposed(bool value) { program->isDecomposed = value; }

  /// What has been built so far.
  Program &building() { return *program; }
  /// Keeps `owner`, to which the origins of nodes belong.
  void setOriginOwner(std::shared_ptr<const void> owner) {
    program->originOwner = std::move(owner);
  }

  /// Ends the building: checks the program, runs the passes of Finish.h and
  /// hands it over.
  llvm::Expected<std::unique_ptr<Program>> finish();

private:
  std::unique_ptr<Program> program;
  llvm::StringMap<unsigned> symbolIds;
  llvm::DenseMap<std::pair<const ModuleFrame *, llvm::StringRef>,
                 llvm::SmallVector<const ModuleFrame *, 1>>
      modulesByInstance;
  llvm::DenseMap<const void *, llvm::SmallVector<int, 1>> weightsByAddress;
};

} // namespace corten

#endif // CORTEN_PROGRAM_PROGRAM_H
