# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A report says where a program is not what the official converter makes."""

import torch
from support.cases import export

from coreai_torch import TorchConverter


class Compares(torch.nn.Module):
    def forward(self, x, y, places):
        return x >= y, x <= y, places >= 1, x > y


def report(module, *args):
    converter = TorchConverter().add_exported_program(export(module, args))
    converter.to_coreai()
    return converter.report()


def test_departures_are_counted_by_calls():
    x = torch.ones(2, 3)
    got = report(Compares(), x, x.clone(), torch.ones(2, dtype=torch.int64))
    (departure,) = got.departures
    assert departure.operators == "ge, le"
    assert "NaN" in departure.reason
    assert departure.calls == 2
    text = str(got)
    assert "Other operations than the official converter's" in text
    assert departure.reason in text


def test_a_program_without_departures():
    got = report(torch.nn.ReLU(), torch.ones(2))
    assert got.departures == []
    assert "official" not in str(got)
