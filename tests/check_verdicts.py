#!/usr/bin/env python3
"""Holds the verdict of `run` to motions that are known exactly (verdict_problems.py), at four tolerances and in random units.

usage: check_verdicts.py --program PATH [--every N] [--seed S] [--only TEXT] [--table]

The error of a run is the largest of its rows, of positions and velocities, each over the largest of its kind in the exact motion. A run is *right*
where that is at most the square root of the tolerance. Some motions magnify small changes by themselves (`growth`, measured: what becomes of a
change of all velocities at the start, or of all positions where nothing moves, by one part in ten million, moved onto the constraints). Where that is more than GROWTH, what
counts is the verdict with --verify.

Laws: no run that is wrong has a good verdict; of those that are right at most one in fifty is called suspect. --table prints
docs/verdicts.md's table. Otherwise a line for each miss, and last `N passed, N failed`."""
import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True

import limits
from verdict_problems import all_problems

TOLERANCES = (1e-3, 1e-6, 1e-9, 1e-12)
GROWTH = 30.0
SUSPECT = 0.02          # of those that are right


class Run:
    """What the program makes of a problem: the verdict (good, suspect, failed), the error, why."""

    def __init__(self, program, problem, tolerance, units, *options):
        self.problem, self.tolerance, self.units = problem, tolerance, units
        with tempfile.TemporaryDirectory() as folder:
            model, result = Path(folder) / 'model.toml', Path(folder) / 'result.json'
            model.write_text(problem.text(units))
            p = subprocess.run([program, 'run', model, '-o', result, '--tolerance', repr(tolerance), '--quiet', *options],
                               capture_output=True, text=True, timeout=limits.CLOCK)
            try:
                data = json.loads(result.read_text())
            except (OSError, ValueError):
                data = None
        self.verdict, self.error, self.why, self.rows = 'failed', math.inf, p.stderr.strip()[:200], None
        if data and data['summary']['status'] in ('done', 'suspect'):
            s = data['summary']
            self.verdict = 'good' if s['trusted'] and p.returncode == 0 else 'suspect'
            self.why = '; '.join(s['reasons'])
            self.error = max(problem.error(data['columns'], row, units)[0] for row in data['rows'])
            self.rows = (data['columns'], data['rows'])
        self.right = self.error <= math.sqrt(tolerance)

    def is_wrong_with_a_good_verdict(self):
        return self.verdict == 'good' and not self.right

    def words(self):
        return (f'{self.problem.group}, {self.problem.name}, tolerance {self.tolerance:g}, units {self.units}: {self.verdict}, error {self.error:.1e}'
                + (f', {self.why}' if self.why else ''))


def growth(program, problem):
    """By how much a small change at the start has grown at a row, over the sizes of the motion; 1 where there is no such start."""
    small, one = 1e-7, (1.0, 1.0, 1.0)
    if problem.family:
        return 1.0
    moves = any(v for _, v in problem.start.values())
    near = problem.started_at({name: (q * (1.0 if moves else 1 + small), v * (1 + small)) for name, (q, v) in problem.start.items()})
    runs = [Run(program, p, 1e-13, one, '--project-start').rows for p in (problem, near)]
    if not all(runs):
        return 1.0
    sizes, most = problem.sizes(), 0.0
    for a, b in zip(runs[0][1], runs[1][1]):
        a, b = (dict(zip(runs[0][0], row)) for row in (a, b))
        for name, dimension in problem.coordinates.items():
            for at, prime in enumerate(('', "'")):
                if sizes.get((dimension, at)):
                    most = max(most, abs(a[name + prime] - b[name + prime]) / sizes[dimension, at] / small)
    return max(1.0, most)


def judge(program, problem, random_units):
    """Runs of a problem: at each tolerance in units of one and in others; with --verify too where the motion magnifies. And the growth."""
    magnifies = growth(program, problem)
    plain, verified = [], []
    for tolerance, other in zip(TOLERANCES, random_units):
        for units in ((1.0, 1.0, 1.0), other):
            plain.append(Run(program, problem, tolerance, units))
            if magnifies > GROWTH:
                verified.append(Run(program, problem, tolerance, units, '--verify'))
    return plain, verified, magnifies


def inconsistencies(problem):
    """Of the problem itself: velocities are the rates of positions, and the motion begins at the start."""
    out, sizes = [], problem.sizes()
    span = problem.to - problem.begin
    for part in (0.37, 0.8123):
        t, h = problem.begin + part * span, 1e-5 * min(1.0, span)
        before, now, after = problem.exact(t - h), problem.exact(t), problem.exact(t + h)
        for name, (_, v) in now.items():
            rate = (after[name][0] - before[name][0]) / (2 * h)
            if abs(rate - v) > 1e-4 * sizes[problem.coordinates[name], 1]:
                out.append(f"{problem.group}, {problem.name}: {name}' is {v} at {t}, and {rate} by differences")
    for name, pair in problem.exact(problem.begin).items() if problem.start else ():
        if any(abs(x - y) > 1e-12 * max(1.0, abs(x)) for x, y in zip(pair, problem.start[name])):
            out.append(f'{problem.group}, {problem.name}: {name} begins at {pair}, not {problem.start[name]}')
    return out


def errors(runs, tolerance):
    """The larger error of a tolerance, marked where a verdict is not good or not as it should be."""
    here = [r for r in runs if r.tolerance == tolerance]
    worst = max(here, key=lambda r: r.error)
    text = f'{worst.error:.0e}' if worst.error >= 5e-16 else '0'
    if any(r.is_wrong_with_a_good_verdict() for r in here):
        return f'**{text} wrong**'
    if all(r.verdict == 'good' for r in here):
        return text
    return f'{text} suspect' if not worst.right else f'{text} *suspect*'


def table(judged):
    lines = ['| problem | growth | ' + ' | '.join(f'{t:g}'.replace('0.001', '1e-3').replace('1e-0', '1e-') for t in TOLERANCES) + ' |',
             '|:--|--:|' + '--:|' * len(TOLERANCES)]
    for problem, (plain, verified, magnifies) in judged:
        name = f'{problem.group}: {problem.name}'.replace('|', '\\|')
        for what, runs in ((name, plain), (f'{name}, `--verify`', verified)):
            if runs:
                lines.append(f'| {what} | {magnifies:.0f} | ' + ' | '.join(errors(runs, t) for t in TOLERANCES) + ' |')
    return '\n'.join(lines)


def counts(judged):
    """Of the verdicts that count, by tolerance: right and good, right and suspect, wrong and good, wrong and suspect or failed."""
    counted = [run for _, (plain, verified, _) in judged for run in (verified or plain)]
    lines = ['| tolerance | right means | runs | right, good | right, suspect | wrong, good | wrong, suspect |', '|:--|--:|--:|--:|--:|--:|--:|']
    for tolerance in (*TOLERANCES, None):
        here = [r for r in counted if tolerance in (None, r.tolerance)]
        n = [sum(r.right == right and (r.verdict == 'good') == good for r in here) for right in (True, False) for good in (True, False)]
        lines.append(f"| {tolerance or 'all'} | {'' if tolerance is None else f'{math.sqrt(tolerance):.0e}'} | {len(here)} | " + ' | '.join(map(str, n)) + ' |')
    return '\n'.join(lines), counted


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--program', required=True, type=Path)
    parser.add_argument('--every', type=int, default=1, metavar='N', help='only every Nth problem')
    parser.add_argument('--seed', type=int, default=19, help='of the units')
    parser.add_argument('--only', default='', help='only problems with this in their names')
    parser.add_argument('--table', action='store_true')
    options = parser.parse_args()
    program = str(options.program.resolve())
    problems = [p for p in all_problems() if options.only in f'{p.group}: {p.name}'][::options.every]
    r = random.Random(options.seed)
    units = [[tuple(10.0 ** r.randint(-9, 9) for _ in range(3)) for _ in TOLERANCES] for _ in problems]
    misses = [text for p in problems for text in inconsistencies(p)]
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        judged = list(zip(problems, threads.map(lambda job: judge(program, *job), zip(problems, units))))
    summary, counted = counts(judged)
    wrong = [run for run in counted if run.is_wrong_with_a_good_verdict() or run.verdict == 'failed']
    right = [run for run in counted if run.right]
    suspect = [run for run in right if run.verdict != 'good']
    if options.table:
        share = f'{len(suspect)} of {len(right)} runs that are right are called suspect, {100 * len(suspect) / max(1, len(right)):.1f} %; '
        print(f'{summary}\n\n{share}{len(wrong)} of {len(counted) - len(right)} that are wrong have a good verdict.\n\n{table(judged)}')
        return 0
    misses += [run.words() for run in wrong]
    # Of a few problems one may be among the one in fifty by chance, with both of its units: two standard deviations of such pairs.
    pairs = SUSPECT * len(right) / 2
    if len(suspect) > (SUSPECT * len(right) if len(right) >= 200 else 2 * (pairs + 2 * math.sqrt(pairs))):
        misses += [f'right, but {run.words()}' for run in suspect]
    print('\n'.join([*misses, f'seed {options.seed}: {len(counted)} runs, {len(suspect)} of {len(right)} right ones suspect']))
    print(f'{len(counted) - min(len(misses), len(counted))} passed, {len(misses)} failed')
    return 1 if misses or not counted else 0


if __name__ == '__main__':
    sys.exit(main())
