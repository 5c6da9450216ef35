#!/usr/bin/env python3
"""Kills `mechanician run` and `sweep`, and those that take them up again, at random moments, in every format.

usage: check_kills.py --program PATH [--kills N] [--seed S] [--shorten FACTOR]

- What was in the file before the kill is in it afterwards, and reads: lines of CSV, JSON as a whole object, rows of HDF5, blocks of a sweep.
- What is taken up again, killed again or not, ends with the numbers of a run that nobody disturbed; a sweep with its bytes.

Prints a line for each miss, how many were killed in which state, and, last, `N passed, N failed`. Needs Python 3.11, h5dump and h5diff (Debian: hdf5-tools)."""
import argparse
import collections
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import limits
from check_run import PENDULUM, Check, Hdf5

BALL = """coordinates = ["x", "y"]
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[constraints.floor]
equation = "y >= 1"
restitution = 0.9
[start]
position = { y = 2 }
velocity = { x = 1 }
[events]
high = { when = "y'", direction = "down" }
"""


class Kind:
    """What is killed: a command, its format, and how it ends where nobody disturbs it."""

    def __init__(self, c, command, end, *args):
        self.c, self.command, self.end, self.args = c, command, end, list(args)
        self.name = f'{command} {" ".join(self.args)} -o .{end}'
        self.result, self.part = f'killed.{end}', f'killed.{end}.part'
        begin, whole = time.monotonic(), f'whole{len(c.left("whole"))}.{end}'
        p = self.start('-o', whole)
        _, err = p.communicate()
        self.seconds = time.monotonic() - begin
        c.that(f'{self.name}: undisturbed', p.returncode == 0 and not err, (p.returncode, err))
        self.whole = whole if self.is_hdf5_run() else self.read(whole)

    def is_hdf5_run(self): return self.command == 'run' and self.end == 'h5'
    def resumes(self): return self.command == 'sweep' or self.end == 'h5'

    def start(self, *args):
        given = [] if '--resume' in args else self.args
        return subprocess.Popen([self.c.program, self.command, *given, *args, '--quiet'], cwd=self.c.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def numbers(self, name, dataset, *more):
        """Of an HDF5 file, as h5dump prints them. Throws ValueError where it does not read."""
        return re.search(r'DATA \{\s*(.*?)\s*\}', Hdf5.dump('-m', '%.17g', '-d', dataset, *more, self.c.path(name)), re.S)[1]

    def attribute(self, name, attribute):
        file = Hdf5.__new__(Hdf5)
        file.path = self.c.path(name)
        return file.attribute(attribute)

    def rows_valid(self, name): return int(self.numbers(name, 'rows_valid').split(':')[1])
    def times(self, name, rows): return self.numbers(name, 't', '-c', str(rows)) if rows else ''
    def summary(self, name):
        summary = json.loads(self.attribute(name, 'summary'))
        summary.pop('wall_time')
        return summary

    def read(self, name):
        try:
            with open(self.c.path(name), 'rb') as f: return f.read()
        except FileNotFoundError: return b''

    def unfinished(self): return self.part if os.path.exists(self.c.path(self.part)) else self.result

    # ---- what is in a file that may be incomplete

    def held(self):
        """How much of the result is there, in rows, lines or bytes; 0 where there is nothing. Throws ValueError where it does not read."""
        if self.is_hdf5_run():
            path = self.c.path(self.unfinished())
            return self.rows_valid(self.unfinished()) if os.path.exists(path) and os.path.getsize(path) else 0
        bytes = self.read(self.unfinished())
        if self.command == 'sweep': return len(bytes)
        if self.end == 'csv': return bytes.rfind(b'\n') + 1
        return len(json.loads(bytes)['rows']) if bytes else 0

    def is_beginning(self):
        """What a killed run has left is the beginning of what it would have written."""
        if self.is_hdf5_run():
            rows = self.rows_valid(self.unfinished())
            return self.times(self.unfinished(), rows) == self.times(self.whole, rows)
        if self.command == 'sweep': return True         # blocks of its own; what they are is seen when it is taken up again
        bytes = self.read(self.unfinished())
        if self.end == 'csv': return self.whole.startswith(bytes[:bytes.rfind(b'\n') + 1])
        if not bytes: return True
        got, want = json.loads(bytes), json.loads(self.whole)
        return got['rows'] == want['rows'][:len(got['rows'])]

    def ended(self):
        return self.command == 'sweep' or not self.is_hdf5_run() or self.attribute(self.result, 'complete') == 1

    def is_whole(self):
        if self.command == 'sweep' or self.end == 'csv': return self.read(self.result) == self.whole
        if self.end == 'h5':
            said = subprocess.run(['h5diff', self.c.path(self.whole), self.c.path(self.result)], capture_output=True, text=True, timeout=limits.CLOCK).stdout
            return 'dataset:' not in said and self.summary(self.whole) == self.summary(self.result)
        got, want = json.loads(self.read(self.result)), json.loads(self.whole)
        got['summary'].pop('wall_time'), want['summary'].pop('wall_time')
        return got == want

    # ---- killing

    def wait_and_kill(self, p, rng):
        """Returns what was there shortly before."""
        time.sleep(rng.uniform(0, 1.05 * self.seconds))
        seen = 0
        if p.poll() is None and not (self.is_hdf5_run() and rng.random() < 0.7):
            try: seen = self.held()
            except (ValueError, OSError, KeyError): seen = 0        # in the middle of a change; after the kill it must read
        p.send_signal(signal.SIGKILL)
        p.communicate()
        return seen

    def kill(self, rng, seed, counts):
        c, what = self.c, f'{self.name} (seed {seed})'
        c.clean('killed')
        p = self.start('-o', self.result)
        seen = self.wait_and_kill(p, rng)
        if p.returncode == 0: counts['ended before'] += 1
        for attempt in range(12):
            try:
                there = self.held()
                c.that(f'{what}: nothing is lost', there >= seen or not os.path.exists(c.path(self.part)), (seen, there))
                c.that(f'{what}: the beginning is that of an undisturbed run', not there or self.is_beginning(), there)
            except (ValueError, KeyError, OSError) as e:
                c.that(f'{what}: what is left reads', False, e)
                return
            if p.returncode == 0 or not self.resumes(): break
            counts['killed'] += 1
            if os.path.exists(c.path(self.result)) and not os.path.exists(c.path(self.part)) and self.ended():
                counts['after the end'] += 1        # it had only to go
                break
            counts['with rows' if there else 'before there was anything'] += 1
            # Before there is anything to go on with it is begun anew, as the recipe for batches does.
            p = self.start('--resume', self.result) if there else self.start('-o', self.result)
            if attempt < 3 and rng.random() < 0.4: seen = self.wait_and_kill(p, rng)
            else:
                _, err = p.communicate()
                seen = 0
                if not c.that(f'{what}: goes on', p.returncode == 0 and err == '', (p.returncode, err)): return
        if not self.resumes() and p.returncode != 0:
            counts['killed'] += 1
            counts['with rows' if there else 'before there was anything'] += 1
            if rng.random() < 0.8: return
            p = self.start('-o', self.result)
            _, err = p.communicate()
            c.that(f'{what}: is run again', p.returncode == 0 and err == '', (p.returncode, err))
        c.that(f'{what}: as if nobody had disturbed it', self.is_whole())
        c.that(f'{what}: nothing but the result is left', set(c.left('killed')) <= {self.result, self.part + '.new'}, c.left('killed'))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument('--program', required=True)
    arguments.add_argument('--kills', type=int, default=60, help='in all')
    arguments.add_argument('--seed', type=int, default=random.randrange(1 << 30))
    arguments.add_argument('--shorten', type=float, default=1, help='what is killed is shorter by this factor: for programs that are slow')
    options = arguments.parse_args()
    if not shutil.which('h5diff'):
        sys.exit('check_kills.py: h5diff is missing (Debian: hdf5-tools)')
    rng, counts = random.Random(options.seed), collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        c = Check(os.path.abspath(options.program), folder)
        c.file('p.toml', PENDULUM), c.file('ball.toml', BALL)
        to = lambda seconds: ['--to', str(seconds / options.shorten)]
        sweep = ['ball.toml', '--vary', 'x=normal(0,1)', '--count', str(int(600 / options.shorten)), '--seed', '3', '--to', '2']
        kinds = [Kind(c, 'run', end, *args) for end in ('csv', 'json', 'h5')
                 for args in (['p.toml', *to(600)], ['ball.toml', *to(30), '--every', '0.001'], ['p.toml', *to(100), '--verify', '--every', '0.01'])]
        kinds += [Kind(c, 'run', 'h5', 'p.toml', *to(30), '--method', 'bdf')]
        kinds += [Kind(c, 'sweep', end, *sweep) for end in ('csv', 'h5')] * 3
        print(f'seed {options.seed}; seconds of those undisturbed: {" ".join(f"{k.seconds:.2f}" for k in kinds)}', flush=True)
        while counts['killed'] < options.kills and counts['tries'] < 20 * options.kills:
            counts['tries'] += 1
            kind = rng.choice(kinds)
            counts[f'{kind.command} .{kind.end}'] -= counts['killed']
            kind.kill(rng, options.seed, counts)
            counts[f'{kind.command} .{kind.end}'] += counts['killed']
            if counts['tries'] % 50 == 0: print(f'{counts["killed"]} killed, {c.failed} misses', flush=True)
        c.that('enough were killed', counts['killed'] >= options.kills, counts)
    print(', '.join(f'{what}: {count}' for what, count in counts.items()))
    print(f'{c.passed} passed, {c.failed} failed')
    return 1 if c.failed or not c.passed else 0


if __name__ == '__main__':
    sys.exit(main())
