# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that are right pass the check, whatever part of Metal they use."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from support.kernels import Case, Tensor, integers, numbers


def add(x: Tensor, y: Tensor) -> Tensor:
    return x + y


def same(x: Tensor) -> Tensor:
    return x.clone()


def select_scalar(x: Tensor, s: Tensor) -> Tensor:
    return torch.where(x > s, s, x)


def scalars(x: Tensor, n: int, a: float, b: bool) -> Tensor:
    v = x * n + a
    return v if b else -v


def gelu(x: Tensor) -> Tensor:
    return F.gelu(x.float(), approximate="tanh").to(x.dtype)


def silu(x: Tensor) -> Tensor:
    return F.silu(x)


def row_sum(x: Tensor) -> Tensor:
    return x.sum(-1)


def softmax(x: Tensor) -> Tensor:
    return x.softmax(-1)


def rms_norm(x: Tensor, w: Tensor, eps: float) -> Tensor:
    v = x.float()
    scale = torch.rsqrt(v.square().mean(-1, keepdim=True) + eps)
    return (v * scale).to(x.dtype) * w


def layer_norm(x: Tensor) -> tuple[Tensor, Tensor]:
    return F.layer_norm(x, x.shape[-1:]), x.mean(-1)


def matmul(a: Tensor, b: Tensor) -> Tensor:
    return a @ b


def matmul_twice(a: Tensor, b: Tensor) -> Tensor:
    return 2 * (a @ b)


def matmul_relu(a: Tensor, b: Tensor) -> Tensor:
    return (a @ b).relu()


def rope(x: Tensor, pairs: int) -> Tensor:
    exponents = -torch.arange(pairs) / pairs
    theta = torch.arange(x.shape[1])[:, None] * 10000.0**exponents
    c, s = theta.cos(), theta.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * c - b * s, a * s + b * c), -1).flatten(-2)


def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(
        q[None], k[None], v[None], is_causal=True, scale=0.17677669
    )[0]


def gather(table: Tensor, indices: Tensor) -> Tensor:
    return table[indices.long()]


def dequantize(x: Tensor, scale: Tensor) -> Tensor:
    low, high = (x & 0xF).int(), (x >> 4).int()
    values = torch.stack((low, high), -1).flatten(-2) - 8
    return values.half() * scale[:, None]


def histogram(x: Tensor) -> Tensor:
    return torch.bincount(x, minlength=16).int()


def largest(x: Tensor) -> Tensor:
    return x.max().reshape(1)


def shares(x: Tensor) -> Tensor:
    return torch.cat([part / part.sum() for part in x.split(32)])


def last_group(x: Tensor) -> Tensor:
    position = torch.arange(x.shape[0])
    size = torch.where(position < 64, 64, 36)
    simds = torch.where(position < 64, 2, 2)
    return x + size * 1000 + 64 * 100 + 2 * 10 + simds


def lambda_(x: Tensor) -> Tensor:
    v = (x * 2).reshape(-1, 4)[:, [2, 1, 0, 3]].clone()
    v[:, 3] += 1.5
    return v.reshape(-1)


def sum_of_four(x: Tensor) -> Tensor:
    return x[:4].sum().expand(64).clone()


def simd_barrier(x: Tensor) -> Tensor:
    return x.reshape(2, 32).roll(-1, 1).flip(1).reshape(-1)


def scan(x: Tensor) -> Tensor:
    return x.cumsum(0).int()


def templates(x: Tensor) -> Tensor:
    position = torch.arange(x.shape[0])
    table = torch.tensor([0.25, 0.5, 1.0, 2.0])
    v = x * table[position % 4] ** 3
    return torch.where(
        position % 3 == 0, v * v, torch.where(position % 3 == 1, v + 2.0, v - 4)
    )


def packed(x: Tensor) -> Tensor:
    axis = torch.tensor([0.0, 0.0, 1.0]).expand_as(x)
    return F.normalize(torch.linalg.cross(x, axis) + x * 0.5, dim=-1)


def mask(x: Tensor, m: Tensor) -> tuple[Tensor, Tensor]:
    keep = m & (x > 0)
    return torch.where(keep, x, 0.0), keep


def bits(x: Tensor) -> Tensor:
    rows = []
    for value in x.tolist():
        binary = f"{value:032b}"
        rotated = int(binary[7:] + binary[:7], 2)
        rows.append(
            [
                binary.count("1"),
                32 - value.bit_length(),
                rotated & 0xFFFF,
                value >> 4 & 0xFF,
                int(binary[::-1], 2) >> 16,
                max(min(value, 1000), 10) + abs((value & 255) - 128),
            ]
        )
    return torch.tensor(rows, dtype=torch.int32)


def math_functions(x: Tensor) -> Tensor:
    t = ((x + 1) / 2).clamp(0, 1)
    return torch.stack(
        (
            x.exp2() + x.sin() * x.cos() + torch.copysign(torch.tensor(0.5), x),
            x.abs().log1p()
            + x.clamp(-0.5, 0.5)
            + x.sign()
            + x.floor()
            - x.ceil()
            + (x - x.floor()),
            x.abs().sqrt() + (2 * x + 1) + 1.5 + (x >= 0) + x.fmod(0.75),
            torch.atan2(x, torch.tensor(2.0))
            + x.abs() ** 1.5
            + t * t * (3 - 2 * t)
            + x.clamp(0, 1)
            + x.round(),
        ),
        -1,
    )


def shuffles(x: Tensor) -> Tensor:
    total = x.sum().expand(32)
    quads = x.reshape(8, 4)
    up = torch.cat((x[:1], x[:-1]))
    quad = quads.sum(1, keepdim=True) + quads[:, 2:3]
    return torch.stack(
        (total, total, x.roll(-5), up, x.roll(-3), quad.expand(8, 4).reshape(-1)), -1
    )


def ballot(x: Tensor) -> Tensor:
    lanes = torch.arange(32)
    rows = []
    for part in x.reshape(-1, 32):
        positive = part > 0
        before = positive.cumsum(0) - positive.int()
        every = int(positive.all()) + 2 * int(positive.any())
        low = {int(lane) % 8 for lane in lanes[positive]}
        last = int((lanes * positive).max()) + sum(1 << bit for bit in low)
        rows.append(
            torch.stack(
                (
                    positive.sum().expand(32),
                    before,
                    torch.tensor(every).expand(32),
                    torch.tensor(last).expand(32),
                ),
                -1,
            )
        )
    return torch.cat(rows).int()


def transpose(x: Tensor) -> Tensor:
    return x.t().contiguous()


def convolution(x: Tensor, w: Tensor) -> Tensor:
    return F.conv2d(x[None], w, padding=1)[0]


def argmax(x: Tensor) -> Tensor:
    return x.argmax(-1).int()


def quantize(x: Tensor, scale: float) -> Tensor:
    scaled = x / scale
    rounded = torch.trunc(scaled + torch.copysign(torch.tensor(0.5), scaled))
    return rounded.clamp(-128, 127).to(torch.int8)


def float_bits(x: Tensor) -> Tensor:
    mantissa, exponent = torch.frexp(x)
    return torch.stack(
        ((exponent - 1) + mantissa * 2, 2 * x, x.half().float() + 1.0), -1
    )


def matrices(x: Tensor) -> Tensor:
    m = torch.tensor([[1.0, 0, 5], [2, 1, 6], [3, 4, 0]])
    n = torch.tensor([[1.0, 4], [2, 5], [3, 6]])
    a, b = x @ m.t(), x @ m
    first = (a * b).sum(-1) + 1 + (x @ n).sum(-1)
    second = torch.det(m) + (m @ m)[2, 1] + x.norm(dim=-1) + (a - b).norm(dim=-1)
    return torch.stack((first, second), -1)


def bfloat_mix(x: Tensor) -> Tensor:
    wide = (x.float() * 2 + 1).clamp(min=0)
    return wide.bfloat16() + torch.finfo(torch.bfloat16).eps


def no_inputs() -> Tensor:
    x, y = torch.arange(5), torch.arange(3)
    return (x[None] * 10 + y[:, None]).to(torch.int32).to(torch.uint16)


def address_spaces(x: Tensor) -> Tensor:
    return x.cumsum(0) + x.flip(0) - (x.cumsum(0) - x)


def slices(x: Tensor) -> Tensor:
    padded = F.pad(x, (0, -x.shape[1] % 4, 0, -x.shape[0] % 2))
    tiles = padded.unfold(0, 2, 2).unfold(1, 4, 4)
    return tiles.sum((-1, -2)) + 2 * x.shape[1]


HALF = torch.float16
WIDE = (torch.arange(1, 41) * 0x5BD1E995 % 2**32).to(torch.uint32)

CASES = {
    "vector_add": Case(
        "vector_add", add, (numbers(100), numbers(100)), input_names="x y"
    ),
    "vector_add of integers": Case(
        "vector_add",
        add,
        (torch.arange(100), torch.arange(100) * 7),
        input_names="x y",
    ),
    "select_scalar": Case(
        "select_scalar",
        select_scalar,
        (numbers(100), torch.tensor(0.5)),
        input_names="x s",
    ),
    "scalars": Case(
        "scalars", scalars, (numbers(40), 3, 0.25, False), input_names="x n a b"
    ),
    "gelu of half": Case(
        "gelu", gelu, (numbers(70, dtype=HALF),), templates={"x": "TYPE"}
    ),
    "gelu of bfloat": Case(
        "gelu", gelu, (numbers(70, dtype=torch.bfloat16),), templates={"x": "TYPE"}
    ),
    "silu_vector": Case("silu_vector", silu, (numbers(64),), grid=(16, 1, 1)),
    "row_sum": Case(
        "row_sum",
        row_sum,
        (numbers(5, 300),),
        "row t size",
        (640, 1, 1),
        (128, 1, 1),
    ),
    "softmax": Case(
        "softmax",
        softmax,
        (numbers(3, 150),),
        "row t lane simd size",
        (192, 1, 1),
        (64, 1, 1),
    ),
    "rms_norm": Case(
        "rms_norm",
        rms_norm,
        (numbers(3, 100, dtype=HALF), numbers(100, dtype=HALF), 1e-5),
        "row t lane simd size",
        (192, 1, 1),
        (64, 1, 1),
        "x w eps",
    ),
    "layer_norm": Case(
        "layer_norm",
        layer_norm,
        (numbers(4, 50),),
        "row lane",
        (128, 1, 1),
        (32, 1, 1),
        result_names="o stats",
    ),
    "matmul_tiled": Case(
        "matmul_tiled",
        matmul,
        (numbers(13, 21), numbers(21, 18)),
        "group:uint2 local:uint2",
        (24, 16, 1),
        (8, 8, 1),
        "a b",
    ),
    "matmul_simdgroup": Case(
        "matmul_simdgroup",
        matmul_twice,
        (numbers(16, 24), numbers(24, 8)),
        "group:uint2",
        (32, 2, 1),
        (32, 1, 1),
        "a b",
    ),
    "rope": Case(
        "rope",
        rope,
        (numbers(2, 5, 8), 4),
        "id:uint3",
        (4, 5, 2),
        input_names="x pairs",
    ),
    "attention": Case(
        "attention",
        attention,
        (numbers(9, 32), numbers(9, 32) + 1, numbers(9, 32)),
        "row lane",
        (288, 1, 1),
        (32, 1, 1),
        "q k v",
    ),
    "gather": Case(
        "gather",
        gather,
        (numbers(6, 5), torch.tensor([3, -1, 0, 5])),
        "id:uint2",
        input_names="table indices",
    ),
    "dequantize": Case(
        "dequantize",
        dequantize,
        (integers(0, 256, 3, 10).to(torch.uint8), numbers(3, dtype=HALF)),
        "id:uint2",
        input_names="x scale",
    ),
    "histogram": Case(
        "histogram", histogram, (integers(0, 16, 96),), "t id", (96, 1, 1), (96, 1, 1)
    ),
    "atomic_max": Case(
        "atomic_max", largest, (numbers(90),), "id", (90, 1, 1), (90, 1, 1)
    ),
    "early_return": Case(
        "early_return", shares, (numbers(50).abs(),), "id", (64, 1, 1), (64, 1, 1)
    ),
    "last_group": Case(
        "last_group",
        last_group,
        (numbers(100),),
        "id size full groups simds",
        (100, 1, 1),
        (64, 1, 1),
    ),
    "lambda": Case("lambda", lambda_, (numbers(32, dtype=HALF),), grid=(8, 1, 1)),
    "shared_update": Case(
        "shared_update", sum_of_four, (numbers(4),), "t", (64, 1, 1), (64, 1, 1)
    ),
    "simd_barrier": Case(
        "simd_barrier",
        simd_barrier,
        (numbers(64),),
        "t lane simd",
        (64, 1, 1),
        (64, 1, 1),
    ),
    "scan": Case(
        "scan",
        scan,
        (integers(-5, 9, 128),),
        "t lane simd simds",
        (128, 1, 1),
        (128, 1, 1),
    ),
    "templates": Case("templates", templates, (numbers(48),)),
    "packed": Case("packed", packed, (numbers(20, 3),), grid=(20, 1, 1)),
    "mask": Case(
        "mask",
        mask,
        (numbers(60), numbers(60) > -0.5),
        input_names="x m",
        result_names="o kept",
    ),
    "bits": Case("bits", bits, (WIDE,), grid=(40, 1, 1)),
    "math": Case("math", math_functions, (numbers(64),), grid=(64, 1, 1)),
    "shuffles": Case("shuffles", shuffles, (numbers(32),), "id lane", (32, 1, 1)),
    "ballot": Case("ballot", ballot, (numbers(96),), "id lane", (96, 1, 1)),
    "transpose": Case(
        "transpose",
        transpose,
        (numbers(20, 37, dtype=HALF),),
        "group:uint2 local:uint2",
        (48, 32, 1),
        (16, 16, 1),
        templates={"x": "TYPE"},
    ),
    "convolution": Case(
        "convolution",
        convolution,
        (numbers(3, 6, 7), numbers(2, 3, 3, 3)),
        "id:uint3",
        input_names="x w",
    ),
    "argmax": Case(
        "argmax", argmax, (numbers(3, 200),), "row t", (192, 1, 1), (64, 1, 1)
    ),
    "quantize": Case(
        "quantize",
        quantize,
        (numbers(40) * 3, 0.02),
        grid=(10, 1, 1),
        input_names="x scale",
    ),
    "float_bits": Case("float_bits", float_bits, (numbers(40),), grid=(40, 1, 1)),
    "matrices": Case("matrices", matrices, (numbers(20, 3),), grid=(20, 1, 1)),
    "bfloat_mix": Case("bfloat_mix", bfloat_mix, (numbers(50, dtype=torch.bfloat16),)),
    "no_inputs": Case("no_inputs", no_inputs, (), "id:uint2", input_names=""),
    "address_spaces": Case(
        "address_spaces", address_spaces, (numbers(32),), "t", (32, 1, 1)
    ),
    "matmul2d": Case(
        "matmul2d",
        matmul,
        (numbers(21, 40, dtype=HALF) / 8, numbers(40, 19, dtype=HALF) / 8),
        "group:uint2",
        (128, 3, 1),
        (64, 1, 1),
        "a b",
    ),
    "matmul2d_cooperative": Case(
        "matmul2d_cooperative",
        matmul_relu,
        (numbers(24, 13), numbers(13, 9)),
        "group:uint2",
        (64, 2, 1),
        (32, 1, 1),
        "a b",
    ),
    "language": Case("language", same, (numbers(10),)),
    "slices": Case(
        "slices", slices, (numbers(5, 10),), "group:uint2", (3, 3, 1), (1, 1, 1)
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_right_kernel_passes(name):
    report = CASES[name].check()
    assert report.ok, str(report)
    assert report.differences
    assert math.isfinite(report.largest_difference)
    assert str(report).startswith(f"kernel '{report.kernel}': ok")
