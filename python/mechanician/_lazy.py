"""Modules that are imported when they are first used, NumPy first of all: most of the time that `import mechanician` would take.
`typing` is for those who check types: what it brings along takes as long as all of this package."""

from __future__ import annotations

import importlib

__all__ = ["Array", "cast", "copy", "html", "json", "np", "optional"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    import copy
    import html
    import json
    from typing import Any, cast

    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
else:

    class _Module:
        def __init__(self, name):
            self._name = name

        def __getattr__(self, name):
            return getattr(importlib.import_module(self._name), name)

    copy, html, json, np = (_Module(name) for name in ("copy", "html", "json", "numpy"))
    Array = None

    def cast(kind, value):
        """As typing has it."""
        return value


def optional(module: str, use: str) -> Any:
    """A module that need not be installed."""
    try:
        return importlib.import_module(module)
    except ImportError as e:
        raise ImportError(f"{use} needs {module}: pip install {module.partition('.')[0]}") from e
