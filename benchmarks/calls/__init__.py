# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of the engine: what one costs, and many at once."""
