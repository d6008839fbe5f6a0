// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Program/Finish.h"

#include "llvm/ADT/STLExtras.h"

#include "gtest/gtest.h"

#include <limits>

using namespace corten;

namespace {

using Out = OutputSpec::Kind;

/// Two buffers `model.a` and `model.b` and an input `x`; outputs are added by
/// the test.
struct Draft {
  ProgramBuilder builder;
  Node *a = nullptr, *b = nullptr, *x = nullptr;

  Draft() {
    auto add = [&](llvm::StringRef name, InputSpec::Kind kind) {
      Node &node =
          builder.addNode(builder.mainGraph(), Node::Kind::Placeholder, name);
      bool isInput = kind == InputSpec::Kind::UserInput;
      builder.addInput({kind, &node,
                        isInput ? "" : builder.save("model." + name.str()), -1,
                        false});
      return &node;
    };
    a = add("a", InputSpec::Kind::Buffer);
    b = add("b", InputSpec::Kind::Buffer);
    x = add("x", InputSpec::Kind::UserInput);
  }
  void output(Out kind, const Node *mutated = nullptr) {
    builder.mainGraph().outputs.push_back(Argument::node(x));
    builder.addOutput({kind, Argument::node(x), mutated});
  }
  std::string finish() {
    llvm::Expected<std::unique_ptr<Program>> finished = builder.finish();
    if (!finished)
      return llvm::toString(finished.takeError());
    program = std::move(*finished);
    return "";
  }
  std::unique_ptr<Program> program;
};

TEST(FinishTest, MutationsMarkTheirInput) {
  Draft draft;
  draft.output(Out::BufferMutation, draft.b);
  draft.output(Out::UserOutput);
  EXPECT_EQ(draft.finish(), "");
  EXPECT_FALSE(draft.program->inputs[0].isMutated);
  EXPECT_TRUE(draft.program->inputs[1].isMutated);
  EXPECT_FALSE(draft.program->inputs[2].isMutated);
}

TEST(FinishTest, TheOrderOfStates) {
  Draft draft;
  draft.output(Out::BufferMutation, draft.b);
  draft.output(Out::BufferMutation, draft.a);
  draft.output(Out::UserInputMutation, draft.x);
  draft.output(Out::UserOutput);
  EXPECT_EQ(draft.finish(), "");

  Draft mixed;
  mixed.output(Out::UserInputMutation, mixed.x);
  mixed.output(Out::BufferMutation, mixed.b);
  EXPECT_EQ(
      mixed.finish(),
      "the new value of 'model.b' stands too late: those of state come "
      "before returned values, parameters and buffers first, then inputs");

  Draft late;
  late.output(Out::UserOutput);
  late.output(Out::UserInputMutation, late.x);
  EXPECT_NE(late.finish().find("'x' stands too late"), std::string::npos);

  Draft twice;
  twice.output(Out::BufferMutation, twice.a);
  twice.output(Out::BufferMutation, twice.a);
  EXPECT_EQ(twice.finish(), "'model.a' has two new values");
}

TEST(FinishTest, TheSignatureIsThatOfTheGraph) {
  Draft more;
  more.output(Out::UserOutput);
  more.builder.addOutput({Out::Token, {}, nullptr});
  more.builder.addOutput({Out::UserOutput, {}, nullptr});
  EXPECT_EQ(more.finish(), "the graph has 1 outputs, its signature 2");

  Draft other;
  other.builder.mainGraph().outputs.push_back(Argument::node(other.a));
  other.builder.addOutput({Out::UserOutput, Argument::node(other.x), nullptr});
  EXPECT_EQ(other.finish(),
            "the graph returns another value than its signature says");

  Draft twice;
  twice.builder.addInput({InputSpec::Kind::UserInput, twice.x, "", -1, false});
  EXPECT_EQ(twice.finish(), "'x' is no input, or one that stands twice");

  Draft unknown;
  unknown.builder.addNode(unknown.builder.mainGraph(), Node::Kind::Placeholder,
                          "y");
  EXPECT_EQ(unknown.finish(), "the graph has 4 inputs, its signature 3");
}

TEST(FinishTest, StateThatIsNewIsStateOfSomething) {
  Draft draft;
  draft.output(Out::UserOutput);
  draft.output(Out::BufferMutation);
  EXPECT_EQ(draft.finish(), "an output is the new value of nothing");
}

TEST(FinishTest, ExtentsAreThoseOfTensors) {
  auto finish = [](llvm::ArrayRef<Size> sizes, bool isCall) {
    Draft draft;
    draft.output(Out::UserOutput);
    Node *node = draft.a;
    if (isCall) {
      node = &draft.builder.addNode(draft.builder.mainGraph(), Node::Kind::Call,
                                    "full");
      node->callee = draft.builder.addOperator("aten", "full.default", {});
      node->stackTrace = "File \"model.py\", line 7, in forward\n    x";
    }
    ValueInfo info;
    info.kind = ValueInfo::Kind::Tensor;
    info.sizes = draft.builder.save(sizes);
    node->results = draft.builder.save(info);
    return draft.finish();
  };
  constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();
  EXPECT_EQ(finish({kLargest, 1 << 17}, true), "");
  EXPECT_EQ(finish({0, kLargest, 1 << 17, 1}, true), "");
  // Its number is no extent.
  EXPECT_EQ(finish({Size::symbolic(3000000000U), 2}, true), "");
  EXPECT_EQ(finish({2, kLargest + 1}, true),
            "call 'full': a size of 2147483648, and Core AI counts in 32 bits\n"
            "  at model.py:7\n"
            "Fix: split the tensor into parts whose extents are at most "
            "2147483647.");
  EXPECT_EQ(finish({-3}, false),
            "'a': a size of -3\n"
            "Fix: export the program anew: no tensor has such a shape.");
  EXPECT_EQ(finish({kLargest, 0, kLargest}, false),
            "'a': a tensor that is larger than any memory\n"
            "Fix: export the program with smaller inputs.");
  EXPECT_EQ(finish({kLargest, kLargest, kLargest, kLargest}, false),
            "'a': a tensor that is larger than any memory\n"
            "Fix: export the program with smaller inputs.");
}

/// mul(mm(x, to(t(a))), b) with weights that are numbers is no layer.
TEST(FinishTest, ALayerHasAMatrix) {
  Draft draft;
  auto tensor = [&](Node &node, ScalarType type, llvm::ArrayRef<Size> sizes) {
    ValueInfo info;
    info.kind = ValueInfo::Kind::Tensor;
    info.dtype = type;
    info.sizes = draft.builder.save(sizes);
    node.results = draft.builder.save(info);
  };
  tensor(*draft.a, ScalarType::Int8, {});
  tensor(*draft.b, ScalarType::Float32, {4});
  draft.builder.building().inputs[0].weight = 0;
  draft.builder.building().inputs[1].weight = 1;
  auto call = [&](const char *op, llvm::ArrayRef<llvm::StringRef> names,
                  llvm::ArrayRef<const Node *> operands) {
    llvm::SmallVector<Parameter> parameters;
    llvm::SmallVector<Argument> arguments;
    for (auto [name, operand] : llvm::zip_equal(names, operands)) {
      parameters.push_back({name, false, {}});
      arguments.push_back(Argument::node(operand));
    }
    Node &node =
        draft.builder.addNode(draft.builder.mainGraph(), Node::Kind::Call, op);
    node.callee = draft.builder.addOperator("aten", op, parameters);
    node.arguments = draft.builder.save(arguments);
    tensor(node, ScalarType::Float32, {3, 4});
    return &node;
  };
  Node *turned = call("t.default", {"self"}, {draft.a});
  Node *converted = call("to.dtype", {"self"}, {turned});
  Node *product = call("mm.default", {"self", "mat2"}, {draft.x, converted});
  draft.x = call("mul.Tensor", {"self", "other"}, {product, draft.b});
  draft.output(Out::UserOutput);
  EXPECT_EQ(draft.finish(), "");
  EXPECT_EQ(draft.x->callee->name, "mul.Tensor");
}

TEST(FinishTest, PassesHaveNames) {
  auto names = llvm::map_range(
      finishingPasses(), [](const ProgramPass &pass) { return pass.name; });
  EXPECT_TRUE(llvm::is_contained(names, "recognize-quantized-linear"));
}

} // namespace
