"""Expressions of the model language in 50 digits, with first and second derivatives carried along."""
import re
from mpmath import mp, mpf

mp.dps = 50

TOKEN = re.compile(r"\s*(?:((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|([^\W\d]\w*)|(''|'|<=|>=|==|[-+*/^(),<>=]))")


class Jet:
    """A value with its gradient and Hessian in named variables; what is zero is not stored."""
    __slots__ = ('x', 'g', 'h')

    def __init__(self, x, g=None, h=None):
        self.x, self.g, self.h = mpf(x), g or {}, h or {}

    def __add__(self, o):
        g, h = dict(self.g), dict(self.h)
        for k, v in o.g.items(): g[k] = g.get(k, 0) + v
        for k, v in o.h.items(): h[k] = h.get(k, 0) + v
        return Jet(self.x + o.x, g, h)

    def scaled(self, c):
        return Jet(self.x * c, {k: c * v for k, v in self.g.items()}, {k: c * v for k, v in self.h.items()})

    def __neg__(self): return self.scaled(mpf(-1))
    def __sub__(self, o): return self + (-o)

    def __mul__(self, o):
        g, h = {}, {}
        for k, v in self.g.items(): g[k] = v * o.x
        for k, v in o.g.items(): g[k] = g.get(k, 0) + v * self.x
        for k, v in self.h.items(): h[k] = v * o.x
        for k, v in o.h.items(): h[k] = h.get(k, 0) + v * self.x
        for a, u in self.g.items():
            for b, w in o.g.items():
                k = (a, b) if a <= b else (b, a)
                h[k] = h.get(k, 0) + u * w * (2 if a == b else 1)
        return Jet(self.x * o.x, g, h)

    def through(self, f, d1, d2):
        """f(self) where f, f', f'' at self.x are given."""
        g = {k: d1 * v for k, v in self.g.items()}
        h = {k: d1 * v for k, v in self.h.items()}
        names = sorted(self.g)
        for i, a in enumerate(names):
            for b in names[i:]:
                h[a, b] = h.get((a, b), 0) + d2 * self.g[a] * self.g[b]
        return Jet(f, g, h)

    def __truediv__(self, o):
        return self * o.through(1 / o.x, -1 / o.x**2, 2 / o.x**3)

    def __pow__(self, o):
        if not o.g and not o.h and o.x == int(o.x):
            n = int(o.x)
            if n == 0: return Jet(1)
            d1 = n * self.x**(n - 1) if n != 1 else mpf(1)
            d2 = n * (n - 1) * self.x**(n - 2) if n not in (1, 2) else mpf(n * (n - 1))
            return self.through(self.x**n, d1, d2)
        if not o.g and not o.h:
            p = o.x
            if self.x == 0 and not self.g: return Jet(mpf(0)**p)
            return self.through(self.x**p, p * self.x**(p - 1), p * (p - 1) * self.x**(p - 2))
        return FUNCTIONS['exp'](o * FUNCTIONS['log'](self))

    def d(self, a): return self.g.get(a, mpf(0))
    def dd(self, a, b): return self.h.get((a, b) if a <= b else (b, a), mpf(0))


def unary(f, d1, d2):
    def apply(u):
        if not u.g and not u.h: return Jet(f(u.x))
        return u.through(f(u.x), d1(u.x), d2(u.x))
    return apply


def sgn(x): return mpf((x > 0) - (x < 0))


def sqrt_(u):
    if u.x < 0: raise ValueError('sqrt of a negative number')
    if not u.g: return Jet(mp.sqrt(u.x))
    if u.x == 0: return u.through(mpf(0), mp.nan, mp.nan)
    return u.through(mp.sqrt(u.x), 1 / (2 * mp.sqrt(u.x)), -1 / (4 * u.x * mp.sqrt(u.x)))


def atan2_(y, x):
    r2 = x.x**2 + y.x**2
    # d atan2 = (x dy − y dx)/r²: the second derivatives follow from those of the quotient
    value = mp.atan2(y.x, x.x)
    inner = y / x if abs(x.x) > abs(y.x) else -(x / y)
    base = FUNCTIONS['atan'](inner)
    assert r2 > 0
    return Jet(value, base.g, base.h)


FUNCTIONS = {
    'sin': unary(mp.sin, mp.cos, lambda x: -mp.sin(x)),
    'cos': unary(mp.cos, lambda x: -mp.sin(x), lambda x: -mp.cos(x)),
    'tan': unary(mp.tan, lambda x: 1 / mp.cos(x)**2, lambda x: 2 * mp.sin(x) / mp.cos(x)**3),
    'asin': unary(mp.asin, lambda x: (1 - x**2)**mpf(-.5), lambda x: x * (1 - x**2)**mpf(-1.5)),
    'acos': unary(mp.acos, lambda x: -(1 - x**2)**mpf(-.5), lambda x: -x * (1 - x**2)**mpf(-1.5)),
    'atan': unary(mp.atan, lambda x: 1 / (1 + x**2), lambda x: -2 * x / (1 + x**2)**2),
    'sinh': unary(mp.sinh, mp.cosh, mp.sinh),
    'cosh': unary(mp.cosh, mp.sinh, mp.cosh),
    'tanh': unary(mp.tanh, lambda x: 1 / mp.cosh(x)**2, lambda x: -2 * mp.sinh(x) / mp.cosh(x)**3),
    'asinh': unary(mp.asinh, lambda x: (1 + x**2)**mpf(-.5), lambda x: -x * (1 + x**2)**mpf(-1.5)),
    'acosh': unary(mp.acosh, lambda x: (x**2 - 1)**mpf(-.5), lambda x: -x * (x**2 - 1)**mpf(-1.5)),
    'atanh': unary(mp.atanh, lambda x: 1 / (1 - x**2), lambda x: 2 * x / (1 - x**2)**2),
    'exp': unary(mp.exp, mp.exp, mp.exp),
    'log': unary(mp.log, lambda x: 1 / x, lambda x: -1 / x**2),
    'sqrt': sqrt_,
    'abs': unary(abs, sgn, lambda x: mpf(0)),
    'sign': unary(sgn, lambda x: mpf(0), lambda x: mpf(0)),
    'atan2': atan2_,
    'hypot': lambda a, b: sqrt_(a * a + b * b),
    'min': lambda *a: min(a, key=lambda u: u.x),
    'max': lambda *a: max(a, key=lambda u: u.x),
}


def tokens(text):
    out, at = [], 0
    text = text.strip()
    while at < len(text):
        m = TOKEN.match(text, at)
        if not m: raise SyntaxError(f'{text[at:]!r} in {text!r}')
        out.append(('n', m[1]) if m[1] else ('id', m[2]) if m[2] else ('op', m[3]))
        at = m.end()
    return out + [('end', '')]


class Parser:
    def __init__(self, text):
        self.t, self.i = tokens(text), 0

    def peek(self): return self.t[self.i][1] if self.t[self.i][0] in ('op', 'id') else None
    def take(self): self.i += 1; return self.t[self.i - 1]

    def accept(self, *ops):
        if self.t[self.i][0] in ('op', 'id') and self.t[self.i][1] in ops: return self.take()[1]

    def expect(self, op):
        if not self.accept(op): raise SyntaxError(f'{op} expected, found {self.t[self.i]}')

    def whole(self):
        e = self.disjunction()
        if self.t[self.i][0] != 'end': raise SyntaxError(f'{self.t[self.i:]} left')
        return e

    def equation(self):
        left = self.sum(); self.expect('='); right = self.sum()
        if self.t[self.i][0] != 'end': raise SyntaxError(f'{self.t[self.i:]} left')
        return ('-', left, right)

    def disjunction(self):
        e = self.conjunction()
        while self.accept('or'): e = ('or', e, self.conjunction())
        return e

    def conjunction(self):
        e = self.negation()
        while self.accept('and'): e = ('and', e, self.negation())
        return e

    def negation(self):
        return ('not', self.negation()) if self.accept('not') else self.comparison()

    def comparison(self):
        e = self.sum()
        while op := self.accept('<', '<=', '>', '>=', '=='): e = (op, e, self.sum())
        return e

    def sum(self):
        e = self.product()
        while op := self.accept('+', '-'): e = (op, e, self.product())
        return e

    def product(self):
        e = self.sign()
        while op := self.accept('*', '/'): e = (op, e, self.sign())
        return e

    def sign(self):
        if self.accept('-'): return ('neg', self.sign())
        if self.accept('+'): return self.sign()
        return self.power()

    def power(self):
        e = self.atom()
        return ('^', e, self.sign()) if self.accept('^') else e

    def atom(self):
        if self.accept('('):
            e = self.disjunction(); self.expect(')'); return e
        kind, text = self.take()
        if kind == 'n': return ('num', text)
        if kind != 'id': raise SyntaxError(f'{text!r} where a value belongs')
        if self.accept('('):
            args = [self.disjunction()]
            while self.accept(','): args.append(self.disjunction())
            self.expect(')')
            return ('call', text, args)
        primes = 0
        while p := self.accept("'", "''"): primes += len(p)
        return ('name', text, primes)


def mentions(e, defines):
    """The highest derivative of a coordinate in an expression, definitions followed; −1 where there is no coordinate."""
    kind = e[0]
    if kind == 'num': return -1
    if kind == 'name':
        if e[1] in defines['coordinates']: return e[2]
        return mentions(defines[e[1]], defines) if e[1] in defines else -1
    rest = e[2] if kind == 'call' else e[1:]
    return max([-1] + [mentions(a, defines) for a in rest])


class Evaluator:
    """Values of expressions at one state. `names` maps a name (with primes) to a Jet or to an expression."""

    def __init__(self, names, calls=None):
        self.names, self.calls, self.known = names, calls or {}, {}

    def __call__(self, e):
        kind = e[0]
        if kind == 'num': return Jet(mpf(e[1]))
        if kind == 'name': return self.name(e[1] + "'" * e[2])
        if kind == 'call':
            if e[1] == 'if': return self(e[2][1] if self(e[2][0]) else e[2][2])
            if e[1] in self.calls: return self.calls[e[1]](e[2][0][1])
            return FUNCTIONS[e[1]](*[self(a) for a in e[2]])
        if kind == 'neg': return -self(e[1])
        if kind == 'not': return not self(e[1])
        if kind == 'and': return self(e[1]) and self(e[2])
        if kind == 'or': return self(e[1]) or self(e[2])
        a, b = self(e[1]), self(e[2])
        if kind in ('<', '<=', '>', '>=', '=='):
            return {'<': a.x < b.x, '<=': a.x <= b.x, '>': a.x > b.x, '>=': a.x >= b.x, '==': a.x == b.x}[kind]
        return {'+': Jet.__add__, '-': Jet.__sub__, '*': Jet.__mul__, '/': Jet.__truediv__, '^': Jet.__pow__}[kind](a, b)

    def name(self, text):
        if text not in self.known:
            if text == 'pi' and text not in self.names: return Jet(mp.pi)
            v = self.names[text]
            self.known[text] = v if isinstance(v, Jet) else self(v)
        return self.known[text]
