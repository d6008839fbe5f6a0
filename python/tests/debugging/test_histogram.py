# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How many operations of each kind a program has."""

from __future__ import annotations

import io
import json
from collections import Counter

import pytest
import torch
from support.cases import export

import corten
from coreai_torch import TorchConverter
from coreai_torch.debugging.histogram import OperationHistogram, operation_histogram


class Norms(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(8)

    def forward(self, x):
        return self.norm(self.norm(x).tanh()).tanh()


class Branches(torch.nn.Module):
    def forward(self, x):
        return torch.cond(
            x.sum() > 0, lambda x: x.sin().exp(), lambda x: x.cos().sin(), (x,)
        )


def histogram(module: torch.nn.Module, *inputs: torch.Tensor) -> OperationHistogram:
    exported = export(module.eval(), inputs)
    program = TorchConverter(verbose=False).add_exported_program(exported).to_coreai()
    program.optimize()
    return operation_histogram(program)


def test_composites_stand_beside_what_calls_them():
    found = histogram(Norms(), torch.randn(2, 8))
    assert found.counts["coreai.tanh"] == 2
    assert found.counts["coreai.invoke -> layer_norm"] == 2
    assert "coreai.rsqrt" not in found.counts
    (norm,) = found.composites
    assert (norm.label, norm.invocations) == ("layer_norm", 2)
    assert norm.symbol.startswith("layer_norm")
    assert norm.histogram.counts["coreai.rsqrt"] == 1
    assert norm.size == sum(norm.histogram.counts.values())
    # A body counts as often as it is called.
    assert found.size == sum(found.counts.values()) + 2 * norm.size
    frequent_first = sorted(found.counts.items(), key=lambda e: (-e[1], e[0]))
    assert list(found.counts.items()) == frequent_first


@pytest.mark.parametrize("module", [Norms(), Branches()], ids=["norms", "branches"])
def test_an_operation_counts_as_for_corten_ops(module, tmp_path):
    """Each graph has a histogram of its own; what counts in it is the same."""
    exported = export(module.eval(), (torch.randn(2, 8),))
    program = TorchConverter(verbose=False).add_exported_program(exported).to_coreai()
    own: Counter[str] = Counter()
    graphs = {"": operation_histogram(program)}
    waiting = list(graphs.values())
    while waiting:
        found = waiting.pop()
        for name, count in found.counts.items():
            own[name.partition(" ")[0].removeprefix("coreai.")] += count
        for each in found.composites:
            if each.symbol not in graphs:
                graphs[each.symbol] = each.histogram
                waiting.append(each.histogram)
    path = tmp_path / "program.mlir"
    path.write_text(str(program._mlir_module))
    counted = corten.open(path).ops()
    theirs = Counter(counted["ops"])
    for composite in counted["composites"].values():
        theirs.update(composite["ops"])
    assert own == theirs


def test_branches_belong_to_their_graph():
    counts = histogram(Branches(), torch.randn(4)).counts
    assert counts["coreai.if"] == 1
    assert (counts["coreai.sin"], counts["coreai.cos"]) == (2, 1)


def test_all_entry_points_count():
    converter = TorchConverter(verbose=False)
    for name in ("first", "second"):
        converter.add_exported_program(
            export(Norms().eval(), (torch.randn(2, 8),)), entrypoint_name=name
        )
    assert operation_histogram(converter.to_coreai()).counts["coreai.tanh"] == 4


def test_as_text_and_as_json():
    found = histogram(Norms(), torch.randn(2, 8))
    data = json.loads(json.dumps(found.to_dict()))
    assert data["size"] == found.size
    assert data["counts"] == found.counts
    assert data["composites"][0]["histogram"]["counts"]["coreai.rsqrt"] == 1
    whole, folded = io.StringIO(), io.StringIO()
    found.write_summary(whole)
    found.write_summary(folded, folded=True)
    own = sum(found.counts.values())
    assert whole.getvalue().startswith(f"{found.size} operations, {own} in the entry")
    assert "invoked 2x" in whole.getvalue()
    assert "coreai.rsqrt" in whole.getvalue()
    assert folded.getvalue().startswith(f"{own} operations at the top level")
    assert "coreai.rsqrt" not in folded.getvalue()
    assert "coreai.invoke -> layer_norm" in folded.getvalue()
