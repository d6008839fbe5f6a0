// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a conversion made, counted: for people who want to see whether a model
// became what they expect. It reads the module and changes nothing.

#ifndef CORTEN_INSPECT_REPORT_H
#define CORTEN_INSPECT_REPORT_H

#include "corten/Conversion/AtenToCoreAI/Conversion.h"
#include "corten/Inspect/Compression.h"
#include "corten/Inspect/OpCount.h"

namespace corten {

struct ConversionReport {
  /// A named argument of an entry point, with its type as printed.
  struct Argument {
    std::string entryPoint;
    std::string name;
    std::string type;
    /// Of a buffer, in the model ("layers.0.k").
    std::string path;
  };
  struct Weights {
    /// Element type in the module ("f32", "si32").
    std::string type;
    size_t count = 0;
    size_t bytes = 0;
  };

  /// By name, those of composites among them, most frequent first.
  std::vector<OpCount> operations;
  /// Graphs of composites by the name in their declaration.
  std::vector<OpCount> composites;
  std::vector<Argument> states;
  /// Inputs of entry points that nothing reads.
  std::vector<Argument> deadInputs;
  /// Most bytes first. A weight that several entry points share counts once.
  std::vector<Weights> weights;
  struct Departed {
    const char *operators;
    const char *reason;
    size_t calls = 0;
  };
  /// Where the program is not made of the operations that the official
  /// converter makes; in the order of Departures.def.
  std::vector<Departed> departures;
  /// How each weight is compressed, or why not.
  CompressionReport compression;
};

ConversionReport summarize(const ConvertedModule &module);

} // namespace corten

#endif // CORTEN_INSPECT_REPORT_H
