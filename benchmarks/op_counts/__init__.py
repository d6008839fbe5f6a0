# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts the operations of both converters' programs, for docs/op-counts.md."""
