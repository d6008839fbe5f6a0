// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Form.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace corten;
using namespace mlir;

SizeList corten::rowMajor(Sizes &sizes, ArrayRef<Size> extents) {
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, extents.size()));
  return denseStrides(sizes, extents, order);
}

SizeList corten::denseStrides(Sizes &sizes, ArrayRef<Size> extents,
                              ArrayRef<int64_t> order) {
  SizeList strides(extents.size());
  Size next = sizes.number(1);
  for (int64_t axis : llvm::reverse(order)) {
    strides[axis] = next;
    next = sizes.mul(next, extents[axis]);
  }
  return strides;
}

bool corten::isRowMajor(Sizes &sizes, const Form &form) {
  Size next = sizes.number(1);
  for (unsigned axis = form.rank(); axis-- > 0;) {
    if (isKnown(form.extents[axis], 1))
      continue;
    if (form.strides[axis] != next)
      return false;
    next = sizes.mul(next, form.extents[axis]);
  }
  return true;
}

std::optional<SmallVector<int64_t>> corten::denseOrder(Sizes &sizes,
                                                       const Form &form) {
  // From the innermost axis outwards, the one whose stride is what those
  // before it span.
  SmallVector<int64_t> order;
  SmallVector<int64_t> left;
  for (unsigned axis = 0; axis != form.rank(); ++axis)
    if (!isKnown(form.extents[axis], 1))
      left.push_back(axis);
  Size next = sizes.number(1);
  while (!left.empty()) {
    auto *found = llvm::find_if(llvm::reverse(left), [&](int64_t axis) {
                    return form.strides[axis] == next;
                  }).base();
    if (found == left.begin())
      return std::nullopt;
    int64_t axis = *std::prev(found);
    left.erase(std::prev(found));
    order.push_back(axis);
    next = sizes.mul(next, form.extents[axis]);
  }
  std::reverse(order.begin(), order.end());
  return canonicalOrder(form.extents, order);
}

SmallVector<int64_t> corten::canonicalOrder(ArrayRef<Size> extents,
                                            ArrayRef<int64_t> order) {
  SmallVector<int64_t> result;
  for (int64_t axis : order)
    if (!isKnown(extents[axis], 1))
      result.push_back(axis);
  if (llvm::is_sorted(result))
    return llvm::to_vector<6>(llvm::seq<int64_t>(0, extents.size()));
  for (unsigned axis = extents.size(); axis-- > 0;)
    if (isKnown(extents[axis], 1))
      result.insert(result.begin(), axis);
  return result;
}

Form corten::transposed(const Form &form, ArrayRef<int64_t> permutation) {
  Form result = form;
  for (auto [axis, from] : llvm::enumerate(permutation)) {
    result.extents[axis] = form.extents[from];
    result.strides[axis] = form.strides[from];
  }
  return result;
}

Form corten::withUnitAxes(Sizes &sizes, const Form &form,
                          ArrayRef<int64_t> axes) {
  Form result = form;
  for (int64_t axis : axes) {
    result.extents.insert(result.extents.begin() + axis, sizes.number(1));
    result.strides.insert(result.strides.begin() + axis, sizes.number(0));
  }
  return result;
}

Form corten::withoutAxes(const Form &form, ArrayRef<int64_t> axes) {
  Form result = form;
  result.extents.clear();
  result.strides.clear();
  for (unsigned axis = 0; axis != form.rank(); ++axis)
    if (!llvm::is_contained(axes, int64_t(axis))) {
      result.extents.push_back(form.extents[axis]);
      result.strides.push_back(form.strides[axis]);
    }
  return result;
}

Form corten::broadcast(Sizes &sizes, const Form &form, ArrayRef<Size> extents) {
  Form result = form;
  result.extents.assign(extents.begin(), extents.end());
  result.strides.assign(extents.size(), sizes.number(0));
  unsigned shift = extents.size() - form.rank();
  for (unsigned axis = 0; axis != form.rank(); ++axis) {
    Size own = form.extents[axis];
    Size wanted = extents[shift + axis];
    Size &stride = result.strides[shift + axis];
    if (own == wanted || isKnown(wanted, 1))
      stride = form.strides[axis];
    else if (isKnown(own, 1))
      stride = sizes.number(0);
    else if (known(own))
      stride = form.strides[axis];
    else
      stride = sizes.select(sizes.equal(own, sizes.number(1)), sizes.number(0),
                            form.strides[axis]);
  }
  return result;
}

Form corten::sliced(Sizes &sizes, const Form &form, unsigned axis, Size start,
                    Size count, Size step) {
  Form result = form;
  result.offset = sizes.add(form.offset, sizes.mul(start, form.strides[axis]));
  result.extents[axis] = count;
  result.strides[axis] = sizes.mul(form.strides[axis], step);
  return result;
}

std::optional<Form> corten::reshaped(Sizes &sizes, const Form &form,
                                     ArrayRef<Size> extents) {
  Form result = form;
  result.extents.assign(extents.begin(), extents.end());
  if (isRowMajor(sizes, form)) {
    result.strides = rowMajor(sizes, extents);
    return result;
  }
  // Both shapes are walked from the last axis on: as soon as the same number of
  // elements was passed, the axes of the old side must be one run.
  result.strides.assign(extents.size(), sizes.number(0));
  int64_t from = int64_t(form.rank()) - 1;
  int64_t to = int64_t(extents.size()) - 1;
  while (true) {
    while (from >= 0 && isKnown(form.extents[from], 1))
      --from;
    while (to >= 0 && isKnown(extents[to], 1))
      --to;
    if (from < 0 || to < 0)
      break;
    Size stride = form.strides[from];
    Size passed = form.extents[from];
    Size spanned = sizes.mul(stride, passed);
    int64_t first = to;
    Size wanted = extents[to--];
    while (passed != wanted) {
      // The smaller side goes on; a number lacks the factor that the other
      // side has.
      bool isOldNext = known(passed) && known(wanted)
                           ? *known(passed) < *known(wanted)
                           : known(passed) || to < 0;
      if (isOldNext && from > 0) {
        --from;
        if (isKnown(form.extents[from], 1))
          continue;
        if (form.strides[from] != spanned)
          return std::nullopt;
        passed = sizes.mul(passed, form.extents[from]);
        spanned = sizes.mul(spanned, form.extents[from]);
      } else if (to >= 0) {
        wanted = sizes.mul(wanted, extents[to--]);
      } else {
        return std::nullopt;
      }
    }
    Size next = stride;
    for (int64_t axis = first; axis > to; --axis) {
      result.strides[axis] = next;
      next = sizes.mul(next, extents[axis]);
    }
    --from;
  }
  if (from >= 0 || to >= 0)
    return std::nullopt;
  return result;
}
