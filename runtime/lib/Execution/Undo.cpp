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

Undo::Write &Undo::next() {
  if (count == writes.size())
    writes.emplace_back();
  return writes[count++];
}

void Undo::remember(const Tensor &target) {
  Write &write = next();
  write.target = target;
  write.isScattered = false;
  write.elements = tensorIn(write.elementsMemory, target);
  portable::copyElements(target, write.elements);
}

Error Undo::remember(const Tensor &target, const Tensor &places,
                     const Tensor &elements) {
  Write &write = next();
  write.target = target;
  write.isScattered = true;
  write.places = tensorIn(write.placesMemory, places);
  portable::copyElements(places, write.places);
  write.elements = tensorIn(write.elementsMemory, elements);
  const Tensor inputs[] = {target, write.places};
  Error error = portable::runGatherNd({inputs, {&write.elements, 1}, {}});
  // Nothing will be written to places that are not there.
  if (error)
    --count;
  return error;
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
