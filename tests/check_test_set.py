#!/usr/bin/env python3
"""Problems of the Test Set for Initial Value Problem Solvers against their published ends, and the modes of a beam against Euler and Bernoulli.

usage: check_test_set.py --program PATH [--table]

--table prints the table of docs/accuracy.md. Otherwise a line for each miss and, last, `N passed, N failed`."""
import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import limits

HERE = Path(__file__).resolve().parent
TOLERANCES = ('1e-8', '1e-10', '1e-12', '1e-13')
ALLOWED = 1e-10  # ten digits, of the largest number of a kind; of each number where all are states, which are as different as those of HIRES

passed = failed = 0


def that(name, good, about=''):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print(f'{name}: {about}')


def run(program, case, tolerance, method='auto'):
    """The last row, the summary and the exit status."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / 'end.json'
        p = subprocess.run([program, 'run', HERE.parent / case['model'], '-o', file, '--to', repr(case['time']), '--every', repr(case['time']), '--tolerance', tolerance, '--method', method, '--quiet'],
                           capture_output=True, text=True, timeout=limits.CLOCK)
        result = json.loads(file.read_text()) if file.exists() else None
    return result and dict(zip(result['columns'], result['rows'][-1])), result and result['summary'], p


def off_by(case, got):
    end = case['end']
    if case.get('states'):
        return max(abs(got[k] - v) / abs(v) for k, v in end.items())
    kinds = {}
    for k, v in end.items():
        kinds.setdefault(k.endswith("'"), []).append((v, got[k]))
    return max(abs(a - b) / max(abs(v) for v, _ in kind) for kind in kinds.values() for a, b in kind)


def ends(program, table):
    lines = ['| problem | unknowns | ' + ' | '.join(TOLERANCES) + ' | steps at 1e-12 |', '|:--|--:|' + '--:|' * (len(TOLERANCES) + 1)]
    for name, case in json.loads((HERE / 'test_set' / 'published.json').read_text()).items():
        errors, steps, unknowns = [], 0, 0
        for tolerance in TOLERANCES if table else ('1e-13',):
            got, summary, p = run(program, case, tolerance)
            that(f'{name} at {tolerance} runs', got and p.returncode == 0 and summary['trusted'], p.stderr)
            if not got:
                continue
            errors.append(off_by(case, got))
            unknowns = sum(1 for k in got if k.endswith("'") and not k.endswith("''"))
            if tolerance == '1e-12':
                steps = summary['steps']
        if errors:
            that(f'{name}: ten digits', errors[-1] <= ALLOWED, errors[-1])
        if case.get('states'):
            got, summary, p = run(program, case, '1e-13', 'bdf')
            that(f'{name} by bdf alone', got and p.returncode == 0 and summary['trusted'] and off_by(case, got) <= ALLOWED, (p.stderr, got and off_by(case, got)))
        else:
            unknowns *= 2
        lines.append(f'| {name} | {unknowns} | ' + ' | '.join(f'{e:.0e}' for e in errors) + f' | {steps} |')
    return '\n'.join(lines)


def beam(program):
    """Frequencies of cubic elements are too high by (k h)^4/1440, to leading order; the lowest have the rounding of a matrix whose eigenvalues reach over eleven powers of ten."""
    for elements, modes in ((50, range(2, 7)), (200, range(5, 21))):
        p = subprocess.run([program, 'linearise', HERE / 'test_set' / 'beam.toml', '--set', f'N={elements}', '--json'], capture_output=True, text=True, timeout=limits.CLOCK)
        that(f'a beam of {elements} elements', p.returncode == 0, p.stderr)
        if p.returncode:
            continue
        frequencies = sorted(e['im'] for e in json.loads(p.stdout)['eigenvalues'] if e['im'] > 0)
        that('as many modes as freedoms', len(frequencies) == 2 * elements, len(frequencies))
        that('the first mode', abs(frequencies[0] / math.pi ** 2 - 1) < 1e-6, frequencies[0])
        for k in modes:
            high, order = frequencies[k - 1] / (k * math.pi) ** 2 - 1, (k * math.pi / elements) ** 4 / 1440
            that(f'mode {k} of {elements} elements', abs(high / order - 1) < 0.04, (high, order))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--program', required=True)
    parser.add_argument('--table', action='store_true')
    options = parser.parse_args()
    table = ends(options.program, options.table)
    if options.table:
        print(table)
        return 1 if failed else 0
    beam(options.program)
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
