# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which calls of modules end up in one graph, and what makes them equal."""

from __future__ import annotations

import pytest
import torch
from support.externalized import external, graphs
from torch import nn

from coreai_torch import ExternalizeSpec, TorchConverter, get_decomp_table


class Norm(nn.Module):
    def __init__(self, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps

    def forward(self, x, scale):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + self.eps) * scale


class Scale(nn.Module):
    def __init__(self, value: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.full((6,), value))

    def forward(self, x):
        return x * self.weight


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = Norm()

    def forward(self, x, scale):
        return self.norm(x + 1, scale)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.other = Norm(), Norm(), Norm(1e-3)
        self.one, self.same, self.two = Scale(1.0), Scale(1.0), Scale(2.0)
        self.scale = nn.Parameter(torch.rand(6))

    def forward(self, x):
        y = self.a(self.b(self.a(x, self.scale), self.scale), self.scale)
        y = self.other(y, self.scale)
        y = y + self.b(y[:1], self.scale)
        return self.one(y) + self.same(y) + self.two(y)


def convert(model, targets, entries=("main",)):
    sample = (torch.randn(2, 6),)
    converter = TorchConverter()
    for entry in entries:
        converter.add_pytorch_module(
            model.eval(),
            export_fn=lambda m: torch.export.export(m, sample).run_decompositions(
                get_decomp_table()
            ),
            externalize_modules=targets,
            entrypoint_name=entry,
        )
    return converter.to_coreai()


COMPOSITES = [ExternalizeSpec(Norm, "rms_norm", ["eps"]), ExternalizeSpec(Scale, "s")]


@pytest.mark.parametrize("entries", [("main",), ("main", "second")])
def test_equal_composites_share_a_graph(entries):
    """Declaration, types, names and constants decide; the entry point does not."""
    program = convert(Model(), COMPOSITES, entries)
    calls = ["a", "a", "b", "b", "other", "one", "same", "two"] * len(entries)
    assert [graph.path for graph in external(program)] == calls
    program.optimize()
    kept = external(program)
    assert [graph.path for graph in kept] == ["a", "b", "other", "one", "two"]
    shared = kept[0].symbol
    for graph in graphs(program):
        if graph.symbol in entries:
            assert graph.invoked.count(shared) == 3


def test_plain_boundaries_are_public_and_stay():
    program = convert(Model(), [Norm, Scale])
    program.optimize()
    assert len(external(program)) == 8


def test_results_are_counted_within_their_graph():
    program = convert(Model(), COMPOSITES)
    *inner, main = graphs(program)
    assert [graph.results for graph in inner] == [["mul_2"]] * 5 + [["mul"]] * 3
    assert main.results == ["add_2"]


def test_what_is_passed_does_not_count():
    """Inside, an input goes by its parameter, not by what computes it."""

    class Scaled(Model):
        def forward(self, x):
            return self.a(x * 2, self.scale) + self.b(x, self.scale)

    *inner, _ = graphs(convert(Scaled(), COMPOSITES[:1]))
    assert [graph.results for graph in inner] == [["mul_2"]] * 2


def test_what_a_graph_calls_is_shared():
    """coreai-core goes through the graphs once: the callers stay."""

    class Stack(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.ModuleList(Layer() for _ in range(3))
            self.scale = nn.Parameter(torch.rand(6))

        def forward(self, x):
            for layer in self.layers:
                x = layer(x, self.scale)
            return x

    targets = [*COMPOSITES, ExternalizeSpec(Layer, "layer")]
    program = convert(Stack(), targets)
    results = {graph.path: graph.results for graph in graphs(program)}
    assert results["layers.0"] == results["layers.2"] == ["norm"]
    assert results["main"] == ["layers_2"]
    program.optimize()
    composites = [graph.composite for graph in external(program)]
    assert composites == ["rms_norm", "layer", "layer", "layer"]


def test_picked_results_are_counted_with_the_unused():
    class Top(nn.Module):
        def forward(self, x):
            return x.sort(-1)[1] + 0, x.sort(-1)[1]

    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = Top(), Top()

        def forward(self, x):
            return self.first(x)[1], self.second(x + 1)[1]

    program = convert(Twice(), [ExternalizeSpec(Top, "top")])
    first, second, _ = graphs(program)
    assert first.results == second.results == ["add", "getitem_3"]
