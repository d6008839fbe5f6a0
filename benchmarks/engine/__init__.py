# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How fast models run: the engine, the interpreter of coreai-core, and peers."""
