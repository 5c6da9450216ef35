#!/usr/bin/env python3
"""Writes motion cases: models, and where they are at the end, computed in 20 digits and more without any code of this project.

usage: generate_motions.py [--only PATTERN] FOLDER

Needs mpmath and sympy (gmpy2 makes it ten times faster); not part of the tests, which read what it wrote into tests/motions.
PATTERN is a shell pattern for the names of the functions that make the cases, see generated_motions/."""
import argparse
import fnmatch
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / 'generated_motions'))
from case import CASES  # noqa: E402
import crossings  # noqa: E402, F401
import smooth  # noqa: E402, F401
import nonholonomic  # noqa: E402, F401
import kinks  # noqa: E402, F401
import benchmarks  # noqa: E402, F401
import harder  # noqa: E402, F401


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--only', default='*')
    parser.add_argument('folder', type=Path)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for name, build in CASES.items():
        if not fnmatch.fnmatch(name, options.only):
            continue
        begin = time.perf_counter()
        made = build()
        for case in made if isinstance(made, list) else [made]:
            case.write(options.folder)
            count += 1
        print(f'{name}: {time.perf_counter() - begin:.1f} s', flush=True)
    print(f'{count} cases')


if __name__ == '__main__':
    main()
