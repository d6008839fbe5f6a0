// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Vectors.h"

#include "Simd.h"

using namespace corten::runtime;

const Vectors CORTEN_LEVEL::kVectors = {
    CORTEN_BY_LEVEL(Isa::Avx512, Isa::Avx2),
    CORTEN_LEVEL::runTiles,
    CORTEN_LEVEL::kProducts,
};
