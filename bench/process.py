#!/usr/bin/env python3
"""Wall time of whole processes: `mechanician accelerate MODEL` beside starting an interpreter that would only begin to work.

usage: bench/process.py [--program PATH] MODEL...

Interleaved runs, medians and ratios. Peers: `python3 -c pass`, and importing SymPy where it is installed."""
import argparse, importlib.util, statistics, subprocess, sys, time


def wall(command):
    begin = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return 1e3 * (time.perf_counter() - begin)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument('--program', default='build/release/mechanician')
    arguments.add_argument('--rounds', type=int, default=31)
    arguments.add_argument('models', nargs='+')
    o = arguments.parse_args()
    commands = {f'accelerate {m}': [o.program, 'accelerate', m] for m in o.models}
    commands['python3 -c pass'] = [sys.executable, '-c', 'pass']
    if importlib.util.find_spec('sympy'):
        commands['python3 -c "import sympy"'] = [sys.executable, '-c', 'import sympy']
    times = {name: [] for name in commands}
    for _ in range(o.rounds):
        for name, command in commands.items():
            times[name].append(wall(command))
    base = statistics.median(times[next(iter(times))])
    for name, t in times.items():
        m = statistics.median(t)
        print(f'{name:<60}{m:8.1f} ms {m / base:8.1f} ×   (largest {max(t):.1f} ms)')


if __name__ == '__main__':
    main()
