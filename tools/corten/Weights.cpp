// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Weights.h"

using namespace corten;
using namespace corten::tool;

void WeightOptions::addTo(CLI::App &command) {
  CLI::Option *weights =
      command
          .add_option("--weights", folder,
                      "Take the weights of NAME.pt2 from this folder of "
                      ".safetensors files, by name: the program may have been "
                      "exported without")
          ->type_name("FOLDER");
  command
      .add_option("--tied", tied,
                  "A weight that the folder has under another name only; may "
                  "be repeated")
      ->type_name("NAME=OTHER")
      ->allow_extra_args(false)
      ->needs(weights);
}

llvm::Expected<WeightSource> WeightOptions::parse() const {
  WeightSource source;
  source.folder = folder;
  for (llvm::StringRef text : tied) {
    auto [name, stored] = text.split('=');
    if (name.empty() || stored.empty())
      return llvm::createStringError("--tied: want NAME=OTHER, not " + text);
    source.tied.push_back({name.str(), stored.str()});
  }
  return source;
}
