#!/usr/bin/env python3
"""Compares where the program's motions end, and what happens on the way, with the motion cases.

Prints one line for each case that misses, with every difference it found, and last `N passed, N failed`.
Exit status: 0 all passed, 1 something failed or nothing was checked, 2 the call itself is wrong.
"""

import argparse
import json
import re
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True  # nothing but build/ is written to

from check_cases import Program, find_cases, is_number

TOLERANCE = '1e-12'


class Run:
    """One run of a model: exit status, the result that it wrote (None if none can be read), what it said."""

    def __init__(self, program, case):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / 'motion.json'
            options = {'tolerance': TOLERANCE, **case.expected.get('run', {})}
            self.status, _, self.said = program.call('run', case.model, '-o', file,
                                                     *(word for name, value in options.items() for word in (f'--{name}', value)))
            self.wrote = any(Path(folder).iterdir())
            try:
                self.result = json.loads(file.read_text())
            except (OSError, ValueError):
                self.result = None

    def last(self):
        return dict(zip(self.result['columns'], self.result['rows'][-1]))

    def words(self):
        lines = self.said.strip().splitlines()
        return next((line for line in lines if 'error' in line), lines[-1] if lines else 'nothing')[:160]


def off(got, expected):
    """Largest difference relative to the largest entry, at least 1; the name where it is."""
    size = max([1.0, *map(abs, expected.values())])
    worst, where = 0.0, None
    for name, value in expected.items():
        error = abs(got[name] - value) / size if is_number(got.get(name)) else float('inf')
        if not error <= worst:
            worst, where = error, name
    return worst, where


def end_misses(run, case):
    end, allowed = case.expected['end'], case.expected['tolerance']['trajectory_rel']
    last, misses = run.last(), []
    early = case.expected.get('stopped_by')
    if abs(last['t'] - end['time']) > (case.expected['tolerance']['events_abs'] if early else 0):
        misses.append(f"ends at {last['t']}, not {end['time']}")
    for part, dash in (('position', ''), ('velocity', "'")):
        error, where = off({name: last.get(name + dash) for name in end[part]}, end[part])
        if error > allowed:
            misses.append(f'{where}{dash} off by {error:.1e}')
    return misses


def event_misses(run, case):
    """All events of the kinds (and names) that the case knows of, in order: none missing, none too many."""
    expected = case.expected.get('run_events')
    if expected is None:
        return []
    allowed, misses = case.expected['tolerance']['events_abs'], []
    groups = {(event['kind'], event.get('name')) for event in expected}
    for kind, name in sorted(groups, key=str):
        want = [e['time'] for e in expected if (e['kind'], e.get('name')) == (kind, name)]
        found = [e['time'] for e in run.result['events'] if e['kind'] == kind and (name is None or e.get('name') == name)]
        label = name or kind
        if len(found) != len(want):
            misses.append(f'{len(found)} events `{label}`, not {len(want)}: at {", ".join(f"{t:.6g}" for t in found)}')
        elif want:
            worst = max(abs(a - b) for a, b in zip(found, want))
            if worst > allowed:
                misses.append(f'time of `{label}` off by {worst:.1e}')
    return misses


def case_misses(program, case):
    run = Run(program, case)
    if 'refuse' in case.expected:
        misses = [] if run.status == 1 else [f'exit {run.status}, not refused']
        if run.wrote:
            misses.append('something was written')
        if not re.search(case.expected.get('says', '.'), run.said):
            misses.append(f'said: {run.words()!r}')
        return misses
    if case.expected.get('or_stops') and run.status in (1, 4, 5):
        return []
    if run.result is None:
        return [f'no motion (exit {run.status}): {run.words()}']
    misses = [] if run.status == 0 else [f'exit {run.status}: {run.words()}']
    return misses + end_misses(run, case) + event_misses(run, case)


def check(program, cases, say=print):
    passed = failed = 0
    for case in cases:
        try:
            misses = case_misses(program, case)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            misses = [f'output that cannot be compared, {type(error).__name__}: {error}']
        passed, failed = passed + (not misses), failed + bool(misses)
        if misses:
            say(f'{case.name}: {"; ".join(misses)}')
    return passed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--program', required=True, type=Path, help='path of mechanician')
    parser.add_argument('--case', help='name of the only case to check')
    parser.add_argument('--tag', help='only cases with this tag')
    parser.add_argument('--every', type=int, default=1, metavar='N', help='only every Nth case')
    parser.add_argument('folders', nargs='+', type=Path, help='where the cases are')
    options = parser.parse_args()
    if not options.program.is_file():
        parser.error(f'no program at {options.program}')
    cases = [c for c in find_cases(options.folders, options.case)
             if ('end' in c.expected or 'refuse' in c.expected) and (not options.tag or options.tag in c.expected['tags'])]
    passed, failed = check(Program(options.program.resolve()), cases[::options.every])
    print(f'{passed} passed, {failed} failed')
    return 0 if passed and not failed else 1


if __name__ == '__main__':
    sys.exit(main())
