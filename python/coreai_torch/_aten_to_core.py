# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which ATen, Python and higher-order operators have a lowering."""

from coreai_torch._compat import aten_resolver as _aten_to_core_resolver
from coreai_torch._compat import higher_order_resolver as _higher_order_resolver

__all__ = ["_aten_to_core_resolver", "_higher_order_resolver"]
