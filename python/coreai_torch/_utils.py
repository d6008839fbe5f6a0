# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Helpers that existing code imports from here."""

from coreai_torch._compat import ModuleInstanceRegistry as _ModuleInstanceRegistry
from coreai_torch._compat import get_module_hierarchy as _get_module_hierarchy
from coreai_torch._compat import print_graph

__all__ = ["_ModuleInstanceRegistry", "_get_module_hierarchy", "print_graph"]
