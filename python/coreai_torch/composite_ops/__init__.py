# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Building blocks that Core AI's compilers recognise by name.

Each is an ordinary module: it runs eagerly and exports. To keep one as a
composite in the converted program, make it a submodule and name its class in an
``ExternalizeSpec``.
"""

from coreai_torch.composite_ops._gated_delta_update import GatedDeltaUpdate
from coreai_torch.composite_ops._gather_mm import GatherMM
from coreai_torch.composite_ops._rms_norm import RMSNorm, RMSNormImpl
from coreai_torch.composite_ops._rope import RoPE
from coreai_torch.composite_ops._sdpa import SDPA

__all__ = ["SDPA", "GatedDeltaUpdate", "GatherMM", "RMSNorm", "RMSNormImpl", "RoPE"]
