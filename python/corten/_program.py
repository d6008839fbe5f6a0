# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``AIProgram`` as it is documented, whichever release of coreai-core is there.

Release 1.0.0b3 took ``optimize()`` away: there a program is optimized when the
``with`` block of the module that it is built in ends, so that converters return
optimized programs. Ours do so there as well. The method stays, for code written
for the release before; calling it on what is optimized changes nothing.
"""

from __future__ import annotations

from typing import Any, cast

from coreai._compiler import ir
from coreai.authoring import AIProgram


def _with_optimize(official: Any) -> Any:
    class Program(official):  # type: ignore[misc]
        """A program with the names of 1.0.0b2, optimized when it is saved."""

        _is_optimized = False

        @property
        def _mlir_module(self) -> ir.Module:
            module: ir.Module = self._module._mlir_module
            return module

        def optimize(self) -> None:
            """Apply the optimizations of coreai-core, in place."""
            with self._module:
                pass  # They run when the block ends.
            self._is_optimized = True

        def __deepcopy__(self, memo: dict[int, Any]) -> Any:
            copy = super().__deepcopy__(memo)
            # To optimize numbers the operations anew: the numbers of a copy must
            # stay those of the program.
            copy._is_optimized = self._is_optimized
            return copy

        def get_graph(self, entrypoint: str) -> Any:
            """Return the graph of this name, or ``None``."""
            return self._get_graph(entrypoint)

        def _save_bytecode(self, *args: Any, **kwargs: Any) -> None:
            if not self._is_optimized:
                self.optimize()
            super()._save_bytecode(*args, **kwargs)

    Program.__name__ = Program.__qualname__ = official.__name__
    return Program


_PROGRAM: Any = (
    AIProgram if hasattr(AIProgram, "optimize") else _with_optimize(AIProgram)
)


def finish(program: AIProgram) -> None:
    """Make ``program`` what a converter returns on this release of coreai-core."""
    if not hasattr(AIProgram, "optimize"):
        cast("Any", program).optimize()


def program_of(
    module: ir.Module, weights: dict[str, Any], *, is_read: bool = False
) -> AIProgram:
    """Return the program that ``module`` is.

    ``weights`` is the memory behind the keys of its weights. coreai-core has no
    way to ask for it, so the program remembers it; and whether it was read from
    a file, which can hold what the interpreter does not survive.
    """
    program: Any = _PROGRAM._from_mlir_module(module)
    program._corten_weights = weights
    program._corten_is_read = is_read
    return cast("AIProgram", program)


def weights_of(program: AIProgram) -> dict[str, Any]:
    """Return the memory of those weights whose memory is known, by key."""
    weights: dict[str, Any] = getattr(program, "_corten_weights", {})
    return weights


def is_read(program: AIProgram) -> bool:
    """Whether the program was read from a file."""
    return bool(getattr(program, "_corten_is_read", False))


def operations_of(module: ir.Module) -> list[ir.Operation]:
    """The operations of a module, each after what it contains."""
    operations: list[ir.Operation] = []

    def visit(operation: ir.Operation) -> ir.WalkResult:
        operations.append(operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return operations
