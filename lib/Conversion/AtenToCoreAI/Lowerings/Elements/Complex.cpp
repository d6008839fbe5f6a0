// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Complex numbers and their parts. Core AI has complex<f32> only.

#include "Emission/DerivedOps.h"
#include "Table.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include <numbers>

using namespace corten;
using namespace mlir;

/// Two parts of one shape: the dialect does not broadcast them.
static Value createComplex(const AtenNode &node, Emitter &emit, Value real,
                           Value imaginary) {
  RankedTensorType type = emit.typeOf(node).clone(emit.f32());
  auto spread = [&](Value part) {
    return real.getType() == imaginary.getType()
               ? part
               : emit.broadcastTo(
                     part, emit.indices(type.getShape(), IndexKind::Unsigned),
                     type);
  };
  return emit.create<coreai::CreateComplexOp>(
      {spread(real), spread(imaginary)});
}

static LogicalResult checkParts(const AtenNode &node, Emitter &emit, Value real,
                                Value imaginary) {
  if (!getElementTypeOrSelf(real).isF32())
    return emit.error(node) << "complex numbers are made of float32 parts";
  if (real.getType() != imaginary.getType() &&
      !emit.typeOf(node).hasStaticShape())
    return emit.error(node)
           << "the parts of complex numbers have different symbolic shapes";
  return success();
}

/// complex(real, imag)
static FailureOr<Value> lowerComplex(const AtenNode &node, Emitter &emit) {
  Value real = emit.tensor(node, "real"), imaginary = emit.tensor(node, "imag");
  if (failed(checkParts(node, emit, real, imaginary)))
    return failure();
  return createComplex(node, emit, real, imaginary);
}

/// polar(abs, angle) = abs * (cos(angle) + i sin(angle))
static FailureOr<Value> lowerPolar(const AtenNode &node, Emitter &emit) {
  Value length = emit.tensor(node, "abs"), angle = emit.tensor(node, "angle");
  if (failed(checkParts(node, emit, length, length)))
    return failure();
  Value real = emit.mul(length, emit.create<coreai::CosOp>({angle}));
  Value imaginary = emit.mul(length, emit.create<coreai::SinOp>({angle}));
  return createComplex(node, emit, real, imaginary);
}

/// view_as_complex(self): the last axis holds the two parts.
static FailureOr<Value> lowerViewAsComplex(const AtenNode &node,
                                           Emitter &emit) {
  Value x = emit.tensor(node, "self");
  if (failed(checkParts(node, emit, x, x)))
    return failure();
  auto type = cast<RankedTensorType>(x.getType());
  int64_t last = type.getRank() - 1;
  SmallVector<int64_t> shape(type.getShape());
  shape[last] = 1;
  SmallVector<int64_t> start(type.getRank(), 0), stride(type.getRank(), 1);
  SmallVector<int64_t> end(type.getRank(), INT32_MAX);
  auto part = [&](int64_t from, int64_t to) {
    start[last] = from;
    end[last] = to;
    return emit.slice(x, start, end, stride, type.clone(shape));
  };
  Value first = part(0, 1), second = part(1, INT32_MAX);
  Value real = emit.shrinkDims(first, {last});
  return createComplex(node, emit, real, emit.shrinkDims(second, {last}));
}

/// view_as_real(self): the parts along a new last axis.
static Value lowerViewAsReal(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  int64_t last = cast<RankedTensorType>(x.getType()).getRank();
  Value real = realPart(emit, x), imaginary = imaginaryPart(emit, x);
  real = emit.expandDims(real, {last});
  imaginary = emit.expandDims(imaginary, {last});
  return emit.concat({real, imaginary}, last);
}

static Value lowerReal(const AtenNode &node, Emitter &emit) {
  return realPart(emit, emit.tensor(node, "self"));
}

static Value lowerImag(const AtenNode &node, Emitter &emit) {
  return imaginaryPart(emit, emit.tensor(node, "self"));
}

/// _conj(self), conj_physical(self): a real number is its own conjugate.
static Value lowerConj(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  if (!isComplex(x))
    return x;
  Value real = realPart(emit, x);
  return emit.create<coreai::CreateComplexOp>(
      {real, emit.negate(imaginaryPart(emit, x))});
}

/// angle(self): of a real number 0 or pi, NaN of NaN.
static Value lowerAngle(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  if (isComplex(x))
    return arcTangent2(emit, imaginaryPart(emit, x), realPart(emit, x));
  x = emit.cast(x, emit.elementType(node.result().dtype));
  Value angle =
      emit.where(isBelowZero(emit, x), numberLike(emit, std::numbers::pi, x),
                 numberLike(emit, 0.0, x));
  return emit.where(isNan(emit, x), x, angle);
}

llvm::ArrayRef<TableEntry> corten::loweringsComplex() {
#define IN_Complex ,
  static const TableEntry entries[] = {
#include "FamilyRows.def"
  };
  return entries;
}
