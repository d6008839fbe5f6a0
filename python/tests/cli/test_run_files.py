# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What corten run reads and writes: archives, raw elements, images; how it compares."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
import torch
from support.command import corten
from torch import nn


class Sum(nn.Module):
    """Two inputs and two results, one of whole numbers."""

    def forward(
        self, x: torch.Tensor, n: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        return x * 2.0 + n, n + 1


class Same(nn.Module):
    """Shows what it got."""

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return image + 0


def save(model: nn.Module, inputs: tuple[torch.Tensor, ...], path: Path) -> Path:
    batch = {0: torch.export.Dim("rows", min=1, max=64)}
    shapes = tuple(batch for _ in inputs) if isinstance(model, Sum) else None
    program = torch.export.export(model, inputs, dynamic_shapes=shapes)
    torch.export.save(program, path)
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    inputs = (torch.ones(2, 3), torch.ones(2, 3, dtype=torch.int32))
    return save(Sum(), inputs, folder / "sum.pt2")


def succeed(*arguments: str | Path, status: int = 0) -> str:
    answer = corten("run", *arguments)
    assert answer.status == status, answer.err
    return answer.out


X = np.arange(12, dtype=np.float32).reshape(4, 3)
N = np.arange(12, dtype=np.int32).reshape(4, 3) * 3


@pytest.mark.parametrize("write", [np.savez, np.savez_compressed])
def test_archives(model: Path, tmp_path: Path, write) -> None:
    # Other element types are converted, and the order of the axes does not matter.
    write(tmp_path / "in.npz", x=np.asfortranarray(X.astype(np.float64)), n=N)
    succeed(model, "--input", tmp_path / "in.npz", "--output", tmp_path / "out.npz")
    out = dict(np.load(tmp_path / "out.npz"))
    first, second = out
    np.testing.assert_array_equal(out[first], X * 2 + N)
    np.testing.assert_array_equal(out[second], N + 1)
    assert out[second].dtype == np.int32
    # One by its name, and one output alone.
    succeed(
        *(model, "--input", f"x={tmp_path / 'in.npz'}", "--shape", "n=4,3"),
        *("--output", f"{second}={tmp_path / 'one.npz'}"),
    )
    assert list(np.load(tmp_path / "one.npz")) == [second]


def test_raw(model: Path, tmp_path: Path) -> None:
    X.tofile(tmp_path / "x.bin")
    N.tofile(tmp_path / "n.bin")
    given = [
        f"--input=x=raw:{tmp_path / 'x.bin'}",
        f"--input=n=raw:{tmp_path / 'n.bin'}",
    ]
    text = succeed(model, *given)
    name = text.split(":")[0]
    succeed(model, *given, "--output", f"{name}=raw:{tmp_path / 'y.bin'}", "--quiet")
    result = np.fromfile(tmp_path / "y.bin", np.float32).reshape(4, 3)
    np.testing.assert_array_equal(result, X * 2 + N)
    answer = corten("run", model, *given, "--shape", "x=5,3")
    assert answer.status == 2
    assert "48 bytes, and 60 are needed for f32[5, 3]" in answer.err


def test_comparison(model: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "in.npz", x=X, n=N)
    given = [model, "--input", tmp_path / "in.npz"]
    reference = tmp_path / "out.npz"
    succeed(*given, "--output", reference)
    compare = [*given, "--compare", reference]
    assert "inf" in succeed(*compare)
    assert succeed(*compare, "--quiet") == ""

    arrays = dict(np.load(reference))
    first = next(iter(arrays))
    arrays[first][2, 1] += 0.5
    np.savez(reference, **arrays)
    text = succeed(*compare, "--quiet", status=1)
    assert "[2, 1]" in text
    assert "1 of 12" in text
    assert "0.5" in text
    # As large as it is: 41 may be off by 0.5, if a part in 50 is allowed.
    assert succeed(*compare, "--quiet", "--tolerance", "0.02") == ""
    succeed(*compare, "--tolerance", "0.001", status=1)
    # NaN is as far off as can be, also from NaN's neighbours.
    arrays[first][0, 0] = np.nan
    np.savez(reference, **arrays)
    text = succeed(*compare, "--tolerance", "100", status=1)
    assert "inf" in text
    assert "nan" in text


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"other": X}, "no array is called like an output"),
        ({"FIRST": X[:2]}, "the result is f32[4, 3]"),
    ],
)
def test_bad_references(model: Path, tmp_path: Path, arrays, message: str) -> None:
    np.savez(tmp_path / "in.npz", x=X, n=N)
    given = [model, "--input", tmp_path / "in.npz"]
    first = succeed(*given).split(":")[0]
    named = {name.replace("FIRST", first): array for name, array in arrays.items()}
    np.savez(tmp_path / "bad.npz", **named)
    answer = corten("run", *given, "--compare", tmp_path / "bad.npz")
    assert answer.status == 2
    assert message in answer.err


def png(pixels: np.ndarray) -> bytes:
    """A PNG file of RGB bytes."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


PIXELS = np.random.default_rng(0).integers(0, 256, (4, 6, 3), np.uint8)


@pytest.mark.parametrize(
    ("shape", "dtype", "want"),
    [
        ((1, 3, 4, 6), torch.float32, PIXELS.transpose(2, 0, 1)[None] / 255),
        ((1, 4, 6, 3), torch.float32, PIXELS[None] / 255),
        ((3, 4, 6), torch.float32, PIXELS.transpose(2, 0, 1) / 255),
        ((1, 4, 6, 3), torch.uint8, PIXELS[None]),
    ],
)
def test_images(tmp_path: Path, shape, dtype, want) -> None:
    model = save(Same(), (torch.ones(shape).to(dtype),), tmp_path / "same.pt2")
    (tmp_path / "a.png").write_bytes(png(PIXELS))
    given = [model, "--input", f"image={tmp_path / 'a.png'}"]
    succeed(*given, "--output", tmp_path / "y.npy")
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), want, atol=1e-6)
    if dtype == torch.float32:
        numbers = ["--mean", "0.5", "--std", "0.25,0.5,1"]
        succeed(*given, *numbers, "--output", tmp_path / "y.npy")
        axis = shape.index(3)
        by = np.array([0.25, 0.5, 1]).reshape(
            [3 if i == axis else 1 for i in range(len(shape))]
        )
        result = np.load(tmp_path / "y.npy")
        np.testing.assert_allclose(result, (want - 0.5) / by, atol=1e-5)


def test_images_are_resized(tmp_path: Path) -> None:
    model = save(Same(), (torch.ones(1, 3, 2, 3),), tmp_path / "same.pt2")
    # Blocks of one colour stay what they are; their middle is their mean.
    blocks = np.repeat(np.repeat(PIXELS[:2, :3], 8, axis=0), 8, axis=1)
    (tmp_path / "a.png").write_bytes(png(blocks))
    given = [model, "--input", f"image={tmp_path / 'a.png'}"]
    succeed(*given, "--output", tmp_path / "y.npy")
    small = torch.nn.functional.interpolate(
        torch.from_numpy(blocks.transpose(2, 0, 1)[None] / 255.0),
        size=(2, 3),
        mode="bilinear",
        antialias=True,
    )
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), small.numpy(), atol=1e-5)


def test_jpeg(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    model = save(Same(), (torch.ones(1, 3, 16, 16),), tmp_path / "same.pt2")
    flat = np.full((16, 16, 3), (200, 100, 50), np.uint8)
    encoded = io.BytesIO()
    image.fromarray(flat).save(encoded, "jpeg", quality=95)
    (tmp_path / "a.jpg").write_bytes(encoded.getvalue())
    given = [model, "--input", f"image={tmp_path / 'a.jpg'}"]
    succeed(*given, "--output", tmp_path / "y.npy")
    result = np.load(tmp_path / "y.npy")
    np.testing.assert_allclose(result[0].mean((1, 2)) * 255, [200, 100, 50], atol=2)
    (tmp_path / "a.jpg").write_bytes(encoded.getvalue()[:10] + b"rubbish")
    answer = corten("run", *given)
    assert answer.status == 2
    assert "a.jpg: no image that can be read" in answer.err


def test_images_that_do_not_fit(model: Path, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(png(PIXELS))
    answer = corten("run", model, "--input", f"x={tmp_path / 'a.png'}")
    assert answer.status == 2
    assert "an image is [1, 3, H, W]" in answer.err
    (tmp_path / "a.png").write_bytes(png(PIXELS)[:60])
    same = save(Same(), (torch.ones(1, 3, 4, 6),), tmp_path / "same.pt2")
    answer = corten("run", same, "--input", f"image={tmp_path / 'a.png'}")
    assert answer.status == 2
    assert "a.png: no image that can be read" in answer.err


def test_bench(model: Path) -> None:
    given = [model, "--shape", "x=8,3", "--shape", "n=8,3"]
    answer = corten("bench", *given, "--threads", "1,2", "--rounds", "20", "--json")
    assert answer.status == 0, answer.err
    result = answer.json
    assert result["function"] == result["entrypoint"]
    assert (result["entrypoint"], result["items"], result["unit"]) == (
        "main",
        8,
        "items",
    )
    assert [run["threads"] for run in result["runs"]] == [1, 2]
    for run in result["runs"]:
        times = run["times_ms"]
        assert len(times) == run["rounds"] == 20
        assert run["min_ms"] == min(times)
        assert run["max_ms"] == max(times)
        np.testing.assert_allclose(run["p50_ms"], np.percentile(times, 50))
        np.testing.assert_allclose(run["p99_ms"], np.percentile(times, 99))
        np.testing.assert_allclose(run["mean_ms"], np.mean(times))
        np.testing.assert_allclose(run["items_per_second"], 8000 / run["p50_ms"])

    answer = corten(
        "bench", *given, "--seconds", "0.2", "--items", "5", "--unit", "words"
    )
    assert answer.status == 0, answer.err
    assert "words/s" in answer.out
    assert "calls by time" in answer.out
    assert "█" in answer.out
    answer = corten("bench", model, "--rounds", "3", "--seconds", "3")
    assert answer.status == 2
