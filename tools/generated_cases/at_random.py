"""Random models from a seed: linear ones with every kind of row, dependence and scale, and nonlinear ones."""
import random
from fractions import Fraction as F


def text_of(x):
    """A decimal of a fraction with a power of ten below it."""
    x = F(x)
    for digits in range(0, 30):
        if (x * 10**digits).denominator == 1:
            n = int(x * 10**digits)
            s = str(abs(n)).rjust(digits + 1, '0')
            s = s[:len(s) - digits] + ('.' + s[len(s) - digits:] if digits else '')
            return ('-' if n < 0 else '') + s
    raise ValueError(x)


def signed(x, name):
    return f"{text_of(x)}*{name}"


def linear(seed, sizes=(1, 6), rows=(0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 8), units=(0, 0, 0, 0, -3, 3, 5, -5), name='linear'):
    r = random.Random(seed)
    n = r.randint(*sizes)
    names = [f'q{i}' for i in range(n)]
    small = lambda: F(r.randint(-9, 9), r.choice((1, 1, 2, 4, 10)))
    # mass: M = G Gᵀ with G n×p
    p = n if r.random() < 0.65 else r.randint(0, n - 1)
    G = [[small() if j <= i else F(0) for j in range(p)] for i in range(n)]
    for i in range(min(n, p)): G[i][i] = F(r.randint(1, 9))
    scale = [F(10)**r.choice(units) if r.random() < 0.3 else F(1) for _ in range(n)]
    M = [[sum(G[i][k] * G[j][k] for k in range(p)) * scale[i] * scale[j] for j in range(n)] for i in range(n)]
    Q = [small() * scale[i] for i in range(n)]
    if p < n and r.random() < 0.5:    # solvable where not unique: Q in R(M)
        y = [small() for _ in range(n)]
        Q = [sum(M[i][j] * y[j] for j in range(n)) for i in range(n)]
    # rows
    m = r.choice(rows)
    rank = r.randint(0, min(n, m)) if m and r.random() < 0.6 else min(n, m)
    basis = [[small() for _ in range(n)] for _ in range(rank)]
    rows = []
    for k in range(m):
        if k < rank: row = list(basis[k])
        elif rank == 0: row = [F(0)] * n
        else:
            c = [F(r.choice((0, 0, 1, 1, -1, 2, -3))) for _ in range(rank)]
            row = [sum(c[j] * basis[j][i] for j in range(rank)) for i in range(n)]
        f = F(10)**r.choice((0, 0, 0, 0, 0, 3, -3, 6, -6))
        rows.append([f * x for x in row])
    r.shuffle(rows)
    target = [small() for _ in range(n)]
    b = [sum(x * y for x, y in zip(row, target)) for row in rows]
    contradict = 0 < m < 10 and r.random() < 0.25
    if contradict:
        for _ in range(r.randint(1, 3)):
            k = r.randrange(m); b[k] += max([abs(x) for x in rows[k]] + [F(1, 10**6)]) * r.choice((1, -1, F(1, 2), F(1, 1000)))
    lines = {'constraints': [], 'control': []}
    weigh = contradict and r.random() < 0.6
    measured, t0, control_some = [], F(0), m and r.random() < 0.25
    for k in range(m):
        terms = lambda d: ' + '.join(signed(x, q + d) for x, q in zip(rows[k], names) if x) or f"0*{names[0]}{d}"
        level = r.randint(0, 2)
        e = [f"{terms('')} = {text_of(b[k] / 2)}*t^2", f"{terms(chr(39))} = {text_of(b[k])}*t", f"{terms(chr(39)*2)} = {text_of(b[k])}"][level]
        if control_some and r.random() < 0.4:
            lines['control'].append(f'[control.u{k}]\nequation = "{e}"' + (f'\nfrequency = {r.randint(1, 5)}' if r.random() < 0.5 and level < 2 else ''))
        elif weigh and r.random() < 0.7:
            if r.random() < 0.5:
                lines['constraints'].append(f's{k} = "{e}"'); measured.append(f's{k}')
            else: lines['constraints'].append(f's{k} = {{ equation = "{e}", weight = {text_of(F(10)**r.choice((0, 0, 2, -2)) * r.randint(1, 9))} }}')
        else: lines['constraints'].append(f'r{k} = "{e}"')
    out = [f'coordinates = [{", ".join(chr(34) + q + chr(34) for q in names)}]', '[dynamics]',
           'mass = [' + ', '.join('[' + ', '.join(f'"{text_of(x)}"' for x in row) + ']' for row in M) + ']',
           'force = { ' + ', '.join(f'{q} = "{text_of(x)}"' for q, x in zip(names, Q)) + ' }']
    if lines['constraints']: out += ['[constraints]'] + lines['constraints']
    out += lines['control']
    if measured:
        L = [[F(r.randint(-3, 3), 4) if j < i else F(r.randint(1, 4)) if i == j else F(0) for j in range(len(measured))] for i in range(len(measured))]
        W = [[sum(a * c for a, c in zip(L[i], L[j])) for j in range(len(measured))] for i in range(len(measured))]
        out += ['[measured]', 'constraints = [' + ', '.join(f'"{x}"' for x in measured) + ']',
                'weight = [' + ', '.join('[' + ', '.join(text_of(x) for x in row) + ']' for row in W) + ']']
    if r.random() < 0.4:
        out += ['[nonideal]'] + [f'{q} = "{text_of(small())}*ideal({r.choice(names)}) + {text_of(small())}"' if r.random() < 0.4 else f'{q} = "{text_of(small())}"'
                                 for q in names if r.random() < 0.7]
    states = [(0, {}, {})]
    return {'name': f'random_{name}_{seed}', 'text': '\n'.join(out) + '\n', 'states': states, 'linear': True}


def large(seed): return linear(seed, (7, 13), (3, 5, 7, 9, 11, 13, 16), (0, 0, 1, -1), 'large')


class Trees:
    def __init__(self, r, names): self.r, self.names = r, names

    def __call__(self, depth):
        r = self.r
        if depth == 0 or r.random() < 0.12:
            return r.choice(self.names) if r.random() < 0.75 else f'{r.uniform(-2, 2):.2f}'.replace('-', '0-') if r.random() < 0.2 else f'{r.uniform(0.2, 2):.2f}'
        a, b = self(depth - 1), self(depth - 1)
        return r.choice((
            lambda: f'({a} + {b})', lambda: f'({a} - {b})', lambda: f'{a}*{b}' if a[0] != '0' else f'({a})*({b})', lambda: f'({a})*({b})',
            lambda: f'sin({a})', lambda: f'cos({a} + {b})', lambda: f'exp(-({a})^2/4)', lambda: f'tanh({a})', lambda: f'sqrt(1 + ({a})^2)',
            lambda: f'atan({a} - {b})', lambda: f'log(2 + ({a})^2)', lambda: f'({a})/(2 + cos({b}))', lambda: f'hypot(1 + ({a})^2, {b})',
            lambda: f'atan2({a}, 2 + ({b})^2)', lambda: f'({a})^2', lambda: f'(({a})/2)^3', lambda: f'(1 + ({a})^2)^-1.5', lambda: f'asinh({a})',
            lambda: f'abs(0.3 + {a})', lambda: f'min({a}, {b}, 1.5)', lambda: f'max({a}, {b})', lambda: f'if({a} > {b}, {a}, sin({b}))',
            lambda: f'-({a})', lambda: f'sinh(({a})/(2 + ({b})^2))', lambda: f'acosh(1.5 + ({a})^2)', lambda: f'asin(tanh({a})/2)', lambda: f'2^({a})',
            lambda: f'(2 + sin({a}))^({b})', lambda: f'cosh(sin({a}))', lambda: f'tan(atan({a})/2)', lambda: f'atanh(cos({a})/2)', lambda: f'acos(sin({a})/3)',
        ))()


def nonlinear(seed):
    r = random.Random(seed)
    n = r.randint(2, 6)
    names = [f'q{i}' for i in range(n)]
    rates = [q + "'" for q in names]
    at = Trees(r, names + ['t'])
    with_rates = Trees(r, names + rates + ['t'])
    pieces = []
    for k in range(n if r.random() < 0.7 else n - 1):
        inner = rates[k] + ''.join(f' + ({at(2)})*{v}' for v in rates if v != rates[k] and r.random() < 0.35)
        if r.random() < 0.3: inner += f' + {at(2)}'
        pieces.append(f'{r.uniform(0.3, 3):.2f}*({inner})^2')
    if r.random() < 0.4: pieces.append(f'({at(2)})*{r.choice(rates)}')
    if r.random() < 0.4: pieces.append(at(2))
    out = [f'coordinates = [{", ".join(chr(34) + q + chr(34) for q in names)}]', '[dynamics]', f'kinetic = "{" + ".join(pieces)}"']
    if r.random() < 0.7: out.append(f'potential = "{at(4)}"')
    force = [f'{q} = "{with_rates(3)}"' for q in names if r.random() < 0.5]
    if force: out.append('force = { ' + ', '.join(force) + ' }')
    m = r.randint(0, n)
    rows = []
    for k in range(m):
        kind = r.random()
        if kind < 0.5: e = f'{r.choice(names)} + {at(3)} = {at(2)}'
        elif kind < 0.8: e = f'{r.choice(rates)} + {with_rates(3)} = {with_rates(2)}'
        else: e = ' + '.join(f"({with_rates(2)})*{q}''" for q in r.sample(names, r.randint(1, n))) + f' = {with_rates(2)}'
        rows.append((f'c{k}', e))
    controls = [x for x in rows if r.random() < 0.2]
    if [x for x in rows if x not in controls]: out += ['[constraints]'] + [f'{k} = "{e}"' for k, e in rows if (k, e) not in controls]
    for k, e in controls:
        out += [f'[control.{k}]', f'equation = "{e}"']
        if r.random() < 0.6 and "''" not in e: out += [f'frequency = {r.uniform(1, 5):.2f}']
        if 'frequency' in out[-1] and r.random() < 0.4 and "'" not in e: out += [f'damping = {r.uniform(0.3, 1):.2f}']
    if r.random() < 0.5:
        free = [k for k, e in rows if (k, e) not in controls]
        pick = lambda: r.choice([f'*tanh(ideal({r.choice(names)}))', '', f'*sin(multiplier({r.choice(free)}))' if free else ''])
        out += ['[nonideal]'] + [f'{q} = "({with_rates(2)}){pick()}"' for q in names if r.random() < 0.6]
    states = [(round(r.uniform(0, 2), 2), {q: round(r.uniform(-1.5, 1.5), 3) for q in names}, {q: round(r.uniform(-2, 2), 3) for q in names}) for _ in range(2)]
    return {'name': f'random_nonlinear_{seed}', 'text': '\n'.join(out) + '\n', 'states': states}


def redundant(seed):
    """Rows that depend on each other only where they hold: functions of a constraint, its multiples, its rates."""
    r = random.Random(seed)
    n = r.randint(2, 5)
    names = [f'q{i}' for i in range(n)]
    at = Trees(r, names + ['t'])
    masses = 'mass = { ' + ', '.join(f'{q} = {r.choice((1, 2, 0.5, 10))}' for q in names) + ' }'
    base = [f"{names[k]} + 0.4*sin({at(2)}) - 0.3*({at(1)})" if r.random() < 0.5 else
            ' + '.join(f'{r.choice((1, 2, 0.5))}*{q}^2' for q in names) + f' - {r.choice((2, 3))} - 0.2*sin(t)' for k in range(r.randint(1, min(2, n - 1)))]
    if seed % 2:     # nonholonomic ones
        base = [' + '.join(f"({at(1)})*{q}'" for q in names) + f' + {names[k]}\' - 0.2*sin({at(1)})' for k in range(len(base))]
    rows = [f'{b} = 0' for b in base]
    for _ in range(r.randint(1, 4)):
        b = r.choice(base)
        rows.append(r.choice((f'3*({b}) = 0', f'exp({b}) = 1', f'({b}) + ({b})^3 = 0', f'sin({b}) = 0', f'({b})*(2 + cos({at(2)})) = 0',
                              f'({b})^2 = 0', f'1e6*({b}) = 0', f'1e-6*({b}) = 0', f'sqrt(1 + ({b})) = 1', f'log(1 + {b}) = 0',
                              f'({base[0]}) + 2*({base[-1]}) = 0', f'({base[0]})*({base[-1]}) = 0', f'atan2({b}, 1) = 0', f'0*({b}) = 0')))
    r.shuffle(rows)
    out = [f'coordinates = [{", ".join(chr(34) + q + chr(34) for q in names)}]', '[dynamics]', masses,
           'force = { ' + ', '.join(f'{q} = "{at(2)}"' for q in names) + ' }', '[constraints]'] + [f'c{k} = "{e}"' for k, e in enumerate(rows)]
    if r.random() < 0.4: out += ['[nonideal]'] + [f'{q} = "0.1*ideal({r.choice(names)}) - 0.2*{q}\'"' for q in names]
    out += ['[start]', f'time = {r.choice((0, 0.3, 1.1))}', 'position = { ' + ', '.join(f'{q} = {r.uniform(-1.2, 1.2):.2f}' for q in names) + ' }',
            'velocity = { ' + ', '.join(f'{q} = {r.uniform(-1.5, 1.5):.2f}' for q in names) + ' }']
    return {'name': f'random_redundant_{seed}', 'text': '\n'.join(out) + '\n', 'states': (), 'onto': base}
