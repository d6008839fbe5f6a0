# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The models of a server: which names they have, what they take and give."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

import corten
import corten.llm
from corten._command import CommandError
from corten.llm import is_bundle

if TYPE_CHECKING:
    from corten._engine import Precision
    from corten._native import PendingCall
    from corten.llm import LanguageModel

#: What the protocol calls element types, by the engine's names for them.
DATATYPES = {
    "bool": "BOOL",
    "int8": "INT8",
    "int16": "INT16",
    "int32": "INT32",
    "int64": "INT64",
    "uint8": "UINT8",
    "uint16": "UINT16",
    "uint32": "UINT32",
    "uint64": "UINT64",
    "float16": "FP16",
    "bfloat16": "BF16",
    "float32": "FP32",
    "float64": "FP64",
}

#: Assets are not versioned; the protocol wants a version.
VERSION = "1"


@dataclass(frozen=True)
class Extent:
    """An extent that requests decide."""

    symbol: str
    low: int
    high: int | None


@dataclass(frozen=True)
class Value:
    """An input or an output, as the engine says."""

    name: str
    dtype: str
    shape: tuple[int | Extent, ...]

    @classmethod
    def of(cls, parameter: corten.Parameter) -> Value:
        shape = (
            axis if isinstance(axis, int) else Extent(axis.symbol, axis.low, axis.high)
            for axis in parameter.shape
        )
        return cls(parameter.name, parameter.dtype, tuple(shape))

    def metadata(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "datatype": DATATYPES[self.dtype],
            "shape": [axis if isinstance(axis, int) else -1 for axis in self.shape],
        }


class Served:
    """A function that is served, under one name or two."""

    def __init__(self, name: str, function: corten.Function) -> None:
        self.name = name
        self.function = function
        self.inputs = [Value.of(parameter) for parameter in function.inputs]
        self.outputs = [Value.of(parameter) for parameter in function.outputs]
        self.states = [Value.of(parameter) for parameter in function.states]

    def metadata(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "versions": [VERSION],
            "platform": "corten",
            "inputs": [value.metadata() for value in self.inputs],
            "outputs": [value.metadata() for value in self.outputs],
        }

    def call(
        self,
        inputs: dict[str, Any],
        begin: Callable[[PendingCall], None] = lambda _: None,
    ) -> dict[str, npt.NDArray[Any]]:
        """Run it. Every call begins with states that are zero.

        ``begin`` is given the call before it runs: another thread may cancel it.
        Raises what the engine raises.
        """
        states = self.function.create_states() if self.states else None
        pending = self.function._pending(inputs, states=states)
        begin(pending)
        pending.run()
        results = pending.finish()
        return {name: result.numpy() for name, result in results.items()}


class Catalogue:
    """Functions by the names under which clients ask for them.

    The model NAME is the function ``main`` of its asset, or the only one;
    NAME.FUNCTION is any of them.
    """

    def __init__(self) -> None:
        self._served: dict[str, Served] = {}
        #: What has several functions and none that is the main one.
        self._several: dict[str, list[str]] = {}

    def add(self, name: str, functions: dict[str, corten.Function]) -> None:
        """Raises ``CommandError`` for what the protocol has no words for."""
        for function in functions.values():
            _check_types(name, function)
        main = functions.get("main")
        if len(functions) == 1:
            (main,) = functions.values()
        if main is not None:
            self._insert(name, Served(name, main))
        else:
            self._several[name] = [f"{name}.{function}" for function in functions]
        for key, function in functions.items():
            full = f"{name}.{key}"
            is_main = function is main
            self._insert(
                full, self._served[name] if is_main else Served(full, function)
            )

    def _insert(self, name: str, served: Served) -> None:
        if name in self._served:
            raise CommandError(
                f"two models have the name {name}; NAME=PATH gives one another name"
            )
        self._served[name] = served

    def find(self, name: str) -> Served:
        """Raises ``KeyError`` with what a client should know."""
        served = self._served.get(name)
        if served is not None:
            return served
        if name in self._several:
            names = ", ".join(self._several[name])
            raise KeyError(f"the model {name} has several functions: ask for {names}")
        names = ", ".join(self.names()) or "none"
        raise KeyError(f"there is no model {name}; models here: {names}")

    def names(self) -> list[str]:
        return sorted({served.name for served in self._served.values()})

    def all(self) -> Iterable[Served]:
        """Each function once."""
        return dict.fromkeys(self._served.values())


def _check_types(name: str, function: corten.Function) -> None:
    for value in [*function.inputs, *function.outputs]:
        if value.dtype not in DATATYPES:
            raise CommandError(
                f"{name}: {value.name} of {function.name} is {value.dtype}, which "
                "the inference protocol has no type for"
            )


@dataclass
class Loaded:
    """What a server was told to serve."""

    catalogue: Catalogue
    #: Language models by name.
    languages: dict[str, LanguageModel]
    #: What there is to say, each with the name of the model.
    notes: list[tuple[str, str]]


def load(
    arguments: Sequence[str],
    threads: int | None,
    precision: Precision | None = None,
    *,
    announce: Callable[[str], None] | None = None,
) -> Loaded:
    """Load each PATH or NAME=PATH; the rest as for ``corten.load``.

    ``announce`` is told which is next.

    Raises ``CommandError`` and ``ValueError`` for what cannot be served.
    """
    loaded = Loaded(Catalogue(), {}, [])
    for number, argument in enumerate(arguments, 1):
        name, path = _split_name(argument)
        if announce is not None:
            announce(f"loading {path} ({number} of {len(arguments)})")
        with warnings.catch_warnings(record=True) as messages:
            warnings.simplefilter("always")
            if is_bundle(path):
                # The ending of a folder's name is a part of it, as in qwen2-0.5b.
                own = name or path.resolve().name
                _add_language(loaded, own, path, threads, precision)
                continue
            name = name or path.resolve().stem
            model = corten.load(path, threads=threads, precision=precision)
            loaded.catalogue.add(name, model.functions)
        loaded.notes += [(name, str(message.message)) for message in messages]
    return loaded


def _split_name(argument: str) -> tuple[str | None, Path]:
    """NAME=PATH, or a path."""
    name, sign, path = argument.partition("=")
    # An equals sign further behind belongs to the path.
    if not sign or "/" in name or Path(argument).exists():
        return None, Path(argument)
    if not name or not path:
        raise CommandError(f"{argument}: want PATH or NAME=PATH")
    return name, Path(path)


def _add_language(
    loaded: Loaded,
    name: str,
    path: Path,
    threads: int | None,
    precision: Precision | None,
) -> None:
    if name in loaded.languages:
        raise CommandError(
            f"two models have the name {name}; NAME=PATH gives one another name"
        )
    try:
        loaded.languages[name] = corten.llm.load(
            path, threads=threads, precision=precision
        )
    except ImportError as error:
        raise CommandError(str(error)) from error
