"""What users give, checked: numbers, names, starts."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping

from . import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Values = Mapping[str, float]


class Fixed(dict[str, float]):
    """Numbers by name, to be read. A copy that could be changed would look as if it did something."""

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise TypeError("parameters are given where a model is made, me.load(file, L=2.0); dict(m.parameters) is a copy")

    __setitem__ = __delitem__ = clear = pop = popitem = setdefault = update = __ior__ = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return (Fixed, (dict(self),))


def number(value: Any, what: str) -> float:
    """A finite number."""
    if isinstance(value, (str, bytes, bytearray, bool)) or value is None or isinstance(value, complex):
        raise TypeError(f"{what} is a number, not {value!r}")
    try:
        result = float(value)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{what} is a number, not {value!r}") from None
    if not math.isfinite(result):
        raise ValueError(f"{what} is {result}: it must be finite")
    return result


def maybe(value: Any, what: str) -> float | None:
    """A finite number or nothing."""
    return None if value is None else number(value, what)


def whole(value: Any, what: str, least: int, most: int = 2**31 - 1) -> int:
    """A whole number."""
    result = number(value, what)
    if result != int(result) or not least <= result <= most:
        raise ValueError(f"{what} is {value!r}: it is a whole number from {least} to {most}")
    return int(result)


def flag(value: Any, what: str) -> bool:
    """True or False."""
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return bool(value)
    raise TypeError(f"{what} is True or False, not {value!r}")


def text(value: Any, what: str) -> str:
    """A text that can be written as UTF-8."""
    if not isinstance(value, str):
        raise TypeError(f"{what} is a text, not {value!r}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{what} is no text that can be written: {value!r}") from None
    if "\0" in value:
        raise ValueError(f"{what} has a zero in it: {value!r}")
    return value


def names(values: Any, what: str) -> list[str]:
    """Some names; one alone will do."""
    if isinstance(values, str):
        return [text(values, what)]
    if isinstance(values, (bytes, Mapping)) or not isinstance(values, Iterable):
        raise TypeError(f"{what} are names, not {values!r}")
    return [text(name, what) for name in values]


def numbers(values: Values | None, what: str) -> dict[str, float]:
    """Numbers by name."""
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        raise TypeError(f"{what} is a mapping from names to numbers, not {type(values).__name__}")
    return {text(name, f"{what}: a name"): number(value, f"{what} of `{name}`") for name, value in values.items()}


def start(position: Values | None, velocity: Values | None, time: float | None) -> _native.Start:
    """A start by name."""
    return _native.Start(numbers(position, "position"), numbers(velocity, "velocity"), maybe(time, "time"))


def file_name(file: Any) -> str:
    """The name of a file."""
    if isinstance(file, os.PathLike):
        file = os.fspath(file)
    if isinstance(file, bytes):
        file = os.fsdecode(file)
    return text(file, "the file")
