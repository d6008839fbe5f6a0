# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compressed weights, from the layers to the program."""
