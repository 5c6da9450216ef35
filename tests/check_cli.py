#!/usr/bin/env python3
"""Checks the program's command line: help, exit statuses, what goes to which stream, and the JSON of each command.

usage: check_cli.py --program PATH

Prints a line for each miss and, last, `N passed, N failed`. Needs nothing but Python 3.11."""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

import limits

PENDULUM = """title = "Pendulum"
coordinates = ["x", "y"]
[parameters]
m = 2.0
g = 9.81
L = 1.0
weight = "m*g"
[dynamics]
kinetic = "m/2*(x'^2 + y'^2)"
potential = "weight*y"
[constraints]
rod = "x^2 + y^2 = L^2"
[nonideal]
x = "-0.1*x'"
[start]
position = { x = 0.6, y = -0.8 }
velocity = { x = 0.8, y = 0.6 }
"""

ACCELERATE_KEYS = ['time', 'position', 'velocity', 'acceleration', 'unconstrained_acceleration', 'constraint_force', 'ideal_force',
                   'nonideal_force', 'control_force', 'multipliers', 'multipliers_unique', 'multipliers_undetermined', 'gaussian', 'rank',
                   'rows', 'redundant', 'depends', 'unique', 'solvable', 'consistent', 'conflicts', 'undetermined', 'constraint_residual']
PARTS_KEYS = ['error_signal', 'gain', 'deviation', 'deviation_ideal', 'deviation_nonideal', 'z', 'c_acting', 'c_absorbed',
              'acceleration_null', 'acceleration_range', 'force_null', 'force_range', 'auxiliary', 'reaction_to_forces',
              'reaction_to_motion', 'power']

CLUTCH = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'models', 'clutch.toml'))


class Check:
    def __init__(self, program, folder):
        self.program, self.folder, self.passed, self.failed = program, folder, 0, 0

    def file(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)
        return path

    def call(self, *args, **options):
        p = subprocess.run([self.program, *args], capture_output=True, text=True, timeout=limits.CLOCK, cwd=self.folder, **options)
        return p.returncode, p.stdout, p.stderr

    def that(self, what, holds, seen=''):
        self.passed += bool(holds)
        self.failed += not holds
        if not holds:
            print(f'{what}: {str(seen)[:300]!r}')

    def status(self, what, want, *args, out=None, err=None):
        """exit status, and texts that must occur on the streams ('' means that the stream is empty)"""
        rc, stdout, stderr = self.call(*args)
        self.that(f'{what}: exit status {want}', rc == want, (rc, stdout, stderr))
        for name, text, wanted in (('standard output', stdout, out), ('standard error', stderr, err)):
            if wanted == '':
                self.that(f'{what}: nothing on {name}', text == '', text)
            elif wanted is not None:
                self.that(f'{what}: {name} says {wanted!r}', wanted in text, text)
        return stdout


def check_usage(c):
    c.status('--version', 0, '--version', out='mechanician 0.', err='')
    c.status('--help', 0, '--help', out='accelerate', err='')
    for command in ('check', 'accelerate', 'equations', 'project', 'run', 'linearise', 'equilibrium', 'completion'):
        c.status(f'{command} --help', 0, command, '--help', out='Usage', err='')
    c.status('no command', 2, out='', err='mechanician')
    c.status('unknown command', 2, 'fly', 'pendulum.toml', out='', err='unknown command `fly`')
    c.status('misspelt command', 2, 'acelerate', 'pendulum.toml', out='', err='did you mean `accelerate`?')
    c.status('no model', 2, 'check', out='', err='MODEL')
    c.status('no model: where to look', 2, 'check', err='Try `mechanician check --help`.')
    c.status('unknown option', 2, 'check', 'pendulum.toml', '--frobnicate', out='', err='--frobnicate')
    c.status('unknown form', 2, 'accelerate', 'pendulum.toml', '--form', 'F9', out='', err='F9')
    c.status('unknown parameter', 2, 'check', 'pendulum.toml', '--set', 'l=2', out='', err='did you mean `L`')
    c.status('unknown coordinate', 2, 'check', 'pendulum.toml', '--position', 'X=2', out='', err='did you mean `x`')
    c.status('no number', 2, 'check', 'pendulum.toml', '--set', 'L=two', out='', err='`two` is not a finite number')
    c.status('comma decimal', 2, 'check', 'pendulum.toml', '--set', 'L=1,5', out='', err='`5` is not of the form name=value')
    c.status('infinite number', 2, 'check', 'pendulum.toml', '--set', 'L=inf', out='', err='is not a finite number')
    c.status('no time', 2, 'check', 'pendulum.toml', '--time', 'now', out='', err='--time')
    c.status('two formats', 2, 'equations', 'pendulum.toml', '--json', '--latex', out='', err='exclude')
    for shell in ('bash', 'zsh', 'fish'):
        c.status(f'completion {shell}', 0, 'completion', shell, out='mechanician', err='')
    c.status('completion of an unknown shell', 2, 'completion', 'cmd', out='')


def check_files(c):
    c.status('missing file', 3, 'check', 'nowhere.toml', out='', err='nowhere.toml')
    c.status('a folder', 3, 'check', '.', out='', err='.')
    with open('/dev/full', 'w') as full:
        p = subprocess.run([c.program, 'accelerate', 'pendulum.toml'], stdout=full, stderr=subprocess.PIPE, text=True, cwd=c.folder)
    c.that('a full disk ends with status 3', p.returncode == 3 and 'standard output' in p.stderr, (p.returncode, p.stderr))
    read, write = os.pipe()
    os.close(read)
    p = subprocess.run([c.program, 'accelerate', 'pendulum.toml'], stdout=write, stderr=subprocess.PIPE, text=True, cwd=c.folder)
    os.close(write)
    c.that('a closed pipe ends with status 3, quietly', p.returncode == 3 and p.stderr == '', (p.returncode, p.stderr))
    for locale in ('de_DE.UTF-8', 'C'):
        rc, out, _ = c.call('accelerate', 'pendulum.toml', '--json', env={**os.environ, 'LC_ALL': locale})
        c.that(f'numbers do not depend on the locale {locale}', rc == 0 and json.loads(out)['position'] == {'x': 0.6, 'y': -0.8}, out)


LINEARISE_KEYS = ('t', 'position', 'velocity', 'at', 'depends_on_time', 'stable', 'states', 'inputs', 'outputs', 'drift', 'eigenvalues', 'A', 'B', 'C', 'D',
                  'coordinates', 'modes', 'transfer', 'notes')


def check_linearise(c):
    at_rest = ('--position', 'x=0,y=-1', '--velocity', 'x=0,y=0')
    out = json.loads(c.status('linearise --json', 0, 'linearise', 'pendulum.toml', *at_rest, '--json', err=''))
    c.that('linearise --json has every key', all(k in out for k in LINEARISE_KEYS), sorted(set(LINEARISE_KEYS) - set(out)))
    c.that('a pendulum swings by the root of g/L', out['at'] == 'rest' and out['stable'] is True and
           all(set(e) == {'re', 'im', 'frequency', 'damping', 'uncertainty'} and abs(e['frequency'] - 9.81**.5) < 1e-13 for e in out['eigenvalues']), out['eigenvalues'])
    c.that('its states are independent', out['states'] == ['x', "x'"] and out['A'][0] == [0, 1] and abs(out['A'][1][0] + 9.81) < 1e-13, out)
    c.that('its shape is in all coordinates', out['coordinates'] == ['x', 'y'] and out['modes'][0]['re'] == [1, 0], out['modes'])
    up = json.loads(c.call('linearise', 'pendulum.toml', '--position', 'x=0,y=1', '--velocity', 'x=0,y=0', '--json')[1])
    c.that('upright it is unstable', up['stable'] is False and abs(max(e['re'] for e in up['eigenvalues']) - (-0.025 + (0.025**2 + 9.81)**.5)) < 1e-12, up['eigenvalues'])
    moving = json.loads(c.status('linearise where it moves', 0, 'linearise', 'pendulum.toml', '--json'))
    c.that('a start that is no equilibrium is said to be none', moving['at'] == 'moving' and moving['stable'] is None and moving['drift']["x'"] != 0, moving)
    later = json.loads(c.status('linearise --at', 0, 'linearise', 'pendulum.toml', '--at', '0.3', '--json'))
    c.that('--at is a later state', later['t'] == 0.3 and later['position'] != moving['position'], later['position'])
    along = json.loads(c.status('linearise --every', 0, 'linearise', 'pendulum.toml', '--every', '0.1', '--to', '0.3', '--json'))['along']
    c.that('--every is along the motion', [round(a['t'], 12) for a in along] == [0.1, 0.2, 0.3] and along[-1]['A'] != along[0]['A'], along)
    c.that('the last of them is --at', all(abs(x - y) < 1e-7 for p, q in zip(along[-1]['A'], later['A']) for x, y in zip(p, q)), (along[-1]['A'], later['A']))
    c.status('inputs that are none', 2, 'linearise', 'pendulum.toml', '--inputs', 'l', out='', err='did you mean `L`?')
    c.status('outputs that are none', 2, 'linearise', 'pendulum.toml', '--outputs', 'z', out='', err='there is no output or coordinate `z`')
    c.status('states that are none', 2, 'linearise', 'pendulum.toml', '--states', 'z', out='', err='no coordinate `z`')
    c.status('an input that moves a constraint', 1, 'linearise', 'pendulum.toml', '--inputs', 'L', out='', err='the input `L` moves the constraint `rod`')
    c.status('linearise -o without a format', 2, 'linearise', 'pendulum.toml', '-o', 'a.txt', out='', err='.json or .h5')
    c.status('linearise --at before the start', 2, 'linearise', 'pendulum.toml', '--at', '-1', out='', err='the motion starts at t = 0')
    c.status('a period that is none', 1, 'linearise', 'pendulum.toml', '--period', '0.7', out='', err='does not have the period 0.7')
    c.status('--period and --every', 2, 'linearise', 'pendulum.toml', '--period', '0.7', '--every', '1', out='', err='give one of them')


def check_equilibrium(c):
    out = json.loads(c.status('equilibrium --json', 0, 'equilibrium', 'pendulum.toml', '--json', err=''))
    c.that('a pendulum rests twice', [e['stable'] for e in out['equilibria']] == [True, False], out['equilibria'])
    c.that('below and above', [round(e['position']['y'], 12) for e in out['equilibria']] == [-1, 1], out['equilibria'])
    c.that('with what holds it', abs(out['equilibria'][0]['multipliers']['rod'] + 9.81) < 1e-12, out['equilibria'][0])
    c.that('no folds without --vary', out['folds'] == [], out['folds'])
    c.that('the same seed gives the same', c.call('equilibrium', 'pendulum.toml', '--seed', '3', '--json')[1] == c.call('equilibrium', 'pendulum.toml', '--seed', '3', '--json')[1])
    file = os.path.join(c.folder, 'branches.csv')
    branches = json.loads(c.status('equilibrium --vary', 0, 'equilibrium', 'pendulum.toml', '--vary', 'L=1..2', '--json', '-o', file))
    c.that('branches over a length', len(branches['branches']) == 2 and all(abs(abs(p['position']['y']) - p['L']) < 1e-12 for b in branches['branches'] for p in b), branches['folds'])
    c.status('branches are plotted', 0, 'plot', file, '--against', 'L', '--show', 'y')
    c.status('--vary of nothing', 2, 'equilibrium', 'pendulum.toml', '--vary', 'l=1..2', out='', err='did you mean `L`?')
    c.status('--vary without a range', 2, 'equilibrium', 'pendulum.toml', '--vary', 'L=1', out='', err='--vary "p=0..2"')
    c.status('no starts', 2, 'equilibrium', 'pendulum.toml', '--starts', '0', out='', err='--starts 0')
    c.status('equilibrium -o without a format', 2, 'equilibrium', 'pendulum.toml', '-o', 'a.h5', out='', err='.csv or .json')


def check_accelerate(c):
    out = json.loads(c.status('accelerate --json', 0, 'accelerate', 'pendulum.toml', '--json', err=''))
    c.that('accelerate --json has every key', all(k in out for k in ACCELERATE_KEYS), sorted(set(ACCELERATE_KEYS) - set(out)))
    a, Q = out['acceleration'], {k: out['constraint_force'][k] for k in 'xy'}
    c.that('M q\'\' = Q + Qc', abs(2 * a['x'] - Q['x']) < 1e-12 and abs(2 * a['y'] + 19.62 - Q['y']) < 1e-12, out)
    c.that('A q\'\' = b', abs(2 * 0.6 * a['x'] - 2 * 0.8 * a['y'] + 2 * (0.8**2 + 0.6**2)) < 1e-12, a)
    c.that('17 digits', '0.59999999999999998' in c.call('accelerate', 'pendulum.toml', '--json')[1])
    for form in ('F1', 'F2', 'F3', 'F4', 'F5', 'auto'):
        other = json.loads(c.status(f'--form {form}', 0, 'accelerate', 'pendulum.toml', '--json', '--form', form))
        c.that(f'{form} agrees', all(abs(other['acceleration'][k] - a[k]) < 1e-12 for k in 'xy'), other['acceleration'])
    parts = json.loads(c.status('--parts', 0, 'accelerate', 'pendulum.toml', '--json', '--parts'))['parts']
    c.that('--parts has every key', all(k in parts for k in PARTS_KEYS), sorted(set(PARTS_KEYS) - set(parts)))
    c.that('the parts of the acceleration add up', all(abs(parts['acceleration_null'][k] + parts['acceleration_range'][k] - a[k]) < 1e-12 for k in 'xy'), parts)
    c.that('the gain is by coordinate and row', set(parts['gain']) == {'x', 'y'} and set(parts['gain']['x']) == {'rod'}, parts['gain'])
    c.that('K e is the ideal force', abs(parts['gain']['x']['rod'] * parts['error_signal']['rod'] - out['ideal_force']['x']) < 1e-12, parts)
    c.status('--explain', 0, 'accelerate', 'pendulum.toml', '--explain', out='error signal')
    moved = json.loads(c.status('state options', 0, 'accelerate', 'pendulum.toml', '--json', '--set', 'm=1,g=1', '--position', 'x=0,y=-1',
                                '--velocity', 'x=2', '--velocity', 'y=0', '--time', '3'))
    c.that('state options are used', moved['time'] == 3 and moved['position'] == {'x': 0, 'y': -1} and moved['velocity'] == {'x': 2, 'y': 0}, moved)
    c.that('a parameter made of another follows it', abs(moved['unconstrained_acceleration']['y'] + 1) < 1e-15, moved)
    off = json.loads(c.status('accelerate answers off the constraints', 0, 'accelerate', 'pendulum.toml', '--json', '--position', 'x=1'))
    c.that('and says how far', math.isclose(off['constraint_residual'], 0.64), off['constraint_residual'])


def check_refusals(c):
    c.status('start off the constraints', 1, 'check', 'pendulum.toml', '--position', 'x=1', err='the start position violates constraint `rod`')
    c.status('start off in velocity', 1, 'check', 'pendulum.toml', '--velocity', 'x=1', err='the start velocity violates constraint `rod`')
    c.status('run refuses it too', 1, 'run', 'pendulum.toml', '--position', 'x=1', '-o', 'motion.json', '--to', '1', out='', err='`rod`')
    c.that('and writes nothing', not os.path.exists(os.path.join(c.folder, 'motion.json')))
    c.file('contradiction.toml', PENDULUM + '[constraints.other]\nequation = "x\'\' = 1000"\n[constraints.third]\nequation = "y\'\' = 1000"\n')
    out = json.loads(c.status('contradiction', 1, 'accelerate', 'contradiction.toml', '--json', err='contradict'))
    c.that('no acceleration, but a diagnosis', out['acceleration'] is None and out['consistent'] is False and out['conflicts'] == [['rod', 'other', 'third']], out)
    c.file('indefinite.toml', 'coordinates = ["x"]\n[dynamics]\nmass = { x = "-1" }\n')
    c.status('negative mass', 1, 'accelerate', 'indefinite.toml', '--json', out='', err='negative eigenvalue')
    c.file('bad.toml', 'coordinates = ["x"]\n[dynamics]\nmass = { x = "k" }\n')
    c.status('bad file', 1, 'accelerate', 'bad.toml', '--json', out='', err='bad.toml:3:15: error:')
    c.file('singular.toml', 'coordinates = ["s", "th"]\n[dynamics]\nmass = { s = 0, th = 1 }\nforce = { s = 1 }\n[constraints]\nroll = "s = th"\n')
    c.status('F1 needs a regular mass matrix', 1, 'accelerate', 'singular.toml', '--form', 'F1', out='', err='F4, F5 or auto')
    out = json.loads(c.status('singular mass', 0, 'accelerate', 'singular.toml', '--json', '--parts'))
    c.that('no free acceleration, no Gaussian', out['unconstrained_acceleration'] is None and out['gaussian'] is None and out['parts']['error_signal'] is None, out)


def check_others(c):
    out = json.loads(c.status('check --json', 0, 'check', 'pendulum.toml', '--json'))
    c.that('check --json', out['rank'] == 1 and out['degrees_of_freedom'] == 1 and out['constraints'][0]['holonomic'] and out['start_valid'], out)
    c.status('check in words', 0, 'check', 'pendulum.toml', out='holonomic, scleronomic, catastatic')
    out = json.loads(c.status('project --json', 0, 'project', 'pendulum.toml', '--json', '--position', 'x=1.2,y=-1.6'))
    c.that('project --json', abs(out['position']['x'] - 0.6) < 1e-14 and out['moved'] > 0.7 and 'velocity' in out, out)
    c.status('project in words', 0, 'project', 'pendulum.toml', out='position = { x = 0.6, y = -0.8 }')
    c.file('nowhere_to_go.toml', PENDULUM.replace('x^2 + y^2 = L^2', 'x^2 + y^2 = -1'))
    c.status('project where there is no state', 1, 'project', 'nowhere_to_go.toml', out='', err='not met: `rod`')
    out = json.loads(c.status('equations --json', 0, 'equations', 'pendulum.toml', '--json'))
    c.that('equations --json', out['A']['rod']['x'] == '2*x' and out['M']['x']['x'] == 'm' and out['closed_form']['rows_used'] == ['rod'], out)
    c.status('equations', 0, 'equations', 'pendulum.toml', out="x'' = ")
    c.status('equations of what is not engaged', 0, 'equations', CLUTCH, out='`clutch` does not hold where the motion begins')
    c.status('equations --latex', 0, 'equations', 'pendulum.toml', '--latex', out='\\ddot{x}')
    c.file('unknown.toml', 'coordinates = ["x"]\n[unknown]\nalpha = "t"\n[dynamics]\nmass = { x = 1 }\nforce = { x = "alpha" }\n')
    c.status('unknown functions are printed', 0, 'equations', 'unknown.toml', out="x'' = alpha")
    c.status('unknown functions are asked for', 1, 'accelerate', 'unknown.toml', out='', err='the function `alpha` has no value')


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument('--program', required=True)
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        c = Check(os.path.abspath(options.program), folder)
        c.file('pendulum.toml', PENDULUM)
        for group in (check_usage, check_files, check_accelerate, check_linearise, check_equilibrium, check_refusals, check_others):
            group(c)
    print(f'{c.passed} passed, {c.failed} failed')
    return 1 if c.failed or not c.passed else 0


if __name__ == '__main__':
    sys.exit(main())
