// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Program/Unsupported.h"

#include "gtest/gtest.h"

using namespace corten;
using llvm::ArrayRef;
using llvm::StringRef;

namespace {

/// Builds a program of calls; only `aten.relu.default` has a lowering.
class UnsupportedTest : public testing::Test {
protected:
  Node &call(StringRef nameSpace, StringRef name, bool mutates = false,
             ArrayRef<Argument> arguments = {}) {
    Node &node = builder.addNode(*graph, Node::Kind::Call, "y");
    node.callee = builder.addOperator(nameSpace, name, {}, mutates);
    node.arguments = builder.save(arguments);
    node.results = builder.save(ArrayRef(ValueInfo()));
    return node;
  }

  /// What is said of the program as it is now, or nothing.
  std::string message(Refusal refusal,
                      std::initializer_list<StringRef> registered = {}) {
    llvm::Expected<std::unique_ptr<Program>> program = builder.finish();
    EXPECT_TRUE(static_cast<bool>(program));
    llvm::StringSet<> names;
    names.insert_range(registered);
    auto found = findUnsupported(**program, [](const Operator &op) {
      return op.printedName() == "aten.relu.default";
    });
    return llvm::toString(
        refuseUnsupported(**program, "main", refusal, std::move(found), names));
  }

  ProgramBuilder builder;
  Graph *graph = &builder.mainGraph();
};

} // namespace

TEST_F(UnsupportedTest, SaysNothingOfWhatHasALowering) {
  call("aten", "relu.default");
  EXPECT_EQ(message(Refusal::Read), "");
}

TEST_F(UnsupportedTest, AWriteIsRefusedThoughThereIsALowering) {
  call("aten", "relu.default", /*mutates=*/true);
  EXPECT_EQ(message(Refusal::Read),
            "main: 1 operator has no lowering: aten.relu.default\n"
            "  aten.relu.default  1 use\n"
            "      (no source line)\n"
            "Fix: only torch can decompose aten.relu.default: call "
            "run_decompositions(coreai_torch.get_decomp_table()) before saving "
            "the program.");
}

TEST_F(UnsupportedTest, OftenUsedComesFirstAndThenTheName) {
  for (StringRef name : {"c", "b", "a", "c", "c", "c", "c", "b", "d", "d"})
    call("custom", name);
  std::string text = message(Refusal::Converted);
  EXPECT_TRUE(StringRef(text).starts_with(
      "main: unable to handle call function op: target: a, namespace: custom; "
      "target: b, namespace: custom; target: c, namespace: custom; "
      "target: d, namespace: custom\n"))
      << text;
  size_t c = text.find("\n  custom.c  5 uses"),
         more = text.find("\n      (1 more)"),
         b = text.find("\n  custom.b  2 uses"),
         d = text.find("\n  custom.d  2 uses"),
         a = text.find("\n  custom.a  1 use\n");
  EXPECT_TRUE(c < more && more < b && b < d && d < a && a != std::string::npos)
      << text;
}

TEST_F(UnsupportedTest, AConverterWaitsForLoweringsOfOthersThanAten) {
  call("custom", "f.default");
  EXPECT_EQ(message(Refusal::Added), "");
}

TEST_F(UnsupportedTest, AConverterLeavesThoseOfAtenToTheFirstCheck) {
  call("aten", "linalg_eig.default");
  EXPECT_EQ(message(Refusal::Converted), "");
}

TEST_F(UnsupportedTest, OnlyWhatADecompositionReplacesIsListedFirst) {
  call("aten", "linalg_eig.default");
  call("aten", "addcmul.default");
  std::string text = message(Refusal::Added);
  EXPECT_TRUE(StringRef(text).starts_with(
      "main: 1 non-decomposed ops: aten.addcmul.default\n"))
      << text;
  EXPECT_FALSE(StringRef(text).contains("linalg_eig"));
}

TEST_F(UnsupportedTest, WhatNoDecompositionReplacesWantsALowering) {
  call("aten", "linalg_eig.default");
  EXPECT_EQ(message(Refusal::Added),
            "main: 1 unsupported ATen ops: aten.linalg_eig.default\n"
            "  aten.linalg_eig.default  1 use\n"
            "      (no source line)\n"
            "Fix: add a lowering with register_torch_lowering().");
}

TEST_F(UnsupportedTest, RegisteredNamesMayLeaveOutTheDefaultOverload) {
  call("custom", "f.default");
  call("custom", "g.default");
  call("_operator", "h");
  EXPECT_EQ(message(Refusal::Converted,
                    {"custom::f", "custom::g.default", "None::h"}),
            "");
}

TEST_F(UnsupportedTest, ALoweringOfAWriteDoesNotCount) {
  call("custom", "f.default", /*mutates=*/true);
  EXPECT_NE(message(Refusal::Added, {"custom::f"}), "");
}

TEST_F(UnsupportedTest, KernelsAreRegisteredInAnotherWay) {
  call(kKernelNamespace, "mine.default");
  std::string text = message(Refusal::Converted);
  EXPECT_TRUE(StringRef(text).ends_with(
      "\nFix: register the Metal kernels with register_custom_kernels([...]): "
      "mine."))
      << text;
}

TEST_F(UnsupportedTest, AWriteInABranchMayStay) {
  Graph &branch = builder.addSubgraph("branch");
  graph = &branch;
  call("aten", "add_.Tensor", /*mutates=*/true);
  graph = &builder.mainGraph();
  call("higher_order", "wrap", false, {Argument::graph(&branch)});
  std::string text = message(Refusal::Read);
  EXPECT_TRUE(StringRef(text).contains(
      "\n      (no source line)  inside a branch or loop\n"))
      << text;
  EXPECT_TRUE(StringRef(text).contains("\nA write inside cond or while_loop"))
      << text;
}

TEST_F(UnsupportedTest, TheFirstTensorSaysWhatTheCallIsAbout) {
  ValueInfo info;
  info.kind = ValueInfo::Kind::Tensor;
  Size sizes[] = {Size(3), Size::symbolic(builder.symbol("s0"))};
  info.sizes = builder.save(ArrayRef(sizes));
  Node &x = builder.addNode(*graph, Node::Kind::Placeholder, "x");
  x.results = builder.save(ArrayRef(info));
  InputSpec spec;
  spec.node = &x;
  builder.addInput(spec);
  call("custom", "f.default", false,
       {Argument::integer(1), Argument::node(&x)});
  std::string text = message(Refusal::Read);
  EXPECT_TRUE(
      StringRef(text).contains("\n      (no source line)  float32[3, s0]\n"))
      << text;
}
