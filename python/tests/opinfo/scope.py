# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that are not meant to be converted, and limits of the interpreter."""

from __future__ import annotations

import re

#: Also the verdict on single samples that come out otherwise every time.
RANDOM = "random sampling"
_FACTORIZATION = "matrix factorization"
_SPARSE = "sparse tensors"
_BACKWARD = "backward pass"
_CUDA = "needs a CUDA device"
_LAYOUT = "the values are uninitialized memory"
_OPAQUE = "an opaque operator of torch.nn, not ATen"
_WIDE = "the result needs 64-bit integers"
_PYTHON = "no tensor goes in or comes out"

#: Names as in op_db, with the variant after a dot.
OUT_OF_SCOPE: dict[str, str] = {
    name: reason
    for reason, names in {
        RANDOM: """
            bernoulli cauchy exponential geometric log_normal multinomial normal
            normal.in_place normal.number_mean rand_like randint randint_like
            randn randn_like uniform nn.functional.alpha_dropout
            nn.functional.dropout nn.functional.dropout2d nn.functional.dropout3d
            nn.functional.feature_alpha_dropout.with_train
            nn.functional.fractional_max_pool2d nn.functional.fractional_max_pool3d
            nn.functional.rrelu pca_lowrank svd_lowrank
            """,
        _FACTORIZATION: """
            cholesky cholesky_inverse cholesky_solve geqrf linalg.cholesky
            linalg.cholesky_ex linalg.cond linalg.eig linalg.eigh linalg.eigvals
            linalg.eigvalsh linalg.householder_product linalg.ldl_factor
            linalg.ldl_factor_ex linalg.ldl_solve linalg.lstsq
            linalg.lstsq.grad_oriented linalg.lu linalg.lu_factor
            linalg.lu_factor_ex linalg.lu_solve linalg.matrix_rank
            linalg.matrix_rank.hermitian linalg.pinv linalg.pinv.hermitian
            linalg.pinv.singular linalg.qr linalg.solve_triangular linalg.svd
            linalg.svdvals lu lu_solve lu_unpack norm.nuc ormqr pinverse qr svd
            triangular_solve
            """,
        _SPARSE: "sparse.mm.reduce sparse.sampled_addmm to_sparse",
        _BACKWARD: """
            _softmax_backward_data max_pool2d_with_indices_backward
            native_dropout_backward nn.functional.max_unpool1d.grad
            nn.functional.max_unpool2d.grad nn.functional.max_unpool3d.grad
            """,
        _CUDA: """
            bmm.triton_optimized jiterator_2inputs_2outputs
            jiterator_4inputs_with_extra_args jiterator_binary
            jiterator_binary_return_by_ref jiterator_unary
            """,
        _LAYOUT: """
            empty empty_like empty_permuted empty_strided new_empty
            new_empty_strided
            """,
        _PYTHON: "broadcast_shapes",
        _OPAQUE: """
            nn.functional.linear_cross_entropy.chunked
            nn.functional.linear_cross_entropy.chunked_none
            """,
        _WIDE: "hash_tensor",
    }.items()
    for name in names.split()
}

#: Refusals of the converter that put a single sample out of scope.
_REFUSALS: tuple[tuple[str, str], ...] = (
    ("needs random numbers", RANDOM),
    ("has the type complex32", "complex32 has no counterpart in Core AI"),
    ("Core AI convolves floats only", "Core AI has no convolution of integers"),
)


def refusal(message: str) -> str | None:
    """Why a sample that the converter refused is out of scope, if it is."""
    for pattern, reason in _REFUSALS:
        if pattern in message:
            return reason
    return None


#: Messages of coreai-core's interpreter, and the limit that each one shows.
_INTERPRETER_LIMITS: tuple[tuple[str, str], ...] = ()


def interpreter_limit(message: str) -> str | None:
    """The known limit behind a message of the interpreter."""
    for pattern, reason in _INTERPRETER_LIMITS:
        if re.search(pattern, message):
            return reason
    return None
