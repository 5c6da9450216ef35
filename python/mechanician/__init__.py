"""Exact equations, motions and constraint forces of constrained mechanical systems.

    import mechanician as me

    m = me.load("pendulum.toml", L=2.0)
    a = m.accelerate(position={"x": 0.6, "y": -0.8})
    r = m.run(to=10, every=0.01)
    r["lambda(rod)"], r.trusted
"""

from __future__ import annotations

import os
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
from ._native import version as __version__
from ._results import Diagnosis, Instant, Run, Sweep
from ._steps import Inputs, Step, Steps
from ._system import System, load, read


def show(what: System | Run | Model | str | os.PathLike[str], **run: Any) -> Any:
    """Shows the report of a run, or of a model (also by the name of its file) that is run for it: in a notebook as a frame, else in a
    browser. `run`: to, every, tolerance … as `System.run` has them."""
    if isinstance(what, (str, os.PathLike)):
        what = load(what)
    if isinstance(what, Model):
        what = what.build()
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
