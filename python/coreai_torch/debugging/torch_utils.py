# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exported programs: running them node by node, and keeping what they compute."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from coreai_torch.debugging import _session
from coreai_torch.debugging._locations import Location
from coreai_torch.debugging._mappings import (
    compilation_mappings,
    operations_of,
    output_mappings_by_name,
)
from coreai_torch.debugging._torch_run import (
    Interpreter,
    autocast,
    flat_inputs,
    unpacked,
)
from coreai_torch.debugging.debug_info import (
    CompilationMappings,
    OutputMapping,
    SourceInfo,
)

if TYPE_CHECKING:
    from coreai._compiler.ir import Operation
    from coreai.authoring import AIProgram
    from torch.export import ExportedProgram

__all__ = [
    "DebugTrace",
    "fetch_intermediate_values",
    "get_torch_to_coreai_output_mapping",
    "get_torch_to_ops_mapping",
    "load_intermediates",
    "save_intermediates",
]

_SUFFIX = ".aimodelintermediates"
_METADATA = "metadata.json"

#: Nodes that only arrange values anew, by the name of their operator.
_ARRANGING_NAMES = """
    view _unsafe_view view_copy reshape _reshape_copy transpose t permute squeeze
    unsqueeze flatten unflatten contiguous clone detach to _to_copy slice select
    expand repeat alias lift_fresh_copy
"""
_ARRANGING = frozenset(_ARRANGING_NAMES.split())


def fetch_intermediate_values(
    exported_program: ExportedProgram,
    inputs: tuple[Any, ...] | list[Any],
    callback: Callable[[torch.fx.Node, Any], None],
    enable_autocast: bool = False,
) -> Any:
    """Run a program and show the value of every node.

    The nodes are those of ``exported_program.module()``, where parameters and
    buffers are attributes. Buffers of the program keep their values.

    Args:
        exported_program: The program.
        inputs: What its module is called with.
        callback: Called with each node and its value.
        enable_autocast: Whether torch may choose precisions.

    Returns:
        What the module returns.

    Raises:
        RuntimeError: If the callback fails; names the node.
    """
    module = exported_program.module()
    if not isinstance(module, torch.fx.GraphModule):
        msg = f"expected a module with a graph, got {type(module).__name__}"
        raise TypeError(msg)
    for name, buffer in list(module.named_buffers()):
        owner, _, attribute = name.rpartition(".")
        setattr(module.get_submodule(owner), attribute, buffer.clone())
    flat = [
        value.clone() if isinstance(value, torch.Tensor) else value
        for value in flat_inputs(exported_program, inputs)
    ]
    interpreter = Interpreter(module, callback)
    with torch.no_grad(), autocast(exported_program, enable_autocast):
        result = interpreter.run(*flat, enable_io_processing=False)
    return module.graph.process_outputs(result)


def get_torch_to_coreai_output_mapping(
    coreai_program: AIProgram,
) -> dict[str, OutputMapping]:
    """Return, by the names of nodes, which operation makes their result.

    A node with several results is there with the one that the operation with
    the highest number makes.
    """
    return {
        name: max(outputs.values(), key=lambda mapping: mapping.target_op_id)
        for name, outputs in output_mappings_by_name(
            operations_of(coreai_program._mlir_module)
        ).items()
    }


def get_torch_to_ops_mapping(coreai_program: AIProgram) -> dict[str, list[Operation]]:
    """Return, by the names of nodes, all operations that were made for them."""
    result: dict[str, list[Operation]] = {}
    for op in operations_of(coreai_program._mlir_module):
        for source in Location(op).sources:
            if source.level == "torch":
                for name in source.identifiers:
                    result.setdefault(name, []).append(op)
    return result


# ---------------------------------------------------------------------------
# Traces
# ---------------------------------------------------------------------------


@dataclass
class DebugTrace:
    """Values of a run, by the names of nodes."""

    inputs: dict[str, torch.Tensor]
    outputs: dict[str, torch.Tensor]
    intermediates: dict[str, torch.Tensor]
    mappings: CompilationMappings | None = None


def _operator_name(node: torch.fx.Node) -> str:
    """``view`` for ``aten.view.default``."""
    packet = getattr(node.target, "overloadpacket", None)
    return packet.__name__ if packet is not None else str(node.target)


def _default_node_filter(node: torch.fx.Node, _value: Any) -> bool:
    """Leave out what only arranges values anew, and picks from tuples."""
    if node.op != "call_function":
        return True
    return (
        node.target is not operator.getitem and _operator_name(node) not in _ARRANGING
    )


def _saved_array(tensor: torch.Tensor) -> _session.Array:
    return _session.comparable(_session.tensor_to_array(unpacked(tensor)))


class _Trace:
    """A trace that is being written."""

    def __init__(
        self, folder: Path, outputs: set[str], wanted: Callable[[Any, Any], bool]
    ) -> None:
        self._folder = folder
        self._outputs = outputs
        self._wanted = wanted
        self._counter = 0
        self.sections: dict[str, dict[str, Any]] = {
            "inputs": {},
            "outputs": {},
            "intermediates": {},
        }

    def __call__(self, node: torch.fx.Node, value: Any) -> None:
        if not isinstance(value, torch.Tensor) or not self._wanted(node, value):
            return
        section = "intermediates"
        if node.op == "placeholder":
            section = "inputs"
        elif node.name in self._outputs:
            section = "outputs"
        data_file = f"data/{node.name}_{self._counter:04d}.npy"
        self._counter += 1
        np.save(self._folder / data_file, _saved_array(value))
        self.sections[section][node.name] = {
            "node_name": node.name,
            "node_op": node.op,
            "node_target": str(node.target),
            "data_file": data_file,
            "shape": list(value.shape),
            "torch_dtype": str(value.dtype),
            "numel": value.numel(),
        }


def _output_names(program: ExportedProgram) -> set[str]:
    return {node.name for node in program.graph.output_node().all_input_nodes}


def save_intermediates(
    program: ExportedProgram,
    inputs: tuple[Any, ...] | list[Any],
    output_dir: str | Path,
    node_filter: Callable[[torch.fx.Node, Any], bool] = _default_node_filter,
    coreai_program: AIProgram | None = None,
    enable_autocast: bool = False,
    model_name: str = "main",
) -> str:
    """Run a program and write the values of its nodes to a folder.

    Args:
        program: The program.
        inputs: What its module is called with.
        output_dir: Where ``<model_name>.aimodelintermediates`` is made.
        node_filter: Whether a node with its value is written. By default those
            are left out that only arrange values anew.
        coreai_program: What the program was converted to: the trace then tells
            which operations its nodes became.
        enable_autocast: Whether torch may choose precisions.
        model_name: Of the folder.

    Returns:
        The path of the file that describes the trace.

    Raises:
        FileExistsError: If the folder is there already.
    """
    folder = Path(output_dir) / f"{model_name}{_SUFFIX}"
    if folder.exists():
        msg = f"{folder} exists already"
        raise FileExistsError(msg)
    (folder / "data").mkdir(parents=True)
    trace = _Trace(folder, _output_names(program), node_filter)
    fetch_intermediate_values(program, inputs, trace, enable_autocast)
    data: dict[str, Any] = dict(trace.sections)
    if coreai_program is not None:
        sources, outputs = compilation_mappings(
            operations_of(coreai_program._mlir_module)
        )
        data["mappings"] = {
            "sources": {
                level: {number: info.to_dict() for number, info in infos.items()}
                for level, infos in sources.items()
            },
            "outputs": [mapping.to_dict() for mapping in outputs],
        }
    path = folder / _METADATA
    path.write_text(json.dumps(data, indent=2) + "\n")
    return str(path)


def _load_tensor(
    folder: Path, entry: Mapping[str, Any], device: str | torch.device | None
) -> torch.Tensor:
    path = folder / entry["data_file"]
    if not path.is_file():
        msg = f"the trace has no {path}"
        raise FileNotFoundError(msg)
    name = str(entry["torch_dtype"]).removeprefix("torch.")
    dtype = getattr(torch, name, None)
    if not isinstance(dtype, torch.dtype):
        msg = f"no element type {entry['torch_dtype']!r}"
        raise ValueError(msg)
    tensor = torch.from_numpy(np.load(path, allow_pickle=False))
    # Quantized values are kept as what they stand for, those of few bits as bytes.
    if not name.startswith(("quint", "qint")) and _unpacked_type(dtype) is dtype:
        tensor = tensor.to(dtype)
    return tensor if device is None else tensor.to(device)


def _unpacked_type(dtype: torch.dtype) -> torch.dtype:
    result: torch.dtype = unpacked(torch.empty(0, dtype=dtype)).dtype
    return result


def _load_mappings(data: Mapping[str, Any]) -> CompilationMappings:
    return CompilationMappings(
        {
            level: {
                number: SourceInfo.from_dict(info) for number, info in infos.items()
            }
            for level, infos in data["sources"].items()
        },
        [OutputMapping.from_dict(mapping) for mapping in data["outputs"]],
    )


def load_intermediates(
    metadata_path: str | Path, device: str | torch.device | None = None
) -> DebugTrace:
    """Read a trace that :func:`save_intermediates` wrote.

    Args:
        metadata_path: The file it returned, or the folder of that file.
        device: Where the tensors go.

    Raises:
        FileNotFoundError: If the file, or one that it names, is not there.
        ValueError: If the file does not describe a trace.
    """
    path = Path(metadata_path)
    if path.is_dir():
        path /= _METADATA
    if not path.is_file():
        msg = f"there is no trace at {path}"
        raise FileNotFoundError(msg)
    try:
        data = json.loads(path.read_text())
        inputs, outputs, intermediates = (
            {
                name: _load_tensor(path.parent, entry, device)
                for name, entry in data[section].items()
            }
            for section in ("inputs", "outputs", "intermediates")
        )
        mappings = data.get("mappings")
        return DebugTrace(
            inputs,
            outputs,
            intermediates,
            _load_mappings(mappings) if mappings else None,
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        msg = f"{path} does not describe a trace: {type(error).__name__}: {error}"
        raise ValueError(msg) from error
