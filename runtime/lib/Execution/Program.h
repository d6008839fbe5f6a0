// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plan as the runtime works with it: checked, and with everything found out
// that does not depend on sizes. Lists of lists lie in one array each.

#ifndef CORTEN_RUNTIME_LIB_EXECUTION_PROGRAM_H
#define CORTEN_RUNTIME_LIB_EXECUTION_PROGRAM_H

#include "corten/Runtime/Foreign.h"
#include "corten/Runtime/Kernel.h"
#include "corten/Runtime/TileProgram.h"

#include "corten/Runtime/Plan_generated.h"

#include <memory>
#include <string>
#include <vector>

namespace corten::runtime::execution {

/// Whether a kernel begins with a tile program; others end with one, and hand
/// it what they computed.
inline bool beginsWithProgram(PortableKernel kernel) {
  return kernel == PortableKernel::Tile || kernel == PortableKernel::TileReduce;
}

/// `count` entries of some array, from `first` on.
struct Range {
  uint32_t first = 0;
  uint32_t count = 0;
  template <typename T> std::span<T> of(std::vector<T> &all) const {
    return {all.data() + first, count};
  }
  template <typename T> std::span<const T> of(const std::vector<T> &all) const {
    return {all.data() + first, count};
  }
};

/// Lists of numbers, by number.
struct Lists {
  std::vector<uint32_t> starts = {0};
  std::vector<int32_t> entries;

  std::span<const int32_t> operator[](size_t index) const {
    return {entries.data() + starts[index], starts[index + 1] - starts[index]};
  }
  size_t size() const { return starts.size() - 1; }
  void endList() { starts.push_back(uint32_t(entries.size())); }
  /// Of `count` lists: sorts pairs (list, entry) into them, in order.
  static Lists group(size_t count,
                     std::span<const std::pair<int32_t, int32_t>> pairs);
};

struct Symbol {
  std::string name;
  plan::SymbolSource source;
  int32_t index;
  int32_t axis;
  int64_t low;
  int64_t high;
  /// The stage that begins when it becomes known; before the analysis, the step
  /// that has run by then.
  int32_t stage;
};

struct Buffer {
  plan::Storage storage;
  int32_t index;
  int32_t bytes;
  /// Of Returned: the value that the step returns.
  int32_t definition = -1;
  int32_t stage = 0;
  /// What its values' element types are aligned to.
  uint32_t alignment = 1;
  /// The first and the last step that touch it; first > last: none does. A
  /// block's outputs are touched by the step that would be after the last.
  int32_t first = INT32_MAX;
  int32_t last = -1;

  bool isTouched() const { return first <= last; }
};

struct Value {
  ElementType type;
  uint8_t rank;
  bool hasStrides;
  int32_t buffer;
  int32_t offset;
  /// In Block::valueSizes: shape, and strides if there are any.
  uint32_t sizes;
  int32_t stage = 0;
};

struct Step {
  plan::StepKind kind;
  PortableKernel kernel = {};
  /// In Block::slots: values of the inputs, then of the outputs; -1: none.
  Range inputs;
  Range outputs;
  /// In Block::numbers: sizes.
  Range numbers;
  std::unique_ptr<TileProgram> program;
  std::array<int32_t, 2> blocks = {-1, -1};
  std::string message;
  /// Of what an assertion is about, after its condition.
  std::vector<std::string> names;
  std::string location;
  /// In Program::origins; -1: none.
  int32_t origin = -1;
  /// In Program::foreign; -1: none.
  int32_t foreign = -1;
  int32_t stage = 0;
  /// Its number among the steps that run blocks.
  int32_t control = -1;
  /// Whether extents of its outputs are known only when it has run.
  bool setsExtents = false;
  /// Whether it may run at the same time as steps that it does not depend on.
  bool canStandBeside = false;

  /// Whether it is an assertion about sizes, which needs no tensor.
  bool assertsSize() const {
    return kind == plan::StepKind::Assert && inputs.count == 0;
  }
};

/// Of what a block does with what it is given.
struct Effects {
  /// By output: which inputs' memory it may lie in, in ascending order.
  std::vector<std::vector<int32_t>> aliases;
  /// By input: whether it is written.
  std::vector<bool> writes;
};

struct Block {
  std::vector<Symbol> symbols;
  std::vector<plan::Size> sizes;
  std::vector<Buffer> buffers;
  std::vector<Value> values;
  std::vector<int32_t> valueSizes;
  std::vector<int32_t> inputs;
  std::vector<int32_t> outputs;
  int32_t sizeArguments = 0;
  std::vector<Step> steps;
  std::vector<int32_t> slots;
  std::vector<int32_t> numbers;

  /// Stage 0 is known from inputs and size arguments; the others begin before
  /// the step of this number, in ascending order.
  std::vector<int32_t> stageStarts;
  Lists symbolsOfStage;
  Lists sizesOfStage;
  Lists valuesOfStage;
  /// All but inputs and constants.
  Lists buffersOfStage;
  Lists stepsOfStage;

  Lists valuesOfBuffer;
  Lists slotsOfValue;
  /// Buffers that no later step touches, by step.
  Lists dyingAfter;
  /// Steps of control flow whose results no later step touches, by step: their
  /// numbers among those of control flow.
  Lists releasedAfter;
  int32_t numControls = 0;
  /// What may not lie in the same place of the arena: buffers, and, from
  /// buffers.size() on, the scratch of steps. Has no lists if they would be too
  /// long.
  Lists conflicts;
  Effects effects;
  /// By step: those before it, of the last kFarthestBeside, that it has to
  /// follow; two that write to parts of a buffer are not told apart.
  Lists dependencies;
  /// The first of the steps that are left when nothing can fail any more:
  /// copies of which some are to inputs. As many as there are steps: there are
  /// none.
  size_t firstLastWrite = 0;
  /// By step: values in the memory of inputs that it writes to before that.
  Lists earlyWrites;
  /// Size of a frame's key: the symbols of stage 0.
  size_t keySize() const { return symbolsOfStage[0].size(); }
  size_t numStages() const { return stageStarts.size(); }
};

struct EntryParameter {
  std::string name;
  int32_t value;
};

struct EntryPoint {
  std::string name;
  int32_t block;
  std::vector<EntryParameter> inputs;
  std::vector<EntryParameter> states;
  std::vector<EntryParameter> outputs;
};

struct Constant {
  plan::ConstantSource source;
  uint64_t offset;
  uint64_t bytes;
  uint32_t alignment = 1;
};

/// Steps that are further apart do not run side by side.
inline constexpr int32_t kFarthestBeside = 64;

/// What a step was made of.
struct Origin {
  std::string module;
  std::vector<uint64_t> operations;
};

struct Program {
  std::vector<Block> blocks;
  std::vector<Origin> origins;
  std::vector<ForeignSource> foreign;
  std::vector<EntryPoint> functions;
  std::vector<Constant> constants;
  /// Of the asset, as the plan knows it; none if it has no path.
  std::string assetPath;
  std::string assetRelativePath;
  std::string assetDigest;
  uint64_t assetBytes = 0;
  int64_t assetModified = 0;
  bool hasAsset = false;
  std::span<const std::byte> data;
  int32_t prepare = -1;
};

/// Reads and checks a plan: after this every number in it can be relied upon.
/// `plan` has passed the verifier of FlatBuffers. Nothing refers to it
/// afterwards but `data`.
Expected<Program> readProgram(const plan::Plan &plan);

/// Finds out stages, lifetimes and effects of a block, and checks what depends
/// on them; the blocks that it runs come first.
Error analyzeBlock(const Program &program, Block &block);

/// Finds out which steps have to follow which; lifetimes are known.
void findDependencies(Block &block);

} // namespace corten::runtime::execution

#endif // CORTEN_RUNTIME_LIB_EXECUTION_PROGRAM_H
