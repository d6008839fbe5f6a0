# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where layers are not made of the operations of the official converter, and why.

What those operations compute, run as they are on the runtime, is not what torch
computes; what ours compute is. The official form of index_put with a mask that
is true nowhere, or with updates of a higher rank than the tensor, ends the
process; the cases of test_scatter.py cover ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
import torch
import torch.nn.functional as F
from support.cases import check_program, compare, export
from support.ir import parse, takes_text
from support.runtime import narrow, run

from coreai_torch import TorchConverter

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Proof:
    name: str
    function: Callable[[torch.Tensor], torch.Tensor]
    input: torch.Tensor
    #: Types of the input and the result.
    types: tuple[str, str]
    #: The official operations, from %x to %r.
    body: str
    #: They are only wrong once coreai-core has optimized them.
    optimized: bool = False


def positions(x: torch.Tensor) -> torch.Tensor:
    return F.max_pool2d(x, 2, return_indices=True)[1]


PROOFS = [
    Proof(
        "positions of maxima",
        positions,
        torch.arange(16.0).reshape(1, 1, 4, 4),
        ("tensor<1x1x4x4xf32>", "tensor<1x1x2x2xsi32>"),
        "%r = coreai.constant dense<0> : tensor<1x1x2x2xsi32>",
    ),
    Proof(
        "sums of 16-bit floats",
        lambda x: F.avg_pool2d(x, 2),
        torch.full((1, 1, 2, 2), 40000.0, dtype=torch.float16),
        ("tensor<1x1x2x2xf16>", "tensor<1x1x1x1xf16>"),
        """
        %k = coreai.constant dense<2> : tensor<2xui32>
        %d = coreai.constant dense<1> : tensor<2xui32>
        %n = coreai.constant dense<4.0> : tensor<f16>
        %s = coreai.sum_pool_2d %x, %k, %k, %d
            : (tensor<1x1x2x2xf16>, tensor<2xui32>, tensor<2xui32>, tensor<2xui32>)
            -> tensor<1x1x1x1xf16>
        %r = coreai.decomposable.broadcasting_divide %s, %n
            : (tensor<1x1x1x1xf16>, tensor<f16>) -> tensor<1x1x1x1xf16>
        """,
    ),
    Proof(
        "padding that does not count",
        lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
        torch.ones(1, 1, 3, 3),
        ("tensor<1x1x3x3xf32>", "tensor<1x1x2x2xf32>"),
        """
        %z = coreai.constant dense<0.0> : tensor<f32>
        %p = coreai.constant dense<[0, 0, 0, 0, 1, 1, 1, 1]> : tensor<8xui32>
        %k = coreai.constant dense<3> : tensor<2xui32>
        %t = coreai.constant dense<2> : tensor<2xui32>
        %d = coreai.constant dense<1> : tensor<2xui32>
        %n = coreai.constant dense<9.0> : tensor<f32>
        %w = coreai.pad %x, %p, %z mode = <constant>
            : (tensor<1x1x3x3xf32>, tensor<8xui32>, tensor<f32>)
            -> tensor<1x1x5x5xf32>
        %s = coreai.sum_pool_2d %w, %k, %t, %d
            : (tensor<1x1x5x5xf32>, tensor<2xui32>, tensor<2xui32>, tensor<2xui32>)
            -> tensor<1x1x2x2xf32>
        %r = coreai.decomposable.broadcasting_divide %s, %n
            : (tensor<1x1x2x2xf32>, tensor<f32>) -> tensor<1x1x2x2xf32>
        """,
    ),
    Proof(
        "the nearest element",
        lambda x: F.interpolate(x, size=(7, 7)),
        torch.arange(16.0).reshape(1, 1, 4, 4),
        ("tensor<1x1x4x4xf32>", "tensor<1x1x7x7xf32>"),
        """
        %o = coreai.constant dense<[1, 1, 7, 7]> : tensor<4xsi32>
        %s = coreai.constant dense<[1.0, 1.0, 1.75, 1.75]> : tensor<4xf32>
        %z = coreai.constant dense<0.0> : tensor<4xf32>
        %r = coreai.interpolate %x, %o, %s, %z
            {interpolation_mode = #coreai.interpolation_mode<nearest_neighbor>}
            : (tensor<1x1x4x4xf32>, tensor<4xsi32>, tensor<4xf32>, tensor<4xf32>)
            -> tensor<1x1x7x7xf32>
        """,
    ),
    Proof(
        "the bias of as many channels as places",
        lambda x: F.conv_transpose1d(
            x, torch.ones(1, 3, 1), torch.tensor([10.0, 20.0, 30.0])
        ),
        torch.arange(3.0).reshape(1, 1, 3),
        ("tensor<1x1x3xf32>", "tensor<1x3x3xf32>"),
        """
        %w = coreai.constant dense<1.0> : tensor<1x3x1x1xf32>
        %b = coreai.constant dense<[[[10.0], [20.0], [30.0]]]> : tensor<1x3x1xf32>
        %a = coreai.constant dense<3> : tensor<1xsi32>
        %o = coreai.constant dense<1> : tensor<2xui32>
        %z = coreai.constant dense<0> : tensor<2xui32>
        %g = coreai.constant dense<1> : tensor<ui32>
        %e = coreai.expand_dims %x, %a
            : (tensor<1x1x3xf32>, tensor<1xsi32>) to tensor<1x1x3x1xf32>
        %c = coreai.conv_transpose2d %e, %w, %o, %z, %o, %z, %g
            : (tensor<1x1x3x1xf32>, tensor<1x3x1x1xf32>, tensor<2xui32>,
               tensor<2xui32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>)
            -> tensor<1x3x3x1xf32>
        %s = coreai.shrink_dims %c, %a
            : (tensor<1x3x3x1xf32>, tensor<1xsi32>) to tensor<1x3x3xf32>
        %r = coreai.decomposable.broadcasting_add %s, %b
            : (tensor<1x3x3xf32>, tensor<1x3x1xf32>) -> tensor<1x3x3xf32>
        """,
        optimized=True,
    ),
]

every = pytest.mark.parametrize("proof", PROOFS, ids=[p.name for p in PROOFS])


class Calls(torch.nn.Module):
    def __init__(self, function: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(x)


@every
@takes_text
def test_the_official_operations_are_wrong(proof: Proof) -> None:
    taken, given = proof.types
    program = parse(
        f'coreai.graph @main(%x: {taken} {{coreai.name = "x"}})'
        f' -> ({given} {{coreai.name = "r"}}) {{\n'
        f"{proof.body}\ncoreai.output %r : {given}\n}}"
    )
    if proof.optimized:
        program.optimize()
    got = run(program, {"x": proof.input})["r"]
    with pytest.raises(AssertionError, match=r"not (close|equal)"):
        compare(got, narrow(proof.function(proof.input)))


@every
def test_ours_are_right_and_the_report_says_so(proof: Proof) -> None:
    exported = export(Calls(proof.function), (proof.input,))
    check_program(exported, (proof.input,), proof.function(proof.input))
    converter = TorchConverter().add_exported_program(exported)
    converter.to_coreai()
    assert [departure.calls for departure in converter.report().departures] == [1]
