"""The equations of motion, for reading and for other programs."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, cast

from ._lazy import optional

if TYPE_CHECKING:
    from ._system import System

_TOKEN = re.compile(
    r"(?P<number>\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)"
    r"|(?P<name>[^\W\d]\w*(?:\[[^\]]*\])?(?:\.[^\W\d]\w*(?:\[[^\]]*\])?)*'*)|(?P<sign>\S)|\s+"
)


class Equations:
    """The equations of motion, for reading and for other programs."""

    def __init__(self, system: System) -> None:
        self._system = system

    def to_dict(self) -> dict[str, Any]:
        """As the command line's JSON has them: expressions as text."""
        return cast("dict[str, Any]", json.loads(self._system._now.equations("json")))

    def latex(self) -> str:
        """LaTeX."""
        return self._system._now.equations("latex")

    def sympy(self) -> dict[str, Any]:
        """SymPy matrices `M` (n×n), `Q` (n×1), `A` (m×n), `b` (m×1) and, where there are closed forms, `acceleration` and
        `constraint_force` (n×1). Symbols are real; `x'` is `x_d`, `x[1]` is `x_1`, `hip.angle`
        is `hip_angle`, `t` the time, each with further underscores where another one is called so already; tables are functions that
        SymPy knows by their names alone. ValueError where an entry is too long to be written, as those of large mechanisms are."""
        sympy = optional("sympy", "sympy")
        data = self.to_dict()
        if "coordinates" not in data or not isinstance(data.get("M"), dict):
            raise ValueError("the model is so large that its equations are known by term: see to_dict()")
        coordinates, rows = data["coordinates"], [r for r in data["rows"] if r in data.get("A", {})]
        reader = _Reader(sympy)
        # Coordinates have the names that they ask for; what would be called as one of them makes room.
        for name in (*coordinates, *(f"{c}'" for c in coordinates)):
            reader.read(name)

        def entry(text: str | None) -> Any:
            if text is None:
                raise ValueError("an expression of the equations is too long to be written: there is nothing that SymPy could be given")
            return reader.read(text)

        def column(entries: Any, names: list[str]) -> Any:
            return sympy.Matrix(len(names), 1, [entry((entries or {}).get(n, "0")) for n in names])

        def matrix(entries: Any, names: list[str]) -> Any:
            cells = [entry((entries or {}).get(i, {}).get(j, "0")) for i in names for j in coordinates]
            return sympy.Matrix(len(names), len(coordinates), cells)

        found = {
            "M": matrix(data["M"], coordinates), "Q": column(data["Q"], coordinates), "A": matrix(data.get("A"), rows),
            "b": column(data.get("b"), rows),
        }
        closed = data.get("closed_form") or {}
        for key in ("acceleration", "constraint_force"):
            if isinstance(closed.get(key), dict):
                found[key] = column(closed[key], coordinates)
        return found

    def __repr__(self) -> str:
        return self._system._now.equations("text")

    def _repr_latex_(self) -> str:
        lines = [line for line in self.latex().splitlines() if not line.lstrip().startswith("%")]
        return "\n".join(lines).replace("\\[", "$$").replace("\\]", "$$")


class _Reader:
    """Expressions of models as SymPy has them."""

    def __init__(self, sympy: Any) -> None:
        self._sympy = sympy
        self._symbols: dict[str, Any] = {}
        self._taken: set[str] = set()
        self._functions: dict[str, Any] = {
            "abs": sympy.Abs, "min": sympy.Min, "max": sympy.Max, "hypot": lambda x, y: sympy.sqrt(x**2 + y**2),
            "mod": sympy.Mod, "wrap": lambda x: sympy.Mod(x + sympy.pi, 2 * sympy.pi) - sympy.pi,
            "if": lambda c, x, y: sympy.Piecewise((x, c), (y, True)),
        }
        for name in ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "log", "sqrt", "sign"):
            self._functions[name] = getattr(sympy, name)

    def read(self, text: str) -> Any:
        if "==" in text or "!=" in text:
            raise ValueError(f"`{text}` cannot be said in SymPy: a comparison of numbers for equality")
        tokens = list(_TOKEN.finditer(text))
        known: dict[str, Any] = {"__builtins__": {}}
        code = []
        for k, token in enumerate(tokens):
            made = token.group()
            if token["number"]:
                made = f"v{k}"
                known[made] = self._sympy.Integer(token.group()) if token.group().isdigit() else self._sympy.Float(token.group())
            elif token["name"]:
                call = next((t.group() for t in tokens[k + 1 :] if t.group().strip()), "") == "("
                if token.group() in ("and", "or", "not"):
                    raise ValueError(f"`{text}` cannot be said in SymPy: `{token.group()}`")
                made = f"v{k}"
                known[made] = self._function(token.group()) if call else self._symbol(token.group())
            code.append("**" if made == "^" else made)
        try:
            return self._sympy.sympify(eval("".join(code), known))  # noqa: S307 - names are ours, signs are those of the language
        except (SyntaxError, TypeError, NameError, AttributeError) as e:
            raise ValueError(f"`{text}` cannot be said in SymPy: {e}") from None

    def _function(self, name: str) -> Any:
        """Of the language, or a table of the model: `road(s)`, and its derivative `road'(s)`."""
        if name in self._functions:
            return self._functions[name]
        base, marks = name.rstrip("'"), len(name) - len(name.rstrip("'"))
        table = self._sympy.Function(self._plain(base), real=True)
        if not marks:
            return table
        s = self._sympy.Dummy("s", real=True)
        slope = self._sympy.Derivative(table(s), (s, marks))
        return lambda x: self._sympy.Subs(slope, s, x)

    @staticmethod
    def _plain(name: str) -> str:
        return re.sub(r"\W+", "_", name).strip("_")

    def _symbol(self, name: str) -> Any:
        if name == "pi":
            return self._sympy.pi
        if name not in self._symbols:
            base, marks = name.rstrip("'"), len(name) - len(name.rstrip("'"))
            plain = self._plain(base) + ("_" + "d" * marks if marks else "")
            while plain in self._taken:
                plain += "_"
            self._taken.add(plain)
            self._symbols[name] = self._sympy.Symbol(plain, real=True)
        return self._symbols[name]
