// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of numbers in files that no tool writes, and of the list of checks.

#include "corten/Asset/Asset.h"
#include "corten/Model/Model.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Builders.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include "gtest/gtest.h"

using namespace corten;

/// "name: detail" of each finding.
static std::vector<std::string> summary(const std::vector<Finding> &findings) {
  std::vector<std::string> result;
  result.reserve(findings.size());
  for (const Finding &finding : findings)
    result.push_back(std::string(checkOf(finding.check).name) + ": " +
                     finding.detail);
  return result;
}

/// Facts of an asset that nothing is wrong with.
static AssetFacts soundAsset() {
  AssetFacts facts;
  facts.path = "model.aimodel";
  facts.bytecodeVersion = 6;
  facts.dialectVersion = 20260409;
  return facts;
}

using Summary = std::vector<std::string>;

TEST(DoctorTest, soundAsset) {
  EXPECT_EQ(summary(examineAsset(soundAsset())), Summary());
}

TEST(DoctorTest, folderNameMayEndInSlash) {
  AssetFacts facts = soundAsset();
  facts.path = "folder/model.aimodel/";
  EXPECT_EQ(summary(examineAsset(facts)), Summary());
  facts.path = "model.aimodel/main.mlirb";
  EXPECT_EQ(summary(examineAsset(facts)), Summary{"asset-name: "});
}

TEST(DoctorTest, bytecodeVersions) {
  AssetFacts facts = soundAsset();
  for (uint64_t accepted : {1, 6}) {
    facts.bytecodeVersion = accepted;
    EXPECT_EQ(summary(examineAsset(facts)), Summary());
  }
  facts.bytecodeVersion = 0;
  EXPECT_EQ(summary(examineAsset(facts)),
            Summary{"bytecode-version: version 0"});
  facts.bytecodeVersion = 7;
  EXPECT_EQ(summary(examineAsset(facts)),
            Summary{"bytecode-version: version 7"});
}

TEST(DoctorTest, dialectVersions) {
  AssetFacts facts = soundAsset();
  for (uint64_t known : {20250410, 20260409}) {
    facts.dialectVersion = known;
    EXPECT_EQ(summary(examineAsset(facts)), Summary());
  }
  for (uint64_t unknown : {0, 20250409, 20260410}) {
    facts.dialectVersion = unknown;
    EXPECT_EQ(summary(examineAsset(facts)),
              Summary{"dialect-version: version " + std::to_string(unknown)});
  }
  facts.dialectVersion.reset();
  EXPECT_EQ(summary(examineAsset(facts)),
            Summary{"dialect-version: no version"});
}

//===----------------------------------------------------------------------===//
// An asset with a weight that is aligned as asked
//===----------------------------------------------------------------------===//

namespace {
class AlignedAsset : public testing::Test {
protected:
  void SetUp() override {
    mlir::DialectRegistry registry;
    registerAssetDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("corten-test", folder));
  }
  void TearDown() override {
    EXPECT_FALSE(llvm::sys::fs::remove_directories(folder));
  }

  /// The findings about an asset whose only content is one weight.
  std::vector<std::string> examine(unsigned alignment) {
    mlir::Location nowhere = aicode::DebugLocationAttr::get(
        &context,
        aicode::SourceLocationAttr::get(
            &context, aicode::FileAttr::get(&context, "-", "", ""), 0, 0, 0, 0),
        aicode::UnitAttr::get(&context), {}, {}, {});
    mlir::OpBuilder builder(&context);
    mlir::OperationState state(nowhere, aicode::AssetOp::getOperationName());
    state.addAttribute("version",
                       aicode::WholeAttr::get(&context, 32, true, 20260409));
    state.addRegion()->emplaceBlock();
    mlir::OwningOpRef<aicode::AssetOp> asset(
        mlir::cast<aicode::AssetOp>(builder.create(state)));

    builder.setInsertionPointToStart(&asset->getBody().front());
    std::vector<char> data(64);
    auto &weights = aicode::ResourceHandle::getManagerInterface(&context);
    auto handle = weights.insert(
        "weight",
        mlir::HeapAsmResourceBlob::allocateAndCopyWithAlign(data, alignment));
    mlir::OperationState constant(nowhere,
                                  aicode::ConstantV1Op::getOperationName());
    constant.addAttribute("value", aicode::ResourceAttr::get(&context, handle));
    constant.addTypes(aicode::TensorType::get(
        &context, {16}, aicode::Float32Type::get(&context), {}));
    builder.create(constant);

    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, "weight.aimodel");
    if (llvm::Error error = writeAsset(*asset, AssetMetadata(), path))
      return {llvm::toString(std::move(error))};
    llvm::Expected<std::vector<Finding>> findings = examinePath(path);
    if (!findings)
      return {llvm::toString(findings.takeError())};
    llvm::erase_if(*findings, [](const Finding &finding) {
      return finding.check == CheckId::NoEntryPoint ||
             finding.check == CheckId::UnusedWeight;
    });
    return summary(*findings);
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  llvm::SmallString<128> folder;
};
} // namespace

TEST_F(AlignedAsset, asLoadersTakeIt) { EXPECT_EQ(examine(16), Summary()); }

TEST_F(AlignedAsset, tooMuch) {
  EXPECT_EQ(examine(64), Summary{"resource-alignment: aligned to 64 bytes"});
}

//===----------------------------------------------------------------------===//
// The list
//===----------------------------------------------------------------------===//

TEST(DoctorTest, checksHaveNamesOfTheirOwn) {
  llvm::StringSet<> names;
  for (const Check &check : doctorChecks()) {
    EXPECT_TRUE(names.insert(check.name).second) << check.name;
    EXPECT_EQ(checkOf(check.id).name, check.name);
    EXPECT_TRUE(*check.reason && *check.remedy);
  }
}

TEST(DoctorTest, theWorstFirst) {
  std::vector<Finding> findings = {{CheckId::UnusedGraph, "a", ""},
                                   {CheckId::Float16Exp, "b", ""},
                                   {CheckId::UnnamedValue, "c", ""},
                                   {CheckId::Float16Exp, "d", ""}};
  sortFindings(findings);
  std::string order;
  for (const Finding &finding : findings)
    order += finding.place;
  EXPECT_EQ(order, "cbda");
}
