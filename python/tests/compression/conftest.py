# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the compressors importable, whose models the tests convert."""

import logging
import sys
import warnings
from pathlib import Path

#: requirements-clients.txt is installed here, apart from everything else.
sys.path.append(str(Path(sys.prefix) / "clients"))

# They warn of releases of torch that they were not tried with, and of
# libraries for other machines.
logging.getLogger("coremltools").setLevel(logging.CRITICAL)
logging.getLogger("torchao").setLevel(logging.CRITICAL)
warnings.filterwarnings("ignore", module=r"torchao|coremltools|coreai_opt")
