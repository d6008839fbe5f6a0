# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The part of ``corten verify`` that needs torch: op by op."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._pytree import tree_leaves

from coreai_torch._fill import fill_inputs, fill_weights
from coreai_torch._opened import open_program
from coreai_torch.debugging._judging import Tolerance
from coreai_torch.debugging._torch_run import user_inputs
from coreai_torch.debugging._two_programs import Values, compare_values
from coreai_torch.verify import Comparing, Verification, _converted
from corten import _command, _native
from corten._verify_request import read_arrays

if TYPE_CHECKING:
    from coreai.authoring import AIProgram
    from torch.export import ExportedProgram

    from corten._progress import Progress
    from corten._verify_request import Request


def compare(request: Request, progress: Progress) -> Verification:
    """The program beside the exported one, another asset, or arrays.

    Raises ``CommandError`` and ``ValueError`` for what cannot be compared.
    """
    if request.reference.endswith(".pt2"):
        return _beside_torch(request, request.reference, {}, progress)
    if request.is_archive and request.reference.endswith(".npz"):
        # Torch knows the nodes that the file does not say.
        arrays = dict(read_arrays(request.reference))
        return _beside_torch(request, request.path, arrays, progress)
    return _beside_values(request, progress)


def _exported(path: str, request: Request) -> ExportedProgram:
    """The program, with weights and example inputs even if the file has none."""
    try:
        program = torch.export.load(path)
    except Exception as error:
        # It is a program's, and there are many ways in which it can be none.
        raise _command.CommandError(f"{path}: {error}") from None
    if request.weights is not None:
        fill_weights(program, request.weights, request.tied)
    for name, tensor in program.state_dict.items():
        if tensor.is_meta:
            raise _command.CommandError(f"{path}: {_native.without_data(name)}")
    if fill_inputs(program, request.seed):
        print(
            "corten: note: the program was exported on the meta device: random "
            "numbers stand for its inputs",
            file=sys.stderr,
        )
    return program


def _program(request: Request) -> AIProgram:
    if request.is_archive:
        return _converted(_exported(request.path, request), (), request.function)
    return open_program(request.path)


def _beside_torch(
    request: Request, archive: str, expected: dict[str, Any], progress: Progress
) -> Verification:
    """Beside the exported program that it was made of."""
    exported = _exported(archive, request)
    comparing = Comparing(
        request.function,
        Tolerance(request.tolerance, None),
        request.backend,
        request.precision,
        expected,
        request.scripts,
    )
    program = None if request.path == archive else _program(request)
    if request.has_inputs or not exported.example_inputs:
        inputs = _for_torch(request)
    else:
        inputs = _examples(exported)
    return comparing.compare(exported, program, inputs, progress)


def _examples(exported: ExportedProgram) -> Any:
    """What a program was exported with: in order, or by name if it has keywords."""
    args, kwargs = exported.example_inputs
    if not kwargs:
        return args
    # The program has them in the order of its signature.
    names = exported.call_spec.in_spec.child(1).context
    values = tree_leaves((args, [kwargs[name] for name in names]))
    return dict(zip(user_inputs(exported), values, strict=True))


def _for_torch(request: Request) -> dict[str, Any]:
    """Inputs and what is given of states, which the exported program knows itself."""
    names = {value["name"] for value in request.entry_point["inputs"]}
    return {
        name: array
        for name, array in request.inputs().items()
        if name in names or name in request.given
    }


def _beside_values(request: Request, progress: Progress) -> Verification:
    """Beside another asset, or the arrays of a file."""
    inputs = request.inputs()
    progress.show("running the program")
    values = Values(
        _program(request), request.function, inputs, request.backend, request.precision
    )
    expected: dict[Any, Any]
    if request.reference.endswith(".npz"):
        outputs = dict(read_arrays(request.reference))
        nodes = [name for name in outputs if name not in values.outputs]
        expected = {(name, 0): outputs.pop(name) for name in nodes}
        unknown = [name for name in nodes if (name, 0) not in values.by_place]
        if unknown:
            raise _command.CommandError(
                f"{request.reference}: the model has no output and no node "
                f"{unknown[0]!r}; outputs are {list(values.outputs)}"
            )
    else:
        progress.show("running the reference")
        other = Values(
            open_program(request.reference), request.function, inputs, request.backend
        )
        outputs, expected = dict(other.outputs), dict(other.by_place)
    progress.show("comparing")
    compared = compare_values(
        values, expected, outputs, Tolerance(request.tolerance, None)
    )
    return Verification(compared, backend=request.backend)
