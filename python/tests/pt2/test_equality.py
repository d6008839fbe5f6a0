# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A saved program gives the module that the program itself gives."""

from __future__ import annotations

import pytest
import torch
from pt2.pairs import assert_same, by_file, by_walk
from support.zoo import ZOO

from coreai_torch import get_decomp_table

_LENGTH = torch.export.Dim("length", min=2, max=64)
_PARTS = torch.export.Dim("parts", min=4, max=8)


def _export(module, args, dynamic=None):
    return torch.export.export(module.eval(), args, dynamic_shapes=dynamic)


@pytest.mark.parametrize("name", ["mlp", "resnet", "bert", "qwen2"])
def test_network(name, tmp_path):
    module, args = ZOO[name]()
    exported = _export(module, args)
    assert_same(exported, tmp_path / "model.pt2", decompose=True)
    exported = exported.run_decompositions(get_decomp_table())
    assert_same(exported, tmp_path / "model.pt2", decompose=False)


class Cache(torch.nn.Module):
    """Keys of earlier steps: a buffer, and an input that is written to."""

    def __init__(self):
        super().__init__()
        self.register_buffer("keys", torch.zeros(1, 8, 4))

    def forward(self, x, position, values):
        self.keys[:, position] = x
        self.keys.index_copy_(1, position + 1, x)
        values[:, 2:4].add_(x[:, :1])
        return (self.keys * values).sum(1)


class Control(torch.nn.Module):
    def forward(self, x, steps):
        def body(i, v):
            return i + 1, v * 2 + i

        def longer(v):
            return torch.cond(v.mean() > 1, lambda w: w - 1, lambda w: w.neg(), (v,))

        y = torch.cond(x.sum() > 0, longer, lambda v: v * 3, (x,))
        zero = torch.zeros((), dtype=torch.int64)
        return torch.while_loop(lambda i, v: i < steps, body, (zero, y))


class Scan(torch.nn.Module):
    def forward(self, x):
        from torch._higher_order_ops.scan import scan

        return scan(lambda s, v: (s + v, s * v), torch.zeros(3), x)


class Weights(torch.nn.Module):
    """Weights in all kinds of memory."""

    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(5, 4)
        self.head = torch.nn.Linear(4, 5, bias=False)
        self.head.weight = self.embed.weight
        self.narrow = torch.nn.Parameter(torch.randn(4).half())
        self.brain = torch.nn.Parameter(torch.randn(4).bfloat16())
        storage = torch.randn(6, 4)
        self.register_buffer("transposed", storage.t())
        self.register_buffer("part", storage[2:4])
        self.register_buffer("repeated", torch.randn(1, 4).expand(6, 4))
        self.register_buffer("empty", torch.zeros(0, 4))
        self.register_buffer("flags", torch.tensor([True, False, True, True]))
        self.register_buffer("wide", torch.tensor(3.5, dtype=torch.float64), False)
        self.register_buffer("turn", torch.tensor([1j, 2 - 1j, 0.5, -1j]))

    def forward(self, tokens):
        x = self.embed(tokens) * self.narrow * self.brain
        x = x @ self.transposed @ self.repeated + self.part.sum(0) + self.wide.float()
        x = torch.where(self.flags, x, torch.tensor([1, -2, 3, 4]))
        x = torch.cat([x[0], self.empty.to(x.dtype)])
        turned = torch.view_as_real(x.float() * self.turn)
        return self.head(x.float()), turned, x.to(torch.float8_e4m3fn).float()


class Symbolic(torch.nn.Module):
    """Sizes that are computed, and data that decides over them."""

    def forward(self, x, y):
        n, m = x.shape
        z = x.new_zeros(2 * n + 1, (m + 3) // 2).reshape(-1, 1)
        picked = torch.nonzero(y)[:, 0]
        return z + n, x[:, ::2], torch.cat([x, x]).sum(0), y[picked], n * m, 7


class Outputs(torch.nn.Module):
    """Results that nobody uses, lists, and plain values among the inputs."""

    def forward(self, x, number, text, pair):
        first, *_ = x.split([1, 2, 1], -1)
        top = x.topk(2, -1)[1]
        y = x * number if text == "yes" else x
        low, _high = torch.aminmax(y)
        return {"a": [first, top], "b": pair[0] + low}, None, x.unbind(0)[1]


class Views(torch.nn.Module):
    """Writes through views whose layout decides what they reach."""

    def forward(self, x):
        y = x.transpose(1, 2).clone(memory_format=torch.contiguous_format)
        y.reshape(x.shape[0], -1)[:, 0] = 1.0
        z = y.transpose(1, 2)
        z.flatten(0, 1).mul_(2)
        z.reshape(x.shape[0], x.shape[2], -1).add_(1)
        y.contiguous().sub_(3)
        y.to(torch.float32).sub_(4)
        return y, z


class Identity(torch.nn.Module):
    """Nothing that a decomposition must replace, but something it drops."""

    def forward(self, x):
        y = x.to(torch.float32).contiguous()
        return y + 1, y.type_as(x) * 2


class Gradients(torch.nn.Module):
    def forward(self, x):
        with torch.no_grad():
            y = x * 2
        with torch.enable_grad():
            z = y + x
        return y, z


class Axes(torch.nn.Module):
    """Parameters called dim or dims that mean something else than usual."""

    def forward(self, x):
        return x.tile(3, 4), x.tile(2), x.unsqueeze(2), x[0, 0].cumsum(-1)


_FEATURES = {
    "axes": (Axes, (torch.randn(2, 3),), None),
    "cache": (
        Cache,
        (torch.randn(1, 1, 4), torch.tensor([3]), torch.randn(1, 8, 4)),
        None,
    ),
    "control": (Control, (torch.randn(3, 4), torch.tensor(4)), ({0: _LENGTH}, None)),
    "scan": (Scan, (torch.randn(5, 3),), None),
    "weights": (Weights, (torch.tensor([[1, 3, 0]]),), None),
    "symbolic": (
        Symbolic,
        (torch.randn(3, 5), torch.tensor([0.0, 1.0, 2.0])),
        ({0: _LENGTH, 1: _PARTS}, None),
    ),
    "gradients": (Gradients, (torch.randn(2, 3),), None),
    "identity": (Identity, (torch.randn(2, 3),), None),
    "outputs": (
        Outputs,
        (torch.randn(3, 4), 2.5, "yes", [torch.randn(4), torch.randn(1)]),
        None,
    ),
    "views": (Views, (torch.randn(4, 3, 5),), ({0: _LENGTH},)),
}


@pytest.mark.parametrize("is_decomposed", [False, True], ids=["export", "decomposed"])
@pytest.mark.parametrize("name", sorted(_FEATURES))
def test_feature(name, is_decomposed, tmp_path):
    torch.manual_seed(0)
    build, args, dynamic = _FEATURES[name]
    exported = _export(build(), args, dynamic)
    if is_decomposed:
        exported = exported.run_decompositions(get_decomp_table())
    assert_same(exported, tmp_path / "model.pt2", decompose=not is_decomposed)


class Casting(torch.nn.Module):
    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = x @ x
        return y.float()


def test_automatic_casts(tmp_path):
    """Only torch knows which ops they are made for."""
    exported = _export(Casting(), (torch.randn(3, 3),))
    torch.export.save(exported, tmp_path / "model.pt2")
    with pytest.raises(ValueError, match=r"casts automatically.*run_decompositions"):
        by_file(tmp_path / "model.pt2")
    exported = exported.run_decompositions(get_decomp_table())
    assert_same(exported, tmp_path / "model.pt2", decompose=False)


class Flattened(torch.nn.Module):
    def forward(self, x):
        return x.flatten()


@pytest.mark.parametrize("decompose", [False, True])
def test_sizes_that_cannot_be_counted(tmp_path, decompose):
    """Both refuse it, in the same words; no memory is needed for either."""
    path = tmp_path / "model.pt2"
    exported = _export(Flattened(), (torch.empty(1 << 16, 1 << 16, device="meta"),))
    if not decompose:
        exported = exported.run_decompositions(get_decomp_table())
    torch.export.save(exported, path)
    with pytest.raises(
        ValueError, match=r"a size of 4294967296, and Core AI"
    ) as walked:
        by_walk(exported, decompose)
    with pytest.raises(ValueError, match=r"a size of 4294967296, and Core AI") as read:
        by_file(path)
    assert str(read.value) == f"'{path}': {walked.value}"
    assert f"\n  at {__file__}:" in str(walked.value)
