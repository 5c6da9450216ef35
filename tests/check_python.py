#!/usr/bin/env python3
"""Checks the Python package against the program, and what it says of wrong use.

usage: check_python.py --program PATH --models FOLDER [--every N]

- Every model of the gallery: accelerate, run and sweep give the numbers of the command line, bit for bit.
- Compiled accelerations against `accelerate`, one by one, in batches and through the C function.
- Steps, pickles, threads, forks, Ctrl-C; models built in Python against files.
- Wrong types, NaN, wrong shapes, arrays that are not contiguous or cannot be written: exceptions with reasons, no crash.

Runs in an interpreter that can import mechanician. Prints a line for each miss and, last, `N passed, N failed`."""
import argparse
import csv
import ctypes
import inspect
import json
import multiprocessing
import os
import pathlib
import pickle
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import limits
import numpy as np

import mechanician as me

PENDULUM = """title = "Pendulum"
coordinates = ["x", "y"]
[parameters]
m = 2.0
g = 9.81
L = 1.0
[dynamics]
kinetic = "m/2*(x'^2 + y'^2)"
potential = "m*g*y"
[constraints]
rod = "x^2 + y^2 = L^2"
[start]
position = { x = 0.6, y = -0.8 }
velocity = { x = 0.8, y = 0.6 }
[run]
to = 1
every = 0.1
"""


class Check:
    def __init__(self, program):
        self.program, self.passed, self.failed = program, 0, 0

    def that(self, what, holds, seen=''):
        self.passed += bool(holds)
        self.failed += not holds
        if not holds:
            print(f'MISS {what}: {str(seen)[:400]}', flush=True)

    def raises(self, what, call, *kinds):
        try:
            call()
        except kinds as e:
            self.that(what, str(e) != '', 'no reason')
        except BaseException as e:  # noqa: B036
            self.that(what, False, f'{type(e).__name__}: {e}')
        else:
            self.that(what, False, 'nothing was raised')

    def command(self, *words):
        p = subprocess.run([self.program, *map(str, words)], capture_output=True, text=True)
        return p.returncode, p.stdout


def same_bits(a, b):
    return np.array_equal(np.asarray(a, dtype=float).view(np.int64), np.asarray(b, dtype=float).view(np.int64))


def check_instants(check, file):
    code, out = check.command('accelerate', file, '--json')
    want = json.loads(out) if out else None
    try:
        got = me.load(file).accelerate().to_dict()
    except me.MechanicsError as e:
        check.that(f'{file.name}: refused alike', code == 1, (code, e))
        got = e.result.to_dict()
    except me.ModelError:
        check.that(f'{file.name}: cannot be read alike', code == 1 and not out, code)
        return False
    if want is not None:
        check.that(f'{file.name}: the same instant', got == want, [k for k in want if got.get(k) != want[k]])
    return code == 0


def check_run(check, file, folder):
    rows = folder / 'rows.csv'
    system = me.load(file)
    data = json.loads(check.command('check', file, '--json')[1] or 'null')
    stated = [line for line in file.read_text(encoding='utf-8').splitlines() if line.startswith('to ') or line.startswith('to=')]
    if data is None or not stated:
        return
    code, _ = check.command('run', file, '-o', rows, '--quiet')
    try:
        run = system.run()
    except ValueError as e:
        check.that(f'{file.name}: refused alike', code == 1, (code, e))
        return
    with open(rows, encoding='utf-8') as f:
        lines = [line for line in f if not line.startswith('#')]
    table = list(csv.reader(lines))
    check.that(f'{file.name}: the same columns', table[0] == run.columns, (table[0], run.columns))
    want = np.array(table[1:], dtype=float)
    check.that(f'{file.name}: the same rows', same_bits(want, run.array()), (want.shape, run.array().shape))
    run.save(folder / 'again.csv')
    check.that(f'{file.name}: saved as the program writes it', (folder / 'again.csv').read_bytes() == rows.read_bytes(), '')
    statuses = {0: ('done', 'stopped'), 4: ('failed',), 5: ('suspect',)}
    check.that(f'{file.name}: the same status', run.status in statuses.get(code, ()), (code, run.status))


def check_sweep(check, folder):
    file = folder / 'pendulum.toml'
    file.write_text(PENDULUM, encoding='utf-8')
    out = folder / 'sweep.csv'
    check.command('sweep', file, '--vary', 'm=1:3:5', '--vary', "x'=0.5,0.8", '--keep', 'lambda(rod)', '-o', out, '--quiet')
    with open(out, encoding='utf-8') as f:
        table = list(csv.DictReader(f))
    sweep = me.load(file).sweep(vary={'m': np.linspace(1, 3, 5), "x'": [0.5, 0.8]}, keep=['lambda(rod)'], threads=2)
    check.that('a sweep has all motions', len(sweep.outcomes) == 10 and sweep.computed == 10, sweep)
    for name in ('x', 'y', "x'", 'lambda(rod)', 't'):
        if name in table[0]:
            check.that(f'a sweep: the same {name}', same_bits([r[name] for r in table], sweep[name]), sweep[name])
        else:
            check.that(f'a sweep: column {name}', False, list(table[0]))
    one = me.load(file).sweep(vary={'m': [1.0], "x'": [0.5]}, keep=['lambda(rod)'], threads=1)
    check.that('one thread, one motion: the same bits', same_bits(one['x'], sweep['x'][:1]), '')
    pairs = me.load(file).sweep(vary={'m': [1.0, 2.0], 'g': [9.0, 10.0]}, pairs=True)
    check.that('pairs belong together', pairs['m'].tolist() == [1.0, 2.0] and pairs['g'].tolist() == [9.0, 10.0], pairs['m'])


def check_functions(check):
    m = me.read(PENDULUM)
    f = m.compiled()
    rng = np.random.default_rng(20261117)
    angle = rng.uniform(-3, 3, 1000)
    q = np.column_stack([np.sin(angle), -np.cos(angle)])
    qd = np.column_stack([np.cos(angle), np.sin(angle)]) * rng.normal(size=(1000, 1))
    all_of_them = f(0.0, q, qd)
    # The closed form of the pendulum.
    factor = (9.81 * q[:, 1] - (qd**2).sum(axis=1))[:, None]
    exact = q * factor - np.array([0, 9.81])
    exact = np.column_stack([q[:, 0] * factor[:, 0], q[:, 1] * factor[:, 0] - 9.81])
    check.that('compiled accelerations are those of the closed form', np.max(np.abs(all_of_them - exact)) < 1e-12 * np.max(np.abs(exact)),
               np.max(np.abs(all_of_them - exact)))
    single = np.array([f(0.0, q[k], qd[k]) for k in range(50)])
    check.that('one by one the same bits', same_bits(single, all_of_them[:50]))
    check.that('the same bits whatever code computes them', all(same_bits(f(0.0, np.tile(q, (3, 1)), np.tile(qd, (3, 1))), np.tile(all_of_them, (3, 1))) for _ in range(25)))
    check.that('a list will do', same_bits(f(0, list(q[0]), list(qd[0])), single[0]))
    check.that('other strides will do', same_bits(f(0.0, np.asfortranarray(q), qd[::1]), all_of_them))
    call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(f.address)
    out = np.empty(2)
    status = call(0.0, q[3].ctypes.data, qd[3].ctypes.data, out.ctypes.data, f.data)
    check.that('through C the same bits', status == 0 and same_bits(out, all_of_them[3]), (status, out))
    a = m.accelerate(position={'x': q[0, 0], 'y': q[0, 1]}, velocity={'x': qd[0, 0], 'y': qd[0, 1]})
    check.that('as accelerate says', np.allclose([a.acceleration['x'], a.acceleration['y']], single[0], rtol=1e-13, atol=1e-13))
    check.raises('wrong shapes', lambda: f(0.0, q[:, :1], qd), ValueError)
    check.raises('times of another length', lambda: f([0.0, 1.0, 2.0], q, qd), ValueError)
    check.raises('words', lambda: f(0.0, 'ab', qd), TypeError, ValueError)
    q[0, 0] = np.nan
    check.raises('a state that is no number', lambda: f(0.0, q, qd), ValueError)


def check_motions(check, folder):
    m = me.read(PENDULUM)
    run = m.run()
    steps = list(m.steps())
    check.that('steps are the rows of a run', same_bits([s['x'] for s in steps], run['x']) and same_bits([s.t for s in steps], run.t))
    check.that('columns are no copies', run['x'].base is not None)
    late, at_once = m.run(every=0.001), m.run(every=0.001).array()
    x, waiting = late['x'], [late.columns[k] for k in late._made.left_open]
    check.that('forces wait until they are asked for', 'lambda(rod)' in waiting and "x''" in waiting and 'x' not in waiting and 'work(rod)' not in waiting, waiting)
    check.that('and are those of a file', same_bits(late['lambda(rod)'], at_once[:, late.columns.index('lambda(rod)')]) and same_bits(late.array(), at_once) and not late._made.left_open)
    check.that('those of few rows do not', not run._made.left_open)
    check.that('in the same memory', np.shares_memory(x, late.array()) and same_bits(x, late['x']))
    again = pickle.loads(pickle.dumps(run))
    check.that('a pickled run is the same', same_bits(again.array(), run.array()))
    check.that('a pickled model is the same', same_bits(pickle.loads(pickle.dumps(m)).run()['y'], run['y']))
    found = [None] * 4

    def work(k):
        found[k] = me.read(PENDULUM).run()['x']
    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    check.that('four threads, the same bits', all(x is not None and same_bits(x, run['x']) for x in found))
    with multiprocessing.get_context('fork').Pool(2) as pool:
        check.that('forks, the same bits', all(same_bits(x, run['x']) for x in pool.map(_forked, range(2))))
    for ending in ('h5', 'csv', 'json'):
        run.save(folder / f'a.{ending}')
        check.that(f'saved as .{ending}', (folder / f'a.{ending}').stat().st_size > 100)
    check.raises('an ending that says nothing', lambda: run.save(folder / 'a.xyz'), ValueError)
    check.raises('a folder that is not there', lambda: run.save(folder / 'no' / 'a.csv'), OSError)
    page = run.report()
    check.that('the report is a page', page.startswith('<!') and len(page) > 10_000, page[:40])
    seen = []
    m.run(to=20, tolerance=1e-13, every=1e-4, progress=lambda b, n, e: seen.append(n) or True)
    check.that('progress is reported in order', seen == sorted(seen), seen[:5])
    stopped = m.run(to=1e9, every=1e4, progress=lambda b, n, e: False)
    check.that('a run can be ended and keeps what it had', stopped.status == 'interrupted' and len(stopped.t) >= 1, stopped)
    parent = os.getpid()
    threading.Timer(0.7, lambda: os.kill(parent, signal.SIGINT)).start()
    begin = time.monotonic()
    stopped = m.run(to=1e9, every=1e4)
    check.that('Ctrl-C ends a run and keeps what it had', stopped.status == 'interrupted' and time.monotonic() - begin < 60, stopped)

    class OutOfTime(Exception):
        pass

    def over(number, frame):
        raise OutOfTime('enough')
    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    check.raises('what a handler of signals raises', lambda: m.run(to=1e9, every=1e4), OutOfTime)
    signal.signal(signal.SIGALRM, before)


PUSHED = """
coordinates = ["x"]
[inputs]
F = 0.0
[dynamics]
kinetic = "x'^2/2"
force   = { x = "F - x" }
[start]
position = { x = 1 }
[run]
to = 2
every = 0.1
"""


def check_inputs(check):
    """What is computed when it is asked for is that of the inputs of then; all inputs go back to the model's."""
    m, where = me.read(PUSHED), {'x': 0.5}
    run, instant = m.run(position=where), m.accelerate(position=where)
    sample, parts, page = run.sample(0.55)['x'], m.accelerate(position={'x': 0.5}, parts=True).parts, run.report()
    m.inputs['F'] = 30.0
    where['x'] = 9.0
    again = pickle.loads(pickle.dumps(run))
    check.that('a pickled run has the inputs of then', again.sample(0.55)['x'] == sample, again.sample(0.55)['x'])
    check.that('parts are those of then', instant.parts == parts, instant.parts)
    timeless = [re.sub(r'"wall_time": [^}]*', '', text) for text in (page, run.report())]
    check.that('so is the report', timeless[0] == timeless[1])
    check.that('the model has those of now', m.accelerate(position={'x': 0.5}).acceleration['x'] == 29.5)
    m.inputs.clear()
    check.that('inputs go back to what the model says', dict(m.inputs) == {'F': 0.0} and m.accelerate(position={'x': 0.5}).acceleration['x'] == -0.5)


def check_names(check):
    try:
        import sympy
    except ImportError:
        return
    m = me.read("""
coordinates = ["x", "x_d"]
[parameters]
x_dd = 5.0
[dynamics]
kinetic = "(x'^2 + x_d'^2)/2"
force   = { x = "-0.3*x' - 2*x_d + x_dd", x_d = "-x" }
""")
    first = m.equations().sympy()['Q'][0]
    check.that('three quantities are three symbols', len(first.free_symbols) == 3 and sympy.diff(first, sympy.Symbol('x_d', real=True)) == -2, first)
    run = m.run(to=0.1, position={'x': 1})
    check.that('a run is itself', run == run and run in [run] and run != m.run(to=0.1))
    check.that('the words of a run are text', '&lt;run' in run._repr_html_())


DAEMON = """
import sys, threading, time
import mechanician as me
m = me.read(sys.argv[1])
def run(): m.run(to=1e6, every=100)
def sweep(): m.sweep(vary={"m": [1.0 + 0.001*k for k in range(20000)]}, to=100)
def steps():
    for _ in m.steps(to=1e6, every=0.1): pass
threading.Thread(target={"run": run, "sweep": sweep, "steps": steps}[sys.argv[2]], daemon=True).start()
time.sleep(0.4)
"""


def check_daemons(check):
    """A program that ends while a daemon thread computes ends as any other."""
    for what in ('run', 'sweep', 'steps'):
        done = subprocess.run([sys.executable, '-c', DAEMON, PENDULUM, what], capture_output=True, text=True, timeout=limits.CLOCK)
        check.that(f'a program ends while a daemon thread is in {what}', done.returncode == 0 and not done.stderr, (done.returncode, done.stderr[-200:]))


def _forked(_):
    return np.array(me.read(PENDULUM).run()['x'])


def check_builder(check):
    x, y = me.coordinates('x y')
    b = me.Model('Pendulum')
    m, g, L = b.parameter('m', 2.0), b.parameter('g', 9.81), b.parameter('L', 1.0)
    b.kinetic = m / 2 * (x.dot**2 + y.dot**2)
    b.potential = m * g * y
    b.constrain('rod', x**2 + y**2 == L**2)
    b.start(position={'x': 0.6, 'y': -0.8}, velocity={'x': 0.8, 'y': 0.6})
    want = me.read(PENDULUM).run(to=1, every=0.1)
    check.that('a model built in Python is that of the file', same_bits(b.build().run(to=1, every=0.1).array(), want.array()))
    text = str(-(x - y) ** 2 / (m * -2) - (m - (g - L)))
    numbers = {'x': 0.3, 'y': 1.7, 'm': 2.0, 'g': 9.81, 'L': 1.0}
    value = eval(text.replace('^', '**'), {}, dict(numbers))
    direct = -((0.3 - 1.7) ** 2) / (2.0 * -2) - (2.0 - (9.81 - 1.0))
    check.that('brackets stand where they must', abs(value - direct) < 1e-14, (text, value, direct))
    # Coordinates whose velocity nothing says: without mass, prescribed, in a force alone.
    light = me.Model('bead')
    light.kinetic, light.potential = x.dot**2 / 2, 0 * y
    phi, z, u, w = me.coordinates('phi z u w')
    light.constrain('curve', y == x**2)
    light.constrain('clock', phi == 2 * me.t)
    light.constrain('tie', me.where(z > 0, z, 2 * z) + me.sin(u) * 0 == 0.5)
    light.force(w, 1.0)
    light.constrain('held', w - 0.1 == u)
    light.constrain('free', "u = 0.2")
    check.that('coordinates without a velocity', light._found_coordinates() == ['x', 'y', 'phi', 'z', 'u', 'w'], light._found_coordinates())
    light.start(position={'y': 0.0, 'z': 0.5, 'u': 0.2, 'w': 0.3}, velocity={'x': 1.0, 'phi': 2.0})
    run = light.build().run(to=1.0)
    check.that('and where they are', abs(run['y'][-1] - run['x'][-1]**2) < 1e-9 and abs(run['phi'][-1] - 2.0) < 1e-9, (run['y'][-1], run['phi'][-1]))
    check.raises('an expression is no truth value', lambda: bool(x), TypeError)
    check.raises('names', lambda: b.parameter('2x', 1), ValueError)
    check.raises('twice the same', lambda: b.parameter('m', 1), ValueError)
    check.raises('no condition', lambda: b.constrain('other', 3), TypeError)
    check.raises('infinite numbers', lambda: x * float('inf'), ValueError)
    floor = me.Model('ball')
    (z,) = me.coordinates('z')
    floor.kinetic, floor.potential = z.dot**2 / 2, 9.81 * z
    floor.constrain('floor', z >= 0, restitution=0.5)
    floor.start(position={'z': 1.0})
    run = floor.build().run(to=0.5)
    check.that('one-sided constraints', any(e['kind'] == 'impact' for e in run.events), run.events)
    b = me.Model('Arm')
    b.extend('''
[world]
gravity = [0, 0, -9.81]
[bodies.arm]
mass    = 1
inertia = [0.1, 0.1, 0.1]
start   = { at = [0.5, 0, 0] }
[joints.hinge]
type    = "revolute"
between = ["ground", "arm"]
at      = [0, 0, 0]
axis    = [0, 1, 0]
[points]
tip = { on = "arm", at = [0.5, 0, 0] }
''')
    b.define('speed', "sqrt(tip.x'^2 + tip.z'^2)")
    b.output('turns', "hinge.angle'")
    b.start(position={'hinge.angle': 0.3}, velocity={'hinge.angle': 2.0})
    arm = b.build()
    check.that('names of bodies and joints are no coordinates of their own', arm.coordinates == ['hinge.angle'], arm.coordinates)
    run = arm.run(to=0.1)
    check.that('a start by the name of a joint', run['hinge.angle'][0] == 0.3 and run['turns'][0] == 2.0, (run['hinge.angle'][0], run['turns'][0]))


def check_exports(check, program, file, folder):
    """The files that the program writes."""
    m = me.load(file)
    made = pathlib.Path(m.export_c(folder / 'by_python'))
    subprocess.run([program, 'export', 'c', str(file), '-o', str(folder / 'by_program')], check=True, capture_output=True)
    check.that('export_c writes what the program writes', made.read_bytes() == (folder / 'by_program' / made.name).read_bytes())
    if shutil.which('cc'):
        library = folder / 'exported.so'
        subprocess.run(['cc', '-O2', '-ffp-contract=off', '-shared', '-fPIC', str(made), '-lm', '-o', str(library)], check=True)
        n, row, f = len(m.coordinates), ctypes.c_double * 64, m.compiled()
        exported, parameters, got = ctypes.CDLL(str(library)), row(), row()
        getattr(exported, f'{made.stem}_parameters')(parameters)
        rng, equal = np.random.default_rng(3), 0
        run = m.run(to=1.0, every=0.02)
        for k in range(50):
            q, v = (np.array([run[c + prime][k] for c in m.coordinates]) for prime in ('', "'"))
            v = v * rng.normal()
            status = getattr(exported, f'{made.stem}_acceleration')(ctypes.c_double(run.t[k]), row(*q), row(*v), parameters, got, None, None)
            equal += status == 0 and same_bits(got[:n], f(float(run.t[k]), q, v))
        check.that('accelerations of the C are those of compiled(), bit for bit', equal == 50, equal)
    fmu = pathlib.Path(m.export_fmu(folder / 'model.fmu', fmi='3.0'))
    check.that('export_fmu writes an archive', fmu.read_bytes()[:2] == b'PK')
    check.raises('an FMU that is called otherwise', lambda: m.export_fmu(folder / 'model.zip'), ValueError)
    check.raises('an FMI that is none', lambda: m.export_fmu(folder / 'model.fmu', fmi='1.0'), ValueError)


def check_wrong_use(check):
    m = me.read(PENDULUM)
    wrong = (TypeError, ValueError)
    for what, call in {
        'a file that is not there': lambda: me.load('no_such_file.toml'),
    }.items():
        check.raises(what, call, OSError)
    for bad in (None, 'x', b'x', [1], {}, True, object(), float('nan'), float('inf')):
        if bad is not None:
            check.raises(f'to={bad!r}', lambda bad=bad: m.run(to=bad), *wrong)
        check.raises(f'position x={bad!r}', lambda bad=bad: m.accelerate(position={'x': bad}), *wrong)
        check.raises(f'vary {bad!r}', lambda bad=bad: m.sweep(vary=bad), *wrong)
        check.raises(f'read {bad!r}', lambda bad=bad: me.read(bad), *wrong)
    check.raises('position is no mapping', lambda: m.accelerate(position=[1, 2]), TypeError)
    check.raises('names that are none', lambda: m.accelerate(position={3: 1.0}), TypeError)
    check.raises('an unknown coordinate', lambda: m.accelerate(position={'z': 1.0}), ValueError)
    check.raises('an unknown parameter', lambda: me.read(PENDULUM, Q=3.0), ValueError)
    check.raises('an unknown column', lambda: m.run()['nope'], KeyError)
    check.raises('a pattern that fits nothing', lambda: m.run(columns='nope*'), ValueError)
    check.raises('more rows than there is memory', lambda: m.run(to=1e6, every=1e-9), ValueError)
    check.raises('a method', lambda: m.run(method='euler'), ValueError)
    check.raises('a tolerance', lambda: m.run(tolerance=7.0), ValueError)
    check.raises('a start off the constraints', lambda: m.run(position={'x': 5.0}), ValueError)
    check.that('it can be moved', abs(m.run(position={'x': 5.0}, project=True)['x'][0]) <= 1.0)
    check.raises('values of two dimensions', lambda: m.sweep(vary={'m': [[1, 2], [3, 4]]}), ValueError)
    check.raises('an empty list of values', lambda: m.sweep(vary={'m': []}), ValueError)
    frozen = np.array([1.0, 2.0])
    frozen.flags.writeable = False
    check.that('arrays that cannot be written are read', len(m.sweep(vary={'m': frozen}).outcomes) == 2)
    try:
        me.read(PENDULUM.replace('L^2', 'l^2'))
    except me.ModelError as e:
        p = e.problems[0]
        check.that('a mistake has its place', p.line > 0 and p.column > 0 and '`l`' in p.text and '^' in str(e), e)
        check.that('it can be pickled', pickle.loads(pickle.dumps(e)).problems == e.problems)
    conflict = PENDULUM.replace('[start]', 'other = "x^2 + y^2 = 2*L^2"\n[start]')
    check.raises('a contradiction', lambda: me.read(conflict).run(), ValueError)


IMPORTS = """
import sys
before = set(sys.modules)
import mechanician
print(*sorted((set(sys.modules) - before) & {"numpy", "typing", "re", "json", "html", "threading", "mechanician._builder", "mechanician._expressions"}))
"""


def check_import(check):
    """What most programs do not use at once is imported when it is first used; what there is can be seen all the same."""
    done = subprocess.run([sys.executable, '-S', '-c', IMPORTS], capture_output=True, text=True, timeout=limits.CLOCK,
                          env={**os.environ, 'PYTHONPATH': os.pathsep.join(p for p in sys.path if p)})
    check.that('an import brings only what is needed', done.returncode == 0 and not done.stdout.strip(), done.stdout + done.stderr[-300:])
    check.that('all names are seen', set(me.__all__) <= set(dir(me)))
    check.raises('a name that is none', lambda: me.nope, AttributeError)


def check_docstrings(check):
    for name in me.__all__:
        thing = getattr(me, name)
        if name.startswith('__') or isinstance(thing, me.Expression):
            continue
        check.that(f'{name} is documented', bool(inspect.getdoc(thing)))
        for member, value in vars(thing).items() if inspect.isclass(thing) else ():
            if not member.startswith('_') and (callable(value) or isinstance(value, property)):
                check.that(f'{name}.{member} is documented', bool(inspect.getdoc(value)))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument('--program', required=True)
    arguments.add_argument('--models', required=True, type=pathlib.Path)
    arguments.add_argument('--every', type=int, default=1, help='of the models one in so many')
    options = arguments.parse_args()
    check = Check(options.program)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file in sorted(options.models.glob('*.toml'))[::options.every]:
            if check_instants(check, file):
                check_run(check, file, folder)
        check_sweep(check, folder)
        check_functions(check)
        check_motions(check, folder)
        check_inputs(check)
        check_daemons(check)
        check_names(check)
        check_builder(check)
        check_exports(check, options.program, options.models / 'bouncing_ball.toml', folder)
        check_wrong_use(check)
        check_import(check)
        check_docstrings(check)
    print(f'{check.passed} passed, {check.failed} failed')
    return 0 if check.failed == 0 and check.passed else 1


if __name__ == '__main__':
    sys.exit(main())
