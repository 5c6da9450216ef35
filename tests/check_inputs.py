#!/usr/bin/env python3
"""Checks what the program makes of strange input: pipes instead of files, CSV that is none, tolerances and times that cannot be met,
names that would steer the terminal, values and words on the command line, models from standard input.

usage: check_inputs.py --program PATH [--seed S]

Prints a line for each miss and, last, `N passed, N failed`. Needs nothing but Python 3.11."""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

MODEL = """coordinates = ["x", "y"]
[parameters]
m = 2.0
L = 1.0
[dynamics]
kinetic = "m/2*(x'^2 + y'^2)"
potential = "9.81*m*y"
[constraints]
rod = "x^2 + y^2 = L^2"
[start]
position = { x = 0.6, y = -0.8 }
[run]
to = 1.0
every = 0.1
"""
TABLE = 'coordinates = ["x[1..2]"]\n[parameters]\nm = { csv = "FILE", column = "COLUMN" }\n[dynamics]\nkinetic = "sum(i = 1..2, m[i]/2*x[i]\'^2)"\n'
LARGE = TABLE.replace('1..2', '1..1200').replace('m[i]', 'm[1]')


class Check:
    def __init__(self, program, folder):
        self.program, self.folder, self.passed, self.failed = program, folder, 0, 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def file(self, name, text):
        with open(self.path(name), 'wb') as f:
            f.write(text if isinstance(text, bytes) else text.encode())

    def call(self, *args, **options):
        p = subprocess.run([self.program, *args], capture_output=True, timeout=60, cwd=self.folder, **options)
        return p.returncode, p.stdout.decode(errors='replace'), p.stderr.decode(errors='replace')

    def that(self, what, holds, seen=''):
        self.passed += bool(holds)
        self.failed += not holds
        if not holds:
            print(f'{what}: {str(seen)[:400]!r}', flush=True)

    def says(self, what, want, words, *args, **options):
        """Exit status, and words on either stream."""
        try:
            rc, out, err = self.call(*args, **options)
        except subprocess.TimeoutExpired:
            return self.that(what, False, 'it hangs')
        self.that(what, rc == want and all(w in out + err for w in ([words] if isinstance(words, str) else words)), (rc, out, err))
        return out


def check_pipes(c):
    os.mkfifo(c.path('pipe'))
    os.mkfifo(c.path('pipe.csv'))
    for command in ('check', 'accelerate', 'equations', 'project', 'run', 'bench'):
        c.says(f'{command} of a pipe', 3, 'it is a pipe', command, 'pipe')
    c.says('sweep of a pipe', 3, 'it is a pipe', 'sweep', 'pipe', '--vary', 'L=1')
    c.says('a device as model', 3, 'it is a device', 'check', '/dev/zero')
    c.says('samples from a pipe', 3, 'it is a pipe', 'sweep', 'p.toml', '--samples', 'pipe.csv')
    for text in (TABLE, LARGE):
        c.file('t.toml', text.replace('FILE', 'pipe.csv').replace('COLUMN', 'm'))
        c.says('numbers from a pipe', 1, ['`pipe.csv` cannot be read', 'it is a pipe'], 'check', 't.toml')


def check_csv(c, seed):
    def look(text, column='m'):
        c.file('n.csv', text)
        c.file('t.toml', TABLE.replace('FILE', 'n.csv').replace('COLUMN', column))
        return c.call('check', 't.toml')
    for what, text, words in (('thousands', 'm\n"1,000"\n2\n', '`1,000` in column `m`'), ('a comma', 'm\n1,5\n2\n', '2 values for 1 column'),
                              ('an open quotation mark', 'm\n"1\n2\n', 'a quotation mark is not closed'), ('an open one in the names', '"m\n1\n2\n', 'not closed'),
                              ('a column twice', 'm,m\n1,2\n3,4\n', 'has the column `m` twice'), ('a short row', 'a,m\n1,2\n3\n', '1 value for 2 columns'),
                              ('no row', 'm\n', 'has no rows'), ('nothing', '', 'has no column `m`'), ('nan', 'm\n1\nnan\n', '`nan` in column'),
                              ('a comma between semicolons', 'a;m\n1;1,5\n1;2\n', '`1,5` in column')):
        rc, out, err = look(text)
        c.that(f'numbers of a model: {what}', rc == 1 and words in err, (rc, err))
    for what, text in (('plain', 'm\n1\n2\n'), ('with blanks, marks and a comment', '# by hand\r\na, "m"\r\nx,"1"\r\n\r\ny, 2 \r\n'), ('semicolons', 'a;m\n"1,5";1\n2;2'),
                       ('tabs', 'a\tm\nx\t1\ny\t2\n'), ('a byte order mark', '\ufeffm\n1\n2\n')):
        rc, out, err = look(text)
        c.that(f'numbers of a model: {what}', rc == 0, (rc, err))
    # The same text is taken, or refused, wherever it is read; whatever it is, the program ends as it should.
    rng = random.Random(seed)
    for trial in range(150):
        rows = [['m', 'x'[:rng.randint(0, 1)] or 'L']] + [[rng.choice(['1', '2.5', '"3"', ' 4', '1,5', '"1,000"', '"5', 'a', '', '1e3', '+2', '#6']) for _ in range(2)] for _ in range(2)]
        text = '\n'.join(','.join(r) for r in rows) + rng.choice(['\n', ''])
        rc, _, err = look(text)
        c.file('s.csv', text.replace('x', 'L'))
        c.file('u.toml', MODEL)
        swept, _, said = c.call('sweep', 'u.toml', '--samples', 's.csv', '--as-given', '--to', '0.01', '--json', '-o', 's.h5', '--quiet')
        good = rc == 0 or 'in column' not in err and 'quotation' not in err and 'value' not in err and 'rows' not in err
        c.that(f'trial {trial} of seed {seed}: no crash', rc in (0, 1) and swept in (0, 1, 3, 4, 5), (text, rc, err, swept, said))
        if swept in (0, 4, 5):
            c.that(f'trial {trial} of seed {seed}: samples that are taken are numbers for a model, too', good, (text, rc, err))


def check_limits(c):
    for value in ('1e-200', '1e-16', '0', '-1', '0.2'):
        c.says(f'--tolerance {value}', 2, 'at least 1e-15', 'run', 'p.toml', f'--tolerance={value}')
        c.says(f'sweep --tolerance {value}', 2, 'at least 1e-15', 'sweep', 'p.toml', '--vary', 'L=1', f'--tolerance={value}')
    c.says('the least tolerance', 0, '', 'run', 'p.toml', '--tolerance', '1e-15', '--quiet')
    c.file('tight.toml', MODEL + 'tolerance = 1e-200\n')
    c.says('a tolerance of the model', 1, ['tight.toml:', 'at least 1e-15'], 'run', 'tight.toml')
    for extra in (('--every', '1e-300'), ('--every', '1e-17', '--time', '0.5'), ('--every', '1e-16')):
        c.says(' '.join(extra), 2, 'lost in the rounding of the time', 'run', 'p.toml', *extra)
    c.file('dense.toml', MODEL.replace('every = 0.1', 'every = 1e-300'))
    c.says('every of the model', 1, ['dense.toml:', 'lost in the rounding'], 'run', 'dense.toml')
    c.file('chain.toml', LARGE.replace('m = { csv = "FILE", column = "COLUMN" }\n', '').replace('m[1]/', '1/') + '[run]\nto = 1\nevery = 1e-300\n')
    c.says('every of a large model', 1, 'lost in the rounding', 'run', 'chain.toml')
    long = [c.call('sweep', 'p.toml', '--vary', 'L=1', '--method', 'rk4', '--step', h)[1] for h in ('1', '1e16', '1e300')]
    c.that('a step that is longer than the motion', len(set(long)) == 1 and ',1,' in long[0], long)
    c.file('huge.toml', TABLE.replace('m = { csv = "FILE", column = "COLUMN" }', 'N = 1e15\nm = [1, 1]').replace('x[1..2]', 'x[1..N]'))
    c.says('a size that is too large', 1, 'a whole number below 1e15', 'check', 'huge.toml')


def check_terminal(c):
    evil = 'a\\u001b[31mb\\u009b1m\\u0007\\u202e\\nc'
    c.file('evil.toml', f'title = "{evil}"\n' + MODEL)
    commands = [['check'], ['equations'], ['equations', '--latex'], ['bench', '--listing'], ['bench'], ['accelerate'], ['accelerate', '--explain'], ['project'],
                ['check', '--json'], ['run'], ['run', '--json'], ['check', '--set', '\x1b[31m=1'], ['run', '-o', '\x1b[31m.csv\x1b'], ['check', '--\x1b[2J']]
    for command, *rest in commands:
        p = subprocess.run([c.program, command, 'evil.toml', *rest], capture_output=True, timeout=60, cwd=c.folder)
        for stream in (p.stdout, p.stderr):
            text = stream.decode()
            bad = [ch for ch in text if (ord(ch) < 32 and ch not in '\n\t') or 127 <= ord(ch) < 160 or ch in '\u202e']
            if '--json' in rest:
                bad = [ch for ch in bad if ch != '\u202e']  # data
            c.that(f'{command} {rest!r} does not steer the terminal', not bad, (bad, text))
    c.file('evil.csv', 't,x\x1b[31m\n0,1\n1,2\n')
    for args in (['plot', 'evil.csv'], ['plot', 'no\x1b[31m.csv'], ['\x1b[31m'], ['help', '\x1b[31m'], ['run', 'no\x1b[31m.toml']):
        p = subprocess.run([c.program, *args], capture_output=True, timeout=60, cwd=c.folder)
        c.that(f'{args!r} does not steer the terminal', b'\x1b[31m' not in p.stdout + p.stderr, (p.stdout, p.stderr))


def check_words(c):
    c.says('a misspelt option', 2, ['no option `--tolerence`', 'did you mean `--tolerance`?'], 'run', 'p.toml', '--tolerence', '1e-9')
    c.says('a misspelt option with =', 2, 'did you mean `--tolerance`?', 'run', 'p.toml', '--tolerence=1e-9')
    c.says('an option of nobody', 2, ['no option `--fly`', 'Try `mechanician run --help`'], 'run', 'p.toml', '--fly')
    c.says('an argument too many', 2, '`q.toml` is one argument too many', 'check', 'p.toml', 'q.toml')
    c.says('an option before the command', 2, 'no option `--fly`', '--fly')
    for words in (['help'], ['--help']):
        c.says(' '.join(words), 0, ['accelerate', 'sweep'], *words)
    for command in ('run', 'plot', 'check'):
        c.that(f'help {command}', c.call('help', command)[:2] == c.call(command, '--help')[:2])
    c.says('help of what is none', 2, ['unknown command `rum`', 'did you mean `run`'], 'help', 'rum')
    rc, out, err = c.call('p.toml', '--json')
    c.that('a model without a command', rc == 0 and json.loads(out)['rank'] == 1 and 'mechanician check p.toml' in err, (rc, out, err))
    c.says('a model that is not there', 3, 'none.toml', 'none.toml')
    c.says('no command', 2, 'unknown command `chek`', 'chek')


def check_values(c):
    def accelerate(*args):
        rc, out, err = c.call('accelerate', 'p.toml', '--json', *args)
        return json.loads(out) if rc == 0 else (rc, err)
    a, b = accelerate('--set', 'L=2*pi,m=sqrt(16)/2', '--time', '1/4', '--velocity', 'x=-(1+1)'), accelerate('--set', 'L=6.283185307179586,m=2', '--time', '0.25', '--velocity', 'x=-2')
    c.that('values made of numbers', isinstance(a, dict) and a == b, (a, b))
    rows = c.says('--to and --every', 0, '', 'run', 'p.toml', '--to', '1/2', '--every', 'max(0.1, 1/4)', '--quiet').splitlines()
    c.that('rows at 0, 0.25 and 0.5', [r.split(',')[0] for r in rows[1:]] == ['0', '0.25', '0.5'], rows)
    c.says('--vary', 0, '2 done', 'sweep', 'p.toml', '--vary', 'L=pi/3:pi:2', '--to', '0.1', '--tolerance', '10^-8')
    for bad in ('two', 't', 'm*2', '1/0', '', '2*', 'inf', '1e999', "x'"):
        c.says(f'--set L={bad}', 2, 'not a finite number', 'check', 'p.toml', '--set', f'L={bad}')


def check_standard_input(c):
    text = MODEL.encode()
    for args in (['check', '-'], ['accelerate', '-', '--json'], ['equations', '-'], ['project', '-'], ['run', '-', '--quiet'], ['sweep', '-', '--vary', 'L=0.9,1', '--quiet'], ['-', '--json']):
        rc, out, err = c.call(*args, input=text)
        named = [a if a != '-' else 'p.toml' for a in args]
        c.that(f'{" ".join(args)}', (rc, out) == c.call(*named)[:2] and rc == 0, (rc, out, err))
    c.says('a mistake in it', 1, 'standard input:1:', 'check', '-', input=b'coordinates = 3\n')
    c.says('nothing in it', 1, 'standard input', 'check', '-', input=b'')
    c.file('n.csv', 'm\n1\n2\n')
    c.says('numbers beside it', 0, '', 'check', '-', input=TABLE.replace('FILE', 'n.csv').replace('COLUMN', 'm').encode())
    rc, out, err = c.call('run', '-', '-o', 'in.h5', '--quiet', input=text)
    c.says('a result of it', 0, 'the run is done', 'run', '--resume', 'in.h5')
    with open(c.path('p.toml'), 'rb') as f:
        os.symlink('p.toml', c.path('self.csv'))
        c.says('over itself', 2, 'the model', 'run', '-', '-o', 'self.csv', stdin=f)


def check_names(c):
    for name in ('x', 't', 'residual', 'work_given'):
        c.file('o.toml', MODEL + f'[outputs]\n{name} = "x*y"\n')
        c.says(f'an output that is named {name}', 1, f'the output `{name}` would be a second column', 'check', 'o.toml')
    chain = LARGE.replace('m = { csv = "FILE", column = "COLUMN" }\n', '').replace('m[1]/', '1/') + '[outputs]\n'
    for output in ('t = "x[1]"', '"x[i]" = { for = "i = 1..3", value = "x[i]" }'):
        c.file('o.toml', chain + output + '\n')
        c.says(f'an output of a large model: {output}', 1, 'would be a second column', 'check', 'o.toml')
    c.file('o.toml', chain + 'first = "x[1]"\n')
    c.says('an output of a large model with a name of its own', 0, '', 'check', 'o.toml')
    c.file('o.toml', MODEL + '[outputs]\nheight = "y + L"\n')
    c.says('an output with a name of its own', 0, '', 'check', 'o.toml')
    p = c.call('plot', 'rows.csv', '-o', 'c.png', env={**os.environ, 'MECHANICIAN_CAIRO': 'nowhere.so'})
    c.that('the library that is asked for is named', p[0] == 3 and ('nowhere.so' in p[2] or 'built without cairo' in p[2]), p)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument('--program', required=True)
    arguments.add_argument('--seed', type=int, default=20260104)
    options = arguments.parse_args()
    print(f'seed {options.seed}')
    with tempfile.TemporaryDirectory() as folder:
        c = Check(os.path.abspath(options.program), folder)
        c.file('p.toml', MODEL)
        c.file('rows.csv', 't,x\n0,1\n1,2\n2,0\n')
        for group in (check_pipes, lambda c: check_csv(c, options.seed), check_limits, check_terminal, check_words, check_values, check_standard_input, check_names):
            group(c)
    print(f'{c.passed} passed, {c.failed} failed')
    return 1 if c.failed or not c.passed else 0


if __name__ == '__main__':
    sys.exit(main())
