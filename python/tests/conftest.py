# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the tests' own support package importable."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
