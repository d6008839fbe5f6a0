# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``corten edit`` and its siblings in Python: what comes out loads and runs."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import torch
from coreai.authoring import AIModelAsset
from support.command import Written, export
from support.command import corten as command
from support.runtime import _call

import corten
from coreai_torch import TorchConverter, get_decomp_table


def call(
    path: Path, entry: str, inputs: dict[str, torch.Tensor]
) -> dict[str, torch.Tensor]:
    """What the interpreter of coreai-core returns."""
    results, _ = asyncio.run(_call(AIModelAsset.load(path), entry, [inputs], {}))
    return results[0]


def edit(*arguments: str | Path) -> None:
    answer = command("edit", *arguments)
    assert (answer.status, answer.out, answer.err) == (0, "", "")


def interface(path: Path) -> dict[str, tuple[list[str], ...]]:
    """The names of inputs, outputs and states of each entry point."""
    return {
        entry["name"]: tuple(
            [value["name"] for value in entry[role]]  # type: ignore[literal-required]
            for role in ("inputs", "outputs", "states")
        )
        for entry in corten.open(path).info()["entrypoints"]
    }


IMAGE = torch.randn(3, 3, 8, 8, generator=torch.Generator().manual_seed(1))


@pytest.fixture(scope="module")
def expected(classifier: Written) -> dict[str, torch.Tensor]:
    return call(classifier.path, "main", {"image": IMAGE, "b_calls": torch.zeros(4)})


def test_other_names(
    classifier: Written, expected: dict[str, torch.Tensor], tmp_path: Path
) -> None:
    path = tmp_path / "edited.aimodel"
    edit(
        *(classifier.path, "-o", path, "--rename", "main=classify"),
        *("--input-names", "image=picture", "--output-names", "p,f"),
        *("--state-names", "classify=b_calls=calls"),
    )
    assert interface(path) == {"classify": (["picture"], ["p", "f"], ["calls"])}
    results = call(path, "classify", {"picture": IMAGE, "calls": torch.zeros(4)})
    assert torch.equal(results["p"], expected["probs"])
    assert torch.equal(results["calls"], expected["b_calls"])
    # Everything else is as it was, debug info included.
    text = command("print", "--locations", path).out
    assert "@main" not in text
    assert text.count("loc(") == command(
        "print", "--locations", classifier.path
    ).out.count("loc(")


def test_states_of_an_optimized_program(tmp_path: Path) -> None:
    """They are behind handles, and the caller owns them."""
    exported = export().run_decompositions(get_decomp_table())
    program = TorchConverter().add_exported_program(exported).to_coreai()
    program.optimize()
    before, path = tmp_path / "before.aimodel", tmp_path / "after.aimodel"
    program.save_asset(before)
    edit(
        *(before, "-o", path, "--state-names", "b_calls=calls"),
        *("--input-names", "x", "--rename", "main=step"),
    )
    state = {"calls": torch.zeros(4)}
    calls = [{"x": IMAGE}, {"x": IMAGE}]
    asset = AIModelAsset.load(path)
    _, after = asyncio.run(_call(asset, "step", calls, state))
    assert after["calls"].tolist() == [2, 2, 2, 2]


def test_names_that_change_places(classifier: Written, tmp_path: Path) -> None:
    path = tmp_path / "edited.aimodel"
    edit(classifier.path, "-o", path, "--output-names", "probs=features,features=probs")
    assert interface(path)["main"][1] == ["features", "probs"]


def test_back_again_gives_the_same_bytes(classifier: Written, tmp_path: Path) -> None:
    there, back = tmp_path / "there.aimodel", tmp_path / "back.aimodel"
    edit(classifier.path, "-o", there, "--input-names", "x", "--rename", "main=other")
    edit(there, "-o", back, "--input-names", "image", "--rename", "other=main")
    for name in ("main.mlirb", "main.hash"):
        assert (back / name).read_bytes() == (classifier.path / name).read_bytes()
    again = tmp_path / "again.aimodel"
    edit(classifier.path, "-o", again, "--input-names", "x", "--rename", "main=other")
    for name in ("main.mlirb", "main.hash", "metadata.json"):
        assert (again / name).read_bytes() == (there / name).read_bytes()


def test_merge_and_extract(
    classifier: Written, expected: dict[str, torch.Tensor], tmp_path: Path
) -> None:
    both = tmp_path / "both.aimodel"
    edit(
        *("--entrypoint", f"a={classifier.path}", "-o", both),
        *("--entrypoint", f"b={classifier.path}:main", "--input-names", "b=x"),
    )
    assert list(interface(both)) == ["a", "b"]
    # What they share is stored once.
    stored = {
        corten.open(path).info()["weight_bytes"] for path in (both, classifier.path)
    }
    assert len(stored) == 1
    inputs = {"b_calls": torch.zeros(4)}
    assert torch.equal(
        call(both, "a", {"image": IMAGE, **inputs})["probs"], expected["probs"]
    )
    assert torch.equal(
        call(both, "b", {"x": IMAGE, **inputs})["probs"], expected["probs"]
    )
    one = tmp_path / "one.aimodel"
    edit(both, "-o", one, "--extract", "b", "--rename", "b=main")
    assert interface(one) == {"main": (["x"], ["probs", "features"], ["b_calls"])}
    size = (classifier.path / "main.mlirb").stat().st_size
    assert (one / "main.mlirb").stat().st_size < 1.05 * size
    # The composite of the other is gone as well.
    assert (
        command("ops", "--json", one).json["files"][0]["total"]
        == (command("ops", "--json", classifier.path).json["files"][0]["total"])
    )
    assert torch.equal(
        call(one, "main", {"x": IMAGE, **inputs})["probs"], expected["probs"]
    )


def test_from_python(
    classifier: Written, expected: dict[str, torch.Tensor], tmp_path: Path
) -> None:
    first, second = corten.open(classifier.path), corten.open(classifier.path)
    first.rename(name="a")
    second.rename(name="b", inputs=["x"], outputs={"probs": "p"})
    both = corten.merge([first, second])
    del first, second
    both.set_metadata(author="me", creator_defined={"size": [1, 2]})
    path = tmp_path / "both.aimodel"
    both.save(path)
    metadata = corten.open(path).info()["metadata"]
    assert (metadata["author"], metadata["creator_defined"]) == ("me", {"size": [1, 2]})
    inputs = {"x": IMAGE, "b_calls": torch.zeros(4)}
    assert torch.equal(call(path, "b", inputs)["p"], expected["probs"])
    both.extract("a")
    both.strip()
    both.save(path)
    assert list(interface(path)) == ["a"]
    assert corten.open(path).doctor() == []


def test_a_converted_model(classifier: Written, tmp_path: Path) -> None:
    model = corten.convert_pt2(classifier.archive)
    model.rename(inputs=["x"], states={"b_calls": "calls"}, name="classify")
    model.save(tmp_path / "a.aimodel")
    assert interface(tmp_path / "a.aimodel")["classify"][::2] == (["x"], ["calls"])
    merged = corten.merge([model])
    merged.save(tmp_path / "b.aimodel")
    a, b = (corten.open(tmp_path / f"{name}.aimodel") for name in "ab")
    assert corten.diff(a, b)["same"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rename", "other=x"], "no entry point 'other'; there is 'main'"),
        (["--rename", "main"], "--rename: want OLD=NEW, not main"),
        (["--extract", "other"], "no entry point 'other'"),
        (["--input-names", "y=x"], "no input 'y'; there are 1 input, 'image'"),
        (["--input-names", "a,b"], "2 name(s) for 1 input, 'image'"),
        (["--output-names", "probs=features"], "two of the outputs and states"),
        (["--input-names", "image=b_calls"], "two of the inputs and states"),
        (["--input-names", "image="], "an empty name"),
        (["--input-names", "x,image=y"], "not both"),
        (["--entrypoint", "main=MODEL"], "two entry points are called 'main'"),
        (["--entrypoint", "a=MODEL", "--input-names", "x"], "say which one"),
        (["--entrypoint", "a=MODEL:other"], "no entry point 'other'"),
        (["--metadata", "x"], "want KEY=VALUE"),
    ],
)
def test_mistakes(
    arguments: list[str], message: str, classifier: Written, tmp_path: Path
) -> None:
    arguments = [text.replace("MODEL", str(classifier.path)) for text in arguments]
    out = tmp_path / "out.aimodel"
    answer = command("edit", classifier.path, "-o", out, *arguments)
    assert answer.status == 2
    assert message in answer.err
    assert not out.exists()


def test_metadata(classifier: Written, tmp_path: Path) -> None:
    path = tmp_path / "out.aimodel"
    told = ["--author", "Ä. Nobody", "--license", "MIT", "--description", "A model"]
    answer = command(
        "convert", classifier.archive, "-o", path, *told, "--metadata", "kind=a=b"
    )
    assert answer.status == 0
    metadata = command("info", "--json", path).json["metadata"]
    assert {key: metadata[key] for key in ("author", "license", "description")} == {
        "author": "Ä. Nobody",
        "license": "MIT",
        "description": "A model",
    }
    assert metadata["creator_defined"] == {"kind": "a=b"}
    official = AIModelAsset.load(path).metadata
    assert official.author == "Ä. Nobody"
    assert official.creator_defined_metadata == {"kind": "a=b"}
    shown = command("info", path).out
    assert "author            Ä. Nobody\n" in shown
    assert 'kind              "a=b"\n' in shown
    edit(path, "-o", path, "--license", "BSD")
    after = command("info", "--json", path).json["metadata"]
    assert after == metadata | {"license": "BSD"}


def test_a_summary(classifier: Written, tmp_path: Path) -> None:
    path = tmp_path / "out.aimodel"
    answer = command("convert", classifier.archive, "-o", path)
    info = command("info", "--json", path).json
    assert answer.out.startswith(
        f"{path}: {info['operation_count']} operations, 24.9 kB of weights in "
    )
    assert answer.out.endswith(" s\n")
    assert command("convert", "--quiet", classifier.archive, "-o", path).out == ""
