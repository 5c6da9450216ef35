"""What is true of a model at a state, in 50 digits, straight from the formulas of the papers (tags as in the project's
theory: F1 = U02 (6), F4 = U23 (24), F5 = U23 (54); control as the theory has it). Shares nothing with the program."""
import itertools
import tomllib
from mpmath import mp, mpf, matrix, zeros, eye

from expressions import Evaluator, Jet, Parser, mentions

RANK = mpf(10)**-13      # of unit rows; states and parameters are doubles
EXACT = mpf(10)**-25
CONSISTENT = mpf(10)**-9


# --- linear algebra ----------------------------------------------------------------------------------------------------

def norm(v): return mp.sqrt(sum((x * x for x in v), mpf(0)))
def rows_of(A, keep): return matrix([[A[i, j] for j in range(A.cols)] for i in keep]) if keep and A.cols else zeros(len(keep), A.cols)


def orthonormal(vectors, n, start=()):
    """Gram-Schmidt with a second pass; what is below RANK of its own length is dropped."""
    basis, taken = list(start), []
    for k, v in enumerate(vectors):
        length = norm(v)
        if length == 0: continue
        w = [x / length for x in v]
        for _ in range(2):
            for u in basis:
                c = sum((a * b for a, b in zip(u, w)), mpf(0))
                w = [a - c * b for a, b in zip(w, u)]
        rest = norm(w)
        if rest > RANK:
            basis.append([x / rest for x in w]); taken.append(k)
    return basis, taken


def null_basis(A):
    """Orthonormal columns spanning N(A), rows of A independent."""
    n = A.cols
    row_basis, _ = orthonormal([[A[i, j] for j in range(n)] for i in range(A.rows)], n)
    k = len(row_basis)
    units = [[mpf(i == j) for j in range(n)] for i in range(n)]
    basis, left = list(row_basis), list(units)
    while len(basis) < n:   # the unit vector with the largest remainder comes next
        best, best_rest = None, mpf(-1)
        for u in left:
            w = list(u)
            for _ in range(2):
                for v in basis:
                    c = sum((a * b for a, b in zip(v, w)), mpf(0)); w = [a - c * b for a, b in zip(w, v)]
            r = norm(w)
            if r > best_rest: best, best_rest = [x / r for x in w] if r > 0 else None, r
        basis.append(best)
    V = zeros(n, n - k)
    for j in range(k, n):
        for i in range(n): V[i, j - k] = basis[j][i]
    return V


def pinv_full_row(A): return A.T * ((A * A.T)**-1) if A.rows else zeros(A.cols, 0)
def pinv_full_col(A): return ((A.T * A)**-1) * A.T if A.cols else zeros(0, A.rows)


def scaled_product(A, B):
    return A * B if A.cols and A.rows and B.cols else zeros(A.rows, B.cols)


def add(*vs): return [sum(x, mpf(0)) for x in zip(*vs)]
def mul(A, v): return [sum((A[i, j] * v[j] for j in range(A.cols)), mpf(0)) for i in range(A.rows)]
def tmul(A, v): return [sum((A[i, j] * v[i] for i in range(A.rows)), mpf(0)) for j in range(A.cols)]


def symmetric_eigen(S):
    if S.rows == 0: return [], zeros(0, 0)
    if S.rows == 1: return [S[0, 0]], eye(1)
    e, q = mp.eigsy(S)
    return [e[i] for i in range(S.rows)], q


def power_of(M, p):
    e, q = symmetric_eigen(M)
    return q * mp.diag([x**p for x in e]) * q.T


# --- the model ---------------------------------------------------------------------------------------------------------

class Model:
    def __init__(self, text):
        d = self.d = tomllib.loads(text, parse_float=lambda s: ('num', s))
        self.q = d['coordinates']
        self.n = len(self.q)
        value = self.value
        self.names = {k: value(v) for k, v in {**d.get('parameters', {}), **d.get('define', {})}.items()}
        self.scope = {**self.names, 'coordinates': self.q}
        dyn = d.get('dynamics', {})
        self.kinetic = value(dyn['kinetic']) if 'kinetic' in dyn else None
        self.potential = value(dyn['potential']) if 'potential' in dyn else None
        self.force = {k: value(v) for k, v in dyn.get('force', {}).items()}
        mass = dyn.get('mass')
        if isinstance(mass, dict): mass = [[mass.get(a, '0') if a == b else '0' for b in self.q] for a in self.q]
        self.mass = [[value(x) for x in row] for row in mass] if mass else None
        self.nonideal = {k: value(v) for k, v in d.get('nonideal', {}).items()}
        self.rows = []
        for section in ('constraints', 'control'):
            for name, c in d.get(section, {}).items():
                if section == 'control' and name in ('free', 'cost'): continue
                c = {'equation': c} if isinstance(c, str) else c
                e = Parser(c['equation']).equation()
                self.rows.append({'name': name, 'e': e, 'level': mentions(e, self.scope), 'control': section == 'control',
                                  'weight': value(c['weight']) if 'weight' in c else None,
                                  'frequency': value(c['frequency']) if 'frequency' in c else None,
                                  'damping': value(c.get('damping', 1))})
        measured = d.get('measured', [])
        self.measured = [{'names': m['constraints'], 'weight': [[value(x) for x in r] for r in m['weight']]}
                         for m in (measured if isinstance(measured, list) else [measured])]
        self.free = {k: value(v) for k, v in d.get('control', {}).get('free', {}).items()}
        self.actuators = {name: {'on': Parser(a['on']).whole()} if 'on' in a else {'by': {k: value(v) for k, v in a.items() if k != 'cost'}}
                          for name, a in d.get('actuators', {}).items()}
        cost = d.get('control', {}).get('cost', {})
        if isinstance(cost, dict):
            own = {name: a.get('cost', cost.get(name, 1)) for name, a in d.get('actuators', {}).items()}
            cost = [[own[a] if a == b else 0 for b in own] for a in own]
        self.cost = [[value(x) for x in row] for row in cost]
        s = d.get('start', {})
        at = Evaluator(self.names)
        self.start = {'time': at(value(s.get('time', 0))).x,
                      'position': {c: at(value(s.get('position', {}).get(c, 0))).x for c in self.q},
                      'velocity': {c: at(value(s.get('velocity', {}).get(c, 0))).x for c in self.q}}

    @staticmethod
    def value(v):
        if isinstance(v, str): return Parser(v).whole()
        return v if isinstance(v, tuple) else ('num', str(v)) if v >= 0 else ('neg', ('num', str(-v)))

    def evaluator(self, t, q, v, calls=None):
        names = dict(self.names)
        names['t'] = Jet(t, {'t': mpf(1)})
        for i, c in enumerate(self.q):
            names[c] = Jet(q[i], {f'q{i:02}': mpf(1)})
            names[c + "'"] = Jet(v[i], {f'v{i:02}': mpf(1)})
            names[c + "''"] = Jet(0, {f'a{i:02}': mpf(1)})
        return Evaluator(names, calls)

    def matrices(self, t, q, v):
        """M, Q, and rows A, b with the size of the terms of each row."""
        n, at = self.n, self.evaluator(t, q, v)
        Q, V = [f'q{i:02}' for i in range(n)], [f'v{i:02}' for i in range(n)]
        N = range(n)
        F = [at(self.force[c]).x if c in self.force else mpf(0) for c in self.q]
        if self.kinetic is not None:
            T = at(self.kinetic)
            M = matrix(n, n)
            for i in N:
                for j in N: M[i, j] = T.dd(V[i], V[j])
            F = [F[i] + T.d(Q[i]) - sum(T.dd(V[i], Q[j]) * v[j] for j in N) - T.dd(V[i], 't') for i in N]
        else:
            M = matrix([[at(x).x for x in row] for row in self.mass])
        if self.potential is not None:
            U = at(self.potential)
            F = [F[i] - U.d(Q[i]) for i in N]
        A, b, sizes = zeros(len(self.rows), n), [], []
        self.residuals = []
        for k, row in enumerate(self.rows):
            r = at(row['e'])
            if row['level'] == 2:
                A_k = [r.d(f'a{i:02}') for i in N]; b_k = -r.x; terms = [b_k]
            elif row['level'] == 1:
                A_k = [r.d(V[i]) for i in N]
                terms = [-r.d(Q[i]) * v[i] for i in N] + [-r.d('t')]
                b_k = sum(terms)
                if row['frequency'] is not None: b_k -= at(row['frequency']).x * r.x
            else:
                A_k = [r.d(Q[i]) for i in N]
                terms = [-r.dd(Q[i], Q[j]) * v[i] * v[j] for i in N for j in N] + [-2 * r.dd(Q[i], 't') * v[i] for i in N] + [-r.dd('t', 't')]
                b_k = sum(terms)
                rate = sum(r.d(Q[i]) * v[i] for i in N) + r.d('t')
                if row['frequency'] is not None:
                    w, z = at(row['frequency']).x, at(row['damping']).x
                    b_k -= 2 * z * w * rate + w * w * r.x
            if row['control']:
                rate = sum(r.d(Q[i]) * v[i] for i in N) + r.d('t') if row['level'] == 0 else r.x - r.x
                row['error'], row['error_rate'] = (r.x, rate) if row['level'] < 2 else (mpf(0), mpf(0))
            for i in N: A[k, i] = A_k[i]
            b.append(b_k); sizes.append(sum(abs(x) for x in terms) + abs(b_k))
        return M, F, A, b, sizes

    def weights(self, t, q, v):
        """Index list of weighted rows and their weight matrix."""
        at = self.evaluator(t, q, v)
        index = {r['name']: k for k, r in enumerate(self.rows)}
        groups = [([k], [[at(r['weight']).x]]) for k, r in enumerate(self.rows) if r['weight'] is not None]
        groups += [([index[x] for x in m['names']], [[at(x).x for x in r] for r in m['weight']]) for m in self.measured]
        which = [k for g, _ in groups for k in g]
        W, at_row = zeros(len(which), len(which)), 0
        for g, w in groups:
            for i in range(len(g)):
                for j in range(len(g)): W[at_row + i, at_row + j] = w[i][j]
            at_row += len(g)
        return which, W


# --- one instant -------------------------------------------------------------------------------------------------------

class Rows:
    """A = T A_ind: independent rows in file order, and how every row is made of them."""
    rounding = mpf(0)     # what rounding of the state may do to b of a unit row

    def __init__(self, A):
        m, n = A.rows, A.cols
        vectors = [[A[i, j] for j in range(n)] for i in range(m)]
        _, self.ind = orthonormal(vectors, n)
        self.A = rows_of(A, self.ind)
        self.T = scaled_product(A, pinv_full_row(self.A)) if self.ind else zeros(m, 0)
        for c, k in enumerate(self.ind):
            for j in range(len(self.ind)): self.T[k, j] = mpf(j == c)
        for i in range(m):
            share = [abs(self.T[i, j]) * norm(vectors[self.ind[j]]) for j in range(len(self.ind))]
            for j, s in enumerate(share):
                if s < max(share) * mpf(10)**-12: self.T[i, j] = mpf(0)

    def consistent(self, b, sizes):
        """Whether b = T b_ind, each difference against the terms of the rows that it is made of."""
        if not b: return True, []
        x = mul(pinv_full_row(self.A), [b[k] for k in self.ind]) if self.ind else [mpf(0)] * self.A.cols
        terms = [sizes[i] + sum((abs(p * y) for p, y in zip(self.row(i), x)), mpf(0)) for i in range(len(b))]
        good, differences = True, []
        for i in range(len(b)):
            d = b[i] - sum((self.T[i, j] * b[k] for j, k in enumerate(self.ind)), mpf(0))
            allowed = terms[i] + sum((abs(self.T[i, j]) * terms[k] for j, k in enumerate(self.ind)), mpf(0))
            differences.append(d)
            rounding = self.rounding * (norm(self.row(i)) or 1) + sum((abs(self.T[i, j]) * self.rounding * norm(self.row(k)) for j, k in enumerate(self.ind)), mpf(0))
            good = good and abs(d) <= CONSISTENT * allowed + rounding
        return good, differences

    def row(self, i): return tmul(self.A, [self.T[i, j] for j in range(len(self.ind))]) if self.ind else [mpf(0)] * self.A.cols


def brute_conflicts(A, b, sizes):
    found = []
    for k in range(1, A.rows + 1):
        for s in itertools.combinations(range(A.rows), k):
            if any(set(f) <= set(s) for f in found): continue
            if not Rows(rows_of(A, list(s))).consistent([b[i] for i in s], [sizes[i] for i in s])[0]: found.append(s)
    return found


def minimise(M, g, q_p, Z):
    """q̈ = q_p + Z y minimising ½ q̈ᵀMq̈ − q̈ᵀg, and whether it is unique, solvable, and the free directions."""
    if Z.cols == 0: return q_p, True, True, None, None
    Mhat = Z.T * M * Z
    top = max([abs(M[i, i]) for i in range(M.rows)] + [mpf(10)**-40])
    D = [mp.sqrt(Mhat[i, i]) if Mhat[i, i] > top * mpf(10)**-30 else mp.sqrt(top) for i in range(Z.cols)]
    S = matrix(Z.cols, Z.cols)
    for i in range(Z.cols):
        for j in range(Z.cols): S[i, j] = Mhat[i, j] / D[i] / D[j]
    e, U = symmetric_eigen(S)
    scale = max(map(abs, e))
    rhs = tmul(Z, add(g, [-x for x in mul(M, q_p)]))
    rhs = [x / d for x, d in zip(rhs, D)]
    y, free, bad = [mpf(0)] * Z.cols, [], mpf(0)
    gap = None
    for i, x in enumerate(e):
        c = sum((U[k, i] * rhs[k] for k in range(Z.cols)), mpf(0))
        if x > EXACT * max(scale, mpf(10)**-30) and scale > 0:
            for k in range(Z.cols): y[k] += U[k, i] * c / x
            gap = min(gap or x / scale, x / scale)
        else:
            free.append([sum(Z[r, k] * U[k, i] / D[k] for k in range(Z.cols)) for r in range(Z.rows)])
            bad = max(bad, abs(c))
    size = max(list(map(abs, g)) + [mpf(10)**-30])
    y = [a / d for a, d in zip(y, D)]
    return add(q_p, mul(Z, y)), not free, bad <= mpf(10)**-12 * size, free, gap


class Instant:
    def __init__(self, model, t, q, v, tiny=False):
        """tiny: rows of norm below 1e-14 are meant, not rounding of their own terms."""
        self.model = model
        t, q, v = mpf(t), [mpf(x) for x in q], [mpf(x) for x in v]
        M, Q, A, b, sizes = model.matrices(t, q, v)
        n = model.n
        for i in range(A.rows):
            if not tiny and norm([A[i, j] for j in range(n)]) < mpf(10)**-14:
                for j in range(n): A[i, j] = mpf(0)
        # Constraints alone, then what control adds to them. Rows of constraints come first.
        m = sum(not r['control'] for r in model.rows)
        A2, b2, sizes2 = rows_of(A, list(range(m, A.rows))), b[m:], sizes[m:]
        A, b, sizes = rows_of(A, list(range(m))), b[:m], sizes[:m]
        self.M, self.Q, self.A, self.b = M, Q, A, b
        names = [r['name'] for r in model.rows[:m]]
        Rows.rounding = mpf(0) if tiny else mpf(10)**-14 * max([mpf(1)] + [x * x for x in v])
        self.rows = rows = Rows(A)
        e_M = symmetric_eigen(M)[0]
        D = [mp.sqrt(abs(M[i, i])) or mpf(1) for i in range(n)]
        S = matrix(n, n)
        for i in range(n):
            for j in range(n): S[i, j] = M[i, j] / D[i] / D[j]
        e_S = symmetric_eigen(S)[0]
        self.indefinite = min(e_S) < -EXACT * max(map(abs, e_S))
        self.definite = min(e_S) > EXACT * max(map(abs, e_S))
        self.grey = [x for x in e_S if EXACT < abs(x) < mpf(10)**-11]
        out = self.out = {'rank': len(rows.ind), 'rows': m}
        if self.indefinite: return
        consistent, residual = rows.consistent(b, sizes)
        out['consistent'] = bool(consistent)
        out['redundant'] = [names[k] for k in range(m) if k not in rows.ind]
        out['depends'] = {names[k]: {names[rows.ind[j]]: rows.T[k, j] for j in range(len(rows.ind)) if rows.T[k, j] != 0}
                          for k in range(m) if k not in rows.ind}
        out['conflicts'] = [] if consistent or m > 14 else [[names[i] for i in s] for s in brute_conflicts(A, b, sizes)]
        which, W = model.weights(t, q, v)
        self.weighted = bool(which) and not consistent
        Vnull = null_basis(rows.A)
        # multipliers that are not unique: rows in the left null space of T
        unit = matrix(rows.T)
        for i in range(m):
            for j in range(len(rows.ind)): unit[i, j] /= norm(rows.row(i)) or mpf(1)
        left = null_basis(unit.T) if rows.ind else eye(m)
        undetermined = [k for k in range(m) if left.cols and norm([left[k, j] for j in range(left.cols)]) > mpf(10)**-12] if m else []
        out['multipliers_undetermined'] = [names[k] for k in undetermined]
        out['multipliers_unique'] = not out['multipliers_undetermined']

        hard = [k for k in range(m) if k not in which]
        if not self.weighted:
            q_p = mul(pinv_full_row(rows.A), mul(pinv_full_col(rows.T), b)) if rows.ind else [mpf(0)] * n
            Z = Vnull
        else:
            H = Rows(rows_of(A, hard))
            self.hard_consistent = H.consistent([b[k] for k in hard], [sizes[k] for k in hard])[0]
            q_h = mul(pinv_full_row(H.A), mul(pinv_full_col(H.T), [b[k] for k in hard])) if H.ind else [mpf(0)] * n
            Zh = null_basis(H.A) if H.ind else eye(n)
            root = power_of(W, mpf(1) / 2)
            Aw = rows_of(A, which)
            G = root * Aw * Zh if Zh.cols else zeros(len(which), 0)
            size = max([abs(x) for x in root * Aw] + [mpf(0)])
            for i in range(G.rows):
                for j in range(G.cols): G[i, j] = G[i, j] if abs(G[i, j]) > size * mpf(10)**-30 else mpf(0)
            target = mul(root, add([b[k] for k in which], [-x for x in mul(Aw, q_h)]))
            R = Rows(G.T) if G.cols else None       # columns of G by rank: G = R.A.T * R.T.T
            if Zh.cols and R.ind:
                Gp = pinv_full_col(R.A.T)            # full column rank
                y = mul(R.T * ((R.T.T * R.T)**-1), mul(Gp, target))
                q_p = add(q_h, mul(Zh, y))
                Z = Zh * null_basis(R.T.T)  if R.T.T.rows < Zh.cols else zeros(n, 0)
            else: q_p, Z = q_h, Zh
        self.Z = Z
        zero = [mpf(0)] * n
        ideal, unique, solvable, free, self.gap = minimise(M, Q, q_p, Z)
        names_q = model.q
        keyed = lambda v: {c: x for c, x in zip(names_q, v)}
        self.F = add(mul(M, ideal), [-x for x in Q])
        lam = self.multipliers(self.F)
        # C of the ideal case
        calls = {}
        if unique:
            calls = {'ideal': lambda c: Jet(self.F[names_q.index(c)]),
                     'multiplier': lambda c: Jet(lam[names.index(c)])}
        C = zero
        if model.nonideal and (unique or 'ideal(' not in str(model.d['nonideal'])):
            at = model.evaluator(t, q, v, calls)
            C = [at(model.nonideal[c]).x if c in model.nonideal else mpf(0) for c in names_q]
        self.C = C
        qdd, unique, solvable, free, _ = minimise(M, add(Q, C), q_p, Z)
        out['unique'], out['solvable'] = unique, bool(solvable)
        if not unique:
            size = max(max(map(abs, f)) for f in free)
            out['undetermined'] = [names_q[i] for i in range(n) if max(abs(f[i]) for f in free) > mpf(10)**-12 * size]
        out['unconstrained_acceleration'] = keyed(list(mp.lu_solve(M, matrix(Q)))) if self.definite else None
        if not unique or not (consistent or self.weighted and self.hard_consistent): return
        self.qdd = qdd
        if not self.weighted: self.cross_check(q_p)
        control = zero
        if A2.rows:
            if self.weighted: raise ValueError('control beside measured rows that contradict each other')
            control = self.control(model.evaluator(t, q, v), A2, b2, sizes2, q_p)
            if control is None: return
            qdd = self.qdd
        total = add(mul(M, qdd), [-x for x in Q])
        Qc = add(total, [-x for x in control])
        out['acceleration'], out['constraint_force'], out['control_force'] = keyed(qdd), keyed(Qc), keyed(control)
        # Ideal is what constraints would do with the control force among the given ones.
        given = add(Q, control)
        ideal = minimise(M, given, q_p, Z)[0]
        F = add(mul(M, ideal), [-x for x in given])
        if model.nonideal and ('ideal(' in str(model.d['nonideal']) or 'multiplier(' in str(model.d['nonideal'])) \
                and max(abs(x - y) for x, y in zip(F, self.F)) > mpf(10)**-25 * max(map(abs, F)):
            raise ValueError('C feels the control force: not here')
        lam = self.multipliers(F)
        out['ideal_force'] = keyed(F)
        out['nonideal_force'] = keyed(add(Qc, [-x for x in F]))
        out['multipliers'] = {names[k]: lam[k] for k in range(m)}
        out['gaussian'] = sum(x * y for x, y in zip(total, mp.lu_solve(M, matrix(total)))) if self.definite else None

    def control(self, at, A2, b2, sizes2, q_p):
        """The force of least cost beside the constraints, added to self.qdd; None where the requirements cannot be met.

        N = Z (ZᵀMZ)⁻¹ Zᵀ. In y, whose length is the cost, the change of q̈ is D y: without actuators D = Z L⁻ᵀ with ZᵀMZ = L Lᵀ, with
        them D = N E R^(−1/2); A₂ D y = r."""
        M, Z, n, model, out = self.M, self.Z, self.model.n, self.model, self.out
        asked = [r for r in model.rows if r['control']]
        out['requirements'] = {r['name']: {'error': r['error'], 'error_rate': r['error_rate'], 'met': True} for r in asked}
        r = add(b2, [-x for x in mul(A2, self.qdd)])
        Mhat = Z.T * M * Z if Z.cols else zeros(0, 0)
        inverse_root = power_of(Mhat, mpf(-1) / 2) if Z.cols else zeros(0, 0)
        N = Z * inverse_root * inverse_root * Z.T if Z.cols else zeros(n, n)
        if model.actuators:
            E = zeros(n, len(model.actuators))
            for k, a in enumerate(model.actuators.values()):
                work = at(a['on']) if 'on' in a else None
                for i, c in enumerate(model.q): E[i, k] = work.d(f'q{i:02}') if work else at(a['by'][c]).x if c in a['by'] else mpf(0)
            R = matrix([[at(x).x for x in row] for row in model.cost])
            root = power_of(R, mpf(-1) / 2)
            D = N * E * root
        else: D = Z * inverse_root if Z.cols else zeros(n, 0)
        G = A2 * D if D.cols else zeros(A2.rows, 0)
        top = max([norm([D[i, j] for j in range(D.cols)]) for i in range(n)] + [mpf(0)])
        for i in range(G.rows):       # what constraints leave no room for
            if norm([G[i, j] for j in range(G.cols)]) <= mpf(10)**-14 * top * norm([A2[i, j] for j in range(n)]):
                for j in range(G.cols): G[i, j] = mpf(0)
        rows = Rows(G)
        sizes2 = [s + abs(x) for s, x in zip(sizes2, r)]
        if not rows.consistent(r, sizes2)[0]:
            for k in {k for s in brute_conflicts(G, r, sizes2) for k in s}: out['requirements'][asked[k]['name']]['met'] = False
            return None
        solve = lambda right: mul(pinv_full_row(rows.A), [right[k] for k in rows.ind]) if rows.ind else [mpf(0)] * D.cols
        y = solve(r)
        delta = mul(D, y)
        if model.actuators:
            tau = mul(root, y)
            out['actuators'], out['cost'] = dict(zip(model.actuators, tau)), sum(x * x for x in y)
            u = mul(E, tau)
        else:
            u = mul(M, delta)
            if model.free:
                z = [at(model.free[c]).x if c in model.free else mpf(0) for c in model.q]
                felt = mul(N, z)
                across = mul(D, solve(mul(A2, felt)))
                u = add(u, z, [-x for x in mul(M, across)])
                delta = add(delta, felt, [-x for x in across])
            out['cost'] = sum(x * w for x, w in zip(delta, mul(M, delta)))
            if self.definite and not model.free: self.check_control(A2, r, u)
        self.qdd = add(self.qdd, delta)
        return u

    def check_control(self, A2, r, u):
        """u = M^(1/2) (B₂P)⁺ r with P = I − B₁⁺B₁, by singular values."""
        n, ind = self.model.n, self.rows
        Mi, Mh = power_of(self.M, mpf(-1) / 2), power_of(self.M, mpf(1) / 2)
        B1 = ind.A * Mi if ind.ind else None
        P = eye(n) - (pinv_full_row(B1) * B1 if ind.ind else zeros(n, n))
        U, S, V = mp.svd_r(A2 * Mi * P)
        top = max(list(S) + [mpf(0)])
        y = [mpf(0)] * n
        for i in range(S.rows):
            if S[i] <= mpf(10)**-12 * norm([x for x in A2 * Mi]): continue
            c = sum(U[k, i] * r[k] for k in range(len(r))) / S[i]
            for k in range(n): y[k] += V[i, k] * c
        other = mul(Mh, y)
        off = max(abs(a - b) for a, b in zip(other, u)) / max(list(map(abs, u)) + [mpf(10)**-30])
        if top > 0 and off > mpf(10)**-14: print('  ORACLE FORMS OF CONTROL DISAGREE', mp.nstr(off, 3))

    def multipliers(self, F):
        """Least norm λ with Aᵀλ = F."""
        r = self.rows
        if not r.ind: return [mpf(0)] * self.A.rows
        mu = mul(pinv_full_col(r.A.T), F)
        return mul(r.T * ((r.T.T * r.T)**-1), mu)

    def cross_check(self, q_p):
        """F4 always, F1 where M > 0; they must agree with F5 to 1e-25 of the size (scaled by the condition)."""
        n, M, r = self.model.n, self.M, self.rows
        g = add(self.Q, self.C)
        P = eye(n) - (pinv_full_row(r.A) * r.A if r.ind else zeros(n, n))
        Ms = P * M * P
        e, U = symmetric_eigen((Ms + Ms.T) / 2)
        top = max(map(abs, e)) or mpf(1)
        delta = add(g, [-x for x in mul(M, q_p)])
        x4 = list(q_p)
        small = sorted(map(abs, e))
        k = len(r.ind)     # N(M_s) is R(Aᵀ) exactly where the acceleration is unique
        keep = sorted(range(n), key=lambda i: -abs(e[i]))[:n - k]
        for i in keep:
            c = sum(U[a, i] * delta[a] for a in range(n)) / e[i]
            for a in range(n): x4[a] += U[a, i] * c
        size = max(list(map(abs, self.qdd)) + [mpf(10)**-30])
        self.agree = max(abs(a - b) for a, b in zip(x4, self.qdd)) / size
        if self.definite:
            Mi = power_of(M, mpf(-1) / 2)
            a = list(mp.lu_solve(M, matrix(self.Q)))
            z = mul(Mi, self.C)
            if r.ind:
                B = r.A * Mi
                Bp = pinv_full_row(B)
                b = mul(pinv_full_col(r.T), self.b)
                err = add(b, [-x for x in mul(r.A, a)])
                x1 = add(a, mul(Mi, mul(Bp, err)), mul(Mi, add(z, [-x for x in mul(Bp, mul(B, z))])))
            else: x1 = add(a, mul(Mi, z))
            self.agree = max(self.agree, max(abs(a - b) for a, b in zip(x1, self.qdd)) / size)
        if self.agree > mpf(10)**-16: print('  ORACLE FORMS DISAGREE', mp.nstr(self.agree, 3))


def plain(x):
    """For JSON: doubles; the rounding of 50 digits is nothing."""
    if isinstance(x, dict): return {k: plain(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)): return [plain(v) for v in x]
    return (float(x) if abs(x) > mpf(10)**-38 else 0.0) if isinstance(x, mpf) else x
