// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Many lanes become one. Floats are added up in f32 over a few hundred at a
// time, and those sums in double.

#include "Reductions.h"
#include "Vectors.h"

namespace corten::runtime::CORTEN_LEVEL {
namespace {

struct SumOp {
  static F start(F) { return F{}; }
  static I start(I) { return I{}; }
  static F apply(F a, F b) { return a + b; }
  static I apply(I a, I b) { return I(U(a) + U(b)); }
  static double apply(double a, double b) { return a + b; }
  static D apply(D a, D b) { return a + b; }
  static int64_t apply(int64_t a, int64_t b) { return a + b; }
};

struct ProductOp {
  static F start(F) { return splat(1.0f); }
  static I start(I) { return splat(int32_t(1)); }
  static F apply(F a, F b) { return a * b; }
  static I apply(I a, I b) { return I(U(a) * U(b)); }
  static double apply(double a, double b) { return a * b; }
  static int64_t apply(int64_t a, int64_t b) {
    return int64_t(uint64_t(a) * uint64_t(b));
  }
};

/// NaN wins.
struct MaxOp {
  static F start(F) { return splat(-__builtin_inff()); }
  static I start(I) { return splat(int32_t(INT32_MIN)); }
  static F apply(F a, F b) { return maximum(a, b); }
  static I apply(I a, I b) { return I(a > b) ? a : b; }
  static double apply(double a, double b) { return b > a || !(b == b) ? b : a; }
  static D apply(D a, D b) { return L(b == b) ? larger(b, a) : b; }
  static int64_t apply(int64_t a, int64_t b) { return b > a ? b : a; }
};

struct MinOp {
  static F start(F) { return splat(__builtin_inff()); }
  static I start(I) { return splat(int32_t(INT32_MAX)); }
  static F apply(F a, F b) { return minimum(a, b); }
  static I apply(I a, I b) { return I(a < b) ? a : b; }
  static double apply(double a, double b) { return b < a || !(b == b) ? b : a; }
  static D apply(D a, D b) { return L(b == b) ? smaller(b, a) : b; }
  static int64_t apply(int64_t a, int64_t b) { return b < a ? b : a; }
};

template <typename Function> void withOp(ReduceMode mode, Function &&function) {
  switch (mode) {
  case ReduceMode::Sum:
  case ReduceMode::Mean:
    return function.template operator()<SumOp>();
  case ReduceMode::Product:
    return function.template operator()<ProductOp>();
  case ReduceMode::Max:
  case ReduceMode::Any:
    return function.template operator()<MaxOp>();
  case ReduceMode::Min:
  case ReduceMode::All:
    return function.template operator()<MinOp>();
  }
}

/// How many elements are put together in their own precision: of four vectors,
/// no lane takes more than 16.
constexpr int64_t kBlock = kWidth < 8 ? 64 * kWidth : 512;

/// A product of a few floats may be too large or too small for one where that
/// of all is not.
template <typename Op, typename V>
constexpr bool kIsDouble = __is_same(Op, ProductOp) && __is_same(V, F);

template <typename V> auto laneAt(const int32_t *lane) {
  return V(I{*lane})[0];
}

/// The totals of lanes, from block to block: two halves of a vector of floats
/// in one of doubles, whole numbers as they are.
template <typename Op, typename V> struct Lanes;
template <typename Op> struct Lanes<Op, F> {
  D sums = firstHalf(Op::start(F{}));

  void take(F block) {
    sums = Op::apply(Op::apply(sums, firstHalf(block)), secondHalf(block));
  }
  void addTo(double &total) const {
    for (int lane = 0; lane != kWidth / 2; ++lane)
      total = Op::apply(total, sums[lane]);
  }
};
template <typename Op> struct Lanes<Op, I> {
  I sums = Op::start(I{});

  void take(I block) { sums = Op::apply(sums, block); }
  void addTo(int64_t &total) const {
    for (int lane = 0; lane != kWidth; ++lane)
      total = Op::apply(total, int64_t(sums[lane]));
  }
};

template <typename Op, typename V, typename Total>
void reduceOneRow(const int32_t *lanes, int64_t count, Total &total) {
  if constexpr (kIsDouble<Op, V>) {
    for (int64_t i = 0; i != count; ++i)
      total = Op::apply(total, Total(laneAt<V>(lanes + i)));
  } else {
    Lanes<Op, V> all;
    for (int64_t first = 0; first < count; first += kBlock) {
      int64_t length = count - first < kBlock ? count - first : kBlock;
      const int32_t *from = lanes + first;
      V sums[4] = {Op::start(V{}), Op::start(V{}), Op::start(V{}),
                   Op::start(V{})};
      int64_t i = 0;
      for (; i + 4 * kWidth <= length; i += 4 * kWidth)
        for (int part = 0; part != 4; ++part)
          sums[part] = Op::apply(sums[part], V(load(from + i + part * kWidth)));
      for (; i + kWidth <= length; i += kWidth)
        sums[0] = Op::apply(sums[0], V(load(from + i)));
      if (i != length) {
        V some = Op::start(V{});
        for (int lane = 0; i + lane != length; ++lane)
          some[lane] = laneAt<V>(from + i + lane);
        sums[1] = Op::apply(sums[1], some);
      }
      all.take(
          Op::apply(Op::apply(sums[0], sums[1]), Op::apply(sums[2], sums[3])));
    }
    all.addTo(total);
  }
}

/// Rows that are added up before they go into the totals.
constexpr int64_t kRows = 16;

template <typename Op, typename V, typename Total>
void reduceAllColumns(const int32_t *lanes, int64_t numRows, int64_t rowStep,
                      int64_t count, Total *totals) {
  for (int64_t first = 0; first < numRows; first += kRows) {
    int64_t end = numRows - first < kRows ? numRows : first + kRows;
    int64_t i = 0;
    for (; !kIsDouble<Op, V> && i + kWidth <= count; i += kWidth) {
      V sum = Op::start(V{});
      for (int64_t row = first; row != end; ++row)
        sum = Op::apply(sum, V(load(lanes + row * rowStep + i)));
      if constexpr (__is_same(V, F) && !kIsDouble<Op, V>) {
        double *to = totals + i;
        store(to, Op::apply(loadAs<D>(to), firstHalf(sum)));
        to += kWidth / 2;
        store(to, Op::apply(loadAs<D>(to), secondHalf(sum)));
      } else {
        for (int lane = 0; lane != kWidth; ++lane)
          totals[i + lane] = Op::apply(totals[i + lane], Total(sum[lane]));
      }
    }
    for (; i != count; ++i)
      for (int64_t row = first; row != end; ++row)
        totals[i] =
            Op::apply(totals[i], Total(laneAt<V>(lanes + row * rowStep + i)));
  }
}
} // namespace

void reduceRows(ReduceMode mode, TileLane lane, const int32_t *lanes,
                int64_t numRows, int64_t rowStep, int64_t count, void *totals) {
  withOp(mode, [&]<typename Op>() {
    for (int64_t row = 0; row != numRows; ++row)
      if (lane == TileLane::F)
        reduceOneRow<Op, F>(lanes + row * rowStep, count,
                            static_cast<double *>(totals)[row]);
      else
        reduceOneRow<Op, I>(lanes + row * rowStep, count,
                            static_cast<int64_t *>(totals)[row]);
  });
}

void reduceColumns(ReduceMode mode, TileLane lane, const int32_t *lanes,
                   int64_t numRows, int64_t rowStep, int64_t count,
                   void *totals) {
  withOp(mode, [&]<typename Op>() {
    if (lane == TileLane::F)
      reduceAllColumns<Op, F>(lanes, numRows, rowStep, count,
                              static_cast<double *>(totals));
    else
      reduceAllColumns<Op, I>(lanes, numRows, rowStep, count,
                              static_cast<int64_t *>(totals));
  });
}

} // namespace corten::runtime::CORTEN_LEVEL
