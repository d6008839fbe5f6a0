# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What coreai-core gets of a module, and what it makes of it."""

from __future__ import annotations

import hashlib

import torch
from coreai._compiler import ir
from coreai.authoring import Context

from coreai_torch import TorchConverter, _handover, get_decomp_table


class _Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(64, 64)

    def forward(self, x):
        values, places = torch.sort(self.linear(x))
        return torch.cond(
            values.sum() > 0, lambda v: v.relu(), lambda v: v * 2, (values,)
        ), places


def _handed_over(monkeypatch):
    """The converted module of ``_Model``, and the program made of it."""
    seen = []
    original = _handover._attach_weights

    def attach(module, converted, cache):
        seen.append(converted)
        return original(module, converted, cache)

    monkeypatch.setattr(_handover, "_attach_weights", attach)
    exported = torch.export.export(_Model(), (torch.ones(2, 64),))
    converter = TorchConverter()
    converter.add_exported_program(exported.run_decompositions(get_decomp_table()))
    return seen, converter.to_coreai()


def test_one_parse_is_all_but_the_weights(monkeypatch):
    (converted,), program = _handed_over(monkeypatch)
    context = Context()
    with context._mlir_context, ir.Location.unknown():
        module = ir.Module.parse(converted.handover_text())
    bare = module.operation.get_asm(enable_debug_info=True)
    given = program._mlir_module.operation.get_asm(enable_debug_info=True)
    for place, (name, _) in enumerate(converted.resources()):
        bare = bare.replace(f"dense_resource<weight_0_{place}>", name)
        given = given.replace(f"dense_resource<{name}>", name)
        given = given.replace(f'dense_resource<"{name}">', name)
    assert "debuginfo.location" in bare
    # Resources are listed behind the module.
    assert given.split("{-#")[0].rstrip() == bare.split("{-#")[0].rstrip()


def test_a_type_is_written_once(monkeypatch):
    (converted,), _ = _handed_over(monkeypatch)
    types = [
        line.partition(" = ")[2]
        for line in converted.handover_text().splitlines()
        if line.startswith("!")
    ]
    assert len(types) == len(set(types))
    # None where operations stand: they have the alias.
    body = converted.handover_text().partition('"builtin.module"')[2]
    assert "tensor<" not in body


def test_a_source_that_changes_has_another_digest(tmp_path, monkeypatch):
    path = tmp_path / "changing.py"
    monkeypatch.syspath_prepend(tmp_path)

    def digest_recorded(text):
        path.write_text(text)
        scope = {}
        exec(compile(text, str(path), "exec"), scope)
        exported = torch.export.export(scope["Model"](), (torch.ones(2),))
        converter = TorchConverter()
        converter.add_exported_program(exported.run_decompositions(get_decomp_table()))
        module = converter.to_coreai()._mlir_module
        asm = module.operation.get_asm(enable_debug_info=True)
        return hashlib.sha256(text.encode()).hexdigest() in asm

    source = (
        "import torch\n"
        "class Model(torch.nn.Module):\n"
        "    def forward(self, x):\n"
        "        return x + {}\n"
    )
    assert digest_recorded(source.format(1))
    assert digest_recorded(source.format(2))
    assert digest_recorded(source.format(222))
