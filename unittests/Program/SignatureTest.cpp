// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Program/Signature.h"

#include "gtest/gtest.h"

using namespace corten;
using llvm::StringRef;

namespace {

/// A graph of two inputs that returns both.
class SignatureTest : public ::testing::Test {
protected:
  SignatureTest() {
    for (Node **node : {&state, &x}) {
      *node = &builder.addNode(builder.mainGraph(), Node::Kind::Placeholder,
                               node == &state ? "b_state" : "x");
      ValueInfo info;
      info.kind = ValueInfo::Kind::Tensor;
      info.sizes = builder.save(llvm::ArrayRef<Size>{2});
      (*node)->results = builder.save(info);
      builder.mainGraph().outputs.push_back(Argument::node(*node));
    }
  }
  std::string input(StringRef kind, const Node *node, StringRef target = "") {
    auto memory = []() -> llvm::Expected<StridedMemory> {
      return StridedMemory{
          kShape, kStrides, 0, 4, {StringRef(kBytes, sizeof(kBytes)), nullptr}};
    };
    ProgramTensor tensor{ScalarType::Float32, kShape, true, memory};
    RecordedInput given{kind, node, target, true, &tensor};
    return llvm::toString(signature.addInput(given));
  }
  std::string output(StringRef kind, const Node *node, StringRef target = "") {
    return llvm::toString(
        signature.addOutput({kind, Argument::node(node), target}));
  }

  static constexpr char kBytes[8] = {};
  static constexpr int64_t kShape[] = {2};
  static constexpr int64_t kStrides[] = {1};
  ProgramBuilder builder;
  Node *state = nullptr, *x = nullptr;
  ProgramWeights weights;
  SignatureBuilder signature{builder, weights};
};

TEST_F(SignatureTest, NewValuesBelongToWhatTheyAreOf) {
  EXPECT_EQ(input("buffer", state, "layer.state"), "");
  EXPECT_EQ(input("user_input", x), "");
  // A number has an input that nothing uses.
  builder.addNode(builder.mainGraph(), Node::Kind::Placeholder, "three");
  EXPECT_EQ(input("constant_input", nullptr), "");
  EXPECT_EQ(output("buffer_mutation", state, "layer.state"), "");
  EXPECT_EQ(output("user_input_mutation", x, "x"), "");
  EXPECT_EQ(llvm::toString(signature.finish()), "");
  const Program &program = builder.building();
  EXPECT_EQ(program.inputs[0].weight, 0);
  EXPECT_EQ(program.outputs[0].mutated, state);
  EXPECT_EQ(program.outputs[1].mutated, x);
}

TEST_F(SignatureTest, WhatIsNoState) {
  EXPECT_EQ(input("buffer", state, "layer.state"), "");
  EXPECT_EQ(input("user_input", x), "");
  EXPECT_EQ(output("buffer_mutation", state, "state"), "'state' is no state");
  // A buffer goes by its path, and not by the name of its input.
  EXPECT_EQ(output("user_input_mutation", state, "b_state"),
            "'b_state' is no state");
}

TEST_F(SignatureTest, OnlyProgramsForInference) {
  EXPECT_EQ(input("parameter", state, "w"), "");
  EXPECT_EQ(output("loss_output", x), "");
  EXPECT_EQ(output("gradient_to_parameter", x, "w"),
            "output 1 is a gradient: only programs for inference can be "
            "converted.\nFix: export the model alone, without its backward "
            "pass.");
  EXPECT_EQ(output("gradient_to_user_input", x, "x").find("output 1 is a gr"),
            0U);
}

TEST_F(SignatureTest, KindsThatAreNotKnown) {
  EXPECT_EQ(input("as_something", x), "an input of the unknown kind "
                                      "'as_something'");
  EXPECT_EQ(output("as_something", x), "an output of the unknown kind "
                                       "'as_something'");
  EXPECT_EQ(input("parameter", nullptr, "w"), "the graph has no input for 'w'");
}

TEST_F(SignatureTest, ObjectsAreNotCalled) {
  EXPECT_EQ(input("custom_obj", state, "queue"), "");
  EXPECT_EQ(input("user_input", x), "");
  EXPECT_EQ(output("user_output", state), "");
  EXPECT_EQ(output("user_output", x), "");
  EXPECT_EQ(llvm::toString(signature.finish()), "");
  Node &call = builder.addNode(builder.mainGraph(), Node::Kind::Call, "push");
  call.callee = builder.addOperator("lib", "push.default", {});
  call.arguments = builder.save({Argument::node(x), Argument::node(state)});
  EXPECT_EQ(llvm::toString(signature.finish(Purpose::Looking)), "");
  EXPECT_EQ(llvm::toString(signature.finish()),
            "call 'push': lib.push.default uses 'queue', an object of a class "
            "of its own, which has no form in an asset");
}

} // namespace
