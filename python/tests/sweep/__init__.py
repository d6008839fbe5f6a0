# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``verify`` over all right programs that the tests have: it must find nothing."""
