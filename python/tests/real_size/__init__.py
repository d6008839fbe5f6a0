# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole models at the size that people run them, on the engine.

``networks``, ``decoder`` and ``compressed`` make them, ``measure`` holds the engine
against eager, and ``python -m real_size`` does it for all or some of them.
"""
