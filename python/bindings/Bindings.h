// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of the extension module, one source file each.

#ifndef CORTEN_PYTHON_BINDINGS_BINDINGS_H
#define CORTEN_PYTHON_BINDINGS_BINDINGS_H

#include <nanobind/nanobind.h>

namespace corten::bindings {

void bindModules(nanobind::module_ &module);
void bindProgram(nanobind::module_ &module);
void bindWeights(nanobind::module_ &module);
void bindMetal(nanobind::module_ &module);
void bindAsset(nanobind::module_ &module);
void bindEngine(nanobind::module_ &module);
void bindSampling(nanobind::module_ &module);
void bindConversion(nanobind::module_ &module);
void bindPt2(nanobind::module_ &module);
void bindInspect(nanobind::module_ &module);
void bindReceive(nanobind::module_ &module);
void bindGraphDiff(nanobind::module_ &module);
void bindView(nanobind::module_ &module);

} // namespace corten::bindings

#endif // CORTEN_PYTHON_BINDINGS_BINDINGS_H
