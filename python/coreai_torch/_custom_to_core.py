# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which operators of the ``coreai`` namespace have a lowering."""

from coreai_torch._compat import custom_resolver as _custom_to_core_resolver

__all__ = ["_custom_to_core_resolver"]
