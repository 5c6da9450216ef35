#!/usr/bin/env python3
"""Models with many members, through the command line: the same commands as for few.

    check_large.py --program build/release/mechanician

Oracles: the closed form of a straight chain under gravity, laws of energy and length computed here from the rows, the same
model below the size at which the program changes its ways, and what must be refused. Prints a line for each miss and
`N passed, N failed` at the end."""
import argparse, array, csv, json, math, os, resource, signal, subprocess, sys, tempfile, time

import limits

CHAIN = '''coordinates = ["x[1..N]", "y[1..N]", "z[1..N]"]
[parameters]
N = 1000
[dynamics]
kinetic = "sum(i = 1..N, 0.5*(x[i]'^2 + y[i]'^2 + z[i]'^2))"
potential = "sum(i = 1..N, 9.81*z[i])"
[constraints]
top = "x[1]^2 + y[1]^2 + z[1]^2 = 1"
[constraints.rod]
for = "i = 2..N"
equation = "(x[i] - x[i-1])^2 + (y[i] - y[i-1])^2 + (z[i] - z[i-1])^2 = 1"
[start.position]
"x[i]" = { for = "i = 1..N", value = "0.6*i" }
"z[i]" = { for = "i = 1..N", value = "-0.8*i" }
[start.velocity]
"y[i]" = { for = "i = 1..N", value = "0.01*i" }
[run]
to = 0.5
every = 0.25
tolerance = 1e-9
'''
# Everything that a model may say of families, in N masses; DUMMY and EXTRA make it large by masses that nothing touches.
RICH = '''coordinates = ["x[1..N]", "y[1..N]", "a"DUMMY]
[parameters]
N = 20
g = 9.81
k = "2*g"
m = { csv = "masses.csv", column = "mass" }
w = [1, "g/5", 2.5]
B = [[1, 2], [3, "k/10"]]
[define]
"v2[i]" = { for = "i = 1..N", value = "x[i]'^2 + y[i]'^2" }
"len[i]" = { for = "i = 2..N", value = "(x[i] - x[i-1])^2 + (y[i] - y[i-1])^2" }
total = "sum(i = 1..N, m[i]*v2[i]/2)"
mass = "sum(i = 1..N, m[i])"
lift = "B[2,2]*sin(a)"
[dynamics]
kinetic = "total + a'^2/2EXTRA"
potential = "sum(i = 1..N, m[i]*g*y[i]) + w[2]*a^2 + lift"
[constraints]
top = "x[1]^2 + y[1]^2 = 1"
[constraints.rod]
for = "i = 2..N"
equation = "len[i] = 1"
[start.position]
"x[i]" = { for = "i = 1..N", value = "i" }
[start.velocity]
"y[i]" = { for = "i = 1..N", value = "0.1*i" }
[outputs]
energy = "total"
centre = "sum(i = 1..N, m[i]*y[i])/mass"
spread = "sqrt(sum(i = 1..N, (y[i] - 1)^2)) + a*sum(j = 2..3, x[j])"
"e[i]" = { for = "i = 2..3", value = "m[i]*v2[i]/2 + total/mass" }
"f[i+1]" = { for = "i = 1..2", value = "x[i]'' + y[i]''*t" }
"g[i,j]" = { for = "i = 1..2, j = i..2", value = "B[i,j]*x[i] - w[j]" }
[events.low]
for = "i = 5..7"
when = "y[i] + 1"
[events.up]
when = "y[5] + 1"
direction = "up"
[events.enough]
when = "total - 900"
do = "stop"
[run]
to = 1.0
every = 0.25
tolerance = 1e-11
'''
# What a model may say, and what it must not, in five masses on rods; masses that nothing touches make it large.
FIVE = '''coordinates = ["x[1..N]", "y[1..N]", "a"]
[parameters]
N = 5
[define]
U = "sum(i = 1..N, x[i]*i)"
"S[k]" = { for = "k = 1..2", value = "sum(i = 1..N, k*x[i])" }
[dynamics]
kinetic = "sum(i = 1..N, MASS*(x[i]'^2 + y[i]'^2)/2) + WEIGHT*a'^2/2"
potential = "sum(i = 1..N, 9.81*LENGTH*y[i])POTENTIAL"
[dynamics.force]
FORCE
[constraints]
top = "x[1]^2 + y[1]^2 = LENGTH^2"
ROW
[constraints.rod]
for = "i = 2..N"
equation = "(x[i] - x[i-1])^2 + (y[i] - y[i-1])^2 = LENGTH^2"
[start.position]
"x[i]" = { for = "i = 1..N", value = "i*LENGTH" }
START
[run]
to = 0.4
every = 0.1
tolerance = 1e-11
REST
'''
passed = failed = 0


def expect(ok, what):
    global passed, failed
    if ok: passed += 1
    else: failed += 1; print(what)


def numbers_of(folder, file, dataset):
    subprocess.run(['h5dump', '-d', dataset, '-b', 'LE', '-o', 'raw', file], cwd=folder, capture_output=True, check=True, timeout=limits.CLOCK)
    with open(os.path.join(folder, 'raw'), 'rb') as f: return array.array('d', f.read()).tolist()


def wait_for(part, process):
    """Until a run has begun to write: before that there is nothing to go on with."""
    while not (os.path.exists(part) and os.path.getsize(part)) and process.poll() is None: time.sleep(0.01)


def results(folder, program, run, to='4'):
    """CSV, JSON and HDF5 hold the same numbers; runs that were ended are taken up to the same bits; nothing half done is left."""
    few = ('--columns', 'x[1000],z[9*],lambda(top),work*,power(rod[7]),residual')
    p = run('run', 'chain.toml', *few, '-o', 'few.csv')
    expect(p.returncode == 0, f'csv: exit {p.returncode}: {p.stderr[:300]}')
    with open(os.path.join(folder, 'few.csv'), encoding='utf-8', newline='') as f: rows = list(csv.DictReader(f))
    p = run('run', 'chain.toml', *few, '--json')
    expect(p.returncode == 0, f'json: exit {p.returncode}: {p.stderr[:300]}')
    d = json.loads(p.stdout)
    expect(d['columns'] == list(rows[0]) and d['rows'] == [[float(x) for x in r.values()] for r in rows], 'json: other numbers than in CSV')
    expect(d['summary']['status'] == 'done' and d['summary']['trusted'] and d['summary']['path'] == 'sparse', f'json: {d["summary"]}')
    p = run('run', 'chain.toml', *few, '-o', 'few.h5')
    expect(p.returncode == 0, f'h5: exit {p.returncode}: {p.stderr[:300]}')
    for dataset, names in (('t', ['t']), ('q', [k for k in rows[0] if k[:2] in ('x[', 'z[')]), ('lambda', ['lambda(top)']), ('work', [k for k in rows[0] if k.startswith('work(')]),
                           ('residual', ['residual'])):
        expect(numbers_of(folder, 'few.h5', dataset) == [float(r[k]) for r in rows for k in names], f'h5: other numbers in `{dataset}` than in CSV')

    # Ended by a signal: what there is reads; killed: the same. Then to the end, and all rows have the same bits.
    long = ('run', 'chain.toml', '--to', to, '--every', '0.05', *few)
    p = run(*long, '-o', 'whole.h5')
    expect(p.returncode == 0, f'whole: exit {p.returncode}')
    for name, how, status in (('term.h5', signal.SIGTERM, 130), ('int.h5', signal.SIGINT, 130), ('kill.h5', signal.SIGKILL, -9)):
        process = subprocess.Popen([program, *long, '-o', name], cwd=folder, stderr=subprocess.DEVNULL)
        wait_for(os.path.join(folder, name + '.part'), process)
        time.sleep(0.3)
        process.send_signal(how)
        process.wait(limits.CLOCK)
        ended = process.returncode
        if ended == 0: continue  # faster than the signal
        expect(ended == status, f'{name}: exit {ended}')
        p = run('run', '--resume', name)
        expect(p.returncode == 0, f'{name}, resumed: exit {p.returncode}: {p.stderr[:300]}')
        for dataset in ('t', 'q', 'lambda', 'work', 'power', 'residual', 'work_given', 'work_ideal'):
            expect(numbers_of(folder, name, dataset) == numbers_of(folder, 'whole.h5', dataset), f'{name}, resumed: `{dataset}` has other bits')
        p = run('run', '--resume', name)
        expect(p.returncode == 0 and 'nothing to go on with' in p.stderr, f'{name}, resumed twice: exit {p.returncode}: {p.stderr[:300]}')

    # So many coordinates that they are not listed: events without states, a start all the same, and resumed from it.
    wide = ('run', 'rich.toml', '--columns', "x[2],energy", '--every', '0.02')
    p = run(*wide, '-o', 'wide.h5')
    expect(p.returncode == 0, f'wide: exit {p.returncode}: {p.stderr[:300]}')
    expect(len(numbers_of(folder, 'wide.h5', 'setup/start_position')) == 12041 and numbers_of(folder, 'wide.h5', 'setup/start_position')[:3] == [1.0, 2.0, 3.0], 'wide: start')
    expect(len(numbers_of(folder, 'wide.h5', 'events/time')) == 4, 'wide: events')
    process = subprocess.Popen([program, *wide, '-o', 'wider.h5'], cwd=folder, stderr=subprocess.DEVNULL)
    wait_for(os.path.join(folder, 'wider.h5.part'), process)
    time.sleep(0.4)
    process.send_signal(signal.SIGKILL)
    process.wait(limits.CLOCK)
    if process.returncode != 0:
        p = run('run', '--resume', 'wider.h5')
        expect(p.returncode == 0, f'wide, resumed: exit {p.returncode}: {p.stderr[:300]}')
    for dataset in ('t', 'q', 'outputs', 'events/time'):
        expect(numbers_of(folder, 'wider.h5', dataset) == numbers_of(folder, 'wide.h5', dataset), f'wide, resumed: `{dataset}` has other bits')

    # A full disk.
    for name in ('full.h5', 'full.csv', 'full.json'):
        p = subprocess.run([program, *long, '-o', name], cwd=folder, capture_output=True, text=True, timeout=limits.CLOCK, check=False,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000)))
        expect(p.returncode == 3 and 'full' in p.stderr, f'{name}: exit {p.returncode}: {p.stderr[:300]}')
        expect(not os.path.exists(os.path.join(folder, name)), f'{name} looks finished')

    # A second run beside, a start that is moved, all of it also below 1,000 coordinates.
    p = run('run', 'chain.toml', '--verify', '--json', '--columns', 'z[1]')
    expect(p.returncode == 0 and json.loads(p.stdout)['summary']['global_error'] < 1e-5, f'verify: exit {p.returncode}: {p.stderr[:300]}')
    p = run('run', 'chain.toml', '--position', 'x[1000]=600.001', '--project-start', '--columns', 'residual')
    expect(p.returncode == 0 and 'moved onto the constraints' in p.stderr, f'project-start: exit {p.returncode}: {p.stderr[:300]}')
    expect(all(float(r['residual']) < 1e-8 for r in csv.DictReader(p.stdout.splitlines())), f'project-start: {p.stdout}')
    p = run('run', 'small.toml', '--columns', "y[3?],x[30]'")
    expect(p.returncode == 0 and p.stdout.splitlines()[0] == "t,y[30],x[30]'", f'columns of a small model: exit {p.returncode}: {p.stdout[:100]}')


def rich(write, run):
    """Outputs, definitions, lists, CSV columns and events by both paths; errors: some 70 steps of 1e-11, times forces of up to 30."""
    write('masses.csv', 'id,mass\n' + ''.join(f'{i},{1 + (7 * i % 11) / 11}\n' for i in range(30)))
    write('written.toml', RICH.replace('DUMMY', '').replace('EXTRA', ''))
    large = RICH.replace('DUMMY', ', "dummy[1..4000]"').replace('EXTRA', " + sum(i = 1..4000, dummy[i]'^2/2)")
    write('rich.toml', large)
    found = []
    for name in ('written.toml', 'rich.toml'):
        p = run('run', name, '--set', 'm[2]=1.5', '--json')
        expect(p.returncode == 0, f'{name}: exit {p.returncode}: {p.stderr[:300]}')
        if p.returncode: return
        found.append(json.loads(p.stdout))
    rows = [[dict(zip(d['columns'], r)) for r in d['rows']] for d in found]
    expect(found[1]['summary']['path'] == 'sparse' and found[1]['summary']['status'] == 'stopped' and len(rows[0]) == len(rows[1]), 'rich: not the same run')
    for k in rows[0][0]:
        off = max(abs(a[k] - b[k]) / max(1.0, abs(a[k])) for a, b in zip(*rows))
        expect(off < 3e-8, f'rich: two paths differ by {off} in {k}')
    events = [[(e['name'], e['time']) for e in d['events']] for d in found]
    expect([n for n, _ in events[0]] == ['low[5]', 'low[6]', 'low[7]', 'enough'], f'rich: {events[0]}')
    expect([n for n, _ in events[0]] == [n for n, _ in events[1]] and max(abs(a - b) for (_, a), (_, b) in zip(*events)) < 1e-9, f'rich: events {events}')
    expect(found[1]['summary']['end'] == events[1][-1][1], 'rich: the run does not end at its event')
    # What is said of the end is said of the event, not of the end of the step that it lies in.
    for k in ('kinetic_end', 'work_given', 'end'):
        off = abs(found[0]['summary'][k] - found[1]['summary'][k]) / max(1.0, abs(found[0]['summary'][k]))
        expect(off < 3e-8, f'rich: {k} is {found[1]["summary"][k]}, and {found[0]["summary"][k]} by the other path')
    for what, change, arguments, status, says in [
            ('a list that is too short', None, ('--set', 'N=31'), 1, '`m` has no member 31 for i = 31'),
            ('an unknown parameter', None, ('--set', 'mm=1'), 2, 'no parameter `mm`'),
            ('an unknown column', None, ('--columns', 'e[9]'), 2, 'no column is called `e[9]`'),
            ('a member of a definition that is not there', ('y[5] + 1', 'len[1]'), (), 1, '`len` has no member 1'),
            ('an event on a member that is not there', ('y[i] + 1', 'y[i+15]'), (), 1, '`y` has no member 21 for i = 6'),
            ('a definition of itself', ('B[2,2]*sin(a)', 'lift + 1'), (), 1, 'lift'),
            ('no such column of the file', ('"mass" }', '"masses" }'), (), 1, 'did you mean `mass`?'),
            ('no such file', ('masses.csv', 'other.csv'), (), 1, '`other.csv` cannot be read'),
            ('an index that is used twice', ('sum(j = 2..3, x[j])', 'sum(j = 2..3, sum(j = 1..2, x[j]))'), (), 1, 'in use already'),
            ('an unknown name in an output', ('energy = "total"', 'energy = "totl"'), (), 1, 'unknown name `totl`'),
            ('a direction that is none', ('"up"', '"upward"'), (), 1, '`direction` cannot be `upward`')]:
        write('wrong.toml', large.replace(*change) if change else large)
        p = run('run', 'wrong.toml', *arguments)
        expect(p.returncode == status and says in p.stderr, f'{what}: exit {p.returncode}, said {p.stderr[:300]}')


def five(k=0, **parts):
    """FIVE with its parts, and k masses more."""
    text = FIVE
    for name in ('MASS', 'WEIGHT', 'LENGTH', 'POTENTIAL', 'FORCE', 'ROW', 'START', 'REST'): text = text.replace(name, parts.get(name, '1' if name in ('MASS', 'WEIGHT', 'LENGTH') else ''))
    if k: text = text.replace('"a"]', f'"a", "dummy[1..{k}]"]').replace("a'^2/2\"", f"a'^2/2 + sum(j = 1..{k}, dummy[j]'^2/2)\"")
    return text


def by_both_paths(write, run):
    """Accelerations, multipliers, rows of the run and what it says of itself, of models below and above the size that divides them; errors: as of rich()."""
    for what, parts in {
            'nothing more': {},
            'sums in forces': {'FORCE': 'a = "sum(i = 1..N, x[i])"\n"x[i]" = { for = "i = 1..N", value = "sum(j = 1..N, 0.1*i*(x[j] - x[i])) - U/100" }'},
            'sums in start values': {'START': 'a = "1 + sum(i = 1..N, i)/10"'},
            'a sum of a sum with the same letter': {'POTENTIAL': ' + sum(i = 1..2, i*U/10) + sum(i = 1..2, S[i]/10)'},
            'a follower without mass': {'ROW': 's = "a = x[2]*y[2]"', 'WEIGHT': '0'},
            'long units': {'LENGTH': '1e5'},
            'a constraint times 1e9': {'ROW': 'far = "1e9*a = 1e8"', 'START': 'a = 0.1000000000001'},
            'a condition that is decided': {'FORCE': '"x[i]" = { for = "i = 1..N", value = "if(x[i] > 2.6 and log(x[i] - 2.5) < 0, 1, 2)" }'},
            'moving rows, rows on velocities': {'ROW': "turns = \"a' = 0.3*cos(3*t) + x[1]*y[2]'\"", 'START': '[start.velocity]\na = 0.3'},
            'masses that couple members': {'POTENTIAL': ' + sum(i = 1..N, j = 1..i-1, 1/(2 + (x[i] - x[j])^2))', 'FORCE': "\"y[N]\" = \"-0.2*y[N]'\""}}.items():
        write('few.toml', five(**parts)), write('many.toml', five(4000, **parts))
        d = []
        for name in ('few.toml', 'many.toml'):
            for command in ('check', 'accelerate', 'run'):
                p = run(command, name, '--json')
                expect(p.returncode == 0, f'{what}: {command} {name}: exit {p.returncode}: {p.stderr[:300]}')
                if p.returncode == 0: d.append(json.loads(p.stdout))
        if len(d) != 6: continue
        expect(d[0]['rank'] == d[3]['rank'] and d[3]['start_valid'], f'{what}: rank {d[0]["rank"]}, {d[3]["rank"]}')
        for key in ('acceleration', 'constraint_force', 'multipliers'):
            scale = max(1.0, max(abs(x) for x in d[1][key].values()))
            off = max(abs(x - d[4][key][k]) for k, x in d[1][key].items()) / scale
            expect(off < 1e-11, f'{what}: two paths differ by {off} in {key}')
        expect(d[5]['summary']['path'] == 'sparse' and d[5]['summary']['trusted'] and len(d[2]['rows']) == len(d[5]['rows']), f'{what}: {d[5]["summary"]}')
        rows = [[dict(zip(x['columns'], r)) for r in x['rows']] for x in (d[2], d[5])]
        for k in rows[0][0]:
            if k.startswith(('work_i', 'power', 'work(', 'residual')): continue
            scale = max(1.0, max(abs(a[k]) for a in rows[0]))
            off = max(abs(a[k] - b[k]) for a, b in zip(*rows)) / scale
            expect(off < 3e-8 * (1e2 if 'long' in what else 1), f'{what}: two paths differ by {off} in {k}')


def to_blame(write, run):
    """What is wrong in one member is refused with the name of that member, or with the place in the file, as in a small model."""
    for what, parts, says in [
            ('a force without value', {'FORCE': '"x[i]" = { for = "i = 1..N", value = "log(4.5 - x[i])" }'}, 'the given force on `x[5]` is not a finite number: log('),
            ('a condition without value', {'FORCE': '"x[i]" = { for = "i = 1..N", value = "if(log(4.5 - i) < 0, 1, 2)" }'}, 'the given force on `x[5]` is not a finite number: log('),
            ('a condition in a row', {'ROW': '[constraints.c]\nfor = "i = 3..4"\nequation = "y[i]*if(sqrt(3.5 - x[i]) < 1, 1, 2) = 0"'}, 'constraint `c[4]` is not a finite number: sqrt('),
            ('a mass without value', {'MASS': 'sqrt(3.5 - i)'}, 'the mass matrix entry (x[4], x[4]) is not a finite number'),
            ('an infinite mass', {'MASS': '1/(i - 3)^2'}, 'the mass matrix entry (x[3], x[3]) is not a finite number'),
            ('a negative mass', {'MASS': '(i - 1.5)'}, 'the mass matrix has the negative eigenvalue'),
            ('a start value without value', {'START': '"y[i]" = { for = "i = 1..N", value = "0*log(i - 1)" }'}, '`start.position.y[1]` is not finite'),
            ('two start values', {'START': '"x[3]" = 3'}, '`x[3]` has two start values'),
            ('a start off the constraints', {'ROW': 'off = "1e-9*(a - 3) = 0"'}, 'the start position violates constraint `off`'),
            ('a bound without value', {'FORCE': '"x[i]" = { for = "i = 1..if(log(-1) < 0, 2, 3)", value = 1 }'}, 'a bound of `i`: this is not a number'),
            ('an index without value', {'FORCE': '"x[1]" = "x[if(log(-1) < 0, 2, 3)]"'}, 'an index of `x`'),
            ('bounds that cross', {'POTENTIAL': ' + sum(i = 1..N, j = i..2, x[j])'}, 'the index `j` runs backwards, from 4 to 2 for i = 4'),
            ('a misspelt key', {'FORCE': '"x[i]" = { for = "i = 1..N", value = 1, valu = 2 }'}, 'unknown key `valu`'),
            ('no such method', {'REST': 'method = "fast"'}, 'there is no method `fast`'),
            ('an acceleration in a force', {'FORCE': 'a = "x[1]\'\'"'}, 'the force on `a` contains the acceleration')]:
        for k in (0, 4000):
            write('wrong.toml', five(k, **parts))
            p = run('run', 'wrong.toml')
            expect(p.returncode == 1 and (says in p.stderr or k == 0), f'{what}, {k} more: exit {p.returncode}, said {p.stderr[:300]}')
    write('sum.toml', five(101000, POTENTIAL=' + a*sign(sum(i = 1..N, x[i]))'))
    p = run('check', 'sum.toml')
    expect(p.returncode == 1 and 'a sum may be multiplied by numbers' in p.stderr, f'a sum in a function: exit {p.returncode}: {p.stderr[:300]}')
    write('few.toml', five(2000, POTENTIAL=' + a*sign(sum(i = 1..N, x[i]))'))
    p = run('accelerate', 'few.toml', '--json')
    expect(p.returncode == 0 and json.loads(p.stdout)['acceleration']['a'] == -1.0, f'a sum in a function, written out: exit {p.returncode}: {p.stderr[:300]}')
    # An event without value is noted, once.
    write('log.toml', five(4000, REST='[events.e]\nfor = "i = 1..N"\nwhen = "log(y[i] + 0.3)"'))
    p = run('run', 'log.toml', '--json')
    notes = json.loads(p.stdout)['summary']['notes'] if p.returncode == 0 else []
    expect(sorted(n.split('`')[1] for n in notes if 'has no value' in n) == ['e[1]', 'e[2]', 'e[3]', 'e[4]', 'e[5]'], f'events without value: exit {p.returncode}: {notes}')


def every_command(write, run, small):
    """What the commands say of many members is what they say of few: project, equations, bench, sweep, accelerate with parts."""
    # The nearest state on the constraints is on them, and near.
    for n in (100, 2000) if small else (100, 2000, 40000):
        p = run('project', 'chain.toml', '--set', f'N={n}', '--position', f'x[{n}]={0.6 * n + 1e-3}', '--json')
        expect(p.returncode == 0, f'project N={n}: exit {p.returncode}: {p.stderr[:300]}')
        if p.returncode: continue
        d = json.loads(p.stdout)
        q = d['position']
        off = max(abs(math.dist([q.get(f'{c}[{i}]', 0.0) for c in 'xyz'], [q.get(f'{c}[{i - 1}]', 0.0) for c in 'xyz']) - 1.0) for i in range(1, n + 1))
        expect(off < 1e-10 and 1e-6 < d['moved'] < 1e-3, f'project N={n}: a rod is off by {off}, moved {d["moved"]}')
        p = run('check', 'chain.toml', '--set', f'N={n}', '--json')
        d = json.loads(p.stdout)
        expect(p.returncode == 0 and d['rank'] == n and d['coordinates'] == 3 * n and (d['constraints'] is None) == (n > 10000), f'check N={n}: {p.stdout[:200]}')
    # Entries of A by term, at the start of the straight chain: 2 (x[i] - x[i-1]) = 1.2 for every rod.
    p = run('equations', 'chain.toml', '--json')
    d = json.loads(p.stdout)
    kinds = [t['kind'] for t in d['terms']]
    rod = [t for t in d['terms'] if t.get('name') == 'rod[i]']
    expect(p.returncode == 0 and kinds == ['kinetic energy', 'potential energy', 'constraint', 'constraint'] and len(rod) == 1, f'equations: {kinds}')
    expect(rod[0]['indices'] == [{'name': 'i', 'from': '2', 'to': '1000'}] and len(rod[0]['A']) == 6, f'equations: {rod}')
    expect([t['M'] for t in d['terms'] if t['kind'] == 'kinetic energy'] == [[['x[i]', 'x[i]', '1'], ['y[i]', 'y[i]', '1'], ['z[i]', 'z[i]', '1']]], f'equations: {d["terms"][0]}')
    p = run('equations', 'chain.toml')
    expect(p.returncode == 0 and 'Q[z[i]] += -9.81' in p.stdout and '--set N=2' in p.stdout, f'equations: {p.stdout[:500]}')
    # Few members are written out, with their closed form.
    p = run('equations', 'chain.toml', '--set', 'N=1', '--json')
    expect(p.returncode == 0 and 'terms' not in json.loads(p.stdout), 'equations N=1')
    p = run('bench', 'chain.toml', '--json')
    d = json.loads(p.stdout) if p.returncode == 0 else {}
    expect(p.returncode == 0 and d['tier'] == 'kernels' and d['path'] == 'sparse' and d['difference'] < 1e-9, f'bench: exit {p.returncode}: {p.stdout[:300]}{p.stderr[:300]}')
    # Parts: the two parts of the acceleration add up to it.
    p = run('accelerate', 'chain.toml', '--parts', '--json')
    d = json.loads(p.stdout)
    a, parts = d['acceleration'], d['parts']
    off = max(abs(a[x] - parts['acceleration_null'][x] - parts['acceleration_range'][x]) for x in a)
    expect(p.returncode == 0 and off < 1e-8, f'parts: {off}')
    # A sweep: starts that are off the constraints are moved onto them; the end is that of a run from there.
    p = run('sweep', 'chain.toml', '--set', 'N=400', '--vary', "y[400]'=0,0.3", '--to', '0.01', '-o', 'ends.csv')
    expect(p.returncode == 0, f'sweep: exit {p.returncode}: {p.stderr[:300]}')
    for method in ('--form', 'F4', '--set', 'N=100'), ('--explain',):
        p = run('accelerate', 'chain.toml', *method)
        expect(p.returncode == 0 and 'others' in p.stdout, f'accelerate {method}: exit {p.returncode}: {p.stderr[:300]}')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--program', required=True)
    parser.add_argument('--small', action='store_true', help='leave out the largest models, for a slow program')
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    with tempfile.TemporaryDirectory() as folder:
        def write(name, text):
            with open(os.path.join(folder, name), 'w', encoding='utf-8') as f: f.write(text)

        def run(*arguments):
            return subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True, timeout=limits.CLOCK, check=False)

        write('chain.toml', CHAIN)
        # A straight chain at rest: rods pull along its line only, so across it every mass falls freely, along it none moves, and the top
        # rod carries the weight of all along the line.
        for n in (334,) if options.small else (334, 2000):
            p = run('accelerate', 'chain.toml', '--set', f'N={n}', '--velocity', ','.join(f'y[{i}]=0' for i in range(1, n + 1)), '--json')
            expect(p.returncode == 0, f'accelerate N={n}: exit {p.returncode}: {p.stderr[:300]}')
            if p.returncode: continue
            d = json.loads(p.stdout)
            a = d['acceleration']
            worst = 0.0
            for i in range(1, n + 1):
                before = (a[f'x[{i - 1}]'], a[f'z[{i - 1}]']) if i > 1 else (0.0, 0.0)
                worst = max(worst, abs(0.6 * (a[f'x[{i}]'] - before[0]) - 0.8 * (a[f'z[{i}]'] - before[1])))
            expect(worst < 1e-9, f'accelerate N={n}: rods stretch by {worst}')
            across = max(abs(0.8 * a[f'x[{i}]'] + 0.6 * a[f'z[{i}]'] + 9.81 * 0.6) for i in range(1, n + 1))
            expect(across < 1e-8, f'accelerate N={n}: acceleration across the chain off by {across}')
            # The gradient of |r|^2 is twice the unit vector: the multiplier is half the tension.
            tension = abs(2 * d['multipliers']['top'])
            expect(abs(tension - 0.8 * 9.81 * n) < 1e-8 * tension, f'accelerate N={n}: tension {tension}')
            expect(d['rank'] == n and d['multipliers_unique'], f'accelerate N={n}: rank {d["rank"]}')

        p = run('check', 'chain.toml', '--json')
        d = json.loads(p.stdout)
        expect(p.returncode == 0 and d['coordinates'] == 3000 and d['degrees_of_freedom'] == 2000, f'check: {p.stdout} {p.stderr}')

        # Energy and lengths from the rows.
        p = run('run', 'chain.toml', '-o', 'rows.csv')
        expect(p.returncode == 0 and 'passes its checks' in p.stderr, f'run: exit {p.returncode}: {p.stderr[:400]}')
        with open(os.path.join(folder, 'rows.csv'), encoding='utf-8', newline='') as f: rows = [{k: float(v) for k, v in r.items()} for r in csv.DictReader(f)]
        expect([r['t'] for r in rows] == [0.0, 0.25, 0.5], f'run: times {[r["t"] for r in rows]}')
        energies = [sum(0.5 * (r[f"x[{i}]'"]**2 + r[f"y[{i}]'"]**2 + r[f"z[{i}]'"]**2) + 9.81 * r[f'z[{i}]'] for i in range(1, 1001)) for r in rows]
        expect(max(abs(e - energies[0]) for e in energies) < 1e-6 * abs(energies[0]), f'run: energies {energies}')
        longest = max(abs(math.dist(*((r.get(f'x[{i}]', 0.0), r.get(f'y[{i}]', 0.0), r.get(f'z[{i}]', 0.0)) for i in (k, k - 1))) - 1.0) for r in rows for k in range(1, 1001))
        expect(longest < 1e-11, f'run: a rod is off by {longest}')

        # The same motion by the ordinary path and by this one: 1,000 masses that nothing touches make the model large.
        # Errors: the tolerance of each step, relative to values of up to 24, over some 300 steps of both.
        small = CHAIN.replace('N = 1000', 'N = 30').replace('1e-9', '1e-12')
        write('small.toml', small)
        write('both.toml', small.replace('"z[1..N]"]', '"z[1..N]", "dummy[1..1000]"]').replace(
            'z[i]\'^2))"', 'z[i]\'^2)) + sum(i = 1..1000, dummy[i]\'^2)"'))
        ends = []
        for name in ('small.toml', 'both.toml'):
            p = run('run', name, '-o', 'end.csv')
            expect(p.returncode == 0, f'{name}: exit {p.returncode}: {p.stderr[:300]}')
            with open(os.path.join(folder, 'end.csv'), encoding='utf-8', newline='') as f: ends.append(list(csv.DictReader(f))[-1])
        off = max(abs(float(ends[0][k]) - float(ends[1][k])) for k in ends[0] if k in ends[1] and k[0] in 'xyz')
        expect(off < 2 * 300 * 24 * 1e-12, f'two paths differ by {off}')

        # A dependent rod is named, a contradicting one refused.
        write('twice.toml', CHAIN.replace('[start.position]', '[constraints.again]\nfor = "i = 500..500"\nequation = "2*(x[i] - x[i-1])^2 + 2*(y[i] - y[i-1])^2 + 2*(z[i] - z[i-1])^2 = 2"\n[start.position]'))
        p = run('check', 'twice.toml')
        expect(p.returncode == 0 and 'rank                  1000 of 1001' in p.stdout and ('again[500]' in p.stdout or 'rod[500]' in p.stdout), f'twice: {p.stdout}{p.stderr}')
        write('moving.toml', CHAIN.replace('[start.position]', '[constraints.again]\nfor = "i = 500..500"\nequation = "(x[i] - x[i-1])^2 + (y[i] - y[i-1])^2 + (z[i] - z[i-1])^2 = 1 + t^2"\n[start.position]'))
        p = run('check', 'moving.toml')
        expect(p.returncode == 1 and '500]' in p.stderr, f'moving: exit {p.returncode} {p.stdout}{p.stderr}')

        # More rods than needed: what is redundant is known by how the model is made.
        models = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'bench', 'models')
        p = run('accelerate', os.path.join(models, 'redundant_chain.toml'), '--json')
        d = json.loads(p.stdout)
        expect(p.returncode == 0 and d['rank'] == 1000 and d['rows'] == 1030 and d['unique'] and d['consistent'] and d['conflicts'] == [], f'redundant: exit {p.returncode} {p.stderr[:300]}')
        names = [f'twice[{i}]' for i in range(1, 11)] + [f'thrice[{i},{k}]' for i in range(1, 11) for k in (1, 2)]
        expect(sorted(d['redundant']) == sorted(names), f'redundant: {d["redundant"]}')
        truth = {f'twice[{i}]': (f'rod[{100 * i}]', 2.0) for i in range(1, 11)} | {f'thrice[{i},{k}]': (f'rod[{100 * i - 50}]', 1.0) for i in range(1, 11) for k in (1, 2)}
        for name, on in d['depends'].items():
            rod, c = truth[name]
            expect(list(on) == [rod] and abs(on[rod] - c) < 1e-12, f'redundant: {name} = {on}')
        # Least norm: of a row and c times it, λ and cλ; of three equal ones, a third each.
        m = d['multipliers']
        expect(all(abs(m[f'twice[{i}]'] - 2 * m[f'rod[{100 * i}]']) < 1e-9 * abs(m['top']) for i in range(1, 11)), 'redundant: multipliers of rods that are there twice')
        expect(all(abs(m[f'thrice[{i},{k}]'] - m[f'rod[{100 * i - 50}]']) < 1e-9 * abs(m['top']) for i in range(1, 11) for k in (1, 2)), 'redundant: multipliers of rods that are there three times')
        expect(d['solution_residual'] <= 1e-9 and len(d['multipliers_undetermined']) == 50 and not d['multipliers_unique'], f'redundant: residual {d["solution_residual"]}')
        a, f = d['acceleration'], d['constraint_force']
        g = sum(f[x] * (a[x] - d['unconstrained_acceleration'][x]) for x in a)
        expect(abs(g - d['gaussian']) <= 1e-9 * g, f'redundant: gaussian {d["gaussian"]}, expected {g}')
        for name, rank, rows, dependent in [('truss.toml', 1151, 2164, 1013), ('girder.toml', 4003, 5003, 1000)][:1 if options.small else 2]:
            p = run('check', os.path.join(models, name), '--json')
            d = json.loads(p.stdout)
            expect(p.returncode == 0 and (d['rank'], d['rows'], len(d['redundant'])) == (rank, rows, dependent), f'{name}: exit {p.returncode} rank {d["rank"]} of {d["rows"]} {p.stderr[:300]}')
        # Each cell of the girder is one too many, and the last of its rods in the file is its falling one.
        if not options.small: expect(set(d['redundant']) == {f'falling[{i}]' for i in range(1, 1001)} and all(len(on) == 5 for on in d['depends'].values()), f'girder: {d["redundant"][:5]}')
        p = run('run', os.path.join(models, 'truss.toml'), *(('--to', '0.05') if options.small else ()), '-o', 'truss.csv', '--columns', 'x[2,1],y[2,1],residual')
        expect(p.returncode == 0 and 'passes its checks' in p.stderr, f'truss: exit {p.returncode} {p.stderr[:300]}')
        # Sixteen contacts with friction are hit at once, beside control and measured rows; none of the rest is thrown up by rounding.
        if not options.small:
            p = run('run', os.path.join(models, 'net_features.toml'), '-o', 'net.csv', '--columns', 'residual')
            expect(p.returncode == 0 and 'passes its checks' in p.stderr and '5 impacts' in p.stderr, f'net: exit {p.returncode} {p.stderr[:300]}')
        # A straight chain between walls: one rod too many, explained by all others; bent by 1e-6 none is.
        for bend, rank in (('0', 1000), ('1e-6', 1001)):
            p = run('check', os.path.join(models, 'straight_chain.toml'), '--set', f'bend={bend}', '--json')
            d = json.loads(p.stdout)
            expect(p.returncode == 0 and d['rank'] == rank, f'straight: exit {p.returncode} rank {d["rank"]} {p.stderr[:300]}')
            if bend == '0': expect(d['redundant'] == ['last[1000]'] and len(d['depends']['last[1000]']) == 1000 and all(abs(abs(c) - 1) < 1e-9 for c in d['depends']['last[1000]'].values()), f'straight: {d["redundant"]}')
        # What contradicts is named, and nothing else.
        p = run('accelerate', 'moving.toml', '--json')
        d = json.loads(p.stdout)
        expect(p.returncode == 1 and d['conflicts'] == [['rod[500]', 'again[500]']] and d['acceleration'] is None and not d['consistent'], f'moving: {p.returncode} {d["conflicts"]}')
        # Coordinates without mass that nothing holds.
        write('free.toml', CHAIN.replace('"z[1..N]"]', '"z[1..N]", "s[1..3]"]').replace('[start.position]', '[constraints.tie]\nfor = "i = 2..2"\nequation = "s[i] = x[1]"\n[start.position]'))
        p = run('accelerate', 'free.toml', '--json')
        d = json.loads(p.stdout)
        expect(p.returncode == 1 and not d['unique'] and d['solvable'] and d['undetermined'] == ['s[1]', 's[3]'] and d['acceleration'] is None and d['gaussian'] is None, f'free: {p.returncode} {d["undetermined"]} {p.stderr[:300]}')

        # Columns, and what is refused.
        p = run('run', 'chain.toml', '-o', 'few.csv', '--columns', "x[1000],y[99?]',lambda(rod[2]),work_given,residual")
        with open(os.path.join(folder, 'few.csv'), encoding='utf-8') as f: header = f.readline().strip()
        expect(header == 't,x[1000],' + ','.join(f"y[{i}]'" for i in range(990, 1000)) + ',lambda(rod[2]),residual,work_given', f'columns: {header}')
        for arguments, status, says in [
                (('run', 'chain.toml', '--columns', 'q*'), 2, 'no column is called `q*`'),
                (('run', 'chain.toml', '--columns', 'x[1001]', '-o', 'x.h5'), 2, 'no column is called `x[1001]`'),
                (('equations', 'chain.toml', '--latex'), 2, 'by term'),
                (('sweep', 'chain.toml', '--set', 'N=40000', '--vary', "y[1]'=0,1"), 1, '100000 are possible'),
                (('run', 'chain.toml', '--to', '-1'), 2, 'would end at'),
                (('run', 'chain.toml', '--position', 'x[3]=5'), 1, 'the start position violates constraint `rod[3]`'),
                (('check', 'chain.toml', '--position', 'x[3]=5'), 1, 'the start position violates constraint `rod[3]`'),
                (('accelerate', 'chain.toml', '--position', 'x[1001]=5'), 2, 'no coordinate `x[1001]`')]:
            p = run(*arguments)
            expect(p.returncode == status and says in p.stderr, f'{arguments}: exit {p.returncode}, said {p.stderr[:300]}')
        for name in ('x.h5', 'x.h5.part'): expect(not os.path.exists(os.path.join(folder, name)), f'{name} was left')
        write('masses.csv', 'id,mass\n' + ''.join(f'{i},{1 + (7 * i % 11) / 11}\n' for i in range(30)))
        write('rich.toml', RICH.replace('DUMMY', ', "dummy[1..12000]"').replace('EXTRA', " + sum(i = 1..12000, dummy[i]'^2/2)"))
        every_command(write, run, options.small)
        results(folder, program, run, '1' if options.small else '4')
        rich(write, run)
        by_both_paths(write, run)
        to_blame(write, run)
    print(f'{passed} passed, {failed} failed')
    sys.exit(failed > 0)


main()
