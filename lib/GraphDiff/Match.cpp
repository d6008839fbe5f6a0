// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nodes are paired by what they compute and by what is computed from them, as
// hashes over all paths; pairs found so are followed along the edges, which
// settles most of what a hash leaves open. What remains after an edit is paired
// by ever smaller surroundings, then without regard to attributes and types,
// and in the end by neighbours that are pairs already. Last, every pair is
// checked, so that no coincidence is reported as sameness.

#include "corten/GraphDiff/Match.h"

#include "Assignment.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <tuple>

using namespace corten;

using llvm::ArrayRef;
using llvm::SmallVector;

namespace {

/// An edge as one of its ends sees it.
struct Link {
  /// Kind and index of the edge.
  uint64_t slot;
  unsigned node;
  bool isContainment;
};

/// The links of all nodes, those of one node next to each other and sorted by
/// slot.
class Links {
public:
  Links(const LabelledGraph &graph, bool incoming);

  ArrayRef<Link> operator[](unsigned node) const {
    return ArrayRef(links).slice(starts[node], starts[node + 1] - starts[node]);
  }

private:
  std::vector<size_t> starts;
  std::vector<Link> links;
};

using Hashes = std::vector<uint64_t>;

/// One of the two graphs, prepared.
struct Side {
  explicit Side(const LabelledGraph &graph);

  size_t size() const { return identity.size(); }

  Links in, out;
  /// Type, name and attributes of a node.
  Hashes identity;
  /// Type and name only.
  Hashes structure;
  /// Nodes, each after those that it is made from. Those on a cycle come last.
  std::vector<unsigned> order;
};

} // namespace

static uint64_t mix(uint64_t lhs, uint64_t rhs) {
  // The finalizer of splitmix64 over a combination that is not symmetric.
  uint64_t x = lhs * 0x9E3779B97F4A7C15ULL + rhs + 0x632BE59BD9B4E019ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

Links::Links(const LabelledGraph &graph, bool incoming)
    : starts(graph.nodes.size() + 1), links(graph.edges.size()) {
  auto ownerOf = [&](const LabelledGraph::Edge &edge) {
    return incoming ? edge.target : edge.source;
  };
  for (const LabelledGraph::Edge &edge : graph.edges)
    ++starts[ownerOf(edge) + 1];
  for (size_t i = 1; i < starts.size(); ++i)
    starts[i] += starts[i - 1];
  std::vector<size_t> next(starts.begin(), starts.end() - 1);
  for (const LabelledGraph::Edge &edge : graph.edges)
    links[next[ownerOf(edge)]++] = {mix(graph.hash(edge.kind), edge.index),
                                    incoming ? edge.source : edge.target,
                                    edge.isContainment};
  for (size_t i = 0; i + 1 < starts.size(); ++i)
    std::sort(links.begin() + starts[i], links.begin() + starts[i + 1],
              [](const Link &lhs, const Link &rhs) {
                return std::tie(lhs.slot, lhs.node) <
                       std::tie(rhs.slot, rhs.node);
              });
}

Side::Side(const LabelledGraph &graph)
    : in(graph, /*incoming=*/true), out(graph, /*incoming=*/false) {
  size_t count = graph.nodes.size();
  identity.reserve(count);
  structure.reserve(count);
  for (const LabelledGraph::Node &node : graph.nodes) {
    uint64_t hash = mix(graph.hash(node.type), graph.hash(node.name));
    structure.push_back(hash);
    for (auto [name, value] : graph.attributesOf(node))
      hash = mix(hash, mix(graph.hash(name), graph.hash(value)));
    identity.push_back(hash);
  }

  order.reserve(count);
  std::vector<unsigned> waiting(count);
  for (unsigned node = 0; node < count; ++node)
    waiting[node] = llvm::count_if(
        in[node], [](const Link &link) { return !link.isContainment; });
  for (unsigned node = 0; node < count; ++node)
    if (!waiting[node])
      order.push_back(node);
  for (size_t i = 0; i < order.size(); ++i)
    for (const Link &link : out[order[i]])
      if (!link.isContainment && --waiting[link.node] == 0)
        order.push_back(link.node);
  for (unsigned node = 0; node < count; ++node)
    if (waiting[node])
      order.push_back(node);
}

/// The hash of a node from its own and those of its neighbours, whatever order
/// neighbours in the same slot have.
static uint64_t combine(uint64_t own, ArrayRef<Link> links,
                        const Hashes &hashes,
                        SmallVector<uint64_t, 8> &scratch) {
  scratch.clear();
  for (const Link &link : links)
    if (!link.isContainment)
      scratch.push_back(mix(link.slot, hashes[link.node]));
  llvm::sort(scratch);
  for (uint64_t hash : scratch)
    own = mix(own, hash);
  return own;
}

/// Of everything that a node is made from, or of everything that is made from
/// it.
static Hashes pathHashes(const Side &side, const Hashes &labels,
                         bool incoming) {
  Hashes hashes = labels;
  SmallVector<uint64_t, 8> scratch;
  auto visit = [&](unsigned node) {
    hashes[node] =
        combine(labels[node], incoming ? side.in[node] : side.out[node], hashes,
                scratch);
  };
  if (incoming)
    llvm::for_each(side.order, visit);
  else
    llvm::for_each(llvm::reverse(side.order), visit);
  return hashes;
}

/// Of what is at most `radius` edges away, whatever their direction.
static Hashes surroundings(const Side &side, Hashes hashes, unsigned radius) {
  SmallVector<uint64_t, 8> scratch;
  for (unsigned i = 0; i < radius; ++i) {
    Hashes next(hashes.size());
    for (unsigned node = 0; node < hashes.size(); ++node)
      next[node] = mix(combine(hashes[node], side.in[node], hashes, scratch),
                       combine(0, side.out[node], hashes, scratch));
    hashes = std::move(next);
  }
  return hashes;
}

namespace {

/// Which of the nodes with one key are paired.
enum class Among : uint8_t {
  /// One that is alone with it on both sides.
  Single,
  /// In order, those that are equally many on both sides.
  EquallyMany,
  /// In order, as many as both sides have.
  Any,
};

class Matcher {
public:
  Matcher(const LabelledGraph &source, const LabelledGraph &target)
      : source(source), target(target) {
    result.toTarget.assign(this->source.size(), Matching::kNone);
    result.toSource.assign(this->target.size(), Matching::kNone);
  }

  Matching run();

private:
  bool isFree(unsigned node) const {
    return result.toTarget[node] == Matching::kNone;
  }
  bool isFreeTarget(unsigned node) const {
    return result.toSource[node] == Matching::kNone;
  }

  void matchBy(const Hashes Side::*label);
  /// Pairs free nodes with equal keys.
  void anchor(const Hashes &sourceKeys, const Hashes &targetKeys, Among among);
  void pair(unsigned a, unsigned b);
  /// Follows the edges of all new pairs.
  void propagate();
  void propagate(ArrayRef<Link> links, ArrayRef<Link> targetLinks);
  void pairWithin(ArrayRef<Link> links, ArrayRef<Link> targetLinks);

  bool assignByNeighbours();
  void collectScores(unsigned node, ArrayRef<Link> links, const Links &back,
                     std::vector<AssignmentScore> &scores) const;
  bool agrees(unsigned a, unsigned b) const;
  void verify();

  Side source, target;
  /// What must be equal for an edge to be followed.
  const Hashes Side::*label = &Side::identity;
  std::vector<std::pair<unsigned, unsigned>> pending;
  Matching result;
};

} // namespace

void Matcher::pair(unsigned a, unsigned b) {
  result.toTarget[a] = static_cast<int>(b);
  result.toSource[b] = static_cast<int>(a);
  pending.emplace_back(a, b);
}

void Matcher::anchor(const Hashes &sourceKeys, const Hashes &targetKeys,
                     Among among) {
  using Entry = std::pair<uint64_t, unsigned>;
  std::vector<Entry> sources, targets;
  for (unsigned node = 0; node < source.size(); ++node)
    if (isFree(node))
      sources.emplace_back(sourceKeys[node], node);
  for (unsigned node = 0; node < target.size(); ++node)
    if (isFreeTarget(node))
      targets.emplace_back(targetKeys[node], node);
  llvm::sort(sources);
  llvm::sort(targets);

  // Ranges of equal keys that both sides have.
  struct Group {
    size_t source, sourceEnd, target, targetEnd;
  };
  std::vector<Group> groups;
  size_t i = 0, j = 0;
  while (i < sources.size() && j < targets.size()) {
    uint64_t key = sources[i].first;
    if (key != targets[j].first) {
      key < targets[j].first ? ++i : ++j;
      continue;
    }
    size_t first = i, firstTarget = j;
    while (i < sources.size() && sources[i].first == key)
      ++i;
    while (j < targets.size() && targets[j].first == key)
      ++j;
    size_t count = i - first, targetCount = j - firstTarget;
    if (among == Among::Any ||
        (count == targetCount && (count == 1 || among == Among::EquallyMany)))
      groups.push_back({first, i, firstTarget, j});
  }
  // In the order of the program, not of the keys.
  llvm::sort(groups, [&](const Group &lhs, const Group &rhs) {
    return sources[lhs.source].second < sources[rhs.source].second;
  });

  for (const Group &group : groups) {
    // A pair is followed before the next one is made: of equal nodes it settles
    // which belong together.
    size_t next = group.target;
    for (size_t k = group.source; k < group.sourceEnd; ++k) {
      unsigned node = sources[k].second;
      if (!isFree(node))
        continue;
      while (next < group.targetEnd && !isFreeTarget(targets[next].second))
        ++next;
      if (next == group.targetEnd)
        break;
      pair(node, targets[next].second);
      if (among != Among::Single)
        propagate();
    }
  }
  propagate();
}

void Matcher::propagate() {
  while (!pending.empty()) {
    auto [a, b] = pending.back();
    pending.pop_back();
    propagate(source.in[a], target.in[b]);
    propagate(source.out[a], target.out[b]);
  }
}

void Matcher::propagate(ArrayRef<Link> links, ArrayRef<Link> targetLinks) {
  while (!links.empty() && !targetLinks.empty()) {
    uint64_t slot = links.front().slot;
    if (slot != targetLinks.front().slot) {
      if (slot < targetLinks.front().slot)
        links = links.drop_front();
      else
        targetLinks = targetLinks.drop_front();
      continue;
    }
    auto inSlot = [&](const Link &link) { return link.slot == slot; };
    ArrayRef<Link> here = links.take_while(inSlot);
    ArrayRef<Link> there = targetLinks.take_while(inSlot);
    pairWithin(here, there);
    links = links.drop_front(here.size());
    targetLinks = targetLinks.drop_front(there.size());
  }
}

/// Pairs the nodes in one slot that nothing else there can be.
void Matcher::pairWithin(ArrayRef<Link> links, ArrayRef<Link> targetLinks) {
  const Hashes &labels = source.*label, &targetLabels = target.*label;
  if (links.size() == 1 && targetLinks.size() == 1) {
    unsigned a = links.front().node, b = targetLinks.front().node;
    if (isFree(a) && isFreeTarget(b) && labels[a] == targetLabels[b])
      pair(a, b);
    return;
  }
  // (label, node); a label that is there once on either side decides.
  SmallVector<std::pair<uint64_t, unsigned>, 8> here, there;
  for (const Link &link : links)
    if (isFree(link.node))
      here.emplace_back(labels[link.node], link.node);
  for (const Link &link : targetLinks)
    if (isFreeTarget(link.node))
      there.emplace_back(targetLabels[link.node], link.node);
  llvm::sort(here);
  llvm::sort(there);
  here.erase(llvm::unique(here), here.end());
  there.erase(llvm::unique(there), there.end());
  auto isAlone = [](const auto &entries, size_t i) {
    return (i == 0 || entries[i - 1].first != entries[i].first) &&
           (i + 1 == entries.size() ||
            entries[i + 1].first != entries[i].first);
  };
  size_t j = 0;
  for (size_t i = 0; i < here.size(); ++i) {
    while (j < there.size() && there[j].first < here[i].first)
      ++j;
    if (j < there.size() && there[j].first == here[i].first &&
        isAlone(here, i) && isAlone(there, j))
      pair(here[i].second, there[j].second);
  }
}

void Matcher::matchBy(const Hashes Side::*by) {
  label = by;
  const Hashes &labels = source.*by, &targetLabels = target.*by;
  Hashes made = pathHashes(source, labels, /*incoming=*/true);
  Hashes targetMade = pathHashes(target, targetLabels, /*incoming=*/true);
  Hashes used = pathHashes(source, labels, /*incoming=*/false);
  Hashes targetUsed = pathHashes(target, targetLabels, /*incoming=*/false);
  Hashes both(made.size()), targetBoth(targetMade.size());
  llvm::transform(llvm::zip_equal(made, used), both.begin(), [](auto pair) {
    return mix(std::get<0>(pair), std::get<1>(pair));
  });
  llvm::transform(
      llvm::zip_equal(targetMade, targetUsed), targetBoth.begin(),
      [](auto pair) { return mix(std::get<0>(pair), std::get<1>(pair)); });
  // Tells apart the constants of one operation, which are made from nothing.
  both = surroundings(source, std::move(both), 1);
  targetBoth = surroundings(target, std::move(targetBoth), 1);

  anchor(both, targetBoth, Among::Single);
  anchor(both, targetBoth, Among::EquallyMany);
  // Before an edit, what nodes are made from is the same; behind it, what is
  // made from them.
  anchor(made, targetMade, Among::Single);
  anchor(used, targetUsed, Among::Single);
  for (unsigned radius : {4, 2, 1, 0}) {
    Hashes near = surroundings(source, labels, radius);
    Hashes targetNear = surroundings(target, targetLabels, radius);
    anchor(near, targetNear, Among::Single);
    if (radius)
      anchor(near, targetNear, Among::EquallyMany);
  }
}

/// Nodes with more links than this say little about any one neighbour, and
/// looking at all of them for each would take quadratic time.
static constexpr size_t kMaxLinks = 64;

void Matcher::collectScores(unsigned node, ArrayRef<Link> links,
                            const Links &back,
                            std::vector<AssignmentScore> &scores) const {
  for (const Link &link : links) {
    int partner = result.toTarget[link.node];
    if (link.isContainment || partner == Matching::kNone)
      continue;
    ArrayRef<Link> candidates = back[partner];
    if (candidates.size() > kMaxLinks)
      continue;
    for (const Link &candidate : candidates)
      if (!candidate.isContainment && isFreeTarget(candidate.node) &&
          source.structure[node] == target.structure[candidate.node])
        // The same neighbour in another place is worth less.
        scores.push_back(
            {node, candidate.node, candidate.slot == link.slot ? 2U : 1U});
  }
}

/// Pairs free nodes of one name by the pairs among their neighbours. False if
/// there was nothing to pair.
bool Matcher::assignByNeighbours() {
  std::vector<AssignmentScore> scores;
  for (unsigned node = 0; node < source.size(); ++node) {
    if (!isFree(node))
      continue;
    collectScores(node, source.in[node], target.out, scores);
    collectScores(node, source.out[node], target.in, scores);
  }
  std::vector<std::pair<unsigned, unsigned>> pairs = assign(std::move(scores));
  for (auto [a, b] : pairs)
    if (isFree(a) && isFreeTarget(b)) {
      pair(a, b);
      propagate();
    }
  return !pairs.empty();
}

/// True if the pair is the same node, made from the same nodes.
bool Matcher::agrees(unsigned a, unsigned b) const {
  if (source.identity[a] != target.identity[b])
    return false;
  ArrayRef<Link> links = source.in[a], targetLinks = target.in[b];
  if (links.size() != targetLinks.size())
    return false;
  SmallVector<std::pair<uint64_t, int>, 8> here, there;
  for (auto [link, targetLink] : llvm::zip_equal(links, targetLinks)) {
    here.emplace_back(link.slot, result.toTarget[link.node]);
    there.emplace_back(targetLink.slot, static_cast<int>(targetLink.node));
  }
  // Only the order of links in one slot may differ.
  llvm::sort(here);
  llvm::sort(there);
  return here == there;
}

void Matcher::verify() {
  size_t numPairs = 0;
  for (unsigned node = 0; node < source.size(); ++node) {
    if (isFree(node))
      continue;
    ++numPairs;
    unsigned partner = result.toTarget[node];
    if (!agrees(node, partner))
      result.modified.emplace_back(node, partner);
  }
  // Every link was seen from the node that it goes to.
  result.isIsomorphic = result.modified.empty() && numPairs == source.size() &&
                        numPairs == target.size();
}

Matching Matcher::run() {
  matchBy(&Side::identity);
  auto isComplete = [&] {
    return !llvm::is_contained(result.toTarget, Matching::kNone) ||
           !llvm::is_contained(result.toSource, Matching::kNone);
  };
  if (!isComplete()) {
    // Neighbours first: an edit leaves its surroundings as they were, and equal
    // names are everywhere.
    label = &Side::structure;
    while (assignByNeighbours()) {
    }
  }
  if (!isComplete()) {
    matchBy(&Side::structure);
    while (assignByNeighbours()) {
    }
  }
  if (!isComplete()) {
    // Of nodes that look the same from close by, any will do.
    label = &Side::identity;
    anchor(surroundings(source, source.identity, 1),
           surroundings(target, target.identity, 1), Among::Any);
  }
  verify();
  return std::move(result);
}

Matching corten::match(const LabelledGraph &source,
                       const LabelledGraph &target) {
  return Matcher(source, target).run();
}
