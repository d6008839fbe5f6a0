// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes from this process what a kernel has no use for: its code is somebody's.

#ifndef CORTEN_TOOLS_METALCHECK_CONFINEMENT_H
#define CORTEN_TOOLS_METALCHECK_CONFINEMENT_H

namespace corten::check {

enum class Confinement {
  /// Memory, files that are open, and reading others: enough to load code.
  MayRead,
  /// Memory, and files that are open.
  MayCompute,
};

/// Whatever else the system is asked for from now on is a SIGSYS. False if this
/// system has no such thing. Cannot be taken back, and only become less.
bool confine(Confinement to);

} // namespace corten::check

#endif // CORTEN_TOOLS_METALCHECK_CONFINEMENT_H
