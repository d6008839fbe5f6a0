# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hashes of what the models of the tests are converted to: ``python -m golden``."""
