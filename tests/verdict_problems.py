"""Motions that are known exactly, in any units: what `check_verdicts.py` compares verdicts with.

A problem is a model with parameters that have dimensions, its start, its end, and its motion in closed form (elliptic functions by
the arithmetic-geometric mean, Kepler's equation by Newton's method). Everything is stated in units of one; `Problem.text` writes the
model for other units of length, mass and time, and `Problem.error` takes a result back. Nothing here comes from the program.
"""

import copy
import math
import random
from math import acosh, asin, asinh, atan, atan2, cos, cosh, exp, hypot, log, pi, sin, sinh, sqrt, tan, tanh


def unit(dimension, units):
    """'L M T-2' for units (of length, mass, time)."""
    size = 1.0
    for word in dimension.split():
        size *= units['LMT'.index(word[0])] ** int(word[1:] or 1)
    return size


ROWS = 20       # of a result, beside the start


class Problem:
    """coordinates: name → dimension; start: name → (position, velocity); exact(t): name → (position, velocity), either may be None."""

    def __init__(self, group, name, coordinates, dynamics, parameters, start, to, exact, more='', method='auto', begin=0.0,
                 family=None):
        self.group, self.name, self.coordinates, self.dynamics, self.parameters = group, name, coordinates, dynamics, parameters
        self.start, self.to, self.exact, self.more, self.method, self.begin = start, to, exact, more, method, begin
        self._sizes = {}
        self.family = family        # coordinates as they are declared, and start as text, where they are many

    def started_at(self, start):
        """The same, from elsewhere: `exact` is of no use then."""
        other = copy.copy(self)
        other.start = start
        return other

    def text(self, units):
        names = self.family['coordinates'] if self.family else list(self.coordinates)
        lines = [f'coordinates = {names}'.replace("'", '"'), '[parameters]']
        lines += [f'{name} = {value * unit(dimension, units)!r}' if isinstance(value, float) else f'{name} = {value}'
                  for name, (value, dimension) in self.parameters.items()]
        lines += ['[dynamics]', *(f'{key} = {value if value.startswith(("{", "[")) else chr(34) + value + chr(34)}'
                                  for key, value in self.dynamics.items()), self.more]
        lines += ['[start]', f'time = {self.begin * units[2]!r}']
        if self.family:
            lines.append(self.family['start'])
        else:
            for word, at, per in (('position', 0, ''), ('velocity', 1, ' T-1')):
                values = (f'{name} = {pair[at] * unit(self.coordinates[name] + per, units)!r}' for name, pair in self.start.items())
                lines.append(f'{word} = {{ {", ".join(values)} }}')
        lines += ['[run]', f'to = {self.to * units[2]!r}', f'every = {(self.to - self.begin) / ROWS * units[2]!r}', f'method = "{self.method}"']
        return '\n'.join(lines) + '\n'

    def sizes(self):
        """Of each dimension, positions and velocities apart: the largest value in the whole motion."""
        if self._sizes:
            return self._sizes
        most, count = self._sizes, 64 if self.family else 400
        for k in range(count + 1):
            state = self.exact(self.begin + (self.to - self.begin) * k / count)
            for name, pair in state.items():
                for at in (0, 1):
                    if pair[at] is not None:
                        key = (self.coordinates[name], at)
                        most[key] = max(most.get(key, 0.0), abs(pair[at]))
        for dimension in set(self.coordinates.values()):        # of what does not move: what it takes to go as far as it is
            if (dimension, 0) in most and (dimension, 1) in most:
                most[dimension, 1] = max(most[dimension, 1], most[dimension, 0] / (self.to - self.begin))
        return most

    def error(self, columns, row, units):
        """Largest of positions and velocities in a row, over the size of the motion; with the name."""
        got, sizes, worst = dict(zip(columns, row)), self.sizes(), (0.0, '')
        for name, pair in self.exact(min(got['t'] / units[2], self.to)).items():
            for at, (prime, per) in enumerate((('', ''), ("'", ' T-1'))):
                if pair[at] is None:
                    continue
                value = got.get(name + prime)
                size = sizes[self.coordinates[name], at]
                off = math.inf if value is None else abs(value / unit(self.coordinates[name] + per, units) - pair[at])
                worst = max(worst, (off / size if size else (0.0 if off == 0.0 else math.inf), name + prime))
        return worst


# ---- functions

def sncndn(u, m):
    """Jacobi's sn, cn, dn for 0 ≤ m < 1, by descending Landen transformations."""
    a, c, b = [1.0], [sqrt(m)], sqrt(1.0 - m)
    while abs(c[-1]) > 1e-17 and len(a) < 40:
        a_new = (a[-1] + b) / 2
        c.append((a[-1] - b) / 2)
        b = sqrt(a[-1] * b)
        a.append(a_new)
    phi = 2.0 ** (len(a) - 1) * a[-1] * u
    before = phi
    for k in range(len(a) - 1, 0, -1):
        before, phi = phi, (phi + asin(max(-1.0, min(1.0, c[k] / a[k] * sin(phi))))) / 2
    sn, cn = sin(phi), cos(phi)
    return sn, cn, sqrt(1.0 - m * sn * sn), phi


def kepler(M, e):
    """The eccentric anomaly."""
    turns = round(M / (2 * pi)) * 2 * pi
    M -= turns
    E = M + 0.85 * e * math.copysign(1.0, sin(M))
    for _ in range(60):
        step = (E - e * sin(E) - M) / (1 - e * cos(E))
        E -= step
        if abs(step) < 1e-16:
            break
    return E + turns


def inverse(f, derivative, value, guess):
    x = guess
    for _ in range(100):
        step = (f(x) - value) / derivative(x)
        x -= step
        if abs(step) <= 1e-17 * max(1.0, abs(x)):
            break
    return x


def linear_oscillator(k, c, x0, v0):
    """x″ + 2c x′ + k x = 0"""
    d = k - c * c

    def motion(t):
        decay = exp(-c * t)
        if d > 0:
            w = sqrt(d)
            A, B = x0, (v0 + c * x0) / w
            x, dx = A * cos(w * t) + B * sin(w * t), w * (B * cos(w * t) - A * sin(w * t))
        elif d == 0:
            A, B = x0, v0 + c * x0
            x, dx = A + B * t, B
        else:
            w = sqrt(-d)
            s1, s2 = -k / (c + w), -c - w       # without cancellation
            A = (v0 - s2 * x0) / (s1 - s2)
            B = x0 - A
            return A * exp(s1 * t) + B * exp(s2 * t), A * s1 * exp(s1 * t) + B * s2 * exp(s2 * t)
        return decay * x, decay * (dx - c * x)
    return motion


# ---- problems

PROBLEMS = []


def add(group, name, coordinates, dynamics, parameters, start, to, exact, **more):
    PROBLEMS.append(Problem(group, name, coordinates, dynamics, parameters, start, to, exact, **more))


def add_oscillators(r):
    for i, (w, to) in enumerate([(1, 10), (1, 100), (6, 60), (100, 100), (0.1, 1), (1, 0.1), (30, 7)]):
        m, x0, v0 = r.uniform(0.1, 5), r.uniform(0.2, 2), r.uniform(-1, 1) * w
        move = linear_oscillator(w * w, 0.0, x0, v0)
        add('oscillator', f'{w} rad/s to {to}', {'x': 'L'}, {'kinetic': "m/2*x'^2", 'potential': 'k/2*x^2'},
            {'m': (m, 'M'), 'k': (m * w * w, 'M T-2')}, {'x': (x0, v0)}, to, lambda t, f=move: {'x': f(t)})
    for zeta in (0.01, 0.1, 0.5, 1.0, 3.0):
        w, x0, v0 = r.uniform(1, 4), r.uniform(0.2, 2), r.uniform(-1, 1)
        move = linear_oscillator(w * w, zeta * w, x0, v0)
        add('oscillator, damped', f'damping {zeta}', {'x': 'L'}, {'kinetic': "m/2*x'^2", 'potential': 'k/2*x^2', 'force': "{ x = \"-d*x'\" }"},
            {'m': (2.0, 'M'), 'k': (2.0 * w * w, 'M T-2'), 'd': (4.0 * zeta * w, 'M T-1')}, {'x': (x0, v0)}, r.uniform(5, 10),
            lambda t, f=move: {'x': f(t)})
    for ratio in (0.2, 0.9, 3.0, 1.0, 20.0):
        w = r.uniform(1, 3)
        p, F = ratio * w, 1.5

        def driven(t, w=w, p=p, F=F):
            if p == w:
                return {'x': (F * t * sin(w * t) / (2 * w), F * (sin(w * t) + w * t * cos(w * t)) / (2 * w))}
            a = F / (w * w - p * p)
            return {'x': (a * (cos(p * t) - cos(w * t)), a * (w * sin(w * t) - p * sin(p * t)))}
        add('oscillator, driven', f'at {ratio} of its frequency', {'x': 'L'}, {'kinetic': "m/2*x'^2", 'potential': 'k/2*x^2',
            'force': '{ x = "m*F*cos(p*t)" }'}, {'m': (0.5, 'M'), 'k': (0.5 * w * w, 'M T-2'), 'F': (F, 'L T-2'), 'p': (p, 'T-1')},
            {'x': (0.0, 0.0)}, r.uniform(10, 40), driven)
    for w, p in ((2.0, 0.3), (1.0, 2.0)):      # a plane oscillator in a magnetic field, or seen from a turntable
        a = sqrt(w * w + p * p)

        def plane(t, a=a, p=p):
            A, B, C = cos(a * t), sin(a * t), a
            c, s = cos(p * t), sin(p * t)
            x, y, u, v = A + 0 * B, 0.5 * B, -C * B, 0.5 * C * A
            return {'x': (c * x + s * y, c * u + s * v - p * (s * x - c * y)), 'y': (-s * x + c * y, -s * u + c * v - p * (c * x + s * y))}
        first = plane(0.0)
        add('oscillator, plane, magnetic', f'{w}, {p}', {'x': 'L', 'y': 'L'}, {'kinetic': "m/2*(x'^2 + y'^2)", 'potential': 'm*w^2/2*(x^2 + y^2)',
            'force': "{ x = \"2*m*p*y'\", y = \"-2*m*p*x'\" }"}, {'m': (3.0, 'M'), 'w': (w, 'T-1'), 'p': (p, 'T-1')}, first, 20.0, plane)
    for n, modes, to in ((2, 2, 20.0), (5, 3, 30.0), (20, 20, 10.0), (60, 4, 50.0), (1100, 3, 20.0)):
        amplitude = [r.uniform(-1, 1) for _ in range(modes)]
        rate = [2 * sin((k + 1) * pi / (2 * (n + 1))) for k in range(modes)]
        shape = [[sin((k + 1) * (j + 1) * pi / (n + 1)) for k in range(modes)] for j in range(n)]

        def chain(t, n=n, A=amplitude, w=rate, s=shape):
            c, d = [a * cos(v * t) for a, v in zip(A, w)], [-a * v * sin(v * t) for a, v in zip(A, w)]
            return {f'x[{j + 1}]': (sum(map(float.__mul__, s[j], c)), sum(map(float.__mul__, s[j], d))) for j in range(n)}
        terms = ' + '.join(f'({a!r})*sin({k + 1}*i*pi/(N + 1))' for k, a in enumerate(amplitude))
        add('chain of springs' if n < 1000 else 'large', f'{n} masses, {modes} modes', {f'x[{j + 1}]': 'L' for j in range(n)},
            {'kinetic': "sum(i = 1..N, m/2*x[i]'^2)", 'potential': 'k/2*(x[1]^2 + x[N]^2) + sum(i = 2..N, k/2*(x[i] - x[i-1])^2)'},
            {'N': (n, ''), 'm': (0.7, 'M'), 'k': (0.7, 'M T-2'), 'a': (1.0, 'L')}, None, to, chain,
            family={'coordinates': ['x[1..N]'], 'start': f'[start.position]\n"x[i]" = {{ for = "i = 1..N", value = "a*({terms})" }}'})
    for n, spread, to in ((30, 3.0, 30.0), (1200, 1.0, 20.0), (2000, 10.0, 10.0), (1500, 0.0, 100.0)):
        def many(t, n=n, s=spread):
            w = [1 + s * (j + 1) / n for j in range(n)]
            return {f'x[{j + 1}]': (cos(w[j] * t), -w[j] * sin(w[j] * t)) for j in range(n)}
        add('large' if n > 1000 else 'oscillators side by side', f'{n} oscillators, 1 to {1 + spread:g} rad/s', {f'x[{j + 1}]': 'L' for j in range(n)},
            {'kinetic': "sum(i = 1..N, m/2*x[i]'^2)", 'potential': 'sum(i = 1..N, m*w^2/2*(1 + s*i/N)^2*x[i]^2)'},
            {'N': (n, ''), 'm': (4.0, 'M'), 'w': (1.0, 'T-1'), 's': (spread, ''), 'a': (1.0, 'L')}, None, to, many,
            family={'coordinates': ['x[1..N]'], 'start': '[start.position]\n"x[i]" = { for = "i = 1..N", value = "a" }'})


def add_anharmonic(r):
    for b, x0, to in ((1.0, 1.0, 10), (10.0, 1.0, 20), (0.1, 3.0, 50), (100.0, 2.0, 5), (1.0, 0.1, 200)):
        w, m = sqrt(1 + b * x0 * x0), b * x0 * x0 / (2 * (1 + b * x0 * x0))

        def duffing(t, w=w, m=m, x0=x0):
            sn, cn, dn, _ = sncndn(w * t, m)
            return {'x': (x0 * cn, -x0 * w * sn * dn)}
        add('Duffing', f'cubic {b}, from {x0}, to {to}', {'x': 'L'}, {'kinetic': "m/2*x'^2", 'potential': 'm*(a/2*x^2 + b/4*x^4)'},
            {'m': (1.3, 'M'), 'a': (1.0, 'T-2'), 'b': (b, 'L-2 T-2')}, {'x': (x0, 0.0)}, to, duffing)
    for x0 in (0.1, 1.0, 30.0):
        def quartic(t, x0=x0):
            sn, cn, dn, _ = sncndn(x0 * t, 0.5)
            return {'x': (x0 * cn, -x0 * x0 * sn * dn)}
        add('quartic oscillator', f'from {x0}', {'x': 'L'}, {'kinetic': "m/2*x'^2", 'potential': 'm*b/4*x^4'},
            {'m': (1.0, 'M'), 'b': (1.0, 'L-2 T-2')}, {'x': (x0, 0.0)}, 40 / x0, quartic)
    for E in (0.1, 0.5, 0.9, 0.99):         # Morse: D(1 − exp(−x))², energy E·D
        D, w = 2.0, sqrt(2 * 2.0 * (1 - E))

        def morse(t, E=E, w=w):
            q = sqrt(E)
            top = 1 + q * sin(w * t)
            return {'x': (log(top / (1 - E)), q * w * cos(w * t) / top)}
        add('Morse oscillator', f'energy {E} of the depth', {'x': 'L'}, {'kinetic': "m/2*x'^2", 'potential': 'D*(1 - exp(-x/l))^2'},
            {'m': (1.0, 'M'), 'D': (D, 'M L2 T-2'), 'l': (1.0, 'L')}, morse(0.0), r.uniform(15, 25), morse)
    for E in (0.1, 0.5, 0.9, 0.02):         # −V/cosh²x, energy −E·V
        V = 3.0
        w, q = sqrt(2 * E * V), sqrt((1 - E) / E)

        def well(t, w=w, q=q):
            s = q * sin(w * t)
            return {'x': (asinh(s), q * w * cos(w * t) / sqrt(1 + s * s))}
        add('Pöschl–Teller well', f'energy {-E} of the depth', {'x': 'L'}, {'kinetic': "m/2*x'^2", 'potential': '-V/cosh(x/l)^2'},
            {'m': (1.0, 'M'), 'V': (V, 'M L2 T-2'), 'l': (1.0, 'L')}, well(0.0), r.uniform(15, 25), well)
    for g in (0.01, 1.0):                   # x″ = −x + g/x³: x² = A + B cos 2t
        x0 = 2.0

        def isotonic(t, g=g):
            A, B = (x0 * x0 + g / (x0 * x0)) / 2, (x0 * x0 - g / (x0 * x0)) / 2
            x = sqrt(A + B * cos(2 * t))
            return {'x': (x, -B * sin(2 * t) / x)}
        add('isotonic oscillator', f'g = {g}', {'x': 'L'}, {'kinetic': "m/2*x'^2", 'potential': 'm*(w^2/2*x^2 + g/(2*x^2))'},
            {'m': (1.0, 'M'), 'w': (1.0, 'T-1'), 'g': (g, 'L4 T-2')}, {'x': (x0, 0.0)}, 20.0, isotonic)
    for A in (0.5, 2.0):                    # an oscillator in a coordinate q with x = q + q³/3
        def curved(t, A=A):
            x = A * cos(t)
            q = inverse(lambda q: q + q ** 3 / 3, lambda q: 1 + q * q, x, x / (1 + x * x / 6))
            return {'q': (q, -A * sin(t) / (1 + q * q))}
        add('oscillator in a curved coordinate', f'amplitude {A}', {'q': 'L'}, {'kinetic': "m/2*(1 + q^2/l^2)^2*q'^2",
            'potential': 'm*w^2/2*(q + q^3/(3*l^2))^2'}, {'m': (1.0, 'M'), 'w': (1.0, 'T-1'), 'l': (1.0, 'L')}, curved(0.0), 25.0, curved)


def pendulum(t, k, w):
    """θ, θ′ of θ″ = −w² sin θ from θ = 0; k < 1: k = sin(θmax/2); k > 1: it goes round with θ′(0) = 2kw."""
    if k < 1:
        sn, cn, dn, _ = sncndn(w * t, k * k)
        return 2 * asin(k * sn), 2 * k * w * cn
    sn, cn, dn, phi = sncndn(k * w * t, 1 / (k * k))
    return 2 * phi, 2 * k * w * dn


def add_pendulums(r):
    for k, to in ((0.05, 10), (0.5, 30), (0.9, 20), (0.999, 15), (1.05, 15), (3.0, 10), (0.7, 300)):
        w, l = r.uniform(1, 4), r.uniform(0.5, 2)
        def swing(t, k=k, w=w):
            return {'a': pendulum(t, k, w)}
        add('pendulum' if to < 100 else 'long', f'pendulum, k = {k} to {to}', {'a': ''}, {'kinetic': "m/2*l^2*a'^2", 'potential': '-m*g*l*cos(a)'},
            {'m': (1.7, 'M'), 'l': (l, 'L'), 'g': (w * w * l, 'L T-2')}, {'a': (0.0, 2 * k * w)}, to, swing)

        def bob(t, k=k, w=w, l=l):
            a, v = pendulum(t, k, w)
            return {'x': (l * sin(a), l * cos(a) * v), 'y': (-l * cos(a), l * sin(a) * v)}
        for more, group in (('rod = "x^2 + y^2 = l^2"', 'pendulum by its rod'),
                            ('rod = "x^2 + y^2 = l^2"\nagain = "3*x^2 + 3*y^2 = 3*l^2"\nlength = "sqrt(x^2 + y^2) = l"', 'redundant rods')):
            add(group if to < 100 else 'long', f'k = {k} to {to}' + (', by its rod' if to > 100 else ''), {'x': 'L', 'y': 'L'},
                {'kinetic': "m/2*(x'^2 + y'^2)", 'potential': 'm*g*y'},
                {'m': (1.7, 'M'), 'l': (l, 'L'), 'g': (w * w * l, 'L T-2')}, bob(0.0), to, bob, more=f'[constraints]\n{more}')
    for to in (5.0, 12.0):                  # onto the top along the separatrix: errors grow as exp(t)
        def separatrix(t):
            return {'a': (4 * atan(tanh(t / 2)), 2 / cosh(t))}
        add('errors that grow', f'pendulum to its top, to {to}', {'a': ''}, {'kinetic': "m/2*l^2*a'^2", 'potential': '-m*g*l*cos(a)'},
            {'m': (1.0, 'M'), 'l': (1.0, 'L'), 'g': (1.0, 'L T-2')}, {'a': (0.0, 2.0)}, to, separatrix)
    for R in (0.5, 2.0):                    # on a cycloid: the arc is an oscillator; the angle has no mass
        w = sqrt(9.81 / (4 * R))

        def cycloid(t, R=R, w=w):
            s, v = 3 * R * cos(w * t), -3 * R * w * sin(w * t)
            a = 2 * asin(s / (4 * R))
            da = v / (2 * R * cos(a / 2))
            return {'x': (R * (a + sin(a)), R * (1 + cos(a)) * da), 'y': (-R * (1 + cos(a)), R * sin(a) * da), 'a': (a, da)}
        add('singular mass', f'bead on a cycloid, R = {R}', {'x': 'L', 'y': 'L', 'a': ''}, {'kinetic': "m/2*(x'^2 + y'^2)", 'potential': 'm*g*y'},
            {'m': (0.3, 'M'), 'R': (R, 'L'), 'g': (9.81, 'L T-2')}, cycloid(0.0), r.uniform(8, 16), cycloid,
            more='[constraints]\nright = "x = R*(a + sin(a))"\nup = "y = -R*(1 + cos(a))"')


def add_orbits(r):
    for e, turns in ((0.0, 3), (0.3, 3), (0.6, 3), (0.9, 2), (0.97, 1), (0.5, 50), (0.2, 200)):
        def orbit(t, e=e):
            E = kepler(t, e)
            b, n = sqrt(1 - e * e), 1 / (1 - e * cos(E))
            return {'x': (cos(E) - e, -sin(E) * n), 'y': (b * sin(E), b * cos(E) * n)}
        to = 2 * pi * turns + r.uniform(0.5, 2)
        add('Kepler' if turns < 10 else 'long', f'Kepler, eccentricity {e}, {turns} turns', {'x': 'L', 'y': 'L'}, {'kinetic': "m/2*(x'^2 + y'^2)",
            'potential': '-m*G/sqrt(x^2 + y^2)'}, {'m': (1.0, 'M'), 'G': (1.0, 'L3 T-2')}, orbit(0.0), to, orbit)

        def polar(t, e=e):
            E = kepler(t, e)
            n, b = 1 / (1 - e * cos(E)), sqrt(1 - e * e)
            a = E + 2 * atan2(e / (1 + b) * sin(E), 1 - e / (1 + b) * cos(E))
            return {'r': (1 - e * cos(E), e * sin(E) * n), 'a': (a, b * n * n)}
        if turns < 10:
            add('Kepler, polar', f'eccentricity {e}, {turns} turns', {'r': 'L', 'a': ''}, {'kinetic': "m/2*(r'^2 + r^2*a'^2)", 'potential': '-m*G/r'},
                {'m': (1.0, 'M'), 'G': (1.0, 'L3 T-2')}, polar(0.0), to, polar)
    for e in (1.2, 3.0):                    # hyperbolas, from before to after the nearest point
        def hyperbola(t, e=e):
            H = inverse(lambda H: e * sinh(H) - H, lambda H: e * cosh(H) - 1, t, asinh(t / e))
            b, n = sqrt(e * e - 1), 1 / (e * cosh(H) - 1)
            return {'x': (e - cosh(H), -sinh(H) * n), 'y': (b * sinh(H), b * cosh(H) * n)}
        add('Kepler', f'hyperbola, eccentricity {e}', {'x': 'L', 'y': 'L'}, {'kinetic': "m/2*(x'^2 + y'^2)", 'potential': '-m*G/sqrt(x^2 + y^2)'},
            {'m': (1.0, 'M'), 'G': (1.0, 'L3 T-2')}, hyperbola(-5.0), 6.0, hyperbola, begin=-5.0)
    M, m = 3.0, 1.0                         # two bodies that drift
    for e in (0.1, 0.7):
        def pair(t, e=e):
            E = kepler(t, e)
            b, n = sqrt(1 - e * e), 1 / (1 - e * cos(E))
            d = ((cos(E) - e, -sin(E) * n), (b * sin(E), b * cos(E) * n))
            c = ((0.2 * t, 0.2), (-0.1 * t, -0.1))
            return {name + letter: tuple(c[i][k] + s * d[i][k] for k in (0, 1)) for letter, s in (('1', -m / (M + m)), ('2', M / (M + m)))
                    for i, name in enumerate('xy')}
        add('Kepler', f'two bodies, eccentricity {e}', {'x1': 'L', 'y1': 'L', 'x2': 'L', 'y2': 'L'},
            {'kinetic': "M1/2*(x1'^2 + y1'^2) + M2/2*(x2'^2 + y2'^2)", 'potential': '-G*M1*M2/hypot(x1 - x2, y1 - y2)'},
            {'M1': (M, 'M'), 'M2': (m, 'M'), 'G': (0.25, 'L3 M-1 T-2')}, pair(0.0), 20.0, pair)
    for q in (0.3, 0.05):                   # an ellipse about the centre, in polar coordinates
        def ellipse(t, q=q):
            x, y, u, v = cos(t), q * sin(t), -sin(t), q * cos(t)
            r2 = x * x + y * y
            turns = round(t / (2 * pi))
            return {'r': (sqrt(r2), (x * u + y * v) / sqrt(r2)), 'a': (atan2(y, x) + 2 * pi * turns, (x * v - y * u) / r2)}
        add('oscillator, polar', f'axes 1 and {q}', {'r': 'L', 'a': ''}, {'kinetic': "m/2*(r'^2 + r^2*a'^2)", 'potential': 'm*w^2/2*r^2'},
            {'m': (1.0, 'M'), 'w': (1.0, 'T-1')}, ellipse(0.0), 2 * pi * 4 + 0.7, ellipse)


def add_falls(r):
    add('forces', 'free fall', {'y': 'L'}, {'kinetic': "m/2*y'^2", 'potential': 'm*g*y'}, {'m': (1.0, 'M'), 'g': (9.81, 'L T-2')},
        {'y': (3.0, 4.0)}, 7.0, lambda t: {'y': (3 + 4 * t - 9.81 / 2 * t * t, 4 - 9.81 * t)})
    add('forces', 'force-free', {'x': 'L', 'y': 'L'}, {'kinetic': "m/2*(x'^2 + y'^2)"}, {'m': (1.0, 'M')}, {'x': (1.0, 2.0), 'y': (0.0, -3.0)}, 50.0,
        lambda t: {'x': (1 + 2 * t, 2.0), 'y': (-3 * t, -3.0)})
    for c in (0.1, 2.0, 50.0):
        add('forces', f'linear drag {c}', {'x': 'L'}, {'kinetic': "m/2*x'^2", 'force': "{ x = \"-c*x'\" }"}, {'m': (1.0, 'M'), 'c': (c, 'M T-1')},
            {'x': (0.0, 3.0)}, 5.0, lambda t, c=c: {'x': (3 / c * -math.expm1(-c * t), 3 * exp(-c * t))})
    for c in (0.2, 5.0):
        add('forces', f'quadratic drag {c}', {'x': 'L'}, {'kinetic': "m/2*x'^2", 'force': "{ x = \"-c*x'*abs(x')\" }"}, {'m': (1.0, 'M'), 'c': (c, 'M L-1')},
            {'x': (0.0, 3.0)}, 10.0, lambda t, c=c: {'x': (math.log1p(3 * c * t) / c, 3 / (1 + 3 * c * t))})
        w = sqrt(9.81 * c)
        add('forces', f'fall with quadratic drag {c}', {'y': 'L'}, {'kinetic': "m/2*y'^2", 'potential': '-m*g*y', 'force': "{ y = \"-c*y'*abs(y')\" }"},
            {'m': (1.0, 'M'), 'c': (c, 'M L-1'), 'g': (9.81, 'L T-2')}, {'y': (0.0, 0.0)}, 6.0,
            lambda t, c=c, w=w: {'y': ((w * t + math.log1p(exp(-2 * w * t)) - log(2)) / c, sqrt(9.81 / c) * tanh(w * t))})
    for w in (2.0, 40.0):                   # crossed fields
        def drift(t, w=w):
            return {'x': (t - sin(w * t) / w, 1 - cos(w * t)), 'y': ((cos(w * t) - 1) / w, -sin(w * t))}
        add('forces', f'crossed fields, {w} rad/s', {'x': 'L', 'y': 'L'}, {'kinetic': "m/2*(x'^2 + y'^2)", 'force': "{ x = \"-m*w*y'\", y = \"m*w*x' - m*w*v\" }"},
            {'m': (1.0, 'M'), 'w': (w, 'T-1'), 'v': (1.0, 'L T-1')}, {'x': (0.0, 0.0), 'y': (0.0, 0.0)}, 10.0, drift)
    for width in (2.0, 0.5):                # a push that is a Gaussian in time
        def push(t, s=width):
            u = (t - 5) / s
            e0 = math.erf(-5 / s)
            v = sqrt(pi) / 2 * s * (math.erf(u) - e0)
            first = lambda u: s * (u * math.erf(u) + exp(-u * u) / sqrt(pi))
            return {'x': (sqrt(pi) / 2 * s * (first(u) - first(-5 / s) - e0 * t), v)}
        add('in time', f'push of width {width}', {'x': 'L'}, {'kinetic': "m/2*x'^2", 'force': '{ x = "m*a*exp(-((t - c)/s)^2)" }'},
            {'m': (1.0, 'M'), 'a': (1.0, 'L T-2'), 's': (width, 'T'), 'c': (5.0, 'T')}, {'x': (0.0, 0.0)}, 10.0, push)
    for c in (5.0, 100.0):                  # x″ = −c x/t²
        w = sqrt(c - 0.25)

        def euler(t, w=w):
            s, a = sqrt(t), w * log(t)
            return {'x': (s * cos(a), (cos(a) / 2 - w * sin(a)) / s)}
        add('in time', f'spring {c}/t²', {'x': 'L'}, {'kinetic': "m/2*x'^2", 'potential': 'm*c/(2*t^2)*x^2'}, {'m': (1.0, 'M'), 'c': (c, '')},
            euler(1.0), 30.0, euler, begin=1.0)
    for c in (0.05, 0.3):                   # a mass that grows: an oscillator with damping
        move = linear_oscillator(4.0, c, 1.0, 0.0)
        add('in time', f'mass that grows, rate {c}', {'x': 'L'}, {'kinetic': "m/2*exp(2*c*t)*x'^2", 'potential': 'm*w^2/2*exp(2*c*t)*x^2'},
            {'m': (1.0, 'M'), 'w': (2.0, 'T-1'), 'c': (c, 'T-1')}, {'x': (1.0, 0.0)}, 10.0, lambda t, f=move: {'x': f(t)})
    for w in (0.5, 2.0):                    # a bead in a rod that turns: its distance grows, errors with it
        def rod(t, w=w):
            d, v, c, s = 0.1 * cosh(w * t), 0.1 * w * sinh(w * t), cos(w * t), sin(w * t)
            return {'x': (d * c, v * c - w * d * s), 'y': (d * s, v * s + w * d * c)}
        add('driven constraints', f'bead in a turning rod, {w} rad/s', {'x': 'L', 'y': 'L'}, {'kinetic': "m/2*(x'^2 + y'^2)"},
            {'m': (1.0, 'M'), 'w': (w, 'T-1')}, rod(0.0), 4.0, rod, more='[constraints]\nrod = "x*sin(w*t) = y*cos(w*t)"')
    for p in (0.7, 3.0):                    # a hand that moves one end of a spring
        def hand(t, p=p, w=2.0):
            a = w * w / (w * w - p * p)
            return {'u': (sin(p * t), p * cos(p * t)), 'x': (a * (sin(p * t) - p / w * sin(w * t)), a * p * (cos(p * t) - cos(w * t)))}
        add('driven constraints', f'hand and spring, {p} rad/s', {'u': 'L', 'x': 'L'}, {'kinetic': "m/2*(u'^2 + x'^2)", 'potential': 'm*w^2/2*(x - u)^2'},
            {'m': (1.0, 'M'), 'w': (2.0, 'T-1'), 'p': (p, 'T-1'), 'a': (1.0, 'L')}, hand(0.0), 15.0, hand, more='[constraints]\nhand = "u = a*sin(p*t)"')
    for w in (1.0, 5.0):                    # a circle that is prescribed by its angle
        def circle(t, w=w):
            a, v = 0.5 * t * t * w, t * w
            return {'x': (cos(a), -v * sin(a)), 'y': (sin(a), v * cos(a))}
        add('driven constraints', f'circle, ever faster, {w}', {'x': 'L', 'y': 'L'}, {'kinetic': "m/2*(x'^2 + y'^2)"}, {'m': (1.0, 'M'), 'w': (w, 'T-2'), 'a': (1.0, 'L')},
            circle(0.0), 5.0, circle, more='[constraints]\nright = "x = a*cos(w*t^2/2)"\nup = "y = a*sin(w*t^2/2)"')


def add_constrained(r):
    for h in (0.2, 2.0):                    # a bead on a helix, its angle without mass
        a = 9.81 * h * h / (1 + h * h)

        def helix(t, h=h, a=a):
            z, v = 0.5 * t - a * t * t / 2, 0.5 - a * t
            p, w = z / h, v / h
            return {'x': (cos(p), -w * sin(p)), 'y': (sin(p), w * cos(p)), 'z': (z, v)}
        add('constrained', f'bead on a helix, pitch {h}', {'x': 'L', 'y': 'L', 'z': 'L'}, {'kinetic': "m/2*(x'^2 + y'^2 + z'^2)", 'potential': 'm*g*z'},
            {'m': (1.0, 'M'), 'g': (9.81, 'L T-2'), 'R': (1.0, 'L'), 'h': (h, 'L')}, helix(0.0), 3.0, helix,
            more='[constraints]\nright = "x = R*cos(z/h)"\nfront = "y = R*sin(z/h)"')
    for w, more in ((1.0, ''), (7.0, ''), (3.0, '\nagain = "hypot(x, y, z) = R"'.replace('hypot(x, y, z)', 'sqrt(x^2 + y^2 + z^2)'))):
        def great(t, w=w):                  # a great circle, tilted
            c, s, k = cos(w * t), sin(w * t), 0.6
            return {'x': (c, -w * s), 'y': (k * s, k * w * c), 'z': (0.8 * s, 0.8 * w * c)}
        add('redundant rods' if more else 'constrained', f'great circle, {w} rad/s', {'x': 'L', 'y': 'L', 'z': 'L'}, {'kinetic': "m/2*(x'^2 + y'^2 + z'^2)"},
            {'m': (1.0, 'M'), 'R': (1.0, 'L')}, great(0.0), 20.0, great, more='[constraints]\nball = "x^2 + y^2 + z^2 = R^2"' + more)
    def sphere(t, w=2.0):                   # the same in angles
        z, dz = 0.8 * sin(w * t), 0.8 * w * cos(w * t)
        x, y, dx, dy = cos(w * t), 0.6 * sin(w * t), -w * sin(w * t), 0.6 * w * cos(w * t)
        return {'b': (asin(z), dz / sqrt(1 - z * z)), 'a': (atan2(y, x) + 2 * pi * round(w * t / (2 * pi)), (x * dy - y * dx) / (x * x + y * y))}
    add('geodesics', 'great circle in angles', {'b': '', 'a': ''}, {'kinetic': "m*R^2/2*(b'^2 + cos(b)^2*a'^2)"}, {'m': (1.0, 'M'), 'R': (1.0, 'L')},
        sphere(0.0), 20.0, sphere)
    def hyperbolic(t):                      # of the half plane: a half circle
        return {'x': (tanh(t), 1 / cosh(t) ** 2), 'y': (1 / cosh(t), -tanh(t) / cosh(t))}
    add('geodesics', 'half plane', {'x': 'L', 'y': 'L'}, {'kinetic': "m*R^2/2*(x'^2 + y'^2)/y^2"}, {'m': (1.0, 'M'), 'R': (1.0, 'L')}, hyperbolic(-2.0), 2.0,
        hyperbolic, begin=-2.0)
    for n in (2, 4):                        # n masses on a rod, or on a frame that is stiffer than it must be
        rods = [f'"(x{i} - x{j})^2 + (y{i} - y{j})^2 = d{i}{j}^2"' for i in range(n) for j in range(i)]
        place = [(cos(2 * pi * i / n), sin(2 * pi * i / n)) for i in range(n)]

        def frame(t, n=n, place=place):
            w, c, s = 1.5, cos(1.5 * t), sin(1.5 * t)
            out = {}
            for i, (a, b) in enumerate(place):
                x, y = c * a - s * b, s * a + c * b
                out[f'x{i}'], out[f'y{i}'] = (x + 0.3 * t, 0.3 - w * y), (y + 2 * t - 9.81 * t * t / 2, w * x + 2 - 9.81 * t)
            return out
        add('redundant rods' if n > 3 else 'constrained', f'frame of {n} masses', {f'{c}{i}': 'L' for i in range(n) for c in 'xy'},
            {'kinetic': ' + '.join(f"m/2*(x{i}'^2 + y{i}'^2)" for i in range(n)), 'potential': ' + '.join(f'm*g*y{i}' for i in range(n))},
            {'m': (1.0, 'M'), 'g': (9.81, 'L T-2'), **{f'd{i}{j}': (hypot(place[i][0] - place[j][0], place[i][1] - place[j][1]), 'L') for i in range(n) for j in range(i)}},
            frame(0.0), 4.0, frame, more='[constraints]\n' + '\n'.join(f'rod{k} = {rod}' for k, rod in enumerate(rods)))
    for m1, m2 in ((1.0, 2.0), (1.0, 1.001)):
        a = 9.81 * (m2 - m1) / (m1 + m2)
        add('constrained', f'Atwood, {m1} and {m2}', {'x': 'L', 'y': 'L'}, {'kinetic': "m1/2*x'^2 + m2/2*y'^2", 'potential': '-m1*g*x - m2*g*y'},
            {'m1': (m1, 'M'), 'm2': (m2, 'M'), 'g': (9.81, 'L T-2'), 'l': (3.0, 'L')}, {'x': (1.0, 0.0), 'y': (2.0, 0.0)}, 3.0,
            lambda t, a=a: {'x': (1 - a * t * t / 2, -a * t), 'y': (2 + a * t * t / 2, a * t)}, more='[constraints]\nrope = "x + y = l"')
    for I in (0.0, 0.5):                    # a wheel down a slope; without inertia its angle has no mass
        a = 9.81 * 0.5 / (1 + I)
        add('singular mass' if I == 0 else 'constrained', f'wheel, inertia {I}', {'x': 'L', 'b': ''}, {'kinetic': f"m/2*x'^2 + {I}*m*R^2/2*b'^2", 'potential': '-m*g/2*x'},
            {'m': (1.0, 'M'), 'g': (9.81, 'L T-2'), 'R': (0.3, 'L')}, {'x': (0.0, 1.0), 'b': (0.0, 1 / 0.3)}, 5.0,
            lambda t, a=a: {'x': (t + a * t * t / 2, 1 + a * t), 'b': ((t + a * t * t / 2) / 0.3, (1 + a * t) / 0.3)}, more='[constraints]\nrolls = "x = R*b"')
    def relay(t, w=2.0):                    # a spring between a mass and a point without mass that is tied to another mass
        return {'x': (0.5 + 0.5 * cos(w * t), -0.5 * w * sin(w * t)), 'u': (-0.5 - 0.5 * cos(w * t), 0.5 * w * sin(w * t)), 'y': (-0.5 - 0.5 * cos(w * t), 0.5 * w * sin(w * t))}
    add('singular mass', 'spring by a point without mass', {'x': 'L', 'u': 'L', 'y': 'L'}, {'kinetic': "m/2*(x'^2 + y'^2)", 'potential': 'm*w^2/4*(x - u - l)^2'},
        {'m': (1.0, 'M'), 'w': (2.0, 'T-1'), 'l': (1.0, 'L')}, relay(0.0), 20.0, relay, more='[constraints]\ntied = "u = y"')


def add_rolling(r):
    for w, p in ((1.0, 2.0), (5.0, 1.0), (0.2, 10.0)):
        def coin(t, w=w, p=p):
            R = 0.4 * p / w
            return {'x': (R * sin(w * t), R * w * cos(w * t)), 'y': (R * (1 - cos(w * t)), R * w * sin(w * t)), 'a': (w * t, w), 'b': (p * t, p)}
        add('rolling', f'coin on a circle, {w}, {p}', {'x': 'L', 'y': 'L', 'a': '', 'b': ''}, {'kinetic': "m/2*(x'^2 + y'^2) + m*R^2/8*a'^2 + m*R^2/4*b'^2"},
            {'m': (1.0, 'M'), 'R': (0.4, 'L')}, coin(0.0), 20.0, coin, more="[constraints]\nalong = \"x' = R*b'*cos(a)\"\nacross = \"y' = R*b'*sin(a)\"")
    for w, I in ((1.0, 0.5), (3.0, 0.5), (2.0, 0.0), (0.5, 0.0)):       # on a slope, a coin or a blade: its track is a cycloid
        k = 9.81 * 0.3 / (1 + I)

        def slope(t, w=w, k=k, I=I):
            v, c, s = k * sin(w * t) / w, cos(w * t), sin(w * t)
            out = {'x': (k * s * s / (2 * w * w), v * c), 'y': (k * (t / 2 - sin(2 * w * t) / (4 * w)) / w, v * s), 'a': (w * t, w)}
            if I:
                out['b'] = (k * (1 - c) / (w * w) / 0.4, v / 0.4)
            return out
        if I:
            add('rolling', f'coin on a slope, {w} rad/s', {'x': 'L', 'y': 'L', 'a': '', 'b': ''}, {'kinetic': "m/2*(x'^2 + y'^2) + m*R^2/8*a'^2 + m*R^2/4*b'^2",
                'potential': '-0.3*m*g*x'}, {'m': (1.0, 'M'), 'R': (0.4, 'L'), 'g': (9.81, 'L T-2')}, slope(0.0), 15.0, slope,
                more="[constraints]\nalong = \"x' = R*b'*cos(a)\"\nacross = \"y' = R*b'*sin(a)\"")
        else:
            add('rolling', f'blade on a slope, {w} rad/s', {'x': 'L', 'y': 'L', 'a': ''}, {'kinetic': "m/2*(x'^2 + y'^2) + m*R^2/8*a'^2",
                'potential': '-0.3*m*g*x'}, {'m': (1.0, 'M'), 'R': (0.4, 'L'), 'g': (9.81, 'L T-2')}, slope(0.0), 15.0, slope,
                more="[constraints]\nblade = \"x'*sin(a) = y'*cos(a)\"")
    for c, I in ((0.5, 0.25), (2.0, 1.0)):      # Chaplygin's sleigh: u′ = c w², w′ = −m c u w/(I + m c²); what has no closed form is left out
        def sleigh(t, c=c, I=I):
            q = sqrt(1 / (I + c * c))           # 2E = u² + w²/q², u = U tanh, w = qU sech
            U, k = 2.0, c * q * q * 2.0
            s = k * (t - 1.0)
            gd = lambda x: 2 * atan(tanh(x / 2))
            return {'a': (q * U / k * (gd(s) - gd(-k)), q * U / cosh(s))}
        q = sqrt(1 / (I + c * c))
        u0 = 2.0 * tanh(-c * q * q * 2.0)
        add('rolling', f'sleigh, centre {c} off', {'x': 'L', 'y': 'L', 'a': ''},
            {'kinetic': "m/2*((x' - c*sin(a)*a')^2 + (y' + c*cos(a)*a')^2) + I/2*a'^2"}, {'m': (1.0, 'M'), 'c': (c, 'L'), 'I': (I, 'M L2')},
            {'x': (0.0, u0), 'y': (0.0, 0.0), 'a': sleigh(0.0)['a']}, 6.0, sleigh, more="[constraints]\nblade = \"x'*sin(a) = y'*cos(a)\"")
    for W in (1.0, 6.0):                    # a ball on a turntable
        k = 2 / 7 * W

        def table(t, k=k, W=W):
            v, R = 0.8, 0.2
            x, y, u, w = v / k * sin(k * t), v / k * (1 - cos(k * t)), v * cos(k * t), v * sin(k * t)
            a = ((W * v / k * (1 - cos(k * t)) / k - v / k * (1 - cos(k * t))) / R, (W * x - w) / R)
            b = ((x + W * (v / k * t - v / k / k * sin(k * t))) / R, (u + W * y) / R)
            return {'x': (x, u), 'y': (y, w), 'a': a, 'b': b}
        add('rolling', f'ball on a turntable, {W} rad/s', {'x': 'L', 'y': 'L', 'a': '', 'b': ''}, {'kinetic': "m/2*(x'^2 + y'^2) + m*R^2/5*(a'^2 + b'^2)"},
            {'m': (1.0, 'M'), 'R': (0.2, 'L'), 'W': (W, 'T-1')}, table(0.0), 20.0, table,
            more="[constraints]\nalong = \"x' = R*b' - W*y\"\nacross = \"y' = W*x - R*a'\"")


def add_tops(r):
    kinetic = "A/2*(b'^2 + sin(b)^2*a'^2) + C/2*(c' + cos(b)*a')^2"
    for A, C, spin in ((2.0, 1.0, 5.0), (1.0, 1.8, 3.0), (3.0, 0.5, 40.0)):     # free: steady precession about the angular momentum
        b = r.uniform(0.4, 1.2)
        a_rate = C * spin / (A * cos(b))

        def free(t, b=b, p=a_rate, s=spin):
            return {'a': (p * t, p), 'b': (b, 0.0), 'c': ((s - p * cos(b)) * t, s - p * cos(b))}
        add('tops', f'free, {A}, {C}', {'a': '', 'b': '', 'c': ''}, {'kinetic': kinetic}, {'A': (A, 'M L2'), 'C': (C, 'M L2')}, free(0.0), 10.0, free)
    for spin in (8.0, 30.0):                # heavy: slow regular precession
        A, C, k, b = 1.0, 0.7, 5.0, 0.6
        p = (C * spin - sqrt(C * C * spin * spin - 4 * A * k * cos(b))) / (2 * A * cos(b))

        def heavy(t, p=p, s=spin, b=b):
            return {'a': (p * t, p), 'b': (b, 0.0), 'c': ((s - p * cos(b)) * t, s - p * cos(b))}
        add('tops', f'heavy, spin {spin}', {'a': '', 'b': '', 'c': ''}, {'kinetic': kinetic, 'potential': 'k*cos(b)'},
            {'A': (A, 'M L2'), 'C': (C, 'M L2'), 'k': (k, 'M L2 T-2')}, heavy(0.0), 10.0, heavy)
    for w in (1.0, 4.0):                    # a spherical pendulum that goes round, by its rod
        c = 9.81 / (w * w + 9.81)
        height, R = 9.81 / (w * w), 1.0
        l = hypot(height, R)

        def cone(t, w=w, h=height):
            return {'x': (cos(w * t), -w * sin(w * t)), 'y': (sin(w * t), w * cos(w * t)), 'z': (-h, 0.0)}
        add('tops', f'conical pendulum, {w} rad/s', {'x': 'L', 'y': 'L', 'z': 'L'}, {'kinetic': "m/2*(x'^2 + y'^2 + z'^2)", 'potential': 'm*g*z'},
            {'m': (1.0, 'M'), 'g': (9.81, 'L T-2'), 'l': (l, 'L')}, cone(0.0), 15.0, cone, more='[constraints]\nrod = "x^2 + y^2 + z^2 = l^2"')
    for w in (1.0, 9.0):                    # a quaternion that turns evenly about a tilted axis
        n = (0.36, 0.48, 0.8)

        def turn(t, w=w):
            c, s = cos(w * t / 2), sin(w * t / 2)
            return {'q0': (c, -w / 2 * s), **{f'q{i + 1}': (x * s, x * w / 2 * c) for i, x in enumerate(n)}}
        rates = ("2*(q0*q1' - q1*q0' + q3*q2' - q2*q3')", "2*(q0*q2' - q2*q0' + q1*q3' - q3*q1')", "2*(q0*q3' - q3*q0' + q2*q1' - q1*q2')")
        add('tops', f'ball in quaternions, {w} rad/s', {f'q{i}': '' for i in range(4)}, {'kinetic': ' + '.join(f'J/2*({rate})^2' for rate in rates)},
            {'J': (1.0, 'M L2')}, turn(0.0), 10.0, turn, more='[constraints]\nunit = "q0^2 + q1^2 + q2^2 + q3^2 = 1"')


def bounces(y0, v0, g, e):
    """A ball above a floor at 0, for e < 1 until it rests, and then."""
    def motion(t):
        y, v, s = y0, v0, 0.0
        for _ in range(10000):
            flight = (v + sqrt(v * v + 2 * g * y)) / g
            if s + flight > t:
                d = t - s
                return y + v * d - g * d * d / 2, v - g * d
            s += flight
            y, v = 0.0, e * (g * flight - v)
            if v < 1e-14:
                break
        return 0.0, 0.0
    return motion


def add_contacts(r):
    for e, to in ((1.0, 5.3), (0.9, 4.1), (0.5, 1.3), (0.5, 5.0), (0.0, 2.0), (1.0, 60.2), (0.8, 12.0)):
        height = r.choice((0.0, 1.0, -2.5))
        move = bounces(1.0, 0.4, 9.81, e)

        def ball(t, f=move, h=height):
            y, v = f(t)
            return {'y': (y + h, v), 'x': (0.7 * t, 0.7)}
        add('contacts', f'ball, restitution {e}, floor at {height}, to {to}', {'x': 'L', 'y': 'L'}, {'kinetic': "m/2*(x'^2 + y'^2)", 'potential': 'm*g*y'},
            {'m': (1.0, 'M'), 'g': (9.81, 'L T-2'), 'h': (height, 'L')}, ball(0.0), to, ball, more=f'[constraints.floor]\nequation = "y >= h"\nrestitution = {e}')
    for v in (1.0, 13.0):                   # between two walls
        def walls(t, v=v):
            s = (0.5 + v * t) % 4
            return {'x': (s - 1, v) if s < 2 else (3 - s, -v)}
        add('contacts', f'between walls, speed {v}', {'x': 'L'}, {'kinetic': "m/2*x'^2"}, {'m': (1.0, 'M'), 'a': (1.0, 'L')}, {'x': (-0.5, v)}, 10.1, walls,
            more='[constraints]\n[constraints.left]\nequation = "x >= -a"\nrestitution = 1\n[constraints.right]\nequation = "x <= a"\nrestitution = 1')
    for mu, v, to in ((0.2, 3.0, 1.0), (0.2, 3.0, 4.0), (0.8, 1.0, 0.5)):       # a block that slides and stops
        def block(t, mu=mu, v=v):
            a = mu * 9.81
            t = min(t, v / a)
            return {'x': (v * t - a * t * t / 2, v - a * t), 'y': (0.0, 0.0)}
        add('contacts', f'block, friction {mu}, to {to}', {'x': 'L', 'y': 'L'}, {'kinetic': "m/2*(x'^2 + y'^2)", 'potential': 'm*g*y'},
            {'m': (1.0, 'M'), 'g': (9.81, 'L T-2')}, {'x': (0.0, v), 'y': (0.0, 0.0)}, to, block,
            more=f'[constraints.floor]\nequation = "y >= 0"\nfriction = {mu}\nslip = "x\'"')
    for mu in (0.1, 0.3):                   # a disc that slides until it rolls
        def disc(t, mu=mu, v=3.0, R=0.2):
            a = mu * 9.81
            s = min(t, v / (3 * a))
            x, u, w = v * s - a * s * s / 2, v - a * s, -2 * a / R * s
            return {'x': (x + u * (t - s), u), 'y': (R, 0.0), 'b': (-a / R * s * s + w * (t - s), w)}
        add('contacts', f'disc that comes to roll, friction {mu}', {'x': 'L', 'y': 'L', 'b': ''}, {'kinetic': "m/2*(x'^2 + y'^2) + m*R^2/4*b'^2", 'potential': 'm*g*y'},
            {'m': (1.0, 'M'), 'g': (9.81, 'L T-2'), 'R': (0.2, 'L')}, {'x': (0.0, 3.0), 'y': (0.2, 0.0), 'b': (0.0, 0.0)}, 2.0, disc,
            more=f'[constraints.floor]\nequation = "y >= R"\nfriction = {mu}\nslip = "x\' + R*b\'"')
    for f, to in ((0.1, 10.3), (0.02, 30.0)):       # a spring with dry friction: half swings about ±f
        def dry(t, f=f):
            x, half = 1.0, int(t / pi)
            for i in range(half):
                if abs(x) <= f:             # it stays
                    return {'x': (x, 0.0), 'y': (0.0, 0.0)}
                x = (1 if i % 2 == 0 else -1) * 2 * f - x
            side, d = (1 if half % 2 == 0 else -1), t - half * pi
            if abs(x) <= f:
                return {'x': (x, 0.0), 'y': (0.0, 0.0)}
            return {'x': (side * f + (x - side * f) * cos(d), -(x - side * f) * sin(d)), 'y': (0.0, 0.0)}
        add('contacts', f'spring with dry friction {f}', {'x': 'L', 'y': 'L'}, {'kinetic': "m/2*(x'^2 + y'^2)", 'potential': 'm*w^2/2*x^2 + m*g*y'},
            {'m': (1.0, 'M'), 'g': (9.81, 'L T-2'), 'w': (1.0, 'T-1'), 'f': (f / 9.81, '')}, {'x': (1.0, 0.0), 'y': (0.0, 0.0)}, to, dry,
            more='[constraints.floor]\nequation = "y >= 0"\nfriction = "f"\nslip = "x\'"')
    for q in (2.0, 10.0):                   # springs that differ by the side
        def bilinear(t, q=q):
            period = pi + pi / q
            s = t % period
            return {'x': (sin(s), cos(s)) if s < pi else (-sin(q * (s - pi)) / q, -cos(q * (s - pi)))}
        add('switches', f'springs of {q}', {'x': 'L'}, {'kinetic': "m/2*x'^2", 'force': '{ x = "if(x > 0, -m*w^2*x, -m*q^2*w^2*x)" }'},
            {'m': (1.0, 'M'), 'w': (1.0, 'T-1'), 'q': (q, '')}, {'x': (0.0, 1.0)}, 20.0, bilinear)
    for form in ('-m*g*sign(x)', 'if(x >= 0, -m*g, m*g)'):
        def bang(t):
            s = t % 8.0                     # g = 1, from 2 at rest: a quarter takes 2
            side, s = (1, s) if s < 2 or s >= 6 else (-1, s - 4)
            s = s - 8 if s >= 6 else s
            return {'x': (side * (2 - s * s / 2), -side * s)}
        add('switches', form, {'x': 'L'}, {'kinetic': "m/2*x'^2", 'force': f'{{ x = "{form}" }}'}, {'m': (1.0, 'M'), 'g': (1.0, 'L T-2')}, {'x': (2.0, 0.0)}, 21.3, bang)
    for a in (0.3, 4.0):                    # a pulse with corners in time
        def pulse(t, a=a):
            s = min(max(t - 3, 0.0), 1.0)
            return {'x': (a * (s * s / 2 + s * max(t - 4, 0.0)) + t, a * s + 1)}
        add('switches', f'force {a} for a tenth of the time', {'x': 'L'}, {'kinetic': "m/2*x'^2", 'force': '{ x = "if(t > b and t < c, m*a, 0)" }'},
            {'m': (1.0, 'M'), 'a': (a, 'L T-2'), 'b': (3.0, 'T'), 'c': (4.0, 'T')}, {'x': (0.0, 1.0)}, 10.0, pulse)


def add_stiff(r):
    for method in ('auto', 'bdf'):
        for K, C in ((1e4, 1e2), (1e6, 2e3), (1e2, 1e4), (1e8, 1e4)):        # a body that is drawn along a sine: on its path from the start
            add('stiff', f'drawn along, {K:g}, {C:g}, {method}', {'x': 'L'}, {'kinetic': "m/2*x'^2",
                'force': "{ x = \"-m*K*(x - a*sin(w*t)) - m*C*(x' - a*w*cos(w*t)) - m*a*w^2*sin(w*t)\" }"},
                {'m': (1.0, 'M'), 'K': (K, 'T-2'), 'C': (C, 'T-1'), 'a': (1.0, 'L'), 'w': (1.0, 'T-1')}, {'x': (0.0, 1.0)}, 10.0,
                lambda t: {'x': (sin(t), cos(t))}, method=method)
        for K, C in ((1e3, 1e3), (1.0, 1e4)):            # creeping home
            move = linear_oscillator(K, C / 2, 1.0, 0.0)
            add('stiff', f'creeping, {K:g}, {C:g}, {method}', {'x': 'L'}, {'kinetic': "m/2*x'^2", 'potential': 'm*K/2*x^2', 'force': "{ x = \"-m*C*x'\" }"},
                {'m': (1.0, 'M'), 'K': (K, 'T-2'), 'C': (C, 'T-1')}, {'x': (1.0, 0.0)}, 3.0, lambda t, f=move: {'x': f(t)}, method=method)
        for w in (1.0, 10.0):
            add('stiff', f'oscillator, {w} rad/s, {method}', {'x': 'L'}, {'kinetic': "m/2*x'^2", 'potential': 'm*w^2/2*x^2'},
                {'m': (1.0, 'M'), 'w': (w, 'T-1')}, {'x': (1.0, 0.0)}, 10.0, lambda t, w=w: {'x': (cos(w * t), -w * sin(w * t))}, method=method)
        def two(t, c=50.0, k=100.0):                     # a fast damped spring beside a slow one
            fast = linear_oscillator(k * k, c, 0.01, 0.0)(t)
            return {'x': (cos(t), -sin(t)), 'y': fast}
        add('stiff', f'slow and fast, {method}', {'x': 'L', 'y': 'L'}, {'kinetic': "m/2*(x'^2 + y'^2)", 'potential': 'm/2*(w^2*x^2 + k^2*y^2)',
            'force': "{ y = \"-2*m*c*y'\" }"}, {'m': (1.0, 'M'), 'w': (1.0, 'T-1'), 'k': (100.0, 'T-1'), 'c': (50.0, 'T-1')}, two(0.0), 20.0, two, method=method)


def add_long(r):
    for w, to in ((1.0, 3000.0), (1.0, 30000.0), (10.0, 1000.0)):
        add('long', f'oscillator, {w} rad/s to {to}', {'x': 'L'}, {'kinetic': "m/2*x'^2", 'potential': 'm*w^2/2*x^2'}, {'m': (1.0, 'M'), 'w': (w, 'T-1')},
            {'x': (1.0, 0.0)}, to, lambda t, w=w: {'x': (cos(w * t), -w * sin(w * t))})
    for w in (1.0, 3.0):                    # about an unstable rest: errors grow with the motion
        add('errors that grow', f'away from rest, {w}', {'x': 'L'}, {'kinetic': "m/2*x'^2", 'potential': '-m*w^2/2*x^2'}, {'m': (1.0, 'M'), 'w': (w, 'T-1')},
            {'x': (1.0, 0.5 * w)}, 10.0, lambda t, w=w: {'x': (cosh(w * t) + 0.5 * sinh(w * t), w * (sinh(w * t) + 0.5 * cosh(w * t)))})
        add('errors that grow', f'towards an unstable rest, {w}', {'x': 'L'}, {'kinetic': "m/2*x'^2", 'potential': '-m*w^2/2*x^2'}, {'m': (1.0, 'M'), 'w': (w, 'T-1')},
            {'x': (1.0, -w)}, 6.0, lambda t, w=w: {'x': (exp(-w * t), -w * exp(-w * t))})


def all_problems():
    if not PROBLEMS:
        r = random.Random(19)
        for part in (add_oscillators, add_anharmonic, add_pendulums, add_orbits, add_falls, add_constrained, add_rolling, add_tops, add_contacts, add_stiff, add_long):
            part(r)
    return PROBLEMS
