// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Saving.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

using namespace corten;
using namespace corten::tool;
using llvm::StringRef;

void tool::addSaving(CLI::App &command, SaveOptions &options) {
  command.add_flag("!--no-hash", options.hash,
                   "Leave out main.hash, the checksum of the program; it takes "
                   "longer to make than the asset to write");
  command.add_flag("--force", options.force,
                   "Replace what is at the target even if it is no asset");
}

void tool::addTarget(CLI::App &command, std::string &output,
                     SaveOptions &options) {
  command
      .add_option("-o,--output", output,
                  "The asset to write; may be PATH itself")
      ->type_name("PATH")
      ->required();
  addSaving(command, options);
}

llvm::Error tool::save(Model &model, StringRef path, SaveOptions options,
                       Progress &progress) {
  progress.show("writing");
  // What lies around weights is hardly ever what takes the time.
  if (uint64_t total = progress.isWanted() ? model.info().weightBytes() : 0)
    options.progress = [&progress, total](uint64_t bytes) {
      progress.show("writing", std::min(1.0, double(bytes) / double(total)));
    };
  return model.save(path, std::move(options));
}

//===----------------------------------------------------------------------===//
// Metadata
//===----------------------------------------------------------------------===//

void MetadataOptions::addTo(CLI::App &command) {
  command.add_option("--author", author, "Who made the model")
      ->type_name("TEXT");
  command.add_option("--license", license, "What others may do with it")
      ->type_name("TEXT");
  command.add_option("--description", description, "What the model is")
      ->type_name("TEXT");
  command
      .add_option("--metadata", others,
                  "Something else to say about the model; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

llvm::Error MetadataOptions::apply(AssetMetadata &metadata) const {
  metadata.author = author.value_or(metadata.author);
  metadata.license = license.value_or(metadata.license);
  metadata.description = description.value_or(metadata.description);
  for (StringRef text : others) {
    auto [key, value] = text.split('=');
    if (key.empty() || key.size() == text.size())
      return llvm::createStringError("--metadata: want KEY=VALUE, not " + text);
    metadata.creatorDefined[key] = value;
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

void NameOptions::addTo(CLI::App &command, const char *stateHelp) {
  auto add = [&](const char *flag, std::vector<std::string> &names,
                 const char *help) {
    command.add_option(flag, names, help)
        ->type_name("[ENTRYPOINT=]NAME,...")
        ->allow_extra_args(false);
  };
  add("--input-names", inputs,
      "Names for the inputs, in order, or OLD=NEW,...");
  add("--output-names", outputs,
      "Names for the outputs, in order, or OLD=NEW,...");
  add("--state-names", states, stateHelp);
}

/// The entry point that "ENTRYPOINT=..." is about, which is taken off; the only
/// one where none is said. None if there are several.
static std::optional<size_t>
entryPointOf(StringRef &text, llvm::ArrayRef<std::string> entryPoints) {
  auto [name, rest] = text.split('=');
  if (name.size() < text.size())
    if (const auto *known = llvm::find(entryPoints, name);
        known != entryPoints.end()) {
      text = rest;
      return known - entryPoints.begin();
    }
  return entryPoints.size() == 1 ? std::optional<size_t>(0) : std::nullopt;
}

static llvm::Error addNames(StringRef option, StringRef text,
                            ValueNames &names) {
  for (StringRef item : llvm::split(text, ',')) {
    auto [original, name] = item.split('=');
    bool hasOriginal = original.size() < item.size();
    if (!names.names.empty() && hasOriginal == names.originals.empty())
      return llvm::createStringError(
          option + ": want names for all values or OLD=NEW, not both: " + text);
    if (hasOriginal)
      names.originals.push_back(original.str());
    names.names.push_back((hasOriginal ? name : item).str());
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<NameOptions::OfEntryPoint>>
NameOptions::parse(llvm::ArrayRef<std::string> entryPoints) const {
  std::vector<OfEntryPoint> result(entryPoints.size());
  for (auto [option, given, kind] :
       {std::tuple("--input-names", &inputs, &OfEntryPoint::inputs),
        std::tuple("--output-names", &outputs, &OfEntryPoint::outputs),
        std::tuple("--state-names", &states, &OfEntryPoint::states)})
    for (StringRef text : *given) {
      std::optional<size_t> place = entryPointOf(text, entryPoints);
      if (!place)
        return llvm::createStringError(
            llvm::Twine(option) +
            ": there are several entry points: say which one, as in " +
            entryPoints.front() + "=" + text);
      if (llvm::Error error = addNames(option, text, result[*place].*kind))
        return error;
    }
  return result;
}
