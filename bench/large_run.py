#!/usr/bin/env python3
"""One whole run of a large model, as a contestant of bench/run --large: from the model file to the end of the motion.

usage: bench/large_run.py PROGRAM VARIANT MODEL NAME=VALUE... N

Prints one line of peers/contest.hpp. The error is what is missing in the balance of energy and work, over the work of the given
forces; a run that does not end well or whose certificate does not hold has none."""
import json, os, re, subprocess, sys, tempfile, time


def main():
    program, variant, model, *sets, size = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        command = [program, 'run', model, '--set', ','.join([f'N={size}', *sets]), '--columns', 't', '-o', os.path.join(folder, 'run.csv')]
        begin = time.perf_counter()
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        ns = 1e9 * (time.perf_counter() - begin)
    number = r'(-?[0-9.]+(?:e[-+]?[0-9]+)?)'
    given = re.search('work of given forces ' + number, done.stdout)
    missing = re.search('balance of energy and work: ' + number, done.stdout)
    if done.returncode or 'the run passes its checks' not in done.stdout or not given or not missing:
        print(json.dumps({'skipped': 'does not end well: ' + ' '.join(done.stdout.split())[-300:]}))
        return
    print(json.dumps({'variant': variant, 'ns': ns, 'error': abs(float(missing[1])) / max(abs(float(given[1])), 1e-300)}))


if __name__ == '__main__':
    main()
