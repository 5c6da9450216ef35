#!/usr/bin/env python3
"""Measures motions and writes the tables of docs/accuracy.md and docs/verdicts.md.

usage: bench/motion/tables.py [--program PATH] [--python PATH] [--only NAME,...] [--sizes 1,2,10,40]

Tables: ladder, ladder_peer, digits, test_set, mechanisms, work, pendulum, verdicts. Each stands between `<!-- begin NAME -->` and `<!-- end NAME -->` and is replaced together
with a line that says when and on which machine it was measured. --python is one with NumPy, SciPy and SymPy, for ladder_peer and work; without
them these two are left as they are. --sizes are those of the ladders; that of 40 takes most of the time, some minutes. Measure on a quiet machine."""
import argparse
import datetime
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DOCS = ROOT / 'docs'
DIGITS = [('squeezer', 'models/squeezer.toml'), ('car_axis', 'models/car_axis.toml')]


def output(*command):
    """What a measuring program prints; it may end with 1 where a run is not as it should be."""
    p = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if p.returncode not in (0, 1) or not p.stdout.strip() or p.stdout.startswith('skipped'):
        raise RuntimeError((p.stdout + p.stderr).strip() or f'exit {p.returncode}')
    return p.stdout.strip()


def ladder(options):
    return output(sys.executable, HERE / 'ladder.py', '--program', options.program, '--sizes', options.sizes)


def work(options):
    return output(options.python, HERE / 'work_precision.py', '--program', options.program)


def pendulum(options):
    return output(sys.executable, HERE / 'long_pendulum.py', '--program', options.program)


def digits(options):
    """Largest error at the end, relative to the largest entry (at least 1), of positions and of velocities."""
    lines = ['| model | tolerance | steps | evaluations | positions off by | velocities off by |', '|:--|--:|--:|--:|--:|--:|']
    for name, model in DIGITS:
        expected = ROOT / 'tests' / 'motions' / f'{name}.expected.json'
        end = json.loads(expected.read_text())['end']
        for tolerance in ('1e-6', '1e-8', '1e-10', '1e-12', '1e-13', '1e-14'):
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / 'motion.json'
                p = subprocess.run([options.program, 'run', ROOT / model, '-o', file, '--to', repr(end['time']), '--every', repr(end['time']),
                                    '--tolerance', tolerance, '--quiet'], capture_output=True, text=True)
                if not file.exists():
                    raise RuntimeError(f'{model} at {tolerance}: exit {p.returncode}, {p.stderr.strip()}')
                result = json.loads(file.read_text())
            last, s = dict(zip(result['columns'], result['rows'][-1])), result['summary']
            off = []
            for part, prime in (('position', ''), ('velocity', "'")):
                size = max(1.0, *map(abs, end[part].values()))
                off.append(max(abs(last[c + prime] - v) for c, v in end[part].items()) / size)
            lines.append(f"| {name.replace('_', ' ')} | {tolerance} | {s['steps']} | {s['evaluations']} | {off[0]:.1e} | {off[1]:.1e} |"
                         + ('' if p.returncode == 0 else f' **exit {p.returncode}**'))
    return '\n'.join(lines)


def ladder_peer(options):
    return output(options.python, HERE / 'ladder_peer.py')


def verdicts(options):
    return output(sys.executable, ROOT / 'tests' / 'check_verdicts.py', '--program', options.program, '--table')


def test_set(options):
    return output(sys.executable, ROOT / 'tests' / 'check_test_set.py', '--program', options.program, '--table')


def mechanisms(options):
    return output(sys.executable, ROOT / 'tests' / 'check_bodies.py', options.program, '--table')


def machine():
    """The processor and the date."""
    name = 'unknown processor'
    for line in Path('/proc/cpuinfo').read_text().splitlines():
        if line.startswith('model name'):
            name = line.split(':', 1)[1].strip()
            break
    return f'{datetime.date.today().isoformat()}, {os.cpu_count()} × {name}'


TABLES = {'ladder': ladder, 'ladder_peer': ladder_peer, 'digits': digits, 'test_set': test_set, 'mechanisms': mechanisms,
          'work': work, 'pendulum': pendulum, 'verdicts': verdicts}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--program', default=str(ROOT / 'build/release/mechanician'))
    parser.add_argument('--python', default=sys.executable)
    parser.add_argument('--only', default=','.join(TABLES))
    parser.add_argument('--sizes', default='1,2,10,40')
    options = parser.parse_args()
    version = subprocess.run([options.program, '--version'], capture_output=True, text=True, check=True).stdout.strip()
    status = 0
    for name in options.only.split(','):
        try:
            table = TABLES[name](options)
        except (RuntimeError, OSError) as error:
            print(f'{name}: {str(error)[:2000]}')
            status = 1
            continue
        page = DOCS / ('verdicts.md' if name == 'verdicts' else 'accuracy.md')
        text = page.read_text()
        pattern = re.compile(rf'(<!-- begin {name} -->\n).*?(<!-- end {name} -->)', re.S)
        if not pattern.search(text):
            print(f'{name}: {page.name} has no place for it')
            status = 1
            continue
        page.write_text(pattern.sub(lambda m: f'{m[1]}\n{table}\n\nMeasured on {machine()}, version {version.split()[-1]}.\n\n{m[2]}', text))
        print(f'{name}: written', flush=True)
    return status


if __name__ == '__main__':
    sys.exit(main())
