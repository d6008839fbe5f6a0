// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From `.pt2` files to one module in the `coreai` dialect, in one call: what
// `corten convert` and the C and Python interfaces are made of.

#ifndef CORTEN_PT2_CONVERT_H
#define CORTEN_PT2_CONVERT_H

#include "corten/Conversion/AtenToCoreAI/Conversion.h"
#include "corten/Pt2/Safetensors.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace corten {

class Pt2File;

/// A program in a file, and the graph that it becomes.
struct Pt2EntryPoint {
  std::string file;
  /// Of the graph.
  std::string name = "main";
  /// Of the program in the file; may be left out where there is only one.
  std::string model;
  ValueNames inputNames;
  ValueNames outputNames;
  /// Of mutated buffers, then of mutated inputs.
  ValueNames stateNames;
};

/// Reads a program, decomposed or not, so that it can be converted. Fails with
/// a list of all operators that have no lowering, and the lines of the user's
/// code that they come from.
llvm::Expected<std::unique_ptr<Program>>
readPt2(const Pt2EntryPoint &entryPoint);
/// The same for a file that has been opened; its weights may be elsewhere, or,
/// without `needsData`, nowhere.
llvm::Expected<std::unique_ptr<Program>>
readPt2(const Pt2File &file, const Pt2EntryPoint &entryPoint,
        NamedWeights *named = nullptr, bool needsData = true);

/// Converts all programs into one verified module. Weights stay in the mapped
/// files, which the module's resources keep open; programs share those that
/// are equal. Where `weights` has a folder, parameters and buffers come from
/// there; it must have all of them, and no others.
llvm::Expected<std::unique_ptr<ConvertedModule>>
convertPt2(llvm::ArrayRef<Pt2EntryPoint> entryPoints,
           const ConversionOptions &options = {},
           const WeightSource &weights = {});

} // namespace corten

#endif // CORTEN_PT2_CONVERT_H
