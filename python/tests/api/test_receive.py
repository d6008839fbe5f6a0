# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The way from an official program into a context of ours."""

from __future__ import annotations

import gc
from typing import Any

import pytest
import torch
from support import zoo

from coreai_torch import TorchConverter
from corten import _native
from corten._program import weights_of
from corten._receive import receive


def _convert(module: torch.nn.Module, args: tuple[torch.Tensor, ...]) -> Any:
    exported = torch.export.export(module, args).run_decompositions()
    return TorchConverter().add_exported_program(exported).to_coreai()


def _structure(text: str) -> str:
    """Without the data of resources, which follows the module."""
    return text.split("\n{-#")[0].strip()


def _text(program: Any, locations: bool = False) -> str:
    operation = program._mlir_module.operation
    return _structure(
        operation.get_asm(large_resource_limit=0, enable_debug_info=locations)
    )


@pytest.mark.parametrize("optimized", [False, True])
def test_structure_and_locations_survive(optimized: bool) -> None:
    program = _convert(*zoo.bert())
    if optimized:
        program.optimize()
    received = receive(program)
    assert _structure(received.text()) == _text(program)
    assert _structure(received.text(locations=True)) == _text(program, True)
    assert not received.missing_weights()


def test_weights_of_a_conversion_are_views() -> None:
    module, args = zoo.mlp()
    program = _convert(module, args)
    bare = receive(program, weights=False)
    missing = {key for key, _ in bare.missing_weights()}
    assert missing == set(weights_of(program))
    memory = {
        parameter.data_ptr()
        for parameter in module.parameters()
        if parameter.numel() >= 256
    }
    assert {array.ctypes.data for array in weights_of(program).values()} == memory

    received = receive(program)
    before = received.text()
    with torch.no_grad():
        module[0].weight[0, 0] += 1.0  # type: ignore[index]
    assert received.text() != before


def test_weights_that_the_optimizer_made_cross() -> None:
    """Transposed while optimizing: no memory of ours holds them."""

    class Transposed(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.randn(32, 24))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x @ (self.weight * 2.0 + 1.0).t()

    program = _convert(Transposed().eval(), (torch.randn(4, 24),))
    program.optimize()
    bare = receive(program, weights=False)
    assert set(dict(bare.missing_weights())) - set(weights_of(program))
    received = receive(program)
    assert not received.missing_weights()
    # Printed with its data, a weight is the same on both sides.
    assert received.text().strip() == str(program._mlir_module).strip()


def test_it_outlives_the_program() -> None:
    program = _convert(*zoo.mlp())
    received = receive(program)
    before = received.text()
    del program
    gc.collect()
    assert received.text() == before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"coreai.nonsense", "unknown"),
        (b"module { coreai.graph @main() -> () { ", "expected"),
        (b"ML\xefR", "bytecode"),
    ],
)
def test_what_is_no_program(text: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _native.receive(text)


def test_a_weight_without_data_in_its_carrier() -> None:
    received = receive(_convert(*zoo.mlp()), weights=False)
    key = received.missing_weights()[0][0]
    with pytest.raises(ValueError, match=f'the weight "{key}" has no data'):
        received.attach_bytecode(key, b"module {}")
