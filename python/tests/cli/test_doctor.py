# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks of the folder around a program, and of weights that must be large.

test/corten has those of programs, unittests/Inspect those of numbers in files
that no tool writes.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
import torch
from support import zoo
from support.command import ROOT, Written, corten, export

from coreai_torch import TorchConverter, get_decomp_table


def findings(path: Path) -> list[tuple[str, str, str]]:
    """(check, place, detail), without what every asset of these tests has."""
    answer = corten("doctor", "--json", "--ignore", "absolute-source-paths", path)
    (report,) = answer.json
    assert report["path"] == str(path)
    found = [f for f in report["findings"] if f["severity"] != "note"]
    assert answer.status == (1 if found else 0)
    return [(f["check"], f["place"], f["detail"]) for f in report["findings"]]


def test_a_sound_asset(asset: Path) -> None:
    assert findings(asset) == []


@pytest.mark.parametrize("optimize", [False, True])
@pytest.mark.parametrize("name", ["classifier", "bert", "qwen2"])
def test_sound_models(name: str, optimize: bool, tmp_path: Path) -> None:
    """Nothing is found where nothing is wrong, in half precision too."""
    if name == "classifier":
        exported = export()
    else:
        model, inputs = getattr(zoo, name)()
        halves = [x.half() if x.is_floating_point() else x for x in inputs]
        exported = torch.export.export(model.half(), tuple(halves))
    converter = TorchConverter(mode=TorchConverter.Mode.RELEASE)
    exported = exported.run_decompositions(get_decomp_table())
    program = converter.add_exported_program(exported).to_coreai()
    if optimize:
        program.optimize()
    path = tmp_path / "model.aimodel"
    program.save_asset(path)
    assert corten("doctor", path).out == f"{path}: nothing found\n"
    # A state is an argument before the program is optimized, a handle after.
    (entry,) = corten("info", "--json", path).json["entrypoints"]
    states = [(state["name"], state["dtype"]) for state in entry["states"]]
    assert states == ([("b_calls", "f32")] if name == "classifier" else [])


def test_a_default_conversion(tmp_path: Path) -> None:
    """Where the user's file lies is a note; packages show no folders at all."""
    exported = export().run_decompositions(get_decomp_table())
    path = tmp_path / "model.aimodel"
    TorchConverter().add_exported_program(exported).to_coreai().save_asset(path)
    answer = corten("doctor", path)
    assert answer.status == 0
    assert answer.out.startswith(f"{path}: nothing found, ")
    (report,) = corten("doctor", "--json", path).json
    places = {finding["place"] for finding in report["findings"]}
    assert places
    assert not [place for place in places if "-packages/" in place]
    assert not [place for place in places if not Path(place).exists()]


def test_asset_name(asset: Path) -> None:
    near = asset.rename(asset.with_name("other model.aimodel"))
    assert findings(near) == []
    trap = near.rename(asset.with_name("model.AIMODEL"))
    assert findings(trap) == [("asset-name", str(trap), "")]


def test_metadata_missing(asset: Path) -> None:
    (asset / "metadata.json").unlink()
    assert [name for name, *_ in findings(asset)] == ["metadata-missing"]


@pytest.mark.parametrize(
    ("metadata", "is_trap"),
    [
        ({"assetVersion": "2.0"}, False),
        ({"assetVersion": "2.1", "unknown": [1]}, False),
        ({"assetVersion": "1.0"}, True),
        ({"assetVersion": "3.0"}, True),
        ({"assetVersion": 2}, True),
        ({}, True),
        ("not JSON", True),
    ],
)
def test_metadata(asset: Path, metadata: Any, is_trap: bool) -> None:
    text = metadata if isinstance(metadata, str) else json.dumps(metadata)
    (asset / "metadata.json").write_text(text)
    names = [name for name, *_ in findings(asset)]
    assert names == (["metadata"] if is_trap else [])


def test_hash_missing(asset: Path) -> None:
    (asset / "main.hash").unlink()
    assert [name for name, *_ in findings(asset)] == ["hash-missing"]


def test_hash_wrong(asset: Path) -> None:
    digest = hashlib.sha256((asset / "main.mlirb").read_bytes())
    (asset / "main.hash").write_bytes(digest.digest())
    assert findings(asset) == []
    for wrong in (digest.hexdigest().encode(), b"", digest.digest()[:-1]):
        (asset / "main.hash").write_bytes(wrong)
        assert [name for name, *_ in findings(asset)] == ["hash-wrong"]


def test_bytecode_version(asset: Path) -> None:
    program = asset / "main.mlirb"
    content = bytearray(program.read_bytes())
    content[4] = 7 << 1 | 1
    program.write_bytes(content)
    assert findings(asset) == [("bytecode-version", "main.mlirb", "version 7")]


def weights(first: str, second: str) -> str:
    """A program with two weights of 1 kB each."""
    return f"""
      coreai.graph @main(%x: tensor<256xf32> {{coreai.name = "x"}})
          -> (tensor<256xf32> {{coreai.name = "y"}}) {{
        %a = coreai.constant dense_resource<a> : tensor<256xf32>
        %b = coreai.constant dense_resource<b> : tensor<256xf32>
        %0 = coreai.add %x, %a : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
        %1 = coreai.mul %0, %b : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
        coreai.output %1 : tensor<256xf32>
      }}
      {{-#
        dialect_resources: {{ builtin: {{
          a: "0x04000000{first}", b: "0x04000000{second}" }} }}
      #-}}"""


def test_duplicate_weight(tmp_path: Path) -> None:
    program = tmp_path / "program.mlir"
    one, other = "0000803F" * 256, "0000803F" * 255 + "0000003F"
    program.write_text(weights(one, other))
    assert findings(program) == []
    program.write_text(weights(one, one))
    ((name, place, detail),) = findings(program)
    assert name == "duplicate-weight"
    assert place.endswith(" b")
    assert detail.startswith("tensor<256xf32>, 1.0 kB, as in")


def test_the_remedy_for_duplicate_weights_needs_the_asset_alone(tmp_path: Path) -> None:
    program = tmp_path / "program.mlir"
    one = "0000803F" * 255 + "0000003F"
    program.write_text(weights(one, one))
    asset, edited = tmp_path / "twice.aimodel", tmp_path / "once.aimodel"
    assert corten("strip", program, "-o", asset).status == 0
    assert [name for name, _, _ in findings(asset)] == ["duplicate-weight"]
    (remedy,) = [
        check["remedy"]
        for check in corten("doctor", "--list", "--json").json
        if check["check"] == "duplicate-weight"
    ]
    assert remedy.startswith("corten edit IN -o OUT")
    assert corten("edit", asset, "-o", edited).status == 0
    assert findings(edited) == []


def test_every_check_has_a_test() -> None:
    listed = {check["check"] for check in corten("doctor", "--list", "--json").json}
    places = [ROOT / "test" / "corten", ROOT / "unittests" / "Inspect"]
    files = [file for place in places for file in place.iterdir() if file.is_file()]
    text = "".join(file.read_text() for file in [*files, Path(__file__)])
    assert {name for name in listed if name not in text} == set()


def test_every_check_is_documented() -> None:
    page = (ROOT / "docs" / "cli.md").read_text()
    for check in corten("doctor", "--list", "--json").json:
        assert f"| `{check['check']}` | {check['severity']} |" in page


def test_the_worst_first(asset: Path, classifier: Written) -> None:
    (asset / "main.hash").unlink()
    (asset / "metadata.json").unlink()
    (report,) = corten("doctor", "--json", asset).json
    severities = [finding["severity"] for finding in report["findings"]]
    order = ["error", "warning", "note"]
    assert severities == sorted(severities, key=order.index)
    assert {"warning", "note"} == set(severities)
    out = corten("doctor", asset, classifier.path).out
    assert f"{asset}: " in out
    assert f"{classifier.path}: " in out
