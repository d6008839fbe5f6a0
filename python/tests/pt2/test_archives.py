# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Archives of older releases, and archives that are not as they should be."""

from __future__ import annotations

import json
import random
import struct
import zipfile
from pathlib import Path

import pytest
import torch
from pt2.pairs import by_file, by_walk, weights

from corten import _native

_OLD = sorted((Path(__file__).parent / "archives").glob("*.pt2"))


@pytest.mark.parametrize("path", _OLD, ids=lambda path: path.stem)
def test_older_release(path):
    exported = torch.export.load(path)
    walked, read = by_walk(exported, "decomposed" not in path.stem), by_file(path)
    assert read.text() == walked.text()
    assert weights(read) == weights(walked)
    assert read.handover_text() == walked.handover_text()


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.register_buffer("table", torch.ones(2, 4), persistent=False)

    def forward(self, x):
        y, _ = torch.sort(self.linear(x) + self.table)
        return torch.cond(y.sum() > 0, lambda v: v.relu(), lambda v: v * 2, (y,))


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """An archive, its entries, and what it converts to."""
    path = tmp_path_factory.mktemp("pt2") / "model.pt2"
    torch.manual_seed(0)
    torch.export.save(torch.export.export(Model(), (torch.randn(2, 4),)), path)
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    return path, entries, by_file(path).text()


def _write(path, entries, method=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return path


def _error(path) -> str:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        by_file(path)
    return str(caught.value)


def _program(entries):
    return json.loads(entries["model/models/model.json"])


def _with_program(tmp_path, entries, program):
    changed = {**entries, "model/models/model.json": json.dumps(program)}
    return _write(tmp_path / "changed.pt2", changed)


def test_a_deflated_archive_reads_as_well(good, tmp_path):
    path = _write(tmp_path / "model.pt2", good[1], zipfile.ZIP_DEFLATED)
    assert by_file(path).text() == good[2]


def test_weights_may_lie_anywhere(good, tmp_path):
    # zipfile does not align entries.
    for length in range(4):
        entries = {"model/extra/x": b"x" * length, **good[1]}
        path = _write(tmp_path / "model.pt2", entries)
        module = by_file(path)
        assert module.text() == good[2]
        assert weights(module) == weights(by_file(good[0]))


def test_truncated(good, tmp_path):
    data = good[0].read_bytes()
    path = tmp_path / "cut.pt2"
    for size in [0, 1, 21, 22, *range(100, len(data), 997), len(data) - 1]:
        path.write_bytes(data[:size])
        assert "cut off" in _error(path)


def test_flipped_bits(good, tmp_path):
    """One is found, or lies where nothing depends on it."""
    data = good[0].read_bytes()
    path = tmp_path / "flipped.pt2"
    chosen = random.Random(0)
    found = 0
    for _ in range(400):
        flipped = bytearray(data)
        flipped[chosen.randrange(len(data))] ^= 1 << chosen.randrange(8)
        path.write_bytes(flipped)
        try:
            assert by_file(path).text() == good[2]
        except ValueError:
            found += 1
    assert found > 200


def test_a_flipped_bit_in_a_weight_is_found(good, tmp_path):
    data = bytearray(good[0].read_bytes())
    at = data.index(good[1]["model/data/weights/weight_0"])
    data[at + 5] ^= 4
    path = tmp_path / "flipped.pt2"
    path.write_bytes(data)
    assert "the checksum of 'model/data/weights/weight_0' is wrong" in _error(path)


def test_not_an_archive(tmp_path):
    path = tmp_path / "text.pt2"
    path.write_bytes(b"something else" * 10)
    assert "not a ZIP archive" in _error(path)
    assert "cannot read" in _error(tmp_path / "missing.pt2")
    assert "cannot read" in _error(tmp_path)
    path = _write(tmp_path / "other.pt2", {"a/b": "c"})
    assert "no archive of torch.export.save" in _error(path)


@pytest.mark.parametrize(
    ("entry", "data", "message"),
    [
        ("archive_format", "zzz", "unknown format 'zzz'"),
        ("archive_version", "7", "version 7; this reads version 0"),
        ("byteorder", "big", "big-endian"),
        ("models/model.json", "", "JSON: the text ends"),
        ("models/model.json", "[" * 1_000_000, "nested more than 512 deep"),
        ("models/model.json", '{"a":' * 1_000_000, "nested more than 512 deep"),
        ("models/model.json", "{}", "which version of the schema"),
        ("models/model.json", "{} x", "text behind the end"),
        ("data/weights/model_weights_config.json", "{}", "describes no tensors"),
        ("data/weights/weight_0", b"", "reaches beyond the 0 bytes"),
        ("data/weights/weight_0", b"1234", "reaches beyond the 4 bytes"),
    ],
)
def test_wrong_entry(good, tmp_path, entry, data, message):
    entries = {**good[1], f"model/{entry}": data}
    assert message in _error(_write(tmp_path / "wrong.pt2", entries))


@pytest.mark.parametrize(
    "entry", ["data/weights/weight_1", "data/constants/tensor_0", "models/model.json"]
)
def test_missing_entry(good, tmp_path, entry):
    entries = {k: v for k, v in good[1].items() if k != f"model/{entry}"}
    message = _error(_write(tmp_path / "missing.pt2", entries))
    if entry.startswith("models"):
        assert "the archive has no program" in message
    else:
        assert f"no entry '{entry}'" in message


def _directory(data) -> int:
    """Where the list of entries begins."""
    return struct.unpack_from("<I", data, data.rindex(b"PK\5\6") + 16)[0]


def test_entry_that_points_outside(good, tmp_path):
    data = bytearray(good[0].read_bytes())
    directory = _directory(data)
    for offset, value, message in [
        (42, 0xFFFFFF00, "points to no entry"),
        (42, 1, "points to no entry"),
        (20, 0xFFFFFF00, "has two sizes"),
        (8, 1, "is encrypted"),
        (10, 99, "method 99"),
    ]:
        changed = bytearray(data)
        if offset == 20:
            struct.pack_into("<II", changed, directory + 20, value, value)
            message = "reaches beyond the end"
        else:
            size = "<I" if offset == 42 else "<H"
            struct.pack_into(size, changed, directory + offset, value)
        path = tmp_path / "outside.pt2"
        path.write_bytes(changed)
        assert message in _error(path)


def test_bomb(tmp_path):
    """A size that no compressed data of that length can have."""
    path = _write(tmp_path / "bomb.pt2", {"a/b": b"0" * 9999}, zipfile.ZIP_DEFLATED)
    data = bytearray(path.read_bytes())
    struct.pack_into("<I", data, _directory(data) + 24, 0xFFFFFFF0)
    path.write_bytes(data)
    assert "cannot hold 4294967280 bytes" in _error(path)


def test_entries_that_overlap(good, tmp_path):
    data = bytearray(good[0].read_bytes())
    first = _directory(data)
    second = data.index(b"PK\1\2", first + 4)
    data[second + 20 : second + 28] = data[first + 20 : first + 28]
    data[second + 42 : second + 46] = data[first + 42 : first + 46]
    path = tmp_path / "overlap.pt2"
    path.write_bytes(data)
    assert "overlap" in _error(path)


def test_wrong_version_of_the_schema(good, tmp_path):
    program = _program(good[1])
    program["schema_version"]["major"] = 9
    message = _error(_with_program(tmp_path, good[1], program))
    assert "version 9.20 of torch's schema (torch 2." in message


def _nodes(program):
    return program["graph_module"]["graph"]["nodes"]


def _change_name(program):
    _nodes(program)[0]["inputs"][0]["arg"] = {"as_tensor": {"name": "nobody"}}


def _change_type(program):
    _nodes(program)[0]["inputs"][1]["arg"] = {"as_string": "text"}


def _change_parameter(program):
    _nodes(program)[0]["inputs"][1]["name"] = "other_name"


def _drop_argument(program):
    del _nodes(program)[0]["inputs"][1]


def _unknown_argument(program):
    _nodes(program)[0]["inputs"][0]["arg"] = {"as_something": 1}


def _two_values(program):
    _nodes(program)[1]["outputs"][0]["as_tensor"]["name"] = "x"


def _too_many_results(program):
    _nodes(program)[0]["outputs"] *= 2


def _negative_size(program):
    values = program["graph_module"]["graph"]["tensor_values"]
    values["x"]["sizes"][0] = {"as_int": -3}


def _other_shape(program):
    values = program["graph_module"]["graph"]["tensor_values"]
    values["p_linear_weight"]["sizes"][0] = {"as_int": 5}


def _unknown_dtype(program):
    program["graph_module"]["graph"]["tensor_values"]["x"]["dtype"] = 77


def _no_graphs(program):
    cond = next(n for n in _nodes(program) if n["target"].endswith("cond"))
    cond["inputs"][1]["arg"] = {"as_int": 1}


def _too_few_inputs(program):
    del program["graph_module"]["signature"]["input_specs"][-1]


def _too_few_outputs(program):
    program["graph_module"]["signature"]["output_specs"] = []


def _no_axis(program):
    sort = next(n for n in _nodes(program) if "sort" in n["target"])
    sort["inputs"] = sort["inputs"][:1]
    sort["inputs"].append({"name": "dim", "arg": {"as_int": 7}, "kind": 1})


def _other_output(program):
    outputs = program["graph_module"]["graph"]["outputs"]
    outputs[0] = {"as_tensor": {"name": "linear"}}


def _gradient(program):
    spec = {"arg": {"name": "x"}, "parameter_name": "linear.weight"}
    program["graph_module"]["signature"]["output_specs"] = [
        {"gradient_to_parameter": spec}
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_change_name, "call 'linear': nothing before it is called 'nobody'"),
        (_change_type, "'weight' of aten.linear.default is of the wrong type"),
        (_change_parameter, "aten.linear.default has no parameter 'other_name'"),
        (_drop_argument, "the argument 'weight' of aten.linear.default is missing"),
        (_unknown_argument, "an argument of the unknown kind 'as_something'"),
        (_two_values, "two values called 'x'"),
        (_too_many_results, "linear.default returns 1 value, and not a list of 2"),
        (_negative_size, "'x': a size of -3\nFix: export the program anew"),
        (_other_shape, "the weight 'linear.weight' is float32["),
        (_unknown_dtype, "a tensor without type or shape"),
        (_no_graphs, "the arguments of higher_order.cond are of the wrong types"),
        (_too_few_inputs, "the graph has 4 inputs, its signature 3"),
        (_too_few_outputs, "the graph has 1 outputs, its signature 0"),
        (_no_axis, "'dim' of aten.sort.default is no axis of 'add'"),
        (_other_output, "returns another value than its signature says"),
        (_gradient, "only programs for inference can be converted"),
    ],
)
def test_wrong_program(good, tmp_path, change, message):
    program = _program(good[1])
    change(program)
    assert message in _error(_with_program(tmp_path, good[1], program))


def test_objects_are_refused(good, tmp_path):
    """One that nothing uses does not matter; one that is used cannot be kept."""
    program = _program(good[1])
    graph = program["graph_module"]["graph"]
    value = {"name": "obj_queue", "class_fqn": "__torch__.torch.classes.lib.Queue"}
    spec = {"custom_obj": {"arg": value, "custom_obj_name": "queue"}}
    graph["inputs"].insert(0, {"as_custom_obj": value})
    program["graph_module"]["signature"]["input_specs"].insert(0, spec)
    path = _with_program(tmp_path, good[1], program)
    assert by_file(path).text() == good[2]
    call = {
        "target": "torch.ops.lib.push.default",
        "inputs": [{"name": "", "arg": {"as_custom_obj": value}, "kind": 1}],
        "outputs": [{"as_none": True}],
        "metadata": {},
        "name": "push",
    }
    graph["nodes"].insert(0, call)
    message = _error(_with_program(tmp_path, good[1], program))
    assert "call 'push': lib.push.default uses 'queue', an object of a" in message


class Marker:
    """Something that a pickle makes by calling a function."""

    def __reduce__(self):
        return print, ("a pickle was run",)


def test_a_pickle_is_not_run(tmp_path, capsys):
    with zipfile.ZipFile(_OLD[0].with_name("torch-2.8.0.pt2")) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    name = next(name for name in entries if name.endswith("weights/model.pt"))
    saved = tmp_path / "saved.pt"
    torch.save({"embed.weight": Marker()}, saved)
    path = _write(tmp_path / "hostile.pt2", {**entries, name: saved.read_bytes()})
    assert "refers to the Python object __builtin__.print" in _error(path)
    assert capsys.readouterr().out == ""


class Sum(torch.nn.Module):
    def forward(self, x, y):
        return x + y


def test_names_and_entry_points(tmp_path):
    args = (torch.randn(2), torch.randn(2))
    path = str(tmp_path / "two.pt2")
    programs = {"a": torch.export.export(Sum(), args)}
    programs["b"] = torch.export.export(torch.nn.Linear(2, 3), args[:1])
    torch.export.pt2_archive._package.package_pt2(path, exported_programs=programs)
    module = _native.convert_pt2(
        [
            _native.Pt2EntryPoint(path, "sum", "a", ["p", "q"], ["r"]),
            _native.Pt2EntryPoint(path, "dense", "b"),
        ]
    )
    text = module.text()
    assert "@sum" in text
    assert "@dense" in text
    assert '"p"' in text
    assert '"r"' in text
    message = _error(path)
    assert "has the programs a, b: say which one" in message
    with pytest.raises(ValueError, match="two entry points are called 'main'"):
        _native.convert_pt2([_native.Pt2EntryPoint(path, model="a")] * 2)
    with pytest.raises(ValueError, match="and no 'c'"):
        _native.convert_pt2([_native.Pt2EntryPoint(path, model="c")])


class Unknown(torch.nn.Module):
    def forward(self, x):
        return torch.linalg.eigvals(x).real + torch.linalg.svdvals(x)


def test_unsupported_operators_are_all_listed(tmp_path):
    path = tmp_path / "unknown.pt2"
    torch.export.save(torch.export.export(Unknown(), (torch.randn(3, 3),)), path)
    message = _error(path)
    assert "aten.linalg_eigvals.default" in message
    assert "aten.linalg_svdvals.default" in message
    assert f"\n      {__file__}:" in message
