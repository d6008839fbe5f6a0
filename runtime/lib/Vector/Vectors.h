// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What sources of this folder give to the rest: a table for each level.

#ifndef CORTEN_RUNTIME_LIB_VECTORS_H
#define CORTEN_RUNTIME_LIB_VECTORS_H

#include "../Products/MicroKernels.h"
#include "../Tile/TileCode.h"

namespace corten::runtime {

struct Vectors {
  Isa isa;
  tile::Form runTiles;
  const products::MicroKernels &products;
};

namespace avx2 {
extern const Vectors kVectors;
void runTiles(const tile::Job &job);
extern const products::MicroKernels kProducts;
} // namespace avx2
namespace avx512 {
extern const Vectors kVectors;
void runTiles(const tile::Job &job);
extern const products::MicroKernels kProducts;
} // namespace avx512

} // namespace corten::runtime

#endif // CORTEN_RUNTIME_LIB_VECTORS_H
