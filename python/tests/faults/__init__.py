# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Faults that are put into right programs, and whether ``verify`` finds them."""
