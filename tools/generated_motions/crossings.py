"""Motions through configurations where the rank of A drops, near them, and out of them.

All have one degree of freedom, and the oracle is Lagrange's equation in a coordinate that knows nothing of the singularity."""
import re

from mpmath import mp, mpf

from case import Case, Text, closed, honest, motion, refused, solved
from reduction import Minimal

# --- curves with a node ------------------------------------------------------------------------------------------------

POINT = '''
title = "{title}"
coordinates = ["x", "y"]
[dynamics]
kinetic = "1.3/2*(x'^2 + y'^2)"
potential = "{potential}"
[constraints]
{rows}
{nonideal}
[start]
position = {{ {position} }}
velocity = {{ {velocity} }}
[run]
to = {to}
'''


def point(title, rows, position, velocity, to, potential='0', nonideal=''):
    return POINT.format(**locals())


@motion
def crossing_lines():
    # x y = 0 along the x axis, through the origin; the spring in y and the load are carried by the constraint.
    text = point('Two lines that cross: x y = 0', 'cross = "x*y = 0"', 'x = -1', 'x = 1.7', 2.5, '1.3/2*0.8*x^2 + 4*y + 3*(y - 1)^2')
    w = mp.sqrt(mpf('0.8'))
    x = lambda t: -mp.cos(w * t) + mpf(1.7) / w * mp.sin(w * t)  # noqa: E731
    times = [mp.findroot(x, 0.5)]
    return closed('crossing_lines', text, ([x(2.5), 0], [mp.diff(x, 2.5), 0]), 'on the line y = 0 an oscillator', 'singular holonomic',
                  events=[{'time': float(times[0]), 'kind': 'singular'}])


@motion
def crossing_lines_start_there():
    text = point('Two lines that cross: start on the crossing along y', 'cross = "x*y = 0"', 'x = 0', 'y = 2', 1.5, '1.3*9.81*y + 5*x')
    return closed('crossing_lines_start_there', text, ([0, 2 * mpf(1.5) - mpf(9.81) / 2 * mpf(1.5) ** 2], [0, 2 - mpf(9.81) * mpf(1.5)]),
                  'on the line x = 0 free fall; the crossing is passed again on the way down', 'singular start holonomic')


def lemniscate(name, title, s0, speed, to, **more):
    """(x² + y²)² = 4 (x² − y²): x = 2 cos s/(1 + sin² s), y = x sin s."""
    x, y = '2*cos(s)/(1 + sin(s)^2)', '2*sin(s)*cos(s)/(1 + sin(s)^2)'
    t = Minimal(point('', '', 'x = 0', '', 1), ['s'], {'x': x, 'y': y})
    q, qd = t.place(mpf(0), [mpf(s0), mpf(speed)])
    position = ', '.join(f'{c} = {mp.nstr(v, 25)}' for c, v in zip('xy', q))
    velocity = ', '.join(f'{c} = {mp.nstr(v, 25)}' for c, v in zip('xy', qd))
    text = point(title, 'curve = "(x^2 + y^2)^2 = 4*(x^2 - y^2)"' + more.pop('rows', ''), position, velocity, to, more.pop('potential', '1.3*9.81*y'),
                 more.pop('nonideal', ''))
    return solved(name, text, Minimal(text, ['s'], {'x': x, 'y': y}), [s0, speed], 'Lagrange in the parameter of the curve',
                  'singular holonomic', watch={'node': lambda t, y: mp.cos(y[0])}, **more)


@motion
def lemniscates():
    return [
        lemniscate('lemniscate', 'A bead on a figure of eight', 0.25, 6, 3),
        lemniscate('lemniscate_slow', 'A bead that swings in one half of a figure of eight and comes just through the node', 0.5, -3, 4),
        lemniscate('lemniscate_drag', 'A bead on a figure of eight with drag as a force that is not ideal', 0.25, 6, 3,
                   nonideal='[nonideal]\nx = "-0.2*x\'"\ny = "-0.2*y\'"'),
        lemniscate('lemniscate_redundant', 'A figure of eight stated three times: scaled, divided, squared', 0.25, 5, 2,
                   rows='\ntwice = "1e3*(x^2 + y^2)^2 = 4e3*(x^2 - y^2)"\nother = "((x^2 + y^2)^2 - 4*(x^2 - y^2))/(3 + x^2) = 0"\n'
                        'square = "((x^2 + y^2)^2 - 4*(x^2 - y^2))^2 = 0"'),
    ]


@motion
def lemniscate_from_node():
    x, y = '2*sin(s)/(1 + cos(s)^2)', '2*sin(s)*cos(s)/(1 + cos(s)^2)'
    text = point('A bead that starts on the node of a figure of eight', 'curve = "(x^2 + y^2)^2 = 4*(x^2 - y^2)"', 'x = 0', 'x = 3, y = 3', 3, '1.3*9.81*y')
    return solved('lemniscate_from_node', text, Minimal(text, ['s'], {'x': x, 'y': y}), [0, 3], 'Lagrange in the parameter of the curve', 'singular start holonomic')


SPACE = '''
title = "{title}"
coordinates = ["x", "y", "z"]
[dynamics]
kinetic = "0.7/2*(x'^2 + y'^2 + z'^2)"
potential = "{potential}"
[constraints]
{rows}
[start]
position = {{ {position} }}
velocity = {{ {velocity} }}
[run]
to = {to}
'''


@motion
def viviani():
    """Sphere and cylinder that touch: x = 1 + cos s, y = sin s, z = 2 sin(s/2); node at s = 0 and 2 pi."""
    result = []
    for name, rows in (('viviani', ''), ('viviani_redundant', '\ndifference = "z^2 = 4 - 2*x"\nagain = "5*(x^2 + y^2 + z^2 - 4) + (x^2 - 2*x + y^2) = 0"')):
        text = SPACE.format(title="A bead on Viviani's curve, through its node", potential='0.7*9.81*(z + 0.3*y)', to=3.0,
                            rows='sphere = "x^2 + y^2 + z^2 = 4"\ncylinder = "(x - 1)^2 + y^2 = 1"' + rows,
                            position='x = "1 + cos(pi/2)", y = 1, z = "2*sin(pi/4)"', velocity='x = -7, y = 0, z = "7*cos(pi/4)"')
        result.append(solved(name, text, Minimal(text, ['s'], {'x': '1 + cos(s)', 'y': 'sin(s)', 'z': '2*sin(s/2)'}), [mp.pi / 2, 7],
                             'Lagrange in the parameter of the curve', 'singular holonomic redundant', watch={'node': lambda t, y: mp.sin(y[0] / 2)}))
    return result


@motion
def two_pipes():
    """Two cylinders of equal radius at right angles meet in two ellipses, which cross at (0, 0, ±1)."""
    text = SPACE.format(title='A bead where two equal pipes meet', potential='0.7*9.81*z + 0.5*x', to=2.5, rows='one = "x^2 + z^2 = 1"\nother = "y^2 + z^2 = 1"',
                        position='x = 1, y = -1, z = 0', velocity='z = 6')
    return solved('two_pipes', text, Minimal(text, ['s'], {'x': 'cos(s)', 'y': '-cos(s)', 'z': 'sin(s)'}), [0, 6], 'Lagrange in the angle on the ellipse',
                  'singular holonomic', watch={'top': lambda t, y: mp.cos(y[0])})


@motion
def tangent_branches():
    # y = 0 and y = x² touch at the origin: the velocity does not tell them apart, only smoothness does.
    text = point('Two branches that touch', 'both = "y*(y - x^2) = 0"', 'x = -1', 'x = 1', 2, '0.4*y')
    return honest('tangent_branches', text, ([1, 0], [1, 0]), 'uniform on y = 0', 'singular honest holonomic')


@motion
def three_lines():
    text = point('Three lines through a point', 'lines = "x*y*(x - y) = 0"', 'x = -1', 'x = 1', 2, '0.4*y')
    return honest('three_lines', text, ([1, 0], [1, 0]), 'uniform on y = 0; the row vanishes twice there', 'singular honest holonomic')


@motion
def cusp():
    # The particle would have to stop at the tip of y² = x³; no smooth motion goes on there.
    text = point('A cusp', 'cusp = "y^2 = x^3"', 'x = 1, y = -1', 'x = -2, y = 3', 5)
    return honest('cusp', text, ([0, 0], [99, 99]), 'the motion ends at the tip', 'singular honest holonomic')


# --- slider and crank --------------------------------------------------------------------------------------------------

SLIDER = '''
title = "{title}"
coordinates = ["x", "y", "s"]
[parameters]
r = {r}
l = {l}
[dynamics]
kinetic = "{mass}/2*(x'^2 + y'^2) + 0.5/2*s'^2"
potential = "{mass}*9.81*y + {spring}/2*(s - 0.3)^2"
[constraints]
crank = "x^2 + y^2 = r^2"
rod = "(s - x)^2 + y^2 = l^2"
[start]
position = {{ {position} }}
velocity = {{ {velocity} }}
[run]
to = {to}
'''


def slider(name, title, r, l, angle, speed, to, rod_angle=False, spring=2.0, mass=1.0, **more):
    if rod_angle:  # b: from the slider, y = l sin b
        places = {'x': 'sqrt(r^2 - (l*sin(b))^2)', 'y': 'l*sin(b)', 's': 'sqrt(r^2 - (l*sin(b))^2) + l*cos(b)'}
    elif r == l:
        places = {'x': 'r*cos(b)', 'y': 'r*sin(b)', 's': '2*r*cos(b)'}
    else:
        places = {'x': 'r*cos(b)', 'y': 'r*sin(b)', 's': 'r*cos(b) + sqrt(l^2 - (r*sin(b))^2)'}
    fields = dict(title=title, r=r, l=l, spring=spring, mass=mass, to=to)
    q, qd = Minimal(SLIDER.format(**fields, position='', velocity=''), ['b'], places).place(mpf(0), [mpf(angle), mpf(speed)])
    text = SLIDER.format(**fields, position=', '.join(f'{c} = {mp.nstr(v, 25)}' for c, v in zip('xys', q)),
                         velocity=', '.join(f'{c} = {mp.nstr(v, 25)}' for c, v in zip('xys', qd)))
    watch = {'dead': lambda t, y: mp.cos(y[0])} if r == l else None
    return solved(name, text, Minimal(text, ['b'], places), [angle, speed], 'Lagrange in the angle of the crank (of the rod where the crank cannot turn)',
                  'holonomic ' + ('singular' if r == l else 'near'), watch=watch, **more)


@motion
def sliders():
    return [
        slider('slider_dead_points', 'Slider and crank through its dead points', 0.5, 1.0, 0.3, 9.0, 3.0),
        slider('slider_equal', 'Slider and crank of equal lengths through its singular dead point', 1.0, 1.0, 0.3, 5.0, 4.0),
        slider('slider_equal_back', 'Slider and crank of equal lengths, the other way round', 1.0, 1.0, 0.3, -6.0, 4.0),
        slider('slider_equal_swing', 'Slider and crank of equal lengths that swings through its lower dead point', 1.0, 1.0, -0.4, 0.0, 5.0),
        slider('slider_near_long_rod', 'Slider and crank, rod 1.001: the singular dead point is missed', 1.0, 1.001, 0.3, 5.0, 3.0),
        slider('slider_near_long_crank', 'Slider and crank, crank 1.001: the crank turns back, the rod goes over', 1.001, 1.0, 0.3, 5.0, 3.0, rod_angle=True),
        slider('slider_near_1e-6', 'Slider and crank, rod longer by 1e-6', 1.0, 1.000001, 0.3, 5.0, 1.5, tolerance=1e-22, relative=1e-7),
        slider('slider_light', 'Slider and crank of equal lengths, the crank a thousand times lighter than the slider', 1.0, 1.0, 0.3, 5.0, 4.0, mass=0.0005),
    ]


@motion
def slider_massless():
    """Only the slider has mass: s = 2 x moves freely under its force, the crank follows through its dead point."""
    text = SLIDER.format(title='Slider and crank of equal lengths whose crank is without mass', r=1.0, l=1.0, spring=2.0, mass=0,
                         position='x = 0.8, y = 0.6, s = 1.6', velocity='s = -1.5, x = -0.75, y = 1', to=1.2)
    w = mpf(2)
    s = lambda t: mpf(0.3) + (mpf('1.6') - mpf(0.3)) * mp.cos(w * t) - mpf('1.5') / w * mp.sin(w * t)  # noqa: E731
    t = mpf(1.2)
    x, v = s(t) / 2, mp.diff(s, t) / 2
    y = mp.sqrt(1 - x * x)
    dead = mp.findroot(s, 0.9)
    return closed('slider_massless', text, ([x, y, 2 * x], [v, -x * v / y, 2 * v]), 'the slider is an oscillator, the crank is geometry',
                  'singular massless holonomic', events=[{'time': float(dead), 'kind': 'singular'}], events_abs=1e-8)


@motion
def two_sliders():
    """Two mechanisms in one model, their dead points 0.01 s and less apart; each is alone in the oracle."""
    cases = []
    for name, gap in (('two_sliders_apart', 0.05), ('two_sliders_near', 0.005), ('two_sliders_together', 0.0)):
        single = [slider('a', 'one', 1.0, 1.0, angle, 5.0, 2.0) for angle in (0.3, 0.3 + gap)]
        a, b = (Text(c.text) for c in single)
        rename = lambda text, k: re.sub(r"\b([xys])\b", rf'\g<1>{k}', text)  # noqa: E731
        join = lambda part: ', '.join(f'{c}{k} = {mp.nstr(v, 25)}' for k, m in ((1, a), (2, b)) for c, v in zip('xys', m.start(part)))  # noqa: E731
        kinetic, potential = a.toml['dynamics']['kinetic'], a.toml['dynamics']['potential']
        text = f'''
title = "Two slider-cranks that pass their singular dead points {gap} rad apart"
coordinates = ["x1", "y1", "s1", "x2", "y2", "s2"]
[dynamics]
kinetic = "{rename(kinetic, 1)} + {rename(kinetic, 2)}"
potential = "{rename(potential, 1)} + {rename(potential, 2)}"
[constraints]
crank1 = "x1^2 + y1^2 = 1"
rod1 = "(s1 - x1)^2 + y1^2 = 1"
crank2 = "x2^2 + y2^2 = 1"
rod2 = "(s2 - x2)^2 + y2^2 = 1"
[start]
position = {{ {join('position')} }}
velocity = {{ {join('velocity')} }}
[run]
to = 2.0
'''
        end = [c.expected['end'] for c in single]
        times = sorted((e['time'] for c in single for e in c.expected['run_events']))
        whole = {'tolerance': {'trajectory_rel': 1e-9},
                 'end': {'time': 2.0, **{part: {f'{c}{k}': e[part][c] for k, e in ((1, end[0]), (2, end[1])) for c in 'xys'} for part in ('position', 'velocity')},
                         'verified_accuracy': 1e-16}}
        if gap >= 0.01:
            whole['tolerance']['events_abs'] = 1e-8
            whole['run_events'] = [{'time': time, 'kind': 'singular'} for time in times]
        cases.append(Case(name, text, 'each mechanism alone, in the angle of its crank', 'singular holonomic', whole))
    return cases


# --- four-bar linkages -------------------------------------------------------------------------------------------------


def ladder_text(n, title, position, velocity, to, base=1, crank=1, pivot=('0', '0'), extra='', time=0.0):
    """N + 1 cranks, N couplers, uniform rods of mass 1; pivots may move."""
    px, py = pivot
    at = lambda i: f'{i * base}' + (f' + {px}' if px != '0' else '')  # noqa: E731
    rod = lambda a, b: f"(x{a}'^2 + y{a}'^2 + x{a}'*x{b}' + y{a}'*y{b}' + x{b}'^2 + y{b}'^2)/6"  # noqa: E731
    if pivot == ('0', '0'):
        cranks = [f"(x{i}'^2 + y{i}'^2)/6" for i in range(n + 1)]
    else:
        cranks = [f"((x{i}'^2 + y{i}'^2) + x{i}'*vx + y{i}'*vy + vx^2 + vy^2)/6" for i in range(n + 1)]
    up = lambda i: f'(y{i} - ({py}))^2' if py != '0' else f'y{i}^2'  # noqa: E731
    rows = [f'crank{i} = "(x{i} - ({at(i)}))^2 + {up(i)} = {crank * crank}"' for i in range(n + 1)]
    rows += [f'coupler{i} = "(x{i + 1} - x{i})^2 + (y{i + 1} - y{i})^2 = {base * base}"' for i in range(n)]
    names = [f'{c}{i}' for i in range(n + 1) for c in 'xy']
    define = ''
    if pivot != ('0', '0'):
        import sympy as sp
        rate = lambda e: str(sp.diff(sp.sympify(e.replace('^', '**')), sp.Symbol('t'))).replace('**', '^')  # noqa: E731
        define = f'[define]\nvx = "{rate(px)}"\nvy = "{rate(py)}"\n'
    return f'''
title = "{title}"
coordinates = {str(names).replace("'", '"')}
{define}[dynamics]
kinetic = "{' + '.join(cranks + [rod(i, i + 1) for i in range(n)])}"
potential = "9.81*({' + '.join(f'y{i}/2' for i in range(n + 1))} + {' + '.join(f'(y{i} + y{i + 1})/2' for i in range(n))})"
[constraints]
{chr(10).join(rows)}
{extra}[start]
time = {time}
position = {{ {position} }}
velocity = {{ {velocity} }}
[run]
to = {to}
'''


def start_of(names, values):
    return ', '.join(f'{c} = {mp.nstr(v, 25)}' for c, v in zip(names, values))


def ladder(name, title, n, angle, speed, to, base=1, crank=1, pivot=('0', '0'), places=None, extra='', tags='singular holonomic', **more):
    """A ladder in its angle θ from the upward vertical, all cranks parallel unless `places` says otherwise."""
    if places is None:
        places = {}
        for i in range(n + 1):
            places[f'x{i}'] = f'{i * base} + {crank}*sin(s) + {pivot[0]}'
            places[f'y{i}'] = f'{crank}*cos(s) + {pivot[1]}'
    names = [f'{c}{i}' for i in range(n + 1) for c in 'xy']
    bare = Minimal(ladder_text(n, title, '', '', to, base, crank, pivot), ['s'], places)
    q, qd = bare.place(mpf(0), [mpf(angle), mpf(speed)])
    snap = lambda values: [v if abs(v) > 1e-20 else mpf(0) for v in values]  # noqa: E731
    text = ladder_text(n, title, start_of(names, snap(q)), start_of(names, snap(qd)), to, base, crank, pivot, extra)
    source = more.pop('source', 'Lagrange in the angle of the cranks')
    more.setdefault('watch', {'flat': lambda t, y: mp.cos(y[0])})
    return solved(name, text, Minimal(text, ['s'], places), [angle, speed], source, tags, **more)


@motion
def ladders():
    half = mp.pi / 2
    result = []
    for n in (1, 2, 3):
        result.append(ladder(f'ladder_{n}_forward', f'Ladder of {n} through its flat positions', n, 0, 2, 2))
        result.append(ladder(f'ladder_{n}_backward', f'Ladder of {n} through its flat positions, the other way round', n, 0.2, -4, 2))
    result += [
        ladder('ladder_2_swing', 'Ladder of 2 that swings through the flat position and comes back', 2, mp.pi, 6.5, 3),
        ladder('ladder_1_turns_near_flat', 'Ladder of 1 that turns back just after the flat position', 1, mp.pi, 5.5, 3),
        ladder('ladder_2_no_crossing', 'Ladder of 2 that swings without reaching the flat position', 2, mp.pi, 4, 3, watch={}),
        ladder('ladder_2_from_flat', 'Ladder of 2 that starts on the flat position', 2, half, 1.5, 2, tags='singular start holonomic', watch={}),
        ladder('ladder_1_from_flat_up', 'Ladder of 1 that starts on the flat position, upwards', 1, half, -7, 2, tags='singular start holonomic', watch={}),
        ladder('ladder_3_long', 'Ladder of 3 with couplers twice as long as the cranks', 3, 0.1, 3, 3, base=2),
    ]
    return result


@motion
def ladder_moving():
    """Pivots that move: both components start at rest and at zero."""
    return ladder('ladder_moving', 'Ladder of 2 whose pivots shake', 2, 0, 5, 3, pivot=('0.2*(1 - cos(3*t))', '0.1*sin(5*t)^2'), tags='singular rheonomic',
                  source='Lagrange in the angle of the cranks, in the moving frame')


@motion
def rhombus_folded():
    """All lengths 1: the first crank lies on the second pivot and stays, the second crank and the coupler turn together."""
    places = {'x0': '1', 'y0': '0', 'x1': '1 + sin(s)', 'y1': 'cos(s)'}
    return [
        ladder('rhombus_folded', 'Rhombus on its folded branch, through the flat position', 1, 0.3, 4, 2, places=places,
               source='a pendulum about the second pivot', watch={'flat': lambda t, y: mp.cos(y[0])}),
        ladder('rhombus_folded_from_flat', 'Rhombus that starts flat into its folded branch', 1, mp.pi / 2, -3, 2, places=places, source='a pendulum about the second pivot',
               tags='singular start holonomic', watch={}),
    ]


def crossed_places(base=2, crank=1):
    """Antiparallelogram: the parallelogram's second tip mirrored in the line from the first tip to the second pivot."""
    ax, ay = f'({crank}*sin(s))', f'({crank}*cos(s))'
    ux, uy = f'({base} - {ax})', f'(-{ay})'
    along = f'(2*({base}*{ux})/({ux}^2 + {uy}^2))'
    return {'x0': ax, 'y0': ay, 'x1': f'{ax} + {along}*{ux} - {base}', 'y1': f'{ay} + {along}*{uy}'}


@motion
def antiparallelograms():
    source = 'Lagrange in the angle of the first crank; the second tip by a reflection'
    p = crossed_places()
    return [
        ladder('antiparallelogram', 'Antiparallelogram through its flat positions', 1, 0.3, 4, 3, base=2, places=p, source=source),
        ladder('antiparallelogram_from_flat', 'Four-bar linkage that starts flat into its crossed branch', 1, mp.pi / 2, 2, 3, base=2, places=p, source=source,
               tags='singular start holonomic', watch={}),
        ladder('parallelogram_from_flat', 'The same linkage that starts flat into its parallel branch', 1, mp.pi / 2, 2, 3, base=2, source=source,
               tags='singular start holonomic', watch={}),
    ]


def four_bar(name, title, a, b, c, d, angle, speed, to, sign=1, **more):
    """Crank a, coupler b, rocker c, base d: the second tip is where two circles meet, on the side `sign`, which a crank that can
    turn fully never leaves."""
    ax, ay = f'({a}*cos(s))', f'({a}*sin(s))'
    ux, uy = f'({d} - {ax})', f'(-{ay})'
    e2 = f'({ux}^2 + {uy}^2)'
    p = f'(({b}^2 - {c}^2 + {e2})/(2*{e2}))'
    q = f'(sqrt({b}^2/{e2} - {p}^2))'
    places = {'x0': ax, 'y0': ay, 'x1': f'{ax} + {p}*{ux} - {sign}*{q}*{uy}', 'y1': f'{ay} + {p}*{uy} + {sign}*{q}*{ux}'}
    template = '''
title = "{title}"
coordinates = ["x0", "y0", "x1", "y1"]
[dynamics]
kinetic = "(x0'^2 + y0'^2)/6 + (x1'^2 + y1'^2)/6 + (x0'^2 + y0'^2 + x0'*x1' + y0'*y1' + x1'^2 + y1'^2)/6"
potential = "9.81*(y0 + y1)"
[constraints]
crank = "x0^2 + y0^2 = {a}^2"
coupler = "(x1 - x0)^2 + (y1 - y0)^2 = {b}^2"
rocker = "(x1 - {d})^2 + y1^2 = {c}^2"
[start]
position = {{ {position} }}
velocity = {{ {velocity} }}
[run]
to = {to}
'''
    names = ['x0', 'y0', 'x1', 'y1']
    fields = dict(title=title, a=a, b=b, c=c, d=d, to=to)
    bare = Minimal(template.format(**fields, position='', velocity=''), ['s'], places)
    start, rate = bare.place(mpf(0), [mpf(angle), mpf(speed)])
    text = template.format(**fields, position=start_of(names, start), velocity=start_of(names, rate))
    return solved(name, text, Minimal(text, ['s'], places), [angle, speed], 'Lagrange in the angle of the crank', 'near holonomic', **more)


@motion
def four_bars():
    return [
        four_bar('four_bar_near', 'Crank and rocker that miss the flat position by a thousandth', 0.999, 2.0, 1.0, 2.0, 1.2, 6.0, 2.0),
        four_bar('four_bar_near_crossed', 'The same linkage on its crossed side', 0.999, 2.0, 1.0, 2.0, 1.2, 6.0, 2.0, sign=-1),
        four_bar('four_bar_far', 'Crank and rocker far from any singular position', 0.5, 1.2, 1.0, 1.5, 0.3, 8.0, 3.0),
        four_bar('four_bar_near_1e-5', 'Crank and rocker that miss the flat position by a hundred-thousandth', 0.99999, 2.0, 1.0, 2.0, 1.2, 6.0, 1.5, relative=1e-7),
    ]


@motion
def parallelogram_in_angles():
    text = '''
title = "Parallelogram in the angles of its rods"
coordinates = ["a", "b", "c"]
[dynamics]
kinetic = "a'^2/6 + c'^2/6 + (b'^2/3 + a'^2 + a'*b'*cos(a - b))/2"
potential = "9.81*(sin(a)/2 + sin(c)/2 + sin(a) + sin(b)/2)"
[constraints]
close_x = "cos(a) + cos(b) - cos(c) = 1"
close_y = "sin(a) + sin(b) - sin(c) = 0"
[start]
position = { a = 0.5, c = 0.5 }
velocity = { a = 4, c = 4 }
[run]
to = 3.0
'''
    return solved('parallelogram_in_angles', text, Minimal(text, ['s'], {'a': 's', 'b': '0*s', 'c': 's'}), [0.5, 4], 'Lagrange in the common angle',
                  'singular holonomic', watch={'flat': lambda t, y: mp.sin(y[0])})


@motion
def three_cranks():
    """A rigid coupler on three parallel cranks, pivots at (-1, 0), (0, 0), (1, 0): one crank more than needed, always; flat positions on top of that."""
    template = '''
title = "{title}"
coordinates = ["x", "y", "phi"]
[dynamics]
kinetic = "2/2*(x'^2 + y'^2) + 0.4/2*phi'^2 + 3*0.2*(x'^2 + y'^2)/2"
potential = "9.81*2*y"
[constraints]
left = "(x - cos(phi) + 1)^2 + (y - sin(phi))^2 = 1"
middle = "x^2 + y^2 = 1"
right = "(x + cos(phi) - 1)^2 + (y + sin(phi))^2 = 1"
[start]
position = {{ {position} }}
velocity = {{ {velocity} }}
[run]
to = {to}
'''
    moving = template.format(title='A platform on three parallel cranks, through its flat positions', position='x = "cos(0.4)", y = "sin(0.4)"',
                             velocity='x = "-5*sin(0.4)", y = "5*cos(0.4)"', to=2.5)
    resting = template.format(title='A platform on three parallel cranks, from rest', position='x = "cos(0.4)", y = "sin(0.4)"', velocity='', to=1.5)
    places = {'x': 'cos(s)', 'y': 'sin(s)', 'phi': '0*s'}
    flat = {'flat': lambda t, y: mp.sin(y[0])}
    return [
        solved('three_cranks', moving, Minimal(moving, ['s'], places), [0.4, 5], 'Lagrange in the angle of the cranks', 'singular redundant holonomic', watch=flat),
        solved('three_cranks_from_rest', resting, Minimal(resting, ['s'], places), [0.4, 0], 'Lagrange in the angle of the cranks',
               'singular redundant rest holonomic', watch=flat),
    ]


@motion
def ladder_driven():
    """No freedom left: the first crank is turned at constant speed through the flat positions."""
    n, w = 2, mpf(3)
    text = ladder_text(n, 'Ladder of 2 with a driven crank', 'x0 = 0, y0 = 1, x1 = 1, y1 = 1, x2 = 2, y2 = 1', 'x0 = 3, x1 = 3, x2 = 3', 2.0,
                       extra='drive = "x0*cos(3*t) = y0*sin(3*t)"\n')
    t = mpf(2)
    q = [v for i in range(n + 1) for v in (i + mp.sin(w * t), mp.cos(w * t))]
    qd = [v for i in range(n + 1) for v in (w * mp.cos(w * t), -w * mp.sin(w * t))]
    events = [{'time': float((k + mpf(1) / 2) * mp.pi / w), 'kind': 'singular'} for k in range(2)]
    return closed('ladder_driven', text, (q, qd), 'the angle is 3 t', 'singular rheonomic holonomic', events=events)


@motion
def bifurcations_at_rest():
    flat = ladder_text(2, 'Ladder of 2 at rest in its flat position', 'x0 = 1, x1 = 2, x2 = 3', '', 1.0)
    return [
        refused('rest_on_crossing_lines', point('At rest where two lines cross', 'cross = "x*y = 0"', 'x = 0', '', 1.0, '1.3*9.81*y + x'),
                'singular|bifurcat|branch|undetermined', 'at rest on a crossing no branch is chosen', 'singular rest refuse'),
        refused('rest_on_flat_ladder', flat, 'singular|bifurcat|branch|undetermined', 'at rest on a crossing no branch is chosen', 'singular rest refuse'),
        refused('velocity_off_every_branch', point('A velocity along no branch', 'cross = "x*y = 0"', 'x = 0', 'x = 1, y = 1', 1.0),
                'singular|branch|velocity', 'the velocity must lie in the tangent cone', 'singular start refuse'),
    ]
