#!/usr/bin/env python3
"""Calls every public function of the Python package with what it should not be given, one argument at a time.

usage: check_python_wrong_use.py

Wrong types, numbers that are none, wrong shapes, arrays that are not contiguous or cannot be written, texts that cannot be written. What
comes back is an answer, or TypeError, ValueError or ModelError with a reason (OSError where files are named); nothing else, and no crash.
Every public function and method must be called: the test knows none that it does not list. Prints a line for each miss and, last, `N passed, N failed`."""
import inspect
import os
import pathlib
import sys
import tempfile
import warnings

import numpy as np

import mechanician as me

MODEL = """title = "Pendulum"
coordinates = ["x", "y"]
[parameters]
m = 2.0
L = 1.0
[inputs]
F = 0.5
[dynamics]
kinetic = "m/2*(x'^2 + y'^2)"
potential = "m*9.81*y"
force = { x = "F" }
[constraints]
rod = "x^2 + y^2 = L^2"
[start]
position = { x = 0.6, y = -0.8 }
[run]
to = 0.2
every = 0.1
"""


def frozen(x):
    x = np.array(x, dtype=float)
    x.flags.writeable = False
    return x


class Odd:
    def __float__(self):
        raise RuntimeError('no')

    def __repr__(self):
        return 'Odd()'


# Nothing that would be a long run if it were taken for a number.
BAD = [
    None, 'x', '', 'ä' * 3, '\ud800', 'a\0b', b'x', bytearray(b'y'), [1], [], (), {}, {'x': 'y'}, {3: 1.0}, {'x': None}, {'x': float('nan')},
    {'zz': 1.0}, {'x': np.zeros(3)}, set(), True, object(), int, float('nan'), float('inf'), -float('inf'), -1, 0, -0.5, 1j, 10**400, -(10**400),
    np.float64('nan'), np.zeros(0), np.zeros(3), np.zeros((2, 3)), np.zeros((2, 2))[:, ::-1], np.zeros((4, 4))[::2, ::2], frozen([0.6, -0.8]),
    np.asfortranarray(np.zeros((3, 2))), np.array(['a', 'b']), np.array([object(), 1]), np.array([1 + 1j, 2]), np.zeros(2, dtype=np.float32),
    np.array([0.6, -0.8], dtype='>f8'), np.ma.masked_array([0.6, -0.8], mask=[1, 0]), np.datetime64('2020-01-01'), np.full(2, np.nan),
    np.zeros(4)[::2], range(2), (x for x in [0.6, -0.8]), [[1], [1, 2]], lambda *a: None, me.t, me.coordinates('x')[0] > 0, Ellipsis, slice(None),
]

ALLOWED = (TypeError, ValueError)  # ModelError, MechanicsError, UnknownName are ValueErrors


class Check:
    def __init__(self):
        self.passed = self.failed = 0
        self.called = set()

    def call(self, name, function, good, *also, names=None):
        """With good arguments, then with each of them spoiled; `also`: further exceptions."""
        self.called.add(name)
        calls = [('as it should be', dict(good))]
        for key in good if names is None else names:
            calls += [(f'{key}={bad!r:.60}', {**good, key: bad}) for bad in BAD]
        for what, arguments in calls:
            positional = [arguments.pop(k) for k in list(arguments) if k.startswith('*')]
            try:
                function(*positional, **arguments)
            except (*ALLOWED, *also) as e:
                self.that(name, what, what != 'as it should be' and str(e).strip() != '', f'{type(e).__name__}: {e}')
            except BaseException as e:
                self.that(name, what, False, f'{type(e).__name__}: {e}')
            else:
                self.that(name, what, True, '')

    def that(self, name, what, holds, seen):
        self.passed += bool(holds)
        self.failed += not holds
        if not holds:
            print(f'MISS {name}, {what}: {seen[:300]}', flush=True)


def check_system(check, m, folder):
    start = {'position': {'x': 0.6, 'y': -0.8}, 'velocity': {'x': 0.0}, 'time': 0.0}
    motion = {'to': 0.2, 'every': 0.1, 'tolerance': 1e-6, 'method': 'auto'}
    check.call('System.start', m.start, start)
    check.call('System.project', m.project, start)
    check.call('System.check', m.check, start)
    check.call('System.picture', m.picture, start)
    check.call('System.accelerate', m.accelerate, {**start, 'parts': True})
    check.call('System.run', m.run, {**motion, **start, 'verify': False, 'project': False, 'columns': 'x', 'scale': {'x': 1.0}, 'progress': False})
    check.call('System.steps', lambda **k: list(m.steps(**k)), {**motion, **start})
    check.call('System.sweep', m.sweep, {'vary': {'m': [1.0, 2.0]}, 'keep': ['lambda(rod)'], 'to': 0.1, 'tolerance': 1e-5, 'method': 'dop853', 'threads': 1,
                                         'device': 'cpu', 'pairs': False, 'as_given': False, **start, 'progress': None})
    check.call('System.sweep', m.sweep, {'vary': {'m': [1.0]}, 'to': 0.1, 'method': 'rk4', 'step': 0.05}, names=['step'])
    for bad in BAD:
        check.call('System.sweep', m.sweep, {'vary': {'m': [1.0, 2.0]}, 'to': 0.1}, names=[])
        check.call('System.sweep of values', lambda v: m.sweep(vary={'m': v}, to=0.1), {'v': [1.0]}, names=['v'])
        break
    check.call('System.equations', m.equations, {})
    check.call('System.linearise', m.linearise, {'inputs': ['F'], 'outputs': ['x'], 'states': ['x'], **start, 'project': False})
    check.call('System.rest', m.rest, {'vary': None, 'between': (1.0, 2.0), 'starts': 2, 'seed': 1, 'position': {'x': 0.1}, 'time': 0.0})
    check.call('System.compiled', m.compiled, start)
    check.call('System.show', m.show, {'to': 0.1})
    check.call('Inputs[]', m.inputs.__getitem__, {'*name': 'F'})
    check.call('Inputs[]=', lambda name, value: m.inputs.__setitem__(name, value), {'name': 'F', 'value': 0.5}, names=['name', 'value'])
    check.call('del Inputs[]', m.inputs.__delitem__, {'*name': 'F'})
    check.that('Inputs', 'as the model says', dict(m.inputs) == {'F': 0.5}, str(m.inputs))
    check.call('show', me.show, {'*what': m}, OSError)
    check.call('load', me.load, {'*file': folder / 'a.toml', 'L': 1.0}, OSError)
    check.call('read', lambda text, **k: me.read(text, **k), {'text': MODEL, 'name': 'a.toml', 'L': 1.0})


def check_results(check, m, folder):
    run = m.run()
    check.call('Run[]', run.__getitem__, {'*name': 'x'})
    check.call('Run.sample', run.sample, {'t': 0.15})
    check.call('Run.save', run.save, {'file': folder / 'a.csv'}, OSError)
    if _there('matplotlib'):
        check.call('Run.plot', lambda *n, **k: run.plot(*n, **k), {'*name': 'x', 'against': 't', 'ax': None}, AttributeError, names=['*name', 'against'])
    check.called.add('Run.plot')
    check.call('Run.array', run.array, {})
    check.call('Run.report', run.report, {})
    check.call('Run.show', run.show, {})
    check.call('Run.to_pandas', run.to_pandas, {}, ImportError) if _there('pandas') else check.called.add('Run.to_pandas')
    check.call('Run.to_xarray', run.to_xarray, {}, ImportError) if _there('xarray') else check.called.add('Run.to_xarray')
    sweep = m.sweep(vary={'m': [1.0, 2.0]}, to=0.1)
    check.call('Sweep[]', sweep.__getitem__, {'*name': 'x'})
    check.call('Sweep.to_pandas', sweep.to_pandas, {}) if _there('pandas') else check.called.add('Sweep.to_pandas')
    for step in m.steps():
        check.call('Step[]', step.__getitem__, {'*name': 'x'})
        break
    for record in (m.accelerate(), m.check()):
        check.call(f'{type(record).__name__}.to_dict', record.to_dict, {})
        check.call('Record[]', lambda name, record=record: record[name], {'name': 'rank'})
    check.call('Equations.to_dict', m.equations().to_dict, {})
    check.call('Equations.latex', m.equations().latex, {})
    check.call('Equations.sympy', m.equations().sympy, {}) if _there('sympy') else check.called.add('Equations.sympy')
    check.call('Linear.to_dict', m.linearise(position={'x': 0.0, 'y': -1.0}, project=True).to_dict, {})
    check.call('Rest.to_dict', m.rest(starts=2).to_dict, {})
    check.call('Rest[]', m.rest(starts=2).__getitem__, {'*which': 0}, IndexError)


def check_functions(check, m):
    f = m.compiled()
    good = {'*t': 0.0, '*q': np.array([0.6, -0.8]), '*qd': np.zeros(2)}
    check.call('Acceleration()', f, good)
    check.call('Acceleration()', lambda t, q, qd: f(t, q, qd), {'t': np.zeros(3), 'q': np.tile([0.6, -0.8], (3, 1)), 'qd': np.zeros((3, 2))})
    check.call('Acceleration()', lambda **k: f(**k), {'t': 0.0, 'q': [0.6, -0.8], 'qd': [0, 0]})
    check.call('Acceleration.evaluate', f.evaluate, {**good, 'qdd': np.zeros(2)})
    for count in (0, 1, 2, 4):
        check.call('Acceleration()', lambda *a: f(*a) if len(a) == 3 else _must_fail(f, a), {f'*{k}': 0.0 for k in range(count)}, names=[])
    want = f(0.0, np.array([0.6, -0.8]), np.zeros(2))
    for q in (frozen([0.6, -0.8]), np.array([0.6, 9, -0.8, 9])[::2], np.array([0.6, -0.8], dtype='>f8'), [0.6, -0.8], (0.6, -0.8)):
        check.that('Acceleration()', f'an array as {q!r}', np.array_equal(f(0.0, q, np.zeros(2)), want), '')
    many = np.asfortranarray(np.tile([0.6, -0.8], (40, 1)))
    check.that('Acceleration()', 'column by column', np.array_equal(f(0.0, many, np.zeros((40, 2))), np.tile(want, (40, 1))), '')


def _must_fail(f, a):
    try:
        f(*a)
    except TypeError:
        return
    raise AssertionError(f'{len(a)} arguments were taken')


def check_builder(check):
    def model():
        b = me.Model('p')
        b.kinetic = me.coordinates('x')[0].dot ** 2 / 2
        return b

    x = me.coordinates('x')[0]
    check.call('Model', me.Model, {'title': 'p'})
    check.call('coordinates', me.coordinates, {'names': 'x y'})
    check.call('Model.coordinate', lambda name: model().coordinate(name), {'name': 'x'})
    for name in ('parameter', 'input', 'mode', 'define', 'force', 'nonideal', 'output'):
        check.call(f'Model.{name}', lambda *a, name=name: getattr(model(), name)(*a), {'*name': 'x', '*value': 1.0})
    check.call('Model.state', lambda **k: model().state(**k), {'name': 'z', 'rate': 1.0, 'start': 0.0})
    for name in ('constrain', 'control'):
        check.call(f'Model.{name}', lambda *a, name=name, **k: getattr(model(), name)(*a, **k), {'*name': 'c', '*condition': x == 1, 'weight': 1.0})
    check.call('Model.event', lambda **k: model().event(**k), {'name': 'e', 'when': x, 'direction': 'both', 'do': 'record'})
    check.call('Model.start', lambda **k: model().start(**k), {'position': {'x': 1.0}, 'velocity': {'x': 1.0}, 'time': 0.0})
    check.call('Model.extend', lambda text: model().extend(text), {'text': '[outputs]\ny = "x"'})
    check.call('Model.to_toml', model().to_toml, {})
    check.call('Model.build', lambda **k: model().build(**k), {'x': 1.0} if False else {})

    def kinetic(value):
        b = model()
        b.kinetic = value
        b.potential = value
        b.title = value
        b.to_toml()

    check.call('Model.kinetic', kinetic, {'value': 'x'})
    one = ['sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'sinh', 'cosh', 'tanh', 'exp', 'log', 'sqrt', 'sign', 'wrap']
    for name in one:
        check.call(name, getattr(me, name), {'*x': x})
    for name in ('atan2', 'hypot', 'mod', 'minimum', 'maximum'):
        check.call(name, getattr(me, name), {'*x': x, '*y': 1.0})
    check.call('where', me.where, {'*c': x > 0, '*a': 1.0, '*b': x})
    check.call('Expression.of', me.Expression.of, {'*x': 1.0})
    operators = [lambda v: x + v, lambda v: v - x, lambda v: x * v, lambda v: v / x, lambda v: x**v, lambda v: v**x, lambda v: x == v, lambda v: x >= v, lambda v: x < v,
                 lambda v: (x > 0) & v, lambda v: (x > 0) | v]
    for k, operator in enumerate(operators):
        check.call(f'operator {k}', operator, {'v': 1.0 if k < 9 else x < 1})
    check.call('Condition.equation', (x == 1).equation, {})


def _there(module):
    try:
        __import__(module)
    except ImportError:
        return False
    return True


def check_all_called(check):
    """Everything public has been called."""
    exceptions = {'MechanicsError', 'ModelError', 'UnknownName', 'Problem', 'RestPoint', 'Inputs', 'Steps', 'Step'}
    for name in me.__all__:
        thing = getattr(me, name)
        if name.startswith('__') or isinstance(thing, me.Expression) or name in exceptions:
            continue
        if not inspect.isclass(thing):
            check.that('all is called', name, name in check.called, 'it is not in this test')
            continue
        for member, value in vars(thing).items():
            if not member.startswith('_') and callable(value):
                check.that('all is called', f'{name}.{member}', f'{name}.{member}' in check.called, 'it is not in this test')


def main():
    import webbrowser

    webbrowser.open = lambda *a, **k: True
    warnings.simplefilter('ignore')
    if _there('matplotlib'):
        import matplotlib

        matplotlib.use('Agg')
        matplotlib.rcParams['figure.max_open_warning'] = 0
    check = Check()
    with tempfile.TemporaryDirectory() as name:
        tempfile.tempdir = name
        folder = pathlib.Path(name)
        os.chdir(folder)
        (folder / 'a.toml').write_text(MODEL, encoding='utf-8')
        m = me.read(MODEL)
        check_system(check, m, folder)
        check_results(check, m, folder)
        check_functions(check, m)
        check_builder(check)
        check_all_called(check)
        os.chdir('/')
    print(f'{check.passed} passed, {check.failed} failed')
    return 0 if check.failed == 0 and check.passed > 1000 else 1


if __name__ == '__main__':
    sys.exit(main())
