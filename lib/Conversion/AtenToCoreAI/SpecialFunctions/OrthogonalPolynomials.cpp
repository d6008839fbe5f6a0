// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Orthogonal polynomials whose degree is data. All of them follow from two
// first ones by a recurrence, which is repeated up to the largest degree asked
// for; each element keeps the value of its own.

#include "Emission/Loop.h"
#include "SpecialFunctions/SpecialFunctions.h"
#include "Table.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include <limits>

using namespace corten;
using namespace mlir;

namespace {
/// How p_{k+1} follows from q = p_k and p = p_{k-1}; k is rank-0 f32.
using Recurrence = Value (*)(Emitter &, Value x, Value k, Value p, Value q);
} // namespace

/// 2x q - p
static Value chebyshev(Emitter &emit, Value x, Value, Value p, Value q) {
  return emit.sub(emit.mul(emit.scaleBy(x, 2.0), q), p);
}

/// 2x q - 2k p
static Value hermiteH(Emitter &emit, Value x, Value k, Value p, Value q) {
  return emit.scaleBy(emit.sub(emit.mul(x, q), emit.mul(k, p)), 2.0);
}

/// x q - k p
static Value hermiteHe(Emitter &emit, Value x, Value k, Value p, Value q) {
  return emit.sub(emit.mul(x, q), emit.mul(k, p));
}

/// ((2k + 1 - x) q - k p) / (k + 1)
static Value laguerre(Emitter &emit, Value x, Value k, Value p, Value q) {
  Value factor = emit.sub(affine(emit, k, 2, 1), x);
  return emit.divide(emit.sub(emit.mul(factor, q), emit.mul(k, p)),
                     affine(emit, k, 1, 1));
}

/// ((2k + 1) x q - k p) / (k + 1)
static Value legendre(Emitter &emit, Value x, Value k, Value p, Value q) {
  Value factor = emit.mul(affine(emit, k, 2, 1), x);
  return emit.divide(emit.sub(emit.mul(factor, q), emit.mul(k, p)),
                     affine(emit, k, 1, 1));
}

/// The polynomial of degree `n` at `x`; p_0 = 1 and p_1 = `first`. Of a
/// negative degree it is 0.
static Value repeat(Emitter &emit, Value x, Value n, Value first,
                    Recurrence recurrence) {
  Value degree = truncate(emit, n);
  // Every value has the shape of the result from here on.
  Value zero = emit.scaleBy(emit.add(x, degree), 0.0);
  Value one = affine(emit, zero, 1, 1);
  Value isOne = isEqual(emit, degree, 1), isZero = isEqual(emit, degree, 0);
  Value q = emit.add(first, zero);
  Value result = emit.where(isOne, q, emit.where(isZero, one, zero));
  // The appended degree keeps the reduction from being empty.
  Value degrees =
      emit.concat({emit.reshape(degree, {-1}), emit.floats({-1})}, 0);
  Value highest = emit.reduce<coreai::ReduceMaxOp>(degrees, {0}, false);

  Results state = loop(
      emit, {numberLike(emit, 1.0, x), one, q, result},
      [&](ValueRange state) { return emit.greater(highest, state[0]); },
      [&](ValueRange state) {
        Value next = recurrence(emit, x, state[0], state[1], state[2]);
        Value k = affine(emit, state[0], 1, 1);
        return Results{k, state[2], next,
                       emit.where(emit.equal(degree, k), next, state[3])};
      });
  return state[3];
}

/// The kinds of Chebyshev polynomials differ in p_1 = factor x + offset.
template <int factor, int offset>
static Value chebyshevOf(Emitter &emit, Value x, Value n) {
  return repeat(emit, x, n, affine(emit, x, factor, offset), chebyshev);
}

/// The same at 2x - 1.
template <int factor, int offset>
static Value shiftedChebyshevOf(Emitter &emit, Value x, Value n) {
  return chebyshevOf<factor, offset>(emit, affine(emit, x, 2, -1), n);
}

/// Hermite polynomials, for which torch gives up above degree 128.
template <Recurrence recurrence, int factor>
static Value hermiteOf(Emitter &emit, Value x, Value n) {
  constexpr double kHighest = 128;
  Value result = repeat(emit, x, n, affine(emit, x, factor, 0), recurrence);
  return emit.where(
      isAbove(emit, truncate(emit, n), kHighest),
      numberLike(emit, std::numeric_limits<double>::quiet_NaN(), x), result);
}

/// p_1 = factor x + offset, and a recurrence.
template <Recurrence recurrence, int factor, int offset>
static Value polynomialOf(Emitter &emit, Value x, Value n) {
  return repeat(emit, x, n, affine(emit, x, factor, offset), recurrence);
}

llvm::ArrayRef<TableEntry> corten::loweringsOrthogonalPolynomials() {
#define IN_OrthogonalPolynomials ,
  static const TableEntry entries[] = {
#include "FamilyRows.def"
  };
  return entries;
}
