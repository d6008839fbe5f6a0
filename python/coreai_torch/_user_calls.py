# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the lowerings that users register.

They build with ``coreai-core``, so they run once the module is in its hands.
There a stand-in is in the place of each call that a user lowers; what the
user's function returns replaces it.
"""

from __future__ import annotations

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

if TYPE_CHECKING:
    from coreai_torch import _native
    from coreai_torch._lowerings import Lowering

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

    def lower(self, module: ir.Module, operations: list[ir.Operation]) -> None:
        """Replace the stand-ins.

        Args:
            module: The module, in the context that is current.
            operations: Its operations, each after what it contains.

        Raises:
            ValueError: If a lowering returns too much, too little, or values of
                other types than the export recorded, or makes operations that
                do not verify.
            TypeError: If it returns something that is not a value.
        """
        if not self._calls:
            return
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
        self._number(made)
        for call in calls:
            call.stand_in.erase()
        self._count(made)
        _verify(module, made)

    def _number(self, made: list[tuple[ir.Operation, _Call | None]]) -> None:
        """Gives operations the location of their call, and a number."""
        outputs: dict[ir.Operation, list[tuple[int, int]]] = {}
        makers = {id(call): call for _, call in made if call}
        for maker in makers.values():
            for i, value in maker.results:
                if isinstance(value, ir.OpResult):
                    outputs.setdefault(value.owner.operation, []).append(
                        (i, value.result_number)
                    )
        for operation, call in made:
            source = (call.stand_in if call else operation).location
            maps = outputs.get(operation, []) if call else []
            location = _numbered(source, self.next_operation_id, maps)
            self.next_operation_id += 1
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


_TORCH_ID = re.compile(r'type = "torch", value = (\d+)')


def _numbered(
    location: ir.Location, number: int, outputs: list[tuple[int, int]]
) -> ir.Location:
    """``location`` with the number of an operation in place of another's.

    Args:
        location: That of a stand-in, or one of the user's own.
        number: The number.
        outputs: Which results of the node the operation makes: (result of the
            node, result of the operation).
    """
    own = _debuginfo.create_op_id_metadata(dialect_type="coreai", value=number)
    if not _debuginfo.DILocationAttr.isinstance(location.attr):
        nowhere = ir.Location.file("-", 0, 0)
        return _debuginfo.di_location(
            src=nowhere, scope=ir.UnitAttr.get(), metadata=[own]
        )
    parts = _debuginfo.DILocationAttr(location.attr)
    about_node, about_modules = [], []
    torch_id = None
    for fact in parts.metadata:
        if fact.name == "sources":
            about_node.append(fact)
        elif fact.name == "op_id":
            found = _TORCH_ID.search(str(fact))
            if found:
                torch_id = found.group(1)
                about_node.append(fact)
        elif fact.name != "output_maps":
            about_modules.append(fact)
    maps = []
    if outputs and torch_id:
        entries = ", ".join(
            f'{{source = {{id = {torch_id} : ui64, level = "torch", '
            f'output = {of_node} : ui32}}, target = {{level = "coreai", '
            f"output = {of_operation} : ui32}}}}"
            for of_node, of_operation in outputs
        )
        data = ir.Attribute.parse(f"[{entries}]")
        maps.append(_debuginfo.MetadataAttr.get(name="output_maps", data=data))
    return _debuginfo.di_location(
        src=parts.src,
        scope=parts.scope,
        fused_with=parts.fused_with,
        metadata=[*about_node, own, *maps, *about_modules],
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
