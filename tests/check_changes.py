#!/usr/bin/env python3
"""Forces as quantities, events that change the system, modes, friction with a limit of its own: against closed forms, integrations that are
made here, and the same motion put together from models that are not changed.

usage: check_changes.py --program PATH [--only NAME …] [--seed N]

Prints a line for each miss, and last `N passed, N failed`. Exit status: 0 all passed, 1 something failed, 2 the call itself is wrong."""
import argparse, json, math, os, random, re, signal, subprocess, sys, tempfile, time
from math import asin, cos, hypot, pi, sin, sqrt

import limits

sys.dont_write_bytecode = True
ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))


class Miss(Exception):
    pass


def near(what, got, want, allowed=1e-8):
    if not abs(got - want) <= allowed * max(1.0, abs(want)): raise Miss(f'{what}: {got!r}, not {want!r}')


def true(what, holds):
    if not holds: raise Miss(what)


class Run:
    def __init__(self, result, err):
        self.summary, self.events, self.err = result['summary'], result['events'], err
        self.columns = result['columns']
        self.rows = [dict(zip(self.columns, row)) for row in result['rows']]
        self.last = self.rows[-1]

    def event(self, name, k=0): return [e for e in self.events if e.get('name') == name][k]
    def times(self, kind): return [e['time'] for e in self.events if e['kind'] == kind]


class Program:
    def __init__(self, path, folder): self.path, self.folder, self.count = path, folder, 0

    def call(self, *words):
        p = subprocess.run([self.path, *map(str, words)], capture_output=True, text=True, encoding='utf-8', timeout=limits.CLOCK, cwd=self.folder)
        return p.returncode, p.stdout, p.stderr

    def model(self, text):
        self.count += 1
        path = os.path.join(self.folder, f'model_{self.count}.toml')
        open(path, 'w', encoding='utf-8').write(text)
        return path

    def run(self, text, *options, status=0):
        file = os.path.join(self.folder, f'run_{self.count}.json')
        code, _, err = self.call('run', self.model(text), '-o', file, *options)
        if code != status: raise Miss(f'run ends with {code}, not {status}: {err.strip()[:400]}')
        if status not in (0, 4): return err
        run = Run(json.load(open(file)), err)
        if status == 0: true(f"trusted: {run.summary['reasons']}", run.summary['trusted'])
        return run


# ---- forces as quantities -----------------------------------------------------------------------------------------------

def columns_of_gallery(p, seed):
    """Every force of a model as an output is the column that results have."""
    for name in ('pendulum', 'four_bar', 'bead_on_spinning_hoop', 'three_rods', 'steered_bead', 'rough_wire_bead', 'ladder_leaves_wall', 'sliding_to_rolling_disc'):
        text = open(os.path.join(ROOT, 'models', name + '.toml'), encoding='utf-8').read()
        text = re.sub(r'(?s)\n\[view.*', '\n', text)
        if '[run]' not in text: text += '\n[run]\nto = 1\nevery = 0.25\n'
        first = p.run(text, '--columns', '*')
        named = lambda word: re.findall(re.escape(word) + r'\(([^),]*)\)', ' '.join(first.columns))
        rows, coordinates = named('lambda'), named('Qc')
        rubs = named('friction')
        pairs = {}
        for x in coordinates:
            pairs[f'f_{len(pairs)}'] = (f'ideal({x})', f'Qi({x})')
            pairs[f'f_{len(pairs)}'] = (f'constraint({x})', f'Qc({x})')
            if f'Qcontrol({x})' in first.columns: pairs[f'f_{len(pairs)}'] = (f'control({x})', f'Qcontrol({x})')
        for r in rows:
            pairs[f'f_{len(pairs)}'] = (f'power({r})', f'power({r})')
            pairs[f'f_{len(pairs)}'] = (f'work({r})', f'work({r})')
            ideal = not rubs and '[nonideal]' not in text
            if ideal or f'normal({r})' in first.columns: pairs[f'f_{len(pairs)}'] = (f'multiplier({r})', f'lambda({r})' if ideal else f'normal({r})')
        for c in rubs: pairs[f'f_{len(pairs)}'] = (f'friction({c})', f'|friction({c})')
        outputs = ''.join(f'{k} = "{force}"\n' for k, (force, _) in pairs.items())
        text = text.replace('[outputs]\n', '[outputs]\n' + outputs) if '[outputs]' in text else text + '\n[outputs]\n' + outputs
        run = p.run(text)
        for row in run.rows:
            for k, (force, column) in pairs.items():
                want = abs(row[column[1:]]) if column[0] == '|' else row[column]
                if row[k] is None and want is None: continue
                near(f'{name}: {force} at t = {row["t"]}', row[k], want, 1e-11)
    true('a note on what is not unique', any('is not unique' in n and '`' in n for n in p.run('''
coordinates = ["x", "y"]
[dynamics]
mass  = { x = 1, y = 1 }
force = { y = -1 }
[constraints]
one = "y = 0"
two = "2*y = 0"
[run]
to = 1
[outputs]
f = "multiplier(one)"
''').summary['notes']))


PUSH = '''
coordinates = ["x", "y"]
[parameters]
m = 0.7
A = 1.3
[dynamics]
kinetic = "m/2*x'^2 + y'^2/2"
force   = { y = "0.2 - y" }
[constraints]
push = "x = 0.5*A*t^2"
[run]
to = 3
every = 0.25
[outputs]
w = "work(push)"
p = "power(push)"
[events]
strong = { when = "power(push) - 1.5" }
done   = { when = "work(push) - 1.5", do = "release push" }
'''


def power_and_work(p, seed):
    """A mass that is pushed along x = A t^2/2: power m A^2 t, work m A^2 t^2/2; then it is let go."""
    run = p.run(PUSH)
    m, A = 0.7, 1.3
    near('power', run.event('strong')['time'], 1.5 / (m * A * A))
    end = sqrt(3 / (m * A * A))
    near('work', run.event('done')['time'], end)
    for row in run.rows:
        t = min(row['t'], end)
        near('w', row['w'], m * A * A * t * t / 2)
        near('p', row['p'], m * A * A * t if row['t'] <= end else 0.0)
        near('work(push)', row['work(push)'], row['w'], 1e-13)
        near('x', row['x'], A * t * t / 2 + (row['t'] - t) * A * end)
        near('y', row['y'], 0.2 * (1 - cos(row['t'])))


def force_that_jumps(p, seed):
    """A force that jumps through the limit where a contact begins: a cord that becomes taut without a jump of velocities."""
    run = p.run('''
coordinates = ["x"]
[dynamics]
mass  = { x = 1 }
force = { x = "6*t" }
[constraints.stop]
equation = "x <= 1"
[run]
to = 2
[events]
heavy = { when = "abs(multiplier(stop)) - 3", direction = "up" }
''')
    near('time', run.event('heavy')['time'], 1.0)       # x = t^3: at t = 1 it is at the stop, and pushes with 6


# ---- release and engage -------------------------------------------------------------------------------------------------

def random_model(rng, n, constraint, event, engaged):
    """n coordinates with a mass matrix, springs and dampers by chance, and rows that are linear in the velocities."""
    B = [[rng.uniform(-1, 1) for _ in range(n)] for _ in range(n)]
    M = [[sum(B[i][k] * B[j][k] for k in range(n)) + (2.0 if i == j else 0.0) for j in range(n)] for i in range(n)]
    K = [rng.uniform(0.5, 3) for _ in range(n)]
    A = [[rng.uniform(-1, 1) for _ in range(n)] for _ in range(2)]
    names = [f'q{i}' for i in range(n)]
    text = 'coordinates = [' + ', '.join(f'"{x}"' for x in names) + ']\n[dynamics]\nkinetic = "'
    text += ' + '.join(f"({M[i][j]!r})/2*q{i}'*q{j}'" for i in range(n) for j in range(n)) + '"\npotential = "'
    text += ' + '.join(f'{K[i]!r}/2*q{i}^2' for i in range(n)) + ' + 0.1*q0^4"\n'
    text += "force = { q1 = \"sin(t) - 0.3*q1'\" }\n[constraints]\n"
    def row(a, primes): return ' + '.join(f"({a[i]!r})*q{i}{primes}" for i in range(n))
    text += f'always = "{row(A[0], "")} = 0"\n'
    if constraint: text += f'[constraints.some]\nequation = "{row(A[1], chr(39))} = 0"\nengaged = {"true" if engaged else "false"}\n'
    if event: text += f'[run]\nto = 2\n[events]\nnow = {{ when = "t - 0.7", do = "{event}" }}\n'
    return text, M, A


def solve(A, b):
    n = len(b)
    rows = [list(r) + [x] for r, x in zip(A, b)]
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[p] = rows[p], rows[k]
        for i in range(n):
            if i != k:
                f = rows[i][k] / rows[k][k]
                rows[i] = [x - f * y for x, y in zip(rows[i], rows[k])]
    return [rows[i][n] / rows[i][i] for i in range(n)]


def nearest(M, A, v):
    """The velocities with A v = 0 that are nearest in the mass norm."""
    n, m = len(v), len(A)
    W = [solve(M, a) for a in A]
    Av = [sum(a[i] * v[i] for i in range(n)) for a in A]
    lam = solve([[sum(A[j][i] * W[k][i] for i in range(n)) for k in range(m)] for j in range(m)], Av)
    return [v[i] - sum(W[k][i] * lam[k] for k in range(m)) for i in range(n)]


def random_systems(p, seed):
    """Released: as the model without that row, from there. Engaged: as the model with it, from the projected velocity."""
    for trial in range(4):
        rng = random.Random(seed + trial)
        n = rng.choice((3, 4, 5))
        for engaged in (True, False):
            rng = random.Random(seed + trial)
            rng.choice((3, 4, 5))
            state = rng.getstate()
            make = lambda constraint, event, on: (rng.setstate(state), random_model(rng, n, constraint, event, on))[1]
            text, M, A = make(True, 'release some' if engaged else 'engage some', engaged)
            v = nearest(M, A, [rng.uniform(-1, 1) for _ in range(n)])
            start = ','.join(f'q{i}={v[i]!r}' for i in range(n))
            whole = p.run(text, '--velocity', start, '--tolerance', '1e-12')
            before = p.run(make(engaged, None, True)[0], '--velocity', start, '--to', '0.7', '--tolerance', '1e-12').last
            q1 = [before[f'q{i}'] for i in range(n)]
            v1 = [before[f"q{i}'"] for i in range(n)]
            if not engaged: v1 = nearest(M, A, v1)
            after = p.run(make(not engaged, None, True)[0], '--time', '0.7', '--position', ','.join(f'q{i}={x!r}' for i, x in enumerate(q1)),
                          '--velocity', ','.join(f'q{i}={x!r}' for i, x in enumerate(v1)), '--to', '2', '--tolerance', '1e-12').last
            for i in range(n):
                for name in (f'q{i}', f"q{i}'"): near(f'seed {seed + trial}, engaged {engaged}: {name}', whole.last[name], after[name], 1e-8)
            e = whole.event('now')
            for i in range(n): near(f'seed {seed + trial}: velocity after', e['velocity_after'][f'q{i}'], v1[i], 1e-8)
            near('what can change', whole.last['engaged(some)'], 0.0 if engaged else 1.0)
            lost = sum(M[i][j] * (e['velocity_before'][f'q{i}'] * e['velocity_before'][f'q{j}'] - v1[i] * v1[j]) for i in range(n) for j in range(n)) / 2
            near('energy lost', whole.summary['energy_lost_in_impacts'], lost, 1e-8)


def positions_do_not_jump(p, seed):
    run = p.run('''
coordinates = ["x"]
[dynamics]
mass = { x = 1 }
[constraints.wall]
equation = "x = 0"
engaged  = false
[start]
velocity = { x = 0.25 }
[run]
to = 3
[events]
hold = { when = "t - 2", do = "engage wall" }
''', status=4)
    true(f'what is said: {run.summary["message"]}', 'positions do not satisfy constraint `wall`: it is off by 0.5' in run.summary['message'])
    near('where', run.last['t'], 2.0)


def contacts_too(p, seed):
    """A ball on a table that is pulled away; later a net is put below it, which it falls onto."""
    run = p.run('''
coordinates = ["z"]
[dynamics]
kinetic   = "0.5*z'^2"
potential = "10*z"
[constraints.table]
equation = "z >= 1"
[constraints.net]
equation    = "z >= 0"
restitution = 0.5
engaged     = false
[start]
position = { z = 1 }
[run]
to = 2.5
every = 0.1
[outputs]
n = "multiplier(table)"
[events]
pull = { when = "t - 1", do = ["release table", "engage net"] }
''')
    fall = 1 + sqrt(0.2)
    impacts = run.times('impact')
    near('impact', impacts[0], fall)
    near('second', impacts[1], fall + 2 * 0.5 * sqrt(20) / 10)
    caught = p.run('''
coordinates = ["z"]
[dynamics]
kinetic   = "0.5*z'^2"
potential = "10*z"
[constraints.net]
equation    = "z >= 0"
restitution = 0.5
engaged     = false
[start]
position = { z = 0.2 }
[run]
to = 1
[events]
catch = { when = "z", direction = "down", do = "engage net" }
''')
    near('engaging has no restitution', caught.event('catch')['velocity_after']['z'], 0.0)
    near('energy lost', caught.summary['energy_lost_in_impacts'], 2.0)
    near('it lies', caught.last['z'], 0.0)
    for row in run.rows:
        if row['t'] <= 1: near('n', row['n'], 10.0)
        elif row['t'] <= fall: near('z', row['z'], 1 - 5 * (row['t'] - 1) ** 2); near('n', row['n'], 0.0)


def controls_too(p, seed):
    run = p.run('''
coordinates = ["x"]
[dynamics]
mass  = { x = 2 }
force = { x = 1 }
[control.hold]
equation = "x' = 0"
[run]
to = 2
every = 0.5
[outputs]
u = "control(x)"
[events]
off = { when = "t - 1", do = "release hold" }
''')
    near('x', run.last['x'], 0.25)
    for row in run.rows: near('u', row['u'], -1.0 if row['t'] <= 1 else 0.0)
    near('hold', run.last['engaged(hold)'], 0.0)


# ---- modes --------------------------------------------------------------------------------------------------------------

GEAR = '''
coordinates = ["m", "w"]
[modes]
ratio = 3.0
[dynamics]
kinetic = "0.05*m'^2 + 2*w'^2"
force   = { m = 1.0 }
[constraints]
gear = "m' = ratio*w'"
[run]
to = 10
every = 1
[events]
shift = { when = "m' - 12", direction = "up", do = "ratio = ratio/2" }
'''


def gear_change(p, seed):
    """J = 0.1 + 4/ratio^2 seen from the motor. Momentum that the gear cannot take up is kept: 0.1 m'/... jumps in the mass norm."""
    run = p.run(GEAR)
    t, w, ratio = 0.0, 0.0, 3.0
    for e in [e for e in run.events if e['name'] == 'shift']:
        t += (12 - w) * (0.1 + 4 / ratio ** 2)
        near('time of a change', e['time'], t)
        wheel, ratio = 12 / ratio, ratio / 2
        # Nearest to (12, wheel) with m' = ratio w'.
        speed = (0.1 * ratio * 12 + 4 * wheel) / (0.1 * ratio ** 2 + 4)
        near('wheel after it', e['velocity_after']['w'], speed)
        w = ratio * speed
    near('motor at the end', run.last["m'"], w + (10 - t) / (0.1 + 4 / ratio ** 2))
    near('ratio', run.last['ratio'], ratio)


MASS = '''
coordinates = ["x"]
[modes]
k = 4.0
m = 1.0
[dynamics]
kinetic   = "m/2*x'^2"
potential = "k/2*x^2"
[start]
position = { x = 1 }
[run]
to = 3
[outputs]
energy = "m/2*x'^2 + k/2*x^2"
[events]
now = { when = "t - 0.5", do = ["k = k + x", "m = 2*m"] }
'''


def energy_of_modes(p, seed):
    for method in ('auto', 'dop853', 'bdf'):
        run = p.run(MASS, '--method', method, '--tolerance', '1e-9' if method == 'bdf' else '1e-11')
        x, v = cos(1.0), -2 * sin(1.0)
        k = 4 + x
        s = sqrt(k / 2)
        at = lambda t: x * cos(s * t) + v / s * sin(s * t)
        near('x', run.last['x'], at(2.5), 1e-6)
        near('k', run.last['k'], k, 1e-7)
        near('energy put in', run.summary['work_of_mode_changes'], x * x * x / 2 + v * v / 2, 1e-6)
        near('energy at the end', run.last['energy'], 2.0 + x * x * x / 2 + v * v / 2, 1e-6)


def follow_each_other(p, seed):
    """An event whose function another one changes happens at the same instant; a list is done in its order."""
    run = p.run('''
coordinates = ["x"]
[modes]
a = 0
b = 0
[dynamics]
mass = { x = 1 }
[start]
velocity = { x = 1 }
[run]
to = 2
[events]
first  = { when = "x - 1", do = ["a = 2", "b = a + x"] }
second = { when = "a - 1", do = "a = 5" }
third  = { when = "a - 4" }
''')
    true(f'order: {[e["name"] for e in run.events]}', [e['name'] for e in run.events] == ['first', 'second', 'third'])
    for e in run.events: near('time', e['time'], 1.0)
    near('b', run.last['b'], 3.0)


def storms(p, seed):
    relay = '''
coordinates = ["x"]
[modes]
s = 1
[dynamics]
mass  = { x = 1 }
force = { x = "5*s - x'" }
[run]
to = 5
[events]
up   = { when = "x' - 1", direction = "up", do = "s = -1" }
down = { when = "x' - 1", direction = "down", do = "s = 1" }
'''
    flip = '''
coordinates = ["x"]
[modes]
s = 0
[dynamics]
mass = { x = 1 }
[run]
to = 5
[events]
begin = { when = "t - 1", do = "s = 1" }
up    = { when = "s - 0.5", direction = "up", do = "s = 0" }
down  = { when = "s - 0.5", direction = "down", do = "s = 1" }
'''
    for text in (relay, flip):
        run = p.run(text, status=4)
        true(f'what is said: {run.summary["message"]}', '`up`' in run.summary['message'] and '`down`' in run.summary['message'])


# ---- friction with a limit of its own -----------------------------------------------------------------------------------

def brakes(p, seed):
    wheel = '''
coordinates = ["a"]
[parameters]
F = 3
[dynamics]
kinetic   = "0.5*a'^2"
potential = "2*a"
[constraints.brake]
friction_force = "F"
slip           = "a'"
[start]
velocity = { a = 10 }
[run]
to = 6
every = 0.5
[outputs]
f = "friction(brake)"
'''
    run = p.run(wheel)
    near('stick', run.times('stick')[0], 2.0)
    near('a', run.last['a'], 10.0)
    near('f', run.last['f'], 2.0)
    near('lost', run.summary['energy_lost_in_friction'], 30.0)
    true('no multiplier', not any('lambda' in c or 'normal' in c for c in run.columns))
    run = p.run(wheel, '--set', 'F=1.5')                 # it does not hold
    stop = 10 / 3.5
    near('slip', run.times('slip')[0], stop)
    near('a', run.last['a'], 10 * stop / 2 - 0.25 * (6 - stop) ** 2)
    near('f', run.last['f'], 1.5)
    for F, sticks in ((4.9, False), (5.1, True)):         # 1 kg on a slope, from rest, with m g sin = 5
        run = p.run(wheel.replace('potential = "2*a"', 'potential = "5*a"').replace('velocity = { a = 10 }', ''), '--set', f'F={F}')
        near('a', run.last['a'], 0.0 if sticks else -0.05 * 36, 1e-7)
    two = p.run('''
coordinates = ["x", "y"]
[dynamics]
kinetic = "0.5*(x'^2 + y'^2)"
[constraints.pad]
friction_force = 2.0
slip = ["x'", "y'"]
[start]
velocity = { x = 3, y = 4 }
[run]
to = 4
[outputs]
f = "friction(pad)"
''')
    near('stick', two.times('stick')[0], 2.5)
    near('x', two.last['x'], 3.75)
    near('y', two.last['y'], 5.0)


JOINT = '''
coordinates = ["x", "y"]
[dynamics]
kinetic = "0.5*x'^2 + 0.5*y'^2"
force   = { x = "3*sin(t)" }
[constraints.joint]
friction_force = 1.0
slip           = "x' - y'"
[run]
to = 20
every = 0.5
tolerance = 1e-11
'''


def joint(p, seed):
    """Two equal masses with friction between them, one of them shaken, piece by piece in closed form."""
    run = p.run(JOINT)
    t, u, v, x, y, changes, pieces = 0.0, 0.0, 0.0, 0.0, 0.0, [], []
    def bisect(f, a, b):
        for _ in range(200):
            m = (a + b) / 2
            if (f(m) > 0) == (f(b) > 0): b = m
            else: a = m
        return b
    def first(f, a):
        """Where f turns negative after a."""
        h, s = 1e-3, a
        while s < 20:
            if f(s + h) < 0: return bisect(f, s, s + h)
            s += h
        return 20.0
    state = 'stick'
    while t < 20:
        t0, u0, v0, x0, y0 = t, u, v, x, y
        if state == 'stick':
            # Both have 1.5 sin t, and the joint gives the second that much.
            end = first(lambda s: 1 - abs(1.5 * sin(s)) if s > t0 + 1e-9 else 1.0, t0)
            U = lambda s, t0=t0, u0=u0: u0 + 1.5 * (cos(t0) - cos(s)); V = U
            X = lambda s, t0=t0, u0=u0, x0=x0: x0 + (u0 + 1.5 * cos(t0)) * (s - t0) - 1.5 * (sin(s) - sin(t0)); Y = lambda s, X=X, x0=x0, y0=y0: y0 + X(s) - x0
            then = 1.0 if sin(end) > 0 else -1.0
        else:
            d = state
            U = lambda s, t0=t0, u0=u0, d=d: u0 + 3 * (cos(t0) - cos(s)) - d * (s - t0); V = lambda s, t0=t0, v0=v0, d=d: v0 + d * (s - t0)
            X = lambda s, t0=t0, u0=u0, x0=x0, d=d: x0 + (u0 + 3 * cos(t0)) * (s - t0) - 3 * (sin(s) - sin(t0)) - d / 2 * (s - t0) ** 2
            Y = lambda s, t0=t0, v0=v0, y0=y0, d=d: y0 + v0 * (s - t0) + d / 2 * (s - t0) ** 2
            end = first(lambda s: d * (U(s) - V(s)) if s > t0 + 2e-3 else 1.0, t0)
            then = 'stick' if abs(1.5 * sin(end)) <= 1 else (1.0 if sin(end) > 0 else -1.0)
        pieces.append((t0, min(end, 20.0), X, Y))
        if end < 20: changes.append(end)
        t, u, v, x, y, state = end, U(end), V(end), X(end), Y(end), then
    times = sorted(run.times('stick') + run.times('slip'))
    true(f'{len(times)} changes, not {len(changes)}', len(times) == len(changes))
    for a, b in zip(times, changes): near('change', a, b, 1e-7)
    for row in run.rows:
        _, _, X, Y = next(q for q in pieces if row['t'] <= q[1] + 1e-9)
        near('x', row['x'], X(row['t']), 1e-7)
        near('y', row['y'], Y(row['t']), 1e-7)


def as_coulomb(p, seed):
    """With a constant normal force Coulomb's law has a limit of its own: two laws, solved by different equations, one motion."""
    def text(law): return '''
coordinates = ["x", "y", "z"]
[dynamics]
mass  = { x = 1, y = 1, z = 1 }
force = { x = "sin(t)", y = -1, z = -1 }
[constraints.one]
''' + ('equation = "y = 0"\n' if law == 'friction' else '') + f'''{law} = "0.5 + 0.2*cos(3*t)"
slip = "x' - 0.1*sin(5*t)"
[constraints.two]
''' + ('equation = "z = 0"\n' if law == 'friction' else '') + f'''{law} = 0.3
slip = "x'"
[run]
to = 12
every = 1
tolerance = 1e-11
[outputs]
f = "friction(one)"
'''
    a, b = p.run(text('friction_force')), p.run(text('friction'))
    true('as many changes', len(a.events) == len(b.events) > 10)
    for e, g in zip(a.events, b.events): near(e['kind'], e['time'], g['time']); true('kind', e['kind'] == g['kind'])
    for r, s in zip(a.rows, b.rows): near('x', r['x'], s['x']); near('f', r['f'], s['f'])


def brake_that_is_engaged(p, seed):
    run = p.run('''
coordinates = ["a"]
[modes]
F = 1
[dynamics]
kinetic = "0.5*a'^2"
[constraints.brake]
friction_force = "F"
slip    = "a'"
engaged = false
[start]
velocity = { a = 5 }
[run]
to = 6
every = 0.5
[events]
on   = { when = "t - 1", do = "engage brake" }
hard = { when = "a' - 3", direction = "down", do = "F = 2*F" }
''')
    near('hard', run.event('hard')['time'], 3.0)
    near('stick', run.times('stick')[0], 4.5)
    near('a', run.last['a'], 5 + 8 + 2.25)
    near('impacts', run.summary['impacts'], 0)


# ---- everywhere ---------------------------------------------------------------------------------------------------------

def families(p, seed):
    """As written out member by member."""
    def stated(n): return f'''
coordinates = ["x[1..N]", "y"]
[parameters]
N = {n}
[dynamics]
kinetic = "sum(i = 1..N, 0.5*x[i]'^2) + 0.5*y'^2"
[dynamics.force]
"x[i]" = {{ for = "i = 1..N", value = "i/N + t" }}
y = 1
[constraints.hold]
for      = "i = 1..N"
equation = "x[i] = 0"
[constraints.pad]
for            = "i = 1..2"
friction_force = "0.5*i"
slip           = "x[i]' - y'"
[run]
to = 2
every = 0.5
[outputs]
all = "sum(i = 1..N, multiplier(hold[i]))"
"pad_force[i]" = {{ for = "i = 1..2", value = "friction(pad[i])" }}
[events]
one  = {{ for = "i = 1..3", when = "-multiplier(hold[i]) - i/N - 0.2*i", do = "release hold[i]" }}
rest = {{ when = "t - 1", do = "release hold" }}
'''
    def written(n):
        line = lambda f, sep=' + ': sep.join(f(i) for i in range(1, n + 1))
        text = 'coordinates = [' + line(lambda i: f'"x{i}"', ', ') + ', "y"]\n[dynamics]\nkinetic = "' + line(lambda i: f"0.5*x{i}'^2") + " + 0.5*y'^2\"\n[dynamics.force]\n"
        text += line(lambda i: f'x{i} = "{i}/{n} + t"\n', '') + 'y = 1\n[constraints]\n' + line(lambda i: f'hold{i} = "x{i} = 0"\n', '')
        for i in (1, 2): text += f'[constraints.pad{i}]\nfriction_force = {0.5 * i}\nslip = "x{i}\' - y\'"\n'
        text += '[run]\nto = 2\nevery = 0.5\n[outputs]\nall = "' + line(lambda i: f'multiplier(hold{i})') + '"\n[events]\n'
        for i in (1, 2, 3): text += f'one{i} = {{ when = "-multiplier(hold{i}) - {i}/{n} - 0.2*{i}", do = "release hold{i}" }}\n'
        return text + 'rest = { when = "t - 1", do = [' + line(lambda i: f'"release hold{i}"', ', ') + '] }\n'
    for n in (3, 30, 300):
        one, other = p.run(stated(n)), p.run(written(n))
        for a, b in zip(one.rows, other.rows):
            for i in (1, 2, 3, n): near(f'N = {n}: x[{i}] at {a["t"]}', a[f'x[{i}]'], b[f'x{i}'], 1e-9)
            near(f'N = {n}: y', a['y'], b['y'], 1e-9)
            near(f'N = {n}: all', a['all'], b['all'], 1e-9)
            near(f'N = {n}: friction', a['pad_force[2]'], abs(b['friction(pad2)']), 1e-9)
        for i in (1, 2, 3): near(f'N = {n}: event {i}', one.event(f'one[{i}]')['time'], other.event(f'one{i}')['time'], 1e-9)
        near(f'N = {n}: event 3', one.event('one[3]')['time'], 0.6)
        named = p.run(stated(n).replace('one  = {', '"one[i]" = {'))
        true(f'N = {n}: an index in the name of events', [(e['name'], e['time']) for e in named.events if e['kind'] == 'user'] == [(e['name'], e['time']) for e in one.events if e['kind'] == 'user'])


def rates_are_no_impacts(p, seed):
    """A thermostat switches the rate of a state: nothing strikes. A mass that is tied to a wall does."""
    text = '''
coordinates = ["x"]
[modes]
heat = 5
[states]
T = { rate = "heat - 0.2*T", start = 18 }
[dynamics]
kinetic = "x'^2/2"
[constraints]
tie = { equation = "x = 2.5", engaged = false }
[start]
velocity = { x = 1 }
[events]
hot  = { when = "T - 21", direction = "up", do = "heat = 3" }
cold = { when = "T - 19", direction = "down", do = "heat = 5" }
[run]
to = 8
every = 1
'''
    for tied, impacts in ((False, 0), (True, 1)):
        run = p.run(text.replace('[run]', 'stop = { when = "x - 2.5", do = "engage tie" }\n[run]') if tied else text)
        true(f'{len(run.events)} events', len([e for e in run.events if e['kind'] == 'user']) > 2)
        near(f'impacts, tied {tied}', run.summary['impacts'], impacts)


def brakes_that_slide(p, seed):
    """A brake without an equation is a force where it slides, and a row where it sticks."""
    text = '''
coordinates = ["a", "b"]
[dynamics]
kinetic = "a'^2/2 + b'^2/2"
potential = "a^2 + b^2"
[constraints]
brake = { friction_force = 0.3, slip = "a' - b'" }
[start]
velocity = { a = SPEED }
'''
    for speed, slides in (('2', True), ('0', False)):
        code, out, err = p.call('linearise', p.model(text.replace('SPEED', speed)), '--json')
        notes = ' '.join(json.loads(out)['notes'])
        true(f'{notes}', ('a force that does not turn' in notes) == slides and ('counted as an equation' in notes) != slides)
        true(f'states {out[:300]}', len(json.loads(out)['states']) == (4 if slides else 3))


def resumed(p, seed):
    """Killed and taken up again: the bytes of an undisturbed run."""
    text = '''
coordinates = ["x", "z"]
[modes]
s = 1
[dynamics]
kinetic = "0.5*x'^2 + 0.5*z'^2"
force   = { x = "s*(2 + sin(t)) - 0.1*x'", z = "-9.81" }
[constraints.floor]
equation    = "z >= 0"
restitution = 0.9
[constraints.rod]
equation = "x' = z'"
engaged  = false
[constraints.brake]
friction_force = 0.3
slip           = "x'"
[start]
position = { z = 1 }
[run]
to = 400
every = 0.01
[outputs]
w = "work(floor) + friction(brake)"
[events]
right = { when = "x - 3", direction = "up", do = ["s = -1", "release brake"] }
left  = { when = "x + 3", direction = "down", do = ["s = 1", "engage brake"] }
'''
    model = p.model(text)
    whole, part = os.path.join(p.folder, 'whole.h5'), os.path.join(p.folder, 'part.h5')
    code, _, err = p.call('run', model, '-o', whole, '--quiet')
    true(f'the run ends with {code}: {err}', code in (0, 5))
    for wait in (0.4, 0.8):
        process = subprocess.Popen([p.path, 'run', model, '-o', part, '--quiet'], stderr=subprocess.DEVNULL)
        time.sleep(wait)
        process.kill()
        process.wait()
        if not os.path.exists(part): p.call('run', '--resume', part)
        shown = []
        for file in (whole, part):
            shown.append(rows_of(file))
        true('the rows differ', shown[0] == shown[1])
        os.remove(part)


def rows_of(file):
    names = [word for name in ('t', 'q', 'qd', 'outputs', 'modes', 'engaged', 'lambda', 'work') for word in ('-d', '/' + name)]
    p = subprocess.run(['h5dump', '-m', '%.17g', *names, file], capture_output=True, text=True, timeout=limits.CLOCK)
    if p.returncode != 0: raise Miss(f'h5dump: {p.stderr[:300]}')
    return p.stdout.replace(file, '')


def swept(p, seed):
    """A sweep is as many runs."""
    path = p.model(open(os.path.join(ROOT, 'models', 'weak_rod.toml'), encoding='utf-8').read())
    file = os.path.join(p.folder, 'sweep.csv')
    code, _, err = p.call('sweep', path, '--vary', 'F=5:25:5', '--keep', 'pull,engaged(rod),energy', '-o', file, '--quiet')
    if code != 0: raise Miss(f'sweep ends with {code}: {err[:300]}')
    import csv
    rows = list(csv.DictReader(open(file)))
    true('five motions', len(rows) == 5)
    for row in rows:
        one = p.run(open(path, encoding='utf-8').read(), '--set', f"F={row['F']}")
        for name in ('x', 'y', "x'", "y'"): near(f"F = {row['F']}: {name}", float(row[name]), one.last[name], 1e-9)
        for name in ('pull', 'engaged(rod)', 'energy'): near(f"F = {row['F']}: {name}", float(row[name]), one.last[name], 1e-9)


def verified(p, seed):
    for text in (GEAR, JOINT, open(os.path.join(ROOT, 'models', 'weak_rod.toml'), encoding='utf-8').read()):
        true('global error', p.run(text, '--verify').summary['global_error'] < 1e-6)


def goes_on_from_results(p, seed):
    """A run from a row of a result has the modes of that row and what was released there: it ends as the whole run does."""
    text = '''
coordinates = ["x"]
[modes]
thrust = 4.0
[dynamics]
kinetic = "x'^2"
force   = { x = "thrust - 0.2*x'" }
[events]
burnt = { when = "t - 1", do = "thrust = 0" }
[run]
to = 3
every = 0.5
'''
    file, stored = p.model(text), os.path.join(p.folder, 'stored.h5')
    whole = p.run(text, '--to', 5)
    true('a run to go on from', p.call('run', file, '-o', stored)[0] == 0)
    rest = p.run(text, '--from', stored, '--to', 5)
    near('x after a mode', rest.last['x'], whole.last['x'], 1e-9)
    true('the mode is said', '`thrust` = 0' in rest.err)
    code, _, err = p.call('sweep', file, '--from', stored, '--to', 5, '--count', 2, '--seed', 1, '--vary', "x'=uniform(0,1)")
    true('a sweep does not go on with other modes', code == 2 and 'thrust' in err)
    rod = '''
coordinates = ["x", "y"]
[dynamics]
kinetic   = "0.75*(x'^2 + y'^2)"
potential = "14.715*y"
[constraints]
rod = "sqrt(x^2 + y^2) = 2"
[events]
breaks = { when = "-multiplier(rod) - 30", direction = "up", do = "release rod" }
[start]
position = { x = 2 }
[run]
to = 1.5
every = 0.5
'''
    file, whole = p.model(rod), p.run(rod, '--to', 2)
    true('a rod that breaks', p.call('run', file, '-o', stored)[0] == 0)
    rest = p.run(rod, '--from', stored, '--to', 2)
    near('y after a rod has broken', rest.last['y'], whole.last['y'], 1e-9)
    near('and falls freely', rest.last["y''"], -9.81)


def joints_of_bodies(p, seed):
    """`release` of a joint releases all its rows: what was held flies on with the velocity that it had. A joint that begins released is engaged as a
    constraint is, with the jump of velocities nearest in the mass norm."""
    pin = '''
[world]
gravity = [0, 0, -9.81]
[bodies.bob]
mass = 1.5
inertia = [0.01, 0.02, 0.03]
start = {{ at = [1, 0, 0], velocity = [0, 0, -2], spin = [0, 2, 0] }}
[joints.pin]
type = "{type}"
between = ["ground", "bob"]
at = [0, 0, 0]
{axis}
[events]
lets_go = {{ when = "t - 0.25", do = "release pin" }}
[run]
to = 0.75
every = 0.25
'''
    for kind, axis in (('revolute', 'axis = [0, 1, 0]'), ('spherical', '')):
        run = p.run(pin.format(type=kind, axis=axis))
        at, end = [r for r in run.rows if abs(r['t'] - 0.25) < 1e-9][-1], run.last
        near('held until then', math.hypot(at['bob.x'], at['bob.z']), 1.0)
        near('x of what flies', end['bob.x'], at['bob.x'] + 0.5*at["bob.x'"])
        near('z of what flies', end['bob.z'], at['bob.z'] + 0.5*at["bob.z'"] - 9.81*0.125)
    grab = '''
[bodies.a]
mass = 1
inertia = [0.1, 0.1, 0.1]
start = { at = [0, 0, 0], velocity = [1, 0, 0] }
[bodies.b]
mass = 3
inertia = [0.1, 0.1, 0.1]
start = { at = [1, 0, 0] }
[joints.grip]
type = "spherical"
between = ["a", "b"]
first = { at = [0, 0, 0] }
second = { at = [0, 0, 0] }
engaged = false
[events]
grabs = { when = "b.x - a.x", do = "engage grip" }
[run]
to = 2
every = 1
'''
    end = p.run(grab).last
    near('what is grabbed goes with it', end['b.x'], 1.25)
    near('and both together', end['a.x'], 1.25)


def linear_in_stages(p, seed):
    """`linearise` and `equilibrium` are of what acts: x and y with a spring k between them, y tied from t = 1 on with another k."""
    text = '''
coordinates = ["x", "y"]
[modes]
k = 4.0
[dynamics]
kinetic   = "x'^2/2 + y'^2/2"
potential = "k*(x - y)^2/2"
[constraints]
tie = { equation = "y = 0", engaged = false }
[events]
late = { when = "t - 1", do = ["engage tie", "k = 9"] }
[run]
to = 3
'''
    file = p.model(text)
    def frequencies(*more):
        code, out, err = p.call('linearise', file, '--json', *more)
        if code: raise Miss(f'linearise {more}: {err[:300]}')
        return sorted(abs(im) for re, im in (tuple(e.values())[:2] if isinstance(e, dict) else e for e in json.loads(out)['eigenvalues']))
    for more, want in (((), [0, 0, sqrt(8), sqrt(8)]), (('--at', '0.5'), [0, 0, sqrt(8), sqrt(8)]), (('--at', '2'), [3, 3])):
        got = frequencies(*more)
        true(f'linearise {more}: {got}, not {want}', len(got) == len(want))
        for a, b in zip(got, want): near(f'linearise {more}', a, b, 1e-6)
    page = os.path.join(p.folder, 'modes.html')
    true('a page of modes', p.call('linearise', file, '--at', '2', '--report', page)[0] == 0 and os.path.getsize(page) > 1000)
    code, out, err = p.call('equilibrium', file, '--json')
    states = json.loads(out)['equilibria'] if code == 0 else []
    true(f'equilibrium: {out[:200]} {err[:200]}', states and not states[0]['isolated'])


def switches_at_one_place(p, seed):
    """A kink of the constraint lies where mod() jumps: whichever of the two is found first, the force beyond is the one that was switched to. The
    motion is the same at every tolerance, and that of Runge and Kutta's steps made here."""
    text = '''
coordinates = ["x", "y"]
[parameters]
drag = 0.3
[dynamics]
kinetic   = "(x'^2 + y'^2)/2"
potential = "9.81*y"
force     = { x = "-drag*abs(x')*x' + max(0, 1 - t)*2 + if(mod(x, 1) < 0.5, 0.7, -0.2)", y = "2*sin(3*t)*sign(cos(5*x))" }
[constraints]
track = "y = 0.2*abs(x - 2)^3 + 0.1*x^2"
[start]
position = { x = 0.79465487633007481, y = 0.41338642529061337 }
[run]
to = 1.2
'''
    def rate(t, x, v):
        slope, bend = 0.6*abs(x - 2)*(x - 2) + 0.2*x, 1.2*abs(x - 2) + 0.2
        Fx = -0.3*abs(v)*v + max(0, 1 - t)*2 + (0.7 if x % 1 < 0.5 else -0.2)
        Fy = 2*sin(3*t)*(1 if cos(5*x) > 0 else -1) - 9.81
        return (Fx + slope*(Fy - bend*v*v))/(1 + slope*slope)
    t, x, v, h = 0.0, 0.79465487633007481, 0.0, 2e-5
    while t < 1.2 - h/2:
        a1 = rate(t, x, v); a2 = rate(t + h/2, x + h/2*v, v + h/2*a1)
        a3 = rate(t + h/2, x + h/2*v + h*h/4*a1, v + h/2*a2); a4 = rate(t + h, x + h*v + h*h/2*a2, v + h*a3)
        x += h*v + h*h/6*(a1 + a2 + a3); v += h/6*(a1 + 2*a2 + 2*a3 + a4); t += h
    for k in range(25):
        near(f'tolerance {10**(-6 - 0.22*k):.1e}', p.run(text, '--tolerance', repr(10**(-6 - 0.22*k))).last['x'], x, 1e-4)


def ideal_forces_beside_friction(p, seed):
    """ideal() and power() in events where something rubs, from the first instant on: m g of a bead on a rail."""
    run = p.run('''
coordinates = ["x", "y"]
[dynamics]
kinetic   = "x'^2 + y'^2"
potential = "19.62*y"
[constraints.rail]
equation = "y = 0"
friction = 0.2
slip     = "x'"
[events]
never = { when = "ideal(y) - 20" }
slow  = { when = "x' - 1", do = "stop" }
[start]
velocity = { x = 3 }
[run]
to = 5
every = 0.1
''')
    near('when it has slowed down', run.last['t'], 2/(0.2*9.81))
    true('and no other event', [e['name'] for e in run.events if e['kind'] == 'user'] == ['slow'])


def surfaces_that_break(p, seed):
    """What stands or slides on a one-sided constraint leaves it, or hits it, where its surface has a kink or a step: closed forms."""
    rng, g = random.Random(seed), 9.81
    flat = """
coordinates = ["x", "y"]
[dynamics]
kinetic   = "(x'^2 + y'^2)/2"
potential = "9.81*y"
"""
    for k in range(6):
        v, s, d, mu = rng.uniform(1.5, 3), rng.uniform(0.2, 1.2), rng.uniform(0.3, 1), rng.choice([0, 0.1])
        ground = rng.choice([f'y >= if(x < 0, 0, {-s}*x)', f'y >= -{s}*max(0, x)', 'y >= g(x)'])
        rubs = f'friction = {mu}\nslip = "x\'"' if mu else ''
        run = p.run(flat + f"""
[tables.g]
points = [[-9, 0], [0, 0], [99, {-99*s}]]
[constraints.ground]
equation = "{ground}"
{rubs}
[start]
position = {{ x = {-d} }}
velocity = {{ x = {v} }}
[run]
to = 3
tolerance = 1e-10
""")
        edge = sqrt(v*v - 2*mu*g*d)
        leaves = (v - edge)/(mu*g) if mu else d/v
        lands = leaves + 2*s*edge/g
        near(f'{k}: leaves', run.times('release')[0], leaves)
        near(f'{k}: lands', run.times('impact')[0], lands)
        if mu == 0: near(f'{k}: x at the end', run.last['x'], edge*(lands - leaves) + (edge + s*g*(lands - leaves))/(1 + s*s)*(3 - lands) + g*s/(1 + s*s)*(3 - lands)**2/2)
    floor = """
coordinates = ["y"]
[dynamics]
kinetic   = "y'^2/2"
potential = "9.81*y"
[parameters]
w = {w}
e = {e}
[constraints.floor]
equation    = "y >= {floor}"
restitution = "e"
[start]
{start}
[run]
to = 1.03
tolerance = 1e-10
"""
    for e in (0, 0.4):
        w = rng.uniform(0.5, 1.5)
        for rises in ('w*max(0, t - 1)', 'if(t < 1, 0, w*(t - 1))'):
            text = floor.format(w=w, e=e, floor=rises, start='')
            run = p.run(text)
            near('begins to rise', run.times('impact')[0], 1.0)
            near('thrown', run.last["y'"], (1 + e)*w - (g*0.03 if e else 0))
            # Ended there and taken up again, and as one of many.
            model, part = p.model(text), os.path.join(p.folder, f'part_{p.count}.h5')
            for words in (['run', model, '--to', '1', '-o', part, '--quiet'], ['run', '--resume', part, '--to', '1.03', '--quiet']):
                code, _, err = p.call(*words)
                if code != 0: raise Miss(f'{words[:2]} ends with {code}: {err[:300]}')
            shown = subprocess.run(['h5dump', '-m', '%.17g', '-d', '/qd', part], capture_output=True, text=True, timeout=limits.CLOCK).stdout
            near('taken up', float(re.findall(r'\): ([-+.\de]+)', shown)[-1]), run.last["y'"])
            table = os.path.join(p.folder, 'sweep.csv')
            code, _, err = p.call('sweep', model, '--vary', 'w=0.5:1.5:3', '-o', table, '--quiet')
            if code != 0: raise Miss(f'sweep ends with {code}: {err[:300]}')
            import csv
            for row in csv.DictReader(open(table)): near('swept', float(row["y'"]), (1 + e)*float(row['w']) - (g*0.03 if e else 0))
    w = rng.uniform(0.3, 0.6)
    run = p.run(floor.format(w=w, e=0, floor='w*min(t, 2 - t)', start=f'velocity = {{ y = {w} }}'), '--to', '1.5')
    near('thrown off', run.times('release')[0], 1.0)
    near('comes down', run.times('impact')[0], 1 + 4*w/g)
    run = p.run(floor.format(w=w, e=0, floor='if(t < 1, w, 0)', start=f'position = {{ y = {w} }}'), '--to', '2')
    near('falls', run.times('release')[0], 1.0)
    near('down', run.times('impact')[0], 1 + sqrt(2*w/g))
    run = p.run(floor.format(w=w, e=0, floor='if(t < 1, 0, w)', start=''), '--to', '2', status=4)
    true(f'a step up is refused: {run.err}', 'jumps by' in run.err and 'positions would have to change' in run.err)
    # A block comes down one side of a wide groove and goes up the other, with what is left along it.
    s = rng.uniform(0.2, 0.6)
    run = p.run(flat + f"""
[constraints.ground]
equation = "y >= {s}*abs(x)"
[start]
position = {{ x = -1, y = {s} }}
[run]
to = {1.2*sqrt(2*(1 + s*s)/(g*s))}
tolerance = 1e-10
""")
    down = sqrt(2*(1 + s*s)/(g*s))
    hit = [e for e in run.events if e['kind'] == 'impact'][0]
    near('in the groove', hit['time'], down)
    near('across it', hit['velocity_after']['x'], g*s/(1 + s*s)*down*(1 - s*s)/(1 + s*s))


def kinks_held_by_constraints(p, seed):
    """What a constraint holds at zero is 1e-17 or -1e-17: a kink there is none, and the motion is that without it."""
    rng = random.Random(seed)
    for k in range(8):
        a, b, mu = rng.uniform(0.1, 2), rng.uniform(-1, 1), rng.choice([0, 0.3])
        rubs = f'friction = {mu}\nslip = "q2\'"' if mu else ''
        text = f"""
coordinates = ["q0", "q1", "q2"]
[dynamics]
kinetic = "(q0'^2 + q1'^2 + q2'^2)/2 + 0.1*cos(q0)*q0'*q1'"
force   = {{ q0 = "sin(q2) - 0.2*q0'", q1 = "FORCE - 0.2*q1'", q2 = "{a} - 0.2*q2'" }}
[constraints.c]
equation = "q0 = {b}*q2"
{rubs}
[start]
position = {{ q0 = {0.3*b}, q1 = 0.13, q2 = 0.3 }}
[run]
to = 3
"""
        kink = rng.choice([f'abs(q0 - {b}*q2)', f'max(0, {b}*q2 - q0)', f'min(q0 - {b}*q2, 0)'])
        one, other = (p.run(text.replace('FORCE', force), '--tolerance', '1e-9').last for force in (kink, '0'))
        for name in ('q0', 'q1', 'q2', "q1'", "q2'"): near(f'{k}: {name}', one[name], other[name], 1e-7)
    # Friction of the row that holds it moves the projections about.
    text = """
coordinates = ["q0", "q1", "q2", "q3"]
[dynamics]
kinetic = "0.75*(q0'^2 + q1'^2 + q2'^2 + q3'^2) + 0.1*cos(q0)*q0'*q1'"
force   = { q0 = "sin(q3) - 0.2*q0'", q1 = "FORCE - 0.2*q1'", q2 = "0.1 - 0.2*q2'", q3 = "q2*q2 - 0.2*q3'" }
[constraints.c]
equation = "q0 = 0"
friction = 0.488
slip     = "q2'"
[start]
position = { q1 = 0.13, q2 = -0.272, q3 = 0.361 }
[run]
to = 1
"""
    one, other = (p.run(text.replace('FORCE', force), '--tolerance', '1e-9').last for force in ('abs(q0)', '0'))
    for name in ('q1', 'q2', 'q3'): near(f'beside friction: {name}', one[name], other[name], 1e-7)


def loads_that_jump(p, seed):
    """What rests lets go where the load on it jumps, however the jump is written: closed forms."""
    one = """
coordinates = ["x"]
[dynamics]
kinetic = "x'^2/2"
force   = { x = "FORCE" }
[constraints.brake]
friction_force = 0.5
slip = "x'"
[run]
to = 2
tolerance = 1e-10
"""
    slides = 1.5*1.2**2/2
    for force, x in (('if(t > 0.8, 2, 0)', slides), ('if(t >= 0.8, 2, 0.1)', slides), ('if(t > 0.8, -2, 0)', -slides), ('2*max(0, sign(t - 0.8))', slides),
                     ('if(mod(t, 10) > 0.8, 2, 0)', slides), ('if(t > 0.8 and t < 0.9, 5, 0)', 4.5*0.1**2/2 + 0.45**2), ('1 + sign(t - 0.8)', slides)):
        run = p.run(one.replace('FORCE', force))
        near(f'{force}: lets go', run.times('slip')[0], 0.8)
        near(f'{force}: x', run.last['x'], x)
    # Within a millionth of a second, from rest.
    for ramp in (1e-1, 1e-4, 1e-6, 1e-7):
        begin, grows = 0.8 + ramp/4, 0.75*ramp
        v, x = 1.5*grows/2, 1.5*grows**2/6
        rest = 2 - 0.8 - ramp
        near(f'a ramp of {ramp}', p.run(one.replace('FORCE', 'f(t)') + f'[tables.f]\npoints = [[0, 0], [0.8, 0], [{0.8 + ramp!r}, 2]]\noutside = "hold"\n').last['x'],
             x + v*rest + 1.5*rest**2/2)
    two = """
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
force   = { x = "FORCEX", y = "FORCEY" }
[constraints.c]
equation = "y CMP 0"
RUBS
[run]
to = 2
tolerance = 1e-10
"""
    rubs = 'friction = 0.1\nslip = "x\'"'
    for x, y, cmp, rub, name, want in (('if(t > 0.8, 2.5, 0)', '-10', '>=', rubs, 'x', slides), ('0.5', '-10 + if(t > 0.8, 7, 0)', '>=', rubs, 'x', 0.2*1.2**2/2),
                                       ('0', '-10 + if(t > 0.8, 14, 0)', '>=', rubs, 'y', 4*1.2**2/2), ('0', '-10 + if(t > 0.8, 14, 0)', '>=', '', 'y', 4*1.2**2/2),
                                       ('if(t > 0.8, 2.5, 0)', '-10', '=', rubs, 'x', slides), ('0.3', '-10 + if(x > 0.096, 14, 0)', '>=', '', 'y', 4*1.2**2/2)):
        run = p.run(two.replace('FORCEX', x).replace('FORCEY', y).replace('CMP', cmp).replace('RUBS', rub))
        near(f'{x}, {y}, {cmp}: {name}', run.last[name], want)
        true('no contact pulls', cmp == '=' or all(row['lambda(c)'] >= -1e-12 for row in run.rows))
    # At the very start, and where a run is taken up at the instant of the jump.
    text = two.replace('FORCEX', '0').replace('FORCEY', '-10 + if(t > 0, 14, 0)').replace('CMP', '>=').replace('RUBS', '')
    near('from the start on', p.run(text).last['y'], 8.0)
    model, part = p.model(one.replace('FORCE', 'if(t > 0.8, 2, 0)')), os.path.join(p.folder, 'jump.h5')
    for words in (['run', model, '--to', '0.8', '-o', part, '--quiet'], ['run', '--resume', part, '--to', '2', '--quiet']):
        code, _, err = p.call(*words)
        if code != 0: raise Miss(f'{words[:2]} ends with {code}: {err[:300]}')
    shown = subprocess.run(['h5dump', '-m', '%.17g', '-d', '/q', part], capture_output=True, text=True, timeout=limits.CLOCK).stdout
    near('taken up', float(re.findall(r'\): ([-+.\de]+)', shown)[-1]), slides)


def motors_at_their_limits(p, seed):
    """The seven-axis arm led along a circle by motors that are too weak: wrists whose share in what is missed comes to nothing and goes on the other way
    are thrown from one limit to the other. Efforts of rows are those that the general search finds at their states."""
    text = open(os.path.join(ROOT, 'models', 'arm7.toml'), encoding='utf-8').read()
    most, damping, part = (90, 90, 60, 60, 20, 10, 5), (10, 10, 6, 6, 2, 0.5, 0.2), 0.1
    begin, end, last = (text.index(f'[{name}]') for name in ('constraints', 'start', 'run'))
    moves = {'tipX': ' + 0.1*(cos(2*t) - 1)', 'tipY': ' + 0.1*sin(2*t)', 'tipZ': ''}
    control = ''.join(f'[control.{name}]\nequation = "{left} = {right}{moves[name]}"\nfrequency = 8.0\n'
                      for name, left, right in re.findall('(tip.) = "(.*) = (.*)"', text[begin:end]))
    force = ', '.join(f"q{i} = \"-{d}*q{i}'\"" for i, d in enumerate(damping))
    motors = ''.join(f'motor{i} = {{ q{i} = "1", cost = {1 / x ** 2!r}, limit = {part * x!r} }}\n' for i, x in enumerate(most))
    text = f'{text[:begin]}force = {{ {force} }}\n[actuators]\n{motors}{control}{text[end:last]}'
    run = p.run(text, '--to', '0.7', '--every', '0.02')
    path, thrown = p.model(text), 0
    for row in run.rows[::2]:
        state = [f"{kind}={','.join(f'q{i}={row[name.format(i)]!r}' for i in range(7))}" for kind, name in (('--position', 'q{}'), ('--velocity', "q{}'"))]
        code, out, err = p.call('accelerate', path, '--json', '--time', repr(row['t']), *state)
        if code != 0: raise Miss(f'accelerate ends with {code}: {err.strip()[:300]}')
        efforts = json.loads(out)['actuators']
        for i, x in enumerate(most):
            near(f"motor{i} at t = {row['t']}", row[f'tau(motor{i})'] / x, efforts[f'motor{i}'] / x, 1e-6)
    thrown = sum(1 for a, b in zip(run.events, run.events[1:]) if a['time'] == b['time'] and a['name'] == b['name'])
    true(f'{thrown} motors thrown over, {len(run.events)} events', thrown >= 5 and len(run.events) > 20)


CHECKS = {f.__name__: f for f in (columns_of_gallery, power_and_work, force_that_jumps, random_systems, positions_do_not_jump, contacts_too, controls_too, gear_change,
                                  energy_of_modes, follow_each_other, storms, brakes, joint, as_coulomb, brake_that_is_engaged, families, rates_are_no_impacts, brakes_that_slide, resumed, swept, verified,
                                  goes_on_from_results, joints_of_bodies, linear_in_stages, switches_at_one_place, ideal_forces_beside_friction,
                                  surfaces_that_break, kinks_held_by_constraints, loads_that_jump, motors_at_their_limits)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--program', required=True)
    parser.add_argument('--only', nargs='*', default=[])
    parser.add_argument('--seed', type=int, default=20261117)
    options = parser.parse_args()
    passed = failed = 0
    for name, check in CHECKS.items():
        if options.only and name not in options.only: continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(Program(os.path.abspath(options.program), folder), options.seed)
                passed += 1
            except (Miss, KeyError, IndexError, StopIteration, TypeError) as e:
                failed += 1
                print(f'{name}: {type(e).__name__ if not isinstance(e, Miss) else ""} {e}', flush=True)
    print(f'{passed} passed, {failed} failed')
    return 0 if passed and not failed else 1


if __name__ == '__main__':
    sys.exit(main())
