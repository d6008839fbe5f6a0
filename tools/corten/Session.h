// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function that is ready to be called: what `run`, `bench` and `profile` have
// in common.

#ifndef CORTEN_TOOLS_CORTEN_SESSION_H
#define CORTEN_TOOLS_CORTEN_SESSION_H

#include "Arrays.h"
#include "Commands.h"
#include "Terminal.h"
#include "Weights.h"

namespace corten::tool {

/// What may be less exact.
struct PrecisionOptions {
  /// Empty: as the program says.
  std::string factors;
  bool isFastMath = false;

  /// As parsePrecision takes it.
  std::string text() const;
};

/// What to call, and with what.
struct CallOptions {
  std::string path;
  WeightOptions weights;
  std::string function;
  std::vector<std::string> inputs;
  std::vector<std::string> shapes;
  ImageOptions images;
  int threads = 0;
  unsigned seed = 0;
  PrecisionOptions precision;
  /// Those of a plan.
  bool metalKernels = false;
  /// In bytes; see runtime::LoadOptions::arenaLimit.
  std::optional<size_t> memoryLimit;
  /// Where the asset of a plan is; empty if it is where it was.
  std::string asset;
};

void addPrecision(CLI::App &command, PrecisionOptions &options);

/// Adds all of them but the threads, of which some take several.
void addCallOptions(CLI::App &command, CallOptions &options);

struct Session {
  std::shared_ptr<runtime::Model> model;
  const runtime::Function *function = nullptr;
  std::vector<Owned> arguments;
  std::vector<runtime::State> states;
  std::unique_ptr<runtime::Call> call;

  llvm::ArrayRef<runtime::Parameter> outputs() const {
    return llvm::ArrayRef<runtime::Parameter>(function->outputs());
  }
  llvm::Error run() const;
};

/// Loads the model, and sets inputs and states. Inputs that are not given are
/// random.
llvm::Expected<Session> openSession(const CallOptions &options,
                                    Progress &progress);

/// NAME=TEXT, or TEXT where there is one name only.
llvm::Expected<std::pair<llvm::StringRef, llvm::StringRef>>
assignment(llvm::StringRef option, llvm::StringRef argument,
           llvm::ArrayRef<runtime::Parameter> parameters);

} // namespace corten::tool

#endif // CORTEN_TOOLS_CORTEN_SESSION_H
