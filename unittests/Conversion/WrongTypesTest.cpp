// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors of element types that their operators do not take, or that do not fit
// each other: a file may say anything. What comes of it is a program or an
// error, and where it is a program it can be written.

#include "OperatorCalls.h"

#include <gtest/gtest.h>

using namespace corten;

namespace {
/// Gives values of a program other types, one after the other.
class WrongTypes {
public:
  explicit WrongTypes(Program &program) : program(program) {}

  void replaceAll() {
    for (const Node *node : program.main.nodes)
      replaceIn({node});
    replaceIn(program.main.nodes);
  }

private:
  void replaceIn(llvm::ArrayRef<const Node *> nodes) {
    static constexpr ScalarType kTypes[] = {
#define SCALAR_TYPE(Name, Spelling, Bits, Category) ScalarType::Name,
#include "corten/Program/ScalarTypes.def"
    };
    for (ScalarType type : kTypes) {
      std::vector<llvm::ArrayRef<ValueInfo>> old;
      std::vector<llvm::SmallVector<ValueInfo>> changed;
      for (const Node *node : nodes) {
        llvm::SmallVector<ValueInfo> results(node->results);
        for (ValueInfo &info : results)
          info.dtype = type;
        old.push_back(node->results);
        changed.push_back(std::move(results));
      }
      // Programs are not made to be changed, which is the point here.
      for (auto [node, results] : llvm::zip_equal(nodes, changed))
        const_cast<Node *>(node)->results = results;
      Outcome outcome = convertedText(program);
      EXPECT_TRUE(!outcome.module.empty() || !outcome.message.empty());
      for (auto [node, results] : llvm::zip_equal(nodes, old))
        const_cast<Node *>(node)->results = results;
    }
  }

  Program &program;
};
} // namespace

TEST(WrongTypes, OfEveryOperatorAreNoCrash) {
  auto [valid, count] = forEachOperator(
      [](Program &program) { WrongTypes(program).replaceAll(); });
  EXPECT_GT(valid, 300U) << "of " << count;
}

TEST(WrongTypes, OfSeedsAreNoCrash) {
  EXPECT_GT(
      forEachSeed([](Program &program) { WrongTypes(program).replaceAll(); }),
      100U);
}
