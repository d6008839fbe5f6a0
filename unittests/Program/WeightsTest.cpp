// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Program/Weights.h"

#include "gtest/gtest.h"

using namespace corten;
using llvm::StringRef;

namespace {

/// A program with an input for each weight, and a folder beside it.
class WeightsTest : public ::testing::Test {
protected:
  const Node &input(StringRef name, llvm::ArrayRef<Size> sizes) {
    Node &node =
        builder.addNode(builder.mainGraph(), Node::Kind::Placeholder, name);
    ValueInfo info;
    info.kind = ValueInfo::Kind::Tensor;
    info.sizes = builder.save(sizes);
    node.results = builder.save(info);
    return node;
  }
  /// Floats in the folder.
  void store(StringRef name, std::vector<int64_t> shape) {
    folder->add(name, {ScalarType::Float32,
                       std::move(shape),
                       {StringRef(kBytes, sizeof(kBytes)), nullptr},
                       "a.safetensors",
                       /*offset=*/0});
  }
  /// Two floats of the program.
  ProgramTensor pair(bool hasData = true) {
    return {ScalarType::Float32, kShape, hasData, memory};
  }
  TensorIdentity at(const void *storage, int64_t offset = 0) {
    return {storage, ScalarType::Float32, offset, {2}, {1}};
  }
  /// The index of a weight, or the error.
  std::string add(ProgramWeights &weights, StringRef name, bool isState,
                  const ProgramTensor *tensor) {
    llvm::Expected<AddedWeight> added =
        weights.add(builder, name, input(name, {2}), isState, tensor);
    return added ? std::to_string(added->index)
                 : llvm::toString(added.takeError());
  }
  const void *dataOf(int weight) {
    return builder.building().weights[weight].data;
  }

  static constexpr char kBytes[8] = {};
  static constexpr char kOwn[8] = {};
  static constexpr int64_t kShape[] = {2};
  static constexpr int64_t kStrides[] = {1};
  ProgramBuilder builder;
  std::shared_ptr<TensorFolder> folder =
      std::make_shared<TensorFolder>("weights");
  bool isRead = false;
  std::function<llvm::Expected<StridedMemory>()> memory =
      [this]() -> llvm::Expected<StridedMemory> {
    isRead = true;
    return StridedMemory{
        kShape, kStrides, 0, 4, {StringRef(kOwn, sizeof(kOwn)), nullptr}};
  };
};

TEST_F(WeightsTest, TheProgramsOwn) {
  ProgramWeights weights;
  ProgramTensor tensor = pair();
  EXPECT_EQ(add(weights, "w", true, &tensor), "0");
  EXPECT_EQ(dataOf(0), kOwn);
  EXPECT_EQ(add(weights, "v", true, nullptr), "the program has no tensor 'v'");
}

TEST_F(WeightsTest, TheFolderWinsForWhatIsInCheckpoints) {
  store("w", {2});
  NamedWeights named(folder);
  ProgramWeights weights(&named);
  ProgramTensor tensor = pair();
  EXPECT_EQ(add(weights, "w", true, &tensor), "0");
  EXPECT_EQ(dataOf(0), kBytes);
  EXPECT_FALSE(isRead);
  // A constant is in none, unless somebody put it there or it has no data.
  EXPECT_EQ(add(weights, "c", false, &tensor), "1");
  EXPECT_EQ(dataOf(1), kOwn);
  store("d", {2});
  EXPECT_EQ(add(weights, "d", false, &tensor), "0");
  ProgramTensor empty = pair(false);
  EXPECT_EQ(add(weights, "e", false, &empty), "-1");
  std::string error = llvm::toString(weights.check());
  EXPECT_NE(error.find("without data in the program (1): e"),
            std::string::npos);
}

TEST_F(WeightsTest, NamesOfOneTensorAreTied) {
  store("b", {2});
  store("c", {2});
  int first = 0, second = 0;
  NamedWeights named(folder);
  ProgramWeights weights(&named);
  weights.know("a", at(&first));
  weights.know("c", at(&first));
  weights.know("b", at(&first));
  weights.know("part", at(&first, 1));
  weights.know("other", at(&second));
  weights.know("unknown", at(nullptr));
  weights.know("nowhere", at(nullptr));
  EXPECT_EQ(weights.take("a", ScalarType::Float32, {2}, true),
            folder->find("b"));
  for (const char *name : {"part", "other", "unknown"})
    EXPECT_FALSE(weights.take(name, ScalarType::Float32, {2}, true)) << name;
  EXPECT_EQ(llvm::toString(weights.check()),
            "the weights in 'weights' are not the program's\n"
            "  missing (3): part, other, unknown\n"
            "  Fix: if the model ties weights, say which ones, as in --tied "
            "part=OTHER, or tied= in Python");
  EXPECT_EQ(llvm::toString(named.checkAllKnown()), "");
}

TEST_F(WeightsTest, WhatIsSaidToBeTied) {
  store("b", {2});
  NamedWeights named(folder);
  ProgramWeights weights(&named);
  EXPECT_FALSE(weights.take("a", ScalarType::Float32, {2}, true));
  EXPECT_NE(llvm::toString(weights.check()).find("as in --tied a=b, or tied="),
            std::string::npos);
  named.tie("a", "b");
  EXPECT_EQ(weights.take("a", ScalarType::Float32, {2}, true),
            folder->find("b"));
  EXPECT_EQ(llvm::toString(named.checkAllKnown()), "");
  named.tie("z", "b");
  EXPECT_EQ(llvm::toString(named.checkAllKnown()),
            "no program has the weight 'z', which is said to be tied to 'b'");
}

TEST_F(WeightsTest, ProgramsThatShareAFolderTieEachForItself) {
  for (const char *name : {"a", "b"})
    store(name, {2});
  NamedWeights first(folder), second(folder);
  first.tie("x", "a");
  first.know("x");
  second.tie("x", "b");
  second.tie("y", "a");
  second.know("x");
  EXPECT_EQ(llvm::toString(first.checkAllKnown()),
            "'weights' has weights that the program lacks\n  extra (1): b");
  first.add(second);
  EXPECT_EQ(llvm::toString(first.checkAllKnown()),
            "no program has the weight 'y', which is said to be tied to 'a'");
  first.know("y");
  EXPECT_EQ(llvm::toString(first.checkAllKnown()), "");
}

TEST_F(WeightsTest, WhatTheProgramLacks) {
  store("a", {2});
  store("b", {2});
  NamedWeights named(folder);
  named.know("b");
  EXPECT_EQ(llvm::toString(named.checkAllKnown()),
            "'weights' has weights that the program lacks\n  extra (1): a");
}

TEST_F(WeightsTest, TypesAndShapesAreThoseOfTheGraph) {
  ProgramWeights weights;
  const Node &node = input("w", {3});
  ProgramTensor tensor = pair();
  auto error = [&](const Node &placeholder) {
    return llvm::toString(
        weights.add(builder, "w", placeholder, true, &tensor).takeError());
  };
  EXPECT_EQ(error(node),
            "the weight 'w' is float32[2], but was exported as float32[3].\n"
            "Fix: export the model with the weights that it is to have.");
  const Node &other = input("i", {2});
  builder.edit(other).results = [&] {
    ValueInfo info = other.info();
    info.dtype = ScalarType::Int8;
    return builder.save(info);
  }();
  EXPECT_NE(error(other).find("but was exported as int8[2]"),
            std::string::npos);
  EXPECT_EQ(error(input("large", {0, 1LL << 40}))
                .find("'large': a size of 1099511627776, and Core AI"),
            0U);
  // Bits that are packed stand for whole bytes.
  tensor.dtype = ScalarType::Int4;
  EXPECT_EQ(error(other), "");

  store("w", {3});
  NamedWeights named(folder);
  ProgramWeights stored(&named);
  EXPECT_EQ(add(stored, "w", true, nullptr), "-1");
  EXPECT_EQ(llvm::toString(stored.check()),
            "the weights in 'weights' are not the program's\n"
            "  of another type or shape (1): w is float32[3] in "
            "a.safetensors, and float32[2] in the program");
  llvm::Expected<AddedWeight> unknown =
      stored.add(builder, "w", input("s", {Size::symbolic(0)}), true, nullptr);
  EXPECT_EQ(llvm::toString(unknown.takeError()),
            "'w' is no weight: its shape is not known");
}

TEST_F(WeightsTest, WithoutData) {
  ProgramTensor tensor = pair(false);
  ProgramWeights weights;
  std::string error = add(weights, "layers.0.weight", true, &tensor);
  EXPECT_EQ(error.find("the weight 'layers.0.weight' has no data: it is on the "
                       "meta device, in the module 'layers.0'.\nFix: name the "
                       "folder of safetensors"),
            0U);
  EXPECT_NE(add(weights, "scale", true, &tensor).find("meta device.\n"),
            std::string::npos);
  ProgramWeights shown(nullptr, /*needsData=*/false);
  EXPECT_EQ(add(shown, "scale", true, &tensor), "-1");
  EXPECT_FALSE(isRead);
}

} // namespace
