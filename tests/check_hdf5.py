#!/usr/bin/env python3
"""HDF5 results of `mechanician run`, read by h5py: chunks and compression, the numbers of the CSV of the same run, killed runs that are
gone on with, plots of finished and unfinished files, a chain of 2000 masses with its size on the disk and in memory.

    check_hdf5.py --program build/release/mechanician

Prints a line for each miss and, last, `N passed, N failed`. Without h5py (Debian: python3-h5py) it ends with status 77."""
import argparse, csv, os, signal, subprocess, sys, tempfile, time

import limits

try:
    import h5py
    import numpy
except ImportError:
    # The Python of the system has Debian's modules, whichever comes first in the path.
    if sys.executable != '/usr/bin/python3' and os.access('/usr/bin/python3', os.X_OK): os.execv('/usr/bin/python3', ['/usr/bin/python3', *sys.argv])
    print('(not checked: Python has no h5py)')
    sys.exit(77)

CHAIN = '''coordinates = ["x[1..N]", "y[1..N]"]
[parameters]
N = 2000
[dynamics]
kinetic = "sum(i = 1..N, 0.5*(x[i]'^2 + y[i]'^2))"
potential = "sum(i = 1..N, 9.81*y[i])"
[constraints]
top = "x[1]^2 + y[1]^2 = 1"
[constraints.rod]
for = "i = 2..N"
equation = "(x[i] - x[i-1])^2 + (y[i] - y[i-1])^2 = 1"
[start.position]
"x[i]" = { for = "i = 1..N", value = "0.6*i" }
"y[i]" = { for = "i = 1..N", value = "-0.8*i" }
'''
PENDULUM = '''coordinates = ["x", "y"]
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[constraints]
rod = "x^2 + y^2 = 1"
[start]
position = { x = 0.6, y = -0.8 }
[outputs]
height = "y + 1"
'''
KIB = 1024
passed = failed = 0


def expect(ok, what):
    global passed, failed
    if ok: passed += 1
    else: failed += 1; print(what)


class Folder:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def path(self, name): return os.path.join(self.folder, name)

    def command(self, *args): return [self.program, *args]

    def run(self, *args):
        p = subprocess.run(self.command(*args), cwd=self.folder, capture_output=True, text=True, timeout=limits.CLOCK, check=False)
        expect(p.returncode == 0, f'{" ".join(args)}: exit {p.returncode}: {p.stderr[:300]}')
        return p.stdout

    def killed(self, name, *args):
        """Killed when it has some rows; false where it was faster."""
        process = subprocess.Popen(self.command(*args, '-o', name), cwd=self.folder, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + limits.CLOCK
        while process.poll() is None and time.monotonic() < deadline:
            try:
                with h5py.File(self.path(name + '.part'), 'r') as f:
                    if f['rows_valid'][0] > 1000: break
            except OSError: pass
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.wait(limits.CLOCK)
        return process.returncode != 0


def numbers(path):
    """All datasets, with how each is stored."""
    data, stored = {}, {}
    def add(name, item):
        if isinstance(item, h5py.Dataset): data[name], stored[name] = item[...], (item.chunks, item.compression, item.compression_opts, item.shuffle)
    with h5py.File(path, 'r') as f: f.visititems(add)
    return data, stored


def same(a, b): return a.keys() == b.keys() and all(a[k].dtype == b[k].dtype and a[k].tobytes() == b[k].tobytes() for k in a)


def chunks(d, what):
    """By size alone: whole below 64 KiB, else chunks of 64 KiB to 1 MiB, shuffled and deflated; texts of any length apart."""
    def look(name, item):
        if not isinstance(item, h5py.Dataset): return
        size = item.size * item.dtype.itemsize
        if size < 64 * KIB: expect(item.chunks is None and item.compression is None, f'{what}: `{name}` of {size} bytes is in chunks {item.chunks}')
        else:
            chunk = int(numpy.prod(item.chunks or [0])) * item.dtype.itemsize
            expect(item.compression == 'gzip' and item.shuffle and 64 * KIB <= chunk <= 1024 * KIB, f'{what}: `{name}` of {size} bytes: {item.chunks}, {item.compression}')
    d.visititems(look)


def round_trip(s):
    for rows in (8191, 8192, 30000):
        run = ('run', 'p.toml', '--to', str((rows - 1) / 64), '--every', str(1 / 64), '--tolerance', '1e-6', '--quiet')
        s.run(*run, '-o', 'a.h5'), s.run(*run, '-o', 'a.csv')
        with open(s.path('a.csv'), encoding='utf-8', newline='') as f: table = list(csv.reader(f))
        names, values = table[0], numpy.array([[float(x) for x in r] for r in table[1:]])
        with h5py.File(s.path('a.h5'), 'r') as d:
            chunks(d, f'{rows} rows')
            expect((d['t'].chunks is None) == (rows == 8191), f'{rows} rows: chunks of t are {d["t"].chunks}')
            expect(d['t'].shape == (rows,) and d['q'].shape == (rows, 2) and d['residual'].shape == (rows,) and d['rows_valid'][0] == rows, f'{rows} rows: other shapes')
            seen = []
            for quantity in d.values():
                if not isinstance(quantity, h5py.Dataset) or 'columns' not in quantity.attrs: continue
                for k, name in enumerate(quantity.attrs['columns']):
                    seen.append(name)
                    column = quantity[...].reshape(rows, -1)[:, k]
                    expect(numpy.array_equal(column, values[:, names.index(name)], equal_nan=True), f'{rows} rows: `{name}` is not as in the CSV')
            expect(sorted(seen) == sorted(names), f'{rows} rows: columns {seen}')
        raw = values.size * 8
        size = os.path.getsize(s.path('a.h5'))
        if rows > 8192: expect(size < 0.75 * raw, f'{rows} rows: {size} bytes for {raw}')


def resumed(s):
    run = ('run', 'p.toml', '--to', '400', '--every', '0.01', '--quiet')
    s.run(*run, '-o', 'whole.h5')
    whole, stored = numbers(s.path('whole.h5'))
    if was_killed := s.killed('kill.h5', *run):
        with h5py.File(s.path('kill.h5.part'), 'r') as f:
            n = int(f['rows_valid'][0])
            expect(numpy.array_equal(f['q'][:n], whole['q'][:n]) and f['q'].chunks is None and f.attrs['complete'] == 0, 'part: other rows than in the whole')
        s.run('plot', 'kill.h5.part', '--show', 'x', '-o', 'part.svg')
        s.run('run', '--resume', 'kill.h5', '--quiet')
    expect(was_killed, 'the run was too fast to be killed')
    again, how = numbers(s.path('kill.h5'))
    expect(same(whole, again), 'killed and resumed: other numbers')
    expect(how == stored, 'killed and resumed: stored in another way')
    expect(os.path.getsize(s.path('kill.h5')) < 1.001 * os.path.getsize(s.path('whole.h5')) + 64, 'killed and resumed: another size')
    s.run(*run, '-o', 'whole.csv')
    for name in ('whole.h5', 'kill.h5', 'whole.csv'): s.run('plot', name, '--show', "x'", '--show', 'lambda(*)', '-o', name + '.svg')
    pictures = {open(s.path(name + '.svg'), 'rb').read() for name in ('whole.h5', 'kill.h5', 'whole.csv')}
    expect(len(pictures) == 1, 'plots of compressed, resumed and CSV results differ')


def memory_of(s, *args):
    """Most memory of a command, in KiB. It is started by a small process: a child's account begins with what its parent has."""
    starter = 'import os, subprocess, sys; p = subprocess.Popen(sys.argv[1:]); _, s, u = os.wait4(p.pid, 0); print(s, u.ru_maxrss)'
    p = subprocess.run([sys.executable, '-S', '-c', starter, *s.command(*args)], cwd=s.folder, capture_output=True, text=True, timeout=limits.CLOCK, check=True)
    status, memory = map(int, p.stdout.split())
    expect(status == 0, f'{" ".join(args)}: status {status}: {p.stderr[:300]}')
    return memory


def large(s):
    """More numbers than memory is allowed for."""
    run = ['run', 'chain.toml', '--to', '0.5', '--tolerance', '1e-4', '--quiet', '-o', 'chain.h5', '--every']
    few, memory = memory_of(s, *run, '0.5'), memory_of(s, *run, '0.002')
    size = os.path.getsize(s.path('chain.h5'))
    with h5py.File(s.path('chain.h5'), 'r') as d:
        raw = sum(x.size * 8 for x in d.values() if isinstance(x, h5py.Dataset))
        chunks(d, 'chain')
        rows, columns = d['q'].chunks
        expect(rows > 1 and 1 < columns < 4000, f'chain: chunks {d["q"].chunks}')
        expect(raw > 55e6 and size < 0.7 * raw, f'chain: {size} bytes for {raw}')
        length = numpy.hypot(numpy.diff(d['q'][100, :2000]), numpy.diff(d['q'][100, 2000:]))
        expect(abs(length - 1).max() < 1e-6, f'chain: rods of length {length.max()}')
    expect(memory - few < 16 * KIB, f'chain: {memory - few} KiB of memory for {raw // KIB} KiB of rows, {few} without them')
    plotting = memory_of(s, 'plot', 'chain.h5', '--show', 'x[1],x[2000],lambda(rod[700])', '-o', 'chain.svg')
    expect(plotting < 30 * KIB, f'plot: {plotting} KiB of memory')
    print(f'(chain of 2000, {raw / 1e6:.0f} MB of rows: file {size / 1e6:.0f} MB, memory {memory / 1e3:.0f} MB; plot {plotting / 1e3:.0f} MB)')


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument('--program', required=True)
    program = os.path.abspath(arguments.parse_args().program)
    with tempfile.TemporaryDirectory() as folder:
        s = Folder(program, folder)
        for name, text in (('p.toml', PENDULUM), ('chain.toml', CHAIN)):
            with open(s.path(name), 'w', encoding='utf-8') as f: f.write(text)
        for part in (round_trip, resumed, large): part(s)
    print(f'{passed} passed, {failed} failed')
    return 1 if failed or not passed else 0


if __name__ == '__main__': sys.exit(main())
