"""From the text of a model to an initial value problem, by SymPy: none of the project's code has a part in it.

`minimal`: the energies of the model, its coordinates written as functions of a few free ones, Lagrange's equations in
these. No constraint is differentiated, none can drift. `index_reduced`: A q̈ = b and M q̈ = Q + C + Aᵀλ as one linear
system, for constraints that cannot be integrated."""
import re
import tomllib

import sympy as sp
from mpmath import mp, mpf
from sympy.parsing.sympy_parser import parse_expr

T = sp.Symbol('t', real=True)


def solve_linear(matrix, right):
    """Gaussian elimination with row pivoting; lists of mpf."""
    n = len(right)
    rows = [list(row) + [r] for row, r in zip(matrix, right)]
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[p] = rows[p], rows[k]
        for i in range(k + 1, n):
            if rows[i][k] != 0:
                factor = rows[i][k] / rows[k][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k])]
    x = [mpf(0)] * n
    for k in reversed(range(n)):
        x[k] = (rows[k][n] - sum(rows[k][j] * x[j] for j in range(k + 1, n))) / rows[k][k]
    return x


def function(arguments, expressions):
    """A fast mpmath function of lists."""
    return sp.lambdify(arguments, list(expressions), modules='mpmath', cse=True)


class Text:
    """A model as text, its expressions as SymPy sees them. Numbers of [parameters] are the doubles that the program reads."""

    def __init__(self, text):
        self.text, self.toml = text, tomllib.loads(text)
        self.q = [sp.Symbol(c, real=True) for c in self.toml['coordinates']]
        self.qd = [sp.Symbol(c + '_d', real=True) for c in self.toml['coordinates']]
        self.qdd = [sp.Symbol(c + '_dd', real=True) for c in self.toml['coordinates']]
        self.names = {s.name: s for s in self.q + self.qd + self.qdd} | {'t': T, 'pi': sp.pi, 'abs': sp.Abs, 'sign': sp.sign,
                                                                        'min': sp.Min, 'max': sp.Max, 'hypot': lambda a, b: sp.sqrt(a**2 + b**2)}
        self.parameters = {}
        todo = dict(self.toml.get('parameters', {}))
        self.names |= {name: sp.Symbol(name, real=True) for name in todo}
        while todo:
            for name, value in list(todo.items()):
                if isinstance(value, str):
                    e = self.parse(value).subs(self.parameters)
                    if e.free_symbols:
                        continue
                    value = e
                else:
                    value = sp.Rational(value) if isinstance(value, int) else sp.Float(value, mp.dps)
                self.parameters[self.names[name]] = value
                del todo[name]
        todo = dict(self.toml.get('define', {}))
        while todo:
            for name, value in list(todo.items()):
                if not set(re.findall(r'[A-Za-z_]\w*', value)) & (set(todo) - {name}):
                    self.names[name] = self.parse(value)
                    del todo[name]
        dynamics = self.toml['dynamics']
        force = dynamics.get('force', {})
        self.force = [self.parse(force.get(c, 0)) for c in self.toml['coordinates']]
        self.kinetic = self.parse(dynamics['kinetic']) if 'kinetic' in dynamics else None
        self.potential = self.parse(dynamics.get('potential', 0))
        nonideal = self.toml.get('nonideal', {})
        self.work = [self.parse(nonideal.get(c, 0)) if 'ideal(' not in str(nonideal.get(c, 0)) and 'multiplier(' not in str(nonideal.get(c, 0)) else None
                     for c in self.toml['coordinates']]
        self.rows = {}
        for name, row in self.toml.get('constraints', {}).items():
            left, right = (row['equation'] if isinstance(row, dict) else row).split('=')
            self.rows[name] = (self.parse(left) - self.parse(right))

    def parse(self, text):
        text = str(text)
        text = re.sub(r"([^\W\d]\w*)''", r'\1_dd', text)
        text = re.sub(r"([^\W\d]\w*)'", r'\1_d', text).replace('^', '**')
        return sp.sympify(parse_expr(text, local_dict=dict(self.names)))

    def values(self, expressions):
        return [sp.sympify(e).subs(self.parameters) for e in expressions]

    def start(self, what):
        """The start values, in full precision, by coordinate."""
        given = self.toml['start'].get(what, {})
        return [mpf(str(sp.N(sp.sympify(self.parse(given.get(c, 0))).subs(self.parameters), mp.dps))) if isinstance(given.get(c, 0), str)
                else mpf(given.get(c, 0)) for c in self.toml['coordinates']]


class Plain:
    """A model of which only the file is read: expressions with `if` are beyond SymPy's parser."""

    def __init__(self, text):
        self.text, self.toml, self.rows = text, tomllib.loads(text), {}


class Minimal:
    """Lagrange's equations in free coordinates s: q = q(s, t)."""

    def __init__(self, text, free, places):
        """free: names of the free coordinates; places: {coordinate: text in the free ones}, all others are free themselves."""
        self.model = model = text if isinstance(text, Text) else Text(text)
        s = [sp.Symbol(name, real=True) for name in free]
        sd = [sp.Symbol(name + '_d', real=True) for name in free]
        names = model.names | {x.name: x for x in s + sd}
        held, model.names = model.names, names
        q = [model.parse(places.get(c.name, c.name)) for c in model.q]
        model.names = held
        q = [sp.sympify(e) for e in q]
        jacobian = [[sp.diff(e, x) for x in s] for e in q]
        rates = [sp.diff(e, T) for e in q]
        qd = [sum(j * v for j, v in zip(row, sd)) + r for row, r in zip(jacobian, rates)]
        into = list(zip(model.q + model.qd, q + qd))
        replace = lambda e: sp.sympify(e).subs(dict(into), simultaneous=True)  # noqa: E731
        kinetic, potential = replace(model.kinetic), replace(model.potential)
        forces = [replace(f) + (replace(w) if w is not None else 0) for f, w in zip(model.force, model.work)]
        impulse = [sp.diff(kinetic, v) for v in sd]
        mass = [[sp.diff(p, v) for v in sd] for p in impulse]
        right = [sum(f * row[i] for f, row in zip(forces, jacobian)) - sp.diff(potential, s[i]) + sp.diff(kinetic, s[i])
                 - sum(sp.diff(impulse[i], x) * v for x, v in zip(s, sd)) - sp.diff(impulse[i], T) for i in range(len(s))]
        flat = model.values([e for row in mass for e in row] + right)
        self.count = n = len(s)
        self.calc = function([T, *s, *sd], flat)
        self.state = function([T, *s, *sd], model.values(q + qd))
        self.n = n

    def __call__(self, t, y):
        n, v = self.n, self.calc(t, *y)
        if n == 1:
            return [y[1], v[1] / v[0]]
        return list(y[n:]) + solve_linear([v[i * n:(i + 1) * n] for i in range(n)], v[n * n:])

    def place(self, t, y):
        """Positions and velocities of the model."""
        v, n = self.state(t, *y), len(self.model.q)
        return v[:n], v[n:]


class IndexReduced:
    """M q̈ = Q + C + Aᵀλ, A q̈ = b with independent rows (names in `rows`; all if absent)."""

    def __init__(self, text, rows=None, mass=None, extra=()):
        """mass: where the model gives matrices. extra: further forces, SymPy, by coordinate."""
        self.model = model = text if isinstance(text, Text) else Text(text)
        q, qd = model.q, model.qd
        n = len(q)
        if model.kinetic is not None:
            impulse = [sp.diff(model.kinetic, v) for v in qd]
            M = [[sp.diff(p, v) for v in qd] for p in impulse]
            Q = [f - sp.diff(model.potential, x) + sp.diff(model.kinetic, x) - sum(sp.diff(p, z) * v for z, v in zip(q, qd)) - sp.diff(p, T)
                 for f, x, p in zip(model.force, q, impulse)]
        else:
            given = model.toml['dynamics']['mass']
            M = ([[model.parse(e) for e in row] for row in given] if isinstance(given, list)
                 else [[model.parse(given.get(c.name, 0)) if c == d else sp.Integer(0) for d in q] for c in q])
            Q = list(model.force)
        Q = [a + (w if w is not None else 0) for a, w in zip(Q, model.work)]
        A, b = [], []
        for name, row in model.rows.items():
            if rows is not None and name not in rows:
                continue
            rate = row
            if not row.has(*model.qdd):
                along = lambda e: sum(sp.diff(e, x) * v for x, v in zip(q, qd)) + sp.diff(e, T)  # noqa: E731
                if not row.has(*qd):
                    row = along(row)
                A.append([sp.diff(row, v) for v in qd])
                b.append(-along(row))
            else:
                A.append([sp.diff(rate, v) for v in model.qdd])
                b.append(-rate.subs({v: 0 for v in model.qdd}))
        self.n, self.m = n, len(A)
        flat = model.values([e for row in M for e in row] + Q + [e for row in A for e in row] + b)
        self.calc = function([T, *q, *qd], flat)

    def parts(self, t, y):
        n, m, v = self.n, self.m, self.calc(t, *y)
        M = [v[i * n:(i + 1) * n] for i in range(n)]
        A = [v[n * n + n + i * n:n * n + n + (i + 1) * n] for i in range(m)]
        return M, v[n * n:n * n + n], A, v[n * n + n + m * n:]

    def __call__(self, t, y):
        n, m = self.n, self.m
        M, Q, A, b = self.parts(t, y)
        matrix = [list(M[i]) + [-A[j][i] for j in range(m)] for i in range(n)] + [list(A[j]) + [mpf(0)] * m for j in range(m)]
        return list(y[n:]) + solve_linear(matrix, list(Q) + list(b))[:n]

    def place(self, t, y):
        return y[:self.n], y[self.n:]
