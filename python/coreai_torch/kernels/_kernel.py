# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``TorchMetalKernel``: a Metal kernel that PyTorch models can call."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import torch
from coreai.authoring import CustomMetalKernel, MetalParameter

from coreai_torch.kernels._check import check_kernel
from coreai_torch.kernels._report import KernelReport
from coreai_torch.kernels._signature import ReferenceFunction, check_names
from corten import _native

#: The namespace of the operators that kernels are in torch.
NAMESPACE = "coreai_metal_kernels"


class _Operator:
    """The operator that kernels of one name are in torch.

    A later kernel of the name takes it over. It is not registered again for
    that unless it has to be: programs that were exported with it refer to it,
    and torch crashes on an operator that is gone.
    """

    #: By name.
    known: ClassVar[dict[str, _Operator]] = {}

    def __init__(self, name: str, schema: str) -> None:
        self.schema = schema
        self.reference: ReferenceFunction | None = None
        self.definition = torch.library.custom_op(
            f"{NAMESPACE}::{name}", self._run, mutates_args=(), schema=schema
        )
        self.definition.register_fake(self._run)

    def _run(self, *arguments: Any) -> Any:
        assert self.reference is not None
        return self.reference(*arguments[: len(self.reference.types)])

    @staticmethod
    def take(name: str, reference: ReferenceFunction, schema: str) -> _Operator:
        """The operator of the name, made to run ``reference``."""
        operator = _Operator.known.get(name)
        if operator is None or operator.schema != schema:
            operator = _Operator.known[name] = _Operator(name, schema)
        operator.reference = reference
        return operator


def _threads(value: Sequence[Any], name: str) -> list[Any]:
    threads = list(value)
    if len(threads) != 3:
        msg = f"{name} must be a 3-tuple, got {len(threads)} entries: {value!r}"
        raise ValueError(msg)
    return threads


@functools.cache
def _sizes_operator() -> Any:
    """An operator that makes a vector of sizes.

    A constant of torch's would do, but not inside a branch, where torch cannot
    lift it out of the graph.
    """

    def make(values: Sequence[int]) -> torch.Tensor:
        return torch.tensor(values, dtype=torch.uint32)

    def describe(values: Sequence[int]) -> torch.Tensor:
        return torch.empty(len(values), dtype=torch.uint32)

    operator = torch.library.custom_op(
        "coreai_metal::sizes",
        make,
        mutates_args=(),
        schema="(SymInt[] values) -> Tensor",
    )
    operator.register_fake(describe)
    return operator


def _check_sizes(values: Sequence[Any], name: str) -> list[Any]:
    for value in values:
        if not isinstance(value, (int, torch.SymInt)):
            msg = f"{name} must hold integers, got {value!r}"
            raise TypeError(msg)
        if isinstance(value, int) and value < 0:
            msg = f"{name} must not hold negative numbers, got {value}"
            raise ValueError(msg)
    return list(values)


class TorchMetalKernel(CustomMetalKernel):
    """A Metal kernel with the PyTorch function that it implements.

    Called in a model, the kernel runs the function; in a converted program
    it is the Metal source. :meth:`check` runs that source here and compares.

    Args:
        name: Of the kernel, and of the operator that is registered with torch.
        input_names: How the source calls the inputs, in the order of the
            function's parameters.
        result_names: How it calls the results.
        src: Body of the Metal function.
        torch_defn: The function. Its parameters are annotated ``torch.Tensor``,
            ``int``, ``float`` or ``bool``; it returns a tensor, a list of
            tensors, or a tuple of a fixed number of them.
        metal_params: Parameters that Metal fills in, such as the position of
            the thread.
        helper_src: Source that stands in front of the function.
        template_dtypes: For some inputs, the word in the sources that stands
            for the input's element type.

    Raises:
        ValueError: For names that are missing, repeated or no identifiers, and
            for numbers that do not fit together.
        TypeError: For a function whose annotations a kernel cannot have.
    """

    def __init__(
        self,
        name: str,
        input_names: Sequence[str],
        result_names: Sequence[str],
        src: str,
        torch_defn: Callable[..., Any],
        metal_params: Sequence[MetalParameter] | None = None,
        helper_src: str | None = None,
        template_dtypes: dict[str, str] | None = None,
    ) -> None:
        inputs, results = check_names(name, input_names, result_names)
        self._reference = ReferenceFunction(name, torch_defn, inputs, results)
        super().__init__(
            name=name,
            input_names=inputs,
            result_names=results,
            src=src,
            metal_params=list(metal_params or []),
            helper_src=helper_src,
            template_dtypes=template_dtypes,
        )
        self.torch_defn = torch_defn
        schema = self._reference.schema(
            [
                "threads_per_grid",
                "threads_per_thread_group",
                *self.result_shape_params,
            ]
        )
        self._operator = _Operator.take(name, self._reference, schema)
        self.torch_custom_op = self._operator.definition
        # Here, because a call may be traced and tracing cannot register.
        self._sizes = _sizes_operator()

    @property
    def result_shape_params(self) -> list[str]:
        """Names of the operator's parameters for the shapes of the results."""
        return [f"result_shape_{name}" for name in self.result_names]

    def __call__(
        self,
        *args: Any,
        threads_per_grid: Sequence[int],
        threads_per_thread_group: Sequence[int],
        result_shapes: Sequence[Sequence[int]],
    ) -> Any:
        """Run the reference function, as an operator that the converter knows.

        Args:
            args: The inputs.
            threads_per_grid: Threads along x, y and z.
            threads_per_thread_group: Threads of one group along x, y and z.
            result_shapes: One shape for each result.

        Returns:
            What the reference function returns.
        """
        grid = _threads(threads_per_grid, "threads_per_grid")
        group = _threads(threads_per_thread_group, "threads_per_thread_group")
        if len(result_shapes) != len(self.result_names):
            msg = (
                "result_shapes must have one shape per result name "
                f"{self.result_names}, got {len(result_shapes)}"
            )
            raise ValueError(msg)
        if _Operator.known[self.name] is not self._operator:
            msg = (
                f"another kernel named '{self.name}', with other inputs or "
                "results, has replaced this one; names must differ"
            )
            raise RuntimeError(msg)
        return self.torch_custom_op(
            *self._reference.complete(args),
            self._sizes(_check_sizes(grid, "threads_per_grid")),
            self._sizes(_check_sizes(group, "threads_per_thread_group")),
            *(
                self._sizes(_check_sizes(shape, "result_shapes"))
                for shape in result_shapes
            ),
        )

    def check(
        self,
        *example_inputs: Any,
        threads_per_grid: Sequence[int] | None = None,
        threads_per_thread_group: Sequence[int] | None = None,
        result_shapes: Sequence[Sequence[int]] | None = None,
        rtol: float | None = None,
        atol: float | None = None,
        seconds: int = 10,
    ) -> KernelReport:
        """Run the Metal source on the CPU and compare with the reference function.

        The source is compiled by an installed clang and runs in a process of
        its own, over the whole grid, with every access to memory watched.

        Args:
            example_inputs: The inputs. Small ones will do.
            threads_per_grid: As in a call. By default one thread for each
                element of the first result, along as many axes as the kernel's
                ``thread_position_in_grid`` has.
            threads_per_thread_group: As in a call. By default up to 256.
            result_shapes: As in a call. By default those that the reference
                function returns.
            rtol: What results may differ by, relative to the expected value;
                by default what their element type makes likely.
            atol: What they may differ by in any case; by default ``rtol`` times
                the mean magnitude of the expected values.
            seconds: When to give up on a kernel that does not end.

        Returns:
            What was found; ``report.ok`` says whether that is nothing, and
            ``report.raise_if_failed()`` raises if it is not.

        Raises:
            NotImplementedError: If the source uses what cannot be checked.
            RuntimeError: If there is no compiler.
        """
        for threads, name in (
            (threads_per_grid, "threads_per_grid"),
            (threads_per_thread_group, "threads_per_thread_group"),
        ):
            if threads is not None:
                _check_sizes(_threads(threads, name), name)
        if seconds < 1:
            msg = f"seconds must be at least 1, got {seconds}"
            raise ValueError(msg)
        if result_shapes is not None and len(result_shapes) != len(self.result_names):
            msg = (
                "result_shapes must have one shape per result name "
                f"{self.result_names}, got {len(result_shapes)}"
            )
            raise ValueError(msg)
        return check_kernel(
            self,
            example_inputs,
            threads_per_grid,
            threads_per_thread_group,
            result_shapes,
            rtol,
            atol,
            seconds,
        )

    def describe(self) -> _native.MetalKernel:
        """The kernel as the C++ side takes it, as it is now."""
        return _native.MetalKernel(
            self.name,
            list(zip(self.input_names, self._reference.kinds, strict=True)),
            self.result_names,
            self.src,
            self.helpers,
            [(p.name, p.dtype, p.attr) for p in self.metal_parameters],
            list(self.dtype_templates.items()),
        )
