"""bench/run --python: the Python package beside others from PyPI, each doing the double pendulum (peers/python_pendulum.py) and an arm whose
tip is held (peers/python_arm.py) as its users would."""
import json
import os
import pathlib
import statistics
import subprocess

PEERS = ['mechanician', 'SymPy and SciPy', 'CasADi', 'heyoka', 'MuJoCo', 'Pinocchio']
ARM = ['mechanician', 'MuJoCo', 'Pinocchio']
PACKAGES = {'numpy': 'numpy', 'scipy': 'scipy', 'sympy': 'sympy', 'casadi': 'casadi', 'heyoka': 'heyoka', 'mujoco': 'mujoco', 'pin': 'pinocchio'}
ERROR = 1e-6  # of a position after ten seconds


def set_up(root, python, arguments, say):
    """The environment with the peers, and the module of the package for its interpreter."""
    if arguments.setup:
        install(python, PACKAGES, say)
    return build_module(root, arguments, 'bench_call')


def install(python, packages, say):
    """What is missing of the peers, into the environment of the benchmarks."""
    if not python.exists():
        subprocess.run(['/usr/bin/python3', '-m', 'venv', python.parent.parent], check=False)
    for package, module in packages.items():
        if subprocess.run([python, '-c', f'import {module}'], capture_output=True, check=False).returncode:
            say(f'bench: installing {package} from PyPI')
            if subprocess.run([python, '-m', 'pip', 'install', '--quiet', package], check=False).returncode:
                say(f'bench: no {package} from PyPI; going on without')


def build_module(root, arguments, *more):
    """The module of the package, and what else is to be built."""
    build = pathlib.Path(arguments.build or root / 'build' / 'release').resolve()
    environment = dict(os.environ)
    if not arguments.build:
        interpreter = subprocess.run([root / 'tools' / 'python_environment'], capture_output=True, text=True, check=False).stdout.strip()
        environment['MECHANICIAN_CONFIGURE'] = f'-DMECHANICIAN_PYTHON=ON -DPython_EXECUTABLE={interpreter}'
        command = [root / 'tools' / 'build', 'release', '_native', *more]
    else:
        command = ['ninja', '-C', build, '--quiet', '_native', *more]
    if subprocess.run(command, env=environment, check=False).returncode:
        raise SystemExit('bench: the Python package does not build')
    return build


def measure(root, python, build, rounds, execute, say):
    """By contestant, what it says; medians over processes in turns, the quickest of each kind within."""
    seen, arms = {}, {}
    environment = {'PYTHONPATH': str(build / 'python'), 'OPENBLAS_NUM_THREADS': '1', 'OMP_NUM_THREADS': '1'}
    for k in range(rounds):
        for peers, program, to in ((PEERS, 'python_pendulum.py', seen), (ARM, 'python_arm.py', arms)):
            for name in peers:
                out = execute([python, root / 'bench' / 'peers' / program, name, 3], environment=environment)
                if out is not None:
                    to.setdefault(name, []).append(json.loads(out))
        say(f'bench: python: round {k + 1} of {rounds}')
    direct = [json.loads(out) for _ in range(max(rounds, 3)) if (out := execute([build / 'bench' / 'bench_call', root / 'bench' / 'models' / 'double_pendulum.toml']))]
    rows = [joined(name, results) for name, results in seen.items()]
    ends = {r['who']: r['runs'][-1]['end'] for r in rows}
    # What is right is said by those who are most exact, without us: heyoka at 1e-16, SciPy at 1e-13.
    truth = ends.get('heyoka') or ends.get('SymPy and SciPy') or ends.get('mechanician')
    for row in rows:
        for run in row['runs']:
            run['error'] = max(abs(a - b) for a, b in zip(run['end'], truth, strict=True))
        good = [r for r in row['runs'] if r['error'] <= ERROR]
        row['motion'] = min(good, key=lambda r: r['ms']) if good else None
    arm = [joined(name, results) for name, results in arms.items()]
    exact = next((r['qdd'] for r in arm if r['who'] == 'Pinocchio'), None)
    for row in arm:
        row['error'] = max(abs(a - b) for a, b in zip(row['qdd'], exact, strict=True)) / max(map(abs, exact)) if exact else None
    return {'rows': rows, 'arm': arm, 'missing': [n for n in PEERS if n not in seen], 'single_ns': min(d['single_ns'] for d in direct),
            'batch_ns': min(d['batch_ns'] for d in direct)}


def joined(name, results):
    keys = [k for k in results[0] if isinstance(results[0][k], (int, float))]
    row = {'who': name, **{k: statistics.median(r[k] for r in results) for k in keys}}
    for key in ('single_ns', 'batch_ns'):
        row[key] = min(r[key] for r in results)
    if 'runs' in results[0]:
        row['runs'] = [{**run, 'ms': min(r['runs'][k]['ms'] for r in results)} for k, run in enumerate(results[0]['runs'])]
    else:
        row['qdd'] = results[0]['qdd']
    return row


def goals(result):
    """What the package is to reach, and what it does."""
    by_name = {r['who']: r for r in result['rows']}
    ours, sympy = by_name['mechanician'], by_name.get('SymPy and SciPy')
    found = [('an acceleration within 300 ns of C++, ns more', ours['single_ns'] - result['single_ns'], lambda x: x <= 300),
             ('10,000 of them within 10 % of C++, ratio', ours['batch_ns'] / result['batch_ns'], lambda x: x <= 1.1),
             ('a model that was loaded before in at most 5 ms', ours['again_ms'], lambda x: x <= 5)]
    if sympy and sympy['motion'] and ours['motion']:
        found.append((f'ten seconds at error {ERROR:g} at least 100 × as fast as SymPy and SciPy', sympy['motion']['ms'] / ours['motion']['ms'], lambda x: x >= 100))
    return [{'goal': goal, 'reached': value, 'met': bool(met(value))} for goal, value, met in found]


def table(result, digits):
    """Markdown."""
    out = ['### Double pendulum in Python', '',
           f'| | lines | import ms | load ms | first motion ms | an acceleration ns | of 10,000, each ns | 10 s at error {ERROR:g}, ms | setting | error | rods off by |',
           '|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|']
    for r in result['rows']:
        m = r['motion']
        motion = f'{digits(m["ms"])} | {m["setting"]:g} | {m["error"]:.0e} | {m["violation"]:.0e}' if m else '– | | |'
        out.append(f'| {r["who"]} | {r["lines"]:.0f} | ' + ' | '.join(digits(r[k]) for k in ('import_ms', 'load_ms', 'first_ms', 'single_ns', 'batch_ns')) + f' | {motion} |')
    out.append(f'| mechanician, from C++ | | | | | {digits(result["single_ns"])} | {digits(result["batch_ns"])} | | | | |')
    out += [f'| {name} | not there | | | | | | | | | |' for name in result['missing']]
    out.append('')
    for g in result['goals']:
        out.append(f'- {"met" if g["met"] else "MISSED"}: {g["goal"]}: {digits(g["reached"])}')
    if result.get('arm'):
        out += ['', '### Arm of 7 axes whose tip is held, in Python', '', '| | lines | load ms | an acceleration ns | of 10,000, each ns | differs from Pinocchio by |', '|---|--:|--:|--:|--:|--:|']
        for r in result['arm']:
            error = '' if r['error'] is None else f'{r["error"]:.0e}'
            out.append(f'| {r["who"]} | {r["lines"]:.0f} | ' + ' | '.join(digits(r[k]) for k in ('load_ms', 'single_ns', 'batch_ns')) + f' | {error} |')
    return '\n'.join(out) + '\n'
