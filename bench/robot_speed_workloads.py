"""bench/run --robot-speed: one acceleration of robots, ours beside Pinocchio and MuJoCo from PyPI, in states that all share (peers/robot_speed.py): along the tree, with the ends of two limbs
held, and in lanes."""
import json
import pathlib
import statistics
import subprocess

import python_workloads
from export_workloads import put_states

PACKAGES = {'numpy': 'numpy', 'pin': 'pinocchio', 'mujoco': 'mujoco', 'example-robot-data': 'example_robot_data'}
ROBOTS = {'panda': 'Panda', 'solo12': 'Solo 12', 'talos': 'Talos'}
MOST_ERROR = 1e-8      # of an exact contestant, over the largest acceleration
TREE, HELD, HELD_LANES = 1.0, 3.0, 15.0


def set_up(root, python, work, arguments, say):
    """The environment, the programs of the peers, and ours."""
    if arguments.setup:
        python_workloads.install(python, PACKAGES, say)
    work.mkdir(parents=True, exist_ok=True)
    packages = next((python.parent.parent).glob('lib/python*/site-packages'), pathlib.Path())
    with open(work / 'build.log', 'w', encoding='utf-8') as f:
        subprocess.run(['cmake', '-G', 'Ninja', '-S', root / 'bench' / 'peers', '-B', work, f'-DPINOCCHIO_PREFIX={packages / "cmeel.prefix"}', f'-DMUJOCO_PREFIX={packages / "mujoco"}'],
                       stdout=f, stderr=f, check=False)
        for program in ('export_pinocchio', 'mujoco_robots'):
            subprocess.run(['ninja', '-C', work, program], stdout=f, stderr=f, check=False)
    build = pathlib.Path(arguments.build or root / 'build' / 'release').resolve()
    command = ['ninja', '-C', build, '--quiet', 'bench_robots', 'mechanician_program'] if arguments.build else [root / 'tools' / 'build', 'release', 'bench_robots', 'mechanician_program']
    if subprocess.run(command, check=False).returncode:
        raise SystemExit('bench: mechanician does not build')
    return build


def measure(root, python, work, build, wanted, rounds, execute, say):
    folder = work / 'robot_speed'
    folder.mkdir(parents=True, exist_ok=True)
    cases = [case for robot in ROBOTS for case in (robot, robot + '_held') if not wanted or robot in wanted]
    answer = execute([python, root / 'bench' / 'peers' / 'robot_speed.py', build / 'mechanician', folder, *cases], pinned=False)
    if answer is None:
        raise SystemExit('bench: the robots cannot be prepared')
    facts, ours, results = json.loads(answer), build / 'bench' / 'bench_robots', []
    for case in cases:
        names = subprocess.run([ours, folder / f'{case}.toml', 'names'], capture_output=True, text=True, check=True).stdout.split('\n')[:-1]
        put_states(folder / f'{case}.ours', names, facts[case]['states'])
        commands = {'mechanician': [ours, folder / f'{case}.toml', folder / f'{case}.ours'],
                    'Pinocchio': [work / 'export_pinocchio', folder / f'{case}.joints', folder / f'{case}.states', *([folder / f'{case}.held'] if facts[case]['rows'] else [])],
                    'MuJoCo': [work / 'mujoco_robots', folder / f'{case}.xml', folder / f'{case}.mujoco']}
        rows = {}
        for k in range(rounds):
            for who, command in commands.items():
                for line in (execute(command, timeout=600) or '').splitlines() if command[0].exists() else []:
                    got = json.loads(line)
                    row = rows.setdefault((who, got['variant']), {'who': who, 'variant': got['variant'], 'times': [], 'error': 0.0, 'vouched': got.get('vouched', True)})
                    row['times'].append(got['ns'])
                    row['error'] = max(row['error'], got['error'])
            say(f'bench: {case}: round {k + 1} of {rounds}')
        for row in rows.values():
            row['ns'] = statistics.median(row.pop('times'))
        results.append({'case': case, 'freedoms': facts[case]['freedoms'], 'rows': facts[case]['rows'], 'results': list(rows.values())})
    return {'robots': results, 'goals': [goal for r in results for goal in goals(r)]}


def best(result, who, lanes=False):
    """The quickest of a contestant that is right. MuJoCo's constraints give way: it counts as it is, with its error beside it."""
    most = float('inf') if who == 'MuJoCo' and result['rows'] else MOST_ERROR
    found = [r for r in result['results'] if r['who'] == who and r['error'] <= most and r['vouched'] and ('lanes' in r['variant']) == lanes]
    return min(found, key=lambda r: r['ns'], default=None)


def goals(result):
    one, lanes = best(result, 'mechanician'), best(result, 'mechanician', True)
    wanted = [('in the time of ABA', one, 'Pinocchio', TREE)] if not result['rows'] else [
        (f'at least {HELD:g} × as fast as Pinocchio', one, 'Pinocchio', HELD), (f'at least {HELD:g} × as fast as MuJoCo', one, 'MuJoCo', HELD),
        (f'in lanes at least {HELD_LANES:g} × as fast as Pinocchio', lanes, 'Pinocchio', HELD_LANES)]
    out = []
    for text, ours, who, factor in wanted:
        theirs = best(result, who)
        reached = theirs['ns'] / ours['ns'] if ours and theirs else None
        out.append({'case': result['case'], 'goal': text, 'reached': reached, 'met': reached is not None and reached >= factor})
    return out


def title(result):
    robot = ROBOTS[result['case'].removesuffix('_held')]
    return f'{robot}, base free, two limbs held by {result["rows"]} rows' if result['rows'] else f'{robot}, tree'


def table(result, digits):
    out = ['| robot | freedoms | | one acceleration, ns | × mechanician | off by |', '|---|--:|---|--:|--:|--:|']
    for r in result['robots']:
        ours = best(r, 'mechanician')
        for k, row in enumerate(sorted(r['results'], key=lambda x: (['mechanician', 'Pinocchio', 'MuJoCo'].index(x['who']), 'lanes' in x['variant'], x['variant']))):
            name = row['who'] + ('' if row['variant'] == 'one' else f', {row["variant"]}') + ('' if row['vouched'] else ', not vouched for')
            out.append(f'| {title(r) if k == 0 else ""} | {r["freedoms"] if k == 0 else ""} | {name} | {digits(row["ns"])} | {digits(row["ns"] / ours["ns"]) if ours else ""} | {row["error"]:.0e} |')
    out += ['', '*off by* is the largest difference from the solution of Pinocchio\'s M, h and Jacobians, over the largest acceleration. Lanes are eight states at once, times of one.', '']
    by_case = {r['case']: title(r) for r in result['robots']}
    for goal in result['goals']:
        out.append(f'- {"met" if goal["met"] else "MISSED"}: {by_case[goal["case"]]}, {goal["goal"]}: {digits(goal["reached"]) if goal["reached"] else "not measured"}')
    return '\n'.join(out) + '\n\n'
