"""`python -m mechanician`: the command line."""

from __future__ import annotations

import sys

from ._native import command_line


def main() -> int:
    """The command line; returns the exit status."""
    sys.stdout.flush()
    return command_line(["mechanician", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
