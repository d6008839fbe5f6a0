# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the engine runs each op of the dialect with, element type by element type."""
