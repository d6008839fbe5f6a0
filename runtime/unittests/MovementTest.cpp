// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Tensors.h"

#include "corten/Runtime/Modes.h"

using namespace corten::runtime;
using Kernel = PortableKernel;

namespace {

TEST(Movement, CopiesAnyView) {
  Owned<int32_t> x({2, 3}, {1, 2, 3, 4, 5, 6});
  Owned<int32_t> out({3, 2});
  // Transposed, and backwards along what were the columns.
  ASSERT_EQ(
      run(Kernel::Copy, {x.tensor.view({{3, 2}}, {{-1, 3}}, 2)}, out.tensor),
      "");
  EXPECT_NUMBERS(out.numbers(), 3, 6, 2, 5, 1, 4);
}

TEST(Movement, UnpacksBitStreams) {
  // Three bits each, the lowest first: 1, 2, 3, 4, 5, 6, 7, 0.
  uint32_t stream = 0;
  for (uint32_t i = 0; i != 8; ++i)
    stream |= ((i + 1) & 7) << (3 * i);
  Owned<uint8_t> bytes({3}, {double(stream & 255), double(stream >> 8 & 255),
                             double(stream >> 16)});
  Owned<SmallUInt<3>> out({2, 4});
  ASSERT_EQ(run(Kernel::Unpack, {bytes.tensor}, out.tensor), "");
  EXPECT_NUMBERS(out.numbers(), 1, 2, 3, 4, 5, 6, 7, 0);
  Owned<uint8_t> nibbles({2}, {0x8f, 0x17});
  Owned<SmallInt<4>> whole({4});
  ASSERT_EQ(run(Kernel::Unpack, {nibbles.tensor}, whole.tensor), "");
  EXPECT_NUMBERS(whole.numbers(), -1, -8, 7, 1);
  Owned<SmallInt<4>> more({5});
  EXPECT_MENTIONS(run(Kernel::Unpack, {nibbles.tensor}, more.tensor),
                  "too short");
}

TEST(Movement, PadsByEveryRule) {
  Owned<float> x({3}, {1, 2, 3});
  Owned<float> out({7});
  auto pad = [&](PaddingMode mode) {
    EXPECT_EQ(
        run(Kernel::PadByRule, {x.tensor}, out.tensor, {int64_t(mode), 2}), "");
    return out.numbers();
  };
  EXPECT_NUMBERS(pad(PaddingMode::Replicate), 1, 1, 1, 2, 3, 3, 3);
  EXPECT_NUMBERS(pad(PaddingMode::Reflect), 3, 2, 1, 2, 3, 2, 1);
  EXPECT_NUMBERS(pad(PaddingMode::Symmetric), 2, 1, 1, 2, 3, 3, 2);
  EXPECT_NUMBERS(pad(PaddingMode::Circular), 2, 3, 1, 2, 3, 1, 2);
  for (int64_t mode : {-1, 4})
    EXPECT_EQ(run(Kernel::PadByRule, {x.tensor}, out.tensor, {mode, 2}),
              "PadByRule: there is no mode " + std::to_string(mode));
}

/// PyTorch does not go round a second time.
TEST(Movement, PadsOnlyWithWhatThereIs) {
  Owned<float> x({3}, {1, 2, 3});
  auto pad = [&](PaddingMode mode, int64_t before, int64_t after) {
    Owned<float> out({before + 3 + after});
    return run(Kernel::PadByRule, {x.tensor}, out.tensor,
               {int64_t(mode), before});
  };
  EXPECT_EQ(pad(PaddingMode::Replicate, 9, 9), "");
  EXPECT_MENTIONS(pad(PaddingMode::Reflect, 3, 0),
                  "axis 0 of f32[3] can be padded by at most 2, not 3");
  EXPECT_MENTIONS(pad(PaddingMode::Reflect, 0, 3), "at most 2, not 3");
  for (PaddingMode mode : {PaddingMode::Symmetric, PaddingMode::Circular}) {
    EXPECT_EQ(pad(mode, 3, 3), "");
    EXPECT_MENTIONS(pad(mode, 4, 0), "at most 3, not 4");
    EXPECT_MENTIONS(pad(mode, 0, 4), "at most 3, not 4");
  }
}

TEST(Movement, GathersAlongAnAxis) {
  Owned<float> x({2, 3}, {1, 2, 3, 4, 5, 6});
  Owned<int32_t> indices({2, 2}, {0, -1, 2, 1});
  Owned<float> out({2, 2});
  ASSERT_EQ(
      run(Kernel::GatherAlongAxis, {x.tensor, indices.tensor}, out.tensor, {1}),
      "");
  EXPECT_NUMBERS(out.numbers(), 1, 3, 6, 5);
  indices.elements[3] = 3;
  EXPECT_MENTIONS(
      run(Kernel::GatherAlongAxis, {x.tensor, indices.tensor}, out.tensor, {1}),
      "index 3 is out of range for an axis of 3");
}

TEST(Movement, ScattersInEveryMode) {
  Owned<int32_t> x({4}, {10, 20, 30, 40});
  Owned<int16_t> indices({3}, {1, 1, -1});
  Owned<int32_t> updates({3}, {2, 5, 7});
  Owned<int32_t> out({4});
  auto scatter = [&](ScatterMode mode) {
    EXPECT_EQ(run(Kernel::ScatterAlongAxis,
                  {x.tensor, indices.tensor, updates.tensor}, out.tensor,
                  {0, int64_t(mode)}),
              "");
    return out.numbers();
  };
  EXPECT_NUMBERS(scatter(ScatterMode::Update), 10, 5, 30, 7);
  EXPECT_NUMBERS(scatter(ScatterMode::Add), 10, 27, 30, 47);
  EXPECT_NUMBERS(scatter(ScatterMode::Sub), 10, 13, 30, 33);
  EXPECT_NUMBERS(scatter(ScatterMode::Mul), 10, 200, 30, 280);
  EXPECT_NUMBERS(scatter(ScatterMode::Div), 10, 2, 30, 5);
  EXPECT_NUMBERS(scatter(ScatterMode::Max), 10, 20, 30, 40);
  EXPECT_NUMBERS(scatter(ScatterMode::Min), 10, 2, 30, 7);
}

TEST(Movement, AFailedScatterWritesNothing) {
  Owned<float> x({2}, {1, 2});
  Owned<int32_t> indices({2}, {0, 5});
  Owned<float> updates({2}, {8, 9});
  EXPECT_MENTIONS(run(Kernel::ScatterAlongAxis,
                      {x.tensor, indices.tensor, updates.tensor}, x.tensor,
                      {0, 0}),
                  "out of range");
  EXPECT_NUMBERS(x.numbers(), 1, 2);
}

TEST(Movement, GathersAndScattersParts) {
  Owned<float> x({3, 2}, {1, 2, 3, 4, 5, 6});
  Owned<int32_t> rows({2, 1}, {2, -3});
  Owned<float> out({2, 2});
  ASSERT_EQ(run(Kernel::GatherNd, {x.tensor, rows.tensor}, out.tensor), "");
  EXPECT_NUMBERS(out.numbers(), 5, 6, 1, 2);
  Owned<int32_t> places({2, 2}, {0, 1, 2, 0});
  Owned<float> picked({2});
  ASSERT_EQ(run(Kernel::GatherNd, {x.tensor, places.tensor}, picked.tensor),
            "");
  EXPECT_NUMBERS(picked.numbers(), 2, 5);
  Owned<float> updates({2}, {70, 80});
  Owned<float> result({3, 2});
  ASSERT_EQ(run(Kernel::ScatterNd, {x.tensor, places.tensor, updates.tensor},
                result.tensor, {1}),
            "");
  EXPECT_NUMBERS(result.numbers(), 1, 70, 3, 4, 80, 6);
  Owned<int32_t> whole({2, 0});
  Owned<float> copies({2, 3, 2});
  ASSERT_EQ(run(Kernel::GatherNd, {x.tensor, whole.tensor}, copies.tensor), "");
  EXPECT_NUMBERS(copies.numbers(), 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6);
}

TEST(Movement, FindsWhatIsNotZero) {
  Owned<float> x({2, 2}, {0, 1, kNan, -0.0});
  Owned<int32_t> out({4, 2});
  ASSERT_EQ(run(Kernel::NonZero, {x.tensor}, out.tensor), "");
  EXPECT_EQ(out.tensor.extents[0], 2);
  EXPECT_NUMBERS(out.numbers(), 0, 1, 1, 0);
}

TEST(Movement, Ranges) {
  Owned<float> start({}, {0.5});
  Owned<float> step({}, {-0.25});
  Owned<float> out({3});
  ASSERT_EQ(run(Kernel::Range, {start.tensor, step.tensor}, out.tensor), "");
  EXPECT_NUMBERS(out.numbers(), 0.5, 0.25, 0);
}

TEST(Movement, ExpandsCompressedWeights) {
  Owned<SmallUInt<2>> indices({4, 1}, {0, 3, 1, 2});
  // A table of pairs for each two rows.
  Owned<float> table({2, 1, 4, 2},
                     {0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17});
  Owned<float> out({4, 2});
  ASSERT_EQ(
      run(Kernel::LutToDense, {indices.tensor, table.tensor}, out.tensor, {1}),
      "");
  EXPECT_NUMBERS(out.numbers(), 0, 1, 6, 7, 12, 13, 14, 15);
  Owned<float> values({2}, {7, 9});
  Owned<SmallUInt<1>> mask({2, 2}, {0, 1, 1, 0});
  Owned<float> dense({2, 2});
  ASSERT_EQ(
      run(Kernel::SparseToDense, {values.tensor, mask.tensor}, dense.tensor),
      "");
  EXPECT_NUMBERS(dense.numbers(), 0, 7, 9, 0);
  mask.elements[0] = SmallUInt<1>(1);
  EXPECT_MENTIONS(
      run(Kernel::SparseToDense, {values.tensor, mask.tensor}, dense.tensor),
      "more places than there are values");
}

TEST(Movement, QuantizesAndBack) {
  Owned<float> x({4}, {-1, 0.25, 0.75, 100});
  Owned<float> scale({}, {0.5});
  Owned<uint8_t> zero({}, {10});
  Owned<float> offset({}, {0});
  auto spread = [](const Tensor &tensor) { return tensor.view({{4}}, {{0}}); };
  Owned<uint8_t> coarse({4});
  ASSERT_EQ(run(Kernel::Quantize,
                {x.tensor, spread(scale.tensor), spread(zero.tensor),
                 spread(offset.tensor)},
                coarse.tensor),
            "");
  EXPECT_NUMBERS(coarse.numbers(), 8, 10, 12, 210);
  Owned<float> back({4});
  ASSERT_EQ(run(Kernel::Dequantize,
                {coarse.tensor, spread(scale.tensor), spread(zero.tensor),
                 spread(offset.tensor)},
                back.tensor),
            "");
  EXPECT_NUMBERS(back.numbers(), -1, 0, 1, 100);
}
TEST(Movement, NumbersAsATensor) {
  Owned<int32_t> out({2, 2});
  ASSERT_EQ(run(Kernel::Numbers, {}, out.tensor, {1, -2, 3, 4}), "");
  EXPECT_NUMBERS(out.numbers(), 1, -2, 3, 4);
  EXPECT_NE(run(Kernel::Numbers, {}, out.tensor, {1, 2, 3}), "");
  Owned<float> floats({1});
  EXPECT_NE(run(Kernel::Numbers, {}, floats.tensor, {1}), "");
}

TEST(Movement, LengthsOfRanges) {
  Owned<float> start({}, {1}), stop({}, {2}), step({}, {0.3});
  Owned<int64_t> out({1});
  auto count = [&] {
    return run(Kernel::RangeCount, {start.tensor, stop.tensor, step.tensor},
               out.tensor);
  };
  ASSERT_EQ(count(), "");
  EXPECT_NUMBERS(out.numbers(), 4);
  step.elements[0] = -1;
  ASSERT_EQ(count(), "");
  EXPECT_NUMBERS(out.numbers(), 0);
  step.elements[0] = 0;
  EXPECT_MENTIONS(count(), "does not end");
}

} // namespace
