#!/usr/bin/env python3
"""Runs every model under models/ and holds it to a law or a reference that the program has no part in.

usage: check_gallery.py --program PATH [--only NAME …] [--models FOLDER]

The commands that a model proposes under `Try:` are run too; they end with 0, or otherwise where its text says so.

CHECKS has one short function for each model: conserved quantities, closed forms, equations derived by hand and solved here, numbers from
the literature, and what the diagnosis has to say. Those of machines made of bodies and joints are in check_machines.py, of those that are
steered in check_steered.py. A model without a function is a
miss, and so is a page of docs/gallery that is not what tools/build_gallery makes of the model.

What is allowed follows from the tolerance of the run. Each step may err by the tolerance, relative to max(1, |value|), in each coordinate
and velocity. All steps together move a quantity r(q, q') by at most steps · tolerance · Σ |∂r/∂y| max(1, |y|), times the growth: what an error becomes
until the end. The growth is measured on the equations that are solved here, or stated where the motion is known.

Prints a line for each miss, with how much of what is allowed was used where that is interesting (--verbose), and last `N passed, N failed`."""
import argparse, json, math, os, random, re, subprocess, sys, tempfile, tomllib
from math import acosh, asinh, atan2, cos, cosh, exp, hypot, pi, sin, sqrt, tan, tanh

import limits

sys.dont_write_bytecode = True
ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
EPS = sys.float_info.epsilon


class Miss(Exception):
    pass


class Parameters(dict):
    """[parameters] of a model, evaluated here."""

    def __init__(self, table):
        super().__init__()
        names = dict(sin=sin, cos=cos, tan=tan, sqrt=sqrt, atan2=math.atan2, hypot=hypot, pi=pi)
        left = dict(table)

        def worth(value):
            if isinstance(value, list): return [worth(v) for v in value]
            return float(eval(str(value).replace('^', '**'), {'__builtins__': {}}, {**names, **self}))

        while left:
            for name, value in list(left.items()):
                try: self[name] = worth(value)
                except NameError: continue
                del left[name]

    __getattr__ = dict.__getitem__


class Model:
    """What the program says of a model. Commands are run when they are asked for."""

    def __init__(self, program, path):
        self.program, self.path = program, path
        self.data = tomllib.loads(open(path, encoding='utf-8').read())
        self.p = Parameters(self.data.get('parameters', {}))
        self.used = 0.0          # of what was allowed, at most

    def ask(self, *words):
        p = subprocess.run([self.program, *words], capture_output=True, text=True, encoding='utf-8', timeout=limits.CLOCK)
        return p.returncode, p.stdout, p.stderr

    def says(self, command, status=0):
        code, out, err = self.ask(command, self.path, '--json')
        if code != status: raise Miss(f'{command} ends with {code}, not {status}: {err.strip()[:300]}')
        return json.loads(out)

    def run(self, *options):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, 'motion.json')
            code, _, err = self.ask('run', self.path, '-o', file, *options)
            if code != 0: raise Miss(f'run ends with {code}: {err.strip()[:300]}')
            result = json.load(open(file))
        return Run(self, result)

    # ---- what must hold ---------------------------------------------------------------------------------------------

    def is_true(self, what, holds):
        if not holds: raise Miss(what)

    def small(self, what, error, allowed):
        if not allowed > 0 or not math.isfinite(allowed): raise Miss(f'{what}: nothing is allowed ({allowed})')
        self.used = max(self.used, error / allowed)
        if not error <= allowed: raise Miss(f'{what}: off by {error:.3g}, allowed {allowed:.3g}')


class Run:
    def __init__(self, model, result):
        self.model, self.summary, self.events = model, result['summary'], result['events']
        self.columns = result['columns']
        self.rows = [dict(zip(self.columns, row)) for row in result['rows']]
        self.first, self.last = self.rows[0], self.rows[-1]
        if not self.summary['trusted'] or self.summary['status'] != 'done': raise Miss(f"the run is {self.summary['status']}: {self.summary['reasons']}")
        names = [c for c in self.columns if c + "'" in self.columns and not c.endswith("'")]     # members of families, too
        self.state_names = names + [name + "'" for name in names]
        self.budget = (self.summary['steps'] + 1) * self.summary['tolerance']
        self.span = self.last['t'] - self.first['t']

    def some(self, count=40, rows=None):
        rows = self.rows if rows is None else rows
        return rows[::max(1, len(rows) // count)] + rows[-1:]

    def size(self, law, rows=None):
        """Σ |∂law/∂y| max(1, |y|), the largest over some rows; with an estimate of the rounding of law itself."""
        largest = 0.0
        for row in self.some(12, rows):
            total = 0.0
            for name in self.state_names:
                if name not in row: continue
                h = 1e-5 * max(1.0, abs(row[name]))
                above, below = dict(row, **{name: row[name] + h}), dict(row, **{name: row[name] - h})
                total += abs(law(above) - law(below)) / (2 * h) * max(1.0, abs(row[name]))
            largest = max(largest, total)
        return largest

    def vanishes(self, what, law, growth=1.0, rows=None):
        """law(row), a function of the coordinates, the velocities and the time of a row, is zero in every row."""
        rows = self.rows if rows is None else rows
        self.model.small(what, max(abs(law(row)) for row in rows), growth * self.budget * self.size(law, rows))

    def kept(self, what, law, rows=None):
        rows = self.rows if rows is None else rows
        first = law(rows[0])
        self.vanishes(what + ' is not kept', lambda row: law(row) - first, rows=rows)

    def held(self, what, law):
        """A law between positions (and velocities) that the constraints state in other words: they are held to 1e-10, the certificate says."""
        self.model.small(what, max(abs(law(row)) for row in self.rows), 1e-10 * max(1.0, self.size(law)))

    def equals(self, what, got, want, growth=1.0):
        """A number of the run, such as the time of an event, with the accuracy of the run."""
        self.model.small(what, abs(got - want), growth * self.budget * max(1.0, abs(want)))

    def follows(self, what, derivative, start, shown, steps, begin=None):
        """The motion is that of y' = derivative(t, y): shown(y, t) gives named values of a row. Solved here, and once more with half the steps and
        with a moved start, which tell how accurate this is and how errors grow."""
        times = [row['t'] for row in self.rows]
        fine = solve(derivative, start, times, steps)
        coarse = solve(derivative, start, times, steps // 2)
        move = 1e-6
        growth = 0.0
        for k in range(len(start)):
            moved = solve(derivative, [y + (move if i == k else 0) for i, y in enumerate(start)], times, steps // 2)
            growth += max(abs(a - b) for p, q in zip(moved, coarse) for a, b in zip(p, q)) / move
        worst, own = 0.0, 0.0
        for row, y, z, t in zip(self.rows, fine, coarse, times):
            for name, value in shown(y, t).items():
                scale = max(1.0, abs(value))
                worst, own = max(worst, abs(row[name] - value) / scale), max(own, abs(shown(z, t)[name] - value) / scale / 15)
        self.model.small(what, worst, max(1.0, growth) * self.budget + 2 * own)
        self.model.is_true(f'{what}: the solution here is no better ({own:.2g}) than the run', own < 1e-5)


def solve(f, y, times, steps):
    """Runge and Kutta's method, about `steps` steps in all, with a value at each time."""
    out, t, h0 = [list(y)], times[0], (times[-1] - times[0]) / steps
    n = range(len(y))
    for end in times[1:]:
        count = max(1, math.ceil((end - t) / h0 - 1e-9))
        h = (end - t) / count
        for i in range(count):
            s = t + i * h
            a = f(s, y)
            b = f(s + h / 2, [y[k] + h / 2 * a[k] for k in n])
            c = f(s + h / 2, [y[k] + h / 2 * b[k] for k in n])
            d = f(s + h, [y[k] + h * c[k] for k in n])
            y = [y[k] + h / 6 * (a[k] + 2 * b[k] + 2 * c[k] + d[k]) for k in n]
        t = end
        out.append(y)
    return out


# ---- vectors and orientations -------------------------------------------------------------------------------------------

def dot(a, b): return sum(x * y for x, y in zip(a, b))
def add(*v): return [sum(c) for c in zip(*v)]
def scaled(k, v): return [k * x for x in v]
def minus(a, b): return [x - y for x, y in zip(a, b)]
def cross(a, b): return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
def times(R, v): return [dot(row, v) for row in R]
def matmul(A, B): return [[dot(row, col) for col in zip(*B)] for row in A]
def about_z(a): return [[cos(a), -sin(a), 0], [sin(a), cos(a), 0], [0, 0, 1]]
def about_y(a): return [[cos(a), 0, sin(a)], [0, 1, 0], [-sin(a), 0, cos(a)]]


def product(a, b):
    """Of quaternions, the scalar part first."""
    return [a[0] * b[0] - dot(a[1:], b[1:])] + add(scaled(a[0], b[1:]), scaled(b[0], a[1:]), cross(a[1:], b[1:]))


def turned(e, v):
    """v, given along the axes of the body, in space."""
    return product(product(e, [0, *v]), [e[0], -e[1], -e[2], -e[3]])[1:]


def quaternion(row): return [row[f'e{k}'] for k in range(4)]


def turning(row):
    """Angular velocity along the axes of the body: twice the vector part of conj(e) e'."""
    e = quaternion(row)
    return scaled(2, product([e[0], -e[1], -e[2], -e[3]], [row[f"e{k}'"] for k in range(4)])[1:])


def vector(row, names): return [row[name] for name in names]
def v2(row, *names): return sum(row[name + "'"] ** 2 for name in names)
def event(run, kind): return next((e for e in run.events if e['kind'] == kind), None) or (_ for _ in ()).throw(Miss(f'there is no event `{kind}`'))


def damped(e0, rate0, frequency, damping, t):
    """e'' + 2 damping frequency e' + frequency² e = 0."""
    a = damping * frequency
    if damping == 1: return (e0 + (rate0 + frequency * e0) * t) * exp(-frequency * t)
    w = frequency * sqrt(1 - damping ** 2)
    return exp(-a * t) * (e0 * cos(w * t) + (rate0 + a * e0) / w * sin(w * t))


# ---- families -----------------------------------------------------------------------------------------------------------

def falling_chain(m):
    p, run = m.p, m.run()
    n = int(p.N)
    run.kept('energy', lambda r: p.m * sum(v2(r, f'x[{i}]', f'y[{i}]') / 2 + p.g * r[f'y[{i}]'] for i in range(1, n + 1)))
    run.vanishes('the stone does not fall freely', lambda r: r['stone'] + p.L + p.g * r['t'] ** 2 / 2)
    for i in range(1, n + 1):
        before = (lambda r: (r[f'x[{i - 1}]'], r[f'y[{i - 1}]'])) if i > 1 else (lambda r: (0.0, 0.0))
        m.small(f'rod {i}', max(abs(math.dist((r[f'x[{i}]'], r[f'y[{i}]']), before(r)) - p.L) for r in run.rows), 1e-10)
    # The weight that is still falling has nearly all the energy, so it overtakes what falls by itself.
    m.is_true('the end does not overtake the stone', run.last['ahead'] > 0.1)
    m.is_true('the nail does not feel it', max(abs(2 * r['lambda(nail)'] * p.L) for r in run.rows) > 1.5 * n * p.m * p.g)


def net(m):
    p, run = m.p, m.run()
    k = int(p.K)
    knots = [(i, j) for i in range(1, k + 1) for j in range(1, k + 1)]
    run.kept('energy', lambda r: p.m * sum(v2(r, f'x[{i},{j}]', f'y[{i},{j}]', f'z[{i},{j}]') / 2 + p.g * r[f'z[{i},{j}]'] for i, j in knots))
    at = lambda r, i, j: [r[f'{c}[{i},{j}]'] for c in 'xyz']
    for i, j in knots:
        for a, b in ((i - 1, j), (i, j - 1)):
            if a < 1 or b < 1: continue
            m.small(f'thread from {a},{b} to {i},{j}', max(abs(math.dist(at(r, i, j), at(r, a, b)) - p.L) for r in run.rows), 1e-10)
    for i, j in knots:
        if i < j or i == 1: continue
        run.vanishes(f'knot {i},{j} and its mirror image', lambda r: r[f'x[{i},{j}]'] - r[f'y[{j},{i}]'])
        if i > j: run.vanishes(f'knot {i},{j} and its mirror image', lambda r: r[f'z[{i},{j}]'] - r[f'z[{j},{i}]'])
    said = m.says('check')
    m.is_true('freedoms', said['rank'] == 2 * k * (k - 1) + 3)


# ---- first steps --------------------------------------------------------------------------------------------------------

def pendulum(m):
    p, run = m.p, m.run()
    run.kept('energy', lambda r: p.m / 2 * v2(r, 'x', 'y') + p.m * p.g * r['y'])
    # After one period, by the arithmetic-geometric mean, everything is as at the start.
    height = run.first['y'] + v2(run.first, 'x', 'y') / (2 * p.g)
    a, b = 1.0, sqrt((1 - height / p.L) / 2)
    while abs(a - b) > 4 * EPS: a, b = (a + b) / 2, sqrt(a * b)
    period = 2 * pi * sqrt(p.L / p.g) / a
    once = m.run('--to', repr(period))
    for name in once.state_names: once.equals(f'{name} after a period', once.last[name], run.first[name], 1 + period * p.g / p.L)


def double_pendulum(m):
    p, run = m.p, m.run()
    run.kept('energy', lambda r: p.m1 / 2 * v2(r, 'x1', 'y1') + p.m2 / 2 * v2(r, 'x2', 'y2') + p.g * (p.m1 * r['y1'] + p.m2 * r['y2']))


def spherical_pendulum(m):
    p, run = m.p, m.run()
    w = sqrt(p.g / p.depth)
    for name, want in (('x', lambda t: p.r * cos(w * t)), ('y', lambda t: p.r * sin(w * t)), ('z', lambda t: -p.depth)):
        run.vanishes(name, lambda r: r[name] - want(r['t']), growth=1 + w * run.span)


def bead_on_spinning_hoop(m):
    p, run = m.p, m.run()
    run.kept("Jacobi's integral", lambda r: p.m / 2 * v2(r, 'x', 'y', 'z') + p.m * p.g * r['z'] - p.w * p.m * (r['x'] * r["y'"] - r['y'] * r["x'"]))
    # In the angle from the lowest point the hoop is gone: a'' = (w² cos a - g/R) sin a.
    a0 = atan2(p.side, p.low)
    run.follows('height', lambda t, y: [y[1], (p.w ** 2 * cos(y[0]) - p.g / p.R) * sin(y[0])], [a0, 0.5 / p.R],
                lambda y, t: {'z': -p.R * cos(y[0]), 'x': p.R * sin(y[0]) * cos(p.w * t), 'y': p.R * sin(y[0]) * sin(p.w * t)}, 6000)


def tautochrone(m):
    p, run = m.p, m.run()
    for k in '123':
        run.vanishes(f'bead {k}', lambda r: 4 * p.R * (sin(r['s' + k] / 2) - sin(p['a' + k] / 2) * cos(r['t'] * sqrt(p.g / (4 * p.R)))), growth=1 + run.span)


def foucault_pendulum(m):
    p, run = m.p, m.run()
    run.kept("Jacobi's integral", lambda r: p.m / 2 * v2(r, 'x', 'y', 'z') + p.m * p.g * r['z'] - p.m / 2 * p.W ** 2 * (r['x'] ** 2 + r['y'] ** 2))

    def outside(t, y):       # an ordinary pendulum: r'' = -g - λ r with λ = (v² - g z)/L²
        k = (dot(y[3:], y[3:]) - p.g * y[2]) / p.L ** 2
        return [*y[3:], -k * y[0], -k * y[1], -k * y[2] - p.g]

    def from_here(y, t):     # seen by somebody who turns with the Earth
        return {'x': y[0] * cos(p.W * t) + y[1] * sin(p.W * t), 'y': y[1] * cos(p.W * t) - y[0] * sin(p.W * t), 'z': y[2]}

    run.follows('path', outside, [p.x0, 0, -sqrt(p.L ** 2 - p.x0 ** 2), 0, p.W * p.x0, 0], from_here, 9600)


def kapitza_pendulum(m):
    p, run = m.p, m.run()
    run.follows('angle', lambda t, y: [y[1], (p.g - p.a * p.w ** 2 * cos(p.w * t)) / p.L * sin(y[0])], [p.theta0, 0],
                lambda y, t: {'x': p.L * sin(y[0]), 'y': p.a * cos(p.w * t) + p.L * cos(y[0])}, 16000)
    m.is_true('it falls', all(r['y'] > 0 for r in run.rows))


def wheel_with_massless_coordinate(m):
    p, run = m.p, m.run()
    run.vanishes('way', lambda r: r['s'] - r['t'] - p.g * sin(p.slope_angle) / 3 * r['t'] ** 2, growth=1 + run.span)
    run.held('rolling', lambda r: r['s'] - p.R * r['turn'])
    run.held('slope', lambda r: r['height'] + r['s'] * sin(p.slope_angle))


# ---- bodies in space ----------------------------------------------------------------------------------------------------

def quaternion_body(m):
    p, run = m.p, m.run()
    spin = lambda r: dot(turning(r), [p.J1 * 0, 0, p.J3])
    up = lambda r: turned(quaternion(r), [p.J1 * turning(r)[0], p.J1 * turning(r)[1], p.J3 * turning(r)[2]])[2]
    energy = lambda r: dot([p.J1, p.J1, p.J3], [w * w / 2 for w in turning(r)]) + p.m * p.g * turned(quaternion(r), [0, 0, p.l])[2]
    run.held('length of the quaternion', lambda r: dot(quaternion(r), quaternion(r)) - 1)
    run.kept('spin about the axis', spin)
    run.kept('angular momentum about the vertical', up)
    run.kept('energy', energy)


def tennis_racket(m):
    p, run = m.p, m.run()
    J = [p.J1, p.J2, p.J3]
    for k in range(3):
        run.kept(f'angular momentum {k}', lambda r: turned(quaternion(r), [a * w for a, w in zip(J, turning(r))])[k])
    run.kept('energy', lambda r: dot(J, [w * w / 2 for w in turning(r)]))
    m.is_true('it does not flip', min(turning(r)[1] for r in run.rows) < -3.9 < 3.9 < max(turning(r)[1] for r in run.rows))


# ---- rolling and skating ------------------------------------------------------------------------------------------------

def kalaba_udwadia_1(m):
    run = m.run()
    c = sqrt(5) / 3
    run.vanishes('z', lambda r: r['z'] - 2 - 3 * r['t'], growth=1 + run.span)
    run.vanishes('x', lambda r: r['x'] - c * (asinh(2 + 3 * r['t']) - asinh(2)), growth=1 + 3 * run.span)
    run.vanishes('y', lambda r: r['y'] - c * (hypot(1, 2 + 3 * r['t']) - sqrt(5)), growth=1 + 3 * run.span)


def chaplygin_sleigh(m):
    p, run = m.p, m.run()
    J = p.J + p.m * p.a ** 2
    V = sqrt(p.v ** 2 + J / p.m * 3.0 ** 2)
    c = p.a * V * p.m / J
    t0 = math.atanh(p.v / V) / c
    W = V * sqrt(p.m / J)
    gd = lambda x: math.atan(math.sinh(x))
    run.vanishes('speed', lambda r: r["x'"] * cos(r['θ']) + r["y'"] * sin(r['θ']) - V * tanh(c * (r['t'] + t0)), growth=1 + run.span)
    run.vanishes('turning', lambda r: r["θ'"] - W / cosh(c * (r['t'] + t0)), growth=1 + run.span)
    run.vanishes('angle', lambda r: r['θ'] - W / c * (gd(c * (r['t'] + t0)) - gd(c * t0)), growth=(1 + run.span) ** 2)


def rolling_disk(m):
    p, run = m.p, m.run()

    def motion(r):
        h, a = r['heading'], r['lean']
        forward, axle = [cos(h), sin(h), 0], [-sin(h) * cos(a), cos(h) * cos(a), -sin(a)]
        touch = scaled(-p.R, [-sin(h) * sin(a), cos(h) * sin(a), cos(a)])
        w = add([0, 0, r["heading'"]], scaled(-r["lean'"], forward), scaled(r["spin'"], axle))
        return vector(r, ["x'", "y'", "z'"]), w, axle, touch

    def energy(r):
        v, w, axle, _ = motion(r)
        return p.m / 2 * dot(v, v) + p.m * p.R ** 2 / 8 * (dot(w, w) + dot(w, axle) ** 2) + p.m * p.g * r['z']

    def slip(r, k):
        v, w, _, touch = motion(r)
        return add(v, cross(w, touch))[k]

    for k in range(3): run.held('the point that touches moves', lambda r: slip(r, k))
    run.kept('energy', energy)


def bicycle(m):
    p, run = m.p, m.run('--set', 'push=0.5')
    tilt = about_y(p.tilt)
    # Matrices from the axes of a body to those of space, and the angular velocities, by the chain of turns.
    def about_x(a): return [[1, 0, 0], [0, cos(a), -sin(a)], [0, sin(a), cos(a)]]
    def column(R, k): return [row[k] for row in R]

    def chain(r):
        lean = matmul(about_z(r['yaw']), about_x(r['lean']))
        frame = matmul(lean, about_y(r['pitch']))
        axis = matmul(frame, tilt)
        fork = matmul(axis, about_z(r['steer']))
        w = add([0, 0, r["yaw'"]], scaled(r["lean'"], column(lean, 0)), scaled(r["pitch'"], column(lean, 1)))
        return lean, frame, fork, w, add(w, scaled(r["steer'"], column(axis, 2)))

    def bodies(r):
        """Place, velocity, orientation, angular velocity, mass and inertia of each."""
        lean, frame, fork, w, wf = chain(r)
        level = matmul(fork, about_y(-p.tilt))                                   # axes of the fork that are those of the frame where steer = 0
        hub, v = vector(r, ['x', 'y', 'z']), vector(r, ["x'", "y'", "z'"])
        pivot = [p.w + p.c, 0, p.R_r]                                            # where the steer axis meets the ground, from the hub
        of_frame, of_pivot = times(frame, [p.x_b, 0, p.z_b + p.R_r]), times(frame, pivot)
        of_fork = add(of_pivot, times(level, minus([p.x_h, 0, p.z_h + p.R_r], pivot)))
        of_front = add(of_pivot, times(level, minus([p.w, 0, p.R_r - p.R_f], pivot)))
        def move(at, turns, base=None): return add(v, cross(w, of_pivot), cross(wf, minus(at, of_pivot))) if turns else add(v, cross(w, at))
        def wheel(x, y): return [[x, 0, 0], [0, y, 0], [0, 0, x]]
        return [(hub, v, lean, add(w, scaled(-r["rear'"], column(frame, 1))), p.m_r, wheel(p.Ixx_r, p.Iyy_r)),
                (add(hub, of_frame), move(of_frame, False), frame, w, p.m_b, [[p.Ixx_b, 0, p.Ixz_b], [0, p.Iyy_b, 0], [p.Ixz_b, 0, p.Izz_b]]),
                (add(hub, of_fork), move(of_fork, True), level, wf, p.m_h, [[p.Ixx_h, 0, p.Ixz_h], [0, p.Iyy_h, 0], [p.Ixz_h, 0, p.Izz_h]]),
                (add(hub, of_front), move(of_front, True), fork, add(wf, scaled(-r["front'"], column(fork, 1))), p.m_f, wheel(p.Ixx_f, p.Iyy_f))]

    def energy(r):
        total = 0.0
        for at, v, R, w, mass, inertia in bodies(r):
            own = [dot(column(R, k), w) for k in range(3)]
            total += mass / 2 * dot(v, v) + dot(own, times(inertia, own)) / 2 - mass * p.g * at[2]
        return total

    def slip(r, which, k):
        at, v, R, w, _, _ = bodies(r)[which]
        axle = column(R, 1)
        down = minus([0, 0, 1], scaled(axle[2], axle))
        low = scaled((p.R_f if which else p.R_r) / math.sqrt(dot(down, down)), down)
        return (at[2] + low[2]) if k == 3 else add(v, cross(w, low))[k]

    run.kept('energy', energy)
    for which in (0, 3):
        for k in range(4): run.held('what touches moves', lambda r: slip(r, which, k))
    eigenvalues_of_bicycle(m)


def eigenvalues_of_bicycle(m):
    """Meijaard, Papadopoulos, Ruina, Schwab 2007, table 2."""
    for v, table in {1: [(-7.11008014637442, 0), (-3.13423125066578, 0), (3.5269617099007, -.8077402751993), (3.5269617099007, .8077402751993)],
                     4: [(-12.15861426576447, 0), (-1.42944427361326, 0), (.41325331521125, -3.07910818603206), (.41325331521125, 3.07910818603206)],
                     6: [(-16.0853712309803, 0), (-1.52644486584142, -5.87673060598709), (-1.52644486584142, 5.87673060598709), (-.0040669007697, 0)],
                     8: [(-20.27940894394569, 0), (-2.69348683581097, -8.46037971396931), (-2.69348683581097, 8.46037971396931), (.14327879765713, 0)]}.items():
        code, out, _ = m.ask('linearise', m.path, '--set', f'v={v}', '--json')
        found = json.loads(out)
        values = [(e['re'], e['im']) for e in found['eigenvalues'] if e['frequency'] > 0]
        m.is_true('a bicycle has four eigenvalues that are not zero', code == 0 and len(values) == 4 and found['at'] == 'steady')
        m.is_true(f'stability at {v}', found['stable'] == (v == 6))
        for a, b in zip(values, table): m.small(f'an eigenvalue at {v}', hypot(a[0] - b[0], a[1] - b[1]), 1e-12 * max(1, hypot(*b)))


def ball_on_turntable(m):
    p, run = m.p, m.run()
    n = p.W * p.hollow / (1 + p.hollow)
    m.is_true('not 2/7', abs(n - 2 / 7 * p.W) < 1e-12)
    run.vanishes('x', lambda r: r['x'] - p.x0 - (p.u0 * sin(n * r['t']) - p.v0 * (1 - cos(n * r['t']))) / n, growth=1 + run.span)
    run.vanishes('y', lambda r: r['y'] - (p.v0 * sin(n * r['t']) + p.u0 * (1 - cos(n * r['t']))) / n, growth=1 + run.span)


def rattleback(m):
    p, run = m.p, m.run()

    def touch(r):            # lowest point of the ellipsoid, from the centre of mass, along the axes of the stone
        e = quaternion(r)
        n = turned([e[0], -e[1], -e[2], -e[3]], [0, 0, 1])
        d = [p.a ** 2 * n[0], p.b ** 2 * n[1], p.c ** 2 * n[2]]
        return add(scaled(-1 / sqrt(dot(n, d)), d), [0, 0, p.h])

    def energy(r):
        w = turning(r)
        return p.m / 2 * v2(r, 'x', 'y', 'z') + dot([p.J1, p.J2, p.J3], [c * c / 2 for c in w]) + p.J12 * w[0] * w[1] + p.m * p.g * r['z']

    for k in range(3):
        run.held('the point that touches moves', lambda r: add(vector(r, ["x'", "y'", "z'"]), turned(quaternion(r), cross(turning(r), touch(r))))[k])
    run.held('height', lambda r: r['z'] + turned(quaternion(r), touch(r))[2])
    run.kept('energy', energy)
    # The moment of the force of the table about the centre of mass turns the stone: J w' + w × J w = r × F.
    J = [[p.J1, p.J12, 0], [p.J12, p.J2, 0], [0, 0, p.J3]]
    for r in run.some(100):
        e, w = quaternion(r), turning(r)
        back = [e[0], -e[1], -e[2], -e[3]]
        rate = scaled(2, product(back, [r[f"e{k}''"] for k in range(4)])[1:])
        force = turned(back, scaled(p.m, [r["x''"], r["y''"], r["z''"] + p.g]))
        moment, terms = cross(touch(r), force), add(times(J, rate), cross(w, times(J, w)))
        m.small('moment', max(map(abs, minus(terms, moment))), 1e3 * EPS * p.m * p.a ** 2 / p.J1 * p.m * p.g * p.a)
    about = lambda r: turned(quaternion(r), turning(r))[2]
    m.is_true('the spin does not turn back', about(run.first) < -4.9 and max(about(r) for r in run.rows) > 4)


def snakeboard(m):
    p, run = m.p, m.run()
    J = p.J_board + p.J_rotor + 2 * p.J_wheel

    def f(t, y):
        u, theta = y[0], y[1]
        b, db = p.turn * sin(p.w * t), p.turn * p.w * cos(p.w * t)
        k, dk = tan(b) / p.l, db / cos(b) ** 2 / p.l
        rotor = -p.swing * p.w ** 2 * sin(p.w * t + p.phase)
        return [-(J * u * dk + p.J_rotor * rotor) * k / (p.m + J * k * k), u * k, u * cos(theta), u * sin(theta)]

    run.follows('way', f, [0, 0, 0, 0], lambda y, t: {'speed': y[0], 'theta': y[1], 'x': y[2], 'y': y[3]}, 6000)
    m.is_true('it gains no speed', run.last['speed'] > 4)


def appell_hamel(m):
    p, run = m.p, m.run()
    speed = lambda t: 1 + p.k * p.g / (1 + p.k ** 2) * t
    way = lambda t: t + p.k * p.g / (1 + p.k ** 2) * t * t / 2
    for name, want in (('x', lambda t: 0.6 * way(t)), ('y', lambda t: 0.8 * way(t)), ('z', lambda t: 1 - p.k * way(t)), ("x'", lambda t: 0.6 * speed(t))):
        run.vanishes(name, lambda r: r[name] - want(r['t']), growth=1 + run.span)


def falling_cat(m):
    p, run = m.p, m.run()
    M = p.M + 2 * p.m

    def parts(r):            # mass, inertia, place, velocity, turning
        x, y, a = r['x'], r['y'], r['phi']
        out = [(p.M, p.M * p.a ** 2 / 3, [x, y], [r["x'"], r["y'"]], r["phi'"])]
        for side, joint in ((1, 'front'), (-1, 'rear')):
            b, w, wb = a + r[joint], r["phi'"], r["phi'"] + r[joint + "'"]
            place = [x + side * (p.a * cos(a) + p.l / 2 * cos(b)), y + side * (p.a * sin(a) + p.l / 2 * sin(b))]
            speed = [r["x'"] - side * (p.a * sin(a) * w + p.l / 2 * sin(b) * wb), r["y'"] + side * (p.a * cos(a) * w + p.l / 2 * cos(b) * wb)]
            out.append((p.m, p.m * p.l ** 2 / 12, place, speed, wb))
        return out

    centre = lambda r, k, i: sum(q[0] * q[2 + i][k] for q in parts(r)) / M
    momentum = lambda r: sum(q[0] * ((q[2][0] - centre(r, 0, 0)) * (q[3][1] - centre(r, 1, 1)) - (q[2][1] - centre(r, 1, 0)) * (q[3][0] - centre(r, 0, 1))) + q[1] * q[4]
                             for q in parts(r))
    run.kept('angular momentum', momentum)
    m.is_true('it has angular momentum', abs(momentum(run.first)) < 1e-12)
    run.vanishes('fall', lambda r: centre(r, 1, 0) - 5 + p.g / 2 * r['t'] ** 2, growth=1 + run.span)
    run.vanishes('drift', lambda r: centre(r, 0, 0) - centre(run.first, 0, 0), growth=1 + run.span)
    for leg in ('front', 'rear'): run.equals(leg + ' leg at the end', run.last[leg], 0, growth=1 + 30 * run.span)
    m.is_true('it does not turn', abs(run.last['phi']) > 3)


# ---- mechanisms ---------------------------------------------------------------------------------------------------------

def slider_crank(m):
    p, run = m.p, m.run()
    run.held('place of the piston', lambda r: r['x'] - p.r * cos(r['crank']) - sqrt(p.l ** 2 - (p.r * sin(r['crank'])) ** 2))

    def ratios(a):           # of the velocities of rod, piston and middle of the rod to that of the crank
        b = math.asin(p.r / p.l * sin(a))
        db = p.r * cos(a) / (p.l * cos(b))
        return db, -p.r * sin(a) - p.l * sin(b) * db, -p.r * sin(a) - p.l / 2 * sin(b) * db, p.r * cos(a) - p.l / 2 * cos(b) * db

    def inertia(a):
        db, dx, u, v = ratios(a)
        return p.J + p.m_rod * (u * u + v * v) + p.m_rod * p.l ** 2 / 12 * db * db + p.m_piston * dx * dx

    def f(t, y):
        h = 1e-4
        slope = (inertia(y[0] - 2 * h) - 8 * inertia(y[0] - h) + 8 * inertia(y[0] + h) - inertia(y[0] + 2 * h)) / (12 * h)
        return [y[1], (p.torque - p.load * ratios(y[0])[1] ** 2 * y[1] - slope / 2 * y[1] ** 2) / inertia(y[0])]

    run.follows('crank', f, [0, 4.0], lambda y, t: {'crank': y[0]}, 4800)


def four_bar(m):
    p, run = m.p, m.run()
    pin, joint = (lambda r: [p.a * cos(r['crank']), p.a * sin(r['crank'])]), (lambda r: [p.d + p.c * cos(r['rocker']), p.c * sin(r['rocker'])])
    run.held('length of the coupler', lambda r: dot(minus(pin(r), joint(r)), minus(pin(r), joint(r))) - p.b ** 2)

    def energy(r):           # uniform rods, by the velocities of their ends; the torque puts in torque times angle
        A, B = [-p.a * sin(r['crank']) * r["crank'"], p.a * cos(r['crank']) * r["crank'"]], [-p.c * sin(r['rocker']) * r["rocker'"], p.c * cos(r['rocker']) * r["rocker'"]]
        kinetic = p.rho / 6 * (p.a * dot(A, A) + p.b * (dot(A, A) + dot(A, B) + dot(B, B)) + p.c * dot(B, B))
        return kinetic + p.rho * p.g / 2 * (p.a * pin(r)[1] + p.b * (pin(r)[1] + joint(r)[1]) + p.c * joint(r)[1]) - p.torque * r['crank']

    run.kept('energy without the work of the torque', energy)


def peaucellier(m):
    p, run = m.p, m.run()
    run.held('the line', lambda r: r['xc'] - (p.L ** 2 - p.s ** 2) / (2 * p.r))
    run.kept('energy', lambda r: p.m / 2 * v2(r, 'xa', 'ya', 'xb', 'yb', 'xc', 'yc', 'xd', 'yd') + p.k / 2 * r['yc'] ** 2)
    m.is_true('c does not move', min(r['yc'] for r in run.rows) < -1.4)


def flyball_governor(m):
    p, run = m.p, m.run()

    def f(load):
        def derivative(t, y):
            theta, w, dw = y[1], y[2], y[3]
            s, c, l, mb, ms = sin(theta), cos(theta), p.l, p.m_ball, p.m_sleeve
            shaft = (p.steam * (p.closed - theta) - load - 4 * mb * l * l * s * c * w * dw) / (p.J + 2 * mb * l * l * s * s)
            arms = (2 * mb * l * l * s * c * w * w - 2 * (mb + ms) * p.g * l * s - 4 * ms * l * l * s * c * dw * dw - 4 * p.damper * l * l * s * s * dw) \
                / (2 * mb * l * l + 4 * ms * l * l * s * s)
            return [w, dw, shaft, arms]
        return derivative

    names = lambda y, t: {'phi': y[0], 'theta': y[1], "phi'": y[2]}
    k = next(i for i, r in enumerate(run.rows) if r['t'] >= 6 - 1e-9)
    everything = run.rows
    run.rows = everything[:k + 1]
    run.follows('before the load falls', f(p.load_1), [0, p.theta0, p.speed0, 0], names, 3000)
    middle = [run.rows[-1][name] for name in ('phi', 'theta', "phi'", "theta'")]
    run.rows = everything[k:]
    run.follows('after it', f(p.load_2), middle, names, 7000)
    run.rows = everything
    theta = p.closed - p.load_2 / p.steam
    settled = sqrt(p.g * (1 + p.m_sleeve / p.m_ball) / (p.l * cos(theta)))
    m.is_true('it does not settle', abs(run.last["phi'"] - settled) < 0.01 * abs(p.speed0 - settled))


def stored_end(m, name):
    """A reference of tests/motions: its file says where it comes from."""
    run = m.run()
    end = json.load(open(os.path.join(ROOT, 'tests', 'motions', name + '.expected.json')))['end']
    m.small('time', abs(run.last['t'] - end['time']), EPS)
    return run, end


def squeezer(m):
    run, end = stored_end(m, 'squeezer')
    # Of the Test Set for Initial Value Problem Solvers (release 2.4), the angle of the crank and that of the third body.
    for name, published in (('be', 15.81077119629904), ('ga', 0.04082224013073101)):
        m.small(f'{name} as published', abs(end['position'][name] - published), 1e-9 * max(1, abs(published)))
    for name in m.data['coordinates']:
        run.equals(name, run.last[name], end['position'][name], growth=1 + run.span * abs(end['velocity']['be']))


def car_axis(m):
    run, end = stored_end(m, 'car_axis')
    for name in m.data['coordinates']: run.equals(name, run.last[name], end['position'][name], growth=1 + run.span)


def arm7(m):
    p, run = m.p, m.run()
    lengths = [0.2025, 0.2045, 0.2155, 0.1845, 0.2155, 0.081, 0.045]
    bodies = [(4, 0.10125, 0.05, 0.02), (4, 0.10225, 0.05, 0.02), (3, 0.10775, 0.03, 0.01), (2.7, 0.09225, 0.03, 0.01), (1.7, 0.10775, 0.02, 0.008), (1.8, 0.0405, 0.01, 0.006),
              (0.3, 0.0225, 0.001, 0.001)]

    def place(q):            # of the centres, the axes of each link, the tip
        R, at, out = [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 0, 0.1575], []
        for k in range(7):
            R = matmul(R, about_z(q[k]) if k % 2 == 0 else about_y(q[k]))
            out.append((add(at, times(R, [0, 0.02, bodies[k][1]])), R))
            at = add(at, times(R, [0, 0, lengths[k]]))
        return out, at

    def energy(r):           # velocities by differences along the motion
        q, dq, h = [r[f'q{k}'] for k in range(7)], [r[f"q{k}'"] for k in range(7)], 1e-3
        now, shifted = place(q)[0], {s: place([a + s * h * b for a, b in zip(q, dq)])[0] for s in (-2, -1, 1, 2)}
        rate = lambda get: [(get(shifted[-2], i) - 8 * get(shifted[-1], i) + 8 * get(shifted[1], i) - get(shifted[2], i)) / (12 * h) for i in range(3)]
        total = 0.0
        for k, (mass, _, across, along) in enumerate(bodies):
            v = rate(lambda bodies_at, i: bodies_at[k][0][i])
            axes = list(zip(*now[k][1]))
            moved = [rate(lambda bodies_at, i: bodies_at[k][1][i][c]) for c in range(3)]      # of the three axes
            w = [dot(moved[1], axes[2]), dot(moved[2], axes[0]), dot(moved[0], axes[1])]
            total += mass / 2 * dot(v, v) + across / 2 * (w[0] ** 2 + w[1] ** 2) + along / 2 * w[2] ** 2 + mass * p.g * now[k][0][2]
        return total

    tip = [-0.057661529810798612, 0.10745372018175196, 1.1453841781759826]
    for k in range(3): run.held('tip', lambda r: place([r[f'q{i}'] for i in range(7)])[1][k] - tip[k])
    run.kept('energy', energy, rows=run.some(30))


# ---- redundant and singular ---------------------------------------------------------------------------------------------

def redundancy(m, rank, rows, dependent, freedoms):
    said = m.says('check')
    m.is_true(f"rank {said['rank']} of {said['rows']}, {said['redundant']}, {said['degrees_of_freedom']} free",
              (said['rank'], said['rows'], said['degrees_of_freedom']) == (rank, rows, freedoms) and said['unique'] and said['consistent'])
    m.is_true(f"{said['redundant']} depend on others", said['redundant'] == dependent)


def three_rods(m):
    redundancy(m, 2, 3, ['right'], 1)
    p, run = m.p, m.run()
    run.held('it turns', lambda r: r['phi'])
    a = atan2(run.first['x'], -run.first['y'])
    run.follows('swing', lambda t, y: [y[1], -p.g / p.L * sin(y[0])], [a, run.first["x'"] / cos(a) / p.L], lambda y, t: {'x': p.L * sin(y[0]), 'y': -p.L * cos(y[0])}, 3000)


def door_on_two_hinges(m):
    redundancy(m, 6, 11, ['lower_x', 'lower_y', 'lower_z', 'lower_a', 'lower_t'], 1)
    p, run = m.p, m.run()
    run.follows('swing', lambda t, y: [y[1], -1.5 * p.g * sin(p.lean) / p.width * sin(y[0])], [p.open, 0],
                lambda y, t: {'y': p.d * sin(y[0]), 'z': -p.d * cos(y[0]) * sin(p.lean), 'e0': cos(p.lean / 2) * cos(y[0] / 2)}, 3000)
    code, _, said = m.ask('check', m.path, '--set', 'offset=0.01')
    m.is_true('a hinge that is set aside is accepted', code == 1 and 'lower_y' in said)


def bricard(m):
    redundancy(m, 23, 24, ['twist5'], 1)
    p, run = m.p, m.run()

    def links(r, mark=''):
        points = [[0, 0, 0], *([r[f'{c}{k}{mark}'] for c in 'xyz'] for k in range(1, 5)), [0, -1, 0] if not mark else [0, 0, 0]]
        return points, [minus(points[(k + 1) % 6], points[k]) for k in range(6)]

    def closed(r, k):
        e = links(r)[1]
        return (1 + dot(e[k - 1], e[k])) * (1 + dot(e[k], e[(k + 1) % 6])) - 1

    def energy(r):
        v = links(r, "'")[0]
        pairs = [(v[k], v[k + 1]) for k in range(5)]
        return p.m / 6 * sum(dot(a, a) + dot(a, b) + dot(b, b) for a, b in pairs) + p.m * p.g * sum(r[f'z{k}'] for k in range(1, 5))

    for k in range(6): run.held('closure', lambda r: closed(r, k))
    run.kept('energy', energy)
    m.is_true('it does not fold', any(dot(links(r)[1][0], links(r)[1][1]) < -0.49 for r in run.rows))
    m.is_true('a singular position is seen where the rank stays', not run.events)


def ladder(n):
    def check(m):
        p, run = m.p, m.run()
        k = p.g * (3 * n + 1) / 2 / ((4 * n + 1) / 3)
        some = sorted({0, n // 2, n})
        run.follows('cranks', lambda t, y: [y[1], k * sin(y[0])], [0, 1.0],
                    lambda y, t: {f'{c}{i}': i + sin(y[0]) if c == 'x' else cos(y[0]) for c in 'xy' for i in some}, 10000)
        # Flat wherever the pendulum is level, and reported there.
        y = solve(lambda t, y: [y[1], k * sin(y[0])], [0, 1.0], [0, run.last['t']], 10000)[-1]
        level = int((y[0] + pi / 2) / pi)
        m.is_true(f'{len(run.events)} singular positions, not {level}', len(run.events) == level and all(e['kind'] == 'singular' and e['dimension'] == n for e in run.events))
    return check


# ---- breaking and engaging ----------------------------------------------------------------------------------------------

def weak_rod(m):
    p, run = m.p, m.run()
    e = next(e for e in run.events if e['kind'] == 'user')
    c = p.F / (3 * p.m * p.g)                     # cos a, where it breaks
    s, v = sqrt(1 - c * c), sqrt(2 * p.g * p.L * c)
    run.equals('x where it breaks', e['position']['x'], p.L * s, growth=1 + run.span)
    run.equals('y where it breaks', e['position']['y'], -p.L * c, growth=1 + run.span)
    run.equals('speed there', hypot(e['velocity_after']['x'], e['velocity_after']['y']), v, growth=1 + run.span)
    m.is_true('the rod is not named', e['constraints'] == ['rod'])
    # Time of a swing from the horizontal: the integral of L/v over the angle, with b^2 = the angle swept, which takes its root away.
    a, n = pi / 2 - math.acos(c), 20000
    swing = sum(sqrt(p.L / (2 * p.g)) * 2 * b / sqrt(sin(b * b)) for b in ((i + 0.5) / n * sqrt(a) for i in range(n))) / n * sqrt(a)
    m.small('time where it breaks', abs(e['time'] - swing), 1e-7)
    for row in run.rows:
        tau = row['t'] - e['time']
        held = tau <= 0
        m.is_true('engaged(rod)', row['engaged(rod)'] == (1.0 if held else 0.0))
        m.small('pull', abs(row['pull'] - (-3 * p.m * p.g * row['y'] / p.L if held else 0)), 1e-8)
        if held: continue
        m.small('parabola', abs(row['x'] - (p.L * s - v * c * tau)) + abs(row['y'] - (-p.L * c - v * s * tau - p.g / 2 * tau ** 2)), 1e-8)
    run.kept('energy', lambda r: p.m / 2 * v2(r, 'x', 'y') + p.m * p.g * r['y'])


def clutch(m):
    p, run = m.p, m.run()
    first = next(e for e in run.events if e['name'] == 'fast')
    run.equals('time', first['time'], 10 * p.Ja / p.T)
    for name in 'ab': run.equals("velocity after it", first['velocity_after'][name], p.Ja * 10 / (p.Ja + p.Jb))
    let_go = next(e for e in run.events if e['name'] == 'ready')
    run.equals('where it lets go', let_go['time'], first['time'] + (8 - p.Ja * 10 / (p.Ja + p.Jb)) * (p.Ja + p.Jb) / p.T, growth=1 + run.span)
    again = [e for e in run.events if e['name'] == 'fast'][1]
    run.equals('second time', again['time'], let_go['time'] + 2 * p.Ja / p.T, growth=1 + run.span)
    joint = p.Ja * p.Jb / (p.Ja + p.Jb)
    run.equals('energy lost', run.summary['energy_lost_in_impacts'], joint / 2 * (10 ** 2 + (10 - 8) ** 2), growth=10)
    run.vanishes('momentum', lambda r: p.Ja * r["a'"] + p.Jb * r["b'"] - p.T * r['t'], growth=1 + run.span)
    for row in run.rows:
        joined = first['time'] < row['t'] <= let_go['time'] or row['t'] > again['time']
        m.is_true('engaged(clutch)', row['engaged(clutch)'] == (1.0 if joined else 0.0))
        m.small('what it passes on', abs(abs(row['passed']) - (p.Jb * p.T / (p.Ja + p.Jb) if joined else 0)), 1e-12)
    m.is_true('gear', run.first['gear'] == 0 and run.last['gear'] == 3)


# ---- contacts and friction ----------------------------------------------------------------------------------------------

def bouncing_ball(m):
    p, run = m.p, m.run()
    impacts = [e for e in run.events if e['kind'] == 'impact']
    first = sqrt(2 * p.h / p.g)
    for k, e in enumerate(impacts[:20]):
        run.equals(f'time of impact {k}', e['time'], first * (1 + 2 * sum(p.e ** i for i in range(1, k + 1))), growth=1 + run.span)
        run.equals(f'speed at impact {k}', e['velocity_before']['z'], -p.e ** k * sqrt(2 * p.g * p.h), growth=1 + run.span)
    run.equals('end of the bounces', event(run, 'contact')['time'], first * (1 + p.e) / (1 - p.e), growth=1 + run.span)
    m.is_true('it does not rest', run.last['z'] == 0 and run.last["z'"] == 0)


def ball_on_incline(m):
    p, run = m.p, m.run()
    run.vanishes('way along', lambda r: r['x'] * cos(p.alpha) - r['y'] * sin(p.alpha) + p.h * sin(p.alpha) - p.g * sin(p.alpha) / 2 * r['t'] ** 2, growth=1 + run.span)
    impacts = [e for e in run.events if e['kind'] == 'impact']
    first = sqrt(2 * p.h / p.g)
    for k, e in enumerate(impacts[:10]): run.equals(f'impact {k}', e['time'], first * (1 + 2 * sum(p.e ** i for i in range(1, k + 1))), growth=1 + run.span)
    m.is_true('few impacts', len(impacts) > 10)


def newtons_cradle(m):
    p, run = m.p, m.run()
    hit = event(run, 'impact')
    for name, want in (('x1', -1 / 3), ('x2', 2 / 3), ('x3', 2 / 3)): run.equals(name, hit['velocity_after'][name], want * p.v)
    run.kept('momentum', lambda r: p.m * sum(r[f"x{k}'"] for k in '123'))
    run.kept('energy', lambda r: p.m / 2 * v2(r, 'x1', 'x2', 'x3'))
    apart = m.run('--set', 'gap=1e-6')
    for name, want in (('x1', 0), ('x2', 0), ('x3', 1)): apart.equals(name + ' with a gap', apart.last[name + "'"], want * p.v)


def string_pendulum(m):
    p, run = m.p, m.run()
    slack = event(run, 'release')
    x, y = slack['position']['x'], slack['position']['y']
    v = slack['velocity_before']
    run.equals('where the string goes slack', atan2(x, -y), 2 * pi / 3, growth=1 + run.span)
    run.equals('speed there', v['x'] ** 2 + v['y'] ** 2, p.k * p.g * p.L - 3 * p.g * p.L, growth=1 + run.span)
    # Free flight until the distance is L again.
    far = lambda t: hypot(x + v['x'] * t, y + v['y'] * t - p.g / 2 * t * t) - p.L
    a, b = 0.1, 2.0
    for _ in range(80): a, b = ((a + b) / 2, b) if far((a + b) / 2) < 0 else (a, (a + b) / 2)
    hit = event(run, 'impact')
    run.equals('when it is taut again', hit['time'], slack['time'] + a, growth=(1 + run.span) ** 2)
    run.kept('energy', lambda r: p.m / 2 * v2(r, 'x', 'y') + p.m * p.g * r['y'], rows=[r for r in run.rows if r['t'] < hit['time']])


def ladder_leaves_wall(m):
    p, run = m.p, m.run()
    left, hit = event(run, 'release'), event(run, 'impact')
    run.equals('where it leaves', cos(left['position']['theta']), 2 / 3 * cos(p.theta0), growth=1 + run.span)
    run.kept('energy', lambda r: p.m / 2 * v2(r, 'x', 'y') + p.m * p.L ** 2 / 24 * r["theta'"] ** 2 + p.m * p.g * r['y'], rows=[r for r in run.rows if r['t'] < hit['time']])
    run.kept("x'", lambda r: r["x'"], rows=[r for r in run.rows if left['time'] < r['t']])
    run.equals('it lies on the floor', run.last['y'], 0)


def tipping_rod(m):
    p, run = m.p, m.run()
    hit = event(run, 'impact')
    before = [r for r in run.rows if r['t'] < hit['time']]
    run.vanishes('rate', lambda r: r["theta'"] ** 2 - 12 * p.g / p.L * (cos(p.theta0) - cos(r['theta'])) / (4 - 3 * cos(r['theta']) ** 2), rows=before)
    run.vanishes('x', lambda r: r['x'])
    m.is_true('it does not lie still', max(abs(run.last[n + "'"]) for n in ('x', 'y', 'theta')) < 1e-9)


def rough_incline(m):
    p, run = m.p, m.run()
    up, down = p.g * (sin(p.alpha) + p.mu * cos(p.alpha)), p.g * (sin(p.alpha) - p.mu * cos(p.alpha))
    stop = 2 / up
    way = lambda t: 2 * t - up / 2 * t * t if t < stop else 2 / up - down / 2 * (t - stop) ** 2
    run.vanishes('way', lambda r: r['x'] * cos(p.alpha) + r['y'] * sin(p.alpha) - way(r['t']), growth=1 + run.span)


def block_on_incline(m):
    p, run = m.p, m.run()
    slow = p.g * (sin(p.alpha) + p.mu * cos(p.alpha))
    run.equals('when it stops', event(run, 'stick')['time'], p.v0 / slow, growth=1 + run.span)
    way = lambda t: p.v0 * t - slow / 2 * t * t if t < p.v0 / slow else p.v0 ** 2 / (2 * slow)
    run.vanishes('way', lambda r: r['x'] * cos(p.alpha) + r['y'] * sin(p.alpha) - way(r['t']), growth=1 + run.span)
    # At rest friction is what holds the weight.
    run.equals('friction at rest', hypot(run.last['Qni(x)'], run.last['Qni(y)']), p.m * p.g * sin(p.alpha))


def rough_wire_bead(m):
    p, run = m.p, m.run()
    # Speed by place: d(v²/2)/dx = -g x/p ± mu (g + v²/(p (1 + x²/p²))), from stop to stop, until the slope holds the bead.
    x = run.first['x']
    stops = []
    while abs(x) / p.p > p.mu:
        way = -1 if x > 0 else 1
        f = lambda s, u: [way * (-p.g * (x + way * s) / p.p) - p.mu * (p.g + 2 * u[0] / (p.p * (1 + ((x + way * s) / p.p) ** 2)))]
        h, s, u = 1e-4, 0.0, 0.0
        while True:
            after = solve(f, [u], [s, s + h], 1)[-1][0]
            if after <= 0 and s > 0: break
            s, u = s + h, after
        a, b = 0.0, h                                     # the last bit, by halving
        for _ in range(60):
            c = (a + b) / 2
            a, b = (c, b) if solve(f, [u], [s, s + c], 1)[-1][0] > 0 else (a, c)
        x += way * (s + a)
        stops.append(x)
    def f(t, y):             # to the left, in time
        sec = hypot(1, y[0] / p.p)
        normal = p.g / sec + (y[1] * sec) ** 2 / (p.p * sec ** 3)
        return [y[1], (p.mu * normal - p.g * y[0] / (p.p * sec) - y[1] ** 2 * y[0] / (p.p ** 2 * sec)) / sec]

    everything, run.rows = run.rows, [r for r in run.rows if r['t'] < run.events[0]['time']]
    run.follows('way to the first stop', f, [run.first['x'], 0], lambda y, t: {'x': y[0], "x'": y[1]}, 4000)
    run.rows = everything
    turns = [e['position']['x'] for e in run.events if e['kind'] in ('stick', 'slip')]
    m.is_true(f'{len(turns)} stops, not {len(stops)}', len(turns) >= len(stops))
    run.equals('where it stays', run.last['x'], stops[-1], growth=1 + run.span)
    m.is_true('it moves on', hypot(run.last["x'"], run.last["y'"]) < EPS)


def sliding_to_rolling_disc(m):
    p, run = m.p, m.run()
    rolls = p.v0 / (3 * p.mu * p.g)
    run.equals('when it rolls', event(run, 'stick')['time'], rolls, growth=1 + run.span)
    run.vanishes('speed', lambda r: r["x'"] - (p.v0 - p.mu * p.g * r['t'] if r['t'] < rolls else 2 * p.v0 / 3), growth=1 + run.span)
    run.vanishes('spin', lambda r: r["theta'"] * p.r + (2 * p.mu * p.g * r['t'] if r['t'] < rolls else 2 * p.v0 / 3), growth=1 + run.span)


def ball_tube(m):
    p, run = m.p, m.run()
    for k in range(1, 21): m.small(f'load of contact {k}', max(abs(r[f'lambda(c{k})'] - (21 - k) * p.m * p.g) for r in run.rows), 20 * 20 * p.m * p.g * 100 * EPS)
    for k in range(1, 21): run.held(f'place of ball {k}', lambda r: r[f'y{k}'] - (2 * k - 1) * p.d / 2)


def box_stack(m):
    p, run = m.p, m.run()
    for name in m.data['coordinates']: run.kept(name, lambda r: r[name])
    weight = 3 * p.m * p.g
    m.small('load of the floor', max(abs(r['normal(left1)'] + r['normal(right1)'] - weight * cos(p.alpha)) for r in run.rows), weight * 1e3 * EPS / p.w)
    m.small('friction of the floor', max(abs(r['friction(left1)'] + r['friction(right1)'] + weight * sin(p.alpha)) for r in run.rows), weight * 1e3 * EPS / p.w)


# ---- control ------------------------------------------------------------------------------------------------------------

def steered_bead(m):
    p, run = m.p, m.run()
    e0, rate0 = run.first['y'] + 0.3, run.first["y'"] - 0.2
    run.vanishes('error of the height', lambda r: r['y'] + 0.3 - 0.1 * sin(2 * r['t']) - damped(e0, rate0, p.omega, 0.7, r['t']), growth=1 + p.omega)
    run.held('wire', lambda r: r['x'] ** 2 + r['y'] ** 2 - p.R ** 2)
    for r in run.rows:       # Newton's law; the steering acts along the wire, and the wire across itself, as without steering
        size = 100 * EPS * (abs(r['Qc(x)']) + abs(r['Qc(y)']) + abs(r['Qcontrol(y)']) + p.m * p.g) / abs(r['x'] / p.R)
        m.small("Newton's law", max(abs(p.m * r["x''"] - r['Qc(x)'] - r['Qcontrol(x)']), abs(p.m * (r["y''"] + p.g) - r['Qc(y)'] - r['Qcontrol(y)'])), size)
        m.small('direction of the forces', max(abs(r['Qcontrol(x)'] * r['x'] + r['Qcontrol(y)'] * r['y']), abs(r['Qc(x)'] * r['y'] - r['Qc(y)'] * r['x'])), size)
        across = p.m * (p.g * r['y'] - v2(r, 'x', 'y')) / p.R ** 2
        m.small('force of the wire', max(abs(r['Qc(x)'] - across * r['x']), abs(r['Qc(y)'] - across * r['y'])), size + run.budget)


def servo(m):
    p, run, target = m.p, m.run(), m.data['inputs']['target']

    def f(t, y):             # arm, its speed, current, integral
        a, w, i, I = y
        v = p.Kp * (target - a) + p.Ki * I - p.Kd * w
        U = max(-p.Umax, min(p.Umax, v))
        return [w, (p.k * i - p.d * w - p.m * p.g * p.l * sin(a)) / p.J, (U - p.R * i - p.k * w) / p.L, target - a + (U - v) / (p.Ki * p.Ta)]

    run.follows('servo', f, [0.0] * 4, lambda y, t: {'phi': y[0], "phi'": y[1], 'i': y[2], 'I': y[3]}, 60000)
    m.is_true('the limit is not reached', max(abs(r['voltage']) for r in run.rows) == p.Umax)
    m.small('torque of the weight at the end', abs(p.k * run.last['i'] - p.m * p.g * p.l * sin(target)), 1e-3)
    power = [r for r in run.rows if r['t'] > 0]
    m.is_true('a state has a force', not any(c.startswith('Q') and c.endswith(('(i)', '(I)')) for c in run.columns) and bool(power))


def tracking_arm(m):
    p, run = m.p, m.run()
    place = lambda r, f: p.l1 * f(r['q1']) + p.l2 * f(r['q2']) + p.l3 * f(r['q3'])
    for name, f, goal, rate in (('x', cos, lambda t: 1.2 + 0.6 * sin(p.w * t), 0.6 * p.w), ('y', sin, lambda t: 0.4 + 0.4 * sin(2 * p.w * t), 0.8 * p.w)):
        e0 = place(run.first, f) - goal(0)
        run.vanishes(f'error of {name}', lambda r: place(r, f) - goal(r['t']) - damped(e0, -rate, p.f, 1, r['t']), growth=1 + p.f)

    def energy(q, w):
        ends = [(0, 0, 0)]
        for l, a, b in zip((p.l1, p.l2, p.l3), q, w): ends.append((ends[-1][0] - l * sin(a) * b, ends[-1][1] + l * cos(a) * b, ends[-1][2] + l * sin(a)))
        rods = zip((p.m1, p.m2, p.m3), ends, ends[1:])
        return sum(mass / 6 * sum(a[k] ** 2 + a[k] * b[k] + b[k] ** 2 for k in (0, 1)) + mass * p.g * (a[2] + b[2]) / 2 for mass, a, b in rods)

    for r in run.some(100):  # the energy grows by the power of control and friction, and the control acts through the tip alone
        q, w, a, torque = ([r[f'{head}{k}{tail}'] for k in (1, 2, 3)] for head, tail in (('q', ''), ('q', "'"), ('q', "''"), ('Qcontrol(q', ')')))
        h = 1e-4
        at = lambda s: energy([x + s * h * y for x, y in zip(q, w)], [x + s * h * y for x, y in zip(w, a)])
        growing = (at(-2) - 8 * at(-1) + 8 * at(1) - at(2)) / (12 * h)
        power = dot(torque, w) - p.c * (w[0] ** 2 + (w[0] - w[1]) ** 2 + (w[1] - w[2]) ** 2)
        size = 1 + dot(map(abs, torque), map(abs, w)) + sum(x * x for x in a)
        m.small('power', abs(growing - power), 1e3 * EPS / h * size)
        free = cross([-l * sin(x) for l, x in zip((p.l1, p.l2, p.l3), q)], [l * cos(x) for l, x in zip((p.l1, p.l2, p.l3), q)])
        m.small('control along the freedom that is left', abs(dot(free, torque)), 1e4 * EPS * size)


def formation_satellites(m):
    p, run = m.p, m.run()
    circle, plane = (lambda r: r['y'] ** 2 + r['z'] ** 2 - p.radius ** 2), (lambda r: 2 * r['x'] - r['z'])
    rates = (2 * (run.first['y'] * run.first["y'"] + run.first['z'] * run.first["z'"]), 2 * run.first["x'"] - run.first["z'"])
    for name, e, rate in (('circle', circle, rates[0]), ('plane', plane, rates[1])):
        run.vanishes(name, lambda r: e(r) - damped(e(run.first), rate, 0.1, 1, r['t']), growth=1 + 1 / 0.1)

    # Newton's law in a frame that does not turn: acceleration there = gravity + thrust.
    def rest(r, k):
        x, y, z, n = p.R + r['x'], r['y'], r['z'], p.n
        d3 = (x * x + y * y + z * z) ** 1.5
        here = [r["x''"] - 2 * n * r["y'"] - n * n * x, r["y''"] + 2 * n * r["x'"] - n * n * y, r["z''"]]
        return here[k] + p.mu * [x, y, z][k] / d3 - r[f"Qcontrol({'xyz'[k]})"] / p.m

    for k in range(3): m.small("Newton's law", max(abs(rest(r, k)) for r in run.rows), 100 * EPS * p.n ** 2 * p.R)
    thrust = lambda r: hypot(*(r[f'Qcontrol({c})'] for c in 'xyz'))
    m.is_true('the thrust does not become small', max(thrust(r) for r in run.rows[-50:]) < 0.1 * thrust(run.first))


# ---- diagnosis ----------------------------------------------------------------------------------------------------------

def kalaba_udwadia_2(m):
    formula = m.says('equations')['closed_form']['acceleration']
    seed = random.SystemRandom().randrange(10 ** 6)
    dice = random.Random(seed)
    for _ in range(20):
        t, X, Y, alpha, speed, mass = (dice.uniform(-2, 2) for _ in range(6))
        mass = abs(mass) + 0.1
        # x'' - t y'' = y' + α', and the force of the constraint along (1, -t): m x'' = X + λ, m y'' = Y - t λ.
        force = (mass * (speed + alpha) - X + t * Y) / (1 + t * t)
        want = {'x': (X + force) / mass, 'y': (Y - t * force) / mass}
        for name, text in formula.items():
            python = text.replace('^', '**').replace("α'", 'rate').replace("y'", 'speed')
            got = eval(python, {'__builtins__': {}}, dict(t=t, X=X, Y=Y, rate=alpha, speed=speed, m=mass))
            m.small(f"{name}'' (seed {seed})", abs(got - want[name]), 100 * EPS * (abs(X) + abs(Y) + abs(speed) + abs(alpha) + 1) * 5 / mass)
    code, _, said = m.ask('check', m.path)
    m.is_true('check does not name the unknown functions', code == 1 and all(f'`{name}`' in said for name in ('α', 'X', 'Y')))


def contradiction(m):
    said = m.says('accelerate', 1)
    m.is_true(f"the conflict is {said['conflicts']}", [sorted(s) for s in said['conflicts']] == [['diagonal', 'drive_x', 'drive_y']])
    m.small('by how much', abs(abs(said['conflict_residuals'][0]) - 0.5), 10 * EPS)
    m.is_true('an acceleration is given', said['acceleration'] is None and not said['consistent'])


def loose_lever(m):
    said = m.says('accelerate', 1)
    m.is_true(f"{said['undetermined']} undetermined", said['undetermined'] == ['lever'] and not said['unique'] and said['consistent'])


def measured_gauges(m):
    p, run = m.p, m.run()
    tape, laser, coil = 1 / p.sd_tape ** 2, 1 / p.sd_laser ** 2, 1 / p.sd_coil ** 2
    # Least squares of x'' = 2.08, x'' + s'' = 3.02, s'' = 1.00.
    a, b, c = tape + laser, laser, laser + coil
    u, v = tape * 2.08 + laser * 3.02, laser * 3.02 + coil * 1.00
    x, s = (u * c - v * b) / (a * c - b * b), (a * v - b * u) / (a * c - b * b)
    run.vanishes('x', lambda r: r['x'] - x / 2 * r['t'] ** 2, growth=1 + run.span)
    run.vanishes('s', lambda r: r['s'] - s / 2 * r['t'] ** 2, growth=1 + run.span)
    run.held('rail', lambda r: r['y'])


def spline(x, y):
    """Slopes of the cubic spline through points with not-a-knot ends, by Gauss without short cuts."""
    n, h = len(x), [b - a for a, b in zip(x, x[1:])]
    rows = [[0.0] * 5 for _ in range(n)]          # of second derivatives: four about the diagonal, and the right-hand side
    for i in range(1, n - 1):
        rows[i] = [0, h[i - 1], 2 * (h[i - 1] + h[i]), h[i], 6 * ((y[i + 1] - y[i]) / h[i] - (y[i] - y[i - 1]) / h[i - 1])]
    # The third derivative does not jump at the second point: M0 and the last M are on a line through their neighbours.
    first, last = h[0] / h[1], h[-1] / h[-2]
    rows[1] = [0, 0, rows[1][2] + h[0] * (1 + first), rows[1][3] - h[0] * first, rows[1][4]]
    rows[-2] = [0, rows[-2][1] - h[-1] * last, rows[-2][2] + h[-1] * (1 + last), 0, rows[-2][4]]
    for i in range(2, n - 1):
        f = rows[i][1] / rows[i - 1][2]
        rows[i][2] -= f * rows[i - 1][3]; rows[i][4] -= f * rows[i - 1][4]
    M = [0.0] * n
    for i in range(n - 2, 0, -1): M[i] = (rows[i][4] - rows[i][3] * M[i + 1]) / rows[i][2]
    M[0], M[-1] = M[1] + first * (M[1] - M[2]), M[-2] + last * (M[-2] - M[-3])
    return [[y[i], (y[i + 1] - y[i]) / h[i] - h[i] * (2 * M[i] + M[i + 1]) / 6, M[i] / 2, (M[i + 1] - M[i]) / (6 * h[i])] for i in range(n - 1)]


def shear_frame(m):
    p, run = m.p, m.run()
    with open(os.path.join(os.path.dirname(m.path), 'shear_frame.csv'), encoding='utf-8') as f:
        rows = [tuple(map(float, line.split(','))) for line in f if line[0].isdigit()]
    x, N = [t for t, _ in rows], int(p.N)
    pieces = [*spline(x, [a for _, a in rows]), [0.0] * 4]        # nothing shakes behind the record
    modes = [(2 * sqrt(p.k / p.m) * sin((2 * j - 1) * pi / (4 * N + 2)), [sin(i * (2 * j - 1) * pi / (2 * N + 1)) for i in range(1, N + 1)]) for j in range(1, N + 1)]

    def oscillator(w, state, c, s):
        """y'' + d y' + w^2 y = -(c0 + c1 s + c2 s^2 + c3 s^3), from the state at s = 0: a polynomial, and what is left swings."""
        q = [0.0] * 6
        for k in range(3, -1, -1): q[k] = (-c[k] - p.d * (k + 1) * q[k + 1] - (k + 2) * (k + 1) * q[k + 2]) / w ** 2
        a, b, r = state[0] - q[0], state[1] - q[1], p.d / 2
        v = sqrt(w ** 2 - r ** 2)
        A, B, C, S, E = a, (b + r * a) / v, cos(v * s), sin(v * s), exp(-r * s)
        return (E * (A * C + B * S) + sum(q[k] * s ** k for k in range(4)),
                E * ((B * v - r * A) * C - (A * v + r * B) * S) + sum(k * q[k] * s ** (k - 1) for k in range(1, 4)))

    states, at = {}, [[(0.0, 0.0)] for _ in modes]
    for (w, _), list_of in zip(modes, at):
        for i in range(len(x) - 1): list_of.append(oscillator(w, list_of[-1], pieces[i], x[i + 1] - x[i]))

    def exact(t):
        if t not in states:
            i = min(int(t / 0.02 + 1e-9), len(x) - 1)
            states[t] = [0.0] * N, [0.0] * N
            for (w, shape), list_of in zip(modes, at):
                share = sum(shape) / sum(a * a for a in shape)
                y = oscillator(w, list_of[i], pieces[i], t - x[i])
                for f in range(N): states[t][0][f] += share * shape[f] * y[0]; states[t][1][f] += share * shape[f] * y[1]
        return states[t]

    # Oscillators forget: an error of a position is one of a velocity over their frequency, and the other way round.
    growth = 2 * modes[-1][0] * sqrt(N)
    for i in range(N):
        run.vanishes(f'u[{i + 1}]', lambda r: r[f'u[{i + 1}]'] - exact(r['t'])[0][i], growth=growth)
        run.vanishes(f"u[{i + 1}]'", lambda r: r[f"u[{i + 1}]'"] - exact(r['t'])[1][i], growth=growth)
    top = max(abs(r[f'u[{N}]']) for r in run.rows)
    if not top > 0.01: raise Miss(f'the top floor moves by {top} only')


CHECKS = {f.__name__: f for f in (
    pendulum, double_pendulum, spherical_pendulum, bead_on_spinning_hoop, tautochrone, foucault_pendulum, kapitza_pendulum, wheel_with_massless_coordinate,
    quaternion_body, tennis_racket,
    kalaba_udwadia_1, chaplygin_sleigh, rolling_disk, bicycle, ball_on_turntable, rattleback, snakeboard, appell_hamel, falling_cat,
    slider_crank, four_bar, peaucellier, flyball_governor, squeezer, car_axis, arm7,
    three_rods, door_on_two_hinges, bricard,
    bouncing_ball, ball_on_incline, newtons_cradle, string_pendulum, ladder_leaves_wall, tipping_rod, rough_incline, block_on_incline, rough_wire_bead,
    sliding_to_rolling_disc, ball_tube, box_stack,
    falling_chain, net, shear_frame,
    weak_rod, clutch,
    steered_bead, servo, tracking_arm, formation_satellites,
    kalaba_udwadia_2, contradiction, loose_lever, measured_gauges)}
CHECKS |= {f'ladder_{n}': ladder(n) for n in (1, 2, 10, 40)}


def tries(page):
    """The commands of a page of the gallery under `Try`: words, and what is said of them."""
    for line in page.split('\n'):
        found = re.match(r'- `(\./run|mechanician \w+) (models/\w+\.toml)([^`]*)`:?(.*)', line)
        if not found: continue
        verb, model, options, why = found.groups()
        verb = verb.split()[-1] if verb != './run' else 'accelerate' if '--form' in options else 'run'
        yield [verb, os.path.join(ROOT, model), *options.split()], why


def try_all(program, name):
    path = os.path.join(ROOT, 'docs', 'gallery', name + '.md')
    for words, why in tries(open(path, encoding='utf-8').read()):
        p = subprocess.run([program, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, encoding='utf-8', timeout=limits.CLOCK)
        fails = any(word in why for word in ('refused', 'cannot go on')) or name == 'contradiction'
        if (p.returncode != 0) != fails: raise Miss(f"`{' '.join(words)}` ends with {p.returncode}: {p.stderr.strip()[:300]}")


def hold(checks, options, say):
    """The models of `checks`, each to its law, and what their pages propose to try."""
    present = {f[:-5] for f in os.listdir(options.models) if f.endswith('.toml')}
    for name, check in checks.items():
        if options.only and name not in options.only: continue
        if name not in present: say(f'{name}: there is no such model'); continue
        model = Model(os.path.abspath(options.program), os.path.join(options.models, name + '.toml'))
        try:
            check(model)
            if options.models == os.path.join(ROOT, 'models'): try_all(model.program, name)
            miss = None
        except Miss as e: miss = f'{name}: {e}'
        except (KeyError, IndexError, TypeError, StopIteration, ZeroDivisionError, OSError) as e: miss = f'{name}: {type(e).__name__} {e}'
        say(miss)
        if options.verbose and not miss: print(f'{name}: {100 * model.used:.2g} %')


def main(about=__doc__, checks=CHECKS, rest=None):
    a = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument('--program', default=os.path.join(ROOT, 'build', 'release', 'mechanician'))
    a.add_argument('--models', default=os.path.join(ROOT, 'models'))
    a.add_argument('--only', nargs='+')
    a.add_argument('--verbose', action='store_true', help='how much of what is allowed was used')
    options = a.parse_args()
    if not os.access(options.program, os.X_OK): print(f'no program at {options.program}'); return 2
    passed = failed = 0

    def say(miss):
        nonlocal passed, failed
        if miss: failed += 1; print(miss)
        else: passed += 1

    hold(checks, options, say)
    if rest and not options.only: rest(options, say)
    print(f'{passed} passed, {failed} failed')
    return 1 if failed or not passed else 0


def whole_gallery(options, say):
    """Every model has a law, and every page is what its model says."""
    import check_machines
    import check_steered
    present = {f[:-5] for f in os.listdir(options.models) if f.endswith('.toml')}
    for name in sorted(present - set(CHECKS) - set(check_machines.CHECKS) - set(check_steered.CHECKS)): say(f'{name}: no law in CHECKS')
    p = subprocess.run([os.path.join(ROOT, 'tools', 'build_gallery'), '--check', '--program', options.program], capture_output=True, text=True, encoding='utf-8')
    say(None if p.returncode == 0 else 'the pages of the gallery:\n' + (p.stdout + p.stderr).rstrip())


if __name__ == '__main__': sys.exit(main(rest=whole_gallery))
