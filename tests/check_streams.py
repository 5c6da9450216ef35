#!/usr/bin/env python3
"""Checks that the program loses no file and keeps its exit status, whatever its streams are, and overwrites nothing that it reads.

usage: check_streams.py --program PATH [--seed S] [--trials N] [--sanitized]

Standard input, output and error closed, full, opened the wrong way round, or read by nobody; outputs that name inputs, by every path
and link; kill -9 within writes, SIGTERM, too few threads; files that are taken for unfinished results. Prints a line for each miss and, last, `N passed, N failed`. Needs nothing but Python 3.11."""
import argparse
import itertools
import json
import os
import random
import resource
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time

MODEL = """title = "Pendulum"
coordinates = ["x", "y"]
[parameters]
m = { csv = "numbers.csv", column = "m" }
L = 1.0
[dynamics]
kinetic = "m[1]/2*(x'^2 + y'^2)"
potential = "9.81*m[1]*y"
[constraints]
rod = "x^2 + y^2 = L^2"
[start]
position = { x = 0.6, y = -0.8 }
[run]
to = 1.0
every = 0.01
"""
PAIR = MODEL + '[constraints.twice]\nequation = "2*x^2 + 2*y^2 = 2"\n'  # a note on standard error
COMMANDS = [  # arguments, whether they write to standard output, the file that they write
    (['--help'], True, None), (['--version'], True, None), (['fly'], False, None), (['run', '--fly'], False, None),
    (['check', 'p.toml'], True, None), (['check', 'pair.toml'], True, None), (['check', 'bad.toml'], False, None),
    (['check', 'p.toml', '--position', 'x=1'], True, None), (['accelerate', 'pair.toml', '--json'], True, None),
    (['equations', 'p.toml'], True, None), (['project', 'p.toml'], True, None), (['bench', 'p.toml', '--listing'], True, None),
    (['run', 'p.toml'], True, None), (['run', 'p.toml', '--json'], True, None), (['run', 'pair.toml', '-o', 'r.csv'], False, 'r.csv'),
    (['run', 'p.toml', '-o', 'r.h5'], False, 'r.h5'), (['run', 'p.toml', '-o', 'r.json'], False, 'r.json'),
    (['run', 'chain.toml', '-o', 'r.csv'], False, 'r.csv'), (['check', 'chain.toml'], True, None),
    (['sweep', 'p.toml', '--vary', 'L=0.9,1', '-o', 's.csv'], False, 's.csv'), (['sweep', 'p.toml', '--vary', 'L=0.9,1'], True, None),
    (['sweep', 'p.toml', '--vary', 'L=0.9,1', '-o', 's.h5', '--json'], True, 's.h5'),
    (['plot', 'rows.csv'], True, None), (['plot', 'rows.csv', '-o', 'p.svg'], False, 'p.svg'), (['completion', 'bash'], True, None),
]
CHAIN = """coordinates = ["x[1..1100]"]
[dynamics]
kinetic = "sum(i = 1..1100, x[i]'^2/2)"
potential = "sum(i = 1..1100, x[i]^4/4)"
[start.velocity]
"x[i]" = { for = "i = 1..1100", value = "1" }
[run]
to = 1.0
every = 0.5
"""


class Check:
    def __init__(self, program, folder):
        self.program, self.folder, self.passed, self.failed = program, folder, 0, 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def file(self, name, text):
        with open(self.path(name), 'w', encoding='utf-8') as f:
            f.write(text)

    def read(self, name):
        with open(self.path(name), 'rb') as f:
            return f.read()

    def call(self, *args, **options):
        p = subprocess.run([self.program, *args], capture_output=True, text=True, timeout=120, cwd=self.folder, **options)
        return p.returncode, p.stdout, p.stderr

    def that(self, what, holds, seen=''):
        self.passed += bool(holds)
        self.failed += not holds
        if not holds:
            print(f'{what}: {str(seen)[:400]!r}', flush=True)

    def refused(self, what, word, *args):
        """Status 2, the word on standard error, and every file as it was."""
        before = self.everything()
        rc, out, err = self.call(*args)
        self.that(f'{what}: refused', rc == 2 and out == '' and word in err, (rc, out, err))
        self.that(f'{what}: nothing has changed', self.everything() == before, self.everything().keys() ^ before.keys())

    def everything(self):
        found = {}
        for folder, _, files in os.walk(self.folder):
            for name in files:
                path = os.path.join(folder, name)
                if os.path.isfile(path):
                    with open(path, 'rb') as f:
                        found[path] = (f.read(), os.stat(path).st_mode)
        return found


def open_stream(kind, number):
    """Called between fork and exec: makes descriptor `number` what its kind says."""
    if kind == 'closed':
        os.close(number)
        return
    if kind == 'gone':
        read, end = os.pipe()
        os.close(read)
    else:
        end = os.open({'full': '/dev/full', 'wrong': '/dev/null', 'null': '/dev/null'}[kind],
                      {'full': os.O_WRONLY, 'wrong': os.O_WRONLY if number == 0 else os.O_RDONLY, 'null': os.O_RDWR}[kind])
    if end != number:
        os.dup2(end, number)
        os.close(end)


def run_with(c, args, kinds):
    """Exit status with the three streams of these kinds. A pipe of its own hears what standard error says, where that is open."""
    p = subprocess.Popen([c.program, *args], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=c.folder,
                         preexec_fn=lambda: [open_stream(kind, number) for number, kind in enumerate(kinds) if kind != 'heard'])
    err = p.communicate(timeout=120)[1].decode()
    return p.returncode, err


def check_streams(c, seed, trials):
    """All kinds of one stream with the others as they should be, and random combinations of all three."""
    usual = ('null', 'null', 'heard')
    kinds = [('null', 'closed', 'wrong'), ('null', 'closed', 'full', 'wrong', 'gone'), ('heard', 'closed', 'full', 'wrong', 'gone')]
    single = [tuple(k if i == at else u for i, u in enumerate(usual)) for at in range(3) for k in kinds[at] if k != usual[at]]
    rng = random.Random(seed)
    for args, says, file in COMMANDS:
        rc, err = run_with(c, args, usual)
        want = c.read(file) if file and not file.endswith(('.h5', '.json')) else None
        every = [k for k in itertools.product(*kinds) if k not in single]
        for streams in single + [('closed', 'closed', 'closed')] + rng.sample(every, trials):
            if file:
                os.remove(c.path(file))
            got, said = run_with(c, args, streams)
            wanted = 3 if says and streams[1] != 'null' else rc
            what = f'{" ".join(args)} with {", ".join(streams)}'
            c.that(f'{what}: exit status', got == wanted, (got, wanted, said))
            if streams[1] == 'gone' and says:
                c.that(f'{what}: nothing is said of it', 'tandard output' not in said and 'pipe' not in said, said)
            elif streams[2] == 'heard' and wanted == 3 and rc != 3:
                c.that(f'{what}: standard output is named', 'standard output: ' in said, said)
            if file:
                c.that(f'{what}: {file} is there', os.path.exists(c.path(file)) and not os.path.exists(c.path(file + '.part')))
                if want is not None and os.path.exists(c.path(file)):
                    c.that(f'{what}: {file} is the same', c.read(file) == want)
                if not os.path.exists(c.path(file)):
                    run_with(c, args, usual)


def check_resume(c):
    """What was killed is not harmed by streams that are closed when it is taken up again."""
    long = ['run', 'p.toml', '--to', '60', '--every', '0.001', '-o', 'killed.h5']
    for streams in (('null', 'null', 'closed'), ('closed', 'closed', 'closed'), ('null', 'closed', 'null'), ('null', 'null', 'gone')):
        p = subprocess.Popen([c.program, *long], cwd=c.folder, stderr=subprocess.DEVNULL)
        while not (os.path.exists(c.path('killed.h5.part')) and os.path.getsize(c.path('killed.h5.part')) > 0):
            time.sleep(0.01)
        time.sleep(0.2)
        p.send_signal(signal.SIGKILL)
        p.wait()
        if not os.path.exists(c.path('killed.h5.part')):
            print('(the run was over before it was killed)')
            os.remove(c.path('killed.h5'))
            continue
        rc, err = run_with(c, ['run', '--resume', 'killed.h5'], streams)
        c.that(f'--resume with {streams}', rc == 0 and os.path.exists(c.path('killed.h5')), (rc, err))
        rc, out, err = c.call('run', '--resume', 'killed.h5')
        c.that(f'--resume with {streams}: the result is whole', rc == 0 and 'the run is done' in err, (rc, out, err))
        os.remove(c.path('killed.h5'))


def check_head(c):
    """`… | head -1`: quiet."""
    for args in (['run', 'p.toml', '--to', '100'], ['run', 'p.toml', '--to', '100', '--json'], ['sweep', 'p.toml', '--vary', 'L=0.5:1:20000', '--to', '0.01']):
        p = subprocess.Popen([c.program, *args], cwd=c.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        p.stdout.readline()
        p.stdout.close()
        err = p.stderr.read()
        c.that(f'{args} | head -1', p.wait(timeout=60) == 3 and 'pipe' not in err.lower() and 'standard output' not in err, (p.returncode, err[-300:]))
    # Somebody who does not want to be kept waiting: everything arrives all the same.
    read, write = os.pipe()
    os.set_blocking(write, False)
    p = subprocess.Popen([c.program, 'run', 'p.toml', '--to', '50'], cwd=c.folder, stdout=write, stderr=subprocess.DEVNULL)
    os.close(write)
    time.sleep(0.5)
    with os.fdopen(read, 'rb') as f:
        got = f.read()
    c.that('a pipe that does not wait', p.wait(timeout=60) == 0 and got == c.call('run', 'p.toml', '--to', '50')[1].encode(), (p.returncode, len(got)))


def check_overwriting(c):
    os.mkdir(c.path('sub'))
    os.symlink('p.toml', c.path('link.csv'))
    os.symlink('../link.csv', c.path('sub/twice.json'))
    os.link(c.path('p.toml'), c.path('hard.h5'))
    os.symlink('sub', c.path('door'))
    for output in ('link.csv', 'sub/twice.json', 'hard.h5', 'door/../link.csv', './link.csv', c.path('link.csv')):
        c.refused(f'run -o {output}', 'the model', 'run', 'p.toml', '-o', output)
    for output in ('link.csv', 'hard.h5'):
        c.refused(f'sweep -o {output}', 'the model', 'sweep', 'p.toml', '--vary', 'L=0.9,1', '-o', output)
    shutil.copy(c.path('p.toml'), c.path('model.csv'))
    shutil.copy(c.path('p.toml'), c.path('model.html'))
    shutil.copy(c.path('p.toml'), c.path('other.csv.part'))
    c.refused('a model that ends in .csv', 'the model', 'run', 'model.csv', '-o', 'model.csv')
    c.refused('a model as --report', 'the model', 'run', 'model.html', '--report', 'model.html')
    c.refused('a model where a part would be', 'the model', 'run', 'other.csv.part', '-o', 'other.csv')
    c.refused('numbers of the model', 'takes numbers from', 'run', 'p.toml', '-o', 'numbers.csv')
    c.refused('numbers of the model, by sweep', 'takes numbers from', 'sweep', 'p.toml', '--vary', 'L=0.9,1', '-o', 'sub/../numbers.csv')
    c.file('samples.csv', 'L\n0.9\n1\n')
    c.refused('samples', 'samples', 'sweep', 'p.toml', '--samples', 'samples.csv', '-o', 'samples.csv')
    os.symlink('new.html', c.path('new.csv'))
    c.refused('one file twice', 'both', 'run', 'p.toml', '-o', 'new.csv', '--report', 'new.html')
    shutil.copy(c.path('rows.csv'), c.path('rows.svg'))
    c.refused('plot over what it reads', 'plotted', 'plot', 'rows.svg', '-o', 'rows.svg')
    os.symlink('rows.csv', c.path('rows.png'))
    c.refused('plot over what it reads, by a link', 'plotted', 'plot', 'rows.csv', '-o', 'rows.png')


def check_permissions(c):
    runs = {'m.csv': ['run', 'p.toml'], 'm.json': ['run', 'p.toml'], 'm.h5': ['run', 'p.toml'], 'm.svg': ['plot', 'rows.csv'],
            's.csv': ['sweep', 'p.toml', '--vary', 'L=0.9,1'], 's.h5': ['sweep', 'p.toml', '--vary', 'L=0.9,1']}
    for file, args in runs.items():
        c.file(file, 'mine')
        os.chmod(c.path(file), 0o444)
        rc, _, err = c.call(*args, '-o', file)
        c.that(f'{file} is write-protected', rc == 3 and 'write-protected' in err and c.read(file) == b'mine', (rc, err))
        c.that(f'{file}: no part is left', not os.path.exists(c.path(file + '.part')))
        for mode in (0o600, 0o640, 0o664):
            os.chmod(c.path(file), mode)
            rc, _, err = c.call(*args, '-o', file)
            seen = stat.S_IMODE(os.stat(c.path(file)).st_mode)
            c.that(f'{file} keeps its mode {mode:o}', rc == 0 and seen == mode and c.read(file) != b'mine', (rc, oct(seen), err))
        os.remove(c.path(file))


def damaged(data, at):
    return data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1:]


def check_foreign(c):
    """What cannot be gone on with is said to be what it is; damage is noticed."""
    for name, args in {'f.csv': [], 'f.json': [], 'f.h5': []}.items():
        c.call('run', 'p.toml', '-o', name, *args)
    for name in ('s.csv', 's.h5'):
        c.call('sweep', 'p.toml', '--vary', 'L=0.9,1', '-o', name)
    c.file('empty.h5', ''), c.file('empty.csv', ''), c.file('text.csv', 'a,b\n1,2\n'), c.file('sweep.h5.part', 'mechanician sweep 1\n'), c.file('none.h5.part', '')
    with open(c.path('bad.h5'), 'wb') as f:
        f.write(damaged(c.read('s.h5'), 3000))
    for command, name, words in (('run', 'f.csv', 'this is text'), ('run', 'f.json', 'this is JSON'), ('run', 's.h5', 'result of a sweep'), ('run', 'p.toml', 'this is text'),
                                 ('run', 'empty.h5', 'it is empty'), ('run', 'sweep.h5', 'a sweep that has not ended'), ('run', 'bad.h5', 'damaged'),
                                 ('sweep', 'f.h5', 'the result of `run`'), ('sweep', 'empty.h5', 'it is empty'), ('sweep', 'empty.csv', 'it is empty'), ('sweep', 'bad.h5', 'damaged'),
                                 ('sweep', 'text.csv', 'no result of a sweep'), ('sweep', 'f.csv', 'no result of a sweep'), ('sweep', 's.h5', 'the sweep is complete'),
                                 ('sweep', 's.csv', 'the sweep is complete'), ('sweep', 'sweep.h5', 'no unfinished sweep, or it is damaged'), ('sweep', 'none.h5', 'it holds nothing')):
        before = c.read(name) if os.path.exists(c.path(name)) else None
        rc, out, err = c.call(command, '--resume', name)
        c.that(f'{command} --resume {name}', rc == 3 and out == '' and words in err, (rc, out, err))
        c.that(f'{command} --resume {name} changes nothing', before is None or c.read(name) == before)
    c.that('a part that holds nothing does not stay in the way', not os.path.exists(c.path('none.h5.part')))


def check_killed(c, seed):
    """kill -9 at random moments: JSON reads as a whole, CSV up to its last line, and plot notices rows that were changed."""
    rng = random.Random(seed)
    rows = 0
    for trial in range(12):
        p = subprocess.Popen([c.program, 'run', 'p.toml', '--to', '1000', '--every', '1e-4', '-o', 'k.json', '--quiet'], cwd=c.folder)
        least = rng.choice([1, 1000, 1000000, 4000000])  # bytes that are there when it is killed, at any moment of the writes that follow
        while not (os.path.exists(c.path('k.json.part')) and os.path.getsize(c.path('k.json.part')) >= least):
            time.sleep(0.001)
        time.sleep(rng.uniform(0.0, 0.1))
        p.send_signal(signal.SIGKILL)
        p.wait()
        data = c.read('k.json.part')
        for left in ('k.json.part', 'k.json.part.new'):
            if os.path.exists(c.path(left)):
                os.remove(c.path(left))
        try:
            found = json.loads(data)
            rows = max(rows, len(found['rows']))
            c.that(f'trial {trial} of seed {seed}: JSON', found['summary']['status'] == 'incomplete' and all(len(r) == len(found['columns']) for r in found['rows']))
        except ValueError as e:
            c.that(f'trial {trial} of seed {seed}: JSON', False, e)
    c.that('some of them had rows', rows > 1000, rows)
    p = subprocess.Popen([c.program, 'run', 'p.toml', '--to', '1000', '--every', '1e-3', '-o', 'k.h5', '--quiet'], cwd=c.folder)
    while not os.path.exists(c.path('k.h5.part')) or os.path.getsize(c.path('k.h5.part')) < 100000:
        time.sleep(0.01)
    time.sleep(1.0)
    p.send_signal(signal.SIGKILL)
    p.wait()
    data = c.read('k.h5.part')
    rc, _, err = c.call('plot', 'k.h5.part', '--show', 'x', '-o', 'k.svg')
    c.that('plot of a part', rc == 0 and 'not whole' in err, (rc, err))
    rc, out, _ = c.call('plot', 'k.h5.part', '--show', 'x')
    value = struct.pack('<d', 0.6)
    at = data.find(value)  # the first position
    while at >= 0:
        with open(c.path('k.h5.part'), 'wb') as f:
            f.write(damaged(data, at + 6))
        if c.call('plot', 'k.h5.part', '--show', 'x')[1] != out:
            break
        at = data.find(value, at + 1)
    rc, _, err = c.call('plot', 'k.h5.part', '--show', 'x,y', '-o', 'k.svg')
    c.that('plot of a damaged part', at >= 0 and rc == 3 and 'damaged' in err, (at, rc, err))


def check_threads(c):
    """Sweeps with too few threads and too little memory do not hang and do not abort."""
    want = None
    for what, limit, wanted in (('as many as there are', None, (0,)), ('3000 threads in 4 GiB', (resource.RLIMIT_AS, 4 << 30), (0,)), ('3000 threads in 1 GiB', (resource.RLIMIT_AS, 1 << 30), (0, 3)),
                                ('3000 threads in 0.4 GiB', (resource.RLIMIT_AS, 400 << 20), (0, 3))):
        p = subprocess.run([c.program, 'sweep', 'p.toml', '--vary', 'L=0.5:1:4000', '--as-given', '--to', '0.01', '-o', 't.csv', '--threads', '3000', '--quiet'], cwd=c.folder,
                           capture_output=True, text=True, timeout=300, preexec_fn=limit and (lambda: resource.setrlimit(limit[0], (limit[1], limit[1]))))
        c.that(f'sweep with {what}', p.returncode in wanted or p.returncode == 4, (p.returncode, p.stderr[-300:]))
        if p.returncode in (0, 4):
            want = want or c.read('t.csv')
            c.that(f'sweep with {what}: the same result', c.read('t.csv') == want)
    if os.geteuid() == 0:
        os.chmod(c.folder, 0o777)

        def nobody():
            resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
            os.setuid(65534)
        for args in (['sweep', 'p.toml', '--vary', 'L=0.5:1:400', '--as-given', '--to', '0.01', '-o', 'n.csv', '--quiet'], ['run', 'p.toml', '-o', 'n2.csv'], ['run', 'chain.toml', '-o', 'n3.csv']):
            p = subprocess.run([c.program, *args], cwd=c.folder, capture_output=True, text=True, timeout=120, preexec_fn=nobody, env={**os.environ, 'HOME': '/nonexistent'})
            c.that(f'{args[:2]} without threads', p.returncode in (0, 4), (p.returncode, p.stderr[-300:]))


def check_signals(c):
    """SIGTERM ends every long computation within seconds."""
    for args in (['run', 'p.toml', '--to', '1e7', '--every', '1e6', '-o', 'e.csv'], ['run', 'p.toml', '--to', '1e7', '--every', '1e6', '--verify', '-o', 'e.csv'],
                 ['run', 'p.toml', '--to', '1e7', '--every', '1e-7', '-o', 'e.csv'], ['run', 'p.toml', '--to', '1e7', '--tolerance', '1e-15', '-o', 'e.h5'],
                 ['run', 'p.toml', '--to', '1e7', '--method', 'bdf', '--tolerance', '1e-15', '--every', '1e6', '-o', 'e.h5'],
                 ['run', 'chain.toml', '--to', '1e9', '--tolerance', '1e-15', '--every', '1e8', '-o', 'e.csv'],
                 ['sweep', 'p.toml', '--vary', 'L=0.5:1:2000000', '--as-given', '--to', '1', '-o', 'e.csv']):
        p = subprocess.Popen([c.program, *args, '--quiet'], cwd=c.folder, stderr=subprocess.PIPE, text=True)
        part = c.path(args[args.index('-o') + 1] + '.part')  # when it is there, signals are waited for
        while not os.path.exists(part) and p.poll() is None:
            time.sleep(0.01)
        time.sleep(0.5)
        p.send_signal(signal.SIGTERM)
        try:
            err = p.communicate(timeout=30)[1]
            c.that(f'{" ".join(args)}: SIGTERM', p.returncode == 130, (p.returncode, err))
        except subprocess.TimeoutExpired:
            p.kill()
            p.communicate()
            c.that(f'{" ".join(args)}: SIGTERM', False, 'it goes on')
        for left in (part, part + '.new', part[:-len('.part')]):
            if os.path.exists(left):
                os.remove(left)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument('--program', required=True)
    arguments.add_argument('--seed', type=int, default=20260101)
    arguments.add_argument('--trials', type=int, default=3, help='random combinations of streams for each command')
    arguments.add_argument('--sanitized', action='store_true', help='the program needs much address space: it is not limited')
    options = arguments.parse_args()
    print(f'seed {options.seed}')
    with tempfile.TemporaryDirectory() as folder:
        c = Check(os.path.abspath(options.program), folder)
        for name, text in {'p.toml': MODEL, 'pair.toml': PAIR, 'chain.toml': CHAIN, 'bad.toml': 'coordinates = 3\n', 'numbers.csv': 'm\n2\n',
                           'rows.csv': 't,x\n0,1\n1,2\n2,0\n'}.items():
            c.file(name, text)
        check_streams(c, options.seed, options.trials)
        check_resume(c)
        check_head(c)
        check_overwriting(c)
        check_permissions(c)
        check_foreign(c)
        check_killed(c, options.seed)
        check_signals(c)
        if not options.sanitized:
            check_threads(c)
    print(f'{c.passed} passed, {c.failed} failed')
    return 1 if c.failed or not c.passed else 0


if __name__ == '__main__':
    sys.exit(main())
