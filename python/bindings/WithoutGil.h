// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CORTEN_PYTHON_BINDINGS_WITHOUTGIL_H
#define CORTEN_PYTHON_BINDINGS_WITHOUTGIL_H

#include <nanobind/nanobind.h>

namespace corten::bindings {

/// As long as it is there, other threads of Python's run.
///
/// When the interpreter ends, it ends threads that want to go on with Python,
/// and unwinds their stacks, which no function may that does not throw: the
/// process would abort. Therefore threads do not come back any more from then
/// on; they wait for the end.
class WithoutGil {
public:
  WithoutGil() : state(PyEval_SaveThread()) {}
  ~WithoutGil();
  WithoutGil(const WithoutGil &) = delete;
  WithoutGil &operator=(const WithoutGil &) = delete;

private:
  PyThreadState *state;
};

/// Lets the interpreter say when it ends.
void watchForTheEnd();

} // namespace corten::bindings

#endif // CORTEN_PYTHON_BINDINGS_WITHOUTGIL_H
