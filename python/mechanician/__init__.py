"""Exact equations, motions and constraint forces of constrained mechanical systems.

    import mechanician as me

    m = me.load("pendulum.toml", L=2.0)
    a = m.accelerate(position={"x": 0.6, "y": -0.8})
    r = m.run(to=10, every=0.01)
    r["lambda(rod)"], r.trusted
"""

from __future__ import annotations

from typing import Any

from ._builder import Model
from ._errors import MechanicsError, ModelError, Problem
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
from ._native import version as __version__
from ._results import Diagnosis, Instant, Run, Sweep
from ._system import Acceleration, Equations, Step, System, load, read


def show(what: System | Run, **run: Any) -> Any:
    """Shows the report of a run, or of a model that is run for it: in a notebook, or in a browser."""
    if not isinstance(what, (System, Run)):
        raise TypeError(f"a model or a run is shown, not {type(what).__name__}")
    return what.show(**run) if isinstance(what, System) else what.show()


__all__ = [
    "Acceleration", "Condition", "Diagnosis", "Equations", "Expression", "Instant", "MechanicsError", "Model", "ModelError",
    "Problem", "Run", "Step", "Sweep", "System", "__version__", "acos", "asin", "atan", "atan2", "coordinates", "cos", "cosh",
    "exp", "hypot", "load", "log", "maximum", "minimum", "mod", "pi", "read", "show", "sign", "sin", "sinh", "sqrt", "t", "tan",
    "tanh", "where", "wrap",
]
