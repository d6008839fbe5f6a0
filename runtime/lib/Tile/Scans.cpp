// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Running sums, products and extrema: many rows at once, and side by side where
// they lie so.

#include "../Portable/Arithmetic.h"
#include "../Products/Common.h"

#include <algorithm>

using namespace corten::runtime;
using namespace corten::runtime::products;
using namespace corten::runtime::portable;

/// Rows that are done side by side.
static constexpr int64_t kColumns = 64;

namespace {
/// Rows along an axis, `kColumns` at a time of those along the innermost of the
/// others.
struct ScannedRows {
  Tensor from;
  Tensor to;
  int64_t length;
  int64_t columns = 1;
  int64_t fromColumnStep = 0;
  int64_t toColumnStep = 0;

  explicit ScannedRows(const Invocation &call)
      : from(call.input().withAxisLast(int(call.number(0)))),
        to(call.output().withAxisLast(int(call.number(0)))),
        length(from.extents[from.rank - 1]) {
    from.rank = to.rank = uint8_t(from.rank - 1);
    if (from.rank == 0)
      return;
    int inner = from.rank - 1;
    columns = from.extents[inner];
    fromColumnStep = from.steps[inner];
    toColumnStep = to.steps[inner];
    from.rank = to.rank = uint8_t(inner);
  }

  int64_t blocks() const { return ceilDivide(columns, kColumns); }
  int64_t outer() const { return from.size(); }
  static int64_t offset(const Tensor &tensor, int64_t row) {
    int64_t offset = 0;
    for (int axis = tensor.rank; axis-- > 0;) {
      offset += row % tensor.extents[axis] * tensor.steps[axis];
      row /= tensor.extents[axis];
    }
    return offset;
  }
};
} // namespace

template <typename Op, typename T>
static void scanColumns(const T *from, int64_t fromStep, int64_t fromColumn,
                        T *to, int64_t toStep, int64_t toColumn, int64_t length,
                        int64_t columns) {
  using Number = std::conditional_t<FloatElement<T>, double, ComputeType<T>>;
  Number running[kColumns];
  for (int64_t i = 0; i != length; ++i)
    for (int64_t j = 0; j != columns; ++j) {
      auto x = Number(ComputeType<T>(from[i * fromStep + j * fromColumn]));
      running[j] = i == 0 ? x : Op::apply(running[j], x);
      to[i * toStep + j * toColumn] = T(ComputeType<T>(running[j]));
    }
}

template <typename Op>
static Error scan(const Vectors &, const Invocation &call) {
  if (call.output().size() == 0)
    return Error::success();
  ScannedRows rows(call);
  int axis = int(call.number(0));
  bool isReverse = call.number(1) != 0;
  int64_t fromStep = call.input().steps[axis];
  int64_t toStep = call.output().steps[axis];
  withType(call.input().type, [&]<typename T>() {
    if constexpr (FloatElement<T> || IntegerElement<T>)
      forEachChunk(call, rows.outer() * rows.blocks(), [&](int64_t chunk, int) {
        int64_t first = chunk % rows.blocks() * kColumns;
        int64_t outer = chunk / rows.blocks();
        const T *from = call.input().as<T>() + rows.offset(rows.from, outer) +
                        first * rows.fromColumnStep;
        T *to = call.output().as<T>() + rows.offset(rows.to, outer) +
                first * rows.toColumnStep;
        int64_t last = isReverse ? rows.length - 1 : 0;
        scanColumns<Op>(from + last * fromStep,
                        isReverse ? -fromStep : fromStep, rows.fromColumnStep,
                        to + last * toStep, isReverse ? -toStep : toStep,
                        rows.toColumnStep, rows.length,
                        std::min(kColumns, rows.columns - first));
      });
  });
  return Error::success();
}

static bool accepts(const Invocation &call) {
  const Tensor &input = call.input();
  const Tensor &output = call.output();
  return call.number(0) >= 0 && call.number(0) < input.rank &&
         input.type == output.type &&
         std::ranges::equal(input.shape(), output.shape()) &&
         (isFloat(input.type) || isInteger(input.type));
}

CORTEN_VARIANTS(ScanSum, accepts, scan<Add>, nullptr)
CORTEN_VARIANTS(ScanProduct, accepts, scan<Mul>, nullptr)
CORTEN_VARIANTS(ScanMin, accepts, scan<Minimum>, nullptr)
CORTEN_VARIANTS(ScanMax, accepts, scan<Maximum>, nullptr)
