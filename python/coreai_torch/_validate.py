# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The checks of programs: every op must have a lowering.

Those of ATen are checked when a program is added, all others when it is converted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from corten import _native

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import torch
    from torch.export import ExportedProgram


def check_supported(
    program: _native.Program, entrypoint_name: str, lowerings: Collection[str] = ()
) -> None:
    """Raise ``ValueError`` that lists every op of ATen without a lowering at once.

    Args:
        program: The program.
        entrypoint_name: For the message.
        lowerings: Qualified names that the user has registered.
    """
    _native.check_supported(
        program, entrypoint_name, _native.Refusal.ADDED, list(lowerings)
    )


def check_other_ops(
    program: _native.Program, entrypoint_name: str, lowerings: Collection[str] = ()
) -> None:
    """Raise ``ValueError`` for ops of other namespaces without a lowering."""
    _native.check_supported(
        program, entrypoint_name, _native.Refusal.CONVERTED, list(lowerings)
    )


def _is_same(exported: torch.Tensor, own: torch.Tensor) -> bool:
    """One tensor, or a copy of it in whatever type."""
    import torch

    if exported is own:
        return True
    if exported.shape != own.shape:
        return False
    if exported.is_meta or own.is_meta:
        return True
    if exported.data_ptr() == own.data_ptr() != 0:
        return True
    return torch.equal(exported.cpu(), own.cpu().to(exported.dtype))


def check_parameters(program: ExportedProgram, module: torch.nn.Module) -> None:
    """Raise ``ValueError`` if ``program`` was not exported from ``module``."""
    from torch.export.graph_signature import InputKind

    own = dict(module.named_parameters(remove_duplicate=False))
    for spec in program.graph_signature.input_specs:
        if spec.kind is not InputKind.PARAMETER or spec.target is None:
            continue
        name = spec.target
        if name in own and _is_same(program.state_dict[name], own[name]):
            continue
        what = "is not the one of" if name in own else "does not exist in"
        msg = (
            "export_fn returned a program on other parameters: "
            f"'{name}' {what} the {type(module).__name__} that was added.\n"
            "Fix: export the module that export_fn is called with."
        )
        raise ValueError(msg)


def validate_exported_program(
    ep: ExportedProgram, user_lowerings: Mapping[str, Any] | None = None
) -> None:
    """Check ``ep`` as :meth:`TorchConverter.add_exported_program` does."""
    from coreai_torch._walk import read_exported_program

    check_supported(read_exported_program(ep)[0], "main", user_lowerings or {})
