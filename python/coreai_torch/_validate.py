# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The check of a program when it is added: every op must have a lowering."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coreai_torch import _native

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch.export import ExportedProgram

#: (file, line, function, module path, module class, dtype, shape)
_Use = tuple[str, int, str, str, str, str, "list[Any] | None"]
#: (printed name, namespace, whether it works in place, uses)
_Offender = tuple[str, str, bool, list[_Use]]

#: Uses of one op that are listed before the rest is only counted.
_SHOWN_USES = 4


def _describe(use: _Use) -> str:
    file, line, function, path, module_class, dtype, shape = use
    parts = [f"{file}:{line}" if line else "(no source line)"]
    if function:
        where = f"{module_class}." if module_class else ""
        parts.append(f"in {where}{function}")
    if path:
        parts.append(path)
    if shape is not None:
        parts.append(f"{dtype}[{', '.join(map(str, shape))}]")
    return "      " + "  ".join(parts)


def _details(offenders: list[_Offender]) -> list[str]:
    lines = []
    for name, _, _, uses in sorted(offenders, key=lambda offender: -len(offender[3])):
        count = len(uses)
        lines.append(f"  {name}  {count} use{'s' if count != 1 else ''}")
        lines += [_describe(use) for use in uses[:_SHOWN_USES]]
        if count > _SHOWN_USES:
            lines.append(f"      ({count - _SHOWN_USES} more)")
    return lines


def _message(entrypoint_name: str, what: str, offenders: list[_Offender]) -> str:
    names = ", ".join(sorted(offender[0] for offender in offenders))
    return "\n".join(
        [
            f"{entrypoint_name}: {len(offenders)} {what}: {names}",
            *_details(offenders),
        ]
    )


def _decomposable(offenders: list[_Offender]) -> list[_Offender]:
    """Those that run_decompositions() replaces: in-place ops among them."""
    import torch

    table = {str(key) for key in torch.export.default_decompositions()}
    return [o for o in offenders if o[2] or o[0] in table]


def check_supported(program: _native.Program, entrypoint_name: str) -> None:
    """Raise ``ValueError`` that lists every op without a lowering at once."""
    offenders: list[_Offender] = _native.unsupported(program)
    if not offenders:
        return

    decomposable = _decomposable(offenders)
    if decomposable:
        raise ValueError(
            _message(entrypoint_name, "non-decomposed ops", decomposable)
            + "\nFix: call run_decompositions() before adding the program: "
            "ep = ep.run_decompositions(coreai_torch.get_decomp_table())"
        )
    raise ValueError(
        _message(entrypoint_name, "unsupported ATen ops", offenders)
        + "\nFix: add a lowering with register_torch_lowering()."
    )


def validate_exported_program(
    ep: ExportedProgram, user_lowerings: Mapping[str, Any] | None = None
) -> None:
    """Check ``ep`` as :meth:`TorchConverter.add_exported_program` does."""
    from coreai_torch._walk import read_exported_program

    check_supported(read_exported_program(ep)[0], "main")
