#!/usr/bin/env python3
"""Draws the pictures of the documentation from what the program says about the models: instant.svg, motion.svg.

usage: docs/images/make_pictures.py [PROGRAM]      default: build/release/mechanician; writes docs/images/*.svg"""
import csv, io, json, math, os, subprocess, sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
PROGRAM = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, 'build/release/mechanician')

# Colours for light and for dark pages; the picture follows the scheme of the reader.
LIGHT = dict(ink='#24292f', soft='#656d76', body='#6e7781', ground='#8c959f', given='#0969da', force='#c4560a', motion='#1a7f37', fill='#ffffff', grid='#d8dee4')
DARK = dict(ink='#e6edf3', soft='#9da7b1', body='#9da7b1', ground='#6e7681', given='#58a6ff', force='#f0883e', motion='#3fb950', fill='#0d1117', grid='#30363d')


def colours(c):
    arrows = ''.join(f' .{k} {{ stroke: {c[k]}; fill: {c[k]}; }}' for k in ('given', 'force', 'motion'))
    return f"text {{ fill: {c['ink']}; }}{arrows} .body {{ stroke: {c['body']}; fill: {c['fill']}; }} .ground {{ stroke: {c['ground']}; fill: none; }}" + \
        f" .curve {{ fill: none; }} .grid {{ stroke: {c['grid']}; }} text.soft {{ fill: {c['soft']}; }}"


STYLE = f"""
  text {{ font: 14px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; }}
  .title {{ font-size: 15px; font-weight: 600; }} .soft {{ font-size: 12px; }}
  {colours(LIGHT)}
  text.given, text.force, text.motion {{ stroke: none; }}
  @media (prefers-color-scheme: dark) {{ {colours(DARK)} text.given, text.force, text.motion {{ stroke: none; }} }}
"""


def accelerate(model):
    p = subprocess.run([PROGRAM, 'accelerate', os.path.join(ROOT, 'models', model), '--json'], capture_output=True, text=True, check=True)
    return json.loads(p.stdout)


class Panel:
    """Drawing in the coordinates of a model: metres, y upwards."""

    def __init__(self, x, y, scale):
        self.x, self.y, self.scale, self.out = x, y, scale, []

    def at(self, p):
        return self.x + self.scale * p[0], self.y - self.scale * p[1]

    def line(self, a, b, kind, width):
        (x1, y1), (x2, y2) = self.at(a), self.at(b)
        self.out.append(f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke-width="{width}" stroke-linecap="round"/>')

    def circle(self, p, radius, kind, width=2):
        x, y = self.at(p)
        self.out.append(f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius}" stroke-width="{width}"/>')

    def arc(self, centre, radius, start, end, kind, dashed=False, width=1.5):
        a = self.at((centre[0] + radius * math.cos(start), centre[1] + radius * math.sin(start)))
        b = self.at((centre[0] + radius * math.cos(end), centre[1] + radius * math.sin(end)))
        r, large, sweep = radius * self.scale, int(abs(end - start) > math.pi), int(end < start)
        dash = ' stroke-dasharray="3 5"' if dashed else ''
        self.out.append(f'<path class="{kind}" d="M{a[0]:.1f} {a[1]:.1f} A{r:.1f} {r:.1f} 0 {large} {sweep} {b[0]:.1f} {b[1]:.1f}" style="fill: none" stroke-width="{width}"{dash}/>')

    def arrow(self, p, v, per_unit, kind, width=3):
        """An arrow at p along v, so many pixels for a unit of it."""
        x, y = self.at(p)
        length = math.hypot(*v) * per_unit
        ux, uy = v[0] / math.hypot(*v), -v[1] / math.hypot(*v)
        head, half = 11, 5
        tip, neck = (x + ux * length, y + uy * length), (x + ux * (length - head), y + uy * (length - head))
        self.out.append(f'<line class="{kind}" x1="{x:.1f}" y1="{y:.1f}" x2="{neck[0]:.1f}" y2="{neck[1]:.1f}" stroke-width="{width}"/>')
        self.head(tip, (ux, uy), kind, head, half)
        return tip

    def head(self, tip, u, kind, head=11, half=5):
        x, y = tip[0] - u[0] * head, tip[1] - u[1] * head
        corners = [tip, (x - u[1] * half, y + u[0] * half), (x + u[1] * half, y - u[0] * half)]
        points = ' '.join(f'{a:.1f},{b:.1f}' for a, b in corners)
        self.out.append(f'<polygon class="{kind}" points="{points}" style="stroke: none"/>')

    def text(self, x, y, words, kind='', anchor='start'):
        self.out.append(f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}</text>')

    def pivot(self, p):
        x, y = self.at(p)
        self.out.append(f'<path class="ground" d="M{x - 22:.1f} {y + 16:.1f} h44 M{x:.1f} {y:.1f} l-12 16 h24 z" stroke-width="2" stroke-linejoin="round"/>')
        self.circle(p, 4.5, 'body')


def pendulum():
    now, m, g = accelerate('pendulum.toml'), 1.5, 9.81
    x, y = now['position']['x'], now['position']['y']
    force = (now['constraint_force']['x'], now['constraint_force']['y'])
    acceleration = (now['acceleration']['x'], now['acceleration']['y'])
    p = Panel(150, 62, 170)
    p.text(20, 26, 'Pendulum', 'title')
    p.arc((0, 0), 1.0, math.radians(-112), math.radians(-28), 'ground', dashed=True)
    p.line((0, 0), (x, y), 'body', 5)
    sx, sy = p.at((0, 0))
    p.out.append(f'<path class="ground" d="M{sx - 26:.1f} {sy - 12:.1f} h52 M{sx - 12:.1f} {sy - 12:.1f} L{sx:.1f} {sy:.1f} L{sx + 12:.1f} {sy - 12:.1f}" stroke-width="2" stroke-linejoin="round"/>')
    p.circle((0, 0), 4.5, 'body')
    tip = p.arrow((x, y), (0, -m * g), 7, 'given'); p.text(tip[0] + 10, tip[1] - 2, f'weight {m * g:.1f} N', 'given')
    # Beside the rod, not on it.
    beside = (x - 0.055 * y, y + 0.055 * x)
    tip = p.arrow(beside, force, 7, 'force'); p.text(tip[0] + 16, tip[1] + 14, f'rod {math.hypot(*force):.1f} N', 'force')
    tip = p.arrow((x, y), acceleration, 13, 'motion'); p.text(tip[0] - 4, tip[1] + 18, f'acceleration {math.hypot(*acceleration):.2f} m/s²', 'motion', 'end')
    p.circle((x, y), 10, 'body', 3)
    return p.out


def four_bar():
    now = accelerate('four_bar.toml')
    q, a, b, c, d = now['position'], 0.4, 1.5, 0.9, 1.6
    A = (a * math.cos(q['crank']), a * math.sin(q['crank']))
    B = (A[0] + b * math.cos(q['coupler']), A[1] + b * math.sin(q['coupler']))
    D = (d, 0.0)
    joint = (now['multipliers']['joint_x'], now['multipliers']['joint_y'])
    p = Panel(478, 262, 168)
    p.text(440, 26, 'Four-bar linkage', 'title')
    p.arc((0, 0), a, 0, 2 * math.pi - 0.01, 'ground', dashed=True)
    p.arc(D, c, math.radians(62), math.radians(140), 'ground', dashed=True)
    p.pivot((0, 0)); p.pivot(D)
    for one, other in (((0, 0), A), (A, B), (D, B)): p.line(one, other, 'body', 6)
    p.circle((0, 0), 4.5, 'body'); p.circle(D, 4.5, 'body'); p.circle(A, 6, 'body', 2.5)
    # The motor: an arc with a head.
    p.arc((0, 0), 0.17, math.radians(25), math.radians(205), 'given', width=3)
    end = math.radians(212)
    tip = p.at((0.17 * math.cos(end), 0.17 * math.sin(end)))
    p.head((tip[0], tip[1] + 5), (math.sin(end) * -1, -math.cos(end)), 'given')
    x, y = p.at((0, a)); p.text(x, y - 9, 'motor 5 N m', 'given', 'middle')
    tip = p.arrow(B, joint, 7, 'force'); p.text(tip[0] - 12, tip[1] + 8, f'joint {math.hypot(*joint):.1f} N', 'force', 'end')
    p.circle(B, 6, 'body', 2.5)
    x, y = p.at((0.62, 0.0))
    p.text(x, y + 44, f"crank'' = {now['acceleration']['crank']:.2f} rad/s²", 'motion')
    return p.out


# ---- a motion: the ladder that lies flat on its way ------------------------------------------------------------------

def run(model, *options):
    """The columns of a run by name, and its events."""
    path = os.path.join(ROOT, 'models', model)
    rows = csv.reader(io.StringIO(subprocess.run([PROGRAM, 'run', path, '--quiet', *options], capture_output=True, text=True, check=True).stdout))
    names = next(rows)
    columns = list(zip(*(map(float, row) for row in rows)))
    whole = subprocess.run([PROGRAM, 'run', path, '--quiet', '--json', *options], capture_output=True, text=True, check=True)
    return dict(zip(names, columns)), json.loads(whole.stdout)['events']


class Chart:
    """Axes with a curve: x from 0 to `end`, y from `low` to `high`."""

    def __init__(self, left, top, width, height, end, low, high):
        self.left, self.top, self.width, self.height, self.end, self.low, self.high, self.out = left, top, width, height, end, low, high, []

    def at(self, x, y):
        return self.left + self.width * x / self.end, self.top + self.height * (self.high - y) / (self.high - self.low)

    def rule(self, y, words):
        x, v = self.at(0, y)
        self.out.append(f'<line class="grid" x1="{x:.1f}" y1="{v:.1f}" x2="{x + self.width:.1f}" y2="{v:.1f}" stroke-width="1"/>')
        self.out.append(f'<text class="soft" x="{x - 8:.1f}" y="{v + 4:.1f}" text-anchor="end">{words}</text>')

    def tick(self, x, words):
        u, v = self.at(x, self.low)
        self.out.append(f'<line class="grid" x1="{u:.1f}" y1="{self.top:.1f}" x2="{u:.1f}" y2="{v:.1f}" stroke-width="1"/>')
        if words: self.out.append(f'<text class="soft" x="{u:.1f}" y="{v + 17:.1f}" text-anchor="middle">{words}</text>')

    def curve(self, xs, ys, kind, width=2):
        points = ' '.join('%.1f,%.1f' % self.at(x, y) for x, y in zip(xs, ys))
        self.out.append(f'<polyline class="{kind} curve" points="{points}" stroke-width="{width}" stroke-linejoin="round" style="fill: none"/>')

    def dot(self, x, y, kind):
        u, v = self.at(x, y)
        self.out.append(f'<circle class="{kind}" cx="{u:.1f}" cy="{v:.1f}" r="3.5"/>')

    def text(self, x, y, words, kind=''):
        self.out.append(f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{words}</text>')


def ladder_falls(c, events):
    """The ladder of two parallelograms at some times of its first turn, and flat."""
    p = Panel(52, 208, 88)
    p.text(20, 26, 'Ladder of two parallelograms', 'title')
    flat = events[0]['time']
    for t in (0.0, 0.42, 0.6, flat, 0.8, 0.93):
        k = min(range(len(c['t'])), key=lambda i: abs(c['t'][i] - t))
        now = events[0]['position'] if t == flat else {name: column[k] for name, column in c.items()}
        tips = [(now[f'x{i}'], now[f'y{i}']) for i in range(3)]
        kind, width = ('force', 4) if t == flat else ('body', 4 if t == 0 else 2)
        for i, tip in enumerate(tips): p.line((i, 0), tip, kind, width)
        for one, other in zip(tips, tips[1:]): p.line(one, other, kind, width)
        for tip in tips: p.circle(tip, 4 if t in (0.0, flat) else 2.5, 'body', 1.5)
    for i in range(3): p.pivot((i, 0))
    p.text(20, 352, f'Flat at t = {flat:.4f} s: two of five', 'force')
    p.text(20, 370, 'constraints say nothing, and four branches meet.', 'force')
    return p.out


def ladder_motion(c, events):
    end = c['t'][-1]
    theta, angle = 0.0, []
    for x, y in zip(c['x0'], c['y0']):
        theta += math.remainder(math.atan2(x, y) - theta, 2 * math.pi)
        angle.append(theta / (2 * math.pi))

    def energy(k):
        v = [(c[f"x{i}'"][k], c[f"y{i}'"][k]) for i in range(3)]
        square = lambda a, b: a[0] * b[0] + a[1] * b[1]
        kinetic = sum(square(a, a) for a in v) / 6 + sum(square(a, a) + square(a, b) + square(b, b) for a, b in zip(v, v[1:])) / 6
        return kinetic + 9.81 / 2 * (2 * c['y0'][k] + 3 * c['y1'][k] + 2 * c['y2'][k])

    start = energy(0)
    drift = [math.log10(max(abs(energy(k) - start) / abs(start), 1e-16)) for k in range(len(c['t']))]
    held = [math.log10(max(r, 1e-17)) for r in c['residual']]
    turns = Chart(470, 44, 380, 130, end, 0, 6)
    turns.text(420, 26, 'Angle of the cranks, in turns', 'title')
    for y in range(0, 7, 2): turns.rule(y, y)
    for x in range(0, 11, 2): turns.tick(x, '')
    turns.curve(c['t'], angle, 'motion')
    for e in events:
        k = min(range(len(c['t'])), key=lambda i: abs(c['t'][i] - e['time']))
        turns.dot(e['time'], angle[k], 'force')
    errors = Chart(470, 222, 380, 130, end, -18, -6)
    errors.text(420, 204, 'What is off: constraints, energy (relative)', 'title')
    for y in range(-18, -5, 4): errors.rule(y, f'10<tspan dy="-5" font-size="9">{str(y).replace("-", "−")}</tspan>')
    for x in range(0, 11, 2): errors.tick(x, f'{x} s')
    errors.curve(c['t'], drift, 'given', 1.5)
    errors.curve(c['t'], held, 'force', 1.5)
    x, y = errors.at(8.6, -8.7); errors.text(x, y, 'energy', 'given')
    x, y = errors.at(8.0, -13.6); errors.text(x, y, 'constraints', 'force')
    return turns.out + errors.out


def write(name, width, height, title, parts):
    body = '\n'.join(line for part in parts for line in part)
    text = f'''<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="{title}">
<title>{title}</title>
<style>{STYLE}</style>
{body}
</svg>
'''
    open(os.path.join(ROOT, 'docs/images', name), 'w', encoding='utf-8').write(text)


write('instant.svg', 880, 340, 'A pendulum with weight, rod force and acceleration; a four-bar linkage with motor torque and joint force', [pendulum(), four_bar()])
COLUMNS, EVENTS = run('ladder_2.toml', '--every', '0.02')
write('motion.svg', 880, 385, 'A ladder of two parallelograms turns over, flat ten times in ten seconds; its angle over time, and what is off in constraints and energy',
      [ladder_falls(COLUMNS, EVENTS), ladder_motion(COLUMNS, EVENTS)])
