# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""On which devices the operations of a program run.

A runtime says so in the debug information of a loaded model. On Linux there is
one device, the CPU; plans that were made on a Mac can be read here.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from enum import Enum
from typing import TYPE_CHECKING, Any, TextIO

from coreai_torch.debugging import _session
from coreai_torch.debugging._locations import Location, all_operations
from coreai_torch.debugging.debug_info import parse_debug_infos
from coreai_torch.debugging.source_annotator import (
    _annotate_source,
    _operation_in_module,
    _TextAnnotation,
)
from coreai_torch.debugging.table_writer import (
    _Column,
    _Row,
    _TableSpec,
    _write_table,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coreai._compiler.ir import Operation
    from coreai.authoring import AIProgram
    from coreai.runtime import SpecializationOptions

    from coreai_torch.debugging.debug_info import DebugInfo, DebugInfoRecord
    from coreai_torch.debugging.source_annotator import ModulePath

__all__ = ["ComputeDevice", "ComputePlan", "Residency"]

#: Libraries that a program hands parts to: BNNS computes on the CPU, MPS says
#: where it does.
_BNNS, _MPS = "bnns", "mps"
_REFUSAL = "ane_validation_message"

#: What is never placed, and so counted nowhere.
_NOT_COUNTED = frozenset({"coreai.graph", "coreai.constant"})


class ComputeDevice(Enum):
    """What an operation runs on."""

    CPU = "CPU"
    GPU = "GPU"
    NEURAL_ENGINE = "NEURAL_ENGINE"
    UNKNOWN = "UNKNOWN"

    @classmethod
    def from_string(cls, value: str) -> ComputeDevice:
        """Return the device of this name in any case, ``UNKNOWN`` for others."""
        name = value.strip().upper()
        if name == "ANE":
            return cls.NEURAL_ENGINE
        return cls[name] if name in cls.__members__ else cls.UNKNOWN


class Residency(Enum):
    """Whether a plan knows the device of an operation, and why not."""

    PLACED = "PLACED"
    #: The compiled program has nothing of it: it was folded into others.
    NO_ENTRY = "NO ENTRY"
    #: It is there, on a device that the plan does not know.
    NO_DEVICE = "NO DEVICE"


def _devices_of(
    record: DebugInfoRecord,
) -> Iterator[tuple[DebugInfo, ComputeDevice]]:
    """What a record says; what says nothing of a device is left out."""
    identifier = record.identifier.lower()
    for info in record.operations:
        if record.is_fallback:
            # Symbols stand for a part that another record describes.
            if not info.is_symbol():
                yield info, ComputeDevice.CPU
        elif identifier.startswith(_BNNS):
            yield info, ComputeDevice.CPU
        elif not identifier.startswith(_MPS):
            yield info, ComputeDevice.UNKNOWN
        elif (name := info.get_residency()) is not None:
            yield info, ComputeDevice.from_string(name)


class ComputePlan:
    """The devices of operations, by their numbers.

    Args:
        debug_info_records: The records of a loaded model.

    Raises:
        ValueError: The record of the program itself is not among them.
    """

    def __init__(self, debug_info_records: list[DebugInfoRecord]) -> None:
        main = [record for record in debug_info_records if record.is_fallback][:1]
        if not main:
            names = [record.identifier for record in debug_info_records]
            msg = f"no record of the program itself, only of {names}"
            raise ValueError(msg)
        others = [record for record in debug_info_records if not record.is_fallback]
        self._devices: dict[int, ComputeDevice] = {}
        self._messages: dict[int, set[str]] = {}
        # Whoever takes a part has the last word on it.
        for record in [*main, *others]:
            says_why = record.identifier.lower().startswith(_MPS)
            for info, device in _devices_of(record):
                message = info.get_text(_REFUSAL) if says_why else None
                for number in info.get_op_ids("coreai"):
                    self._devices[number] = device
                    self._messages[number] = set() if message is None else {message}

    @classmethod
    async def from_program(
        cls,
        program: AIProgram,
        specialization_options: SpecializationOptions | None = None,
    ) -> ComputePlan:
        """Load a program and return the plan that its runtime has made.

        Args:
            program: The program.
            specialization_options: For the runtime; macOS only.

        Raises:
            RuntimeError: If options are given elsewhere.
        """
        loaded = await asyncio.to_thread(
            _session.LoadedProgram, program, specialization_options
        )
        return cls(parse_debug_infos(loaded.model._debug_infos))

    def devices_for_id(self, operation_id: int) -> set[ComputeDevice]:
        """Return the devices of an operation, ``{UNKNOWN}`` if none is known."""
        return {self._devices.get(operation_id, ComputeDevice.UNKNOWN)}

    def get_devices(self, operation: Operation) -> set[ComputeDevice]:
        """Return the devices of an operation, ``{UNKNOWN}`` if none is known."""
        number = Location(operation).op_id()
        return (
            {ComputeDevice.UNKNOWN} if number is None else self.devices_for_id(number)
        )

    def residency_for_id(self, operation_id: int) -> Residency:
        """Return whether the device of an operation is known, and why not."""
        device = self._devices.get(operation_id)
        if device is None:
            return Residency.NO_ENTRY
        if device is ComputeDevice.UNKNOWN:
            return Residency.NO_DEVICE
        return Residency.PLACED

    def validation_messages_for_id(self, operation_id: int) -> set[str]:
        """Return why the neural engine did not take an operation."""
        return set(self._messages.get(operation_id, ()))

    def get_validation_messages(self, operation: Operation) -> set[str]:
        """Return why the neural engine did not take an operation."""
        number = Location(operation).op_id()
        return set() if number is None else self.validation_messages_for_id(number)

    def to_dict(
        self, program: AIProgram | None = None, *, module: ModulePath | None = None
    ) -> dict[str, Any]:
        """Return what JSON can hold.

        Args:
            program: What the plan was made for. The names of its operations, and
                those that the plan does not know, are then there as well.
            module: Only the operations of this module are named.
        """
        entries = [
            {
                "operation_id": number,
                "devices": sorted(d.value for d in self.devices_for_id(number)),
                "residency": self.residency_for_id(number).value,
                "validation": sorted(self.validation_messages_for_id(number)),
            }
            for number in sorted(self._devices)
        ]
        counts = Counter(device.value for device in self._devices.values())
        result: dict[str, Any] = {
            "entries": entries,
            "entry_count": len(entries),
            "device_histogram": dict(sorted(counts.items())),
        }
        if program is not None:
            names = dict(_numbered(program, module))
            result["operation_names"] = names
            result["operations_without_entry"] = sorted(
                number for number in names if number not in self._devices
            )
        return result

    def write_summary(
        self,
        program: AIProgram,
        output: TextIO | None = None,
        *,
        module: ModulePath | None = None,
    ) -> None:
        """Write how many operations of each kind run on which device.

        Args:
            program: What the plan was made for.
            output: Where to; the standard output by default.
            module: Only operations of this module count.
        """
        order = (
            ComputeDevice.NEURAL_ENGINE,
            ComputeDevice.GPU,
            ComputeDevice.CPU,
            ComputeDevice.UNKNOWN,
        )
        by_name: dict[str, Counter[ComputeDevice]] = {}
        for number, name in _numbered(program, module):
            if name not in _NOT_COUNTED:
                by_name.setdefault(name, Counter()).update(self.devices_for_id(number))
        spec = _TableSpec(
            "Compute device placement per operation",
            (
                _Column("operation", no_wrap=True),
                _Column("count", justify="right"),
                *(_Column(device.value, justify="right") for device in order),
            ),
        )
        for name, counts in sorted(
            by_name.items(), key=lambda entry: (-entry[1].total(), entry[0])
        ):
            numbers = (counts.total(), *(counts[device] for device in order))
            spec.add(_Row((name, *map(str, numbers))))
        _write_table(spec, output)

    def annotate_source(
        self,
        program: AIProgram,
        output: TextIO | None = None,
        *,
        module: ModulePath | None = None,
        annotate_all_files: bool = False,
    ) -> None:
        """List source files with the devices of what their lines became.

        Args:
            program: What the plan was made for.
            output: Where to; the standard output by default.
            module: Only operations of this module are remarked on.
            annotate_all_files: All files, not only the one with most operations.
        """

        def remark(operation: Operation) -> _TextAnnotation | None:
            number = Location(operation).op_id()
            if number is None or self.residency_for_id(number) is Residency.NO_ENTRY:
                return None
            if module is not None and not _operation_in_module(operation, module):
                return None
            devices = sorted(device.value for device in self.devices_for_id(number))
            text = f"{operation.name}: {', '.join(devices)}"
            reasons = sorted(self.validation_messages_for_id(number))
            return _TextAnnotation(
                f"{text} -- {'; '.join(reasons)}" if reasons else text
            )

        _annotate_source(
            program,
            remark,
            sys.stdout if output is None else output,
            annotate_all_files=annotate_all_files,
        )


def _numbered(
    program: AIProgram, module: ModulePath | None
) -> Iterator[tuple[int, str]]:
    """The operations of a program, or of one module, by number and name."""
    for operation in all_operations(program._mlir_module.operation):
        number = Location(operation).op_id()
        if number is not None and (
            module is None or _operation_in_module(operation, module)
        ):
            yield number, operation.name
