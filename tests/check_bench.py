#!/usr/bin/env python3
"""Checks `mechanician bench`: the JSON, the text, the listing, and exit statuses; and the command line of bench/run. Nothing about how long anything takes.

usage: check_bench.py --program PATH

Prints a line for each miss and, last, `N passed, N failed`. Needs nothing but Python 3.11."""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

import limits

KEYS = ['coordinates', 'rows', 'operations', 'derive_ms', 'compile_ms', 'acceleration_ns', 'acceleration_lanes_ns', 'path']

PENDULUM = """coordinates = ["x", "y"]
[parameters]
m = 2.0
[dynamics]
mass = { x = "m", y = "m" }
force = { y = "-9.81*m" }
[constraints]
rod = "x^2 + y^2 = 1"
[start]
position = { x = 0.6, y = -0.8 }
velocity = { x = 0.8, y = 0.6 }
"""
FREE = """coordinates = ["x"]
[dynamics]
mass = { x = "2" }
force = { x = "-x" }
[start]
position = { x = 1.0 }
"""
# The third row says what the first two say.
REDUNDANT = PENDULUM.replace('[start]', 'twice = "2*x^2 + 2*y^2 = 2"\n[start]')
MASSLESS = """coordinates = ["x", "y"]
[dynamics]
mass = { x = "1" }
force = { x = "-x" }
[constraints]
tie = "y = 2*x"
"""
WEIGHTED = """coordinates = ["x"]
[dynamics]
mass = { x = "1" }
[constraints]
first = { equation = "x'' = 1", weight = 1.0 }
second = { equation = "x'' = 2", weight = 3.0 }
"""
CONTRADICTION = PENDULUM.replace('[start]', 'a = "x\'\' = 1"\nb = "x\'\' = 2"\n[start]')
LOOSE = MASSLESS.replace('tie = "y = 2*x"', 'tie = "x = 0"')


class Check:
    def __init__(self, program, folder):
        self.program, self.folder, self.passed, self.failed = program, folder, 0, 0

    def file(self, name, text):
        with open(os.path.join(self.folder, name), 'w', encoding='utf-8') as f:
            f.write(text)
        return name

    def call(self, *args, **environment):
        p = subprocess.run([self.program, 'bench', *args], capture_output=True, text=True, timeout=limits.CLOCK, cwd=self.folder,
                           env={**os.environ, **environment})
        return p.returncode, p.stdout, p.stderr

    def that(self, what, holds, seen=''):
        self.passed += bool(holds)
        self.failed += not holds
        if not holds:
            print(f'{what}: {str(seen)[:400]!r}')

    def measured(self, name, *args, **environment):
        rc, out, err = self.call(name, '--json', *args, **environment)
        self.that(f'{name}: exit status 0 and nothing on standard error', rc == 0 and err == '', (rc, err))
        try:
            return json.loads(out)
        except ValueError:
            self.that(f'{name}: JSON on standard output', False, out)
            return dict.fromkeys(KEYS)


def check_json(c):
    for name, text, n, m in (('pendulum.toml', PENDULUM, 2, 1), ('free.toml', FREE, 1, 0), ('redundant.toml', REDUNDANT, 2, 2),
                             ('massless.toml', MASSLESS, 2, 1)):
        got = c.measured(c.file(name, text))
        c.that(f'{name}: every key', all(k in got for k in KEYS), sorted(set(KEYS) - set(got)))
        c.that(f'{name}: sizes', (got['coordinates'], got['rows']) == (n, m), got)
        c.that(f'{name}: a generated elimination', got['path'].startswith('ldlt') and got['operations'] > 0, got)
        for key in ('derive_ms', 'compile_ms', 'acceleration_ns'):
            c.that(f'{name}: {key} is a time', isinstance(got[key], (int, float)) and got[key] > 0 and math.isfinite(got[key]), got)
        c.that(f'{name}: lanes are timed or null', got['acceleration_lanes_ns'] is None or got['acceleration_lanes_ns'] > 0, got)
        c.that(f'{name}: all states vouched for, as the robust path has it',
               got['not_vouched'] == 0 and got['states'] == 64 and got['difference'] < 1e-12, got)
    got = c.measured('pendulum.toml', MECHANICIAN_LLVM='off')
    c.that('without LLVM there are no lanes, and nothing optimised', got['acceleration_lanes_ns'] is None and got['optimised_ns'] is None, got)
    got = c.measured('pendulum.toml', '--position', 'x=1,y=0', '--set', 'm=3')
    c.that('--position and --set are heard', got['coordinates'] == 2 and got['not_vouched'] == 0, got)
    got = c.measured(c.file('weighted.toml', WEIGHTED))
    c.that('weighted rows: the robust path and why', got['path'].startswith('qr: ') and got['acceleration_ns'] > 0
           and got['acceleration_lanes_ns'] is None and got['tier'] == 'robust', got)


def check_text(c):
    rc, out, err = c.call('pendulum.toml')
    c.that('text', rc == 0 and err == '' and all(w in out for w in ('coordinates', 'path', 'made in', 'robust path', 'ns')), (rc, out, err))
    rc, out, err = c.call('weighted.toml')
    c.that('text of the robust path', rc == 0 and 'qr: ' in out and 'code' not in out, (rc, out, err))
    rc, out, err = c.call('--help')
    c.that('--help', rc == 0 and '--json' in out and '--listing' in out and err == '', out)
    rc, out, _ = c.call('pendulum.toml', '--listing')
    c.that('--listing', rc == 0 and "x'' = " in out and "y'' = " in out and out.rstrip().split('\n')[-1].startswith('vouch = '), out)
    values = {'t': 0.0, 'x': 0.6, 'y': -0.8, "x'": 0.8, "y'": 0.6}
    for line in out.strip().split('\n'):
        name, formula = line.split(' = ')
        words = [w for w in formula.replace('(', ' ( ').replace(')', ' ) ').replace('*', ' * ').replace(',', ' , ').split()]
        values[name] = eval(' '.join(repr(values[w]) if w in values else w for w in words))  # noqa: S307
    c.that('the listing computes the acceleration', abs(values["x''"] - (-0.6 * (1 + 9.81 * 0.8))) < 1e-12
           and abs(values["y''"] - (0.8 * (1 + 9.81 * 0.8) - 9.81)) < 1e-12 and values['vouch'] > 0, values)
    for shell in ('bash', 'fish'):
        p = subprocess.run([c.program, 'completion', shell], capture_output=True, text=True)
        c.that(f'completion {shell} knows bench', 'bench' in p.stdout and 'listing' in p.stdout, p.stdout)


def check_refusals(c):
    for name, text, word in (('contradiction.toml', CONTRADICTION, 'contradict'), ('loose.toml', LOOSE, 'y')):
        rc, out, err = c.call(c.file(name, text), '--json')
        c.that(f'{name}: exit status 1, nothing on standard output, and why', rc == 1 and out == '' and word in err, (rc, out, err))
    rc, out, err = c.call('pendulum.toml', '--position', 'x=0,y=0')
    c.that('a start that has no acceleration', rc == 1 and out == '' and 'rod' in err, (rc, out, err))
    rc, out, err = c.call('weighted.toml', '--listing')
    c.that('no listing without a program', rc == 1 and out == '' and 'nothing is compiled' in err, (rc, out, err))
    for args, status in ((('nowhere.toml',), 3), ((), 2), (('pendulum.toml', '--frobnicate'), 2), (('pendulum.toml', '--set', 'l=2'), 2),
                         (('pendulum.toml', '--json', '--listing'), 2)):
        rc, out, err = c.call(*args)
        c.that(f'{args}: exit status {status}', rc == status and out == '' and err != '', (rc, out, err))


def check_script(c):
    """bench/run, as far as nothing is installed or built."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'bench', 'run')
    for args, status, word in ((['--help'], 0, '--rounds'), (['--only', 'W9'], 2, 'there are W1'), (['--rounds', '0'], 2, 'at least 1'),
                               (['--ensembles', '--only', 'W1'], 2, 'there are W4'), (['--ensembles', '--large'], 2, 'runs of their own'), (['--python', '--large'], 2, 'runs of their own'), (['--exports', '--python'], 2, 'runs of their own')):
        p = subprocess.run([sys.executable, script, *args], capture_output=True, text=True, timeout=limits.CLOCK)
        c.that(f'bench/run {args}', p.returncode == status and word in p.stdout + p.stderr, (p.returncode, p.stdout, p.stderr))


def check_ensembles(c):
    """The tables of bench/run --ensembles, from figures that are made up."""
    sys.dont_write_bytecode = True
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'bench'))
    import ensemble_workloads as e
    here = __file__
    times = iter([8.0, 6.0, 7.0])
    made = {'mechanician': e.Contestant(here, lambda _: {'variant': 'lanes', 'ns': next(times), 'error': 0.0}),
            'peer': e.Contestant(here, lambda _: {'variant': 'slow', 'ns': 30.0, 'error': 0.0}),
            'nobody': e.Contestant('/nowhere', lambda _: None), 'broken': e.Contestant(here, lambda _: None)}
    workload = e.Workload('W', 'title', 'step', 'ns', 'off by', made, [e.faster(5, 'mechanician', 'peer'), e.faster(6, 'mechanician', 'peer'),
                                                                      e.faster(1, 'mechanician', 'nobody')])
    result = e.measure(workload, 3, lambda _: None)
    c.that('the quickest round counts', result['rows'][0]['ns'] == 6.0 and result['rows'][0]['rounds'] == 3, result)
    c.that('who is not there or fails is missing', result['missing'] == ['nobody', 'broken'], result)
    c.that('goals', [g['met'] for g in result['goals']] == [True, False] and result['goals'][0]['reached'] == 5.0, result)
    text = e.table(workload, result, lambda x: f'{x:.1f}')
    c.that('the table', '- met: ' in text and '- MISSED: ' in text and '| peer | slow | 30.0 |' in text and '| nobody | not there |' in text, text)


def check_python_tables(c):
    """The table of bench/run --python, from figures that are made up."""
    import python_workloads as w
    def row(who, single, ms):
        return {'who': who, 'lines': 9, 'import_ms': 1.0, 'load_ms': 1.0, 'first_ms': 1.0, 'single_ns': single, 'batch_ns': 10.0, 'again_ms': 1.0,
                'runs': [{'setting': 1e-6, 'ms': ms, 'end': [0.0], 'violation': 0.0}]}
    joined = w.joined('mechanician', [row('mechanician', 200.0, 2.0), row('mechanician', 100.0, 1.0)])
    c.that('the quickest of the processes counts', joined['single_ns'] == 100.0 and joined['runs'][0]['ms'] == 1.0, joined)
    result = {'rows': [{**joined, 'motion': {**joined['runs'][0], 'error': 1e-8}}, {**row('SymPy and SciPy', 5000.0, 99.0), 'motion': {'setting': 1e-8, 'ms': 99.0, 'error': 1e-7, 'violation': 0.0}}],
              'missing': ['heyoka'], 'single_ns': 20.0, 'batch_ns': 9.5}
    result['goals'] = w.goals(result)
    c.that('goals of the package', [g['met'] for g in result['goals']] == [True, True, True, False], result['goals'])
    text = w.table(result, lambda x: f'{x:.1f}')
    c.that('who is not there is named', '| heyoka | not there |' in text and 'MISSED' in text, text)


def check_export_tables(c):
    """The tables of bench/run --exports, from figures that are made up."""
    import export_workloads as w
    robot = {'robot': 'arm', 'title': 'Arm', 'freedoms': 7, 'rows': [{'who': 'mechanician', 'variant': '', 'ns': 100.0, 'error': 1e-15, 'bytes': 50_000, 'operations': 900},
             {'who': 'CasADi', 'ns': None}, {'who': 'Pinocchio', 'variant': 'aba', 'ns': 250.0, 'error': 0.0, 'bytes': None, 'operations': None}]}
    unit = {'model': 'ball', 'coordinates': 1, 'c_bytes': 41_000, 'fmu_bytes': 99_000, 'exported_s': 1.0, 'run_s': 0.01, 'cs_s': 0.002, 'cs_error': 1e-9, 'me_s': None, 'me_error': None}
    steps = [{'model': 'ball', 'bytes': 41_000, 'run': {'s': 2e-4, 'steps': 100}, 'c': {'s': 3e-4, 'steps': 100, 'status': 0}}, {'model': 'stack', 'bytes': 41_000, 'run': {'s': 2e-4, 'steps': 100}, 'c': None}]
    text = w.table({'robots': [robot], 'units': [unit], 'steps': steps}, lambda x: f'{x:.1f}')
    c.that('steps', '| `ball` | 41 | 2.0 | 3.0 | 1.5 | 1.5 |' in text and '| `stack` | 41 | 2.0 | did not end | – | – |' in text, text)
    c.that('ratios, who is not there, what has no size', '| Arm | 7 | mechanician | 50 | 900 | 100.0 | 1.0 | 1e-15 |' in text and '| CasADi | not there |' in text
           and '| Pinocchio (aba) |  |  | 250.0 | 2.5 | 0e+00 |' in text, text)
    c.that('units', '| `ball` | 1 | 41 | 99 | 1.0 | 10.0 | 2.0 | 1e-09 | – | – |' in text, text)


def check_large(c):
    """The tables of bench/run --large, from figures that are made up."""
    import large_workloads as w
    family = w.Family('W', 'title', 'ns', 'off by', [10], [w.Contestant('mechanician', __file__), w.Contestant('peer', sys.executable)],
                      [w.at_most('at most 1 ns', 1, [10]), w.faster(4, 'peer')])
    times = iter([9.0, 30.0, 8.0, 44.0, 12.0, 28.0])
    gauged = []
    result = w.measure(family, 3, lambda _: [{'variant': 'pivots checked', 'ns': next(times), 'error': 0.0}], lambda _: None, lambda: gauged.append(1))
    rows = {r['who']: r for r in result['rows']}
    c.that('the quickest of all rounds counts, of every contestant', rows['mechanician']['ns'] == 8.0 and rows['peer']['ns'] == 28.0
           and rows['peer']['most_ns'] == 44.0 and len(gauged) == 3, result)
    c.that('goals of large models', [g['met'] for g in result['goals']] == [True, False], result['goals'])
    said = w.disturbance([{'waits_ns': 2.0, 'busy_ns': 4.0}, {'waits_ns': 2.02, 'busy_ns': 7.0}])
    c.that('what the gauge showed', '1.75' in said and '1.01' in said and w.disturbance([]) == '', said)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument('--program', required=True)
    program = os.path.abspath(arguments.parse_args().program)
    with tempfile.TemporaryDirectory() as folder:
        c = Check(program, folder)
        check_json(c)
        check_text(c)
        check_refusals(c)
        check_script(c)
        check_ensembles(c)
        check_large(c)
        check_export_tables(c)
        check_python_tables(c)
        print(f'{c.passed} passed, {c.failed} failed')
    sys.exit(c.failed > 0)


if __name__ == '__main__':
    main()
