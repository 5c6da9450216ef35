"""The nearest state on the constraints in the mass norm, from Lagrange's conditions in 50 digits."""
import random
from mpmath import mp, mpf, matrix

from oracle import Rows, mul, rows_of, symmetric_eigen, norm


STARTS = 40


def lagrange(evaluate, M, x0, start, steps=80):
    """Newton on M(x − x0) = Jᵀλ, r = 0; evaluate gives r, J and the Hessians. Returns x or None."""
    n = len(x0)
    x, lam = list(start), None
    for _ in range(steps):
        try: r, J, H = evaluate(x)
        except (ValueError, ZeroDivisionError): return None
        keep = Rows(J).ind if lam is None else keep
        if lam is None: lam = [mpf(0)] * len(keep)
        k = len(keep)
        K = matrix(n + k, n + k); f = matrix(n + k, 1)
        for i in range(n):
            f[i] = sum(M[i, j] * (x[j] - x0[j]) for j in range(n)) - sum(lam[a] * J[keep[a], i] for a in range(k))
            for j in range(n): K[i, j] = M[i, j] - sum(lam[a] * H[keep[a]][i][j] for a in range(k))
        for a in range(k):
            f[n + a] = r[keep[a]]
            for i in range(n): K[n + a, i] = J[keep[a], i]; K[i, n + a] = -J[keep[a], i]
        try: d = mp.lu_solve(K, -f)
        except ZeroDivisionError: return None
        size = norm([d[i] for i in range(n)])
        shorten = min(mpf(1), mpf('0.5') / size) if size > 0 else 1
        for i in range(n): x[i] += shorten * d[i]
        for a in range(k): lam[a] += shorten * d[n + a]
        if norm([d[i] for i in range(n)]) < mpf(10)**-40:
            r, J, H = evaluate(x)
            return x if max([abs(v) for v in r] + [mpf(0)]) < mpf(10)**-30 else None
    return None


def nearest(evaluate, M, x0, spread):
    """The best of many starts."""
    rng, best, best_value = random.Random(1), None, None
    for k in range(STARTS):
        start = [x + (mpf(rng.gauss(0, 1)) * spread if k else 0) for x in x0]
        x = lagrange(evaluate, M, x0, start)
        if x is None: continue
        d = [a - b for a, b in zip(x, x0)]
        value = sum(a * b for a, b in zip(d, mul(M, d)))
        if best is None or value < best_value - mpf(10)**-30: best, best_value = x, value
    return best


def project(model):
    s = model.start
    t, n = s['time'], model.n
    q0, v0 = [s['position'][c] for c in model.q], [s['velocity'][c] for c in model.q]
    Qn, Vn = [f'q{i:02}' for i in range(n)], [f'v{i:02}' for i in range(n)]
    measured = {name for m in model.measured for name in m['names']}
    exact = [r for r in model.rows if not r['control'] and r['weight'] is None and r['name'] not in measured]
    holonomic = [r for r in exact if r['level'] == 0]
    moving = [r for r in exact if r['level'] == 1]

    def positions(q):
        at = model.evaluator(t, q, v0)
        r = [at(row['e']) for row in holonomic]
        J = matrix([[x.d(a) for a in Qn] for x in r])
        return [x.x for x in r], J, [[[x.dd(a, b) for b in Qn] for a in Qn] for x in r]

    M = model.matrices(t, q0, v0)[0]
    q = nearest(positions, M, q0, mpf('0.5')) if holonomic else q0

    def velocities(v):
        at = model.evaluator(t, q, v)
        r, J, H = [], [], []
        for row in holonomic:
            x = at(row['e'])
            J.append([x.d(a) for a in Qn]); H.append([[mpf(0)] * n for _ in range(n)])
            r.append(sum(x.d(a) * b for a, b in zip(Qn, v)) + x.d('t'))
        for row in moving:
            x = at(row['e'])
            r.append(x.x); J.append([x.d(a) for a in Vn]); H.append([[x.dd(a, b) for b in Vn] for a in Vn])
        return r, matrix(J), H

    M = model.matrices(t, q, v0)[0]
    v = nearest(velocities, M, v0, mpf('0.5')) if holonomic or moving else v0
    return {'position': {c: float(x) for c, x in zip(model.q, q)}, 'velocity': {c: float(x) for c, x in zip(model.q, v)}}
