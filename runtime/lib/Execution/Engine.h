// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loaded plan with all that its calls share: constants, memory, threads and
// frames that are waiting for their next run.

#ifndef CORTEN_RUNTIME_LIB_EXECUTION_ENGINE_H
#define CORTEN_RUNTIME_LIB_EXECUTION_ENGINE_H

#include "Frame.h"
#include "MappedFile.h"
#include "Program.h"
#include "Sharing.h"

#include "corten/Runtime/Model.h"
#include "corten/Runtime/Mutex.h"
#include "corten/Runtime/ThreadPool.h"

namespace corten::runtime::execution {

struct ConstantMemory {
  const void *data = nullptr;
  size_t bytes = 0;
};

struct Engine {
  Engine(LoadOptions options, Program program);
  ~Engine();

  /// Instructions and threads.
  Error choose(int threads);
  /// Has the kernels that the plan brings made.
  Error loadForeign();
  /// Finds the asset, and lets constants point to their bytes; runs what
  /// prepares them.
  Error loadConstants(const std::string &planPath);

  /// The symbols of stage 0 of a block that is given these inputs, whose types
  /// and ranks are right.
  Error readKey(const Block &block, std::span<const Tensor> inputs,
                std::span<const int64_t> arguments,
                std::vector<int64_t> &key) const;
  /// That inputs have the shapes that a frame was built for.
  Error checkInputs(const Frame &frame, std::span<const Tensor> inputs) const;
  /// A frame for these sizes, for the caller alone.
  Expected<Frame *> takeFrame(const Block &block, std::span<const int64_t> key);
  void giveBack(Frame *frame);
  /// What a caller calls an input of a block.
  std::string nameOfInput(const Block &block, size_t index) const;

  LoadOptions options;
  Program program;
  /// What the program was read from, for the second checker.
  const plan::Plan *source = nullptr;
  bool check;
  Isa isa = Isa::Portable;
  std::shared_ptr<ThreadPool> pool;
  /// Nanoseconds that groups have waited for threads that the system did not
  /// let run, less what groups would have won that did without them since.
  std::atomic<int64_t> lost = 0;
  std::shared_ptr<MemoryPool> arenas;
  /// Of results, and of copies.
  std::shared_ptr<MemoryPool> results;
  std::vector<ConstantMemory> constants;
  /// What the loader made of the program's own kernels.
  std::vector<std::shared_ptr<const ForeignKernel>> foreign;
  /// By kernel: what may be chosen on this machine.
  std::vector<std::vector<const KernelVariant *>> variants;
  /// The plan, while it is not mapped.
  std::shared_ptr<const void> planOwner;
  MappedFile planFile;
  MappedFile assetFile;
  std::array<unsigned char, 16> planDigest = {};

private:
  Error openAsset(const std::string &planPath);
  Error alignConstants();
  Error prepare();
  /// What that computes, and where it is to be.
  struct PreparedLayout;
  Error computePrepared(const Block &block, Frame &frame,
                        const PreparedLayout &layout);
  /// Of weights that have been copied.
  void dropAssetPages(const void *data, size_t bytes) const;

  std::span<const std::byte> asset;
  std::shared_ptr<MemoryPool> weights = std::make_shared<MemoryPool>();
  Memory aligned;
  Memory prepared;
  MappedFile preparedFile;
  Mutex mutex;
  /// By block: the ones that were used last come last.
  std::vector<std::vector<std::unique_ptr<Frame>>> idle;
};

struct StateData {
  std::string name;
  Tensor tensor;
  Memory memory;
  std::shared_ptr<MemoryPool> pool;
  /// Of the pool, for messages.
  size_t limit = 0;
  size_t bytes = 0;
  std::atomic<bool> isInUse = false;
  /// Guards what follows, and the pages that are mapped, from copies that are
  /// made at the same time.
  Mutex sharing;
  /// Whatever else there is of the memory is the state's alone.
  SharedParts parts;
  /// Whether there may be pages of the parts that are not as they came.
  bool isChanged = false;
  /// Whether nothing was written since `freeze` looked.
  bool isFrozen = false;

  /// To be called by those who write.
  void noteWrite() {
    isChanged = true;
    isFrozen = false;
  }
};

} // namespace corten::runtime::execution

#endif // CORTEN_RUNTIME_LIB_EXECUTION_ENGINE_H
