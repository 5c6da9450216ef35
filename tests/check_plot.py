#!/usr/bin/env python3
"""Checks `mechanician plot`: pictures are read back and compared with the numbers they were made of.

usage: check_plot.py --program PATH [--only TEXT] [--rows N]

An SVG is parsed, its places are turned into numbers by means of its own tick labels, and those are compared with the rows; a PNG is
decoded here and the colours are looked for where the curves must be; braille characters are turned back into dots. Prints a line for
each miss and, last, `N passed, N failed`. Needs nothing but Python 3.11."""
import argparse, bisect, csv, json, math, os, pty, random, re, resource, struct, subprocess, sys, tempfile, zlib
import xml.etree.ElementTree as xml

import limits

SVG = '{http://www.w3.org/2000/svg}'
HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, '..', 'models')
TOLERANCE = 0.05      # pixels by which a curve may be simplified
ROUNDING = 0.01       # pixels; places have two decimals


class Check:
    def __init__(self, program, folder, only, rows):
        self.rows = rows
        self.program, self.folder, self.only, self.passed, self.failed, self.part = program, folder, only, 0, 0, ''
        # For a program under the address sanitizer: what fontconfig keeps to the end is not ours to free.
        self.leaks = self.file('leaks.txt', 'leak:libfontconfig\n')

    def that(self, name, true, detail=''):
        if true: self.passed += 1
        else:
            self.failed += 1
            print(f'MISS {self.part}: {name}: {str(detail)[:600]}')

    def file(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, 'wb') as f: f.write(text if isinstance(text, bytes) else text.encode())
        return path

    def run(self, *arguments, env=None, **more):
        environment = {k: v for k, v in os.environ.items() if k not in ('COLUMNS', 'NO_COLOR', 'LC_ALL', 'LC_CTYPE', 'MECHANICIAN_CAIRO')}
        environment |= {'LANG': 'C.UTF-8', 'LSAN_OPTIONS': f'suppressions={self.leaks}:print_suppressions=0'} | (env or {})
        return subprocess.run([self.program, *arguments], cwd=self.folder, env=environment, capture_output=True, **more)

    def svg(self, *arguments):
        out = os.path.join(self.folder, 'out.svg')
        p = self.run('plot', *arguments, '-o', 'out.svg')
        self.that(f'{arguments} is drawn', p.returncode == 0 and not p.stderr, p)
        return Picture(open(out, encoding='utf-8').read()) if p.returncode == 0 else None

    def refused(self, name, status, *arguments, says='', env=None, **more):
        p = self.run('plot', *arguments, env=env, **more)
        text = p.stderr.decode(errors='replace')
        self.that(f'{name}: exit {status}', p.returncode == status, (p.returncode, text))
        for words in [says] if isinstance(says, str) else says:
            self.that(f'{name}: says `{words}`', words in text, text)
        self.that(f'{name}: nothing on standard output', p.stdout == b'', p.stdout[:200])
        self.that(f'{name}: no internal error', 'internal error' not in text, text)


# Pictures, read back.

def number(text):
    return float(text.replace('\u2212', '-'))


def value_of(element):
    """The number of a tick label; 10 with a raised exponent too."""
    raised = [t.text for t in element.iter(SVG + 'tspan')]
    return 10.0 ** number(raised[0]) if raised else number(element.text)


def factor_of(element):
    """What a factor at the end of an axis says: (power of ten, constant)."""
    power, constant = 1.0, 0.0
    spans = list(element.iter(SVG + 'tspan'))
    if (element.text or '').startswith('\u00d7'): power = 10.0 ** number(spans[0].text)
    rest = ''.join(element.itertext())
    found = re.search(r'([+\u2212]) ([0-9.]+(?:e[-+]?\d+)?)$', rest)
    if found: constant = float(found.group(2)) * (-1 if found.group(1) == '\u2212' else 1)
    return power, constant


def lines_of(d):
    """The polylines of a path with M, l, h and z."""
    lines, x, y = [], 0.0, 0.0
    for letter, rest in re.findall(r'([Mlhz])([^Mlhz]*)', d):
        numbers = [float(n) for n in re.findall(r'-?(?:\d+\.?\d*|\.\d+)', rest)]
        if letter == 'M':
            x, y = numbers; lines.append([(x, y)])
        elif letter == 'l':
            for dx, dy in zip(numbers[::2], numbers[1::2]):
                x, y = x + dx, y + dy; lines[-1].append((x, y))
    return lines


class Scale:
    """From pixels to numbers, by two ticks."""
    def __init__(self, ticks, factor):
        self.log = all(v > 0 for _, v in ticks) and len(ticks) > 2 and abs(ticks[2][1] * ticks[0][1] / ticks[1][1] ** 2 - 1) < 1e-9
        power, constant = factor
        (self.p0, v0), (self.p1, v1) = ticks[0], ticks[-1]
        self.v0, self.v1 = v0 * power + constant, v1 * power + constant
        if self.log: self.v0, self.v1 = math.log(self.v0), math.log(self.v1)
        self.ticks = ticks

    def value(self, pixel):
        v = self.v0 + (pixel - self.p0) * (self.v1 - self.v0) / (self.p1 - self.p0)
        return math.exp(v) if self.log else v

    def pixel(self, value):
        v = math.log(value) if self.log else value
        return self.p0 + (v - self.v0) * (self.p1 - self.p0) / (self.v1 - self.v0)

    def unit(self):
        return abs((self.p1 - self.p0) / (self.v1 - self.v0))


class Picture:
    def __init__(self, text):
        self.text, self.root = text, xml.fromstring(text)
        self.frames = []
        for path in self.paths('frame'):
            (points,) = lines_of(path.get('d'))
            self.frames.append((min(p[0] for p in points), min(p[1] for p in points), max(p[0] for p in points), max(p[1] for p in points)))
        factors_x = self.texts('factor x')
        ticks = [(float(t.get('x')), value_of(t)) for t in self.texts('tick x')]
        self.x = Scale(ticks, factor_of(factors_x[0]) if factors_x else (1.0, 0.0)) if len(ticks) > 1 else None
        self.y, top = [], -1.0
        for frame in self.frames:
            # 0.35 of 11 pixels below the tick is the baseline of its label.
            ticks = [(float(t.get('y')) - 3.85, value_of(t)) for t in self.texts('tick y') if frame[1] - 1 < float(t.get('y')) - 3.85 < frame[3] + 1]
            factor = [t for t in self.texts('factor y') if top < float(t.get('y')) < frame[1]]
            self.y.append(Scale(ticks, factor_of(factor[0]) if factor else (1.0, 0.0)) if len(ticks) > 1 else None)
            top = frame[3]

    def paths(self, role):
        return [p for p in self.root.iter(SVG + 'path') if p.get('class') == role]

    def texts(self, role):
        return [t for t in self.root.iter(SVG + 'text') if t.get('class') == role]

    def panel(self, point):
        return next(i for i, f in enumerate(self.frames) if f[1] - 0.02 <= point[1] <= f[3] + 0.02)

    def curves(self, role='curve'):
        """label → (panel, polylines)"""
        result = {}
        for path in self.paths(role):
            lines = lines_of(path.get('d'))
            result[(path.find(SVG + 'title').text, self.panel(lines[0][0]))] = lines
        return result


def distance(p, a, b):
    dx, dy = b[0] - a[0], b[1] - a[1]
    length = dx * dx + dy * dy
    s = 0.0 if length == 0 else max(0.0, min(1.0, ((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / length))
    return math.hypot(p[0] - a[0] - s * dx, p[1] - a[1] - s * dy)


def far_from(lines, p):
    """Distance of a point from polylines whose abscissa grows."""
    best = math.inf
    for line in lines:
        k = bisect.bisect_left(line, (p[0] - 2 * TOLERANCE, -math.inf))
        for i in range(max(1, k), len(line)):
            best = min(best, distance(p, line[i - 1], line[i]))
            if line[i - 1][0] > p[0] + 1: break
    return best


def near_rows(c, name, picture, key, xs, ys):
    """Every vertex is a row, and every row is on the curve."""
    lines = picture.curves().get(key)
    if lines is None: return c.that(f'{name}: {key} is drawn', False, list(picture.curves()))
    sx, sy = picture.x, picture.y[key[1]]
    rows = sorted((sx.pixel(x), sy.pixel(y)) for x, y in zip(xs, ys))
    worst = 0.0
    for line in lines:
        for x, y in line:
            k = bisect.bisect_left(rows, (x - 0.05, -math.inf))
            best = math.inf
            while k < len(rows) and rows[k][0] <= x + 0.05:
                best = min(best, math.hypot(rows[k][0] - x, rows[k][1] - y)); k += 1
            worst = max(worst, best)
    c.that(f'{name}: vertices of {key} are rows', worst < 3 * ROUNDING, worst)
    worst = max(far_from(lines, r) for r in rows)
    c.that(f'{name}: rows of {key} are on the curve', worst < TOLERANCE + 3 * ROUNDING, worst)


def read_csv(path):
    with open(path, newline='') as f:
        rows = [r for r in csv.reader(f) if r and not r[0].startswith('#')]
    return {name: [float(r[i]) for r in rows[1:]] for i, name in enumerate(rows[0])}


def png_pixels(path):
    """Width, height and rows of (r, g, b)."""
    data = open(path, 'rb').read()
    assert data[:8] == b'\x89PNG\r\n\x1a\n'
    at, packed, header = 8, b'', None
    while at < len(data):
        size, kind = struct.unpack('>I4s', data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        assert zlib.crc32(kind + body) == struct.unpack('>I', data[at + 8 + size:at + 12 + size])[0]
        if kind == b'IHDR': header = struct.unpack('>IIBBBBB', body)
        if kind == b'IDAT': packed += body
        at += 12 + size
    width, height, depth, colour = header[:4]
    assert depth == 8 and colour in (2, 6)
    n = 3 if colour == 2 else 4
    raw, rows, above = zlib.decompress(packed), [], bytearray(width * n)
    for y in range(height):
        start = y * (width * n + 1)
        kind, line = raw[start], bytearray(raw[start + 1:start + 1 + width * n])
        for i in range(len(line)):
            a, b, d = line[i - n] if i >= n else 0, above[i], above[i - n] if i >= n else 0
            if kind == 1: line[i] = (line[i] + a) & 255
            elif kind == 2: line[i] = (line[i] + b) & 255
            elif kind == 3: line[i] = (line[i] + (a + b) // 2) & 255
            elif kind == 4:
                p = a + b - d
                pa, pb, pd = abs(p - a), abs(p - b), abs(p - d)
                line[i] = (line[i] + (a if pa <= pb and pa <= pd else b if pb <= pd else d)) & 255
        rows.append([tuple(line[i:i + 3]) for i in range(0, len(line), n)])
        above = line
    return width, height, rows


# What is checked.

def check_values(c):
    """The curves are the numbers of the file, in every format."""
    c.run('run', os.path.join(MODELS, 'pendulum.toml'), '--to', '5', '--every', '0.05', '-o', 'p.csv', '--quiet')
    rows = read_csv(os.path.join(c.folder, 'p.csv'))
    picture = c.svg('p.csv', '--straight')
    c.that('all coordinates by default', sorted(picture.curves()) == [('x', 0), ('y', 0)], list(picture.curves()))
    for name in 'xy': near_rows(c, 'default', picture, (name, 0), rows['t'], rows[name])
    picture = c.svg('p.csv', '--straight', '--show', 'x,Qc(y)', '--show', "y''", '--show', 'residual')
    c.that('three panels', len(picture.frames) == 3, picture.frames)
    c.that('one above the other', all(a[3] < b[1] and a[0] == b[0] and a[2] == b[2] for a, b in zip(picture.frames, picture.frames[1:])))
    for name, panel in (('x', 0), ('Qc(y)', 0), ("y''", 1), ('residual', 2)):
        near_rows(c, 'panels', picture, (name, panel), rows['t'], rows[name])
    c.that('a common power of ten is taken out', len(picture.texts('factor y')) == 1)
    picture = c.svg('p.csv', '--straight', '--show', 'sqrt(x^2 + y^2)', '--show', "x*Qc(x) + y * Qc(y), (x'^2+y'^2)/2")
    near_rows(c, 'formula', picture, ("x*Qc(x) + y * Qc(y)", 1), rows['t'], [x * a + y * b for x, a, y, b in zip(rows['x'], rows['Qc(x)'], rows['y'], rows['Qc(y)'])])
    near_rows(c, 'formula', picture, ("(x'^2+y'^2)/2", 1), rows['t'], [(a * a + b * b) / 2 for a, b in zip(rows["x'"], rows["y'"])])
    picture = c.svg('p.csv', '--from', '1.01', '--to', '2.5')
    lines = picture.curves()[('x', 0)]
    ends = [picture.x.value(lines[0][0][0]), picture.x.value(lines[-1][-1][0])]
    c.that('--from and --to cut', abs(ends[0] - 1.01) < 1e-3 and abs(ends[1] - 2.5) < 1e-3, ends)
    c.that('nothing is outside the frame', all(picture.frames[0][0] - .01 <= x <= picture.frames[0][2] + .01 for x, _ in sum(lines, [])))
    picture = c.svg('p.csv', '--show', "x'", '--against', 'x', '--straight')
    lines = picture.curves()[("x'", 0)]
    points = [(picture.x.pixel(a), picture.y[0].pixel(b)) for a, b in zip(rows['x'], rows["x'"])]
    worst = max(min(distance(p, line[i - 1], line[i]) for line in lines for i in range(1, len(line))) for p in points)
    c.that('a phase portrait passes through all rows', worst < TOLERANCE + 3 * ROUNDING, worst)
    for size in ([], ['--size', '700x260'], ['--size', '300x600']):
        picture = c.svg('p.csv', '--show', 'y', '--against', 'x', '--equal', *size)
        c.that(f'--equal {size}', abs(picture.x.unit() / picture.y[0].unit() - 1) < 1e-3, (picture.x.unit(), picture.y[0].unit()))
        inside = [picture.frames[0][0] <= x <= picture.frames[0][2] and picture.frames[0][1] <= y <= picture.frames[0][3] for x, y in sum(picture.curves()[('y', 0)], [])]
        c.that(f'--equal {size}: the whole curve', all(inside))
    picture = c.svg('p.csv', '--style', 'points')
    dots = picture.curves('points')[('x', 0)]
    c.that('a point for each row', len(dots) == len(rows['t']) and not picture.curves(), len(dots))
    worst = max(math.hypot(d[0][0] - picture.x.pixel(t), d[0][1] - picture.y[0].pixel(x)) for d, t, x in zip(dots, rows['t'], rows['x']))
    c.that('points are where the rows are', worst < 3 * ROUNDING, worst)
    both = c.svg('p.csv', '--style', 'both')
    c.that('lines and points', len(both.curves()) == 2 and len(both.curves('points')) == 2)

    texts = [open(os.path.join(c.folder, 'out.svg')).read()]
    for ending in ('json', 'h5'):
        c.run('run', os.path.join(MODELS, 'pendulum.toml'), '--to', '5', '--every', '0.05', '-o', f'p.{ending}', '--quiet')
        c.svg(f'p.{ending}', '--style', 'both')
        texts.append(open(os.path.join(c.folder, 'out.svg')).read())
    c.that('CSV, JSON and HDF5 give the same picture', len(set(texts)) == 1)
    piped = c.run('plot', '-', '-o', 'out.svg', '--style', 'both', input=open(os.path.join(c.folder, 'p.csv'), 'rb').read())
    c.that('standard input gives it too', piped.returncode == 0 and open(os.path.join(c.folder, 'out.svg')).read() == texts[0], piped)
    piped = c.run('plot', '-', '-o', 'out.svg', '--style', 'both', input=open(os.path.join(c.folder, 'p.json'), 'rb').read())
    c.that('and JSON on it', piped.returncode == 0 and open(os.path.join(c.folder, 'out.svg')).read() == texts[0], piped)
    p = c.run('plot', '-', input=open(os.path.join(c.folder, 'p.h5'), 'rb').read())
    c.that('HDF5 on it is refused', p.returncode == 3 and b'must be a file' in p.stderr, p)


def check_between_rows(c):
    """Between rows positions and velocities curve as their derivatives say."""
    rows = ''.join(f"{t!r},{math.cos(t)!r},{-math.sin(t)!r},{-math.cos(t)!r},{math.cos(t)!r}\n" for t in [0.3 * k for k in range(31)])
    c.file('w.csv', "t,x,x',x'',Qc(x)\n" + rows)
    picture = c.svg('w.csv', '--show', "x,x',Qc(x)")
    scale = picture.y[0]
    for name, exact in (('x', math.cos), ("x'", lambda t: -math.sin(t))):
        points = sum(picture.curves()[(name, 0)], [])
        c.that(f'{name}: more points than rows', len(points) > 60, len(points))
        worst = max(abs(y - scale.pixel(exact(picture.x.value(x)))) for x, y in points)
        c.that(f'{name}: on the exact motion', worst < 0.06, worst)
        between = [((a[0] + b[0]) / 2, (a[1] + b[1]) / 2) for a, b in zip(points, points[1:])]
        worst = max(abs(y - scale.pixel(exact(picture.x.value(x)))) for x, y in between)
        c.that(f'{name}: also between its points', worst < 0.2, worst)
    straight = sum(picture.curves()[('Qc(x)', 0)], [])
    off = max(abs(y - scale.pixel(math.cos(picture.x.value(x)))) for x, y in [((a[0] + b[0]) / 2, (a[1] + b[1]) / 2) for a, b in zip(straight, straight[1:])])
    c.that('a force has no derivative and stays straight', off > 1, off)
    picture = c.svg('w.csv', '--show', "x", '--style', 'points')
    c.that('points are rows only', len(picture.curves('points')[('x', 0)]) == 31)
    c.that('rows are counted as they are', '31 rows' in picture.root.find(SVG + 'desc').text, picture.root.find(SVG + 'desc').text)
    picture = c.svg('w.csv', '--show', "x'", '--against', 'x', '--equal')
    radii = [math.hypot(picture.x.value((a[0] + b[0]) / 2), picture.y[0].value((a[1] + b[1]) / 2)) for line in picture.curves()[("x'", 0)] for a, b in zip(line, line[1:])]
    c.that('a phase portrait is round', max(abs(r - 1) for r in radii) < 1e-3, (min(radii), max(radii)))
    picture = c.svg('w.csv', '--show', "x^2 + x'^2 + 1")
    c.that('formulas follow', picture is not None and len(picture.curves()) == 1)


def check_axes(c):
    """Axes of all sizes: labels are the places they stand at."""
    cases = {'tiny': [1e-17 * k for k in range(5)], 'huge': [3e12 * k for k in range(-4, 3)], 'offset': [19.62 + 1e-7 * k for k in range(9)],
             'below': [-1000.5 + 1e-6 * k * k for k in range(9)], 'constant': [4.25] * 3, 'zero': [0.0] * 3, 'one': [1.5],
             'decades': [10.0 ** k for k in range(-7, 3)], 'extreme': [-1e300, 1e300, 1e299], 'small': [5e-324, 1e-308], 'mixed': [-0.003, 0.0021]}
    for name, values in cases.items():
        c.file('a.csv', 't,v\n' + ''.join(f'{k},{v!r}\n' for k, v in enumerate(values)))
        picture = c.svg('a.csv', '--style', 'both')
        if not picture: continue
        scale = picture.y[0]
        c.that(f'{name}: ticks', scale is not None and 2 <= len(scale.ticks) <= 12, scale and scale.ticks)
        if name in ('one', 'small') or not scale: continue
        dots = [d[0][1] for d in picture.curves('points')[('v', 0)]]
        worst = max(abs(scale.pixel(v) - y) for v, y in zip(values, dots))
        c.that(f'{name}: points are where labels say', worst < 0.1, (worst, dots))
        longest = max(len(t.text) for t in picture.texts('tick y'))
        c.that(f'{name}: labels are short', longest <= 7, longest)
        gaps = [b[0] - a[0] for a, b in zip(scale.ticks, scale.ticks[1:])]
        c.that(f'{name}: ticks are even', max(gaps) - min(gaps) < 0.05, gaps)
    c.file('a.csv', 't,v\n' + ''.join(f'{k},{10.0 ** (k - 8)!r}\n' for k in range(1, 12)))
    picture = c.svg('a.csv', '--log', 'y')
    c.that('logarithmic', picture.y[0].log and len(picture.y[0].ticks) >= 3, picture.y[0].ticks)
    points = sum(picture.curves()[('v', 0)], [])
    c.that('powers of ten are a straight line', all(abs(math.log10(picture.y[0].value(y)) - picture.x.value(x) + 8) < 1e-2 for x, y in points), points)
    picture = c.svg('a.csv', '--log', 'xy')
    c.that('both logarithmic', picture.x.log or len(picture.x.ticks) < 3, picture.x.ticks)
    # What a logarithm does not have, and what is not finite, leaves gaps.
    c.file('a.csv', 't,v\n0,1\n1,2\n2,-1\n3,4\n4,5\n5,0\n6,7\n7,8\n')
    c.that('gaps on a logarithmic axis', len(c.svg('a.csv', '--log', 'y').curves()[('v', 0)]) == 3)
    c.file('a.csv', 't,v,w\n0,1,1\n1,2,nan\n2,nan,2\n3,4,3\n4,inf,nan\n5,,5\n6,7,6\n7,8,nan\n')
    picture = c.svg('a.csv')
    c.that('gaps where values are not finite', [len(x) for x in picture.curves()[('v', 0)]] == [2, 2], picture.curves())
    c.that('rows between gaps are dots', len(picture.curves('points')[('v', 0)]) == 1 and len(picture.curves('points')[('w', 0)]) == 1, picture.curves('points'))


def check_decimation(c):
    """Many rows: a small picture that keeps every extreme."""
    rng, n = random.Random(20261115), c.rows
    t = [k / n * 10 for k in range(n)]
    v = [math.sin(3 * x) + 0.05 * rng.uniform(-1, 1) for x in t]
    spikes = [k * n // 40 + rng.randrange(n // 80) for k in range(40)]      # never two in one column of pixels
    for k in spikes: v[k] = rng.choice((-1, 1)) * rng.uniform(2, 3)
    c.file('big.csv', 't,skip,v\n' + ''.join(f'{x!r},text,{y!r}\n' for x, y in zip(t, v)))
    picture = c.svg('big.csv', '--show', 'v')
    c.that('the SVG is small', len(picture.text) < 120000, len(picture.text))
    lines = picture.curves()[('v', 0)]
    points = sum(lines, [])
    sx, sy = picture.x, picture.y[0]
    c.that('the extremes are there', abs(min(y for _, y in points) - sy.pixel(max(v))) < 3 * ROUNDING and abs(max(y for _, y in points) - sy.pixel(min(v))) < 3 * ROUNDING)
    missing = [k for k in spikes if not any(math.hypot(x - sx.pixel(t[k]), y - sy.pixel(v[k])) < 3 * ROUNDING for x, y in points)]
    c.that('every spike is there', len(missing) == 0, missing)
    # Column by column of pixels: what the rows cover is covered. Rounding may move a vertex over the edge of its column.
    columns, drawn = {}, {}
    for x, y in zip(t, v):
        low, high = columns.get(math.floor(sx.pixel(x)), (math.inf, -math.inf))
        columns[math.floor(sx.pixel(x))] = (min(low, sy.pixel(y)), max(high, sy.pixel(y)))
    for x, y in points:
        for k in {math.floor(x - 0.02), math.floor(x + 0.02)}:
            low, high = drawn.get(k, (math.inf, -math.inf))
            drawn[k] = (min(low, y), max(high, y))
    worst = max(max(drawn.get(k, (math.inf, 0))[0] - low, high - drawn.get(k, (0, -math.inf))[1]) for k, (low, high) in columns.items())
    c.that('each column of pixels has its range', worst < 3 * ROUNDING, worst)
    rows = sorted((sx.pixel(x), sy.pixel(y)) for x, y in zip(t, v))
    worst = 0.0
    for x, y in points:
        k, best = bisect.bisect_left(rows, (x - 0.02, -math.inf)), math.inf
        while k < len(rows) and rows[k][0] <= x + 0.02: best, k = min(best, abs(rows[k][1] - y)), k + 1
        worst = max(worst, best)
    c.that('every vertex is a row', worst < 3 * ROUNDING, worst)
    # A curve that goes round and round.
    c.file('round.csv', 't,a,b\n' + ''.join(f'{k},{math.cos(k * 0.0137)!r},{math.sin(k * 0.0137)!r}\n' for k in range(c.rows * 3 // 2)))
    picture = c.svg('round.csv', '--show', 'b', '--against', 'a', '--equal')
    c.that('an orbit is small', len(picture.text) < 700000, len(picture.text))
    points = sum(picture.curves()[('b', 0)], [])
    radii = [math.hypot(picture.x.value(x), picture.y[0].value(y)) for x, y in points]
    c.that('and round', max(abs(r - 1) for r in radii) < 2e-3, (min(radii), max(radii)))


def check_events(c):
    """Impacts: marks at their times, velocities that jump from before to after."""
    for ending in ('json', 'h5', 'csv'):
        c.run('run', os.path.join(MODELS, 'bouncing_ball.toml'), '--to', '4', '-o', f'b.{ending}', '--quiet')
    result = json.load(open(os.path.join(c.folder, 'b.json')))
    impacts = [e for e in result['events'] if e['kind'] == 'impact']
    picture = c.svg('b.json', '--show', "z'", '--show', 'z', '--show', 'Qc(z)')
    text = picture.text
    c.svg('b.h5', '--show', "z'", '--show', 'z', '--show', 'Qc(z)')
    c.that('JSON and HDF5 give the same picture', open(os.path.join(c.folder, 'out.svg')).read() == text)
    jumps = picture.curves('jump')[("z'", 0)]
    sx, sy = picture.x, picture.y[0]
    c.that('a jump for each impact', len(jumps) == len(impacts), (len(jumps), len(impacts)))
    worst = max(max(abs(a[0] - sx.pixel(e['time'])), abs(b[0] - sx.pixel(e['time'])), abs(a[1] - sy.pixel(e['velocity_before']['z'])),
                    abs(b[1] - sy.pixel(e['velocity_after']['z']))) for (a, b), e in zip(jumps, impacts))
    c.that('from the velocity before to that after, at its time', worst < 3 * ROUNDING, worst)
    lines = picture.curves()[("z'", 0)]
    c.that('the line is broken there', len(lines) == len(impacts) + 1, len(lines))
    steep = max(abs(a[1] - b[1]) / max(1e-9, b[0] - a[0]) for line in lines for a, b in zip(line, line[1:]))
    fall = 9.81 * sy.unit() / sx.unit()
    c.that('and between impacts it is free fall', abs(steep / fall - 1) < 0.1, (steep, fall))
    heights = [picture.y[1].value(y) for x, y in sum(picture.curves()[('z', 1)], []) if any(abs(x - sx.pixel(e['time'])) < 0.02 for e in impacts)]
    c.that('positions have their kinks at impacts', len(heights) >= len(impacts) and max(abs(h) for h in heights) < 1e-3, heights)
    marks = sorted({round(line[0][0], 2) for path in picture.paths('event') for line in lines_of(path.get('d'))})
    c.that('lines at the times of the events', all(min(abs(m - sx.pixel(e['time'])) for m in marks) < 1.6 for e in impacts), marks)
    c.that('with words', [t.text for t in picture.texts('legend')] == ['impact'], [t.text for t in picture.texts('legend')])
    c.that('a mark for each', len(lines_of(picture.paths('mark')[0].get('d'))) == len(impacts))
    picture = c.svg('b.json', '--show', "z'", '--against', 'z')
    c.that('marks on a phase portrait', len(lines_of(picture.paths('mark')[0].get('d'))) >= 3)
    picture = c.svg('b.csv', '--show', "z'")
    c.that('CSV has no events', not picture.paths('mark') and not picture.paths('jump'))
    # Events of the model, by name.
    c.file('e.toml', 'coordinates=["x"]\n[dynamics]\nmass={x="1"}\nforce={x="-x"}\n[start]\nposition={x=1.0}\n[run]\nto=10.0\nevery=0.1\n[events]\nmiddle={when="x"}\n')
    c.run('run', 'e.toml', '-o', 'e.json', '--quiet')
    picture = c.svg('e.json')
    c.that('events of the model have their names', 'middle' in [t.text for t in picture.texts('legend')])
    marks = [line[0][0] for path in picture.paths('event') for line in lines_of(path.get('d'))]
    wanted = [picture.x.pixel(math.pi * (k + 0.5)) for k in range(3)]
    c.that('at zeros of the cosine', len(marks) == 3 and max(abs(a - b) for a, b in zip(marks, wanted)) < 3 * ROUNDING, (marks, wanted))


def check_png(c):
    c.file('a.csv', 't,u,v\n' + ''.join(f'{k / 20},{math.sin(k / 20)!r},{1.5 * math.cos(k / 20) + 3!r}\n' for k in range(201)))
    p = c.run('plot', 'a.csv', '-o', 'a.png', '--size', '320x240')
    if p.returncode == 3 and b'built without cairo' in p.stderr:
        return print('note: built without cairo: PNG and PDF are not checked')
    c.that('a PNG is written', p.returncode == 0 and not p.stderr, p)
    width, height, pixels = png_pixels(os.path.join(c.folder, 'a.png'))
    c.that('it has the size asked for', (width, height) == (320, 240), (width, height))
    picture = c.svg('a.csv', '--size', '320x240')

    def near(x, y, colour):
        return min(max(abs(a - b) for a, b in zip(pixels[j][i], colour)) for j in range(max(0, int(y) - 1), min(height, int(y) + 2)) for i in range(max(0, int(x) - 1), min(width, int(x) + 2)))
    blue, red = (0x00, 0x72, 0xB2), (0xD5, 0x5E, 0x00)
    rows = read_csv(os.path.join(c.folder, 'a.csv'))
    sx, sy = picture.x, picture.y[0]
    worst = max(near(sx.pixel(t), sy.pixel(u), blue) for t, u in zip(rows['t'], rows['u']))
    c.that('the first curve is blue where it must be', worst < 80, worst)
    share = sum(near(sx.pixel(t), sy.pixel(v), red) < 80 for t, v in zip(rows['t'], rows['v'])) / len(rows['t'])
    c.that('the second is dashed where it must be', 0.55 < share <= 1.0, share)
    box = picture.frames[0]
    curve = [(sx.pixel(t), sy.pixel(u)) for t, u in zip(rows['t'], rows['u'])]
    stray = [(i, j) for j in range(int(box[1]) + 2, int(box[3]) - 1) for i in range(int(box[0]) + 2, int(box[2]) - 1)
             if max(abs(a - b) for a, b in zip(pixels[j][i], blue)) < 60 and min(math.hypot(i + .5 - x, j + .5 - y) for x, y in curve) > 4]
    c.that('and nowhere else', not stray, stray[:5])
    c.that('the paper is white', pixels[0][0] == pixels[height - 1][width - 1] == (255, 255, 255))
    dark = sum(max(q) < 120 for q in sum((pixels[j][:int(box[0]) - 5] for j in range(height)), []))
    c.that('labels are written', dark > 40, dark)
    c.run('plot', 'a.csv', '-o', 'b.png')
    size = struct.unpack('>II', open(os.path.join(c.folder, 'b.png'), 'rb').read()[16:24])
    c.that('1280 pixels wide by default', size[0] == 1280, size)
    p = c.run('plot', 'a.csv', '-o', 'a.pdf', '--title', 'Größe')
    data = open(os.path.join(c.folder, 'a.pdf'), 'rb').read()
    c.that('a PDF is written', p.returncode == 0 and data.startswith(b'%PDF') and data.rstrip().endswith(b'%%EOF') and b'/Font' in data, p)
    c.refused('without cairo', 3, 'a.csv', '-o', 'c.png', env={'MECHANICIAN_CAIRO': 'off'}, says=['c.png', 'cairo', 'SVG'])
    c.that('and leaves nothing', not os.path.exists(os.path.join(c.folder, 'c.png')) and not os.path.exists(os.path.join(c.folder, 'c.png.part')))
    p = c.run('--version', env={'LD_DEBUG': 'files'})
    c.that('cairo is opened for pictures only', b'cairo' not in p.stderr and b'libc.so' in p.stderr, p.stderr[:200])


def check_hostile(c):
    """Names from files do no harm."""
    names = ['t', '<script>alert(1)</script>', 'a,b', 'x"&\'<', '\x1b[31mred', '\u202eright', 'two\nlines', 'ß\u00fc\U0001d465', ']]>', "Qc(x,'y')", 'bad\udcff']
    header = ','.join('"' + n.replace('"', '""') + '"' for n in names).encode('utf-8', 'surrogateescape')
    c.file('h.csv', header + b'\n' + b''.join((','.join(str(k * (i + 1)) for i in range(len(names))) + '\n').encode() for k in range(5)))
    picture = c.svg('h.csv', '--title', '</title><script>')
    c.that('nothing but drawing elements', {e.tag.replace(SVG, '') for e in picture.root.iter()} <= {'svg', 'title', 'desc', 'rect', 'path', 'text', 'tspan'})
    labels = [t for t, _ in picture.curves()]
    c.that('a curve for each', len(labels) == len(names) - 1, labels)
    c.that('names are kept', {'<script>alert(1)</script>', 'a,b', 'x"&\'<', 'ß\u00fc\U0001d465', ']]>'} <= set(labels), labels)
    c.that('controls are not', not re.search('[\x00-\x08\x0b-\x1f\x7f\u202e]', picture.text))
    c.that('the title is text', picture.texts('title')[0].text == '</title><script>')
    p = c.run('plot', 'h.csv')
    c.that('no escapes in the terminal', p.returncode == 0 and b'\x1b' not in p.stdout and '\u202e' not in p.stdout.decode(), p)
    p = c.run('plot', 'h.csv', '--show', 'nothing')
    c.that('nor in messages', p.returncode == 2 and b'\x1b' not in p.stderr and '\u202e' not in p.stderr.decode(), p)
    for name in ('a,b', '"a,b"', "Qc(x,'y')"):
        c.that(f'{name} can be asked for', len(c.svg('h.csv', '--show', name).curves()) == 1)
    p = c.run('plot', 'h.csv', '-o', 'h.png')
    c.that('cairo takes them', p.returncode == 0 or b'built without cairo' in p.stderr, p)


def check_selection(c):
    c.run('run', os.path.join(MODELS, 'steered_bead.toml'), '--to', '1', '--every', '0.1', '-o', 's.h5', '--quiet')
    c.run('run', os.path.join(MODELS, 'steered_bead.toml'), '--to', '1', '--every', '0.1', '-o', 's.csv', '--quiet')
    columns = list(read_csv(os.path.join(c.folder, 's.csv')))
    for ask, wanted in {'positions': ['x', 'y'], 'velocities': ["x'", "y'"], 'accelerations': ["x''", "y''"], 'forces': ['Qc(x)', 'Qc(y)'],
                        'control': ['Qcontrol(x)', 'Qcontrol(y)'], 'multipliers': ['lambda(wire)'], 'residuals': ['residual'],
                        'Q*(x)': [n for n in columns if n.startswith('Q') and n.endswith('(x)')], '?': ['t', 'x', 'y'], "?''": ["x''", "y''"],
                        'x, y , residual': ['x', 'y', 'residual'], 'energies': ['work_given', 'work_ideal', 'work_nonideal', 'work_control']}.items():
        for file in ('s.csv', 's.h5'):
            got = [name for name, _ in list(c.svg(file, '--show', ask).curves())]
            c.that(f'{ask} of {file}', got == wanted, got)
    c.file('x.csv', 'x,xy,y\n1,2,3\n2,3,5\n')
    c.that('a pattern that fits comes before a product', [n for n, _ in c.svg('x.csv', '--show', 'x*y').curves()] == ['xy'])
    c.that('blanks make a product', [n for n, _ in c.svg('x.csv', '--show', 'x * y').curves()] == ['x * y'])
    c.that('the first column is the abscissa where there is no t', c.svg('x.csv').texts('label x')[0].text == 'x')
    c.file('f.csv', 'time;some value;"other ""value"""\n0;1,5;2\n')
    c.refused('a decimal comma', 3, 'f.csv', says=['f.csv:2:3', '1,5', 'some value'])
    c.file('f.csv', '\ufefftime;some value;other\r\n\r\n# remark\r\n0;1.5; +2e-1 \r\n1;2.5;NA\r\n')
    picture = c.svg('f.csv')
    c.that('semicolons, a mark at the front, line ends of Windows', picture.texts('label x')[0].text == 'time' and ('some value', 0) in picture.curves() and ('other', 0) in picture.curves('points'), picture.curves())
    c.file('tab.csv', 'a\tb\n1\t2\n2\t3\n')
    c.that('tabs', [n for n, _ in c.svg('tab.csv').curves()] == ['b'])
    picture = c.svg('x.csv', '--x-label', 'length', '--y-label', 'one', '--show', 'y', '--show', 'xy', '--y-label', 'two')
    c.that('labels of one\'s own', [t.text for t in picture.texts('label y')] == ['one', 'two'] and picture.texts('label x')[0].text == 'length')
    c.that('a title and a description', picture.root.find(SVG + 'title').text == 'y; xy against x' and '2 rows' in picture.root.find(SVG + 'desc').text)
    picture = c.svg('x.csv', '--size', '500x300')
    c.that('--size', picture.root.get('width') == '500' and picture.root.get('height') == '300' and picture.root.get('viewBox') == '0 0 500 300')


def check_layout(c):
    """Nothing covers anything: legends are outside of frames, texts inside of the picture."""
    columns = ['t'] + [f'a rather long name of a column {k}' for k in range(9)]
    c.file('w.csv', ','.join(columns) + '\n' + ''.join(','.join(str(k * i) for i in range(len(columns))) + '\n' for k in range(4)))
    for arguments in (['w.csv'], ['w.csv', '--size', '400x300'], ['w.csv', '--show', '*1,*2', '--show', '*3', '--title', 'T']):
        picture = c.svg(*arguments)
        width, height = float(picture.root.get('width')), float(picture.root.get('height'))
        for text in picture.texts('legend'):
            x, y = float(text.get('x')), float(text.get('y'))
            c.that(f'{arguments}: legends are outside of frames', not any(f[1] < y + 2 and y - 8 < f[3] for f in picture.frames), (y, picture.frames))
            c.that(f'{arguments}: legends are in the picture', x + 0.45 * 11 * len(text.text) < width + 5 and 0 < y < height, (x, text.text))
        styles = [(p.get('stroke'), p.get('stroke-dasharray')) for p in picture.paths('curve')][:9]
        if len(arguments) == 1: c.that('curves differ, in dashes too', len(set(styles)) == 9 and len({s[1] for s in styles[:6]}) == 6, styles)
    c.that('one curve is a line without a legend', not c.svg('w.csv', '--show', '*1').texts('legend'))
    c.refused('a picture that is too small', 2, 'w.csv', '-o', 'o.svg', '--size', '60x50', says='too small')
    c.refused('a terminal that is too small', 2, 'w.csv', '--size', '12x4', says='too small')


def braille(text):
    """Dots of braille characters, by line."""
    bits = [(0x01, 0, 0), (0x02, 0, 1), (0x04, 0, 2), (0x08, 1, 0), (0x10, 1, 1), (0x20, 1, 2), (0x40, 0, 3), (0x80, 1, 3)]
    return {(2 * i + dx, 4 * j + dy) for j, line in enumerate(text) for i, ch in enumerate(line) if 0x2800 <= ord(ch) < 0x2900 for bit, dx, dy in bits if (ord(ch) - 0x2800) & bit}


def check_terminal(c):
    c.file('a.csv', 't,v\n' + ''.join(f'{k / 10},{math.sin(k / 10)!r}\n' for k in range(101)))
    for columns in (40, 80, 133):
        p = c.run('plot', 'a.csv', env={'COLUMNS': str(columns)})
        lines = p.stdout.decode().split('\n')
        c.that(f'{columns} columns', p.returncode == 0 and columns - 12 <= max(map(len, lines)) <= columns, max(map(len, lines)))
    p = c.run('plot', 'a.csv', '--size', '90x30')
    lines = p.stdout.decode().split('\n')
    c.that('--size in characters', max(map(len, lines)) <= 90 and len(lines) <= 31, len(lines))
    # Dots turned back into numbers: 0 to 10, and 4 % beyond −1 and 1.
    body = [line[line.index('│') + 1 if '│' in line else line.index('┤') + 1:] for line in lines if '│' in line or '┤' in line]
    axis = next(line for line in lines if '└' in line)
    wide, high = 2 * len(axis[axis.index('└') + 1:]), 4 * len(body)
    dots = braille(body)
    values = [math.sin(k / 10) for k in range(101)]
    low, high_value = min(values), max(values)
    margin = 0.04 * (high_value - low)
    low, high_value = low - margin, high_value + margin
    worst = 0.0
    for k in range(101):
        x, y = k / 10 / 10 * (wide - 1), (high - 1) * (high_value - values[k]) / (high_value - low)
        worst = max(worst, min(max(abs(i - x), abs(j - y)) for i, j in dots))
    c.that('dots are where the rows are', worst <= 1.01, worst)
    stray = [d for d in dots if min(max(abs(d[0] - k / 1000 * (wide - 1)), abs(d[1] - (high - 1) * (high_value - math.sin(k / 100)) / (high_value - low))) for k in range(1001)) > 1.6]
    c.that('and nowhere else', not stray, stray[:5])
    p = c.run('plot', 'a.csv', env={'LANG': 'C'})
    c.that('ASCII where the locale is not UTF-8', p.returncode == 0 and all(b < 128 for b in p.stdout) and b'*' in p.stdout, p.stdout[:300])
    p = c.run('plot', 'a.csv', env={'LANG': 'de_DE.UTF-8', 'LC_ALL': 'POSIX'})
    c.that('LC_ALL comes first', all(b < 128 for b in p.stdout))

    def on_terminal(*arguments, env=None):
        leader, follower = pty.openpty()
        environment = {k: v for k, v in os.environ.items() if k not in ('COLUMNS', 'NO_COLOR', 'LC_ALL', 'LC_CTYPE')} | {'LANG': 'C.UTF-8', 'TERM': 'xterm'} | (env or {})
        import fcntl, termios
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack('HHHH', 40, 57, 0, 0))
        process = subprocess.Popen([c.program, 'plot', *arguments], cwd=c.folder, stdout=follower, stderr=follower, env=environment)
        os.close(follower)
        out = b''
        while True:
            try: piece = os.read(leader, 65536)
            except OSError: break
            if not piece: break
            out += piece
        process.wait()
        os.close(leader)
        return out.decode()
    text = on_terminal('a.csv')
    c.that('colours on a terminal', '\x1b[34m' in text and text.count('\x1b[0m') > 0, text[:300])
    plain = re.sub('\x1b\\[[0-9]*m', '', text).replace('\r', '').split('\n')
    c.that('its width', 45 < max(map(len, plain)) <= 57, max(map(len, plain)))
    c.that('--no-color', '\x1b' not in on_terminal('a.csv', '--no-color'))
    c.that('NO_COLOR', '\x1b' not in on_terminal('a.csv', env={'NO_COLOR': '1'}))
    c.that('a terminal that knows none', '\x1b' not in on_terminal('a.csv', env={'TERM': 'dumb'}))
    p = c.run('plot', 'a.csv', '--show', 'v', '--show', '2*v', '--title', 'Two')
    text = p.stdout.decode()
    c.that('panels and a title', p.returncode == 0 and 'Two' in text and '2*v' in text, text)


def check_refusals(c):
    c.file('a.csv', 't,x,y\n0,1,2\n1,2,3\n')
    c.refused('no such file', 3, 'none.csv', says='none.csv: there is no such file')
    c.file('left.csv.part', 't,x\n0,1\n')
    c.refused('a run that has not ended', 3, 'left.csv', says='left.csv.part')
    c.refused('a folder', 3, '.', says='folder')
    c.file('m.toml', 'x = 1\n')
    c.refused('a model', 3, 'm.toml', says=['this is a model', 'run m.toml'])
    c.refused('an empty file', 3, c.file('empty.csv', ''), says='empty')
    c.refused('no rows', 3, c.file('names.csv', 't,x\n'), says='no rows')
    c.refused('no names', 3, c.file('numbers.csv', '1,2\n3,4\n'), says=['numbers.csv:1', 'names'])
    c.refused('no text', 3, c.file('noise.csv', bytes(range(256)) * 4), says='noise.csv')
    c.refused('a word for a number', 3, c.file('word.csv', 't,x,y\n0,1,2\n1,2,abc\n'), says=['word.csv:3:5: `abc` is not a number', '`y`'])
    c.refused('too few fields', 3, c.file('few.csv', 't,x,y\n0,1,2\n1,2\n2,3,4\n'), says=['few.csv:3', '2 fields', '3 columns'])
    c.refused('too many fields', 3, c.file('many.csv', 't,x,y\n0,1,2,3\n'), says=['many.csv:2', '4 fields'])
    p = c.run('plot', 'left.csv.part')
    c.that('a part is plotted', p.returncode == 0, p)
    p = c.run('plot', c.file('cut.csv.part', 't,x\n0,1\n1,2\n2,3'), '-o', 'cut.svg', '--style', 'points')
    c.that('up to its last whole line', p.returncode == 0 and len(Picture(open(os.path.join(c.folder, 'cut.svg')).read()).curves('points')[('x', 0)]) == 2, p)
    p = c.run('plot', c.file('doubt.csv', 't,x\n0,1\n1,2\n# suspect: the run is off\n'))
    c.that('a doubtful result is said to be one', p.returncode == 0 and b'not to be trusted (suspect: the run is off)' in p.stderr, p.stderr)

    c.refused('an unknown column', 2, 'a.csv', '--show', 'residul,x', says=['--show residul,x', 'no column `residul`', '`t`, `x` and `y`'])
    c.refused('the nearest name', 2, 'a.csv', '--show', 'X', says='did you mean `x`?')
    c.refused('an unknown name in a formula', 2, 'a.csv', '--show', 'x + zz', says='no column `zz`')
    c.refused('a formula that ends', 2, 'a.csv', '--show', 'x +', says=['--show', '^'])
    c.refused('a function that is none', 2, 'a.csv', '--show', 'sinus(x) + 1', says='sinus')
    c.refused('a group that is empty', 2, 'a.csv', '--show', 'forces', says='no forces')
    c.refused('a number', 2, 'a.csv', '--show', '1+1', says='number')
    c.refused('nothing between commas', 2, 'a.csv', '--show', 'x,,y', says='missing')
    c.refused('two names that are one', 2, c.file('twice.csv', 't,x,x\n0,1,2\n'), '--show', 'x', says='two columns')
    c.refused('several abscissas', 2, 'a.csv', '--against', 'x,y', says='only one')
    c.refused('an unknown abscissa', 2, 'a.csv', '--against', 'q', says='no column `q`')
    c.refused('an unknown ending', 2, 'a.csv', '-o', 'a.gif', says='.svg, .png or .pdf')
    for wrong in ('640', 'x', '0x10', '10x-4', '1e3x2', '99999x1'):
        c.refused(f'--size {wrong}', 2, 'a.csv', '--size', wrong, says='640x400')
    c.refused('--from behind --to', 2, 'a.csv', '--from', '2', '--to', '1', says='before')
    c.refused('--from beyond the end', 2, 'a.csv', '--from', '7', says=['nothing lies', 'from 0 to 1'])
    c.refused('--from no number', 2, 'a.csv', '--from', 'now', says='not a finite number')
    c.refused('--log with --equal', 2, 'a.csv', '--log', 'x', '--equal', says='--equal')
    c.refused('a negative end of a logarithm', 2, 'a.csv', '--log', 'x', '--from', '-1', says='positive')
    c.refused('nothing positive', 2, c.file('minus.csv', 't,x\n1,-1\n2,-2\n'), '--log', 'y', says='no positive number')
    c.refused('nothing finite', 2, c.file('nan.csv', 't,x\n1,nan\n2,nan\n'), says='no number')
    c.refused('a style that is none', 2, 'a.csv', '--style', 'bars')
    c.refused('no result', 2)
    c.that('negative limits are numbers', c.run('plot', 'a.csv', '--from', '-1', '--to', '5').returncode == 0)

    good = '{"columns": ["t", "x"], "rows": [[0, 1], [1, null]], "events": [], "summary": {"status": "done"}}'
    c.that('a small JSON result', c.run('plot', c.file('g.json', good)).returncode == 0)
    for name, text, says in (('cut', good[:40], 'cut.json:1:'), ('word', good.replace('null', '"a"'), 'word.json:1:'), ('few', good.replace('[0, 1]', '[0]'), '1 number'),
                             ('many', good.replace('[0, 1]', '[0, 1, 2]'), 'more numbers'), ('nameless', '{"rows": []}', '`columns`'), ('rowless', '{"columns": ["t"]}', '`rows`'),
                             ('tail', good + 'x', 'after the end'), ('object', '{"a": 1}', 'no result'), ('deep', '{"a": ' + '[' * 100000, 'ends here'),
                             ('escape', good.replace('"x"', '"\\q"'), '\\'), ('open', '{"columns": ["t', 'not closed')):
        c.refused(f'JSON: {name}', 3, c.file(f'{name}.json', text), says=says)
    p = c.run('plot', c.file('e.json', good.replace('"x"', '"\\u00e9\\ud835\\udc65"')), '-o', 'e.svg')
    c.that('characters by number', p.returncode == 0 and '\u00e9\U0001d465' in open(os.path.join(c.folder, 'e.svg'), encoding='utf-8').read(), p)
    c.refused('an HDF5 file that is none', 3, c.file('bad.h5', b'\x89HDF\r\n\x1a\n' + b'0' * 500), says='bad.h5')
    c.run('run', os.path.join(MODELS, 'pendulum.toml'), '--to', '1', '-o', 'p.h5', '--quiet')
    data = bytearray(open(os.path.join(c.folder, 'p.h5'), 'rb').read())
    data[200] ^= 255
    c.refused('a damaged HDF5 file', 3, c.file('damaged.h5', bytes(data)), says='damaged')


def check_files(c):
    """Nothing half written; what was there stays until the picture is whole."""
    c.file('a.csv', 't,x\n0,1\n1,2\n')
    c.file('keep.svg', 'old')
    c.refused('a mistake', 2, 'a.csv', '--show', 'q', '-o', 'keep.svg')
    c.that('leaves the picture that was there', open(os.path.join(c.folder, 'keep.svg')).read() == 'old' and not os.path.exists(os.path.join(c.folder, 'keep.svg.part')))
    c.refused('a full disk', 3, 'a.csv', '-o', 'keep.svg', preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300)), says='keep.svg')
    c.that('leaves it too', open(os.path.join(c.folder, 'keep.svg')).read() == 'old')
    c.refused('a folder that is not there', 3, 'a.csv', '-o', 'no/where.svg', says='no/where.svg')
    p = c.run('plot', 'a.csv', '-o', 'keep.svg')
    c.that('and replaces it in the end', p.returncode == 0 and open(os.path.join(c.folder, 'keep.svg')).read().startswith('<svg') and not os.path.exists(os.path.join(c.folder, 'keep.svg.part')), p)
    first = open(os.path.join(c.folder, 'keep.svg')).read()
    c.run('plot', 'a.csv', '-o', 'keep.svg')
    c.that('the same again is the same', first == open(os.path.join(c.folder, 'keep.svg')).read())
    with open('/dev/full', 'wb') as full:
        p = subprocess.run([c.program, 'plot', 'a.csv'], cwd=c.folder, stdout=full, stderr=subprocess.PIPE)
    c.that('standard output that is full', p.returncode == 3, p)
    p = c.run('plot', '--help')
    c.that('--help', p.returncode == 0 and all(word in p.stdout for word in (b'--show', b'--against', b'--equal', b'--log', b'--style', b'--size', b'RESULT')), p.stdout)
    for shell in ('bash', 'zsh', 'fish'):
        p = c.run('completion', shell)
        c.that(f'completion {shell} knows plot', b'plot' in p.stdout and b'against' in p.stdout)
    p = subprocess.run(['bash', '-c', 'shopt -s extglob; source <("$0" completion bash); COMP_WORDS=(mechanician plot --sh); COMP_CWORD=2; _mechanician; echo "${COMPREPLY[@]}"; '
                        'COMP_WORDS=(mechanician plot a); COMP_CWORD=2; _mechanician; echo "${COMPREPLY[@]}"', c.program], cwd=c.folder, capture_output=True, text=True)
    c.that('bash completes options and results', p.stdout.split('\n')[0] == '--show' and 'a.csv' in p.stdout, p)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--program', required=True)
    parser.add_argument('--only', default='')
    parser.add_argument('--rows', type=int, default=200000, help='of a long result')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        c = Check(os.path.abspath(options.program), folder, options.only, options.rows)
        for name, check in sorted(globals().items()):
            if not name.startswith('check_') or options.only not in name: continue
            c.part = name
            try: check(c)
            except Exception as e:      # a picture that lacks what a check looks for
                import traceback
                c.that(f'goes through ({type(e).__name__})', False, traceback.format_exc()[-600:])
        print(f'{c.passed} passed, {c.failed} failed')
        sys.exit(1 if c.failed else 0)


main()
