// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Metal kernels as the engine runs them.

#include "corten/Metal/Compile.h"
#include "corten/Model/Engine.h"

using namespace corten;
using namespace corten::runtime;

namespace {
class MetalKernel : public ForeignKernel {
public:
  MetalKernel(std::string name, metal::BuiltKernel built)
      : name(std::move(name)), built(std::move(built)) {}

  Error run(const Invocation &call) const override;

private:
  Error fail(const llvm::Twine &why) const {
    return Error(("the Metal kernel '" + name + "': " + why).str());
  }

  std::string name;
  metal::BuiltKernel built;
};
} // namespace

Error MetalKernel::run(const Invocation &call) const {
  size_t count = call.inputs.size() + call.outputs.size();
  if (count != built.buffers.size() || call.numbers.size() != 6)
    return fail("it has " + llvm::Twine(built.buffers.size()) +
                " buffers, and is given " + llvm::Twine(count));
  metal::KernelLaunch launch;
  launch.path = built.path;
  bool isEmpty = false;
  for (size_t i = 0; i != 3; ++i) {
    launch.grid[i] = call.number(i);
    launch.group[i] = call.number(3 + i);
    isEmpty |= launch.grid[i] == 0;
  }
  std::vector<metal::KernelBuffer> buffers;
  auto add = [&](const Tensor &tensor, bool isResult) {
    buffers.push_back({built.buffers[buffers.size()],
                       unsigned(byteSize(tensor.type)),
                       llvm::ArrayRef<int64_t>(tensor.shape()),
                       static_cast<char *>(tensor.data), isResult});
    isEmpty &= !isResult || tensor.size() == 0;
  };
  for (const Tensor &tensor : call.inputs)
    add(tensor, false);
  for (const Tensor &tensor : call.outputs)
    add(tensor, true);
  // No thread has nothing to do.
  if (isEmpty)
    return Error::success();
  launch.buffers = buffers;
  if (llvm::Error error = metal::runKernel(launch))
    return fail(llvm::toString(std::move(error)));
  return Error::success();
}

static Expected<std::shared_ptr<const ForeignKernel>>
loadMetal(const ForeignSource &source) {
  if (source.language != "metal")
    return Error("the kernel '" + source.name + "' is in " + source.language +
                 ", which cannot be compiled here");
  llvm::Expected<metal::BuiltKernel> built =
      metal::buildKernel(source.name, source.source);
  if (!built)
    return Error(llvm::toString(built.takeError()));
  return std::shared_ptr<const ForeignKernel>(
      std::make_shared<MetalKernel>(source.name, std::move(*built)));
}

ForeignLoader corten::metalKernels() { return &loadMetal; }
