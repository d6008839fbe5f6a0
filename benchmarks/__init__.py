# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Benchmarks: one runner, one JSON line per result; see README.md."""
