"""Smooth motions of every kind of constraint and model: energies and matrices, moving, nonholonomic, redundant, massless."""
from mpmath import cos, cosh, exp, mp, mpf, sin, sinh, sqrt

import precise
from case import Text, closed, motion, solved
from model_text import model
from reduction import IndexReduced, Minimal

G = mpf(9.81)

# --- holonomic ---------------------------------------------------------------------------------------------------------

PENDULUM = dict(coordinates='x y', kinetic="(x'^2 + y'^2)/2", potential='9.81*y')


def pendulum_exact(t, amplitude):
    """Angle and rate of a pendulum of length 1 that starts at rest, by Jacobi's functions."""
    k = sin(mpf(amplitude) / 2)
    u = mp.ellipk(k ** 2) - sqrt(G) * t  # sin(θ/2) = k sn(K − ω t)
    sn, cn, dn = (mp.ellipfun(f, u, m=k ** 2) for f in ('sn', 'cn', 'dn'))
    return 2 * mp.asin(k * sn), -2 * k * sqrt(G) * cn * dn / sqrt(1 - (k * sn) ** 2)


@motion
def pendulums():
    result = []
    for name, title, amplitude, to in (('pendulum_90', 'Pendulum from 90 degrees', mp.pi / 2, 10.0), ('pendulum_3_rad', 'Pendulum from almost above', mpf(3), 8.0)):
        text = model(title, **PENDULUM, constraints={'rod': 'x^2 + y^2 = 1'}, position={'x': sin(amplitude), 'y': -cos(amplitude)} if amplitude != mp.pi / 2 else {'x': 1}, to=to)
        a, w = pendulum_exact(mpf(to), amplitude)
        result.append(closed(name, text, ([sin(a), -cos(a)], [w * cos(a), w * sin(a)]), "Jacobi's elliptic functions", 'holonomic'))
    rows = {'rod': 'x^2 + y^2 = 1', 'again': 'x^2 + y^2 = 1', 'scaled': '1e6*(x^2 + y^2) = 1e6', 'root': 'sqrt(x^2 + y^2) = 1', 'square': '(x^2 + y^2 - 1)^2 = 0',
            'cube': '(x^2 + y^2 - 1)^3 = 0', 'tiny': '1e-7*(x^2 + y^2 - 1) = 0', 'rate': "x*x' + y*y' = 0", 'nothing': '0*x = 0'}
    text = model('Pendulum whose rod is stated nine times', **PENDULUM, constraints=rows, position={'x': 1}, to=3.0)
    a, w = pendulum_exact(mpf(3), mp.pi / 2)
    result.append(closed('pendulum_redundant', text, ([sin(a), -cos(a)], [w * cos(a), w * sin(a)]), "Jacobi's elliptic functions", 'holonomic redundant'))
    return result


@motion
def double_pendulum():
    text = model('Double pendulum in points', 'x1 y1 x2 y2', kinetic="(x1'^2 + y1'^2)/2 + 0.7*(x2'^2 + y2'^2)/2", potential='9.81*(y1 + 0.7*y2)',
                 constraints={'upper': 'x1^2 + y1^2 = 1', 'lower': '(x2 - x1)^2 + (y2 - y1)^2 = 0.64'}, position={'x1': 1, 'x2': 1.8}, to=3.0)
    places = {'x1': 'sin(a)', 'y1': '-cos(a)', 'x2': 'sin(a) + 0.8*sin(b)', 'y2': '-cos(a) - 0.8*cos(b)'}
    return solved('double_pendulum', text, Minimal(text, ['a', 'b'], places), [mp.pi / 2, mp.pi / 2, 0, 0], 'Lagrange in two angles', 'holonomic')


@motion
def spherical_pendulum():
    text = model('Spherical pendulum', 'x y z', kinetic="2*(x'^2 + y'^2 + z'^2)/2", potential='2*9.81*z', constraints={'sphere': 'x^2 + y^2 + z^2 = 1.44'},
                 position={'x': '1.2*sin(1)', 'z': '-1.2*cos(1)'}, velocity={'x': '1.2*cos(1)*0.5', 'y': '1.2*sin(1)*2', 'z': '1.2*sin(1)*0.5'}, to=5.0)
    places = {'x': '1.2*sin(a)*cos(b)', 'y': '1.2*sin(a)*sin(b)', 'z': '-1.2*cos(a)'}
    return solved('spherical_pendulum_polar', text, Minimal(text, ['a', 'b'], places), [1, 0, 0.5, 2], 'Lagrange in two angles', 'holonomic')


@motion
def bead_on_surface():
    text = model('A bead on a saddle', 'x y z', kinetic="(x'^2 + y'^2 + z'^2)/2", potential='9.81*z + x^4/4 + y^4/4', constraints={'saddle': 'z = x*y + cos(x)'},
                 position={'x': 0.5, 'y': -0.3, 'z': '-0.15 + cos(0.5)'}, velocity={'x': 1, 'y': 0.5, 'z': '-0.3 + 0.25 - sin(0.5)'}, to=4.0)
    return solved('bead_on_saddle', text, Minimal(text, ['x', 'y'], {'z': 'x*y + cos(x)'}), [0.5, -0.3, 1, 0.5], 'Lagrange in x and y', 'holonomic')


@motion
def chain_of_rods():
    """Five points on a loop that is fixed at two pins: three free angles are too many for a closed form, so the rows are reduced."""
    n = 4
    names = ' '.join(f'x{i} y{i}' for i in range(1, n + 1))
    rows = {f'rod{i}': f'(x{i + 1} - x{i})^2 + (y{i + 1} - y{i})^2 = 1' for i in range(1, n)}
    rows |= {'left': 'x1^2 + y1^2 = 1', 'right': f'(x{n} - 3)^2 + y{n}^2 = 1'}
    # Start: hanging symmetrically, outer rods down by 0.9 rad, then 0.1 ... closed by the middle rod being level.
    a, b = mpf('0.9'), mp.acos((mpf(3) - 1 - 2 * cos(mpf('0.9'))) / 2)
    points = [(cos(a), -sin(a)), (cos(a) + cos(b), -sin(a) - sin(b))]
    points += [(3 - x, y) for x, y in reversed(points)]
    position = {f'{c}{i}': v for i, p in enumerate(points, 1) for c, v in zip('xy', p)}
    text = model('A chain of five rods between two pins', names, kinetic=' + '.join(f"(1 + 0.1*{i})*(x{i}'^2 + y{i}'^2)/2" for i in range(1, n + 1)),
                 potential='9.81*(' + ' + '.join(f'(1 + 0.1*{i})*y{i}' for i in range(1, n + 1)) + ')', constraints=rows, position=position, to=1.5)
    t = Text(text)
    return solved('chain_between_pins', text, IndexReduced(t), t.start('position') + t.start('velocity'), 'index-reduced equations', 'holonomic', tolerance=1e-21)


@motion
def bricard():
    """Six unit links, each hinge at right angles to the next: mobile although one row too many holds it, for ever."""
    pin = {1: (0, 0, 0), 2: (1, 0, 0), 3: (1, -1, 0), 4: (1, -1, 1), 5: (0, -1, 1), 6: (0, 0, 1)}
    axis = {1: (0, 1, 0), 2: (0, 0, 1), 3: (1, 0, 0), 4: (0, 1, 0), 5: (0, 0, 1), 6: (1, 0, 0)}
    free = range(2, 6)
    p = lambda i, c: f'p{i}{c}' if i in free else str(pin[i]['xyz'.index(c)])  # noqa: E731
    u = lambda i, c: f'u{i}{c}' if i in free else str(axis[i]['xyz'.index(c)])  # noqa: E731
    dot = lambda f, g: ' + '.join(f'{f(c)}*{g(c)}' for c in 'xyz')  # noqa: E731
    rows = {}
    for i in range(1, 6):
        d = lambda c, i=i: f'({p(i + 1, c)} - {p(i, c)})'  # noqa: E731
        rows[f'length{i}'] = dot(d, d) + ' = 1'
        rows[f'begin{i}'] = dot(d, lambda c, i=i: u(i, c)) + ' = 0'
        rows[f'end{i}'] = dot(d, lambda c, i=i: u(i + 1, c)) + ' = 0'
        rows[f'twist{i}'] = dot(lambda c, i=i: u(i, c), lambda c, i=i: u(i + 1, c)) + ' = 0'
    for i in free:
        rows[f'unit{i}'] = dot(lambda c, i=i: u(i, c), lambda c, i=i: u(i, c)) + ' = 1'
    names = [f'{k}{i}{c}' for i in free for k in 'pu' for c in 'xyz']
    square = lambda k, i: '(' + ' + '.join(f"{k}{i}{c}'^2" for c in 'xyz') + ')'  # noqa: E731
    position = {f'p{i}{c}': pin[i]['xyz'.index(c)] for i in free for c in 'xyz'} | {f'u{i}{c}': axis[i]['xyz'.index(c)] for i in free for c in 'xyz'}
    text = model("Bricard's six-bar linkage, from rest", ' '.join(names), kinetic=' + '.join(f"{square('p', i)}/2 + 0.1*{square('u', i)}/2" for i in free),
                 potential='9.81*(' + ' + '.join(f'p{i}y' for i in free) + ')', constraints=rows, position=position, to=1.5)
    t = Text(text)
    system = IndexReduced(t, rows=[r for r in rows if r != 'twist3'])
    return solved('bricard', text, system, t.start('position') + t.start('velocity'), 'index-reduced equations without the row that depends on the others',
                  'holonomic redundant rest', tolerance=1e-19)


# --- moving constraints and energies that depend on time ---------------------------------------------------------------


@motion
def moving():
    result = []
    w, r0, v0, t = mpf(2), mpf(1), mpf('0.5'), mpf(1.5)
    text = model('A bead on a straight wire that turns', 'x y', kinetic="3*(x'^2 + y'^2)/2", constraints={'wire': 'x*sin(2*t) = y*cos(2*t)'}, position={'x': 1},
                 velocity={'x': 0.5, 'y': 2}, to=1.5)
    r, rd = r0 * cosh(w * t) + v0 / w * sinh(w * t), r0 * w * sinh(w * t) + v0 * cosh(w * t)
    c, s = cos(w * t), sin(w * t)
    result.append(closed('wire_that_turns', text, ([r * c, r * s], [rd * c - r * w * s, rd * s + r * w * c]), "r'' = 4 r", 'holonomic rheonomic'))

    text = model('A pendulum whose length changes', **PENDULUM, constraints={'rod': 'x^2 + y^2 = (1 + 0.3*sin(3*t))^2'}, position={'x': 'sin(1)', 'y': '-cos(1)'},
                 velocity={'x': '0.9*sin(1) + 0.5*cos(1)', 'y': '-0.9*cos(1) + 0.5*sin(1)'}, to=4.0)
    places = {'x': '(1 + 0.3*sin(3*t))*sin(a)', 'y': '-(1 + 0.3*sin(3*t))*cos(a)'}
    result.append(solved('pendulum_of_changing_length', text, Minimal(text, ['a'], places), [1, 0.5], 'Lagrange in the angle', 'holonomic rheonomic'))

    text = model('A pendulum on a pivot that shakes, start at t = 1', 'x y', kinetic="(x'^2 + y'^2)/2", potential='9.81*y',
                 constraints={'rod': '(x - 0.2*cos(4*t))^2 + (y - 0.1*sin(7*t))^2 = 1'}, time=1.0,
                 position={'x': '0.2*cos(4) + sin(0.5)', 'y': '0.1*sin(7) - cos(0.5)'}, velocity={'x': '-0.8*sin(4) + cos(0.5)', 'y': '0.7*cos(7) + sin(0.5)'}, to=4.0)
    places = {'x': '0.2*cos(4*t) + sin(a)', 'y': '0.1*sin(7*t) - cos(a)'}
    result.append(solved('pendulum_on_shaking_pivot', text, Minimal(text, ['a'], places), [0.5, 1], 'Lagrange in the angle', 'holonomic rheonomic'))

    # In a frame that turns with rate 1.5 a particle on a spring; at rest it is the plain oscillator.
    text = model('An oscillator in a frame that turns', 'x y', kinetic="((x' - 1.5*y)^2 + (y' + 1.5*x)^2)/2", potential='4*(x^2 + y^2)/2', position={'x': 1},
                 velocity={'y': 0.5}, to=5.0)
    t, w = mpf(5), mpf('1.5')
    X, Y, Xd, Yd = cos(2 * t), 1 * sin(2 * t), -2 * sin(2 * t), 2 * cos(2 * t)  # at rest: (1, 0), velocity (0, 0.5 + 1.5)
    c, s = cos(w * t), sin(w * t)
    x, y = c * X + s * Y, -s * X + c * Y
    result.append(closed('frame_that_turns', text, ([x, y], [c * Xd + s * Yd + w * y, -s * Xd + c * Yd - w * x]), 'the oscillator in the frame at rest', 'energy'))

    # T = e^{ct} x'²/2, V = e^{ct} k x²/2 is the damped oscillator; y is tied to x.
    text = model('A mass that grows', 'x y', kinetic="exp(0.4*t)*(x'^2 + y'^2)/2", potential='exp(0.4*t)*9*(x^2 + y^2)/2', constraints={'tie': 'y = 2*x'}, position={'x': 1, 'y': 2},
                 velocity={'x': -1, 'y': -2}, to=4.0)
    t, d = mpf(4), mpf('0.2')
    w = sqrt(9 - d * d)
    x = lambda t: exp(-d * t) * (cos(w * t) + (d - 1) / w * sin(w * t))  # noqa: E731
    result.append(closed('mass_that_grows', text, ([x(t), 2 * x(t)], [mp.diff(x, t), 2 * mp.diff(x, t)]), 'a damped oscillator', 'energy rheonomic'))

    text = model('No freedom left: two moving lines and their sum', 'x y', kinetic="(x'^2 + 5*y'^2)/2", potential='y',
                 constraints={'one': 'x + y = sin(t)', 'other': 'x - 2*y = t^2', 'sum': '2*x - y = t^2 + sin(t)'}, velocity={'x': '2/3', 'y': '1/3'}, to=6.0)
    t = mpf(6)
    result.append(closed('no_freedom', text, ([(2 * sin(t) + t * t) / 3, (sin(t) - t * t) / 3], [(2 * cos(t) + 2 * t) / 3, (cos(t) - 2 * t) / 3]), 'two equations for two unknowns',
                         'holonomic rheonomic redundant'))
    return result


# --- free motion -------------------------------------------------------------------------------------------------------


def kepler(t, e):
    """Position and velocity on an orbit of semi-axis 1 about a unit centre, from the pericentre."""
    E = mp.findroot(lambda E: E - e * sin(E) - t, t + e * sin(t))
    f = sqrt(1 - e * e)
    Ed = 1 / (1 - e * cos(E))
    return [cos(E) - e, f * sin(E)], [-sin(E) * Ed, f * cos(E) * Ed]


@motion
def orbits():
    e, result = mpf(0.9), []
    v = sqrt((1 + e) / (1 - e))
    body = dict(kinetic="(x'^2 + y'^2)/2", potential='-1/sqrt(x^2 + y^2)', position={'x': 1 - e}, velocity={'y': v}, to=20.0)
    q, qd = kepler(mpf(20), e)
    result.append(closed('kepler_0.9', model('Kepler orbit of eccentricity 0.9', 'x y', **body), (q, qd), "Kepler's equation", 'free'))
    text = model('Kepler orbit in space, its plane and its area law stated as constraints', 'x y z', **(body | dict(kinetic="(x'^2 + y'^2 + z'^2)/2", potential='-1/sqrt(x^2 + y^2 + z^2)')),
                 constraints={'plane': 'z = 0', 'area': "x*y' - y*x' = sqrt(1 - 0.9^2)"})
    result.append(closed('kepler_held', text, ([*q, 0], [*qd, 0]), "Kepler's equation; the constraints are met without force", 'nonholonomic'))

    pairs = ((1, 2), (1, 3), (2, 3))
    text = model('Three bodies on the figure of eight', 'x1 y1 x2 y2 x3 y3', kinetic=' + '.join(f"(x{i}'^2 + y{i}'^2)/2" for i in (1, 2, 3)),
                 potential=' - '.join(['0'] + [f'1/sqrt((x{i} - x{j})^2 + (y{i} - y{j})^2)' for i, j in pairs]),
                 position={'x1': 0.97000436, 'y1': -0.24308753, 'x2': -0.97000436, 'y2': 0.24308753},
                 velocity={'x1': 0.466203685, 'y1': 0.43236573, 'x2': 0.466203685, 'y2': 0.43236573, 'x3': -0.93240737, 'y3': -0.86473146}, to=6.0)
    t = Text(text)
    result.append(solved('figure_of_eight', text, IndexReduced(t), t.start('position') + t.start('velocity'), 'extrapolation in 40 digits', 'free'))
    return result


# --- rigid bodies in quaternions ---------------------------------------------------------------------------------------

OMEGA = {'w1': "2*(e0*e1' - e1*e0' + e3*e2' - e2*e3')", 'w2': "2*(e0*e2' - e2*e0' + e1*e3' - e3*e1')", 'w3': "2*(e0*e3' - e3*e0' + e2*e1' - e1*e2')"}
EULER = {'e0': 'cos(b/2)*cos((a + c)/2)', 'e1': 'sin(b/2)*cos((a - c)/2)', 'e2': 'sin(b/2)*sin((a - c)/2)', 'e3': 'cos(b/2)*sin((a + c)/2)'}


def rigid(name, title, kinetic, potential, angles, rates, to, tags, **more):
    fields = dict(define=OMEGA, kinetic=kinetic, potential=potential, constraints={'unit': 'e0^2 + e1^2 + e2^2 + e3^2 = 1'}, to=to)
    bare = Minimal(model(title, 'e0 e1 e2 e3', **fields), ['a', 'b', 'c'], EULER)
    names = ['e0', 'e1', 'e2', 'e3']
    q, qd = bare.place(mpf(0), [mpf(v) for v in (*angles, *rates)])
    text = model(title, 'e0 e1 e2 e3', **fields, position=dict(zip(names, q)), velocity=dict(zip(names, qd)))
    return solved(name, text, Minimal(text, ['a', 'b', 'c'], EULER), [*angles, *rates], "Lagrange in Euler's angles", tags, **more)


@motion
def tops():
    return [
        rigid('lagrange_top', "Lagrange's top in quaternions", 'J/2*(w1^2 + w2^2) + 0.3/2*w3^2'.replace('J', '0.8'), '2*9.81*0.5*(e0^2 - e1^2 - e2^2 + e3^2)',
              [0.2, 0.7, 0.1], [0.5, 0.3, 20], 2.0, 'quaternion massless holonomic'),
        rigid('free_body', 'A free rigid body near its unstable axis, in quaternions', '(1*w1^2 + 2*w2^2 + 3*w3^2)/2', '0', [0.2, 1.3, 1.5], [0.1, 3, 0.2], 4.0,
              'quaternion massless holonomic'),
        rigid('heavy_body', 'A heavy rigid body without symmetry, in quaternions', '(1*w1^2 + 2*w2^2 + 2.5*w3^2)/2', '4*(e0^2 - e1^2 - e2^2 + e3^2) + 2*(e1*e3 - e0*e2)',
              [0.2, 1.0, 0.5], [1, -1, 2], 2.0, 'quaternion massless holonomic'),
    ]


# --- massless coordinates ----------------------------------------------------------------------------------------------


@motion
def massless():
    result = []
    # T = (x' + y')²/2 with y = x²: p = x + x² is the only thing that has inertia. V = p: p'' = -1.
    text = model('Inertia in one direction only', 'x y', kinetic="(x' + y')^2/2", potential='x + y', constraints={'curve': 'y = x^2'}, position={'x': 1, 'y': 1}, velocity={'x': 1, 'y': 2}, to=2.0)
    t = mpf(2)
    p, pd = 2 + 3 * t - t * t / 2, 3 - t
    x = (-1 + sqrt(1 + 4 * p)) / 2
    xd = pd / (1 + 2 * x)
    result.append(closed('inertia_in_one_direction', text, ([x, x * x], [xd, 2 * x * xd]), 'x + x² falls freely', 'massless holonomic'))

    text = model('Forces on coordinates without mass', 'x u v', mass={'x': 2, 'u': 0, 'v': 0}, force={'x': '-x', 'u': '-3*u', 'v': '-9.81'},
                 constraints={'lever': 'u = sin(x)', 'slope': 'v = u^2/2 + x'}, position={'x': 0.5, 'u': 'sin(0.5)', 'v': 'sin(0.5)^2/2 + 0.5'},
                 velocity={'x': 1, 'u': 'cos(0.5)', 'v': 'sin(0.5)*cos(0.5) + 1'}, to=5.0)
    same = model('', 'x u v', kinetic="2*x'^2/2", force={'x': '-x', 'u': '-3*u', 'v': '-9.81'}, to=5.0)
    case = Minimal(same, ['x'], {'u': 'sin(x)', 'v': 'sin(x)^2/2 + x'})
    case.model.toml['start'], case.model.rows = Text(text).toml['start'], Text(text).rows
    result.append(solved('forces_without_mass', text, case, [0.5, 1], 'Lagrange in x', 'massless holonomic matrices'))

    # A massless wheel angle and a massless node: rolling as a velocity row.
    text = model('A sledge with a wheel that weighs nothing', 'x a s', kinetic="(x'^2 + 2*x'*s' + s'^2)/2 + x'^2", potential='2*x^2 + s^2/2',
                 constraints={'rolling': "x' = 0.3*a'*(1 + 0.5*sin(a))"}, position={'x': 1}, velocity={'x': 0.3, 'a': 1, 's': 0.5}, to=3.0)
    t = Text(text)
    result.append(solved('wheel_without_mass', text, IndexReduced(t), t.start('position') + t.start('velocity'), 'index-reduced equations', 'massless nonholonomic'))
    return result


# --- matrices ----------------------------------------------------------------------------------------------------------


@motion
def matrices():
    result = []
    text = model('Double pendulum in angles, by matrices', 'a b', mass=[['1.7', '0.56*cos(a - b)'], ['0.56*cos(a - b)', '0.448']],
                 force={'a': "-0.56*sin(a - b)*b'^2 - 1.7*9.81*sin(a)", 'b': "0.56*sin(a - b)*a'^2 - 0.56*9.81*sin(b)"}, position={'a': 1, 'b': 1.5}, velocity={'a': 0.5}, to=3.0)
    same = model('', 'x1 y1 x2 y2', kinetic="(x1'^2 + y1'^2)/2 + 0.7*(x2'^2 + y2'^2)/2", potential='9.81*(y1 + 0.7*y2)', to=3.0)
    places = {'x1': 'sin(a)', 'y1': '-cos(a)', 'x2': 'sin(a) + 0.8*sin(b)', 'y2': '-cos(a) - 0.8*cos(b)'}

    system = Minimal(same, ['a', 'b'], places)
    y, _, accuracy = precise.twice(system, [mpf(1), mpf(1.5), mpf(0.5), mpf(0)], 0, 3)
    result.append(closed('double_pendulum_by_matrices', text, (y[:2], y[2:]), 'Lagrange from the energies, in 40 digits', 'matrices'))

    # Not from any Lagrangian: follower force, gyroscopic and dissipative terms, linear in (x, y): by the matrix exponential.
    text = model('Linear system without any potential', 'x y', mass=[['2', '0.5'], ['0.5', '1']], force={'x': "-3*x + 1.5*y - 0.2*x' + 0.7*y'", 'y': "-0.5*x - 2*y - 0.7*x' - 0.1*y'"},
                 position={'x': 1, 'y': -0.5}, velocity={'x': 0, 'y': 2}, to=6.0)
    M = mp.matrix([[2, 0.5], [0.5, 1]])
    K, D = mp.matrix([[-3, mpf('1.5')], [-mpf('0.5'), -2]]), mp.matrix([[-mpf('0.2'), mpf('0.7')], [-mpf('0.7'), -mpf('0.1')]])
    left, right = mp.inverse(M) * K, mp.inverse(M) * D
    A = mp.matrix(4, 4)
    for i in range(2):
        A[i, i + 2] = 1
        for j in range(2):
            A[i + 2, j], A[i + 2, j + 2] = left[i, j], right[i, j]
    y = mp.expm(A * 6, method='taylor') * mp.matrix([1, -mpf('0.5'), 0, 2])
    result.append(closed('linear_by_matrices', text, ([y[0], y[1]], [y[2], y[3]]), 'matrix exponential', 'matrices'))
    return result
