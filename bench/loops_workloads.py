"""bench/run --loops: machines with closed loops (loops_machines.py) for a minute, ours beside MuJoCo and Drake from PyPI (peers/loops.py): how far the loops
open, by how much energy is off, and what time of a processor it takes: ours with reading, compiling and writing, theirs for the motion alone."""
import json
import math
import pathlib
import resource
import shutil
import subprocess
import sys

import loops_machines
import python_workloads

PACKAGES = {'numpy': 'numpy', 'mujoco': 'mujoco', 'drake': 'pydrake'}
SECONDS, EVERY = 60.0, 0.05
OURS = ['1e-8', '1e-10', '1e-12']            # tolerances
PEERS = {'mujoco': ('MuJoCo', ['as it comes', 'Runge-Kutta, 1 ms, stiff', 'Runge-Kutta, 0.1 ms, stiff']), 'drake': ('Drake', ['SAP, 1 ms', 'SAP, 0.25 ms'])}
CLOSED, BALANCED = 1e-12, 1e-9


def set_up(root, python, arguments, say):
    if arguments.setup:
        python_workloads.install(python, PACKAGES, say)
    if arguments.build:
        return pathlib.Path(arguments.build).resolve()
    if subprocess.run([root / 'tools' / 'build', 'release', 'mechanician_program'], check=False).returncode:
        sys.exit('bench: mechanician does not build')
    return root / 'build' / 'release'


def turned(q, v):
    """v, along the axes of a body that is turned by q, in the world."""
    w, x, y, z = q
    a, b, c = v
    tx, ty, tz = 2 * (y * c - z * b), 2 * (z * a - x * c), 2 * (x * b - y * a)
    return [a + w * tx + y * tz - z * ty, b + w * ty + z * tx - x * tz, c + w * tz + x * ty - y * tx]


def opening(machine, poses, own):
    """As in peers/loops.py, from our outputs; `own`: the points of all loops along the axes of their bodies."""
    worst = 0.0
    for loop, points in zip(machine['loops'], own):
        ends = []
        for name, point in zip(loop['bodies'], points):
            pose = poses.get(name, [0, 0, 0, 1, 0, 0, 0])
            ends.append([a + b for a, b in zip(pose[:3], turned(pose[3:], point))])
        apart = math.dist(*ends)
        worst = max(worst, apart if loop['kind'] == 'point' else abs(apart - loop['length']))
    return worst


def own_points(machine, poses):
    found = []
    for loop in machine['loops']:
        points = []
        for k, name in enumerate(loop['bodies']):
            if loop['at'][k] is None:
                points.append(loop['own'][k])
                continue
            pose = poses.get(name, [0, 0, 0, 1, 0, 0, 0])
            w, x, y, z = pose[3:]
            points.append(turned([w, -x, -y, -z], [a - b for a, b in zip(loop['at'][k], pose[:3])]))
        found.append(points)
    return found


def ours(machine, program, folder, tolerance, execute):
    """Our motion, with what the peers need of its start."""
    model, result = folder / f'{machine["key"]}.toml', folder / f'{machine["key"]}.json'
    model.write_text(loops_machines.model_text(machine), encoding='utf-8')
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    if execute([program, 'run', model, '--to', SECONDS, '--every', EVERY, '--tolerance', tolerance, '-o', result, '--quiet'], timeout=600) is None:
        return None, None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    data = json.loads(result.read_text(encoding='utf-8'))
    rows = [dict(zip(data['columns'], row)) for row in data['rows']]
    names = [b['name'] for b in machine['bodies']]

    def poses(row):
        return {n: [row[f'at_{k}_{c}'] for c in loops_machines.POSE] for k, n in enumerate(names)}
    first = poses(rows[0])
    own = own_points(machine, first)
    start = {**machine, 'to': SECONDS, 'every': EVERY, 'bodies': [
        {**b, 'pose': first[b['name']], 'rate': [rows[0][f'rate_{k}_{c}'] for c in ('x', 'y', 'z', *loops_machines.SPIN)]} for k, b in enumerate(machine['bodies'])]}
    del start['text']
    energies, summary = [row['energy_of_all'] for row in rows], data['summary']
    later = min(rows, key=lambda row: abs(row['t'] - 1))
    return {'who': 'mechanician', 'setting': f'tolerance {tolerance}', 'opening_at_start': opening(machine, first, own), 'opening': max(opening(machine, poses(r), own) for r in rows),
            'energy': energies[0], 'energy_off': max(abs(e - energies[0]) for e in energies), 'balance': summary['balance_largest'], 'cpu_s': after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            'after_1_s': {n: p[:3] for n, p in poses(later).items()}, 'until': rows[-1]['t'], 'trusted': summary['trusted'],
            'swing': max(kinetic_of(machine, row) for row in rows)}, start


def kinetic_of(machine, row):
    """Of all bodies, from their velocities and spins: the energy that is in play."""
    total = 0.0
    for k, b in enumerate(machine['bodies']):
        q = [row[f'at_{k}_{c}'] for c in loops_machines.POSE[3:]]
        w = [row[f'rate_{k}_{c}'] for c in loops_machines.SPIN]
        arm = turned(q, b['centre'])
        u = [row[f'rate_{k}_{c}'] + s for c, s in zip('xyz', (w[1] * arm[2] - w[2] * arm[1], w[2] * arm[0] - w[0] * arm[2], w[0] * arm[1] - w[1] * arm[0]))]
        own = turned([q[0], -q[1], -q[2], -q[3]], w)
        total += b['mass'] * sum(x * x for x in u) / 2 + sum(i * x * x for i, x in zip(b['inertia'], own)) / 2
    return total


def measure(root, python, build, execute, say):
    folder = root / 'build' / 'bench' / 'loops'
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copytree(root / 'models' / 'parts', folder / 'parts', dirs_exist_ok=True)
    results = []
    for key, make in loops_machines.MACHINES.items():
        machine = {**make(root), 'key': key}
        rows, start = [], None
        for tolerance in OURS:
            row, start = ours(machine, build / 'mechanician', folder, tolerance, execute)
            if row is None:
                sys.exit(f'bench: {machine["name"]} does not run')
            rows.append(row)
        best = rows[-1]
        (folder / f'{key}_start.json').write_text(json.dumps(start), encoding='utf-8')
        missing = []
        for who, (title, settings) in PEERS.items():
            for setting in settings:
                say(f'bench: {machine["name"]}: {title}, {setting}')
                out = execute([python, root / 'bench' / 'peers' / 'loops.py', who, folder / f'{key}_start.json', setting], timeout=1200)
                if out is None:
                    missing.append(f'{title}, {setting}')
                else:
                    rows.append({'who': title, **json.loads(out)})
        places = best['after_1_s']
        for row in rows:
            later = row.pop('after_1_s')
            row['differs'] = max(math.dist(later[n], at) for n, at in places.items()) if later else None
        results.append({'name': machine['name'], 'key': key, 'swing': best['swing'], 'rows': rows, 'missing': missing,
                        'goals': [{'goal': f'loops closed to {CLOSED:g} m', 'reached': max(r['opening'] for r in rows if r['who'] == 'mechanician'), 'most': CLOSED},
                                  {'goal': f'energy kept to {BALANCED:g} J', 'reached': min(r['energy_off'] for r in rows if r['who'] == 'mechanician'), 'most': BALANCED}]})
    return results


def table(results):
    """Markdown."""
    out = []
    for result in results:
        out += [f'**{result["name"]}**, kinetic energy up to {result["swing"]:.3g} J', '',
                '| | setting | loops open by, m | energy off by, J | after 1 s elsewhere by, m | processor |', '|:--|:--|--:|--:|--:|--:|']
        for r in result['rows']:
            end = '' if r['until'] > SECONDS - EVERY else f' **until {r["until"]:.3g} s**'
            differs = '' if r['differs'] is None or r is result['rows'][len(OURS) - 1] else f'{r["differs"]:.1e}'
            out.append(f'| {r["who"]} | {r["setting"]}{end} | {r["opening"]:.1e} | {r["energy_off"]:.1e} | {differs} | {r["cpu_s"]:.2f} s |')
        out += [f'| {name} | not there | | | | |' for name in result['missing']]
        out.append('')
        for g in result['goals']:
            out.append(f'- {"met" if g["reached"] <= g["most"] else "MISSED"}: {g["goal"]}: {g["reached"]:.1e}')
        out.append('')
    return '\n'.join(out)
