"""Answers: instants, checks, motions and sweeps."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from ._lazy import cast, html, json, optional
from ._values import file_name, number, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._lazy import Array
    from ._native import NativeRun
    from ._system import System


class Record:
    """An answer with named parts, `answer.acceleration["x"]`; `to_dict()` has all of them as plain Python values."""

    _title = "record"

    def __init__(self, data: dict[str, Any], notes: list[str]) -> None:
        self._data = data
        #: What is to be known beside the numbers: redundant constraints and the like.
        self.notes: list[str] = notes

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._data[name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no `{name}`; it has {', '.join(self._data)}") from None

    def __getitem__(self, name: str) -> Any:
        if name not in self._data:
            raise _unknown(f"there is no `{name}`; there are {', '.join(self._data)}")
        return self._data[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._data]

    def to_dict(self) -> dict[str, Any]:
        """All parts, by the keys of the command line's JSON."""
        return cast("dict[str, Any]", json.loads(json.dumps(self._data)))

    def __repr__(self) -> str:
        lines = [self._title]
        for key, value in self._data.items():
            text = repr(value)
            lines.append(f"  {key}: {text if len(text) <= 100 else text[:97] + '...'}")
        return "\n".join(lines + [f"  note: {n}" for n in self.notes])


class Instant(Record):
    """What happens at one instant: `acceleration`, `constraint_force`, `multipliers`, `rank`, `redundant` …"""

    _title = "instant"

    def __init__(self, data: dict[str, Any], notes: list[str], system: System, start: tuple[Any, Any, Any]) -> None:
        super().__init__(data, notes)
        self._system, self._start = system, start

    @property
    def parts(self) -> dict[str, Any]:
        """The parts of the motion that explain it: computed when they are asked for."""
        if "parts" not in self._data and self._data.get("acceleration") is not None:
            return self._system.accelerate(*self._start, parts=True).parts
        return cast("dict[str, Any]", self._data.get("parts") or {})


class Diagnosis(Record):
    """What `check` says of a model at its start: sizes, rank, redundant constraints, whether the acceleration is unique."""

    _title = "diagnosis"

    def __init__(self, data: dict[str, Any], notes: list[str], refusals: list[str]) -> None:
        super().__init__(data, notes)
        #: Why the model cannot move from this start; empty where it can.
        self.refusals: list[str] = refusals

    @property
    def ok(self) -> bool:
        """Whether a motion can begin here."""
        return not self.refusals


class Run(Mapping[str, "Array"]):
    """A motion: columns by name as NumPy arrays (no copies), events, and how far it can be trusted."""

    # Tables of numbers are not compared entry by entry: each is equal to itself.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __init__(self, native: NativeRun | _Stored, system: System, repeat: Mapping[str, Any]) -> None:
        self._made = native
        # Accelerations and forces are computed when they are first asked for, into the same memory.
        self._rows = cast("Array", native.rows_so_far)
        self._open = frozenset(native.left_open)
        self._index = {name: i for i, name in enumerate(native.columns)}
        self._system = system
        self._repeat = dict(repeat)
        data = json.loads(native.summary)
        #: The summary of the run, by the keys of the command line's JSON.
        self.summary: dict[str, Any] = data["summary"]
        #: Impacts, contacts, singular configurations and events of the model, in order.
        self.events: list[dict[str, Any]] = data["events"]

    @property
    def _native(self) -> NativeRun:
        if isinstance(self._made, _Stored):  # it was pickled: what is asked for now is in no row
            if self.status == "interrupted":
                raise ValueError("the run was interrupted and pickled: of it there are its rows")
            again = self._system._run(**self._repeat)
            self._made = again
            return again
        return self._made

    @property
    def columns(self) -> list[str]:
        """Names of all columns."""
        return list(self._index)

    @property
    def t(self) -> Array:
        """The times of the rows."""
        return self["t"]

    @property
    def status(self) -> str:
        """done, stopped, failed, suspect or interrupted."""
        return cast(str, self.summary["status"])

    @property
    def trusted(self) -> bool:
        """Whether the run passes its checks."""
        return bool(self.summary["trusted"])

    @property
    def certificate(self) -> dict[str, Any]:
        """What was checked: violations of the constraints, works, balance of energy."""
        return cast("dict[str, Any]", self.summary.get("certificate", self.summary))

    def __getitem__(self, name: str) -> Array:
        if not isinstance(name, str):
            raise TypeError(f"columns have names: {name!r} is none")
        if name not in self._index:
            raise _unknown(f"the run has no column `{name}`")
        column = self._index[name]
        return (self.array() if column in self._open else self._rows)[:, column]

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._index)

    def sample(self, t: float) -> dict[str, float]:
        """All columns at any time of the motion, between rows too."""
        try:
            row = self._native.sample(number(t, "t"))
        except IndexError as e:
            raise ValueError(str(e)) from None
        return dict(zip(self._index, row.tolist(), strict=True))

    def array(self) -> Array:
        """All rows as one array, a row for each time and a column for each name."""
        if self._open:
            self._rows, self._open = cast("Array", self._native.rows), frozenset()
        return self._rows

    def to_pandas(self) -> Any:
        """A pandas DataFrame with the time as index."""
        pandas = optional("pandas", "to_pandas")
        frame = pandas.DataFrame(self.array(), columns=self.columns)
        return frame.set_index("t")

    def to_xarray(self) -> Any:
        """An xarray Dataset over the time."""
        xarray = optional("xarray", "to_xarray")
        return xarray.Dataset({n: ("t", self[n]) for n in self.columns if n != "t"}, coords={"t": self.t})

    def save(self, file: str | os.PathLike[str]) -> None:
        """Writes the result as the command line does: .h5, .csv or .json."""
        self._native.save(file_name(file))

    def plot(self, *names: str, against: str = "t", ax: Any = None) -> Any:
        """Curves of some columns with matplotlib; returns the axes."""
        pyplot = optional("matplotlib.pyplot", "plot")
        wanted = [text(name, "a column") for name in names] or self._system.coordinates[:8]
        for name in (*wanted, against):
            self[name]
        axes = ax if ax is not None else pyplot.subplots()[1]
        for name in wanted:
            axes.plot(self[against], self[name], label=name)
        axes.set_xlabel(against)
        axes.legend()
        return axes

    def report(self) -> str:
        """The page of the report, as HTML."""
        return self._system._run(report=True, **self._repeat).report

    def show(self) -> Any:
        """The report: in a notebook as a frame, else in a browser."""
        return show_page(self.report())

    def _repr_html_(self) -> str:
        shown = [c for c in self.columns if c in set(self._system.coordinates[:6])]
        head = "".join(f"<th>{c}</th>" for c in ["t", *shown])
        body = ""
        for k in range(0, len(self.t), max(1, len(self.t) // 8)):
            body += "<tr>" + "".join(f"<td>{self[c][k]:.6g}</td>" for c in ["t", *shown]) + "</tr>"
        return f"<p>{html.escape(repr(self))}</p><table><tr>{head}</tr>{body}</table>"

    def __repr__(self) -> str:
        trust = "passes its checks" if self.trusted else "is not to be trusted"
        return f"<run: {self.status}, {len(self.t)} rows, t = {self.t[0]:g} to {self.t[-1]:g}, {trust}>"

    def __reduce__(self) -> tuple[Any, ...]:
        stored = self._made if isinstance(self._made, _Stored) else _Stored(self.array(), self.columns, self._made.summary)
        return (Run, (stored, self._system, self._repeat))


class _Stored:
    """What a pickled run is made of."""

    def __init__(self, rows: Array, columns: list[str], summary: str) -> None:
        self.rows_so_far, self.columns, self.summary = rows, columns, summary
        self.left_open: list[int] = []


class Sweep(Mapping[str, "Array"]):
    """Many motions: one row each. Columns are what was varied, the state at the end and what was kept."""

    # Tables of numbers are not compared entry by entry: each is equal to itself.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __init__(
        self, names: list[str], values: Array, outcomes: list[str], reasons: list[tuple[int, str]], computed: int
    ) -> None:
        self._index = {name: i for i, name in enumerate(names)}
        self._values = values
        #: What became of each motion: done, suspect, stopped or failed.
        self.outcomes: list[str] = outcomes
        #: Why, by number of the motion, where it is not done.
        self.reasons: dict[int, str] = dict(reasons)
        #: How many motions there are results of.
        self.computed: int = computed

    @property
    def columns(self) -> list[str]:
        """Names of all columns."""
        return list(self._index)

    def __getitem__(self, name: str) -> Array:
        if not isinstance(name, str):
            raise TypeError(f"columns have names: {name!r} is none")
        if name not in self._index:
            raise _unknown(f"the sweep has no column `{name}`; it has {', '.join(self._index)}")
        return self._values[:, self._index[name]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._index)

    def to_pandas(self) -> Any:
        """A pandas DataFrame, a row for each motion."""
        frame = optional("pandas", "to_pandas").DataFrame(self._values, columns=self.columns)
        frame["outcome"] = self.outcomes
        return frame

    def __repr__(self) -> str:
        counts = {o: self.outcomes.count(o) for o in dict.fromkeys(self.outcomes)}
        return f"<sweep: {len(self.outcomes)} motions, " + ", ".join(f"{n} {o}" for o, n in counts.items()) + ">"


def _unknown(text: str) -> Exception:
    from ._errors import UnknownName

    return UnknownName(text)


def show_page(page: str) -> Any:
    """A page in a notebook, or in a browser where there is none."""
    import sys

    if "IPython" in sys.modules:
        ipython = sys.modules["IPython"]
        shell = ipython.get_ipython()
        if shell is not None and "IPKernelApp" in shell.config:
            # IPython would warn of a frame that stands alone: it knows those of addresses only.
            frame = f'<div><iframe srcdoc="{html.escape(page)}" style="width:100%;height:640px;border:0"></iframe></div>'
            return optional("IPython.display", "show").HTML(frame)
    import pathlib
    import tempfile
    import webbrowser

    with tempfile.NamedTemporaryFile("w", suffix=".html", delete=False, encoding="utf-8") as file:
        file.write(page)
    webbrowser.open(pathlib.Path(file.name).as_uri())
    return pathlib.Path(file.name)
