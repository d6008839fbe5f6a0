# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ATen overloads that have no lowering and are not going to get one."""

from __future__ import annotations

_STAYS_OUT = {
    "Random numbers: the runtime has no generator, and a converted program "
    "returns the same outputs for the same inputs.": """
        bernoulli.default bernoulli.p multinomial.default normal.Tensor_Tensor
        normal.Tensor_float normal.float_Tensor normal_functional.default
        poisson.default rand.default rand_like.default randint.default
        randint.low randint_like.default randint_like.low_dtype randn.default
        randn_like.default randperm.default uniform.default
        """,
    "Backward passes: a converted program is for inference.": """
        _adaptive_avg_pool2d_backward.default avg_pool2d_backward.default
        convolution_backward.default max_pool2d_with_indices_backward.default
        """,
    "Matrix factorizations: iterative, with results that are unique only up to "
    "signs, phases or order; no operation of Core AI computes them.": """
        _linalg_eigh.default _linalg_svd.default geqrf.default
        linalg_cholesky_ex.default linalg_eig.default
        linalg_householder_product.default linalg_ldl_factor_ex.default
        linalg_lstsq.default linalg_lu.default linalg_lu_factor_ex.default
        linalg_qr.default linalg_solve_triangular.default ormqr.default
        triangular_solve.default
        """,
    "Sparse tensors: Core AI's are dense.": """
        _sparse_mm_reduce_impl.default _to_sparse.default
        sparse_sampled_addmm.default
        """,
    "Writes to its arguments: torch.export replaces it by a functional overload, "
    "which is lowered.": """
        _native_batch_norm_legit.default atan2.out resize_.default
        """,
    "Returns a Python value that depends on data: torch.export refuses it.": """
        allclose.default equal.default
        """,
}

#: Overload to reason, in the order of the page.
STAYS_OUT: dict[str, str] = {
    name: reason for reason, names in _STAYS_OUT.items() for name in names.split()
}
