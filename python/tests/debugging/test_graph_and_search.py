# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs of programs, and the order in which they are searched."""

from __future__ import annotations

import asyncio
import time

import pytest
from support.debugging import SUBJECTS

from coreai_torch.debugging.graph import (
    ComputationGraph,
    create_graph_from_coreai_program,
    create_graph_from_exported_program,
)
from coreai_torch.debugging.search_strategy import (
    ExhaustiveStrategy,
    LevelOrderStrategy,
    SearchStrategy,
)

Node, Scope = ComputationGraph.Node, ComputationGraph.Scope
PASS, FAIL, UNKNOWN = SearchStrategy.ValidationResult
MAKERS = ("bisection", "top_down", "bottom_up", "auto")


def chain(length, extra=()):
    """A chain of nodes, with more edges (from, to)."""
    scope = Scope((None, 0))
    nodes = [
        Node(i, f"op{i}", [i - 1] if i else [], scope=scope, sequence_index=i)
        for i in range(length)
    ]
    for source, target in extra:
        nodes[target].predecessors.append(source)
    return ComputationGraph(nodes)


def search(strategy, verdict):
    """Run a search; the nodes that it asked for, in order."""

    async def go():
        asked = []
        async for batch in strategy:
            asked += [node.op_id for node in batch]
            await strategy.update([(node, verdict(node)) for node in batch])
        return asked

    return asyncio.run(go())


def test_a_graph():
    graph = chain(5, [(0, 3)])
    assert graph.get_op_ids() == [0, 1, 2, 3, 4]
    assert graph.get_max_depth() == 4
    assert [n.op_id for n in graph.get_nodes_at_depth(2)] == [2]
    assert graph.get_nodes_at_depth(9) == []
    assert {
        d: [n.op_id for n in ns] for d, ns in graph.get_nodes_by_depth().items()
    } == {i: [i] for i in range(5)}
    assert graph.get_node_by_id(0).successors == [1, 3]
    assert [n.op_id for n in graph.get_subgraph(1, 3)] == [1, 2]
    assert graph.get_scopes() == [(None, 0)]
    with pytest.raises(KeyError):
        graph.get_node_by_id(7)
    assert ComputationGraph([]).get_max_depth() == 0
    with pytest.raises(ValueError, match="cycle"):
        ComputationGraph([Node(0, predecessors=[1]), Node(1, predecessors=[0])])
    with pytest.raises(ValueError, match="same id"):
        ComputationGraph([Node(0), Node(0)])
    kept = ComputationGraph([Node(0, depth=4)], calculate_depths=False)
    assert kept.get_max_depth() == 4


def test_scopes():
    outer, inner = Scope((None, 0)), Scope((1, 0), 1)
    graph = ComputationGraph(
        [Node(0, scope=outer), Node(1, scope=outer), Node(2, scope=inner)]
    )
    assert graph.get_scope_hierarchy() == {0: [(None, 0)], 1: [(1, 0)]}
    assert [n.op_id for n in graph.get_nodes_in_scope((1, 0))] == [2]
    assert [n.op_id for n in graph.get_nested_nodes(graph.get_node_by_id(1))] == [2]
    assert graph.get_node_by_id(2).nesting_depth == 1


def test_a_large_graph_is_fast():
    start = time.process_time()
    graph = chain(50_000, [(i, i + 7) for i in range(0, 49_000, 3)])
    assert graph.get_max_depth() == 49_999
    assert time.process_time() - start < 3


@pytest.mark.parametrize("name", SUBJECTS)
def test_programs(name):
    subject = SUBJECTS[name]()
    graph = create_graph_from_exported_program(subject.exported)
    nodes = list(subject.exported.graph.nodes)
    assert graph.get_op_ids() == [node.name for node in nodes]
    add = graph.get_node_by_id("add")
    assert add.original_node.target.name() == "aten::add.Tensor"
    assert add.depth == 1 + max(graph.get_node_by_id(p).depth for p in add.predecessors)
    module = subject.program._mlir_module
    graph = create_graph_from_coreai_program(module, "main")
    assert len(set(graph.get_op_ids())) == len(graph.get_nodes())
    invokes = [n for n in graph.get_nodes() if n.original_node.name == "coreai.invoke"]
    assert invokes
    for invoke in invokes:
        # The body of a composite is the scope of its call.
        body = graph.get_nested_nodes(invoke)
        assert body[-1].original_node.name == "coreai.output"
        assert {node.scope_id for node in body} == {(invoke.op_id, 0)}
    for missing in ("nope", "nope.main", "main.nope"):
        with pytest.raises(ValueError, match=rf"no graph '{missing}'.*\['main'\]"):
            create_graph_from_coreai_program(module, missing)


@pytest.mark.parametrize("maker", MAKERS)
def test_everything_is_checked_when_asked_for(maker):
    strategy = getattr(LevelOrderStrategy, maker)(chain(20), 3, exhaustive=True)
    assert sorted(search(strategy, lambda _: PASS)) == list(range(20))
    assert strategy.get_problematic_operations() == []


def test_everything_has_a_name_of_its_own():
    strategy = ExhaustiveStrategy(chain(20))
    assert search(strategy, lambda _: FAIL) == list(range(20))
    assert len(strategy.get_problematic_operations()) == 20


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("first", [0, 1, 37, 98, 99])
def test_the_first_failure_is_found(maker, first):
    strategy = getattr(LevelOrderStrategy, maker)(chain(100), prune=True)
    asked = search(strategy, lambda node: FAIL if node.op_id >= first else PASS)
    assert strategy.get_problematic_operations()[0].op_id == first
    if maker == "bisection":
        assert len(asked) < 12


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("failing", [set(), {1}, {3, 4}, {9}])
def test_a_failure_that_disappears_again(maker, failing):
    """What comes before a failure, and the failure, are always looked at."""
    strategy = getattr(LevelOrderStrategy, maker)(chain(10))
    asked = search(strategy, lambda node: FAIL if node.op_id in failing else PASS)
    found = {node.op_id for node in strategy.get_problematic_operations()}
    assert found == failing
    assert set(range(max(failing, default=9) + 1)) <= set(asked)


def test_the_order_of_a_bisection():
    strategy = LevelOrderStrategy.bisection(chain(9))
    assert search(strategy, lambda _: PASS) == [4, 5, 3, 6, 2, 7, 1, 8, 0]


def test_the_end_behind_a_failure():
    strategy = LevelOrderStrategy.top_down(chain(9))
    asked = search(strategy, lambda node: FAIL if node.op_id in (3, 4) else PASS)
    assert asked == [0, 1, 2, 3, 4, 5]


def test_bisection_prunes():
    strategy = LevelOrderStrategy.bisection(chain(1000), prune=True)
    assert len(search(strategy, lambda _: PASS)) < 12
    strategy.reset()
    assert len(search(strategy, lambda _: FAIL)) < 14


def test_an_edge_that_skips_depths():
    """What feeds a failure is checked, although a later depth passed."""
    scope = Scope((None, 0))
    nodes = [Node(i, i, [i - 1] if i else [], scope=scope) for i in range(20)]
    # 100 fails, and only the last node reads it.
    nodes += [Node(100, 100, [0], scope=scope)]
    nodes[19].predecessors.append(100)
    for index, node in enumerate(nodes):
        node.sequence_index = index
    strategy = LevelOrderStrategy.bisection(ComputationGraph(nodes), prune=True)
    search(strategy, lambda node: FAIL if node.op_id in (100, 19) else PASS)
    assert {n.op_id for n in strategy.get_problematic_operations()} == {100, 19}


def test_unknown_levels_decide_nothing():
    strategy = LevelOrderStrategy.bisection(chain(40), prune=True)
    search(
        strategy,
        lambda node: UNKNOWN if node.op_id % 2 else FAIL if node.op_id > 25 else PASS,
    )
    assert strategy.get_problematic_operations()[0].op_id == 26
    assert all(n.op_id % 2 for n in strategy.get_unknown_operations())


def test_nested_scopes_of_failures():
    outer = Scope((None, 0))
    nodes = [Node(i, i, [i - 1] if i else [], scope=outer) for i in range(3)]
    nodes += [Node(10 + i, i, scope=Scope((i, 0), 1)) for i in range(3)]
    graph = ComputationGraph(nodes)
    verdicts = {0: UNKNOWN, 1: PASS, 2: FAIL}

    def verdict(node):
        return verdicts.get(node.op_id, PASS)

    # That of a node that passed is not looked into.
    strategy = LevelOrderStrategy.top_down(graph)
    assert search(strategy, verdict) == [0, 1, 2, 10, 12]
    # Unless everything is asked for: what is wrong inside may not show outside.
    strategy = LevelOrderStrategy.top_down(graph, exhaustive=True)
    assert search(strategy, verdict) == [0, 1, 2, 10, 11, 12]
    inner = LevelOrderStrategy.top_down(graph, initial_scope_id=(0, 0))
    assert search(inner, lambda _: PASS) == [10]


def test_batches():
    graph = ComputationGraph([Node(i, scope=Scope((None, 0))) for i in range(7)])

    async def go():
        return [len(batch) async for batch in LevelOrderStrategy.top_down(graph, 3)]

    assert asyncio.run(go()) == [3, 3, 1]
    with pytest.raises(ValueError, match="batch_size"):
        LevelOrderStrategy.top_down(graph, 0)


def test_what_nobody_reported_is_unknown():
    strategy = LevelOrderStrategy.top_down(chain(3))

    async def go():
        return [node.op_id async for batch in strategy for node in batch]

    assert asyncio.run(go()) == [0, 1, 2]
    assert [n.op_id for n in strategy.get_unknown_operations()] == [0, 1, 2]
