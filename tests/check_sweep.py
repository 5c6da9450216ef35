#!/usr/bin/env python3
"""Checks `mechanician sweep` from outside: samples, results, threads, ranks, killed sweeps, mistakes.

usage: check_sweep.py --program PATH

Prints a line for each miss and, last, `N passed, N failed`. Sweeps of several ranks are left out where there is no mpirun or no
mechanician_mpi.so beside the program."""
import argparse, csv, fcntl, io, json, math, os, pty, re, resource, shutil, signal, struct, subprocess, sys, tempfile, termios, time

import limits

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
passed = failed = 0


def check(what, holds, more=''):
    global passed, failed
    if holds: passed += 1
    else:
        failed += 1
        print(f'MISS {what} {more}'.rstrip(), flush=True)


def model(name): return os.path.join(ROOT, 'models', name + '.toml')


class Sweeps:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def run(self, *args, limit=None, ranks=0, **more):
        command = [self.program, 'sweep', *args]
        if ranks: command = MPIRUN + ['-n', str(ranks)] + command
        def small(): resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, preexec_fn=small if limit else None, timeout=limits.CLOCK, **more)

    def rows(self, *args):
        done = self.run(*args)
        return done, list(csv.DictReader(io.StringIO(done.stdout)))

    def bytes(self, name):
        with open(os.path.join(self.folder, name), 'rb') as f: return f.read()

    def there(self, name): return os.path.exists(os.path.join(self.folder, name))


# For a program under the address sanitizer: what MPI keeps to the end is not ours to free, and is unloaded before it could be named.
MPIRUN = ['env', 'ASAN_OPTIONS=' + ':'.join(filter(None, [os.environ.get('ASAN_OPTIONS'), 'detect_leaks=0'])),
          'mpirun', '--allow-run-as-root', '--oversubscribe', '--quiet']


def check_results(s):
    done, rows = s.rows(model('pendulum'), '--vary', 'L=0.5:2:4', '--vary', "x'=0.5,-1", '--to', '2', '--keep', "energy,lambda(rod)" if has_output('pendulum', 'energy') else 'lambda(rod)')
    check('a grid times a list', done.returncode == 0 and len(rows) == 8, done.stderr)
    check('the last varies fastest', [(float(r['L']), float(r["start(x')"])) for r in rows] == [(l, v) for l in (0.5, 1, 1.5, 2) for v in (0.5, -1)])
    check('all are done', all(r['outcome'] == 'done' and float(r['t']) == 2 for r in rows))
    # Each motion is what `run` computes, from the same start moved onto the constraints.
    for r in (rows[1], rows[6]):
        alone = subprocess.run([s.program, 'run', model('pendulum'), '--set', f'L={r["L"]}', '--velocity', f'x={r["start(x" + chr(39) + ")"]}', '--to', '2', '--project-start', '--quiet'],
                               capture_output=True, text=True)
        last = list(csv.DictReader(io.StringIO(alone.stdout)))[-1]
        for name in ('x', 'y', "x'", "y'", 'lambda(rod)'):
            check(f'{name} as `run` has it', math.isclose(float(r[name]), float(last[name]), rel_tol=1e-7, abs_tol=1e-7), f'{r[name]} {last[name]}')

    done = s.run(model('pendulum'), '--vary', 'g=normal(9.81,0.1)', '--count', '50', '--to', '1', '--json')
    said = json.loads(done.stdout)
    check('keys of --json', {'motions', 'failed', 'steps', 'seconds', 'steps_per_second', 'device', 'lanes', 'threads', 'ranks', 'largest_constraint_violation'} <= set(said))
    check('numbers of --json', said['motions'] == 50 and said['failed'] == 0 and said['steps'] > 0 and said['ranks'] == 1 and said['device'] == 'cpu' and 0 <= said['largest_constraint_violation'] < 1e-10)

    done, rows = s.rows(model('double_pendulum'), '--vary', 'g=9.81,1.62', '--method', 'rk4', '--step', '0.003', '--to', '1')
    _, fine = s.rows(model('double_pendulum'), '--vary', 'g=9.81,1.62', '--to', '1', '--tolerance', '1e-12')
    names = [n for n in rows[0] if n.endswith("'") or n + "'" in rows[0]]
    check('rk4 comes close to the adaptive method', names and all(math.isclose(float(a[n]), float(b[n]), abs_tol=1e-6, rel_tol=1e-6) for a, b in zip(rows, fine) for n in names))
    check('rk4 ends at `to`, with a shorter last step', all(float(r['t']) == 1 and int(r['steps']) == 334 for r in rows))

    # A start that was varied is moved onto the constraints, unless it is to stay.
    _, rows = s.rows(model('pendulum'), '--vary', 'x=0.1,5', '--to', '0.1')
    check('starts are moved onto the constraints', all(r['outcome'] == 'done' and math.isclose(math.hypot(float(r['x']), float(r['y'])), 1, rel_tol=1e-12) for r in rows))
    # From afar: as `project` has it, and the same among others and on several threads.
    far = ['--vary', 'q1=uniform(-0.1,0.1)', '--vary', "q2'=uniform(-1,1)", '--seed', '5', '--to', '1e-9']
    _, rows = s.rows(model('arm7'), *far, '--count', '6', '--threads', '1')
    many = s.rows(model('arm7'), *far, '--count', '70', '--threads', '3')[1]
    check('a moved start is the same among 6 and 70', rows == many[:6] and all(r['outcome'] == 'done' for r in many))
    for r in rows[:3]:
        alone = subprocess.run([s.program, 'project', model('arm7'), '--position', f'q1={r["start(q1)"]}', '--velocity', f'q2={r["start(q2" + chr(39) + ")"]}', '--json'], capture_output=True, text=True)
        state = json.loads(alone.stdout)
        check('a moved start is where `project` puts it', all(math.isclose(float(r[f'q{i}']), state['position'][f'q{i}'], abs_tol=1e-7) and
                                                              math.isclose(float(r[f"q{i}'"]), state['velocity'][f'q{i}'], abs_tol=1e-6) for i in range(7)), f'{r} {alone.stdout}')
    done, rows = s.rows(model('pendulum'), '--vary', 'x=0.6,5', '--to', '0.1', '--as-given')
    check('--as-given leaves a start off the constraints', rows[0]['outcome'] == 'done' and rows[1]['outcome'] == 'failed' and 'rod' in rows[1]['reason'], done.stderr)


def has_output(name, output):
    with open(model(name)) as f: text = f.read()
    return bool(re.search(rf'^\[outputs\][^\[]*^{output}\s*=', text, re.M | re.S))


def check_samples(s):
    with open(os.path.join(s.folder, 's.csv'), 'w') as f: f.write("L,x'\n1,0.5\n0.5,0.25\n")
    _, a = s.rows(model('pendulum'), '--samples', 's.csv', '--to', '1')
    _, b = s.rows(model('pendulum'), '--vary', 'L=1,0.5', '--vary', "x'=0.5,0.25", '--to', '1')
    check('samples of a file are those of a list', [a[0], a[1]] == [b[0], b[3]])
    few = s.rows(model('pendulum'), '--vary', 'g=normal(9.81,0.1)', '--count', '8', '--seed', '3', '--to', '0.1')[1]
    many = s.rows(model('pendulum'), '--vary', 'g=normal(9.81,0.1)', '--count', '30', '--seed', '3', '--to', '0.1')[1]
    check('motion 7 is the same among 8 and 30', few[7] == many[7])
    other = s.rows(model('pendulum'), '--vary', 'g=normal(9.81,0.1)', '--count', '8', '--seed', '4', '--to', '0.1')[1]
    check('another seed gives other samples', few[7] != other[7])
    for sampling in ('lhs', 'sobol'):
        rows = s.rows(model('pendulum'), '--vary', 'g=uniform(0,16)', '--count', '16', '--sampling', sampling, '--to', '0.1')[1]
        check(f'{sampling} has one value in each interval', sorted(int(float(r['g'])) for r in rows) == list(range(16)))


def check_columns(s):
    # Columns of a result are samples again: what failed can be looked at by itself.
    _, rows = s.rows(model('pendulum'), '--vary', "x'=0.5,-1", '--vary', 'L=1,2', '--to', '1')
    with open(os.path.join(s.folder, 'again.csv'), 'w') as f:
        f.write("\"start(x')\",L\n" + ''.join(f'"{r["start(x" + chr(39) + ")"]}",{r["L"]}\n' for r in rows))
    check('samples taken from a result', s.rows(model('pendulum'), '--samples', 'again.csv', '--to', '1')[1] == rows)
    # What `run` has columns for can be kept, and is the same.
    for name, vary in (('rough_wire_bead', 'mu=0.1'), ('tracking_arm', None), ('pendulum', 'm=1.5')):
        if vary is None: vary = first_parameter(name)
        _, rows = s.rows(model(name), '--vary', vary, '--keep', '*', '--to', '0.5')
        alone = subprocess.run([s.program, 'run', model(name), '--set', vary, '--to', '0.5', '--quiet', '--project-start'], capture_output=True, text=True)
        last = list(csv.DictReader(io.StringIO(alone.stdout)))[-1]
        wanted = [n for n in last if not re.match('power|work|residual', n)]
        check(f'{name}: everything of `run`', all(n in rows[0] and math.isclose(float(rows[0][n]), float(last[n]), rel_tol=1e-6, abs_tol=1e-6) for n in wanted),
              str([n for n in wanted if n not in rows[0]]))
        extra = set(rows[0]) - set(last) - {vary.split('=')[0], 'outcome', 'steps', 'served', 'violation', 'balance', 'reason'}
        check(f'{name}: nothing that `run` does not have', not extra, str(extra))
    # No two columns have one name.
    with open(os.path.join(s.folder, 'names.toml'), 'w') as f:
        f.write('coordinates = ["balance"]\n[parameters]\nk = 4.0\n[dynamics]\nkinetic = "balance\'^2/2"\npotential = "k*balance^2/2"\n'
                '[start]\nposition = { balance = 1.0 }\n[run]\nto = 0.1\n[outputs]\nk = "2*balance"\nsteps = "3*balance"\n')
    _, rows = s.rows('names.toml', '--vary', 'k=4,9', '--keep', 'k,steps')
    check('columns of the model give way to those of every result', [r['k'] for r in rows] == ['4', '9'] and all(
        float(r['value(k)']) == 2 * float(r['value(balance)']) and float(r['value(steps)']) == 3 * float(r['value(balance)']) and int(r['steps']) > 0 for r in rows), str(rows[:1]))


def first_parameter(name):
    with open(model(name)) as f: text = f.read()
    return '='.join(re.search(r'^\[parameters\].*?^(\w+) *= *([0-9.]+)', text, re.M | re.S).groups())


def check_failures(s):
    done = s.run(model('pendulum'), '--vary', 'm=1,-1,2', '--to', '0.5', '-o', 'f.csv')
    with open(os.path.join(s.folder, 'f.csv')) as f: rows = list(csv.DictReader(f))
    check('a failed motion stops no other', [r['outcome'] for r in rows] == ['done', 'failed', 'done'] and done.returncode == 0, done.stderr)
    check('it is listed with its reason and sample', 'motion 1 (m = -1): ' in done.stderr and 'mass' in done.stderr and 'mass' in rows[1]['reason'], done.stderr)
    check('what it left is said', '2 done, 1 failed' in done.stderr, done.stderr)
    done = s.run(model('pendulum'), '--vary', 'm=-1,-2', '--to', '0.5', '-o', 'f.csv')
    check('all failed: exit status 4', done.returncode == 4, done.stderr)
    done = s.run(model('pendulum'), '--vary', 'm=-1', '--keep', 'lambda(rod)', '--to', '0.5', '-o', 'f.csv')
    check('no statistics of nothing', '1 motion: 0 done, 1 failed' in done.stderr and 'nan' not in done.stderr, done.stderr)
    for file, status in (('f.csv', 0), ('nowhere/f.csv', 3)):
        with open('/dev/full', 'w') as full:
            done = subprocess.run([s.program, 'sweep', model('pendulum'), '--vary', 'm=1,2', '--to', '0.5', '-o', file], cwd=s.folder, stderr=full)
        check('messages that nobody can hear end nothing', done.returncode == status, str(done.returncode))


MOTIONS = 2000       # of a long sweep


def long(count=None): return [model('four_bar'), '--vary', 'g=normal(9.81,0.1)', '--count', str(count or MOTIONS), '--seed', '5', '--to', '2']


def check_threads_and_kills(s):
    for end in ('h5', 'csv'):
        for threads in ('1', '2', '3'):
            s.run(*long(60), '--threads', threads, '-o', f'{threads}.{end}', '--quiet')
        check(f'1, 2 and 3 threads give the same {end}', s.bytes(f'1.{end}') == s.bytes(f'2.{end}') == s.bytes(f'3.{end}'))
    s.run(*long(), '-o', 'whole.h5', '--quiet')
    whole = s.bytes('whole.h5')
    for how, least in ((signal.SIGKILL, 12000), (signal.SIGINT, 12000)):
        run = subprocess.Popen([s.program, 'sweep', *long(), '-o', 'k.h5', '--threads', '1'], cwd=s.folder, stderr=subprocess.PIPE, text=True)
        part = os.path.join(s.folder, 'k.h5.part')
        wait_until(lambda: os.path.exists(part) and os.path.getsize(part) > least or run.poll() is not None)
        run.send_signal(how)
        said = run.communicate()[1]
        check(f'{how.name} came in the middle', os.path.exists(part) and not s.there('k.h5'))
        if how == signal.SIGINT: check('interrupted: 130, and how to go on', run.returncode == 130 and '--resume k.h5' in said, said)
        done = s.run('--resume', 'k.h5')
        left = int(re.search(rf'(\d+) of {MOTIONS} motions are left', done.stderr).group(1)) if ' are left' in done.stderr else -1
        check('only the rest is done', done.returncode == 0 and 0 < left < MOTIONS, done.stderr)
        check(f'after {how.name} the file is that of an undisturbed sweep', s.bytes('k.h5') == whole)
        check('no part is left', not s.there('k.h5.part'))
        os.remove(os.path.join(s.folder, 'k.h5'))
    check_what_changed(s)
    check_links(s)
    check_impatience(s)
    check_bar(s)
    done = s.run('--resume', 'whole.h5')
    check('nothing to go on with', done.returncode == 3 and 'complete' in done.stderr, done.stderr)
    # A last block that was cut off is noticed and done again.
    run = subprocess.Popen([s.program, 'sweep', *long(), '-o', 'c.h5', '--threads', '1', '--quiet'], cwd=s.folder)
    part = os.path.join(s.folder, 'c.h5.part')
    wait_until(lambda: os.path.exists(part) and os.path.getsize(part) > 12000 or run.poll() is not None)
    run.kill(), run.wait()
    os.truncate(part, os.path.getsize(part) - 100)
    s.run('--resume', 'c.h5', '--quiet')
    check('a part that was cut off', s.bytes('c.h5') == whole)
    return whole


def killed(s, result, part, *args):
    """A sweep that is killed when something of it is in its part file."""
    run = subprocess.Popen([s.program, 'sweep', *args, '-o', result, '--threads', '1', '--quiet'], cwd=s.folder)
    path = os.path.join(s.folder, part)
    wait_until(lambda: os.path.exists(path) and os.path.getsize(path) > 12000 or run.poll() is not None)
    run.kill(), run.wait()
    check(f'{result} was killed in the middle', os.path.exists(path))


def check_what_changed(s):
    def file(name, text):
        with open(os.path.join(s.folder, name), 'w') as f: f.write(text)
    samples = 'k\n' + ''.join(f'{1 + i / 1e4}\n' for i in range(4 * MOTIONS))
    file('masses.csv', 'm\n1\n2\n'), file('k.csv', samples)
    text = ('coordinates = ["x[1..2]"]\n[parameters]\nm = { csv = "masses.csv", column = "m" }\nk = 1.0\n[dynamics]\nkinetic = "sum(i = 1..2, m[i]/2*x[i]\'^2)"\n'
            'potential = "sum(i = 1..2, k/2*x[i]^2)"\n[start]\nvelocity = { "x[1]" = 1.0 }\n[run]\nto = 40.0\n')
    file('masses.toml', text)
    killed(s, 'w.h5', 'w.h5.part', 'masses.toml', '--samples', 'k.csv')
    file('masses.toml', text.replace('40', '30')), file('masses.csv', 'm\n1\n3\n'), file('k.csv', samples.replace('1.0001\n', '1.0002\n'))
    done = s.run('--resume', 'w.h5')
    check('samples that have changed', done.returncode == 1 and 'not the samples that the sweep was begun with' in done.stderr, done.stderr)
    file('k.csv', samples)
    done = s.run('--resume', 'w.h5')
    check('numbers of the model that have changed', done.returncode == 1 and 'is not what it was' in done.stderr, done.stderr)
    file('masses.csv', 'm\n1\n2\n')
    done = s.run('masses.toml', '--resume', 'w.h5')
    check('a model that has changed', done.returncode == 1 and 'not the model of the sweep' in done.stderr, done.stderr)
    done = s.run('--resume', 'w.h5')
    check('it goes on when all is as it was', done.returncode == 0, done.stderr)


def check_links(s):
    os.mkdir(os.path.join(s.folder, 'far'))
    os.symlink('far/target', os.path.join(s.folder, 'link.h5'))
    killed(s, 'link.h5', 'far/target.part', *long())
    done = s.run('--resume', 'link.h5', '--quiet')
    check('a result behind a link', done.returncode == 0 and os.path.islink(os.path.join(s.folder, 'link.h5')) and s.bytes('far/target') == s.bytes('whole.h5'), done.stderr)


def check_bar(s):
    for columns in (30, 120):
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
        run = subprocess.Popen([s.program, 'sweep', *long(6 * MOTIONS), '-o', 'b.csv', '--threads', '1'], cwd=s.folder, stderr=slave)  # some seconds
        os.close(slave)
        said = b''
        while True:
            try: piece = os.read(master, 65536)
            except OSError: break  # the other end has gone
            if not piece: break
            said += piece
        run.wait(), os.close(master)
        drawn = [line.replace('\x1b[K', '') for line in said.decode().split('\r') if ' % ' in line and ' of ' in line]
        check(f'a bar that fits {columns} columns', drawn and max(map(len, drawn)) < columns and any('[' in d for d in drawn) == (columns > 90), str(drawn[:2]))
    done = s.run(*long(40), '-o', 'b.csv')
    check('no bar where there is no terminal', '\r' not in done.stderr and '%' not in done.stderr, done.stderr)


def check_impatience(s):
    """Motions take long: a first signal gives those under way some seconds and says so, a second one does not."""
    run = subprocess.Popen([s.program, 'sweep', model('double_pendulum'), '--vary', 'g=9,10', '--method', 'rk4', '--step', '1e-5', '--to', '1e6', '-o', 'i.h5'],
                           cwd=s.folder, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: s.there('i.h5.part') or run.poll() is not None)
    run.send_signal(signal.SIGINT)
    said = run.stderr.readline()
    check('what is under way has some time', 'under way have three seconds' in said and run.poll() is None, said)
    run.communicate(timeout=60)
    check('and no more than that', run.returncode == 130, str(run.returncode))
    run = subprocess.Popen([s.program, 'sweep', model('double_pendulum'), '--vary', 'g=9,10', '--method', 'rk4', '--step', '1e-5', '--to', '1e6', '-o', 'j.h5'],
                           cwd=s.folder, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: s.there('j.h5.part') or run.poll() is not None)
    run.send_signal(signal.SIGINT)
    run.stderr.readline()
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=limits.CLOCK)
    check('once more leaves it', run.returncode == -signal.SIGINT, str(run.returncode))


def wait_until(holds):
    end = time.time() + limits.CLOCK
    while not holds() and time.time() < end: time.sleep(0.002)


def children_of(process):
    """Processes of the program under mpirun."""
    found = []
    for entry in os.listdir('/proc'):
        if not entry.isdigit(): continue
        try:
            with open(f'/proc/{entry}/stat') as f: parent = int(f.read().rsplit(')', 1)[1].split()[1])
        except (OSError, IndexError): continue
        if parent == process: found.append(int(entry))
    return found


def check_ranks(s, whole):
    for ranks in (1, 2, 4):
        done = s.run(*long(), '-o', f'r{ranks}.h5', '--json', ranks=ranks)
        check(f'{ranks} ranks', done.returncode == 0 and json.loads(done.stdout)['ranks'] == ranks, done.stderr)
        check(f'{ranks} ranks give the file of one process', s.there(f'r{ranks}.h5') and s.bytes(f'r{ranks}.h5') == whole)
    for ending in ('m.h5', 'm.csv'):
        longer = long(2 * MOTIONS)
        s.run(*longer, '-o', 'undisturbed' + ending, '--quiet')
        run = subprocess.Popen(MPIRUN + ['-n', '4', s.program, 'sweep', *longer, '-o', ending, '--threads', '1'], cwd=s.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        part = os.path.join(s.folder, ending + '.part-2')
        wait_until(lambda: os.path.exists(part) and os.path.getsize(part) > 8000 or run.poll() is not None)
        ranks = children_of(run.pid)
        check('the ranks are there', len(ranks) == 4, str(ranks))
        if ranks: os.kill(ranks[-1], signal.SIGKILL)
        run.communicate()
        check('the job is over, and not done', not s.there(ending) and s.there(ending + '.part'))
        done = s.run('--resume', ending, ranks=2)
        check('the rest, by two ranks', done.returncode == 0, done.stderr)
        check('the file is that of an undisturbed sweep', s.there(ending) and s.bytes(ending) == s.bytes('undisturbed' + ending))
        check('no part is left', not [n for n in os.listdir(s.folder) if n.startswith(ending + '.part')])
    done = s.run(model('four_bar'), '--vary', 'nope=1', '-o', 'e.h5', ranks=2)
    check('a mistake under mpirun', done.returncode == 2 and done.stderr.count('neither a parameter') == 1, done.stderr)


def check_mistakes(s):
    def file(name, text):
        with open(os.path.join(s.folder, name), 'w') as f: f.write(text)
    file('large.toml', 'coordinates = ["x[1..N]"]\n[parameters]\nN = 1001\n[dynamics]\nkinetic = "sum(i = 1..N, x[i]\'^2/2)"\n[run]\nto = 1.0\n')
    file('steer.csv', 'L\n\033[31mred\n')
    file('nan.csv', 'L\n1\nnan\n'), file('wrong.csv', 'L,lenght\n1,2\n'), file('none.csv', 'L\n')
    p = model('pendulum')
    for what, args, status, part in (
            ('no model', ['--vary', 'L=1'], 2, 'MODEL is required'),
            ('nothing varied', [p], 2, 'nothing is varied'),
            ('a file that is not there', [p, '--samples', 'nowhere.csv'], 3, 'nowhere.csv: cannot read'),
            ('a sample that is not a number', [p, '--samples', 'nan.csv'], 1, 'nan.csv:3: `nan` in column `L`'),
            ('a column that is nothing', [p, '--samples', 'wrong.csv'], 1, '`lenght` is neither a parameter'),
            ('samples that would steer the terminal', [p, '--samples', 'steer.csv'], 1, '[31mred` in column `L`'),
            ('no samples', [p, '--samples', 'none.csv'], 1, 'no samples'),
            ('no samples asked for', [p, '--vary', 'L=normal(1,1)', '--count', '0'], 2, '--count'),
            ('no count', [p, '--vary', 'L=normal(1,1)'], 2, 'need --count'),
            ('an unknown name', [p, '--vary', 'l=1,2'], 2, 'did you mean `L`'),
            ('a grid that is none', [p, '--vary', 'L=1:2'], 2, 'FROM:TO:COUNT'),
            ('nothing to keep', [p, '--vary', 'L=1', '--keep', 'enrgy'], 2, 'nothing that can be kept'),
            ('rk4 without a step', [p, '--vary', 'L=1', '--method', 'rk4'], 2, '--step'),
            ('a step below rounding', [p, '--vary', 'L=1', '--method', 'rk4', '--step', '1e-300'], 2, 'lost in the rounding of the time'),
            ('a time beyond counting', [p, '--vary', 'L=1', '--method', 'rk4', '--step', '1', '--to', '1e300'], 2, 'lost in the rounding of the time'),
            ('what is there anyway', [p, '--vary', 'L=1', '--keep', "x'"], 2, 'is in every result'),
            ('a distribution that is none', [p, '--vary', 'L=gamma(1,2)', '--count', '3'], 2, 'no distribution `gamma`'),
            ('a large model', ['large.toml', '--vary', "x[1]'=1,2", '-o', 'large.csv'], 0, '2 motions: 2 done'),
            ('a model that is too large', ['large.toml', '--set', 'N=200000', '--vary', "x[1]'=1,2"], 1, '100000 are possible'),
            ('rk4 and contacts', [model('bouncing_ball'), '--vary', 'g=9,10', '--method', 'rk4', '--step', '1e-3'], 2, 'one-sided'),
            ('a method that is none', [p, '--vary', 'L=1', '--method', 'rk5'], 2, 'rk4, auto'),
            ('a device that is none', [p, '--vary', 'L=1', '--device', 'tpu'], 2, '--device tpu'),
            ('an ending that is none', [p, '--vary', 'L=1', '-o', 'x.json'], 2, '.h5 or .csv'),
            ('threads', [p, '--vary', 'L=1', '--threads', '0'], 2, '--threads'),
            ('a folder that is not there', [p, '--vary', 'L=1', '-o', 'no/x.h5'], 3, 'no/x.h5.part: cannot write'),
            ('nothing to resume', ['--resume', 'y.h5'], 3, 'no sweep was interrupted'),
            ('options with --resume', ['--resume', 'y.h5', '--to', '1'], 2, '--to cannot be given'),
            ('sizes of families', [model('net'), '--vary', size_of_net()], 2, 'how many members')):
        done = s.run(*args)
        check(what, done.returncode == status and part in done.stderr and not done.stdout and '\033' not in done.stderr, f'{done.returncode} {done.stderr}')
    done = s.run(p, '--vary', 'L=uniform(1,2)', '--count', '300', '--to', '0.1', '-o', 'full.h5', limit=20000)
    check('no room on the disk', done.returncode == 3 and 'full.h5' in done.stderr and not s.there('full.h5'), f'{done.returncode} {done.stderr}')
    done = s.run('--resume', 'full.h5')
    s.run(p, '--vary', 'L=uniform(1,2)', '--count', '300', '--to', '0.1', '-o', 'room.h5')
    check('and going on when there is room', done.returncode == 0 and s.bytes('full.h5') == s.bytes('room.h5'), done.stderr)


def size_of_net():
    with open(model('net')) as f: text = f.read()
    name = re.search(r'\.\.\s*([A-Za-z]\w*)', text).group(1)
    return f'{name}=3,4'


def main():
    global MOTIONS
    parser = argparse.ArgumentParser()
    parser.add_argument('--program', required=True)
    parser.add_argument('--motions', type=int, default=MOTIONS, help='of a long sweep: fewer for a program that is slow')
    options = parser.parse_args()
    MOTIONS = options.motions
    program = os.path.abspath(options.program)
    with tempfile.TemporaryDirectory() as folder:
        s = Sweeps(program, folder)
        check_results(s), check_samples(s), check_columns(s), check_failures(s)
        whole = check_threads_and_kills(s)
        check_mistakes(s)
        if shutil.which('mpirun') and os.path.exists(os.path.join(os.path.dirname(program), 'mechanician_mpi.so')): check_ranks(s, whole)
        else: print('left out: several ranks')
    print(f'{passed} passed, {failed} failed')
    sys.exit(failed > 0)


if __name__ == '__main__': main()
