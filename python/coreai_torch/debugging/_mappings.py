# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From nodes of exported programs to operations of converted ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coreai_torch.debugging._locations import Location, all_operations
from coreai_torch.debugging.debug_info import OutputMapping, SourceInfo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coreai._compiler.ir import Module, Operation


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
        outputs += [
            OutputMapping(
                entry.source_level,
                entry.source_id,
                entry.source_output,
                entry.target_level,
                number,
                entry.target_output,
            )
            for entry in location.output_maps
        ]
    return sources, outputs


def operations_of(module: Module) -> list[Operation]:
    return list(all_operations(module.operation))


def output_mappings_by_name(
    operations: Sequence[Operation],
) -> dict[str, dict[int, OutputMapping]]:
    """For each node, by its name, which results of operations its outputs are.

    Where several operations claim an output, the last one has it; where several
    nodes claim a result, the last node.
    """
    sources, outputs = compilation_mappings(operations)
    names = sources.get("torch", {})
    best: dict[tuple[int, int], OutputMapping] = {}
    for mapping in outputs:
        key = (mapping.source_op_id, mapping.source_output)
        if key not in best or best[key].target_op_id <= mapping.target_op_id:
            best[key] = mapping
    owners: dict[tuple[int, int], int] = {}
    for mapping in best.values():
        target = (mapping.target_op_id, mapping.target_output)
        owners[target] = max(owners.get(target, -1), mapping.source_op_id)
    result: dict[str, dict[int, OutputMapping]] = {}
    for mapping in best.values():
        target = (mapping.target_op_id, mapping.target_output)
        info = names.get(str(mapping.source_op_id))
        if info is None or owners[target] != mapping.source_op_id:
            continue
        for name in info.identifiers:
            result.setdefault(name, {})[mapping.source_output] = mapping
    return result
