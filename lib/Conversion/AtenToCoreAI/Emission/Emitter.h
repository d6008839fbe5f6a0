// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What lowerings build with: operands of a call as values, constants, sizes
// that are constants where they are static and shape queries where they are
// not, and the dialect's ops under short names. Helpers fold the trivial case
// (a cast to the same type, a factor of one), so lowerings need no `if` for it
// and the IR stays minimal. Static and dynamic shapes take the same path.
//
// Whoever walks the program (Walk/ProgramEmitter.h) is an emitter too;
// lowerings see no more of it than the questions at the end.

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_EMISSION_EMITTER_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_EMISSION_EMITTER_H

#include "Emission/AtenNode.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace corten {

struct CompositeSpec;
enum class Departure : unsigned;

/// The values of one lowered node, in result order.
using Results = llvm::SmallVector<mlir::Value, 1>;

/// Shape vectors come in two element types: most ops want si32, some ui32.
enum class IndexKind { Signed, Unsigned };

class Emitter {
public:
  //===------------------------------------------------------------------===//
  // Errors
  //===------------------------------------------------------------------===//

  /// Reports why `node` cannot be lowered. Converts to failure.
  mlir::InFlightDiagnostic error(const Node &node);
  /// The same, when it is the type of a value that is wrong.
  mlir::InFlightDiagnostic typeError(const Node &node) {
    isTypeError |= !failed;
    return error(node);
  }
  /// Reports that an argument of `node` is not what the lowering wants. It may
  /// run to its end on something else; hasFailed() has turned true.
  void wrongArgument(const Node &node, const Argument &argument,
                     const llvm::Twine &wanted);
  /// The same for a parameter that the operator does not have.
  void missingArgument(const Node &node, llvm::StringRef parameter);
  /// Notes that the call being lowered does not become the operations that the
  /// official converter makes of it. Several notes of one call count once.
  void depart(Departure departure);
  /// True once an op could not be created or an argument not be read; the
  /// diagnostic is already out, and those that follow from it say nothing new.
  bool hasFailed() const { return failed; }

  //===------------------------------------------------------------------===//
  // Types
  //===------------------------------------------------------------------===//

  /// The Core AI element type for a torch type, after narrowing of the 64-bit
  /// types; null if there is none.
  mlir::Type elementType(ScalarType type);
  /// The torch type of a Core AI element type (si32 is int32).
  static ScalarType scalarType(mlir::Type element);
  /// Ranked tensor type for the metadata of a value; symbolic extents are `?`.
  /// A SymInt is tensor<1xsi32>. Null when the element type has no equivalent.
  mlir::RankedTensorType typeOf(const ValueInfo &info);
  mlir::RankedTensorType typeOf(const AtenNode &node, unsigned result = 0) {
    return typeOf(node.result(result));
  }

  static mlir::RankedTensorType type(mlir::Value x) {
    return mlir::cast<mlir::RankedTensorType>(x.getType());
  }

  mlir::Type f32() { return builder.getF32Type(); }
  mlir::Type si32() { return builder.getIntegerType(32, true); }
  mlir::Type ui32() { return builder.getIntegerType(32, false); }
  mlir::Type i1() { return builder.getI1Type(); }
  /// What sums over values of type `element` are formed in: f32 for the 16-bit
  /// floats, the type itself otherwise.
  mlir::Type accumulationType(mlir::Type element) {
    return element.isF16() || element.isBF16() ? f32() : element;
  }

  //===------------------------------------------------------------------===//
  // Operands
  //===------------------------------------------------------------------===//

  /// The value of an argument that is a node.
  mlir::Value value(const Argument &argument);
  mlir::Value tensor(const AtenNode &node, llvm::StringRef parameter) {
    return value(node[parameter]);
  }
  /// The same, or null when the argument is absent or None.
  mlir::Value optionalTensor(const AtenNode &node, llvm::StringRef parameter) {
    return node.has(parameter) ? value(node[parameter]) : mlir::Value();
  }
  /// The value with all the extents that torch knows of it.
  mlir::Value refined(const Argument &argument) {
    if (!argument.isValue() || argument.asNode()->results.empty())
      return value(argument);
    return refine(value(argument), typeOf(argument.asNode()->info()));
  }
  mlir::Value refined(const AtenNode &node, llvm::StringRef parameter) {
    return refined(node[parameter]);
  }
  /// Results of a node that has been lowered.
  llvm::ArrayRef<mlir::Value> results(const Node &node) const;
  void setResults(const Node &node, Results results);
  /// Drops the results of a node that does not outlive a lowering.
  void forget(const Node &node) { values.erase(&node); }

  /// A tensor, a number or a symbolic number, as a value of element type
  /// `element`: tensors are cast, numbers become rank-0 constants, symbolic
  /// numbers become rank 0.
  mlir::FailureOr<mlir::Value>
  operand(const AtenNode &node, const Argument &argument, mlir::Type element);
  mlir::FailureOr<mlir::Value>
  operand(const AtenNode &node, llvm::StringRef parameter, mlir::Type element) {
    return operand(node, node[parameter], element);
  }
  /// Fails for a number that does not survive the narrowing of int64 to
  /// `element`.
  mlir::LogicalResult checkNumber(const AtenNode &node,
                                  const Argument &argument, mlir::Type element);
  /// torch.result_type of the arguments: dimensioned tensors outrank 0-d ones,
  /// which outrank Python numbers, within one category.
  std::optional<ScalarType> commonType(llvm::ArrayRef<Argument> arguments);

  //===------------------------------------------------------------------===//
  // Constants
  //===------------------------------------------------------------------===//

  mlir::Value constant(mlir::TypedAttr value);
  /// Rank-0 constant. Integer types take the value modulo their width.
  mlir::Value scalar(double value, mlir::Type element);
  mlir::Value scalar(int64_t value, mlir::Type element);
  mlir::Value scalar(int value, mlir::Type element) {
    return scalar(static_cast<int64_t>(value), element);
  }
  mlir::Value scalar(bool value);
  /// A constant of `shape` that holds one value everywhere.
  mlir::Value splat(double value, mlir::RankedTensorType type);
  /// Rank-0 si32.
  mlir::Value index(int64_t value) { return scalar(value, si32()); }
  /// Rank-1 constant of indices.
  mlir::Value indices(llvm::ArrayRef<int64_t> values,
                      IndexKind kind = IndexKind::Signed);
  mlir::Value floats(llvm::ArrayRef<float> values);

  //===------------------------------------------------------------------===//
  // Sizes
  //===------------------------------------------------------------------===//

  /// A literal or symbolic integer as tensor<1xsi32>.
  mlir::Value size(const Argument &argument);
  /// The same as rank-0.
  mlir::Value sizeScalar(const Argument &argument);
  /// A list of literal or symbolic integers as one vector: a constant when all
  /// are literal, a concatenation otherwise.
  mlir::Value sizes(llvm::ArrayRef<Argument> arguments,
                    IndexKind kind = IndexKind::Signed);
  /// Extent `axis` of `x` as tensor<1xsi32>.
  mlir::Value dim(mlir::Value x, int64_t axis,
                  IndexKind kind = IndexKind::Signed);
  /// All extents of `x` as one vector.
  mlir::Value shape(mlir::Value x, IndexKind kind = IndexKind::Signed);
  /// Product of extents [from, to) of `x` as tensor<1xsi32>.
  mlir::Value numElements(mlir::Value x, int64_t from, int64_t to);
  /// Joins rank-1 si32 pieces; into one constant when all are constants.
  mlir::Value joinSizes(llvm::ArrayRef<mlir::Value> pieces,
                        IndexKind kind = IndexKind::Signed);

  //===------------------------------------------------------------------===//
  // Ops
  //===------------------------------------------------------------------===//

  /// Creates an op whose result types are inferred. If inference refuses the
  /// operands, the diagnostic is out, hasFailed() turns true, and a stand-in
  /// value of the current node's type lets the lowering run to its end.
  template <typename Op>
  mlir::Value create(mlir::ValueRange operands,
                     llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
    return createOp<Op>(operands, attributes)->getResult(0);
  }
  template <typename Op>
  mlir::Operation *
  createOp(mlir::ValueRange operands,
           llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
    mlir::OperationState state(location, Op::getOperationName());
    state.addOperands(operands);
    state.addAttributes(attributes);
    return inferAndCreate(state, &Op::inferReturnTypes);
  }
  /// Creates an op with the given result types.
  template <typename Op>
  mlir::Value
  createTyped(mlir::Type result, mlir::ValueRange operands,
              llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
    mlir::OperationState state(location, Op::getOperationName());
    state.addOperands(operands);
    state.addAttributes(attributes);
    state.addTypes(result);
    return builder.create(state)->getResult(0);
  }
  mlir::NamedAttribute attribute(llvm::StringRef name, mlir::Attribute value) {
    return builder.getNamedAttr(name, value);
  }

  /// The dialect's cast, which saturates.
  mlir::Value cast(mlir::Value x, mlir::Type element);
  /// torch's conversion of data: integers wrap into narrower ones, and a
  /// complex number is true if either part is not zero.
  mlir::Value convert(mlir::Value x, mlir::Type element);

  // NumPy-broadcasting arithmetic; both operands have one element type.
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value divide(mlir::Value x, mlir::Value y);
  mlir::Value floorDivide(mlir::Value x, mlir::Value y);
  /// C fmod: the sign of the dividend.
  mlir::Value modulo(mlir::Value x, mlir::Value y);
  mlir::Value pow(mlir::Value x, mlir::Value y);
  mlir::Value maximum(mlir::Value x, mlir::Value y);
  mlir::Value minimum(mlir::Value x, mlir::Value y);
  mlir::Value matmul(mlir::Value x, mlir::Value y);

  mlir::Value equal(mlir::Value x, mlir::Value y);
  mlir::Value notEqual(mlir::Value x, mlir::Value y);
  mlir::Value greater(mlir::Value x, mlir::Value y);
  mlir::Value logicalAnd(mlir::Value x, mlir::Value y);
  mlir::Value logicalOr(mlir::Value x, mlir::Value y);
  mlir::Value logicalNot(mlir::Value x);
  mlir::Value where(mlir::Value condition, mlir::Value x, mlir::Value y);

  /// x times a number; x itself for one.
  mlir::Value scaleBy(mlir::Value x, double factor);
  mlir::Value negate(mlir::Value x);

  /// To a static shape (one entry may be -1).
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  /// To a computed shape, with the result type that is known for it.
  mlir::Value reshape(mlir::Value x, mlir::Value shape,
                      mlir::RankedTensorType type);
  mlir::Value transpose(mlir::Value x, llvm::ArrayRef<int64_t> permutation);
  mlir::Value expandDims(mlir::Value x, llvm::ArrayRef<int64_t> axes);
  mlir::Value shrinkDims(mlir::Value x, llvm::ArrayRef<int64_t> axes);
  mlir::Value concat(llvm::ArrayRef<mlir::Value> values, int64_t axis);
  /// Static slice over all axes. `type` states extents that inference cannot
  /// know (those of a dynamic axis).
  mlir::Value slice(mlir::Value x, llvm::ArrayRef<int64_t> starts,
                    llvm::ArrayRef<int64_t> ends,
                    llvm::ArrayRef<int64_t> strides,
                    mlir::RankedTensorType type = {});
  /// Surrounds `x` with a rank-0 value; `padding` is [before, after] per axis.
  /// `type` states extents that inference cannot know.
  mlir::Value pad(mlir::Value x, mlir::Value padding, mlir::Value fill,
                  mlir::RankedTensorType type = {});
  /// Slice of one axis; `start` and `end` are tensor<1xsi32>.
  mlir::Value slice(mlir::Value x, int64_t axis, mlir::Value start,
                    mlir::Value end, int64_t stride,
                    mlir::RankedTensorType type);
  /// Axes [from, to) as one.
  mlir::Value mergeAxes(mlir::Value x, int64_t from, int64_t to);
  /// Elements of `x` at `index` along `axis`; both have one shape off it.
  mlir::Value gather(mlir::Value x, mlir::Value index, int64_t axis);
  /// Slices of `x` along `axis`, at the entries of the vector `index`.
  mlir::Value take(mlir::Value x, mlir::Value index, int64_t axis);
  /// States extents of `type` that `x` leaves open.
  mlir::Value refine(mlir::Value x, mlir::RankedTensorType type);
  /// Adds leading axes and repeats unit axes until `x` has the shape of `type`;
  /// `extent` gives the size of an axis of it as tensor<1xsi32>. Open extents
  /// of `x` have their final size already.
  mlir::Value broadcast(mlir::Value x, mlir::RankedTensorType type,
                        llvm::function_ref<mlir::Value(int64_t)> extent);
  /// Repeats unit axes up to the extents of `shape`.
  mlir::Value broadcastTo(mlir::Value x, mlir::Value shape,
                          mlir::RankedTensorType type);
  /// `x` with the extents of `type`, which say more or less than its own.
  mlir::Value withType(mlir::Value x, mlir::RankedTensorType type);
  /// Drops the reduced axes, which the dialect's reductions keep as 1.
  template <typename Op>
  mlir::Value reduce(mlir::Value x, llvm::ArrayRef<int64_t> axes,
                     bool keepDims) {
    if (axes.empty())
      return x;
    mlir::Value result = reductionOfNothing(Op::getOperationName(), x, axes);
    if (!result)
      result = create<Op>({x, indices(axes)});
    return keepDims ? result : shrinkDims(result, axes);
  }

  /// `dims` made non-negative for `rank`; an empty list means every axis.
  static llvm::SmallVector<int64_t> axesOrAll(llvm::ArrayRef<int64_t> dims,
                                              int64_t rank);
  static int64_t axis(int64_t dim, int64_t rank) {
    return dim < 0 ? dim + rank : dim;
  }

  //===------------------------------------------------------------------===//
  // The program around the call
  //===------------------------------------------------------------------===//

  /// The same as tensor() for an operand that a weight may be in another form
  /// than torch has it in: packed, or of another shape.
  virtual mlir::Value compressed(const AtenNode &node,
                                 llvm::StringRef parameter) = 0;
  /// Whether an operand is a weight.
  virtual bool isWeight(const AtenNode &node,
                        llvm::StringRef parameter) const = 0;
  /// All that use the result of this call know that it is narrower than torch
  /// says.
  virtual bool staysNarrow(const Node &node) const = 0;
  /// Something that is lowered picks this result of a call with several.
  virtual bool isUsed(const Node &node, unsigned result) const = 0;
  /// Whether nothing but views of a higher rank use the matrix.
  virtual bool isSplitAgain(const Node &node) const = 0;

  /// Data as a constant: inline when small or uniform, else a reference to a
  /// resource. Fails when a value does not survive narrowing.
  virtual mlir::FailureOr<mlir::Value> weight(const TensorView &view,
                                              llvm::StringRef name) = 0;
  /// Emits a private graph with a composite declaration, filled by `body`, and
  /// a call of it. The operands' types are the graph's argument types.
  virtual mlir::FailureOr<mlir::Value>
  composite(const CompositeSpec &spec, mlir::ValueRange operands,
            llvm::function_ref<mlir::FailureOr<mlir::Value>(mlir::ValueRange)>
                body) = 0;
  /// Lowers the nodes of a graph at the insertion point, except those that no
  /// output needs.
  virtual mlir::LogicalResult emitNodes(const Graph &graph) = 0;

  mlir::OpBuilder builder;
  mlir::Location location;

  /// The node being lowered, for messages; null outside of one.
  const Node *currentNode = nullptr;
  /// The failure is one of types.
  bool isTypeError = false;
  /// Data decides over extents of the node being lowered (those of `x[mask]`),
  /// so its tensors may turn out to have no elements.
  bool mayBeEmpty = false;

protected:
  /// Counts departures in `departures`, by their number.
  Emitter(mlir::MLIRContext *context, std::vector<size_t> &departures);
  ~Emitter() = default;

  /// Drops the results of all nodes, before another program.
  void forgetAll() { values.clear(); }

private:
  using InferFn = mlir::LogicalResult (*)(
      mlir::MLIRContext *, std::optional<mlir::Location>, mlir::ValueRange,
      mlir::DictionaryAttr, mlir::OpaqueProperties, mlir::RegionRange,
      llvm::SmallVectorImpl<mlir::Type> &);
  mlir::Operation *inferAndCreate(mlir::OperationState &state, InferFn infer);
  /// An op in place of one that cannot be created, of the current node's type.
  mlir::Operation *standIn();
  /// The number that a size is which is no value.
  int64_t literalSize(const Argument &argument);
  void alignOpenExtents(mlir::OperationState &state);
  mlir::Value reductionOfNothing(llvm::StringRef op, mlir::Value x,
                                 llvm::ArrayRef<int64_t> axes);

  std::vector<size_t> &departures;
  /// The last call that each departure was noted for.
  llvm::SmallVector<const Node *, 0> departed;
  llvm::DenseMap<const Node *, Results> values;
  bool failed = false;
};

} // namespace corten

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_EMISSION_EMITTER_H
