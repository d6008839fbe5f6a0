// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SpecialFunctions/SpecialFunctions.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

using namespace corten;
using namespace mlir;

Value corten::affine(Emitter &emit, Value x, double a, double b) {
  return emit.add(emit.scaleBy(x, a), numberLike(emit, b, x));
}

Value corten::reciprocal(Emitter &emit, Value x) {
  return emit.divide(numberLike(emit, 1.0, x), x);
}

Value corten::exponential(Emitter &emit, Value x) {
  return emit.create<coreai::ExpOp>({x});
}

Value corten::logarithm(Emitter &emit, Value x) {
  return emit.create<coreai::LogOp>({x});
}

Value corten::squareRoot(Emitter &emit, Value x) {
  return emit.create<coreai::SqrtOp>({x});
}

Value corten::cosine(Emitter &emit, Value x) {
  return emit.create<coreai::CosOp>({x});
}

Value corten::sine(Emitter &emit, Value x) {
  return emit.create<coreai::SinOp>({x});
}

Value corten::isAbove(Emitter &emit, Value x, double number) {
  return emit.greater(x, numberLike(emit, number, x));
}

Value corten::isBelow(Emitter &emit, Value x, double number) {
  return emit.greater(numberLike(emit, number, x), x);
}

Value corten::isEqual(Emitter &emit, Value x, double number) {
  return emit.equal(x, numberLike(emit, number, x));
}
