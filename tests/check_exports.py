#!/usr/bin/env python3
"""Models as C: every model that can be exported compiles without a warning and moves as `run` does; the others are refused by name.

usage: check_exports.py --program PATH --models FOLDER [--compilers gcc,clang-14] [--every N] [--sanitize]

Prints a line for each miss and, last, `N passed, N failed`. Needs Python 3.11 and a C compiler."""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import limits

WARNINGS = ['-std=c99', '-Wall', '-Wextra', '-pedantic', '-Wconversion', '-Werror']
MAIN = r"""
#include "NAME.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
static int held(int row) { static const char is[] = {HELD 0}; return is[row]; }
int main(int argc, char **argv)
{
  enum { n = NAME_COORDINATES, states = NAME_STATES };
  double p[NAME_PARAMETERS + 1], to, values[2*NAME_ROWS + 1], q[n + states], v[n], worst = 0;
  int i, status, events = 0;
  NAME_motion m, again;
  NAME_instant now;
  if (argc < 3) return 2;
  to = atof(argv[1]);
  NAME_parameters(p);
  NAME_begin(&m, p, atof(argv[2]));
  NAME_begin(&again, p, atof(argv[2]));
  status = m.status;
  if (!status) status = NAME_look(&m, p, &now);
  printf("{\"status\": %d, \"a\": [", status);
  for (i = 0; i < n; ++i) printf("%s%.17g", i ? ", " : "", status ? 0 : now.a[i]);
  printf("], \"force\": [");
  for (i = 0; i < n; ++i) printf("%s%.17g", i ? ", " : "", status ? 0 : now.force[i]);
  printf("]");
  while (!status && m.t < to && !m.stopped) {
    const double begin = m.t;
    status = NAME_step(&m, p, to);
    if (status) break;
    events += m.event >= 0;
    if (!NAME_CONTACTS && !NAME_MODES) {
      NAME_residuals(m.t, m.q, m.v, p, values);
      for (i = 0; i < 2*NAME_ROWS; ++i) if (fabs(values[i]) > worst && held(i/2)) worst = fabs(values[i]);
    }
    NAME_dense(&m, begin, q, v);
    for (i = 0; i < n; ++i) if (fabs(q[i] - m.y[i]) > 1e-9*(1 + fabs(q[i]))) status = 100;
  }
  printf(", \"end\": %.17g, \"stopped\": %d, \"why\": \"%s\", \"worst\": %.17g, \"events\": %d, \"steps\": %ld, \"q\": [", m.t, status, NAME_status_text(status), worst, events, m.steps);
  for (i = 0; i < n + states; ++i) printf("%s%.17g", i ? ", " : "", m.q[i]);
  printf("], \"v\": [");
  for (i = 0; i < n; ++i) printf("%s%.17g", i ? ", " : "", m.v[i]);
  printf("], \"outputs\": [");
  if (!status) status = NAME_look(&m, p, &now);
  for (i = 0; i < NAME_OUTPUTS; ++i) printf("%s%.17g", i ? ", " : "", status ? 0 : now.outputs[i]);
  printf("]");
  for (i = 0; i < 50; ++i) if (NAME_step_rk4(&again, p, (to - again.t)/1e5) != 0) break;
  printf(", \"rk4\": %d}\n", i);
  return 0;
}
"""
# What no straight-line code can say: `export` names it.
REASONS = ('one-sided or has friction', 'state of first order', 'events release', 'tables of data', 'contradict each other', 'is not unique', 'is measured', 'control requirement', 'coordinates; straight-line', 'mass matrix is singular', 'without a value', 'has no value')
# Singular configurations that only `run` crosses; there the status says that the error test cannot be met.
STOPS = {'bricard', 'ladder_2', 'ladder_10'}


class Check:
    def __init__(self):
        self.passed = self.failed = 0

    def that(self, what, holds, seen=''):
        self.passed += bool(holds)
        self.failed += not holds
        if not holds:
            print(f'MISS {what}: {str(seen)[:300]}', flush=True)


def call(*words, **options):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=limits.CLOCK, **options)


def check_model(check, program, file, folder, compilers, sanitize):
    name = file.stem
    made = call(program, 'export', 'c', file, '-o', folder)
    if made.returncode != 0:
        check.that(f'{name} is refused with a reason', made.returncode == 1 and any(r in made.stderr for r in REASONS), made.stderr)
        check.that(f'{name}: nothing is half written', not (folder / f'{name}.c').exists())
        return
    source = (folder / f'{name}.c').read_text(encoding='utf-8')
    (folder / 'main.c').write_text(MAIN.replace('NAME', name), encoding='utf-8')
    flags = ['-O1', '-g', '-fsanitize=address,undefined', '-fno-sanitize-recover=all'] if sanitize else ['-O1']
    answers = []
    for compiler in compilers:
        built = call(compiler, *WARNINGS, *flags, '-ffp-contract=off', f'-I{folder}', folder / 'main.c', folder / f'{name}.c', '-lm', '-o', folder / 'program')
        check.that(f'{name}: {compiler} has nothing to say', built.returncode == 0 and not built.stderr, built.stderr)
        run = json.loads(call(program, 'run', file, '--json', '--quiet', '--tolerance', '1e-10', '--every', '1e9').stdout or 'null')
        if built.returncode != 0 or run is None:
            continue
        to = run['rows'][-1][0]
        answer = json.loads(call(folder / 'program', repr(to), '1e-10').stdout or 'null')
        check.that(f'{name}: the program ends', answer is not None)
        if answer is None:
            continue
        answers.append(answer)
        columns = run['columns']
        row = dict(zip(columns, run['rows'][-1]))
        n = len(answer['a'])
        names = columns[1:1 + n]
        first = dict(zip(columns, run['rows'][0]))
        size = max(1.0, *(abs(first[f"{x}''"]) for x in names))  # of what rests there is rounding
        check.that(f'{name}: the accelerations of the start', all(abs(a - first[f"{x}''"]) <= 1e-9*size for a, x in zip(answer['a'], names)), answer['a'])
        largest = max(1e-300, *(abs(first[f'Qc({x})']) for x in names), *(abs(x) for x in answer['force']))
        check.that(f'{name}: the constraint forces of the start', all(abs(f - first[f'Qc({x})']) <= 1e-8*largest for f, x in zip(answer['force'], names)), answer['force'])
        if name in STOPS:
            check.that(f'{name}: stops with a status', answer['stopped'] != 0 and answer['why'] != 'success', answer['why'])
            continue
        want = [v for x in names for v in (row[x], row[f"{x}'"])]
        scale = max(1e-300, *map(abs, want))
        error = max(abs(a - b) for a, b in zip(answer['y'], want))/scale
        check.that(f'{name}: moves as `run` does', answer['stopped'] == 0 and error < 1e-6, (answer['why'], error))
        check.that(f'{name}: stays on the constraints', answer['worst'] < 1e-8*max(1.0, scale), answer['worst'])
        check.that(f'{name}: fixed steps go on', answer['rk4'] == 50, answer['rk4'])
    if len(answers) == 2:
        check.that(f'{name}: two compilers, the same bits', answers[0] == answers[1])
    # Of the object alone: sanitizers put names of their own into what they build.
    call(compilers[0], '-std=c99', '-c', f'-I{folder}', folder / f'{name}.c', '-o', folder / 'model.o')
    seen = [line.split()[-1] for line in call('nm', '-g', '--defined-only', folder / 'model.o').stdout.splitlines()]
    check.that(f'{name}: no names but its own are seen outside', seen and all(symbol.startswith(f'{name}_') for symbol in seen), seen)
    check.that(f'{name}: no globals that change', '\nstatic double ' not in source.replace('\nstatic double ' + name, ''), '')


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument('--program', required=True)
    arguments.add_argument('--models', required=True, type=pathlib.Path)
    arguments.add_argument('--compilers', default='gcc,clang-14')
    arguments.add_argument('--every', type=int, default=1, help='of the models one in so many')
    arguments.add_argument('--sanitize', action='store_true')
    options = arguments.parse_args()
    compilers = [c for c in options.compilers.split(',') if shutil.which(c)]
    check = Check()
    for file in sorted(options.models.glob('*.toml'))[::options.every]:
        with tempfile.TemporaryDirectory() as folder:
            check_model(check, os.path.abspath(options.program), file.resolve(), pathlib.Path(folder), compilers, options.sanitize)
    with tempfile.TemporaryDirectory() as folder:
        bad = call(options.program, 'export', 'fortran', options.models / 'pendulum.toml', '-o', folder)
        check.that('an unknown kind is a mistake of the command line', bad.returncode == 2, bad.stderr)
        blocked = pathlib.Path(folder) / 'file'
        blocked.write_text('', encoding='utf-8')
        bad = call(options.program, 'export', 'c', options.models / 'pendulum.toml', '-o', blocked)
        check.that('a folder that cannot be is said', bad.returncode == 3, (bad.returncode, bad.stderr))
    print(f'{check.passed} passed, {check.failed} failed')
    return 0 if check.failed == 0 and check.passed else 1


if __name__ == '__main__':
    sys.exit(main())
