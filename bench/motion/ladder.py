#!/usr/bin/env python3
"""The N-four-bar ladder through its singular positions: error of the crank angle after 10 s, as Markdown.

usage: bench/motion/ladder.py [--program PATH] [--sizes 1,2,10,40] [--tolerances 1e-4,...]

The exact angles are in ladder_exact.json (tools/generated_motions/ladder.py). `branch`: every crank parallel to the first at every
row, within 1000 times the tolerance (at least 1e-6). `another course`: parallel, but more than a radian off: near the upper
equilibrium little decides which way the cranks fall."""
import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
TOLERANCES = ['1e-4', '1e-5', '1e-6', '1e-7', '1e-8', '1e-9', '1e-10', '1e-11', '1e-12']


def run(program, n, start, tolerance):
    """The JSON result of a ladder, and the wall time of the process."""
    up = 1.0 if start['angle'] == 'top' else -1.0
    tips = range(n + 1)
    position = ','.join([f'x{i}={i}.0' for i in tips] + [f'y{i}={up}' for i in tips])
    velocity = ','.join(f'x{i}={up * start["speed"]!r}' for i in tips)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / 'motion.json'
        begin = time.perf_counter()
        done = subprocess.run([program, 'run', HERE.parent.parent / 'models' / f'ladder_{n}.toml', '-o', file, '--to', '10', '--every', '0.02',
                               '--tolerance', tolerance, '--position', position, '--velocity', velocity], capture_output=True, text=True)
        wall = time.perf_counter() - begin
        return done.returncode, (json.loads(file.read_text()) if file.exists() else None), wall


def angles(result, n):
    """The angle of the first crank at the end, without jumps, and the largest angle between two cranks at any row."""
    at = {name: k for k, name in enumerate(result['columns'])}
    theta, apart = None, 0.0
    for row in result['rows']:
        now = [math.atan2(row[at[f'x{i}']] - i, row[at[f'y{i}']]) for i in range(n + 1)]
        apart = max(apart, *(abs(math.remainder(a - now[0], 2 * math.pi)) for a in now))
        # from one row to the next no crank turns by more than half a turn
        theta = now[0] % (2 * math.pi) if theta is None else theta + math.remainder(now[0] - theta, 2 * math.pi)
    return theta, apart


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--program', default='build/release/mechanician')
    parser.add_argument('--sizes', default='1,2,10,40')
    parser.add_argument('--tolerances', default=','.join(TOLERANCES))
    parser.add_argument('--details', action='store_true', help='steps, crossings and wall time of every run')
    options = parser.parse_args()
    tolerances, sizes = options.tolerances.split(','), [int(n) for n in options.sizes.split(',')]
    exact = [e for e in json.loads((HERE / 'ladder_exact.json').read_text()) if e['N'] in sizes]
    wrong, details = 0, []
    print(f'| N | start | θ(10) exact | crossings | {" | ".join(tolerances)} |')
    print('|--:|:--|--:|--:|' + '--:|' * len(tolerances))
    for e in exact:
        cells = []
        for tolerance in tolerances:
            status, result, wall = run(options.program, e['N'], e, tolerance)
            if result is None or not result['rows']:
                cells.append(f'none ({status})')
                wrong += 1
                continue
            theta, apart = angles(result, e['N'])
            error = abs(theta - float(e['theta']))
            summary = result['summary']
            found = [x for x in result['events'] if x['kind'] == 'singular']
            bad = []
            if apart > max(1e-6, 1e3 * float(tolerance)):
                bad.append('branch')
            elif error > 1:
                bad.append('another course')
            if status != 0:
                bad.append(f'exit {status}')
            if len(found) != len(e['crossings']):
                bad.append(f'{len(found)} crossings')
            wrong += bool(bad)
            cells.append(f'{error:.0e}' + (f' **{", ".join(bad)}**' if bad else ''))
            times = max((abs(x['time'] - t) for x, t in zip(found, e['crossings'])), default=0.0)
            details.append(f"| {e['N']} | {e['angle']} {e['speed']:g} m/s | {tolerance} | {summary['steps']} | {summary['rejected']} | {summary['evaluations']} | "
                           f"{len(found)} of {len(e['crossings'])} | {times:.0e} | {error:.1e} | {wall:.2f} s |")
        print(f"| {e['N']} | {e['angle']}, {e['speed']:g} m/s | {float(e['theta']):.8f} | {len(e['crossings'])} | {' | '.join(cells)} |", flush=True)
    if options.details:
        print('\n| N | start | tolerance | steps | rejected | evaluations | crossings | their times off by | θ(10) off by | wall |\n|--:|:--|--:|--:|--:|--:|--:|--:|--:|--:|')
        print('\n'.join(details))
    print(f'\n{wrong} of {len(exact) * len(tolerances)} runs leave the branch or the course, miss a crossing or end with another exit status than 0.')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
