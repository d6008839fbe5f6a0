# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Why a program is not always made of the operations of the official converter.

For each line of Departures.def: what those operations compute, run as they are
on the runtime, is not what torch computes; what ours compute is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from coreai.authoring import AIProgram
from support.cases import UNDECOMPOSED, check_program, compare, export
from support.departures import Proof
from support.departures_of_layers import PROOFS as OF_LAYERS
from support.ir import parse, takes_text
from support.runtime import narrow, run_calls, run_on_engine

from coreai_torch import TorchConverter

inf, nan, pi = float("inf"), float("nan"), math.pi

_ELEMENTS = {
    torch.float32: "f32",
    torch.float16: "f16",
    torch.int32: "si32",
    torch.uint8: "ui8",
    torch.bool: "i1",
}

TABLE = Path(__file__).parents[3] / "include/corten/Conversion/AtenToCoreAI"

#: What cannot be shown by numbers: the process would end. The cases of
#: test_scatter.py cover our scattered rows.
UNSHOWN = {"EmptyTensors", "ScatterRows"}


def floats(*values: float) -> torch.Tensor:
    return torch.tensor(values)


PROOFS = [
    Proof(
        "FloatOrder",
        torch.ge,
        (floats(nan, 1.0, 2.0), floats(1.0, nan, 2.0)),
        """
        %g = coreai.decomposable.broadcasting_greater %x1, %x0
            : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
        %r = coreai.not %g : tensor<3xi1> -> tensor<3xi1>
        """,
        one_by_one=lambda x, y: ~(y > x),
    ),
    Proof(
        "Rounding",
        torch.floor,
        (floats(inf, -inf, 1.5),),
        """
        %one = coreai.constant dense<1.0> : tensor<f32>
        %r = coreai.decomposable.broadcasting_floor_divide %x0, %one
            : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
        """,
        # Not a number in torch, either.
        one_by_one=lambda x: torch.floor_divide(x, 1.0),
    ),
    Proof(
        "RoundDecimals",
        lambda x: torch.round(x, decimals=-3),
        (floats(6500.0, 10500.0),),
        """
        %c = coreai.constant dense<1.0e-3> : tensor<f32>
        %m = coreai.decomposable.broadcasting_mul %x0, %c
            : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
        %n = coreai.round %m : tensor<2xf32> -> tensor<2xf32>
        %r = coreai.decomposable.broadcasting_divide %n, %c
            : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
        """,
        one_by_one=lambda x: torch.round(x * 1e-3) / 1e-3,
    ),
    Proof(
        "Expm1",
        lambda x: torch.expm1(x) / x,
        (floats(1e-8, -3e-6),),
        """
        %one = coreai.constant dense<1.0> : tensor<f32>
        %e = coreai.exp %x0 : tensor<2xf32> -> tensor<2xf32>
        %d = coreai.decomposable.broadcasting_sub %e, %one
            : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
        %r = coreai.decomposable.broadcasting_divide %d, %x0
            : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
        """,
        one_by_one=lambda x: (x.exp() - 1) / x,
    ),
    Proof(
        "Log1p",
        lambda x: torch.log1p(x) / x,
        (floats(1e-8, -3e-6),),
        """
        %one = coreai.constant dense<1.0> : tensor<f32>
        %s = coreai.decomposable.broadcasting_add %x0, %one
            : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
        %l = coreai.log %s : tensor<2xf32> -> tensor<2xf32>
        %r = coreai.decomposable.broadcasting_divide %l, %x0
            : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
        """,
        one_by_one=lambda x: (x + 1).log() / x,
    ),
    Proof(
        "BitwiseNot",
        torch.bitwise_not,
        (torch.tensor([1 << 24, -(1 << 30) - 7], dtype=torch.int32),),
        """
        %low = coreai.constant dense<-1.0> : tensor<f32>
        %one = coreai.constant dense<1.0> : tensor<f32>
        %f = coreai.cast %x0 : tensor<2xsi32> to tensor<2xf32>
        %s = coreai.decomposable.broadcasting_add %f, %one
            : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
        %m = coreai.decomposable.broadcasting_mul %s, %low
            : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
        %r = coreai.cast %m : tensor<2xf32> to tensor<2xsi32>
        """,
        one_by_one=lambda x: (-(x.float() + 1)).int(),
    ),
    Proof(
        "IntegerWrap",
        lambda x: x.to(torch.uint8),
        (torch.tensor([300, -1], dtype=torch.int32),),
        "%r = coreai.cast %x0 : tensor<2xsi32> to tensor<2xui8>",
        # Casts of the dialect saturate.
        one_by_one=lambda x: x.clamp(0, 255).to(torch.uint8),
    ),
    Proof(
        "FloorDivide",
        torch.floor_divide,
        (floats(1.0, 3.0), floats(0.1, 0.3)),
        """
        %r = coreai.decomposable.broadcasting_floor_divide %x0, %x1
            : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
        """,
    ),
    Proof(
        "Remainder",
        torch.remainder,
        (floats(1.0, 3.0), floats(0.1, 0.3)),
        """
        %q = coreai.decomposable.broadcasting_floor_divide %x0, %x1
            : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
        %m = coreai.decomposable.broadcasting_mul %q, %x1
            : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
        %r = coreai.decomposable.broadcasting_sub %x0, %m
            : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
        """,
    ),
    Proof(
        "IntegerPower",
        torch.pow,
        tuple(torch.tensor(v, dtype=torch.int32) for v in ([-1, 1], [-1, -2])),
        """
        %r = coreai.decomposable.broadcasting_pow %x0, %x1
            : (tensor<2xsi32>, tensor<2xsi32>) -> tensor<2xsi32>
        """,
    ),
    # What it makes of x = 0: pi by the sign of x, whatever y is.
    Proof(
        "Atan2",
        torch.atan2,
        (floats(1.0, 2.0), floats(-0.0, -0.0)),
        """
        %zero = coreai.constant dense<0.0> : tensor<f32>
        %one = coreai.constant dense<1.0> : tensor<f32>
        %pi = coreai.constant dense<3.14159274> : tensor<f32>
        %half = coreai.constant dense<1.57079637> : tensor<f32>
        %z = coreai.decomposable.broadcasting_equal %x1, %zero
            : (tensor<2xf32>, tensor<f32>) -> tensor<2xi1>
        %i = coreai.decomposable.broadcasting_divide %one, %x1
            : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
        %b = coreai.decomposable.broadcasting_greater %zero, %i
            : (tensor<f32>, tensor<2xf32>) -> tensor<2xi1>
        %n = coreai.decomposable.broadcasting_and %z, %b
            : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
        %r = coreai.decomposable.broadcasting_where %n, %pi, %half
            : (tensor<2xi1>, tensor<f32>, tensor<f32>) -> tensor<2xf32>
        """,
        one_by_one=lambda y, x: torch.where((x == 0) & (1 / x < 0), pi, pi / 2),
    ),
    Proof(
        "NanPlace",
        lambda x: torch.argmax(x, dim=1),
        (torch.tensor([[1.0, nan, 3.0], [nan, 1.0, 2.0]]),),
        """
        %axis = coreai.constant dense<1> : tensor<si32>
        %drop = coreai.constant dense<1> : tensor<1xsi32>
        %i = coreai.argmax %x0, %axis
            : (tensor<2x3xf32>, tensor<si32>) -> tensor<2x1xui32>
        %c = coreai.cast %i : tensor<2x1xui32> to tensor<2x1xsi32>
        %r = coreai.shrink_dims %c, %drop
            : (tensor<2x1xsi32>, tensor<1xsi32>) to tensor<2xsi32>
        """,
    ),
    Proof(
        "NanOrder",
        lambda x: torch.topk(x, 2).values,
        (floats(1.0, nan, 3.0),),
        """
        %axis = coreai.constant dense<0> : tensor<si32>
        %yes = coreai.constant dense<true> : tensor<i1>
        %start = coreai.constant dense<0> : tensor<1xsi32>
        %end = coreai.constant dense<2> : tensor<1xsi32>
        %step = coreai.constant dense<1> : tensor<1xsi32>
        %s = coreai.sort %x0, %axis, %yes, %yes
            : (tensor<3xf32>, tensor<si32>, tensor<i1>, tensor<i1>) -> tensor<3xf32>
        %r = coreai.slice %s, %start, %end, %step
            : (tensor<3xf32>, tensor<1xsi32>, tensor<1xsi32>, tensor<1xsi32>)
            -> tensor<2xf32>
        """,
        # Sorts of the dialect put NaN last in both directions, and our own
        # programs count on it.
        one_by_one=lambda x: x[[2, 0]],
    ),
    Proof(
        "HalfSums",
        lambda x: torch.linalg.vector_norm(x, dim=0, keepdim=True),
        (torch.tensor([300.0, 400.0], dtype=torch.float16),),
        """
        %axes = coreai.constant dense<0> : tensor<1xsi32>
        %m = coreai.decomposable.broadcasting_mul %x0, %x0
            : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xf16>
        %s = coreai.reduce_sum %m, %axes
            : (tensor<2xf16>, tensor<1xsi32>) -> tensor<1xf16>
        %r = coreai.sqrt %s : tensor<1xf16> -> tensor<1xf16>
        """,
        one_by_one=lambda x: (x * x).sum(0, keepdim=True).sqrt(),
    ),
    Proof(
        "MaskIndex",
        lambda x, mask: x[mask],
        (torch.arange(6.0).reshape(3, 2), torch.ones(3, dtype=torch.bool)),
        """
        %axis = coreai.constant dense<1> : tensor<1xsi32>
        %i = coreai.cast %x1 : tensor<3xi1> to tensor<3xsi32>
        %e = coreai.expand_dims %i, %axis
            : (tensor<3xsi32>, tensor<1xsi32>) to tensor<3x1xsi32>
        %r = coreai.gather_nd %x0 at %e
            : (tensor<3x2xf32>, tensor<3x1xsi32>) to tensor<3x2xf32>
        """,
        one_by_one=lambda x, mask: x[mask.int()],
    ),
    *OF_LAYERS,
]

every = pytest.mark.parametrize("proof", PROOFS, ids=[p.departure for p in PROOFS])


def table() -> dict[str, str]:
    """Each departure and the operators that it is about."""
    text = (TABLE / "Departures.def").read_text()
    return dict(re.findall(r'^DEPARTURE\((\w+),\s*"([^"]*)"', text, re.MULTILINE))


class Calls(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: torch.Tensor) -> Any:
        return self.function(*args)


def type_of(tensor: torch.Tensor) -> str:
    extents = "".join(f"{extent}x" for extent in tensor.shape)
    return f"tensor<{extents}{_ELEMENTS[narrow(tensor).dtype]}>"


def named(inputs: tuple[torch.Tensor, ...]) -> dict[str, torch.Tensor]:
    return {str(i): x for i, x in enumerate(inputs)}


def official(proof: Proof, expected: torch.Tensor) -> AIProgram:
    arguments = ", ".join(
        f'%x{i}: {type_of(tensor)} {{coreai.name = "{i}"}}'
        for i, tensor in enumerate(proof.inputs)
    )
    kind = type_of(expected)
    program = parse(
        f'coreai.graph @main({arguments}) -> ({kind} {{coreai.name = "r"}}) {{\n'
        f"{proof.body}\ncoreai.output %r : {kind}\n}}"
    )
    if proof.optimized:
        program.optimize()
    return program


def test_every_departure_is_shown() -> None:
    assert {p.departure for p in PROOFS} | UNSHOWN == set(table())


@every
@takes_text
def test_the_official_operations_are_wrong(proof: Proof) -> None:
    expected = narrow(proof.function(*proof.inputs))
    # The engine computes as PyTorch does where the interpreter does not.
    program, inputs = official(proof, expected), named(proof.inputs)
    got = run_calls(program, [inputs], with_engine=False)[0][0]["r"]
    with pytest.raises(AssertionError, match=r"not (close|equal)"):
        compare(got, expected)


@every
@takes_text
def test_the_engine_runs_the_official_operations_as_torch(proof: Proof) -> None:
    """So that assets of others give eager's numbers wherever they can."""
    expected = narrow((proof.one_by_one or proof.function)(*proof.inputs))
    got = run_on_engine(official(proof, expected), [named(proof.inputs)])[0][0]["r"]
    compare(got, expected)


@every
def test_ours_are_right_and_the_report_says_so(proof: Proof) -> None:
    exported = export(Calls(proof.function), proof.inputs)
    expected = proof.function(*proof.inputs)
    check_program(exported, proof.inputs, expected)
    converter = TorchConverter().add_exported_program(exported, decompose=UNDECOMPOSED)
    converter.to_coreai()
    noted = {departure.operators for departure in converter.report().departures}
    assert table()[proof.departure] in noted
