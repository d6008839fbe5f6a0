# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``python -m conformance`` writes docs/compatibility.md."""

from conformance.expected import read
from conformance.page import PAGE, page

if __name__ == "__main__":
    PAGE.write_text(page(read()))
