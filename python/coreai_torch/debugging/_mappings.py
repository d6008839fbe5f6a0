# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From nodes of exported programs to operations of converted ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coreai_torch.debugging._locations import Location, OutputMap, all_operations
from coreai_torch.debugging.debug_info import OutputMapping, SourceInfo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coreai._compiler.ir import Module, Operation


def _mapping(entry: OutputMap, number: int) -> OutputMapping:
    return OutputMapping(
        entry.source_level,
        entry.source_id,
        entry.source_output,
        entry.target_level,
        number,
        entry.target_output,
    )


def compilation_mappings(
    operations: Sequence[Operation],
) -> tuple[dict[str, dict[str, SourceInfo]], list[OutputMapping]]:
    """What the locations of operations say of the nodes that they come from."""
    sources: dict[str, dict[str, SourceInfo]] = {}
    outputs: list[OutputMapping] = []
    for op in operations:
        location = Location(op)
        for source in location.sources:
            sources.setdefault(source.level, {})[str(source.id)] = SourceInfo(
                source.level, source.id, source.identifiers
            )
        number = location.op_id()
        if number is None:
            continue
        outputs += [_mapping(entry, number) for entry in location.output_maps]
    return sources, outputs


def operations_of(module: Module) -> list[Operation]:
    return list(all_operations(module.operation))


def _own_outputs(location: Location) -> list[OutputMap]:
    """The outputs of nodes that an operation makes.

    One that optimizing made of several has the sources of all of them, its own
    first; of the others it may claim outputs that it does not make.
    """
    numbers = location.op_ids("torch")
    maps = location.output_maps
    if len(set(numbers)) < 2:
        return maps
    return [entry for entry in maps if entry.source_id == numbers[0]]


def output_mappings_by_name(
    operations: Sequence[Operation],
) -> dict[str, dict[int, OutputMapping]]:
    """For each node, by its name, which results of operations its outputs are.

    Where several operations claim an output, the last one has it; where several
    nodes claim a result, the last node.
    """
    names: dict[int, tuple[str, ...]] = {}
    best: dict[tuple[int, int], OutputMapping] = {}
    for op in operations:
        location = Location(op)
        for source in location.sources:
            if source.level == "torch":
                names[source.id] = source.identifiers
        number = location.op_id()
        if number is None:
            continue
        for entry in _own_outputs(location):
            mapping = _mapping(entry, number)
            key = (mapping.source_op_id, mapping.source_output)
            if key not in best or best[key].target_op_id <= number:
                best[key] = mapping
    owners: dict[tuple[int, int], int] = {}
    for mapping in best.values():
        target = (mapping.target_op_id, mapping.target_output)
        owners[target] = max(owners.get(target, -1), mapping.source_op_id)
    result: dict[str, dict[int, OutputMapping]] = {}
    for mapping in best.values():
        target = (mapping.target_op_id, mapping.target_output)
        if owners[target] != mapping.source_op_id:
            continue
        for name in names.get(mapping.source_op_id, ()):
            result.setdefault(name, {})[mapping.source_output] = mapping
    return result
