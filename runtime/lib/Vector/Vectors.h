// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What sources of this folder give to the rest: a table for each level.

#ifndef CORTEN_RUNTIME_LIB_VECTORS_H
#define CORTEN_RUNTIME_LIB_VECTORS_H

#include "../Tile/TileCode.h"

namespace corten::runtime {

struct Vectors {
  Isa isa;
  tile::Form runTiles;
};

namespace avx2 {
extern const Vectors kVectors;
void runTiles(const tile::Job &job);
} // namespace avx2
namespace avx512 {
extern const Vectors kVectors;
void runTiles(const tile::Job &job);
} // namespace avx512

} // namespace corten::runtime

#endif // CORTEN_RUNTIME_LIB_VECTORS_H
