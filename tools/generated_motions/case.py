"""A motion case: the text of a model, and what is true of its motion."""
import json
import re

from mpmath import mp, mpf

import precise
from reduction import Plain, T, Text, function

CASES = {}


def motion(build):
    """Registers a function that returns a case or a list of them; the cases are made when they are asked for."""
    CASES[build.__name__] = build
    return build


def number(x):
    x = float(x)
    return 0.0 if x == 0 else x


def by_name(names, values):
    return {name: number(v) for name, v in zip(names, values)}


class Case:
    def __init__(self, name, text, source, tags, expected):
        self.name, self.text, self.source, self.tags, self.expected = name, text.strip() + '\n', source, tags, expected

    def write(self, folder):
        title = re.search(r'(?m)^title = "(.*)"$', self.text)[1]
        (folder / f'{self.name}.toml').write_text(self.text)
        (folder / f'{self.name}.expected.json').write_text(json.dumps(
            {'title': title, 'source': self.source, 'tags': self.tags.split(), **self.expected}, indent=1, ensure_ascii=False) + '\n')


def residual(model, t, q, qd):
    """Largest violation of the rows of a model, at position and velocity level, of those stated there."""
    import sympy as sp
    levels = []
    for row in model.rows.values():
        if row.has(*model.qdd):
            continue
        levels.append(row)
        if not row.has(*model.qd):
            levels.append(sum(sp.diff(row, x) * v for x, v in zip(model.q, model.qd)) + sp.diff(row, T))
    if not levels:
        return mpf(0)
    return max(map(abs, function([T, *model.q, *model.qd], model.values(levels))(t, *q, *qd)))


def expected(model, to, q, qd, accuracy, relative=1e-9, events=(), events_abs=1e-9):
    names = model.toml['coordinates']
    result = {'tolerance': {'trajectory_rel': relative}}
    if events:
        result['tolerance']['events_abs'] = events_abs
    result['end'] = {'time': float(to), 'position': by_name(names, q), 'velocity': by_name(names, qd),
                     'verified_accuracy': float(mp.nstr(max(mpf(accuracy), mpf('1e-17')), 2))}
    if events:
        result['run_events'] = list(events)
    return result


def solved(name, text, system, y0, source, tags, *, relative=1e-9, watch=None, kinds=None, events_abs=1e-9, held=True, tolerance=1e-24,
           longest=None, only=None):
    """A case whose end comes from an initial value problem (reduction.py). watch: functions of t and y whose sign changes are
    events of the kind kinds[name] ('singular', or 'user' with the name of the event). held: whether the constraints hold."""
    text = text.strip() + '\n'
    model = system.model
    begin, to = mpf(model.toml['start'].get('time', 0)), mpf(model.toml['run']['to'])
    y0 = [mpf(v) for v in y0]
    # The start of the oracle must be the start of the model.
    q, qd = system.place(begin, y0)
    for got, want in zip([*q, *qd], [*model.start('position'), *model.start('velocity')]):
        assert abs(got - want) < 1e-15 * max(1, abs(want)), f'{name}: the start is {got}, not {want}'
    y, found, accuracy = precise.twice(system, y0, begin, to, watch, tolerance, longest)
    q, qd = system.place(to, y)
    if held:
        off = residual(model, to, q, qd)
        assert off < 1e-14, f'{name}: constraints off by {off}'
    events = [{'time': number(time), 'kind': (kinds or {}).get(which, 'singular'), **({'name': which} if (kinds or {}).get(which) == 'user' else {})}
              for time, which, up in found if only is None or only.get(which) in (None, up)]
    return Case(name, text, source, tags, expected(model, to, q, qd, accuracy, relative, events, events_abs))


def closed(name, text, end, source, tags, *, relative=1e-9, events=(), events_abs=1e-9, held=True):
    """A case whose end is known in closed form: end = (positions, velocities)."""
    model = Plain(text) if 'if(' in text else Text(text)
    to = mpf(model.toml['run']['to'])
    q, qd = ([mpf(v) for v in part] for part in end)
    if held:
        off = residual(model, to, q, qd)
        assert off < 1e-14, f'{name}: constraints off by {off}'
    return Case(name, text, source, tags, expected(model, to, q, qd, 0, relative, events, events_abs))


def with_run(case, **options):
    """The case, to be run with these options."""
    case.expected['run'] = options
    return case


def refused(name, text, says, source, tags):
    return Case(name, text, source, tags, {'refuse': source, 'says': says})


def honest(name, text, end, source, tags, *, relative=1e-9):
    """Where no program need go on, but none may be wrong: either the end is met, or the exit status is 1, 4 or 5."""
    model = Text(text)
    result = expected(model, mpf(model.toml['run']['to']), *end, 0, relative)
    result['or_stops'] = True
    return Case(name, text, source, tags, result)
