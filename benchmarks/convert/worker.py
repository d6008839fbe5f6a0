# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Converts one model, again and again, with the coreai_torch it can import.

Both contenders run this same file; only the interpreter differs.
"""

from __future__ import annotations

import time
from typing import Any

import torch

import coreai_torch
from benchmarks import zoo
from benchmarks.ops import op_counts
from benchmarks.worker import packages, serve, settle, with_peak

THREADS = 1


class Converting:
    """The handlers; holds the program between requests, before and after."""

    exported: torch.export.ExportedProgram
    program: torch.export.ExportedProgram

    def describe(self) -> dict[str, Any]:
        return {**packages("transformers"), "file": coreai_torch.__file__}

    def load(self, model: str, quick: bool) -> dict[str, Any]:
        """Builds, exports and decomposes `model`: outside every measurement."""
        built = zoo.build(model, quick)
        start = time.perf_counter()
        exported = torch.export.export(built.module, (), kwargs=built.inputs)
        middle = time.perf_counter()
        table = coreai_torch.get_decomp_table()
        self.exported = exported
        self.program = exported.run_decompositions(table)
        end = time.perf_counter()
        return {
            "export_s": middle - start,
            "decompose_s": end - middle,
            "fx_nodes": len(self.program.graph.nodes),
            "weight_bytes": _weight_bytes(self.program),
            "shape": {k: list(v.shape) for k, v in built.inputs.items()},
            "dtype": str(next(built.module.parameters()).dtype),
            "threads": torch.get_num_threads(),
        }

    def inspect(self) -> dict[str, Any]:
        """The first conversion of this process: memory and op counts."""
        (program, times), peak = with_peak(lambda: _convert(self.program))
        before = op_counts(program).total()
        start = time.perf_counter()
        program.optimize()
        optimize = time.perf_counter() - start
        return {
            "first_s": times["seconds"],
            "peak_rss": peak.highest,
            "peak_rss_growth": peak.growth,
            "peak_rss_method": peak.method,
            "ops_before": before,
            "ops_after": op_counts(program).total(),
            "optimize_s": optimize,
        }

    def convert(self) -> dict[str, Any]:
        """One measured conversion; dropping its result is not part of it."""
        settle()
        return _convert(self.program)[1]

    def convert_exported(self) -> dict[str, Any]:
        """One measured conversion of the program as it was exported."""
        settle()
        return _convert(self.exported, decompose=True)[1]

    def decompose_and_convert(self) -> dict[str, Any]:
        """The same by way of torch's decompositions."""
        settle()
        start = time.perf_counter()
        program = self.exported.run_decompositions(coreai_torch.get_decomp_table())
        decomposed = time.perf_counter() - start
        times = _convert(program)[1]
        seconds = {"decompose_s": decomposed, "seconds": decomposed + times["seconds"]}
        return times | seconds


def _convert(
    program: torch.export.ExportedProgram, **options: Any
) -> tuple[Any, dict[str, float]]:
    """Converts with a fresh converter: the result, and what it took."""
    cpu = time.process_time()
    start = time.perf_counter()
    converter = coreai_torch.TorchConverter()
    converter.add_exported_program(program, **options)
    added = time.perf_counter()
    result = converter.to_coreai()
    end = time.perf_counter()
    times = {
        "seconds": end - start,
        "add_s": added - start,
        "to_coreai_s": end - added,
        # More than `seconds` where a contender uses several cores.
        "cpu_s": time.process_time() - cpu,
    }
    return result, times


def _weight_bytes(program: torch.export.ExportedProgram) -> int:
    """Bytes of weights; tensors that share storage (tied ones) count once."""
    tensors = [*program.state_dict.values(), *program.constants.values()]
    storages = {
        tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes()
        for tensor in tensors
        if isinstance(tensor, torch.Tensor)
    }
    return sum(storages.values())


def main() -> None:
    torch.set_num_threads(THREADS)
    converting = Converting()
    serve(
        {
            "describe": converting.describe,
            "load": converting.load,
            "inspect": converting.inspect,
            "convert": converting.convert,
            "convert_exported": converting.convert_exported,
            "decompose_and_convert": converting.decompose_and_convert,
        }
    )


if __name__ == "__main__":
    main()
