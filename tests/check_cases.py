#!/usr/bin/env python3
"""Compares what the program says on its command line with the reference cases.

Prints one line for each check that misses, with every difference it found, and last `N passed, N failed`.
Exit status: 0 all passed, 1 something failed or nothing was checked, 2 the call itself is wrong.
"""

import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import limits


# What `accelerate --json` prints, apart from the state it was asked for.
VECTORS = ('acceleration', 'unconstrained_acceleration', 'constraint_force', 'ideal_force', 'nonideal_force',
           'control_force')
SAME = ('rank', 'unique', 'consistent', 'solvable', 'multipliers_unique')
SETS = ('redundant', 'multipliers_undetermined', 'undetermined')
ALWAYS_PRINTED = ('time', 'position', 'velocity', *VECTORS, 'multipliers', 'multipliers_unique',
                  'multipliers_undetermined', 'gaussian', 'rank', 'rows', 'redundant', 'depends', 'unique', 'solvable',
                  'consistent', 'conflicts', 'constraint_residual')
# Keys of an expected instant that say something about it and are not printed by the program.
REMARKS = ('note', 'residual_norm')
# Printed where something is controlled.
OF_CONTROL = ('actuators', 'cost', 'requirements')


class Program:
    """The program under test, through its command line only."""

    def __init__(self, path):
        self.path = str(path)

    def call(self, *arguments):
        """Exit status (None if there was no answer in time), standard output, standard error."""
        try:
            done = subprocess.run([self.path, *map(str, arguments)], capture_output=True, text=True,
                                  timeout=limits.CLOCK)
        except subprocess.TimeoutExpired:
            return None, '', f'no answer in {limits.CLOCK} s'
        return done.returncode, done.stdout, done.stderr

    def accelerate(self, model, state):
        return self.call('accelerate', model, '--json', '--time', repr(state['time']),
                         '--position', assignments(state['position']), '--velocity', assignments(state['velocity']))


class Case:
    """A model, what is true of it, and how exactly that must be met."""

    def __init__(self, expected_path):
        self.name = expected_path.name.removesuffix('.expected.json')
        self.model = expected_path.with_name(self.name + '.toml')
        self.expected = json.loads(expected_path.read_text())
        self.tolerance = self.expected.get('tolerance', {}).get('accelerations_rel', 1e-11)


def assignments(values):
    return ','.join(f'{name}={value!r}' for name, value in values.items())


# --- comparing ---------------------------------------------------------------------------------------------------------


def is_number(x):
    return isinstance(x, (int, float)) and not isinstance(x, bool) and math.isfinite(x)


def instant_size(expected):
    """The largest force or acceleration of an instant: what counts as small is small against it."""
    entries = [abs(x) for key in VECTORS for x in (expected.get(key) or {}).values()]
    return max(entries, default=0.0) or 1.0


def difference(key, got, expected, tolerance, floor):
    """The differences, as texts, between a number or an object of numbers and what is expected of it."""
    if expected is None or got is None:
        return [] if got is expected else [f'{key} is {got}, not {expected}']
    if isinstance(expected, dict):
        if not isinstance(got, dict) or got.keys() != expected.keys():
            return [f'{key} has not the entries {sorted(expected)}: {got}']
        if not all(map(is_number, got.values())):
            return [f'{key} holds something that is no number: {got}']
        errors = {name: abs(got[name] - expected[name]) for name in expected}
        size = max([floor, *map(abs, expected.values())])
    else:
        if not is_number(got):
            return [f'{key} is no number: {got!r}']
        errors, size = {key: abs(got - expected)}, max(floor, abs(expected))
    worst = max(errors, key=errors.get, default=None)
    if worst is None or errors[worst] <= tolerance * size:
        return []
    where = f' at {worst}' if worst != key else ''
    return [f'{key} off by {errors[worst] / size:.1e}{where}']


def read_object(status, out, err):
    """The printed object, and the misses if there is none."""
    def refuse_constant(text):
        raise ValueError(f'{text} is no JSON number')
    try:
        printed = json.loads(out, parse_constant=refuse_constant)
    except ValueError as error:
        said = err.strip().splitlines()
        return None, [f'no JSON ({error}), exit {status}, said: {said[-1] if said else "nothing"}']
    return (printed, []) if isinstance(printed, dict) else (None, [f'no JSON object: {out[:80]}'])


def inner_misses(got, tolerance):
    """What the printed object must satisfy by itself, whatever the model."""
    misses = [f'{key} is not printed' for key in ALWAYS_PRINTED if key not in got]
    if misses:
        return misses
    if got['rows'] - got['rank'] != len(got['redundant']):
        misses.append(f"{got['rows']} rows, rank {got['rank']}, but {len(got['redundant'])} redundant")
    if set(got['depends']) != set(got['redundant']):
        misses.append(f"depends of {sorted(got['depends'])}, redundant {sorted(got['redundant'])}")
    if not is_number(got['constraint_residual']) or got['constraint_residual'] < 0:
        misses.append(f"constraint_residual {got['constraint_residual']}")
    whole, ideal, rest = (got[key] for key in ('constraint_force', 'ideal_force', 'nonideal_force'))
    if whole and ideal and rest:
        total = {name: ideal[name] + rest[name] for name in whole}
        misses += difference('ideal_force + nonideal_force', total, whole, tolerance, instant_size(got))
    return misses


def instant_misses(status, got, expected, tolerance):
    """All differences between a printed instant and the expected one."""
    unknown = expected.keys() - {*ALWAYS_PRINTED, *SETS, *REMARKS, *OF_CONTROL}
    if unknown:
        return [f'the case expects {sorted(unknown)}, which this program does not know how to check']
    misses = inner_misses(got, tolerance)
    requirements = expected.get('requirements', {})
    answered = expected.get('unique', True) and expected.get('consistent', True) and all(r['met'] for r in requirements.values())
    if status != (0 if answered else 1):
        misses.append(f'exit {status}')
    for key in ('position', 'velocity', 'time'):
        misses += difference(key, got.get(key), expected[key], 1e-15, 1.0)
    for key in SAME:
        # Multipliers of constraints that contradict each other are nobody's.
        if key in expected and got.get(key) != expected[key] and (answered or key != 'multipliers_unique'):
            misses.append(f'{key} is {got.get(key)}, not {expected[key]}')
    for key in SETS:
        if key in expected and sorted(got.get(key) or []) != sorted(expected[key]):
            misses.append(f'{key} is {got.get(key)}, not {expected[key]}')
    if 'conflicts' in expected:
        found = sorted(sorted(conflict) for conflict in got.get('conflicts') or [])
        if found != sorted(sorted(conflict) for conflict in expected['conflicts']):
            misses.append(f"conflicts are {found}, not {expected['conflicts']}")
        sizes = [len(conflict) for conflict in got.get('conflicts') or []]
        if sizes != sorted(sizes):
            misses.append('conflicts are not ordered by size')
    for name, requirement in requirements.items():
        said = (got.get('requirements') or {}).get(name, {})
        if said.get('met') is not requirement['met']:
            misses.append(f"requirement {name}: met is {said.get('met')}, not {requirement['met']}")
        for key in ('error', 'error_rate'):
            misses += difference(f'{key} of {name}', said.get(key), requirement[key], 1e-13, 1.0)
    for row, factors in expected.get('depends', {}).items():
        misses += difference(f'depends of {row}', (got.get('depends') or {}).get(row), factors, 1e-8, 1.0)
    if not answered:
        if got.get('acceleration') is not None:
            misses.append('an acceleration where there is none')
        return misses
    floor = min(1.0, instant_size(expected) / 100)
    for key in VECTORS:
        if key in expected:
            misses += difference(key, got.get(key), expected[key], tolerance, floor)
    for key in ('multipliers', 'gaussian', 'actuators', 'cost'):
        if key in expected:
            misses += difference(key, got.get(key), expected[key], 10 * tolerance, floor)
    return misses


# --- the parts: each yields (label, misses) for every check of a case --------------------------------------------------


def check_instants(program, case):
    for number, expected in enumerate(case.expected.get('instants', [])):
        status, out, err = program.accelerate(case.model, expected)
        got, misses = read_object(status, out, err)
        yield f'instant {number}', misses or instant_misses(status, got, expected, case.tolerance)


def weighted_misses(status, got, expected, tolerance):
    misses = inner_misses(got, tolerance) + ([f'exit {status}'] if status != 0 else [])
    if got.get('consistent') is not False:
        misses.append('the rows contradict each other, but consistent is not false')
    floor = min(1.0, instant_size(expected) / 100)
    for key in ('acceleration', 'constraint_force'):
        misses += difference(key, got.get(key), expected[key], tolerance, floor)
    return misses


def weight_spellings(text, weight):
    """The model with a weight matrix for its rows s1, s2, …, in each way that the model language has for it."""
    names = [f's{j + 1}' for j in range(len(weight))]
    yield 'matrix', f'{text}\n[measured]\nconstraints = {json.dumps(names)}\nweight = {json.dumps(weight)}\n'
    if all(weight[i][j] == 0 for i in range(len(weight)) for j in range(len(weight)) if i != j):
        for j, name in enumerate(names):
            text, count = re.subn(rf'(?m)^{name} = (".*")$',
                                  lambda m: f'{m[0].split(" =")[0]} = {{ equation = {m[1]}, weight = {weight[j][j]} }}', text)
            if count != 1:
                raise ValueError(f'no line of constraint {name} to add a weight to')
        yield 'row by row', text


def check_weighted(program, case):
    for number, expected in enumerate(case.expected.get('weighted', [])):
        for spelling, text in weight_spellings(case.model.read_text(), expected['W2']):
            with tempfile.TemporaryDirectory() as folder:
                model = Path(folder) / case.model.name
                model.write_text(text)
                status, out, err = program.accelerate(model, expected)
            got, misses = read_object(status, out, err)
            yield f'weighted {number}, {spelling}', misses or weighted_misses(status, got, expected, case.tolerance)
    for number, expected in enumerate(case.expected.get('weighted_instants', [])):
        status, out, err = program.accelerate(case.model, expected)
        got, misses = read_object(status, out, err)
        yield f'measured {number}', misses or weighted_misses(status, got, expected, case.tolerance)


# Every command that must refuse a bad start or a bad model; `run` belongs here as soon as there are motions.
REFUSING_COMMANDS = ('check', 'run')


def check_refuse(program, case):
    if 'refuse' not in case.expected:
        return
    for command in REFUSING_COMMANDS:
        with tempfile.TemporaryDirectory() as folder:
            written = ('-o', os.path.join(folder, 'motion.json'), '--to', '1') if command == 'run' else ()
            status, _, err = program.call(command, case.model, *written)
            misses = [] if status == 1 else [f'exit {status}']
            if os.listdir(folder):
                misses.append('something was written')
        if not re.search(case.expected.get('says', '.'), err):
            misses.append(f'said: {err.strip()[:120]!r}')
        yield f'refuse {command}', misses


def check_project(program, case):
    expected = case.expected.get('project')
    if expected is None:
        return
    status, out, err = program.call('project', case.model, '--json')
    got, misses = read_object(status, out, err)
    if got is not None:
        misses += [f'exit {status}'] if status != 0 else []
        for key in ('position', 'velocity'):
            misses += difference(key, got.get(key), expected[key], case.tolerance, 1.0)
        if not is_number(got.get('moved')) or got['moved'] <= 0:
            misses.append(f"moved is {got.get('moved')}")
    yield 'project', misses


PARTS = {'instants': check_instants, 'weighted': check_weighted, 'refuse': check_refuse, 'project': check_project}


# --- running -----------------------------------------------------------------------------------------------------------


def check(program, cases, parts, say=print):
    """Runs the parts over the cases; returns the numbers of passed and failed checks."""
    passed = failed = 0
    for case in cases:
        for part in parts:
            try:
                for label, misses in PARTS[part](program, case):
                    passed, failed = passed + (not misses), failed + bool(misses)
                    if misses:
                        say(f'{case.name} {label}: {"; ".join(misses)}')
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                failed += 1
                say(f'{case.name} {part}: output that cannot be compared, {type(error).__name__}: {error}')
    return passed, failed


def find_cases(folders, name=None):
    paths = sorted(path for folder in folders for path in Path(folder).glob('*.expected.json'))
    return [case for case in map(Case, paths) if name in (None, case.name)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--program', required=True, type=Path, help='path of mechanician')
    parser.add_argument('--only', default=','.join(PARTS), help=f'parts, of {", ".join(PARTS)}')
    parser.add_argument('--case', help='name of the only case to check')
    parser.add_argument('folders', nargs='+', type=Path, help='where the cases are')
    options = parser.parse_args()
    parts = options.only.split(',')
    if set(parts) - set(PARTS):
        parser.error(f'parts are {", ".join(PARTS)}')
    if not options.program.is_file():
        parser.error(f'no program at {options.program}')
    passed, failed = check(Program(options.program.resolve()), find_cases(options.folders, options.case), parts)
    print(f'{passed} passed, {failed} failed')
    return 0 if passed and not failed else 1


if __name__ == '__main__':
    sys.exit(main())
