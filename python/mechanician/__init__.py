"""Exact equations, motions and constraint forces of constrained mechanical systems.

    import mechanician as me

    m = me.load("pendulum.toml", L=2.0)
    a = m.accelerate(position={"x": 0.6, "y": -0.8})
    r = m.run(to=10, every=0.01)
    r["lambda(rod)"], r.trusted
"""

from __future__ import annotations

import os

from ._native import version as __version__
from ._results import Run
from ._system import System, load, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._builder import Model
    from ._equations import Equations
    from ._errors import MechanicsError, ModelError, Problem, UnknownName
    from ._expressions import (
        Condition,
        Expression,
        acos,
        asin,
        atan,
        atan2,
        coordinates,
        cos,
        cosh,
        exp,
        hypot,
        log,
        maximum,
        minimum,
        mod,
        pi,
        sign,
        sin,
        sinh,
        sqrt,
        t,
        tan,
        tanh,
        where,
        wrap,
    )
    from ._function import Acceleration
    from ._linear import Linear, Rest, RestPoint
    from ._results import Diagnosis, Instant, Sweep
    from ._steps import Inputs, Step, Steps

# Imported when they are first asked for; the names of _expressions are the others.
_LATER = {
    "Model": "_builder", "Equations": "_equations", "MechanicsError": "_errors", "ModelError": "_errors", "Problem": "_errors",
    "UnknownName": "_errors", "Acceleration": "_function", "Linear": "_linear", "Rest": "_linear", "RestPoint": "_linear",
    "Diagnosis": "_results", "Instant": "_results", "Sweep": "_results", "Inputs": "_steps", "Step": "_steps", "Steps": "_steps",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(f"{__name__}.{_LATER.get(name, '_expressions')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def show(what: System | Run | Model | str | os.PathLike[str], **run: Any) -> Any:
    """Shows the report of a run, or of a model (also by the name of its file) that is run for it: in a notebook as a frame, else in a
    browser. `run`: to, every, tolerance … as `System.run` has them."""
    if isinstance(what, (str, os.PathLike)):
        what = load(what)
    if not isinstance(what, (System, Run)):
        from ._builder import Model

        what = what.build() if isinstance(what, Model) else what
    if not isinstance(what, (System, Run)):
        raise TypeError(f"a model or a run is shown, not {type(what).__name__}")
    if isinstance(what, Run) and run:
        raise TypeError("a run is shown as it is: it takes nothing further")
    return what.show(**run) if isinstance(what, System) else what.show()


__all__ = [
    "Acceleration", "Condition", "Diagnosis", "Equations", "Expression", "Inputs", "Instant", "Linear", "MechanicsError", "Model",
    "ModelError", "Problem", "Rest", "RestPoint", "Run", "Step", "Steps", "Sweep", "System", "UnknownName", "__version__", "acos",
    "asin", "atan", "atan2", "coordinates", "cos", "cosh", "exp", "hypot", "load", "log", "maximum", "minimum", "mod", "pi",
    "read", "show", "sign", "sin", "sinh", "sqrt", "t", "tan", "tanh", "where", "wrap",
]
