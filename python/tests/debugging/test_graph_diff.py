# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Differences between programs."""

from __future__ import annotations

import gc
import io
import random
from typing import Any

import networkx as nx
import pytest
import torch
from benchmarks.graph_diff import stack
from support import zoo

from coreai_torch import TorchConverter
from coreai_torch.debugging import graph_diff, graph_match
from coreai_torch.debugging.graph_diff import (
    GraphDiff,
    WeightPolicy,
    compute_coreai_program_diff,
    compute_exported_program_diff,
    compute_graph_diff,
    compute_per_graph_diff,
    format_multi_graph_diff,
    write_diff,
)
from corten import _native


class Function(torch.nn.Module):
    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: torch.Tensor) -> Any:
        return self.function(*args)


def export(module: Any, *args: torch.Tensor) -> Any:
    if not isinstance(module, torch.nn.Module):
        module = Function(module)
    return torch.export.export(module.eval(), args).run_decompositions()


def convert(module: Any, *args: torch.Tensor) -> Any:
    return TorchConverter().add_exported_program(export(module, *args)).to_coreai()


def network(activation: torch.nn.Module, seed: int = 0) -> torch.nn.Module:
    torch.manual_seed(seed)
    return torch.nn.Sequential(
        torch.nn.Linear(8, 8), activation, torch.nn.Linear(8, 8), torch.nn.LayerNorm(8)
    )


X = torch.zeros(2, 8)


def text_of(diff: GraphDiff, **options: Any) -> str:
    stream = io.StringIO()
    write_diff(diff, diff.source_graph, diff.target_graph, output=stream, **options)
    return stream.getvalue()


def changes(diff: GraphDiff) -> list[tuple[str, str, str, str]]:
    """(status, op in the source, op in the target, details) of each operation."""
    rows = []
    for line in text_of(diff).splitlines():
        cells = [cell.strip() for cell in line.split("│")[1:-1]]
        if len(cells) == 6 and cells[0] != "src_id":
            rows.append((cells[2], cells[3], cells[4], cells[5]))
    return rows


def check_verified(diff: GraphDiff) -> None:
    """An isomorphism is one: every node and every edge has its counterpart."""
    a, b = diff.source_graph, diff.target_graph
    mapping = diff.source_to_target_mapping
    assert sorted(mapping) == sorted(a)
    assert sorted(mapping.values()) == sorted(b)
    for node, data in a.nodes(data=True):
        assert data == b.nodes[mapping[node]]
    translated = {(mapping[u], mapping[v]): data for u, v, data in a.edges(data=True)}
    assert translated == {(u, v): data for u, v, data in b.edges(data=True)}


# --- programs -----------------------------------------------------------------


@pytest.mark.parametrize("name", ["mlp", "qwen2"])
def test_two_conversions_of_one_model(name: str) -> None:
    programs = [convert(*_flat(getattr(zoo, name)())) for _ in range(2)]
    results = compute_per_graph_diff(*programs)
    assert results[0][0] == "main"
    for _, diff in results:
        assert diff is not None
        assert diff.is_isomorphic
        check_verified(diff)
    assert "ALL GRAPHS ARE ISOMORPHIC" in format_multi_graph_diff(results)


def _flat(built: Any) -> tuple[Any, ...]:
    module, args = built
    return (module, *args)


def test_an_operation_is_replaced() -> None:
    source = convert(network(torch.nn.ReLU()), X)
    target = convert(network(torch.nn.Sigmoid()), X)
    diff = compute_coreai_program_diff(source, target)
    assert not diff.is_isomorphic
    assert changes(diff) == [
        ("removed", "coreai.relu", "", "no match in target"),
        ("added", "", "coreai.sigmoid", "no match in source"),
    ]
    assert len(diff.unmapped_source_nodes) == len(diff.unmapped_target_nodes) == 1
    # The value of the activation is the same one, made in another way.
    ((before, after),) = diff.modified_node_pairs
    assert diff.source_graph.nodes[before]["type"] == "value"
    assert diff.target_to_source_mapping[after] == before
    summary = diff.summary
    assert summary.mapped_node_count == summary.source_node_count - 2
    assert summary.unmapped_source_edge_count == len(diff.unmapped_source_edges) == 3
    text = text_of(diff)
    assert "✗ Graphs are NOT isomorphic." in text
    assert "First differing op: source node" in text
    assert "(coreai.relu) has no match." in text


def test_weights() -> None:
    source = convert(network(torch.nn.ReLU(), seed=0), X)
    other = convert(network(torch.nn.ReLU(), seed=1), X)
    again = convert(network(torch.nn.ReLU(), seed=0), X)
    assert compute_coreai_program_diff(source, other).is_isomorphic
    for policy in (WeightPolicy.DIGEST, WeightPolicy.DIGEST_PORTABLE):
        same = compute_coreai_program_diff(source, again, weights=policy)
        assert same.is_isomorphic
        diff = compute_coreai_program_diff(source, other, weights=policy)
        found = changes(diff)
        assert [row[:3] for row in found] == [
            ("modified", "coreai.constant", "coreai.constant")
        ] * 4
        assert found[0][3].startswith("value: weight tensor<8x8xf32> #")


def test_weights_too_large_for_the_text() -> None:
    def linear(seed: int) -> Any:
        torch.manual_seed(seed)
        return convert(torch.nn.Linear(32, 32), torch.zeros(1, 32))

    source, other = linear(0), linear(1)
    assert compute_coreai_program_diff(source, other).is_isomorphic
    digest = WeightPolicy.DIGEST
    assert compute_coreai_program_diff(source, linear(0), weights=digest).is_isomorphic
    diff = compute_coreai_program_diff(source, other, weights=digest)
    assert len(changes(diff)) == 2
    # Also of a program whose weights only coreai-core knows.
    source.optimize()
    other.optimize()
    assert not compute_coreai_program_diff(source, other, weights=digest).is_isomorphic


@pytest.mark.parametrize(
    ("before", "after", "details"),
    [
        (lambda x: x * 2.0, lambda x: x * 3.0, "value: dense<2.0"),
        (lambda x: x - x.exp(), lambda x: x.exp() - x, "rewired: operand 0, operand 1"),
        (lambda x: x[:, 1:3], lambda x: x[:, 2:4], "value: dense<"),
    ],
)
def test_an_operation_is_changed(before: Any, after: Any, details: str) -> None:
    diff = compute_coreai_program_diff(convert(before, X), convert(after, X))
    assert not diff.is_isomorphic
    rows = changes(diff)
    assert any(details in row[3] for row in rows), rows


def test_another_batch_size() -> None:
    """Every type is different, and still everything is where it was."""
    module = network(torch.nn.ReLU())
    source, target = convert(module, X), convert(module, torch.zeros(5, 8))
    diff = compute_coreai_program_diff(source, target)
    assert not diff.unmapped_source_nodes
    assert not diff.unmapped_target_nodes
    for _, _, _, details in changes(diff):
        assert "tensor<2x8xf32>" in details
        assert "rewired" not in details


def test_a_layer_is_taken_out() -> None:
    def stack(layers: int) -> Any:
        torch.manual_seed(0)
        return convert(
            torch.nn.Sequential(
                *(
                    torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh())
                    for _ in range(layers)
                ),
                torch.nn.Softmax(-1),
            ),
            X,
        )

    diff = compute_coreai_program_diff(stack(12), stack(11))
    assert not diff.unmapped_target_nodes
    removed = [row for row in changes(diff) if row[0] == "removed"]
    counts = [
        sum(data["type"] == "op" for _, data in graph.nodes(data=True))
        for graph in (diff.source_graph, diff.target_graph)
    ]
    assert len(removed) == counts[0] - counts[1]
    assert len(changes(diff)) - len(removed) <= 2


def test_composites_are_paired_by_their_calls() -> None:
    def norms(eps: float) -> torch.nn.Module:
        return torch.nn.Sequential(
            torch.nn.LayerNorm(8), torch.nn.Tanh(), torch.nn.LayerNorm(8, eps=eps)
        )

    results = compute_per_graph_diff(convert(norms(1e-5), X), convert(norms(1e-2), X))
    assert [label.split(" ")[0] for label, _ in results] == [
        "main",
        "layer_norm",
        "layer_norm",
    ]
    verdicts = [diff is not None and diff.is_isomorphic for _, diff in results]
    assert verdicts == [True, True, False]
    text = format_multi_graph_diff(results)
    assert text.count("GRAPH: ") == 3
    assert "✗ GRAPHS DIFFER" in text


def test_graphs_that_only_one_program_has() -> None:
    source = convert(network(torch.nn.ReLU()), X)
    target = convert(torch.nn.ReLU(), X)
    results = compute_per_graph_diff(source, target)
    assert results[0][0] == "main"
    assert results[1][0].endswith("(only in source)")
    assert results[1][1] is None
    backwards = compute_per_graph_diff(target, source)
    assert backwards[1][0].endswith("(only in target)")
    assert "no such graph" in format_multi_graph_diff(results)


def test_control_flow() -> None:
    def branches(function: Any) -> Any:
        def forward(x: torch.Tensor) -> Any:
            return torch.cond(x.sum() > 0, lambda x: x.sin(), function, (x,))

        return convert(forward, X)

    source = branches(lambda x: x.cos())
    assert compute_coreai_program_diff(
        source, branches(lambda x: x.cos())
    ).is_isomorphic
    diff = compute_coreai_program_diff(source, branches(lambda x: x.tanh()))
    assert changes(diff) == [
        ("removed", "coreai.cos", "", "no match in target"),
        ("added", "", "coreai.tanh", "no match in source"),
    ]


def test_optimized_against_not() -> None:
    source, target = (convert(*_flat(zoo.mlp())) for _ in range(2))
    target.optimize()
    diff = compute_coreai_program_diff(source, target)
    assert not diff.is_isomorphic
    assert changes(diff)


def test_whole_programs() -> None:
    source, target = (convert(network(torch.nn.ReLU()), X) for _ in range(2))
    diff = compute_coreai_program_diff(source, target, entry_point=None)
    assert diff.is_isomorphic
    names = [data.get("op_name") for _, data in diff.source_graph.nodes(data=True)]
    assert names.count("coreai.graph") == 2


def test_no_such_graph() -> None:
    program = convert(torch.nn.ReLU(), X)
    with pytest.raises(
        ValueError, match=r"Entry point 'x' not found in the source program; .*: main"
    ):
        compute_coreai_program_diff(program, program, entry_point="x")


def test_what_is_no_program() -> None:
    with pytest.raises(TypeError, match="expected an AIProgram, got int"):
        compute_coreai_program_diff(1, 2)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected an ExportedProgram, got str"):
        compute_exported_program_diff("a", "b")  # type: ignore[arg-type]


def test_a_diff_outlives_its_programs() -> None:
    source = convert(network(torch.nn.ReLU()), X)
    target = convert(network(torch.nn.Sigmoid()), X)
    diff = compute_coreai_program_diff(source, target)
    expected = text_of(diff)
    fresh = compute_coreai_program_diff(source, target)
    del source, target
    gc.collect()
    assert text_of(fresh) == expected
    assert fresh.source_graph.number_of_nodes() == fresh.summary.source_node_count


def test_the_list_is_cut() -> None:
    source = convert(network(torch.nn.ReLU(), 0), X)
    target = convert(network(torch.nn.ReLU(), 1), X)
    diff = compute_coreai_program_diff(source, target, weights=WeightPolicy.DIGEST)
    text = text_of(diff, max_items=1)
    assert text.count("│ modified │") == 1
    assert "... and 3 more" in text


# --- exported programs --------------------------------------------------------


def test_exported_programs() -> None:
    source = export(network(torch.nn.ReLU()), X)
    again = export(network(torch.nn.ReLU(), seed=3), X)
    same = compute_exported_program_diff(source, again)
    assert same.is_isomorphic
    check_verified(same)
    diff = compute_exported_program_diff(source, export(network(torch.nn.Sigmoid()), X))
    assert changes(diff) == [
        (
            "modified",
            "call_function:aten.addmm.default",
            "call_function:aten.addmm.default",
            "rewired: operand 1",
        ),
        (
            "removed",
            "call_function:aten.relu.default",
            "",
            "no match in target",
        ),
        (
            "added",
            "",
            "call_function:aten.sigmoid.default",
            "no match in source",
        ),
    ]


def test_arguments_of_exported_programs() -> None:
    diff = compute_exported_program_diff(
        export(lambda x: x.softmax(0) + 0.25, X),
        export(lambda x: x.softmax(1) + 0.5, X),
    )
    details = [row[3] for row in changes(diff)]
    assert details == ["dim: 0 -> 1", "other: 0.25 -> 0.5"]


def test_dynamic_exported_programs() -> None:
    def exported() -> Any:
        module = network(torch.nn.ReLU()).eval()
        shapes = ({0: torch.export.Dim("rows")},)
        return torch.export.export(
            module, (X,), dynamic_shapes=(shapes[0],)
        ).run_decompositions()

    assert compute_exported_program_diff(exported(), exported()).is_isomorphic


# --- graphs -------------------------------------------------------------------


def random_graph(seed: int, nodes: int) -> nx.DiGraph:
    """A random program: few names, so that many nodes look alike."""
    numbers = random.Random(seed)
    graph = nx.DiGraph()
    for node in range(nodes):
        graph.add_node(node, type="op", op_name=numbers.choice("abc"))
        for index in range(min(node, numbers.choice((0, 1, 1, 2)))):
            graph.add_edge(
                numbers.randrange(max(0, node - 8), node),
                node,
                edge_type="operand",
                index=index,
            )
    return graph


def shuffled(graph: nx.DiGraph, seed: int) -> nx.DiGraph:
    order = list(graph)
    random.Random(seed).shuffle(order)
    result = nx.DiGraph()
    for node in order:
        result.add_node(f"n{node}", **graph.nodes[node])
    edges = list(graph.edges(data=True))
    random.Random(seed + 1).shuffle(edges)
    for source, target, data in edges:
        result.add_edge(f"n{source}", f"n{target}", **data)
    return result


@pytest.mark.parametrize("seed", range(25))
def test_shuffled_graphs_are_isomorphic(seed: int) -> None:
    graph = random_graph(seed, nodes=20 + 8 * seed)
    diff = compute_graph_diff(graph, shuffled(graph, seed))
    assert diff.is_isomorphic
    check_verified(diff)


@pytest.mark.parametrize("seed", range(25))
def test_an_edit_is_found(seed: int) -> None:
    """Never isomorphic, and little more than the edit is different."""
    graph = random_graph(seed, nodes=200)
    target = shuffled(graph, seed)
    numbers = random.Random(seed)
    edited = f"n{numbers.choice([n for n in graph if graph.out_degree(n)])}"
    target.nodes[edited]["op_name"] = "other"
    diff = compute_graph_diff(graph, target)
    assert not diff.is_isomorphic
    assert edited in diff.unmapped_target_nodes
    assert len(diff.unmapped_source_nodes) == len(diff.unmapped_target_nodes) <= 3
    assert len(diff.modified_node_pairs) <= 4 * target.out_degree(edited) + 8


def test_graphs_with_cycles_and_several_edges() -> None:
    def ring(size: int) -> nx.DiGraph:
        graph = nx.DiGraph()
        for node in range(size):
            graph.add_edge(node, (node + 1) % size, edge_type="operand", index=0)
            graph.nodes[node].update(type="op", op_name="step")
        return graph

    assert compute_graph_diff(ring(6), ring(6)).is_isomorphic
    assert not compute_graph_diff(ring(6), ring(5)).is_isomorphic
    twice = nx.DiGraph()
    twice.add_node("x", type="value", value_type="block_arg")
    twice.add_node("add", type="op", op_name="add")
    twice.add_edge("x", "add", edge_type="operand", index=0, indices=(0, 1))
    once = twice.copy()
    del once.edges["x", "add"]["indices"]
    assert compute_graph_diff(twice, twice).is_isomorphic
    assert not compute_graph_diff(twice, once).is_isomorphic


def test_graphs_of_a_diff_can_be_compared_again() -> None:
    source = convert(network(torch.nn.ReLU(), 0), X)
    target = convert(network(torch.nn.ReLU(), 1), X)
    policy = WeightPolicy.DIGEST
    diff = compute_coreai_program_diff(source, target, weights=policy)
    graphs = diff.source_graph, diff.target_graph
    assert compute_graph_diff(*graphs).is_isomorphic
    again = compute_graph_diff(*graphs, weights=policy)
    assert changes(again) == changes(diff)
    assert graph_match.align(*graphs, policy).modified == diff.modified_node_pairs
    assert graph_match.align(*graphs).identical


def test_empty_graphs() -> None:
    assert compute_graph_diff(nx.DiGraph(), nx.DiGraph()).is_isomorphic
    one = nx.DiGraph()
    one.add_node(0, type="op", op_name="a")
    diff = compute_graph_diff(nx.DiGraph(), one)
    assert diff.unmapped_target_nodes == [0]


# --- size ---------------------------------------------------------------------


def test_edits_of_a_program_with_thousands_of_operations() -> None:
    """All layers look alike; still each edit is found where it is."""
    edits = frozenset({7, 1000, 1999})
    source = _native.receive(stack(2000))
    target = _native.receive(stack(2000, edits))
    diff = GraphDiff(
        _native.diff_graph(source, target, "main", _native.WeightPolicy.IGNORE)
    )
    rows = changes(diff)
    assert [row[0] for row in rows] == ["removed"] * 3 + ["added"] * 3
    # A layer has twelve nodes, its activation is the seventh;
    # before the first are the graph, its region, its block and its argument.
    places = [4 + 12 * layer + 6 for layer in sorted(edits)]
    assert diff.unmapped_source_nodes == diff.unmapped_target_nodes == places


def test_public_names() -> None:
    for name in graph_diff.__all__:
        assert hasattr(graph_diff, name)
    assert [kind.value for kind in graph_diff.OpDiffType] == [
        "modified",
        "removed",
        "added",
    ]
