# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a call of a kernel becomes in a program."""

import re
import tempfile
from pathlib import Path

import pytest
import torch

from coreai_torch import (
    MetalParameter,
    TorchConverter,
    TorchMetalKernel,
    get_decomp_table,
)

ID = MetalParameter("id", "uint", "thread_position_in_grid")


def launch(x: torch.Tensor) -> dict:
    return {
        "threads_per_grid": (x.shape[-1], 1, 1),
        "threads_per_thread_group": (32, 1, 1),
    }


class Wrapped(torch.nn.Module):
    """A function as a model."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


def export(function, inputs, dynamic_shapes=None):
    program = torch.export.export(
        Wrapped(function), inputs, dynamic_shapes=dynamic_shapes
    )
    return program.run_decompositions(get_decomp_table())


def convert(kernels, function, inputs, dynamic_shapes=None) -> str:
    converter = TorchConverter(verbose=False).register_custom_kernels(kernels)
    converter.add_exported_program(export(function, inputs, dynamic_shapes))
    return str(converter.to_coreai())


def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x + y


def adder(name="conv_add", **rest) -> TorchMetalKernel:
    return TorchMetalKernel(
        name, ["x", "y"], ["o"], "o[id] = x[id] + y[id];", add, [ID], **rest
    )


BUFFER = "#coreaix.hw_constraints<MTLBuffer, alignments: [1x1], interleave: [1]>"


def test_one_call():
    kernel = adder()
    text = convert(
        [kernel],
        lambda x, y: kernel(x, y, **launch(x), result_shapes=[x.shape]),
        (torch.ones(8), torch.ones(8)),
    )
    assert "dense<[8, 1, 1]> : tensor<3xui32>" in text
    assert "dense<[32, 1, 1]> : tensor<3xui32>" in text
    assert "dense<8> : tensor<1xui32>" in text
    into = f"(%arg0) : (tensor<8xf32>) -> tensor<8xf32, {BUFFER}>"
    assert f"coreaix.copy_with_constraints{into}" in text
    out = f"(tensor<8xf32, {BUFFER}>) -> tensor<8xf32>"
    assert re.search(r"copy_discarding_constraints\(%\d+\) : " + re.escape(out), text)
    name = re.search(r'kernel_name = "(conv_add_[a-z]{8})"', text)[1]
    source = re.search(r'kernel_source = "(.*?)"}', text)[1].replace("\\0A", "\n")
    assert source == (
        "\n#include <metal_stdlib>\n"
        "#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>\n"
        "using namespace metal;\n"
        "using namespace mpp::tensor_ops;\n\n"
        f"[[kernel]] void {name}("
        "tensor<device float, metal::dextents<int, 1>, tensor_handle> x "
        "[[buffer(0)]], "
        "tensor<device float, metal::dextents<int, 1>, tensor_handle> y "
        "[[buffer(1)]], "
        "tensor<device float, metal::dextents<int, 1>, tensor_handle> o "
        "[[buffer(2)]], "
        "uint id [[thread_position_in_grid]]) { o[id] = x[id] + y[id]; }"
    )


def names(text: str) -> list[str]:
    return re.findall(r'kernel_name = "([^"]*)"', text)


def test_equal_uses_share_a_name_and_others_do_not():
    kernel = adder()

    def model(x, y, h):
        a = kernel(x, y, **launch(x), result_shapes=[x.shape])
        b = kernel(a, y, **launch(x), result_shapes=[x.shape])
        c = kernel(h, h, **launch(h), result_shapes=[h.shape])
        return b, c

    inputs = (torch.ones(8), torch.ones(8), torch.ones(8, dtype=torch.half))
    first, second, third = names(convert([kernel], model, inputs))
    assert first == second != third
    # The same program gives the same text, also with a kernel made anew.
    again = adder()
    assert names(convert([again], model, inputs)) == [first, second, third]


def test_dynamic_shapes():
    kernel = adder()
    size = torch.export.Dim("size", min=2, max=64)
    text = convert(
        [kernel],
        lambda x, y: kernel(x, y, **launch(x), result_shapes=[x.shape]),
        (torch.ones(8), torch.ones(8)),
        (({0: size}, {0: size}),),
    )
    assert f"-> tensor<?xf32, {BUFFER}>" in text
    assert "get_shape" in text


def test_scalars_stand_in_the_source():
    def scaled(x: torch.Tensor, n: int, a: float, b: bool) -> torch.Tensor:
        return x * n * a * b

    kernel = TorchMetalKernel(
        "conv_scaled",
        ["x", "n", "a", "b"],
        ["o"],
        "o[id] = x[id] * n * a;",
        scaled,
        [ID],
    )

    def model(x):
        first = kernel(x, 3, 0.5, True, **launch(x), result_shapes=[x.shape])
        return kernel(first, -1, 1e-5, False, **launch(x), result_shapes=[x.shape])

    text = convert([kernel], model, (torch.ones(8),))
    for constant in ("<3> : tensor<si32>", "tensor<f32>", "<1> : tensor<ui8>"):
        assert f"{constant}" in text
    assert "alignments: [1], interleave: []" in text
    assert "constant int& n [[buffer(1)]], constant float& a [[buffer(2)]], " in text
    assert "constant bool& b [[buffer(3)]]" in text
    first, second = (
        source.replace("\\0A", "\n")
        for source in re.findall(r'kernel_source = "(.*?)"}', text)
    )
    body = (
        "{ {\nint n = 3;\nfloat a = 0.5f;\nbool b = true;\no[id] = x[id] * n * a;\n} }"
    )
    assert first.endswith(body)
    assert "int n = -1;\nfloat a = 1e-05f;\nbool b = false;\n" in second
    assert len(set(names(text))) == 2


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (float("inf"), "is not finite"),
        (float("nan"), "is not finite"),
        (1e39, "is not finite"),
    ],
)
def test_scalars_are_finite(number, message):
    def scaled(x: torch.Tensor, a: float) -> torch.Tensor:
        return x * a

    kernel = TorchMetalKernel("conv_inf", ["x", "a"], ["o"], "", scaled, [ID])
    with pytest.raises(ValueError, match=message):
        convert(
            [kernel],
            lambda x: kernel(x, number, **launch(x), result_shapes=[x.shape]),
            (torch.ones(8),),
        )


@pytest.mark.parametrize("number", [2**31, -(2**31) - 1])
def test_integers_have_32_bits(number):
    def scaled(x: torch.Tensor, n: int) -> torch.Tensor:
        return x * n

    kernel = TorchMetalKernel("conv_big", ["x", "n"], ["o"], "", scaled, [ID])
    with pytest.raises(ValueError, match="outside the 32-bit int range"):
        convert(
            [kernel],
            lambda x: kernel(x, number, **launch(x), result_shapes=[x.shape]),
            (torch.ones(8),),
        )


def test_a_size_is_a_scalar_too():
    def filled(x: torch.Tensor, n: int) -> torch.Tensor:
        return x + n

    kernel = TorchMetalKernel(
        "conv_size", ["x", "n"], ["o"], "o[id] = x[id] + n;", filled, [ID]
    )
    size = torch.export.Dim("size", min=2, max=64)
    text = convert(
        [kernel],
        lambda x: kernel(x, x.shape[0], **launch(x), result_shapes=[x.shape]),
        (torch.ones(8),),
        (({0: size},),),
    )
    source = re.search(r'kernel_source = "(.*?)"}', text)[1]
    assert (
        "tensor<device int, metal::dextents<int, 1>, tensor_handle> n_value" in source
    )
    assert "{ {\\0Aint n = n_value[0];\\0A" in source


def test_several_results_and_ranks():
    def both(x: torch.Tensor, s: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x + s, (x > s).sum(-1).float()

    kernel = TorchMetalKernel("conv_both", ["x", "s"], ["o", "p"], "", both, [ID])

    def model(x, s):
        o, p = kernel(x, s, **launch(x), result_shapes=[x.shape, x.shape[:-1]])
        return o * 2, p

    text = convert([kernel], model, (torch.ones(2, 3, 4), torch.tensor(1.0)))
    assert "constant float& s [[buffer(1)]]" in text
    assert "metal::dextents<int, 3>, tensor_handle> o [[buffer(2)]]" in text
    assert "metal::dextents<int, 2>, tensor_handle> p [[buffer(3)]]" in text
    assert "alignments: [1x1x1x1], interleave: [1x1x1]" in text
    assert text.count("copy_discarding_constraints") == 2


@pytest.mark.parametrize(
    ("dtype", "metal", "element"),
    [
        (torch.float32, "float", "f32"),
        (torch.float64, "float", "f32"),
        (torch.float16, "half", "f16"),
        (torch.bfloat16, "bfloat", "bf16"),
        (torch.int8, "int8_t", "si8"),
        (torch.uint8, "uint8_t", "ui8"),
        (torch.int16, "int16_t", "si16"),
        (torch.int32, "int", "si32"),
        (torch.int64, "int", "si32"),
        (torch.uint32, "uint", "ui32"),
        (torch.bool, "bool", "ui8"),
    ],
)
def test_element_types(dtype, metal, element):
    def copy(x: torch.Tensor) -> torch.Tensor:
        return x.clone()

    kernel = TorchMetalKernel("conv_types", ["x"], ["o"], "o[id] = x[id];", copy, [ID])
    text = convert(
        [kernel],
        lambda x: kernel(x, **launch(x), result_shapes=[x.shape]),
        (torch.ones(4).to(dtype),),
    )
    assert f"tensor<device {metal}, metal::dextents<int, 1>, tensor_handle> x" in text
    assert f"tensor<device {metal}, metal::dextents<int, 1>, tensor_handle> o" in text
    assert f"-> tensor<4x{element}, {BUFFER}>" in text


def test_types_that_a_kernel_cannot_take():
    def real(x: torch.Tensor) -> torch.Tensor:
        return torch.ones(4)

    kernel = TorchMetalKernel("conv_complex", ["x"], ["o"], "", real, [ID])
    with pytest.raises(
        TypeError, match="kernel input at index 0 has unsupported dtype: complex"
    ):
        convert(
            [kernel],
            lambda x: kernel(x, **launch(x), result_shapes=[x.shape]),
            (torch.ones(4, dtype=torch.complex64),),
        )

    def imaginary(x: torch.Tensor) -> torch.Tensor:
        return torch.ones(4, dtype=torch.complex64)

    kernel = TorchMetalKernel("conv_complex_o", ["x"], ["o"], "", imaginary, [ID])
    with pytest.raises(
        TypeError, match="Result type at index 0 has unsupported dtype: complex"
    ):
        convert(
            [kernel],
            lambda x: kernel(x, **launch(x), result_shapes=[x.shape]),
            (torch.ones(4),),
        )


def source_with(src: str, helper: str, templates: dict, dtype=torch.half) -> str:
    def copy(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x.clone()

    kernel = TorchMetalKernel(
        "conv_template", ["x", "y"], ["o"], src, copy, [ID], helper, templates
    )
    text = convert(
        [kernel],
        lambda x, y: kernel(x, y, **launch(x), result_shapes=[x.shape]),
        (torch.ones(4, dtype=dtype), torch.ones(4)),
    )
    return re.search(r'kernel_source = "(.*?)"}', text)[1]


def test_placeholders_of_types():
    source = source_with(
        "TYPE v = f(x[id]); TYPE4 w; TYPE2x2 m; MYTYPE t; o[id] = v;",
        "TYPE f(TYPE v) { return v; } struct TYPEs {}; U g();",
        {"x": "TYPE", "y": "U"},
    )
    assert "half v = f(x[id]); half4 w; half2x2 m; MYTYPE t;" in source
    assert "half f(half v) { return v; } struct TYPEs {}; float g();" in source


def test_a_placeholder_that_is_no_word():
    source = source_with("{{T}}4 v; o[id] = x[id];", "", {"x": "{{T}}"})
    assert "half4 v;" in source


def test_a_comment_at_the_end_of_the_body():
    assert source_with("o[id] = x[id]; // done", "", {}).endswith("// done\\0A}")


def test_metal_has_31_parameters():
    inputs = [f"x{i}" for i in range(30)]
    scope = {"torch": torch}
    parameters = ", ".join(f"{name}: torch.Tensor" for name in inputs)
    exec(f"def many({parameters}) -> torch.Tensor: return x0 + 1", scope)
    kernel = TorchMetalKernel("conv_many", inputs, ["o"], "", scope["many"], [ID])
    with pytest.raises(ValueError, match="metal kernels support 31 inputs, got 32"):
        convert(
            [kernel],
            lambda *xs: kernel(*xs, **launch(xs[0]), result_shapes=[(4,)]),
            tuple(torch.ones(4) for _ in inputs),
        )


def test_a_list_of_the_wrong_length():
    def some(x: torch.Tensor) -> list[torch.Tensor]:
        return [x + 1, x + 2, x + 3]

    kernel = TorchMetalKernel("conv_list", ["x"], ["o", "p"], "", some, [ID])

    def model(x):
        return kernel(x, **launch(x), result_shapes=[x.shape, x.shape])[0]

    with pytest.raises(ValueError, match="Expected 2 results, got 3"):
        convert([kernel], model, (torch.ones(4),))


def test_a_kernel_must_be_registered():
    kernel = adder("conv_unregistered")
    with pytest.raises(ValueError, match="unable to handle call function op") as error:
        convert(
            [],
            lambda x, y: kernel(x, y, **launch(x), result_shapes=[x.shape]),
            (torch.ones(8), torch.ones(8)),
        )
    assert "register_custom_kernels([...]): conv_unregistered." in str(error.value)
    assert "register_torch_lowering" not in str(error.value)


def test_several_entry_points_share_kernels():
    kernel = adder()

    def model(x, y):
        return kernel(x, y, **launch(x), result_shapes=[x.shape])

    converter = TorchConverter(verbose=False).register_custom_kernels([kernel])
    for name, size in (("small", 4), ("large", 64)):
        program = export(model, (torch.ones(size), torch.ones(size)))
        converter.add_exported_program(program, entrypoint_name=name)
    text = str(converter.to_coreai())
    assert "@small" in text
    assert "@large" in text
    assert len(names(text)) == 2
    assert len(set(names(text))) == 1


def test_inside_a_branch():
    kernel = adder()

    def model(p, x, y):
        def run(x, y):
            return kernel(x, y, **launch(x), result_shapes=[x.shape])

        return torch.cond(p, run, lambda x, y: x - y, (x, y))

    text = convert([kernel], model, (torch.tensor(True), torch.ones(8), torch.ones(8)))
    branch = text[text.index("coreai.if") :]
    assert "coreai.metal4_kernel" in branch


def test_the_documented_example():
    def torch_add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y

    kernel = TorchMetalKernel(
        "vector_add",
        input_names=["x", "y"],
        result_names=["output"],
        src="output[id] = x[id] + y[id];",
        torch_defn=torch_add,
        metal_params=[MetalParameter("id", "uint", "thread_position_in_grid")],
    )

    class Model(torch.nn.Module):
        def forward(self, x, y):
            return kernel(
                x,
                y,
                threads_per_grid=(x.shape[0], 1, 1),
                threads_per_thread_group=(32, 1, 1),
                result_shapes=[x.shape],
            )

    converter = TorchConverter(verbose=False)
    converter.register_custom_kernels([kernel])
    exported = torch.export.export(Model(), args=(torch.ones(64), torch.ones(64)))
    exported = exported.run_decompositions(get_decomp_table())
    program = converter.add_exported_program(exported).to_coreai()
    program.optimize()
    assert "coreai.metal4_kernel" in str(program)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.aimodel"
        program.save_asset(path)
        assert any(path.iterdir())


def test_in_an_externalized_module():
    kernel = adder("conv_external")

    class Inner(torch.nn.Module):
        def forward(self, x):
            return kernel(x, x, **launch(x), result_shapes=[x.shape])

    class Outer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def forward(self, x):
            return self.inner(x) * 2

    converter = TorchConverter(verbose=False).register_custom_kernels([kernel])
    converter.add_pytorch_module(
        Outer().eval(),
        export_fn=lambda module: torch.export.export(
            module, (torch.ones(64),)
        ).run_decompositions(get_decomp_table()),
        externalize_modules=[Inner],
    )
    text = str(converter.to_coreai())
    main = text[text.index("@main") :]
    assert text.count("coreai.metal4_kernel") == 1
    assert "coreai.metal4_kernel" not in main
    assert "coreai.invoke" in main
