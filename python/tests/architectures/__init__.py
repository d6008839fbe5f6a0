# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tiny random models of ``transformers`` architectures.

``catalogue`` lists them, ``build`` makes one, ``measure`` takes one from export
to the interpreter, and ``python -m architectures`` writes the table of all.
"""
