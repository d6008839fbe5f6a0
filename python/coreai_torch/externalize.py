# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules that stay graphs of their own.

While a model is exported, calls of the chosen modules are marked: one operator
records the arguments, another the results. What stands between the two marks in
the exported program is taken out in C++ (lib/Program/Outline.cpp). The model is
exported once, with its own decompositions, and is afterwards what it was.
"""

from __future__ import annotations

import inspect
import threading
import types
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

from coreai_torch._composite_declaration import plain_value
from coreai_torch._warn import warn_user
from corten import _native

if TYPE_CHECKING:
    from torch.export import ExportedProgram


@dataclass
class ExternalizeSpec:
    """Which modules stay graphs, and as what.

    Args:
        target_class: Instances of this class and its subclasses are meant.
        composite_op_name: The operation that compilers may recognise. Without
            it the graph is a plain boundary.
        composite_attrs: Attributes of the instance that the operation records.
    """

    target_class: type
    composite_op_name: str | None = None
    composite_attrs: list[str] | None = None

    def __post_init__(self) -> None:
        if self.composite_op_name is None and self.composite_attrs is not None:
            msg = (
                "ExternalizeSpec: composite_attrs belong to a composite; "
                "set composite_op_name as well"
            )
            raise ValueError(msg)


# --- The marks ---------------------------------------------------------------


def _define_marks() -> Any:
    """Register the two operators, once for the process.

    The token ties an ``exit`` to its ``enter``. An ``exit`` counts as having an
    effect: a module may be called for what it does to its arguments.
    """
    name = _native.MARK_NAMESPACE
    library: Any = torch.library.Library(name, "FRAGMENT")  # type: ignore[no-untyped-call]
    library.define("enter(Tensor[] xs, str tag) -> Tensor")
    library.define("exit(Tensor[] xs, Tensor token, str tag) -> Tensor[]")

    def enter(xs: list[torch.Tensor], tag: str) -> torch.Tensor:
        return torch.empty(0)

    def leave(
        xs: list[torch.Tensor], token: torch.Tensor, tag: str
    ) -> list[torch.Tensor]:
        return [x.clone() for x in xs]

    def fake(
        xs: list[torch.Tensor], token: torch.Tensor, tag: str
    ) -> list[torch.Tensor]:
        return [
            torch.empty_strided(x.size(), x.stride(), dtype=x.dtype, device=x.device)
            for x in xs
        ]

    library.impl("enter", enter, "CompositeExplicitAutograd")
    library.impl("exit", leave, "CompositeExplicitAutograd")
    torch.library.register_fake(f"{name}::enter", enter, lib=library)
    torch.library.register_fake(f"{name}::exit", fake, lib=library)
    torch.library.register_autograd(
        f"{name}::exit", lambda ctx, grads: (list(grads), None, None), lib=library
    )
    torch.fx.node.has_side_effect(_marks().exit.default)
    return library


def _marks() -> Any:
    return getattr(torch.ops, _native.MARK_NAMESPACE)


_LIBRARY = _define_marks()
_ENTER = _marks().enter.default
_EXIT = _marks().exit.default


def _boundary(
    original: Callable[..., Any],
    takes_self: bool,
    path: str,
    order: list[str],
    positional: list[str],
    star: str,
) -> Callable[..., Any]:
    """The ``forward`` of a marked instance.

    It is traced by torch.export in both of its modes, so it is made of what
    dynamo understands, and of values that are ready when it is called. The body
    runs on the arguments themselves: what it writes into them is seen outside.
    """

    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        first = (self,) if takes_self else ()
        if not torch.compiler.is_compiling():
            return original(*first, *args, **kwargs)
        # vmap has no rule for the marks. Dynamo cannot ask whether it runs.
        if (
            not torch.compiler.is_dynamo_compiling()
            and torch._C._functorch.maybe_current_level() is not None
        ):
            return original(*first, *args, **kwargs)
        given: dict[str, Any] = {}
        for i, value in enumerate(args):
            if i < len(positional):
                given[positional[i]] = value
            else:
                given[f"{star}_{i - len(positional)}"] = value
        given.update(kwargs)
        ordered = [name for name in order if name in given]
        ordered += [name for name in given if name not in order]
        names, tensors = [], []
        for name in ordered:
            for i, value in enumerate(pytree.tree_leaves(given[name])):
                if isinstance(value, torch.Tensor):
                    label = name if value is given[name] else f"{name}_{i}"
                    names.append(label.replace(",", "_").replace("|", "_"))
                    tensors.append(value)
        token = _ENTER(tensors, ",".join(names) + "|" + path)
        leaves, spec = pytree.tree_flatten(original(*first, *args, **kwargs))
        places = [i for i, v in enumerate(leaves) if isinstance(v, torch.Tensor)]
        results = _EXIT([leaves[i] for i in places], token, path)
        for i, result in zip(places, results):  # noqa: B905
            # The caller may write into an argument that it gets back.
            if not any(leaves[i] is x for x in tensors):
                leaves[i] = result
        return pytree.tree_unflatten(leaves, spec)

    # Its lines are none of the user's.
    forward.__code__ = forward.__code__.replace(co_filename=_native.BOUNDARY_FILE)
    return forward


# --- Marking a model ---------------------------------------------------------

#: Held while a model is marked and exported. torch.export does not run in two
#: threads at once anyway.
export_lock = threading.RLock()

_ABSENT = object()

#: What a marked module carries for tools that drive the export: its path, and
#: the operator that stands for its calls in the exported program.
_MARK_ATTRIBUTES = ("_externalize_name", "_externalize_op_name")


@dataclass
class _Mark:
    """What marking did to one instance."""

    path: str
    module: torch.nn.Module
    spec: ExternalizeSpec
    #: The instance's own ``forward`` before, if it had one.
    previous: Any

    def record(self) -> ExternalizedModule:
        return ExternalizedModule(self.path, self.module, self.spec)


@dataclass(frozen=True)
class ExternalizedModule:
    """A module to be taken out of a program that was exported while marked."""

    path: str
    module: torch.nn.Module
    spec: ExternalizeSpec

    def native(self) -> _native.ExternalModule:
        """The module as C++ sees it; reads the attributes now."""
        spec = self.spec
        composite = None
        if spec.composite_op_name is not None:
            composite = _native.CompositeDeclaration(
                spec.composite_op_name,
                _owned_names(self.module),
                [],
                _attributes(self.module, self.path, spec),
            )
        symbol = self.path or type(self.module).__name__
        return _native.ExternalModule(self.path, symbol, composite)


def _owned_names(module: torch.nn.Module) -> list[str]:
    """Parameters, then buffers, in the order of an export's signature."""
    return [
        *(name for name, _ in module.named_parameters(remove_duplicate=False)),
        *(name for name, _ in module.named_buffers(remove_duplicate=False)),
    ]


def _attributes(
    module: torch.nn.Module, path: str, spec: ExternalizeSpec
) -> dict[str, Any]:
    names = spec.composite_attrs or ()
    missing = [name for name in names if not hasattr(module, name)]
    if missing:
        kind = type(module).__name__
        own = {name for name in vars(module) if not name.startswith("_")}
        known = sorted(own - {"training"})
        msg = (
            f"ExternalizeSpec({spec.target_class.__name__}, "
            f"composite_op_name={spec.composite_op_name!r}): composite_attrs names "
            f"{missing}, but the {kind} at {path!r} has no such attributes\n"
            + (
                f"Fix: name attributes that a {kind} has: {known}."
                if known
                else f"Fix: leave composite_attrs out: a {kind} has none."
            )
        )
        raise AttributeError(msg)
    values = {name: plain_value(getattr(module, name)) for name in names}
    recorded = {name: value for name, value in values.items() if value is not None}
    return {"version": 1, **recorded}


def _spec_of(target: Any) -> ExternalizeSpec:
    if isinstance(target, ExternalizeSpec):
        if isinstance(target.target_class, type):
            return target
        target = target.target_class
    elif isinstance(target, type):
        return ExternalizeSpec(target)
    msg = (
        "externalize_modules must hold classes and ExternalizeSpecs of classes, "
        f"got {target!r}"
    )
    raise TypeError(msg)


def class_names(targets: Sequence[Any]) -> list[str]:
    """The names of the classes that ``targets`` mean."""
    classes = (getattr(target, "target_class", target) for target in targets)
    return [getattr(target, "__name__", repr(target)) for target in classes]


def _is_callable(module: torch.nn.Module) -> bool:
    """False for containers such as ``ModuleList``, which have no ``forward``."""
    return (
        type(module).forward is not torch.nn.Module.forward
        or "forward" in module.__dict__
    )


def _mark_of(module: torch.nn.Module) -> _Mark | None:
    method = module.__dict__.get("forward")
    mark = getattr(method, "_coreai_mark", None)
    return mark if isinstance(mark, _Mark) else None


def _find_marked_submodules(model: torch.nn.Module) -> list[torch.nn.Module]:
    """The marked modules of ``model``, in the order of ``named_modules()``."""
    return [module for module in model.modules() if _mark_of(module)]


def _restore_externalized(marked: Sequence[torch.nn.Module]) -> None:
    """Give the modules back the ``forward`` that they had."""
    for module in marked:
        mark = _mark_of(module)
        if mark is None:
            continue
        for name in _MARK_ATTRIBUTES:
            module.__dict__.pop(name, None)
        if mark.previous is _ABSENT:
            del module.__dict__["forward"]
        else:
            module.__dict__["forward"] = mark.previous


def _set_boundary(path: str, module: torch.nn.Module, spec: ExternalizeSpec) -> None:
    forward: Any = module.forward
    takes_self = isinstance(forward, types.MethodType) and forward.__self__ is module
    original = forward.__func__ if takes_self else forward
    signature = inspect.signature(forward)
    kinds = inspect.Parameter
    parameters = signature.parameters.values()
    wrapper = _boundary(
        original,
        takes_self,
        path,
        [p.name for p in parameters],
        [
            p.name
            for p in parameters
            if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)
        ],
        next((p.name for p in parameters if p.kind is kinds.VAR_POSITIONAL), "args"),
    )
    # torch.export names the inputs of a program after the root's parameters.
    wrapper.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[kinds("_module", kinds.POSITIONAL_ONLY), *parameters]
    )
    previous = module.__dict__.get("forward", _ABSENT)
    wrapper._coreai_mark = _Mark(path, module, spec, previous)  # type: ignore[attr-defined]
    # A bound method: a copy of the module gets one that is bound to the copy.
    module.__dict__["forward"] = types.MethodType(wrapper, module)
    module.__dict__.update(zip(_MARK_ATTRIBUTES, (path, str(_EXIT)), strict=True))


def _patch_model_for_externalization(
    model: torch.nn.Module, targets: Sequence[type | ExternalizeSpec]
) -> None:
    """Mark the modules of ``model`` that ``targets`` name, until restored.

    Export the marked model, then call :func:`_subexport_and_restore`. A marked
    model still runs, and gradients flow through it.

    Raises:
        RuntimeError: If the model is marked already; then all marks go.
    """
    _refuse_marked(model)
    _mark(model, targets)
    warn_of_unmatched(model, targets)


def _refuse_marked(model: torch.nn.Module) -> None:
    if marked := _find_marked_submodules(model):
        _restore_externalized(marked)
        msg = f"{type(model).__name__} was already marked for externalization"
        raise RuntimeError(msg)


def _matches(
    model: torch.nn.Module, specs: Sequence[ExternalizeSpec]
) -> Iterator[tuple[str, torch.nn.Module, ExternalizeSpec]]:
    """The modules to mark, each with the first spec that fits it."""
    for path, module in model.named_modules():
        for spec in specs:
            target: Any = spec.target_class
            if isinstance(module, target):
                if _is_callable(module):
                    yield path, module, spec
                break


def _mark(model: torch.nn.Module, targets: Sequence[Any]) -> None:
    specs = [_spec_of(target) for target in targets]
    try:
        for path, module, spec in list(_matches(model, specs)):
            _set_boundary(path, module, spec)
    except BaseException:
        _restore_externalized(_find_marked_submodules(model))
        raise


def warn_of_unmatched(model: torch.nn.Module, targets: Sequence[Any]) -> None:
    """Warn of targets that no module of ``model`` fits first."""
    specs = [_spec_of(target) for target in targets]
    # By identity: equal specs are two specs.
    found = {id(spec) for _, _, spec in _matches(model, specs)}
    unmatched = [spec for spec in specs if id(spec) not in found]
    if unmatched:
        names = ", ".join(spec.target_class.__name__ for spec in unmatched)
        warn_user(
            f"externalize_modules: {names} did not match any submodule of "
            f"{type(model).__name__}"
        )


def _prepare_module(
    model: torch.nn.Module, submodule: torch.nn.Module, op_name_suffix: str = ""
) -> None:
    """Mark one module of ``model``, as a plain boundary.

    ``op_name_suffix`` is taken for the sake of existing callers; marks need no
    names of their own.
    """
    for path, module in model.named_modules():
        if module is submodule:
            _set_boundary(path, module, ExternalizeSpec(type(module)))
            return
    msg = (
        f"{type(submodule).__name__}: submodule not found in model "
        f"{type(model).__name__}"
    )
    raise ValueError(msg)


def _marks_of(model: torch.nn.Module) -> list[_Mark]:
    found = (_mark_of(module) for module in model.modules())
    return [mark for mark in found if mark is not None]


def warn_of_unused(records: Sequence[ExternalizedModule], called: set[str]) -> None:
    """Warn of modules that the program does not call."""
    for record in records:
        path = record.path
        if path in called:
            continue
        within = any(
            other.path != path and (not other.path or path.startswith(f"{other.path}."))
            for other in records
        )
        warn_user(
            f"externalize_modules: skipping unused submodule '{path}': nothing in "
            "the module around it calls it"
            if within
            else f"No call sites found for externalized submodule '{path}': the "
            "program does not use what it returns"
        )


def _subexport_and_restore(
    model: torch.nn.Module,
    exported_program: ExportedProgram,
    *,
    progress_bar: Any = None,
) -> list[ExternalizedModule]:
    """Restore a marked model; return what to take out of its program.

    Hand the list to ``add_exported_program`` together with the program.
    """
    from coreai_torch._walk import read_exported_program

    try:
        records = [mark.record() for mark in _marks_of(model)]
    finally:
        _restore_externalized(_find_marked_submodules(model))
    if not records:
        return []
    called = read_exported_program(exported_program, records)[0].called_modules
    warn_of_unused(records, called)
    return [record for record in records if record.path in called]


@contextmanager
def _marked(
    model: torch.nn.Module, targets: Sequence[Any]
) -> Iterator[list[ExternalizedModule]]:
    """Mark ``model`` for the time of one export, in one thread at a time."""
    with export_lock:
        _refuse_marked(model)
        _mark(model, targets)
        try:
            yield [mark.record() for mark in _marks_of(model)]
        finally:
            _restore_externalized(_find_marked_submodules(model))


def export_externalized(
    model: torch.nn.Module,
    export_fn: Callable[[torch.nn.Module], ExportedProgram],
    targets: Sequence[Any],
) -> tuple[ExportedProgram, list[ExternalizedModule]]:
    """Export ``model`` with the calls of ``targets`` marked.

    Raises:
        RuntimeError: If ``export_fn`` fails.
    """
    with _marked(model, targets) as records:
        try:
            return export_fn(model), records
        except Exception as error:
            msg = (
                f"{type(model).__name__}: re-export after externalization "
                f"failed: {error}"
            )
            raise RuntimeError(msg) from error


def structure_of(model: torch.nn.Module) -> Hashable:
    """What an export of ``model`` can depend on: equal as long as nothing has
    changed but the values of its parameters and buffers."""
    return tuple(
        (
            path,
            id(module),
            type(module),
            tuple(
                (name, id(tensor), tensor.dtype, tuple(tensor.shape))
                for tensors in (module._parameters, module._buffers)
                for name, tensor in tensors.items()
                if tensor is not None
            ),
            tuple(
                (name, id(value) if callable(value) else value)
                for name, value in vars(module).items()
                if callable(value) or isinstance(value, _PLAIN)
            ),
            tuple(map(id, module._forward_hooks.values())),
            tuple(map(id, module._forward_pre_hooks.values())),
        )
        for path, module in model.named_modules(remove_duplicate=False)
    )


#: Attributes that are compared by value.
_PLAIN = (bool, int, float, complex, str, bytes, torch.dtype, torch.Size, type(None))


def _derive_composite_io_names(
    exported_program: ExportedProgram,
) -> tuple[list[str], list[str]]:
    """Names of inputs and outputs for a composite that is a whole program.

    Parameters and buffers go by their path, inputs by their name; outputs are
    numbered where there are several.
    """
    from torch.export.graph_signature import ConstantArgument, InputKind, OutputKind

    signature = exported_program.graph_signature
    inputs = []
    for spec in signature.input_specs:
        if spec.kind in (InputKind.PARAMETER, InputKind.BUFFER):
            inputs.append(str(spec.target))
        elif spec.kind is InputKind.USER_INPUT and not isinstance(
            spec.arg, ConstantArgument
        ):
            inputs.append(spec.arg.name)
    outputs = [
        spec for spec in signature.output_specs if spec.kind is OutputKind.USER_OUTPUT
    ]
    if len(outputs) == 1:
        return inputs, ["output"]
    return inputs, [f"output_{i}" for i in range(len(outputs))]
