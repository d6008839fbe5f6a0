// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element by element work of a whole tensor by a tile program.

#include "../Portable/Portable.h"
#include "../Vector/Variants.h"
#include "Nest.h"

using namespace corten::runtime;
using namespace corten::runtime::tile;

static Error runTileWith(Form form, const Invocation &call) {
  if (!call.program)
    return Error("Tile was called without a program");
  return runProgram(form, codeOf(*call.program), call.inputs, call.outputs,
                    call.pool);
}

Error portable::runTile(const Invocation &call) {
  return runTileWith(runPortable, call);
}

static bool takesAll(const Invocation &) { return true; }

static Error runTileFast(const Vectors &vectors, const Invocation &call) {
  return runTileWith(vectors.runTiles, call);
}
CORTEN_VARIANTS(Tile, takesAll, runTileFast, nullptr)
