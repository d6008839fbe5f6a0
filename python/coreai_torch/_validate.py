# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The checks of programs: every op must have a lowering.

Those of ATen are checked when a program is added, all others when it is converted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coreai_torch.kernels._kernel import NAMESPACE as KERNEL_NAMESPACE
from corten import _native

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import torch
    from torch.export import ExportedProgram

#: (file, line, function, module path, module class, dtype, shape, in a branch)
_Use = tuple[str, int, str, str, str, str, "list[Any] | None", bool]
#: (printed name, namespace, whether it works in place, uses)
_Offender = tuple[str, str, bool, list[_Use]]

#: Uses of one op that are listed before the rest is only counted.
_SHOWN_USES = 4


def _describe(use: _Use) -> str:
    file, line, function, path, module_class, dtype, shape, is_nested = use
    parts = [f"{file}:{line}" if line else "(no source line)"]
    if is_nested:
        parts.append("inside a branch or loop")
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


def _is_due(offender: _Offender) -> bool:
    """Whether it is refused when added, as in the official package.

    Lowerings of ops of all other namespaces may be registered until the
    conversion. There are none for ops that write.
    """
    return offender[2] or offender[1] == "aten"


def _has_lowering(offender: _Offender, lowerings: Collection[str]) -> bool:
    """True if the user registered a lowering; ``.default`` may be left out."""
    printed, namespace, mutates, _ = offender
    if mutates:
        return False
    name = printed.removeprefix(f"{namespace}.")
    # Python operators print without a namespace in existing registrations.
    prefix = "None" if namespace == "_operator" else namespace
    return (
        f"{prefix}::{name}" in lowerings
        or f"{prefix}::{name.removesuffix('.default')}" in lowerings
    )


def _offenders(
    program: _native.Program, lowerings: Collection[str], is_due: bool
) -> list[_Offender]:
    return [
        offender
        for offender in _native.unsupported(program)
        if _is_due(offender) == is_due and not _has_lowering(offender, lowerings)
    ]


def check_supported(
    program: _native.Program, entrypoint_name: str, lowerings: Collection[str] = ()
) -> None:
    """Raise ``ValueError`` that lists every op of ATen without a lowering at once.

    Args:
        program: The program.
        entrypoint_name: For the message.
        lowerings: Qualified names that the user has registered.
    """
    offenders = _offenders(program, lowerings, is_due=True)
    if not offenders:
        return

    decomposable = _decomposable(offenders)
    if decomposable:
        fix = (
            "\nFix: call run_decompositions() before adding the program: "
            "ep = ep.run_decompositions(coreai_torch.get_decomp_table())"
        )
        if any(o[2] and any(use[-1] for use in o[3]) for o in decomposable):
            fix += (
                "\nA write inside cond or while_loop that is still there then cannot "
                "be decomposed: return the new value, and copy_() it to its place "
                "after the call."
            )
        raise ValueError(
            _message(entrypoint_name, "non-decomposed ops", decomposable) + fix
        )
    raise ValueError(
        _message(entrypoint_name, "unsupported ATen ops", offenders)
        + "\nFix: add a lowering with register_torch_lowering()."
    )


def _remedies(offenders: list[_Offender]) -> list[str]:
    """What to do about ops that are not ATen's, a line each."""
    kernels = [o for o in offenders if o[1] == KERNEL_NAMESPACE]
    remedies = []
    if kernels:
        names = ", ".join(o[0].split(".")[1] for o in kernels)
        remedies.append(
            "Fix: register the Metal kernels with "
            f"register_custom_kernels([...]): {names}."
        )
    if len(kernels) < len(offenders):
        remedies.append("Fix: add a lowering with register_torch_lowering().")
    return remedies


def check_other_ops(
    program: _native.Program, entrypoint_name: str, lowerings: Collection[str] = ()
) -> None:
    """Raise ``ValueError`` for ops of other namespaces without a lowering."""
    offenders = _offenders(program, lowerings, is_due=False)
    if not offenders:
        return
    targets = "; ".join(
        f"target: {name.removeprefix(f'{namespace}.')}, namespace: {namespace}"
        for name, namespace, _, _ in offenders
    )
    raise ValueError(
        "\n".join(
            [
                f"{entrypoint_name}: unable to handle call function op: {targets}",
                *_details(offenders),
                *_remedies(offenders),
            ]
        )
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
