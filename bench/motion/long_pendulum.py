#!/usr/bin/env python3
"""A pendulum held by its rod for 1000 s from 90 degrees, beside Simbody; and a million steps of it. Prints Markdown.

usage: bench/motion/long_pendulum.py [--program PATH] [--no-peer]

Simbody (Debian: libsimbody-dev) is built and run where it is installed, else a line says that it is not. Both run one after the other on the
same machine; drift of energy is the largest |T + V − its start| of the rows, one a second, in J/kg (a full swing is 9.81)."""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
MODEL = HERE.parent.parent / 'tests' / 'motions' / 'pendulum_90.toml'
X_1000 = -0.68323018855238492  # x at 1000 s, by Jacobi's elliptic functions
SIMBODY = Path('/usr/include/simbody/Simbody.h')


def run(program, to, every, tolerance, folder):
    """Steps, largest rod residual, largest energy drift, x at the end, wall time of the whole process."""
    file = Path(folder) / 'motion.json'
    begin = time.perf_counter()
    done = subprocess.run([program, 'run', MODEL, '-o', file, '--to', repr(to), '--every', repr(every), '--tolerance', tolerance], capture_output=True, text=True)
    wall = time.perf_counter() - begin
    if done.returncode != 0:
        raise RuntimeError(f'exit {done.returncode}: {done.stderr.strip()}')
    result = json.loads(file.read_text())
    at = {name: k for k, name in enumerate(result['columns'])}
    drift = max(abs((row[at["x'"]] ** 2 + row[at["y'"]] ** 2) / 2 + 9.81 * row[at['y']]) for row in result['rows'])
    rod = max(result['summary']['position_violation'], *(abs(row[at['x']] ** 2 + row[at['y']] ** 2 - 1) for row in result['rows']))
    return result['summary']['steps'], rod, drift, result['rows'][-1][at['x']], wall


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--program', default='build/release/mechanician')
    parser.add_argument('--no-peer', action='store_true')
    options = parser.parse_args()
    print('| | steps | rod | energy | x(1000) off by | wall |\n|:--|--:|--:|--:|--:|--:|')
    with tempfile.TemporaryDirectory() as folder:
        for tolerance in ('1e-8', '1e-10', '1e-12', '1e-13'):
            steps, rod, drift, x, wall = run(options.program, 1000.0, 1.0, tolerance, folder)
            print(f'| mechanician, tolerance {tolerance} | {steps} | {rod:.1e} | {drift:.1e} | {abs(x - X_1000):.1e} | {wall:.2f} s |', flush=True)
        note = ''
        if not options.no_peer:
            if SIMBODY.exists() and shutil.which('g++'):
                program = os.path.join(folder, 'simbody_pendulum')
                subprocess.run(['g++', '-O3', '-std=c++17', '-w', f'-I{SIMBODY.parent}', HERE / 'simbody_pendulum.cpp', '-o', program,
                                '-lSimTKsimbody', '-lSimTKmath', '-lSimTKcommon'], check=True)
                for line in subprocess.run([program, repr(X_1000)], check=True, capture_output=True, text=True).stdout.splitlines():
                    accuracy, tight, steps, rod, drift, error, wall = line.split()
                    how = 'projected every step' if tight == '1' else 'as it comes'
                    print(f'| Simbody, accuracy {accuracy}, {how} | {steps} | {float(rod):.1e} | {float(drift):.1e} | {float(error):.1e} | {float(wall):.2f} s |', flush=True)
            else:
                note = 'Simbody is not installed (libsimbody-dev): no peer in this table.\n'
        steps, rod, drift, _, wall = run(options.program, 26200.0, 1.0, '1e-12', folder)
        print(f'\n{note}A million steps: {steps} steps over 26200 s at tolerance 1e-12 in {wall:.1f} s, rod {rod:.1e}, energy {drift:.1e}.')
    return 0


if __name__ == '__main__':
    sys.exit(main())
