#!/usr/bin/env python3
"""Checks what the Python package offers beyond the command line: inputs between rows, the motion near a state, pickles, threads, Ctrl-C.

usage: check_python_library.py --program PATH

- Inputs that are set between rows: against closed forms, and against models that say the same with `if(t < …)`.
- `linearise` and `rest` against the command line's JSON; against closed forms.
- Equations in SymPy, evaluated, against `accelerate`.
- Pickles of models, runs, functions; one model in several threads; forks; Ctrl-C in runs, sweeps and rows.
- `python -m mechanician` is the program: the same output and exit status.

Prints a line for each miss and, last, `N passed, N failed`."""
import argparse
import concurrent.futures
import json
import multiprocessing
import os
import pathlib
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np
from check_python import PENDULUM, Check, same_bits

import mechanician as me

SPRING = """title = "Spring with a force"
coordinates = ["x"]
[parameters]
c = 4.0
[inputs]
U = 1.0
load = "0.1*sin(3*t)"
[dynamics]
kinetic = "x'^2/2"
potential = "c*x^2/2"
force = { x = "U" }
[start]
position = { x = 0.3 }
[run]
to = 3
every = 0.25
"""

MOTOR = """coordinates = ["phi"]
[inputs]
U = 12
[dynamics]
kinetic = "0.01/2*phi'^2"
force = { phi = "0.1*i" }
[states]
i = { rate = "(U - 2*i)/0.5", start = 0 }
[run]
to = 1
every = 0.1
"""

BALL = """coordinates = ["z"]
[inputs]
lift = LIFT
[dynamics]
kinetic = "z'^2/2"
potential = "9.81*z"
force = { z = "lift" }
[constraints]
floor = { equation = "z >= 0", restitution = 0.5 }
[start]
position = { z = 0.5 }
[run]
to = 1.2
every = 0.1
"""


def check_inputs(check):
    m = me.read(SPRING)
    pushes = [1.0, -2.0, 0.5, 3.0]
    x, v, w, worst, rows = 0.3, 0.0, 2.0, 0.0, []
    for k, step in enumerate(m.steps(tolerance=1e-12)):
        if k:
            u = pushes[(k - 1) % 4]
            a, b, h = x - u / 4, v / w, 0.25
            x, v = u / 4 + a * np.cos(w * h) + b * np.sin(w * h), w * (b * np.cos(w * h) - a * np.sin(w * h))
        worst = max(worst, abs(step['x'] - x), abs(step["x'"] - v), abs(step["x''"] - (m.inputs['U'] - 4 * x)))
        rows.append((step["x'"] ** 2 / 2, step['work_given']))
        m.inputs['U'] = pushes[k % 4]
    check.that('inputs between rows: the closed form', worst < 1e-9 and len(rows) == 13, worst)
    check.that('work goes on where an input is set', max(abs(kinetic - work) for kinetic, work in rows) < 1e-9, rows)
    check.that('an input that is set holds from then on', abs(m.accelerate().acceleration['x'] - (m.inputs['U'] - 1.2)) < 1e-14, m.inputs)
    check.that('of a run, too', same_bits(m.run()['x'], me.read(SPRING, U=m.inputs['U']).run()['x']))
    check.that('a pickled model knows it', dict(pickle.loads(pickle.dumps(m)).inputs) == dict(m.inputs))
    del m.inputs['U']
    check.that('del gives back what the model says', m.inputs['U'] == 1.0 and same_bits(m.run()['x'], me.read(SPRING).run()['x']))
    m.inputs['load'] = 0.5
    check.that('an input that is an expression can be set before', m.inputs['load'] == 0.5)
    del m.inputs['load']
    check_opened(check)
    check_again(check)
    check.raises('a parameter is no input', lambda: m.inputs.__setitem__('c', 1.0), ValueError)
    check.raises('no such input', lambda: m.inputs['V'], KeyError)
    steps = me.read(SPRING).steps()
    next(steps)
    check.that('nothing that is set: the bits of a run', same_bits([s['x'] for s in steps], me.read(SPRING).run()['x'][1:]))

    motor = me.read(MOTOR)
    currents, want, i = [], [], 0.0
    for k, step in enumerate(motor.steps(tolerance=1e-12)):
        i = i if k == 0 else motor.inputs['U'] / 2 + (i - motor.inputs['U'] / 2) * np.exp(-4 * 0.1)
        currents.append(step['i']), want.append(i)
        motor.inputs['U'] = 12.0 if k % 2 else -6.0
    check.that('states of first order follow', np.allclose(currents, want, rtol=0, atol=1e-9), currents)

    def lifted(step):
        return 6.0 if step.t > 0.75 else 0.0

    ball, rows = me.read(BALL.replace('LIFT', '0.0')), []
    for step in ball.steps(tolerance=1e-11):
        rows.append(step['z'])
        ball.inputs['lift'] = lifted(step)
    said = me.read(BALL.replace('LIFT', '"if(t < 0.8, 0, 6)"')).run(tolerance=1e-11)
    check.that('with impacts: as a model that says it', np.allclose(rows, said['z'], rtol=0, atol=1e-7), [rows, said['z']])

    moved = me.read(PENDULUM.replace('[dynamics]', '[inputs]\nR = 1.0\n[dynamics]').replace('= L^2', '= R^2'))

    def shorten():
        for _ in moved.steps():
            moved.inputs['R'] = 0.5
    check.raises('a constraint that no longer holds ends the motion', shorten, me.MechanicsError)


def check_opened(check):
    """An input that is an expression becomes a number between two rows, and an expression again: x'' = load - 4x, piece by piece."""
    for before in (False, True):
        m, h, rows = me.read(SPRING.replace('x = "U"', 'x = "U*load"')), 0.25, []
        if before:
            m.inputs['load'] = 2.0
        for k, step in enumerate(m.steps(tolerance=1e-12)):
            rows.append((step.t, step['x'], step["x'"], step["x'"] ** 2 / 2, step['work_given'], step["x''"]))
            if k == 3:
                m.inputs['load'] = 0.5
            if k == 5:
                m.inputs['U'] = 3.0
            if k == 7:
                m.inputs['load'] = -1.0
            if k == 9:
                del m.inputs['load']
        # sin(3t) drives x'' = u sin(3t)/10 - 4x to the particular motion -u sin(3t)/50.
        x, v, worst = 0.3, 0.0, 0.0
        for k, (t, got, rate, _, _, acceleration) in enumerate(rows):
            worst = max(worst, abs(got - x), abs(rate - v))
            u = 1.0 if k < 5 else 3.0
            load = (2.0 if before else None) if k < 3 else 0.5 if k < 7 else -1.0 if k < 9 else None
            if load is None:
                p, dp, q, dq = (f(s) * c * u for s in (t, t + h) for f, c in ((lambda s: np.sin(3 * s), -0.02), (lambda s: np.cos(3 * s), -0.06)))
            else:
                p = q = u * load / 4
                dp = dq = 0.0
            a, b = x - p, (v - dp) / 2
            x, v = q + a * np.cos(2 * h) + b * np.sin(2 * h), dq + 2 * (b * np.cos(2 * h) - a * np.sin(2 * h))
        check.that(f'an expression, a number between rows, an expression again: the closed form ({before})', worst < 1e-9 and len(rows) == 13, worst)
        check.that(f'work goes on ({before})', max(abs(row[3] - row[4]) for row in rows) < 1e-9, rows)
        check.that(f'afterwards the model has its expression ({before})', 'load' not in m.inputs and m.inputs['U'] == 3.0, m.inputs)
    near = m.linearise(inputs='load', outputs='x')
    check.that('linearised by an input that is an expression', np.allclose(near.A, [[0, 1], [-4, 0]]) and np.allclose(near.B, [[0], [3]]), (near.A, near.B))


def check_again(check):
    """A motion that is run again finds what was compiled for it; its bits are those of a model that is new."""
    m = me.read(PENDULUM)
    first = m.run(to=2.0, every=0.1)
    others = [m.run(to=2.0, every=0.1, position={'x': 0.8, 'y': -0.6}, velocity={'x': 0.6, 'y': 0.8}), me.read(PENDULUM, L=1.25).run(to=2.0, every=0.1, position={'x': 0.75, 'y': -1.0}, velocity={'x': 0.8, 'y': 0.6}), m.run(to=1.0, every=0.1, tolerance=1e-6)]
    again = m.run(to=2.0, every=0.1)
    check.that('run again: the same bits', same_bits(first.array(), again.array()) and not same_bits(first['x'], others[0]['x']))
    alone = me.read(PENDULUM + '# another text\n', L=1.25).run(to=2.0, every=0.1, position={'x': 0.75, 'y': -1.0}, velocity={'x': 0.8, 'y': 0.6})
    check.that('beside other parameters and starts', same_bits(others[1].array(), alone.array()))


def check_what_does_nothing(check):
    """What looks as if it did something is refused; what comes out is the caller's."""
    m = me.read(SPRING.replace('x = "U"', 'x = "U + load"'))
    for what, change in (('inputs as a whole', lambda: setattr(m, 'inputs', {'U': 3.0})), ('an attribute that is none', lambda: setattr(m, 'tolerance', 1e-3)),
                         ('an attribute of a model that is none', lambda: setattr(me.Model(), 'kinetc', 1.0))):
        check.raises(f'set: {what}', change, AttributeError)
    for what, change in (('one', lambda: m.parameters.__setitem__('c', 1.0)), ('several', lambda: m.parameters.update(c=1.0)), ('none', lambda: m.parameters.clear())):
        check.raises(f'parameters are not set here: {what}', change, TypeError)
    m.coordinates.append('y'), m.outputs.append('z'), m.constraints.append('w')
    check.that('lists of names are copies', m.coordinates == ['x'] and m.project()['position'].keys() == {'x'} and not m.outputs and not m.constraints, m.coordinates)
    sweep = m.sweep(vary={'load': [0.0, 1.0]}, to=1.0)
    m.inputs['load'] = 1.0
    check.that('an input that is an expression varies as a number', same_bits(sweep['x'][1:], m.run(to=1.0)['x'][-1:]), (sweep['x'], m.run(to=1.0)['x'][-1]))
    for call, words in ((lambda: m.sweep(vary={'U': [1.0]}, to=1.0, device='gpu'), "method='rk4', step=H"), (lambda: m.sweep(vary={'V': [1.0]}, to=1.0), '`V` is neither')):
        try:
            call()
            check.that(words, False)
        except ValueError as e:
            check.that(f'a message of Python: {words}', words in str(e) and '--' not in str(e), e)
    f = me.read(PENDULUM).compiled()
    q = np.tile([0.6, -0.8], (100, 1))
    q[73] = 0.0
    try:
        f(0.0, q, np.ones_like(q))
        check.that('a state without an acceleration', False)
    except ValueError as e:
        check.that('a state without an acceleration has its number', 'state 73 of 100' in str(e), e)
    events = me.read(SPRING + "[modes]\ng = 1\n[events]\na = { when = \"t - 1\", do = \"g = 2\" }\n")
    steps = events.steps()
    next(steps)
    events.inputs['U'] = 2.0
    try:
        next(steps)
        check.that('an input beside events', False)
    except ValueError as e:
        check.that('an input beside events is refused by name', 'events change the model' in str(e) and 'kernels' not in str(e), e)


PART = """[world]
gravity = [0, 0, -9.81]
[bodies.arm]
mass    = MASS
inertia = [0.1, 0.1, 0.1]
start   = { at = [0.5, 0, 0] }
[joints.hinge]
type    = "revolute"
between = ["ground", "arm"]
at      = [0, 0, 0]
axis    = [0, 1, 0]
"""
ROBOT = """<robot name="r"><link name="base"/><link name="arm"><inertial><origin xyz="0.5 0 0"/><mass value="MASS"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint></robot>
"""


def check_loading(check, folder):
    """A model that is loaded again is the one of now: of its text, of what is set and of every file that it reads."""
    folder = folder / 'again'
    folder.mkdir()
    table = SPRING.replace('x = "U"', 'x = "U - f(x)"').replace('[dynamics]', '[tables]\nf = { file = "force.csv", argument = "x", value = "f", interpolation = "linear" }\n[dynamics]')
    files = {'table.toml': table, 'whole.toml': '[parts.left]\nmodel = "part.toml"\n[run]\nto = 1\n', 'robot.urdf': ROBOT.replace('MASS', '1')}
    force, part = 'x,f\n-2,-8\n2,SLOPE\n', PART
    for name, text in files.items():
        (folder / name).write_text(text, encoding='utf-8')
    (folder / 'force.csv').write_text(force.replace('SLOPE', '8'), encoding='utf-8')
    (folder / 'part.toml').write_text(part.replace('MASS', '1'), encoding='utf-8')

    def seen(name, **set_):
        m = me.load(folder / name, **set_)
        return m, dict(m.accelerate().acceleration)

    for name, other, text in (('table.toml', 'force.csv', force.replace('SLOPE', '9')), ('table.toml', 'table.toml', table.replace('c = 4.0', 'c = 5.0')),
                              ('whole.toml', 'part.toml', part.replace('MASS', '3')), ('robot.urdf', 'robot.urdf', ROBOT.replace('MASS', '2'))):
        (_, before), (_, again) = seen(name), seen(name)
        check.that(f'{name}: the same again', before == again, (before, again))
        size, when = (folder / other).stat().st_size, (folder / other).stat().st_mtime_ns
        (folder / other).write_text(text, encoding='utf-8')
        check.that(f'{other}: as long as before', (folder / other).stat().st_size == size)
        os.utime(folder / other, ns=(when, when))      # its time does not tell either
        _, after = seen(name)
        check.that(f'{name}: {other} has changed', after != before, (before, after))
    one, first = seen('table.toml')
    two, second = seen('table.toml', c=7.0)
    check.that('parameters that are set are of one model', first != second and one.parameters['c'] == 5.0 and two.parameters['c'] == 7.0)
    one.inputs['U'] = 30.0
    third, now = seen('table.toml')
    check.that('and so are inputs', third.inputs['U'] == 1.0 and now == first, (now, first))
    (folder / 'force.csv').unlink()
    check.raises('a table that is gone', lambda: seen('table.toml'), me.ModelError)
    # A name says another file in another folder.
    here = os.getcwd()
    try:
        found = []
        for mass in ('1', '2'):
            (folder / mass).mkdir()
            (folder / mass / 'm.toml').write_text(part.replace('MASS', mass), encoding='utf-8')
            os.chdir(folder / mass)
            found.append(me.load('m.toml').accelerate().acceleration)
        check.that('the same name in another folder', found[0] != found[1], found)
    finally:
        os.chdir(here)
    text = SPRING.replace('c = 4.0', 'c = 6.0')
    check.that('texts', me.read(text).parameters['c'] == 6.0 and me.read(SPRING).parameters['c'] == 4.0 and me.read(text).parameters['c'] == 6.0)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(lambda k: me.read(SPRING, c=float(k % 3 + 1)).run(to=0.5)['x'][-1], range(24)))
    check.that('in threads at once', all(rows[k] == rows[k % 3] for k in range(24)) and len(set(rows)) == 3, rows)


def check_modes(check):
    (x,) = me.coordinates('x')
    b = me.Model('Thrust that is switched off')
    on, U = b.mode('on', 1), b.input('U', 2.0)
    b.kinetic = x.dot**2 / 2
    b.force('x', U * on)
    b.event('off', x - 1, do=['on = 0', 'record'])
    m = b.build()
    r = m.run(to=3, every=1.0, tolerance=1e-11)
    check.that('a mode that an event changes', np.allclose(r['x'], [0, 1, 3, 5], rtol=0, atol=1e-9) and len(r.events) >= 1, r['x'])
    m.inputs['U'] = 8.0
    check.that('inputs before the motion', np.allclose(m.run(to=1, every=0.5, tolerance=1e-11)['x'], [0, 1, 3], rtol=0, atol=1e-9))

    def during():
        for _ in m.steps(to=1, every=0.5):
            m.inputs['U'] = 1.0
    check.raises('and not during it, which is said', during, ValueError)
    lists = me.read('coordinates = ["x"]\n[parameters]\nN = 3\n[inputs]\nu = [1, 2, 3]\n[dynamics]\nkinetic = "x\'^2/2"\nforce = { x = "sum(k=1..N, u[k])" }')
    found = []
    for step in lists.steps(to=1, every=0.5):
        found.append(step["x''"])
        lists.inputs['u[2]'] = 7.0
    check.that('members of lists are inputs', found == [6.0, 11.0, 11.0], found)


def check_linear(check, folder):
    file = folder / 'spring.toml'
    file.write_text(SPRING, encoding='utf-8')
    m = me.load(file)
    near = m.linearise(inputs=['U', 'c'], outputs=['x', "x''"])
    check.that('the matrices of a spring', np.allclose(near.A, [[0, 1], [-4, 0]]) and np.allclose(near.B, [[0, 0], [1, -0.3]]) and near.states == ['x', "x'"], near.A)
    check.that('its outputs', np.allclose(near.C, [[1, 0], [-4, 0]]) and np.allclose(near.D, [[0, 0], [1, -0.3]]), near.C)
    code, out = check.command('linearise', file, '--inputs', 'U,c', '--outputs', "x,x''", '--json')
    check.that('linearise as the command line has it', code == 0 and near.to_dict() == json.loads(out))
    code, out = check.command('equilibrium', file, '--json')
    rest = m.rest()
    check.that('rest as the command line has it', code == 0 and rest.to_dict() == json.loads(out), out)
    check.that('where the spring rests', len(rest) == 1 and abs(rest[0].position['x'] - 0.25) < 1e-14 and rest[0].stable, list(rest))
    code, out = check.command('equilibrium', file, '--set', 'U=2', '--vary', 'c=1..8', '--json')
    branch = me.load(file, U=2.0).rest(vary='c', between=(1, 8)).to_dict()
    check.that('with a parameter that varies and another that is set', code == 0 and branch == json.loads(out))
    points = branch['branches'][0]
    check.that('x = U/c along the branch', len(points) > 2 and all(abs(p['position']['x'] - 2 / p['c']) < 1e-9 for p in points), points[:2])
    pendulum = me.read(PENDULUM)
    up_and_down = sorted((r.position['y'], r.stable) for r in pendulum.rest())
    check.that('a pendulum rests below and above', [s for _, s in up_and_down] == [True, False] and abs(up_and_down[0][0] + 1) < 1e-12, up_and_down)
    below = pendulum.linearise(position={'x': 0.0, 'y': -1.0}, velocity={'x': 0.0, 'y': 0.0})
    check.that('its frequency', np.allclose(np.sort(below.eigenvalues.imag), [-np.sqrt(9.81), np.sqrt(9.81)], rtol=1e-12), below.eigenvalues)
    check.raises('no such output', lambda: m.linearise(outputs='z'), ValueError)
    check.raises('a state off the constraints', lambda: pendulum.linearise(position={'x': 0.0}), ValueError)
    check.that('it can be moved', pendulum.linearise(position={'x': 0.0, 'y': -1.1}, velocity={'x': 0.0, 'y': 0.0}, project=True).stable)


def check_compiled_contacts(check):
    """Compiled where contacts are open and brakes slip; where one touches or sticks the general solver answers, as accelerate() does."""
    m = me.read("""coordinates = ["x", "y"]
[dynamics]
kinetic = "0.5*x'^2 + 0.7*y'^2 + 0.3*cos(x - y)*x'*y'"
potential = "sin(x) + y^2"
[constraints.b]
friction_force = "0.3 + 0.1*x^2"
slip = "x' - 0.5*y'"
[constraints.low]
equation = "y >= -2"
""")
    f, rng, worst = m.compiled(), np.random.default_rng(3), 0.0
    check.that('open contacts and brakes are compiled', 'general' not in repr(f), repr(f))
    for k in range(60):
        q, v = rng.uniform(-1.5, 1.5, 2), rng.standard_normal(2)
        if k % 10 == 0: v = np.array([0.5, 1.0])*rng.uniform(-1, 1)  # sticks
        if k % 10 == 1: q[1], v[1] = -2.0, 0.0  # touches
        got, want = f(0.0, q, v), m.accelerate(position={'x': q[0], 'y': q[1]}, velocity={'x': v[0], 'y': v[1]}).acceleration
        worst = max(worst, abs(got[0] - want['x']), abs(got[1] - want['y']))
    check.that('and are those of accelerate()', worst < 1e-13, worst)


def check_pictures(check):
    from xml.etree import ElementTree
    svg = ElementTree.fromstring(me.read(PENDULUM).picture())
    where = [(float(c.get('cx')), float(c.get('cy'))) for c in svg.iter('{http://www.w3.org/2000/svg}circle')]
    (ends,) = [[tuple(map(float, p.split(','))) for p in c.get('points').split()] for c in svg.iter('{http://www.w3.org/2000/svg}polyline')]
    check.that('a picture has the mass at the end of its rod', len(ends) == 2 and any(np.hypot(x - a, y - b) < 0.02 for x, y in where for a, b in ends), (where, ends))
    (ax, ay), (bx, by) = ends
    check.that('and the rod in its direction', abs(abs((by - ay) / (bx - ax)) - 0.8 / 0.6) < 1e-3, ends)
    check.that('nothing to draw, no picture', me.read('coordinates = ["s"]\n[dynamics]\nkinetic = "s\'^2"').picture() == '')


def check_sympy_of_more(check):
    """Bodies, parts and tables: numbers of M and Q against those of the model."""
    try:
        import sympy
    except ImportError:
        return
    arm = '[world]\ngravity = [0, 0, -9.81]\n[bodies.upper]\nmass = 1\ninertia = [0.1, 0.2, 0.3]\ncentre = [0.2, 0, 0]\n[bodies.lower]\nmass = 2\ninertia = [0.1, 0.2, 0.3]\nstart = { at = [0.5, 0, 0] }\n' \
        '[joints.hip]\ntype = "revolute"\nbetween = ["ground", "upper"]\nat = [0, 0, 0]\naxis = [0, 1, 0]\n[joints.knee]\ntype = "revolute"\nbetween = ["upper", "lower"]\nat = [0.5, 0, 0]\naxis = [0, 1, 0]\n'
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / 'arm.toml').write_text(arm)
        (pathlib.Path(folder) / 'two.toml').write_text('[parts."a[i]"]\nfor = "i = 1..2"\nmodel = "arm.toml"\n')
        for file, prefix in (('arm.toml', ''), ('two.toml', 'a[2].')):
            m = me.load(str(pathlib.Path(folder) / file))
            try:
                found = m.equations().sympy()
            except ValueError as e:
                check.that(f'{file}: too long is said', 'too long' in str(e))
                continue
            where = {f'{prefix}hip.angle': 0.3, f'{prefix}knee.angle': -0.8}
            names = m.equations().to_dict()['coordinates']
            values = {sympy.Symbol(n.replace('[', '_').replace('].', '_').replace('.', '_'), real=True): where.get(n, 0.0) for n in names}
            values.update({sympy.Symbol(f'{k}_d', real=True): 0.0 for k in map(str, list(values))})
            acceleration = found['M'].subs(values).evalf().LUsolve(found['Q'].subs(values).evalf())
            want = m.accelerate(position=where).acceleration
            check.that(f'{file} in SymPy', all(abs(float(acceleration[k]) - float(want[n])) < 1e-9 * (1 + abs(float(want[n]))) for k, n in enumerate(names)), (acceleration, want))
        (pathlib.Path(folder) / 'road.toml').write_text('coordinates = ["x"]\n[tables.road]\ninterpolation = "cubic"\npoints = [[0, 0], [1, 1], [2, 0], [3, 1]]\n[dynamics]\nkinetic = "x\'^2/2"\nforce = { x = "3*road(2*t) - road\'(x)" }\n')
        Q = me.load(str(pathlib.Path(folder) / 'road.toml')).equations().sympy()['Q'][0]
        t, road = sympy.Symbol('t', real=True), sympy.Function('road', real=True)
        check.that('a table is a function', 3 * road(2 * t) in Q.args and Q.has(sympy.Derivative), Q)


def check_printed_python(check, folder):
    """What `equations --python` prints decides with numbers, arrays and symbols alike; rows that come and go are named."""
    (folder / 'kinks.toml').write_text("""coordinates = ["x", "y"]
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
force = { x = "sign(x)*2 + if(x > y and not (y == 1), x, y^2) + abs(x)", y = "min(x, y) - max(2*x, y') + if(x < 0 or y < 0.5, 1, 0)" }
[constraints]
floor = { equation = "y >= -9" }
grip  = { equation = "x' = y'", engaged = false }
""", encoding='utf-8')
    printed = subprocess.run([check.program, 'equations', str(folder / 'kinks.toml'), '--python'], capture_output=True, text=True).stdout
    check.that('rows that come and go are said', '# One-sided' in printed and '`floor`' in printed and '# Not engaged' in printed and '`grip`' in printed, printed[:400])
    functions: dict = {}
    exec(printed, functions)
    force = functions['force']
    try:
        import sympy
    except ImportError:
        return
    x, y, vx, vy = sympy.symbols('x y vx vy', real=True)
    symbols = force(sympy.Symbol('t'), [x, y], [vx, vy], functions['parameters'], sympy)
    rng = np.random.default_rng(11)
    for _ in range(20):
        a, b, c, d = rng.normal(size=4)
        want = [np.sign(a)*2 + (a if a > b and b != 1 else b**2) + abs(a), min(a, b) - max(2*a, d) + (1 if a < 0 or b < 0.5 else 0)]
        plain, arrays = force(0.0, [a, b], [c, d]), force(0.0, [np.array([a]), np.array([b])], [np.array([c]), np.array([d])], functions['parameters'], np)
        exact = [float(e.subs({x: a, y: b, vx: c, vy: d})) for e in symbols]
        for what, got in (('numbers', plain), ('arrays', [v[0] for v in arrays]), ('symbols', exact)):
            check.that(f'printed functions of {what}', np.allclose(got, want, rtol=1e-12, atol=1e-12), (got, want))


def check_sympy(check):
    try:
        import sympy
    except ImportError:
        print('check_python_library: no SymPy: equations in SymPy are not tested')
        return
    m = me.read(PENDULUM)
    found = m.equations().sympy()
    state = {'x': 0.6, 'y': -0.8, 'x_d': 0.8, 'y_d': 0.6, **m.parameters}
    number = {k: np.array(v.subs({s: state[s.name] for s in v.free_symbols}), dtype=float) for k, v in found.items()}
    K = np.block([[number['M'], number['A'].T], [number['A'], np.zeros((1, 1))]])
    solved = np.linalg.solve(K, np.concatenate([number['Q'], number['b']]))[:2, 0]
    now = m.accelerate().acceleration
    check.that('equations in SymPy give the accelerations', np.allclose(solved, [now['x'], now['y']], rtol=1e-13), solved)
    check.that('closed forms too', np.allclose(number['acceleration'][:, 0], solved, rtol=1e-13), number)
    check.that('a derivative of them', sympy.diff(found['Q'][1], sympy.Symbol('m', real=True)) == -sympy.Symbol('g', real=True))


def check_pickles(check, folder):
    m = me.read(PENDULUM)
    run = m.run()
    again = pickle.loads(pickle.dumps(run))
    check.that('a pickled run has its rows', same_bits(again.array(), run.array()) and again.summary == run.summary)
    check.that('and what is in no row', again.sample(0.123) == run.sample(0.123))
    ended = m.run(to=1e9, every=1e4, progress=lambda *_: False)
    stored = pickle.loads(pickle.dumps(ended))
    check.that('an interrupted one keeps what it had', same_bits(stored.array(), ended.array()) and stored.status == 'interrupted')
    check.raises('and no more', lambda: stored.sample(0.0), ValueError)
    f = m.compiled()
    g = pickle.loads(pickle.dumps(f))
    q, qd = np.array([0.6, -0.8]), np.array([0.8, 0.6])
    check.that('a pickled function', same_bits(f(0.0, q, qd), g(0.0, q, qd)))
    for thing in (m.accelerate(), m.check(), m.sweep(vary={'m': [1.0]}), m.linearise(position={'x': 0.0, 'y': -1.0}, velocity={'x': 0.0, 'y': 0.0}), m.rest()):
        check.that(f'a pickled {type(thing).__name__}', repr(pickle.loads(pickle.dumps(thing))) == repr(thing))
    driven = me.read(SPRING)
    driven.inputs['U'] = 2.5
    rows = driven.steps()
    next(rows)
    check.that('pickled inputs, while a motion goes on', dict(pickle.loads(pickle.dumps(driven.inputs))) == dict(driven.inputs))
    check.raises('a motion row by row is not pickled', lambda: pickle.dumps(rows), TypeError)
    check.that('pickled parameters', pickle.loads(pickle.dumps(m.parameters)) == m.parameters == json.loads(json.dumps(m.parameters)))
    # A model that takes numbers from another file.
    (folder / 'sub').mkdir(exist_ok=True)
    (folder / 'sub' / 'force.csv').write_text('x,f\n-2,-8\n2,8\n', encoding='utf-8')
    (folder / 'sub' / 'table.toml').write_text(SPRING.replace('U"', 'U - f(x)"').replace('[dynamics]', '[tables]\nf = { file = "force.csv", argument = "x", value = "f", interpolation = "linear" }\n[dynamics]'),
                                               encoding='utf-8')
    table = me.load(folder / 'sub' / 'table.toml')
    want = table.run()['x']
    here = os.getcwd()
    os.chdir('/')
    try:
        check.that('a pickled model finds its tables', same_bits(pickle.loads(pickle.dumps(table)).run()['x'], want))
    finally:
        os.chdir(here)
    with multiprocessing.get_context('spawn').Pool(1) as pool:
        check.that('models go to other processes', same_bits(pool.map(_run_x, [m])[0], run['x']))


def _run_x(m):
    return np.array(m.run()['x'])


def check_threads(check):
    m = me.read(PENDULUM)
    want, f = m.run()['x'], m.compiled()
    rng = np.random.default_rng(7)
    q, qd = rng.normal(size=(2000, 2)), rng.normal(size=(2000, 2))
    values = f(0.0, q, qd)

    def work(k):
        kind = k % 4
        if kind == 0:
            return same_bits(m.run()['x'], want)
        if kind == 1:
            return same_bits(f(0.0, q, qd), values)
        if kind == 2:
            return m.accelerate().acceleration == now
        return same_bits([f(0.0, q[j], qd[j]) for j in range(50)], values[:50])

    run = m.run()
    times = np.linspace(0, 1, 200)
    samples = [run.sample(t)['x'] for t in times]
    steps, seen = m.steps(to=20, every=0.01), []

    def share(_):
        seen.extend(s.t for s in steps)
        return [run.sample(t)['x'] for t in times] == samples

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        check.that('one run and one motion in four threads', all(pool.map(share, range(4))) and len(seen) == 2001, len(seen))
    unmade = me.Acceleration.__new__(me.Acceleration)
    check.raises('a function that was not made', lambda: unmade(0.0, q[0], qd[0]), TypeError)
    now = m.accelerate().acceleration
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        check.that('one model in four threads', all(pool.map(work, range(48))))
    # Others run while it computes.
    counts = [0]

    def count():
        while not done.is_set():
            counts[0] += 1
            time.sleep(0.001)
    done = threading.Event()
    other = threading.Thread(target=count)
    other.start()
    m.run(to=1500, tolerance=1e-12, every=1.0)
    check.that('another thread runs while a motion is computed', counts[0] > 2, counts)
    if shutil.which('cc'):
        with tempfile.TemporaryDirectory() as folder:
            counts[0] = 0
            m.export_fmu(pathlib.Path(folder) / 'pendulum.fmu')
            check.that('and while a model is exported and compiled', counts[0] > 20, counts)
    done.set(), other.join()


def interrupted(call, after=0.5):
    """What a call gives or raises when Ctrl-C comes after some time."""
    parent = os.getpid()
    timer = threading.Timer(after, lambda: os.kill(parent, signal.SIGINT))
    timer.start()
    begin = time.monotonic()
    try:
        return call(), time.monotonic() - begin
    except KeyboardInterrupt:
        return KeyboardInterrupt, time.monotonic() - begin
    finally:
        timer.cancel()


def check_interrupts(check):
    m = me.read(PENDULUM)
    for threads in (1, 2):
        sweep, took = interrupted(lambda threads=threads: m.sweep(vary={'m': np.linspace(1, 2, 300_000)}, to=30, threads=threads))
        check.that(f'Ctrl-C ends a sweep on {threads} threads and keeps what it had',
                   sweep is not KeyboardInterrupt and 0 < sweep.computed < 300_000 and took < 60, (sweep, took))
    kept = []

    def rows():
        for step in m.steps(to=1e9, every=1.0):
            kept.append(step.t)
    found, _ = interrupted(rows)
    check.that('Ctrl-C between rows is an exception as everywhere', found is KeyboardInterrupt and len(kept) > 1, (found, len(kept)))
    # One row, one search, that would take many seconds.
    steps = m.steps(to=3e5, every=3e5)
    first = next(steps)
    found, _ = interrupted(lambda: next(steps))
    check.that('Ctrl-C while a row is computed', first.t == 0 and found is KeyboardInterrupt, found)
    found, _ = interrupted(lambda: m.rest(starts=200_000))
    check.that('Ctrl-C while rest is looked for', found is KeyboardInterrupt, found)
    steps = m.steps(to=2.0, every=1.0)
    next(steps)
    check.that('rows go on afterwards', [s.t for s in steps] == [1.0, 2.0])

    # However short a run is, it is said that it has begun and that it has ended.
    calls = []
    run = m.run(to=0.5, every=0.1, progress=lambda *a: calls.append(a) or True)
    check.that('progress: a first and a last call', len(calls) >= 2 and calls[0][0] == 0 and calls[0][1] < 0.5 and calls[-1] == (0.0, 0.5, 0.5) and run.status == 'done', calls)
    calls.clear()
    m.run(to=300, every=1.0, progress=lambda *a: calls.append(a) or True)
    check.that('progress: the end of a longer one', calls[-1] == (0.0, 300.0, 300.0) and sorted(calls) == calls, calls)
    check.that('progress: False ends a short run too', m.run(to=1, every=0.1, progress=lambda *_: False).status == 'interrupted')

    def complain(*_):
        raise RuntimeError('enough')
    check.raises('an exception of progress, of a short run', lambda: m.run(to=1, progress=complain), RuntimeError)
    try:
        m.run(to=1e9, every=1e4, progress=complain)
        check.that('an exception of progress comes through', False)
    except RuntimeError as e:
        check.that('an exception of progress comes through', str(e) == 'enough', e)


def check_command_line(check, folder):
    file = folder / 'spring.toml'
    file.write_text(SPRING, encoding='utf-8')
    found = {**os.environ, 'PYTHONPATH': str(pathlib.Path(me.__file__).resolve().parent.parent)}
    for words in (['--version'], ['check', file], ['accelerate', file, '--json'], ['run', file, '-o', '-', '--quiet'], ['check', 'nothing.toml'], ['nonsense'],
                  ['run', file, '--method', 'euler'], ['completion', 'bash']):
        direct = subprocess.run([check.program, *map(str, words)], capture_output=True, cwd=folder)
        module = subprocess.run([sys.executable, '-m', 'mechanician', *map(str, words)], capture_output=True, cwd=folder, env=found)
        check.that(f'python -m mechanician {words[0]}', (direct.returncode, direct.stdout, direct.stderr) == (module.returncode, module.stdout, module.stderr),
                   (module.returncode, module.stderr))
    code = 'import sys, mechanician; print("numpy" in sys.modules, mechanician.__version__)'
    out = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, env=found).stdout
    check.that('import brings no NumPy before it is needed', out.startswith('False'), out)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument('--program', required=True)
    options = arguments.parse_args()
    check = Check(os.path.abspath(options.program))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_inputs(check)
        check_modes(check)
        check_what_does_nothing(check)
        check_loading(check, folder)
        check_linear(check, folder)
        check_compiled_contacts(check)
        check_pictures(check)
        check_sympy(check)
        check_printed_python(check, folder)
        check_sympy_of_more(check)
        check_pickles(check, folder)
        check_threads(check)
        check_interrupts(check)
        check_command_line(check, folder)
    print(f'{check.passed} passed, {check.failed} failed')
    return 0 if check.failed == 0 and check.passed else 1


if __name__ == '__main__':
    sys.exit(main())
