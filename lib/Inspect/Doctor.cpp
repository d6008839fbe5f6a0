// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of checks, those of the folder, and the report.

#include "corten/Inspect/Doctor.h"

#include "ProgramChecks.h"
#include "corten/Support/Limits.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace corten;
using llvm::StringRef;
namespace json = llvm::json;

const std::vector<Check> &corten::doctorChecks() {
  static const std::vector<Check> checks = {
#define CHECK(identifier, name, severity, reason, remedy)                      \
  {CheckId::identifier, name, Severity::severity, reason, remedy},
#include "corten/Inspect/Checks.def"
  };
  return checks;
}

const Check &corten::checkOf(CheckId id) {
  return doctorChecks()[static_cast<size_t>(id)];
}

const char *corten::severityName(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return "error";
  case Severity::Warning:
    return "warning";
  case Severity::Note:
    return "note";
  }
  llvm_unreachable("all severities are listed");
}

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

/// What loaders take; see the checks.
static constexpr uint64_t kNewestBytecode = 6;
static constexpr uint64_t kOldestDialect = 20250410;
static constexpr uint64_t kNewestDialect = 20260409;

std::vector<Finding> corten::examineAsset(const AssetFacts &asset) {
  std::vector<Finding> findings;
  auto add = [&](CheckId check, const llvm::Twine &place,
                 const llvm::Twine &detail) {
    findings.push_back({check, place.str(), detail.str()});
  };
  if (!StringRef(asset.path).rtrim('/').ends_with(".aimodel"))
    add(CheckId::AssetName, asset.path, "");
  if (!asset.hasMetadata)
    add(CheckId::MetadataMissing, "metadata.json", "not there");
  if (!asset.hasHash)
    add(CheckId::HashMissing, "main.hash", "not there");
  else if (!asset.hashMatches)
    add(CheckId::HashWrong, "main.hash", "");
  if (asset.bytecodeVersion &&
      (*asset.bytecodeVersion == 0 || *asset.bytecodeVersion > kNewestBytecode))
    add(CheckId::BytecodeVersion, "main.mlirb",
        "version " + llvm::Twine(*asset.bytecodeVersion));
  if (!asset.dialectVersion)
    add(CheckId::DialectVersion, "main.mlirb", "no version");
  else if (*asset.dialectVersion < kOldestDialect ||
           *asset.dialectVersion > kNewestDialect)
    add(CheckId::DialectVersion, "main.mlirb",
        "version " + llvm::Twine(*asset.dialectVersion));
  for (const AssetFacts::Resource &resource : asset.resources)
    if (resource.alignment > kWeightAlignment)
      add(CheckId::ResourceAlignment, "weight " + resource.key,
          "aligned to " + llvm::Twine(resource.alignment) + " bytes");
  return findings;
}

std::vector<Finding> corten::examineProgram(mlir::ModuleOp module) {
  std::vector<Finding> findings;
  checkInterface(module, findings);
  checkStructure(module, findings);
  checkState(module, findings);
  checkNumbers(module, findings);
  checkWeights(module, findings);
  checkPaths(module, findings);
  return findings;
}

//===----------------------------------------------------------------------===//
// The report
//===----------------------------------------------------------------------===//

void corten::sortFindings(std::vector<Finding> &findings) {
  std::vector<std::vector<Finding>> byCheck(doctorChecks().size());
  for (Finding &finding : findings)
    byCheck[static_cast<size_t>(finding.check)].push_back(std::move(finding));
  findings.clear();
  for (Severity severity : {Severity::Error, Severity::Warning, Severity::Note})
    for (auto [check, found] : llvm::zip_equal(doctorChecks(), byCheck))
      if (check.severity == severity)
        llvm::append_range(findings, std::move(found));
}

json::Object corten::findingsJson(StringRef path,
                                  const std::vector<Finding> &findings) {
  json::Array array;
  for (const Finding &finding : findings) {
    const Check &check = checkOf(finding.check);
    array.push_back(json::Object{{"check", check.name},
                                 {"severity", severityName(check.severity)},
                                 {"place", json::fixUTF8(finding.place)},
                                 {"detail", json::fixUTF8(finding.detail)},
                                 {"reason", check.reason},
                                 {"remedy", check.remedy}});
  }
  return json::Object{{"path", json::fixUTF8(path)},
                      {"findings", std::move(array)}};
}

/// More places of one kind tell a reader nothing new.
static constexpr size_t kMaxPlaces = 8;

void corten::printFindings(const std::vector<Finding> &findings,
                           llvm::raw_ostream &os) {
  for (auto first = findings.begin(); first != findings.end();) {
    auto last = std::find_if(first, findings.end(), [&](const Finding &other) {
      return other.check != first->check;
    });
    const Check &check = checkOf(first->check);
    os << severityName(check.severity) << ": " << check.name << '\n';
    size_t count = last - first;
    size_t shown = count > kMaxPlaces ? kMaxPlaces - 1 : count;
    for (const Finding &finding : llvm::make_range(first, first + shown)) {
      os << "  " << finding.place;
      if (!finding.detail.empty())
        os << ": " << finding.detail;
      os << '\n';
    }
    if (shown < count)
      os << "  and " << count - shown << " more\n";
    os << "  why: " << check.reason << '\n'
       << "  fix: " << check.remedy << '\n';
    first = last;
  }
}
