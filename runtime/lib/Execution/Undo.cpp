// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Undo.h"

#include "../Portable/Portable.h"

using namespace corten::runtime;
using namespace corten::runtime::execution;

/// A tensor of this type and shape in memory that grows as needed.
static Tensor tensorIn(std::vector<std::byte> &memory, const Tensor &like) {
  memory.resize(size_t(like.size()) * byteSize(like.type));
  return Tensor(like.type, memory.data(), like.shape());
}

Error Undo::remember(PortableKernel kernel, const Invocation &call) {
  if (count == writes.size())
    writes.emplace_back();
  Write &write = writes[count];
  write.target = call.output();
  write.isScattered = kernel == PortableKernel::ScatterNd;
  if (write.isScattered) {
    write.places = tensorIn(write.placesMemory, call.input(1));
    portable::copyElements(call.input(1), write.places);
    write.elements = tensorIn(write.elementsMemory, call.input(2));
    const Tensor inputs[] = {write.target, write.places};
    if (Error error = portable::runGatherNd({inputs, {&write.elements, 1}, {}}))
      return error;
  } else {
    write.elements = tensorIn(write.elementsMemory, write.target);
    portable::copyElements(write.target, write.elements);
  }
  ++count;
  return Error::success();
}

void Undo::takeBack() {
  while (count != 0) {
    Write &write = writes[--count];
    if (!write.isScattered) {
      portable::copyElements(write.elements, write.target);
      continue;
    }
    const Tensor inputs[] = {write.target, write.places, write.elements};
    const int64_t isWritten = 1;
    // It was written to these places before: they are there.
    (void)portable::runScatterNd({inputs, {&write.target, 1}, {&isWritten, 1}});
  }
}
