# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cost against size: what is read, chosen and drawn."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.engine import page, plots, scaling

EXPLAINED = """main: 42 kernels in a call, 20 when the plan is loaded

  stage                      ms
  -----------------------------
  coreai-inline-graphs     0.22
  plan                     0.94
  clean up                 0.28

  memory
"""


def test_stages_of_the_compiler() -> None:
    found = scaling.stages(EXPLAINED)
    assert found == {"coreai-inline-graphs": 0.22, "plan": 0.94, "clean up": 0.28}


def test_each_size_is_called() -> None:
    called: dict[int, int] = dict.fromkeys((1, 2), 0)

    def call(size: int) -> None:
        called[size] += 1
        sum(range(10_000 * size))

    runs = {size: lambda size=size: call(size) for size in called}
    best = scaling.fastest(runs, 2)
    assert set(best) == {1, 2}
    assert 0 < best[1] < float("inf")
    assert min(called.values()) > 4


def test_curves_are_drawn_where_they_belong() -> None:
    text = plots.curves("tokens", {"block": [(16, 1.0), (64, 4.0), (256, 32.0)]})
    root = ElementTree.fromstring(text)
    name = "{http://www.w3.org/2000/svg}"
    circles = [
        (float(c.attrib["cx"]), float(c.attrib["cy"]))
        for c in root.iter(f"{name}circle")
    ]
    assert [x for x, _ in circles] == [60, 360, 660]
    # Larger is higher, and all of it inside of the plot.
    heights = [y for _, y in circles]
    assert heights == sorted(heights, reverse=True)
    for line in root.iter(f"{name}polyline"):
        for x, y in re.findall(r"([\d.]+),([\d.]+)", line.attrib["points"]):
            assert 59 <= float(x) <= 661
            assert 59 <= float(y) <= 361


def test_only_who_saves_multiplications_is_above_the_roof() -> None:
    points = [("a", 10.0, 120.0), ("b", 20.0, 80.0)]
    page.check_roof(points, 100.0, {"a"})
    with pytest.raises(SystemExit, match="a: faster than the 100 GFLOP/s"):
        page.check_roof(points, 100.0, set())


def test_the_roofline_is_a_picture() -> None:
    text = plots.roofline([("a", 10.0, 50.0), ("b", 20.0, 80.0)], 100.0, 20.0)
    root = ElementTree.fromstring(text)
    words = [part.text for part in root if part.tag.endswith("text")]
    assert {"100 GFLOP/s", "20 GB/s", "a", "b"} <= set(words)


def test_the_page_gets_its_section(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [
        {"name": f"scaling/{family}", "size": size, "seconds": size * 1e-3, "cpu": "C"}
        for family in page.AXES
        for size in (64, 2, 8)
    ]
    results = tmp_path / "scaling.jsonl"
    results.write_text("\n".join(map(json.dumps, lines)))
    target = tmp_path / "page.md"
    target.write_text(
        "a\n<!-- measured -->\nb\n<!-- end -->\n<!-- scaling -->\n<!-- end -->"
    )
    monkeypatch.setattr(page, "PAGE", target)
    monkeypatch.setattr(page, "PICTURE", tmp_path / "roofline.svg")
    page.write_scaling(results)
    text = target.read_text()
    assert text.startswith("a\n<!-- measured -->\nb\n<!-- end -->")
    row = "| images | 2: 2 ms, 1 ms each | 8: 8 ms, 1 ms each | 64: 64 ms,"
    assert row in text
    for family in page.AXES:
        assert f"(images/scaling-{family}.svg)" in text
        ElementTree.parse(tmp_path / f"scaling-{family}.svg")
    # Once more changes nothing.
    page.write_scaling(results)
    assert target.read_text() == text


def test_durations_have_their_unit() -> None:
    assert page.duration(1.234567) == "1.23 s"
    assert page.duration(0.0115) == "11.5 ms"
    assert page.duration(4.2e-6) == "4.2 us"
    assert page.duration(5e-8) == "0.05 us"


def test_families_are_known_to_the_page() -> None:
    assert set(page.AXES) == {*scaling.FAMILIES, "layers", "compile"}
