"""NumPy, imported when it is first used: half of the time that `import mechanician` would take."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__all__ = ["Array", "np", "optional"]

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
else:

    class _Module:
        def __getattr__(self, name: str) -> Any:
            return getattr(importlib.import_module("numpy"), name)

    np = _Module()
    Array = Any


def optional(module: str, use: str) -> Any:
    """A module that need not be installed."""
    try:
        return importlib.import_module(module)
    except ImportError as e:
        raise ImportError(f"{use} needs {module}: pip install {module.partition('.')[0]}") from e
