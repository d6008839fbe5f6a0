// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What crosses to coreai-core besides the text, and the way back. The programs
// are in the short form of corten-translate.

#include "corten/Handover/Handover.h"
#include "corten/Handover/Receive.h"

#include "GraphReader.h"
#include "ShortProgram.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include "gtest/gtest.h"

using namespace corten;
using llvm::StringRef;

namespace {

/// A conversion and the programs that it refers to.
struct Conversion {
  std::vector<std::unique_ptr<Program>> programs;
  std::unique_ptr<ConvertedModule> module;
};

void forEachCall(const Graph &graph,
                 llvm::function_ref<void(const Node &)> visit) {
  for (const Node *node : graph.nodes) {
    if (node->kind == Node::Kind::Call)
      visit(*node);
    for (const Argument &argument : node->arguments)
      if (argument.kind() == Argument::Kind::Graph)
        forEachCall(*argument.asGraph(), visit);
  }
}

Conversion convertAll(std::initializer_list<StringRef> texts,
                      std::initializer_list<StringRef> userLowerings = {}) {
  Conversion result;
  std::vector<EntryPoint> entryPoints;
  for (StringRef text : texts) {
    WrittenProgram written = llvm::cantFail(spellOut(text));
    result.programs.push_back(
        llvm::cantFail(pt2::readGraph(written.json, /*maxWeightBytes=*/1 << 20,
                                      [](const Operator &) { return true; })));
    // Users are given the node that a call comes from.
    if (userLowerings.size())
      forEachCall(result.programs.back()->main, [&](const Node &node) {
        const_cast<Node &>(node).origin = &node;
      });
    EntryPoint &entryPoint = entryPoints.emplace_back();
    entryPoint.program = result.programs.back().get();
    entryPoint.name = written.name;
  }
  ConversionOptions options;
  for (StringRef name : userLowerings)
    options.userLowerings.insert(name);
  result.module = llvm::cantFail(convert(entryPoints, options));
  return result;
}

/// The operations of a module in the order in which the other side visits them.
std::vector<mlir::Operation *> walked(mlir::ModuleOp module) {
  std::vector<mlir::Operation *> operations;
  module.walk([&](mlir::Operation *op) { operations.push_back(op); });
  return operations;
}

constexpr StringRef kTwoLayers = R"(
{"inputs": {"x": "f32[2,64]"},
 "weights": {"w": "f32[64,64]", "small": "f32[3]", "v": "f32[32,64]"},
 "calls": [["y: f32[2,64]", "aten.linear.default", "x", "w"],
           ["z: f32[2,32]", "aten.linear.default", "y", "v"],
           ["t: f32[2,64]", "aten.linear.default", "y", "w"],
           ["s: f32[3]", "aten.neg.default", "small"]],
 "outputs": ["z", "t", "s"]})";

TEST(ResourceUses, AWeightIsOneResourceHoweverOftenItIsUsed) {
  Conversion converted = convertAll({kTwoLayers});
  ASSERT_EQ(converted.module->resources.size(), 2U);
  EXPECT_EQ(converted.module->resources[0].name, "w");
  EXPECT_EQ(converted.module->resources[1].name, "v");
  std::vector<std::vector<int>> uses = resourceUses(*converted.module);
  ASSERT_EQ(uses.size(), 1U);
  // Small weights stand in the module and take none.
  EXPECT_EQ(llvm::count(uses[0], 0), 1);
  EXPECT_EQ(llvm::count(uses[0], 1), 1);
  // Each constant is the one that the text has at this place.
  mlir::Operation &graph = converted.module->module->getBody()->front();
  size_t place = 0;
  for (mlir::Operation &op : graph.getRegion(0).front()) {
    if (place == uses[0].size())
      break;
    auto value = op.getAttrOfType<mlir::DenseResourceElementsAttr>("value");
    int use = uses[0][place++];
    ASSERT_EQ(bool(value), use >= 0);
    if (value)
      EXPECT_EQ(value.getRawHandle().getKey(),
                converted.module->resources[use].key);
  }
  EXPECT_EQ(place, uses[0].size());
}

TEST(ResourceUses, EachGraphHasItsOwn) {
  StringRef second = R"(
{"name": "second", "inputs": {"x": "f32[2,64]"},
 "calls": [["y: f32[2,64]", "aten.neg.default", "x"]], "outputs": ["y"]})";
  Conversion converted = convertAll({kTwoLayers, second});
  std::vector<std::vector<int>> uses = resourceUses(*converted.module);
  ASSERT_EQ(uses.size(), 2U);
  EXPECT_FALSE(uses[0].empty());
  EXPECT_TRUE(uses[1].empty());
}

TEST(ResourceUses, EntryPointsShareWeights) {
  WrittenProgram written = llvm::cantFail(spellOut(kTwoLayers));
  std::unique_ptr<Program> program =
      llvm::cantFail(pt2::readGraph(written.json, /*maxWeightBytes=*/1 << 20,
                                    [](const Operator &) { return true; }));
  std::vector<EntryPoint> entryPoints(2);
  entryPoints[0].program = entryPoints[1].program = program.get();
  entryPoints[0].name = "first";
  entryPoints[1].name = "second";
  std::unique_ptr<ConvertedModule> converted =
      llvm::cantFail(convert(entryPoints, ConversionOptions()));
  EXPECT_EQ(converted->weights.size(), 3U);
  std::vector<std::vector<int>> uses = resourceUses(*converted);
  ASSERT_EQ(uses.size(), 2U);
  for (const std::vector<int> &graph : uses)
    for (int use : graph)
      if (use >= 0)
        EXPECT_TRUE(converted->resources[use].name == "w" ||
                    converted->resources[use].name == "v");
  auto memory = [&](int use) { return converted->resources[use].data.data; };
  auto first = [](const std::vector<int> &graph) {
    return *llvm::find_if(graph, [](int use) { return use >= 0; });
  };
  EXPECT_EQ(memory(first(uses[0])), memory(first(uses[1])));
}

TEST(UserCallTable, IsEmptyWithoutCalls) {
  Conversion converted = convertAll({kTwoLayers});
  UserCallTable table = userCallTable(*converted.module);
  EXPECT_TRUE(table.standIns.empty());
  EXPECT_TRUE(table.scopes.empty());
}

TEST(UserCallTable, SaysWhereCallsAndValuesAre) {
  Conversion converted = convertAll({R"(
{"inputs": {"x": "f32[3,4]"},
 "calls": [["v: f32[3,1], i: i64[3,1]", "aten.topk.default", "x", 1],
           ["y: f32[3,1]", "aten.tan.default", "v"],
           ["z: f32[3,1]", "aten.neg.default", "y"]],
 "outputs": ["z", "i"]})"},
                                    {"aten::tan"});
  UserCallTable table = userCallTable(*converted.module);
  std::vector<mlir::Operation *> order = walked(*converted.module->module);
  ASSERT_EQ(table.standIns.size(), 1U);
  EXPECT_EQ(order[table.standIns[0]], converted.module->userCalls[0].standIn);
  ASSERT_EQ(table.scopes.size(), 1U);
  std::vector<std::string> names;
  for (auto [place, value] :
       llvm::zip_equal(table.scopes[0], converted.module->scopes[0])) {
    names.push_back(place.name);
    mlir::Operation *op = order[place.operation];
    mlir::Value found;
    if (place.region)
      found = op->getRegion(*place.region).getArgument(place.number);
    else
      found = op->getResult(place.number);
    EXPECT_EQ(found, value.value) << place.name;
  }
  for (StringRef name : {"x", "y", "z"})
    EXPECT_TRUE(llvm::is_contained(names, name)) << llvm::join(names, " ");
}

TEST(UserCallTable, ABranchIsAScopeOfItsOwn) {
  Conversion converted = convertAll({R"(
{"inputs": {"p": "bool[]", "x": "f32[3]"},
 "graphs": {
  "yes": {"inputs": {"a": "f32[3]"},
   "calls": [["b: f32[3]", "aten.sin.default", "a"],
             ["c: f32[3]", "aten.tan.default", "b"]], "outputs": ["c"]},
  "no": {"inputs": {"d": "f32[3]"},
   "calls": [["e: f32[3]", "aten.tan.default", "d"]], "outputs": ["e"]}},
 "calls": [["y: f32[3]", "higher_order.cond", "p", "yes", "no", ["x"]]],
 "outputs": ["y"]})"},
                                    {"aten::tan"});
  UserCallTable table = userCallTable(*converted.module);
  std::vector<mlir::Operation *> order = walked(*converted.module->module);
  ASSERT_EQ(table.standIns.size(), 2U);
  EXPECT_EQ(table.scopes.size(), 2U);
  for (auto [standIn, call] :
       llvm::zip_equal(table.standIns, converted.module->userCalls)) {
    EXPECT_EQ(order[standIn], call.standIn);
    EXPECT_EQ(order[standIn]->getParentOp()->getName().getStringRef(),
              "coreai.if");
  }
  EXPECT_NE(converted.module->userCalls[0].scope,
            converted.module->userCalls[1].scope);
}

TEST(Receive, WhatWasHandedOverComesBack) {
  Conversion converted = convertAll({kTwoLayers});
  auto received = llvm::cantFail(receive(handoverText(*converted.module)));
  EXPECT_EQ(walked(*received->module).size(),
            walked(*converted.module->module).size());
  std::vector<MissingWeight> missing = missingWeights(*received);
  ASSERT_EQ(missing.size(), 2U);
  std::vector<mlir::Operation *> order = walked(*received->module);
  for (const MissingWeight &weight : missing) {
    auto value =
        order[weight.operation]->getAttrOfType<mlir::DenseResourceElementsAttr>(
            "value");
    ASSERT_TRUE(value);
    EXPECT_EQ(value.getRawHandle().getKey(), weight.key);
  }

  // Memory of ours is looked at where it is, and kept.
  const Resource &resource = converted.module->resources[0];
  SharedBytes bytes = resource.bytes();
  attachWeight(*received, missing[0].key,
               llvm::ArrayRef(bytes.data.data(), bytes.data.size()),
               bytes.owner);
  auto value = order[missing[0].operation]
                   ->getAttrOfType<mlir::DenseResourceElementsAttr>("value");
  EXPECT_EQ(value.getRawHandle().getBlob()->getData().data(),
            bytes.data.data());
  ASSERT_EQ(missingWeights(*received).size(), 1U);
  EXPECT_EQ(missingWeights(*received)[0].key, missing[1].key);
}

TEST(Receive, ControlFlowComesBack) {
  Conversion converted = convertAll({R"(
{"inputs": {"p": "bool[]", "x": "f32[3]"},
 "graphs": {
  "yes": {"inputs": {"a": "f32[3]"},
   "calls": [["b: f32[3]", "aten.sin.default", "a"]], "outputs": ["b"]},
  "no": {"inputs": {"d": "f32[3]"},
   "calls": [["e: f32[3]", "aten.neg.default", "d"]], "outputs": ["e"]}},
 "calls": [["y: f32[3]", "higher_order.cond", "p", "yes", "no", ["x"]]],
 "outputs": ["y"]})"});
  auto received = llvm::cantFail(receive(handoverText(*converted.module)));
  auto namesOf = [](mlir::ModuleOp module) {
    return llvm::map_to_vector(walked(module), [](mlir::Operation *op) {
      return op->getName().getStringRef().str();
    });
  };
  EXPECT_EQ(namesOf(*received->module), namesOf(*converted.module->module));
  EXPECT_TRUE(missingWeights(*received).empty());
}

TEST(Receive, DataComesAsBytecodeToo) {
  auto received = llvm::cantFail(receive(R"(
    coreai.graph @main() -> tensor<2xf32> {
      %0 = coreai.constant dense_resource<w> : tensor<2xf32>
      coreai.output %0 : tensor<2xf32>
    })"));
  ASSERT_EQ(missingWeights(*received).size(), 1U);
  StringRef carrier = R"(
    coreai.graph @main() -> tensor<2xf32> {
      %0 = coreai.constant dense_resource<w> : tensor<2xf32>
      coreai.output %0 : tensor<2xf32>
    }
    {-# dialect_resources: {builtin: {w: "0x040000000000803F00000040"}} #-})";
  llvm::cantFail(attachWeight(*received, "w", carrier));
  EXPECT_TRUE(missingWeights(*received).empty());
}

TEST(Receive, WhatIsWrongIsSaid) {
  auto said = [](llvm::Error error) {
    return llvm::toString(std::move(error));
  };
  auto bad = receive("coreai.graph @main( {");
  ASSERT_FALSE(bool(bad));
  EXPECT_FALSE(said(bad.takeError()).empty());
  auto received = llvm::cantFail(receive("module {}"));
  EXPECT_EQ(said(attachWeight(*received, "w", "module {}")),
            "the weight \"w\" has no data");
  EXPECT_FALSE(said(attachWeight(*received, "w", "no module")).empty());
}

} // namespace
