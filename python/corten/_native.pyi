# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The C++ side of both packages (python/bindings)."""

import enum
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

BOUNDARY_FILE: str
MARK_NAMESPACE: str
WEIGHT_ALIGNMENT: int

class CompositeDeclaration:
    """An operation that compilers know by name."""

    def __init__(
        self,
        name: str,
        input_names: Sequence[str],
        output_names: Sequence[str],
        attributes: dict[str, Any],
    ) -> None: ...
    def text(self) -> str: ...

class ExternalModule:
    """A module whose calls become graphs."""

    def __init__(
        self, path: str, symbol: str, composite: CompositeDeclaration | None
    ) -> None: ...

class Program:
    """An exported program, read once and immutable."""

    @property
    def num_nodes(self) -> int: ...
    @property
    def called_modules(self) -> set[str]: ...
    @property
    def weight_bytes(self) -> int: ...

class SafetensorsFolder:
    """The tensors of a folder, which are mapped, and what is tied to them."""

def check_all_known(
    programs: Sequence[tuple[SafetensorsFolder, Sequence[str]]],
) -> None: ...
def open_safetensors(
    path: str, tied: Sequence[tuple[str, str]]
) -> SafetensorsFolder: ...

class ProgramWeights:
    """The weights of one program that come from a folder."""

    def __init__(self, folder: SafetensorsFolder) -> None: ...
    def know(self, name: str, tensor: object, has_data: bool) -> None: ...
    def take(
        self,
        name: str,
        dtype: object,
        shape: Sequence[int],
        is_state: bool,
        has_data: bool,
    ) -> tuple[str, list[int], npt.NDArray[np.uint8]] | None: ...
    def check(self) -> None: ...

def without_data(name: str) -> str: ...

#: Memory, type and shape of a tensor, and whether it has data.
_GivenTensor = tuple[object, object, Sequence[int], bool]

class ProgramBuilder:
    """Fills a Program; one walker uses one builder."""

    def __init__(
        self,
        tensor_type: type,
        dtype_type: type,
        sym_int: type,
        sym_float: type,
        sym_bool: type,
        folder: SafetensorsFolder | None,
    ) -> None: ...
    def function(self, module: str, name: str) -> int: ...
    def overload(
        self,
        namespace: str,
        name: str,
        schema: str,
        defaults: list[Any],
        wrapper: str,
    ) -> int: ...
    def placeholder(self, node: object, name: str, value: object) -> None: ...
    def call(
        self,
        node: object,
        name: str,
        operator: int,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        value: object,
        stack_trace: str | None,
        module_stack: Mapping[str, Any] | None,
    ) -> None: ...
    def bind(self, key: object, node: object) -> None: ...
    def bind_subgraph(self, node: object, name: str) -> None: ...
    def constant(
        self, node: object, name: str, value: object, tensor: _GivenTensor
    ) -> None: ...
    def constant_of(self, node: object, tensor: _GivenTensor) -> None: ...
    def outputs(self, values: object) -> None: ...
    def begin_subgraph(self, name: str) -> None: ...
    def end_subgraph(self) -> None: ...
    @property
    def has_copies(self) -> bool: ...
    def know(self, name: str, tensor: object, has_data: bool) -> None: ...
    def input(
        self,
        kind: str,
        node: object | None,
        target: str,
        is_persistent: bool,
        tensor: _GivenTensor | None,
    ) -> None: ...
    def output(self, kind: str, value: object | None, target: str) -> None: ...
    def finish_signature(self) -> None: ...
    def range(self, expression: str, min: int | None, max: int | None) -> None: ...
    def functionalize(self) -> tuple[str, str] | None: ...
    def finish(self, modules: Sequence[ExternalModule]) -> Program: ...

def wrapper_arguments(name: str) -> int: ...
def is_expanded(name: str) -> bool: ...
def functional_name(name: str) -> str | None: ...

class KernelInputKind(enum.Enum):
    TENSOR = ...
    INT = ...
    FLOAT = ...
    BOOL = ...

class MetalKernel:
    """A Metal kernel as its author describes it."""

    def __init__(
        self,
        name: str,
        inputs: Sequence[tuple[str, KernelInputKind]],
        results: Sequence[str],
        body: str,
        helpers: str,
        parameters: Sequence[tuple[str, str, str]],
        templates: Sequence[tuple[str, str]],
    ) -> None: ...
    def check_source(
        self,
        inputs: Sequence[tuple[str, int, str | None]],
        results: Sequence[tuple[str, int, str | None]],
    ) -> str: ...

def int_literal(name: str, value: int) -> str: ...
def float_literal(name: str, value: float) -> str: ...
def compile_kernel(source: str) -> tuple[str, list[tuple[str, int, int, str]]]: ...
def kernel_runner() -> str: ...
def source_lines(path: str, addresses: Sequence[int]) -> list[tuple[str, int, int]]: ...

class ValueNames:
    """Names for values: for all, or by what they are. Lists and dictionaries do."""

    def __init__(self, names: Sequence[str] | Mapping[str, str], /) -> None: ...

class EntryPoint:
    """A program under the name it gets in the module."""

    def __init__(
        self,
        program: Program,
        name: str,
        input_names: list[str] | dict[str, str],
        output_names: list[str] | dict[str, str],
        state_names: list[str] | dict[str, str],
    ) -> None: ...

class ConvertedModule:
    """A verified module in the coreai dialect."""

    def handover_text(self) -> str: ...
    def text(self, generic: bool = False) -> str: ...
    def resources(self) -> list[tuple[str, npt.NDArray[np.uint8]]]: ...
    def resource_uses(self) -> list[list[int]]: ...
    @property
    def next_ids(self) -> tuple[int, int]: ...
    @property
    def warnings(self) -> list[str]: ...
    def user_calls(
        self,
    ) -> tuple[
        list[tuple[Any, str, str, int, list[bool], int, int]],
        list[dict[str, tuple[int, int, int | None, int]]],
    ]: ...
    def report(self) -> dict[str, Any]: ...

def check_names(entry_point: EntryPoint) -> None: ...

class SourcePaths(enum.Enum):
    PACKAGES = ...
    ABSOLUTE = ...
    RELATIVE = ...
    HIDDEN = ...

def convert(
    entry_points: Sequence[EntryPoint],
    debug: bool,
    source_paths: SourcePaths,
    source_roots: Sequence[str],
    first_ids: tuple[int, int],
    kernels: Sequence[MetalKernel],
    user_lowerings: Sequence[str],
    progress: Callable[[int], None] | None,
) -> ConvertedModule: ...
def narrow_weights(program: Program) -> list[tuple[str, str]]: ...

class Refusal(enum.Enum):
    ADDED = ...
    CONVERTED = ...

def check_supported(
    program: Program,
    entrypoint_name: str,
    refusal: Refusal,
    lowerings: Sequence[str],
) -> None: ...
def has_lowering(namespace: str, name: str, undecomposed: bool = False) -> bool: ...
def takes_as_it_is(
    namespace: str, name: str, mutates: bool, is_composite: bool
) -> bool: ...
def supported_operators(undecomposed: bool = False) -> list[tuple[str, str]]: ...

class Pt2EntryPoint:
    def __init__(
        self,
        file: str,
        name: str = "main",
        model: str = "",
        input_names: list[str] | dict[str, str] = ...,
        output_names: list[str] | dict[str, str] = ...,
        state_names: list[str] | dict[str, str] = ...,
    ) -> None: ...

def read_pt2(entry_point: Pt2EntryPoint) -> Program: ...
def convert_pt2(
    entry_points: Sequence[Pt2EntryPoint],
    debug: bool = True,
    source_paths: SourcePaths = ...,
    source_roots: Sequence[str] = ...,
) -> ConvertedModule: ...

class ReceivedModule:
    """A program of coreai-core's in a context of ours."""

    def missing_weights(self) -> list[tuple[str, int]]: ...
    def attach_view(self, key: str, array: npt.NDArray[np.uint8]) -> None: ...
    def attach_bytecode(self, key: str, bytecode: bytes) -> None: ...
    def text(self, locations: bool = False) -> str: ...

def receive(text: bytes) -> ReceivedModule: ...
def save_asset(
    received: ReceivedModule, path: str, metadata: str, hash: bool, force: bool
) -> None: ...
def check_target(path: str, force: bool) -> None: ...
def asset_bytecode(received: ReceivedModule, simplified: bool = True) -> bytes: ...
def rewrite_asset(path: str, through_program: bool) -> bytes: ...
def code_text(bytecode: bytes, locations: bool = True) -> str: ...

class WeightPolicy(enum.Enum):
    IGNORE = ...
    DIGEST = ...

class LabelledGraph:
    """A graph whose nodes and edges carry text."""

    def nodes(self) -> list[tuple[str, str, dict[str, str]]]: ...
    def edges(self) -> list[tuple[int, int, str, int]]: ...
    @property
    def num_nodes(self) -> int: ...
    @property
    def num_edges(self) -> int: ...

class GraphDiff:
    """Which node of a graph is which of another."""

    @property
    def source(self) -> LabelledGraph: ...
    @property
    def target(self) -> LabelledGraph: ...
    @property
    def is_isomorphic(self) -> bool: ...
    @property
    def to_target(self) -> list[int]: ...
    @property
    def modified(self) -> list[tuple[int, int]]: ...
    @property
    def unmapped_source_nodes(self) -> list[int]: ...
    @property
    def unmapped_target_nodes(self) -> list[int]: ...
    @property
    def unmapped_source_edges(self) -> list[int]: ...
    @property
    def unmapped_target_edges(self) -> list[int]: ...
    def text(self, indent: int = 2, max_items: int | None = None) -> str: ...

def make_graph(
    nodes: list[tuple[Any, Any, dict[Any, Any]]],
    edges: list[tuple[int, int, Any, int]],
) -> LabelledGraph: ...
def program_graph(program: Program) -> LabelledGraph: ...
def diff_graphs(source: LabelledGraph, target: LabelledGraph) -> GraphDiff: ...
def diff_graph(
    source: ReceivedModule,
    target: ReceivedModule,
    graph: str | None,
    weights: WeightPolicy,
) -> GraphDiff: ...
def diff_modules(
    source: ReceivedModule, target: ReceivedModule, weights: WeightPolicy
) -> list[tuple[str, GraphDiff | None]]: ...
def diffs_text(
    diffs: Sequence[tuple[str, GraphDiff | None]],
    indent: int = 2,
    max_items: int | None = None,
) -> str: ...
def view_page(
    module: ReceivedModule,
    title: str,
    errors: Mapping[int, float] | None,
    times: Mapping[int, float] | None,
) -> bytes: ...

class ValueRole(enum.Enum):
    INPUT = ...
    OUTPUT = ...
    STATE = ...

class Model:
    """A program that was opened."""

    @staticmethod
    def open(path: str) -> Model: ...
    @property
    def path(self) -> str: ...
    def info(self) -> str: ...
    def ops(self, collapse_composites: bool) -> str: ...
    def text(self, graph: str, locations: bool, generic: bool) -> str: ...
    def hand_over(
        self,
    ) -> tuple[bytes, list[tuple[int, str, str, npt.NDArray[np.uint8]]]]: ...
    def doctor(self) -> str: ...
    def page(self, overlay: str) -> str: ...
    def strip(self) -> None: ...
    def optimize(self) -> None: ...
    def set_metadata(
        self,
        author: str | None,
        license: str | None,
        description: str | None,
        creator_defined: str | None,
    ) -> None: ...
    def rename_values(
        self, entry_point: str, role: ValueRole, names: list[str] | dict[str, str]
    ) -> None: ...
    def rename_entry_point(self, old: str, new: str) -> None: ...
    def keep_entry_points(self, names: Sequence[str]) -> None: ...
    def save(self, path: str, hash: bool, force: bool) -> None: ...

class Archive:
    """What a .pt2 file holds."""

    @staticmethod
    def open(path: str) -> Archive: ...
    @property
    def path(self) -> str: ...
    def info(self) -> str: ...
    def examples(self, program: str) -> list[tuple[str, str, bool, Any]]: ...

class ProgramFile:
    """A .pt2 file, and what its entry point is called."""

    def __init__(
        self,
        path: str,
        name: str,
        input_names: list[str] | dict[str, str],
        output_names: list[str] | dict[str, str],
        state_names: list[str] | dict[str, str],
    ) -> None: ...

def convert_files(
    files: Sequence[ProgramFile],
    release: bool,
    optimize: bool,
    weights: str,
    tied: Sequence[tuple[str, str]],
    source_paths: SourcePaths,
) -> tuple[Model, list[str]]: ...
def merge_models(models: Sequence[Model]) -> Model: ...
def compare_models(
    first: Model, second: Model, graph: str, weights: bool, names: bool
) -> str: ...
def examine_path(path: str) -> str: ...

class Axis:
    """An extent that calls decide."""

    @property
    def symbol(self) -> str:
        """What the program calls it; equal ones are equal in a call."""
    @property
    def low(self) -> int:
        """The least that it can be."""
    @property
    def high(self) -> int | None:
        """The most that it can be; None if there is no bound."""

class Parameter:
    """What a function takes or gives."""

    @property
    def name(self) -> str:
        """What calls name it by."""
    @property
    def dtype(self) -> str:
        """The name of the element type, as ``"float32"``."""
    @property
    def shape(self) -> tuple[int | Axis, ...]:
        """A number for each axis, or an ``Axis`` where calls decide."""

class Array:
    """A result.

    ``numpy.asarray()`` and ``torch.from_dlpack()`` give views of it, which keep
    the memory.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """The extent of each axis."""
    @property
    def dtype(self) -> str:
        """The name of the element type, as ``"float32"``."""
    @property
    def nbytes(self) -> int:
        """How many bytes the elements have."""
    def numpy(self) -> npt.NDArray[Any]:
        """A view as an array of numpy's.

        Types that numpy lacks are unsigned integers with the same bits.
        """
    def __dlpack__(self, **options: Any) -> Any:
        """For ``torch.from_dlpack()`` and others."""
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...

class State:
    """What a function remembers.

    Views of it show what calls write; they can only be read. One call at a time
    uses it.
    """

    @property
    def name(self) -> str:
        """What functions call it."""
    @property
    def shape(self) -> tuple[int, ...]:
        """The extent of each axis."""
    @property
    def dtype(self) -> str:
        """The name of the element type, as ``"float32"``."""
    @property
    def nbytes(self) -> int:
        """How many bytes the elements have."""
    def numpy(self) -> npt.NDArray[Any]:
        """A view as an array of numpy's, which can only be read.

        Types that numpy lacks are unsigned integers with the same bits.
        """
    def reset(self) -> None:
        """Make all elements zero.

        Raises ``RuntimeError`` while a call uses it.
        """
    def write(self, array: Any) -> None:
        """Take over the elements of an array of the same type and shape.

        Raises ``ValueError``, and ``RuntimeError`` while a call uses the state.
        """
    def copy(self) -> State:
        """Another state with the same elements.

        Large ones share memory until one of them is written to. Raises
        ``RuntimeError`` while a call uses it.
        """
    def adopt(
        self,
        other: State,
        *,
        axis: int | None = None,
        source: int = 0,
        target: int = 0,
    ) -> None:
        """Take over another state's elements, to where the axes begin.

        Of ``axis``, only the row ``source``, which becomes ``target``. Memory that
        the other one shares with forks is shared. Raises ``ValueError``, and
        ``RuntimeError`` while a call uses one of them.
        """
    def __dlpack__(self, **options: Any) -> Any:
        """For ``torch.from_dlpack()`` and others."""
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...

class States:
    """States by name."""

    def __len__(self) -> int: ...
    def __contains__(self, name: str) -> bool: ...
    def __iter__(self) -> Iterator[str]: ...
    def __getitem__(self, name: str) -> State:
        """The state of this name. Raises ``KeyError``."""
    def keys(self) -> list[str]:
        """The names."""
    def reset(self) -> None:
        """Make all elements of all states zero, or of none.

        Raises ``RuntimeError`` while a call uses one.
        """
    def copy(self) -> States:
        """Others with the same elements.

        What comes after differs, as in a beam search. Raises ``RuntimeError``
        while a call uses one.
        """

class Function:
    """A function of a model.

    It can be called by any number of threads at once.
    """

    @property
    def name(self) -> str:
        """What the model calls it."""
    @property
    def inputs(self) -> list[Parameter]:
        """What a call is given, in order."""
    @property
    def outputs(self) -> list[Parameter]:
        """What a call returns, in order."""
    @property
    def states(self) -> list[Parameter]:
        """What it remembers from call to call."""
    def create_states(self, shapes: Mapping[str, Sequence[int]] = ...) -> States:
        """New states, all zeros.

        Those whose shape calls decide need one, by name. Raises ``ValueError``.
        """
    def __call__(
        self,
        *args: Any,
        out: Any = None,
        states: States | Mapping[str, State] | None = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Run it.

        Inputs are arrays in order or by name, or one mapping from names: of
        numpy, of torch, or others with DLPack or the buffer protocol, with any
        strides. Returns a dictionary from names of outputs to ``Array``; arrays
        that ``out`` gives, by name or in order, are written to and returned.
        Without ``states`` the model's own are used.

        Raises ``TypeError`` or ``ValueError`` for what cannot be taken, and
        ``RuntimeError`` for what fails on the way.
        """
    def async_(self, *args: Any, **kwargs: Any) -> Coroutine[Any, Any, dict[str, Any]]:
        """The same, in a thread of its own: ``await`` it.

        A task that is cancelled ends the call before its next step, which leaves
        states as they were.
        """
    def _pending(
        self,
        *args: Any,
        out: Any = None,
        states: States | Mapping[str, State] | None = None,
        **kwargs: Any,
    ) -> PendingCall:
        """A call that is to be run. Raises what a call does."""
    def profile(
        self,
        *args: Any,
        states: States | Mapping[str, State] | None = None,
        **kwargs: Any,
    ) -> list[Step]:
        """Run it, and return the steps that it took, in their order.

        Takes and raises what a call does.
        """

class PendingCall:
    """A call that is to be run."""

    def run(self) -> None:
        """Run it, but for the last writes to states."""
    def cancel(self) -> None:
        """End ``run()`` before its next step: it raises ``RuntimeError``."""
    def finish(self) -> dict[str, Any]:
        """After ``run()``: write to states, and return the results."""
    def abandon(self) -> None:
        """Leave states as they were."""

class Step:
    """A step of a call."""

    @property
    def kernel(self) -> str:
        """The kernel, or what else it is."""
    @property
    def variant(self) -> str:
        """Which variant of the kernel; empty: the portable one."""
    @property
    def location(self) -> str:
        """The line of the program that it comes from."""
    @property
    def module(self) -> str:
        """The path of the module, too."""
    @property
    def operations(self) -> list[int]:
        """The numbers of the operations that it was made of."""
    @property
    def is_kernel(self) -> bool:
        """Whether it is not control flow."""
    @property
    def nanoseconds(self) -> int:
        """How long it took; control flow has what it runs in it."""
    @property
    def bytes(self) -> int:
        """How many bytes it read and wrote; what repeats counts once."""
    @property
    def flops(self) -> float:
        """How many operations on numbers it did.

        A multiplication with an addition is two.
        """
    @property
    def depth(self) -> int:
        """How many steps it is inside of."""
    @property
    def outputs(self) -> list[str]:
        """The types and shapes of what it made."""

class CompiledModel:
    """A model that runs. ``corten.load`` and ``corten.compile`` make one."""

    @property
    def path(self) -> str:
        """Where it was loaded from; empty if it was in no file."""
    @property
    def functions(self) -> dict[str, Function]:
        """All functions by name."""
    @property
    def states(self) -> States:
        """The states of calls that bring none, once there was such a call."""
    def __getitem__(self, name: str) -> Function:
        """The function of this name. Raises ``KeyError``."""
    def __len__(self) -> int: ...
    def __contains__(self, name: str) -> bool: ...
    def __iter__(self) -> Iterator[str]: ...
    def create_states(self, shapes: Mapping[str, Sequence[int]] = ...) -> States:
        """New states for all functions, all zeros. Raises ``ValueError``."""
    def reset(self) -> None:
        """Make the states of calls that bring none zero.

        Raises ``RuntimeError`` while a call uses one.
        """
    def trim(self) -> None:
        """Give idle memory back to the system."""

class TokenSampler:
    """Chooses the tokens of one sequence."""

    def __init__(
        self,
        *,
        temperature: float,
        top_k: int,
        top_p: float,
        min_p: float,
        repetition_penalty: float,
        presence_penalty: float,
        frequency_penalty: float,
        bias: Mapping[int, float],
    ) -> None: ...
    def note(self, token: int, is_generated: bool) -> None:
        """A token that penalties are to know."""
    def choose(self, logits: npt.NDArray[Any], number: float) -> int:
        """A token; ``number``, from 0 to 1, decides which of the possible ones."""
    def choose_and_describe(
        self, logits: npt.NDArray[Any], number: float, count: int
    ) -> tuple[int, float, list[tuple[int, float]]]:
        """A token with its log-probability, and the most probable ones."""

def token_logprobs(
    logits: npt.NDArray[Any], token: int, count: int
) -> tuple[float, list[tuple[int, float]]]:
    """The log-probability of a token, and the most probable ones with theirs."""

def load_model(
    path: str,
    threads: int | None,
    check: bool | None,
    precision: str | None = None,
    metal_kernels: bool = False,
    memory_limit: int | None = None,
    asset: str = "",
    weights: str = "",
    tied: Sequence[tuple[str, str]] = (),
) -> tuple[CompiledModel, list[str]]: ...
def compile_model(
    model: Model,
    threads: int | None,
    check: bool | None,
    precision: str | None = None,
    memory_limit: int | None = None,
) -> CompiledModel: ...
def compile_received(
    received: ReceivedModule,
    threads: int | None,
    check: bool | None,
    precision: str | None = None,
    memory_limit: int | None = None,
) -> CompiledModel: ...
def compile_watched(
    received: ReceivedModule,
    graph: str,
    ops: list[int],
    threads: int | None,
    precision: str | None = None,
) -> tuple[CompiledModel, list[tuple[int, int, str]]]: ...
