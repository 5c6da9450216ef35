"""Constraints on velocities, linear and not; forces that are not ideal; control; measured rows that contradict each other."""
from pathlib import Path

from mpmath import cos, exp, mp, mpf, sin, sqrt

import precise
from case import Case, Text, closed, expected, motion, residual, solved
from model_text import model
from reduction import IndexReduced

G = mpf(9.81)


def by_hand(name, text, f, y0, place, source, tags, *, relative=1e-9, tolerance=1e-24):
    """A case whose oracle is an equation written out by hand: place(t, y) gives positions and velocities."""
    t = Text(text)
    begin, to = mpf(t.toml['start'].get('time', 0)), mpf(t.toml['run']['to'])
    for got, want in zip([v for part in place(begin, [mpf(v) for v in y0]) for v in part], t.start('position') + t.start('velocity')):
        assert abs(got - want) < 1e-15 * max(1, abs(want)), f'{name}: the start is {got}, not {want}'
    y, _, accuracy = precise.twice(f, [mpf(v) for v in y0], begin, to, tolerance=tolerance)
    q, qd = place(to, y)
    assert residual(t, to, q, qd) < 1e-14, name
    return Case(name, text, source, tags, expected(t, to, q, qd, accuracy, relative))


@motion
def sleighs():
    # Chaplygin: blade under a point at distance d behind the centre; v along the blade, w turning.
    m, J, d = mpf(2), mpf('0.5'), mpf('0.3')
    text = model('Sleigh on a blade behind its centre', 'x y a', kinetic="2*((x' - 0.3*sin(a)*a')^2 + (y' + 0.3*cos(a)*a')^2)/2 + 0.5*a'^2/2",
                 constraints={'blade': "x'*sin(a) = y'*cos(a)"}, position={'a': 0.4}, velocity={'x': '1.5*cos(0.4)', 'y': '1.5*sin(0.4)', 'a': 2}, to=5.0)
    f = lambda t, s: [s[3] * cos(s[2]), s[3] * sin(s[2]), s[4], d * s[4] ** 2, -m * d * s[3] * s[4] / (J + m * d * d)]  # noqa: E731
    place = lambda t, s: ([s[0], s[1], s[2]], [s[3] * cos(s[2]), s[3] * sin(s[2]), s[4]])  # noqa: E731
    result = [by_hand('sleigh', text, f, [0, 0, 0.4, 1.5, 2], place, "v' = d w², w' = -m d v w/(J + m d²)", 'nonholonomic')]
    twice = model('Sleigh on two blades on one line and the blade stated again', 'x y a', kinetic="2*(x'^2 + y'^2)/2 + 0.5*a'^2/2", potential='2*9.81*0.5*x',
                  constraints={'blade': "x'*sin(a) = y'*cos(a)", 'scaled': "100*(x'*sin(a) - y'*cos(a))*(2 + sin(x)) = 0", 'tangent': "x'*tan(a) = y'"}, velocity={'a': 1.5}, to=0.9)
    # a = w t; along the blade v' = -g/2 cos a.
    w, k, t = mpf('1.5'), G / 2, mpf('0.9')
    v = lambda t: -k / w * sin(w * t)  # noqa: E731
    x, y = -k / w ** 2 * sin(w * t) ** 2 / 2, mp.quad(lambda u: v(u) * sin(w * u), [0, t])
    result.append(closed('sleigh_on_slope', twice, ([x, y, w * t], [v(t) * cos(w * t), v(t) * sin(w * t), w]), 'the angle is 1.5 t; two quadratures', 'nonholonomic redundant'))
    return result


@motion
def rolling_ball():
    """A ball on a turning table moves in a circle: the centre in closed form, the attitude in quaternions by quadrature of w."""
    R, W, k = mpf('0.2'), mpf(3), mpf(2) / 5
    omega = {'W1': "2*(e0*e1' - e1*e0' - e3*e2' + e2*e3')", 'W2': "2*(e0*e2' - e2*e0' - e1*e3' + e3*e1')", 'W3': "2*(e0*e3' - e3*e0' - e2*e1' + e1*e2')"}  # along fixed axes
    text = model('A ball on a table that turns', 'x y e0 e1 e2 e3', define=omega, kinetic="0.7*(x'^2 + y'^2)/2 + 0.7*0.4*0.04*(W1^2 + W2^2 + W3^2)/2",
                 constraints={'unit': 'e0^2 + e1^2 + e2^2 + e3^2 = 1', 'along': "x' + 3*y = 0.2*W2", 'across': "y' - 3*x = -0.2*W1"},
                 position={'x': 0.3, 'y': 0.1, 'e0': 1}, velocity={'x': 0.5, 'e1': '(3*0.3)/0.4', 'e2': '(0.5 + 0.3)/0.4', 'e3': 1}, to=3.0)
    rate = W * k / (1 + k)  # v' = rate * (z × v)
    v0, c0 = (mpf('0.5'), mpf(0)), (mpf(0.3), mpf(0.1))
    v = lambda t: (v0[0] * cos(rate * t) - v0[1] * sin(rate * t), v0[0] * sin(rate * t) + v0[1] * cos(rate * t))  # noqa: E731
    at = lambda t: (c0[0] + (v0[0] * sin(rate * t) - v0[1] * (1 - cos(rate * t))) / rate, c0[1] + (v0[0] * (1 - cos(rate * t)) + v0[1] * sin(rate * t)) / rate)  # noqa: E731

    def turning(t):
        (x, y), (vx, vy) = at(t), v(t)
        return (3 * x - vy) / R, (vx + 3 * y) / R, mpf(2)

    def rates(t, e):
        w1, w2, w3 = turning(t)
        return [(-w1 * e[1] - w2 * e[2] - w3 * e[3]) / 2, (w1 * e[0] + w2 * e[3] - w3 * e[2]) / 2, (w2 * e[0] + w3 * e[1] - w1 * e[3]) / 2, (w3 * e[0] + w1 * e[2] - w2 * e[1]) / 2]

    return by_hand('ball_on_turning_table', text, rates, [1, 0, 0, 0], lambda t, e: ([*at(t), *e], [*v(t), *rates(t, e)]), 'the centre moves in a circle with 2/7 of the rate of the table',
                   'nonholonomic acatastatic quaternion massless')


@motion
def rolling_disk():
    text = (Path(__file__).parent.parent.parent / 'models' / 'rolling_disk.toml').read_text() + '\n[run]\nto = 2.0\n'
    t = Text(text)
    return solved('rolling_disk', text, IndexReduced(t), t.start('position') + t.start('velocity'), 'index-reduced equations', 'nonholonomic', tolerance=1e-21)


@motion
def appell_hamel():
    result = []
    # z'² = a² (x'² + y'²) under gravity alone: the heading stays, along it s'' = -a g/(1 + a²).
    text = model("Appell and Hamel's machine", 'x y z', kinetic="1.7*(x'^2 + y'^2 + z'^2)/2", potential='1.7*9.81*z', constraints={'machine': "z'^2 = 0.25*(x'^2 + y'^2)"},
                 velocity={'x': 3, 'y': 4, 'z': 2.5}, to=1.0)
    s, sd = 5 - mpf('0.5') * G / mpf('1.25') / 2, 5 - mpf('0.5') * G / mpf('1.25')
    h = (mpf(3) / 5, mpf(4) / 5)
    result.append(closed('appell_hamel_fall', text, ([h[0] * s, h[1] * s, s / 2], [h[0] * sd, h[1] * sd, sd / 2]), 'uniform along a straight line', 'nonholonomic nonlinear'))
    text = model("Appell and Hamel's machine with springs and unequal masses", 'x y z', kinetic="(x'^2 + 2*y'^2 + 3*z'^2)/2", potential='4*x^2 + y^2 + 3*9.81*z',
                 constraints={'machine': "z'^2 = 0.25*(x'^2 + y'^2)"}, position={'x': 0.2}, velocity={'x': 3, 'y': 4, 'z': 2.5}, to=0.4)
    t = Text(text)
    result.append(solved('appell_hamel_springs', text, IndexReduced(t), t.start('position') + t.start('velocity'), 'index-reduced equations', 'nonholonomic nonlinear'))
    text = model("Appell and Hamel's machine, stated as a root and squared again", 'x y z', kinetic="(x'^2 + 2*y'^2 + 3*z'^2)/2", potential='4*x^2 + y^2 + 3*9.81*z',
                 constraints={'root': "z' = 0.5*sqrt(x'^2 + y'^2)", 'machine': "z'^2 = 0.25*(x'^2 + y'^2)", 'fourth': "(z'^2 - 0.25*(x'^2 + y'^2))^2 = 0"}, position={'x': 0.2},
                 velocity={'x': 3, 'y': 4, 'z': 2.5}, to=0.4)
    result.append(solved('appell_hamel_redundant', text, IndexReduced(t), t.start('position') + t.start('velocity'), 'index-reduced equations of one row', 'nonholonomic nonlinear redundant'))

    # Speed prescribed, v = 2 + t: in the vertical plane the direction obeys v θ' = -g cos θ.
    text = model('A particle whose speed is prescribed', 'x y', kinetic="3*(x'^2 + y'^2)/2", potential='3*9.81*y', constraints={'speed': "x'^2 + y'^2 = (2 + t)^2"},
                 velocity={'x': '2*cos(1)', 'y': '2*sin(1)'}, to=2.0)
    f = lambda t, y: [(2 + t) * cos(y[2]), (2 + t) * sin(y[2]), -G * cos(y[2]) / (2 + t)]  # noqa: E731
    result.append(by_hand('speed_prescribed', text, f, [0, 0, 1], lambda t, y: (y[:2], [(2 + t) * cos(y[2]), (2 + t) * sin(y[2])]), "v θ' = -g cos θ", 'nonholonomic nonlinear rheonomic'))

    # Product of velocities: x' y' = 1 without forces. Gauss: with u = log x', x'' = x' u', y'' = -u'/x': no force along: u' = 0.
    text = model('The product of two velocities', 'x y', kinetic="(x'^2 + y'^2)/2", force={'x': '-x', 'y': '0.5'}, constraints={'product': "x'*y' = 1"}, velocity={'x': 2, 'y': 0.5}, to=1.5)
    f = lambda t, y: [exp(y[2]), exp(-y[2]), (-y[0] * exp(y[2]) - mpf('0.5') * exp(-y[2])) / (exp(2 * y[2]) + exp(-2 * y[2]))]  # noqa: E731
    result.append(by_hand('product_of_velocities', text, f, [0, 0, mp.log(2)], lambda t, y: (y[:2], [exp(y[2]), exp(-y[2])]), "Gauss's principle in u = log x'", 'nonholonomic nonlinear'))

    # Affine: a pursuing boat on a river; heading towards a moving point as a linear row with time.
    text = model('A row that is linear with time in it', 'x y', kinetic="(x'^2 + y'^2)/2", potential='x^2/2', constraints={'pursuit': "y'*(x - 3) = x'*(y - t) + 0.5*(x - 3)*cos(t)"},
                 position={'y': 1}, velocity={'x': 1, 'y': '0.5 - 1/3'}, to=2.0)
    t = Text(text)
    result.append(solved('pursuit', text, IndexReduced(t), t.start('position') + t.start('velocity'), 'index-reduced equations', 'nonholonomic acatastatic rheonomic'))

    # A row at the level of accelerations, used as it stands.
    text = model('A servo stated in accelerations', 'x y', kinetic="(x'^2 + y'^2)/2 + x'*y'/4", constraints={'servo': "x'' + 2*x' + 5*x = 0"}, position={'x': 1}, velocity={'y': 1}, to=3.0)
    # x = e^{-t}(cos 2t + sin 2t/2); y'' = -x''/4.
    t = mpf(3)
    x = lambda t: exp(-t) * (cos(2 * t) + sin(2 * t) / 2)  # noqa: E731
    result.append(closed('servo', text, ([x(t), t - (x(t) - 1) / 4], [mp.diff(x, t), 1 - mp.diff(x, t) / 4]), 'a damped oscillator', 'acceleration'))
    return result


# --- not ideal ---------------------------------------------------------------------------------------------------------


@motion
def friction():
    result = []
    # Block sliding down a slope with Coulomb friction, written with ideal(): constant acceleration.
    text = model('A block that slides down a rough slope', 'x y', kinetic="2*(x'^2 + y'^2)/2", potential='2*9.81*y', constraints={'slope': 'y = -x/2'},
                 nonideal={'x': "-0.2*hypot(ideal(x), ideal(y))*x'/hypot(x', y')", 'y': "-0.2*hypot(ideal(x), ideal(y))*y'/hypot(x', y')"}, velocity={'x': 1, 'y': -0.5}, to=2.0)
    c, s = 2 / sqrt(mpf(5)), 1 / sqrt(mpf(5))
    a = G * (s - mpf('0.2') * c) * c
    x, v = 2 + a * 2, 1 + a * 2
    result.append(closed('rough_slope', text, ([x, -x / 2], [v, -v / 2]), 'constant acceleration', 'nonideal'))

    # Bead on a rough hoop, fast enough that the hoop always presses inwards: R a'' = -g sin a - mu (R a'^2 + g cos a).
    mu = mpf('0.1')
    text = model('A bead on a rough hoop', 'x y', kinetic="(x'^2 + y'^2)/2", potential='9.81*y', constraints={'hoop': 'x^2 + y^2 = 1'},
                 nonideal={'x': "-0.1*hypot(ideal(x), ideal(y))*x'/hypot(x', y')", 'y': "-0.1*hypot(ideal(x), ideal(y))*y'/hypot(x', y')"}, position={'y': -1}, velocity={'x': 12}, to=1.0)
    f = lambda t, y: [y[1], -G * sin(y[0]) - mu * (y[1] ** 2 + G * cos(y[0]))]  # noqa: E731
    result.append(by_hand('rough_hoop', text, f, [0, 12], lambda t, y: ([sin(y[0]), -cos(y[0])], [y[1] * cos(y[0]), y[1] * sin(y[0])]), "a'' = -g sin a - mu (a'² + g cos a)", 'nonideal'))
    # The same with the multiplier: the force of the hoop is 2 |multiplier|.
    text = model('A bead on a rough hoop, by its multiplier', 'x y', kinetic="(x'^2 + y'^2)/2", potential='9.81*y', constraints={'hoop': 'x^2 + y^2 = 1'},
                 nonideal={'x': "-0.2*abs(multiplier(hoop))*x'/hypot(x', y')", 'y': "-0.2*abs(multiplier(hoop))*y'/hypot(x', y')"}, position={'y': -1}, velocity={'x': 12}, to=1.0)
    result.append(by_hand('rough_hoop_multiplier', text, f, [0, 12], lambda t, y: ([sin(y[0]), -cos(y[0])], [y[1] * cos(y[0]), y[1] * sin(y[0])]),
                          "a'' = -g sin a - mu (a'² + g cos a)", 'nonideal'))

    # C = -c q' on a knife edge: v' = -c v/m along the blade, the turning is damped separately.
    text = model('A blade with viscous drag that is not ideal', 'x y a', kinetic="2*(x'^2 + y'^2)/2 + a'^2/2", constraints={'blade': "x'*sin(a) = y'*cos(a)"},
                 nonideal={'x': "-0.6*x'", 'y': "-0.6*y'", 'a': "-0.5*a'"}, velocity={'x': 2, 'a': 3}, to=3.0)
    f = lambda t, s: [s[3] * cos(s[2]), s[3] * sin(s[2]), s[4], -mpf('0.3') * s[3], -mpf('0.5') * s[4]]  # noqa: E731
    result.append(by_hand('blade_with_drag', text, f, [0, 0, 0, 2, 3], lambda t, s: (s[:3], [s[3] * cos(s[2]), s[3] * sin(s[2]), s[4]]), "v' = -0.3 v, w' = -0.5 w", 'nonideal nonholonomic'))

    # Power-law resistance C = -k |v| q' on a moving wire y = sin(2 t): only x is free to resist.
    text = model('Resistance on a wire that moves', 'x y', kinetic="(x'^2 + y'^2)/2", constraints={'wire': 'y = sin(2*t)'}, nonideal={'x': "-0.5*hypot(x', y')*x'", 'y': "-0.5*hypot(x', y')*y'"},
                 velocity={'x': 3, 'y': 2}, to=3.0)
    f = lambda t, y: [y[1], -mpf('0.5') * sqrt(y[1] ** 2 + 4 * cos(2 * t) ** 2) * y[1]]  # noqa: E731
    result.append(by_hand('resistance_on_moving_wire', text, f, [0, 3], lambda t, y: ([y[0], sin(2 * t)], [y[1], 2 * cos(2 * t)]), "x'' = -|v| x'/2", 'nonideal rheonomic'))

    # A constant C with singular mass: turn and a massless height.
    text = model('A prescribed work beside a massless coordinate', 'x h', mass={'x': 2, 'h': 0}, force={'h': '-4'}, constraints={'cam': 'h = cos(x)'}, nonideal={'x': '0.5', 'h': "-0.3*h'"},
                 position={'h': 1}, velocity={'x': 1}, to=3.0)
    f = lambda t, y: [y[1], (4 * sin(y[0]) + mpf('0.5') - mpf('0.3') * sin(y[0]) ** 2 * y[1]) / 2]  # noqa: E731
    result.append(by_hand('work_beside_massless', text, f, [0, 1], lambda t, y: ([y[0], cos(y[0])], [y[1], -sin(y[0]) * y[1]]), 'virtual work along the cam', 'nonideal massless'))
    return result


# --- control -----------------------------------------------------------------------------------------------------------


@motion
def control():
    result = []
    # e = x - sin t with frequency 4 and damping 0.5: e'' + 4 e' + 16 e = 0, whatever the spring.
    text = model('An oscillator told to follow a sine', 'x', kinetic="3*x'^2/2", potential='20*x^2/2', control={'follow': dict(equation='x = sin(t)', frequency=4.0, damping=0.5)},
                 position={'x': 0.5}, velocity={'x': 0}, to=3.0)
    w = sqrt(mpf(12))
    e = lambda t: exp(-2 * t) * (mpf('0.5') * cos(w * t) + (-1 + 2 * mpf('0.5')) / w * sin(w * t))  # noqa: E731
    t = mpf(3)
    result.append(closed('control_sine', text, ([sin(t) + e(t)], [cos(t) + mp.diff(e, t)]), 'the error is a damped oscillator', 'control'))

    # A velocity requirement decays with its frequency: x' - cos t = e0 exp(-2 t).
    text = model('A velocity told to follow a cosine, on a slope', 'x y', kinetic="(x'^2 + y'^2)/2", potential='9.81*y', constraints={'slope': 'y = x/3'},
                 control={'speed': dict(equation="x' = cos(t)", frequency=2.0)}, velocity={'x': 0.4, 'y': '0.4/3'}, to=2.0)
    t = mpf(2)
    x, v = sin(t) - mpf('0.6') * (1 - exp(-2 * t)) / 2, cos(t) - mpf('0.6') * exp(-2 * t)
    result.append(closed('control_speed', text, ([x, x / 3], [v, v / 3]), "e' = -2 e", 'control'))

    # A ring that widens, for a particle with springs and gravity, overdamped: one row at the level of accelerations.
    ring = dict(kinetic="(x'^2 + 2*y'^2)/2", potential='9.81*2*y + 3*x^2', position={'x': 1.2, 'y': 0.1}, velocity={'y': 1})
    text = model('A particle led onto a ring that widens', 'x y', **ring, control={'ring': dict(equation='x^2 + y^2 = (1 + t/10)^2', frequency=3.0, damping=2.0)}, to=2.0)
    e, ed = '(x^2 + y^2 - (1 + t/10)^2)', "(2*x*x' + 2*y*y' - 2*(1 + t/10)/10)"
    row = f"2*x*x'' + 2*y*y'' + 2*x'^2 + 2*y'^2 - 2/100 + 12*{ed} + 9*{e} = 0"
    t = Text(model('', 'x y', **ring, constraints={'ring': row}, to=2.0))
    result.append(solved('control_ring', text, IndexReduced(t), t.start('position') + t.start('velocity'), 'index-reduced equations', 'control rheonomic'))

    # Control beside a constraint, with friction that looks at the ideal force: pendulum told to turn uniformly.
    text = model('A pendulum told to turn uniformly', 'x y', kinetic="(x'^2 + y'^2)/2", potential='9.81*y', constraints={'rod': 'x^2 + y^2 = 1'},
                 control={'turn': dict(equation='x*cos(2*t) + y*sin(2*t) = 0', frequency=6.0, damping=1.0)}, position={'y': -1}, velocity={'x': 2}, to=3.0)
    t = mpf(3)
    result.append(closed('control_pendulum', text, ([sin(2 * t), -cos(2 * t)], [2 * cos(2 * t), 2 * sin(2 * t)]), 'the start meets the requirement: the angle is 2 t', 'control rheonomic'))
    return result


# --- measured ----------------------------------------------------------------------------------------------------------




@motion
def measured():
    result = []
    # Linear rows with constant b: constant accelerations. x, s measured three times (weights 400, 1e4, 2500); y on a rail.
    text = model('Three gauges that contradict each other', 'x y s', kinetic="4*(x'^2 + y'^2)/2 + ((x' + s')^2 + y'^2)/2", constraints={
        'rail': 'y = 0', 'tape': dict(equation='x = 1.04*t^2', weight=400.0), 'laser': dict(equation='x + s = 1.51*t^2', weight=1e4),
        'coil': dict(equation='s = 0.50*t^2', weight=2500.0)}, velocity={'x': 0.1, 's': -0.1}, to=2.0)
    A = mp.matrix([[1, 0], [1, 1], [0, 1]])
    W = mp.diag([400, 10000, 2500])
    b = mp.matrix([mpf('2.08'), mpf('3.02'), mpf(1)])
    a = mp.lu_solve(A.T * W * A, A.T * W * b)
    t = mpf(2)
    result.append(closed('gauges', text, ([a[0] * t * t / 2 + mpf('0.1') * t, 0, a[1] * t * t / 2 - mpf('0.1') * t], [a[0] * t + mpf('0.1'), 0, a[1] * t - mpf('0.1')]),
                         'weighted least squares, constant accelerations', 'measured', held=False))

    # Two circles measured about different centres beside gravity: one free direction less than rows; state-dependent rows.
    # m x'' is decided by both rows: 2 coordinates, 2 weighted rows of rank 2 are met exactly; with a third row a true compromise.
    text = model('Three measured ropes on one mass', 'x y', kinetic="2*(x'^2 + y'^2)/2", potential='2*9.81*y', constraints={
        'left': dict(equation='(x + 1)^2 + y^2 = 2.1', weight=3.0), 'right': dict(equation='(x - 1)^2 + y^2 = 2.0', weight=1.0), 'middle': dict(equation='x^2 + (y - 1)^2 = 4', weight='2 + sin(t)')},
        position={'y': -1}, velocity={'x': 0.5, 'y': 0.2}, to=1.0)

    def ropes(t, y):
        px, py, vx, vy = y
        A = mp.matrix([[2 * (px + 1), 2 * py], [2 * (px - 1), 2 * py], [2 * px, 2 * (py - 1)]])
        b = mp.matrix([-2 * (vx * vx + vy * vy)] * 3)
        W = mp.diag([3, 1, 2 + sin(t)])
        a = mp.lu_solve(A.T * W * A, A.T * W * b)
        return [vx, vy, a[0], a[1]]

    y, _, accuracy = precise.twice(ropes, [mpf(0), mpf(-1), mpf(0.5), mpf(0.2)], 0, 1)
    result.append(closed('measured_ropes', text, (y[:2], y[2:]), 'weighted least squares at every instant, in 40 digits', 'measured', held=False))

    # One coordinate is measured twice with contradiction, the rest obeys Gauss: z free under gravity and tied to x by a hard row.
    text = model('Two clocks for one shaft, a load on it', 'x z', kinetic="(x'^2 + 3*z'^2)/2", potential='3*9.81*z', constraints={
        'first': dict(equation="x' = sin(t)", weight=1.0), 'second': dict(equation="x' = 0.5*t", weight=3.0), 'rope': 'z = -x^2/2'}, position={'x': 1, 'z': -0.5}, velocity={}, to=2.0)
    # x'' = (cos t + 1.5)/4.
    t = mpf(2)
    v = (sin(t) + mpf('1.5') * t) / 4
    x = 1 + (1 - cos(t) + mpf('0.75') * t * t) / 4
    result.append(closed('two_clocks', text, ([x, -x * x / 2], [v, -x * v]), "x'' is the weighted mean", 'measured', held=False))
    return result
