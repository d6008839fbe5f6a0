# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``corten verify``: a model beside what it should compute, op by op."""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corten import _above, _command
from corten._progress import Progress
from corten._verify_outputs import compare_outputs
from corten._verify_request import Request, read_arrays

if TYPE_CHECKING:
    from corten._verification import Outcome


def _parser() -> _command.Parser:
    parser = _command.Parser(
        "verify",
        "Compares what a model computes with a reference, op by op. Exit status 1 "
        "if they differ.",
        [
            "corten verify model.aimodel --reference model.pt2",
            "corten verify after.aimodel --reference before.aimodel --tolerance 0.05",
            "corten verify model.pt2 --junit report.xml",
            "corten verify model.pt2 --reference outputs.npz",
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
        "--weights",
        metavar="FOLDER",
        help="of .safetensors files, which NAME.pt2 takes its weights from, by name",
    )
    add(
        "--tied",
        action="append",
        default=[],
        metavar="NAME=OTHER",
        help="a weight that the folder has under another name only",
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
    _command.add_entrypoint(parser, "which one (default: main)", default="main")
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
    # Python itself ends with 1: whoever runs this in a process of its own has to
    # know that it was not that.
    add(
        "--status-if-different",
        type=int,
        default=int(_command.Exit.FINDINGS),
        help=argparse.SUPPRESS,
    )
    return parser


def _request(options: argparse.Namespace) -> Request:
    reference = options.reference
    if reference is None:
        if not options.model.endswith(".pt2"):
            raise _command.CommandError("--reference says what to compare with")
        reference = options.model
    kinds = (".pt2", ".npz", ".aimodel")
    if not reference.rstrip("/").endswith(kinds):
        raise _command.CommandError(f"--reference {reference}: want {', '.join(kinds)}")
    for path in (options.model, reference):
        if path.endswith(".pt2") and not Path(path).is_file():
            raise _command.CommandError(f"{path}: there is no such file")
    if options.weights is not None and not any(
        path.endswith(".pt2") for path in (options.model, reference)
    ):
        raise _command.CommandError("--weights is for NAME.pt2")
    return Request.of(options, reference)


def _outputs_alone(request: Request) -> dict[str, Any] | None:
    """What a reference says, if that is outputs and no more, for the engine."""
    if request.backend != "engine" or not request.reference.endswith(".npz"):
        return None
    entry = request.entry_point
    names = {value["name"] for value in (*entry["outputs"], *entry["states"])}
    arrays = dict(read_arrays(request.reference))
    return arrays if names.issuperset(arrays) else None


def _compare(request: Request, progress: Progress) -> Outcome:
    """Op by op, unless nothing is known but outputs."""
    found: Outcome
    outputs = _outputs_alone(request)
    if outputs is not None and not request.is_archive:
        progress.show("running the program")
        return compare_outputs(request, outputs)
    progress.show("loading torch")
    try:
        with_torch = _above.part("debugging._verify_command")
    except ImportError as error:
        missing = _command.missing("torch", error)
        if outputs is None:
            raise missing from None
        progress.show("running the program")
        found = compare_outputs(request, outputs)
        print(f"corten: only outputs are compared: {missing}", file=sys.stderr)
        return found
    found = with_torch.compare(request, progress)
    return found


def main(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    if options.tolerance is not None and not options.tolerance >= 0:
        raise _command.CommandError(f"--tolerance cannot be {options.tolerance}")
    # What torch's own packages warn each other of.
    warnings.filterwarnings("ignore", category=FutureWarning)
    request = _request(options)
    with Progress() as progress:
        result = _compare(request, progress)
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
    return int(_command.Exit.SUCCESS if result.passed else options.status_if_different)


if __name__ == "__main__":
    _command.run(main)
