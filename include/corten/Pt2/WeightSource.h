// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CORTEN_PT2_WEIGHTSOURCE_H
#define CORTEN_PT2_WEIGHTSOURCE_H

#include <string>
#include <vector>

namespace corten {

/// A weight that is another one, and therefore in no checkpoint.
struct TiedWeight {
  std::string name;
  /// What the checkpoint has it as.
  std::string stored;
};

/// Where the weights of programs are, if not in their files.
struct WeightSource {
  /// A folder of safetensors; empty if the files have them.
  std::string folder;
  std::vector<TiedWeight> tied;
};

} // namespace corten

#endif // CORTEN_PT2_WEIGHTSOURCE_H
