# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numeric cases from PyTorch's own operator database.

``python -m opinfo`` takes the sample inputs of ``op_db``, sends each through
export, conversion and the interpreter of coreai-core, compares with eager, and
tabulates what came out. Workers in processes of their own do the work, because
a program may end the process that runs it.
"""
