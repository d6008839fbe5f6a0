// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element by element work of a whole tensor by a tile program.

#include "../Portable/Portable.h"
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

#ifdef CORTEN_RUNTIME_X86
namespace corten::runtime::variants {
extern const KernelVariant TileAvx512 = {
    "TileAvx512", PortableKernel::Tile, Isa::Avx512,
    [](const Invocation &) { return true; },
    [](const Invocation &call) { return runTileWith(runAvx512, call); }};
extern const KernelVariant TileAvx2 = {
    "TileAvx2", PortableKernel::Tile, Isa::Avx2,
    [](const Invocation &) { return true; },
    [](const Invocation &call) { return runTileWith(runAvx2, call); }};
} // namespace corten::runtime::variants
#endif
