// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Tensors.h"

using namespace corten::runtime;
using Kernel = PortableKernel;

namespace {

TEST(Reduction, KeepsReducedAxes) {
  Owned<float> x({2, 3}, {1, 2, 3, 4, 5, 6});
  Owned<float> columns({1, 3});
  ASSERT_EQ(run(Kernel::ReduceSum, {x.tensor}, columns.tensor), "");
  EXPECT_NUMBERS(columns.numbers(), 5, 7, 9);
  Owned<float> rows({2, 1});
  ASSERT_EQ(run(Kernel::ReduceMean, {x.tensor}, rows.tensor), "");
  EXPECT_NUMBERS(rows.numbers(), 2, 5);
  Owned<float> all({1, 1});
  ASSERT_EQ(run(Kernel::ReduceProduct, {x.tensor}, all.tensor), "");
  EXPECT_NUMBERS(all.numbers(), 720);
}

TEST(Reduction, HalvesAreSummedUpInMore) {
  Owned<Float16> ones({4096});
  for (int i = 0; i != 4096; ++i)
    ones.elements[i] = Float16(1.0f);
  Owned<Float16> sum({1});
  ASSERT_EQ(run(Kernel::ReduceSum, {ones.tensor}, sum.tensor), "");
  EXPECT_NUMBERS(sum.numbers(), 4096);
}

TEST(Reduction, OfNothing) {
  Owned<float> none({2, 0});
  Owned<float> out({2, 1});
  ASSERT_EQ(run(Kernel::ReduceSum, {none.tensor}, out.tensor), "");
  EXPECT_NUMBERS(out.numbers(), 0, 0);
  ASSERT_EQ(run(Kernel::ReduceProduct, {none.tensor}, out.tensor), "");
  EXPECT_NUMBERS(out.numbers(), 1, 1);
  ASSERT_EQ(run(Kernel::ReduceMean, {none.tensor}, out.tensor), "");
  EXPECT_NUMBERS(out.numbers(), kNan, kNan);
  EXPECT_MENTIONS(run(Kernel::ReduceMax, {none.tensor}, out.tensor),
                  "none of no elements");
}

TEST(Reduction, NanWins) {
  Owned<float> x({3}, {1, kNan, 3});
  Owned<float> out({1});
  ASSERT_EQ(run(Kernel::ReduceMax, {x.tensor}, out.tensor), "");
  EXPECT_NUMBERS(out.numbers(), kNan);
  ASSERT_EQ(run(Kernel::ReduceMin, {x.tensor}, out.tensor), "");
  EXPECT_NUMBERS(out.numbers(), kNan);
  Owned<uint32_t> place({1});
  ASSERT_EQ(run(Kernel::Argmax, {x.tensor}, place.tensor, {0}), "");
  EXPECT_NUMBERS(place.numbers(), 1);
  Owned<float> running({3});
  ASSERT_EQ(run(Kernel::ScanMax, {x.tensor}, running.tensor, {0, 0}), "");
  EXPECT_NUMBERS(running.numbers(), 1, kNan, kNan);
}

TEST(Reduction, IntegersWrap) {
  Owned<int8_t> x({2}, {100, 100});
  Owned<int8_t> out({1});
  ASSERT_EQ(run(Kernel::ReduceSum, {x.tensor}, out.tensor), "");
  EXPECT_NUMBERS(out.numbers(), -56);
  Owned<int8_t> running({2});
  ASSERT_EQ(run(Kernel::ScanSum, {x.tensor}, running.tensor, {0, 0}), "");
  EXPECT_NUMBERS(running.numbers(), 100, -56);
}

TEST(Reduction, ScansFromEitherEnd) {
  Owned<float> x({2, 3}, {1, 2, 3, 4, 5, 6});
  Owned<float> out({2, 3});
  ASSERT_EQ(run(Kernel::ScanSum, {x.tensor}, out.tensor, {1, 0}), "");
  EXPECT_NUMBERS(out.numbers(), 1, 3, 6, 4, 9, 15);
  ASSERT_EQ(run(Kernel::ScanSum, {x.tensor}, out.tensor, {1, 1}), "");
  EXPECT_NUMBERS(out.numbers(), 6, 5, 3, 15, 11, 6);
  ASSERT_EQ(run(Kernel::ScanProduct, {x.tensor}, out.tensor, {0, 0}), "");
  EXPECT_NUMBERS(out.numbers(), 1, 2, 3, 4, 10, 18);
}

TEST(Reduction, SoftmaxOfLargeNumbers) {
  Owned<float> x({2, 2}, {1000, 1000, 0, -HUGE_VAL});
  Owned<float> out({2, 2});
  ASSERT_EQ(run(Kernel::Softmax, {x.tensor}, out.tensor, {1}), "");
  EXPECT_NUMBERS(out.numbers(), 0.5, 0.5, 1, 0);
  ASSERT_EQ(run(Kernel::Softmax, {x.tensor}, out.tensor, {0}), "");
  EXPECT_NUMBERS(out.numbers(), 1, 1, 0, 0);
}

TEST(Reduction, SortsStablyWithNanLast) {
  Owned<float> x({5}, {2, kNan, 1, 2, -1});
  Owned<float> out({5});
  Owned<int32_t> order({5});
  ASSERT_EQ(run(Kernel::Sort, {x.tensor}, out.tensor, {0, 0}), "");
  EXPECT_NUMBERS(out.numbers(), -1, 1, 2, 2, kNan);
  ASSERT_EQ(run(Kernel::Argsort, {x.tensor}, order.tensor, {0, 0}), "");
  EXPECT_NUMBERS(order.numbers(), 4, 2, 0, 3, 1);
  ASSERT_EQ(run(Kernel::Argsort, {x.tensor}, order.tensor, {0, 1}), "");
  EXPECT_NUMBERS(order.numbers(), 0, 3, 2, 4, 1);
}

TEST(Reduction, Booleans) {
  Owned<bool> x({2, 2}, {1, 0, 1, 1});
  Owned<bool> out({2, 1});
  ASSERT_EQ(run(Kernel::ReduceAll, {x.tensor}, out.tensor), "");
  EXPECT_NUMBERS(out.numbers(), 0, 1);
  ASSERT_EQ(run(Kernel::ReduceAny, {x.tensor}, out.tensor), "");
  EXPECT_NUMBERS(out.numbers(), 1, 1);
}
} // namespace
