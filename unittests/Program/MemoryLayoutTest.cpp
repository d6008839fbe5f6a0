// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Program/MemoryLayout.h"

#include "llvm/ADT/STLExtras.h"

#include "gtest/gtest.h"

#include <random>

using namespace corten;
using llvm::ArrayRef;

namespace {

const SizeExpression kS =
    SizeExpression::parse("Symbol('s77', positive=True, integer=True)");

MemoryLayout layout(ArrayRef<SizeExpression> shape,
                    ArrayRef<SizeExpression> strides,
                    SizeExpression offset = 0) {
  return {"cpu", llvm::SmallVector<SizeExpression>(shape),
          llvm::SmallVector<SizeExpression>(strides), std::move(offset)};
}

TEST(MemoryLayoutTest, Contiguous) {
  EXPECT_TRUE(layout({}, {}).isContiguous());
  EXPECT_TRUE(layout({2, 3}, {3, 1}).isContiguous());
  EXPECT_FALSE(layout({2, 3}, {1, 2}).isContiguous());
  // Nobody walks along an axis of one element, or in an empty tensor.
  EXPECT_TRUE(layout({1, 3}, {7, 1}).isContiguous());
  EXPECT_TRUE(layout({2, 0}, {5, 9}).isContiguous());
  EXPECT_TRUE(layout({2, kS}, {kS, 1}).isContiguous());
  EXPECT_FALSE(layout({2, kS}, {1, 2}).isContiguous());
}

TEST(MemoryLayoutTest, Viewable) {
  MemoryLayout transposed = layout({3, 2, 4}, {8, 4, 1});
  EXPECT_TRUE(transposed.isViewableAs({24}));
  EXPECT_TRUE(transposed.isViewableAs({3, 1, 8}));
  transposed = layout({2, 3, 4}, {4, 8, 1});
  EXPECT_TRUE(transposed.isViewableAs({2, 3, 2, 2}));
  EXPECT_TRUE(transposed.isViewableAs({1, 2, 3, 1, 4}));
  EXPECT_FALSE(transposed.isViewableAs({6, 4}));
  EXPECT_FALSE(transposed.isViewableAs({2, 12}));
  MemoryLayout dynamic = layout({2, 3, kS}, {kS, SizeExpression(2) * kS, 1});
  EXPECT_TRUE(dynamic.isViewableAs({2, 3, 1, kS}));
  EXPECT_FALSE(dynamic.isViewableAs({6, kS}));
}

/// The elements of a tensor in row-major order, as places in memory.
std::vector<int64_t> placesOf(ArrayRef<int64_t> shape,
                              ArrayRef<int64_t> strides) {
  std::vector<int64_t> places = {0};
  for (auto [extent, stride] : llvm::zip_equal(shape, strides)) {
    std::vector<int64_t> next;
    for (int64_t place : places)
      for (int64_t i = 0; i < extent; ++i)
        next.push_back(place + i * stride);
    places = std::move(next);
  }
  return places;
}

/// Whether there are strides with which `target` has the same elements.
bool hasStrides(ArrayRef<int64_t> places, ArrayRef<int64_t> target) {
  llvm::SmallVector<int64_t> strides;
  size_t step = places.size();
  for (int64_t extent : target) {
    step /= extent;
    strides.push_back(extent > 1 ? places[step] : 0);
  }
  return ArrayRef(placesOf(target, strides)) == places;
}

TEST(MemoryLayoutTest, ViewableWhereStridesExist) {
  std::mt19937 random(0);
  auto pick = [&](size_t bound) { return int64_t(random() % bound); };
  unsigned agreed[2] = {};
  for (int round = 0; round < 1000; ++round) {
    // A part of a permuted tensor, perhaps repeated.
    llvm::SmallVector<std::pair<int64_t, int64_t>> axes;
    int64_t stride = 1;
    for (int64_t axis = 0, rank = 1 + pick(4); axis < rank; ++axis) {
      axes.push_back({1 + pick(4), stride});
      stride *= axes.back().first;
    }
    llvm::shuffle(axes.begin(), axes.end(), random);
    axes[0].first = std::max<int64_t>(1, axes[0].first - pick(2));
    if (pick(3) == 0)
      axes.insert(axes.begin(), {2, 0});
    llvm::SmallVector<int64_t> shape, strides, target;
    for (auto [extent, step] : axes) {
      shape.push_back(extent);
      strides.push_back(step);
    }
    std::vector<int64_t> places = placesOf(shape, strides);
    for (int64_t rest = places.size(); rest > 1; rest /= target.back()) {
      int64_t divisor = 1 + pick(rest);
      while (rest % divisor != 0)
        ++divisor;
      target.push_back(divisor);
    }
    auto expressions = [](ArrayRef<int64_t> sizes) {
      return llvm::SmallVector<SizeExpression>(sizes.begin(), sizes.end());
    };
    bool expected = hasStrides(places, target);
    EXPECT_EQ(layout(expressions(shape), expressions(strides))
                  .isViewableAs(expressions(target)),
              expected);
    ++agreed[expected];
  }
  EXPECT_GT(agreed[false], 100U);
  EXPECT_GT(agreed[true], 100U);
}

/// A call of `name` on a tensor of two axes, with its other arguments.
struct Call {
  ProgramBuilder builder;
  Node *x = nullptr, *call = nullptr;

  Call(llvm::StringRef name, llvm::StringRef parameter, Argument argument,
       ScalarType result = ScalarType::Float32) {
    Parameter self{"self", false, {}}, other{parameter, true, {}};
    x = &builder.addNode(builder.mainGraph(), Node::Kind::Placeholder, "x");
    x->results = builder.save(tensor(ScalarType::Float32));
    call = &builder.addNode(builder.mainGraph(), Node::Kind::Call, "y");
    call->callee = builder.addOperator("aten", name, {self, other});
    call->arguments = builder.save({Argument::node(x), argument});
    call->results = builder.save(tensor(result));
  }
  ValueInfo tensor(ScalarType type) {
    ValueInfo info;
    info.kind = ValueInfo::Kind::Tensor;
    info.dtype = type;
    info.sizes = builder.save(ArrayRef<Size>{2, 3});
    return info;
  }
  llvm::Error resolve(const MemoryLayout &source, const MemoryLayout &result) {
    return resolveMemory(
        *call, [&](const Node &node) { return &node == x ? source : result; });
  }
  bool sharesMemory(const MemoryLayout &source, const MemoryLayout &result) {
    llvm::cantFail(resolve(source, result));
    return call->sharesMemory;
  }
};

TEST(MemoryLayoutTest, SometimesViews) {
  MemoryLayout rows = layout({2, 3}, {3, 1}), columns = layout({2, 3}, {1, 2});
  MemoryLayout flat = layout({6}, {1});
  EXPECT_TRUE(Call("reshape.default", "shape", {}).sharesMemory(rows, flat));
  EXPECT_FALSE(
      Call("reshape.default", "shape", {}).sharesMemory(columns, flat));
  EXPECT_FALSE(Call("ravel.default", "_", {}).sharesMemory(columns, flat));
  EXPECT_TRUE(Call("contiguous.default", "_", {}).sharesMemory(rows, rows));
  EXPECT_FALSE(Call("contiguous.default", "_", {}).sharesMemory(columns, rows));
  Argument yes = Argument::boolean(true), no = Argument::boolean(false);
  EXPECT_TRUE(Call("to.dtype", "copy", no).sharesMemory(columns, columns));
  EXPECT_FALSE(Call("to.dtype", "copy", no).sharesMemory(columns, rows));
  EXPECT_FALSE(Call("to.dtype", "copy", yes).sharesMemory(rows, rows));
  EXPECT_FALSE(Call("to.dtype", "copy", no, ScalarType::Float16)
                   .sharesMemory(rows, rows));
  MemoryLayout elsewhere = rows;
  elsewhere.device = "cuda:0";
  EXPECT_FALSE(Call("to.device", "copy", no).sharesMemory(rows, elsewhere));
  // Others are not asked.
  EXPECT_FALSE(Call("relu.default", "_", {}).sharesMemory(rows, rows));
}

TEST(MemoryLayoutTest, ViewsOfStorage) {
  MemoryLayout rows = layout({2, 3}, {3, 1}), columns = layout({2, 3}, {1, 2});
  MemoryLayout later = layout({2, 3}, {3, 1}, 6);
  Argument none, zero = Argument::integer(0);
  auto resolve = [&](const Argument &offset, const MemoryLayout &source) {
    Call call("as_strided.default", "storage_offset", offset);
    return llvm::toString(call.resolve(source, rows));
  };
  EXPECT_EQ(resolve(zero, rows), "");
  EXPECT_EQ(resolve(none, later), "");
  constexpr char kRefused[] =
      "call 'y': aten.as_strided.default of a tensor that is itself a view; "
      "call contiguous() on it first";
  EXPECT_EQ(resolve(zero, later), kRefused);
  EXPECT_EQ(resolve(none, columns), kRefused);
}

} // namespace
