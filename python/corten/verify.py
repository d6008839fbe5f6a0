# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``corten verify``: a model beside what it should compute, op by op."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import corten
from corten import _command

if TYPE_CHECKING:
    from argparse import Namespace

    import numpy as np
    import numpy.typing as npt

    from corten._types import EntryPoint, Value

    Arrays = dict[str, npt.NDArray[Any]]


def _parser() -> _command.Parser:
    parser = _command.Parser(
        "verify",
        "Compares what a model computes with a reference, op by op. Exit status 1 "
        "if they differ.",
        [
            "corten verify model.aimodel --reference model.pt2",
            "corten verify after.aimodel --reference before.aimodel --tolerance 0.05",
            "corten verify model.pt2 --junit report.xml",
        ],
    )
    add = parser.add_argument
    add("model", metavar="MODEL", help="an asset, or NAME.pt2, which is converted")
    add(
        "--reference",
        metavar="PATH",
        help="NAME.pt2, which torch runs; another asset; or NAME.npz with what outputs "
        "and nodes should be (default: the NAME.pt2 that was converted)",
    )
    add(
        "--input",
        action="append",
        default=[],
        metavar="[NAME=]FILE",
        help="NAME=x.npy, or x.npz with all of them; others are what the reference "
        "was exported with, or random; states begin as zeros",
    )
    add(
        "--shape",
        action="append",
        default=[],
        metavar="NAME=N,N",
        help="of a random input whose shape is not fixed",
    )
    add("--seed", type=int, default=0, metavar="N", help="of random inputs")
    add(
        "--tolerance",
        type=float,
        metavar="X",
        help="how far an element may be off, relative to the largest (default: by "
        "type, 1e-4 for f32)",
    )
    add("--function", default="main", metavar="NAME", help="which one (default: main)")
    add(
        "--backend",
        choices=["engine", "interpreter"],
        default="engine",
        help="where the model runs (default: engine)",
    )
    add(
        "--precision",
        choices=["bf16", "int8"],
        help="what the model's products are computed in, on the engine",
    )
    add(
        "--scripts",
        default=".",
        metavar="FOLDER",
        help="where a script goes that shows a difference alone (default: here)",
    )
    add("--json", action="store_true", help="print JSON instead of a table")
    add("--junit", metavar="FILE", help="write a report in JUnit's form")
    return parser


def _pairs(values: Sequence[str], option: str) -> dict[str, str]:
    pairs = {}
    for value in values:
        name, equals, rest = value.partition("=")
        if not (name and equals and rest):
            raise _command.CommandError(f"{option} {value}: want NAME=...")
        pairs[name] = rest
    return pairs


def _read(path: str) -> Any:
    import numpy as np

    try:
        return np.load(path, allow_pickle=False)
    except OSError as error:
        raise _command.CommandError(f"{path}: {error.strerror or error}") from None
    except (ValueError, EOFError) as error:
        raise _command.CommandError(f"{path}: {error}") from None


def _given(options: Namespace) -> Arrays:
    """The inputs that files say."""
    found: Arrays = {}
    for text in options.input:
        name, equals, path = text.rpartition("=")
        loaded = _read(path)
        if not equals:
            if isinstance(loaded, Mapping):
                found.update(loaded)
                continue
            raise _command.CommandError(f"--input {text}: want NAME={text}")
        if isinstance(loaded, Mapping):
            if name not in loaded:
                raise _command.CommandError(f"{path} has no {name!r}")
            loaded = loaded[name]
        found[name] = loaded
    return found


def _random(
    value: Value, shape: str | None, random: np.random.Generator
) -> npt.NDArray[Any]:
    import numpy as np

    if shape is not None:
        try:
            extents = [int(extent) for extent in shape.split(",") if extent]
        except ValueError:
            raise _command.CommandError(
                f"--shape {value['name']}={shape}: want numbers"
            ) from None
    else:
        # An axis of one would hide what goes wrong along it.
        extents = [
            axis
            if isinstance(axis, int)
            else min(max(axis["min"] or 1, 2), axis["max"] or 2)
            for axis in value["shape"]
        ]
    # Whoever takes it makes it the type that is wanted.
    if value["dtype"].startswith(("f", "bf")):
        return random.standard_normal(extents, np.float32)
    return random.integers(0, 2, extents)


def _entry_point(model: corten.Model, name: str) -> EntryPoint:
    names = []
    for entry in model.info()["entry_points"]:
        names.append(entry["name"])
        if entry["name"] == name:
            return entry
    raise _command.CommandError(f"there is no function {name!r}: there are {names}")


def _inputs(options: Namespace, path: str) -> Arrays:
    """All that a function takes: what is given, random inputs, states of zeros."""
    import numpy as np

    entry = _entry_point(corten.open(path), options.function)
    found = _given(options)
    shapes = _pairs(options.shape, "--shape")
    names = [value["name"] for value in (*entry["inputs"], *entry["states"])]
    for name in (*found, *shapes):
        if name not in names:
            raise _command.CommandError(f"there is no input {name!r}: it has {names}")
    random = np.random.default_rng(options.seed)
    for value in entry["inputs"]:
        name = value["name"]
        made = _random(value, shapes.get(name), random)
        found.setdefault(name, made)
    for value in entry["states"]:
        made = _random(value, shapes.get(value["name"]), random)
        found.setdefault(value["name"], np.zeros_like(made))
    return found


def _exported(path: str) -> Any:
    import torch

    if not Path(path).is_file():
        raise _command.CommandError(f"{path}: there is no such file")
    try:
        return torch.export.load(path)
    except Exception as error:
        # It is a program's, and there are many ways in which it can be none.
        raise _command.CommandError(f"{path}: {error}") from None


def _beside_torch(options: Namespace, reference: str) -> Any:
    """The model beside the exported program that it was made of."""
    import coreai_torch

    exported = _exported(reference)
    program = None if options.model == reference else options.model
    inputs: Any = None
    if not options.input and not options.shape and exported.example_inputs:
        inputs = _examples(exported)
    if inputs is None:
        if program is None:
            raise _command.CommandError(
                f"{reference} says no inputs that --input could be left out for: "
                "convert it, and give the asset as MODEL"
            )
        inputs = _for_torch(options, exported)
    return coreai_torch.verify(
        exported,
        program,
        inputs,
        rtol=options.tolerance,
        entry_point=options.function,
        folder=options.scripts,
        quiet=True,
        backend=options.backend,
        precision=options.precision,
    )


def _examples(exported: Any) -> Any:
    """What a program was exported with: in order, or by name if it has keywords."""
    from torch.utils._pytree import tree_leaves

    from coreai_torch.debugging._torch_run import user_inputs

    args, kwargs = exported.example_inputs
    if not kwargs:
        return args
    # The program has them in the order of its signature.
    names = exported.call_spec.in_spec.child(1).context
    values = tree_leaves((args, [kwargs[name] for name in names]))
    return dict(zip(user_inputs(exported), values, strict=True))


def _for_torch(options: Namespace, exported: Any) -> dict[str, Any]:
    """Inputs in the types that the exported program has; states it knows itself."""
    from coreai_torch.debugging._torch_run import user_inputs

    entry = _entry_point(corten.open(options.model), options.function)
    names = [value["name"] for value in entry["inputs"]]
    nodes = {node.name: node for node in exported.graph.nodes}
    places = [nodes[name].meta.get("val") for name in user_inputs(exported)]
    types = {
        name: getattr(place, "dtype", None)
        for name, place in zip(names, places, strict=False)
    }
    given = _given(options)
    found = {}
    for name, array in _inputs(options, options.model).items():
        if name in names or name in given:
            tensor = _tensor(array)
            kind = types.get(name)
            found[name] = tensor if kind is None else tensor.to(kind)
    return found


def _tensor(array: Any) -> Any:
    """As torch has it, or as it is if torch has no such type."""
    import torch

    try:
        return torch.from_numpy(array)
    except TypeError:
        return array


def _beside_values(options: Namespace) -> Any:
    """The model beside another asset, or the arrays of a file."""
    from coreai_torch.debugging._judging import Tolerance
    from coreai_torch.debugging._two_programs import Values, compare_values
    from coreai_torch.verify import Verification, _open

    reference: str = options.reference
    if options.model.endswith(".pt2"):
        raise _command.CommandError(
            f"{options.model} is converted with NAME.pt2 as its reference only: "
            "convert it, and give the asset"
        )
    inputs = _inputs(options, options.model)
    values = Values(
        _open(options.model),
        options.function,
        inputs,
        options.backend,
        options.precision,
    )
    if reference.endswith(".npz"):
        arrays = {name: _tensor(array) for name, array in _read(reference).items()}
        outputs = {name: arrays.pop(name) for name in values.outputs if name in arrays}
        places = {(name, 0): array for name, array in arrays.items()}
        unknown = [name for name, _ in places if (name, 0) not in values.by_place]
        if unknown:
            raise _command.CommandError(
                f"{reference}: the model has no output and no node {unknown[0]!r}; "
                f"outputs are {list(values.outputs)}"
            )
    else:
        other = Values(_open(reference), options.function, inputs, options.backend)
        outputs = {name: _tensor(array) for name, array in other.outputs.items()}
        places = {place: _tensor(array) for place, array in other.by_place.items()}
    compared = compare_values(
        values, places, outputs, Tolerance(options.tolerance, None)
    )
    return Verification(compared, [], backend=options.backend)


def _verify(options: Namespace) -> Any:
    reference = options.reference
    if reference is None:
        if not options.model.endswith(".pt2"):
            raise _command.CommandError("--reference says what to compare with")
        reference = options.model
    kinds = (".pt2", ".npz", ".aimodel")
    if not reference.rstrip("/").endswith(kinds):
        raise _command.CommandError(f"--reference {reference}: want {', '.join(kinds)}")
    if reference.endswith(".pt2"):
        return _beside_torch(options, reference)
    return _beside_values(options)


def main(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    if options.tolerance is not None and not options.tolerance >= 0:
        raise _command.CommandError(f"--tolerance cannot be {options.tolerance}")
    # What torch's own packages warn each other of.
    warnings.filterwarnings("ignore", category=FutureWarning)
    try:
        result = _verify(options)
    except ImportError as error:
        raise _command.CommandError(
            f"{error.name or error} is not installed; pip install 'corten[torch]' "
            "brings it. `corten run --compare` compares outputs without it"
        ) from None
    if options.junit is not None:
        result.write_junit(options.junit, Path(options.model).name)
    if options.json:
        print(json.dumps(result.to_dict(), indent=2))
    else:
        result.write()
        first = result.first_divergence
        if first is not None:
            where = f" at {first.place}" if first.place else ""
            print(
                f"first difference: {first.name} ({first.operator}){where}, "
                f"PSNR {first.psnr:.1f} dB, largest error {first.largest_error:.3g}"
            )
    return _command.Exit.SUCCESS if result.passed else _command.Exit.FINDINGS


if __name__ == "__main__":
    _command.run(main)
