"""bench/run --robots: accelerations of all robots of the package example-robot-data at random states, against Pinocchio from PyPI (peers/robots.py)."""
import json

import python_workloads

PACKAGES = {'numpy': 'numpy', 'pin': 'pinocchio', 'example-robot-data': 'example_robot_data'}
STATES = 100
MOST = 1e-9          # of a difference, over the condition and the largest acceleration


def set_up(root, python, arguments, say):
    if arguments.setup:
        python_workloads.install(python, PACKAGES, say)
    return python_workloads.build_module(root, arguments, 'mechanician_program')


def measure(root, python, build, wanted, work, execute):
    folder = work / 'robots'
    folder.mkdir(parents=True, exist_ok=True)
    out = execute([python, root / 'bench' / 'peers' / 'robots.py', build / 'mechanician', folder, STATES, *wanted],
                  environment={'PYTHONPATH': str(build / 'python'), 'OPENBLAS_NUM_THREADS': '1', 'OMP_NUM_THREADS': '1'}, timeout=3600)
    if out is None:
        raise SystemExit('bench: the robots were not compared')
    return {'states': STATES, 'most': MOST, 'robots': [json.loads(line) for line in out.splitlines()]}


def joined(result, newest):
    """Some robots in the place of what a file says of them."""
    known = {r['robot']: r for r in json.loads(newest.read_text(encoding='utf-8'))['robots']}
    known.update({r['robot']: r for r in result['robots']})
    return {**result, 'robots': list(known.values())}


def cells(found, nv):
    """Size, and the largest difference over condition and acceleration."""
    if found is None:
        return ' | '
    if found['singular'] and not found['condition']:
        return f'{nv} | singular'
    bad = max(found['share'], found['own_share'] or 0.0) > MOST
    return f'{nv} | {"**" if bad else ""}{max(found["share"], found["own_share"] or 0.0):.0e}{"**" if bad else ""}'


def table(result):
    """Markdown."""
    out = ['| robot | fixed: n | off by | free: n | off by | two limbs held: rows | off by | condition up to | |', '|:--|--:|--:|--:|--:|--:|--:|--:|:--|']
    worst, compared = {}, {}
    for r in result['robots']:
        if 'failed' in r:
            out.append(f'| {r["robot"]} | | | | | | | | **{r["failed"]}** |')
            continue
        if 'empty' in r:
            out.append(f'| {r["robot"]} | | | | | | | | {r["note"]} |')
            continue
        held = r.get('held')
        condition = max((r[w]['condition'] for w in ('fixed', 'floating', 'held') if w in r), default=0.0)
        out.append(f'| {r["robot"]} | {cells(r.get("fixed"), r["fixed_nv"])} | {cells(r.get("floating"), r["floating_nv"])} | '
                   f'{cells(held, held["rows"] if held else "")} | {f"{condition:.0e}" if condition else ""} | {r["note"]} |')
        for way in ('fixed', 'floating', 'held'):
            if way in r and r[way]['condition']:
                worst[way] = max(worst.get(way, 0.0), r[way]['share'], r[way]['own_share'] or 0.0)
                compared[way] = compared.get(way, 0) + 1
    names = {'fixed': 'fixed', 'floating': 'with a free base', 'held': 'with two limbs held'}
    out += ['', f'{len(result["robots"])} robots, {result["states"]} states each; compared: ' +
            ', '.join(f'{compared[w]} {names[w]} (off by at most {worst[w]:.0e})' for w in names if w in compared) + '.']
    failed = [r['robot'] for r in result['robots'] if 'failed' in r]
    met = not failed and all(v <= result['most'] for v in worst.values())
    out += ['', f'- {"met" if met else "MISSED"}: off by at most {result["most"]:g} × condition × largest acceleration', '', '']
    return '\n'.join(out)
