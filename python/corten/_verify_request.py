# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What ``corten verify`` is asked: which program, on which inputs, beside what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import corten
from corten import _command
from corten._columns import numpy_type

if TYPE_CHECKING:
    from argparse import Namespace

    from corten._types import EntryPoint, Value

Arrays = dict[str, npt.NDArray[Any]]


def read_arrays(path: str) -> Any:
    """The array of a ``.npy`` file, or those of a ``.npz`` file by name."""
    try:
        return np.load(path, allow_pickle=False)
    except OSError as error:
        raise _command.CommandError(f"{path}: {error.strerror or error}") from None
    except (ValueError, EOFError) as error:
        raise _command.CommandError(f"{path}: {error}") from None


def _pairs(values: Sequence[str], option: str) -> dict[str, str]:
    pairs = {}
    for value in values:
        name, equals, rest = value.partition("=")
        if not (name and equals and rest):
            raise _command.CommandError(f"{option} {value}: want NAME=...")
        pairs[name] = rest
    return pairs


def _given(texts: Sequence[str]) -> Arrays:
    """The inputs that files say."""
    found: Arrays = {}
    for text in texts:
        name, equals, path = text.rpartition("=")
        loaded = read_arrays(path)
        if not equals:
            if isinstance(loaded, Mapping):
                found.update(loaded)
                continue
            raise _command.CommandError(f"--input {text}: want NAME={text}")
        if isinstance(loaded, Mapping):
            if name not in loaded:
                raise _command.CommandError(f"{path} has no {name!r}")
            loaded = loaded[name]
        found[name] = loaded
    return found


def _extents(value: Value, shape: str | None) -> list[int]:
    if shape is None:
        # An axis of one would hide what goes wrong along it.
        return [
            axis
            if isinstance(axis, int)
            else min(max(axis["min"] or 1, 2), axis["max"] or 2)
            for axis in value["shape"]
        ]
    try:
        return [int(extent) for extent in shape.split(",") if extent]
    except ValueError:
        raise _command.CommandError(
            f"--shape {value['name']}={shape}: want numbers"
        ) from None


def _random(
    value: Value, shape: str | None, random: np.random.Generator
) -> npt.NDArray[Any]:
    """Of floats or integers; whoever takes it makes it the type that is wanted."""
    extents = _extents(value, shape)
    if value["dtype"].startswith(("f", "bf")):
        return random.standard_normal(extents, np.float32)
    return random.integers(0, 2, extents)


def _examples(path: str) -> Arrays:
    """The tensors that a program was exported with, by the names of inputs."""
    found: Arrays = {}
    for example in corten.open_pt2(path).examples():
        if example.input is None or not isinstance(example.value, corten.Tensor):
            continue
        kind = numpy_type(example.value.dtype)
        if kind is not None:
            array = np.frombuffer(example.value.data, kind)
            found[example.input] = array.reshape(example.value.shape)
    return found


@dataclass(frozen=True)
class Request:
    """The arguments of the command."""

    #: An asset, or an archive, which is converted.
    path: str
    reference: str
    function: str
    #: The folder that an archive takes weights from, and those that it has under
    #: another name only.
    weights: str | None
    tied: dict[str, str]
    #: Inputs and states that files say, and shapes of others.
    given: Arrays
    shapes: dict[str, str]
    seed: int
    tolerance: float | None
    backend: str
    precision: Any
    #: Where a script goes that shows a difference alone.
    scripts: str

    @classmethod
    def of(cls, options: Namespace, reference: str) -> Request:
        """Raises ``CommandError`` for files that cannot be read."""
        return cls(
            options.model,
            reference,
            options.entrypoint,
            options.weights,
            _pairs(options.tied, "--tied"),
            _given(options.input),
            _pairs(options.shape, "--shape"),
            options.seed,
            options.tolerance,
            options.backend,
            options.precision,
            options.scripts,
        )

    @property
    def is_archive(self) -> bool:
        """Whether the program is yet to be converted."""
        return self.path.endswith(".pt2")

    @property
    def has_inputs(self) -> bool:
        """Whether anything is said about inputs."""
        return bool(self.given or self.shapes)

    @cached_property
    def model(self) -> corten.Model:
        """The program, converted if need be."""
        if self.is_archive:
            return corten.convert_pt2(
                entrypoints={self.function: self.path},
                weights=self.weights,
                tied=self.tied,
            )
        return corten.open(self.path)

    @cached_property
    def entry_point(self) -> EntryPoint:
        """What the function takes and gives."""
        names = []
        for entry in self.model.info()["entrypoints"]:
            names.append(entry["name"])
            if entry["name"] == self.function:
                return entry
        raise _command.CommandError(
            f"there is no function {self.function!r}: there are {names}"
        )

    def inputs(self) -> Arrays:
        """All that the function takes.

        Of each input what is given, what it was exported with, or random numbers;
        states that nobody gives begin as zeros.
        """
        entry = self.entry_point
        names = [value["name"] for value in (*entry["inputs"], *entry["states"])]
        for name in (*self.given, *self.shapes):
            if name not in names:
                raise _command.CommandError(
                    f"there is no input {name!r}: it has {names}"
                )
        examples = _examples(self.path) if self.is_archive else {}
        known = {
            **{name: examples[name] for name in examples.keys() - self.shapes.keys()},
            **self.given,
        }
        random = np.random.default_rng(self.seed)
        found: Arrays = {}
        for value in entry["inputs"]:
            name = value["name"]
            # Whether others are known does not change what is random.
            made = _random(value, self.shapes.get(name), random)
            found[name] = known.get(name, made)
        for value in entry["states"]:
            name = value["name"]
            zeros = np.zeros(_extents(value, self.shapes.get(name)), np.float32)
            found[name] = known.get(name, zeros)
        return found
