"""bench/run --exports: models as C beside CasADi's C and Pinocchio, and as FMUs. One acceleration of robots, in states that all contestants share (peers/export_robots.py);
sizes and times of units in FMPy."""
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import time

import python_workloads

ROBOTS = {'arm7': 'arm of 7 axes, free', 'arm7_held': 'the same, its tip held', 'panda': 'Panda with its fingers', 'talos': 'Talos, floating'}
CONTESTANTS = ['mechanician', 'CasADi', 'Pinocchio']
PACKAGES = {'numpy': 'numpy', 'casadi': 'casadi', 'pin': 'pinocchio', 'example-robot-data': None, 'fmpy': 'fmpy'}
FLAGS = ['-std=c99', '-O2', '-march=x86-64-v3']
UNITS = ['pendulum', 'bouncing_ball', 'double_pendulum', 'four_bar', 'newtons_cradle', 'tracking_arm', 'cassie_leg', 'arm7', 'delta_robot']
MOST_ERROR = 1e-9


def set_up(root, python, work, arguments, say):
    """The environment, Pinocchio's program and ours."""
    if arguments.setup:
        if not python.exists():
            subprocess.run(['/usr/bin/python3', '-m', 'venv', python.parent.parent], check=False)
        for package, module in PACKAGES.items():
            test = f'import {module}' if module else f'import importlib.metadata as m; m.version("{package}")'
            if subprocess.run([python, '-c', test], capture_output=True, check=False).returncode:
                say(f'bench: installing {package} from PyPI')
                if subprocess.run([python, '-m', 'pip', 'install', '--quiet', package], check=False).returncode:
                    say(f'bench: no {package} from PyPI; going on without')
    prefix = next((work / 'venv').glob('lib/python*/site-packages/cmeel.prefix'), '')
    with open(work / 'build.log', 'w', encoding='utf-8') as f:
        subprocess.run(['cmake', '-G', 'Ninja', '-S', root / 'bench' / 'peers', '-B', work, f'-DPINOCCHIO_PREFIX={prefix}'], stdout=f, stderr=f, check=False)
        subprocess.run(['ninja', '-C', work, 'export_pinocchio'], stdout=f, stderr=f, check=False)
    return python_workloads.build_module(root, arguments, 'mechanician_program')


def compiled(command, say):
    """Seconds that it took; None: it does not compile."""
    begin = time.perf_counter()
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    if done.returncode:
        say(f'bench: {done.stderr[-300:]}')
        return None
    return time.perf_counter() - begin


def model_of(root, robot, folder):
    """The file that is exported."""
    if robot == 'arm7_held':
        shutil.copy(root / 'models' / 'arm7.toml', folder / 'arm7_held.toml')
    elif robot == 'arm7':
        text = (root / 'models' / 'arm7.toml').read_text(encoding='utf-8')
        (folder / 'arm7.toml').write_text(re.sub(r'\[constraints\]\n(\w+ = .*\n)+', '', text), encoding='utf-8')
    elif robot == 'talos':
        return folder / 'talos.toml'
    else:
        return folder / f'{robot}.urdf'
    return folder / f'{robot}.toml'


def put_states(file, names, states):
    """In the order of our coordinates; those of a base that moves freely are told by how they end."""
    def find(name, state):
        return state[name] if name in state else state['base.' + name.rsplit('.', 1)[-1]]
    rows = [[find(n, s)[k] for k in range(3) for n in names] for s in states]
    file.write_text(f'{len(rows)} {len(names)} {len(names)}\n' + '\n'.join(' '.join(map(repr, r)) for r in rows) + '\n', encoding='utf-8')


def prepare(root, python, work, build, robot, facts, folder, say):
    """What is timed, by contestant: a command and what is known of it before."""
    found, driver = {}, root / 'bench' / 'peers' / 'export_time.c'
    program, model = build / 'mechanician', model_of(root, robot, folder)
    if robot == 'talos':
        subprocess.run([program, 'import', folder / 'talos.urdf', '--base', 'floating', '-o', model], capture_output=True, check=True)
    begin = time.perf_counter()
    subprocess.run([program, 'export', 'c', model, '-o', folder / 'c'], capture_output=True, check=True)
    made = time.perf_counter() - begin
    source = folder / 'c' / f'{robot}.c'
    # The size is that of the whole interface; what an acceleration needs of it is measured by the linker.
    seconds = compiled(['gcc', *FLAGS, '-ffp-contract=off', '-ffunction-sections', '-Wl,--gc-sections', f'-DNAME={robot}', '-include', source.with_suffix('.h'), driver, source, '-lm', '-o', folder / 'ours'], say)
    if seconds is not None:
        names = subprocess.run([folder / 'ours', 'names'], capture_output=True, text=True, check=True).stdout.split('\n')[:-1]
        put_states(folder / 'ours.states', names, facts['states'])
        found['mechanician'] = {'command': [folder / 'ours', folder / 'ours.states'], 'bytes': source.stat().st_size, 'made_s': made, 'compiled_s': seconds}
    theirs = folder / f'{robot}_casadi.c'
    seconds = compiled(['gcc', *FLAGS, f'-DCASADI="{theirs}"', driver, '-lm', '-o', folder / 'casadi'], say)
    if seconds is not None:
        found['CasADi'] = {'command': [folder / 'casadi', folder / f'{robot}.states'], 'bytes': theirs.stat().st_size, 'made_s': None, 'compiled_s': seconds, 'operations': facts['operations']}
    if (work / 'export_pinocchio').exists():
        found['Pinocchio'] = {'command': [work / 'export_pinocchio', folder / f'{robot}.joints', folder / f'{robot}.states', *([folder / 'arm7_held.held'] if robot == 'arm7_held' else [])],
                              'bytes': None, 'made_s': None, 'compiled_s': None}
    measured = subprocess.run([program, 'bench', model, '--json'], capture_output=True, text=True, check=False)
    if measured.returncode == 0 and 'mechanician' in found:
        found['mechanician']['operations'] = json.loads(measured.stdout).get('operations')
    return found


def measure(root, python, work, build, rounds, execute, say):
    folder = work / 'exports'
    folder.mkdir(parents=True, exist_ok=True)
    answer = execute([python, root / 'bench' / 'peers' / 'export_robots.py', folder, *ROBOTS], pinned=False)
    robots = []
    for robot, facts in (json.loads(answer) if answer else {}).items():
        own = folder / robot
        own.mkdir(exist_ok=True)
        for file in folder.glob(f'{robot}[._]*'):
            if file.is_file() and not (robot == 'arm7' and file.name.startswith('arm7_held')):
                shutil.copy(file, own / file.name)
        contestants = prepare(root, python, work, build, robot, facts, own, say)
        for k in range(rounds):
            for c in contestants.values():
                out = execute(c['command'])
                for line in (out or '').splitlines():
                    got = json.loads(line)
                    variant = c.setdefault('variants', {}).setdefault(got.get('variant', ''), {'ns': [], 'error': 0.0})
                    variant['ns'].append(got['ns'])
                    variant['error'] = max(variant['error'], got['error'])
            say(f'bench: {robot}: round {k + 1} of {rounds}')
        rows = []
        for name in CONTESTANTS:
            c = contestants.get(name)
            exact = {v: x for v, x in (c or {}).get('variants', {}).items() if x['error'] <= MOST_ERROR}
            if not exact:
                rows.append({'who': name, 'ns': None})
                continue
            best = min(exact, key=lambda v: statistics.median(exact[v]['ns']))
            rows.append({'who': name, 'variant': best, 'ns': statistics.median(exact[best]['ns']), 'error': exact[best]['error'], **{k: c.get(k) for k in ('bytes', 'made_s', 'compiled_s', 'operations')}})
        robots.append({'robot': robot, 'title': ROBOTS[robot], 'freedoms': facts['freedoms'], 'rows': rows})
    return {'robots': robots, 'units': measure_units(root, python, build, folder, execute, say), 'steps': measure_steps(root, python, build, folder, execute, say)}


UNIT = r"""
import json, sys, time
import fmpy
fmu, kind, start, stop, names = sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4]), json.loads(sys.argv[5])
description, folder = fmpy.read_model_description(fmu), fmpy.extract(fmu)
best = None
for _ in range(3):
    begin = time.perf_counter()
    result = fmpy.simulate_fmu(folder, model_description=description, fmi_type=kind, start_time=start, stop_time=stop, output_interval=(stop - start)/100, relative_tolerance=1e-8, output=names)
    best = min(best or 1e9, time.perf_counter() - begin)
print(json.dumps({'s': best, 'end': [float(result[n][-1]) for n in names]}))
"""


# Time and steps of a motion to 1e-10, as its own program does it once code is there.
STEPS = r"""
import json, sys
import mechanician
model = mechanician.load(sys.argv[1])
runs = [model.run(tolerance=1e-10, every=1e9).summary for _ in range(3)]
runs += [model.run(tolerance=1e-10, every=1e9).summary for _ in range(min(200, int(0.3/runs[-1]['wall_time'])))]
print(json.dumps({'s': min(r['wall_time'] for r in runs), 'steps': runs[0]['steps'], 'evaluations': runs[0]['evaluations']}))
"""
STEPS_OF_C = r"""
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "NAME.h"
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return (double)t.tv_sec + 1e-9*(double)t.tv_nsec; }
int main(int argc, char **argv)
{
  static double p[NAME_PARAMETERS + 1];
  static NAME_motion m;
  double best = 1e300, whole = now(), to = argc > 1 ? atof(argv[1]) : 1;
  int status = 0, k;
  NAME_parameters(p);
  for (k = 0; k < 3 || now() - whole < 0.3; ++k) {
    const double begin = now();
    NAME_begin(&m, p, 1e-10);
    for (status = m.status; !status && m.t < to && !m.stopped; ) status = NAME_step(&m, p, to);
    if (now() - begin < best) best = now() - begin;
  }
  printf("{\"s\": %.9g, \"steps\": %ld, \"status\": %d}", best, m.steps, status);
  return 0;
}
"""


def measure_steps(root, python, build, folder, execute, say, models=None):
    """A step of every model of the gallery that can be exported, ours and that of the C."""
    rows = []
    for model in sorted((root / 'models').glob('*.toml')):
        name = model.stem
        if (models and name not in models) or subprocess.run([build / 'mechanician', 'export', 'c', model, '-o', folder], capture_output=True, check=False).returncode:
            continue
        ours = execute([python, '-c', STEPS, model], environment={'PYTHONPATH': str(build / 'python')})
        end = execute([build / 'mechanician', 'run', model, '--json', '--quiet', '--every', '1e9'])
        (folder / 'steps.c').write_text(STEPS_OF_C.replace('NAME', name), encoding='utf-8')
        if not ours or not end or compiled(['gcc', *FLAGS, '-ffp-contract=off', f'-I{folder}', folder / 'steps.c', folder / f'{name}.c', '-lm', '-o', folder / 'steps'], say) is None:
            continue
        rows.append({'model': name, 'bytes': (folder / f'{name}.c').stat().st_size, 'run': json.loads(ours), 'c': json.loads(execute([folder / 'steps', repr(json.loads(end)['rows'][-1][0])]) or 'null')})
        say(f'bench: steps of {name}')
    return rows


def steps_table(rows, digits):
    out = ['### Steps of exported C', '', '| model | C, KB | a step of `run`, µs | of C, µs | C/`run` | whole motion, C/`run` |', '|---|--:|--:|--:|--:|--:|']
    for r in rows:
        if r['c'] and not r['c']['status']:
            mine, theirs = (r[k]['s'] / max(1, r[k]['steps']) for k in ('run', 'c'))
            out.append(f'| `{r["model"]}` | {kilobytes(r["bytes"])} | {digits(1e6 * mine)} | {digits(1e6 * theirs)} | {digits(theirs / mine)} | {digits(r["c"]["s"] / r["run"]["s"])} |')
        else:
            out.append(f'| `{r["model"]}` | {kilobytes(r["bytes"])} | {digits(1e6 * r["run"]["s"] / max(1, r["run"]["steps"]))} | did not end | – | – |')
    return '\n'.join(out) + '\n'


def measure_units(root, python, build, folder, execute, say):
    """Sizes, and simulations by FMPy against `run`; all to a tolerance of 1e-8, a hundred rows."""
    program, rows = build / 'mechanician', []
    for name in UNITS:
        model, fmu = root / 'models' / f'{name}.toml', folder / f'{name}.fmu'
        begin = time.perf_counter()
        made = subprocess.run([program, 'export', 'fmu', model, '-o', fmu, '--fmi', '2.0'], capture_output=True, text=True, check=False)
        exported = time.perf_counter() - begin
        if made.returncode:
            say(f'bench: {name}: {made.stderr[-200:]}')
            continue
        subprocess.run([program, 'export', 'c', model, '-o', folder], capture_output=True, check=True)
        ran = execute([program, 'run', model, '--json', '--quiet', '--tolerance', '1e-12', '--every', '1e9'])
        result = json.loads(ran)
        first, last = (dict(zip(result['columns'], row)) for row in (result['rows'][0], result['rows'][-1]))
        names = [c for c in result['columns'][1:] if re.fullmatch(r"[\w.\[\]]+'?", c) and last[c] is not None]
        names = [c for c in names if f"{c.removesuffix(chr(39))}''" in last]
        times = []
        for _ in range(3):
            begin = time.perf_counter()
            execute([program, 'run', model, '--quiet', '--tolerance', '1e-8', '--every', repr((last['t'] - first['t']) / 100), '-o', folder / 'rows.csv'])
            times.append(time.perf_counter() - begin)
        row = {'model': name, 'coordinates': sum(1 for c in result['columns'] if c.endswith("''")), 'c_bytes': (folder / f'{name}.c').stat().st_size, 'fmu_bytes': fmu.stat().st_size,
               'exported_s': exported, 'run_s': min(times)}
        size = max(abs(last[c]) for c in names) or 1.0
        for kind, key in (('CoSimulation', 'cs'), ('ModelExchange', 'me')):
            out = execute([python, '-c', UNIT, fmu, kind, first['t'], last['t'], json.dumps(names)])
            got = json.loads(out) if out else {'s': None, 'end': []}
            row[f'{key}_s'] = got['s']
            row[f'{key}_error'] = max((abs(a - last[c]) / size for a, c in zip(got['end'], names)), default=None)
        rows.append(row)
        say(f'bench: unit of {name}')
    return rows


def kilobytes(n):
    return '' if n is None else f'{n / 1000:.0f}'


def table(result, digits):
    return '\n'.join((robots_table(result['robots'], digits), units_table(result['units'], digits), steps_table(result['steps'], digits)))


def robots_table(robots, digits):
    out = ['### Robots as C', '', '| robot | freedoms | | C, KB | operations | one acceleration, ns | × mechanician | differs from Pinocchio by |', '|---|--:|---|--:|--:|--:|--:|--:|']
    for r in robots:
        ours = next((x['ns'] for x in r['rows'] if x['who'] == 'mechanician'), None)
        for k, x in enumerate(r['rows']):
            head = f'| {r["title"]} | {r["freedoms"]} ' if k == 0 else '| | '
            who = x['who'] + (f' ({x["variant"]})' if x.get('variant') else '')
            if x['ns'] is None:
                out.append(f'{head}| {who} | not there | | | | |')
                continue
            out.append(f'{head}| {who} | {kilobytes(x["bytes"])} | {x.get("operations") or ""} | {digits(x["ns"])} | {digits(x["ns"] / ours) if ours else ""} | {x["error"]:.0e} |')
    return '\n'.join(out) + '\n'


def units_table(units, digits):
    out = ['### Models as FMUs', '', '| model | coordinates | C, KB | FMU, KB | exported in s | `run`, whole process, ms | Co-Simulation in FMPy, ms | its error | Model Exchange in FMPy, ms | its error |',
            '|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|']

    def of(x, form):
        return '–' if x is None else form(x)
    for u in units:
        out.append(f'| `{u["model"]}` | {u["coordinates"]} | {kilobytes(u["c_bytes"])} | {kilobytes(u["fmu_bytes"])} | {digits(u["exported_s"])} | {digits(1e3 * u["run_s"])} | '
                   + ' | '.join(f'{of(u[k + "_s"], lambda s: digits(1e3 * s))} | {of(u[k + "_error"], lambda e: format(e, ".0e"))}' for k in ('cs', 'me')) + ' |')
    return '\n'.join(out) + '\n'
