// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Dialect/Registration.h"
#include "corten/Dialect/CoreAI/IR/CoreAIDialect.h"
#include "corten/Dialect/CoreAIX/IR/CoreAIXDialect.h"
#include "corten/Dialect/DebugInfo/IR/DebugInfoDialect.h"
#include "corten/Dialect/Param/IR/ParamDialect.h"
#include "corten/Dialect/UDML/IR/UDMLDialect.h"
#include "mlir/IR/DialectRegistry.h"

void corten::registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<coreai::CoreAIDialect, coreaix::CoreAIXDialect,
                  debuginfo::DebugInfoDialect, param::ParamDialect,
                  udml::UDMLDialect>();
}
