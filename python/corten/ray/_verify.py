# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversion and verification of many models, each a task of its own."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import ray

from corten import _above

#: Makes a model and the inputs that it is called with.
Factory = Callable[[], tuple[Any, Any]]
#: What is wrong with the model of a name.
Check = Callable[[str], list[str]]

#: What a process has loaded stays in its memory.
_CALLS_OF_PROCESS = 50


@dataclass(frozen=True)
class Verified:
    """What became of one model."""

    name: str
    #: What is wrong, in a line each; nothing if all is well.
    problems: tuple[str, ...] = ()
    seconds: float = 0.0
    #: The node that did it.
    node: str = ""
    #: Whether its process ended each time, so that nothing is known.
    has_ended: bool = False

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


def _line(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def _complaints(factory: Factory) -> list[str]:
    """Convert a model, and compare each of its values with PyTorch's."""
    verify_with_torch = _above.part("verify").verify
    model, inputs = factory()
    with tempfile.TemporaryDirectory() as folder:
        found = verify_with_torch(model, None, inputs, quiet=True, folder=folder)
    if found.passed:
        return []
    culprits = [" ".join(culprit.describe().split()) for culprit in found.culprits]
    return culprits or ["nothing could be compared"]


def _task(name: str, check: Check | None, factory: Factory | None) -> Verified:
    begun = time.monotonic()
    try:
        if check is not None:
            problems = check(name)
        else:
            assert factory is not None
            problems = _complaints(factory)
    except Exception as error:
        problems = [_line(error)]
    node = ray.get_runtime_context().get_node_id()
    return Verified(name, tuple(problems), time.monotonic() - begun, node)


def verify(
    catalogue: Mapping[str, Factory] | Iterable[str],
    check: Check | None = None,
    *,
    num_cpus: float = 1,
    max_retries: int = 2,
) -> Iterator[Verified]:
    """Convert and verify models on the cluster, each in a task of its own.

    Args:
        catalogue: From names to functions without arguments, each of which makes
            a model and its inputs where the task runs; they are what
            :func:`coreai_torch.verify` is given. Or only names.
        check: What is done with a name instead; it returns what is wrong.
        num_cpus: Processors of a task.
        max_retries: How often a task is begun again whose process or node ended.
            One that never gets through is a problem of that model.

    Returns:
        What was found, as it comes in. A model that cannot be made, converted or
        compared has a problem that says so; others go on.

    Raises:
        TypeError: If there is nothing to do with names.
    """
    factories = dict(catalogue) if isinstance(catalogue, Mapping) else None
    if factories is None and check is None:
        msg = "a catalogue of names needs a check; give functions that make models"
        raise TypeError(msg)
    remote: Any = ray.remote(
        num_cpus=num_cpus, max_retries=max_retries, max_calls=_CALLS_OF_PROCESS
    )(_task)
    pending: dict[Any, str] = {
        remote.remote(name, check, (factories or {}).get(name)): name
        for name in (factories if factories is not None else catalogue)
    }
    return _results(pending)


def _results(pending: dict[Any, str]) -> Iterator[Verified]:
    while pending:
        ready, _ = ray.wait(list(pending))
        for reference in ready:
            name = pending.pop(reference)
            try:
                yield ray.get(reference)
            except ray.exceptions.RayError as error:
                # The process ended, or its node did, each time.
                problem = f"the process ended: {_line(error)}"[:500]
                yield Verified(name, (problem,), has_ended=True)
