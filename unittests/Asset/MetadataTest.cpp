// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Asset/Metadata.h"

#include "gtest/gtest.h"

using namespace corten;

/// What a text is refused with, or nothing.
static std::string refusal(llvm::StringRef text) {
  llvm::Expected<AssetMetadata> metadata = parseMetadata(text);
  return metadata ? "" : llvm::toString(metadata.takeError());
}

TEST(MetadataTest, ReadsWhatOfficialFilesSay) {
  llvm::Expected<AssetMetadata> metadata = parseMetadata(R"({
    "creationDate" : "20261115T115604Z",
    "assetVersion" : "2.0",
    "author" : "Ada",
    "creatorDefinedMetadata" : {"b" : [1, {"c" : null}], "a" : "x"},
    "description" : "adds",
    "license" : "none",
    "producer" : "coreai-core 1.0.0b2",
    "unknown" : 3
  })");
  ASSERT_TRUE(static_cast<bool>(metadata));
  EXPECT_EQ(metadata->assetVersion, "2.0");
  EXPECT_EQ(metadata->author, "Ada");
  EXPECT_EQ(metadata->description, "adds");
  EXPECT_EQ(metadata->license, "none");
  EXPECT_EQ(metadata->producer, "coreai-core 1.0.0b2");
  EXPECT_EQ(metadata->creationDate, 1794743764);
  EXPECT_EQ(metadata->creatorDefined.size(), 2u);

  std::string text = formatMetadata(*metadata);
  EXPECT_EQ(text, R"({
  "assetVersion": "2.0",
  "author": "Ada",
  "creationDate": "20261115T115604Z",
  "creatorDefinedMetadata": {
    "a": "x",
    "b": [
      1,
      {
        "c": null
      }
    ]
  },
  "description": "adds",
  "license": "none",
  "producer": "coreai-core 1.0.0b2"
}
)");
  llvm::Expected<AssetMetadata> again = parseMetadata(text);
  ASSERT_TRUE(static_cast<bool>(again));
  EXPECT_EQ(formatMetadata(*again), text);
}

TEST(MetadataTest, LeavesOutWhatIsEmpty) {
  EXPECT_EQ(formatMetadata({}), "{\n  \"assetVersion\": \"2.0\"\n}\n");
}

TEST(MetadataTest, DatesBeforeTheEpoch) {
  AssetMetadata metadata;
  metadata.creationDate = -1;
  llvm::Expected<AssetMetadata> again = parseMetadata(formatMetadata(metadata));
  ASSERT_TRUE(static_cast<bool>(again));
  EXPECT_EQ(again->creationDate, -1);
}

TEST(MetadataTest, ADateThatIsNoneIsSkipped) {
  for (const char *date :
       {"", "today", "20261315T000000Z", "20260229T000000Z", "20261115T240000Z",
        "20261115T00000-Z", "20261115T115604", "+0261115T115604Z"}) {
    std::string text = std::string(R"({"assetVersion": "2.1", )") +
                       "\"creationDate\": \"" + date + "\"}";
    llvm::Expected<AssetMetadata> metadata = parseMetadata(text);
    ASSERT_TRUE(static_cast<bool>(metadata));
    EXPECT_EQ(metadata->creationDate, std::nullopt) << date;
  }
}

TEST(MetadataTest, RefusesWhatLoadersRefuse) {
  EXPECT_NE(refusal("").find("not JSON"), std::string::npos);
  EXPECT_NE(refusal("{").find("not JSON"), std::string::npos);
  EXPECT_NE(refusal("{\"assetVersion\": \"\xff\"}").find("not JSON"),
            std::string::npos);
  EXPECT_EQ(refusal("[]"), "metadata.json: not a JSON object");
  EXPECT_EQ(refusal("{}"), "metadata.json: the key assetVersion is missing");
  EXPECT_EQ(refusal(R"({"assetVersion": 2})"),
            "metadata.json: the key assetVersion is missing");
  for (const char *version : {"1.0", "3.0", "99", "abc", "2", "2.", "2.x"})
    EXPECT_EQ(refusal(std::string("{\"assetVersion\": \"") + version + "\"}"),
              std::string("metadata.json: asset version \"") + version +
                  "\" is not supported, only 2.x is");
  EXPECT_EQ(refusal(R"({"assetVersion": "2.1"})"), "");
}

TEST(MetadataTest, NumbersAreFinite) {
  auto with = [](const char *number) {
    return std::string(R"({"assetVersion": "2.0",
      "creatorDefinedMetadata": {"a": [{"b": )") +
           number + "}]}}";
  };
  EXPECT_EQ(refusal(with("1e308")), "");
  EXPECT_EQ(refusal(with("1e3081")), "metadata.json: a number is too large");
  EXPECT_EQ(refusal(with("-1e999")), "metadata.json: a number is too large");
}

TEST(MetadataTest, NestingIsBounded) {
  std::string deep(1'000'000, '[');
  EXPECT_EQ(refusal(deep), "metadata.json: nested more than 256 deep");
  // Brackets in a string nest nothing.
  EXPECT_EQ(
      refusal("{\"assetVersion\": \"2.0\", \"author\": \"\\\"" + deep + "\"}"),
      "");
  std::string within = std::string(255, '[') + std::string(255, ']');
  EXPECT_EQ(refusal("{\"assetVersion\": \"2.0\", \"x\": " + within + "}"), "");
}
