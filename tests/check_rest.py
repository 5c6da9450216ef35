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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--program', required=True)
    parser.add_argument('--models', required=True, type=pathlib.Path)
    parser.add_argument('--seed', type=int, default=201)
    parser.add_argument('--trials', type=int, default=24)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        check = Checks(options.program, options.models, folder)
        for one in (what_falls_lies, tiny_numbers, touching): one(check, options.seed, options.trials)
    print(f'{check.passed} passed, {check.failed} failed')
    return 0 if check.passed and not check.failed else 1


if __name__ == '__main__':
    sys.exit(main())
