"""The workloads of bench/run --ensembles: many motions at once, beside their peers in the same run.

All contestants of a workload run in turns, round after round. The quickest round of each counts: what else the machine does only
makes a round longer. A contestant writes the lines of peers/contest.hpp, one for each variant."""
import json
import os
import re
import tempfile
import time


class Workload:
    """`piece`: what ns are of; `contestants`: by name; `goals`: of {who: row}."""

    def __init__(self, name, title, piece, unit, error, contestants, goals):
        self.name, self.title, self.piece, self.unit, self.error = name, title, piece, unit, error
        self.contestants, self.goals = contestants, goals


class Contestant:
    """call(round) gives a line of results, or None."""

    def __init__(self, program, call):
        self.program, self.call = program, call


class Lines(Contestant):
    """The quickest line of a program whose variant matches. Programs that speak for several contestants run once a round."""
    known = {}

    def __init__(self, execute, command, which, pinned=True):
        super().__init__(command[0], self.read)
        self.execute, self.command, self.which, self.pinned = execute, command, which, pinned

    def read(self, round_):
        if self.known.get(self.command, (None,))[0] != round_:
            self.known[self.command] = (round_, self.execute(self.command, pinned=self.pinned))
        out = self.known[self.command][1]
        found = [r for r in map(json.loads, out.splitlines()) if re.search(self.which, r['variant'])] if out else []
        return min(found, key=lambda r: r['ns'], default=None)


def goal(text, reached, met):
    return {'goal': text, 'reached': reached, 'met': bool(met)}


def faster(times, ours, peer, text=None):
    """`ours` takes at most 1/times of the time of `peer`."""
    def judge(rows):
        if ours not in rows or peer not in rows:
            return []
        ratio = rows[peer]['ns'] / rows[ours]['ns']
        return [goal(text or f'{ours}: at least {times:g} × as fast as {peer}', ratio, ratio >= times)]
    return judge


def within(ms, count, who, text):
    """`who` takes at most so long for `count` pieces."""
    def judge(rows):
        return [goal(text, rows[who]['ns'] * count / 1e6, rows[who]['ns'] * count <= ms * 1e6)] if who in rows else []
    return judge


def make(build, peers, execute):
    bench, program = build / 'bench' / 'bench_ensemble', build / 'mechanician'

    def sweep(threads, count=200000):
        """A whole process, from the model file to the file of results. Velocities differ: starts are moved onto the constraints."""
        def call(_):
            with tempfile.TemporaryDirectory() as folder:
                begin = time.perf_counter()
                out = execute([program, 'sweep', 'bench/models/double_pendulum.toml', '--vary', f"x1'=-0.1:0.1:{count}", '--method', 'rk4', '--step', '1e-3',
                               '--to', 1, '--threads', threads, '--device', 'cpu', '-o', os.path.join(folder, 'ends.h5'), '--json'], pinned=threads == 1)
                seconds = time.perf_counter() - begin
            if out is None:
                return None
            got = json.loads(out)
            return {'variant': f'whole process, {threads} thread{"s" if threads > 1 else ""}', 'ns': 1e9 * seconds / got['steps'],
                    'error': got['failed'] + got['suspect'], 'steps_per_second': got['steps_per_second']}
        return Contestant(program, call)

    def moved_starts(count):
        """A whole process whose motions are over at once."""
        def call(_):
            begin = time.perf_counter()
            out = execute([program, 'sweep', 'models/arm7.toml', '--vary', 'q1=uniform(-0.1,0.1)', '--count', count, '--to', 1e-6, '--threads', 2, '--device', 'cpu', '--json'],
                          pinned=False)
            seconds = time.perf_counter() - begin
            if out is None:
                return None
            got = json.loads(out)
            return {'variant': f'whole process, {count:,} motions of one step', 'ns': 1e9 * seconds / got['motions'], 'error': got['failed'] + got['suspect']}
        return Contestant(program, call)

    def lines(command, *arguments, which, pinned=True):
        return Lines(execute, (command, *arguments), which, pinned)

    ours = (bench, 'models', 'bench/models')
    return [
        Workload('W4', '100,000 double pendulums in Cartesian coordinates, classical Runge–Kutta, 1000 steps of 1 ms', 'step', 'ns', 'off by', {
            'mechanician': lines(*ours, 'w4', which='^loop'),
            'by hand': lines(*ours, 'w4', which='^by hand'),
            'MuJoCo 2': lines(peers / 'mujoco', 'w4', which='RK4'), 'MuJoCo 4': lines(peers / 'mujoco_new', 'w4', which='RK4'),
            'one thread': lines(*ours, 'threads', which='^1 thread', pinned=False),
            'two threads': lines(*ours, 'threads', which='^2 threads', pinned=False),
            'mechanician sweep': sweep(1), 'mechanician sweep, two threads': sweep(2),
        }, [faster(0.8, 'mechanician', 'by hand', 'at least 80 % of the speed of a program by hand'), faster(400, 'mechanician', 'MuJoCo 4'),
            faster(400, 'mechanician sweep', 'MuJoCo 4'), faster(1.8, 'two threads', 'one thread', 'two threads: at least 1.8 × as fast as one'),
            faster(1.8, 'mechanician sweep, two threads', 'mechanician sweep')]),
        Workload('W4a', 'the same pendulums in two angles', 'step', 'ns', 'off by', {
            'mechanician': lines(*ours, 'angles', which='^loop'), 'MuJoCo 4': lines(peers / 'mujoco_new', 'w4', which='RK4'),
        }, []),
        Workload('W2', '10,000 accelerations of the arm of seven axes', 'acceleration', 'ns', 'largest difference to one lane', {
            'mechanician': lines(*ours, 'w2', which='^8 lanes'), 'mechanician, one at a time': lines(*ours, 'w2', which='^1 lane'),
            'Pinocchio': lines(peers / 'pinocchio', 'w2', which=''),
        }, [faster(15, 'mechanician', 'Pinocchio')]),
        Workload('disk', '10,000 rolling disks, 1 s, adaptive at 1e-8', 'motion', 'µs', 'largest difference of ends', {
            'mechanician': lines(*ours, 'disk', which='lanes'), 'single runs': lines(*ours, 'disk', which='^single'),
        }, [faster(5, 'mechanician', 'single runs')]),
        Workload('squeezer', '10,000 squeezers, 0.03 s, adaptive at 1e-8', 'motion', 'µs', 'largest difference of ends', {
            'mechanician': lines(*ours, 'squeezer', which='lanes'), 'single runs': lines(*ours, 'squeezer', which='^single'),
        }, [faster(5, 'mechanician', 'single runs')]),
        Workload('starts', '1,000 starts of the arm of seven axes moved onto its constraints, from nothing compiled on, two threads', 'start', 'µs', 'largest difference', {
            'mechanician': lines(*ours, 'starts', which='^in lanes', pinned=False), 'one at a time': lines(*ours, 'starts', which='^one', pinned=False),
            'mechanician sweep': moved_starts(1000), 'mechanician sweep, 100,000': moved_starts(100000),
        }, [within(50, 1000, 'mechanician', '1,000 starts within 50 ms')]),
    ]


def measure(workload, rounds, say):
    rows, missing = {}, [who for who, contestant in workload.contestants.items() if not os.path.exists(contestant.program)]
    for k in range(rounds):
        for who, contestant in workload.contestants.items():
            line = None if who in missing else contestant.call((workload.name, k))
            if line is None:
                missing += [] if who in missing else [who]
                continue
            row = rows.setdefault(who, {'who': who, **line, 'rounds': []})
            row['rounds'].append(line['ns'])
            if line['ns'] < row['ns']:
                row.update(line)
        say(f'bench: {workload.name}: round {k + 1} of {rounds}')
    for row in rows.values():
        row['most_ns'], row['rounds'] = max(row['rounds']), len(row['rounds'])
    goals = [g for judge in workload.goals for g in judge(rows)]
    return {'name': workload.name, 'title': workload.title, 'error_is': workload.error, 'piece': workload.piece, 'rows': list(rows.values()),
            'missing': missing, 'goals': goals}


def table(workload, result, digits):
    size = {'ns': 1.0, 'µs': 1e3}[workload.unit]
    ours = next((r['ns'] for r in result['rows'] if r['who'] == 'mechanician'), None)
    per_second = lambda ns: f'{digits(1e3 / ns)} million' if ns < 1e4 else f'{1e9 / ns:,.0f}'
    out = [f'### {result["name"]}: {result["title"]}', '',
           f'| | variant | {workload.unit} for each {workload.piece} | {workload.piece}s/s | × mechanician | {workload.error} |', '|---|---|--:|--:|--:|--:|']
    for r in result['rows']:
        ratio = digits(r['ns'] / ours) if ours else ''
        out.append(f'| {r["who"]} | {r["variant"]} | {digits(r["ns"] / size)} | {per_second(r["ns"])} | {ratio} | {r["error"]:.1e} |')
    for who in result['missing']:
        out.append(f'| {who} | not there | | | | |')
    out.append('')
    for g in result['goals']:
        out.append(f'- {"met" if g["met"] else "MISSED"}: {g["goal"]}: {digits(g["reached"])}')
    return '\n'.join(out) + '\n'


def summary(report, digits):
    """The figures that the page about ensembles shows."""
    rows = {w['name']: {r['who']: r['ns'] for r in w['rows']} for w in report['workloads']}
    million = lambda ns: f'{digits(1e3 / ns)} million steps/s'
    times = lambda peer, ours: f'{digits(peer / ours)} ×'
    w4, arm = rows['W4'], rows['W2']
    ours, whole, two = w4['mechanician'], w4['mechanician sweep'], w4['mechanician sweep, two threads']
    beside = [f'{digits(1e3 / w4["by hand"])} by a program written by hand for it: {100 * w4["by hand"] / ours:.0f} %'] if 'by hand' in w4 else []
    beside += [f'{1e3 / w4["MuJoCo 4"]:.2f} by MuJoCo 4 in two angles: {times(w4["MuJoCo 4"], ours)}'] if 'MuJoCo 4' in w4 else []
    out = ['| | reached | beside |', '|---|--:|---|',
           f'| double pendulum, `rk4`, one core, loop over steps alone | {million(ours)} | {"; ".join(beside)} |',
           f'| the same on two cores | {million(w4["two threads"])} | {times(w4["one thread"], w4["two threads"])} |',
           f'| the whole sweep of 200,000, 1,000 steps each, one thread | {million(whole)} | {digits(1e3 / two)} on two: {times(whole, two)} |',
           f'| the same pendulums in two angles, loop over steps alone | {million(rows["W4a"]["mechanician"])} | |',
           f'| accelerations of the arm of seven axes, one core | {digits(arm["mechanician"])} ns in 8 lanes | {digits(arm["mechanician, one at a time"])} ns one at a time'
           + (f'; {digits(arm["Pinocchio"])} by Pinocchio: {times(arm["Pinocchio"], arm["mechanician"])}' if 'Pinocchio' in arm else '') + ' |']
    for name, what in (('disk', '10,000 rolling disks, 1 s'), ('squeezer', '10,000 squeezers, 0.03 s')):
        lanes, single = rows[name]['mechanician'], rows[name]['single runs']
        out.append(f'| {what}, adaptive at 1e-8, one core | {digits(lanes / 1e3)} µs each in lanes | {single / 1e3:,.0f} µs each as single runs: {times(single, lanes)} |')
    starts = rows['starts']
    out.append(f'| 1,000 starts of that arm moved onto its constraints, from half a radian away, two cores | {digits(starts["mechanician"] / 1e3)} ms | '
               f'{digits(starts["mechanician sweep"] / 1e3)} ms for the whole process; 100,000 in {digits(starts["mechanician sweep, 100,000"] / 1e4)} s |')
    return '\n'.join(out) + '\n'
