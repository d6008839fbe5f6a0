# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs as ``torch.export`` returns them, without ``run_decompositions()``.

Most of what a decomposition would do happens in C++: composite operators have
lowerings, and writes become values. What is left is decomposed by torch, one
call at a time.
"""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING, Any

import torch

from coreai_torch._decompositions import get_decomp_table
from coreai_torch._origin import Origin
from coreai_torch._walk import Walker, facts, read_exported_program
from corten import _native

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from torch.export import ExportedProgram

    from coreai_torch.externalize import ExternalizedModule

_LOGGER = logging.getLogger("coreai_torch")


class _NotNativeError(Exception):
    """The program has something that only torch can decompose."""


class _UndecomposedWalker(Walker):
    """Reads a program and has torch decompose what has no lowering."""

    def __init__(
        self, lowerings: Collection[str], folder: _native.SafetensorsFolder | None
    ) -> None:
        super().__init__(folder)
        self.lowerings = lowerings
        self.decomposed: Counter[str] = Counter()
        self._table: dict[Any, Callable[..., Any]] | None = None
        self._is_native: dict[Any, bool] = {}
        #: Results of calls that were replaced and return several.
        self._tuples: dict[torch.fx.Node, Any] = {}
        #: The builder knows nodes by identity: they must not be freed.
        self._modules: list[torch.fx.GraphModule] = []
        self._constants: list[tuple[torch.fx.Node, torch.Tensor]] = []
        #: Calls of decompositions -> the node whose result they make.
        self.results: dict[str, str] = {}

    def call(
        self, node: torch.fx.Node, name: str, origin: torch.fx.Node | None = None
    ) -> None:
        target = node.target
        first = node.args[0] if node.args else None
        if isinstance(first, torch.fx.Node) and first in self._tuples:
            position: Any = node.args[1]
            # Of a list that is itself a result, elements are picked in turn.
            self._set_result(node, self._tuples[first][position], None)
            return
        if origin is None and not self.is_native(target):
            self._decompose(node)
            return
        super().call(node, name, origin)

    def is_native(self, target: Any) -> bool:
        known = self._is_native.get(target)
        if known is None:
            known = self._is_native[target] = self._find_native(target)
        return known

    def _find_native(self, target: Any) -> bool:
        if not isinstance(target, torch._ops.OpOverload):
            return True
        namespace, _, name = target._schema.name.partition("::")
        qualified = f"{namespace}::{name}.{target._overloadname}"
        if not {qualified, qualified.removesuffix(".default")}.isdisjoint(
            self.lowerings
        ):
            return True
        mutates = target._schema.is_mutable
        if _native.takes_as_it_is(
            namespace,
            f"{name}.{target._overloadname}",
            mutates,
            target._can_decompose(),
        ):
            return True
        if mutates and _functional(target) is None:
            raise _NotNativeError(f"{target} has no functional form")
        return False

    def _decompose(self, node: torch.fx.Node) -> None:
        """Add what torch makes of a call, in its place."""
        if self._table is None:
            # torch fills its table on demand, which get() knows nothing of.
            table: Any = get_decomp_table()
            self._table = getattr(table, "materialize", table.copy)()
        target: Any = node.target
        self.decomposed[str(target)] += 1
        written: Any = None
        if target._schema.is_mutable:
            written = node.args[0]
            target = _functional(target)
        operands = list(node.all_input_nodes)
        try:
            module = _trace(target, node, operands, self._table)
        except Exception as error:
            msg = f"{target} does not decompose by itself: {error}"
            raise _NotNativeError(msg) from error
        self._modules.append(module)
        inputs = iter(operands)
        for inner in module.graph.nodes:
            if inner.op == "placeholder":
                self.builder.bind(inner, next(inputs))
            elif inner.op == "call_function":
                self.call(inner, f"{node.name}_{inner.name}", origin=node)
            elif inner.op == "get_attr":
                value = getattr(module, inner.target)
                self.builder.placeholder(inner, f"{node.name}_{inner.name}", value)
                self._constants.append((inner, value))
            elif inner.op == "output":
                result = inner.args[0]
                if written is None and isinstance(result, torch.fx.Node):
                    self.results[f"{node.name}_{result.name}"] = node.name
                self._set_result(node, result, written)

    def _set_result(self, node: torch.fx.Node, value: Any, written: Any) -> None:
        if written is not None:
            copy = torch.ops.aten.copy_.default
            self.builder.call(
                node,
                node.name,
                self.operator_id(copy),
                (written, value),
                {},
                node.meta.get("val"),
                node.meta.get("stack_trace"),
                node.meta.get("nn_module_stack"),
            )
        elif isinstance(value, list | tuple):
            self._tuples[node] = value
        else:
            self._alias(node, value)

    def _alias(self, node: torch.fx.Node, value: Any) -> None:
        if isinstance(value, torch.fx.Node):
            self.builder.bind(node, value)

    def constants(self) -> None:
        """Register the tensors that decompositions brought along."""
        for node, value in self._constants:
            self.builder.constant_of(node, facts(value))


def _functional(target: Any) -> Any:
    """The operator that computes what an in-place one writes, or ``None``."""
    namespace, _, name = target._schema.name.partition("::")
    functional = _native.functional_name(f"{name}.{target._overloadname}")
    if functional is None:
        return None
    packet, _, overload = functional.partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), packet, None), overload, None)


def _trace(
    target: Any,
    node: torch.fx.Node,
    operands: list[torch.fx.Node],
    table: dict[Any, Callable[..., Any]],
) -> torch.fx.GraphModule:
    """The graph of one call, on the tensors that describe its operands."""
    from torch._guards import detect_fake_mode
    from torch.fx.experimental.proxy_tensor import make_fx

    values = [operand.meta["val"] for operand in operands]

    def run(*arguments: Any) -> Any:
        given = dict(zip(operands, arguments, strict=True))
        args, kwargs = torch.fx.node.map_arg(
            (node.args, dict(node.kwargs)), given.__getitem__
        )
        return decomposition(*args, **kwargs)

    # What the dispatcher would do with a composite operator is not always what
    # the table says.
    decomposition = table.get(target, target)
    mode = detect_fake_mode(values) or detect_fake_mode(node.meta.get("val"))
    trace = make_fx(run, decomposition_table=table, tracing_mode="real")
    # With oneDNN an LSTM becomes a call of it.
    with torch.no_grad(), torch.backends.mkldnn.flags(enabled=False):
        if mode is None:
            return trace(*values)
        with mode:
            return trace(*values)


def _read_native(
    program: ExportedProgram,
    lowerings: Collection[str],
    entrypoint_name: str,
    externalized: Sequence[ExternalizedModule],
    folder: _native.SafetensorsFolder | None,
) -> tuple[_native.Program, bool, Origin] | str:
    """The program, or why C++ cannot take it as it is."""
    walker = _UndecomposedWalker(lowerings, folder)
    try:
        walker.walk(program)
    except _NotNativeError as error:
        return str(error)
    walker.constants()
    obstacle = walker.builder.functionalize()
    if obstacle is not None:
        name, reason = obstacle
        return f"'{name}' {reason}"
    if walker.decomposed:
        _LOGGER.info(
            "%s: decomposed by torch: %s",
            entrypoint_name,
            ", ".join(
                f"{name} ({count})" for name, count in sorted(walker.decomposed.items())
            ),
        )
    modules = [module.native() for module in externalized]
    origin = Origin(program, walker.results)
    return walker.builder.finish(modules), walker.builder.has_copies, origin


def read_program(
    program: ExportedProgram,
    decompose: bool,
    lowerings: Collection[str],
    entrypoint_name: str,
    externalized: Sequence[ExternalizedModule] = (),
    folder: _native.SafetensorsFolder | None = None,
) -> tuple[_native.Program, bool, Origin]:
    """Read ``program`` into the C++ model.

    Args:
        program: The program.
        decompose: It was not decomposed; do what that takes.
        lowerings: Qualified names that the user has registered.
        entrypoint_name: For the log.
        externalized: Modules that were marked while it was exported; their
            calls become graphs.
        folder: Where its parameters and buffers are, if not in the program.

    Returns:
        The model, whether it holds copies of weights, and what it was read
        from: ``program``, or what torch made of it.
    """
    if decompose:
        read = _read_native(program, lowerings, entrypoint_name, externalized, folder)
        if not isinstance(read, str):
            return read
        _LOGGER.info(
            "%s: decomposed by torch as a whole, because %s", entrypoint_name, read
        )
        program = program.run_decompositions(get_decomp_table())
    return (*read_exported_program(program, externalized, folder), Origin(program))
