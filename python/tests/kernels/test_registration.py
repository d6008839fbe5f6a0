# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Construction of kernels, and what torch sees of them."""

import functools
from collections.abc import Sequence

import pytest
import torch

from coreai_torch import MetalParameter, TorchConverter, TorchMetalKernel

ID = MetalParameter("id", "uint", "thread_position_in_grid")
LAUNCH = {"threads_per_grid": (4, 1, 1), "threads_per_thread_group": (4, 1, 1)}


def one(x: torch.Tensor) -> torch.Tensor:
    return x + 1


def two(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x + y


def make(name="registration_k", inputs=("x",), results=("o",), defn=one, **rest):
    return TorchMetalKernel(
        name, list(inputs), list(results), "o[id] = x[id] + 1;", defn, [ID], **rest
    )


@pytest.mark.parametrize("name", ["", "  ", None, 3])
def test_a_kernel_needs_a_name(name):
    with pytest.raises(ValueError, match="Kernel name must be a non-empty string"):
        make(name)


@pytest.mark.parametrize("name", ["a-b", "1a", "a b", "a::b", "a.b", "größe"])
def test_a_name_is_an_identifier(name):
    with pytest.raises(ValueError, match="Kernel name must be a C identifier"):
        make(name)


@pytest.mark.parametrize(
    ("inputs", "results", "defn", "message"),
    [
        (["x"], [], one, "result_names must contain at least one entry"),
        (["x", "x"], ["o"], two, r"Duplicate input names: \['x'\]"),
        (["x"], ["p", "o", "p", "o"], one, r"Duplicate result names: \['o', 'p'\]"),
        (
            ["x"],
            ["x"],
            one,
            r"Names appear in both input_names and result_names: \['x'\]",
        ),
        (["x", "y"], ["o"], one, "expected 2, got 1"),
        (["x"], ["o", "p"], one, "returns a single torch.Tensor"),
        (["x-y"], ["o"], one, "must be C identifiers, got 'x-y'"),
    ],
)
def test_names_fit_together(inputs, results, defn, message):
    with pytest.raises(ValueError, match=message):
        make(inputs=inputs, results=results, defn=defn)


def _variadic(*x: torch.Tensor) -> torch.Tensor: ...
def _keywords(**x: torch.Tensor) -> torch.Tensor: ...
def _plain(x) -> torch.Tensor: ...
def _parameter(x: torch.nn.Parameter) -> torch.Tensor: ...
def _string(x: str) -> torch.Tensor: ...
def _optional(x: torch.Tensor | None) -> torch.Tensor: ...
def _bare_list(x: torch.Tensor) -> list: ...
def _bare_tuple(x: torch.Tensor) -> tuple: ...
def _open_tuple(x: torch.Tensor) -> tuple[torch.Tensor, ...]: ...
def _sequence(x: torch.Tensor) -> Sequence[torch.Tensor]: ...
def _int(x: torch.Tensor) -> int: ...
def _nothing(x: torch.Tensor): ...
def _ints(x: torch.Tensor) -> list[int]: ...


@pytest.mark.parametrize("defn", [_variadic, _keywords])
def test_no_variadic_parameters(defn):
    with pytest.raises(TypeError, match="do not support variadic parameters"):
        make(defn=defn)


@pytest.mark.parametrize("defn", [_plain, _parameter, _string, _optional])
def test_annotations_of_parameters(defn):
    with pytest.raises(TypeError, match=r"custom kernels only support.*annotation"):
        make(defn=defn)


@pytest.mark.parametrize(
    "defn",
    [_bare_list, _bare_tuple, _open_tuple, _sequence, _int, _nothing, _ints],
)
def test_annotations_of_results(defn):
    with pytest.raises(TypeError, match="Metal kernels only support return types"):
        make(defn=defn)


def test_a_tuple_has_one_entry_per_result():
    def pair(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x, x

    with pytest.raises(ValueError, match="returns tuple of 2 tensors"):
        make(defn=pair)


def test_templates():
    with pytest.raises(ValueError, match=r"Inputs \{'z'\} not specified"):
        make(template_dtypes={"z": "T"})
    with pytest.raises(ValueError, match=r"duplicated template strings \['TYPE'\]"):
        make(inputs=["x", "y"], defn=two, template_dtypes={"x": "TYPE", "y": "TYPE"})


def test_reserved_parameter_names():
    def clash(threads_per_grid: torch.Tensor) -> torch.Tensor: ...

    with pytest.raises(ValueError, match="threads_per_grid"):
        make(defn=clash)


def test_the_function_runs_in_eager_mode():
    kernel = make("eager_k")
    x = torch.arange(4.0)
    assert torch.equal(kernel(x, **LAUNCH, result_shapes=[(4,)]), x + 1)
    assert kernel.result_shape_params == ["result_shape_o"]
    schema = str(torch.ops.coreai_metal_kernels.eager_k.default._schema)
    assert schema == (
        "coreai_metal_kernels::eager_k(Tensor x, Tensor threads_per_grid, "
        "Tensor threads_per_thread_group, Tensor result_shape_o) -> Tensor"
    )


def test_the_last_kernel_of_a_name_counts():
    first = make("replaced_k")

    def other(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    second = make("replaced_k", defn=other)
    x = torch.arange(4.0)
    for kernel in (first, second):
        assert torch.equal(kernel(x, **LAUNCH, result_shapes=[[4]]), x * 2)


def test_a_kernel_that_another_one_replaced():
    first = make("other_schema_k")
    second = make("other_schema_k", inputs=["x", "y"], defn=two)
    x = torch.arange(4.0)
    assert torch.equal(second(x, x, **LAUNCH, result_shapes=[[4]]), x * 2)
    with pytest.raises(RuntimeError, match="another kernel named 'other_schema_k'"):
        first(x, **LAUNCH, result_shapes=[[4]])


@pytest.mark.parametrize("size", [0, 1, 2, 4])
@pytest.mark.parametrize("which", ["threads_per_grid", "threads_per_thread_group"])
def test_thread_tuples_have_three_entries(which, size):
    arguments = {**LAUNCH, which: (1,) * size}
    with pytest.raises(ValueError, match=f"{which} must be a 3-tuple"):
        make("threads_k")(torch.ones(4), **arguments, result_shapes=[(4,)])


@pytest.mark.parametrize("shapes", [[], [(4,), (4,)]])
def test_one_shape_per_result(shapes):
    with pytest.raises(ValueError, match="one shape per result name"):
        make("shapes_k")(torch.ones(4), **LAUNCH, result_shapes=shapes)


def test_threads_are_natural_numbers():
    kernel = make("natural_k")
    with pytest.raises(TypeError, match="must hold integers"):
        kernel(
            torch.ones(4),
            threads_per_grid=(1.5, 1, 1),
            threads_per_thread_group=(1, 1, 1),
            result_shapes=[(4,)],
        )
    with pytest.raises(ValueError, match="negative"):
        kernel(
            torch.ones(4),
            threads_per_grid=(-1, 1, 1),
            threads_per_thread_group=(1, 1, 1),
            result_shapes=[(4,)],
        )


def test_launch_is_by_keyword_and_inputs_by_position():
    kernel = make("positions_k")
    with pytest.raises(TypeError):
        kernel(torch.ones(4), (4, 1, 1), (4, 1, 1), [(4,)])
    with pytest.raises(TypeError):
        kernel(x=torch.ones(4), **LAUNCH, result_shapes=[(4,)])
    with pytest.raises(TypeError, match="takes 1 inputs"):
        kernel(torch.ones(4), torch.ones(4), **LAUNCH, result_shapes=[(4,)])


def test_defaults_and_keyword_only_parameters():
    def scaled(x: torch.Tensor, n: int = 3, *, a: float = 0.5) -> torch.Tensor:
        return x * n * a

    kernel = make("defaults_k", inputs=["x", "n", "a"], defn=scaled)
    x = torch.arange(4.0)
    assert torch.equal(kernel(x, **LAUNCH, result_shapes=[(4,)]), x * 1.5)
    assert torch.equal(kernel(x, 2, 1.0, **LAUNCH, result_shapes=[(4,)]), x * 2)


def test_a_function_may_return_its_input():
    def same(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x, x

    kernel = make("same_k", results=["o", "p"], defn=same)
    x = torch.arange(4.0)
    o, p = kernel(x, **LAUNCH, result_shapes=[(4,), (4,)])
    assert o.data_ptr() != x.data_ptr() != p.data_ptr() != o.data_ptr()

    class Model(torch.nn.Module):
        def forward(self, x):
            return kernel(x, **LAUNCH, result_shapes=[(4,), (4,)])

    torch.export.export(Model(), (x,))


def test_other_callables():
    def scaled(x: torch.Tensor, n: int) -> torch.Tensor:
        return x * n

    class Doubled:
        def __call__(self, x: torch.Tensor) -> torch.Tensor:
            return x * 2

    x = torch.arange(4.0)
    for name, defn in [
        ("partial_k", functools.partial(scaled, n=2)),
        ("object_k", Doubled()),
    ]:
        inputs = ["x", "n"] if name == "partial_k" else ["x"]
        kernel = make(name, inputs=inputs, defn=defn)
        assert torch.equal(kernel(x, **LAUNCH, result_shapes=[(4,)]), x * 2)


def test_string_annotations():
    scope: dict = {}
    exec(
        "from __future__ import annotations\n"
        "import torch\n"
        "def defn(x: torch.Tensor) -> torch.Tensor:\n"
        "    return x + 1\n",
        scope,
    )
    assert make("strings_k", defn=scope["defn"]).name == "strings_k"


def test_registration_with_a_converter():
    kernel = make("registered_k")
    converter = TorchConverter()
    assert converter.register_custom_kernels([kernel]) is converter
    assert "coreai_metal_kernels::registered_k.default" in repr(converter)
    for again in (kernel, make("registered_k")):
        with pytest.raises(ValueError, match="already registered"):
            converter.register_custom_kernels([again])
    with pytest.raises(ValueError, match="already registered"):
        TorchConverter().register_custom_kernels([kernel, kernel])
    with pytest.raises(TypeError, match="expected a TorchMetalKernel"):
        converter.register_custom_kernels([one])
    with pytest.raises(ValueError, match="already registered"):
        converter.register_torch_lowering("coreai_metal_kernels::registered_k.default")(
            lambda values_map, node, loc: None
        )
    converter.clear()
    with pytest.raises(ValueError, match="already registered"):
        converter.register_custom_kernels([kernel])
