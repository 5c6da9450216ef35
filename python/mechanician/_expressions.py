"""Expressions with operators: the same language as the text of models, written in Python."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Union

Operand = Union["Expression", float, int]

# How tightly an operator binds, for brackets where they are needed.
_SUM, _PRODUCT, _SIGN, _POWER, _ATOM = range(5)


def _number_text(value: float | int) -> str:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"an expression is made of expressions and numbers, not of {value!r}")
    try:
        number = float(value)
    except OverflowError:
        raise ValueError("a number of an expression is one of double precision") from None
    if number != number or number in (float("inf"), float("-inf")):
        raise ValueError(f"{number} is no number of an expression")
    return repr(int(number)) if number == int(number) and abs(number) < 1e15 else repr(number)


class Expression:
    """An expression of a model. `+ - * / **`, comparisons inside `where`, and the functions of this module make others of it;
    `x.dot` and `x.ddot` are time derivatives; `==` and `>=`, `<=` make conditions for `Model.constrain`."""

    __slots__ = ("_binds", "_coordinates", "_text")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, text: str, binds: int = _ATOM, parts: Iterable[Expression | Condition] = ()) -> None:
        self._text, self._binds = text, binds
        # Names that are known to be coordinates, in the order in which they were met.
        self._coordinates: tuple[str, ...] = tuple(dict.fromkeys(name for part in parts for name in part._coordinates))

    @staticmethod
    def of(value: Operand) -> Expression:
        """An expression, or a number as one."""
        if isinstance(value, Expression):
            return value
        text = _number_text(value)
        return Expression(text, _SIGN if text.startswith("-") else _ATOM)

    def _within(self, binds: int) -> str:
        return self._text if self._binds >= binds else f"({self._text})"

    @property
    def dot(self) -> Expression:
        """The time derivative: of a coordinate, a velocity or a definition."""
        if self._binds != _ATOM or not self._text.replace("'", "").replace("_", "a").replace(".", "a").split("[")[0].isalnum():
            raise ValueError(f"{self} has no name: give it one with Model.define, then .dot is its derivative")
        return Expression(self._text + "'", _ATOM, (self,))

    @property
    def ddot(self) -> Expression:
        """The second time derivative."""
        return self.dot.dot

    def __add__(self, other: Operand) -> Expression:
        right = Expression.of(other)
        return Expression(f"{self._within(_SUM)} + {right._within(_PRODUCT)}", _SUM, (self, right))

    def __radd__(self, other: Operand) -> Expression:
        return Expression.of(other) + self

    def __sub__(self, other: Operand) -> Expression:
        right = Expression.of(other)
        return Expression(f"{self._within(_SUM)} - {right._within(_PRODUCT)}", _SUM, (self, right))

    def __rsub__(self, other: Operand) -> Expression:
        return Expression.of(other) - self

    def __mul__(self, other: Operand) -> Expression:
        right = Expression.of(other)
        return Expression(f"{self._within(_PRODUCT)}*{right._within(_SIGN)}", _PRODUCT, (self, right))

    def __rmul__(self, other: Operand) -> Expression:
        return Expression.of(other) * self

    def __truediv__(self, other: Operand) -> Expression:
        right = Expression.of(other)
        return Expression(f"{self._within(_PRODUCT)}/{right._within(_SIGN)}", _PRODUCT, (self, right))

    def __rtruediv__(self, other: Operand) -> Expression:
        return Expression.of(other) / self

    def __pow__(self, other: Operand) -> Expression:
        right = Expression.of(other)
        return Expression(f"{self._within(_ATOM)}^{right._within(_ATOM)}", _POWER, (self, right))

    def __rpow__(self, other: Operand) -> Expression:
        return Expression.of(other) ** self

    def __neg__(self) -> Expression:
        return Expression(f"-{self._within(_POWER)}", _SIGN, (self,))

    def __pos__(self) -> Expression:
        return self

    def __abs__(self) -> Expression:
        return _call("abs", self)

    def __eq__(self, other: object) -> Condition:  # type: ignore[override]
        return Condition(self, "=", Expression.of(other))  # type: ignore[arg-type]

    def __ge__(self, other: Operand) -> Condition:
        return Condition(self, ">=", Expression.of(other))

    def __le__(self, other: Operand) -> Condition:
        return Condition(self, "<=", Expression.of(other))

    def __gt__(self, other: Operand) -> Condition:
        return Condition(self, ">", Expression.of(other))

    def __lt__(self, other: Operand) -> Condition:
        return Condition(self, "<", Expression.of(other))

    def __bool__(self) -> bool:
        raise TypeError("an expression is neither true nor false: use `where` for a choice")

    def __repr__(self) -> str:
        return self._text

    def __str__(self) -> str:
        return self._text


class Condition:
    """Two expressions compared: a constraint, or what `where` chooses by."""

    __slots__ = ("left", "right", "sign", "_coordinates", "_text")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, left: Expression, sign: str, right: Expression) -> None:
        self.left, self.sign, self.right = left, sign, right
        self._text = f"{left} {'==' if sign == '=' else sign} {right}"
        self._coordinates: tuple[str, ...] = (*left._coordinates, *right._coordinates)

    @staticmethod
    def _joined(text: str, *parts: Condition) -> Condition:
        made = Condition(Expression("0"), "", Expression("0"))
        made._text = text
        made._coordinates = tuple(name for part in parts for name in part._coordinates)
        return made

    def __and__(self, other: Condition) -> Condition:
        if not isinstance(other, Condition):
            return NotImplemented
        return Condition._joined(f"({self._text}) and ({other._text})", self, other)

    def __or__(self, other: Condition) -> Condition:
        if not isinstance(other, Condition):
            return NotImplemented
        return Condition._joined(f"({self._text}) or ({other._text})", self, other)

    def __invert__(self) -> Condition:
        return Condition._joined(f"not ({self._text})", self)

    def __bool__(self) -> bool:
        raise TypeError("a condition is decided while the model moves: use `where`, and &, | and ~ to join conditions")

    def equation(self) -> str:
        """As the text of a constraint."""
        if self.sign not in ("=", ">=", "<="):
            raise ValueError(f"`{self._text}` is no constraint: use ==, >= or <=")
        return f"{self.left} {self.sign} {self.right}"

    def __repr__(self) -> str:
        return self._text


def _call(name: str, *args: Operand) -> Expression:
    given = [Expression.of(a) for a in args]
    return Expression(f"{name}({', '.join(map(str, given))})", _ATOM, given)


def where(condition: Condition, then: Operand, otherwise: Operand) -> Expression:
    """then where the condition holds, else otherwise."""
    if not isinstance(condition, Condition):
        raise TypeError("where chooses by a condition, such as x > 0")
    one, other = Expression.of(then), Expression.of(otherwise)
    return Expression(f"if({condition!r}, {one}, {other})", _ATOM, (condition, one, other))


def coordinates(names: str) -> list[Expression]:
    """Coordinates by their names, `x, y = coordinates("x y")`. A model takes them up as it meets them."""
    if not isinstance(names, str):
        raise TypeError(f"names are a text such as 'x y', not {names!r}")
    words = names.replace(",", " ").split()
    for word in words:
        if not word.isidentifier():
            raise ValueError(f"`{word}` cannot be the name of a coordinate")
    return [coordinate(word) for word in words]


def coordinate(name: str) -> Expression:
    """One coordinate; models that meet it in an expression know that it is one."""
    made = Expression(name)
    made._coordinates = (name,)
    return made


#: The time.
t = Expression("t")
#: π
pi = Expression("pi")


def sin(x: Operand) -> Expression:
    """Sine."""
    return _call("sin", x)


def cos(x: Operand) -> Expression:
    """Cosine."""
    return _call("cos", x)


def tan(x: Operand) -> Expression:
    """Tangent."""
    return _call("tan", x)


def asin(x: Operand) -> Expression:
    """Arc sine."""
    return _call("asin", x)


def acos(x: Operand) -> Expression:
    """Arc cosine."""
    return _call("acos", x)


def atan(x: Operand) -> Expression:
    """Arc tangent."""
    return _call("atan", x)


def atan2(y: Operand, x: Operand) -> Expression:
    """The angle of the point (x, y)."""
    return _call("atan2", y, x)


def sinh(x: Operand) -> Expression:
    """Hyperbolic sine."""
    return _call("sinh", x)


def cosh(x: Operand) -> Expression:
    """Hyperbolic cosine."""
    return _call("cosh", x)


def tanh(x: Operand) -> Expression:
    """Hyperbolic tangent."""
    return _call("tanh", x)


def exp(x: Operand) -> Expression:
    """Exponential function."""
    return _call("exp", x)


def log(x: Operand) -> Expression:
    """Natural logarithm."""
    return _call("log", x)


def sqrt(x: Operand) -> Expression:
    """Square root."""
    return _call("sqrt", x)


def sign(x: Operand) -> Expression:
    """-1, 0 or 1."""
    return _call("sign", x)


def hypot(x: Operand, y: Operand) -> Expression:
    """√(x² + y²)."""
    return _call("hypot", x, y)


def mod(a: Operand, b: Operand) -> Expression:
    """What is left of a less whole multiples of b, with the sign of b."""
    return _call("mod", a, b)


def wrap(a: Operand) -> Expression:
    """An angle between -π and π."""
    return _call("wrap", a)


def minimum(*args: Operand) -> Expression:
    """The least of some expressions."""
    return _call("min", *args)


def maximum(*args: Operand) -> Expression:
    """The largest of some expressions."""
    return _call("max", *args)
