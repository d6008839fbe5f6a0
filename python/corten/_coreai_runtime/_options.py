# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Options of ``coreai.runtime``, which its Linux release has not.

The engine has one kind of compute unit, the CPU. A preference for another one is
kept, and not followed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from coreai.runtime import SpecializationOptions as OfficialOptions


@dataclass(frozen=True)
class ComputeUnitKind:
    """A kind of compute unit; clients choose one by what ``str()`` says of it."""

    _name: str

    @classmethod
    def cpu(cls) -> ComputeUnitKind:
        """The CPU."""
        return cls("CPU")

    @classmethod
    def gpu(cls) -> ComputeUnitKind:
        """The GPU."""
        return cls("GPU")

    @classmethod
    def neural_engine(cls) -> ComputeUnitKind:
        """The Neural Engine."""
        return cls("Neural Engine")

    @classmethod
    def available_kinds(cls) -> list[ComputeUnitKind]:
        """Those that there are for the engine: the CPU."""
        return [cls.cpu()]

    def __str__(self) -> str:
        return self._name


@dataclass(frozen=True)
class _Choice:
    allowed: tuple[ComputeUnitKind, ...]
    preferred: ComputeUnitKind | None = None
    debug: bool = False


_ALL = (ComputeUnitKind.cpu(), ComputeUnitKind.gpu(), ComputeUnitKind.neural_engine())


class SpecializationOptions(OfficialOptions):
    """What a model is loaded for. All of them load it for the CPU here."""

    _options: _Choice  # type: ignore[assignment]

    @staticmethod
    def is_supported() -> bool:
        """Whether options can be made: they can."""
        return True

    @classmethod
    def _of(cls, choice: _Choice) -> SpecializationOptions:
        instance: SpecializationOptions = object.__new__(cls)
        instance._options = choice
        return instance

    @classmethod
    def cpu_only(cls) -> SpecializationOptions:
        """Nothing but the CPU."""
        return cls._of(_Choice((ComputeUnitKind.cpu(),)))

    @classmethod
    def default(cls) -> SpecializationOptions:
        """Whatever there is."""
        return cls._of(_Choice(_ALL))

    @classmethod
    def from_preferred_compute_unit_kind(  # type: ignore[override]
        cls, compute_unit_kind: ComputeUnitKind
    ) -> SpecializationOptions:
        """Whatever there is, this first. Raises ``RuntimeError`` for what is none."""
        if not isinstance(compute_unit_kind, ComputeUnitKind):
            # As for the method that makes one, without a call.
            msg = "Invalid ComputeUnitKind in preferred_compute_unit_kind"
            raise RuntimeError(msg)
        return cls._of(_Choice(_ALL, compute_unit_kind))

    def with_debug(self, *, enabled: bool) -> SpecializationOptions:
        """The same, with debugging on or off."""
        return self._of(replace(self._options, debug=enabled))

    @property
    def allowed_compute_unit_kinds(self) -> list[ComputeUnitKind]:  # type: ignore[override]
        """The kinds that may be used."""
        return list(self._options.allowed)

    @property
    def preferred_compute_unit_kind(self) -> ComputeUnitKind | None:  # type: ignore[override]
        """The kind that is preferred, if one is."""
        return self._options.preferred

    @property
    def is_debug_enabled(self) -> bool:
        """Whether debugging is on."""
        return self._options.debug

    def __str__(self) -> str:
        kinds = ", ".join(map(str, self._options.allowed))
        return (
            f"SpecializationOptions\n    Allowed:   [{kinds}]\n"
            f"    Preferred: {self._options.preferred}\n"
            f"    Debug:     {self._options.debug}"
        )
