"""A model that can be asked: checked, accelerated, run, swept."""

from __future__ import annotations

import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from . import _native
from ._errors import MechanicsError
from ._results import Array, Diagnosis, Instant, Run, Sweep

Values = Mapping[str, float]


def _numbers(values: Values | None, what: str) -> dict[str, float]:
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        raise TypeError(f"{what} is a mapping from names to numbers, not {type(values).__name__}")
    checked = {}
    for name, value in values.items():
        if not isinstance(name, str):
            raise TypeError(f"{what}: names are text, not {type(name).__name__}")
        checked[name] = _number(value, f"{what} of `{name}`")
    return checked


def _number(value: Any, what: str) -> float:
    if isinstance(value, (str, bytes, bool)) or value is None:
        raise TypeError(f"{what} is a number, not {value!r}")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{what} is a number, not {value!r}") from None
    if not np.isfinite(number):
        raise ValueError(f"{what} is {number}: it must be finite")
    return number


def _maybe(value: Any, what: str) -> float | None:
    return None if value is None else _number(value, what)


def _start(position: Values | None, velocity: Values | None, time: float | None) -> _native.Start:
    return _native.Start(_numbers(position, "position"), _numbers(velocity, "velocity"), _maybe(time, "time"))


class Step:
    """One row of a motion that is advanced step by step: `step.t`, `step["x"]`."""

    def __init__(self, names: dict[str, int], row: Array) -> None:
        self._names, self._row = names, row

    @property
    def t(self) -> float:
        """The time."""
        return float(self._row[0])

    def __getitem__(self, name: str) -> float:
        if name not in self._names:
            raise KeyError(f"there is no column `{name}`")
        return float(self._row[self._names[name]])

    def __repr__(self) -> str:
        return f"<step: t = {self.t:g}>"


class Acceleration:
    """q̈ = f(t, q, q̇), compiled: for one state, or for many as rows of arrays (k, n). `address` and `data` are for C callbacks:
    `int f(double t, const double *q, const double *qd, double *qdd, void *data)`, 0 where it went well."""

    def __init__(self, system: System, start: _native.Start) -> None:
        self._native = _native.NativeFunction(system._native, start)
        #: Names of the coordinates, in the order of the arrays.
        self.coordinates: list[str] = system.coordinates

    @property
    def path(self) -> str:
        """How accelerations are computed, or why by the general solver."""
        return self._native.path

    @property
    def address(self) -> int:
        """Of a C function."""
        return self._native.address

    @property
    def data(self) -> int:
        """What that function takes last; valid as long as this object lives."""
        return self._native.data

    def __call__(self, t: npt.ArrayLike, q: npt.ArrayLike, qd: npt.ArrayLike) -> Array:
        if isinstance(t, float) and type(q) is np.ndarray and type(qd) is np.ndarray and q.ndim == 1:
            try:  # the short way
                return cast(Array, self._native.evaluate_one(t, q, qd))
            except TypeError:
                pass
        times, p, v = (np.ascontiguousarray(x, dtype=np.float64) for x in (t, q, qd))
        n = self._native.n
        if p.shape != v.shape or p.ndim not in (1, 2) or p.shape[-1] != n:
            raise ValueError(f"q and qd are arrays of shape ({n},) or (k, {n}), not {p.shape} and {v.shape}")
        count = 1 if p.ndim == 1 else p.shape[0]
        if times.ndim > 1 or times.size not in (1, count):
            raise ValueError(f"t is one number, or one for each of {count} states; its shape is {times.shape}")
        result = np.empty_like(p)
        if p.size:
            self._native.evaluate(times.reshape(-1), p, v, result)
        return result


class System:
    """A model made ready for numbers. Made by `load`, `read` or `Model.build`."""

    def __init__(self, native: _native.NativeModel) -> None:
        self._native = native
        #: Names of the coordinates.
        self.coordinates: list[str] = native.coordinates
        #: Names of the constraints, control requirements behind them.
        self.constraints: list[str] = native.constraints
        #: Names of the [outputs].
        self.outputs: list[str] = native.outputs

    @property
    def title(self) -> str:
        """As the model says."""
        return self._native.title

    @property
    def source(self) -> str:
        """The text of the model."""
        return self._native.source

    @property
    def parameters(self) -> dict[str, float]:
        """Values of the parameters."""
        return self._native.parameters

    def _by_name(self, t: float, q: Array, qd: Array) -> dict[str, Any]:
        position, velocity = (dict(zip(self.coordinates, x.tolist(), strict=True)) for x in (q, qd))
        return {"time": t, "position": position, "velocity": velocity}

    def start(self, position: Values | None = None, velocity: Values | None = None, time: float | None = None) -> dict[str, Any]:
        """The start of the model, with other values where they are given: time, position and velocity by name."""
        t, q, qd = self._native.state(_start(position, velocity, time))
        return self._by_name(t, q, qd)

    def project(self, position: Values | None = None, velocity: Values | None = None, time: float | None = None) -> dict[str, Any]:
        """The nearest state on the constraints."""
        t, q, qd = self._native.project(_start(position, velocity, time))
        return self._by_name(t, q, qd)

    def check(self, position: Values | None = None, velocity: Values | None = None, time: float | None = None) -> Diagnosis:
        """What there is to say of the model at its start: rank, redundant and conflicting constraints, uniqueness."""
        text, refusals, notes = self._native.check(_start(position, velocity, time))
        return Diagnosis(json.loads(text), notes, refusals)

    def accelerate(
        self, position: Values | None = None, velocity: Values | None = None, time: float | None = None, *, parts: bool = False
    ) -> Instant:
        """Accelerations, constraint forces and multipliers at one instant. Raises MechanicsError where there are none."""
        text, refusals, notes = self._native.accelerate(_start(position, velocity, time), bool(parts))
        instant = Instant(json.loads(text), notes)
        if refusals:
            raise MechanicsError("\n".join(refusals), instant)
        return instant

    def _run(
        self,
        *,
        to: float | None = None,
        every: float | None = None,
        tolerance: float | None = None,
        method: str | None = None,
        verify: bool = False,
        project: bool = False,
        position: Values | None = None,
        velocity: Values | None = None,
        time: float | None = None,
        columns: Sequence[str] | str = "",
        scale: Values | None = None,
        progress: bool | Callable[[float, float, float], bool] = False,
        report: bool = False,
    ) -> _native.NativeRun:
        wishes = self._wishes(to, every, tolerance, method, columns, scale)
        wishes.verify, wishes.project, wishes.report = bool(verify), bool(project), report
        call = _bar if progress is True else progress or None
        if call is not None and not callable(call):
            raise TypeError("progress is True, False or a function of (begin, now, end)")
        try:
            return _native.run(self._native, _start(position, velocity, time), wishes, call)
        finally:
            if call is _bar:
                print(file=sys.stderr)

    def _wishes(
        self,
        to: float | None,
        every: float | None,
        tolerance: float | None,
        method: str | None,
        columns: Sequence[str] | str = "",
        scale: Values | None = None,
    ) -> _native.MotionRequest:
        wishes = _native.MotionRequest()
        wishes.to, wishes.every, wishes.tolerance = _maybe(to, "to"), _maybe(every, "every"), _maybe(tolerance, "tolerance")
        if method is not None and not isinstance(method, str):
            raise TypeError("method is a text: auto, dop853 or bdf")
        wishes.method = method
        wishes.columns = columns if isinstance(columns, str) else ",".join(columns)
        wishes.scale = _numbers(scale, "scale")
        return wishes

    def run(
        self,
        to: float | None = None,
        every: float | None = None,
        tolerance: float | None = None,
        method: str | None = None,
        verify: bool = False,
        project: bool = False,
        position: Values | None = None,
        velocity: Values | None = None,
        time: float | None = None,
        columns: Sequence[str] | str = "",
        scale: Values | None = None,
        progress: bool | Callable[[float, float, float], bool] = False,
    ) -> Run:
        """The motion up to `to`, with rows `every` so often (absent: one for each step). What is not given is as the model says.
        `project` moves a start that is off the constraints onto them. Ctrl-C ends it and keeps what it had. The numbers are those
        of the command line, bit for bit."""
        repeat = {
            "to": to, "every": every, "tolerance": tolerance, "method": method, "verify": verify, "project": project,
            "position": position, "velocity": velocity, "time": time, "columns": columns, "scale": scale,
        }
        return Run(self._run(progress=progress, **cast(Any, repeat)), self, repeat)

    def steps(
        self,
        to: float | None = None,
        every: float | None = None,
        tolerance: float | None = None,
        method: str | None = None,
        position: Values | None = None,
        velocity: Values | None = None,
        time: float | None = None,
    ) -> Iterator[Step]:
        """The motion, row by row, as it is computed: `for step in m.steps(to=10): step.t, step["x"]`."""
        native = _native.NativeSteps(self._native, _start(position, velocity, time), self._wishes(to, every, tolerance, method))
        names = {name: i for i, name in enumerate(native.columns)}
        while native.advance():
            yield Step(names, cast(Array, native.row()))
        if native.failed:
            raise MechanicsError(native.why)

    def sweep(
        self,
        vary: Mapping[str, npt.ArrayLike],
        keep: Sequence[str] = (),
        to: float | None = None,
        tolerance: float | None = None,
        method: str | None = None,
        step: float | None = None,
        threads: int = 0,
        device: str = "cpu",
        pairs: bool = False,
        as_given: bool = False,
        position: Values | None = None,
        velocity: Values | None = None,
        time: float | None = None,
        progress: Callable[[int, int], bool] | None = None,
    ) -> Sweep:
        """Motions for all combinations of the values that vary (the last name fastest), or, with `pairs`, for values that belong
        together one by one. Names are parameters, coordinates `x` or velocities `x'` of the start."""
        if not isinstance(vary, Mapping) or not vary:
            raise TypeError("vary is a mapping from names to values, and not empty")
        arrays = [np.atleast_1d(np.asarray(v, dtype=np.float64)) for v in vary.values()]
        for name, values in zip(vary, arrays, strict=True):
            if values.ndim != 1 or values.size == 0 or not np.all(np.isfinite(values)):
                raise ValueError(f"vary: the values of `{name}` are one row of finite numbers")
        wishes = _native.SweepRequest()
        wishes.vary = [(name, values.tolist()) for name, values in zip(vary, arrays, strict=True)]
        wishes.pairs, wishes.keep = bool(pairs), list(keep)
        wishes.to, wishes.tolerance, wishes.step = _maybe(to, "to"), _maybe(tolerance, "tolerance"), _maybe(step, "step")
        wishes.method, wishes.device = method, device
        wishes.threads, wishes.as_given = int(threads), bool(as_given)
        return Sweep(*_native.sweep(self._native, _start(position, velocity, time), wishes, progress))

    def equations(self) -> Equations:
        """The equations of motion: M, Q, A, b, and closed forms where there are any."""
        return Equations(self)

    def compiled(self, position: Values | None = None, velocity: Values | None = None, time: float | None = None) -> Acceleration:
        """q̈ as a compiled function of (t, q, q̇), for other integrators. The state is where constraints are looked at for
        those that depend on others."""
        return Acceleration(self, _start(position, velocity, time))

    def export_c(self, path: str | os.PathLike[str], *, name: str = "", position: Values | None = None, velocity: Values | None = None, time: float | None = None) -> str:
        """The model as C99 that needs libm and nothing else: NAME.c and NAME.h in the folder `path`. The file that was written. What C cannot do is a ValueError
        that names it."""
        return self._native.export_c(_start(position, velocity, time), os.fspath(path), name)

    def export_fmu(
        self, path: str | os.PathLike[str], *, fmi: str = "2.0", name: str = "", position: Values | None = None, velocity: Values | None = None, time: float | None = None
    ) -> str:
        """The model as a Functional Mock-up Unit, a file that ends with .fmu; `fmi` is "2.0" or "3.0". Without a C compiler it has sources only, which is a
        warning."""
        if fmi not in ("2.0", "3.0"):
            raise ValueError(f"fmi is '2.0' or '3.0', not {fmi!r}")
        file, note = self._native.export_fmu(_start(position, velocity, time), os.fspath(path), fmi == "3.0", name)
        if note:
            warnings.warn(note, stacklevel=2)
        return file

    def show(self, **run: Any) -> Any:
        """Runs the model and shows the report."""
        return self.run(**run).show()

    def __repr__(self) -> str:
        return f"<{self.title or 'model'}: {len(self.coordinates)} coordinates, {len(self.constraints)} constraints>"

    def _repr_html_(self) -> str:
        latex = ""
        if len(self.coordinates) <= 12:
            latex = "$$" + self.equations().latex().replace("\n\n", "\n") + "$$"
        return f"<h4>{self.title}</h4><p>coordinates {', '.join(self.coordinates[:12])}</p>{latex}"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_again, (self._native.file, self._native.given_text, self._native.given_set))


class Equations:
    """The equations of motion, for reading and for other programs."""

    def __init__(self, system: System) -> None:
        self._system = system

    def to_dict(self) -> dict[str, Any]:
        """As the command line's JSON has them: expressions as text."""
        return cast("dict[str, Any]", json.loads(self._system._native.equations("json")))

    def latex(self) -> str:
        """LaTeX."""
        return self._system._native.equations("latex")

    def sympy(self) -> dict[str, Any]:
        """M, Q, A and b as SymPy matrices of the coordinates (`x`), velocities (`x_d`) and parameters, which are symbols."""
        import importlib

        try:
            sympy = importlib.import_module("sympy")
        except ImportError as e:
            raise ImportError("sympy() needs SymPy: pip install sympy") from e
        data = self.to_dict()
        names: dict[str, Any] = {}

        def expression(text: str) -> Any:
            plain = re.sub(r"([^\W\d]\w*)''", r"\1_dd", text)
            plain = re.sub(r"([^\W\d]\w*)'", r"\1_d", plain).replace("^", "**")
            for word in re.findall(r"[^\W\d]\w*", plain):
                if word not in names and not hasattr(sympy, word):
                    names[word] = sympy.Symbol(word, real=True)
            for word in (*self._system.coordinates, *self._system.parameters):
                names.setdefault(word, sympy.Symbol(word, real=True))
            return sympy.sympify(plain, locals=names)

        def matrix(rows: Any) -> Any:
            return sympy.Matrix([[expression(str(x)) for x in (row if isinstance(row, list) else [row])] for row in rows])

        return {key: matrix(_rows(data[key])) for key in ("M", "Q", "A", "b") if data.get(key)}

    def __repr__(self) -> str:
        return self._system._native.equations("text")

    def _repr_latex_(self) -> str:
        return self.latex()


def _rows(value: Any) -> Any:
    return list(value.values()) if isinstance(value, dict) else value


def _bar(begin: float, now: float, end: float) -> bool:
    share = (now - begin) / (end - begin) if end > begin else 1.0
    print(f"\r[{'#' * int(30 * share):30}] {100 * share:3.0f} % t = {now:.6g}", end="", file=sys.stderr, flush=True)
    return True


def _again(file: str, text: str | None, values: dict[str, float]) -> System:
    return System(_native.NativeModel(file, text, values))


def load(file: str | os.PathLike[str], /, **parameters: float) -> System:
    """The model of a file, with other values of parameters where they are given. Mistakes raise ModelError."""
    return System(_native.NativeModel(os.fspath(file), None, _numbers(parameters, "parameters")))


def read(text: str, /, *, name: str = "model.toml", **parameters: float) -> System:
    """The model of a text."""
    if not isinstance(text, str):
        raise TypeError("the model is a text")
    return System(_native.NativeModel(name, text, _numbers(parameters, "parameters")))
