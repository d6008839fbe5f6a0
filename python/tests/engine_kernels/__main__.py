# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``python -m engine_kernels`` writes docs/engine-kernels.md."""

from engine_kernels.page import PAGE, page

if __name__ == "__main__":
    PAGE.write_text(page())
