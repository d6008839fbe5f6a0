// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the fuzz target of plans starts from: also plans of the compiler, which
// nothing else here has.

#ifndef CORTEN_RUNTIME_UNITTESTS_PLANCORPUS_H
#define CORTEN_RUNTIME_UNITTESTS_PLANCORPUS_H

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace corten::runtime {

/// Plans by their name.
inline std::map<std::string, std::string> planCorpus() {
  std::map<std::string, std::string> files;
  for (const auto &entry : std::filesystem::directory_iterator(CORTEN_PLANS)) {
    std::ifstream stream(entry.path(), std::ios::binary);
    files[entry.path().filename()] = {std::istreambuf_iterator(stream), {}};
  }
  return files;
}

/// Those that the compiler wrote are files with a trailer.
inline std::map<std::string, std::string> compiledPlans() {
  std::map<std::string, std::string> files = planCorpus();
  std::erase_if(
      files, [](const auto &file) { return !file.first.ends_with(".cplan"); });
  return files;
}

} // namespace corten::runtime

#endif // CORTEN_RUNTIME_UNITTESTS_PLANCORPUS_H
