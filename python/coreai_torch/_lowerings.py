# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The rules for registering lowerings: names, and what they may replace."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from typing import Any

import torch

from corten import _native

#: ``(values_map, node, loc)`` -> a value, or one for each result.
Lowering = Callable[..., Any]

_LOGGER = logging.getLogger("coreai_torch")

#: Ops of ``aten`` that the official package lowers. Code in the field registers
#: any other without ``allow_override``.
_ESTABLISHED_ATEN = """
    _adaptive_avg_pool2d.default _local_scalar_dense.default _log_softmax.default
    _native_batch_norm_legit_no_training.default _softmax.default _to_copy.default
    _unsafe_view.default abs.default acos.default acosh.default add.Scalar
    add.Tensor addmm.default alias.default amax.default amin.default any.default
    any.dim any.dims arange.start_step argmax.default asin.default asinh.default
    atan.default atan2.default atanh.default avg_pool2d.default avg_pool3d.default
    bitwise_and.Tensor bitwise_not.default bitwise_or.Tensor bitwise_xor.Tensor
    bmm.default cat.default ceil.default clamp.Tensor clamp.default clone.default
    complex.default constant_pad_nd.default convolution.default copy.default
    cos.default cosh.default cumsum.default div.Scalar div.Tensor div.Tensor_mode
    embedding.default empty.default empty.memory_format eq.Scalar eq.Tensor
    erf.default exp.default exp2.default expand.default expm1.default flip.default
    floor.default floor_divide.default floordiv.Scalar floordiv.Tensor fmod.Scalar
    fmod.Tensor full.default full_like.default gather.default ge.Scalar ge.Tensor
    gelu.default gt.Scalar gt.Tensor hardsigmoid.default hardswish.default
    hardtanh.default index.Tensor index_put.default index_select.default
    instance_norm.default isinf.default le.Scalar le.Tensor leaky_relu.default
    lift_fresh_copy.default linalg_vector_norm.default log.default log10.default
    log1p.default log2.default logical_and.default logical_not.default
    logical_or.default logical_xor.default lt.Scalar lt.Tensor
    masked_scatter.default max.default max.dim max_pool2d_with_indices.default
    maximum.default mean.default mean.dim min.default min.dim minimum.default
    mm.default mod.Scalar mod.Tensor mul.Scalar mul.Tensor native_group_norm.default
    native_layer_norm.default ne.Scalar ne.Tensor neg.default nonzero.default
    nonzero_numpy.default permute.default pixel_shuffle.default polar.default
    pow.Scalar pow.Tensor_Scalar pow.Tensor_Tensor prod.default prod.dim_int
    reciprocal.default reflection_pad1d.default reflection_pad2d.default
    reflection_pad3d.default relu.default remainder.Tensor repeat.default
    replication_pad1d.default replication_pad2d.default replication_pad3d.default
    round.decimals round.default rsqrt.default scalar_tensor.default
    scaled_dot_product_attention.default scatter.reduce scatter.src scatter.value
    scatter.value_reduce select.int sigmoid.default sign.default silu.default
    sin.default sinh.default slice.Tensor slice_scatter.default
    split_with_sizes.default sqrt.default squeeze.dims sub.Scalar sub.Tensor
    sum.dim_IntList sym_size.int tan.default tanh.default tile.default to.dtype
    topk.default true_divide.Tensor trunc.default unsqueeze.default
    upsample_bilinear2d.vec upsample_nearest2d.vec view.default
    view_as_complex.default view_as_complex_copy.default view_as_real.default
    view_as_real_copy.default where.self
"""
#: Python operators, in the same table there.
_ESTABLISHED_OPERATORS = """
    add ceil floordiv getitem mod mul neg pow round sub sym_float sym_min truediv
    trunc
"""
_ESTABLISHED = frozenset((_ESTABLISHED_ATEN + _ESTABLISHED_OPERATORS).split())
_ESTABLISHED_HIGHER_ORDER = frozenset({"cond", "while_loop", "_yield"})
_ESTABLISHED_COMPRESSION = frozenset(
    {
        "constexpr_blockwise_shift_scale",
        "dequantize",
        "lut_to_dense",
        "quantize",
        "sparse_to_dense",
    }
)
_RESERVED = frozenset({"aten", "higher_order", "coreai", "coreaix"})


def _split(qualified_name: str) -> tuple[str, str]:
    if not isinstance(qualified_name, str):
        msg = (
            "qualified_name must be 'namespace::op_name', "
            f"got {type(qualified_name).__name__}"
        )
        raise TypeError(msg)
    parts = qualified_name.split("::")
    if len(parts) != 2 or not all(part.strip() for part in parts):
        msg = f"qualified_name must be 'namespace::op_name', got {qualified_name!r}"
        raise ValueError(msg)
    return parts[0], parts[1]


def _is_established(namespace: str, name: str) -> bool:
    base = name.removesuffix(".default")
    if namespace == "aten":
        return name in _ESTABLISHED or f"{base}.default" in _ESTABLISHED
    if namespace == "higher_order":
        return name in _ESTABLISHED_HIGHER_ORDER
    return namespace in _RESERVED and base in _ESTABLISHED_COMPRESSION


def _check_exists(qualified_name: str, namespace: str, name: str) -> None:
    """Raise ``ValueError`` unless torch has the op of a reserved namespace."""
    base, _, overload = name.partition(".")
    known = getattr(torch.ops, namespace)
    op: Any = getattr(known, base, None) if base.isidentifier() else None
    hint = ""
    if isinstance(op, torch._ops.HigherOrderOperator) and not overload:
        return
    if isinstance(op, torch._ops.OpOverloadPacket):
        overloads: list[str] = op.overloads()  # type: ignore[no-untyped-call]
        if (overload or "default") in overloads:
            return
        hint = " (there is " + ", ".join(f"{base}.{o}" for o in overloads) + ")"
    msg = (
        f"the namespace {namespace!r} is reserved and torch has no op "
        f"{qualified_name!r}{hint}; pass allow_override=True to register it anyway"
    )
    raise ValueError(msg)


def check_registration(
    qualified_name: str,
    function: Lowering,
    lowerings: Collection[str],
    allow_override: bool,
) -> None:
    """Raise unless ``function`` may be registered under ``qualified_name``.

    Args:
        qualified_name: ``namespace::op.overload``; ``.default`` may be left out.
        function: The lowering.
        lowerings: Names that are registered already.
        allow_override: Whether it may replace a lowering.

    Raises:
        ValueError: If the name has another form, if it is taken, or if it names
            no op in a namespace that is not the user's.
        TypeError: If the name is no string, or ``function`` cannot be called.
    """
    namespace, name = _split(qualified_name)
    if not callable(function):
        msg = (
            f"the lowering for {qualified_name!r} must be a function "
            f"(values_map, node, loc), got {type(function).__name__}"
        )
        raise TypeError(msg)
    if allow_override:
        return
    if qualified_name in lowerings or _is_established(namespace, name):
        msg = (
            f"a lowering for {qualified_name!r} is already registered; "
            "pass allow_override=True to replace it"
        )
        raise ValueError(msg)
    if namespace not in _RESERVED:
        return
    _check_exists(qualified_name, namespace, name)
    full = name if "." in name or namespace == "higher_order" else f"{name}.default"
    if _native.has_lowering(namespace, full):
        _LOGGER.info("%s replaces the built-in lowering", qualified_name)
