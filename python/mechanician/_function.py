"""The acceleration of a model as a function, for other integrators."""

from __future__ import annotations

from . import _native
from ._lazy import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt

    from ._lazy import Array
    from ._system import System


class Acceleration(_native.NativeFunction):
    """q̈ = f(t, q, q̇), compiled: for one state, or for many as rows of arrays (k, n), side by side in vector lanes. `address` and
    `data` are for C callbacks: `int f(double t, const double *q, const double *qd, double *qdd, void *data)`, 0 where it went well."""

    def __init__(self, system: System, start: _native.Start) -> None:
        super().__init__(system._now, start)
        #: Names of the coordinates, in the order of the arrays.
        self.coordinates: list[str] = system.coordinates
        self._again = (system, start.position, start.velocity, start.time)

    @property
    def path(self) -> str:
        """How accelerations are computed, or why by the general solver."""
        return super().path

    @property
    def address(self) -> int:
        """Of a C function."""
        return super().address

    @property
    def data(self) -> int:
        """What that function takes last; valid as long as this object lives."""
        return super().data

    @property
    def n(self) -> int:
        """How many coordinates there are."""
        return super().n

    def evaluate(self, t: npt.ArrayLike, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: Array) -> None:
        """The same into an array that is there already, of the shape of q: nothing is allocated."""
        times, p, v = self._arrays(t, q, qd)
        if not isinstance(qdd, np.ndarray) or qdd.dtype != np.float64:
            raise TypeError(f"qdd is an array of doubles, not {type(qdd).__name__}")
        if qdd.shape != p.shape or not qdd.flags.c_contiguous or not qdd.flags.writeable:
            raise ValueError(f"qdd is an array of shape {p.shape} that can be written, row by row")
        if np.may_share_memory(qdd, p) or np.may_share_memory(qdd, v):
            raise ValueError("qdd shares memory with q or qd")
        if p.size:
            super().evaluate(times.reshape(-1), p, v, qdd)

    def _arrays(self, t: npt.ArrayLike, q: npt.ArrayLike, qd: npt.ArrayLike) -> tuple[Array, Array, Array]:
        times, p, v = (_doubles(x, name) for x, name in ((t, "t"), (q, "q"), (qd, "qd")))
        n = self.n
        if p.shape != v.shape or p.ndim not in (1, 2) or p.shape[-1] != n:
            raise ValueError(f"q and qd are arrays of shape ({n},) or (k, {n}), not {p.shape} and {v.shape}")
        count = 1 if p.ndim == 1 else p.shape[0]
        if times.ndim > 1 or times.size not in (1, count):
            raise ValueError(f"t is one number, or one for each of {count} states; its shape is {times.shape}")
        return times, p, v

    def _general(self, t: npt.ArrayLike, q: npt.ArrayLike, qd: npt.ArrayLike) -> Array:
        """f(t, q, qd) of whatever can be an array of doubles."""
        times, p, v = self._arrays(t, q, qd)
        result = np.empty(p.shape)
        if p.size:
            super().evaluate(times.reshape(-1), p, v, result)
        return result

    def __repr__(self) -> str:
        return f"<acceleration of {len(self.coordinates)} coordinates: {self.path}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_again, self._again)


def _again(system: System, position: dict[str, float], velocity: dict[str, float], time: float | None) -> Acceleration:
    return system.compiled(position, velocity, time)


def _doubles(x: Any, name: str) -> Array:
    if isinstance(x, (str, bytes, dict, set)) or x is None:
        raise TypeError(f"{name} is an array of numbers, not {x!r}")
    try:
        given = np.asarray(x)
        if given.dtype.kind not in "fiu" and not (given.dtype.kind == "O" and given.size):
            raise TypeError(f"{name} is an array of numbers, not of {given.dtype}")
        return np.ascontiguousarray(given, dtype=np.float64).reshape(given.shape)
    except (ValueError, OverflowError) as e:
        raise ValueError(f"{name}: {e}") from None
