#!/usr/bin/env python3
"""Holds the models of the gallery that are steered by actuators to laws that the program has no part in.

usage: check_steered.py --program PATH [--only NAME …] [--models FOLDER]

The laws are those of control: an error that nothing limits dies out as e'' + 2 damping frequency e' + frequency² e = 0; efforts are within their
limits and those of least cost, found here by trying all sets of limits; Newton's law with the efforts as forces; work is energy; what
control leaves to itself has eigenvalues in closed form. How the allowed errors come about is said in check_gallery.py, which has the tools."""
import copy, json, sys
from math import atan2, cos, hypot, pi, sin, sqrt, tan

from check_gallery import EPS, Miss, damped, dot, main, v2


def linearised(m, *options):
    code, out, err = m.ask('linearise', m.path, '--json', *options)
    if code != 0: raise Miss(f'linearise ends with {code}: {err.strip()[:300]}')
    return json.loads(out)


def eigenvalues(said):
    return sorted((complex(e['re'], e['im']) for e in said['eigenvalues']), key=lambda z: (z.real, z.imag))


def same_eigenvalues(m, said, want):
    """A double eigenvalue is known to the root of the rounding only."""
    got, want = eigenvalues(said), sorted(want, key=lambda z: (z.real, z.imag))
    m.is_true('number of eigenvalues', len(got) == len(want))
    while got:       # each with the nearest that is left: sorting may exchange those with real parts that are nearly the same
        z = got.pop()
        other = min(want, key=lambda y: abs(y - z))
        want.remove(other)
        m.small(f'eigenvalue {other}', abs(z - other), 1e-6 * max(1.0, abs(other)))


def part_of(run, rows):
    part = copy.copy(run)
    part.rows, part.first, part.last = rows, rows[0], rows[-1]
    return part


def error_dies_out(run, name, f, damping=1.0, rows=None, rate=None):
    """The column e(name), from its first value and its rate there, which is 0 or given."""
    rows = run.rows if rows is None else rows
    first, column = rows[0], f'e({name})'
    run.model.small(f'error of {name}', max(abs(r[column] - damped(first[column], rate or 0.0, f, damping, r['t'] - first['t'])) for r in rows),
                    (1 + f) * run.budget * max(1.0, *(abs(r[c]) for r in run.some(12, rows) for c in run.state_names)))


def work_is_energy(run, energy, names):
    """What the actuators have done is what the energy has grown by."""
    start = energy(run.first)
    run.vanishes('work of the actuators', lambda r: sum(r[f'work_control({name})'] for name in names) - (energy(r) - start), growth=2.0)
    run.model.is_true('work_control is not the sum over actuators',
                      all(abs(sum(r[f'work_control({n})'] for n in names) - r['work_control']) <= 1e-9 * (1 + abs(r['work_control'])) for r in run.rows))


def newton(run, what, force, got):
    """got(r), what the equations of motion need as effort, is force(r); rounding of their terms is allowed."""
    for r in run.rows:
        need, size = got(r)
        run.model.small(what, abs(force(r) - need), 1e3 * EPS * (size + abs(need)))


# ---- one motor, two freedoms -------------------------------------------------------------------------------------------

def crane(m):
    p, run = m.p, m.run()

    def goal(t):
        k = 2 * pi / p.T
        return (p.way * (t / p.T - sin(k * t) / (2 * pi)), p.way / p.T * k * sin(k * t)) if t < p.T else (p.way, 0.0)

    e0 = run.first['trolley']
    run.vanishes('error of the trolley', lambda r: r['trolley'] - goal(r['t'])[0] - damped(e0, 0, p.f, 1, r['t']), growth=1 + p.f)
    error_dies_out(run, 'drive', p.f)

    def pendulum(t, y):      # below a pivot that moves so: L a'' = -g sin(a) - pivot'' cos(a)
        e, rate = damped(e0, 0, p.f, 1, t), -p.f ** 2 * e0 * t * 2.718281828459045 ** (-p.f * t)
        pivot = goal(t)[1] - 2 * p.f * rate - p.f ** 2 * e
        return [y[1], -(p.g * sin(y[0]) + pivot * cos(y[0])) / p.L]

    run.follows('load', pendulum, [0.0, 0.0], lambda y, t: {'angle': y[0]}, 8000)
    newton(run, 'effort', lambda r: r['tau(winch)'], lambda r: (p.M * r["trolley''"] + p.m * r["x''"], p.m * p.g))
    m.is_true('cost', all(r['cost'] == r['tau(winch)'] ** 2 or abs(r['cost'] / r['tau(winch)'] ** 2 - 1) < 1e-12 for r in run.rows))
    work_is_energy(run, lambda r: p.M / 2 * v2(r, 'trolley') + p.m / 2 * v2(r, 'x', 'y') + p.m * p.g * r['y'], ['winch'])
    late = [r for r in run.rows if r['t'] > p.T]
    m.is_true('the load is left swinging', max(abs(r['angle']) for r in late) < 0.1 * run.summary['values']['largest_swing'])
    same_eigenvalues(m, linearised(m, '--position', f'trolley={p.way},x={p.way},y={-p.L}', '--time', '20'), [-p.f, -p.f, 1j * sqrt(p.g / p.L), -1j * sqrt(p.g / p.L)])


def riccati(A, B, Q, R, step=0.005, steps=6000):
    """The gains of the least integral of x'Q x + R v²: P' = A'P + P A - P B B'P/R + Q until it rests."""
    n, P = range(len(A)), [row[:] for row in Q]

    def rate(P):
        PB = [dot(row, B) for row in P]
        return [[Q[i][j] + sum(A[k][i] * P[k][j] + P[i][k] * A[k][j] for k in n) - PB[i] * PB[j] / R for j in n] for i in n]

    def moved(h, D): return [[P[i][j] + h * D[i][j] for j in n] for i in n]

    for _ in range(steps):
        a = rate(P); b = rate(moved(step / 2, a)); c = rate(moved(step / 2, b)); d = rate(moved(step, c))
        P = [[P[i][j] + step / 6 * (a[i][j] + 2 * b[i][j] + 2 * c[i][j] + d[i][j]) for j in n] for i in n]
    return [dot(B, column) / R for column in zip(*P)]


def determinant(A):
    A, value = [row[:] for row in A], 1.0
    for k in range(len(A)):
        best = max(range(k, len(A)), key=lambda i: abs(A[i][k]))
        if A[best][k] == 0: return 0.0
        if best != k: A[k], A[best] = A[best], A[k]; value = -value
        value *= A[k][k]
        for i in range(k + 1, len(A)): A[i] = [x - A[i][k] / A[k][k] * y for x, y in zip(A[i], A[k])]
    return value


def cart_pole(m):
    p = m.p
    said = linearised(m, '--set', 'balancing=1,k1=0,k2=0,k3=0,k4=0', '--position', 'a=0', '--inputs', 'v')
    m.is_true('states', said['states'] == ['s', 'a', "s'", "a'"])
    A, B = [[0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0], [0, p.g / p.l, 0, 0]], [0, 0, 1, -1 / p.l]
    m.small('A and B', max(abs(x - y) for got, want in zip([*said['A'], [row[0] for row in said['B']]], [*A, B]) for x, y in zip(got, want)), 1e-12 * p.g / p.l)
    gains = riccati(A, B, [[1, 0, 0, 0], [0, 10, 0, 0], [0] * 4, [0] * 4], 0.1)
    m.small('gains', max(abs(x - y) for x, y in zip(gains, (p.k1, p.k3, p.k2, p.k4))), 1e-9)
    closed = linearised(m, '--set', 'balancing=1', '--position', 'a=0')
    m.is_true('not stable with the gains', closed['stable'])
    loop = [[A[i][j] - B[i] * gains[j] for j in range(4)] for i in range(4)]
    for z in eigenvalues(closed): m.small(f'eigenvalue {z}', abs(determinant([[z * (i == j) - loop[i][j] for j in range(4)] for i in range(4)])), 1e-9)

    run = m.run()
    caught = next(e for e in run.events if e.get('name') == 'catch')

    def motion(balancing):
        def f(t, y):
            s, a, v, w = y
            if balancing: u = -p.k1 * s - p.k2 * v - p.k3 * atan2(sin(a), cos(a)) - p.k4 * w
            else: u = max(-5, min(5, p.k * (p.l * w * w / 2 + p.g * (cos(a) - 1)) * w * cos(a))) - 0.6 * s - 0.8 * v
            return [v, w, u, (p.g * sin(a) - u * cos(a)) / p.l]
        return f

    shown = lambda y, t: {'s': y[0], 'a': y[1], "s'": y[2], "a'": y[3]}
    before = [r for r in run.rows if r['t'] < caught['time']]
    after = [dict(t=caught['time'], **caught['position'], **{name + "'": value for name, value in caught['velocity_after'].items()})] + [r for r in run.rows if r['t'] > caught['time']]
    part_of(run, before).follows('swinging up', motion(False), [0, pi - 0.1, 0, 0], shown, 60000)
    part_of(run, after).follows('balancing', motion(True), [after[0][name] for name in ('s', 'a', "s'", "a'")], shown, 12000)
    newton(run, 'effort', lambda r: r['tau(motor)'], lambda r: ((p.M + p.m) * r["s''"] + p.m * p.l * (cos(r['a']) * r["a''"] - sin(r['a']) * r["a'"] ** 2), p.m * p.g))
    work_is_energy(run, lambda r: (p.M + p.m) / 2 * r["s'"] ** 2 + p.m * p.l * cos(r['a']) * r["s'"] * r["a'"] + p.m * p.l ** 2 / 2 * r["a'"] ** 2 + p.m * p.g * p.l * cos(r['a']), ['motor'])
    m.is_true('the pole does not stand', abs(cos(run.last['a']) - 1) < 1e-9 and abs(run.last['s']) < 1e-3)


# ---- limits and priorities ----------------------------------------------------------------------------------------------

def solve2(a, b, c, d, x, y):
    """[a b; c d] z = (x, y)"""
    det = a * d - b * c
    return (d * x - b * y) / det, (a * y - c * x) / det


def cheapest(G, r, low, high, cost):
    """Efforts within limits that come nearest to G τ = r, two rows and three efforts, and of these the cheapest. Every effort is at a limit or
    free; the answer is the best of all such sets that keep the limits."""
    best = None
    for code in range(27):
        sides = [code % 3, code // 3 % 3, code // 9]           # 0: free, 1: at its low limit, 2: at its high one
        tau = [None if s == 0 else low[k] if s == 1 else high[k] for k, s in enumerate(sides)]
        free = [k for k in range(3) if sides[k] == 0]
        left = [r[i] - sum(G[i][k] * tau[k] for k in range(3) if tau[k] is not None) for i in (0, 1)]
        if len(free) == 3:        # least cost: τ = R^-1 G' y
            S = [[sum(G[i][k] * G[j][k] / cost[k] for k in range(3)) for j in (0, 1)] for i in (0, 1)]
            y = solve2(S[0][0], S[0][1], S[1][0], S[1][1], *left)
            tau = [(G[0][k] * y[0] + G[1][k] * y[1]) / cost[k] for k in range(3)]
        elif len(free) == 2:
            a, b = free
            tau[a], tau[b] = solve2(G[0][a], G[0][b], G[1][a], G[1][b], *left)
        elif len(free) == 1:
            a = free[0]
            tau[a] = (G[0][a] * left[0] + G[1][a] * left[1]) / (G[0][a] ** 2 + G[1][a] ** 2)
        size = max(map(abs, tau))
        if any(not low[k] - 1e-12 * size <= tau[k] <= high[k] + 1e-12 * size for k in range(3)): continue
        missed = hypot(*(sum(G[i][k] * tau[k] for k in range(3)) - r[i] for i in (0, 1)))
        if missed <= 1e-11 * hypot(*r): missed = 0.0
        key = (missed, sum(c * t * t for c, t in zip(cost, tau)))
        if best is None or key < best[0]: best = (key, tau)
    return best


def quadruped_leg(m):
    p, run = m.p, m.run()
    low, high, cost, names = [-8, -3, -1], [8, 3, 2], [1, 1, 0.5], ['hip', 'knee', 'muscle']
    limited = missed = 0
    for r in run.rows:
        q1, q2, w1, w2, t = r['q1'], r['q2'], r["q1'"], r["q2'"], r['t']
        tau = [r[f'tau({name})'] for name in names]
        m.is_true(f'limits at t = {t}', all(a <= x <= b for a, x, b in zip(low, tau, high)))
        # M q'' = E tau + h, uniform rods
        M = (p.m1 * p.l1 ** 2 / 3 + p.m2 * p.l1 ** 2, p.m2 * p.l1 * p.l2 * cos(q1 - q2) / 2, p.m2 * p.l2 ** 2 / 3)
        k = p.m2 * p.l1 * p.l2 * sin(q1 - q2) / 2
        h = (-k * w2 ** 2 - p.g * (p.m1 / 2 + p.m2) * p.l1 * sin(q1), k * w1 ** 2 - p.g * p.m2 * p.l2 / 2 * sin(q2))
        by = lambda x, y: solve2(M[0], M[1], M[1], M[2], x, y)
        J = ((p.l1 * cos(q1), p.l2 * cos(q2)), (p.l1 * sin(q1), p.l2 * sin(q2)))
        turning = (-p.l1 * sin(q1) * w1 ** 2 - p.l2 * sin(q2) * w2 ** 2, p.l1 * cos(q1) * w1 ** 2 + p.l2 * cos(q2) * w2 ** 2)
        goal = ((0.12 * cos(p.w * t), -0.12 * p.w * sin(p.w * t), -0.12 * p.w ** 2 * cos(p.w * t)),
                (-0.47 + 0.05 * sin(p.w * t), 0.05 * p.w * cos(p.w * t), -0.05 * p.w ** 2 * sin(p.w * t)))
        at = (p.l1 * sin(q1) + p.l2 * sin(q2), -p.l1 * cos(q1) - p.l2 * cos(q2))
        E = [by(1, 0), by(-1, 1), by(0, 1)]                    # accelerations for one unit of each effort
        free = by(*h)
        G = [[dot(J[i], column) for column in E] for i in (0, 1)]
        need = [goal[i][2] - 2 * p.f * (dot(J[i], (w1, w2)) - goal[i][1]) - p.f ** 2 * (at[i] - goal[i][0]) - turning[i] - dot(J[i], free) for i in (0, 1)]
        (off, least), want = cheapest(G, need, low, high, cost)
        size = max(map(abs, want)) + hypot(*need) / min(hypot(*row) for row in G)
        m.small(f'efforts at t = {t}', max(abs(a - b) for a, b in zip(tau, want)), 1e-9 * size)
        m.small(f'cost at t = {t}', abs(r['cost'] - least), 1e-9 * size ** 2)
        limited += any(x in (a, b) for a, x, b in zip(low, tau, high))
        missed += off > 0
    m.is_true('no limit is reached, or none is left', 10 < limited < len(run.rows) / 2 and missed > 2)
    kinds = {e['kind'] for e in run.events}
    m.is_true('events', {'saturated', 'released'} <= kinds and all(e['name'] in names for e in run.events))
    rows = [r for r in run.rows if r['t'] > run.events[-1]['time']]
    q1, q2, w1, w2, t = (rows[0][name] for name in ('q1', 'q2', "q1'", "q2'", 't'))
    error_dies_out(run, 'x', p.f, rows=rows, rate=p.l1 * cos(q1) * w1 + p.l2 * cos(q2) * w2 + 0.12 * p.w * sin(p.w * t))
    error_dies_out(run, 'y', p.f, rows=rows, rate=p.l1 * sin(q1) * w1 + p.l2 * sin(q2) * w2 - 0.05 * p.w * cos(p.w * t))


def arm_with_priorities(m):
    data, run = m.data['parameters'], m.run()
    l, mass, g, w, f, bend, weight = (data[name] for name in ('l', 'm', 'g', 'w', 'f', 'bend', 'weight'))
    links = range(4)
    q = lambda r, primes='': [r[f'q[{k + 1}]{primes}'] for k in links]
    for name, part, goal, rate in (('tip_x', cos, lambda t: 1.1 + 0.35 * cos(w * t), 0.0), ('tip_y', sin, lambda t: 0.5 + 0.35 * sin(w * t), 0.35 * w)):
        at = lambda r: sum(a * part(b) for a, b in zip(l, q(r)))
        e0 = at(run.first) - goal(0)
        run.vanishes(f'error of {name}', lambda r: at(r) - goal(r['t']) - damped(e0, -rate, f, 1, r['t']), growth=1 + f)
        m.is_true(f'e({name})', all(abs(r[f'e({name})'] - at(r) + goal(r['t'])) < 1e-13 for r in run.rows))
    worst = 0.0
    for r in run.rows:
        a, v, u = q(r), q(r, "'"), q(r, "''")
        gradient, size = [0.0] * 4, 0.0
        for k in (1, 2, 3):      # of the weighted squares of what is missed
            e, rate = a[k] - a[k - 1] - bend[k], v[k] - v[k - 1]
            off = u[k] - u[k - 1] + 2 * f * rate + f ** 2 * e
            gradient[k] += weight[k] * off
            gradient[k - 1] -= weight[k] * off
            size += weight[k] * (abs(u[k]) + abs(u[k - 1]) + f ** 2)
            worst = max(worst, abs(off))
        rows = []                # it must lie in the space of the two rows of the tip
        for row in ([-x * sin(y) for x, y in zip(l, a)], [x * cos(y) for x, y in zip(l, a)]):
            for other in rows: row = [x - dot(row, other) * y for x, y in zip(row, other)]
            rows.append([x / sqrt(dot(row, row)) for x in row])
        for row in rows: gradient = [x - dot(gradient, row) * y for x, y in zip(gradient, row)]
        m.small(f"posture at t = {r['t']}", sqrt(dot(gradient, gradient)), 1e-10 * size)
    m.is_true('the posture could be kept', worst > 0.1)

    def energy(r):
        a, v, x, y, total = q(r), q(r, "'"), 0.0, 0.0, 0.0
        height = 0.0
        for k in links:
            half = l[k] / 2
            total += mass[k] / 2 * ((x - half * sin(a[k]) * v[k]) ** 2 + (y + half * cos(a[k]) * v[k]) ** 2) + mass[k] * l[k] ** 2 / 24 * v[k] ** 2
            total += mass[k] * g * (height + half * sin(a[k]))
            x, y, height = x - l[k] * sin(a[k]) * v[k], y + l[k] * cos(a[k]) * v[k], height + l[k] * sin(a[k])
        return total

    work_is_energy(run, energy, ['shoulder', 'joint[2]', 'joint[3]', 'joint[4]'])
    said = m.says('accelerate')
    m.is_true('what is met', [said['requirements'][name]['met'] for name in ('tip_x', 'tip_y', 'posture[2]', 'posture[3]', 'posture[4]')] == [True, True, False, False, False])


# ---- leaders and followers ----------------------------------------------------------------------------------------------

def thruster_formation(m):
    p, run = m.p, m.run()
    error_dies_out(run, 'orbit', p.f)
    error_dies_out(run, 'distance', p.f)
    run.kept('angular momentum of the leader', lambda r: (p.R + r['x1']) * (r["y1'"] + p.n * (p.R + r['x1'])) - r['y1'] * (r["x1'"] - p.n * r['y1']))
    for r in run.rows:       # Newton's law in the frame that turns
        away = hypot(r['x2'] - r['x1'], r['y2'] - r['y1'])
        for name, k, line in (('leader', '1', lambda x, y: ((p.R + x) / hypot(p.R + x, y), y / hypot(p.R + x, y))),
                              ('follower', '2', lambda x, y: ((x - r['x1']) / away, (y - r['y1']) / away))):
            x, y = r['x' + k], r['y' + k]
            distance, along = hypot(p.R + x, y), line(x, y)
            pull = p.n ** 2 - p.mu / distance ** 3
            off = (p.m * (r[f"x{k}''"] - 2 * p.n * r[f"y{k}'"] - pull * (p.R + x)) - r[f'tau({name})'] * along[0],
                   p.m * (r[f"y{k}''"] + 2 * p.n * r[f"x{k}'"] - pull * y) - r[f'tau({name})'] * along[1])
            m.small(f'forces on the {name}', hypot(*off), 1e2 * EPS * p.m * p.n ** 2 * p.R)
    swing = p.n * sqrt(p.R / p.d * ((p.R / (p.R - p.d)) ** 3 - 1))
    same_eigenvalues(m, linearised(m, '--position', f'x1=0,x2={-p.d},y2=0'), [-p.f] * 4 + [0, 0, 1j * swing, -1j * swing])


def gyroscopes(m):
    p, run = m.p, m.run()
    n = int(p.N)
    alpha = lambda i: 10 + (i - 1) / 4
    own = lambda i, t, a, w: -alpha(i) ** 2 / 2 * tan(a / 2) / cos(a / 2) ** 2 + (p.beta + p.F * sin(p.w * t)) * sin(a) - p.c1 * w - p.c2 * w ** 3
    run.follows('the first', lambda t, y: [y[1], own(1, t, *y)], [1.0, 0.0], lambda y, t: {'theta[1]': y[0], "theta[1]'": y[1]}, 40000)
    for i in range(2, n + 1):
        error_dies_out(run, f'together[{i}]', p.f, rate=run.first[f"theta[{i}]'"] - run.first["theta[1]'"])
        newton(run, f'motor {i}', lambda r: r[f'tau(motor[{i}])'],
               lambda r: (r[f"theta[{i}]''"] - own(i, r['t'], r[f'theta[{i}]'], r[f"theta[{i}]'"]), alpha(i) ** 2 * 10 + abs(r[f"theta[{i}]''"]) + abs(r[f"theta[{i}]'"]) ** 3))
    m.is_true('the first is pushed', all(r['Qcontrol(theta[1])'] == 0 for r in run.rows))
    m.is_true('the motors have nothing to do in the end', max(abs(run.last[f'tau(motor[{i}])']) for i in range(2, n + 1)) > 0.1)


# ---- a controller that does not know --------------------------------------------------------------------------------------

def robust_pendulum(m):
    p, believed = m.p, m.data['nominal']['m']

    def motion(mass):
        def f(t, y):
            a, w = y
            e, rate = a - 1.2 * sin(2 * t), w - 2.4 * cos(2 * t)
            x = (rate + p.f * e) / p.layer
            asked = -4.8 * sin(2 * t) - 2 * p.f * rate - p.f ** 2 * e - p.gain * (x ** 3 if abs(x) < 1 else 1 if x > 0 else -1)
            torque = believed * p.l ** 2 * asked + believed * p.g * p.l * sin(a) + p.c * w
            return [w, (torque - p.c * w) / (mass * p.l ** 2) - p.g / p.l * sin(a)]
        return f

    run = m.run()
    run.follows('pendulum', motion(p.m), [0.0, 2.4], lambda y, t: {'a': y[0], "a'": y[1]}, 20000)
    values = run.summary['values']
    largest = max(abs(r['e(angle)']) for r in run.rows if r['t'] >= run.span / 2)      # what there was at the start has died out
    m.small('promise', abs(values['angle_promised'] - p.layer / p.f), 1e-15)
    m.is_true('the error that was reached', largest <= values['angle_error'] <= 1.01 * largest and values['angle_error'] <= values['angle_promised'])
    without = m.run('--set', 'gain=1e-9')
    m.is_true('the robust term does nothing', without.summary['values']['angle_error'] > 4 * values['angle_promised'])

    # Masses within 20 %: the error that was reached, by a sweep, is within what was promised.
    masses = [0.8, 0.87, 0.94, 1.06, 1.13, 1.2]
    code, out, err = m.ask('sweep', m.path, '--vary', 'm=' + ','.join(map(str, masses)), '--keep', 'angle_error,angle_promised')
    if code != 0: raise Miss(f'sweep ends with {code}: {err.strip()[:300]}')
    names, *rows = (line.split(',') for line in out.strip().split('\n'))
    m.is_true('motions of the sweep', [float(row[0]) for row in rows] == masses)
    for row in rows:
        one = dict(zip(names, row))
        m.is_true(f"mass {one['m']}: {one['outcome']}", one['outcome'] == 'done')
        m.is_true(f"mass {one['m']}: the promise is broken", 0 < float(one['angle_error']) <= float(one['angle_promised']))
        m.is_true('it does not grow with what is not known', abs(float(one['m']) - believed) < 0.19 or float(one['angle_error']) > 0.5 * float(one['angle_promised']))

    # Ends of many motions are found side by side, and are those of single ones.
    code, out, err = m.ask('sweep', m.path, '--vary', 'm=0.85,1.15', '--json')
    m.is_true('side by side', code == 0 and json.loads(out)['lanes'] > 1)
    code, out, err = m.ask('sweep', m.path, '--vary', 'm=0.85,1.15')
    names, *rows = (line.split(',') for line in out.strip().split('\n'))
    for row in rows:
        one = dict(zip(names, row))
        m.small('an end', abs(float(one['a']) - m.run('--set', f"m={one['m']}").rows[-1]['a']), 1e-8)


CHECKS = {f.__name__: f for f in (crane, cart_pole, quadruped_leg, arm_with_priorities, thruster_formation, gyroscopes, robust_pendulum)}

if __name__ == '__main__': sys.exit(main(__doc__, CHECKS))
