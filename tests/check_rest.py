#!/usr/bin/env python3
"""What is rounding is nothing: bodies that come to rest on rough floors stay there, and numbers of 1e-17 … 1e-36 in place of zeros change no acceleration.

usage: check_rest.py --program PATH --models FOLDER [--seed S] [--trials N]

Prints a line for each miss and, last, `N passed, N failed`."""
import argparse
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import limits

FLOOR = 'plane = { at = [0, 0, 0], normal = [0, 0, 1] }'


def rods(rng, count, friction, restitution):
    """Rods in a row on hinges, in a plane, that fall on a floor; their ends and hinges touch it."""
    text, points, x, z = '[world]\ngravity = [0, 0, -9.81]\nplanar = "xz"\n', '[points]\n', 0.0, 0.35
    for i in range(count):
        a = rng.uniform(-0.25, 0.25)
        mid, end = (x + 0.1*math.cos(a), z + 0.1*math.sin(a)), (x + 0.2*math.cos(a), z + 0.2*math.sin(a))
        text += f'[bodies.b{i}]\nmass = 0.3\ninertia = [1, 0.001, 1]\nstart = {{ at = [{mid[0]!r}, 0, {mid[1]!r}], turned = {{ axis = [0, -1, 0], angle = {a!r} }} }}\n'
        if i == 0: points += 'p0 = { on = "b0", at = [-0.1, 0, 0] }\n'
        if i > 0: text += f'[joints.j{i}]\ntype = "revolute"\nbetween = ["b{i - 1}", "b{i}"]\nat = [{x!r}, 0, {z!r}]\naxis = [0, -1, 0]\n'
        points += f'p{i + 1} = {{ on = "b{i}", at = [0.1, 0, 0] }}\n'
        x, z = end
    for i in range(count + 1):
        text += f'[contacts.c{i}]\npoint = "p{i}"\n{FLOOR}\nrestitution = {restitution}\nfriction = {friction}\n'
    return text + points + '[outputs]\n' + ''.join(f'h{i} = "p{i}.z"\ns{i} = "p{i}.x\'"\n' for i in range(count + 1)) + '[run]\nto = 2\nevery = 0.1\n'


class Checks:
    def __init__(self, program, models, folder):
        self.program, self.models, self.folder, self.passed, self.failed = os.path.abspath(program), models, folder, 0, 0

    def that(self, what, holds, why=''):
        self.passed, self.failed = self.passed + bool(holds), self.failed + (not holds)
        if not holds: print(f'{what}: {why}', flush=True)

    def call(self, *arguments):
        return subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True, encoding='utf-8', timeout=limits.CLOCK)

    def file(self, text):
        file = pathlib.Path(self.folder)/'model.toml'
        file.write_text(text, encoding='utf-8')
        return file

    def accelerate(self, file, *arguments):
        answer = self.call('accelerate', file, '--json', *arguments)
        return json.loads(answer.stdout or 'null') if answer.returncode == 0 else None


def what_falls_lies(check, seed, trials):
    """Rough floors take all of the energy: at the end everything lies on them, without a row that has no numbers."""
    rng = random.Random(seed)
    for trial in range(trials):
        count, friction, restitution = rng.choice([1, 2, 3]), rng.choice([0.3, 0.8]), rng.choice([0, 0.3])
        done = check.call('run', check.file(rods(rng, count, friction, restitution)), '--json', '--quiet')
        what = f'seed {seed}, trial {trial}: {count} rods, friction {friction}, restitution {restitution}'
        check.that(f'{what}: comes to its end', done.returncode == 0, done.stderr[:300])
        if done.returncode != 0: continue
        run = json.loads(done.stdout)
        rows = [dict(zip(run['columns'], row)) for row in run['rows']]
        check.that(f'{what}: every row has its numbers', all(v is not None for row in rows for v in row.values()))
        last = rows[-1]
        check.that(f'{what}: lies', all(abs(last[f'h{i}']) < 1e-9 and abs(last[f's{i}']) < 1e-6 for i in range(count + 1)), last)
        check.that(f'{what}: the floor carries it', abs(sum(last[f'normal(c{i})'] for i in range(count + 1)) - 0.3*9.81*count) < 1e-7, last)


def tiny_numbers(check, seed, trials):
    """A mass of 1e-36 weighs nothing beside others that the rows tie it to; a coefficient of 1e-17 … 1e-35 holds nothing."""
    rng = random.Random(seed)
    for mass in ('0', '1e-40', '1e-36', '1e-30', '1e-25', '1e-20', '1e-16'):
        got = check.accelerate(check.file(f'coordinates = ["x", "y", "z"]\n[dynamics]\nmass = {{ x = 1, y = "{mass}", z = 2 }}\nforce = {{ x = 1, z = 3 }}\n'
                                          '[constraints]\na = "x + z + 0.5*y = t^2"\nb = "y - 2*z = 0"\n'))
        want = dict(x=1/3, y=5/3, z=5/6)  # by hand
        check.that(f'mass {mass}', got and all(abs(got['acceleration'][k] - v) < 1e-12 for k, v in want.items()), got and got['acceleration'])
    for name, coordinates in (('bricard', 'a1 c2 a3 b3 c4'.split()), ('box_stack', []), ('door_on_two_hinges', [])):
        file = check.models/f'{name}.toml'
        first = check.accelerate(file)
        names = coordinates or rng.sample(list(first['position']), min(3, len(first['position'])))
        for x in names:
            if first['position'][x] != 0: continue
            for tiny in ('1e-17', '1e-25', '1e-34', '1e-200'):
                got = check.accelerate(file, '--position', f'{x}={tiny}')
                size = max(1, *map(abs, first['acceleration'].values()))
                check.that(f'{name}, {x} = {tiny}', got and all(abs(got['acceleration'][k] - v) < 1e-8*size for k, v in first['acceleration'].items()), got and got['acceleration'])
    # Slider-crank in space, a coupler without mass: redundant, and M is singular.
    slider = f"""[world]
gravity = [0, 0, -9.81]
formulation = "free"
[bodies.crank]
mass = 1
inertia = [0.01, 0.01, 0.01]
centre = [0.1, 0, 0]
start = {{ turned = {{ axis = [0, 1, 0], angle = -0.7 }} }}
[bodies.rod]
mass = 0
start = {{ at = [{0.2*math.cos(0.7)!r}, 0, {0.2*math.sin(0.7)!r}], turned = {{ axis = [0, 1, 0], angle = {math.asin(0.4*math.sin(0.7))!r} }} }}
[bodies.slider]
mass = 2
inertia = [0.1, 0.1, 0.1]
start = {{ at = [{0.2*math.cos(0.7) + math.sqrt(0.25 - (0.2*math.sin(0.7))**2)!r}, 0, 0] }}
[joints]
A = {{ type = "revolute", between = ["ground", "crank"], at = [0, 0, 0], axis = [0, -1, 0], torque = 1.5 }}
B = {{ type = "revolute", between = ["crank", "rod"], at = [{0.2*math.cos(0.7)!r}, 0, {0.2*math.sin(0.7)!r}], axis = [0, -1, 0] }}
C = {{ type = "revolute", between = ["rod", "slider"], at = [{0.2*math.cos(0.7) + math.sqrt(0.25 - (0.2*math.sin(0.7))**2)!r}, 0, 0], axis = [0, -1, 0] }}
D = {{ type = "prismatic", between = ["ground", "slider"], at = [0, 0, 0], axis = [1, 0, 0] }}
[start]
velocity = {{ "A.angle" = 3 }}
assemble = true
"""
    first = check.accelerate(check.file(slider))
    joint = check.accelerate(check.file(slider.replace('"free"', '"joint"')))
    check.that('slider-crank', first and joint and abs(first['acceleration']['A.angle'] - joint['acceleration']['A.angle']) < 1e-9, (first, joint))
    for p in ('rod.qz=6e-34', 'slider.qx=1e-17', 'crank.qz=1e-20', 'rod.qx=1e-30'):
        got = check.accelerate(check.file(slider), '--position', p)
        check.that(f'slider-crank, {p}', got and abs(got['acceleration']['A.angle'] - joint['acceleration']['A.angle']) < 1e-8, got and got['acceleration'])


def touching(check, seed, trials):
    """Speeds that are rounding beside what gravity would give are rest."""
    for name, velocity in (('tipping_rod', 'y=-1e-13'), ('tipping_rod', 'y=-1e-34')):
        file = check.models/f'{name}.toml'
        first, got = check.accelerate(file), check.accelerate(file, '--velocity', velocity)
        check.that(f'{name}, {velocity}', got and all(abs(got['acceleration'][k] - v) < 1e-6 for k, v in first['acceleration'].items()), got and got['acceleration'])


def spinning_crates(check, seed, trials):
    """Crates that slide and spin on four corners: the floor presses as one of equal springs would, N = a + b x + c y, which RK4 by hand follows; in
    the end they rest. Dropped at random they come to rest, too."""
    rng = random.Random(seed)
    for trial in range(max(2, trials//4)):
        a, b, h, m, mu, g = rng.uniform(0.3, 0.6), rng.uniform(0.3, 0.6), rng.uniform(0.05, 0.15), 2.0, rng.uniform(0.2, 0.4), 9.81
        start = [0.0, 0.0, 0.0, rng.uniform(0.5, 1.5), rng.uniform(-1, 1), rng.uniform(2, 6)]
        text = (f'[world]\ngravity = [0, 0, -{g}]\n[bodies.b]\nshape = {{ box = [{a!r}, {b!r}, {h!r}], mass = {m} }}\n'
                f'start = {{ at = [0, 0, {h/2!r}], velocity = [{start[3]!r}, {start[4]!r}, 0], spin = [0, 0, {start[5]!r}] }}\n'
                f'[contacts.c]\nbox = {{ on = "b", size = [{a!r}, {b!r}, {h!r}] }}\n{FLOOR}\nfriction = {mu!r}\n[run]\ntolerance = 1e-10\nevery = 0.02\n')
        def rates(y):
            c, s = math.cos(y[2]), math.sin(y[2])
            at = [(c*p - s*q, s*p + c*q) for p in (-a/2, a/2) for q in (-b/2, b/2)]
            slips = [(y[3] - y[5]*q, y[4] + y[5]*p) for p, q in at]
            d = [(u/math.hypot(u, v), v/math.hypot(u, v)) for u, v in slips]
            # Sum of N, moments about x and y: linear in the three numbers of the pressure.
            A = [[0.0]*3 for _ in range(3)]
            for (p, q), (u, v) in zip(at, d):
                for k, shape in enumerate((1.0, p, q)):
                    A[0][k] += shape
                    A[1][k] += shape*(q - mu*v*h/2)
                    A[2][k] += shape*(p - mu*u*h/2)
            det = lambda B: sum(B[0][i]*(B[1][(i + 1) % 3]*B[2][(i + 2) % 3] - B[1][(i + 2) % 3]*B[2][(i + 1) % 3]) for i in range(3))
            x = [det([[m*g*(r == 0) if k == i else A[r][k] for k in range(3)] for r in range(3)])/det(A) for i in range(3)]
            N = [x[0] + x[1]*p + x[2]*q for p, q in at]
            f = [(-mu*n*u, -mu*n*v) for n, (u, v) in zip(N, d)]
            return [y[3], y[4], y[5], sum(f0 for f0, _ in f)/m, sum(f1 for _, f1 in f)/m,
                    sum(p*f1 - q*f0 for (p, q), (f0, f1) in zip(at, f))/(m*(a*a + b*b)/12)], min(N)
        y, t, step, want, least = start, 0.0, 1e-3, {}, 1.0
        while math.hypot(y[3], y[4]) + 0.3*y[5] > 0.3:
            want[round(t, 3)] = y
            k1, least = rates(y)
            if least < 0: break
            k2 = rates([v + step/2*k for v, k in zip(y, k1)])[0]
            k3 = rates([v + step/2*k for v, k in zip(y, k2)])[0]
            k4 = rates([v + step*k for v, k in zip(y, k3)])[0]
            y, t = [v + step/6*(p + 2*q + 2*r + w) for v, p, q, r, w in zip(y, k1, k2, k3, k4)], t + step
        done = check.call('run', check.file(text), '--to', '3', '--json', '--quiet')
        what = f'seed {seed}, trial {trial}: a crate that slides and spins'
        check.that(f'{what}: comes to its end, and it is said that forces were chosen', done.returncode == 0 and 'share what they carry' in done.stdout + done.stderr, done.stderr[:300])
        if done.returncode != 0: continue
        run = json.loads(done.stdout)
        rows = [dict(zip(run['columns'], row)) for row in run['rows']]
        seen = [(row, want[round(row['t'], 3)]) for row in rows if round(row['t'], 3) in want]
        check.that(f'{what}: as by hand', len(seen) > 3 and all(abs(row['b.x'] - w[0]) + abs(row['b.y'] - w[1]) + abs(2*math.atan2(row['b.qz'], row['b.qw']) - w[2]) < 1e-6 for row, w in seen), seen[-1:])
        last = rows[-1]
        check.that(f'{what}: rests', all(abs(last[f"b.{k}'"]) < 1e-9 for k in 'xyz'), last)
    stopped = 0
    for trial in range(trials):
        size, mu, e = [rng.uniform(0.2, 0.6) for _ in range(3)], rng.choice([0.2, 0.5, 0.9]), rng.choice([0, 0, 0.4])
        q = [rng.gauss(0, 1) for _ in range(4)]
        q = [x/math.sqrt(sum(y*y for y in q)) for x in q]
        text = (f'[world]\ngravity = [0, 0, -9.81]\n[bodies.b]\nshape = {{ box = {size}, mass = 2 }}\nstart = {{ at = [0, 0, 0.8], turned = {{ quaternion = {q} }}, '
                f'velocity = [{rng.uniform(-1, 1)}, {rng.uniform(-1, 1)}, 0], spin = [{rng.uniform(-3, 3)}, {rng.uniform(-3, 3)}, {rng.uniform(-3, 3)}] }}\n'
                f'[contacts.c]\nbox = {{ on = "b", size = {size} }}\n{FLOOR}\nfriction = {mu}\nrestitution = {e}\n[outputs]\nn = "sum(k=1..8, multiplier(c[k]))"\n[run]\nto = 4\nevery = 0.2\n')
        done = check.call('run', check.file(text), '--json', '--quiet')
        what = f'seed {seed}, trial {trial}: a crate that is dropped'
        if done.returncode != 0:
            # The law itself may have no or several solutions; anything else is ours.
            stopped += 1
            check.that(f'{what}: comes to its end', 'Painlev' in done.stderr, done.stderr[:300])
            continue
        run = json.loads(done.stdout)
        last = dict(zip(run['columns'], run['rows'][-1]))
        check.that(f'{what}: the floor carries it', abs(last['n'] - 19.62) < 1e-6 and abs(last["b.x'"]) < 1e-9, last)
    check.that('few crates stop', stopped <= max(1, trials//10), stopped)


def ends_of_contacts(check, seed, trials):
    """What once went on without end, or without its contacts."""
    rope = """coordinates = ["x[1..N]", "y[1..N]"]
[parameters]
N = 100
L = "1/N"
[dynamics]
kinetic = "sum(i=1..N, 0.5*(x[i]'^2 + y[i]'^2))"
potential = "sum(i=1..N, 9.81*y[i])"
[constraints.rod]
for = "i=2..N"
equation = "(x[i] - x[i-1])^2 + (y[i] - y[i-1])^2 = L^2"
[constraints.floor]
for = "i=1..N"
equation = "y[i] >= 0"
[start.position]
"x[i]" = { for = "i=1..N", value = "i*L*cos(0.3)" }
"y[i]" = { for = "i=1..N", value = "0.1 + i*L*sin(0.3)" }
[run]
to = 0.5
every = 0.1
tolerance = 1e-8
"""
    for links in (95, 100) if trials > 6 else (95,):
        done = check.call('run', check.file(rope), '--set', f'N={links}', '--json', '--quiet')
        check.that(f'a rope of {links} on a smooth floor', done.returncode == 0, done.stderr[:300])
    # e = 1/2 from 1 m: rest from 3 sqrt(2 h/g) on, whatever the method and its tolerance. Heights that bdf is off by are speeds of their square root.
    ball = """coordinates = ["z"]
[dynamics]
kinetic = "0.5*z'^2"
potential = "9.81*z"
[constraints.f]
equation = "z >= 0"
restitution = 0.5
[start]
position = { z = 1 }
[run]
to = 2
every = 0.5
"""
    for method in ('dop853', 'bdf'):
        for tolerance in ('1e-5', '1e-8', '1e-10'):
            done = check.call('run', check.file(ball), '--method', method, '--tolerance', tolerance, '--json', '--quiet')
            run = json.loads(done.stdout or 'null')
            check.that(f'a ball comes to rest, {method}, {tolerance}', done.returncode == 0 and len(run['events']) < 60 and run['rows'][-1][1:4] == [0, 0, 0], done.stderr[:300])
            rest = [e['time'] for e in run['events'] if e['kind'] == 'contact'] if run else []
            check.that(f'and when, {method}, {tolerance}', len(rest) == 1 and abs(rest[0] - 3*math.sqrt(2/9.81)) < (100*float(tolerance) if method == 'dop853' else 0.1*math.sqrt(float(tolerance))), rest)
    # A gap without a value guards nothing: that is said, and other contacts are not lost with it.
    for gap, at, word in (('y >= log(3 - x)', 3, '3 - x'), ('y >= road(x)', 2, 'road')):
        text = ('coordinates = ["x", "y"]\n[dynamics]\nmass = { x = 1, y = 1 }\nforce = { y = -9.81 }\n[tables.road]\npoints = [[0, 0], [1, 0.1], [2, 0]]\ninterpolation = "linear"\noutside = "error"\n'
                f'[constraints]\nc = "{gap}"\nd = "y >= -5"\n[start]\nposition = {{ y = 50 }}\nvelocity = {{ x = 1 }}\n[run]\nto = 9\nevery = 1\n')
        done = check.call('run', check.file(text), '--json', '--quiet')
        run = json.loads(done.stdout or 'null')
        check.that(f'a gap without a value: {gap}', done.returncode == 4 and word in done.stderr and f't = {at}' in done.stderr, (done.returncode, done.stderr[:300]))
        check.that(f'up to there: {gap}', run and abs(run['rows'][-1][0] - at) < 1e-6, run and run['rows'][-1])
    # What is meant to be zero.
    for start in ('position = { s = "R*sin(pi)" }', 'velocity = { s = "R*cos(pi/2)" }', 'position = { s = "0.3 - 0.1 - 0.2" }'):
        done = check.call('run', check.file('coordinates = ["s", "turn"]\n[parameters]\nR = 0.3\n[dynamics]\nkinetic = "0.5*s\'^2 + 0.01*turn\'^2"\npotential = "2*s"\n[constraints]\nroll = "s = R*turn"\n'
                                            f'[start]\n{start}\n[run]\nto = 1\nevery = 1\n'), '--json', '--quiet')
        run = json.loads(done.stdout or 'null')
        check.that(f'a start that is zero: {start}', done.returncode == 0 and abs(run['rows'][-1][1] + 1/(1 + 0.02/0.09)) < 1e-12, done.stderr[:300])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--program', required=True)
    parser.add_argument('--models', required=True, type=pathlib.Path)
    parser.add_argument('--seed', type=int, default=201)
    parser.add_argument('--trials', type=int, default=24)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        check = Checks(options.program, options.models, folder)
        for one in (what_falls_lies, tiny_numbers, touching, spinning_crates, ends_of_contacts): one(check, options.seed, options.trials)
    print(f'{check.passed} passed, {check.failed} failed')
    return 0 if check.passed and not check.failed else 1


if __name__ == '__main__':
    sys.exit(main())
