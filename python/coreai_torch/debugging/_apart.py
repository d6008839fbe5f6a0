# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The interpreter of coreai-core in a process of its own.

It ends the process on programs that no converter makes; a file can hold any.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from coreai_torch._opened import open_program
from coreai_torch.debugging import _session
from coreai_torch.debugging._locations import entry_graph
from coreai_torch.debugging.inspector import Inspector, _ProgramInspector, check_inputs
from corten import _native
from corten._receive import receive

if TYPE_CHECKING:
    from coreai.authoring import AIProgram
    from numpy.typing import NDArray

_COMMAND = f"from {__name__} import main; main()"
_ASSET, _REQUEST, _ANSWER = "program.aimodel", "request", "answer"


class ApartInspector(Inspector):
    """Looks into a program as ``_ProgramInspector`` does, each time elsewhere."""

    def __init__(self, program: AIProgram, entry_point: str) -> None:
        entry_graph(program._mlir_module, entry_point)
        self._program = program
        self._entry_point = entry_point
        self._last_outputs: dict[str, NDArray[Any]] | None = None

    @property
    def last_outputs(self) -> dict[str, NDArray[Any]] | None:
        """What the function returned last, then its states."""
        return self._last_outputs

    async def get_intermediates_for_ops(
        self, op_ids: list[Inspector.OpID], inputs: Any
    ) -> dict[Inspector.OpID, list[NDArray[Any] | None] | None]:
        """Run the function; see :class:`Inspector`.

        Raises:
            TypeError: If ``inputs`` is no dictionary of inputs and states.
            ValueError: If the function takes other ones, or the interpreter ends
                its process.
        """
        check_inputs(inputs)
        arrays = {name: _session.array_of(value) for name, value in inputs.items()}
        values: dict[Inspector.OpID, list[NDArray[Any] | None] | None]
        values, self._last_outputs = await asyncio.to_thread(self._ask, op_ids, arrays)
        return values

    def _ask(self, op_ids: list[Inspector.OpID], arrays: dict[str, Any]) -> Any:
        with TemporaryDirectory(prefix="coreai_torch-") as name:
            folder = Path(name)
            # Not by coreai-core, which may not survive that either.
            _native.save_asset(
                receive(self._program, generic=True),
                str(folder / _ASSET),
                '{"assetVersion": "2.0"}',
                hash=False,
                force=False,
            )
            request = self._entry_point, op_ids, arrays
            (folder / _REQUEST).write_bytes(pickle.dumps(request))
            done = subprocess.run(
                [sys.executable, "-c", _COMMAND, name],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                check=False,
            )
            if done.returncode < 0:
                msg = (
                    "the interpreter of coreai-core ends its process on the program "
                    f"({signal.Signals(-done.returncode).name}): use the back end "
                    "'engine'; corten doctor may say why"
                )
                raise ValueError(msg)
            if done.returncode:
                raise RuntimeError(done.stderr.decode(errors="replace").strip())
            # Written by this module, in a folder that nobody else can write to.
            answer = pickle.loads((folder / _ANSWER).read_bytes())
        if isinstance(answer, str):
            raise ValueError(answer)
        return answer


def _answer(folder: Path) -> Any:
    """What the inspector said, and the outputs; or why it did not."""
    entry_point, op_ids, arrays = pickle.loads((folder / _REQUEST).read_bytes())
    try:
        inspector = _ProgramInspector(open_program(folder / _ASSET), entry_point)
        values = _session.run_in_thread(
            inspector.get_intermediates_for_ops(op_ids, arrays)
        )
    except (RuntimeError, ValueError) as error:
        return str(error)
    return values, inspector.last_outputs


def main() -> None:
    """What the other process does, in the folder that it is told."""
    folder = Path(sys.argv[1])
    (folder / _ANSWER).write_bytes(pickle.dumps(_answer(folder)))
    # Nothing else is to be done. The interpreter has threads, which do not always
    # survive that Python takes itself apart, and the program is not to blame then.
    os._exit(0)
