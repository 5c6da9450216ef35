"""Models built in Python: expressions go into the text of a model, which is then read as any other."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ._expressions import Condition, Expression, Operand, coordinate
from ._system import System, read
from ._values import names, text

_NAME = re.compile(r"[^\W\d]\w*\Z")
# Coordinates that are there already have longer ones: of bodies and joints, of families.
_COORDINATE = re.compile(r"[^\W\d]\w*(\[[\d, ]+\])?(\.[^\W\d]\w*(\[[\d, ]+\])?)*\Z")


def _key(name: str, like: re.Pattern[str] = _NAME) -> str:
    text(name, "a name")
    if not like.match(name):
        raise ValueError(f"`{name}` cannot be a name")
    return name if re.fullmatch(r"[A-Za-z0-9_]+", name) else json.dumps(name, ensure_ascii=False)


def _text(value: Operand | str) -> str:
    return json.dumps(text(value, "an expression") if isinstance(value, str) else str(Expression.of(value)), ensure_ascii=False)


def _named(coordinate: Expression | str) -> str:
    if not isinstance(coordinate, (Expression, str)):
        raise TypeError(f"a coordinate is an expression or a name, not {coordinate!r}")
    return str(coordinate)


class Model:
    """A model that is put together in Python.

    >>> x, y = coordinates("x y")
    >>> b = Model("Pendulum")
    >>> m, L = b.parameter("m", 2.0), b.parameter("L", 1.0)
    >>> b.kinetic = m / 2 * (x.dot**2 + y.dot**2)
    >>> b.potential = m * 9.81 * y
    >>> b.constrain("rod", x**2 + y**2 == L**2)
    >>> b.start(position={"x": 0.6, "y": -0.8})
    >>> b.build().run(to=10)
    """

    __slots__ = (
        "title", "kinetic", "potential", "_coordinates", "_sections", "_constraints", "_controls", "_events", "_further", "_met",
    )

    def __init__(self, title: str = "") -> None:
        #: The title of the model.
        self.title = text(title, "the title")
        #: The kinetic energy, of positions and velocities.
        self.kinetic: Operand | str | None = None
        #: The potential energy.
        self.potential: Operand | str | None = None
        self._coordinates: list[str] = []
        self._sections: dict[str, dict[str, str]] = {}
        self._constraints: dict[str, dict[str, str]] = {}
        self._controls: dict[str, dict[str, str]] = {}
        self._events: dict[str, dict[str, str]] = {}
        self._further: list[str] = []
        self._met: list[str] = []  # coordinates of expressions that were given

    def _said(self, value: Operand | str) -> str:
        """An expression as text; coordinates in it are kept in mind."""
        if isinstance(value, Expression):
            self._met += value._coordinates
        return _text(value)

    def _put(self, section: str, name: str, value: str, like: re.Pattern[str] = _NAME) -> None:
        entries, key = self._sections.setdefault(section, {}), _key(name, like)
        if key in entries:
            raise ValueError(f"[{section}] has `{name}` already")
        entries[key] = value

    def coordinate(self, *names: str) -> list[Expression]:
        """Coordinates, in this order. Those that are first met in expressions are added by themselves, by name."""
        made = []
        for name in names:
            _key(name)
            if name not in self._coordinates:
                self._coordinates.append(name)
            made.append(coordinate(name))
        return made

    def parameter(self, name: str, value: Operand | str) -> Expression:
        """A parameter with its value: a number, or an expression of other parameters."""
        self._put("parameters", name, self._said(value))
        return Expression(name)

    def input(self, name: str, value: Operand | str) -> Expression:
        """A parameter that may be set from outside while a motion goes on: `System.inputs`."""
        self._put("inputs", name, self._said(value))
        return Expression(name)

    def state(self, name: str, rate: Operand | str, start: Operand | str = 0) -> Expression:
        """A quantity of first order, with its rate: a current, a filter, an integral."""
        self._put("states", name, f"{{ rate = {self._said(rate)}, start = {self._said(start)} }}")
        return Expression(name)

    def extend(self, text_: str) -> None:
        """Further sections as a file has them, word for word: bodies, joints, families, tables …"""
        self._further.append(text(text_, "what is added"))

    def define(self, name: str, value: Operand | str) -> Expression:
        """A name for an expression; `.dot` of it is its time derivative."""
        self._put("define", name, self._said(value))
        return Expression(name)

    def _along(self, coordinate: Expression | str) -> str:
        if isinstance(coordinate, Expression):
            self._met += coordinate._coordinates
        return _named(coordinate)

    def force(self, coordinate: Expression | str, value: Operand | str) -> None:
        """A further force along a coordinate."""
        self._put("dynamics.force", self._along(coordinate), self._said(value), _COORDINATE)

    def nonideal(self, coordinate: Expression | str, value: Operand | str) -> None:
        """What constraint forces do beyond d'Alembert's principle, by coordinate."""
        self._put("nonideal", self._along(coordinate), self._said(value), _COORDINATE)

    def output(self, name: str, value: Operand | str) -> None:
        """A further column of results."""
        self._put("outputs", name, self._said(value))

    def constrain(self, name: str, condition: Condition | str, **keys: Operand | str | list[Operand | str]) -> None:
        """A constraint: `x**2 + y**2 == L**2`, one-sided with `>=` and `<=`. Keys as in files: weight, restitution, friction, slip."""
        self._add_row(self._constraints, name, condition, keys)

    def control(self, name: str, condition: Condition | str, **keys: Operand | str | list[Operand | str]) -> None:
        """A requirement that a control force meets. Keys as in files: frequency, damping."""
        self._add_row(self._controls, name, condition, keys)

    def _add_row(self, rows: dict[str, dict[str, str]], name: str, condition: Condition | str, keys: Mapping[str, Any]) -> None:
        if not isinstance(condition, (Condition, str)):
            raise TypeError(f"a constraint is a condition such as x == 1, not {condition!r}")
        if _key(name) in rows:
            raise ValueError(f"there is a constraint `{name}` already")
        if isinstance(condition, Condition):
            self._met += condition._coordinates
        entries = {"equation": _text(condition if isinstance(condition, str) else condition.equation())}
        for key, value in keys.items():
            several = isinstance(value, (list, tuple))
            entries[_key(key)] = "[" + ", ".join(self._said(v) for v in value) + "]" if several else self._said(value)
        rows[_key(name)] = entries

    def mode(self, name: str, value: Operand | str) -> Expression:
        """A parameter that events may change."""
        self._put("modes", name, self._said(value))
        return Expression(name)

    def event(self, name: str, when: Operand | str, *, direction: str = "both", do: str | Sequence[str] = "record") -> None:
        """Something that happens where an expression passes zero: `record`, `stop`, `gear = 2`, `release clutch`, or a list of such."""
        actions: str | list[str] = text(do, "do") if isinstance(do, str) else names(do, "do")
        if _key(name) in self._events:
            raise ValueError(f"there is an event `{name}` already")
        words = {"direction": text(direction, "direction"), "do": actions}
        self._events[_key(name)] = {"when": self._said(when), **{k: json.dumps(v, ensure_ascii=False) for k, v in words.items()}}

    def start(
        self,
        position: Mapping[str, Operand | str] | None = None,
        velocity: Mapping[str, Operand | str] | None = None,
        time: Operand | None = None,
    ) -> None:
        """Start values by name; what is not named is zero."""
        for section, values in (("start.position", position), ("start.velocity", velocity)):
            if values is not None and not isinstance(values, Mapping):
                raise TypeError(f"{section[6:]} is a mapping from names to values, not {type(values).__name__}")
            for name, value in (values or {}).items():
                self._put(section, _named(name), self._said(value), _COORDINATE)
        if time is not None:
            self._put("start", "time", self._said(time))

    def _found_coordinates(self) -> list[str]:
        for energy in (self.kinetic, self.potential):
            if energy is not None:
                _text(energy)
        texts = [str(e) for e in (self.kinetic, self.potential) if e is not None]
        texts += [v for rows in (self._constraints, self._controls) for row in rows.values() for v in row.values()]
        texts += [v for s in self._sections.values() for v in s.values()]
        found = list(self._coordinates)
        others = [k for s in ("parameters", "inputs", "states", "modes", "define") for k in self._sections.get(s, {})]
        known = {json.loads(k) if k.startswith('"') else k for k in others}
        for said in texts:
            for name in re.findall(r"(?<![\w.\]])([^\W\d]\w*)'", said):  # what has a velocity; not hinge.angle'
                if name not in found and name not in known:
                    found.append(name)
        energies = [e for e in (self.kinetic, self.potential) if isinstance(e, Expression)]
        # What is a coordinate though nothing says its velocity.
        for name in (*(n for e in energies for n in e._coordinates), *self._met):
            if name not in found and name not in known:
                found.append(name)
        return found

    def to_toml(self) -> str:
        """The model as the text of a file."""
        lines = [f"title = {json.dumps(self.title, ensure_ascii=False)}"] if text(self.title, "the title") else []
        lines.append(f"coordinates = {json.dumps(self._found_coordinates(), ensure_ascii=False)}")
        dynamics = [f"{k} = {_text(v)}" for k, v in (("kinetic", self.kinetic), ("potential", self.potential)) if v is not None]
        if dynamics:
            lines += ["", "[dynamics]", *dynamics]
        for section, entries in self._sections.items():
            lines += ["", f"[{section}]", *(f"{name} = {value}" for name, value in entries.items())]
        for table, rows in (("constraints", self._constraints), ("control", self._controls), ("events", self._events)):
            for name, entries in rows.items():
                lines += ["", f"[{table}.{name}]", *(f"{key} = {value}" for key, value in entries.items())]
        return "\n".join([*lines, *self._further]) + "\n"

    def build(self, /, **parameters: float) -> System:
        """The model made ready for numbers. Mistakes raise ModelError."""
        return read(self.to_toml(), name=f"{self.title or 'model'}.toml", **parameters)

    def __repr__(self) -> str:
        return self.to_toml()
