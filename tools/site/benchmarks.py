#!/usr/bin/env python3
"""Keeps the tables of docs/benchmarks.md and docs/performance.md those of the newest results in bench/results.

    tools/site/benchmarks.py            says what differs; exit status 1 if something does
    tools/site/benchmarks.py --write    writes the table of docs/benchmarks.md

bench/run --save writes docs/performance.md itself, and calls this."""
import glob, json, os, sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BEGIN, END = '<!-- written by tools/site/benchmarks.py -->\n', '<!-- to here -->\n'
BEGIN_LARGE = '<!-- large systems, written by tools/site/benchmarks.py -->\n'


def digits(x):
    return f'{x:.1e}' if abs(x) < 1e-2 else f'{x:.0f}' if x >= 99.5 else f'{x:.1f}' if x >= 9.95 else f'{x:.2f}'


def time_of(ns):
    unit, size = next((u, s) for u, s in (('s', 1e9), ('ms', 1e6), ('µs', 1e3), ('ns', 1)) if ns >= s or s == 1)
    return f'{digits(ns / size)} {unit}'


def table(results, large):
    """What was wanted and what was reached, one line each. A large workload has many sizes, and no time of its own."""
    lines = [f'Measured {results["date"]} on {results["cpu"]}, {results["cores"]} cores, one of them used.', '']
    lines += ['| | workload | wanted | reached | |', '|---|---|---|--:|---|'] if large else [
        '| | workload | ours | wanted | reached | |', '|---|---|--:|---|--:|---|']
    met = wanted = 0
    for workload in results['workloads']:
        ours = next((r for r in workload['rows'] if r['who'] == 'mechanician'), workload['rows'][0])
        for k, goal in enumerate(workload['goals']):
            first = [workload['name'], workload['title']] + ([] if large else [time_of(ours['ns'])])
            first = first if k == 0 else [''] * len(first)
            lines.append('| ' + ' | '.join((*first, goal['goal'], digits(goal['reached']), 'met' if goal['met'] else '**missed**')) + ' |')
            wanted, met = wanted + 1, met + goal['met']
        for who in workload['missing']: lines.append(f'| | | {"" if large else "| "}{who} | was not there | |')
    lines += ['', f'{met} of {wanted} goals are met.', '']
    for workload in results['workloads']: lines += levels(workload)
    return '\n'.join(lines)


def levels(workload):
    """Times by the error that may be made."""
    if not workload.get('levels'): return []
    names = [row['who'] for row in workload['rows']]
    lines = [f'{workload["name"]} by the error that may be made; × is the time over ours:', '',
             f'| error at most | {" | ".join(names)} |', '|--:|' + '--:|' * len(names)]
    for level in workload['levels']:
        found = {x['who']: x for x in level['settings']}
        cell = lambda x: time_of(x['ns']) + (f', {digits(x["ratio"])} ×' if x['who'] != 'mechanician' and x['ratio'] else '')
        lines.append(f'| {level["error"]:g} | {" | ".join(cell(found[n]) if n in found else "–" for n in names)} |')
    return [*lines, '']


def newest(large):
    files = [p for p in glob.glob(os.path.join(ROOT, 'bench/results/*.json')) if p.endswith('-large.json') == large]
    return max(files, key=lambda p: (os.path.basename(p)[:10], p), default=None)


def main():
    path = os.path.join(ROOT, 'docs/benchmarks.md')
    with open(path, encoding='utf-8') as f: page = now = f.read()
    with open(os.path.join(ROOT, 'docs/performance.md'), encoding='utf-8') as f: performance = f.read()
    misses, checks = [], 0
    for large, begin in ((False, BEGIN), (True, BEGIN_LARGE)):
        file = newest(large)
        if file is None and large: continue
        if file is None: print('there are no results in bench/results'); return 1
        with open(file, encoding='utf-8') as f: results = json.load(f)
        with open(file[:-len('json')] + 'md', encoding='utf-8') as f: full = f.read()
        head, _, rest = now.partition(begin)
        now = head + begin + table(results, large) + END + rest.partition(END)[2]
        name = os.path.relpath(file, ROOT)
        if full.strip() not in performance:
            misses.append(f'docs/performance.md does not have the table of {name[:-len("json")]}md: bench/run{" --large" if large else ""} --save writes it')
        for workload in results['workloads']:
            if f'### {workload["name"]}: {workload["title"]}' not in full: misses.append(f'{name[:-len("json")]}md has no {workload["name"]}')
            missed = sum(not goal['met'] for goal in workload['goals'])
            section = full.partition(f'### {workload["name"]}: ')[2].partition('\n### ')[0]
            if section.count('- MISSED:') != missed or section.count('- met:') != len(workload['goals']) - missed:
                misses.append(f'{workload["name"]}: the goals of the JSON and of the table differ')
        checks += 1 + 2 * len(results['workloads'])
    if '--write' in sys.argv[1:]:
        with open(path, 'w', encoding='utf-8') as f: f.write(now)
        return 0
    if page != now: misses.append('docs/benchmarks.md does not have the numbers of bench/results: tools/site/benchmarks.py --write')
    for miss in misses: print(miss)
    print(f'{1 + checks - len(misses)} passed, {len(misses)} failed')
    return 1 if misses else 0


if __name__ == '__main__': sys.exit(main())
