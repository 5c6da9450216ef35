"""A motion row by row, and inputs that are set between rows."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping

from . import _native
from ._lazy import cast
from ._values import number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._lazy import Array
    from ._system import System


class Step:
    """One row of a motion that is advanced step by step: `step.t`, `step["x"]`."""

    def __init__(self, names: dict[str, int], row: Array) -> None:
        self._names, self._row = names, row

    @property
    def t(self) -> float:
        """The time."""
        return float(self._row[0])

    @property
    def columns(self) -> list[str]:
        """Names of all columns."""
        return list(self._names)

    def __getitem__(self, name: str) -> float:
        if not isinstance(name, str):
            raise TypeError(f"columns have names: {name!r} is none")
        if name not in self._names:
            from ._errors import UnknownName

            raise UnknownName(f"there is no column `{name}`")
        return float(self._row[self._names[name]])

    def __repr__(self) -> str:
        return f"<step: t = {self.t:g}>"


class Steps(Iterator[Step]):
    """The rows of a motion as they are computed. Before each, inputs of the model that were set take their new values, from the time of
    the row before on."""

    def __init__(self, system: System, start: _native.Start, wishes: _native.MotionRequest) -> None:
        import threading

        self._inputs = system.inputs
        self._native = _native.NativeSteps(system._now, start, wishes)
        self._seen = dict(self._inputs)
        self._names = {name: i for i, name in enumerate(self._native.columns)}
        self._lock = threading.Lock()  # rows of several threads come one after the other

    def __iter__(self) -> Steps:
        return self

    def __next__(self) -> Step:
        with self._lock:
            return self._step()

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a motion row by row cannot be pickled while it goes on; its rows, models and runs can")

    def _step(self) -> Step:
        now = dict(self._inputs)
        for name in self._seen.keys() - now.keys():  # an expression again
            self._native.unset_input(name)
        for name, value in now.items():
            if self._seen.get(name) != value:
                self._native.set_input(name, value)
        self._seen = now
        if self._native.advance():
            return Step(self._names, cast("Array", self._native.row()))
        if self._native.failed:
            from ._errors import MechanicsError

            raise MechanicsError(self._native.why)
        raise StopIteration


class Inputs(MutableMapping[str, float]):
    """Inputs of a model ([inputs]) by name. What is set here holds for all that is asked of the model from then on, and for motions that
    are under way row by row (`steps`); `del` gives back what the model says."""

    def __init__(self, system: System, values: dict[str, float]) -> None:
        self._system = system
        self._stated = dict(values)
        self._values = dict(values)
        self._set: dict[str, float] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return (_inputs_of, (self._system,))

    def _of(self, system: System) -> Inputs:
        """The same values, of another system."""
        inputs = Inputs(system, self._stated)
        inputs._values, inputs._set = dict(self._values), dict(self._set)
        return inputs

    def clear(self) -> None:
        """All are as the model says."""
        for name in list(self._set):
            del self[name]

    def __getitem__(self, name: str) -> float:
        if name not in self._values:
            from ._errors import UnknownName

            known = ", ".join(self._values) or "none"
            raise UnknownName(f"the model has no input `{name}` that is a number; there are: {known}")
        return self._values[name]

    def __setitem__(self, name: str, value: float) -> None:
        if not isinstance(name, str):
            raise TypeError(f"an input has a name: {name!r} is none")
        new = number(value, f"the input `{name}`")
        if name not in self._values:
            if name not in self._system._inputs_with(name, new):
                from ._errors import UnknownName

                raise UnknownName(f"the model has no input `{name}`; there are: {', '.join(self._values) or 'none'}")
        self._values[name] = self._set[name] = new
        self._system._changed()

    def __delitem__(self, name: str) -> None:
        self[name]
        self._set.pop(name, None)
        if name in self._stated:
            self._values[name] = self._stated[name]
        else:  # an expression again
            del self._values[name]
        self._system._changed()

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr(self._values)

    def _given(self) -> dict[str, Any]:
        return dict(self._set)


def _inputs_of(system: System) -> Inputs:
    return system.inputs
