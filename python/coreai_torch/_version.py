# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The version of the package, and of torch that it was tested with."""

from __future__ import annotations

__version__ = "0.1.0"

#: The newest release of torch that the tests have run with.
VALIDATED_TORCH = "2.13.0"


def check_torch() -> None:
    """Warn if the running torch is newer than the newest one tested."""
    import warnings

    import torch
    from torch.torch_version import TorchVersion

    # A local label ("+cpu") says how a release was built, not that it is newer.
    release = str(torch.__version__).partition("+")[0]
    if TorchVersion(release) > VALIDATED_TORCH:
        warnings.warn(
            f"coreai-torch has been tested with torch up to {VALIDATED_TORCH}; "
            f"this is torch {torch.__version__}. Some functionality may not work.",
            UserWarning,
            stacklevel=3,
        )
