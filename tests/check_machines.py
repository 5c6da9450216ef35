#!/usr/bin/env python3
"""Runs the machines of models/ that are made of bodies and joints, and holds each to a law that the program has no part in.

usage: check_machines.py --program PATH [--only NAME …] [--models FOLDER]

Closed forms of the geometry of a mechanism (circles and spheres that meet, the law of cosines), d'Alembert's principle applied to a path that is known,
balances of energy and momentum, published numbers, and the other way of writing the same machine: every body by itself. What is allowed
follows from the tolerance of the run, as in check_gallery.py.

Prints a line for each miss, and last `N passed, N failed`."""
import contextlib, json, os, re, shutil, subprocess, sys, tempfile, tomllib
from math import acos, asin, atan2, copysign, cos, exp, hypot, pi, sin, sqrt

import limits
import check_gallery as gallery
from check_gallery import Miss, Run, add, cross, dot, matmul, minus, product, scaled, times, turned

sys.dont_write_bytecode = True
G = 9.81
CLOSED = 1e-12      # metres: joints of a loop


# ---- other forms of a model -----------------------------------------------------------------------------------------------

@contextlib.contextmanager
def changed(m, change):
    """A file beside the parts of the gallery with another text."""
    with tempfile.TemporaryDirectory() as folder:
        parts = os.path.join(os.path.dirname(m.path), 'parts')
        if os.path.isdir(parts): shutil.copytree(parts, os.path.join(folder, 'parts'))
        text = open(m.path, encoding='utf-8').read()
        new = change(text)
        if new == text: raise Miss('the test changes nothing in the model')
        path = os.path.join(folder, 'model.toml')
        open(path, 'w', encoding='utf-8').write(new)
        yield path


def run_changed(m, change, *options):
    with changed(m, change) as path:
        result = os.path.join(os.path.dirname(path), 'motion.json')
        p = subprocess.run([m.program, 'run', path, '-o', result, *options], capture_output=True, text=True, encoding='utf-8', timeout=limits.CLOCK)
        if p.returncode != 0: raise Miss(f'a changed model ends with {p.returncode}: {p.stderr.strip()[:300]}')
        return Run(m, json.load(open(result)))


def bodies_of(m):
    """Names of all bodies, those of families and of the part one by one."""
    names = []

    def of(data, prefix):
        for name, about in data.get('bodies', {}).items():
            if 'for' not in about: names.append(prefix + name); continue
            last = int(m.p.get('n', 6)) if about['for'].endswith('n') else int(about['for'].split('..')[1])
            names.extend(prefix + name.split('[')[0] + f'[{i}]' for i in range(1, last + 1))

    of(m.data, '')
    for name, part in m.data.get('parts', {}).items():
        of(tomllib.load(open(os.path.join(os.path.dirname(m.path), part['model']), 'rb')), name + '.')
    return names


def with_lines(text, section, *lines):
    """Further lines at the beginning of a section; a section of its own if there is none."""
    head = f'[{section}]\n'
    if head in text: return text.replace(head, head + '\n'.join(lines) + '\n', 1)
    return text + '\n' + head + '\n'.join(lines) + '\n'


def energy_line(m, *more):
    terms = [f'{b}.kinetic' for b in bodies_of(m)] + ([f'{b}.potential' for b in bodies_of(m)] if 'gravity' in m.data['world'] else [])
    return f'energy_of_all = "{" + ".join([*terms, *more])}"'


def in_formulation(text, way):
    return with_lines(re.sub(r'(?m)^formulation.*\n', '', text), 'world', f'formulation = "{way}"')


def same_both_ways(m, names, growth, *options):
    """Along the tree of the joints, and with seven coordinates for each body: they share neither coordinates nor constraints."""
    one, two = (run_changed(m, lambda text: in_formulation(text, way), *options) for way in ('joint', 'free'))
    m.is_true('both formulations have the same rows', len(one.rows) == len(two.rows) and one.state_names != two.state_names)
    for name in names:
        largest = max(1e-3, *(abs(r[name]) for r in one.rows))
        m.small(f'{name} in both formulations', max(abs(a[name] - b[name]) for a, b in zip(one.rows, two.rows)), growth * (one.budget + two.budget) * largest)


# ---- geometry -------------------------------------------------------------------------------------------------------------

def meet(p, r, q, s, side):
    """Where the circles about p and q meet, to the left of the way from p to q, or to the right (side = -1)."""
    dx, dz = q[0] - p[0], q[1] - p[1]
    d = hypot(dx, dz)
    a = (d * d + r * r - s * s) / (2 * d)
    h = side * sqrt(r * r - a * a)
    return p[0] + (a * dx - h * dz) / d, p[1] + (a * dz + h * dx) / d


def spheres(p1, p2, p3, r1, r2, r3, below):
    """Where three spheres meet: of two points the one on the side of p1 towards which `below` points."""
    d = sqrt(dot(minus(p2, p1), minus(p2, p1)))
    ex = scaled(1 / d, minus(p2, p1))
    i = dot(ex, minus(p3, p1))
    rest = minus(minus(p3, p1), scaled(i, ex))
    j = sqrt(dot(rest, rest))
    ey = scaled(1 / j, rest)
    ez = cross(ex, ey)
    x = (r1 * r1 - r2 * r2 + d * d) / (2 * d)
    y = (r1 * r1 - r3 * r3 + i * i + j * j) / (2 * j) - i / j * x
    z = sqrt(r1 * r1 - x * x - y * y)
    return add(p1, scaled(x, ex), scaled(y, ey), scaled(copysign(z, dot(ez, below)), ez))


def distance(a, b): return sqrt(dot(minus(a, b), minus(a, b)))


# Derivatives by differences: of order eight, of the first and of the second derivative.
FIRST = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
SECOND = {0: -205 / 72, 1: 8 / 5, 2: -1 / 5, 3: 8 / 315, 4: -1 / 560}


def slope(f, x, h): return [sum(c * (a - b) for c, a, b in zip(FIRST.values(), up, down)) / h for up, down in
                            zip(zip(*(f(x + k * h) for k in FIRST)), zip(*(f(x - k * h) for k in FIRST)))]


def curvature(f, x, h):
    rows = [[c * v for v in f(x + k * h)] for k, c in SECOND.items()] + [[c * v for v in f(x - k * h)] for k, c in SECOND.items() if k]
    return [sum(v) / (h * h) for v in zip(*rows)]


def dalembert(places, weights, motion, t):
    """Forces along the coordinates q of a mechanism that moves by q = motion(t). places(q): x, y, z or angles of all bodies, weights: what
    inertia each of them has, and which of them are heights."""
    h = 2e-3
    accelerations = curvature(lambda s: places(motion(s)), t, h)
    q = motion(t)
    forces = []
    for k in range(len(q)):
        by = slope(lambda v: places([v if i == k else x for i, x in enumerate(q)]), q[k], 1e-3)
        forces.append(sum(m * (a + (G if up else 0.0)) * b for (m, up), a, b in zip(weights, accelerations, by)))
    return forces


# ---- rolling --------------------------------------------------------------------------------------------------------------

def bicycle_of_bodies(m):
    gallery.eigenvalues_of_bicycle(m)
    # Basu-Mandal, Chatterjee, Papadopoulos 2007, table 1: their axes point backwards, to the right and up. Angles and rates in those of
    # Meijaard and others (forward, right, down): yaw = -theta, lean = pi/2 - psi, pitch = pi - phi; steer and wheels are counted as here.
    psi, phi, steer, height = .9501292851472, 3.1257073014894, .2311385135743, .2440472102925
    rates = dict(x=-2.8069345714545, y=-.1480982396001, z=.1058778746261, theta=.7830033527065, psi=.6068425835418, phi=-.0119185528069,
                 psif=.4859824687093, betar=8.912989661489, betaf=8.0133620584155)
    want = dict(x=-.5041626315047, y=-.3449706619454, z=-1.460452833298, theta=.8353281706379, psi=-7.8555281128244, phi=.1205543897884,
                psif=-4.6198904039403, betar=1.8472554144217, betaf=2.454807290455)
    lean, pitch = pi / 2 - psi, pi - phi
    e1, e2, e3 = [1, 0, 0], [0, cos(lean), sin(lean)], [0, 0, 1]                      # axes of lean, pitch and yaw at yaw = 0, z down
    yaw1, lean1, pitch1 = -rates['theta'], -rates['psi'], -rates['phi']
    def flip(v): return [v[0], -v[1], -v[2]]                                          # to the axes of the model: forward, left, up
    spin = add(scaled(yaw1, e3), scaled(lean1, e1), scaled(pitch1, e2))
    R = matmul([[1, 0, 0], [0, cos(lean), -sin(lean)], [0, sin(lean), cos(lean)]], gallery.about_y(pitch))
    arm = times(R, [.3, 0, -.6])                                                      # from the hub to the rider
    qa, qb = [cos(lean / 2), sin(lean / 2), 0, 0], [cos(pitch / 2), 0, sin(pitch / 2), 0]
    q = product(qa, qb)
    q = [q[0], *flip(q[1:])]
    hub, hub1 = [0, 0, height], [-rates['x'], -rates['y'], rates['z']]
    place, speed = add(hub, flip(arm)), add(hub1, flip(cross(spin, arm)))
    w = flip(spin)
    q1 = scaled(.5, product([0, *w], q))
    position = dict(zip('xyz', place)) | dict(zip(('qw', 'qx', 'qy', 'qz'), q))
    velocity = dict(zip('xyz', speed)) | dict(zip(('qw', 'qx', 'qy', 'qz'), q1))
    words = ['--position', ','.join(f'frame.{k}={v!r}' for k, v in position.items()) + f',steer.angle={steer!r}',
             '--velocity', ','.join(f'frame.{k}={v!r}' for k, v in velocity.items()) +
             f",steer.angle={rates['psif']!r},rear_hub.angle={rates['betar']!r},front_hub.angle={rates['betaf']!r}"]
    code, out, err = m.ask('accelerate', m.path, '--json', *words)
    if code != 0: raise Miss(f'accelerate ends with {code}: {err[:300]}')
    a = json.loads(out)['acceleration']
    q2 = [a[f'frame.q{k}'] for k in 'wxyz']
    conjugate = [q[0], *scaled(-1, q[1:])]
    turn = flip(scaled(2, add(product(q2, conjugate), product(q1, [q1[0], *scaled(-1, q1[1:])]))[1:]))     # angular acceleration, z down
    hub2 = minus(flip([a[f'frame.{k}'] for k in 'xyz']), add(cross(turn, arm), cross(spin, cross(spin, arm))))
    # d/dt of yaw' e3 + lean' e1 + pitch' e2, solved for the second derivatives.
    rest = minus(turn, add(scaled(lean1, cross(scaled(yaw1, e3), e1)), scaled(pitch1, cross(add(scaled(yaw1, e3), scaled(lean1, e1)), e2))))
    pitch2 = rest[1] / e2[1]
    got = dict(x=-hub2[0], y=hub2[1], z=-hub2[2], theta=-(rest[2] - pitch2 * e2[2]), psi=-rest[0], phi=-pitch2,
               psif=a['steer.angle'], betar=a['rear_hub.angle'], betaf=a['front_hub.angle'])
    for name in want: m.small(f'{name} of table 1', abs(got[name] - want[name]), 2e-12 * max(1.0, abs(want[name])))
    run = run_changed(m, lambda text: with_lines(text, 'outputs', energy_line(m)), '--set', 'push=0.5')
    size = run.first['energy_of_all']
    m.small('energy', max(abs(r['energy_of_all'] - size) for r in run.rows), 2 * run.budget * size)


def wheelset(m):
    p = m.p
    errors = {}
    for y0 in (1e-3, 1e-4):
        run = m.run('--set', f'y0={y0}')
        long = 2 * pi * sqrt(p.r * p.s / p.k)
        m.is_true('it runs over four waves', run.last['axle.x'] > 4 * long)
        errors[y0] = max(abs(r['y'] - y0 * cos(2 * pi * r['axle.x'] / long)) for r in run.rows) / y0
    m.small('Klingel\'s waves', errors[1e-4], 3 * 1e-4 ** 2)
    m.is_true('what is missing goes with the square of the width', 20 < errors[1e-3] / errors[1e-4] < 500)


def tippe_top(m):
    p, run = m.p, m.run()
    I = [2.2e-6, 2.2e-6, 2.4e-6]

    def parts(r):
        q, q1 = [r[f'top.q{k}'] for k in 'wxyz'], [r[f"top.q{k}'"] for k in 'wxyz']
        w = scaled(2, product([q[0], *scaled(-1, q[1:])], q1)[1:])
        up = turned([q[0], *scaled(-1, q[1:])], [0, 0, 1])                            # the vertical, seen from the top
        return q, w, up

    def jellett(r):
        _, w, up = parts(r)
        return dot([i * x for i, x in zip(I, w)], minus(scaled(p.R, up), [0, 0, p.a])) * 1e6

    def energy(r):
        q, w, up = parts(r)
        v = add([r["top.x'"], r["top.y'"], r["top.z'"]], turned(q, cross(w, [0, 0, -p.a])))
        return .015 / 2 * dot(v, v) + dot(I, [x * x for x in w]) / 2 + .015 * G * (r['top.z'] - p.a * up[2])

    first = jellett(run.first)
    m.small('Jellett\'s number', max(abs(jellett(r) - first) for r in run.rows), 1e3 * run.budget * abs(first))
    energies = [energy(r) for r in run.rows]
    m.is_true('energy grows', all(b <= a + run.budget * energies[0] for a, b in zip(energies, energies[1:])))
    lost = energies[0] - energies[-1]
    m.small('energy that friction and impacts took', abs(lost + run.summary['work_nonideal'] + run.summary['work_ideal']), 10 * run.budget * energies[0])
    m.is_true('it does not turn over', run.first['up'] > .99 and run.last['up'] < -.9)
    m.is_true('without friction it does', abs(m.run('--set', 'mu=0', '--to', '1').last['up'] - run.first['up']) < .1)


# ---- shafts and gears -----------------------------------------------------------------------------------------------------

def gyroscope(m):
    p, run = m.p, m.run('--set', 'less=1')
    A, C = pi * 7800 * .02 * .04 ** 2 * (.04 ** 2 / 4 + .02 ** 2 / 12), pi / 2 * 7800 * .02 * .04 ** 4
    spin = ((A + p.Jx - C - p.Jz) * p.W ** 2 * cos(p.tilt) + p.m * G * p.l) / (C * p.W)
    m.small('spin', abs(run.first["axle.angle'"] - spin), 1e-12 * spin)
    run.vanishes('it nods', lambda r: r['level.angle'], growth=20)
    run.vanishes('precession', lambda r: r['upright.angle'] - p.W * r['t'], growth=20)
    slow = m.run()
    m.is_true('with less spin it does not nod', max(abs(r['level.angle']) for r in slow.rows) > .02)

    def about(r): return 3e-4 + (A + p.Jx) * sin(p.tilt + r['level.angle']) ** 2 + p.Jz * cos(p.tilt + r['level.angle']) ** 2
    def axial(r): return r["axle.angle'"] + r["upright.angle'"] * cos(p.tilt + r['level.angle'])
    slow.kept('energy', lambda r: about(r) / 2 * r["upright.angle'"] ** 2 + (A + p.Jx) / 2 * r["level.angle'"] ** 2 + C / 2 * axial(r) ** 2 +
              p.m * G * p.l * cos(p.tilt + r['level.angle']))
    slow.kept('momentum about the vertical', lambda r: about(r) * r["upright.angle'"] + C * axial(r) * cos(p.tilt + r['level.angle']))
    slow.kept('spin', axial)


def hooke_shaft(m):
    p, run = m.p, m.run()
    I = pi / 2 * 7800 * p.L * .02 ** 4

    def speed(t): return p.w * cos(p.b) / (cos(p.w * t) ** 2 + (cos(p.b) * sin(p.w * t)) ** 2)

    for r in run.rows:
        t = r['t']
        m.small('speed of the middle', abs(r['middle_speed'] - speed(t)), 1e3 * run.budget * p.w)
        m.small('output', abs(r['load.angle'] - p.w * t), 1e3 * run.budget)
        # The motor overcomes friction, and speeds up the middle shaft.
        torque = p.k * p.w + I * speed(t) * slope(lambda s: [speed(s)], t, 1e-3)[0] / p.w
        m.small('torque of the motor', abs(r['torque_in'] - torque), 1e-8)


def rack_and_pinion(m):
    p, run = m.p, m.run()
    J = pi / 2 * 7800 * (.03 * p.r ** 4 + .02 * .12 ** 4)
    a = G / (1 + J / (p.m * p.r ** 2))
    fall = sqrt(2 * .3 / a)
    run.vanishes('way', lambda r: r['guide.distance'] - a * r['t'] ** 2 / 2, rows=[r for r in run.rows if r['t'] < fall], growth=1 + run.span)
    hits = [e['time'] for e in run.events if e['kind'] == 'impact'][:8]
    for k, time in enumerate(hits): run.equals(f'impact {k + 1}', time, fall * (1 + sum(2 * .5 ** j for j in range(1, k + 1))), growth=20)
    m.small('force between the teeth', abs(abs(run.first['tooth']) - J * a / p.r ** 2), 1e-9 * p.m * G)


def planetary_gear(m):
    p, run = m.p, m.run()
    n, turn = 1 + p.s / p.a, 1 - p.s / p.p
    def disc(r, inner=0.0): return pi / 2 * 7800 * .02 * (r ** 4 - inner ** 4)
    mass = pi * 7800 * .02 * p.p ** 2
    arm = pi / 2 * 7800 * .04 * .01 ** 4
    J = disc(p.a) * n ** 2 + arm + 3 * (mass * (p.a + p.p) ** 2 + disc(p.p) * turn ** 2)
    def speed(t): return n * p.M / p.k * (1 - exp(-p.k * t / J))
    moment = disc(p.a) * n + arm + 3 * (mass * (p.a + p.p) ** 2 + disc(p.p) * turn)
    for r in run.rows:
        t = r['t']
        m.small('speed', abs(r["load.angle'"] - speed(t)), 1e2 * run.budget * speed(1e9))
        m.small('ratio', abs(r['ratio'] - n), 1e-9 * n)
        ring = moment * n * p.M / J * exp(-p.k * t / J) - p.M + p.k * speed(t)
        m.small('torque on the ring', abs(r['ring_torque'] - ring), 1e3 * run.budget * n * p.M)
    said = m.says('check')
    m.is_true('two meshes are redundant', said['rank'] == len(said['constraints']) - 2)


def differential(m):
    p, run = m.p, m.run()
    def ring(r, inner, long): return pi / 2 * 7800 * long * (r ** 4 - inner ** 4)
    cage, wheel = ring(.09, .08, .02), ring(.3, .28, .05)
    small = pi * 7800 * .01 * p.p ** 2
    along, across = small * p.p ** 2 / 2, small * (p.p ** 2 / 4 + .01 ** 2 / 12)
    # T = c/2 ((a + b)/2)² + w/2 (a² + b²) + s/2 ((a - b)/2)²: speeds a and b of the axles
    c, s = cage + 2 * (small * p.r ** 2 + across), 2 * along * (p.r / p.p) ** 2
    one, two = wheel + (c + s) / 4, (c - s) / 4

    def rates(t, y):
        f, g = p.M / 2 - p.kl * y[2], p.M / 2 - p.kr * y[3]
        det = one ** 2 - two ** 2
        return [y[2], y[3], (one * f - two * g) / det, (one * g - two * f) / det]

    run.follows('axles', rates, [0.0] * 4, lambda y, t: {'axle_l.angle': y[0], 'axle_r.angle': y[1], 'left_speed': y[2], 'right_speed': y[3],
                                                        'engine.angle': (y[0] + y[1]) / 2}, 4000)


def v6_engine(m):
    p, run = m.p, m.run()
    bank, throw = [p.half, -p.half] * 3, [0, 0, 2 * pi / 3, 2 * pi / 3, 4 * pi / 3, 4 * pi / 3]

    def places(angle):
        """Pistons and rods: along x and z, and the angle of each rod."""
        out = []
        for b, c in zip(bank, throw):
            f = angle + c - b
            s = p.r * cos(f) + sqrt(p.L ** 2 - (p.r * sin(f)) ** 2)
            pin, end = (p.r * sin(angle + c), p.r * cos(angle + c)), (s * sin(b), s * cos(b))
            out += [*end, (pin[0] + end[0]) / 2, (pin[1] + end[1]) / 2, b - asin(p.r / p.L * sin(f))]
        return out

    weights = [.4, .4, .3, .3, .3 / 12 * (3 * .01 ** 2 + p.L ** 2)] * 6
    crank = pi / 2 * 7800 * 3.4 * p.d * .05 ** 4
    def inertia(angle): return crank + sum(w * v * v for w, v in zip(weights, slope(places, angle, 1e-2)))
    for r in run.some(40):
        speed = sqrt(2 * p.M * r['bearing.angle'] / inertia(r['bearing.angle']))
        m.small('speed', abs(r['speed'] - speed), 1e3 * run.budget * 100)
        m.small('first piston', abs(r['bore[1].distance'] - (hypot(*places(r['bearing.angle'])[:2]) - hypot(*places(0.0)[:2]))), 1e-11)
    m.is_true('it does not speed up', run.last['speed'] > 50)
    alone = .7 * p.r * run.last['speed'] ** 2
    for name in ('shake_x', 'shake_z'): m.small(name, max(abs(r[name]) for r in run.rows), .02 * alone)


# ---- hydraulics -----------------------------------------------------------------------------------------------------------

def excavator(m):
    p, run = m.p, m.run()
    def rotated(v, a): return [v[0] * cos(a) - v[1] * sin(a), v[0] * sin(a) + v[1] * cos(a)]
    # Of each cylinder: its foot and its pivot in the frame before it, and where it pulls in the one behind.
    cylinders = [([.7, .6], [0, 1.2], [1.9, -.25]), ([2.2, .5], [p.B, 0], [-.6, .1]), ([.3, .4], [p.S, 0], [-.1, .35])]
    begin = [p.a, p.b - p.a, p.c - p.b]

    def angle(k, length):
        foot, pivot, pull = cylinders[k]
        d = [foot[0] - pivot[0], foot[1] - pivot[1]]
        opening = acos((dot(d, d) + dot(pull, pull) - length ** 2) / (2 * hypot(*d) * hypot(*pull)))
        both = [atan2(d[1], d[0]) + side * opening - atan2(pull[1], pull[0]) for side in (1, -1)]
        both = [a + 2 * pi * round((begin[k] - a) / (2 * pi)) for a in both]
        return both

    def length(k, a):
        foot, pivot, pull = cylinders[k]
        end = rotated(pull, a)
        return hypot(pivot[0] + end[0] - foot[0], pivot[1] + end[1] - foot[1])

    start = [length(k, begin[k]) for k in range(3)]
    side = [min((0, 1), key=lambda s: abs(angle(k, start[k])[s] - begin[k])) for k in range(3)]
    def lengths(t): return [start[0] - .2 * (1 - cos(2 * pi * t / 6)), start[1] + .12 * (1 - cos(2 * pi * t / 3)), start[2] - .2 * (1 - cos(2 * pi * t / 6))]
    def angles(q):
        a = [angle(k, q[k])[side[k]] for k in range(3)]
        return [a[0], a[0] + a[1], a[0] + a[1] + a[2]]

    def places(q):
        a = [0.0, *angles(q)]
        origin = [[0, 0], [0, 1.2]]
        for k, long in ((1, p.B), (2, p.S)): origin.append(add(origin[-1], rotated([long, 0], a[k])))
        out = []
        for k, centre in ((1, [p.B / 2, 0]), (2, [p.S / 2 - .35, 0]), (3, [.55, -.1])):
            out += [*add(origin[k], rotated(centre, a[k])), a[k]]
        for k, (foot, pivot, pull) in enumerate(cylinders):
            one = add(origin[k], rotated(foot, a[k]))
            two = add(origin[k], rotated(pivot, a[k]), rotated(pull, a[k + 1])) if k else add(pivot, rotated(pull, a[1]))
            along = atan2(two[1] - one[1], two[0] - one[0])
            out += [*add(one, rotated([.5, 0], along)), along, *add(two, rotated([-.5, 0], along)), along]
        return out

    weights = []
    for mass, turn in ((1500, (p.B ** 2 + .45 ** 2) / 12), (700, ((p.S + .7) ** 2 + .35 ** 2) / 12), (600, (1.1 ** 2 + .5 ** 2) / 12),
                       *((w, (3 * r ** 2 + 1) / 12) for w, r in ((90, .09), (60, .05), (90, .09), (60, .05), (60, .07), (40, .04)))):
        weights += [(mass, False), (mass, True), (mass * turn, False)]
    for r in run.some(20):
        for name, a in zip(('boom_angle', 'stick_angle', 'bucket_angle'), angles(lengths(r['t']))): m.small(name, abs(r[name] - a), 1e-11)
        forces = dalembert(places, weights, lengths, r['t'])
        for k, force in enumerate(forces): m.small(f'force in cylinder {k + 1}', abs(r[f'push{k + 1}'] - force), 1e-7 * max(map(abs, forces)))


def backhoe(m):
    p, run = m.p, m.run()
    hit = gallery.event(run, 'impact')
    m.is_true('the boom meets its stop once', [e['kind'] for e in run.events] == ['impact'] and hit['constraints'] == ['foot.lower'])
    # Angles a of the boom and b of the dipper against it; the dipper with its bucket is one body, seen from the elbow: x outwards, z up.
    boom = 400 * (p.B ** 2 / 3 + .3 ** 2 / 12)
    mass, cx, cz = 400.0, 180 * -.15 / 400, (220 * -p.D / 2 + 180 * (-p.D - .2)) / 400
    J = 220 * (p.D ** 2 / 3 + .22 ** 2 / 12) + 180 * ((.5 ** 2 + .4 ** 2) / 12 + .15 ** 2 + (p.D + .2) ** 2)

    def matrix(b):
        lever = p.B * mass * (cx * cos(b) - cz * sin(b))                     # B along x of the boom, c turned by b against it
        return boom + mass * p.B ** 2 + J + 2 * lever, J + lever, J

    def accelerations(a, b, a1, b1):
        """Lagrange's equations of T = M11/2 a'² + M12 a' b' + M22/2 b'² and V."""
        m11, m12, m22 = matrix(b)
        bend = p.B * mass * (-cx * sin(b) - cz * cos(b))                     # d lever/db
        below = mass * (cx * cos(a + b) - cz * sin(a + b)) * G               # dV by the angle of the dipper
        f1 = -(400 * p.B / 2 + mass * p.B) * G * cos(a) - below - bend * (2 * a1 * b1 + b1 * b1)
        f2 = -below + bend * a1 * a1
        return m11, m12, m22, f1, f2

    def free(t, y):
        m11, m12, m22, f1, f2 = accelerations(*y)
        det = m11 * m22 - m12 * m12
        return [y[2], y[3], (m22 * f1 - m12 * f2) / det, (m11 * f2 - m12 * f1) / det]

    def held(t, y):
        _, _, m22, _, f2 = accelerations(-.4, y[0], 0.0, y[1])
        return [y[1], f2 / m22]

    low, high = 0.0, 2.0
    for _ in range(60):      # when the boom is at -0.4
        middle = (low + high) / 2
        low, high = (middle, high) if gallery.solve(free, [.5, -.5, 0.0, 0.0], [0.0, middle], 400)[-1][0] > -.4 else (low, middle)
    m.small('time of the impact', abs(hit['time'] - low), 1e-8)
    a, b, a1, b1 = gallery.solve(free, [.5, -.5, 0.0, 0.0], [0.0, low], 2000)[-1]
    after = b1 + matrix(b)[1] / matrix(b)[2] * a1
    m.small('the dipper after the impact', abs(hit['velocity_after']['elbow.angle'] - after), 1e-7)
    later = [r for r in run.rows if r['t'] > low]
    ways = gallery.solve(held, [b, after], [low, *(r['t'] for r in later)], 8000)[1:]
    m.small('the dipper swings', max(abs(r['elbow.angle'] - y[0]) for r, y in zip(later, ways)), 1e-6)
    for r, y in zip(later, ways):
        _, m12, m22, f1, f2 = accelerations(-.4, y[0], 0.0, y[1])
        m.small('torque of the stop', abs(r['stop'] - (m12 * f2 / m22 - f1)), 1e-6 * abs(f1))


# ---- closed chains --------------------------------------------------------------------------------------------------------

def stewart_platform(m):
    p = m.p
    run = run_changed(m, lambda text: with_lines(text, 'outputs', energy_line(m)), '--to', '60', '--every', '0.2')
    run.model.is_true('the run has all rows', len(run.rows) == 301)
    for r in run.rows:
        a = p.w * (sqrt(1 + r['t'] ** 2) - 1)
        for name, want in (('x', p.A * (cos(a) - 1)), ('y', p.A * sin(a)), ('z', p.h + p.H * sin(2 * a)), ('upright', 1.0), ('twist', 0.0)):
            m.small(name, abs(r[name] - want), CLOSED)
        for k in range(1, 7): m.small('a ball joint is open', r[f'open[{k}]'], CLOSED)
    work = lambda r: sum(r[f'work(jack[{k}].drive)'] for k in range(1, 7))
    largest = max(abs(r['energy_of_all']) for r in run.rows)
    m.small('energy and work', max(abs(r['energy_of_all'] - run.first['energy_of_all'] - work(r)) for r in run.rows), 1e-9 * largest)
    # On springs in the place of pumps, with a kick: nothing does work.
    spring = lambda text: with_lines(with_lines(re.sub(r'(?m)^drive .*$', 'spring  = { stiffness = 2e4 }', text).replace('"jack[i].drive"', '"jack[i].spring"'),
                                                'outputs', energy_line(m, '1e4*sum(i = 1..6, jack[i].distance^2)')),
                                     'start', 'velocity = { "jack[1].distance" = 0.3, "jack[4].distance" = 0.2 }', 'assemble = true')
    free = run_changed(m, spring, '--to', '10', '--every', '0.1', '--tolerance', '1e-12')
    energies = [r['energy_of_all'] for r in free.rows]
    m.is_true('it does not move', max(r['z'] for r in free.rows) - min(r['z'] for r in free.rows) > .01)
    m.small('energy on springs', max(abs(e - energies[0]) for e in energies), 1e-9 * abs(energies[0]))
    m.small('ball joints on springs', max(r[f'open[{k}]'] for r in free.rows for k in range(1, 7)), CLOSED)


def delta_robot(m):
    p, run = m.p, m.run()
    n = [[cos(a), sin(a), 0.0] for a in (0.0, 2 * pi / 3, 4 * pi / 3)]
    def motion(t): return [.2 * (1 - cos(t)) + .4 * sin(t) ** 2 * cos(3 * t + a) for a in (0.0, 2 * pi / 3, 4 * pi / 3)]

    def platform(q):
        ends = [add(scaled(p.R + p.A * cos(a) - p.r, e), [0, 0, -p.A * sin(a)]) for a, e in zip(q, n)]
        return spheres(*ends, p.L, p.L, p.L, [0, 0, -1])

    def places(q): return [*platform(q), *(x for a in q for x in (-p.A / 2 * sin(a), a))]

    hinge = 1.2 * (.02 ** 2 / 4 + p.A ** 2 / 12 + p.A ** 2 / 4)              # of an arm, about its motor
    for r in run.some(30):
        for name, want in zip('xyz', platform(motion(r['t']))): m.small(name, abs(r[name] - want), CLOSED)
        m.small('the platform is tilted', max(abs(r['upright'] - 1), abs(r['twist'])), CLOSED)
        # Heights of the arms have weight, their angles inertia.
        forces = dalembert(places, [(.8, False), (.8, False), (.8, True)], motion, r['t'])
        own = [hinge * curvature(lambda s: motion(s), r['t'], 2e-3)[k] - 1.2 * G * p.A / 2 * cos(motion(r['t'])[k]) for k in range(3)]
        for k in range(3): m.small(f'torque {k + 1}', abs(r[f'torque[{k + 1}]'] - forces[k] - own[k]), 1e-7)


def double_wishbone(m):
    p = m.p
    lost = ('lost = { rate = "c*coil.rate^2" }', 'road = { rate = "kt*(0.37 + bump*(1 - cos(w*t)) - centre.z)*bump*w*sin(w*t)" }')
    change = lambda text: with_lines(with_lines(text, 'outputs', energy_line(m, 'k/2*(coil.length - 0.52)^2', 'kt/2*(0.37 + bump*(1 - cos(w*t)) - centre.z)^2'),
                                                *(f'"{b}{c}" = "{b}.{c}"' for b in ('lower', 'high', 'steer', 'centre') for c in 'xyz')), 'states', *lost)
    run = run_changed(m, change)
    total = [r['energy_of_all'] + r['lost'] - r['road'] for r in run.rows]
    m.is_true('the damper takes nothing', run.last['lost'] > 100)
    m.small('energy, damper and road', max(abs(e - total[0]) for e in total), 1e3 * run.budget * max(abs(e) for e in total))
    # In the axes of the car: ball joints and the end of the tie rod at the start, and the axes of the wishbones.
    low, high, steer, hub = [0, .7, .25], [-.02, .68, .55], [-.13, .7, .32], [0, .85, .35]
    tie = [-.12, .4, .33]
    axis = scaled(1 / hypot(1, .05), [1, 0, .05])
    pivot = [0, .42, .52]

    def about(v, u, a): return add(scaled(cos(a), v), scaled(sin(a), cross(u, v)), scaled(dot(u, v) * (1 - cos(a)), u))

    for r in run.some(40):
        down = [0, 0, r['body.distance']]
        arm = add([0, .35, .3], about(minus(low, [0, .35, .3]), [1, 0, 0], r['low_axis.angle']))
        m.small('lower ball joint', distance(minus(vector(r, 'lower'), down), arm), 1e-10)
        # The upper one: on its circle, at its distance.
        x, reach = r['high_axis.angle'], distance(low, high)
        for _ in range(30):
            at = add(pivot, about(minus(high, pivot), axis, x))
            off = dot(minus(at, arm), minus(at, arm)) - reach ** 2
            x -= off / (2 * dot(minus(at, arm), cross(axis, minus(at, pivot))))
        at = add(pivot, about(minus(high, pivot), axis, x))
        end = spheres(arm, at, tie, distance(low, steer), distance(high, steer), distance(tie, steer), minus(minus(vector(r, 'steer'), down), arm))
        m.small('upper ball joint', distance(minus(vector(r, 'high'), down), at), 1e-10)
        m.small('end of the tie rod', distance(minus(vector(r, 'steer'), down), end), 1e-9)
        # The hub in the axes that these three points make.
        frame = lambda a, b, c: (lambda e, f: [e, f, cross(e, f)])(scaled(1 / distance(a, b), minus(b, a)), (lambda g: scaled(1 / sqrt(dot(g, g)), g))(cross(minus(b, a), minus(c, a))))
        local = [dot(e, minus(hub, low)) for e in frame(low, high, steer)]
        place = add(arm, *(scaled(v, e) for v, e in zip(local, frame(arm, at, end))))
        m.small('hub', distance(minus(vector(r, 'centre'), down), place), 1e-9)
    same_both_ways(m, ['travel', 'camber', 'toe', 'height'], 1e3, '--to', '0.5')


def vector(r, name): return [r[name + c] for c in 'xyz']


def cassie_leg(m):
    p = m.p
    run = run_changed(m, lambda text: with_lines(text, 'outputs', energy_line(m, 'ks/2*bend.angle^2', 'kh/2*heel_bend.angle^2')))
    for name, long in (('achilles_length', hypot(.17, .45)), ('plantar_length', hypot(.04, .29))):
        m.small(name, max(abs(r[name] - long) for r in run.rows), CLOSED)
    work = lambda r: sum(r[f'work({name}.drive)'] for name in ('hip', 'motor', 'turn'))
    gain = [r['energy_of_all'] - run.first['energy_of_all'] - work(r) for r in run.rows]
    m.small('energy and work of the motors', max(map(abs, gain)), 10 * run.budget * abs(run.first['energy_of_all']))
    m.is_true('the springs are stiff', 1e-4 < max(abs(r['shin_spring']) for r in run.rows) < .02)
    # The foot against the tarsus: a four-bar linkage of tarsus, crank, plantar rod and foot.
    for r in run.some(40):
        a = r['turn.angle']          # about y: from z towards x
        def about(v, a): return [v[0] * cos(a) + v[1] * sin(a), v[1] * cos(a) - v[0] * sin(a)]
        pin = add([-.02, .38], about([-.05, -.01], a))
        end = meet(pin, hypot(.04, .29), [.02, .08], .05, -1)
        # At the start the end of the rod is level with the joint, behind it.
        foot = atan2(end[1] - .08, .02 - end[0])
        m.small('angle of the foot', abs(r['foot_angle'] - foot), 1e-10)
    same_both_ways(m, ['shin_spring', 'heel_spring', 'foot_angle'], 1e4, '--to', '0.5')


def jansen_leg(p, angle):
    """Of a left leg, from the axis of the crank: the corners B, E, D of its upper triangle and G, F, P of the lower one, P the foot."""
    c, b = (p.m * cos(angle), p.m * sin(angle)), (-p.a, -p.l)
    e = meet(b, p.b, c, p.j, 1)
    g = meet(b, p.c, c, p.k, -1)
    d = meet(b, p.d, e, p.e, 1)
    f = meet(d, p.f, g, p.g, -1)
    return b, e, d, g, f, meet(g, p.i, f, p.h, 1)


def jansen_walker(m):
    p, run = m.p, m.run('--to', '13')

    def foot(angle): return jansen_leg(p, angle)[-1]

    for r in run.rows:
        for k, (x, z) in ((1, foot(p.w * r['t'])), (2, foot(pi - p.w * r['t']))):
            m.small(f'foot {k}', hypot(r[f'foot_x[{k}]'] - r['x'] - (x if k == 1 else -x), r[f'foot_z[{k}]'] - r['z'] - z), CLOSED)
    weight = 4 + .3 + 4 * .4
    m.small('energy, motor, impacts and friction', run.summary['balance_largest'], 1e-9 * weight * G * run.first['z'])
    stands = [e for e in run.events if e['kind'] in ('stick', 'impact', 'slip', 'release')]
    m.is_true('it takes steps', sum(e['kind'] == 'impact' for e in stands) >= 8)
    walked = 0
    for before, after in zip(stands, stands[1:]):
        rows = [r for r in run.rows if before['time'] + .05 < r['t'] < after['time']]
        for k in (1, 2):
            down = [r for r in rows if abs(r[f'foot_z[{k}]']) < 1e-10]
            if len(down) < 5 or before['kind'] == 'slip': continue
            m.small(f'foot {k} stands', max(abs(r[f'foot_x[{k}]'] - down[0][f'foot_x[{k}]']) for r in down), 1e-9)
            walked += 1
    m.is_true('feet stand', walked >= 7)
    m.is_true('it gets on', abs(run.last['x']) > 3)


def strandbeest(m):
    p = m.p
    part = os.path.join(os.path.dirname(m.path), m.data['parts']['leg[n]']['model'])
    leg = gallery.Parameters(tomllib.load(open(part, 'rb'))['parameters'])

    def corners(n, angle):
        """Of a leg, from the axis of the shaft, as the frame sees it; a right leg is the mirror image of a left one."""
        turn = p.crank[n] + angle
        return jansen_leg(leg, turn) if p.side[n] > 0 else [(-x, z) for x, z in jansen_leg(leg, pi - turn)]

    run = m.run()
    for r in run.rows:
        for n in range(12):
            x, z = corners(n, p.w * r['t'])[-1]
            c, s = cos(r['tilt']), sin(r['tilt'])
            m.small(f'foot {n + 1}', hypot(r[f'foot_x[{n + 1}]'] - r['x'] - c * x + s * z, r[f'foot_z[{n + 1}]'] - r['z'] - s * x - c * z), CLOSED)
            m.is_true(f'foot {n + 1} is in the floor', r[f'foot_z[{n + 1}]'] > -1e-10)
    m.small('energy, motor, impacts and friction', run.summary['balance_largest'], 1e-9)
    m.is_true('it is not level', max(abs(r['tilt']) for r in run.rows) < .01)
    m.is_true('it gets on', abs(run.last['x']) > 1)
    m.is_true('it takes steps', sum(e['kind'] == 'impact' for e in run.events) > 24)

    # On a stand, with neither motor nor floor: one freedom, so the energy says how fast the shaft turns where it is.
    names = ['shaft', *(f'leg[{n}].{b}' for n in range(1, 13) for b in ('upper', 'lower'))]

    def stand(text):
        text = re.sub(r'(?m)^drive .*\n', '', re.sub(r'(?s)\[contacts\."floor\[n\]"\]\n.*?\n\n', '', text))
        text = re.sub(r'(?m)^hold .*$', 'hold     = ["motor.angle", "motor.angle\'"]', text) + '\n[joints.stand]\ntype = "fixed"\nbetween = ["ground", "frame"]\nat = [0, 0, "z0"]\n'
        return with_lines(text, 'outputs', 'turn = "motor.angle"', 'speed = "motor.angle\'"',
                          f'energy_of_all = "{" + ".join(f"{b}.{e}" for b in names for e in ("kinetic", "potential"))}"')

    options = ('--set', 'w=4', '--every', '0.2', '--tolerance', '1e-12')
    free = run_changed(m, stand, *options, '--to', '60')
    m.is_true('the shaft does not turn', free.last['turn'] > 100)

    def places(angle):
        """Centres and directions of all triangles: x and z of a centre are the means of its corners."""
        out = []
        for n in range(12):
            k = corners(n, angle)
            for a, b, c in (k[:3], k[3:]):
                end = c if a is k[0] else b        # along BD and GF
                out += [(a[0] + b[0] + c[0]) / 3, (a[1] + b[1] + c[1]) / 3, (end[0] - a[0]) / distance(a, end), (end[1] - a[1]) / distance(a, end)]
        return out

    def height(angle): return sum(places(angle)[1::4])
    def inertia(angle): return .05 + sum((.4 if k % 4 < 2 else .01) * v * v for k, v in enumerate(slope(places, angle, 1e-3)))

    first = free.first
    energy = inertia(first['turn']) * first['speed'] ** 2 / 2 + .4 * G * height(first['turn'])
    for r in free.some(60):
        m.small('speed of the shaft', abs(r['speed'] - sqrt(2 * (energy - .4 * G * height(r['turn'])) / inertia(r['turn']))), 1e-9)
    for r in free.rows:
        for n in range(12):
            x, z = corners(n, r['turn'])[-1]
            m.small(f'foot {n + 1} on a stand', hypot(r[f'foot_x[{n + 1}]'] - x, r[f'foot_z[{n + 1}]'] - p.z0 - z), CLOSED)
    m.small('energy on a stand', max(abs(r['energy_of_all'] - first['energy_of_all']) for r in free.rows), 1e-9)
    other = run_changed(m, lambda text: in_formulation(stand(text), 'free'), *options, '--to', '0.4')
    m.small('turn in both formulations', max(abs(a['turn'] - b['turn']) for a, b in zip(free.rows, other.rows)), 1e-9)


# ---- humanoids ------------------------------------------------------------------------------------------------------------

MASSES = {'pelvis': 11, 'torso': 30, 'head': 5, 'hip': 1, 'thigh': 7, 'shin': 3.5, 'foot': 1.2, 'arm': 2, 'hand': 1.5}


def total_force(m, c):
    """What all bodies together need, along x, y or z: mass times acceleration of each centre of mass, and the weight."""
    mass = {b: MASSES[b.split('.')[1].split('[')[0]] for b in bodies_of(m)}
    weight = sum(mass.values()) * G if c == 'z' else 0.0
    return f'"needed_{c}" = "{" + ".join(f"{w}*{b}.c{c}" + chr(39) * 2 for b, w in mass.items())} + {weight!r}"'


def humanoid_on_a_bar(m):
    hands = [f'"hand_{c}" = "grip[1].f{c} + grip[2].f{c}"' for c in 'xyz']
    run = run_changed(m, lambda text: with_lines(in_formulation(text, 'free').replace('"grip[1].qy" = "w/2"', ''), 'outputs',
                                                 *hands, *(total_force(m, c) for c in 'xyz')).replace('[start]\nvelocity = {  }\n', ''), '--to', '0.2')
    m.is_true('nothing is to be carried', max(r['hand_z'] for r in run.rows) > 50)
    for r in run.rows:
        for c in 'xyz': m.small(f'hands and bodies, {c}', abs(r[f'hand_{c}'] - r[f'needed_{c}']), 1e-8 * 750)
    said = m.says('check')
    m.is_true('freedoms', said['degrees_of_freedom'] == 28 - 6)
    K, C = 150, 4
    springs = {'waist.angle': (K, C), 'waist.angle2': (K, C), 'neck.angle': (50, 2), 'neck.angle2': (50, 2)}
    for i in (1, 2):
        springs |= {f'turn[{i}].angle': (200, 5), f'knee[{i}].angle': (K, C), f'elbow[{i}].angle': (0, 1)}
        for joint, k, c in (('swing', K, C), ('ankle', K, C), ('shoulder', 0, 1)):
            springs |= {f'{joint}[{i}].{angle}': (k, c) for angle in ('angle', 'angle2')}
    stored = [f'{k / 2}*she.{name}^2' for name, (k, _) in springs.items() if k]
    lost = ' + '.join(f"{c}*she.{name}'^2" for name, (_, c) in springs.items())
    run = run_changed(m, lambda text: with_lines(with_lines(text, 'outputs', energy_line(m, *stored)), 'states', f'lost = {{ rate = "{lost}" }}'))
    total = [r['energy_of_all'] + r['lost'] for r in run.rows]
    m.is_true('the dampers take nothing', run.last['lost'] > 10)
    m.small('energy and dampers', max(abs(e - total[0]) for e in total), 10 * run.budget * max(map(abs, total)))
    m.small('the loop is open', max(r['open'] for r in run.rows), 1e-9)


def humanoid_standing(m):
    feet = [f'"p{i}{c}" = "he.foot[{i}].{c}"' for i in (1, 2) for c in 'xyz']
    run = run_changed(m, lambda text: with_lines(text, 'outputs', total_force(m, 'z'), *feet))
    m.is_true('it has no weight', abs(run.last['load'] - sum(MASSES[b.split('.')[1].split('[')[0]] for b in bodies_of(m)) * G) < 100)
    for r in run.rows: m.small('load', abs(r['load'] - r['needed_z']), 1e-8 * 750)
    for name in (f'p{i}{c}' for i in (1, 2) for c in 'xyz'): m.small(f'{name} of a foot', max(abs(r[name] - run.first[name]) for r in run.rows), 1e-9)
    m.is_true('it does not give way', max(r['lean'] for r in run.rows) - min(r['lean'] for r in run.rows) > .005)
    hard = m.run('--set', 'push=60', '--to', '0.5')
    toes = [e for e in hard.events if e['kind'] == 'release']
    m.is_true('a harder push does not lift the toes', toes and all('toe' in c for c in toes[0]['constraints']))


CHECKS = {f.__name__: f for f in (
    bicycle_of_bodies, wheelset, tippe_top,
    gyroscope, hooke_shaft, rack_and_pinion, planetary_gear, differential, v6_engine,
    excavator, backhoe,
    stewart_platform, delta_robot, double_wishbone, cassie_leg, jansen_walker, strandbeest,
    humanoid_on_a_bar, humanoid_standing)}

if __name__ == '__main__': sys.exit(gallery.main(__doc__, CHECKS))
