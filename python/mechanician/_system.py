"""A model that can be asked: checked, accelerated, run, swept."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence

from . import _native
from ._lazy import cast, copy, html, json, np
from ._results import Diagnosis, Instant, Run, Sweep
from ._steps import Inputs, Steps
from ._values import Fixed, Values, file_name, flag, maybe, names, number, numbers, start, text, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt

    from ._equations import Equations
    from ._function import Acceleration
    from ._lazy import Array
    from ._linear import Linear, Rest


class System:
    """A model made ready for numbers. Made by `load`, `read` or `Model.build`."""

    __slots__ = ("_base", "_constraints", "_coordinates", "_current", "_file", "_inputs", "_outputs", "__weakref__")

    def __init__(self, native: _native.NativeModel) -> None:
        self._current: _native.NativeModel | None = native
        self._base = native
        self._file = os.path.abspath(native.file)  # where its tables and parts are, also from another folder
        self._inputs = Inputs(self, native.inputs)
        self._coordinates, self._constraints, self._outputs = native.coordinates, native.constraints, native.outputs

    @property
    def inputs(self) -> Inputs:
        """Inputs of the model by name, which may be set: `m.inputs["U"] = 3.0`."""
        return self._inputs

    @property
    def coordinates(self) -> list[str]:
        """Names of the coordinates."""
        return list(self._coordinates)

    @property
    def constraints(self) -> list[str]:
        """Names of the constraints, control requirements behind them."""
        return list(self._constraints)

    @property
    def outputs(self) -> list[str]:
        """Names of the [outputs]."""
        return list(self._outputs)

    @property
    def _now(self) -> _native.NativeModel:
        """With the inputs that are set."""
        if self._current is None:
            self._current = self._with(self.inputs._given())
        return self._current

    def _with(self, values: dict[str, float]) -> _native.NativeModel:
        base = self._base
        return _native.NativeModel(self._file, base.source, {**base.given_set, **values})

    def _then(self) -> System:
        """The model with the inputs of now, whatever is set later: for what is computed when it is asked for."""
        then = object.__new__(type(self))
        then._current, then._base, then._file = self._now, self._base, self._file
        then._coordinates, then._constraints, then._outputs = self._coordinates, self._constraints, self._outputs
        then._inputs = self._inputs._of(then)
        return then

    def _changed(self) -> None:
        self._current = None

    def _inputs_with(self, name: str, value: float) -> dict[str, float]:
        return self._with({**self.inputs._given(), name: value}).inputs

    @property
    def title(self) -> str:
        """As the model says."""
        return self._now.title

    @property
    def source(self) -> str:
        """The text of the model."""
        return self._now.source

    @property
    def parameters(self) -> dict[str, float]:
        """Values of the parameters, to be read: others are given where a model is made, `me.load(file, L=2.0)`."""
        return Fixed(self._now.parameters)

    def _by_name(self, t: float, q: Array, qd: Array) -> dict[str, Any]:
        position, velocity = (dict(zip(self._coordinates, x.tolist(), strict=True)) for x in (q, qd))
        return {"time": t, "position": position, "velocity": velocity}

    def start(self, position: Values | None = None, velocity: Values | None = None, time: float | None = None) -> dict[str, Any]:
        """The start of the model, with other values where they are given: time, position and velocity by name."""
        t, q, qd = self._now.state(start(position, velocity, time))
        return self._by_name(t, q, qd)

    def project(self, position: Values | None = None, velocity: Values | None = None, time: float | None = None) -> dict[str, Any]:
        """The nearest state on the constraints."""
        t, q, qd = self._now.project(start(position, velocity, time))
        return self._by_name(t, q, qd)

    def check(self, position: Values | None = None, velocity: Values | None = None, time: float | None = None) -> Diagnosis:
        """What there is to say of the model at its start: rank, redundant and conflicting constraints, uniqueness."""
        answer, refusals, notes = self._now.check(start(position, velocity, time))
        return Diagnosis(json.loads(answer), notes, refusals)

    def accelerate(
        self, position: Values | None = None, velocity: Values | None = None, time: float | None = None, *, parts: bool = False
    ) -> Instant:
        """Accelerations, constraint forces and multipliers at one instant. Raises MechanicsError where there are none."""
        answer, refusals, notes = self._now.accelerate(start(position, velocity, time), flag(parts, "parts"))
        instant = Instant(json.loads(answer), notes, self._then(), copy.deepcopy((position, velocity, time)))
        if refusals:
            from ._errors import MechanicsError

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
        wishes.verify, wishes.project, wishes.report = flag(verify, "verify"), flag(project, "project"), report
        call = _bar if progress is True else None if progress is False or progress is None else progress
        if call is not None and not callable(call):
            raise TypeError("progress is True, False or a function of (begin, now, end)")
        try:
            return _native.run(self._now, start(position, velocity, time), wishes, call)
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
        wishes.to, wishes.every, wishes.tolerance = maybe(to, "to"), maybe(every, "every"), maybe(tolerance, "tolerance")
        wishes.method = None if method is None else text(method, "method")
        wishes.columns = ",".join(names(columns, "columns"))
        wishes.scale = numbers(scale, "scale")
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
        return Run(self._run(progress=progress, **cast("Any", repeat)), self._then(), copy.deepcopy(repeat))

    def steps(
        self,
        to: float | None = None,
        every: float | None = None,
        tolerance: float | None = None,
        method: str | None = None,
        position: Values | None = None,
        velocity: Values | None = None,
        time: float | None = None,
    ) -> Steps:
        """The motion, row by row, as it is computed: `for step in m.steps(to=10): step.t, step["x"]`. Between rows inputs may be set:
        `m.inputs["U"] = 3.0` holds from the time of the row before on. Ends with MechanicsError where the motion cannot go on."""
        return Steps(self, start(position, velocity, time), self._wishes(to, every, tolerance, method))

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
        wishes = _native.SweepRequest()
        wishes.vary = [(text(name, "vary: a name"), _row(values, name)) for name, values in vary.items()]
        wishes.pairs, wishes.keep = flag(pairs, "pairs"), names(keep, "keep")
        wishes.to, wishes.tolerance, wishes.step = maybe(to, "to"), maybe(tolerance, "tolerance"), maybe(step, "step")
        wishes.method, wishes.device = None if method is None else text(method, "method"), text(device, "device")
        wishes.threads, wishes.as_given = whole(threads, "threads", 0, 1024), flag(as_given, "as_given")
        if progress is not None and not callable(progress):
            raise TypeError("progress is a function of (done, of)")
        return Sweep(*_native.sweep(self._with_open(wishes.vary), start(position, velocity, time), wishes, progress))

    def _with_open(self, vary: list[tuple[str, list[float]]]) -> _native.NativeModel:
        """The model of now, with inputs that are expressions as numbers where they vary."""
        known = {*self.parameters, *self._coordinates, *(f"{x}'" for x in self._coordinates)}
        numbers = {name: values[0] for name, values in vary if name not in known and values}
        if not numbers or "inputs" not in self.source:
            return self._now
        try:
            opened = self._with({**self._inputs._given(), **numbers})
        except ValueError:  # a name that is none, of which a sweep says more
            return self._now
        return opened if all(name in opened.inputs for name in numbers) else self._now

    def linearise(
        self,
        inputs: Sequence[str] | str = (),
        outputs: Sequence[str] | str = (),
        states: Sequence[str] | str = (),
        position: Values | None = None,
        velocity: Values | None = None,
        time: float | None = None,
        project: bool = False,
    ) -> Linear:
        """The motion near a state, linear and exact: A, B, C, D by inputs (parameters) and outputs (of the model, coordinates, velocities
        `x'`, accelerations `x''`). `states` are coordinates and velocities that are to be independent; the rest is chosen."""
        from ._linear import Linear

        given = names(inputs, "inputs"), names(outputs, "outputs"), names(states, "states")
        answer = self._now.linearise(start(position, velocity, time), *given, flag(project, "project"))
        return Linear(answer, given[0], given[1])

    def rest(
        self,
        vary: str | None = None,
        between: tuple[float, float] = (0.0, 1.0),
        starts: int = 50,
        seed: int = 0,
        position: Values | None = None,
        time: float | None = None,
    ) -> Rest:
        """States of rest and whether they are stable, looked for from several starts; with `vary`, a parameter, how they change while it
        lies `between` two values (`to_dict()["branches"]`)."""
        from ._linear import Rest

        if not isinstance(between, (tuple, list)) or len(between) != 2:
            raise TypeError(f"between is a pair of numbers, not {between!r}")
        low, high = sorted(number(x, "between") for x in between)
        parameter = "" if vary is None else text(vary, "vary")
        if vary is not None and parameter not in self.parameters:
            raise ValueError(f"the model has no parameter `{vary}`")
        looked = whole(starts, "starts", 1, 1_000_000), whole(seed, "seed", 0, 2**53)
        return Rest(self._now.rest(start(position, None, time), *looked, parameter, low, high))

    def equations(self) -> Equations:
        """The equations of motion: M, Q, A, b, and closed forms where there are any."""
        from ._equations import Equations

        return Equations(self)

    def compiled(self, position: Values | None = None, velocity: Values | None = None, time: float | None = None) -> Acceleration:
        """q̈ as a compiled function of (t, q, q̇), for other integrators. The state is where constraints are looked at for
        those that depend on others."""
        from ._function import Acceleration

        return Acceleration(self, start(position, velocity, time))

    def picture(self, position: Values | None = None, velocity: Values | None = None, time: float | None = None) -> str:
        """A picture of a state, SVG; empty where there is nothing to draw. `show` has one that moves."""
        return self._now.picture(start(position, velocity, time))

    def export_c(
        self,
        path: str | os.PathLike[str],
        *,
        name: str = "",
        position: Values | None = None,
        velocity: Values | None = None,
        time: float | None = None,
    ) -> str:
        """The model as C99 that needs libm and nothing else: NAME.c and NAME.h in the folder `path`. The file that was written. What C
        cannot do is a ValueError that names it."""
        return self._now.export_c(start(position, velocity, time), file_name(path), text(name, "name"))

    def export_fmu(
        self,
        path: str | os.PathLike[str],
        *,
        fmi: str = "2.0",
        name: str = "",
        position: Values | None = None,
        velocity: Values | None = None,
        time: float | None = None,
    ) -> str:
        """The model as a Functional Mock-up Unit, a file that ends with .fmu; `fmi` is "2.0" or "3.0". Without a C compiler it has sources
        only, which is a warning."""
        if text(fmi, "fmi") not in ("2.0", "3.0"):
            raise ValueError(f"fmi is '2.0' or '3.0', not {fmi!r}")
        begin = start(position, velocity, time)
        file, note = self._now.export_fmu(begin, file_name(path), fmi == "3.0", text(name, "name"))
        if note:
            import warnings

            warnings.warn(note, stacklevel=2)
        return file

    def show(self, **run: Any) -> Any:
        """Runs the model and shows the report."""
        return self.run(**run).show()

    def __repr__(self) -> str:
        return f"<{self.title or 'model'}: {len(self.coordinates)} coordinates, {len(self.constraints)} constraints>"

    def _repr_html_(self) -> str:
        shown = ", ".join(self.coordinates[:12]) + (" …" if len(self.coordinates) > 12 else "")
        typeset = self.equations()._repr_latex_() if len(self.coordinates) <= 12 else ""
        picture = self.picture() if len(self.coordinates) <= 200 else ""
        return f"<h4>{html.escape(self.title)}</h4><p>coordinates {html.escape(shown)}</p>{picture}{html.escape(typeset, quote=False)}"

    def __reduce__(self) -> tuple[Any, ...]:
        base = self._base
        return (_again, (self._file, base.source, base.given_set, self.inputs._given()))


def _bar(begin: float, now: float, end: float) -> bool:
    share = (now - begin) / (end - begin) if end > begin else 1.0
    print(f"\r[{'#' * int(30 * share):30}] {100 * share:3.0f} % t = {now:.6g}", end="", file=sys.stderr, flush=True)
    return True


def _row(values: Any, name: str) -> list[float]:
    if isinstance(values, (str, bytes, Mapping)) or values is None:
        raise TypeError(f"vary: `{name}` has values that are numbers, not {values!r}")
    try:
        array = np.atleast_1d(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"vary: the values of `{name}` are numbers, not {values!r}") from None
    if array.ndim != 1 or array.size == 0 or not np.all(np.isfinite(array)):
        raise ValueError(f"vary: the values of `{name}` are one row of finite numbers")
    return cast("list[float]", array.tolist())


def _again(file: str, source: str, values: dict[str, float], inputs: dict[str, float]) -> System:
    system = System(_native.NativeModel(file, source, values))
    system.inputs.update(inputs)
    return system


def load(file: str | os.PathLike[str], /, **parameters: float) -> System:
    """The model of a file, with other values of parameters where they are given. Mistakes raise ModelError."""
    return System(_native.NativeModel(file_name(file), None, numbers(parameters, "parameters")))


def read(text_: str, /, *, name: str = "model.toml", **parameters: float) -> System:
    """The model of a text."""
    return System(_native.NativeModel(text(name, "name"), text(text_, "the model"), numbers(parameters, "parameters")))
