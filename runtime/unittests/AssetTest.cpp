// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants in files: found, mapped, and held against what the plan was made
// for.

#include "Plans.h"

#include <filesystem>
#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

using namespace corten::runtime;
namespace fs = std::filesystem;

namespace {
/// A folder with an asset of four floats, and a plan that multiplies by two of
/// them and adds two others, which are copied first.
class Assets : public testing::Test {
protected:
  fs::path folder;
  PlanBuilder plan;

  void SetUp() override {
    folder = fs::temp_directory_path() /
             ("corten-assets-" + std::to_string(getpid()));
    fs::create_directories(folder / "model.aimodel");
    writeAsset({2, 3, 10, 20});
  }
  void TearDown() override { fs::remove_all(folder); }

  fs::path assetPath() const { return folder / "model.aimodel" / "main.bin"; }
  fs::path planPath() const { return folder / "model.cplan"; }

  /// Floats begin after a byte that is in the way.
  void writeAsset(std::vector<float> numbers) {
    std::ofstream file(assetPath(), std::ios::binary);
    file.write("#", 1);
    file.write(reinterpret_cast<const char *>(numbers.data()),
               std::streamsize(numbers.size() * sizeof(float)));
  }
  std::string assetBytes() const {
    std::ifstream file(assetPath(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  void makePlan() {
    int32_t scale = plan.constant(plan::ConstantSource::Asset, 1, 8);
    int32_t raw = plan.constant(plan::ConstantSource::Asset, 9, 8);
    int32_t copied = plan.constant(plan::ConstantSource::Prepared, 0, 0);
    BlockBuilder prepare = plan.block();
    int32_t two = prepare.fixed(2);
    prepare.kernel("Copy", {prepare.constant(raw, {two})},
                   {prepare.output({two})});
    plan.plan.prepare = prepare.index;
    BlockBuilder main = plan.block();
    two = main.fixed(2);
    int32_t x = main.input({two});
    int32_t product = main.arena({two});
    main.kernel("Mul", {x, main.constant(scale, {two})}, {product});
    main.kernel("Add", {product, main.constant(copied, {two})},
                {main.output({two})});
    plan.function("main", main, {"x"});
    std::string bytes = assetBytes();
    plan.plan.asset = std::make_unique<plan::AssetFileT>();
    plan.plan.asset->path = assetPath().string();
    plan.plan.asset->relative_path = "model.aimodel/main.bin";
    plan.plan.asset->bytes = bytes.size();
    plan.plan.asset->digest = digestOf(std::as_bytes(std::span(bytes)));
    std::ofstream file(planPath(), std::ios::binary);
    file << plan.file();
  }

  /// The results for x = [1, 1], or the error.
  std::string run(const fs::path &path, LoadOptions options = {}) {
    options.check = true;
    auto model = Model::load(path.string(), std::move(options));
    if (!model)
      return model.takeError().message();
    Call call(*model, (*model)->functions()[0]);
    Owned<float> x({2}, {1, 1});
    EXPECT_OK(call.setInput(0, x.tensor));
    EXPECT_OK(call.run());
    return testing::PrintToString(numbersOf(call.output(0).tensor()));
  }
};
} // namespace

TEST_F(Assets, AreFoundBesideThePlan) {
  makePlan();
  EXPECT_EQ(run(planPath()), "{ 12, 23 }");
  // The folder moves as a whole.
  fs::path moved = folder.string() + "-moved";
  fs::rename(folder, moved);
  EXPECT_EQ(run(moved / "model.cplan"), "{ 12, 23 }");
  fs::rename(moved, folder);
  // Only the plan moves.
  fs::path other = folder / "elsewhere";
  fs::create_directories(other);
  fs::rename(planPath(), other / "model.cplan");
  EXPECT_EQ(run(other / "model.cplan"), "{ 12, 23 }");
}

TEST_F(Assets, AreWhereTheCallerSays) {
  makePlan();
  fs::path moved = folder / "other.aimodel";
  fs::rename(folder / "model.aimodel", moved);
  EXPECT_MENTIONS(run(planPath()), "No such file");
  EXPECT_MENTIONS(run(planPath()), "Say where it is now");
  LoadOptions options;
  options.assetPath = (moved / "main.bin").string();
  EXPECT_EQ(run(planPath(), options), "{ 12, 23 }");
  options.assetPath = moved.string();
  EXPECT_EQ(run(planPath(), options), "{ 12, 23 }");
  fs::rename(moved, folder / "model.aimodel");
  std::string bytes = assetBytes();
  fs::remove_all(folder / "model.aimodel");
  options = {};
  options.assetBytes = std::as_bytes(std::span(bytes));
  EXPECT_EQ(run(planPath(), options), "{ 12, 23 }");
  bytes[1] = char(bytes[1] + 1);
  EXPECT_MENTIONS(run(planPath(), options), "the asset changed");
}

TEST_F(Assets, MustNotChange) {
  makePlan();
  writeAsset({2, 3, 10, 20});
  EXPECT_EQ(run(planPath()), "{ 12, 23 }") << "written anew, but the same";
  writeAsset({2, 3, 10, 21});
  EXPECT_MENTIONS(run(planPath()), "the asset changed after the plan was made");
  writeAsset({2, 3, 10});
  EXPECT_MENTIONS(run(planPath()), "compile it again");
}

TEST_F(Assets, AreNotReadIfNothingSaysThatTheyChanged) {
  makePlan();
  struct stat status;
  auto modified = [&] {
    EXPECT_EQ(stat(assetPath().c_str(), &status), 0);
    return int64_t(status.st_mtim.tv_sec) * 1'000'000'000 +
           status.st_mtim.tv_nsec;
  };
  plan.plan.asset->modified = modified();
  plan.plan.asset->digest = "not looked at";
  std::ofstream(planPath(), std::ios::binary) << plan.file();
  EXPECT_EQ(run(planPath()), "{ 12, 23 }");
}

TEST_F(Assets, LoadingAgainGrowsNothing) {
  makePlan();
  auto resident = [] {
    std::ifstream file("/proc/self/statm");
    long total = 0;
    long pages = 0;
    file >> total >> pages;
    return total;
  };
  for (int i = 0; i != 3; ++i)
    run(planPath());
  long before = resident();
  for (int i = 0; i != 100; ++i)
    run(planPath());
  EXPECT_LT(resident() - before, 256);
}
