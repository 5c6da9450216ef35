#!/usr/bin/env python3
"""Checks states of first order and inputs through the command line: what each command says of them, runs that are killed and taken up
again, sweeps against runs, starts and values from the command line, and what is refused.

usage: check_states.py --program PATH

Closed forms and single runs are what results are compared with. Prints a line for each miss and, last, `N passed, N failed`."""
import argparse
import csv
import io
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time

import limits

MOTOR = """title = "Motor"
coordinates = ["phi"]
[parameters]
J = 0.02
R = 1.2
L = 0.004
k = 0.3
[inputs]
U = 12
load = "0.1*sin(5*t)"
[dynamics]
kinetic = "J/2*phi'^2"
force = { phi = "k*i - load" }
[constraints]
[states]
i = { rate = "(U - R*i - k*phi')/L", start = 0.5 }
E = { rate = "U*i" }
[run]
to = 2.0
every = 0.1
[outputs]
torque = "k*i"
[events]
half = { when = "i - 2", direction = "down" }
"""
FILTER = '[inputs]\nu = 3\n[parameters]\nT = 0.5\n[states]\nf = { rate = "(u - f)/T", start = 1 }\n[run]\nto = 1\nevery = 0.25\n'
FOLLOW = """coordinates = ["x"]
[dynamics]
kinetic = "x'^2/2"
[constraints]
follow = "x = z"
[states]
z = { rate = "1 - z" }
[start]
velocity = { x = 1 }
[run]
to = 1
"""


class Check:
    def __init__(self, program, folder):
        self.program, self.folder, self.passed, self.failed = program, folder, 0, 0

    def path(self, name): return os.path.join(self.folder, name)

    def file(self, name, text):
        with open(self.path(name), 'w', encoding='utf-8') as f: f.write(text)
        return name

    def call(self, *args):
        p = subprocess.run([self.program, *args], capture_output=True, text=True, cwd=self.folder, timeout=limits.CLOCK)
        return p.returncode, p.stdout, p.stderr

    def that(self, what, holds, seen=''):
        self.passed += bool(holds)
        self.failed += not holds
        if not holds: print(f'{what}: {str(seen)[:500]!r}', flush=True)

    def near(self, what, got, want, allowed): self.that(what, abs(got - want) <= allowed, (got, want))

    def rows(self, *args):
        """Of a run, as dictionaries."""
        rc, out, err = self.call('run', *args, '-o', 'rows.csv')
        self.that(f'run {args} ends with 0', rc == 0, err)
        with open(self.path('rows.csv'), encoding='utf-8') as f: text = ''.join(line for line in f if not line.startswith('#'))
        return [{k: float(v) for k, v in row.items()} for row in csv.DictReader(io.StringIO(text))]

    def refused(self, what, rc, words, *args):
        got, out, err = self.call(*args)
        self.that(what, got == rc and words in err, (got, err))


def commands(c):
    rc, out, err = c.call('check', 'motor.toml')
    c.that('check names coordinates and states apart', rc == 0 and 'coordinates           1 (phi)' in out and 'states                2 (i, E)' in out, out + err)
    c.that('check counts no rows', 'constraint rows       0' in out and 'positive definite' in out and 'degrees of freedom    1' in out, out)
    said = json.loads(c.call('check', 'motor.toml', '--json')[1])
    c.that('check --json', (said['coordinates'], said['rows'], said['rank'], said['degrees_of_freedom'], said['mass'], said['constraints']) == (1, 0, 0, 1, 'definite', []), said)
    c.that('check --json has the states', set(said['states']) == {'i', 'E'} and said['states']['i'] == {'value': 0.5, 'rate': (12 - 1.2 * 0.5) / 0.004}, said)
    said = json.loads(c.call('accelerate', 'motor.toml', '--json')[1])
    c.that('accelerate --json', said['states'] == ['i', 'E'] and said['multipliers'] == {} and said['rows'] == 0 and said['unique'], said)
    c.near('accelerate', said['acceleration']['phi'], 0.3 * 0.5 / 0.02, 1e-12)
    c.near('accelerate: the rate of a state', said['velocity']['i'], (12 - 1.2 * 0.5) / 0.004, 1e-9)
    rc, out, err = c.call('accelerate', 'motor.toml')
    c.that('accelerate in words', rc == 0 and 'state' in out and 'rate' in out, out + err)
    rc, out, err = c.call('equations', 'motor.toml')
    c.that('equations print the rates', rc == 0 and "i' = " in out and "phi'' = " in out and 'A and b' not in out, out + err)
    said = json.loads(c.call('equations', 'motor.toml', '--json')[1])
    c.that('equations --json', said['coordinates'] == ['phi'] and set(said['states']) == {'i', 'E'} and said['closed_form'], said)
    c.that('equations --latex', '\\dot{i}' in c.call('equations', 'motor.toml', '--latex')[1])
    own = c.file('milli.toml', 'coordinates = ["x"]\n[parameters]\nR = 2\n[units]\ni = "mA"\nR = "ohm"\n[states]\ni = { rate = "-i", start = 500 }\n[dynamics]\nkinetic = "x\'^2/2"\n')
    said = json.loads(c.call('accelerate', own, '--json')[1])
    c.near('the start of a state is in its unit', said['velocity']['i'], -0.5, 1e-12)
    rc, out, err = c.call('project', 'follow.toml', '--position', 'x=2')
    c.that('project', rc == 0, err)


def beside_masses(c):
    """What needs a mass matrix that is positive definite, beside states that nothing feels: as without them."""
    for row in ('', '[constraints]\nrod = "3*x + y^2 = 4"\n', '[constraints]\nrod = "3*x + y^2 = 4"\nfloor = { equation = "y >= -5" }\ntable = { equation = "z >= 0.5" }\n'):
        text = 'coordinates = ["x", "y", "z"]\nSTATES[parameters]\nVALUES[dynamics]\nkinetic = "x\'^2 + (2 + y^2)*y\'^2/2 + x\'*y\' + z\'^2"\nforce = { x = "3*i - x", y = "i*x\' - 2", z = "-w" }\n' \
            + row + '[nonideal]\ny = "-0.2*y\'"\n[start]\nposition = { x = 1, y = 1, z = 0.5 }\nvelocity = { x = 0.2, y = -0.3 }\n'
        if not row: text = text.replace('[nonideal]\ny = "-0.2*y\'"\n', '')
        alone = c.file('alone.toml', text.replace('STATES', '').replace('VALUES', 'i = 0.5\nw = 2\n'))
        beside = c.file('beside.toml', text.replace('STATES', '[states]\ni = { rate = "x\' - 3*i + w", start = 0.5 }\nw = { rate = "y - z\'*i", start = 2 }\n').replace('VALUES', ''))
        for form in ('auto', 'F1', 'F2', 'F3', 'F4', 'F5'):
            a, b = (json.loads(c.call('accelerate', name, '--json', '--parts', '--form', form)[1] or '{}') for name in (alone, beside))
            c.that(f'{form} beside states', bool(a) and bool(b), (a, b))
            if not a or not b: continue
            def same(x, y): return x == y if x is None or y is None else abs(x - y) <= 1e-12 * max(1, abs(x))
            for key in ('acceleration', 'unconstrained_acceleration', 'ideal_force', 'nonideal_force', 'multipliers'):
                c.that(f'{form} beside states: {key}', all(same(v, b[key][k]) for k, v in a[key].items()), (a[key], b[key]))
            c.that(f'{form} beside states: Gauss', same(a['gaussian'], b['gaussian']), (a['gaussian'], b['gaussian']))
            for key in ('error_signal', 'deviation', 'deviation_ideal', 'deviation_nonideal', 'z', 'reaction_to_forces', 'reaction_to_motion'):
                x, y = a['parts'][key], b['parts'][key]
                c.that(f'{form} beside states: {key}', y is not None and all(same(v, y[k]) for k, v in x.items()), (x, y))
            gain = b['parts']['gain']
            c.that(f'{form} beside states: gain', gain and all(same(v, gain[q][k]) for q, line in a['parts']['gain'].items() for k, v in line.items()), gain)
            free = b['unconstrained_acceleration']
            c.near(f'{form}: what a state would do', free['i'], free['x'] - 3 * b['velocity']['i'] + b['velocity']['w'], 1e-12)
        words = c.call('accelerate', beside, '--parts')
        c.that('the parts in words', words[0] == 0, words[2])


def runs(c):
    rows = c.rows('motor.toml')
    c.that('columns', {'i', "i'", 'E', "E'", 'phi', "phi''", 'torque'} <= set(rows[0]) and not {"i''", 'Qc(i)', "lambda(i')"} & set(rows[0]), list(rows[0]))
    for r in rows: c.near("i' is the rate", r["i'"], (12 - 1.2 * r['i'] - 0.3 * r["phi'"]) / 0.004, 1e-6)
    for method in ('dop853', 'bdf'):
        for r in c.rows('filter.toml', '--method', method, '--set', 'u=5', '--position', 'f=2'):
            c.near(f'filter by {method}', r['f'], 5 - 3 * math.exp(-2 * r['t']), 1e-7)
    rc, out, err = c.call('run', 'motor.toml', '--verify', '-o', 'v.csv')
    c.that('--verify', rc == 0 and 'passes its checks' in out + err, out + err)
    opened = c.rows('motor.toml', '--set', 'load=0.2')
    want = c.rows(c.file('number.toml', MOTOR.replace('"0.1*sin(5*t)"', '0.2')))
    c.that('an input that is an expression can be set', all(abs(a['phi'] - b['phi']) < 1e-12 for a, b in zip(opened, want)))
    last = c.rows('follow.toml')[-1]
    c.near('a constraint with a state', last['x'], 1 - math.exp(-1), 1e-8)
    rc, out, err = c.call('run', 'motor.toml', '-o', 'm.json')
    summary = json.load(open(c.path('m.json')))['summary']
    c.that('the summary', rc == 0 and summary['trusted'], summary)
    rc, out, err = c.call('run', 'motor.toml', '--report', 'm.html', '-o', 'm.csv')
    c.that('a report', rc == 0 and os.path.getsize(c.path('m.html')) > 1000, err)
    c.that('a plot', c.call('plot', 'm.csv', '--show', 'i', '-o', 'm.svg')[0] == 0)


def killed(c):
    long = MOTOR.replace('to = 2.0', 'to = 400.0').replace('every = 0.1', 'every = 0.5')
    c.file('long.toml', long)
    rc, _, err = c.call('run', 'long.toml', '-o', 'whole.h5', '--quiet')
    c.that('the undisturbed run', rc == 0, err)
    for pause in (0.05, 0.15, 0.4):
        for name in ('killed.h5', 'killed.h5.part'):
            if os.path.exists(c.path(name)): os.remove(c.path(name))
        p = subprocess.Popen([c.program, 'run', 'long.toml', '-o', 'killed.h5', '--quiet'], cwd=c.folder, stderr=subprocess.DEVNULL)
        part = c.path('killed.h5.part')
        begin = time.monotonic()
        while p.poll() is None and not (os.path.exists(part) and os.path.getsize(part)) and time.monotonic() - begin < 30: time.sleep(0.005)
        time.sleep(pause)
        p.send_signal(signal.SIGKILL)
        p.wait()
        if os.path.exists(part):
            rc, _, err = c.call('run', '--resume', 'killed.h5', '--quiet')
            c.that('taken up again', rc == 0, err)
        for name in ('killed', 'whole'): c.call('plot', f'{name}.h5', '--show', 'i,phi,E', '-o', f'{name}.svg')
        a, b = (open(c.path(f'{name}.svg'), encoding='utf-8').read().replace(name, '') for name in ('killed', 'whole'))
        c.that('a killed run ends as the undisturbed one', a == b)


def sweeps(c):
    for vary, options in ((('--vary', 'U=6:12:3'), []), (('--vary', 'load=0:0.2:3'), []), (('--vary', 'i=0:1:3'), []), (('--vary', 'R=1:2:3'), ['--method', 'rk4', '--step', '0.0005'])):
        rc, out, err = c.call('sweep', 'motor.toml', *vary, *options, '-o', 'sweep.csv', '--quiet')
        c.that(f'sweep {vary} ends with 0', rc == 0, err)
        if rc: continue
        with open(c.path('sweep.csv'), encoding='utf-8') as f: ends = list(csv.DictReader(line for line in f if not line.startswith('#')))
        name = vary[1].split('=')[0]
        for end in ends:
            value = end.get(name) if name != 'i' else None
            start = end[next(k for k in end if k in (name, f'start({name})', f'{name}_0', 'i(0)', 'i_start'))] if value is None else value
            last = c.rows('motor.toml', *(['--position'] if name == 'i' else ['--set']), f'{name}={start}')[-1]
            columns = [k for k in end if k.startswith('end') or k in ('phi', 'E')]
            got = {k: float(end[k]) for k in ('phi', 'E') if k in end}
            c.that(f'sweep {vary}: the ends are there', len(got) == 2, (list(end), columns))
            for k, v in got.items(): c.near(f'sweep {vary}: {k}', v, last[k], 1e-6 * max(1.0, abs(last[k])))
    c.refused('the velocity of a state cannot vary', 2, 'what the rate of the state says', 'sweep', 'motor.toml', '--vary', "i'=0:1:2", '-o', 'no.csv')


OPEN = """coordinates = ["x"]
[inputs]
U = "2 + 0.5*sin(3*t) + 0.1*x"
V = "push(t)"
[tables.push]
points = [[0, 1], [1, 3], [2, 2]]
interpolation = "linear"
outside = "hold"
[dynamics]
kinetic = "x'^2/2"
force = { x = "U^2 - 4*x - V*x'" }
[start]
position = { x = 0.3 }
velocity = { x = 0.2 }
[run]
to = 1.5
"""


def linearised(c):
    """Inputs that are expressions or tables: numbers where they are inputs, which the model says elsewhere."""
    def linear(file, *args): return json.loads(c.call('linearise', file, '--json', *args)[1] or '{}')
    file = c.file('open.toml', OPEN)
    for t in (0.0, 0.5, 1.25):
        at = ('--at', str(t)) if t else ()
        row = c.rows(file, '--tolerance', '1e-12', '--to', str(t or 1), '--every', str(t or 1))[-1 if t else 0]
        x, v = row['x'], row["x'"]
        U, V = 2 + 0.5 * math.sin(3 * t) + 0.1 * x, 1 + 2 * t if t <= 1 else 4 - t
        both = linear(file, *at, '--inputs', 'U,V', '--tolerance', '1e-12')
        c.that(f'inputs that are an expression and a table, t = {t}', both.get('inputs') == ['U', 'V'], both)
        for what, got, want in (('A', both['A'], [[0, 1], [-4, -V]]), ('B', both['B'], [[0, 0], [2 * U, -v]])):
            for a, b in zip(sum(got, []), sum(want, [])): c.near(f'{what} with inputs that are numbers, t = {t}', a, b, 1e-9)
        # Those that are not named stay what they are.
        one = linear(file, *at, '--inputs', 'V', '--tolerance', '1e-12')
        c.near(f'the other one goes with the state, t = {t}', one['A'][1][0], -4 + 0.2 * U, 1e-9)
        number = linear(file, *at, '--inputs', 'U', '--set', f'U={U!r}') if not t else {}
        if not t: c.that('as the number that it is there', number['A'] == linear(file, '--inputs', 'U')['A'] and number['B'] == linear(file, '--inputs', 'U')['B'], number)
    along = linear(file, '--inputs', 'V', '--every', '0.5', '--to', '1.5', '--tolerance', '1e-12').get('along', [])
    c.that('along the motion', len(along) == 3 and all(abs(a['A'][1][1] + v) < 1e-9 for a, v in zip(along, (2, 3, 2.5))), along)
    plain, named = (linear(file, '--period', '1.5', *more).get('multipliers') for more in ((), ('--inputs', 'U,V')))
    c.that('over a period inputs are what the model says', plain is not None and plain == named, (plain, named))
    c.refused('a name that is none', 2, 'there is no parameter `W`', 'linearise', file, '--inputs', 'W')


def refusals(c):
    c.refused('--velocity of a state', 2, 'is a state', 'run', 'motor.toml', '--velocity', 'i=1', '-o', 'no.csv')
    c.refused('--set of something else', 2, 'no parameter `V`', 'check', 'motor.toml', '--set', 'V=1')
    circuit = 'coordinates = ["q1", "q2", "q3"]\n[dynamics]\nkinetic = "q1\'^2/4"\npotential = "5*q2^2 + 2.5*q3^2"\nforce = { q3 = "-2*q3\'" }\n[constraints]\nnode = "q1 = q2 + q3"\n[run]\nto = 1\n'
    c.file('circuit.toml', circuit)
    rc, out, err = c.call('run', 'circuit.toml', '-o', 'no.csv')
    c.that('what has no mass is told of states', rc != 0 and '[states]' in err, err)
    jump = FOLLOW.replace('"1 - z"', '"if(t < 0.5, 1 - z, 3)"')
    c.file('jump.toml', jump)
    rc, out, err = c.call('run', 'jump.toml', '-o', 'no.csv')
    c.that('a rate that jumps and is tied to a mass contradicts', rc == 4 and 'jump' in err, (rc, err))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--program', required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        c = Check(os.path.abspath(options.program), folder)
        c.file('motor.toml', MOTOR), c.file('filter.toml', FILTER), c.file('follow.toml', FOLLOW)
        for part in (commands, beside_masses, runs, killed, sweeps, refusals): part(c)
    print(f'{c.passed} passed, {c.failed} failed')
    return 1 if c.failed else 0


if __name__ == '__main__':
    sys.exit(main())
