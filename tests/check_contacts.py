#!/usr/bin/env python3
"""Compares one-sided constraints, at an instant and over time, with the reference cases.

Prints one line for each check that misses, and last `N passed, N failed`.
Exit status: 0 all passed, 1 something failed or nothing was checked, 2 the call itself is wrong.
"""

import argparse
import json
import math
import sys
import tempfile
from pathlib import Path

from check_cases import Program, difference, find_cases, inner_misses, instant_size, read_object

# What a case calls the status of a constraint, and what the program may call it.
STATUS = {'active': ('holding', 'leaving', 'sticking', 'sliding'), 'inactive_open': ('open',),
          'inactive_separating': ('separating',), 'impact': ('impact',)}
KEYS = ('acceleration', 'constraint_force', 'unconstrained_acceleration')


def instant_misses(status, got, expected, tolerance):
    misses = [f'{name} is {got["contacts"][name]["status"]}, not {said}' for name, said in expected['status'].items()
              if got['contacts'][name]['status'] not in STATUS[said]]
    if 'impact' in expected['status'].values():
        if status != 1 or got['acceleration'] is not None or not got['impact']['velocity_after']:
            misses.append(f'exit {status}: an impact has velocities after it and no acceleration')
        return misses
    misses += inner_misses(got, tolerance) + ([f'exit {status}'] if status else [])
    floor = min(1.0, instant_size(expected) / 100)
    for key in KEYS:
        misses += difference(key, got[key], expected[key], tolerance, floor)
    for key in ('multipliers', 'gaussian'):
        wanted = expected[key]
        found = {name: got[key][name] for name in wanted} if isinstance(wanted, dict) else got[key]
        misses += difference(key, found, wanted, 10 * tolerance, floor)
    if any(value < 0 for name, value in got['multipliers'].items() if name in expected['status']):
        misses.append('a negative multiplier of a one-sided constraint')
    return misses


def check_instants(program, case):
    for number, expected in enumerate(case.expected.get('one_sided_instants', [])):
        status, out, err = program.accelerate(case.model, expected)
        got, misses = read_object(status, out, err)
        yield f'instant {number}', misses or instant_misses(status, got, expected, case.tolerance)


def check_events(program, case):
    """Impacts and releases in order, and where impacts accumulate."""
    expected = case.expected.get('events')
    if not expected:
        return
    to = 1.05 * max(e['t'] for e in expected)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / 'motion.json'
        status, _, err = program.call('run', case.model, '-o', file, '--to', repr(to), '--tolerance', '1e-12')
        if status != 0:
            yield 'events', [f'exit {status}: {err.strip()[-120:]}']
            return
        result = json.loads(file.read_text())
    misses, allowed = [], 10 * case.expected['tolerance'].get('events_rel', 1e-10)
    end = [e for e in expected if 'accumulation' in e['event']]
    steps = [e for e in expected if e not in end]
    found = [e for e in result['events'] if e['kind'] in ('impact', 'release')]
    if len(found) < len(steps) or (not end and len(found) != len(steps)):
        misses.append(f'{len(found)} events, not {len(steps)}')
    for want, got in zip(steps, found):
        if got['kind'] != ('release' if 'slack' in want['event'] else 'impact'):
            misses.append(f"{got['kind']} where there is {want['event']}")
        if abs(got['time'] - want['t']) > allowed * want['t']:
            misses.append(f"{want['event']} at {got['time']}, not {want['t']}")
        for key, said in (('speed_before', 'velocity_before'), ('speed_after', 'velocity_after')):
            if key in want and abs(math.hypot(*got[said].values()) - want[key]) > 1e-8:
                misses.append(f"{key} of {want['event']}")
    for want in end:
        contacts = [e['time'] for e in result['events'] if e['kind'] == 'contact']
        if len(contacts) != 1 or abs(contacts[0] - want['t']) > allowed * want['t']:
            misses.append(f"accumulation at {contacts}, not {want['t']}")
    yield 'events', misses


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--program', required=True, type=Path, help='path of mechanician')
    parser.add_argument('folders', nargs='+', type=Path, help='where the cases are')
    options = parser.parse_args()
    if not options.program.is_file():
        parser.error(f'no program at {options.program}')
    program, passed, failed = Program(options.program.resolve()), 0, 0
    for case in find_cases(options.folders):
        for part in (check_instants, check_events):
            try:
                results = list(part(program, case))
            except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
                results = [(part.__name__, [f'output that cannot be compared, {type(error).__name__}: {error}'])]
            for label, misses in results:
                passed, failed = passed + (not misses), failed + bool(misses)
                if misses:
                    print(f'{case.name} {label}: {"; ".join(misses)}')
    print(f'{passed} passed, {failed} failed')
    return 0 if passed and not failed else 1


if __name__ == '__main__':
    sys.exit(main())
