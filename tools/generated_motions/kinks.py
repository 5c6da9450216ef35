"""Forces and constraints with abs, sign, min, max and if: exact piece by piece. Events at known times. Stiff forces."""
from mpmath import cos, exp, mp, mpf, sin, sqrt

import precise
from case import Case, Text, closed, expected, honest, motion, solved, with_run
from model_text import model
from reduction import IndexReduced, Minimal, Plain
from smooth import pendulum_exact

G = mpf(9.81)


def pieces(name, text, modes, mode, y0, place, source, tags='kink', relative=1e-9):
    """A case that is integrated piece by piece, twice."""
    t = Plain(text)
    begin, to = mpf(t.toml['start'].get('time', 0)), mpf(t.toml['run']['to'])
    y, _, switches = precise.hybrid(modes, mode, y0, begin, to)
    z, _, again = precise.hybrid(modes, mode, y0, begin, to, columns=9, tolerance=1e-21, longest=0.037)
    assert len(switches) == len(again), name
    accuracy = max(abs(a - b) / max(1, abs(a)) for a, b in zip(y, z))
    assert accuracy < 1e-15, f'{name}: {accuracy}'
    q, qd = place(to, y)
    case = Case(name, text, source, tags, expected(t, to, q, qd, accuracy, relative))
    case.expected['switches'] = [float(s[0]) for s in switches]
    return case


def line(t, y):
    return [y[0]], [y[1]]


X, V = (lambda t, y: y[0]), (lambda t, y: y[1])


@motion
def switched_forces():
    result = []
    # x'' = -sign(x): parabolas; a quarter takes sqrt(2 x0) = 1.
    both = {'right': (lambda t, y: [y[1], mpf(-1)], {X: 'left'}), 'left': (lambda t, y: [y[1], mpf(1)], {X: 'right'})}
    for name, title, force in (('bang_bang', 'A force that always points home', '-sign(x)'), ('bang_bang_if', 'The same with if', 'if(x > 0, -1, 1)')):
        text = model(title, 'x', kinetic="x'^2/2", force={'x': force}, position={'x': 0.5}, to=7.3)
        result.append(pieces(name, text, both, 'right', [0.5, 0], line, 'parabolas'))
    text = model('A potential like a tent', 'x y', kinetic="(x'^2 + y'^2)/2", potential='abs(x) + 2*abs(y - 0.1)', position={'x': 0.5, 'y': -0.3}, velocity={'x': 0.2, 'y': 0.1}, to=5.0)
    one = {s: (lambda t, y, s=s: [y[1], mpf(-s)], {X: -s}) for s in (1, -1)}
    two = {s: (lambda t, y, s=s: [y[1], mpf(-2 * s)], {lambda t, y: y[0] - mpf(0.1): -s}) for s in (1, -1)}
    a, b = precise.hybrid(one, 1, [0.5, 0.2], 0, 5)[0], precise.hybrid(two, -1, [-0.3, 0.1], 0, 5)[0]
    result.append(closed('tent', text, ([a[0], b[0]], [a[1], b[1]]), 'parabolas, each direction by itself', 'kink'))

    # Coulomb: x'' = -4 x - 0.3 sign(x'): half circles about ±0.075; moving at the end.
    slide = {s: (lambda t, y, s=s: [y[1], -4 * y[0] - s * mpf('0.3')], {V: -s}) for s in (1, -1)}
    text = model('An oscillator with dry friction', 'x', kinetic="x'^2/2", potential='2*x^2', force={'x': "-0.3*sign(x')"}, position={'x': 2}, velocity={'x': 1}, to=7.0)
    result.append(pieces('dry_friction', text, slide, 1, [2, 1], line, 'half circles'))
    text = model('An oscillator with dry friction that comes to rest', 'x', kinetic="x'^2/2", potential='2*x^2', force={'x': "-3*sign(x')"}, position={'x': 2}, velocity={'x': 1}, to=20.0)
    stuck = precise.hybrid({1: (lambda t, y: [y[1], -4 * y[0] - 3], {V: -1}), -1: (lambda t, y: [y[1], -4 * y[0] + 3], {V: 0}), 0: (lambda t, y: [mpf(0), mpf(0)], {})}, 1, [2, 1], 0, 6)[0]
    assert abs(4 * stuck[0]) < 3
    result.append(honest('dry_friction_sticks', text, ([stuck[0]], [0]), 'after one swing the spring cannot overcome friction any more', 'kink honest'))

    # Bilinear oscillator: x'' = -x - 8 max(x, 0).
    spring = {1: (lambda t, y: [y[1], -9 * y[0]], {X: -1}), -1: (lambda t, y: [y[1], -y[0]], {X: 1})}
    text = model('A spring that is stiffer on one side', 'x', kinetic="x'^2/2", force={'x': '-x - 8*max(x, 0)'}, position={'x': 1}, to=9.0)
    result.append(pieces('bilinear', text, spring, 1, [1, 0], line, 'half sines'))
    # Saturated spring: x'' = -max(-1, min(1, 3 x)).
    third = mpf(1) / 3
    saturated = {0: (lambda t, y: [y[1], -3 * y[0]], {lambda t, y: y[0] - third: 1, lambda t, y: y[0] + third: -1}),
                 1: (lambda t, y: [y[1], mpf(-1)], {lambda t, y: y[0] - third: 0}), -1: (lambda t, y: [y[1], mpf(1)], {lambda t, y: y[0] + third: 0})}
    text = model('A spring that saturates', 'x', kinetic="x'^2/2", force={'x': '-max(-1, min(1, 3*x))'}, position={'x': 0.1}, velocity={'x': 2}, to=11.0)
    result.append(pieces('saturation', text, saturated, 0, [0.1, 2], line, 'sines and parabolas'))
    # A stiff wall beyond x = 1: contacts of 0.0314 s in a motion of seconds.
    wall = {0: (lambda t, y: [y[1], mpf(1)], {lambda t, y: y[0] - 1: 1}), 1: (lambda t, y: [y[1], 1 - 10000 * (y[0] - 1)], {lambda t, y: y[0] - 1: 0})}
    text = model('A stiff wall', 'x', kinetic="x'^2/2", potential='-x', force={'x': 'if(x < 1, 0, -10000*(x - 1))'}, to=8.0)
    result.append(pieces('stiff_wall', text, wall, 0, [0, 0], line, 'parabolas and sines'))
    # Known times: a force that changes at t = 1 and t = 2.5; and a square wave of 20/pi switches a second.
    text = model('A force that is switched by the clock', 'x', kinetic="x'^2/2", force={'x': 'if(t < 1, 2, if(t <= 2.5, -1, 0.5))'}, to=4.0)
    v1, v2 = mpf(2), 2 - mpf('1.5')
    x1 = mpf(1)
    x2 = x1 + v1 * mpf('1.5') - mpf('1.5') ** 2 / 2
    x3, v3 = x2 + v2 * mpf('1.5') + mpf('1.5') ** 2 / 4, v2 + mpf('0.75')
    result.append(closed('clock', text, ([x3], [v3]), 'parabolas', 'kink'))
    text = model('A square wave', 'x', kinetic="x'^2/2", force={'x': 'sign(sin(20*t))'}, to=2.0)
    x = v = t = mpf(0)
    k = 0
    while t < 2:
        end = min(mpf(2), (k + 1) * mp.pi / 20)
        h, s = end - t, mpf(1 - 2 * (k % 2))
        x, v, t, k = x + v * h + s * h * h / 2, v + s * h, end, k + 1
    result.append(closed('square_wave', text, ([x], [v]), 'parabolas', 'kink'))
    # A switch that is only touched: x² + 1e-3 never changes sign, abs(x) at a turning point x = 0 does nothing.
    text = model('A switch that is touched and not crossed', 'x y', kinetic="(x'^2 + y'^2)/2", force={'x': '2', 'y': 'abs(x)'}, position={'x': 1}, velocity={'x': -2}, to=3.0)
    t = mpf(3)  # x = (1 - t)²; y'' = x
    result.append(closed('switch_touched', text, ([(1 - t) ** 2, (1 - t) ** 4 / 12 - mpf(1) / 12 + t / 3], [-2 * (1 - t), -(1 - t) ** 3 / 3 + mpf(1) / 3]), 'a polynomial', 'kink'))
    # Two switches a nanosecond apart.
    text = model('Two switches a nanosecond apart', 'x y', kinetic="(x'^2 + y'^2)/2", force={'y': 'sign(x - 0.5) + 3*sign(x - 0.500000001)'}, velocity={'x': 1}, to=1.5)
    a, b, t = mpf(0.5), mpf(0.500000001), mpf(1.5)
    y, v = -4 * t * t / 2 + 2 * (t - a) ** 2 / 2 + 6 * (t - b) ** 2 / 2, -4 * t + 2 * (t - a) + 6 * (t - b)
    result.append(closed('two_switches', text, ([t, y], [1, v]), 'parabolas', 'kink'))
    return result


@motion
def switched_constraints():
    result = []
    # y = x |x|: the curvature jumps at x = 0. One free coordinate, two pieces.
    one, other = (Minimal(model('', 'x y', kinetic="(x'^2 + y'^2)/2", potential='9.81*y + 3*x^2', to=1.0), ['x'], {'y': f'{s}x^2'}) for s in ('', '-'))
    text = model('A bead on a wire whose curvature jumps', 'x y', kinetic="(x'^2 + y'^2)/2", potential='9.81*y + 3*x^2', constraints={'wire': 'y = x*abs(x)'},
                 position={'x': -0.5, 'y': -0.25}, velocity={'x': 5, 'y': 5}, to=3.0)
    place = lambda t, y: ([y[0], y[0] * abs(y[0])], [y[1], 2 * abs(y[0]) * y[1]])  # noqa: E731
    result.append(pieces('wire_with_jump', text, {1: (one, {X: -1}), -1: (other, {X: 1})}, -1, [-0.5, 5], place, 'Lagrange in x, piece by piece', 'kink holonomic'))
    # A pendulum with a peg: the spring of the thread acts beyond the vertical only.
    left = lambda t, y: [y[1], -G * sin(y[0]) - 30 * sin(y[0]) * cos(y[0])]  # noqa: E731
    right = lambda t, y: [y[1], -G * sin(y[0])]  # noqa: E731
    text = model('A pendulum with a spring on one side', 'x y', kinetic="(x'^2 + y'^2)/2", potential='9.81*y', force={'x': '-30*min(x, 0)'}, constraints={'rod': 'x^2 + y^2 = 1'},
                 position={'x': 'sin(1)', 'y': '-cos(1)'}, to=5.0)
    angle = lambda t, y: ([sin(y[0]), -cos(y[0])], [y[1] * cos(y[0]), y[1] * sin(y[0])])  # noqa: E731
    result.append(pieces('pendulum_one_sided_spring', text, {1: (right, {X: -1}), -1: (left, {X: 1})}, 1, [1, 0], angle, 'the angle, piece by piece', 'kink holonomic'))
    # Coulomb friction from the ideal force on a rough hoop, swinging: sign of the speed and of the pressure both switch.
    mu = mpf('0.05')
    N = lambda t, y: y[1] ** 2 + G * cos(y[0])  # noqa: E731
    hoop = {(s, p): (lambda t, y, s=s, p=p: [y[1], -G * sin(y[0]) - s * p * mu * N(t, y)], {V: (-s, p), N: (s, -p)}) for s in (1, -1) for p in (1, -1)}
    rough = {c: f"-0.05*hypot(ideal(x), ideal(y))*sign(x'*cos(a) + y'*sin(a))*{f}" for c, f in (('x', 'cos(a)'), ('y', 'sin(a)'))}
    text = model('A bead on a rough hoop, inside and outside', 'x y', define={'a': 'atan2(x, -y)'}, kinetic="(x'^2 + y'^2)/2", potential='9.81*y', constraints={'hoop': 'x^2 + y^2 = 1'},
                 nonideal=rough, position={'x': 'sin(2.5)', 'y': '-cos(2.5)'}, to=4.0)
    result.append(pieces('rough_hoop_swings', text, hoop, (-1, -1), [2.5, 0], angle, 'the angle, piece by piece', 'kink nonideal'))
    return result


# --- events ------------------------------------------------------------------------------------------------------------


def user(name, *times):
    return [{'time': float(t), 'kind': 'user', 'name': name} for t in times]


@motion
def events():
    result = []
    # Projectile: y = 10 t - g t²/2, x = 3 t.
    at = lambda h: [(10 - s * sqrt(100 - 2 * G * h)) / G for s in (1, -1)]  # noqa: E731
    text = model('A projectile and its heights', 'x y', kinetic="(x'^2 + y'^2)/2", potential='9.81*y', velocity={'x': 3, 'y': 10}, to=2.5, events={
        'three': dict(when='y - 3'), 'up_three': dict(when='y - 3', direction='up'), 'down_three': dict(when='y - 3', direction='down', do='record'),
        'top': dict(when="y'", direction='both'), 'clock': dict(when='t - 0.7'), 'wall': dict(when='x - 2')})
    t = mpf(2.5)
    end = ([3 * t, 10 * t - G * t * t / 2], [3, 10 - G * t])
    found = user('three', *at(3)) + user('up_three', at(3)[0]) + user('down_three', at(3)[1]) + user('top', 10 / G) + user('clock', mpf(0.7)) + user('wall', mpf(2) / 3)
    result.append(closed('projectile', text, end, 'parabola', 'event', events=found, events_abs=1e-11))
    text = model('A projectile stopped on the ground', 'x y', kinetic="(x'^2 + y'^2)/2", potential='9.81*y', position={'y': 1}, velocity={'x': 3, 'y': 10}, to=9.0,
                 events={'ground': dict(when='y', direction='down', do='stop'), 'late': dict(when='t - 8', do='stop')})
    t = (10 + sqrt(100 + 2 * G)) / G
    case = closed('projectile_stopped', text, ([3 * t, 0], [3, 10 - G * t]), 'parabola', 'event', events=user('ground', t), events_abs=1e-11)
    case.expected['end']['time'], case.expected['stopped_by'] = float(t), 'ground'
    result.append(case)
    # A free particle makes one huge step: two roots in it, many roots in it, a double event.
    text = model('Many events in one step', 'x y', kinetic="(x'^2 + y'^2)/2", velocity={'x': 1, 'y': 2}, to=3.0, events={
        'pair': dict(when='(x - 0.5)*(x - 0.6)'), 'near_pair': dict(when='(x - 1.5)*(x - 1.501)'), 'comb': dict(when='sin(20*x)'), 'rising': dict(when='sin(20*x)', direction='up'),
        'both_at_once': dict(when='x - 1'), 'at_once': dict(when='y - 2'), 'never': dict(when='x^2 + 1e-3')})
    comb = [k * mp.pi / 20 for k in range(1, 20)]
    found = user('pair', mpf(0.5), mpf(0.6)) + user('near_pair', mpf(1.5), mpf(1.501)) + user('comb', *comb) + user('rising', *comb[1::2]) + user('both_at_once', 1) + user('at_once', 1)
    result.append(closed('events_in_one_step', text, ([3, 6], [1, 2]), 'uniform', 'event', events=found, events_abs=1e-11))
    # Pendulum: passes the vertical at odd multiples of K/ω; stands still at even ones.
    K = mp.ellipk(sin(mp.pi / 4) ** 2) / sqrt(G)
    text = model('A pendulum and the times of its passages', 'x y', kinetic="(x'^2 + y'^2)/2", potential='9.81*y', constraints={'rod': 'x^2 + y^2 = 1'}, position={'x': 1}, to=10.0, events={
        'vertical': dict(when='x'), 'leftwards': dict(when='x', direction='down'), 'still': dict(when="x*y' - y*x'"), 'high': dict(when='y + 0.5', direction='up')})
    a, w = pendulum_exact(mpf(10), mp.pi / 2)
    passages = [k * K for k in range(1, 40, 2) if k * K < 10]
    still = [k * K for k in range(2, 40, 2) if k * K < 10]
    high = [mp.findroot(lambda t: -cos(pendulum_exact(t, mp.pi / 2)[0]) + mpf('0.5'), c - mpf('0.25')) for c in still]
    found = user('vertical', *passages) + user('leftwards', *passages[::2]) + user('still', *still) + user('high', *high)
    result.append(closed('pendulum_passages', text, ([sin(a), -cos(a)], [w * cos(a), w * sin(a)]), "Jacobi's elliptic functions", 'event holonomic', events=found, events_abs=1e-9))
    # Events of a kinked motion, at the kinks themselves: bang-bang, zeros at 1, 3, 5, …
    text = model('Events at the switches', 'x', kinetic="x'^2/2", force={'x': '-sign(x)'}, position={'x': 0.5}, to=6.5, events={'zero': dict(when='x'), 'turn': dict(when="x'")})
    result.append(closed('events_at_switches', text, ([-mpf('0.5') + mpf('0.5') ** 2 / 2], [mpf('0.5')]), 'parabolas', 'event kink',
                         events=user('zero', 1, 3, 5) + user('turn', 2, 4, 6), events_abs=1e-9))
    return result


# --- stiff -------------------------------------------------------------------------------------------------------------


@motion
def stiff():
    result = []
    # x = cos t is the slow motion of x'' = -cos t - 1e5 (x' + sin t) - 1e6 (x - cos t); rates 10 and 1e5.
    text = model('A stiff follower on its slow motion', 'x', kinetic="x'^2/2", force={'x': "-cos(t) - 1e5*(x' + sin(t)) - 1e6*(x - cos(t))"}, position={'x': 1}, to=10.0)
    t = mpf(10)
    result.append(with_run(closed('stiff_slow', text, ([cos(t)], [-sin(t)]), 'x = cos t', 'stiff', relative=1e-7), tolerance='1e-9'))
    text = model('A stiff follower off its slow motion', 'x', kinetic="x'^2/2", force={'x': "-cos(t) - 1e5*(x' + sin(t)) - 1e6*(x - cos(t))"}, position={'x': 1.5}, velocity={'x': -3}, to=0.5)
    r1, r2 = mp.polyroots([1, 100000, 1000000], extraprec=200, maxsteps=200)
    B = (-3 - r1 * mpf('0.5')) / (r2 - r1)
    A = mpf('0.5') - B
    t = mpf('0.5')
    x, v = cos(t) + A * exp(r1 * t) + B * exp(r2 * t), -sin(t) + A * r1 * exp(r1 * t) + B * r2 * exp(r2 * t)
    result.append(with_run(closed('stiff_transient', text, ([mp.re(x)], [mp.re(v)]), 'two exponentials', 'stiff', relative=1e-7), tolerance='1e-9'))
    # A pendulum in honey: a'' = -g sin a - 1000 a'.
    text = model('A pendulum in honey', 'x y', kinetic="(x'^2 + y'^2)/2", potential='9.81*y', force={'x': "-1000*x'", 'y': "-1000*y'"}, constraints={'rod': 'x^2 + y^2 = 1'}, position={'x': 1}, to=20.0)
    result.append(with_run(solved('pendulum_in_honey', text, Minimal(text, ['a'], {'x': 'sin(a)', 'y': '-cos(a)'}), [mp.pi / 2, 0], 'the angle', 'stiff holonomic', relative=1e-7, tolerance=1e-20), tolerance='1e-9'))
    # A thread instead of a rod: stiffness 1e6, lightly damped; 160 vibrations a second on top of the swing.
    text = model('A pendulum on a stiff spring', 'x y', define={'r': 'sqrt(x^2 + y^2)', 'pull': "(1e6*(r - 1) + 20*(x*x' + y*y')/r)/r"}, kinetic="(x'^2 + y'^2)/2", potential='9.81*y',
                 force={'x': '-pull*x', 'y': '-pull*y'}, position={'x': 1}, velocity={'y': -1}, to=1.0)
    t = Text(text)
    result.append(solved('stiff_spring', text, IndexReduced(t), t.start('position') + t.start('velocity'), 'extrapolation in 40 digits', 'stiff', tolerance=1e-20))
    return result
