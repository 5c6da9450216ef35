"""Initial value problems to 20 digits and more: extrapolation of the midpoint rule (Gragg, Bulirsch, Stoer) in mpmath.

Every end is computed twice, with different order and tolerance; the difference is the accuracy that is claimed."""
from mpmath import mp, mpf

mp.dps = 40


def midpoint(f, t, y, h, n):
    """n midpoint steps over [t, t + h]; for even n the error has an expansion in (h/n)^2."""
    d = h / n
    before, now = y, [a + d * b for a, b in zip(y, f(t, y))]
    for i in range(1, n):
        slope = f(t + i * d, now)
        before, now = now, [a + 2 * d * b for a, b in zip(before, slope)]
    return now


def step(f, t, y, h, columns):
    """One extrapolated step of order 2*columns: the result and how far it is from the one of the column before."""
    row = []
    for j in range(1, columns + 1):
        new = [midpoint(f, t, y, h, 2 * j)]
        for k in range(1, j):
            factor = 1 / (mpf(j) ** 2 / (j - k) ** 2 - 1)
            new.append([a + (a - b) * factor for a, b in zip(new[k - 1], row[k - 1])])
        row = new
    return row[-1], max(abs(a - b) / max(1, abs(a)) for a, b in zip(row[-1], row[-2]))


def solve(f, y, begin, end, tolerance=1e-24, columns=11, longest=None, watch=None):
    """y(end) of y' = f(t, y). watch = {name: g(t, y)} collects the times of the sign changes of g, as (time, name, up)."""
    t, y, end, found = mpf(begin), [mpf(a) for a in y], mpf(end), []
    h = (end - t) / 50
    longest = mpf(longest) if longest else end - t
    while t < end:
        h = min(h, longest)
        last = t + h * mpf('1.001') >= end
        size = end - t if last else h
        new, error = step(f, t, y, size, columns)
        if error <= tolerance:
            for name, g in (watch or {}).items():
                a, b = g(t, y), g(t + size, new)
                if a != 0 and (a < 0) != (b < 0):
                    found.append((root(f, g, t, y, size, columns, a, b), name, bool(a < 0)))
            t, y = (end if last else t + size), new
        h = size * min(mpf(3), max(mpf('0.1'), mpf('0.8') * (mpf(tolerance) / max(error, mpf(10) ** -60)) ** (mpf(1) / (2 * columns - 1))))
    return (y, sorted(found)) if watch is not None else y


def root(f, g, t, y, size, columns, ga, gb):
    """The time in [t, t + size] at which g changes its sign: Illinois rule, each point by a step of its own."""
    a, b = mpf(0), size
    for _ in range(200):
        c = (a * gb - b * ga) / (gb - ga)
        gc = g(t + c, step(f, t, y, c, columns)[0])
        if gc == 0 or abs(gc) < mpf(10) ** -32 or abs(b - a) < mpf(10) ** -30:
            return t + c
        if (gc < 0) != (gb < 0):
            a, ga = b, gb
        else:
            ga /= 2
        b, gb = c, gc
    raise ArithmeticError('no convergence to the event')


def twice(f, y, begin, end, watch=None, tolerance=1e-24, longest=None):
    """The end and the events, with the difference between two computations of the end."""
    first = solve(f, y, begin, end, tolerance, 11, longest, watch if watch is not None else {})
    second = solve(f, y, begin, end, tolerance * 1e3, 9, longest, {})
    accuracy = max(abs(a - b) / max(1, abs(a)) for a, b in zip(first[0], second[0]))
    if accuracy > 1e-14:
        raise ArithmeticError(f'two computations of the end differ by {mp.nstr(accuracy, 3)}')
    return first[0], first[1], accuracy


def hybrid(modes, mode, y, begin, end, columns=11, tolerance=1e-24, longest=0.05):
    """Piece by piece: modes[name] = (f, {guard g(t, y): next mode}); a mode ends where one of its guards changes its sign.
    The end, the mode there, and the switches as (time, next mode)."""
    t, y, end, switches = mpf(begin), [mpf(a) for a in y], mpf(end), []
    while t < end:
        f, guards = modes[mode]
        size = min(mpf(longest), end - t)
        new, error = step(f, t, y, size, columns)
        while error > tolerance:
            size /= 2
            new, error = step(f, t, y, size, columns)
        first = None
        for g, following in guards.items():
            a, b = g(t, y), g(t + size, new)
            if abs(a) > 1e-20 and (a < 0) != (b < 0):
                c = root(f, g, t, y, size, columns, a, b)
                if first is None or c < first[0]:
                    first = (c, following)
        if first:
            y, t, mode = step(f, t, y, first[0] - t, columns)[0], first[0], first[1]
            switches.append(first)
        else:
            y, t = new, t + size
    return y, mode, switches
