// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Program/StridedMemory.h"

#include "llvm/ADT/Sequence.h"

#include "gtest/gtest.h"

#include <numeric>

using namespace corten;

namespace {

/// The numbers from 0 to 23 as a storage.
template <typename T> class StridedMemoryTest : public testing::Test {
protected:
  StridedMemoryTest() {
    for (unsigned i : llvm::seq(24U))
      owner->push_back(T(i));
  }
  StridedMemory memory(llvm::ArrayRef<int64_t> shape,
                       llvm::ArrayRef<int64_t> strides, int64_t offset) {
    llvm::StringRef data(reinterpret_cast<const char *>(owner->data()),
                         owner->size() * sizeof(T));
    return {shape, strides, offset, sizeof(T), {data, owner}};
  }
  std::vector<T> elements(const StridedMemory &memory) {
    SharedBytes bytes = llvm::cantFail(elementsOf(memory));
    const T *begin = reinterpret_cast<const T *>(bytes.data.data());
    return {begin, begin + bytes.data.size() / sizeof(T)};
  }

  std::shared_ptr<std::vector<T>> owner = std::make_shared<std::vector<T>>();
};

using Elements = testing::Types<uint8_t, uint16_t, float, double>;
TYPED_TEST_SUITE(StridedMemoryTest, Elements);

TYPED_TEST(StridedMemoryTest, RowMajorIsAView) {
  llvm::Expected<SharedBytes> part =
      elementsOf(this->memory({2, 3}, {3, 1}, 6));
  ASSERT_TRUE(bool(part));
  EXPECT_EQ(static_cast<const void *>(part->data.data()),
            this->owner->data() + 6);
  EXPECT_EQ(part->owner, this->owner);
}

TYPED_TEST(StridedMemoryTest, OthersAreGathered) {
  using List = std::vector<TypeParam>;
  EXPECT_EQ(this->elements(this->memory({3, 2}, {1, 3}, 0)),
            (List{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(this->elements(this->memory({2, 2, 2}, {1, 12, 6}, 1)),
            (List{1, 7, 13, 19, 2, 8, 14, 20}));
  EXPECT_EQ(this->elements(this->memory({2, 3}, {0, 2}, 1)),
            (List{1, 3, 5, 1, 3, 5}));
  EXPECT_EQ(this->elements(this->memory({2, 1, 2, 2}, {12, 9, 1, 4}, 0)),
            (List{0, 4, 1, 5, 12, 16, 13, 17}));
  EXPECT_EQ(this->elements(this->memory({3}, {7}, 2)), (List{2, 9, 16}));
  EXPECT_EQ(this->elements(this->memory({}, {}, 5)), List{5});
  EXPECT_EQ(this->elements(this->memory({2, 0}, {9, 9}, 0)), List{});
}

TYPED_TEST(StridedMemoryTest, WhatReachesBeyondIsRefused) {
  EXPECT_TRUE(bool(elementsOf(this->memory({24}, {1}, 0))));
  llvm::Expected<SharedBytes> beyond = elementsOf(this->memory({24}, {1}, 1));
  EXPECT_EQ(llvm::toString(beyond.takeError()),
            "reaches beyond the " + std::to_string(24 * sizeof(TypeParam)) +
                " bytes of its storage");
}

/// What is copied in parts, from each place to the right one.
TEST(LargeStridedMemoryTest, IsGathered) {
  constexpr int64_t rows = 3000, columns = 5000, depth = 3;
  auto owner = std::make_shared<std::vector<uint32_t>>(rows * columns * depth);
  std::iota(owner->begin(), owner->end(), 0);
  llvm::StringRef data(reinterpret_cast<const char *>(owner->data()),
                       owner->size() * sizeof(uint32_t));
  auto check = [&](llvm::ArrayRef<int64_t> shape,
                   llvm::ArrayRef<int64_t> strides, int64_t offset) {
    SharedBytes bytes = llvm::cantFail(
        elementsOf({shape, strides, offset, sizeof(uint32_t), {data, owner}}));
    const auto *element = reinterpret_cast<const uint32_t *>(bytes.data.data());
    ASSERT_EQ(bytes.data.size(), shape[0] * shape[1] * shape[2] * 4);
    for (int64_t i = 0; i < shape[0]; ++i)
      for (int64_t j = 0; j < shape[1]; ++j)
        for (int64_t k = 0; k < shape[2]; ++k)
          ASSERT_EQ(*element++,
                    offset + i * strides[0] + j * strides[1] + k * strides[2]);
  };
  check({columns, rows, depth}, {depth, columns * depth, 1}, 0);
  check({depth, columns, rows}, {1, depth, columns * depth}, 0);
  check({rows / 3, depth, columns / 2}, {3 * columns * depth, 1, 2 * depth}, 7);
  check({2, columns * depth, rows}, {0, 1, columns * depth}, 0);
}

TYPED_TEST(StridedMemoryTest, CopiesAreKnown) {
  ProgramBuilder builder;
  auto add = [&](llvm::ArrayRef<int64_t> strides) {
    return llvm::cantFail(addWeight(builder, ScalarType::Float32, {2, 3},
                                    this->memory({2, 3}, strides, 0)));
  };
  EXPECT_FALSE(add({3, 1}).isCopy);
  EXPECT_TRUE(add({1, 2}).isCopy);
  EXPECT_EQ(add({3, 1}).index, 0);
}

} // namespace
