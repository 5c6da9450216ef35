#!/usr/bin/env python3
"""Work and precision: evaluations and error of `run` beside SciPy's DOP853 on the same equations without projection.

usage: bench/motion/work_precision.py [--program PATH]

Prints Markdown. Needs NumPy, SciPy and SymPy; where they are missing it says so and ends with status 0. The equations for SciPy are derived
from the model file by SymPy (tools/generated_motions/reduction.py), accelerations come from one linear system with the constraints. Ends are
those of tests/motions. The ratio at a tolerance is the number of evaluations that `run` needs for the error that SciPy reaches there, over
SciPy's: from its curve at half decades (from 1e-2 on), log–log, where an error counts if no cheaper run is better."""
import argparse
import json
import math
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / 'tools' / 'generated_motions'))
CASES = ['pendulum_model', 'rolling_disk', 'squeezer', 'governor']
EXPONENTS = [-4 - k / 2 for k in range(17)]
COARSER = [-2.0, -2.5, -3.0, -3.5]  # where SciPy's error at 1e-4 is larger than ours there


def off(got, end):
    """The larger of the errors of positions and of velocities, relative to the largest entry (at least 1)."""
    errors = []
    for part, values in (('position', got[0]), ('velocity', got[1])):
        size = max(1.0, *map(abs, end[part].values()))
        errors.append(max(abs(v - w) for v, w in zip(values, end[part].values())) / size)
    return max(errors)


def ours(program, model, end, tolerance):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / 'motion.json'
        done = subprocess.run([program, 'run', model, '-o', file, '--to', repr(end['time']), '--every', repr(end['time']), '--tolerance', repr(tolerance)],
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f'{model.name} at {tolerance}: exit {done.returncode}, {done.stderr.strip()}')
        result = json.loads(file.read_text())
    last = dict(zip(result['columns'], result['rows'][-1]))
    return result['summary']['evaluations'], off(([last[c] for c in end['position']], [last[c + "'"] for c in end['velocity']]), end)


class Equations:
    """(q', q'') of a model, by SymPy and NumPy."""

    def __init__(self, path):
        import numpy as np
        import reduction
        import sympy as sp
        reduction.function = lambda arguments, expressions: sp.lambdify(arguments, list(expressions), modules='numpy', cse=True)
        self.np, text = np, path.read_text()
        self.system = reduction.IndexReduced(text)
        self.start = np.array([float(v) for part in ('position', 'velocity') for v in self.system.model.start(part)])

    def __call__(self, t, y):
        np, n, m = self.np, self.system.n, self.system.m
        v = np.array(self.system.calc(t, *y), dtype=float)
        K = np.zeros((n + m, n + m))
        K[:n, :n], A = v[:n * n].reshape(n, n), v[n * n + n:n * n + n + m * n].reshape(m, n)
        K[:n, n:], K[n:, :n] = -A.T, A
        return np.concatenate([y[n:], np.linalg.solve(K, np.concatenate([v[n * n:n * n + n], v[n * n + n + m * n:]]))[:n]])


def peers(equations, end, tolerance):
    from scipy.integrate import solve_ivp
    done = solve_ivp(equations, (0.0, end['time']), equations.start, method='DOP853', rtol=max(tolerance, 2.3e-14), atol=tolerance)
    n = len(equations.start) // 2
    return done.nfev, off((done.y[:n, -1], done.y[n:, -1]), end)


def needed(curve, error):
    """Evaluations for an error, on the lower envelope of (evaluations, error), log–log; nothing outside of it."""
    best, envelope = math.inf, []
    for n, e in sorted(curve):
        if e < best:
            best = e
            envelope.append((math.log(n), math.log(max(e, 1e-17))))
    x = math.log(max(error, 1e-17))
    if x >= envelope[0][1]:
        return math.exp(envelope[0][0])
    for (n0, e0), (n1, e1) in zip(envelope, envelope[1:]):
        if e1 <= x <= e0:
            return math.exp(n0 + (n1 - n0) * (e0 - x) / (e0 - e1))
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--program', default='build/release/mechanician')
    parser.add_argument('--case', action='append', help=f'of {", ".join(CASES)}')
    options = parser.parse_args()
    try:
        import numpy, scipy, sympy  # noqa: E401, F401
    except ImportError as error:
        print(f'skipped: {error}')
        return 0
    ratios = []
    for name in options.case or CASES:
        model = ROOT / 'tests' / 'motions' / f'{name}.toml'
        end = json.loads(model.with_suffix('').with_suffix('.expected.json').read_text())['end']
        equations = Equations(model)
        mine = [ours(options.program, model, end, 10.0 ** x) for x in EXPONENTS]
        curve = mine + [ours(options.program, model, end, 10.0 ** x) for x in COARSER]
        theirs = [peers(equations, end, 10.0 ** x) for x in EXPONENTS]
        print(f"\n**{tomllib.loads(model.read_text())['title']}**, {end['time']:g} s\n")
        print('| tolerance | evaluations | error | SciPy: evaluations | error | ratio at its error |\n|--:|--:|--:|--:|--:|--:|')
        for x, (n, e), (m, f) in zip(EXPONENTS, mine, theirs):
            count = needed(curve, f)
            if count:
                ratios.append((count / m, name, x))
            if x == int(x):
                print(f'| 1e{int(x)} | {n} | {e:.1e} | {m} | {f:.1e} | {f"{count / m:.2f}" if count else "not reached"} |')
    worst = max(ratios)
    middle = sorted(r[0] for r in ratios)[len(ratios) // 2]
    print(f'\nRatio over all half decades: median {middle:.2f}, largest {worst[0]:.2f} ({worst[1]} at 1e{worst[2]:g}).')
    return 0


if __name__ == '__main__':
    sys.exit(main())
