# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``TorchConverter``: stages exported programs and converts them."""

from __future__ import annotations

import enum
import os
import sys
import threading
import time
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from coreai.authoring import Context

from coreai_torch._debug_locations import _DebugInfoRecorder, verify_locations
from coreai_torch._decompose import read_program
from coreai_torch._handover import WeightCache, to_program
from coreai_torch._lowerings import Lowering, check_registration
from coreai_torch._origin import Origin, remember
from coreai_torch._progress import ProgressBar, announce, is_set
from coreai_torch._report import ConversionReport
from coreai_torch._user_calls import UserCalls
from coreai_torch._validate import (
    check_other_ops,
    check_parameters,
    check_supported,
)
from coreai_torch._version import __version__
from coreai_torch._warn import warn_user
from coreai_torch.externalize import (
    ExternalizedModule,
    class_names,
    export_externalized,
    export_lock,
    structure_of,
    warn_of_unmatched,
    warn_of_unused,
)
from coreai_torch.kernels import TorchMetalKernel
from coreai_torch.kernels._kernel import NAMESPACE as _KERNEL_NAMESPACE
from corten import _native
from corten._program import finish
from corten._text import (
    SourcePaths,
    path_text,
    source_paths_of,
    ties_of,
    utf8,
    value_names,
)

if TYPE_CHECKING:
    from coreai.authoring import AIProgram
    from torch.export import ExportedProgram

    from corten._text import Names

_UNSET: Any = object()


def _source_roots() -> list[str]:
    """The folders that Python finds code in, the current one among them."""
    folders = {os.path.abspath(entry) for entry in (*sys.path, "")}
    return [folder.rstrip("/") + "/" for folder in sorted(folders)]


@dataclass
class _Externalizing:
    """A module that is exported with marks around the calls of others."""

    module: torch.nn.Module
    export_fn: Callable[[torch.nn.Module], ExportedProgram]
    targets: list[Any]
    #: The programs that ``export_fn`` returns are not decomposed.
    decompose: bool
    #: The module as it was when it was exported last.
    structure: Hashable = None

    def export(self) -> tuple[ExportedProgram, list[ExternalizedModule]]:
        """Export the module as it is now."""
        structure = structure_of(self.module)
        exported, modules = export_externalized(
            self.module, self.export_fn, self.targets
        )
        self.structure = structure
        return exported, modules

    def has_changed(self) -> bool:
        """Whether there is no export yet, or it may be out of date."""
        return self.structure != structure_of(self.module)

    def try_export(self) -> tuple[ExportedProgram, list[ExternalizedModule]] | None:
        """Export, unless something is wrong with the module or the targets.

        That is for the conversion to tell.
        """
        try:
            exported, modules = self.export()
            for module in modules:
                module.native()
        except Exception:
            self.structure = None
            return None
        return exported, modules


@dataclass
class _Staged:
    """A program waiting for conversion."""

    entrypoint_name: str
    origin: Origin
    program: _native.Program
    #: The program holds copies of weights: read it again when converting.
    is_snapshot: bool
    kind: str
    #: What it took to read the program.
    read_seconds: float = 0
    input_names: list[str] | dict[str, str] = field(default_factory=list)
    output_names: list[str] | dict[str, str] = field(default_factory=list)
    state_names: list[str] | dict[str, str] = field(default_factory=list)
    #: What the program has marks of.
    externalized: Sequence[ExternalizedModule] = ()
    externalizing: _Externalizing | None = None
    #: The exported program was not decomposed.
    decompose: bool = False
    lowerings: Collection[str] = ()
    #: Where its parameters and buffers are, if not in the program.
    folder: _native.SafetensorsFolder | None = None
    #: The same, as a path.
    weights: str = ""

    @property
    def exported_program(self) -> ExportedProgram:
        """The program that was read: as it was staged, or decomposed."""
        return self.origin.exported

    def _read_again(self) -> None:
        decompose = self.decompose
        exported = self.exported_program
        if self.externalizing and self.externalizing.has_changed():
            exported, self.externalized = self.externalizing.export()
            decompose = self.externalizing.decompose
        self.program, self.is_snapshot, self.origin = read_program(
            exported,
            decompose,
            self.lowerings,
            self.entrypoint_name,
            self.externalized,
            self.folder,
        )

    def entry_point(self, lowerings: Collection[str]) -> _native.EntryPoint:
        """The program as it is now, under its names.

        Args:
            lowerings: Qualified names that the user has registered by now.
        """
        # An op with a lowering is not decomposed.
        is_stale = self.decompose and self.lowerings != lowerings
        self.lowerings = lowerings
        # Attributes of external modules count as they are now, as weights do.
        if is_stale or self.is_snapshot or self.externalized or self.externalizing:
            start = time.perf_counter()
            self._read_again()
            self.read_seconds = time.perf_counter() - start
        if self.externalizing:
            warn_of_unmatched(self.externalizing.module, self.externalizing.targets)
            warn_of_unused(self.externalized, self.program.called_modules)
        return self.named()

    def named(self) -> _native.EntryPoint:
        """The program as it was read last, under its names."""
        return _native.EntryPoint(
            self.program,
            self.entrypoint_name,
            self.input_names,
            self.output_names,
            self.state_names,
        )

    def describe(self) -> str:
        return (
            f"{self.entrypoint_name}: {self.kind} "
            f"{self.input_names} -> {self.output_names}"
            + (
                f", externalize={class_names(self.externalizing.targets)}"
                if self.externalizing
                else ""
            )
        )


def _export(
    module: torch.nn.Module, export_fn: Callable[[torch.nn.Module], ExportedProgram]
) -> ExportedProgram:
    try:
        return export_fn(module)
    except Exception as error:
        msg = (
            f"Your model failed to export: {error}\n"
            "Make the model exportable with torch.export first."
        )
        raise RuntimeError(msg) from error


def _entrypoints(value: Collection[str] | None) -> set[str] | None:
    if value is None:
        return None
    if isinstance(value, str):
        msg = f"entrypoints must be a collection of names, not the string {value!r}"
        raise TypeError(msg)
    return set(value)


class TorchConverter:
    """Converts exported PyTorch programs to one Core AI program.

    Stage programs with :meth:`add_exported_program` or
    :meth:`add_pytorch_module`, then call :meth:`to_coreai`. A converter can be
    used again; what was staged stays staged until :meth:`clear`.

    Args:
        mode: How much debug information the program carries.
        source_paths: How debug information shows source files: those of
            installed packages relative to where packages are installed and the
            others as they are, all as they are, all relative to the folders that
            Python imports from, or not at all.
        verbose: Whether a conversion shows a line on standard error. It always
            goes to the logger ``coreai_torch``. With ``False`` there is no bar.
        progress: Whether a long conversion shows a bar on standard error. By
            default it does on a terminal, unless the environment sets
            ``COREAI_TORCH_QUIET``.
    """

    class Mode(enum.Enum):
        """How much debug information the program carries."""

        DEBUG = "debug"
        RELEASE = "release"

    def __init__(
        self,
        *,
        mode: Mode = Mode.DEBUG,
        source_paths: SourcePaths = "packages",
        verbose: bool | None = None,
        progress: bool | None = None,
    ) -> None:
        if not isinstance(mode, TorchConverter.Mode):
            msg = f"mode must be a TorchConverter.Mode, got {mode!r}"
            raise TypeError(msg)
        self._context = Context()
        #: Nobody else has seen the context yet.
        self._context_is_private = True
        self._source_paths = source_paths_of(source_paths)
        self._verbose = verbose
        self._progress = progress
        self._debug_info_recorder = _DebugInfoRecorder(
            _DebugInfoRecorder.Config(
                include_stack_trace=mode is TorchConverter.Mode.DEBUG,
                verify_debuginfo_locations=is_set("VERIFY_DEBUGINFO_LOCATIONS"),
            )
        )
        self._report: ConversionReport | None = None
        self._staged: list[_Staged] = []
        self._user_defined_torch_lowering: dict[str, Lowering] = {}
        #: By qualified name.
        self._kernels: dict[str, TorchMetalKernel] = {}
        self._weights: WeightCache = {}
        #: Held by the conversion that runs.
        self._busy = threading.Lock()
        #: Held while the list of staged programs changes.
        self._staging = threading.Lock()

    @property
    def context(self) -> Context:
        """The authoring context that all programs of this converter are in."""
        self._context_is_private = False
        return self._context

    def add_exported_program(
        self,
        exported_program: ExportedProgram,
        input_names: Names | None = None,
        output_names: Names | None = None,
        state_names: Names | None = None,
        entrypoint_name: str = "main",
        *,
        decompose: bool = False,
        weights: str | os.PathLike[str] | None = None,
        tied: Mapping[str, str] | None = None,
        _externalized_exported_programs: Sequence[ExternalizedModule] | None = None,
    ) -> TorchConverter:
        """Stage an exported and decomposed program.

        Args:
            exported_program: The program. Its weights are referred to, not
                copied: a change to a parameter before :meth:`to_coreai` counts.
            input_names: Names for the inputs that are not state: for all, in
                order, or a dictionary from old names to new ones.
            output_names: The same for the returned values.
            state_names: The same for mutated buffers, then mutated inputs. In a
                dictionary a buffer is called by its path (``"layers.0.k"``).
            entrypoint_name: Name of the program's graph.
            decompose: Take a program as ``torch.export.export()`` returns it,
                without ``run_decompositions()``. The result is the same and
                comes much sooner. The logger ``coreai_torch`` says which ops
                had to be decomposed by torch.
            weights: A folder of safetensors files, or one such file, that the
                parameters and persistent buffers are taken from, by name. The
                model may have been exported on the meta device, and may be
                larger than memory: files are mapped. Several programs may come
                from one folder; :meth:`to_coreai` refuses weights that none has.
            tied: What the folder has under another name only, and that name, for
                example ``{"head.weight": "embed.weight"}``. An exported program
                says itself what is tied in it, unless it was loaded without data.

        Returns:
            The converter, for chaining.

        Raises:
            ValueError: If the name is taken, other names do not fit, an op of ATen
                has no lowering, or ``weights`` lacks a weight of the program, or
                has it in another type or shape.
            TypeError: If ``exported_program`` is not an ``ExportedProgram``.
        """
        self._check_entrypoint(entrypoint_name)
        return self._stage(
            exported_program,
            "ExportedProgram",
            input_names,
            output_names,
            state_names,
            entrypoint_name,
            decompose=decompose,
            externalized=_externalized_exported_programs or (),
            weights=weights,
            tied=tied,
        )

    def add_pytorch_module(
        self,
        module: torch.nn.Module = _UNSET,
        export_fn: Callable[[torch.nn.Module], ExportedProgram] = _UNSET,
        externalize_modules: Sequence[Any] | None = None,
        input_names: Names | None = None,
        output_names: Names | None = None,
        state_names: Names | None = None,
        entrypoint_name: str = "main",
        *,
        model: torch.nn.Module = _UNSET,
        decompose: bool = False,
        weights: str | os.PathLike[str] | None = None,
        tied: Mapping[str, str] | None = None,
    ) -> TorchConverter:
        """Stage a module together with the function that exports it.

        Args:
            module: The module; may also be given as ``model``.
            export_fn: Called once with the module; returns the exported and
                decomposed program. Called again by a conversion if there are
                modules to externalize and the module has changed since.
            externalize_modules: :class:`ExternalizeSpec`s of the modules that
                stay graphs of their own, or their classes.
            input_names: As in :meth:`add_exported_program`.
            output_names: As in :meth:`add_exported_program`.
            state_names: As in :meth:`add_exported_program`.
            entrypoint_name: As in :meth:`add_exported_program`.
            decompose: As in :meth:`add_exported_program`: ``export_fn`` returns
                what ``torch.export.export()`` does.
            weights: As in :meth:`add_exported_program`.
            tied: As in :meth:`add_exported_program`.

        Returns:
            The converter, for chaining.

        Raises:
            RuntimeError: If ``export_fn`` fails.
            TypeError: If ``export_fn`` returns something else.
            ValueError: If the program it returns has other parameters than the
                module, cannot be converted, or ``weights`` has other weights.
        """
        if (module is _UNSET) == (model is _UNSET):
            msg = "add_pytorch_module() takes the module once, as module or model"
            raise TypeError(msg)
        if export_fn is _UNSET:
            msg = "add_pytorch_module() missing the required argument 'export_fn'"
            raise TypeError(msg)
        module = model if module is _UNSET else module
        if not isinstance(module, torch.nn.Module):
            msg = f"expected a torch.nn.Module, got {type(module).__name__}"
            raise TypeError(msg)
        self._check_entrypoint(entrypoint_name)
        externalizing = None
        marked = None
        # Another thread may be exporting the module with boundaries in it.
        with export_lock:
            if externalize_modules:
                externalizing = _Externalizing(
                    module, export_fn, list(externalize_modules), decompose
                )
                marked = externalizing.try_export()
            exported, externalized = marked or (_export(module, export_fn), [])
        if not isinstance(exported, torch.export.ExportedProgram):
            msg = (
                "export_fn must return a torch.export.ExportedProgram, "
                f"got {type(exported).__name__}"
            )
            raise TypeError(msg)
        check_parameters(exported, module)
        return self._stage(
            exported,
            "nn.Module",
            input_names,
            output_names,
            state_names,
            entrypoint_name,
            decompose=decompose,
            externalized=externalized,
            externalizing=externalizing,
            weights=weights,
            tied=tied,
        )

    def register_custom_kernels(
        self, kernels: Sequence[TorchMetalKernel]
    ) -> TorchConverter:
        """Let programs call these Metal kernels.

        Args:
            kernels: The kernels; the names of all that are registered differ.

        Returns:
            The converter, for chaining.

        Raises:
            TypeError: If one is not a :class:`TorchMetalKernel`.
            ValueError: If a kernel of that name is already registered.
        """
        added: dict[str, TorchMetalKernel] = {}
        for kernel in kernels:
            if not isinstance(kernel, TorchMetalKernel):
                msg = f"expected a TorchMetalKernel, got {type(kernel).__name__}"
                raise TypeError(msg)
            name = f"{_KERNEL_NAMESPACE}::{kernel.name}.default"
            if name in added or name in self._lowerings():
                msg = f"{name} is already registered"
                raise ValueError(msg)
            added[name] = kernel
        self._kernels.update(added)
        return self

    def to_coreai(self, *, entrypoints: Collection[str] | None = None) -> AIProgram:
        """Convert what is staged into one program.

        Args:
            entrypoints: Names of the programs to convert; all when ``None``.

        Returns:
            A ``coreai.authoring.AIProgram`` with one graph per entry point. From
            release 1.0.0b3 of coreai-core on it is optimized.

        Raises:
            RuntimeError: If nothing is left to convert.
            ValueError: If a program cannot be converted; the message names the
                node and the line of the model's code. Ops that are not ATen's
                and have no lowering are all listed at once. Or if a folder of
                weights has some that no staged program has.
        """
        staged = self._selected(_entrypoints(entrypoints))
        if not self._busy.acquire(blocking=False):
            msg = (
                "this converter is converting in another thread; "
                "use one converter per thread"
            )
            raise RuntimeError(msg)
        try:
            announce(
                f"coreai-torch {__version__}: converting {len(staged)} "
                "program(s) to Core AI",
                self._verbose,
            )
            return self._convert(staged)
        finally:
            self._busy.release()

    def register_torch_lowering(
        self, qualified_name: str, allow_override: bool = False
    ) -> Callable[[Lowering], Lowering]:
        """Return a decorator that registers a lowering on this converter.

        The lowering is a function ``(values_map, node, loc)``. It finds operands
        in ``values_map`` by the names of FX nodes, builds with
        ``coreai._compiler.dialects.coreai``, and returns a value, or a list with
        one for each result of the op.

        Args:
            qualified_name: ``namespace::op.overload``; ``.default`` may be left
                out.
            allow_override: Whether it may replace a lowering, built-in or not.

        Raises:
            ValueError: From the decorator, if the name has another form, has a
                lowering already, or is in a reserved namespace (``aten``,
                ``higher_order``, ``coreai``, ``coreaix``) and no op of torch.
        """

        def register(function: Lowering) -> Lowering:
            taken = self._lowerings()
            check_registration(qualified_name, function, taken, allow_override)
            self._user_defined_torch_lowering[qualified_name] = function
            return function

        return register

    def report(self) -> ConversionReport:
        """Return what the last conversion made; print it for tables.

        Raises:
            RuntimeError: If nothing has been converted yet.
        """
        if self._report is None:
            msg = "no report yet: call to_coreai() first"
            raise RuntimeError(msg)
        return self._report

    def clear(self, *, entrypoints: Collection[str] | None = None) -> None:
        """Remove staged programs: the named ones, or all."""
        names = _entrypoints(entrypoints)
        with self._staging:
            self._staged = [
                staged
                for staged in self._staged
                if names is not None and staged.entrypoint_name not in names
            ]

    def __repr__(self) -> str:
        programs = [f"    {staged.describe()}" for staged in self._staged]
        return "\n".join(
            [
                "TorchConverter(",
                "  programs:",
                *(programs or ["    (none)"]),
                f"  custom_lowerings: {sorted(self._lowerings())}",
                ")",
            ]
        )

    def _lowerings(self) -> set[str]:
        """Qualified names of the operators that the user brought."""
        return {*self._user_defined_torch_lowering, *self._kernels}

    def _check_entrypoint(self, name: str) -> None:
        if not isinstance(name, str):
            msg = f"entrypoint_name must be a string, got {type(name).__name__}"
            raise TypeError(msg)
        if not name:
            msg = "entrypoint_name must not be empty"
            raise ValueError(msg)
        utf8(name, "entrypoint_name")
        if any(staged.entrypoint_name == name for staged in self._staged):
            msg = (
                f"entrypoint_name={name!r} is already staged; "
                "choose another name or clear() it"
            )
            raise ValueError(msg)

    def _stage(
        self,
        exported_program: ExportedProgram,
        kind: str,
        input_names: Names | None,
        output_names: Names | None,
        state_names: Names | None,
        entrypoint_name: str,
        *,
        decompose: bool = False,
        externalized: Sequence[ExternalizedModule] = (),
        externalizing: _Externalizing | None = None,
        weights: str | os.PathLike[str] | None = None,
        tied: Mapping[str, str] | None = None,
    ) -> TorchConverter:
        if not isinstance(exported_program, torch.export.ExportedProgram):
            msg = (
                "expected a torch.export.ExportedProgram, "
                f"got {type(exported_program).__name__}"
            )
            if isinstance(exported_program, torch.nn.Module):
                msg += (
                    "\nFix: export the module first, "
                    "ep = torch.export.export(module.eval(), args), and add ep with "
                    "decompose=True; or use add_pytorch_module(module, export_fn)."
                )
            raise TypeError(msg)
        folder, path = None, ""
        if weights is not None:
            folder = _native.open_safetensors(path_text(weights), ties_of(tied))
            path = os.path.realpath(weights)
        elif tied:
            msg = (
                "weights are tied to those of a folder, and there is none.\n"
                "Fix: name the folder: weights=."
            )
            raise ValueError(msg)
        start = time.perf_counter()
        program, is_snapshot, origin = read_program(
            exported_program,
            decompose,
            self._lowerings(),
            entrypoint_name,
            externalized,
            folder,
        )
        read_seconds = time.perf_counter() - start
        check_supported(program, entrypoint_name, self._lowerings())
        staged = _Staged(
            entrypoint_name,
            origin,
            program,
            is_snapshot,
            kind,
            read_seconds,
            value_names(input_names, "input_names"),
            value_names(output_names, "output_names"),
            value_names(state_names, "state_names"),
            externalized,
            externalizing,
            decompose and origin.exported is exported_program,
            self._lowerings(),
            folder,
            path,
        )
        if staged.input_names or staged.output_names or staged.state_names:
            _native.check_names(staged.named())
        with self._staging:
            # Another thread may have taken the name meanwhile.
            self._check_entrypoint(entrypoint_name)
            self._staged.append(staged)
        return self

    def _selected(self, names: set[str] | None) -> list[_Staged]:
        chosen = [
            s for s in self._staged if names is None or s.entrypoint_name in names
        ]
        known = [s.entrypoint_name for s in self._staged]
        if not chosen:
            msg = "No programs to convert: " + (
                f"none is staged as {sorted(names or ())}, but as {known}"
                if known
                else "stage one with add_exported_program() or "
                "add_pytorch_module() first"
            )
            raise RuntimeError(msg)
        unknown = (names or set()) - set(known)
        if unknown:
            msg = f"no program is staged as {sorted(unknown)}, but as {known}"
            raise ValueError(msg)
        return chosen

    def _check_weights(self, staged: list[_Staged]) -> None:
        """Raise ``ValueError`` for weights that no program staged from a folder has.

        And for ties of such weights.

        Those that are not converted now count as well: an encoder and a decoder
        may come from one checkpoint.
        """
        for path in {s.weights for s in staged}:
            programs = [
                (s.folder, s.exported_program)
                for s in self._staged
                if s.folder is not None and s.weights == path
            ]
            _native.check_all_known(
                [
                    (folder, [*program.state_dict, *program.constants])
                    for folder, program in programs
                ]
            )

    def _convert(self, staged: list[_Staged]) -> AIProgram:
        self._check_weights(staged)
        entry_points = [s.entry_point(self._lowerings()) for s in staged]
        for s in staged:
            check_other_ops(s.program, s.entrypoint_name, self._lowerings())
        recorder = self._debug_info_recorder
        # A lowering may register others; they are for the next conversion.
        lowerings = dict(self._user_defined_torch_lowering)
        total = sum(s.program.num_nodes for s in staged)
        with ProgressBar(total, self._progress, self._verbose) as bar:
            converted = _native.convert(
                entry_points,
                recorder.config.include_stack_trace,
                self._source_paths,
                _source_roots()
                if self._source_paths is _native.SourcePaths.RELATIVE
                else [],
                recorder.next_ids,
                [kernel.describe() for kernel in self._kernels.values()],
                list(lowerings),
                bar if bar.is_wanted else None,
            )
        for message in converted.warnings:
            warn_user(message)
        calls = UserCalls(converted, lowerings)
        start = time.perf_counter()
        program = to_program(
            converted,
            self._context,
            self._weights,
            calls,
            self._context_is_private,
        )
        self._context_is_private = False
        recorder.next_ids = (converted.next_ids[0], calls.next_operation_id)
        if recorder.config.verify_debuginfo_locations:
            verify_locations(program._mlir_module)
        report = ConversionReport.of(
            converted,
            [s.entrypoint_name for s in staged],
            sum(s.read_seconds for s in staged),
            calls,
        )
        report.seconds["hand over"] = time.perf_counter() - start
        self._report = report
        finish(program)
        remember(program, {s.entrypoint_name: s.origin for s in staged})
        return program
