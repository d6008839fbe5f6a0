# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``python -m supported`` writes docs/supported-ops.md."""

from supported.page import PAGE, page

if __name__ == "__main__":
    PAGE.write_text(page())
