"""Machines with closed loops for bench/run --loops, each said twice: as a model of ours, and as a tree of bodies with the loops that close it, from which
peers/loops.py makes the same machine in MuJoCo and in Drake. Where bodies are at the start, and how they move, comes from the first row of our run; that all have
the same energy there, and are in the same places a second later, shows that they are the same.

A body: name, parent, joint (hinge, slide, universal, planar, free) with its point and axes in the world at the start, mass, centre and moments of inertia in the axes
of the body. A loop: two bodies and a point of each, in the world at the start, that stay together (point) or at their distance (rod). A spring: along a slide."""
import math
import re

POSE, SPIN = ('x', 'y', 'z', 'qw', 'qx', 'qy', 'qz'), ('Wx', 'Wy', 'Wz')      # outputs of our models: at_NUMBER_x …, rate_NUMBER_x …


def cylinder(mass, radius, length, axis='z'):
    across, along = mass * (3 * radius**2 + length**2) / 12, mass * radius**2 / 2
    return [along if a == axis else across for a in 'xyz']


def box(mass, sides):
    a, b, c = (s * s for s in sides)
    return [mass * (b + c) / 12, mass * (a + c) / 12, mass * (a + b) / 12]


def body(name, parent, joint, mass, inertia, at=None, axes=(), centre=(0.0, 0.0, 0.0), stiffness=0.0):
    return dict(name=name, parent=parent, joint=joint, mass=mass, inertia=list(inertia), at=at, axes=[list(a) for a in axes], centre=list(centre), stiffness=stiffness)


def with_lines(text, section, *lines):
    """Further lines at the beginning of a section; a section of its own if there is none."""
    head = f'[{section}]\n'
    return text.replace(head, head + '\n'.join(lines) + '\n', 1) if head in text else text + '\n' + head + '\n'.join(lines) + '\n'


def bricard(root):
    text = (root / 'bench' / 'models' / 'bricard_of_bodies.toml').read_text(encoding='utf-8')
    corners = [(0, 0, 0), (1, 0, 0), (1, 0, -1), (1, -1, -1), (0, -1, -1), (0, -1, 0)]
    hinges = [(0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 0, 1), (0, 1, 0)]
    bodies = []
    for k in range(5):
        sides = [1 if p != q else .05 for p, q in zip(corners[k], corners[k + 1])]
        bodies.append(body(f'link{k + 1}', f'link{k}' if k else 'ground', 'hinge', 1.0, box(1.0, sides), corners[k], [hinges[k]]))
    # The last hinge: two points of its axis.
    loops = [dict(kind='point', bodies=['link5', 'ground'], at=[[x, -1, 0], [x, -1, 0]]) for x in (-0.5, 0.5)]
    return dict(name="Bricard's ring", text=text, bodies=bodies, loops=loops, stored='')


def stewart(root):
    """On springs in the place of its pumps, with a push: nothing does work."""
    text = (root / 'models' / 'stewart_platform.toml').read_text(encoding='utf-8')
    text = re.sub(r'(?m)^drive .*$', 'spring  = { stiffness = 2e4 }', text).replace('"jack[i].drive"', '"jack[i].spring"')
    text = with_lines(text, 'start', 'velocity = { "jack[1].distance" = 0.3, "jack[4].distance" = 0.2 }', 'assemble = true')
    R, r, h = 1.2, .7, 1.4
    down = [.2, 2 * math.pi / 3 - .2, 2 * math.pi / 3 + .2, 4 * math.pi / 3 - .2, 4 * math.pi / 3 + .2, 2 * math.pi - .2]
    up = [math.pi / 3 - .3, math.pi / 3 + .3, math.pi - .3, math.pi + .3, 5 * math.pi / 3 - .3, 5 * math.pi / 3 + .3]
    bodies = [body('platform', 'ground', 'free', 60.0, cylinder(60.0, r + .1, .06))]
    loops = []
    for i, (d, u) in enumerate(zip(down, up), 1):
        foot, ball = [R * math.cos(d), R * math.sin(d), 0.0], [r * math.cos(u), r * math.sin(u), h]
        along = [b - a for a, b in zip(foot, ball)]
        first = [-along[1], along[0], 0.0]
        second = [first[1] * along[2] - first[2] * along[1], first[2] * along[0] - first[0] * along[2], first[0] * along[1] - first[1] * along[0]]
        bodies.append(body(f'barrel[{i}]', 'ground', 'universal', 8.0, cylinder(8.0, .05, .8), foot, [first, second], (0, 0, .4)))
        bodies.append(body(f'rod[{i}]', f'barrel[{i}]', 'slide', 3.0, cylinder(3.0, .03, .9), ball, [along], (0, 0, -.45), 2e4))
        loops.append(dict(kind='point', bodies=[f'rod[{i}]', 'platform'], at=[ball, ball]))
    return dict(name='Stewart platform', text=text, bodies=bodies, loops=loops, stored=' + 1e4*sum(i = 1..6, jack[i].distance^2)')


def strandbeest(root):
    """On a stand, without its motor and the floor: the shaft was pushed and turns."""
    text = (root / 'models' / 'strandbeest.toml').read_text(encoding='utf-8')
    text = re.sub(r'(?m)^drive .*$\n', '', text)
    text = re.sub(r'(?s)\[contacts\."floor\[n\]"\]\n.*?\n\n', '', text)
    text = re.sub(r'(?m)^hold .*$', 'hold     = ["motor.angle", "motor.angle\'"]', text).replace('w  = 2.0 ', 'w  = 4.0 ')
    text += '\n[joints.stand]\ntype    = "fixed"\nbetween = ["ground", "frame"]\nat      = [0, 0, "z0"]\n'
    a, b, c, d, e, f, g, h, i, j, k, l, m = .38, .415, .393, .401, .558, .394, .367, .657, .49, .5, .619, .078, .15
    z0, y_axis = .9225, [0, -1, 0]
    eu, fu = (b * b + d * d - e * e) / (2 * d), (i * i + g * g - h * h) / (2 * g)
    ew, fw = math.sqrt(b * b - eu * eu), math.sqrt(i * i - fu * fu)
    bodies = [body('shaft', 'ground', 'hinge', 3.0, [.05] * 3, [0, 0, z0], [y_axis])]
    loops = []
    turns = [0, 2 / 3, 4 / 3, 1, 5 / 3, 1 / 3]
    for n in range(1, 13):
        s, turn, y = (1 if n % 2 else -1), math.pi * turns[(n - 1) // 2], -.6 + .24 * ((n - 1) // 2)
        pin, hinge = [m * math.cos(turn), y, z0 + m * math.sin(turn)], [-s * a, y, z0 - l]
        bodies.append(body(f'leg[{n}].upper', 'ground', 'hinge', .4, [.01] * 3, hinge, [y_axis], [(d + eu) / 3, 0, -s * ew / 3]))
        bodies.append(body(f'leg[{n}].lower', 'ground', 'planar', .4, [.01] * 3, None, [y_axis], [(g + fu) / 3, 0, s * fw / 3]))
        # Points are given along the axes of the bodies where the world is not known.
        loops += [dict(kind='rod', bodies=['shaft', f'leg[{n}].upper'], at=[pin, None], own=[None, [eu, 0, -s * ew]], length=j),
                  dict(kind='rod', bodies=['shaft', f'leg[{n}].lower'], at=[pin, None], own=[None, [0, 0, 0]], length=k),
                  dict(kind='rod', bodies=['ground', f'leg[{n}].lower'], at=[hinge, None], own=[None, [0, 0, 0]], length=c),
                  dict(kind='rod', bodies=[f'leg[{n}].upper', f'leg[{n}].lower'], at=[None, None], own=[[d, 0, 0], [g, 0, 0]], length=f)]
    return dict(name='Strandbeest of 12 legs', text=text, bodies=bodies, loops=loops, stored='')


MACHINES = {'stewart': stewart, 'strandbeest': strandbeest, 'bricard': bricard}


def model_text(machine):
    """Our model, with where all bodies are and how they move among its outputs, and the energy of all."""
    names = [b['name'] for b in machine['bodies']]
    lines = [f'energy_of_all = "{" + ".join(f"{n}.{e}" for n in names for e in ("kinetic", "potential"))}{machine["stored"]}"']
    lines += [f'at_{k}_{c} = "{n}.{c}"' for k, n in enumerate(names) for c in POSE]
    lines += [f'rate_{k}_{c} = "{n}.{c}{mark}"' for k, n in enumerate(names) for mark, cs in (("'", POSE[:3]), ('', SPIN)) for c in cs]
    return with_lines(machine['text'], 'outputs', *lines)
