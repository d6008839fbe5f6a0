# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Language models over columns of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from corten._alone import alone_with
from corten._columns import as_numpy
from corten._text import path_text
from corten.llm import load
from corten.llm._model import MAX_ROWS

if TYPE_CHECKING:
    import pyarrow as pa

    from corten._engine import Precision
    from corten._text import StrPath
    from corten.llm import LanguageModel

#: What a task reads and what it adds, with the types in Arrow.
_COLUMNS: dict[str, tuple[str, dict[str, str]]] = {
    "generate": ("prompt", {"generated": "string"}),
    "score": ("text", {"logprobs": "list", "perplexity": "double"}),
}


class TextPredictor:
    """Continues the prompts of a column, or scores its texts.

    ``"generate"`` reads the column ``prompt`` and adds ``generated``; ``"score"``
    reads ``text`` and adds ``logprobs``, one for each token (NaN for the first),
    and ``perplexity``. Batches are as for :class:`corten.batch.Predictor`, and so
    is that the model is loaded with the first of them.

    Args:
        path: The bundle of a language model.
        task: One of the two.
        columns: From these names to those of columns, where they differ.
        seed: With a temperature, each prompt is continued with this seed: the
            result of a row does not depend on the rows around it.
        rows_per_call: How many prompts are continued together, where the program
            allows it; always the same ones of a batch, so that the same batch gives
            the same texts. The last bits of probabilities, and so a token that is
            nearly as probable as another, may depend on the rows that share calls:
            with 1 they do not.
        threads, precision: As for :class:`corten.batch.Predictor`.
        options: Of ``generate``, as ``max_tokens`` and ``temperature``.
    """

    def __init__(
        self,
        path: StrPath,
        task: Literal["generate", "score"] = "generate",
        *,
        columns: Mapping[str, str] | None = None,
        seed: int = 0,
        rows_per_call: int = MAX_ROWS,
        threads: int | None = None,
        precision: Precision | None = None,
        **options: Any,
    ) -> None:
        if task not in _COLUMNS:
            msg = f"task must be 'generate' or 'score', got {task!r}"
            raise ValueError(msg)
        given, added = _COLUMNS[task]
        columns = dict(columns or {})
        unknown = set(columns) - {given, *added}
        if unknown:
            msg = f"{task} has no column {min(unknown)!r}; it has {[given, *added]}"
            raise ValueError(msg)
        if task == "score" and options:
            msg = f"score has no option {min(options)!r}"
            raise ValueError(msg)
        if rows_per_call < 1:
            msg = f"rows_per_call must be at least 1, got {rows_per_call}"
            raise ValueError(msg)
        self.path = path_text(path)
        self._task = task
        self._given = columns.get(given, given)
        self._added = {name: columns.get(name, name) for name in added}
        self._options = {**options, "seed": seed} if task == "generate" else {}
        self._rows_per_call = rows_per_call
        self._threads = threads
        self._precision = precision
        self._model: LanguageModel | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_model": None}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.path!r}, {self._task!r})"

    def threads(self) -> int | None:
        """How many threads work on a call."""
        return self._threads

    def load(self) -> LanguageModel:
        """The model, which is loaded by then. Raises ``ValueError``."""
        if self._model is None:
            with alone_with(self.path):
                self._model = load(
                    self.path, threads=self.threads(), precision=self._precision
                )
        return self._model

    def __call__(self, batch: Any) -> Any:
        """The batch with what the task adds.

        Raises ``TypeError`` or ``ValueError`` for a column that is missing or has
        no texts, and for texts that the model cannot take.
        """
        if isinstance(batch, Mapping):
            found = self._predict(batch, list(batch))
            return {**batch, **{name: _numpy(rows) for name, rows in found.items()}}
        if hasattr(batch, "schema"):
            found = self._predict(batch, batch.schema.names)
            for field in self._fields():
                column = _arrow(found[field.name], field.type)
                batch = batch.append_column(field, column)
            return batch
        if hasattr(batch, "assign"):
            names = [str(name) for name in batch.columns]
            return batch.assign(**self._predict(batch, names))
        msg = (
            "a batch must be a dictionary of arrays, a table of pyarrow or a data "
            f"frame of pandas, not {type(batch).__name__}"
        )
        raise TypeError(msg)

    def map_in_arrow(
        self, batches: Iterable[pa.RecordBatch]
    ) -> Iterator[pa.RecordBatch]:
        """What ``mapInArrow`` of a data frame of Spark's takes."""
        for batch in batches:
            yield self(batch)

    def schema(self, schema: pa.Schema) -> pa.Schema:
        """What tables of this schema become."""
        for field in self._fields():
            schema = schema.append(field)
        return schema

    def _fields(self) -> list[pa.Field]:
        import pyarrow as pa

        kinds = {
            "string": pa.string(),
            "double": pa.float64(),
            "list": pa.list_(pa.float32()),
        }
        _, added = _COLUMNS[self._task]
        return [pa.field(self._added[name], kinds[added[name]]) for name in added]

    def _predict(self, batch: Any, names: list[str]) -> dict[str, list[Any]]:
        taken = set(self._added.values()) & set(names)
        if taken:
            msg = f"there is a column {min(taken)!r} already; give results another name"
            raise ValueError(msg)
        if self._given not in names:
            msg = (
                f"there is no column {self._given!r} to {self._task}; there are {names}"
            )
            raise ValueError(msg)
        column = batch[self._given]
        texts = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
        for row, text in enumerate(texts):
            if not isinstance(text, str):
                kind = "a null" if text is None else type(text).__name__
                msg = f"column {self._given!r} has {kind} in row {row}, and no text"
                raise TypeError(msg)
        found = (
            self._generate(texts) if self._task == "generate" else self._score(texts)
        )
        return {self._added[name]: rows for name, rows in found.items()}

    def _generate(self, prompts: list[str]) -> dict[str, list[Any]]:
        """In groups that only the batch decides."""
        model = self.load()
        size = 1 if model.batching == "none" else self._rows_per_call
        found: list[str] = []
        for start in range(0, len(prompts), size):
            group = prompts[start : start + size]
            found += model.generate_batch(group, max_rows=size, **self._options)
        return {"generated": found}

    def _score(self, texts: list[str]) -> dict[str, list[Any]]:
        model = self.load()
        scores = [model.score(text) for text in texts]
        return {
            "logprobs": [score.logprobs for score in scores],
            "perplexity": [score.perplexity for score in scores],
        }


def _numpy(rows: list[Any]) -> Any:
    return (
        as_numpy(rows) if rows and isinstance(rows[0], np.ndarray) else np.array(rows)
    )


def _arrow(rows: list[Any], kind: pa.DataType) -> pa.Array:
    import pyarrow as pa

    return pa.array(rows, kind)
