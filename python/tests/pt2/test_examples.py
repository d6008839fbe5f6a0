# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The values that a program was exported with, and what else a file says of it."""

from __future__ import annotations

import collections
import json
import pickle
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

import corten

_ARCHIVES = sorted((Path(__file__).parent / "archives").glob("*.pt2"))


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 5)
        self.register_buffer("count", torch.zeros(2, dtype=torch.int64))

    def forward(self, x, times, pair, mask=None, *, scale, flag=True, text="a"):
        self.count.add_(1)
        y = self.linear(x) * times
        return y + pair["b"][0] * scale, pair["a"] if flag else None


_ARGS = (
    torch.arange(12.0).reshape(3, 4).t(),
    3,
    {"b": [torch.ones(5).bfloat16()], "a": torch.tensor([True, False])},
)
#: In another order than that of the signature.
_KWARGS = {"text": "é", "flag": True, "scale": 2.5}


def _save(path, module, args, kwargs=None, dynamic=None):
    exported = torch.export.export(module.eval(), args, kwargs, dynamic_shapes=dynamic)
    torch.export.save(exported, path)
    return exported


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("pt2") / "model.pt2"
    return path, _save(path, Model(), _ARGS, _KWARGS)


def _bytes(tensor):
    return tensor.contiguous().view(torch.uint8).numpy().tobytes()


def test_every_input_has_one(saved):
    path, exported = saved
    examples = corten.open_pt2(path).examples()
    # Names of tensors; plain values stand for themselves.
    for example, known in zip(
        examples, exported.graph_signature.user_inputs, strict=True
    ):
        if isinstance(example.value, corten.Tensor):
            assert example.input == known
        else:
            assert (example.input, example.value) == (None, known)
    by_path = {example.path: example.value for example in examples}
    assert by_path["kwargs['scale']"] == 2.5
    assert by_path["kwargs['text']"] == "é"
    x = by_path["args[0]"]
    assert (x.dtype, x.shape) == ("float32", (4, 3))
    # It is strided in the file.
    np.testing.assert_array_equal(
        np.frombuffer(x.data, x.dtype).reshape(x.shape), _ARGS[0].numpy()
    )
    narrow = by_path["args[2]['b'][0]"]
    assert narrow == ("bfloat16", (5,), _bytes(_ARGS[2]["b"][0]))
    assert by_path["args[2]['a']"] == ("bool", (2,), b"\1\0")


def test_what_is_said_of_a_program(saved):
    (program,) = corten.open_pt2(saved[0]).info()["programs"]
    assert program["name"] == "model"
    assert program["torch_version"] == torch.__version__
    assert (program["decomposed"], program["problem"]) == (False, None)
    assert [value["name"] for value in program["inputs"]] == ["x", "pair_b_0", "pair_a"]
    assert [value["name"] for value in program["states"]] == ["count"]
    assert program["outputs"][0]["type"] == "float32[4, 5]"
    operators = {op["name"]: op["count"] for op in program["operations"]}
    assert operators["aten.linear.default"] == 1
    assert program["operation_count"] == sum(operators.values())
    assert program["weights"] == [
        {"dtype": "float32", "count": 2, "elements": 20, "bytes": 80},
        {"dtype": "int64", "count": 1, "elements": 2, "bytes": 16},
    ]
    assert [example["kind"] for example in program["examples"]] == [
        *("tensor", "int", "tensor", "tensor", "string", "bool", "float")
    ]


class _Layer(torch.nn.Module):
    def __init__(self, register):
        super().__init__()
        register(self, "cache", torch.zeros(2))

    def forward(self, x):
        self.cache.add_(x)
        return self.cache * 2


def _layers(register):
    layers = [_Layer(register), _Layer(torch.nn.Module.register_buffer)]
    return torch.export.export(torch.nn.Sequential(*layers), (torch.ones(2),))


def _described(path):
    (program,) = corten.open_pt2(path).info()["programs"]
    return [value["name"] for value in program["states"]], program["problem"]


def test_states_are_called_and_ordered_as_state_names_takes_them(tmp_path):
    path, swapped = tmp_path / "model.pt2", tmp_path / "swapped.pt2"
    exported = _layers(torch.nn.Module.register_buffer).run_decompositions()
    torch.export.save(exported, path)
    assert _described(path) == (["0.cache", "1.cache"], None)

    # The order is that of the new values, which need not be that of the buffers.
    with zipfile.ZipFile(path) as before, zipfile.ZipFile(swapped, "w") as after:
        for name in before.namelist():
            data = before.read(name)
            if name.endswith("model.json"):
                program = json.loads(data)
                module = program["graph_module"]
                for list_ in (
                    module["graph"]["outputs"],
                    module["signature"]["output_specs"],
                ):
                    list_[:2] = list_[1::-1]
                data = json.dumps(program)
            after.writestr(name, data)
    assert _described(swapped) == (["1.cache", "0.cache"], None)
    model = corten.convert_pt2(swapped, state_names=["first", "second"])
    (entry,) = model.info()["entrypoints"]
    # Arguments keep the order of the buffers.
    assert [state["name"] for state in entry["states"]] == ["second", "first"]


def test_a_constant_that_is_written_to_goes_by_its_path(tmp_path):
    path = tmp_path / "model.pt2"
    torch.export.save(_layers(setattr), path)
    states, problem = _described(path)
    assert "writes to '0.cache', which is no buffer" in problem
    assert states == []


@pytest.mark.parametrize("path", _ARCHIVES, ids=lambda path: path.stem)
def test_older_releases(path):
    archive = corten.open_pt2(path)
    assert repr(archive) == f"corten.open_pt2({str(path)!r})"
    (program,) = archive.info()["programs"]
    assert path.stem.removesuffix("-decomposed") == (
        "torch-" + program["torch_version"].partition("+")[0]
    )
    assert program["decomposed"] == path.stem.endswith("decomposed")
    assert program["inputs"][0]["shape"] == [1, {"min": 2, "max": 64}]
    first, second = archive.examples()
    assert first.value == ("int64", (1, 3), _bytes(torch.tensor([[1, 2, 3]])))
    assert second == ("flag", "args[1]", ("bool", (1,), b"\1"))


def test_a_program_that_cannot_be_converted(tmp_path):
    class Unknown(torch.nn.Module):
        def forward(self, x):
            # The axes are those of the result.
            return torch.linalg.svdvals(x), torch.diag_embed(x, dim1=0, dim2=2)

    path = tmp_path / "model.pt2"
    _save(path, Unknown(), (torch.eye(3),))
    (program,) = corten.open_pt2(path).info()["programs"]
    assert program["problem"].startswith(
        "main: 2 operators have no lowering: aten.diag_embed.default, "
        "aten.linalg_svdvals.default\n"
    )
    assert program["problem"].endswith(
        "only torch can decompose aten.diag_embed.default, "
        "aten.linalg_svdvals.default: call run_decompositions("
        "coreai_torch.get_decomp_table()) before saving the program."
    )
    assert program["decomposed"] is None
    assert program["inputs"][0]["name"] == "x"


def test_a_decomposition_is_no_remedy_for_a_decomposed_program(tmp_path):
    class Unknown(torch.nn.Module):
        def forward(self, x):
            return torch.linalg.eigvals(x)

    path = tmp_path / "model.pt2"
    exported = torch.export.export(Unknown(), (torch.eye(3),))
    torch.export.save(exported.run_decompositions(), path)
    with pytest.raises(ValueError, match="has no lowering") as caught:
        corten.convert_pt2(path)
    assert "run_decompositions" not in str(caught.value)
    assert "register_torch_lowering" in str(caught.value)


def test_nor_for_operators_that_stay_when_torch_decomposes(tmp_path):
    """A user's operator that writes becomes the argument of a higher-order one."""

    @torch.library.custom_op("test_examples::write", mutates_args=("x",))
    def write(x: torch.Tensor) -> None:
        x.add_(1)

    class Writes(torch.nn.Module):
        def forward(self, x):
            y = x * 2
            torch.ops.test_examples.write(y)
            return y

    exported = torch.export.export(Writes(), (torch.ones(3),))
    for program in (exported, exported.run_decompositions()):
        torch.export.save(program, tmp_path / "model.pt2")
        with pytest.raises(ValueError, match="has no lowering") as caught:
            corten.convert_pt2(tmp_path / "model.pt2")
        assert "run_decompositions" not in str(caught.value)
        assert "register_torch_lowering" in str(caught.value)


def _with_examples(saved, tmp_path, data):
    path = tmp_path / "changed.pt2"
    with zipfile.ZipFile(saved[0]) as archive, zipfile.ZipFile(path, "w") as changed:
        for name in archive.namelist():
            is_examples = name.endswith("sample_inputs/model.pt")
            changed.writestr(name, data if is_examples else archive.read(name))
    return path


def _saved_by_torch(value, tmp_path):
    torch.save(value, tmp_path / "value.pt")
    return (tmp_path / "value.pt").read_bytes()


def test_saved_without(saved, tmp_path):
    archive = corten.open_pt2(_with_examples(saved, tmp_path, b""))
    assert archive.examples() == []
    assert archive.info()["programs"][0]["examples_problem"] is None


class Marker:
    """Something that a pickle makes by calling a function."""

    def __reduce__(self):
        return print, ("a pickle was run",)


def _endless():
    value = []
    value.append(value)
    return ((value,), {})


def _many(value, times):
    for _ in range(times):
        value = [value, value]
    return ((value,), {})


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ((_ARGS[:2], {}), "2 values for 7 inputs"),
        (((Marker(),), {}), "refers to the Python object __builtin__.print"),
        ([1, 2, 3], "holds no arguments of a call"),
        (_endless(), "nested more than 64 deep"),
        (_many([0] * 8, 20), "more than 4096 values"),
        (_many([], 50), "more than 4096 values"),
        ((("x" * 5000,), {}), "a text of more than 4096 characters"),
        (collections.Counter(a=1), "collections.Counter"),
    ],
    ids=["count", "hostile", "other", "endless", "many", "empty", "long", "class"],
)
def test_bad_examples(saved, tmp_path, capsys, value, message):
    """They are no reason not to read, or convert, the rest."""
    path = _with_examples(saved, tmp_path, _saved_by_torch(value, tmp_path))
    archive = corten.open_pt2(path)
    assert message in archive.info()["programs"][0]["examples_problem"]
    with pytest.raises(ValueError, match=re.escape(message)):
        archive.examples()
    assert capsys.readouterr().out == ""
    corten.convert_pt2(path)


def test_damaged_examples(saved, tmp_path):
    whole = _saved_by_torch((_ARGS, _KWARGS), tmp_path)
    for data in (b"x", whole[: len(whole) // 2], pickle.dumps(1)):
        path = _with_examples(saved, tmp_path, data)
        with pytest.raises(ValueError, match=r"cut off|ZIP"):
            corten.open_pt2(path).examples()


def test_several_programs(tmp_path):
    path = tmp_path / "two.pt2"
    sizes = {"first": 2, "second": 3}
    programs = {
        name: torch.export.export(torch.nn.Linear(size, 1), (torch.ones(1, size),))
        for name, size in sizes.items()
    }
    torch.export.pt2_archive._package.package_pt2(path, exported_programs=programs)
    archive = corten.open_pt2(path)
    assert sorted(p["name"] for p in archive.info()["programs"]) == sorted(sizes)
    for name, size in sizes.items():
        (example,) = archive.examples(name)
        assert example.value.shape == (1, size)
    with pytest.raises(ValueError, match="has no program 'model'"):
        archive.examples()
    # One of them, or all of them, can be converted.
    with pytest.raises(ValueError, match=r"say which one, as in .*two\.pt2:"):
        corten.convert_pt2(path)
    with pytest.raises(ValueError, match="and no 'third'"):
        corten.convert_pt2(f"{path}:third")
    model = corten.convert_pt2(entrypoints={n: f"{path}:{n}" for n in sizes})
    shapes = {e["name"]: e["inputs"][0]["shape"] for e in model.info()["entrypoints"]}
    assert shapes == {"first": [1, 2], "second": [1, 3]}
