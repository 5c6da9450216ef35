#!/usr/bin/env python3
"""The double pendulum with SymPy and SciPy, from the Lagrangian to ten seconds of motion: what a whole process takes.

usage: sympy_pendulum.py minimal|cartesian RTOL

Minimal: two angles. Cartesian: four coordinates and two constraints, as mechanician's model has them. Prints one line of JSON."""
import json
import sys

import numpy as np
import sympy as sm
from scipy.integrate import solve_ivp
from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols

m1, m2, l1, l2, g = 1.0, 1.5, 1.0, 0.8, 9.81
a0, b0 = 0.3, 0.9


def minimal():
    a, b = dynamicsymbols('a b')
    t = dynamicsymbols._t
    u, v = a.diff(t), b.diff(t)
    kinetic = m1 * l1**2 * u**2 / 2 + m2 * (l1**2 * u**2 + l2**2 * v**2 + 2 * l1 * l2 * u * v * sm.cos(a - b)) / 2
    potential = -(m1 + m2) * g * l1 * sm.cos(a) - m2 * g * l2 * sm.cos(b)

    def energy(y):
        a, b, u, v = y
        return (m1 * l1**2 * u**2 / 2 + m2 * (l1**2 * u**2 + l2**2 * v**2 + 2 * l1 * l2 * u * v * np.cos(a - b)) / 2
                - (m1 + m2) * g * l1 * np.cos(a) - m2 * g * l2 * np.cos(b))

    def end(y):
        return [l1 * np.sin(y[0]), -l1 * np.cos(y[0]), l1 * np.sin(y[0]) + l2 * np.sin(y[1]), -l1 * np.cos(y[0]) - l2 * np.cos(y[1])]
    return LagrangesMethod(kinetic - potential, [a, b]), [a0, b0, 0, 0], energy, end


def cartesian():
    x = dynamicsymbols('x1 y1 x2 y2')
    t = dynamicsymbols._t
    v = [s.diff(t) for s in x]
    lagrangian = m1 * (v[0]**2 + v[1]**2) / 2 + m2 * (v[2]**2 + v[3]**2) / 2 - m1 * g * x[1] - m2 * g * x[3]
    rods = [x[0]**2 + x[1]**2 - l1**2, (x[2] - x[0])**2 + (x[3] - x[1])**2 - l2**2]
    p = [l1 * np.sin(a0), -l1 * np.cos(a0)]

    def energy(y):
        return m1 * (y[4]**2 + y[5]**2) / 2 + m2 * (y[6]**2 + y[7]**2) / 2 + g * (m1 * y[1] + m2 * y[3])
    start = [*p, p[0] + l2 * np.sin(b0), p[1] - l2 * np.cos(b0), 0, 0, 0, 0]
    return LagrangesMethod(lagrangian, x, hol_coneqs=rods), start, energy, lambda y: list(y[:4])


def main():
    method, start, energy, end = {'minimal': minimal, 'cartesian': cartesian}[sys.argv[1]]()
    rtol = float(sys.argv[2])
    method.form_lagranges_equations()
    q = list(method.q)
    n = len(q)
    rates = [s.diff(dynamicsymbols._t) for s in q]
    positions, velocities = [sm.Dummy() for _ in q], [sm.Dummy() for _ in q]
    named = [e.subs(dict(zip(rates, velocities))).subs(dict(zip(q, positions))) for e in (method.mass_matrix_full, method.forcing_full)]
    both = sm.lambdify([positions + velocities], named, cse=True)

    def rate(_, y):
        mass, force = both(y)
        return np.linalg.solve(mass, np.asarray(force).ravel())[:2 * n]
    motion = solve_ivp(rate, (0, 10), start, method='DOP853', rtol=rtol, atol=1e-2 * rtol)
    energies = [energy(y) for y in motion.y.T]
    print(json.dumps({'variant': ' '.join(sys.argv[1:]), 'error': float(np.max(np.abs(np.array(energies) - energies[0]))),
                      'end': [float(x) for x in end(motion.y[:, -1])], 'evaluations': motion.nfev}))


main()
