# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of tables through a model: kinds of columns, types, shapes, messages."""

from __future__ import annotations

import itertools
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch
from ray.data.extensions import ArrowTensorArray, ArrowVariableShapedTensorArray
from support.cases import convert, export

import corten
from corten.batch import Predictor

ROWS = 50
RANDOM = np.random.default_rng(0)
IMAGES = RANDOM.standard_normal((ROWS, 3, 8, 8), dtype=np.float32)
WEIGHTS = RANDOM.standard_normal(ROWS, dtype=np.float32)


def tensors(array: Any) -> pa.Array:
    return pa.FixedShapeTensorArray.from_numpy_ndarray(array)


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return pa.table(
        {"id": np.arange(ROWS), "image": tensors(IMAGES), "weight": WEIGHTS}
    )


@pytest.fixture(scope="module")
def expected(pictures: Path) -> dict[str, Any]:
    found = corten.load(pictures)["main"](IMAGES, WEIGHTS)
    return {name: array.numpy() for name, array in found.items()}


def saved(
    folder: Path,
    module: torch.nn.Module,
    inputs: tuple[torch.Tensor, ...],
    dynamic: tuple[tuple[int, ...], ...] | None,
    names: list[str],
    outputs: list[str],
    **more: Any,
) -> Path:
    exported = export(module.eval(), inputs, dynamic)
    program = convert(exported, input_names=names, output_names=outputs, **more)
    path = folder / "model.aimodel"
    corten.save(program, path)
    return path


def test_a_table(pictures: Path, table: pa.Table, expected: dict[str, Any]) -> None:
    predictor = Predictor(pictures)
    found = predictor(table)
    assert found.schema.names == ["id", "image", "weight", "probs", "score"]
    assert found.schema == predictor.schema(table.schema)
    probs = found["probs"].combine_chunks()
    assert probs.type == pa.fixed_shape_tensor(pa.float32(), (10,))
    np.testing.assert_array_equal(probs.to_numpy_ndarray(), expected["probs"])
    np.testing.assert_array_equal(found["score"].to_numpy(), expected["score"])
    assert found["id"].equals(table["id"])
    (batch,) = table.to_batches()
    assert predictor(batch).schema == found.schema
    # Of several chunks.
    chunks = pa.concat_tables([table.slice(0, 7), table.slice(7)])
    assert predictor(chunks)["score"].combine_chunks().equals(found["score"].chunk(0))


def test_precision(pictures: Path, table: pa.Table, expected: dict[str, Any]) -> None:
    found = Predictor(pictures, precision="bf16")(table)["probs"].combine_chunks()
    probs = found.to_numpy_ndarray()
    assert not np.array_equal(probs, expected["probs"])
    np.testing.assert_allclose(probs, expected["probs"], atol=0.05)


def test_arrays_and_data_frames(pictures: Path, expected: dict[str, Any]) -> None:
    predictor = Predictor(pictures)
    batch = {"image": IMAGES, "weight": WEIGHTS, "text": np.array(["a"] * ROWS)}
    found = predictor(batch)
    assert list(found) == ["image", "weight", "text", "probs", "score"]
    np.testing.assert_array_equal(found["probs"], expected["probs"])
    frame = predictor(pd.DataFrame({"image": list(IMAGES), "weight": WEIGHTS}))
    np.testing.assert_array_equal(np.stack(frame["probs"]), expected["probs"])
    with pytest.raises(TypeError, match="not list"):
        predictor([1, 2])


@pytest.mark.parametrize(
    "column",
    [
        pa.array(IMAGES.tolist(), pa.list_(pa.list_(pa.list_(pa.float32())))),
        pa.array(IMAGES.reshape(ROWS, -1).tolist(), pa.large_list(pa.float32())),
        pa.FixedSizeListArray.from_arrays(pa.array(IMAGES.ravel()), 192),
        pa.array(IMAGES.reshape(ROWS, -1).astype(float).tolist()),
    ],
    ids=["nested", "flat", "fixed", "wider"],
)
def test_lists_are_tensors(
    column: pa.Array, pictures: Path, table: pa.Table, expected: dict[str, Any]
) -> None:
    given = table.set_column(1, "image", column)
    found = Predictor(pictures, tensors="list")(given)
    assert found["probs"].type == pa.list_(pa.float32())
    np.testing.assert_array_equal(found["probs"].to_pylist(), expected["probs"])


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (None, "there is no column 'weight' for input 'weight' of 'main'; there are"),
        (WEIGHTS.astype(float) + 1e-12, "'weight' has rows of float64.*row 0 cannot"),
        (np.full(ROWS, 2**24 + 1), r"int64\[\].*without a change.*expects float32\["),
        (pa.array(["a"] * ROWS), "'weight' is string"),
        (pa.array([1.0] * 3 + [None] * (ROWS - 3)), "a null in row 3"),
        (pa.array([[1.0, 2.0]] * ROWS), r"rows of float64\[2\]; input 'weight' of"),
        (pa.array([[1.0, None]] * ROWS), "a null in one of its lists"),
        (pa.array([[[1.0], [2.0, 3.0]]] * ROWS), "no tensor in row 0"),
        (pa.array(np.zeros(ROWS, "datetime64[s]")), r"is timestamp"),
    ],
)
def test_what_does_not_fit_is_said(
    column: Any, message: str, pictures: Path, table: pa.Table
) -> None:
    given = table.drop_columns(["weight"])
    if column is not None:
        given = given.append_column("weight", pa.array(column))
    with pytest.raises((TypeError, ValueError), match=message):
        Predictor(pictures)(given)


def test_types_that_hold_the_same_values(pictures: Path, table: pa.Table) -> None:
    whole = np.arange(ROWS) % 7
    want = None
    for kind in (np.float32, np.int64, np.uint8, np.float16, np.float64):
        given = table.set_column(2, "weight", pa.array(whole.astype(kind)))
        found = Predictor(pictures, outputs=["score"])(given)["score"].to_numpy()
        want = found if want is None else want
        np.testing.assert_array_equal(found, want)
    nothing = np.where(whole == 3, np.nan, whole)
    given = table.set_column(2, "weight", pa.array(nothing))
    found = Predictor(pictures, outputs="score")(given)["score"].to_numpy()
    np.testing.assert_array_equal(np.isnan(found), whole == 3)


def test_names(pictures: Path, table: pa.Table, expected: dict[str, Any]) -> None:
    renamed = table.rename_columns(["score", "pixels", "weight"])
    with pytest.raises(ValueError, match="there is a column 'score' already"):
        Predictor(pictures, columns={"image": "pixels"})(renamed)
    found = Predictor(
        pictures, columns={"image": "pixels"}, outputs={"score": "points"}
    )(renamed)
    assert found.schema.names == ["score", "pixels", "weight", "points"]
    np.testing.assert_array_equal(found["points"].to_numpy(), expected["score"])
    constants = {"image": IMAGES[:1]}
    with pytest.raises(ValueError, match="has no input 'picture'; it has 'image'"):
        Predictor(pictures, columns={"picture": "pixels"})(renamed)
    with pytest.raises(ValueError, match="has no output 'other'; it has 'probs'"):
        Predictor(pictures, outputs=["other"], constants=constants)(renamed)
    with pytest.raises(ValueError, match="no function 'other'; it has 'main'"):
        Predictor(pictures, entrypoint="other")(renamed)
    # What it was called before, and its place.
    with pytest.raises(ValueError, match="no function 'other'; it has 'main'"):
        Predictor(pictures, function="other")(renamed)
    with pytest.raises(TypeError, match="older spelling"):
        Predictor(pictures, "main", function="main")
    with pytest.raises(ValueError, match=r"nothing\.aimodel"):
        Predictor("nothing.aimodel")(renamed)


def test_how_many_rows_a_call_has(pictures: Path, table: pa.Table) -> None:
    """Where batches begin does not matter to results once calls are of one size."""
    predictor = Predictor(pictures, rows_per_call=16)
    want = predictor(table)["probs"].combine_chunks().to_numpy_ndarray()
    for size in (1, 3, 17, 49):
        parts = [
            predictor(table.slice(start, size))["probs"]
            .combine_chunks()
            .to_numpy_ndarray()
            for start in range(0, ROWS, size)
        ]
        np.testing.assert_array_equal(np.concatenate(parts), want)
    with pytest.raises(ValueError, match="at least 1, got 0"):
        Predictor(pictures, rows_per_call=0)


@pytest.mark.parametrize("size", [1, 4])
def test_a_fixed_number_of_rows(size: int, tmp_path: Path) -> None:
    module = torch.nn.Linear(6, 2)
    path = saved(tmp_path, module, (torch.randn(size, 6),), None, ["x"], ["y"])
    x = RANDOM.standard_normal((11, 6), dtype=np.float32)
    want = module(torch.from_numpy(x)).detach().numpy()
    for rows_per_call in (None, 7):
        found = Predictor(path, rows_per_call=rows_per_call)({"x": x})["y"]
        np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-6)


class Pairs(torch.nn.Module):
    """Any length, an input that all rows share, a result without rows."""

    def forward(
        self, x: torch.Tensor, scale: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        y = x * scale
        return y, y.sum(1), y.sum((0, 1))


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pairs")
    inputs = (torch.randn(3, 5), torch.randn(1))
    return saved(
        folder, Pairs(), inputs, ((0, 1), ()), ["x", "scale"], ["y", "s", "all"]
    )


def test_tensors_of_ray(
    pictures: Path, pairs: Path, table: pa.Table, expected: dict[str, Any]
) -> None:
    given = table.set_column(1, "image", ArrowTensorArray.from_numpy(IMAGES))
    found = Predictor(pictures)(given)
    np.testing.assert_array_equal(found["score"].to_numpy(), expected["score"])
    rows = np.empty(2, object)
    rows[:] = [np.ones(3, np.float32), np.ones(2, np.float32)]
    column = ArrowVariableShapedTensorArray.from_numpy(rows)
    constants = {"scale": np.float32([2])}
    predictor = Predictor(pairs, constants=constants, outputs=["s"])
    assert predictor(pa.table({"x": column}))["s"].to_pylist() == [6, 4]


def test_rows_of_different_lengths(pairs: Path) -> None:
    rows = [np.arange(n, dtype=np.float32) for n in (3, 5, 3, 4, 5)]
    options: Any = {"constants": {"scale": np.float32([2])}, "outputs": ["y", "s"]}
    kind = pa.list_(pa.float32())
    given = pa.table({"x": pa.array([row.tolist() for row in rows], kind)})
    found = Predictor(pairs, **options)(given)
    assert found["y"].to_pylist() == [(row * 2).tolist() for row in rows]
    assert found["s"].to_pylist() == [row.sum() * 2 for row in rows]
    batch = {"x": np.array([*rows, None], object)[:-1]}
    arrays = Predictor(pairs, **options)(batch)
    assert [row.tolist() for row in arrays["y"]] == found["y"].to_pylist()
    # Rows of one length have the same schema.
    alike = given.take([0, 2])
    assert Predictor(pairs, **options)(alike).schema == found.schema


def test_what_has_no_rows_is_refused(pairs: Path) -> None:
    batch = {"x": np.ones((2, 3), np.float32)}
    with pytest.raises(ValueError, match=r"'scale' of 'main' is .*as a constant"):
        Predictor(pairs)(batch)
    constants = {"scale": np.float32([2])}
    with pytest.raises(ValueError, match=r"output 'all' of 'main' is .*are wanted"):
        Predictor(pairs, constants=constants)(batch)


def test_no_rows(pictures: Path, table: pa.Table) -> None:
    predictor = Predictor(pictures)
    found = predictor(table.slice(0, 0))
    assert found.num_rows == 0
    assert found.schema == predictor.schema(table.schema)


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.complex64, torch.bool])
def test_types_that_tables_lack(kind: torch.dtype, tmp_path: Path) -> None:
    class Twice(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return ~x if x.dtype == torch.bool else x + x

    x = torch.arange(6).reshape(3, 2).to(kind)
    if kind.is_complex:
        x = x * (1 + 2j)
    path = saved(tmp_path, Twice(), (x,), ((0,),), ["x"], ["y"])
    plain = torch.view_as_real(x) if kind.is_complex else x
    plain = plain if kind == torch.bool else plain.float()
    table = pa.table({"x": pa.array(plain.numpy().tolist())})
    found = Predictor(path)(table)["y"].combine_chunks()
    want = torch.view_as_real(x + x) if kind.is_complex else Twice()(x)
    assert found.type.value_type == (pa.bool_() if kind == torch.bool else pa.float32())
    storage = found.storage.flatten().to_numpy(zero_copy_only=False)
    np.testing.assert_array_equal(storage, want.flatten().float().numpy())


def test_states_begin_anew(tmp_path: Path) -> None:
    class Counter(torch.nn.Module):
        total: torch.Tensor

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("total", torch.zeros(1))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.total += 1
            return x + self.total

    path = saved(
        tmp_path,
        Counter(),
        (torch.zeros(2),),
        ((0,),),
        ["x"],
        ["y"],
        state_names=["total"],
    )
    predictor = Predictor(path)
    for _ in range(3):
        assert predictor({"x": np.float32([1, 2, 3])})["y"].tolist() == [2, 3, 4]


def test_spark(pictures: Path, table: pa.Table, expected: dict[str, Any]) -> None:
    """As Spark does it: pickled, with batches that come one by one."""
    predictor = Predictor(pictures, tensors="list")
    sent = pickle.loads(pickle.dumps(predictor.map_in_arrow))
    plain = table.set_column(
        1, "image", pa.array(IMAGES.reshape(ROWS, -1).tolist(), pa.list_(pa.float32()))
    )
    batches = plain.to_batches(max_chunksize=16)
    found = pa.Table.from_batches(sent(iter(batches)))
    assert found.schema == predictor.schema(plain.schema)
    for kind in found.schema.types:
        assert not isinstance(kind, pa.BaseExtensionType)
    np.testing.assert_allclose(found["score"].to_numpy(), expected["score"], rtol=1e-5)
    # After a call too the model stays where it is.
    assert len(pickle.dumps(predictor)) < 2000


# ---- loading


_LOAD = """
import sys, time
import corten._engine
import corten._predictor
load = corten._engine.load
def timed(path, **options):
    begun = time.monotonic()
    time.sleep(0.2)
    model = load(path, **options)
    print(begun, time.monotonic())
    return model
corten._predictor.load = timed
corten._predictor.Predictor(sys.argv[1]).load()
"""


def test_processes_take_turns_to_load(pictures: Path) -> None:
    """So that the first can compile for all."""
    running = [
        subprocess.Popen(
            [sys.executable, "-c", _LOAD, str(pictures)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    times = sorted(
        tuple(map(float, process.communicate(timeout=60)[0].split()))
        for process in running
    )
    for (_, end), (begin, _) in itertools.pairwise(times):
        assert end <= begin


def test_archives(tmp_path: Path) -> None:
    module = torch.nn.Linear(6, 2).eval()
    path = tmp_path / "model.pt2"
    torch.export.save(export(module, (torch.randn(3, 6),), ((0,),)), path)
    x = RANDOM.standard_normal((4, 6), dtype=np.float32)
    function = corten.load(path)["main"]
    (given, result) = (function.inputs[0].name, function.outputs[0].name)
    found = Predictor(path)({given: x})[result]
    np.testing.assert_array_equal(found, function(x)[result].numpy())
