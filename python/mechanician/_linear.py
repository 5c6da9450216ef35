"""The motion near a state, and states of rest."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ._lazy import np

if TYPE_CHECKING:
    from ._lazy import Array


class Linear:
    """δẋ = A δx + B δu, δy = C δx + D δu near a state: `A`, `B`, `C`, `D` as arrays, `states`, `inputs` and `outputs` by name."""

    def __init__(self, answer: tuple[Any, ...], inputs: list[str], outputs: list[str]) -> None:
        self._json: str = answer[0]
        #: Names of the states x: independent coordinates and velocities.
        self.states: list[str] = answer[1]
        #: Names of the inputs u.
        self.inputs: list[str] = inputs
        #: Names of the outputs y.
        self.outputs: list[str] = outputs
        #: ∂ẋ/∂x
        self.A: Array = answer[2]
        #: ∂ẋ/∂u
        self.B: Array = answer[3]
        #: ∂y/∂x
        self.C: Array = answer[4]
        #: ∂y/∂u
        self.D: Array = answer[5]
        #: ẋ at the state itself: zero at rest.
        self.drift: Array = answer[6]
        #: Of A, by real part.
        self.eigenvalues: Any = np.array(answer[7], dtype=complex)
        #: rest, steady or moving: where it is moving, eigenvalues do not say whether deviations grow.
        self.at: str = answer[8]
        #: Whether no eigenvalue has a positive real part; None where it is moving, which eigenvalues say nothing about.
        self.stable: bool | None = None if self.at == "moving" else bool(answer[9])
        #: What is to be known beside the numbers.
        self.notes: list[str] = answer[10]

    def to_dict(self) -> dict[str, Any]:
        """All there is, by the keys of `linearise --json`: modes and transfer functions too."""
        return cast("dict[str, Any]", json.loads(self._json))

    def __repr__(self) -> str:
        verdict = "" if self.stable is None else ", stable" if self.stable else ", unstable"
        return f"<linear: states {', '.join(self.states)}; {self.at}{verdict}>"


class RestPoint(NamedTuple):
    """A state of rest: positions by name, eigenvalues there, whether it is stable, whether others are next to it."""

    position: dict[str, float]
    eigenvalues: Any
    stable: bool
    isolated: bool


class Rest(Sequence[RestPoint]):
    """States of rest, one after the other; `to_dict()` has branches too where a parameter was varied."""

    def __init__(self, answer: tuple[str, list[tuple[dict[str, float], list[complex], bool, bool]], list[str]]) -> None:
        self._json = answer[0]
        self._states = [RestPoint(q, np.array(e, dtype=complex), stable, alone) for q, e, stable, alone in answer[1]]
        #: What is to be known beside the numbers.
        self.notes: list[str] = answer[2]

    def to_dict(self) -> dict[str, Any]:
        """All there is, by the keys of `equilibrium --json`."""
        return cast("dict[str, Any]", json.loads(self._json))

    def __getitem__(self, which: Any) -> Any:
        if not isinstance(which, (int, slice)):
            raise TypeError(f"states of rest are numbered: {which!r} is no number")
        return self._states[which]

    def __len__(self) -> int:
        return len(self._states)

    def __repr__(self) -> str:
        return f"<rest: {len(self)} states, {sum(s.stable for s in self._states)} stable>"
