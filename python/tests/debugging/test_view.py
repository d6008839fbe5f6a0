# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The page that shows a program: what is in it, and how it behaves."""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from support import zoo

from coreai_torch import TorchConverter
from coreai_torch.debugging import view
from corten import _native


def convert(module: torch.nn.Module, args: tuple[torch.Tensor, ...]) -> Any:
    exported = torch.export.export(module.eval(), args).run_decompositions()
    return TorchConverter().add_exported_program(exported).to_coreai()


class Counter(torch.nn.Module):
    """Has state, and control flow."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total.add_(x)
        return torch.cond(
            x.sum() > 0, lambda x: x.sin(), lambda x: x.cos().exp(), (self.total,)
        )


@pytest.fixture(scope="module")
def bert() -> Any:
    return convert(*zoo.bert())


@pytest.fixture(scope="module")
def counter() -> Any:
    return convert(Counter(), (torch.zeros(4),))


def data_of(path: Path) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


# --- what is in the page ------------------------------------------------------


def test_it_needs_nothing_else(bert: Any, tmp_path: Path) -> None:
    path = view(bert, tmp_path / "bert.html")
    text = path.read_text(encoding="utf-8")
    assert "{{" not in text
    assert not re.findall(r'(?:src|href)="(?!data:)', text)
    assert "sourceMappingURL" not in text
    assert "Copyright (c) 2012-2014 Chris Pettitt" in text
    assert "<title>bert</title>" in text


def test_operations_types_and_origins(bert: Any, tmp_path: Path) -> None:
    data = data_of(view(bert, tmp_path / "page.html"))
    texts = data["texts"]
    main = next(graph for graph in data["graphs"] if graph["name"] == "main")
    names = [texts[op["n"]] for op in main["ops"]]
    body = bert.get_graph("main").operation.regions[0].blocks[0]
    assert names == [op.operation.name for op in body.operations]
    assert [texts[name] for name, _, _ in main["inputs"]] == ["args_0", "args_1"]
    assert texts[main["inputs"][0][1]] == "2×16 si32"
    softmax = main["ops"][names.index("coreai.softmax")]
    assert re.search(r"\.py:\d+$", texts[softmax["l"][0]])
    path, module = [], softmax["m"]
    while module >= 0:
        module, name, _ = data["modules"][module]
        path.append(texts[name])
    assert path[0].endswith("encoder.layer.0.attention.self")
    assert path[-1] == "FirstOutput"
    weights = [op for op in main["ops"] if op.get("w", 0) > 1024]
    assert sum(op["w"] for op in weights) > 4 * 64 * 64
    composites = [g["composite"] for g in data["graphs"] if "composite" in g]
    assert set(composites) == {"layer_norm"}
    calls = [op for op in main["ops"] if "c" in op]
    assert len(calls) == len(composites)


def test_states_and_regions(counter: Any, tmp_path: Path) -> None:
    data = data_of(view(counter, tmp_path / "page.html"))
    texts = data["texts"]
    (main,) = (graph for graph in data["graphs"] if graph["name"] == "main")
    assert [texts[name] for name, _, state in main["inputs"] if state] == ["b_total"]
    nested = [op for op in main["ops"] if "p" in op]
    assert {op["g"] for op in nested} == {0, 1}
    assert "coreai.exp" in [texts[op["n"]] for op in nested if op["g"] == 1]


def test_an_asset(tmp_path: Path) -> None:
    """What the optimizer made, saved and read by us, says where it comes from."""
    program = convert(*zoo.bert())
    program.optimize()
    program.save_asset(tmp_path / "bert.aimodel")
    model = _native.Model.open(str(tmp_path / "bert.aimodel"))
    module = _native.receive(model.text("", True, False).encode())
    path = tmp_path / "bert.html"
    path.write_bytes(_native.view_page(module, "bert", None, None))
    data, direct = data_of(path), data_of(view(program, tmp_path / "direct.html"))
    names = [[data["texts"][op["n"]] for op in g["ops"]] for g in data["graphs"]]
    assert names == [
        [direct["texts"][op["n"]] for op in g["ops"]] for g in direct["graphs"]
    ]
    modules = {
        (data["texts"][name].rpartition("encoder.")[2], data["texts"][class_name])
        for _, name, class_name in data["modules"]
    }
    assert {("layer", ""), ("layer.0", "BertLayer")} <= modules


class Twice(torch.nn.Module):
    """Two blocks, the first of which is called again at the end."""

    class Block(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.f1 = torch.nn.Linear(4, 4)
            self.f2 = torch.nn.Linear(4, 4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.f2(self.f1(x).relu())

    def __init__(self) -> None:
        super().__init__()
        self.blocks = torch.nn.ModuleList([self.Block(), self.Block()])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x)
        return self.blocks[0](x)


@pytest.fixture(scope="module")
def twice() -> Any:
    return convert(Twice(), (torch.zeros(2, 4),))


def test_modules_are_those_of_the_model(twice: Any, tmp_path: Path) -> None:
    data = data_of(view(twice, tmp_path / "page.html"))
    texts = data["texts"]
    named = [(texts[name], texts[kind]) for _, name, kind in data["modules"]]
    assert sorted(named) == [
        ("Twice", "Twice"),
        ("blocks", ""),
        *(
            (f"blocks.{i}{end}", kind)
            for i in range(2)
            for end, kind in (("", "Block"), (".f1", "Linear"), (".f2", "Linear"))
        ),
    ]


def test_modules_of_other_converters(tmp_path: Path) -> None:
    """They record uses of classes, and no paths."""
    text = (
        'coreai.graph @main(%0: tensor<4xf32> {coreai.name = "x"}) -> '
        '(tensor<4xf32> {coreai.name = "y"}) {\n'
        '%1 = "coreai.relu"(%0) : (tensor<4xf32>) -> tensor<4xf32> loc('
        '#debuginfo.location<loc("-":0:0) in unit metadata = '
        '[<"call_stack": ["Block$2", "Model$1"]>]>)\n'
        "coreai.output %1 : tensor<4xf32>\n}"
    )
    path = tmp_path / "page.html"
    module = _native.receive(text.encode())
    path.write_bytes(_native.view_page(module, "page", None, None))
    data = data_of(path)
    texts = data["texts"]
    named = [(texts[name], texts[kind]) for _, name, kind in data["modules"]]
    assert named == [("Model", "Model"), ("Block 2", "Block")]


def test_hostile_texts(tmp_path: Path) -> None:
    program = convert(torch.nn.ReLU(), (torch.zeros(2),))
    title = "</script><script>alert(1)</script>"
    path = view(program, tmp_path / "page.html", title=title)
    text = path.read_text(encoding="utf-8")
    assert "alert(1)</script>" not in text
    assert data_of(path)["title"] == title


def test_numbers_of_operations(tmp_path: Path) -> None:
    program = convert(torch.nn.ReLU(), (torch.zeros(2),))
    errors = {0: 0.5, 1: math.inf, 2: math.nan}
    data = data_of(view(program, tmp_path / "page.html", errors, {0: 2}))
    assert data["errors"] == {"0": 0.5, "1": "inf", "2": None}
    assert data["times"] == {"0": 2}


def test_a_comparison_that_knows_its_operations(tmp_path: Path) -> None:
    class Found:
        def errors_by_op_id(self) -> dict[int, float]:
            return {3: 0.25}

    program = convert(torch.nn.ReLU(), (torch.zeros(2),))
    data = data_of(view(program, tmp_path / "page.html", comparison=Found()))
    assert data["errors"] == {"3": 0.25}


@pytest.mark.parametrize("values", [{"a": 1.0}, {-1: 1.0}, {True: 1.0}, {0: "x"}])
def test_what_is_no_number(values: Any, tmp_path: Path) -> None:
    program = convert(torch.nn.ReLU(), (torch.zeros(2),))
    with pytest.raises(TypeError, match="comparison has the"):
        view(program, tmp_path / "page.html", values)
    assert not (tmp_path / "page.html").exists()


def test_a_file_of_its_own() -> None:
    path = view(convert(torch.nn.ReLU(), (torch.zeros(2),)))
    try:
        assert path.suffix == ".html"
        assert data_of(path)["title"] == "Program"
    finally:
        path.unlink()


# --- in a browser -------------------------------------------------------------

CHROMIUM = shutil.which("chromium")
in_browser = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Containers rarely allow its sandbox; it loads nothing but our page.
        instance = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"]
        )
        yield instance
        instance.close()


@pytest.fixture
def opened(browser: Any) -> Iterator[Any]:
    """Opens a page; fails if it says anything on the console."""
    said: list[str] = []
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.set_default_timeout(20_000)
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on(
        "request",
        lambda request: (
            said.append(request.url) if request.url.startswith("http") else None
        ),
    )

    def open_page(path: Path) -> Any:
        page.goto(path.as_uri())
        return page

    yield open_page
    page.close()
    assert said == []


def nodes(page: Any) -> list[str]:
    found: list[str] = page.eval_on_selector_all(
        "#world [data-node]", "all => all.map(one => one.dataset.node)"
    )
    return found


@in_browser
def test_fold_and_unfold(bert: Any, opened: Any, tmp_path: Path) -> None:
    page = opened(view(bert, tmp_path / "bert.html"))
    assert "composites" in page.inner_text("#stats")
    layer = next(node for node in nodes(page) if node.endswith("encoder.layer.0"))
    before = len(nodes(page))
    # It may be outside of what is seen of the graph.
    page.dispatch_event(f'[data-node="{layer}"]', "dblclick")
    assert len(nodes(page)) > before
    group = layer.removeprefix("part:")
    page.dispatch_event(f'[data-group="{group}"] .fold', "click")
    assert len(nodes(page)) == before
    # The tree on the left: unfold, then select.
    for part in ("encoder", "encoder.layer"):
        page.click(f'[data-part$="{part}"] .twist')
    page.click(f'[data-part="{group}"]')
    assert page.inner_text("#path").split("\n")[-1].endswith(group)
    assert page.inner_text("#details h2") == group
    assert "BertLayer" in page.inner_text("#details")
    page.keyboard.press("u")
    assert page.inner_text("#path").split("\n")[-1].endswith("encoder.layer")


@in_browser
def test_search_and_details(bert: Any, opened: Any, tmp_path: Path) -> None:
    page = opened(view(bert, tmp_path / "bert.html"))
    page.keyboard.press("/")
    page.keyboard.type("softmax")
    page.wait_for_selector("[data-result]")
    page.keyboard.press("Enter")
    assert page.inner_text("#details h2") == "softmax"
    details = page.inner_text("#details")
    assert "coreai.softmax" in details
    assert "BertSelfAttention" in details
    assert re.search(r"\.py:\d+", details)
    assert page.locator("#world .node.selected").count() == 1
    # Through an operand to what made it, and by a click in the graph.
    page.click("#details .link >> nth=0")
    assert page.inner_text("#details h2") != "softmax"
    page.click('[data-node="op:softmax"] >> nth=0')
    assert page.inner_text("#details h2") == "softmax"
    page.fill("#search", "no such thing anywhere")
    page.wait_for_selector(".empty")
    page.keyboard.press("Escape")


@in_browser
def test_search_for_a_module(twice: Any, opened: Any, tmp_path: Path) -> None:
    page = opened(view(twice, tmp_path / "twice.html"))
    page.fill("#search", "blocks.0.f2")
    page.wait_for_selector("[data-result]")
    assert "blocks.0.f2" in page.inner_text("[data-result] >> nth=0")
    page.press("#search", "Enter")
    assert page.inner_text("#details h2") == "blocks.0.f2"
    assert "Linear" in page.inner_text("#details .kind")


@in_browser
def test_lists(bert: Any, counter: Any, opened: Any, tmp_path: Path) -> None:
    page = opened(view(bert, tmp_path / "bert.html"))
    page.click("#tabs >> text=Weights")
    sizes = page.eval_on_selector_all(
        "[data-weight] .end", "all => all.map(one => one.textContent)"
    )
    assert sizes[0].endswith("kB")
    page.click("[data-weight] >> nth=0")
    assert page.locator("#world .node.selected").count() == 1
    page.click("#tabs >> text=Ops")
    page.click(".row >> text=softmax")
    page.wait_for_selector("[data-result]")
    page.click("#tabs >> text=Modules")
    page.click("#list >> text=layer_norm")
    page.click("#list >> text=/^layer_norm_/ >> nth=0")
    assert "composite layer_norm" in page.inner_text("#details")
    page = opened(view(counter, tmp_path / "counter.html"))
    page.click("#tabs >> text=In/out")
    assert "total" in page.inner_text("#list")
    page.keyboard.press("/")
    page.keyboard.type("cos")
    page.keyboard.press("Enter")
    assert "else" in page.inner_text("#path") or "cos" in page.inner_text("#details")


@in_browser
def test_colours(bert: Any, opened: Any, tmp_path: Path) -> None:
    errors = {op_id: op_id * 1e-6 for op_id in range(400)}
    times = dict.fromkeys(range(400), 0.5)
    page = opened(view(bert, tmp_path / "bert.html", errors, times))
    assert "Largest error" in page.inner_text("#legend")
    assert page.locator("#world .node.heated").count() > 0
    assert "LARGEST ERRORS" in page.inner_text("#details").upper()
    page.click("#colours >> text=Time")
    assert "Time of an operation" in page.inner_text("#legend")
    page.click("#colours >> text=Kind")
    assert page.locator("#world .node.heated").count() == 0
    page.click("#theme")
    assert page.get_attribute("html", "data-theme") == "dark"


@in_browser
def test_thousands_of_operations_without_modules(opened: Any, tmp_path: Path) -> None:
    """Nothing says how they belong together; only a part of them is drawn."""
    tensor = "tensor<4xf32>"
    lines = [
        f'%{i + 1} = "coreai.{"cos" if i == 3700 else "relu"}"(%{i}) : '
        f"({tensor}) -> {tensor}"
        for i in range(5000)
    ]
    body = "\n".join(lines)
    module = _native.receive(
        (
            f'coreai.graph @main(%0: {tensor} {{coreai.name = "x"}}) -> '
            f'({tensor} {{coreai.name = "y"}}) {{\n{body}\n'
            f"coreai.output %5000 : {tensor}\n}}"
        ).encode()
    )
    path = tmp_path / "long.html"
    path.write_bytes(_native.view_page(module, "long", None, None))
    page = opened(path)
    assert 0 < len(nodes(page)) < 200
    assert "5,001 operations" in page.inner_text("#stats")
    page.keyboard.press("/")
    page.keyboard.type("cos")
    page.wait_for_selector("[data-result]")
    page.keyboard.press("Enter")
    assert page.inner_text("#details h2") == "cos"
    assert page.locator("#world .node.selected").count() == 1
    assert len(nodes(page)) < 300
    # Lists draw what is seen of them.
    page.fill("#search", "relu")
    page.wait_for_selector("[data-result]")
    assert page.locator("[data-result]").count() < 100
