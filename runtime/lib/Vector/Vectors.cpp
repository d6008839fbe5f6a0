// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Vectors.h"

#include "Simd.h"

using namespace corten::runtime;

const Vectors CORTEN_LEVEL::kVectors = {
    .runTiles = CORTEN_LEVEL::runTiles,
    .products = CORTEN_LEVEL::kProducts,
    .codes = CORTEN_LEVEL::kCodes,
    .winograd = CORTEN_LEVEL::kWinograd,
    .images = CORTEN_LEVEL::kImages,
    .reductions = {CORTEN_LEVEL::runTiles, CORTEN_LEVEL::reduceRows,
                   CORTEN_LEVEL::reduceColumns},
    .softmaxRow = CORTEN_LEVEL::softmaxRow,
    .softmaxColumns = CORTEN_LEVEL::softmaxColumns,
    .normalizeRow = CORTEN_LEVEL::normalizeRow,
    .attend = CORTEN_LEVEL::attend,
    .attentionFloats = CORTEN_LEVEL::attentionFloats,
    .recur = CORTEN_LEVEL::recur,
    .collectBelow = CORTEN_LEVEL::collectBelow,
};
