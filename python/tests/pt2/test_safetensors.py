# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Weights from a folder of safetensors, for programs that have none."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from support.command import corten as command

import coreai_torch
import corten
from coreai_torch import TorchConverter
from coreai_torch._fill import fill_weights
from corten import _native

INDEX = "model.safetensors.index.json"


class Decoder(torch.nn.Module):
    """Tied weights, a buffer, and one that is in no checkpoint."""

    def __init__(self, *, ties: bool = True) -> None:
        super().__init__()
        self.embed = torch.nn.Embedding(40, 32)
        self.layer = torch.nn.Linear(32, 32)
        self.head = torch.nn.Linear(32, 40, bias=False)
        if ties:
            self.head.weight = self.embed.weight
        self.register_buffer("scale", torch.linspace(1, 2, 32))
        self.register_buffer("shift", torch.linspace(0, 1, 32), persistent=False)

    def forward(self, tokens):
        return self.head(self.layer(self.embed(tokens)) * self.scale + self.shift)


def export(device: str = "cpu") -> torch.export.ExportedProgram:
    torch.manual_seed(0)
    with torch.device(device):
        model = Decoder().eval()
        tokens = torch.zeros(2, 3, dtype=torch.long)
    program = torch.export.export(model, (tokens,))
    program.constants["shift"] = torch.linspace(0, 1, 32)
    return program


def checkpoint(path: Path, *without: str, **others: torch.Tensor) -> None:
    state = {**export().state_dict, **others}
    save_file(
        {name: value.clone() for name, value in state.items() if name not in without},
        path,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The weights without the one that is tied."""
    path = tmp_path / "weights"
    path.mkdir()
    checkpoint(path / "model.safetensors", "head.weight")
    return path


def text_of(program: torch.export.ExportedProgram, **options: Any) -> str:
    converter = TorchConverter(mode=TorchConverter.Mode.RELEASE)
    converter.add_exported_program(program, decompose=True, **options)
    return str(converter.to_coreai())


def archive(folder: Path, device: str = "meta") -> Path:
    path = folder / f"{device}.pt2"
    torch.export.save(export(device), path)
    return path


def bytes_of(model: corten.Model, folder: Path) -> bytes:
    model.save(folder / "model.aimodel")
    return (folder / "model.aimodel" / "main.mlirb").read_bytes()


def test_a_program_without_weights_takes_them_from_the_folder(folder):
    assert text_of(export("meta"), weights=folder) == text_of(export())


def test_of_a_module_too(folder):
    def converted(device: str, **options: Any) -> str:
        converter = TorchConverter(mode=TorchConverter.Mode.RELEASE)
        with torch.device(device):
            module = Decoder().eval()
        converter.add_pytorch_module(
            module, lambda _: export(device), decompose=True, **options
        )
        return str(converter.to_coreai())

    assert converted("meta", weights=folder) == converted("cpu")
    checkpoint(folder / "model.safetensors", "layer.weight")
    with pytest.raises(ValueError, match=r"missing \(1\): layer.weight$"):
        converted("meta", weights=folder)


def test_fake_tensors_are_without_weights_too(folder):
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode():
        program = export()
    program.constants["shift"] = torch.linspace(0, 1, 32)
    assert text_of(program, weights=folder) == text_of(export())
    with pytest.raises(ValueError, match=r"'embed.weight' has no data"):
        text_of(program)


def test_the_folder_wins_over_the_program(folder):
    state = {"layer.bias": torch.full((32,), 7.0)}
    checkpoint(folder / "model.safetensors", "head.weight", **state)
    program = export()
    text = text_of(program, weights=folder)
    assert text != text_of(program)
    assert "dense<7.000000e+00> : tensor<32xf32>" in text


def test_the_command(folder, tmp_path):
    checkpoint(folder / "model.safetensors")
    expected = bytes_of(
        corten.convert_pt2(archive(tmp_path, "cpu"), release=True), tmp_path
    )
    meta = archive(tmp_path)
    given = corten.convert_pt2(meta, release=True, weights=folder)
    assert bytes_of(given, tmp_path) == expected

    output = tmp_path / "command.aimodel"
    answer = command("convert", meta, "--weights", folder, "--release", "-o", output)
    assert answer.status == 0, answer.err
    assert (output / "main.mlirb").read_bytes() == expected

    answer = command("convert", meta, "-o", output)
    assert answer.status == 2
    assert "'embed.weight' has no data" in answer.err
    assert "--weights" in answer.err


@pytest.mark.parametrize("reference", ["engine", "torch"])
def test_a_check_takes_the_weights_too(folder, tmp_path, reference):
    # The inputs that a program of the meta device was exported with are none.
    answer = command(
        *("convert", archive(tmp_path), "-o", tmp_path / "model.aimodel"),
        *("--weights", folder, "--tied", "head.weight=embed.weight"),
        f"--check={reference}",
    )
    assert answer.status == 0, answer.err
    assert "random numbers stand for" in answer.err
    assert "0 of" in answer.out


def test_tied_weights(folder, tmp_path):
    expected = bytes_of(
        corten.convert_pt2(archive(tmp_path, "cpu"), release=True), tmp_path
    )
    meta = archive(tmp_path)
    ties = {"head.weight": "embed.weight"}
    given = corten.convert_pt2(meta, release=True, weights=folder, tied=ties)
    assert bytes_of(given, tmp_path) == expected
    output = tmp_path / "command.aimodel"
    convert = ("convert", meta, "--weights", folder, "--release", "-o", output)
    answer = command(*convert, "--tied", "head.weight=embed.weight")
    assert answer.status == 0, answer.err
    assert (output / "main.mlirb").read_bytes() == expected

    answer = command(*convert)
    assert answer.status == 2
    assert "missing (1): head.weight\n" in answer.err
    assert "Fix: if the model ties weights, say which ones, as in --tied " in answer.err
    assert "--tied head.weight=embed.weight" in answer.err
    for tie, message in [
        ("head.weight", "want NAME=OTHER, not head.weight"),
        ("head.weight=none", "missing (1): head.weight"),
        ("none=embed.weight", "missing (1): head.weight"),
    ]:
        answer = command(*convert, "--tied", tie)
        assert answer.status == 2
        assert message in answer.err
    answer = command(
        *convert, "--tied", "head.weight=embed.weight", "--tied", "none=scale"
    )
    assert "no program has the weight 'none'" in answer.err


def test_an_archive_with_data_says_what_is_tied(folder, tmp_path):
    whole = archive(tmp_path, "cpu")
    expected = bytes_of(corten.convert_pt2(whole, release=True), tmp_path)
    given = corten.convert_pt2(whole, release=True, weights=folder)
    assert bytes_of(given, tmp_path) == expected


def test_names_of_one_memory_are_tied_in_both_doors(folder, tmp_path):
    """Also where they are two tensors: it is the memory that they share."""
    program = export()
    state = program.state_dict
    state["head.weight"] = torch.nn.Parameter(state["embed.weight"].detach())
    assert state["head.weight"] is not state["embed.weight"]
    assert text_of(program, weights=folder) == text_of(export())
    torch.export.save(program, tmp_path / "model.pt2")
    corten.convert_pt2(tmp_path / "model.pt2", weights=folder)


TIES = {"head.weight": "embed.weight"}


def test_what_is_loaded_without_data_has_to_be_told_what_is_tied(folder, tmp_path):
    """torch loads all tensors of the meta device with one storage."""
    program = torch.export.load(archive(tmp_path))
    state = program.state_dict
    storages = {tensor.untyped_storage()._cdata for tensor in state.values()}
    assert len(storages) == 1
    with pytest.raises(ValueError, match=r"missing \(1\): head.weight\n") as error:
        text_of(program, weights=folder)
    assert "Fix: if the model ties weights, say which ones" in str(error.value)
    assert text_of(program, weights=folder, tied=TIES) == text_of(export())


def test_ties_in_all_ways_to_convert(folder):
    shift = torch.linspace(0, 1, 32)
    checkpoint(folder / "model.safetensors", "head.weight", shift=shift)
    with torch.device("meta"):
        module = Decoder(ties=False).eval()
        tokens = torch.zeros(2, 3, dtype=torch.long)
    program = torch.export.export(module, (tokens,))
    options: Any = {"weights": folder, "tied": TIES}
    expected = text_of(program, **options)
    decomposed = TorchConverter().add_exported_program(
        program.run_decompositions(), **options
    )
    for text in (expected, str(decomposed.to_coreai())):
        assert text.count("coreai.constant dense_resource<p_embed_weight>") == 1
        assert "dense_resource<p_head_weight>" not in text

    converter = TorchConverter(mode=TorchConverter.Mode.RELEASE)
    converter.add_pytorch_module(module, lambda _: program, decompose=True, **options)
    assert str(converter.to_coreai()) == expected
    converter = TorchConverter(mode=TorchConverter.Mode.RELEASE)
    options.update(converter=converter, optimize=False)
    given = coreai_torch.convert(module, tokens, **options)
    assert str(given) == expected

    whole = Decoder().eval()
    whole.load_state_dict(export().state_dict)
    tokens = torch.tensor([[1, 2, 3], [7, 0, 39]])
    (actual,) = corten.compile(given)["main"](tokens.int()).values()
    torch.testing.assert_close(torch.from_dlpack(actual), whole(tokens))


def test_ties_that_do_not_fit(folder):
    program = export("meta")
    with pytest.raises(ValueError, match=r"there is none\.\nFix: name the folder"):
        text_of(program, tied=TIES)
    with pytest.raises(ValueError, match="no program has the weight 'none'"):
        text_of(program, weights=folder, tied={**TIES, "none": "scale"})
    wrong: Any = "head.weight=embed.weight"
    with pytest.raises(TypeError, match=r"tied must be a dictionary, got str\nFix: "):
        text_of(program, weights=folder, tied=wrong)
    wrong = {"head.weight": program}
    with pytest.raises(TypeError, match="tied must hold strings, got Exported"):
        text_of(program, weights=folder, tied=wrong)


def refusals(
    program: torch.export.ExportedProgram, tmp_path: Path, **options: Any
) -> list[str]:
    """What the two front doors say of a program that neither takes."""
    path = tmp_path / "refused.pt2"
    torch.export.save(program, path)
    with pytest.raises(ValueError, match="weight") as of_walk:
        TorchConverter().add_exported_program(program, decompose=True, **options)
    with pytest.raises(ValueError, match="weight") as of_file:
        corten.convert_pt2(path, **options)
    return [str(of_walk.value), str(of_file.value).removeprefix(f"'{path}': ")]


def test_both_doors_say_the_same_of_weights_without_data(tmp_path):
    of_walk, of_file = refusals(export("meta"), tmp_path)
    assert of_walk == of_file
    assert of_walk.startswith("the weight 'embed.weight' has no data: ")


def test_both_doors_want_the_weights_that_the_graph_says(tmp_path):
    program = export()
    program.state_dict["layer.bias"] = torch.nn.Parameter(torch.zeros(31))
    of_walk, of_file = refusals(program, tmp_path)
    assert of_walk == of_file
    assert "'layer.bias' is float32[31], but was exported as float32[32]" in of_walk


def test_both_doors_say_the_same_of_a_folder_that_does_not_fit(folder, tmp_path):
    wrong = {"scale": torch.zeros(32, dtype=torch.bfloat16)}
    checkpoint(folder / "model.safetensors", "layer.weight", **wrong)
    of_walk, of_file = refusals(export("meta"), tmp_path, weights=folder)
    assert of_walk == of_file
    assert "missing (1): layer.weight" in of_walk


def test_archives_without_data_can_be_looked_at(tmp_path):
    meta, whole = archive(tmp_path), archive(tmp_path, "cpu")
    found, expected = (
        command("info", "--json", path).json["programs"][0] for path in (meta, whole)
    )
    assert (found.pop("has_weights"), expected.pop("has_weights")) == (False, True)
    # Only the data could tell that two are one.
    tied = 40 * 32 * 4
    assert found.pop("weight_bytes") == expected.pop("weight_bytes") + tied
    assert found.pop("weights")[0]["count"] == expected.pop("weights")[0]["count"] + 1
    assert found == expected
    assert "--weights FOLDER" in command("info", meta).out
    assert command("ops", "--json", meta).status == 0
    assert len(corten.open_pt2(meta).info()["programs"]) == 1


@pytest.mark.parametrize("name", ["run", "bench", "profile"])
def test_running_takes_the_weights_too(folder, tmp_path, name):
    meta = archive(tmp_path)
    rounds = {"run": "--steps", "bench": "--rounds", "profile": "--rounds"}[name]
    arguments = (name, meta, rounds, "1")
    answer = command(*arguments)
    assert answer.status == 2
    assert "Fix: name the folder of safetensors" in answer.err
    ties = ("--weights", folder, "--tied", "head.weight=embed.weight")
    answer = command(*arguments, *ties)
    assert (answer.status, answer.err) == (0, "")


def test_what_is_run_has_the_weights_of_the_folder(folder, tmp_path):
    outputs = tmp_path / "outputs.npz"
    answer = command("run", archive(tmp_path, "cpu"), "--output", outputs)
    assert answer.status == 0
    ties = ("--weights", folder, "--tied", "head.weight=embed.weight")
    answer = command("run", archive(tmp_path), *ties, "--compare", outputs)
    assert answer.status == 0, answer.out


def test_a_model_that_is_loaded_takes_the_weights_too(folder, tmp_path):
    tokens = torch.tensor([[1, 2, 3], [7, 0, 39]], dtype=torch.int32)
    whole = corten.load(archive(tmp_path, "cpu"))["main"]
    meta = archive(tmp_path)
    with pytest.raises(ValueError, match="Fix: name the folder of safetensors"):
        corten.load(meta)
    ties = {"head.weight": "embed.weight"}
    given = corten.load(meta, weights=folder, tied=ties)["main"]
    for expected, actual in zip(
        whole(tokens).values(), given(tokens).values(), strict=True
    ):
        assert torch.equal(torch.from_dlpack(expected), torch.from_dlpack(actual))


def test_only_programs_take_weights_from_a_folder(folder, tmp_path):
    corten.convert_pt2(archive(tmp_path, "cpu")).save(tmp_path / "model.aimodel")
    answer = command("run", tmp_path / "model.aimodel", "--weights", folder)
    assert answer.status == 2
    assert "has its own weights" in answer.err
    with pytest.raises(ValueError, match="has its own weights"):
        corten.load(tmp_path / "model.aimodel", weights=folder)


def test_verifying_takes_the_weights_too(folder, tmp_path):
    meta = archive(tmp_path)
    answer = command("verify", meta)
    assert answer.status == 2
    assert "'embed.weight' has no data" in answer.err
    assert "\nFix: name the folder of safetensors" in answer.err
    answer = command("verify", meta, "--weights", folder)
    assert answer.status == 2
    assert "Fix: if the model ties weights, say which ones" in answer.err
    ties = ("--weights", folder, "--tied", "head.weight=embed.weight")
    answer = command("verify", meta, *ties)
    assert answer.status == 0, answer.err


@pytest.mark.parametrize("past", [0, 1, 4])
def test_weights_that_torch_runs_can_be_written_to(past, tmp_path):
    """That changes neither the file nor what another program has of it."""
    expected = torch.arange(32.0).view(4, 8)
    header = {"weight": {"dtype": "F32", "shape": [4, 8], "data_offsets": [0, 128]}}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8 + past)
    content = struct.pack("<Q", len(text)) + text + expected.numpy().tobytes()
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    with torch.device("meta"):
        model = torch.nn.Linear(8, 4, bias=False)
        example = torch.zeros(1, 8)
    programs = [torch.export.export(model, (example,)) for _ in range(2)]
    for program in programs:
        fill_weights(program, str(path), {})
    first, second = (program.state_dict["weight"] for program in programs)
    assert torch.equal(first, expected)
    first.data.add_(1)
    assert torch.equal(first, expected + 1)
    assert torch.equal(second, expected)
    assert path.read_bytes() == content


def test_several_entry_points_share_one_folder(folder, tmp_path):
    checkpoint(folder / "model.safetensors")
    meta = archive(tmp_path)
    one = bytes_of(corten.convert_pt2(meta, weights=folder), tmp_path)
    both = corten.convert_pt2(
        entrypoints={"prefill": meta, "decode": meta}, weights=folder
    )
    assert len(bytes_of(both, tmp_path)) < len(one) + 6_000


def test_an_index_says_which_file_has_what(folder):
    state = export().state_dict
    (folder / "model.safetensors").unlink()
    parts = {
        "model-1.safetensors": ["embed.weight", "layer.bias"],
        "model-2.safetensors": ["layer.weight", "scale"],
    }
    for file, names in parts.items():
        save_file({name: state[name].clone() for name in names}, folder / file)
    index = {name: file for file, names in parts.items() for name in names}

    def write(weight_map: Mapping[str, str]) -> None:
        (folder / INDEX).write_text(json.dumps({"weight_map": weight_map}))

    expected = text_of(export())
    assert text_of(export("meta"), weights=folder) == expected  # All files.
    write(index)
    # What the index does not name does not count.
    save_file({"scale": torch.zeros(2)}, folder / "other.safetensors")
    assert text_of(export("meta"), weights=folder) == expected
    for wrong, message in [
        ("../weights/model-2.safetensors", "no file of the folder"),
        ("missing.safetensors", "No such file"),
        ("model-1.safetensors", "the tensor 'scale' is not in"),
    ]:
        write({**index, "scale": wrong})
        with pytest.raises(ValueError, match=message):
            text_of(export("meta"), weights=folder)


def test_all_that_does_not_fit_is_listed_at_once(folder, tmp_path):
    wrong = {
        "layer.bias": torch.zeros(31),
        "scale": torch.zeros(32, dtype=torch.bfloat16),
    }
    checkpoint(folder / "model.safetensors", "layer.weight", **wrong)
    with pytest.raises(ValueError, match="are not the program's") as error:
        text_of(export("meta"), weights=folder)
    assert "missing (1): layer.weight\n" in str(error.value)
    assert (
        "layer.bias is float32[31] in model.safetensors, and float32[32] in the "
        "program\n    scale is bfloat16[32]" in str(error.value)
    )
    with pytest.raises(ValueError, match=r"missing \(1\): layer.weight\n"):
        corten.convert_pt2(archive(tmp_path), weights=folder)


def test_buffers_that_are_in_no_checkpoint(folder, tmp_path):
    program = export("meta")
    program.constants["shift"] = torch.empty(32, device="meta")
    with pytest.raises(ValueError, match=r"without data in the program \(1\): shift\n"):
        text_of(program, weights=folder)
    torch.export.save(program, tmp_path / "model.pt2")
    checkpoint(folder / "model.safetensors")
    with pytest.raises(ValueError, match=r"Fix: .*constants\[name\] = value"):
        corten.convert_pt2(tmp_path / "model.pt2", weights=folder)
    shift = torch.linspace(0, 1, 32)
    checkpoint(folder / "model.safetensors", shift=shift)
    assert text_of(program, weights=folder) == text_of(export())


def test_weights_that_the_program_lacks(folder, tmp_path):
    others = {"other.weight": torch.zeros(3)}
    checkpoint(folder / "model.safetensors", **others)
    with pytest.raises(ValueError, match=r"extra \(1\): other.weight$"):
        text_of(export("meta"), weights=folder)
    with pytest.raises(ValueError, match=r"extra \(1\): other.weight$"):
        corten.convert_pt2(archive(tmp_path), weights=folder)


def test_in_python_programs_share_one_folder_too(folder):
    class Encoder(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = torch.nn.Embedding(40, 32)

        def forward(self, tokens):
            return self.embed(tokens)

    tokens = torch.zeros(2, 3, dtype=torch.long)
    encoder = torch.export.export(Encoder().eval(), (tokens,))
    converter = TorchConverter()
    for name, program in (("encode", encoder), ("decode", export("meta"))):
        converter.add_exported_program(
            program, entrypoint_name=name, decompose=True, weights=folder, tied=TIES
        )
    converter.to_coreai()
    # What the other one needs is no stranger.
    converter.to_coreai(entrypoints=["encode"])
    converter.clear(entrypoints=["decode"])
    with pytest.raises(ValueError, match=r"no program has the weight 'head\.weight'"):
        converter.to_coreai()
    converter.clear()
    converter.add_exported_program(encoder, decompose=True, weights=folder)
    with pytest.raises(ValueError, match=r"extra \(3\): layer.bias, layer.weight"):
        converter.to_coreai()


def test_a_name_in_two_files(folder):
    save_file({"scale": torch.zeros(32)}, folder / "more.safetensors")
    with pytest.raises(ValueError, match=r"'scale' is also in 'model.safetensors'"):
        text_of(export("meta"), weights=folder)


def test_folders_that_are_none(tmp_path):
    for path, message in [
        (tmp_path / "missing", "No such file"),
        (tmp_path, r"has no \.safetensors files"),
    ]:
        with pytest.raises(ValueError, match=message):
            text_of(export("meta"), weights=path)


def test_a_file_of_torch_is_none(tmp_path):
    torch.save(export().state_dict, tmp_path / "model.bin")
    with pytest.raises(ValueError, match=r"as torch\.save writes it.*\nFix: save its"):
        text_of(export("meta"), weights=tmp_path / "model.bin")


def forged(header: Any, data: bytes = b"\0" * 16, length: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def entry(**changes: Any) -> dict[str, Any]:
    whole = {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}
    return {"x": {**whole, **changes}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "ends within the header"),
        (b"\0" * 7, "ends within the header"),
        (forged(entry(), length=10_000), "ends within the header"),
        (forged(entry(), length=1 << 62), "a header of 4611686018427387904 bytes"),
        (forged(b"[]"), "no header"),
        (forged(b'{"x": '), "model.safetensors': "),
        (forged({"x": 3}), "unknown type ''"),
        (forged(entry(dtype="F6_E2M3")), "unknown type 'F6_E2M3'"),
        (forged(entry(shape=None)), "no shape or no data"),
        (forged(entry(data_offsets=[0])), "no shape or no data"),
        (forged(entry(data_offsets=[0, 17])), "beyond the end"),
        (forged(entry(data_offsets=[-16, 0])), "beyond the end"),
        (forged(entry(data_offsets=[16, 0])), "beyond the end"),
        (forged(entry(data_offsets=[0, 1e3])), "beyond the end"),
        (forged(entry(), b"\0" * 12), "beyond the end"),
        (forged(entry(shape=[3])), "other bytes than its shape takes"),
        (forged(entry(shape=[-1])), "other bytes than its shape takes"),
        (forged(entry(shape=[1 << 62, 1 << 62])), "other bytes"),
        (forged({**entry(), "y": entry()["x"]}), "'x' and 'y' overlap"),
        (forged(b'{"x": ' + b"[" * 100_000), "model.safetensors': "),
    ],
)
def test_files_are_not_trusted(content, message, tmp_path):
    (tmp_path / "model.safetensors").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        _native.open_safetensors(str(tmp_path), [])


def test_a_file_may_be_cut_off_anywhere(folder):
    whole = (folder / "model.safetensors").read_bytes()
    for size in range(0, len(whole), 97):
        (folder / "model.safetensors").write_bytes(whole[:size])
        with pytest.raises(ValueError, match="end"):
            _native.open_safetensors(str(folder), [])
