# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Converting with external modules, and looking at the graphs that they became."""

from __future__ import annotations

import copy
import os
import re
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

import coreai_torch
from support.cases import compare, flatten
from support.runtime import run_calls

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coreai.authoring import AIProgram

_GRAPH = re.compile(
    r"coreai\.graph (?P<private>private )?(?P<noinline>noinline )?"
    r'@(?P<symbol>"[^"]+"|[\w.$]+)\((?P<inputs>.*?)\) -> (?P<results>.*)'
)
_NAME = re.compile(r'coreai\.name = "([^"]*)"')
_DECLARATION = re.compile(r'composite_declaration<"(.*?)" = (\{.*\})>')
_INVOKE = re.compile(r'coreai\.invoke @("[^"]+"|[\w.$]+)\(([^)]*)\)')


@dataclass
class Graph:
    """One graph of a program's text."""

    symbol: str
    private: bool
    noinline: bool
    inputs: list[str]
    results: list[str]
    composite: str | None = None
    declaration: str = ""
    template: bool = False
    body: list[str] = field(default_factory=list)

    @property
    def path(self) -> str:
        """The symbol without its suffix."""
        return re.sub(r"_[0-9a-f]{8}$", "", self.symbol)

    @property
    def invoked(self) -> list[str]:
        found = (_INVOKE.search(line) for line in self.body)
        return [_unescaped(match[1]) for match in found if match]


def _unescaped(symbol: str) -> str:
    """A symbol as it was before it was printed."""
    plain = re.sub(
        rb"\\([0-9A-F]{2})",
        lambda found: bytes.fromhex(found[1].decode()),
        symbol.strip('"').encode(),
    )
    return plain.decode()


def graphs(program: AIProgram) -> list[Graph]:
    """The graphs of a program, in order."""
    result: list[Graph] = []
    for line in str(program).splitlines():
        if found := _GRAPH.search(line):
            declared = _DECLARATION.search(line)
            head = found["results"].split(" attributes ")[0]
            result.append(
                Graph(
                    _unescaped(found["symbol"]),
                    bool(found["private"]),
                    bool(found["noinline"]),
                    _NAME.findall(found["inputs"]),
                    _NAME.findall(head),
                    declared[1] if declared else None,
                    declared[2] if declared else "",
                    "template_op" in line,
                )
            )
        elif result:
            result[-1].body.append(line)
    return result


def external(program: AIProgram) -> list[Graph]:
    """The graphs of external modules."""
    return [g for g in graphs(program) if g.noinline and not g.template]


#: The programs go to the converter as torch.export returns them.
UNDECOMPOSED = bool(os.environ.get("CORTEN_UNDECOMPOSED"))


def _export(
    module: torch.nn.Module,
    args: tuple[Any, ...],
    dynamic: Any = None,
    strict: bool = False,
    decompose: bool = False,
) -> torch.export.ExportedProgram:
    exported = torch.export.export(module, args, dynamic_shapes=dynamic, strict=strict)
    if decompose:
        return exported
    return exported.run_decompositions(coreai_torch.get_decomp_table())


def staged(
    model: torch.nn.Module,
    args: tuple[Any, ...],
    targets: Sequence[Any],
    **names: Any,
) -> coreai_torch.TorchConverter:
    """A converter with ``model``, exported with our decompositions."""
    return coreai_torch.TorchConverter(verbose=False).add_pytorch_module(
        model, lambda module: _export(module, args), list(targets), **names
    )


def _convert(
    model: torch.nn.Module,
    args: tuple[Any, ...],
    targets: Sequence[Any],
    options: Mapping[str, Any],
    **names: Any,
) -> AIProgram:
    options = {"decompose": UNDECOMPOSED, **options}
    converter = coreai_torch.TorchConverter(verbose=False).add_pytorch_module(
        model,
        lambda module: _export(module, args, **options),
        targets,
        decompose=options["decompose"],
        **names,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return converter.to_coreai()


def check(
    model: torch.nn.Module,
    args: tuple[torch.Tensor, ...],
    targets: Sequence[Any],
    *,
    more: Sequence[tuple[torch.Tensor, ...]] = (),
    tolerance: Mapping[str, float] | None = None,
    **options: Any,
) -> AIProgram:
    """Convert, run before and after ``optimize()`` and compare with eager.

    States go from call to call, as the model's buffers do.
    """
    model = model.eval()
    before = copy.deepcopy(model.state_dict())
    eager = copy.deepcopy(model)
    given = [args, *more]
    with torch.no_grad():
        expected = [flatten(eager(*map(_copy, a))) for a in given]
    inputs = [f"in{i}" for i in range(len(args))]
    outputs = [f"out{i}" for i in range(len(expected[0]))]
    program = _convert(
        model, args, targets, options, input_names=inputs, output_names=outputs
    )
    entry = graphs(program)[-1]
    # Buffers start as the model's, not as the eager run left them.
    states = {
        name: buffer
        for name, buffer in _buffers(model, before).items()
        if name in entry.inputs
    }
    # The interpreter knows states only in programs that have been optimized.
    for stage in ("optimized",) if states else ("converted", "optimized"):
        if stage == "optimized":
            program.optimize()
        calls = [dict(zip(inputs, a, strict=True)) for a in given]
        results, final = run_calls(program, calls, state=states)
        for result, wanted in zip(results, expected, strict=True):
            for name, value in zip(outputs, wanted, strict=True):
                compare(result[name], value, **(tolerance or {}))
        after = _buffers(eager, eager.state_dict())
        for name, value in final.items():
            compare(value, after[name], **(tolerance or {}))
    assert not [m for m in model.modules() if "forward" in m.__dict__]
    return program


def _copy(value: Any) -> Any:
    return value.clone() if isinstance(value, torch.Tensor) else value


def _buffers(
    model: torch.nn.Module, values: Mapping[str, torch.Tensor]
) -> dict[str, torch.Tensor]:
    """Buffers under the names that an exported program gives them."""
    return {
        "b_" + name.replace(".", "_"): values.get(name, buffer)
        for name, buffer in model.named_buffers()
    }
