# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the lowerings that users register.

They build with ``coreai-core``, so they run once the module is in its hands.
There a stand-in is in the place of each call that a user lowers; what the
user's function returns replaces it.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from coreai._compiler import ir
from coreai._compiler._mlir_libs._coreaiIR._bindings import mlir as _bindings
from coreai._compiler.dialects import coreai

from coreai_torch._debug_locations import block_arguments
from coreai_torch._utils import check_result_type
from corten._program import operations_of

if TYPE_CHECKING:
    from coreai_torch._lowerings import Lowering
    from corten import _native

_MLIRError: Any = ir.MLIRError  # type: ignore[attr-defined]
_debuginfo = _bindings.dialects.debuginfo

#: (position in the order of emission, operation, region or None, number)
_Place = tuple[int, int, "int | None", int]


class ValuesMap(dict[str, ir.Value]):
    """The values of one graph by name, found when they are asked for.

    It holds what was computed before the call that is being lowered.
    """

    def __init__(
        self,
        places: Mapping[str, _Place],
        find: Callable[[int, int | None, int], ir.Value],
    ) -> None:
        super().__init__()
        self._places = places
        self._find = find
        self._names = list(places)
        self._num_complete = 0
        #: Values before the call.
        self.num_visible = 0

    def __missing__(self, name: str) -> ir.Value:
        place = self._places.get(name)
        if place is None or place[0] >= self.num_visible:
            raise KeyError(name)
        self[name] = value = self._find(*place[1:])
        return value

    def __contains__(self, name: object) -> bool:
        if super().__contains__(name):
            return True
        place = self._places.get(name) if isinstance(name, str) else None
        return place is not None and place[0] < self.num_visible

    def get(self, name: str, default: Any = None) -> Any:
        """Return a value, or ``default``."""
        try:
            return self[name]
        except KeyError:
            return default

    def _complete(self) -> ValuesMap:
        for name in self._names[self._num_complete : self.num_visible]:
            self.get(name)
        self._num_complete = self.num_visible
        return self

    def __iter__(self) -> Iterator[str]:
        self._complete()
        return super().__iter__()

    def __len__(self) -> int:
        self._complete()
        return super().__len__()

    def keys(self) -> Any:
        """Return the names."""
        self._complete()
        return super().keys()

    def values(self) -> Any:
        """Return the values."""
        self._complete()
        return super().values()

    def items(self) -> Any:
        """Return names and values."""
        self._complete()
        return super().items()

    def copy(self) -> dict[str, ir.Value]:
        """Return names and values of now."""
        return dict(self.items())


@dataclass
class _Call:
    """A call that the user lowers."""

    node: torch.fx.Node
    #: Entry point, line and module, for messages.
    where: str
    function: Lowering
    stand_in: ir.Operation
    #: For each result of the node, whether it is a value.
    present: list[bool]
    values: ValuesMap
    num_visible: int
    #: What replaces the stand-in: (result of the node, value).
    results: list[tuple[int, ir.Value]] = field(default_factory=list)

    @property
    def identity(self) -> str:
        """Entry point and node, without the place in somebody's files."""
        return self.where.lstrip("\n").partition("\n")[0]

    def describe(self, diagnostics: list[str]) -> str:
        """Say which lowering it is and where the call stands."""
        lines = [f"\n  {line}" for text in diagnostics for line in text.splitlines()]
        return f"{''.join(lines)}\n  in the lowering {_name_of(self.function)}" + (
            self.where
        )


def _name_of(function: Lowering) -> str:
    name = getattr(function, "__qualname__", None) or repr(function)
    code = getattr(function, "__code__", None)
    return f"{name} ({code.co_filename}:{code.co_firstlineno})" if code else name


#: Calling a function that ``coreai.graph`` decorates gives the last kind.
_SEQUENCES: Any = (list, tuple, ir.OpResultList)


def _as_values(returned: Any, call: _Call) -> list[ir.Value]:
    """What a lowering returned, one value for each result of the stand-in."""
    if isinstance(returned, ir.OpView | ir.Operation):
        returned = returned.operation.results
    if isinstance(returned, ir.Value):
        values = [returned]
    elif isinstance(returned, _SEQUENCES):
        values = list(returned)
    else:
        msg = (
            f"{call.node.name}: a lowering must return a value or a list of "
            f"values, not {_kind(returned)}"
        )
        raise TypeError(msg)
    if len(values) == len(call.present):
        # What is None in torch may be left out or be None here.
        values = [
            value
            for value, is_present in zip(values, call.present, strict=True)
            if is_present or value is not None
        ]
    wanted = sum(call.present)
    if len(values) != wanted:
        msg = (
            f"{call.node.name}: the lowering returned {len(values)} "
            f"value{'s' if len(values) != 1 else ''}, the op has {wanted} "
            f"result{'s' if wanted != 1 else ''}"
        )
        raise ValueError(msg)
    for i, value in enumerate(values):
        if not isinstance(value, ir.Value):
            msg = f"{call.node.name}[{i}]: expected a value, got {_kind(value)}"
            raise TypeError(msg)
    return values


def _kind(thing: Any) -> str:
    return "None" if thing is None else f"a {type(thing).__name__}"


def _scopes_of(operation: ir.Operation) -> Iterator[ir.Operation]:
    """The operations around ``operation``, innermost first."""
    parent = operation.parent
    while parent is not None:
        yield parent.operation
        parent = parent.operation.parent


def _check_origin(value: ir.Value, place: str, stand_in: ir.Operation) -> None:
    """Raise ``ValueError`` unless ``value`` can be used at the stand-in."""
    owner: Any = value.owner
    home = owner.owner if isinstance(owner, ir.Block) else owner.operation.parent
    if value.context != stand_in.context or home is None:
        msg = f"{place}: the value belongs to another program"
        raise ValueError(msg)
    if home.operation not in list(_scopes_of(stand_in)):
        msg = f"{place}: the value belongs to another graph"
        raise ValueError(msg)


def _check_number(value: ir.Value, wanted: Any, place: str) -> None:
    """Raise ``ValueError`` unless ``value`` can stand for a symbolic number."""
    tensor_type: Any = value.type
    if (
        isinstance(tensor_type, ir.RankedTensorType)
        and tensor_type.rank <= 1
        and (tensor_type.rank == 0 or tensor_type.shape[0] in _ONE_OR_OPEN)
        and isinstance(tensor_type.element_type, ir.IntegerType)
        == isinstance(wanted.element_type, ir.IntegerType)
    ):
        return
    msg = f"{place}: {tensor_type} does not hold one {wanted.element_type}"
    raise ValueError(msg)


_ONE_OR_OPEN = (1, ir.ShapedType.get_dynamic_size())


def _with_type(value: ir.Value, wanted: Any) -> ir.Value:
    """``value`` with the extents and the width that torch recorded."""
    if value.type == wanted:
        return value
    if ir.RankedTensorType(value.type).rank != wanted.rank:
        value = coreai.reshape(value, list(wanted.shape))
    if value.type == wanted:
        return value
    cast: Any = coreai.CastOp
    adapted: ir.Value = cast(wanted, value).result
    return adapted


@contextmanager
def _errors_of(context: ir.Context) -> Iterator[list[str]]:
    """Collects what the dialect has to say against operations."""
    messages: list[str] = []

    def collect(diagnostic: Any) -> bool:
        if diagnostic.severity != ir.DiagnosticSeverity.ERROR:
            return False
        messages.append(str(diagnostic.message))
        return True

    handler: Any = context.attach_diagnostic_handler(collect)
    try:
        yield messages
    finally:
        handler.detach()


class UserCalls:
    """The calls of a converted module that users lower."""

    def __init__(
        self, converted: _native.ConvertedModule, lowerings: Mapping[str, Lowering]
    ) -> None:
        self._calls, self._scopes = converted.user_calls()
        self._lowerings = lowerings
        #: First free number of an operation.
        self.next_operation_id = converted.next_ids[1]
        #: Operations that lowerings made, by kind.
        self.operations: Counter[str] = Counter()
        #: Composites that they made, by name.
        self.composites: Counter[str] = Counter()

    def lower(self, module: ir.Module) -> None:
        """Replace the stand-ins.

        Args:
            module: The module, in the context that is current.

        Raises:
            ValueError: If a lowering returns too much, too little, or values of
                other types than the export recorded, or makes operations that
                do not verify.
            TypeError: If it returns something that is not a value.
        """
        if not self._calls:
            return
        operations = operations_of(module)
        replaced: dict[tuple[int, int], ir.Value] = {}

        def find(operation: int, region: int | None, number: int) -> ir.Value:
            known = replaced.get((operation, number))
            if region is None and known is not None:
                return known
            owner: Any = operations[operation]
            if region is None:
                values = owner.results
            else:
                values = owner.regions[region].blocks[0].arguments
            value: ir.Value = values[number]
            return value

        maps = [ValuesMap(places, find) for places in self._scopes]
        calls = []
        with _errors_of(module.context) as diagnostics:
            for node, where, key, place, present, scope, num_visible in self._calls:
                call = _Call(
                    node,
                    where,
                    self._lowerings[key],
                    operations[place],
                    present,
                    maps[scope],
                    num_visible,
                )
                calls.append(call)
                diagnostics.clear()
                _lower(call, diagnostics)
                for number, (_, value) in enumerate(call.results):
                    replaced[place, number] = value
        made = _attribute(module, operations, calls)
        _name_graphs(module, made)
        self._number(made)
        for call in calls:
            call.stand_in.erase()
        self._count(made)
        _verify(module, made)

    def _number(self, made: list[tuple[ir.Operation, _Call | None]]) -> None:
        """Gives operations the location of their call, and a number."""
        outputs: dict[ir.Operation, list[tuple[int, int]]] = {}
        locations: dict[int, _NodeLocation] = {}
        for _, call in made:
            if call is None or id(call) in locations:
                continue
            locations[id(call)] = _NodeLocation(call.stand_in.location)
            for i, value in call.results:
                if isinstance(value, ir.OpResult):
                    maps = outputs.setdefault(value.owner.operation, [])
                    maps.append((i, value.result_number))
        for operation, call in made:
            number = self.next_operation_id
            self.next_operation_id += 1
            if call is None:
                location = _numbered(operation.location, number)
            else:
                maps = outputs.get(operation, [])
                location = locations[id(call)].numbered(number, maps)
            _bindings.set_op_location(operation, location)
            for argument in block_arguments(operation):
                _bindings.set_block_arg_location(argument, location)

    def _count(self, made: list[tuple[ir.Operation, _Call | None]]) -> None:
        for operation, _ in made:
            if operation.name != "coreai.graph":
                self.operations[operation.name.partition(".")[2]] += 1
            elif "composite_decl" in operation.attributes:
                declaration = str(operation.attributes["composite_decl"])
                self.composites[declaration.split('"')[1]] += 1


def _lower(call: _Call, diagnostics: list[str]) -> None:
    node, stand_in = call.node, call.stand_in
    call.values.num_visible = call.num_visible
    location = stand_in.location
    with ir.InsertionPoint(stand_in), location:
        try:
            returned = call.function(call.values, node, location)
        except Exception as error:
            error.add_note(call.describe(diagnostics).lstrip("\n"))
            raise
        try:
            values = _as_values(returned, call)
            _replace(call, values)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{error}{call.describe(diagnostics)}") from None


def _replace(call: _Call, values: list[ir.Value]) -> None:
    """Puts checked values in the place of the stand-in's results."""
    node = call.node
    recorded = node.meta["val"]
    if not isinstance(recorded, tuple | list):
        recorded = [recorded]
    indices = [i for i, is_present in enumerate(call.present) if is_present]
    stand_in_results: Any = call.stand_in.results
    for i, value, result in zip(indices, values, stand_in_results, strict=True):
        place = f"{node.name}[{i}]"
        _check_origin(value, place, call.stand_in)
        check_result_type(value, recorded[i], node, i)
        if not isinstance(recorded[i], torch.Tensor):
            _check_number(value, result.type, place)
        value = _with_type(value, result.type)
        result.replace_all_uses_with(value)
        call.results.append((i, value))
        name = node.name if len(recorded) == 1 else f"{node.name}#{i}"
        call.values[name] = value


def _attribute(
    module: ir.Module, operations: list[ir.Operation], calls: list[_Call]
) -> list[tuple[ir.Operation, _Call | None]]:
    """The operations that lowerings made, with their calls.

    They stand before the stand-in. Graphs stand elsewhere; their operations are
    known by their location.
    """
    known = set(operations)
    call_of = {call.stand_in: call for call in calls}
    made: list[tuple[ir.Operation, _Call | None]] = []
    pending: list[ir.Operation] = []
    by_location: dict[str, _Call] = {}

    def visit(operation: ir.Operation) -> ir.WalkResult:
        if operation not in known:
            pending.append(operation)
        elif pending:
            call = call_of.get(operation)
            if call is None and not by_location:
                by_location.update({str(c.stand_in.location): c for c in calls})
            made.extend(
                (new, call or by_location.get(str(new.location))) for new in pending
            )
            pending.clear()
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return made


def _letters(seed: str) -> str:
    """Eight letters, as ``coreai.graph`` draws them, but always the same."""
    digest = hashlib.sha256(seed.encode()).digest()
    return "".join(chr(ord("a") + byte % 26) for byte in digest[:8])


def _name_graphs(
    module: ir.Module, made: list[tuple[ir.Operation, _Call | None]]
) -> None:
    """Gives graphs that got random names ones that a second conversion repeats."""
    graphs: Any = module.body.operations
    taken = {ir.StringAttr(graph.attributes["sym_name"]).value for graph in graphs}
    names: dict[str, str] = {}
    for operation, call in made:
        attributes = operation.attributes
        if operation.name != "coreai.graph" or "template_op" not in attributes:
            continue
        template = ir.StringAttr(attributes["template_op"]).value
        old = ir.StringAttr(attributes["sym_name"]).value
        if call is None or not re.fullmatch(re.escape(template) + "_[a-z]{8}", old):
            continue
        taken.discard(old)
        new, attempt = old, 0
        while new == old or new in taken:
            new = f"{template}_{_letters(f'{call.identity}{template}{attempt}')}"
            attempt += 1
        taken.add(new)
        names[old] = new
        attributes["sym_name"] = ir.StringAttr.get(new)
    for operation, _ in made if names else ():
        if operation.name == "coreai.invoke":
            callee = str(operation.attributes["callee"])
            old = callee.partition("@")[2].partition(">")[0]
            if old in names:
                operation.attributes["callee"] = ir.Attribute.parse(
                    callee.replace(f"@{old}>", f"@{names[old]}>")
                )


_TORCH_ID = re.compile(r"value = (\d+)")


class _NodeLocation:
    """The location of a stand-in, for the operations that replace it."""

    def __init__(self, location: ir.Location) -> None:
        parts = _debuginfo.DILocationAttr(location.attr)
        self._source = parts.src
        self._scope = parts.scope
        self._callers = parts.fused_with
        facts = [fact for fact in parts.metadata if fact.name != "output_maps"]
        # The last number is that of the stand-in itself.
        own = max(i for i, fact in enumerate(facts) if fact.name == "op_id")
        self._about_node = facts[:own]
        self._about_modules = facts[own + 1 :]

    def numbered(self, number: int, outputs: list[tuple[int, int]]) -> ir.Location:
        """Return the location of one operation.

        Args:
            number: Its number.
            outputs: Which results of the node it makes: (result of the node,
                result of the operation).
        """
        own = [_number_fact(number)]
        if outputs and self._about_node:
            own.append(_output_maps(self._about_node[-1], outputs))
        return _debuginfo.di_location(
            src=self._source,
            scope=self._scope,
            fused_with=self._callers,
            metadata=[*self._about_node, *own, *self._about_modules],
        )


def _number_fact(number: int) -> Any:
    return _debuginfo.create_op_id_metadata(dialect_type="coreai", value=number)


def _output_maps(node_number: Any, outputs: list[tuple[int, int]]) -> Any:
    torch_id: Any = _TORCH_ID.search(str(node_number))
    entries = ", ".join(
        f'{{source = {{id = {torch_id[1]} : ui64, level = "torch", '
        f'output = {of_node} : ui32}}, target = {{level = "coreai", '
        f"output = {of_operation} : ui32}}}}"
        for of_node, of_operation in outputs
    )
    data = ir.Attribute.parse(f"[{entries}]")
    return _debuginfo.MetadataAttr.get(name="output_maps", data=data)


def _numbered(location: ir.Location, number: int) -> ir.Location:
    """A location of the user's own, with the number of its operation."""
    if _debuginfo.DILocationAttr.isinstance(location.attr):
        parts = _debuginfo.DILocationAttr(location.attr)
        source, scope = parts.src, parts.scope
        callers, facts = parts.fused_with, parts.metadata
    else:
        source, scope = ir.Location.file("-", 0, 0), ir.UnitAttr.get()
        callers, facts = [], []
    return _debuginfo.di_location(
        src=source,
        scope=scope,
        fused_with=callers,
        metadata=[*facts, _number_fact(number)],
    )


def _verify(module: ir.Module, made: list[tuple[ir.Operation, _Call | None]]) -> None:
    try:
        module.operation.verify()
    except _MLIRError as error:
        messages = [diagnostic.message for diagnostic in error.error_diagnostics]
        places = {str(d.location) for d in error.error_diagnostics}
        guilty = [c for op, c in made if c and str(op.location) in places]
        where = guilty[0].describe([]) if guilty else ""
        msg = f"what a lowering made does not verify: {'; '.join(messages)}{where}"
        raise ValueError(msg) from None
