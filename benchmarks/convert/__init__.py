# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversion: our coreai_torch against the official one."""
