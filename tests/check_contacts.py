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


BALL = """
coordinates = ["x", "y"]
[parameters]
f = 1.0
e = 0.5
L = 1.0
T = 1.0
s = 1.0
[dynamics]
kinetic = "0.5*(x'^2 + y'^2)"
potential = "9.81*L/T^2*y"
[constraints.floor]
equation = "s*y >= s*f*L"
restitution = "e"
[start]
position = { x = "0.6*L", y = "(f + 1)*L" }
[run]
every = 1e9
"""


def last_impact(e):
    """Of a ball that falls by 1 with 9.81."""
    return math.sqrt(2 / 9.81) * (1 + e) / (1 - e)


def check_settling(program):
    """A ball comes to rest where the series of its impacts ends: wherever the floor is, in all units, in sweeps too."""
    with tempfile.TemporaryDirectory() as folder:
        model, file = Path(folder) / 'ball.toml', Path(folder) / 'motion.json'
        model.write_text(BALL)
        for f, e, L, T, s in ((1, 0.5, 1, 1, 1), (-3, 0.8, 1, 1, 1), (1000, 0.3, 1, 1, 1e-9), (0, 0.5, 1e-9, 1, 1),
                              (2, 0.9, 1e-6, 1e6, 1), (1, 0.5, 1e9, 1e-9, 1e9), (-7, 0.05, 1e9, 1e9, 1)):
            end = T * last_impact(e)
            status, _, err = program.call('run', model, '-o', file, '--to', repr(1.5 * end), '--set',
                                          f'f={f},e={e},L={L!r},T={T!r},s={s!r}')
            label, misses = f'settling f={f} e={e} L={L} T={T} s={s}', []
            if status != 0:
                yield label, [f'exit {status}: {err.strip()[-120:]}']
                continue
            events = json.loads(file.read_text())['events']
            # A rebound of 100 times the rounding of y is the last: what that changes of the time that is left.
            allowed = 1e-9 * T + T * math.sqrt(2.3e-16 * abs(f)) / (1 - e)
            if [e['kind'] for e in events[:-1]] != ['impact'] * (len(events) - 1) or events[-1]['kind'] != 'contact':
                misses.append(f'not impacts and then contact, {len(events)} events')
            elif abs(events[-1]['time'] - end) > allowed:
                misses.append(f"accumulation at {events[-1]['time']}, not {end}")
            if len(events) > 3 + math.log(1e-9) / math.log(e):
                misses.append(f'{len(events)} events')
            yield label, misses
        file = Path(folder) / 'sweep.csv'
        status, _, err = program.call('sweep', model, '-o', file, '--to', '12', '--vary', 'f=-3:3:7', '--vary', 'e=0.1:0.9:5')
        lines = file.read_text().split() if status == 0 else []
        names = lines[0].split(',') if lines else []
        rows = [dict(zip(names, line.split(','))) for line in lines[1:]]
        misses = [] if len(rows) == 35 else [f'exit {status}, {len(rows)} motions: {err.strip()[-120:]}']
        for r in rows:
            if r['outcome'] != 'done' or float(r['y']) != float(r['f']) or float(r["y'"]) != 0.0:
                misses.append(f"f={r['f']} e={r['e']}: {r['outcome']} at y = {r['y']}")
        yield 'settling in a sweep', misses


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--program', required=True, type=Path, help='path of mechanician')
    parser.add_argument('folders', nargs='+', type=Path, help='where the cases are')
    options = parser.parse_args()
    if not options.program.is_file():
        parser.error(f'no program at {options.program}')
    program, passed, failed = Program(options.program.resolve()), 0, 0
    parts = [(case.name, part, (program, case)) for case in find_cases(options.folders)
             for part in (check_instants, check_events)] + [('ball', check_settling, (program,))]
    for name, part, arguments in parts:
        try:
            results = list(part(*arguments))
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            results = [(part.__name__, [f'output that cannot be compared, {type(error).__name__}: {error}'])]
        for label, misses in results:
            passed, failed = passed + (not misses), failed + bool(misses)
            if misses:
                print(f'{name} {label}: {"; ".join(misses)}')
    print(f'{passed} passed, {failed} failed')
    return 0 if passed and not failed else 1


if __name__ == '__main__':
    sys.exit(main())
