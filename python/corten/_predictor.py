# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A function of a model, called with the rows of tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from corten import _columns
from corten._alone import alone_with
from corten._columns import Array, Rows
from corten._engine import load
from corten._native import Axis
from corten._text import entrypoint_of, path_text

if TYPE_CHECKING:
    import pyarrow as pa

    from corten._engine import Precision
    from corten._native import CompiledModel, Function, Parameter
    from corten._text import StrPath


@dataclass(frozen=True)
class _Output:
    """An output as a column."""

    name: str
    column: str
    #: Of a row.
    shape: tuple[int | Axis, ...]
    dtype: np.dtype[Any]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names) or "none"


def _chosen_function(model: CompiledModel, name: str | None) -> Function:
    if name is None and len(model) == 1:
        (name,) = model
    name = name or "main"
    if name not in model:
        msg = f"{model.path} has no function {name!r}; it has {_listed(model)}"
        raise ValueError(msg)
    return model[name]


def _output_columns(function: Function, chosen: Mapping[str, str]) -> list[_Output]:
    parameters = {parameter.name: parameter for parameter in function.outputs}
    outputs = []
    for name, column in chosen.items():
        parameter = parameters[name]
        # Complex numbers are pairs.
        pair = (2,) if parameter.dtype.startswith("complex") else ()
        shape = (*parameter.shape[1:], *pair)
        kind = _columns.column_type(parameter.dtype)
        outputs.append(_Output(name, column, shape, kind))
    return outputs


def _bounds(axis: int | Axis) -> tuple[int, int | None]:
    return (axis.low, axis.high) if isinstance(axis, Axis) else (axis, axis)


class _Rows:
    """Which axes of a function are rows, and how many a call takes."""

    def __init__(
        self,
        function: Function,
        inputs: Sequence[Parameter],
        outputs: Sequence[Parameter],
        rows_per_call: int | None,
    ) -> None:
        if not inputs:
            msg = f"function {function.name!r} has no input that rows could be"
            raise ValueError(msg)
        first = inputs[0]
        for role, parameters in (("input", inputs), ("output", outputs)):
            for parameter in parameters:
                self._check(function, role, parameter, first)
        bounds = [_bounds(parameter.shape[0]) for parameter in inputs]
        self.low = max(low for low, _ in bounds)
        self.high = min((high for _, high in bounds if high is not None), default=None)
        if rows_per_call is not None:
            least = max(self.low, 1)
            most = rows_per_call if self.high is None else self.high
            self.low = self.high = min(max(rows_per_call, least), most)

    @staticmethod
    def _check(
        function: Function, role: str, parameter: Parameter, first: Parameter
    ) -> None:
        text = _columns.shape_text(parameter.dtype, parameter.shape)
        what = f"{role} {parameter.name!r} of {function.name!r} is {text}"
        if _columns.numpy_type(parameter.dtype) is None:
            msg = f"{what}; no column holds such elements"
            raise ValueError(msg)
        # Another symbol may stand for the same number; calls find that out.
        is_rows = bool(parameter.shape and first.shape) and (
            isinstance(parameter.shape[0], Axis)
            if isinstance(first.shape[0], Axis)
            else parameter.shape[0] == first.shape[0]
        )
        if not is_rows:
            advice = (
                "give what is the same for all rows as a constant"
                if role == "input"
                else "name the outputs that are wanted"
            )
            msg = f"{what}; its first axis is not the rows: {advice}"
            raise ValueError(msg)

    def parts(self, rows: int) -> Iterator[tuple[slice, int]]:
        """The rows of each call, and how many are missing to a whole one."""
        most = self.high or rows
        for start in range(0, rows, most):
            stop = min(start + most, rows)
            yield slice(start, stop), max(self.low - (stop - start), 0)


class Predictor:
    """Takes columns named like a function's inputs, adds some like its outputs.

    A batch is a table or a record batch of Arrow's, a dictionary of numpy arrays,
    or a data frame of pandas'; rows are the first axis of every input and output.
    Other columns stay. The model is loaded with the first batch: a predictor that
    is sent to another process takes its options along, not the model.

    Args:
        path: An asset, a plan or an archive.
        entrypoint: Which function; not needed if there is one, or one called ``main``.
        columns: From names of inputs to those of columns, where they differ.
        outputs: Which outputs become columns; a mapping also says how they are
            called.
        constants: Values of inputs that are the same for all rows.
        rows_per_call: How many rows a call takes, as far as the program leaves
            that open. Rows that are missing are made up, and what comes of them
            is thrown away. Otherwise a call takes the whole batch: the last bits
            of a result may then depend on how many rows there are.
        threads: How many work on a call; as many as the process may run on, if it
            is left open.
        precision: As for :func:`corten.load`.
        tensors: What tensors are in tables of Arrow's: ``"tensor"`` columns of a
            fixed shape, or nested ``"list"`` columns.
        function: An older spelling of ``entrypoint``.
    """

    def __init__(
        self,
        path: StrPath,
        entrypoint: str | None = None,
        *,
        columns: Mapping[str, str] | None = None,
        outputs: Sequence[str] | Mapping[str, str] | None = None,
        constants: Mapping[str, Any] | None = None,
        rows_per_call: int | None = None,
        threads: int | None = None,
        precision: Precision | None = None,
        tensors: Literal["tensor", "list"] = "tensor",
        function: str | None = None,
    ) -> None:
        if tensors not in ("tensor", "list"):
            msg = f"tensors must be 'tensor' or 'list', got {tensors!r}"
            raise ValueError(msg)
        if rows_per_call is not None and rows_per_call < 1:
            msg = f"rows_per_call must be at least 1, got {rows_per_call}"
            raise ValueError(msg)
        self.path = path_text(path)
        self._name = entrypoint_of(entrypoint, function, "function")
        self._columns = dict(columns or {})
        self._chosen = outputs
        self._constants = {k: np.asarray(v) for k, v in (constants or {}).items()}
        self._rows_per_call = rows_per_call
        self._threads = threads
        self._precision = precision
        self._tensors = tensors
        self._function: Function | None = None

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        for name in ("_inputs", "_outputs", "_rows"):
            state.pop(name, None)
        return {**state, "_function": None}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.path!r})"

    def threads(self) -> int | None:
        """How many threads work on a call."""
        return self._threads

    def load(self) -> Function:
        """The function, which is loaded by then.

        Raises ``ValueError`` if there is no such model or function, or if its
        rows are no rows.
        """
        if self._function is None:
            with alone_with(self.path):
                model = load(
                    self.path, threads=self.threads(), precision=self._precision
                )
            function = _chosen_function(model, self._name)
            known = [parameter.name for parameter in function.inputs]
            self._check_names("input", [*self._columns, *self._constants], known)
            self._inputs = [
                parameter
                for parameter in function.inputs
                if parameter.name not in self._constants
            ]
            chosen = self._chosen_outputs(function)
            self._rows = _Rows(
                function,
                self._inputs,
                [p for p in function.outputs if p.name in chosen],
                self._rows_per_call,
            )
            self._outputs = _output_columns(function, chosen)
            self._function = function
        return self._function

    def _check_names(self, role: str, names: Iterable[str], known: list[str]) -> None:
        for name in names:
            if name not in known:
                msg = f"{self.path} has no {role} {name!r}; it has {_listed(known)}"
                raise ValueError(msg)

    def _chosen_outputs(self, function: Function) -> Mapping[str, str]:
        """From names of outputs to those of columns."""
        chosen = self._chosen
        known = [parameter.name for parameter in function.outputs]
        if chosen is None:
            chosen = known
        elif isinstance(chosen, str):
            chosen = [chosen]
        if not isinstance(chosen, Mapping):
            chosen = {name: name for name in chosen}
        self._check_names("output", chosen, known)
        return chosen

    # ---- batches

    def __call__(self, batch: Any) -> Any:
        """The batch with the outputs as columns.

        Raises ``TypeError`` or ``ValueError`` that say which column is missing or
        of another kind than the function wants.
        """
        if isinstance(batch, Mapping):
            found = self._predict(batch, list(batch))
            added = {
                output.column: _columns.as_numpy(rows) for output, rows in found.items()
            }
            return {**batch, **added}
        if hasattr(batch, "schema"):
            return self._table(batch)
        if hasattr(batch, "assign"):
            names = [str(name) for name in batch.columns]
            arrays = {name: batch[name].to_numpy() for name in names}
            found = self._predict(arrays, names)
            return batch.assign(**{o.column: list(rows) for o, rows in found.items()})
        msg = (
            "a batch must be a dictionary of arrays, a table of pyarrow or a data "
            f"frame of pandas, not {type(batch).__name__}"
        )
        raise TypeError(msg)

    def _table(self, table: Any) -> Any:
        found = self._predict(table, table.schema.names)
        for output, rows in found.items():
            column = _columns.as_arrow(rows, output.shape, self._tensors)
            table = table.append_column(output.column, column)
        return table

    def map_in_arrow(
        self, batches: Iterable[pa.RecordBatch]
    ) -> Iterator[pa.RecordBatch]:
        """What ``mapInArrow`` of a data frame of Spark's takes."""
        for batch in batches:
            yield self._table(batch)

    def schema(self, schema: pa.Schema) -> pa.Schema:
        """What tables of this schema become."""
        self.load()
        for output in self._outputs:
            empty = _columns.as_arrow(self._empty(output), output.shape, self._tensors)
            schema = schema.append(_field(output.column, empty.type))
        return schema

    @staticmethod
    def _empty(output: _Output) -> Array:
        extents = [axis if isinstance(axis, int) else 0 for axis in output.shape]
        return np.empty((0, *extents), output.dtype)

    def _predict(self, batch: Any, names: list[str]) -> dict[_Output, Rows]:
        function = self.load()
        taken = {output.column for output in self._outputs} & set(names)
        if taken:
            msg = (
                f"there is a column {min(taken)!r} already; give the output of "
                f"{function.name!r} another name"
            )
            raise ValueError(msg)
        given: dict[str, Rows] = {}
        for parameter in self._inputs:
            column = self._columns.get(parameter.name, parameter.name)
            what = f"input {parameter.name!r} of {function.name!r}"
            if column not in names:
                listed = _listed(names)
                msg = f"there is no column {column!r} for {what}; there are {listed}"
                raise ValueError(msg)
            rows = _columns.rows_of(batch[column], column)
            if not len(rows):
                return {output: self._empty(output) for output in self._outputs}
            given[parameter.name] = _columns.tensor_of(
                rows, column, parameter.dtype, parameter.shape, what
            )
        return self._by_shape(function, given)

    def _by_shape(
        self, function: Function, given: dict[str, Rows]
    ) -> dict[_Output, Rows]:
        """Calls for rows of one shape each; results in the order of the rows."""
        if not any(isinstance(rows, list) for rows in given.values()):
            return self._in_parts(function, given)
        groups: dict[tuple[tuple[int, ...], ...], list[int]] = {}
        for i, row in enumerate(zip(*given.values(), strict=True)):
            groups.setdefault(tuple(each.shape for each in row), []).append(i)
        results: dict[_Output, list[Array]] = {o: [] for o in self._outputs}
        order: list[int] = []
        for indices in groups.values():
            order += indices
            part = {
                name: np.stack([rows[i] for i in indices])
                for name, rows in given.items()
            }
            for output, rows in self._in_parts(function, part).items():
                results[output] += list(rows)
        places = np.argsort(order)
        return {
            output: _columns.stacked([rows[i] for i in places])
            for output, rows in results.items()
        }

    def _in_parts(self, function: Function, given: Any) -> dict[_Output, Rows]:
        """Calls with as many rows as the function takes."""
        rows = len(next(iter(given.values())))
        parts: dict[_Output, list[Array]] = {output: [] for output in self._outputs}
        for part, missing in self._rows.parts(rows):
            inputs = {name: array[part] for name, array in given.items()}
            if missing:
                inputs = {
                    name: np.concatenate([array, array[-1:].repeat(missing, 0)])
                    for name, array in inputs.items()
                }
            count = part.stop - part.start
            for output, array in self._call(function, inputs, count + missing).items():
                parts[output].append(array[:count])
        return {
            output: arrays[0] if len(arrays) == 1 else _joined(arrays)
            for output, arrays in parts.items()
        }

    def _call(
        self, function: Function, inputs: dict[str, Array], rows: int
    ) -> dict[_Output, Array]:
        # Rows know nothing of each other: no state outlives a call.
        states = {"states": function.create_states()} if function.states else {}
        results = function({**self._constants, **inputs}, **states)
        arrays = {}
        for output in self._outputs:
            array = _columns.from_engine(results[output.name])
            if len(array) != rows:
                msg = (
                    f"output {output.name!r} of {function.name!r} has {len(array)} "
                    f"rows for {rows} of the inputs"
                )
                raise ValueError(msg)
            arrays[output] = array
        return arrays


def _joined(arrays: list[Array]) -> Rows:
    if all(array.shape[1:] == arrays[0].shape[1:] for array in arrays):
        return np.concatenate(arrays)
    return [row for array in arrays for row in array]


def _field(name: str, kind: pa.DataType) -> pa.Field:
    import pyarrow as pa

    return pa.field(name, kind)
