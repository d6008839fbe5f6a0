# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Assets that releases of the official converter write, on the engine."""
