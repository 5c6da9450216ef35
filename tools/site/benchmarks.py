#!/usr/bin/env python3
"""Keeps the tables of docs/benchmarks.md and docs/performance.md those of the newest results in bench/results.

    tools/site/benchmarks.py            says what differs; exit status 1 if something does
    tools/site/benchmarks.py --write    writes the table of docs/benchmarks.md

bench/run --save writes docs/performance.md itself, and calls this."""
import glob, json, os, sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BEGIN, END = '<!-- written by tools/site/benchmarks.py -->\n', '<!-- to here -->\n'


def digits(x):
    return f'{x:.1e}' if abs(x) < 1e-2 else f'{x:.0f}' if x >= 99.5 else f'{x:.1f}' if x >= 9.95 else f'{x:.2f}'


def time_of(ns):
    unit, size = next((u, s) for u, s in (('s', 1e9), ('ms', 1e6), ('µs', 1e3), ('ns', 1)) if ns >= s or s == 1)
    return f'{digits(ns / size)} {unit}'


def table(results):
    """What was wanted and what was reached, one line each."""
    lines = [f'Measured {results["date"]} on {results["cpu"]}, {results["cores"]} cores, one of them used.', '',
             '| | workload | ours | wanted | reached | |', '|---|---|--:|---|--:|---|']
    met = wanted = 0
    for workload in results['workloads']:
        ours = next((r for r in workload['rows'] if r['who'] == 'mechanician'), workload['rows'][0])
        for k, goal in enumerate(workload['goals']):
            first = (workload['name'], workload['title'], time_of(ours['ns'])) if k == 0 else ('', '', '')
            lines.append('| ' + ' | '.join((*first, goal['goal'], digits(goal['reached']), 'met' if goal['met'] else '**missed**')) + ' |')
            wanted, met = wanted + 1, met + goal['met']
        for who in workload['missing']: lines.append(f'| | | | {who} | was not there | |')
    return '\n'.join([*lines, '', f'{met} of {wanted} goals are met.', ''])


def main():
    newest = max(glob.glob(os.path.join(ROOT, 'bench/results/*.json')), key=lambda p: (os.path.basename(p)[:10], p), default=None)
    if newest is None: print('there are no results in bench/results'); return 1
    with open(newest, encoding='utf-8') as f: results = json.load(f)
    with open(newest[:-len('json')] + 'md', encoding='utf-8') as f: full = f.read()
    path = os.path.join(ROOT, 'docs/benchmarks.md')
    with open(path, encoding='utf-8') as f: page = f.read()
    with open(os.path.join(ROOT, 'docs/performance.md'), encoding='utf-8') as f: performance = f.read()
    head, _, rest = page.partition(BEGIN)
    now = head + BEGIN + table(results) + END + rest.partition(END)[2]
    if '--write' in sys.argv[1:]:
        with open(path, 'w', encoding='utf-8') as f: f.write(now)
        return 0
    name, misses = os.path.relpath(newest, ROOT), []
    if page != now: misses.append(f'docs/benchmarks.md does not have the numbers of {name}: tools/site/benchmarks.py --write')
    if full.strip() not in performance: misses.append(f'docs/performance.md does not have the table of {name[:-len("json")]}md: bench/run --save writes it')
    for workload in results['workloads']:
        if f'### {workload["name"]}: {workload["title"]}' not in full: misses.append(f'{name[:-len("json")]}md has no {workload["name"]}')
        missed = sum(not goal['met'] for goal in workload['goals'])
        section = full.partition(f'### {workload["name"]}: ')[2].partition('\n### ')[0]
        if section.count('- MISSED:') != missed or section.count('- met:') != len(workload['goals']) - missed:
            misses.append(f'{workload["name"]}: the goals of the JSON and of the table differ')
    for miss in misses: print(miss)
    print(f'{2 + 2 * len(results["workloads"]) - len(misses)} passed, {len(misses)} failed')
    return 1 if misses else 0


if __name__ == '__main__': sys.exit(main())
