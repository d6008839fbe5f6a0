// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Looks for known traps in a program and in the asset around it. Each finding
// says where, what, why it matters and what to do. Checks.def has them all.
// Nothing is changed, and nothing is run.

#ifndef CORTEN_INSPECT_DOCTOR_H
#define CORTEN_INSPECT_DOCTOR_H

#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace llvm::json {
class Object;
} // namespace llvm::json
namespace mlir {
class ModuleOp;
} // namespace mlir

namespace corten {

enum class Severity { Error, Warning, Note };

/// Everything that Checks.def lists.
enum class CheckId {
#define CHECK(identifier, name, severity, reason, remedy) identifier,
#include "corten/Inspect/Checks.def"
};

/// A trap: what it is called, why it is one and what helps.
struct Check {
  CheckId id;
  const char *name;
  Severity severity;
  const char *reason;
  const char *remedy;
};

/// In the order of Checks.def.
const std::vector<Check> &doctorChecks();
const Check &checkOf(CheckId id);
/// "error", "warning", "note".
const char *severityName(Severity severity);

/// One place where a program runs into a trap.
struct Finding {
  CheckId check;
  /// The graph, op, value, weight or file, with its source line if known.
  std::string place;
  /// What is there; may be empty where the place says it all.
  std::string detail;
};

/// What the checks know of the folder around a program.
struct AssetFacts {
  struct Resource {
    std::string key;
    uint64_t alignment = 1;
  };

  std::string path;
  bool hasMetadata = true;
  bool hasHash = true;
  bool hashMatches = true;
  std::optional<uint64_t> bytecodeVersion;
  std::optional<uint64_t> dialectVersion;
  std::vector<Resource> resources;
};

/// Findings about the folder.
std::vector<Finding> examineAsset(const AssetFacts &asset);

/// Findings about the program.
std::vector<Finding> examineProgram(mlir::ModuleOp module);

/// The worst first; otherwise as they were found.
void sortFindings(std::vector<Finding> &findings);

/// As data: what `corten doctor --json` prints.
llvm::json::Object findingsJson(llvm::StringRef path,
                                const std::vector<Finding> &findings);

/// For people: findings of one kind together, the reason and remedy once.
void printFindings(const std::vector<Finding> &findings, llvm::raw_ostream &os);

} // namespace corten

#endif // CORTEN_INSPECT_DOCTOR_H
