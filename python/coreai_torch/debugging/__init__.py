# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tools that look into converted programs; import the modules one by one."""
