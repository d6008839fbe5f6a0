// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Handover/Handover.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

using namespace corten;

std::vector<std::vector<int>>
corten::resourceUses(const ConvertedModule &module) {
  llvm::StringMap<int> places;
  for (auto [place, resource] : llvm::enumerate(module.resources))
    places[resource.key] = place;
  std::vector<std::vector<int>> result;
  for (mlir::Operation &graph : *module.module.get().getBody()) {
    std::vector<int> &uses = result.emplace_back();
    for (mlir::Operation &op : graph.getRegion(0).getOps()) {
      auto constant = llvm::dyn_cast<coreai::ConstantOp>(op);
      if (!constant)
        break;
      auto value =
          llvm::dyn_cast<mlir::DenseResourceElementsAttr>(constant.getValue());
      uses.push_back(value ? places.at(value.getRawHandle().getKey()) : -1);
    }
    while (!uses.empty() && uses.back() < 0)
      uses.pop_back();
  }
  return result;
}

HandedModule corten::handOver(mlir::ModuleOp module) {
  HandedModule handed;
  unsigned place = 0;
  module->walk([&](mlir::Operation *op) {
    for (mlir::NamedAttribute named : op->getAttrs()) {
      auto value =
          llvm::dyn_cast<mlir::DenseResourceElementsAttr>(named.getValue());
      mlir::AsmResourceBlob *blob =
          value ? value.getRawHandle().getBlob() : nullptr;
      if (blob)
        handed.weights.push_back({place, named.getName().str(),
                                  value.getRawHandle().getKey().str(),
                                  blob->getData()});
    }
    ++place;
  });
  llvm::raw_string_ostream stream(handed.text);
  mlir::OpPrintingFlags flags;
  flags.printGenericOpForm().enableDebugInfo().elideLargeResourceString(0);
  // What was read was verified.
  flags.assumeVerified();
  module->print(stream, flags);
  return handed;
}

std::string corten::moduleText(const ConvertedModule &module, bool generic) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  mlir::OpPrintingFlags flags;
  if (generic)
    flags.printGenericOpForm();
  // The module was verified when it was made.
  flags.assumeVerified();
  module.module.get()->print(stream, flags);
  return text;
}
