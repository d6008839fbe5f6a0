// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `metadata.json` of an asset says about the program beside it.

#ifndef CORTEN_ASSET_METADATA_H
#define CORTEN_ASSET_METADATA_H

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <cstdint>
#include <optional>
#include <string>

namespace corten {

/// An empty string is a key that is not there.
struct AssetMetadata {
  /// The layout of the folder. Loaders take 2.x; "" if there is no file.
  std::string assetVersion = "2.0";
  std::string author;
  std::string license;
  std::string description;
  /// The program that wrote the asset, with its version.
  std::string producer;
  /// Seconds since 1970, UTC.
  std::optional<int64_t> creationDate;
  /// Whatever the author wants to say besides.
  llvm::json::Object creatorDefined;
};

/// Reads the text of a `metadata.json`. Fails on what loaders refuse: text that
/// is not JSON, and an asset version that is missing or not 2.x. Keys that are
/// not known, and a date that is none, are skipped. Text nested too deeply for
/// a parser is refused without parsing it.
llvm::Expected<AssetMetadata> parseMetadata(llvm::StringRef text);

/// Replaces what the author says besides, by the members of a JSON object.
llvm::Error setCreatorDefined(llvm::StringRef text, AssetMetadata &metadata);

/// Says what an author leaves open: the layout, that we are the producer, and
/// the date. That is now, or what SOURCE_DATE_EPOCH says, for those who want
/// the same bytes from every build.
void completeMetadata(AssetMetadata &metadata);

/// The text of a `metadata.json`; the same for the same metadata.
std::string formatMetadata(const AssetMetadata &metadata);

} // namespace corten

#endif // CORTEN_ASSET_METADATA_H
