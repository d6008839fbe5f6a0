# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What rows cost, what clusters make of that, and what a lost node does."""
