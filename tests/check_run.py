#!/usr/bin/env python3
"""Checks `mechanician run` through the command line: results in every format, exit statuses and messages, interruption, kill -9 and
--resume, disks that are full, pipes that are closed, two writers.

usage: check_run.py --program PATH [--kills N] [--shorten FACTOR]

Prints a line for each miss and, last, `N passed, N failed`. Needs Python 3.11 and h5dump (Debian: hdf5-tools)."""
import argparse
import csv
import json
import math
import os
import pty
import random
import re
import resource
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback

import limits

PENDULUM = """coordinates = ["x", "y"]
[parameters]
m = 2.0
g = 9.81
L = 1.0
[dynamics]
kinetic = "m/2*(x'^2 + y'^2)"
potential = "m*g*y"
[constraints]
rod = "x^2 + y^2 = L^2"
[nonideal]
x = "-0.001*x'"
[start]
position = { x = 0.6, y = -0.8 }
velocity = { x = 0.8, y = 0.6 }
[outputs]
height = "y + L"
"""
COLUMNS = ['t', 'x', 'y', "x'", "y'", "x''", "y''", 'Qc(x)', 'Qc(y)', 'Qi(x)', 'Qi(y)', 'Qni(x)', 'Qni(y)', 'lambda(rod)', 'height',
           'residual', 'power(rod)', 'work_given', 'work_ideal', 'work_nonideal', 'work_control', 'work(rod)']
SUMMARY = ['status', 'message', 'begin', 'end', 'rows', 'method', 'tolerance', 'steps', 'rejected', 'evaluations', 'robust_evaluations', 'path', 'projections', 'jacobians',
           'switches', 'restarts', 'crossings', 'crossing_times', 'events', 'largest_constraint_violation', 'position_violation',
           'velocity_violation', 'measured_residual', 'kinetic_start', 'kinetic_end', 'work_given', 'work_ideal', 'work_nonideal',
           'work_control', 'work_by_constraint', 'balance', 'balance_largest', 'balance_allowed', 'global_error', 'trusted', 'reasons',
           'notes', 'wall_time']
FREE_FALL = 'coordinates = ["x"]\n[dynamics]\nmass = { x = 1 }\nforce = { x = "-1" }\n[start]\nposition = { x = 1 }\n'


class Check:
    def __init__(self, program, folder):
        self.program, self.folder, self.passed, self.failed = program, folder, 0, 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def file(self, name, text):
        with open(self.path(name), 'w', encoding='utf-8') as f:
            f.write(text)

    def call(self, *args, **options):
        options = {'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE, **options}
        p = subprocess.run([self.program, 'run', *args], text=True, timeout=limits.CLOCK, cwd=self.folder, **options)
        return p.returncode, p.stdout, p.stderr

    def start(self, *args, **options):
        return subprocess.Popen([self.program, 'run', *args], cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

    def that(self, what, holds, seen=''):
        self.passed += bool(holds)
        self.failed += not holds
        if not holds:
            print(f'{what}: {str(seen)[:400]!r}', flush=True)
        return bool(holds)

    def status(self, what, want, *args, out=None, err=None, **options):
        """exit status, and texts that must occur on the streams ('' means that the stream is empty)"""
        rc, stdout, stderr = self.call(*args, **options)
        self.that(f'{what}: exit status {want}', rc == want, (rc, stdout, stderr))
        for name, text, wanted in (('standard output', stdout, out), ('standard error', stderr, err)):
            if wanted == '':
                self.that(f'{what}: nothing on {name}', text == '', text)
            elif wanted is not None:
                self.that(f'{what}: {name} says {wanted!r}', wanted in text, text)
        return stdout

    def left(self, stem):
        return sorted(f for f in os.listdir(self.folder) if f.startswith(stem))

    def clean(self, stem):
        for f in self.left(stem):
            os.unlink(self.path(f))

    def json(self, name):
        with open(self.path(name), encoding='utf-8') as f:
            return json.load(f)

    def hdf5(self, name):
        return Hdf5(self.path(name))


class Hdf5:
    """What h5dump says of a file: datasets as bytes, attributes of the file."""

    def __init__(self, path):
        header = self.dump('-p', '-H', path)
        with open(path, 'rb') as f:
            raw = f.read()
        self.data, self.shape = {}, {}
        # A group's datasets are told from the others by their place in the text.
        for m in re.finditer(r'(?:GROUP "(events|setup)" \{)|(?:DATASET "(\w+)" \{.*?DATASPACE\s+SIMPLE \{ \( ([\d, ]*) \).*?'
                             r'SIZE (\d+)\s+(?:OFFSET (\d+))?)|(\n   \})', header, re.S):
            if m[1]:
                group = m[1] + '/'
            elif m[6]:
                group = ''
            else:
                name = (group if 'group' in dir() else '') + m[2]
                if 'CHUNKED' in m[0]:
                    self.dump('-d', name, '-b', 'LE', '-o', path + '.raw', path)
                    with open(path + '.raw', 'rb') as f:
                        self.data[name] = f.read()
                    os.unlink(path + '.raw')
                else:
                    self.data[name] = raw[int(m[5]):int(m[5]) + int(m[4])] if m[5] else b''
                self.shape[name] = [int(n) for n in m[3].split(', ')]
        self.path = path

    @staticmethod
    def dump(*args):
        p = subprocess.run(['h5dump', *args], capture_output=True, text=True, timeout=limits.CLOCK)
        if p.returncode:
            raise ValueError(f'h5dump: {p.stderr.strip()[:300]}')
        return p.stdout

    def numbers(self, name):
        return struct.unpack(f'<{len(self.data[name]) // 8}d', self.data[name])

    def integer(self, name):
        return struct.unpack('<q', self.data[name])[0]

    def attribute(self, name):
        text = self.dump('-a', name, self.path)
        value = re.search(r'DATA \{\s*\(0\): (.*?)\s*\}\s*\}\s*\}\s*$', text, re.S)[1]
        return re.sub(r'\\(.)', lambda m: {'n': '\n', 't': '\t'}.get(m[1], m[1]), value[1:-1]) if value.startswith('"') else float(value)


def check_results(c):
    out = c.status('CSV on standard output', 0, 'p.toml', '--to', '1', '--every', '0.25', err='passes its checks')
    rows = list(csv.reader(out.splitlines()))
    c.that('the columns are those of the contract', rows[0] == COLUMNS, rows[0])
    c.that('the rows are at the times asked for', [float(r[0]) for r in rows[1:]] == [0, 0.25, 0.5, 0.75, 1], [r[0] for r in rows])
    numbers = [dict(zip(COLUMNS, map(float, r))) for r in rows[1:]]
    c.that('the first row is the start', (numbers[0]['x'], numbers[0]["x'"], numbers[0]['work_given']) == (0.6, 0.8, 0), numbers[0])
    c.that('the rows are on the constraint', all(abs(r['x']**2 + r['y']**2 - 1) < 1e-14 for r in numbers), numbers)
    c.that('Qc is Qi + Qni', all(abs(r['Qc(x)'] - r['Qi(x)'] - r['Qni(x)']) < 1e-12 for r in numbers), numbers)
    c.that('an output is a column', all(abs(r['height'] - r['y'] - 1) < 1e-15 for r in numbers), numbers)
    ends = c.status('an interval that does not divide the time', 0, 'p.toml', '--to', '1', '--every', '0.3')
    c.that('ends exactly at the end', [r.split(',')[0] for r in ends.splitlines()[1:]][-2:] == ['0.89999999999999991', '1'], ends)
    ends = c.status('an interval that all but divides the time', 0, 'p.toml', '--to', '1', '--every', '0.1')
    c.that('gives no row twice', len(ends.splitlines()) == 12 and ends.splitlines()[-1].startswith('1,'), ends)
    steps = c.status('without an interval', 0, 'p.toml', '--to', '1', '--json', err='evaluations')
    result = json.loads(steps)
    c.that('a row per step, and the start', len(result['rows']) == result['summary']['steps'] + 1, result['summary'])
    c.that('--json is the result', list(result) == ['columns', 'rows', 'events', 'summary'] and result['columns'] == COLUMNS, list(result))
    c.that('the summary has its keys', list(result['summary']) == SUMMARY, list(result['summary']))
    s = result['summary']
    c.that('the summary makes sense', s['status'] == 'done' and s['trusted'] and s['end'] == 1 and s['rows'] == len(result['rows']), s)
    for ending in ('csv', 'json', 'h5'):
        c.status(f'-o a.{ending}', 0, 'p.toml', '--to', '1', '--every', '0.25', '-o', f'a.{ending}', '--quiet', out='', err='')
    c.that('nothing but the results is left', c.left('a.') == ['a.csv', 'a.h5', 'a.json'], c.left('a.'))
    with open(c.path('a.csv'), encoding='utf-8') as f:
        c.that('CSV is the same in a file', f.read() == out)
    from_json, h5 = c.json('a.json'), c.hdf5('a.h5')
    c.that('JSON holds the same numbers', from_json['rows'] == [list(map(float, r)) for r in rows[1:]], from_json['rows'][:1])
    c.that('HDF5 holds the same numbers', h5.numbers('q') == tuple(x for r in numbers for x in (r['x'], r['y'])) and
           h5.numbers('t') == (0, 0.25, 0.5, 0.75, 1) and h5.shape['qd'] == [5, 2] and h5.shape['work_given'] == [5], h5.shape)
    lines = [line.strip() for line in h5.attribute('model').strip().splitlines()]  # h5dump indents them
    c.that('HDF5 holds the model', lines == PENDULUM.strip().splitlines(), lines)
    c.that('HDF5 holds status and options', (h5.attribute('status'), h5.attribute('complete'), h5.attribute('every')) == ('done', 1, 0.25))
    summary = json.loads(h5.attribute('summary'))
    c.that('HDF5 holds the summary', list(summary) == SUMMARY and summary['steps'] == from_json['summary']['steps'], summary)
    names = h5.dump('-a', '/q/columns', h5.path)
    c.that('HDF5 holds the names of columns', '"x", "y"' in names, names)


TINY = """coordinates = ["x", "y"]
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
potential = "x^2/2 + 200*y^2"
[start]
position = { x = 1, y = 1e-9 }
[run]
to = 20
every = 20
tolerance = 1e-6
"""


def check_scale(c):
    """Beside an oscillation of 1 one of 1e-9: what its errors count against."""
    c.file('tiny.toml', TINY), c.file('scaled.toml', TINY + 'scale = { y = 1e-9 }\n')
    off = lambda out: abs(json.loads(out)['rows'][-1][2] / 1e-9 - math.cos(400))
    plain, given = (c.status(f'{name} runs', 0, f'{name}.toml', '--json', '--quiet', err='') for name in ('tiny', 'scaled'))
    c.that('a scale in the file makes it exact', off(plain) > 0.1 and off(given) < 1e-2, (off(plain), off(given)))
    rows = lambda out: json.loads(out)['rows']
    c.that('--scale is a scale in the file', rows(c.status('--scale', 0, 'tiny.toml', '--scale', 'y=1e-9', '--json', '--quiet')) == rows(given))
    c.that('--scale overrides it', rows(c.status('--scale', 0, 'scaled.toml', '--scale', 'y=1e-6', '--json', '--quiet')) != rows(given))
    c.status('--scale of what is none', 2, 'tiny.toml', '--scale', 'z=1', out='', err='no coordinate `z`')
    c.status('--scale that is negative', 2, 'tiny.toml', '--scale', 'y=-1', out='', err='positive and finite')
    c.status('--scale without a name', 2, 'tiny.toml', '--scale', '1e-3', out='', err='name=value')
    c.status('HDF5 holds it', 0, 'tiny.toml', '--scale', 'y=1e-9', '-o', 'tiny.h5', '--quiet')
    c.that('for those who take it up again', c.hdf5('tiny.h5').numbers('setup/scale') == (0, 1e-9) and '"scale"' in c.hdf5('tiny.h5').attribute('options'))
    done = subprocess.run([c.program, 'sweep', 'tiny.toml', '--vary', 'x=1,2', '--scale', 'y=1e-9', '--quiet'], cwd=c.folder, capture_output=True, text=True)
    swept = list(csv.DictReader(done.stdout.splitlines()))
    c.that('a sweep has it too', done.returncode == 0 and [float(swept[0][n]) for n in ('x', 'y')] == rows(given)[-1][1:3], (done.stderr, swept))


def check_options(c):
    c.status('no end', 1, 'p.toml', out='', err='write `to = 10.0` in the section [run], or give --to 10')
    c.file('run.toml', PENDULUM + '[run]\nto = 1\nevery = 0.5\ntolerance = 1e-6\n')
    out = c.status('values of the file', 0, 'run.toml', '--json', '--quiet', err='')
    c.that('are used', [r[0] for r in json.loads(out)['rows']] == [0, 0.5, 1] and json.loads(out)['summary']['tolerance'] == 1e-6, out)
    out = c.status('values of the command line', 0, 'run.toml', '--json', '--to', '2', '--every', '1', '--tolerance', '1e-8', '--method', 'dop853')
    s = json.loads(out)['summary']
    c.that('override them', [r[0] for r in json.loads(out)['rows']] == [0, 1, 2] and (s['tolerance'], s['method']) == (1e-8, 'dop853'), s)
    usage = {('--to', '0'): 'it starts at t = 0', ('--to', '-1'): 'the run would end', ('--to', 'soon'): 'is not a finite number',
             ('--to', '1', '--time', '2'): 'it starts at t = 2', ('--to', '1', '--every', '0'): 'must be positive',
             ('--to', '1', '--every', '-1'): 'must be positive', ('--to', '1', '--tolerance', '0'): 'at most 0.1',
             ('--to', '1', '--tolerance', '0.2'): 'at most 0.1', ('--to', '1', '--tolerance', 'nan'): 'is not a finite number',
             ('--to', '1', '--method', 'dop85'): 'did you mean `dop853`?', ('--to', '1', '--method', 'rk4'): 'it is auto, dop853 or bdf',
             ('--to', '1', '-o', 'u.txt'): '.csv, .json or .h5', ('--to', '1', '-o', 'u'): '.csv, .json or .h5',
             ('--to', '1', '-o', 'u.json', '--json'): 'give one of them'}
    for args, text in usage.items():
        c.status(' '.join(args), 2, 'p.toml', *args, out='', err=text)
    check_scale(c)
    c.status('no model', 2, out='', err='MODEL is required')
    c.status('no model: where to look', 2, out='', err='Try `mechanician run --help`.')
    for line, text in {'to = 0': 'run.toml:19:6: error: the run would end at t = 0', 'to = 1\ntolerance = 0.5': 'run.toml:20:13: error:',
                       'to = 1\nevery = 0': 'run.toml:20:9: error:', 'to = 1\nmethod = "rk4"': 'run.toml:20:11: error:'}.items():
        c.file('run.toml', PENDULUM + f'[run]\n{line}\n')
        c.status(f'{line!r} in the file', 1, 'run.toml', '-o', 'u.json', out='', err=text)
    c.that('nothing was written', not c.left('u'), c.left('u'))


def check_starts(c):
    off = ['p.toml', '--to', '1', '--position', 'x=0.61']
    c.status('a start off the constraints', 1, *off, '-o', 's.h5', out='', err='the start position violates constraint `rod`')
    c.that('nothing was written', not c.left('s.'), c.left('s.'))
    c.status('--project-start', 0, *off, '-o', 's.json', '--project-start', out='', err='the start was moved onto the constraints, by 0.00')
    first = dict(zip(COLUMNS, c.json('s.json')['rows'][0]))
    c.that('the first row is the projected start', abs(first['x']**2 + first['y']**2 - 1) < 1e-15 and abs(first['x'] - 0.6) < 0.01, first)
    c.file('nowhere.toml', PENDULUM.replace('x^2 + y^2 = L^2', 'x^2 + y^2 = -1'))
    c.status('--project-start where there is no state', 1, 'nowhere.toml', '--to', '1', '--project-start', out='', err='not met: `rod`')
    c.status('a start that is off a little', 0, 'p.toml', '--to', '1', '--position', 'x=0.600000000001', '--json')
    c.file('bifurcation.toml', 'coordinates = ["x", "y"]\n[dynamics]\nmass = { x = 1, y = 1 }\n[constraints]\ncross = "x*y = 0"\n')
    c.status('a start at rest in a bifurcation', 1, 'bifurcation.toml', '--to', '1', '-o', 'b.h5', out='', err='error:')
    c.that('nothing was written', not c.left('b.'), c.left('b.'))
    c.file('bad.toml', 'coordinates = ["x"]\n[dynamics]\nmass = { x = "k" }\n')
    c.status('a bad file', 1, 'bad.toml', '--to', '1', '-o', 'b.csv', out='', err='bad.toml:3:15: error:')
    c.status('a missing file', 3, 'none.toml', '--to', '1', out='', err='none.toml')


def check_ends(c):
    c.file('stop.toml', FREE_FALL + '[events]\nground = { when = "x", direction = "down", do = "stop" }\nhalf = { when = "x - 0.5" }\n')
    c.status('a run that an event stops', 0, 'stop.toml', '--to', '10', '--every', '1', '-o', 'e.json', out='', err='ground')
    r = c.json('e.json')
    s = r['summary']
    c.that('status stopped', s['status'] == 'stopped' and s['trusted'] and abs(s['end'] - 2**0.5) < 1e-9, s)
    c.that('the last row is where it stopped', [row[0] for row in r['rows']] == [0, 1, s['end']], r['rows'])
    c.that('the events', [(e['name'], e['kind']) for e in r['events']] == [('half', 'user'), ('ground', 'user')] and
           all(list(e)[:6] == ['time', 'kind', 'constraints', 'position', 'velocity_before', 'velocity_after'] for e in r['events']) and
           abs(r['events'][0]['time'] - 1) < 1e-9 and abs(r['events'][0]['position']['x'] - 0.5) < 1e-9, r['events'])
    c.status('the same as HDF5', 0, 'stop.toml', '--to', '10', '--every', '1', '-o', 'e.h5')
    h5 = c.hdf5('e.h5')
    c.that('events are datasets', h5.numbers('events/time') == tuple(e['time'] for e in r['events']) and
           h5.data['events/name'].replace(b'\0', b'') == b'halfground' and h5.attribute('status') == 'stopped', h5.data)
    c.file('fail.toml', FREE_FALL.replace('"-1"', '"-1 + 0*sqrt(x)"'))
    for ending in ('json', 'h5', 'csv'):
        c.status(f'a run that cannot go on ({ending})', 4, 'fail.toml', '--to', '10', '--every', '0.25', '-o', f'f.{ending}', out='', err='fail.toml')
    r = c.json('f.json')
    c.that('what was computed is kept', r['summary']['status'] == 'failed' and len(r['rows']) >= 5 and r['summary']['message'], r['summary'])
    c.that('in HDF5 too', c.hdf5('f.h5').attribute('complete') == 0 and c.hdf5('f.h5').shape['t'] == [len(r['rows'])], r['summary'])
    with open(c.path('f.csv'), encoding='utf-8') as f:
        c.that('CSV says so in its last line', f.read().splitlines()[-1].startswith('# failed: '))
    c.status('a failed run is over', 4, '--resume', 'f.h5', out='', err='failed')
    c.that('nothing is left beside the results', c.left('f.') == ['f.csv', 'f.h5', 'f.json'], c.left('f.'))
    out = c.status('--verify', 0, 'p.toml', '--to', '5', '--verify', '--json', err='a second run differs by')
    c.that('gives the global error', 0 < json.loads(out)['summary']['global_error'] < 1e-7, json.loads(out)['summary'])
    # Two pendulums on one rod are chaotic: no tolerance brings the end of a long run.
    c.file('chaos.toml', 'coordinates = ["a", "b"]\n[dynamics]\nkinetic = "a\'^2 + b\'^2/2 + a\'*b\'*cos(a - b)"\npotential = "-20*cos(a) - 10*cos(b)"\n'
           '[start]\nposition = { a = 3, b = 3 }\n')
    out = c.status('a run that --verify does not confirm', 5, 'chaos.toml', '--to', '60', '--every', '1', '--tolerance', '1e-7', '--verify', '--json',
                   err='is not to be trusted: a second run at tolerance')
    c.status('however loose the tolerance', 5, 'chaos.toml', '--to', '20', '--every', '1', '--tolerance', '0.1', '--verify', '--quiet', '-o', 'loose.csv',
             err='a second run at tolerance 1e-06 differs')
    c.that('is suspect', json.loads(out)['summary']['status'] == 'suspect' and not json.loads(out)['summary']['trusted'], out[-500:])
    c.status('also when quiet', 5, 'chaos.toml', '--to', '60', '--every', '1', '--tolerance', '1e-7', '--verify', '--quiet', '-o', 'c.h5',
             err='is not to be trusted')
    c.that('a suspect run is complete', (c.hdf5('c.h5').attribute('complete'), c.hdf5('c.h5').attribute('trusted')) == (1, 0))
    c.status('and has nothing to go on with', 5, '--resume', 'c.h5', err='not to be trusted')


LONG = ['long.toml', '--to', '1e7', '--every', '0.01']


def wait_for_rows(c, p, file, seconds=0.3):
    """until the run has begun to write, and some time after"""
    end = time.monotonic() + limits.CLOCK
    while file and p.poll() is None and time.monotonic() < end:
        if os.path.exists(c.path(file)) and os.path.getsize(c.path(file)):
            break
        time.sleep(0.01)
    time.sleep(seconds)


def interrupt(c, file, sign=signal.SIGINT, after=0.3):
    p = c.start(*LONG, *(['-o', file] if file else ['--json']))
    if not file:
        select.select([p.stdout], [], [], limits.CLOCK)
    wait_for_rows(c, p, file and file + '.part', after)
    p.send_signal(sign)
    out, err = p.communicate(timeout=limits.CLOCK)
    return p.returncode, out, err


def check_interrupts(c):
    c.file('long.toml', PENDULUM)
    rc, _, err = interrupt(c, 'i.json')
    c.that('SIGINT ends with status 130', rc == 130 and 'interrupted' in err, (rc, err))
    r = c.json('i.json')
    c.that('what was computed is kept', r['summary']['status'] == 'interrupted' and r['rows'][-1][0] == r['summary']['end'] > 0, r['summary'])
    rc, out, _ = interrupt(c, None)
    c.that('on standard output too', rc == 130 and json.loads(out)['summary']['status'] == 'interrupted', rc)
    rc, _, err = interrupt(c, 'i.csv', signal.SIGTERM)
    with open(c.path('i.csv'), encoding='utf-8') as f:
        c.that('SIGTERM is the same', rc == 130 and f.read().splitlines()[-1].startswith('# interrupted: '), (rc, err))
    rc, _, err = interrupt(c, 'i.h5')
    h5 = c.hdf5('i.h5')
    c.that('HDF5 can go on', rc == 130 and h5.attribute('status') == 'interrupted' and h5.attribute('complete') == 0 and '--resume i.h5' in err, (rc, err))
    c.that('all its rows count', h5.integer('rows_valid') == h5.shape['t'][0] == len(h5.numbers('t')), h5.shape)
    c.that('nothing is left beside the results', c.left('i.') == ['i.csv', 'i.h5', 'i.json'], c.left('i.'))
    p = c.start(*LONG, '-o', 'two.h5')
    wait_for_rows(c, p, 'two.h5.part')
    c.status('a second writer', 3, *LONG, '-o', 'two.h5', out='', err='two.h5.part: another run is writing this result')
    c.status('a second writer that would go on', 3, '--resume', 'two.h5', out='', err='two.h5.part: another run is writing this result')
    c.that('a running result can be read', c.hdf5('two.h5.part').integer('rows_valid') > 0)
    p.kill()
    p.communicate()
    c.that('a killed run leaves its part', c.left('two') in (['two.h5.part'], ['two.h5.part', 'two.h5.part.new']), c.left('two'))
    # The system may end a write between two pages: a kill that meets one is tried again.
    for _ in range(3):
        c.clean('k.json')
        p = c.start(*LONG, '-o', 'k.json')
        wait_for_rows(c, p, 'k.json.part')
        p.kill()
        p.communicate()
        try:
            r = c.json('k.json.part')
            why = r['summary'] if r['summary']['status'] != 'incomplete' or len(r['rows']) < 2 else None
            break
        except ValueError as e:
            why = e
    c.that('a killed run leaves JSON that reads', why is None, why)


def same_numbers(c, what, want, got):
    c.that(f'{what}: the same datasets', set(want.data) == set(got.data), set(want.data) ^ set(got.data))
    different = [k for k in want.data if want.data[k] != got.data.get(k)]
    c.that(f'{what}: the same numbers', not different, different)
    a, b = (json.loads(h.attribute('summary')) for h in (want, got))
    a.pop('wall_time'), b.pop('wall_time')
    c.that(f'{what}: the same summary', a == b, {k: (a[k], b.get(k)) for k in a if a[k] != b.get(k)})


def check_kills(c, what, kills, *args, sign=signal.SIGKILL):
    """Kills a run at random moments, and what takes it up again too; the result must be that of a run that nobody disturbed."""
    seed = random.randrange(1 << 30)
    rng = random.Random(seed)
    begin = time.monotonic()
    c.status(f'{what}, whole', 0, *args, '-o', 'whole.h5', '--quiet', err='')
    whole, seconds = c.hdf5('whole.h5'), time.monotonic() - begin
    resumed = 0
    for _ in range(60 * kills):  # short ones are over before they can be killed
        if resumed >= kills:
            break
        c.clean('killed')
        p = c.start(*args, '-o', 'killed.h5', '--quiet')
        time.sleep(rng.uniform(0, seconds))
        p.send_signal(sign)
        p.communicate()
        if 'killed.h5' not in c.left('killed') and not ('killed.h5.part' in c.left('killed') and os.path.getsize(c.path('killed.h5.part'))):
            continue  # before it had begun
        for attempt in range(20):
            unfinished = 'killed.h5.part' if os.path.exists(c.path('killed.h5.part')) else 'killed.h5'
            try:
                h5 = c.hdf5(unfinished)
                if h5.attribute('complete') == 1:
                    break
                c.that(f'{what}: valid rows have a time (seed {seed})', not any(t != t for t in h5.numbers('t')[:h5.integer('rows_valid')]), unfinished)
            except ValueError as e:
                c.that(f'{what}: a killed run reads (seed {seed})', False, e)
                break
            p = c.start('--resume', rng.choice(['killed.h5', unfinished]), '--quiet')
            if attempt < 2 and rng.random() < 0.5:
                time.sleep(rng.uniform(0, seconds))
                p.send_signal(sign)
            _, err = p.communicate()
            resumed += 1
            if not c.that(f'{what}: goes on (seed {seed})', p.returncode in (0, -sign, 130) and err == '', (p.returncode, err)):
                break
        c.that(f'{what}: nothing but the result is left (seed {seed})', c.left('killed') in (['killed.h5'], ['killed.h5', 'killed.h5.part.new']), c.left('killed'))
        same_numbers(c, f'{what} (seed {seed})', whole, c.hdf5('killed.h5'))
    c.that(f'{what}: enough were killed in the middle', resumed >= kills, (resumed, kills))


def check_resume(c, kills, shorten):
    few = max(2, kills // 2)
    seconds = lambda whole: str(whole / shorten)
    c.file('events.toml', PENDULUM + '[events]\nlow = { when = "x", direction = "up" }\n[summary]\npush = { max = "x\'\'" }\nfar = { rms = "abs(x)" }\nwhen = { time_of_min = "y" }\n')
    check_kills(c, 'kill -9', kills, 'events.toml', '--to', seconds(1000))
    check_kills(c, 'kill -9 with rows in between', kills, 'p.toml', '--to', seconds(200), '--every', '0.001')
    check_kills(c, 'kill -9 with --verify', few, 'events.toml', '--to', seconds(200), '--every', '0.05', '--verify', '--tolerance', '1e-8')
    check_kills(c, 'kill -9 of the implicit method', few, 'p.toml', '--to', seconds(60), '--method', 'bdf')
    check_kills(c, 'SIGINT', kills, 'p.toml', '--to', seconds(1000), '--every', '0.07', sign=signal.SIGINT)
    c.file('scaled.toml', PENDULUM + '[run]\nscale = { x = 1e-3 }\n')
    check_kills(c, 'kill -9 with scales', few, 'scaled.toml', '--to', seconds(300), '--scale', 'y=0.5')
    check_kills(c, 'kill -9 with options', few, 'p.toml', '--to', seconds(300), '--set', 'm=3,L=1.5', '--position', 'x=0.9,y=-1.2', '--velocity', 'x=0.4,y=0.3', '--time', '1')

    c.status('a complete run', 0, '--resume', 'whole.h5', out='', err='nothing to go on with: the run is done')
    c.status('with its model', 0, 'p.toml', '--resume', 'whole.h5', out='', err='the run is done')
    c.file('other.toml', PENDULUM + '# changed\n')
    c.status('with another model', 1, 'other.toml', '--resume', 'whole.h5', out='', err='other.toml: error: this is not the model of the run in whole.h5')
    c.status('no such result', 3, '--resume', 'none.h5', out='', err='none.h5: there is no such result')
    c.status('no HDF5 file', 3, '--resume', 'p.toml', out='', err='p.toml: this is text, no HDF5 file')
    for option in (['--from', 'p.csv'], ['--every', '1'], ['--tolerance', '1e-3'], ['--method', 'bdf'], ['--verify'], ['--project-start'], ['--set', 'm=1'],
                   ['--position', 'x=1'], ['--velocity', 'x=1'], ['--time', '1'], ['-o', 'x.h5'], ['--json']):
        c.status(f'--resume with {option[0]}', 2, '--resume', 'whole.h5', *option, out='', err=f'{option[0]} cannot be given')
    p = c.start(*LONG, '-o', 'cut.h5', '--quiet')
    wait_for_rows(c, p, 'cut.h5.part')
    p.kill()
    p.communicate()
    with open(c.path('cut.h5.part'), 'rb') as f:
        whole = f.read()
    for what, data in {'cut off': whole[:len(whole) // 2], 'changed': whole[:2000] + b'?' + whole[2001:], 'no result': b'x' * 5000, 'empty': b''}.items():
        with open(c.path('cut.h5.part'), 'wb') as f:
            f.write(data)
        c.status(f'a file that is {what}', 3, '--resume', 'cut.h5', out='', err='cut.h5.part: ' + {'empty': 'it holds nothing', 'no result': 'this is text, no HDF5 file'}.get(what, 'the file is damaged'))
    c.that('an empty part is gone then', not os.path.exists(c.path('cut.h5.part')))


def check_extended(c):
    """Runs that go on past their end, and runs that begin where another one ended."""
    c.file('e.toml', PENDULUM + '[summary]\nlow = { min = "y" }\nfar = { integral = "x" }\n[events]\nlow = { when = "x", direction = "up" }\n')
    for every, rows in (('0.25', 17), ('0.3', 16)):    # 2 is a multiple of the first, not of the second: then its row stays
        c.clean('e.h5')
        c.status('a run', 0, 'e.toml', '--to', '2', '--every', every, '-o', 'e.h5', '--quiet')
        c.status('past its end', 0, '--resume', 'e.h5', '--to', '4', out='', err='e.h5: goes on at t = 2')
        c.status('in one piece', 0, 'e.toml', '--to', '4', '--every', every, '-o', 'one.json', '--quiet')
        one, h5 = c.json('one.json'), c.hdf5('e.h5')
        t, q = h5.numbers('t'), h5.numbers('q')
        want = [row[0] for row in one['rows']]
        c.that('its rows are those of one piece, and where it ended', len(t) == len(want) + (every == '0.3') == rows and all(any(abs(a - b) < 1e-12 for b in t) for a in want) and 2.0 in t, t)
        c.that('and its numbers, to the tolerance', all(abs(row[1] - q[2 * k]) < 1e-7 for row in one['rows'] for k in range(len(t)) if abs(t[k] - row[0]) < 1e-12))
        ours, theirs = json.loads(h5.attribute('summary')), one['summary']
        c.that('and its summary', all(abs(ours['values'][k] - theirs['values'][k]) < 1e-7 for k in ('low', 'far')) and ours['events'] == theirs['events'] and ours['end'] == 4, (ours, theirs))
        c.that('nothing else is left', c.left('e.h5') == ['e.h5'], c.left('e.h5'))
    c.status('once more', 0, '--resume', 'e.h5', '--to', '5', '--quiet', out='', err='')
    c.that('it ends later', c.hdf5('e.h5').numbers('t')[-1] == 5)
    c.status('not later', 2, '--resume', 'e.h5', '--to', '5', out='', err='has reached t = 5 already')
    c.status('a run with a second one', 0, 'e.toml', '--to', '1', '-o', 'v.h5', '--verify', '--quiet')
    c.status('cannot go on', 3, '--resume', 'v.h5', '--to', '2', out='', err='--from v.h5')
    for file in ('f.h5', 'f.csv', 'f.json'):
        c.status(f'a first run to {file}', 0, 'e.toml', '--to', '2', '--every', '0.5', '-o', file, '--quiet')
        c.status(f'one from {file}', 0, 'e.toml', '--from', file, '--to', '4', '--every', '0.5', '-o', 'g.json', '--quiet')
        rows, whole = c.json('g.json')['rows'], c.json('one.json')['rows']
        c.that('it begins where the other ended', rows[0][0] == 2.0 and abs(rows[-1][1] - whole[-1][1]) < 1e-7, (rows[0], rows[-1], whole[-1]))
        c.status('from a row in between', 0, 'e.toml', '--from', file, '--at', '1.5', '--to', '4', '-o', 'g.json', '--quiet')
        c.that('it begins there', c.json('g.json')['rows'][0][0] == 1.5)
        c.status('from no row', 3, 'e.toml', '--from', file, '--at', '1.6', '--to', '4', out='', err='there is no row at t = 1.6')
    c.file('b.toml', 'coordinates = ["z"]\n[dynamics]\nkinetic = "z\'^2"\npotential = "2*9.81*z"\n[constraints]\nfloor = { equation = "z >= 0", restitution = 0.5 }\n[start]\nposition = { z = 1 }\n')
    for end in ('0.4', '0.6'):   # in flight, before and after an impact
        c.clean('b.h5')
        c.status('a ball', 0, 'b.toml', '--to', end, '--every', '0.1', '-o', 'b.h5', '--quiet')
        c.status('past its end', 0, '--resume', 'b.h5', '--to', '1', '--quiet')
        c.status('in one piece', 0, 'b.toml', '--to', '1', '--every', '0.1', '-o', 'b.json', '--quiet')
        z, whole = c.hdf5('b.h5').numbers('q'), c.json('b.json')
        c.that('it falls and bounces', abs(z[-1] - whole['rows'][-1][1]) < 1e-7 and c.hdf5('b.h5').numbers('t')[-1] == 1, (z[-1], whole['rows'][-1]))
    c.status('--at alone', 2, 'e.toml', '--at', '1.5', out='', err='give --from FILE too')
    c.status('onto what is read', 2, 'e.toml', '--from', 'f.csv', '-o', 'f.csv', '--to', '4', out='', err='f.csv')
    c.file('h.toml', PENDULUM.replace('position = { x = 0.6, y = -0.8 }\nvelocity = { x = 0.8, y = 0.6 }', 'from = "f.h5"\nat = 1'))
    c.status('[start] from', 0, 'h.toml', '--to', '2', '-o', 'g.json', '--quiet', out='', err='')
    c.that('begins there', c.json('g.json')['rows'][0][0] == 1)
    c.file('k.toml', PENDULUM.replace('velocity = { x = 0.8, y = 0.6 }', 'velocity = { x = 0.7 }\nhold = ["x", "x\'"]\nassemble = true').replace('y = -0.8', 'y = -0.5'))
    c.status('[start] hold and assemble', 0, 'k.toml', '--to', '1', '-o', 'g.json', out='', err='the start was moved onto the constraints')
    first = dict(zip(COLUMNS, c.json('g.json')['rows'][0]))
    c.that('keeps what is held', first['x'] == 0.6 and first["x'"] == 0.7 and abs(first['y'] + 0.8) < 1e-14 and abs(first["y'"] - 0.525) < 1e-14, first)


SAMPLED = '''
coordinates = ["x"]
[dynamics]
kinetic = "x'^2/2"
[control]
every = 0.25
[control.place]
equation  = "x = 1"
frequency = 2.0
'''


def by_samples(to):
    """x, x' of SAMPLED: the force is found at 0, 0.25, 0.5, … and held."""
    x = v = t = 0.0
    while t < to:
        h, u = min(0.25, to - t), 4 * (1 - x) - 4 * v
        x, v, t = x + h * v + h * h * u / 2, v + h * u, t + h
    return x, v


def check_sampled(c):
    """Sampled control goes on on its grid, with what it holds, from run to run; what robust control has come to is that of the run that was made."""
    for name, text in (('forced', SAMPLED), ('driven', SAMPLED + '[actuators]\nmotor = { x = "1" }\n')):
        c.file(f'{name}.toml', text)
        for kind in ('h5', 'csv', 'json'):
            c.status('a first part', 0, f'{name}.toml', '--to', '1.1', '--every', '0.1', '-o', f's1.{kind}', '--quiet')
            c.status('a second', 0, f'{name}.toml', '--from', f's1.{kind}', '--to', '1.35', '--every', '0.05', '-o', f's2.{kind}', '--quiet', out='', err='')
            c.status('a third', 0, f'{name}.toml', '--from', f's2.{kind}', '--to', '2.1', '--every', '0.1', '-o', 's3.json', '--quiet', out='', err='')
            last = c.json('s3.json')
            last = dict(zip(last['columns'], last['rows'][-1]))
            x, v = by_samples(2.1)
            c.that(f'samples stay where they were ({name}, {kind})', abs(last['x'] - x) < 1e-10 and abs(last["x'"] - v) < 1e-10, (last, x, v))
        c.status('without what is held', 0, f'{name}.toml', '--to', '1.1', '--every', '0.1', '--columns', "t,x,x'", '-o', 's1.csv', '--quiet')
        c.status('it is said', 0, f'{name}.toml', '--from', 's1.csv', '--to', '2', '-o', 's3.json', err='does not say what sampled control holds')
    robust = SAMPLED.replace('every = 0.25', 'robust = { gain = 1e-9, layer = 1.0 }').replace('x = 1"', 'x = 0"').replace('frequency = 2.0', 'frequency = 1.0')
    c.file('robust.toml', robust + '[start]\nposition = { x = 1 }\n[run]\nto = 100\n')
    for to in (1.0, 4.0):
        c.status('a run that is shorter than the file says', 0, 'robust.toml', '--to', str(to), '-o', 'r.json', '--quiet')
        found = c.json('r.json')['summary']['values']['place_error']
        c.that('its second half counts', abs(found - (1 + to / 2) * math.exp(-to / 2)) < 1e-8, found)


def check_files(c):
    c.status('a folder that is not there', 3, 'p.toml', '--to', '1', '-o', 'no/a.csv', out='', err='no/a.csv.part: cannot write: No such file or directory')
    os.mkdir(c.path('folder.h5'))
    c.status('a folder instead of a file', 3, 'p.toml', '--to', '1', '-o', 'folder.h5', out='', err='not a regular file')
    os.mkdir(c.path('closed'), 0o500)
    if os.access(c.path('closed'), os.W_OK):
        print('(not checked as root: a folder without permission)')
    else:
        c.status('a folder without permission', 3, 'p.toml', '--to', '1', '-o', 'closed/a.h5', out='', err='Permission denied')
    for ending in ('csv', 'json', 'h5'):
        file = f'd.{ending}'
        c.status(f'a good {file}', 0, 'p.toml', '--to', '1', '-o', file, '--quiet')
        with open(c.path(file), 'rb') as f:
            good = f.read()
        for size in (100, 20_000, 100_000):
            limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
            c.status(f'{file} with no room beyond {size}', 3, 'p.toml', '--to', '100', '--every', '0.01', '-o', file, err='File too large', preexec_fn=limit)
            with open(c.path(file), 'rb') as f:
                c.that(f'{file} as it was before', f.read() == good)
            c.that(f'{file}: no more than a part is left', set(c.left(file)) <= {file, file + '.part'}, c.left(file))
            if ending == 'json' and os.path.exists(c.path(file + '.part')):
                c.that(f'{file}.part reads', c.json(file + '.part')['summary']['status'] == 'incomplete')
        c.clean(file)
    check_full_disk(c)
    with open('/dev/full', 'w') as full:
        c.status('standard output that is full', 3, 'p.toml', '--to', '1', err='standard output: No space left on device', stdout=full)
    for extra in ([], ['--json']):
        read, write = os.pipe()
        os.close(read)
        c.status('a closed pipe', 3, 'p.toml', '--to', '1', *extra, err='', stdout=write)
        os.close(write)
    p = c.start(*LONG)
    head = p.stdout.readline()
    p.stdout.close()
    err = p.stderr.read()
    c.that('| head -1', p.wait(timeout=limits.CLOCK) == 3 and head.startswith('t,x,y') and err == '', (p.returncode, head, err))
    os.symlink('target.csv', c.path('link.csv'))
    c.status('through a link', 0, 'p.toml', '--to', '1', '-o', 'link.csv', '--quiet')
    c.that('the link is still one', os.path.islink(c.path('link.csv')) and os.path.isfile(c.path('target.csv')), c.left('link'))


def check_full_disk(c):
    disk = c.path('disk')
    os.mkdir(disk)
    mounted = subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=400k', 'tmpfs', disk], capture_output=True).returncode == 0
    if not mounted:
        print('(not checked without permission to mount: a disk that is full)')
        return
    try:
        for ending in ('csv', 'json', 'h5'):
            c.status(f'a full disk ({ending})', 3, 'p.toml', '--to', '300', '--every', '0.01', '-o', f'disk/a.{ending}', out='', err='No space left on device')
            c.that('only the part is there', os.listdir(disk) == [f'a.{ending}.part'], os.listdir(disk))
            if ending == 'json':
                c.that('and reads', c.json('disk/a.json.part')['summary']['status'] == 'incomplete')
            if ending == 'h5':
                h5 = c.hdf5('disk/a.h5.part')
                rows = h5.integer('rows_valid')
                c.that('and reads', rows > 0 and all(abs(t - 0.01 * i) < 1e-9 for i, t in enumerate(h5.numbers('t')[:rows])), rows)
                shutil.copy(c.path('disk/a.h5.part'), c.path('moved.h5.part'))
                c.status('it can go on elsewhere', 0, '--resume', 'moved.h5', '--quiet', out='', err='')
                c.status('the same in one go', 0, 'p.toml', '--to', '300', '--every', '0.01', '-o', 'roomy.h5', '--quiet')
                same_numbers(c, 'after a full disk', c.hdf5('roomy.h5'), c.hdf5('moved.h5'))
            os.unlink(os.path.join(disk, f'a.{ending}.part'))
        # Room for all rows (and twice half of them while the file grows), but not for the compressed file beside them.
        rows = ['p.toml', '--to', '119.11', '--every', '0.01']
        subprocess.run(['mount', '-o', 'remount,size=2700k', disk], check=True)
        c.status('a disk that is full at the end', 3, *rows, '-o', 'disk/b.h5', out='', err='nothing is lost: disk/b.h5.part has all rows')
        c.that('only the part is there', os.listdir(disk) == ['b.h5.part'], os.listdir(disk))
        c.that('with all rows', c.hdf5('disk/b.h5.part').integer('rows_valid') == 11912)
        c.status('still no room', 3, '--resume', 'disk/b.h5', '--quiet', out='', err='No space left on device')
        subprocess.run(['mount', '-o', 'remount,size=16m', disk], check=True)
        c.status('with more room', 0, '--resume', 'disk/b.h5', '--quiet', out='', err='')
        c.status('the same with enough room', 0, *rows, '-o', 'roomy.h5', '--quiet')
        same_numbers(c, 'after a disk that was full at the end', c.hdf5('roomy.h5'), c.hdf5('disk/b.h5'))
    finally:
        subprocess.run(['umount', disk], check=True)


def on_terminal(c, *args, seconds):
    """What a person sees on standard error."""
    master, slave = pty.openpty()
    p = subprocess.Popen([c.program, 'run', *args], cwd=c.folder, stdout=subprocess.DEVNULL, stderr=slave)
    os.close(slave)
    seen, end = b'', time.monotonic() + seconds
    while time.monotonic() < end + limits.CLOCK:
        if time.monotonic() > end:
            p.send_signal(signal.SIGINT)
            end += limits.CLOCK
        if select.select([master], [], [], 0.1)[0]:
            try:
                data = os.read(master, 65536)
            except OSError:
                break
            if not data:
                break
            seen += data
    p.wait(timeout=limits.CLOCK)
    os.close(master)
    return seen.decode('utf-8', 'replace')


def check_progress(c):
    seen = on_terminal(c, *LONG, '-o', 't.h5', seconds=1.5)
    lines = re.findall(r'\r( *\d+ % \[[# ]{20}\] t = [\d.e+]+ of 1e\+07, \d+ steps, [\d:]+ left)\x1b\[K', seen)
    c.that('a bar on a terminal', len(lines) >= 2 and all(len(line) < 80 for line in lines), seen)
    c.that('redrawn at most ten times a second', len(lines) <= 20, len(lines))
    c.that('cleared at the end', re.search(r'\r\x1b\[K(?!.*% \[)', seen, re.S) is not None, seen)
    for quiet in ('--quiet', '--json'):
        args = LONG if quiet == '--json' else [*LONG, '-o', 't.h5']
        seen = on_terminal(c, *args, quiet, seconds=0.8)
        c.that(f'no bar with {quiet}', '%' not in seen, seen)
    rc, _, err = interrupt(c, 't.h5', after=0.8)
    c.that('no bar in a pipe', rc == 130 and '%' not in err and '\r' not in err, err)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument('--program', required=True)
    arguments.add_argument('--kills', type=int, default=4, help='how often each kind of run is killed; check_kills.py kills more')
    arguments.add_argument('--shorten', type=float, default=1, help='runs that are killed are shorter by this factor: for programs that are slow')
    options = arguments.parse_args()
    if not shutil.which('h5dump'):
        sys.exit('check_run.py: h5dump is missing (Debian: hdf5-tools)')
    with tempfile.TemporaryDirectory() as folder:
        c = Check(os.path.abspath(options.program), folder)
        c.file('p.toml', PENDULUM)
        for group in (check_results, check_options, check_starts, check_ends, check_interrupts, check_files, check_progress,
                      check_extended, check_sampled, lambda c: check_resume(c, options.kills, options.shorten)):
            try:
                group(c)
            except (OSError, ValueError, KeyError, IndexError, TypeError, subprocess.TimeoutExpired):
                c.that('nothing unexpected', False, traceback.format_exc(limit=-3))
    print(f'{c.passed} passed, {c.failed} failed')
    return 1 if c.failed or not c.passed else 0


if __name__ == '__main__':
    sys.exit(main())
