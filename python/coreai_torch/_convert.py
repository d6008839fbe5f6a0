# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``convert()``: from a module to a program, or an asset, in one call."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

import corten
from coreai_torch.converter import TorchConverter
from corten import _native
from corten._text import path_text

if TYPE_CHECKING:
    from coreai.authoring import AIProgram
    from torch.export import ExportedProgram

    from corten._text import Names

_LOGGER = logging.getLogger("coreai_torch")


@contextmanager
def _evaluating(model: torch.nn.Module) -> Iterator[None]:
    """Puts ``model`` into the mode for inference, and every module back."""
    training = [module for module in model.modules() if module.training]
    model.eval()
    try:
        yield
    finally:
        for module in training:
            module.training = True


def _arguments(inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What ``forward`` is called with: by place, by name."""
    if isinstance(inputs, torch.Tensor):
        return (inputs,), {}
    if isinstance(inputs, Mapping):
        return (), dict(inputs)
    if isinstance(inputs, Sequence) and not isinstance(inputs, str):
        return tuple(inputs), {}
    msg = (
        "inputs must be a tensor, a sequence of what forward() takes by place or a "
        f"mapping of what it takes by name, got {type(inputs).__name__}"
    )
    raise TypeError(msg)


def _target(path: str | os.PathLike[str], force: bool) -> Path:
    """The place of the asset, checked before anything long begins."""
    target = Path(path)
    if target.suffix != ".aimodel":
        msg = f"path must end in .aimodel, got {str(target)!r}"
        raise ValueError(msg)
    if not target.absolute().parent.is_dir():
        msg = f"no folder {str(target.parent)!r} to write {target.name!r} to"
        raise FileNotFoundError(msg)
    try:
        _native.check_target(path_text(target), force)
    except RuntimeError as error:
        msg = f"{error}\nFix: choose another path, or pass force=True."
        raise FileExistsError(msg) from None
    return target


def convert(
    model: torch.nn.Module,
    inputs: torch.Tensor | Sequence[Any] | Mapping[str, Any],
    path: str | os.PathLike[str] | None = None,
    dynamic_shapes: Any = None,
    optimize: bool = True,
    *,
    kwargs: Mapping[str, Any] | None = None,
    input_names: Names | None = None,
    output_names: Names | None = None,
    state_names: Names | None = None,
    entrypoint_name: str = "main",
    externalize_modules: Sequence[Any] | None = None,
    weights: str | os.PathLike[str] | None = None,
    tied: Mapping[str, str] | None = None,
    force: bool = False,
    converter: TorchConverter | None = None,
) -> AIProgram:
    """Export ``model``, convert it and optimize it; save it if there is a path.

    Args:
        model: The module. It is exported as ``eval()`` makes it, and left in the
            mode that it was in.
        inputs: Examples of what ``forward()`` takes: a tensor, a sequence of what
            is given by place, or a mapping of what is given by name.
        path: ``NAME.aimodel``. An asset that is there is replaced; anything else
            only with ``force``.
        dynamic_shapes: As for ``torch.export.export``.
        optimize: Whether to call ``optimize()`` on the program.
        kwargs: What is given by name besides ``inputs``.
        input_names: As for :meth:`TorchConverter.add_pytorch_module`.
        output_names: As for :meth:`TorchConverter.add_pytorch_module`.
        state_names: As for :meth:`TorchConverter.add_pytorch_module`.
        entrypoint_name: As for :meth:`TorchConverter.add_pytorch_module`.
        externalize_modules: As for :meth:`TorchConverter.add_pytorch_module`.
        weights: As for :meth:`TorchConverter.add_pytorch_module`: a folder of
            safetensors that a model on the meta device gets its weights from.
        tied: As for :meth:`TorchConverter.add_pytorch_module`: what the folder has
            under another name only.
        force: Whether to replace what is at ``path`` even if it is no asset.
        converter: The converter to do it with: one that has lowerings or kernels,
            another mode, or whose ``report()`` is wanted. Only this program is
            converted, and it does not stay staged. The report also goes to the
            logger ``coreai_torch``.

    Returns:
        A ``coreai.authoring.AIProgram``.

    Raises:
        TypeError: If ``model`` is no module, or ``inputs`` of another kind.
        ValueError: If the path has another suffix, a name does not fit, or
            something in the model cannot be converted.
        FileNotFoundError: If there is no folder to write to.
        FileExistsError: If what is at the path is no asset. Both before anything
            is converted.
        RuntimeError: If ``torch.export`` fails.
    """
    if not isinstance(model, torch.nn.Module):
        msg = f"expected a torch.nn.Module, got {type(model).__name__}"
        if isinstance(model, torch.export.ExportedProgram):
            msg += (
                "\nFix: convert what is exported with TorchConverter()"
                ".add_exported_program(program, decompose=True).to_coreai()."
            )
        raise TypeError(msg)
    positional, named = _arguments(inputs)
    named.update(kwargs or {})
    target = None if path is None else _target(path, force)
    converter = converter or TorchConverter()

    def export(module: torch.nn.Module) -> ExportedProgram:
        return torch.export.export(
            module, positional, named, dynamic_shapes=dynamic_shapes
        )

    with _evaluating(model):
        converter.add_pytorch_module(
            model,
            export,
            externalize_modules,
            input_names,
            output_names,
            state_names,
            entrypoint_name,
            decompose=True,
            weights=weights,
            tied=tied,
        )
        try:
            program = converter.to_coreai(entrypoints=[entrypoint_name])
        finally:
            converter.clear(entrypoints=[entrypoint_name])
    if optimize:
        program.optimize()
    if target is not None:
        corten.save(program, target, force=force)
    _LOGGER.info("%s", converter.report())
    return program
