"""The large workloads of bench/run --large: chains, ladders and nets of growing size, and what is wanted of them.

A workload is a table: contestants down, sizes across. All contestants of a size run in turns, round after round. A contestant
writes the lines of peers/contest.hpp, one for each variant; the quickest batch of all rounds counts, of every contestant.

Not the median: a program of somebody else on the other half of the core slows some contestants by nearly twice and others not at
all, for minutes (bench/gauge.cpp shows it), and never makes one quicker. The gauge is read in every round and stands in the table."""
import math
import os


class Family:
    """One table. Cells are times of one call over `per(N)`; goals get {(who, variant): {N: cell}}."""

    def __init__(self, name, title, unit, error, sizes, contestants, goals, per=lambda n: n, rounds=None):
        self.name, self.title, self.unit, self.error, self.sizes = name, title, unit, error, sizes
        self.contestants, self.goals, self.per, self.rounds = contestants, goals, per, rounds


class Contestant:
    def __init__(self, who, *command, most=math.inf):
        self.who, self.command, self.most = who, command, most


OURS = ('mechanician', 'pivots checked')


def goal(text, reached, met):
    return {'goal': text, 'reached': reached, 'met': bool(met)}


def number(n):
    return f'{n:,}'


def quickest(cells, who, n):
    """The quickest variant of a contestant at a size."""
    found = [c[n]['ns'] for (name, _), c in cells.items() if name == who and n in c]
    return min(found) if found else None


def at_most(text, limit, sizes):
    def judge(cells, family):
        return [goal(f'N = {number(n)}: {text}', cells[OURS][n]['ns'] / family.per(n), cells[OURS][n]['ns'] / family.per(n) <= limit)
                for n in sizes if n in cells[OURS]]
    return judge


def faster(times, who, variant=None):
    """At every size that the peer can do."""
    def judge(cells, family):
        out = []
        for n in family.sizes:
            peer = cells.get((who, variant), {}).get(n, {}).get('ns') if variant else quickest(cells, who, n)
            if peer and n in cells[OURS]:
                ratio = peer / cells[OURS][n]['ns']
                name = f'{who} ({variant})' if variant else who
                out.append(goal(f'N = {number(n)}: at least {times:g} × as fast as {name}' if times != 1 else f'N = {number(n)}: no slower than {name}',
                                ratio, ratio >= times))
        return out
    return judge


def exponent(limit, pairs, of='N'):
    def judge(cells, _):
        out = []
        for small, large in pairs:
            if small in cells[OURS] and large in cells[OURS]:
                grown = math.log(cells[OURS][large]['ns'] / cells[OURS][small]['ns']) / math.log(large / small)
                out.append(goal(f'exponent of the cost in {of} from {number(small)} to {number(large)} at most {limit:g}', grown, grown <= limit))
        return out
    return judge


def accurate(limit):
    def judge(cells, _):
        worst = max(c['error'] for c in cells[OURS].values())
        return [goal(f'error below {limit:g}', worst, worst < limit)]
    return judge


def runs(n):
    return lambda cells, _: [goal(f'N = {number(n)} runs: seconds', cells[OURS][n]['ns'] / 1e9 if n in cells[OURS] else -1.0, n in cells[OURS])]


def within(variant, seconds, n):
    def judge(cells, _):
        cell = cells.get(('mechanician', variant), {}).get(n)
        return [goal(f'{variant}, N = {number(n)}: runs within {seconds} s', cell['ns'] / 1e9 if cell else -1.0, cell and cell['ns'] <= 1e9 * seconds)]
    return judge


def setup_goals(cells, _):
    made = cells[('mechanician', 'all')]
    small, large = min(made), max(made)
    ratio = made[large]['compile_ns'] / made[small]['compile_ns']
    return [goal(f'deriving and compiling N = {number(large)}: × the time of N = {number(small)}, at most 1.5', ratio, ratio <= 1.5),
            goal(f'N = {number(large)}: read and set up within 5 s', made[large]['ns'] / 1e9, made[large]['ns'] < 5e9),
            goal(f'N = {number(large)}: within 2 GB of memory', made[large]['bytes'] / 1e9, made[large]['bytes'] < 2e9)]


def motion_goals(cells, family):
    n = family.sizes[0]
    ours, simbody = cells[('mechanician', 'rods, DOP853')][n], quickest(cells, 'Simbody', n)
    return [goal('as fast as Simbody', simbody / ours['ns'], simbody >= ours['ns'])] if simbody else []


def make(build, peers):
    ours, program = build / 'bench' / 'bench_large_workloads', build / 'mechanician'
    run = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'large_run.py')
    models = 'bench/models'
    sizes = [100, 1000, 10000, 100000, 1000000]
    return [
        Family('W3', 'chain of N point masses in space, one acceleration', 'ns for each mass', 'largest difference to long double', sizes, [
            Contestant('mechanician', ours, models, 'chain'), Contestant('by hand', peers / 'large_by_hand', 'chain'),
            Contestant('CHOLMOD', peers / 'large_cholmod', 'chain'), Contestant('Simbody', peers / 'large_simbody', 'chain', most=100000),
            Contestant('Simbody', peers / 'large_simbody', 'rods', most=1000)],
            [at_most('at most 25 ns for each mass', 25, sizes[:3]), faster(50, 'Simbody', 'joints'), faster(50, 'Simbody', 'rods'),
             runs(1000000), exponent(1.1, [(1000, 1000000)]), accurate(1e-9)]),
        Family('W1L', 'ladder of N four-bars, one acceleration', 'ns for each loop', 'error of angular accelerations', [40, 200, 1000, 10000], [
            Contestant('mechanician', ours, models, 'ladder'), Contestant('MuJoCo 2', peers / 'mujoco', 'ladder'),
             Contestant('MuJoCo 4', peers / 'mujoco_new', 'ladder')],
            [faster(10, 'MuJoCo 4'), exponent(1.1, [(40, 10000)]), accurate(1e-9)]),
        Family('net', 'net of k by k masses and 2k(k − 1) rods, one acceleration', 'µs for each mass', 'how far rods are missed', [30, 100, 300], [
            Contestant('mechanician', ours, models, 'net'), Contestant('CHOLMOD', peers / 'large_cholmod', 'net')],
            [faster(1, 'CHOLMOD'), exponent(3, [(30, 100), (100, 300)], 'k'), accurate(1e-9)], per=lambda k: 1e3 * k * k),
        Family('set up', 'chain of N, from the model file to the first acceleration', 'ms', '', [10, 1000000], [
            Contestant('mechanician', ours, models, 'setup')], [setup_goals], per=lambda _: 1e6, rounds=3),
        Family('W3m', 'chain of 1000 masses, 10 s of motion at tolerance 1e-8', 's', 'change of energy over kinetic energy', [1000], [
            Contestant('mechanician', ours, models, 'motion'), Contestant('Simbody', peers / 'large_simbody', 'motion')],
            [motion_goals], per=lambda _: 1e9, rounds=1),
        Family('fall', 'chain of N unit rods without a hold falls on a floor, one end first, whole process', 's', 'what is missing in the balance', [1000], [
            Contestant('mechanician', run, program, 'e = 0', f'{models}/chain_fall.toml', 'e=0'),
            Contestant('mechanician', run, program, 'e = 0.5', f'{models}/chain_fall.toml', 'e=0.5')],
            [within('e = 0', 10, 1000), within('e = 0.5', 10, 1000)], per=lambda _: 1e9, rounds=1),
        Family('features', 'net of k by k masses, driven by control, with measured rods and friction, whole process', 's', 'what is missing in the balance',
               [30, 100], [
            Contestant('mechanician', run, program, 'tolerance 1e-6', f'{models}/net_features.toml')],
            [within('tolerance 1e-6', 60, 30)], per=lambda _: 1e9, rounds=1),
        Family('bodies', 'chain of N rigid bodies with ball joints, seven coordinates each, whole process', 's', 'what is missing in the balance',
               [1000, 10000], [
            Contestant('mechanician', run, program, 'free', f'{models}/chain_of_bodies.toml')],
            [within('free', 3, 1000), within('free', 30, 10000)], per=lambda _: 1e9, rounds=1),
    ]


def disturbance(readings):
    """One sentence on what the gauge showed, from its readings."""
    if not readings:
        return ''
    spread = {key: max(r[key] for r in readings) / min(r[key] for r in readings) for key in ('waits_ns', 'busy_ns')}
    return (f'While this was measured, a loop that keeps the core busy took 1.00 to {spread["busy_ns"]:.2f} times its quickest, one that waits for '
            f'itself 1.00 to {spread["waits_ns"]:.2f} ({len(readings)} readings of bench/gauge.cpp).')


def measure(family, rounds, call, say, gauge=lambda: None):
    """call(command) gives the lines of a contestant, or None. A line that says why a size was skipped counts as that size's answer."""
    cells, skipped = {}, {}
    missing = sorted({c.who for c in family.contestants if not os.path.exists(c.command[0])})
    rounds = min(rounds, family.rounds or rounds)
    for n in family.sizes:
        times = {}
        for k in range(rounds):
            gauge()
            for contestant in family.contestants:
                if n > contestant.most or contestant.who in missing:
                    continue
                if k > 0 and times.get((contestant.who, contestant.command[-1]), 0) > 20:
                    continue  # what takes long is not repeated as often
                lines = call([*contestant.command, n])
                for line in lines or []:
                    if 'skipped' in line:
                        skipped[(contestant.who, n)] = line['skipped']
                        continue
                    cell = cells.setdefault((contestant.who, line['variant']), {}).setdefault(n, {'rounds': [], 'error': 0.0})
                    cell['rounds'].append(line['ns'])
                    cell['error'] = max(cell['error'], line['error'])
                    for key in ('compile_ns', 'read_ns'):
                        if key in line:
                            cell[key] = min(cell.get(key, math.inf), line[key])
                    for key in ('bytes', 'tip', 'steps', 'evaluations', 'rows'):
                        if key in line:
                            cell[key] = line[key]
                    if line['ns'] > 5e9:
                        times[(contestant.who, contestant.command[-1])] = 100
        say(f'bench: {family.name}: N = {n}')
    for row in cells.values():
        for cell in row.values():
            cell['least_ns'], cell['most_ns'], cell['ns'] = min(cell['rounds']), max(cell['rounds']), min(cell['rounds'])
            cell['rounds'] = len(cell['rounds'])
    rows = [{'who': who, 'variant': variant, 'N': n, **cell} for (who, variant), row in cells.items() for n, cell in row.items()]
    goals = [g for judge in family.goals for g in judge(cells, family)] if any(who == 'mechanician' for who, _ in cells) else []
    return {'name': family.name, 'title': family.title, 'error_is': family.error, 'unit': family.unit, 'rows': rows, 'missing': missing, 'goals': goals,
            'skipped': [{'who': who, 'N': n, 'why': why} for (who, n), why in skipped.items()]}


def table(family, result, digits):
    ours = {r['N']: r['ns'] for r in result['rows'] if r['who'] == 'mechanician' and r['variant'] == result['rows'][0]['variant']}
    alone = all(r['who'] == 'mechanician' for r in result['rows'])
    out = [f'### {result["name"]}: {result["title"]}', '',
           f'| {result["unit"]} | ' + ' | '.join(number(n) for n in family.sizes) + (f' | {family.error} |' if family.error else ' |'),
           '|---|' + '--:|' * (len(family.sizes) + bool(family.error))]
    lines = {}
    for r in result['rows']:
        lines.setdefault((r['who'], r['variant']), {})[r['N']] = r
    for (who, variant), row in lines.items():
        cells = []
        for n in family.sizes:
            if n not in row:
                cells.append('–')
                continue
            time = digits(row[n]['ns'] / family.per(n))
            cells.append(time if who == 'mechanician' or alone else f'{time} ({digits(row[n]["ns"] / ours[n])} ×)')
        error = [f'{max(r["error"] for r in row.values()):.1e}'] if family.error else []
        out.append('| ' + ' | '.join([f'{who}, {variant}', *cells, *error]) + ' |')
    for who in result['missing']:
        out.append(f'| {who}: not there |' + ' |' * (len(family.sizes) + bool(family.error)))
    out.append('')
    for s in result.get('skipped', []):
        out.append(f'- {s["who"]}, N = {number(s["N"])}: {s["why"]}')
    for g in result['goals']:
        reached = f'{g["reached"]:.1e}' if abs(g['reached']) < 1e-2 else digits(g['reached'])
        out.append(f'- {"met" if g["met"] else "MISSED"}: {g["goal"]}: {reached}')
    return '\n'.join(out) + '\n'
