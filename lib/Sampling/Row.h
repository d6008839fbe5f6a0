// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A row of logits. It has as many as the vocabulary, of which few matter: there
// are passes over all of them, and what is sorted is what is left.

#ifndef CORTEN_LIB_SAMPLING_ROW_H
#define CORTEN_LIB_SAMPLING_ROW_H

#include "Passes.h"

#include "corten/Sampling/Sampler.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace corten::sampling {

/// A token, and how large its logit or its weight is.
struct Candidate {
  float value;
  int32_t token;
};

/// The larger one, and of equal ones the first token.
inline bool comesBefore(const Candidate &a, const Candidate &b) {
  return a.value != b.value ? a.value > b.value : a.token < b.token;
}

/// A row of logits, with room that is used again.
class Row {
public:
  /// They are read where they are, if they are floats that nobody changes, and
  /// must stay there as long as they are looked at.
  void read(const Logits &logits, bool isChanged);
  /// To be called once the values are as they are to be.
  void look();

  std::span<const float> values() const { return row; }
  /// Of a row that is changed.
  std::span<float> ownValues() { return own; }
  float peak() const { return most; }
  size_t mostProbable() const;
  /// The largest, in order.
  std::vector<Candidate> largest(size_t count) const;
  /// All that are at least so large.
  std::vector<Candidate> from(float bound) const;
  /// Probabilities but for a factor; returns their sum. They are kept, or made
  /// again where one is drawn.
  double weigh(float factor, bool isKept);
  /// Those that are at least so probable, with their weights.
  std::vector<Candidate> weightsFrom(double bound) const;
  /// How many there may be at most that are so probable.
  size_t countFrom(double bound) const;
  /// Weights that are smaller have less together than may be left out.
  double leftOut(double share, double total) const {
    return (1 - share) * total / double(row.size());
  }
  /// Keeps the largest weights that have this share together, and of those the
  /// ones that are large enough; returns their sum.
  double keepNucleus(double share, double total, float least);
  /// Where the running sum of what was kept passes this.
  size_t draw(double wanted) const;

private:
  size_t blockSize(size_t block) const {
    return std::min(kBlock, row.size() - block * kBlock);
  }

  /// The logit from which on weights have a bound.
  float leastFor(double bound) const;
  /// The smallest weight of the nucleus, and the last place of an equal one.
  Candidate edgeOf(double wanted, double total, double low) const;
  std::pair<uint32_t, uint32_t> guessEdge(double share) const;
  Candidate nthEqual(float value, size_t number) const;

  std::span<const float> row;
  std::vector<float> own;
  /// The weights; those that are smaller than this are left out. Empty: made
  /// again where they are needed.
  std::vector<float> kept;
  float keptFrom = 0;
  std::vector<float> blockPeaks;
  std::vector<double> blockSums;
  float most = -kInfinity;
  /// What logits are multiplied by before they become weights.
  float scale = 1;
};

} // namespace corten::sampling

#endif // CORTEN_LIB_SAMPLING_ROW_H
