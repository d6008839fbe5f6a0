# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Assets: how long they take to write, and how much memory."""
