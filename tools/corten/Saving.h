// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options that commands share which write assets.

#ifndef CORTEN_TOOLS_CORTEN_SAVING_H
#define CORTEN_TOOLS_CORTEN_SAVING_H

#include "Commands.h"
#include "Terminal.h"
#include "corten/Model/Model.h"

#include <optional>
#include <utility>
#include <vector>

namespace corten::tool {

/// How an asset is written.
void addSaving(CLI::App &command, SaveOptions &options);

/// The asset that a command writes.
void addTarget(CLI::App &command, std::string &output, SaveOptions &options);

/// Writes the model, and says meanwhile how far it is.
llvm::Error save(Model &model, llvm::StringRef path, SaveOptions options,
                 Progress &progress);

/// What an asset is to say about itself.
struct MetadataOptions {
  std::optional<std::string> author;
  std::optional<std::string> license;
  std::optional<std::string> description;
  /// KEY=VALUE.
  std::vector<std::string> others;

  void addTo(CLI::App &command);
  llvm::Error apply(AssetMetadata &metadata) const;
};

/// Names for values of entry points: "tokens,start" for all of them,
/// "x=tokens" for one, "decode=tokens" where there are several entry points.
struct NameOptions {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> states;

  /// The names of one entry point.
  struct OfEntryPoint {
    ValueNames inputs, outputs, states;
  };

  void addTo(CLI::App &command, const char *stateHelp);
  /// For each of the entry points, in their order.
  llvm::Expected<std::vector<OfEntryPoint>>
  parse(llvm::ArrayRef<std::string> entryPoints) const;
};

} // namespace corten::tool

#endif // CORTEN_TOOLS_CORTEN_SAVING_H
