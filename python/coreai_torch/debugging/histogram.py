# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How many operations of each kind a program has. Nothing is run for it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

from rich.tree import Tree

from coreai_torch.debugging._locations import (
    all_operations,
    callee,
    graphs,
)
from coreai_torch.debugging.table_writer import _write_renderable

if TYPE_CHECKING:
    from coreai.authoring import AIProgram

__all__ = ["CompositeHistogram", "OperationHistogram", "operation_histogram"]

_INVOKE = "coreai.invoke"
#: Of graphs that can only be called from others.
_PRIVATE = "priv"


@dataclass(frozen=True)
class CompositeHistogram:
    """A graph that is called, and what is in it."""

    #: What it is called for: the composite, or the graph's own name.
    label: str
    #: The name of the graph.
    symbol: str
    #: How often the body that this belongs to calls it.
    invocations: int
    histogram: OperationHistogram

    @property
    def size(self) -> int:
        """Operations of the graph and of those that it calls."""
        return self.histogram.size

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            "label": self.label,
            "symbol": self.symbol,
            "invocations": self.invocations,
            "histogram": self.histogram.to_dict(),
        }


@dataclass(frozen=True)
class OperationHistogram:
    """The operations of a body, by name; what it calls stands beside them."""

    #: The most frequent first, then by name. A call names what it calls.
    counts: dict[str, int]
    composites: tuple[CompositeHistogram, ...]

    @property
    def size(self) -> int:
        """How many operations run: those of a graph once for each call of it."""
        return sum(self.counts.values()) + sum(
            composite.invocations * composite.size for composite in self.composites
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            "size": self.size,
            "counts": dict(self.counts),
            "composites": [composite.to_dict() for composite in self.composites],
        }

    def write_summary(
        self, output: TextIO | None = None, *, folded: bool = False
    ) -> None:
        """Write the operations as a tree.

        Args:
            output: Where to; the standard output by default.
            folded: Leave out what is inside the graphs that are called.
        """
        own = sum(self.counts.values())
        title = (
            f"{own} operations at the top level"
            if folded
            else f"{self.size} operations, {own} in the entry point"
        )
        tree = Tree(title)
        self._grow(tree, folded)
        _write_renderable(tree, output)

    def _grow(self, tree: Tree, folded: bool = False) -> None:
        for name, count in self.counts.items():
            tree.add(f"{count:>5}  {name}")
        for composite in () if folded else self.composites:
            branch = tree.add(
                f"{composite.label}  ({composite.symbol}) invoked "
                f"{composite.invocations}x, {composite.size:>3} operations"
            )
            composite.histogram._grow(branch)


def _label(graph: Any) -> str:
    """What a graph stands for: the composite that it declares, else its name."""
    attributes = graph.attributes
    key = "template_op" if "template_op" in attributes else "sym_name"
    return str(attributes[key].value)


class _Counter:
    """Counts each graph of a program once."""

    def __init__(self, program: AIProgram) -> None:
        self._graphs = graphs(program._mlir_module)
        self._known: dict[str, OperationHistogram] = {}

    def count(self) -> OperationHistogram:
        """What the entry points are made of, taken together."""
        return self._histogram(
            [g for g in self._graphs.values() if _PRIVATE not in g.attributes]
        )

    def _histogram(self, bodies: list[Any]) -> OperationHistogram:
        counts: Counter[str] = Counter()
        calls: Counter[str] = Counter()
        for body in bodies:
            for op in all_operations(body):
                if op.name != _INVOKE:
                    counts[op.name] += 1
                    continue
                symbol = callee(op)
                calls[symbol] += 1
                graph = self._graphs.get(symbol)
                label = symbol if graph is None else _label(graph)
                counts[f"{_INVOKE} -> {label}"] += 1
        return OperationHistogram(
            dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))),
            tuple(
                CompositeHistogram(
                    _label(self._graphs[symbol]),
                    symbol,
                    invocations,
                    self._of_graph(symbol),
                )
                for symbol, invocations in calls.items()
                if symbol in self._graphs
            ),
        )

    def _of_graph(self, symbol: str) -> OperationHistogram:
        if symbol not in self._known:
            self._known[symbol] = self._histogram([self._graphs[symbol]])
        return self._known[symbol]


def operation_histogram(program: AIProgram) -> OperationHistogram:
    """Count the operations of a program by their names.

    Those of branches and loops count with the graph that they are in. Graphs
    that are called, composites first of all, have a histogram of their own.

    Args:
        program: The program, optimized or not.
    """
    return _Counter(program).count()
