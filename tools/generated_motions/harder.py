"""Motions that few programs are tried on: rows that vanish in other ways, coordinates that fail, ends that must be admitted."""
from mpmath import cos, mp, mpf, sin, sqrt

from case import Text, closed, honest, motion, solved
from crossings import ladder, ladder_text, start_of
from ladder import factor
from model_text import model
from reduction import IndexReduced, Minimal

G = mpf(9.81)
NOWHERE = 99  # no motion ends there


@motion
def rows_that_vanish():
    result = []
    # A velocity row that vanishes where x = 0; y' = 0 before and after.
    text = model('A velocity row that vanishes on the way', 'x y', kinetic="(x'^2 + y'^2)/2", force={'x': '-x', 'y': '0.3'}, constraints={'row': "x*y' = 0"}, position={'x': -1, 'y': 2},
                 velocity={'x': 1}, to=2.0)
    t = mpf(2)
    result.append(closed('velocity_row_vanishes', text, ([-cos(t) + sin(t), 2], [sin(t) + cos(t), 0]), 'an oscillator with y fixed', 'singular nonholonomic'))
    # Appell and Hamel's machine comes to rest for an instant and goes down again.
    text = model("Appell and Hamel's machine goes up, stops and comes down", 'x y z', kinetic="1.7*(x'^2 + y'^2 + z'^2)/2", potential='1.7*9.81*z',
                 constraints={'machine': "z'^2 = 0.25*(x'^2 + y'^2)"}, velocity={'x': 3, 'y': 4, 'z': 2.5}, to=2.0)
    a = mpf('0.5') * G / mpf('1.25')
    s, sd = 5 * 2 - a * 2, 5 - a * 2
    result.append(honest('appell_hamel_returns', text, ([s * 3 / 5, s * 4 / 5, s / 2], [sd * 3 / 5, sd * 4 / 5, sd / 2]), 'uniform; at rest the row vanishes', 'singular honest nonholonomic'))
    # Both rows of two lines vanish, one after the other.
    text = model('Two rows that vanish one after the other', 'x y z', kinetic="(x'^2 + y'^2 + z'^2)/2", potential='y + 2*z', constraints={'first': 'x*y = 0', 'second': '(x - 0.3)*z = 0'},
                 position={'x': -1}, velocity={'x': 1}, to=2.0)
    result.append(closed('two_rows_vanish', text, ([1, 0, 0], [1, 0, 0]), 'uniform on the x axis', 'singular holonomic',
                         events=[{'time': 1.0, 'kind': 'singular'}, {'time': 1.3, 'kind': 'singular'}]))
    # Rows that come to contradict each other.
    text = model('Two clocks that agree only at first', 'x y', kinetic="(x'^2 + y'^2)/2", constraints={'one': 'x = t', 'other': 'x = sin(t)'}, velocity={'x': 1}, to=1.0)
    result.append(honest('clocks_part', text, ([NOWHERE, NOWHERE], [0, 0]), 'no motion meets both', 'honest contradiction'))
    text = model('A rod that becomes too short', 'x y', kinetic="(x'^2 + y'^2)/2", potential='9.81*y', constraints={'rod': 'x^2 + y^2 = 1', 'line': 'y = -0.5 - 0.4*t'},
                 position={'x': sqrt(mpf('0.75')), 'y': -0.5}, velocity={'x': '-0.5*0.4/sqrt(0.75)', 'y': -0.4}, to=2.0)
    result.append(honest('rod_too_short', text, ([NOWHERE, NOWHERE], [0, 0]), 'from t = 1.25 on the line misses the circle', 'honest contradiction'))
    return result


@motion
def ladders_at_the_limit():
    k = factor(2)
    v = sqrt(2 * k)
    names = [f'{c}{i}' for i in range(3) for c in 'xy']
    flat = {'flat': lambda t, y: cos(y[0])}
    result = [ladder('ladder_2_over_by_little', 'Ladder of 2 that passes the flat position by 0.002 rad and turns', 2, mp.pi, v * mpf('1.001'), 2, watch=flat, events_abs=1e-8, longest=0.01)]
    # With just the speed to reach the flat position: it would come to rest where it may branch.
    q = [c for i in range(3) for c in (mpf(i), mpf(-1))]
    qd = [c for i in range(3) for c in (-v, mpf(0))]
    text = ladder_text(2, 'Ladder of 2 that comes to rest in the flat position', start_of(names, q), start_of(names, qd), 2.0)
    bare = Minimal(text, ['s'], {f'{c}{i}': f'{i} + sin(s)' if c == 'x' else 'cos(s)' for i in range(3) for c in 'xy'})
    import precise
    y = precise.twice(bare, [mp.pi, v], 0, 2)[0]
    result.append(honest('ladder_2_rests_flat', text, bare.place(mpf(2), y), 'by symmetry the parallel branch goes back', 'singular honest holonomic', relative=1e-6))
    result.append(ladder('ladder_2_drag', 'Ladder of 2 with drag that is not ideal', 2, 0, 6, 3, extra='[nonideal]\n' + ''.join(f'{c} = "-0.3*{c}\'"\n' for c in names),
                         tags='singular nonideal holonomic'))
    case = ladder('ladder_2_events', 'Ladder of 2 with events where it is singular', 2, 0, 6, 2, extra='[events]\nlevel = { when = "y0" }\nlow = { when = "y1 + 0.5", direction = "down" }\n',
                  watch={'level': lambda t, y: cos(y[0]), 'low': lambda t, y: cos(y[0]) + mpf('0.5')}, kinds={'level': 'user', 'low': 'user'}, only={'low': False})
    result.append(case)
    # The driven ladder, by control instead of a constraint.
    text = ladder_text(1, 'Ladder of 1 that is told to turn uniformly', 'x0 = 0, y0 = 1, x1 = 1, y1 = 1', 'x0 = 3, x1 = 3', 2.0,
                       extra='[control.drive]\nequation = "x0*cos(3*t) = y0*sin(3*t)"\nfrequency = 5.0\ndamping = 1.0\n')
    t, w = mpf(2), mpf(3)
    result.append(closed('ladder_1_controlled', text, ([sin(w * t), cos(w * t), 1 + sin(w * t), cos(w * t)], [w * cos(w * t), -w * sin(w * t)] * 2), 'the angle is 3 t', 'singular control rheonomic'))
    return result


@motion
def kite():
    """Cranks 1 and 2, coupler 1, base 2: the second tip is the first pivot mirrored in the line from the first tip to the second pivot; when
    flat it meets the branch where it lies on that pivot for ever."""
    ax, ay = 'sin(s)', 'cos(s)'
    d2 = f'(({ax} - 2)^2 + {ay}^2)'
    # mirror of the origin in the line through A and (2, 0): twice the foot of the perpendicular
    places = {'x0': ax, 'y0': ay, 'x1': f'2*2*{ay}^2/{d2}', 'y1': f'-2*2*{ay}*({ax} - 2)/{d2}'}
    fields = dict(kinetic="(x0'^2 + y0'^2)/2 + (x1'^2 + y1'^2)/2", potential='9.81*(y0 + y1/2)',
                  constraints={'crank': 'x0^2 + y0^2 = 1', 'coupler': '(x1 - x0)^2 + (y1 - y0)^2 = 1', 'rocker': '(x1 - 2)^2 + y1^2 = 4'}, to=3.0)
    bare = Minimal(model('', 'x0 y0 x1 y1', **fields), ['s'], places)
    q, qd = bare.place(mpf(0), [mpf('0.4'), mpf(4)])
    names = ['x0', 'y0', 'x1', 'y1']
    text = model('A kite-shaped linkage through its flat positions', 'x0 y0 x1 y1', **fields, position=dict(zip(names, q)), velocity=dict(zip(names, qd)))
    return solved('kite', text, Minimal(text, ['s'], places), ['0.4', 4], 'Lagrange in the angle of the crank; the second tip by a reflection', 'singular holonomic',
                  watch={'flat': lambda t, y: cos(y[0])})


@motion
def coordinates_that_fail():
    result = []
    text = model('Polar coordinates through the origin', 'r a', kinetic="(r'^2 + r^2*a'^2)/2", potential='2*r^2', position={'r': 1, 'a': 0.3}, to=2.0)
    result.append(closed('polar_through_origin', text, ([cos(mpf(4)), mpf('0.3')], [-2 * sin(mpf(4)), 0]), 'an oscillator on a line; r goes negative', 'energy'))
    text = model('Late in the day', 'x y', kinetic="(x'^2 + y'^2)/2", potential='9.81*y', constraints={'rod': '(x - sin(t - 1e6))^2 + y^2 = 1'}, time=1e6, position={'y': -1}, velocity={'x': 1}, to=1e6 + 2)
    same = model('', 'x y', kinetic="(x'^2 + y'^2)/2", potential='9.81*y', constraints={'rod': '(x - sin(t))^2 + y^2 = 1'}, position={'y': -1}, velocity={'x': 1}, to=2.0)
    other = solved('late', same, Minimal(same, ['a'], {'x': 'sin(t) + sin(a)', 'y': '-cos(a)'}), [0, 0], 'Lagrange in the angle, a million seconds earlier', 'rheonomic holonomic')
    other.text, other.expected['end']['time'] = text, 1e6 + 2
    result.append(other)
    # Hooke's joint under 60 degrees: tan b = tan a/cos 60°, as a row without tangents.
    text = model("Hooke's joint", 'a b', kinetic="2*a'^2/2 + b'^2/2", potential='5*cos(b)', constraints={'joint': 'sin(b)*cos(a)*0.5 = sin(a)*cos(b)'}, velocity={'a': 3, 'b': 6}, to=4.0)
    t = Text(text)
    result.append(solved('hooke_joint', text, IndexReduced(t), t.start('position') + t.start('velocity'), 'index-reduced equations', 'holonomic'))
    return result


@motion
def ends_that_must_be_admitted():
    result = []
    # An ideal impulse of 2 on x; what it does to y is decided by the mass matrix: y' + x'/2 stays.
    text = model('A drive that reverses at once', 'x y', kinetic="(x'^2 + y'^2)/2 + x'*y'/2", constraints={'drive': 'x = abs(t - 1)'}, position={'x': 1}, velocity={'x': -1}, to=3.0)
    result.append(honest('corner_in_time', text, ([2, -2], [1, -1]), 'the velocity jumps by an ideal impulse, or the program says that it cannot', 'honest kink'))
    for name, title, fields, source in (
            ('corner_in_place', 'A wire with a corner', dict(constraints={'wire': 'y = abs(x)'}, position={'x': -1, 'y': 1}, velocity={'x': 1, 'y': -1}), 'the velocity would have to jump'),
            ('out_of_domain', 'A root that leaves its domain', dict(force={'x': '0.1*sqrt(1 - x)'}, velocity={'x': 1}), 'from x = 1 on the force is no number'),
            ('collision', 'A fall into an attracting centre', dict(potential='-1/abs(x)', position={'x': 1}), 'the speed becomes infinite at t = pi/sqrt(8)'),
            ('blow_up', 'A force that grows without bound', dict(force={'x': '6*x^2'}, position={'x': 1}, velocity={'x': 2}), 'x = 1/(1 - t)²'),
            ('logarithm', 'A logarithm that leaves its domain', dict(potential='x*log(x)', position={'x': 0.2}, velocity={'x': -3}), 'from x = 0 on the force is no number')):
        text = model(title, 'x y', kinetic="(x'^2 + y'^2)/2", **fields, to=3.0)
        result.append(honest(name, text, ([NOWHERE, NOWHERE], [0, 0]), source, 'honest'))
    return result
