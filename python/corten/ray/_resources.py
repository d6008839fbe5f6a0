# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a cluster and an actor have."""

from __future__ import annotations

from typing import Any

import ray

#: Ray has types for some of its functions only.
_ray: Any = ray


def processors() -> int:
    """How many the nodes of the cluster have together, now."""
    return int(_ray.cluster_resources().get("CPU", 0))


def assigned_threads() -> int | None:
    """One for each processor that the actor was given; None outside of actors."""
    if not ray.is_initialized():
        return None
    context = _ray.get_runtime_context()
    if context.get_actor_id() is None:
        return None
    processors = context.get_assigned_resources().get("CPU", 1)
    return max(int(processors), 1)
