"""What goes wrong, as exceptions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple


class Problem(NamedTuple):
    """A mistake in a model: where it is, what is wrong, and what would be right."""

    line: int
    column: int
    length: int
    text: str
    hint: str


class ModelError(ValueError):
    """A model cannot be used as it is written. Printed, it shows the lines with carets; `problems` has them one by one."""

    def __init__(self, text: str, problems: Iterable[tuple[int, int, int, str, str]] = ()) -> None:
        super().__init__(text)
        self.problems: list[Problem] = [Problem(*p) for p in problems]

    def __reduce__(self) -> tuple[Any, ...]:
        return (ModelError, (self.args[0], [tuple(p) for p in self.problems]))


class MechanicsError(ValueError):
    """There is no answer: constraints contradict each other, or leave it open. `result` holds what is known all the same."""

    def __init__(self, text: str, result: Any = None) -> None:
        super().__init__(text)
        self.result = result


class UnknownName(KeyError, ValueError):
    """There is nothing of this name: a column, an input."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""
