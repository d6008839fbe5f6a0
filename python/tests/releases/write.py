# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``python write.py FOLDER``, in the environment of a release: writes assets.

Each subject becomes NAME.aimodel, with and without ``optimize()``, and NAME.pt,
which has the calls and what PyTorch says to them.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import torch
from models import SUBJECTS, Subject

import coreai_torch

assert "site-packages" in coreai_torch.__file__, "this is not the official package"


def _export(subject: Subject, model: torch.nn.Module) -> torch.export.ExportedProgram:
    first, *others = subject.calls()[0]
    axes = {
        axis: torch.export.Dim(f"n{axis}", min=2, max=64) for axis in subject.dynamic
    }
    exported = torch.export.export(
        model, (first, *others), dynamic_shapes=(axes or None, *[None] * len(others))
    )
    return exported.run_decompositions(coreai_torch.get_decomp_table())


def _write(name: str, subject: Subject, folder: Path) -> None:
    torch.manual_seed(len(name))
    model = subject.make().eval()
    exported = _export(subject, model)
    for suffix in ("", "-optimized"):
        converter = coreai_torch.TorchConverter()
        converter.add_exported_program(exported)
        program = converter.to_coreai()
        if suffix:
            if not hasattr(program, "optimize"):
                continue
            program.optimize()
        program.save_asset(folder / f"{name}{suffix}.aimodel")
    calls = subject.calls()
    with torch.no_grad():
        results = [model(*call) for call in calls]
    torch.save(
        [
            (list(call), [y] if isinstance(y, torch.Tensor) else list(y))
            for call, y in zip(calls, results, strict=True)
        ],
        folder / f"{name}.pt",
    )


def main(folder: Path) -> None:
    warnings.simplefilter("ignore")
    folder.mkdir(parents=True, exist_ok=True)
    failed = []
    for name, subject in SUBJECTS.items():
        try:
            _write(name, subject, folder)
        except Exception as error:
            # What a release cannot convert is for the reader of the table.
            failed.append(f"{name}\t{type(error).__name__}: {error}".splitlines()[0])
    (folder / "failed.tsv").write_text("".join(f"{line}\n" for line in failed))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
