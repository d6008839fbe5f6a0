// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tables of the levels that are avx512 with other products of pairs and quads.
// Compiled for any machine: they are put together when the library is loaded.

#include "Vectors.h"

#include <algorithm>

using namespace corten::runtime;
using namespace corten::runtime::products;

/// With other products.
static Vectors from512(const MicroKernels &products) {
  const Vectors &from = avx512::kVectors;
  return {
      .runTiles = from.runTiles,
      .products = products,
      .codes = from.codes,
      .winograd = from.winograd,
      .images = from.images,
      .reductions = from.reductions,
      .softmaxRow = from.softmaxRow,
      .softmaxColumns = from.softmaxColumns,
      .normalizeRow = from.normalizeRow,
      .attend = from.attend,
      .attentionFloats = from.attentionFloats,
      .recur = from.recur,
      .collectBelow = from.collectBelow,
  };
}

static const MicroKernels kPairProducts = [] {
  MicroKernels kernels = avx512::kProducts;
  kernels.dots = &avx512_bf16::kDots;
  return kernels;
}();
const Vectors avx512_bf16::kVectors = from512(kPairProducts);

/// Few rows do not fill tiles: vectors multiply them.
static constexpr int kFewRows = 4;

static const DotKernels kTileDots = [] {
  DotKernels dots = avx512_bf16::kDots;
  auto fill = [](TileFunctionOf(&rows)[kMaxTileRows], TileFunctionOf tile) {
    std::fill(rows + kFewRows, rows + kMaxTileRows, tile);
  };
  fill(dots.pairs, amx::kTiles.pairs);
  fill(dots.narrowPairs, amx::kTiles.narrowPairs);
  fill(dots.quads, amx::kTiles.quads);
  fill(dots.narrowQuads, amx::kTiles.narrowQuads);
  return dots;
}();
static const MicroKernels kTileProducts = [] {
  MicroKernels kernels = avx512::kProducts;
  kernels.tileRows = amx::kTiles.rows;
  kernels.tableStep = amx::kTiles.rows;
  kernels.dots = &kTileDots;
  kernels.speed = 6;
  kernels.begin = amx::kTiles.begin;
  kernels.end = amx::kTiles.end;
  return kernels;
}();
const Vectors amx::kVectors = from512(kTileProducts);
