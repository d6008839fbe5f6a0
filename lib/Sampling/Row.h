// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A row of logits. It has as many as the vocabulary, of which few matter: there
// are passes over all of them, and what is sorted is what is left.

#ifndef CORTEN_LIB_SAMPLING_ROW_H
#define CORTEN_LIB_SAMPLING_ROW_H

#include "Passes.h"

#include "corten/Sampling/Sampler.h"

#include <algorithm>
#include <cstdint>
#include <optional>
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
  /// To be called once the values are as they are to be, before anything else.
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
  /// How many logits there may be at most that are so large.
  size_t countFrom(float logit) const;
  /// The logit from which on weights may reach a bound.
  float leastFor(double bound) const;
  /// Weights that are smaller have less together than may be left out.
  double leftOut(double share, double total) const {
    return (1 - share) * total / double(row.size());
  }

  // What is left of weights that were kept. Each of these leaves some out, and
  // returns the sum of the others.

  /// The largest, so many.
  double keepLargest(size_t count);
  /// The largest that have this share of the total together.
  double keepNucleus(double share, double total);
  /// Those that are at least so large.
  double keepFrom(float least);
  /// Where the running sum of what was kept passes this.
  size_t draw(double wanted) const;

private:
  size_t blockSize(size_t block) const {
    return std::min(kBlock, row.size() - block * kBlock);
  }

  /// What is to be reached by the largest ones: a number of them, or a sum.
  enum class Measure : uint8_t { Count, Sum };
  struct Goal {
    Measure measure;
    double wanted;
    /// What all that are at least `low` have.
    double total;
    float low;
  };
  /// Bounds, as bits, and what weights from there on have.
  struct Bracket {
    uint32_t low, high;
    double atLow, atHigh;
  };

  /// The smallest weight that is needed, and the last place of an equal one.
  Candidate edgeOf(const Goal &goal);
  std::pair<uint32_t, uint32_t> guessEdge(const Goal &goal) const;
  Bracket gatherEdge(const Goal &goal);
  Bracket gatherFrom(const Goal &goal, uint32_t low);
  Bracket gather(const Goal &goal, uint32_t low, uint32_t high, double atHigh);
  void narrow(const Goal &goal, Bracket &bracket) const;
  Candidate nthEqual(float value, size_t number) const;
  double keepTo(const Candidate &edge);
  double keepApart(const Candidate &edge);
  size_t tokenAt(size_t place) const;

  std::span<const float> row;
  std::vector<float> own;
  /// What becomes the row when it is looked at.
  std::optional<Logits> unread;
  /// The weights, which are made again where they are needed if there are none
  /// here, and those that are looked at: these, or some of them side by side.
  /// Of them, those that are smaller than `keptFrom` are left out.
  std::vector<float> weights;
  std::span<float> kept;
  float keptFrom = 0;
  /// Some side by side: all that are larger than this, and equal ones up to a
  /// token.
  std::vector<float> apart;
  Candidate leastApart = {};
  /// Weights that the edge is among.
  std::span<float> near;
  std::vector<float> room;
  std::vector<float> blockPeaks;
  std::vector<double> blockSums;
  float most = -kInfinity;
  /// What logits are multiplied by before they become weights.
  float scale = 1;
};

} // namespace corten::sampling

#endif // CORTEN_LIB_SAMPLING_ROW_H
