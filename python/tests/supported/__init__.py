# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The page of supported operators: ``python -m supported`` writes it."""
