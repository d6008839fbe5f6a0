# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Optimized assets compute what they computed, on the official interpreter."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from compression.schemes import compress, palettized, quantized
from support.command import Written, corten
from support.runtime import interface, run_asset
from torch import nn

import corten as module
from coreai_torch import TorchConverter, get_decomp_table


class Convolution(nn.Module):
    """With the noise of a training script: casts, permutations, ones."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        image = image.permute(0, 2, 3, 1).mul(1.0).permute(0, 3, 1, 2)
        features = torch.relu(self.norm(self.conv(image)))
        return features.double().float() - 0.0


class Growing(nn.Module):
    """Sizes that are not known, and much that is computed of them."""

    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(16, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n = x.shape[1]
        places = torch.arange(n, dtype=x.dtype).view(1, n, 1)
        mask = torch.ones(n, n).tril().bool()
        y = self.head(x + places).view(x.shape[0], n, 4, 4).transpose(1, 2)
        scores = (y @ y.transpose(-1, -2)).masked_fill(~mask, float("-inf"))
        return (scores.softmax(-1) @ y).transpose(1, 2).reshape(x.shape)


class Cached(nn.Module):
    """A cache that grows by what it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(8, 8)
        self.register_buffer("keys", torch.zeros(1, 6, 8))
        self.register_buffer("length", torch.zeros(1, dtype=torch.int32))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        keys = torch.cat((self.keys[:, 1:], self.project(x)), 1)
        self.keys.copy_(keys)
        self.length.add_(1)
        scores = (x @ self.keys.transpose(1, 2)).softmax(-1)
        return scores @ self.keys


class Chosen(nn.Module):
    """One of two branches."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        def positive(x: torch.Tensor) -> torch.Tensor:
            return x.t().exp().t() * 1.0

        def negative(x: torch.Tensor) -> torch.Tensor:
            return x.t().tanh().t() - 0.0

        return torch.cond(x.sum() > 0, positive, negative, (x,))


@dataclass(frozen=True)
class Subject:
    name: str
    model: nn.Module
    args: tuple[torch.Tensor, ...]
    #: Inputs of other sizes.
    others: tuple[tuple[torch.Tensor, ...], ...] = ()
    dynamic: Any = None
    calls: int = 1


def subjects() -> list[Subject]:
    torch.manual_seed(0)
    growing = {1: torch.export.Dim("length", min=2, max=64)}
    return [
        Subject("convolution", Convolution(), (torch.randn(2, 3, 8, 8),)),
        Subject(
            "transformer",
            nn.TransformerEncoderLayer(16, 2, 32, batch_first=True),
            (torch.randn(2, 5, 16),),
        ),
        Subject(
            "dynamic",
            Growing(),
            (torch.randn(2, 5, 16),),
            ((torch.randn(2, 3, 16),), (torch.randn(2, 9, 16),)),
            (growing,),
        ),
        Subject("state", Cached(), (torch.randn(1, 1, 8),), calls=4),
        Subject("branches", Chosen(), (torch.randn(2, 3),), ((-torch.ones(2, 3),),)),
        *(
            Subject(
                scheme.name,
                nn.Sequential(compress(nn.Linear(32, 32), scheme), nn.ReLU()),
                (torch.randn(2, 32),),
            )
            for scheme in (quantized(torch.int4, "block", "zero_point"), palettized(4))
        ),
    ]


SUBJECTS = {subject.name: subject for subject in subjects()}


@pytest.fixture(params=SUBJECTS.values(), ids=SUBJECTS.keys(), scope="module")
def subject(request: pytest.FixtureRequest) -> Subject:
    return request.param


@dataclass(frozen=True)
class Saved:
    path: Path
    calls: list[Mapping[str, torch.Tensor]]
    state: dict[str, torch.Tensor]


def save(subject: Subject, folder: Path, *, optimized: bool) -> Saved:
    """As the converter makes it, or as coreai-core optimizes it: with handles."""
    exported = torch.export.export(
        subject.model.eval(), subject.args, dynamic_shapes=subject.dynamic
    ).run_decompositions(get_decomp_table())
    program = TorchConverter().add_exported_program(exported).to_coreai()
    if optimized:
        program.optimize()
    inputs, _, states = interface(program)
    path = folder / "before.aimodel"
    program.save_asset(path)
    buffers = dict(subject.model.named_buffers())
    start = {}
    for name in (*inputs, *states):
        for buffer, value in buffers.items():
            if name.removeprefix("b_") == buffer.replace(".", "_"):
                start[name] = torch.zeros_like(value)
    given = [subject.args] * subject.calls + list(subject.others)
    names = [name for name in inputs if name not in start]
    plain = {name: value for name, value in start.items() if name not in states}
    calls = [dict(zip(names, args, strict=True)) | plain for args in given]
    return Saved(path, calls, {name: start[name] for name in states})


def assert_same(before: Path, after: Path, saved: Saved) -> None:
    expected, kept = run_asset(before, saved.calls, state=saved.state)
    results, state = run_asset(after, saved.calls, state=saved.state)
    for one, other in zip(expected, results, strict=True):
        assert set(one) == set(other)
        for name, value in one.items():
            # Products of matrices that were transposed before may be summed up
            # in another order.
            torch.testing.assert_close(other[name], value, rtol=1e-6, atol=1e-6)
    assert set(kept) == set(state)
    for name, value in kept.items():
        torch.testing.assert_close(state[name], value, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("optimized", [False, True], ids=["converted", "handles"])
def test_it_computes_the_same(
    subject: Subject, optimized: bool, tmp_path: Path
) -> None:
    saved = save(subject, tmp_path, optimized=optimized)
    after = tmp_path / "after.aimodel"
    answer = corten("optimize", saved.path, "-o", after)
    assert answer.status == 0, answer.err
    count = re.fullmatch(r".*: (\d+) operations, before (\d+)\n", answer.out)
    assert count
    assert int(count[1]) <= int(count[2])
    assert corten("doctor", after).status == corten("doctor", saved.path).status
    before, info = (corten("info", path, "--json").json for path in (saved.path, after))
    assert info["entrypoints"] == before["entrypoints"]
    assert_same(saved.path, after, saved)


def test_the_second_time_changes_nothing(subject: Subject, tmp_path: Path) -> None:
    saved = save(subject, tmp_path, optimized=False)
    once, twice = tmp_path / "once.aimodel", tmp_path / "twice.aimodel"
    assert corten("optimize", saved.path, "-o", once).status == 0
    assert corten("optimize", once, "-o", twice, "--quiet").out == ""
    assert corten("print", once).out == corten("print", twice).out


def operations(path: Path) -> dict[str, int]:
    return corten("ops", path, "--json").json["files"][0]["ops"]


def test_what_goes(tmp_path: Path) -> None:
    saved = save(SUBJECTS["convolution"], tmp_path, optimized=False)
    after = tmp_path / "after.aimodel"
    assert corten("optimize", saved.path, "-o", after).status == 0
    left = operations(after)
    assert "coreai.cast" not in left
    assert "coreai.transpose" not in left


def test_composites_stay(classifier: Written, tmp_path: Path) -> None:
    after = tmp_path / "after.aimodel"
    assert corten("optimize", classifier.path, "-o", after).status == 0
    for path in (classifier.path, after):
        text = corten("print", path).out
        assert 'composite_declaration<"layer_norm"' in text
        assert "coreai.invoke @layer_norm" in text


def test_debug_locations_stay(classifier: Written, tmp_path: Path) -> None:
    after = tmp_path / "after.aimodel"
    assert corten("optimize", classifier.path, "-o", after).status == 0
    text = corten("print", after, "--locations").out
    assert "support/command.py" in text
    # A linear layer is a product and a sum, of one line.
    assert text.count("op_id") > 5


def test_weights_are_not_copied(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1024))
    subject = Subject("large", model, (torch.randn(2, 1024),))
    saved = save(subject, tmp_path, optimized=False)
    after = tmp_path / "after.aimodel"
    assert corten("optimize", saved.path, "-o", after).status == 0
    # They are what they were, in the same form.
    weights = "weights"
    before, info = (corten("info", path, "--json").json for path in (saved.path, after))
    assert info[weights] == before[weights]
    data = model[0].weight.detach().numpy().tobytes()
    assert data in (after / "main.mlirb").read_bytes()


class TestConvert:
    def test_the_same_as_afterwards(self, classifier: Written, tmp_path: Path) -> None:
        plain, direct, later = (
            tmp_path / f"{name}.aimodel" for name in ("plain", "direct", "later")
        )
        assert corten("convert", classifier.archive, "-o", plain).status == 0
        assert corten("convert", classifier.archive, "-o", direct, "-O").status == 0
        assert corten("optimize", plain, "-o", later).status == 0
        assert operations(direct) == operations(later)
        count = sum(operations(direct).values())
        assert count < sum(operations(plain).values())

    def test_python(self, classifier: Written, tmp_path: Path) -> None:
        path = tmp_path / "model.aimodel"
        module.convert_pt2(classifier.archive, optimize=True).save(path)
        other = tmp_path / "other.aimodel"
        model = module.convert_pt2(classifier.archive)
        model.optimize()
        model.save(other)
        assert corten("print", path).out == corten("print", other).out
