"""Andrews' squeezer and the car axis, the models of models/: the one index-reduced, the other in two free coordinates."""
from pathlib import Path

from mpmath import asin, mpf

from case import Text, motion, solved, with_run
from reduction import IndexReduced, Minimal, T, function, solve_linear

MODELS = Path(__file__).parent.parent.parent / 'models'


def on_the_constraints(system, q, free):
    """The start moved onto the holonomic rows by Newton's method in all coordinates but `free`."""
    n, m = system.n, system.m
    model = system.model
    phi = function([T, *model.q], model.values(list(model.rows.values())))
    move = [i for i in range(n) if model.q[i].name not in free]
    for _ in range(6):
        A = system.parts(mpf(0), q + [mpf(0)] * n)[2]
        off = phi(mpf(0), *q)
        d = solve_linear([[A[j][i] for i in move] for j in range(m)], [-v for v in off])
        for i, v in zip(move, d):
            q[i] += v
    assert max(map(abs, phi(mpf(0), *q))) < mpf(10) ** -36
    return q


@motion
def squeezer():
    text = (MODELS / 'squeezer.toml').read_text()
    t = Text(text)
    system = IndexReduced(t)
    q = on_the_constraints(system, t.start('position'), ('th',))
    return solved('squeezer', text, system, q + t.start('velocity'), 'index-reduced equations', 'holonomic benchmark', relative=1e-12, tolerance=1e-20)


@motion
def car_axis():
    text = (MODELS / 'car_axis.toml').read_text()
    places = {'xl': '-r*y_road', 'yl': 'r*x_road', 'xr': '-r*y_road + cos(a)', 'yr': 'r*x_road + sin(a)'}
    case = solved('car_axis', text, Minimal(text, ['r', 'a'], places), [0.5, 0, 0, 0], 'Lagrange in the length of the left spring and the slope of the axis',
                  'holonomic rheonomic benchmark', relative=1e-12)
    return with_run(case, tolerance='1e-14')


@motion
def pendulum_model():
    text = (MODELS / 'pendulum.toml').read_text() + '\n[run]\nto = 10.0\n'
    places = {'x': 'L*sin(a)', 'y': '-L*cos(a)'}
    return solved('pendulum_model', text, Minimal(text, ['a'], places), [asin(mpf('0.6')), 1], 'the angle', 'holonomic benchmark')


@motion
def governor():
    """Both arms at the same angle a: h = 2 s cos a."""
    text = (MODELS.parent / 'tests' / 'cases' / 'flyball_governor_rigid.toml').read_text()
    t = Text(text)
    places = {'a1': 'a', 'a2': 'a', 'h': '2*s*cos(a)'}
    return solved('governor', text, Minimal(text, ['ps', 'a'], places), [0, t.start('position')[1], 6, 0], 'Lagrange in the angle of the shaft and of the arms', 'holonomic benchmark')
