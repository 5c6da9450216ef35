#!/usr/bin/env python3
"""Writes where the motions of tests/motions end whose masses are singular: boxes in quaternions, a mass matrix of rank two.

Shares no code with the project. Boxes by Euler's equations with the rotation matrix in the place of the quaternion, the mass matrix of
rank two in the two coordinates that are left; all by extrapolated steps of fourth order in 34 digits, twice.

    tools/generate_body_motions.py
"""
import json
import pathlib
import re
from decimal import Decimal as D, getcontext

getcontext().prec = 34
folder = pathlib.Path(__file__).resolve().parent.parent / 'tests' / 'motions'


def step(f, y, h):
    a = f(y)
    b = f([p + h / 2 * q for p, q in zip(y, a)])
    c = f([p + h / 2 * q for p, q in zip(y, b)])
    d = f([p + h * q for p, q in zip(y, c)])
    return [p + h / 6 * (q + 2 * r + 2 * s + t) for p, q, r, s, t in zip(y, a, b, c, d)]


def move(f, y, time, steps):
    """Errors of h⁴, h⁵ and h⁶ are taken off."""
    ends = []
    for m in (1, 2, 4, 8):
        end = y
        for _ in range(steps * m): end = step(f, end, time / (steps * m))
        ends.append(end)
    for p in (4, 5, 6):
        ends = [[(2**p * b - a) / (2**p - 1) for a, b in zip(ends[i], ends[i + 1])] for i in range(len(ends) - 1)]
    return ends[0]


def move_twice(f, y, time, steps):
    rough, fine = move(f, y, time, steps), move(f, y, time, steps * 3 // 2)
    return fine, max(abs(a - b) for a, b in zip(rough, fine))


def box(name):
    text = (folder / f'{name}.toml').read_text()
    numbers = lambda key: [D(re.search(key + r' = \{.*?e%d = ([-0-9.e]+)' % i, text).group(1)) for i in range(4)]
    e, d = numbers('position'), numbers('velocity')
    size = sum(x * x for x in e).sqrt()
    e = [x / size for x in e]
    along = sum(x * y for x, y in zip(e, d))
    d = [y - x * along for x, y in zip(e, d)]
    e0, e1, e2, e3 = e
    w = [2 * (e0 * d[1] - e1 * d[0] + e3 * d[2] - e2 * d[3]), 2 * (e0 * d[2] - e2 * d[0] + e1 * d[3] - e3 * d[1]),
         2 * (e0 * d[3] - e3 * d[0] + e2 * d[1] - e1 * d[2])]
    R = [e0 * e0 + e1 * e1 - e2 * e2 - e3 * e3, 2 * (e1 * e2 - e0 * e3), 2 * (e1 * e3 + e0 * e2),
         2 * (e1 * e2 + e0 * e3), e0 * e0 - e1 * e1 + e2 * e2 - e3 * e3, 2 * (e2 * e3 - e0 * e1),
         2 * (e1 * e3 - e0 * e2), 2 * (e2 * e3 + e0 * e1), e0 * e0 - e1 * e1 - e2 * e2 + e3 * e3]
    J, weight = [D('0.03'), D('0.05'), D('0.06')], D(2) * D('9.81') * D('0.1')

    def rate(y):
        R, w = y[:9], y[9:]
        torque = [weight * R[7], -weight * R[6], D(0)]
        spin = [(torque[0] - (J[2] - J[1]) * w[1] * w[2]) / J[0], (torque[1] - (J[0] - J[2]) * w[0] * w[2]) / J[1],
                (torque[2] - (J[1] - J[0]) * w[0] * w[1]) / J[2]]
        turn = []
        for a, b, c in (R[0:3], R[3:6], R[6:9]): turn += [b * w[2] - c * w[1], c * w[0] - a * w[2], a * w[1] - b * w[0]]
        return turn + spin

    end, accuracy = move_twice(rate, R + w, D('0.1'), 40)
    R, w = end[:9], end[9:]
    # The largest of the four from the diagonal, the others from it.
    square = [(1 + a * R[0] + b * R[4] + c * R[8]) / 4 for a, b, c in ((1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1))]
    i = max(range(4), key=lambda k: square[k])
    other = [[0, R[7] - R[5], R[2] - R[6], R[3] - R[1]], [R[7] - R[5], 0, R[1] + R[3], R[2] + R[6]],
             [R[2] - R[6], R[1] + R[3], 0, R[5] + R[7]], [R[3] - R[1], R[2] + R[6], R[5] + R[7], 0]][i]
    root = square[i].sqrt()
    q = [root if k == i else other[k] / (4 * root) for k in range(4)]
    if sum(a * b for a, b in zip(q, e)) < 0: q = [-x for x in q]
    a, b, c, d = q
    x, y, z = w
    v = [-(b * x + c * y + d * z) / 2, (a * x + c * z - d * y) / 2, (a * y + d * x - b * z) / 2, (a * z + b * y - c * x) / 2]
    names = ['e0', 'e1', 'e2', 'e3']
    write(name, "Euler's equations with the rotation matrix, in 34 digits", 0.1, zip(names, q), zip(names, v), accuracy)


def rank_two(name):
    a, b, c = D('0.3'), D('0.7'), D('0.2')
    first, second = [a - c, b - c], [c - b, -a - b]  # z' = −x' − y'
    M = [[first[i] * first[j] + second[i] * second[j] for j in range(2)] for i in range(2)]
    det = M[0][0] * M[1][1] - M[0][1]**2

    def rate(s):
        force = [-2 * s[0], -D('9.81')]
        return [s[2], s[3], (M[1][1] * force[0] - M[0][1] * force[1]) / det, (M[0][0] * force[1] - M[0][1] * force[0]) / det]

    (x, y, u, v), accuracy = move_twice(rate, [D('0.3'), D('0.3'), D(0), D(0)], D(1), 1000)
    write(name, 'x and y alone, whose mass matrix can be inverted, in 34 digits', 1.0, [('x', x), ('y', y), ('z', 1 - x - y)],
          [('x', u), ('y', v), ('z', -u - v)], accuracy)


def write(name, source, time, position, velocity, accuracy):
    title = re.search(r'title = "(.*)"', (folder / f'{name}.toml').read_text()).group(1)
    case = {'title': title, 'source': source, 'tags': ['holonomic'], 'tolerance': {'trajectory_rel': 1e-9},
            'end': {'time': time, 'position': {k: float(x) for k, x in position},
                    'velocity': {k: float(x) for k, x in velocity}, 'verified_accuracy': float('%.0e' % accuracy)}}
    (folder / f'{name}.expected.json').write_text(json.dumps(case, indent=1) + '\n')


if __name__ == '__main__':
    box('box_in_quaternions_tilted')
    box('box_in_quaternions_flat')
    rank_two('mass_of_rank_two')
