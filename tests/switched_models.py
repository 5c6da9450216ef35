"""Models with kinks and jumps, as C and as FMUs: against closed forms and `run`. Used by check_exports.py and check_fmus.py."""
import json
import math
import subprocess

import limits

BUMP = '[[0, 0], [5, 0], [5.5, 0.05], [6, 0.08], [6.5, 0.03], [7, 0], [20, 0]]'


def at_rest(force, more=''):
    """A mass that begins at rest at zero."""
    return f'coordinates = ["x"]\n[parameters]\nv = 10\n[dynamics]\nkinetic = "x\'^2/2"\nforce = {{ x = "{force}" }}\n[start]\nposition = {{ x = 0 }}\n[run]\nto = 2.0\n{more}'


def table(interpolation):
    return f'[tables.f]\npoints = {BUMP}\ninterpolation = "{interpolation}"\noutside = "hold"\n'


def bump(interpolation, to=2.0):
    """x and x' of x'' = f(10 t), piece by piece."""
    points = [(x/10, y) for x, y in json.loads(BUMP)]
    x = v = 0.0
    for (t0, y0), (t1, y1) in zip(points, points[1:]):
        h, slope = t1 - t0, 0.0 if interpolation == 'steps' else (y1 - y0)/(t1 - t0)
        x, v = x + v*h + y0*h*h/2 + slope*h**3/6, v + y0*h + slope*h*h/2
    assert abs(points[-1][0] - to) < 1e-12
    return {'x': x, "x'": v}


def wheel(to=8.0, a=2.0, w=3.0):
    """a'' = −1 within 0.4 of a whole turn, 0.5 elsewhere: parabola after parabola."""
    t = 0.0
    turn = math.floor((a + 0.4)/(2*math.pi))
    inside = a - 2*math.pi*turn < 0.4
    while True:
        f, end = (-1.0, 2*math.pi*turn + 0.4) if inside else (0.5, 2*math.pi*(turn + 1) - 0.4)
        h = (-w + math.sqrt(w*w + 2*f*(end - a)))/f
        if t + h >= to:
            h = to - t
            return {'a': a + w*h + f*h*h/2, "a'": w + f*h}
        a, w, t, turn, inside = end, w + f*h, t + h, turn + (not inside), not inside


# By name: the text, and the end in closed form where there is one.
MODELS = {
    'pulse': (at_rest('f(v*t)', table('steps')), bump('steps')),
    'pushed': (at_rest('if(t > 0.5, 1, 0)'), {'x': 1.125, "x'": 1.5}),
    'ramp': (at_rest('max(0, t - 0.5)'), {'x': 1.5**3/6, "x'": 1.5**2/2}),
    'bumped': (at_rest('f(v*t)', table('linear')), bump('linear')),
    'wheel': ("""coordinates = ["a"]
[dynamics]
kinetic = "a'^2/2"
force = { a = "if(cos(a) > cos(0.4), -1, 0.5)" }
[start]
position = { a = 2 }
velocity = { a = 3 }
[run]
to = 8.0
[outputs]
w = "wrap(a)"
""", wheel()),
    'spring_floor': ("""coordinates = ["x"]
[parameters]
g = 9.81
[dynamics]
kinetic = "x'^2/2"
force = { x = "-g + if(x < 0, -2000*x - 5*x', 0)" }
[start]
position = { x = 0.5 }
[run]
to = 3.0
""", None),
    # Everything that switches, beside a constraint with a kink, a state and a start that is assembled.
    'kinked_track': ("""coordinates = ["x", "y"]
[parameters]
drag = 0.3
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
force = { x = "-drag*abs(x')*x' + max(0, 1 - t)*2 + if(mod(x, 1) < 0.5, 0.7, -0.2)", y = "2*sin(3*t)*sign(cos(5*x))" }
[constraints]
track = "y = 0.2*abs(x - 2)^3 + 0.1*x^2"
[states]
z = { rate = "-z + min(x, 1) + teeth(z)", start = 0.1 }
[tables.teeth]
points = [[0, 0], [0.2, 0.3], [0.5, 0.1], [1, 0]]
interpolation = "linear"
outside = "periodic"
[start]
position = { x = 0.5 }
assemble = true
[run]
to = 4.0
""", None),
    'cut_angle': ("""coordinates = ["x", "y"]
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
potential = "(x^2 + y^2)/2"
force = { x = "0.1*atan2(y, x)", y = "0.05*plate(x, y) - 0.1*y'" }
[tables.plate]
points = [[-1, -1, 0], [-1, 0, 0.3], [-1, 1, 0.1], [0, -1, 0.5], [0, 0, -0.2], [0, 1, 0.3], [1, -1, 0.1], [1, 0, 0.9], [1, 1, -0.4]]
arguments = ["x", "y"]
interpolation = "linear"
outside = "hold"
[start]
position = { x = 1 }
velocity = { y = 1.1 }
[run]
to = 10.0
""", None),
    # Switches beside contacts and what events change.
    'switched_stop': ("""coordinates = ["x"]
[modes]
k = 2.0
[dynamics]
kinetic = "x'^2/2"
potential = "k*x^2/2"
force = { x = "if(x > 0.3, -1, 0.4) + 0.2*sign(sin(4*t))" }
[constraints.stop]
equation = "x <= 0.8"
restitution = 0.7
[start]
velocity = { x = 2.0 }
[run]
to = 5.0
[events]
stiffer = { when = "t - 2.3", direction = "up", do = "k = 5" }
""", None),
    'loop': ("""coordinates = ["boom", "s"]
[parameters]
L = 2.0
[dynamics]
kinetic = "25*(L/2*boom')^2 + 2*s'^2"
potential = "9.81*50*L/2*sin(boom)"
[constraints]
piston = "s^2 = (L/2*cos(boom) - 0.5)^2 + (L/2*sin(boom) + 0.3)^2"
[start]
position = { boom = 0.6, s = 1 }
velocity = { boom = 0.3 }
assemble = true
hold = ["boom", "boom'"]
[run]
to = 2.0
""", None),
}
# Inputs that are an expression and a table until they are set: x'' = U + F + P.
OPEN = """coordinates = ["x"]
[inputs]
U = 1
F = "2*sin(t)"
P = "push(t)"
[tables.push]
points = [[0, 0], [10, 1]]
[dynamics]
kinetic = "x'^2/2"
force = { x = "U + F + P" }
[run]
to = 2.0
[start]
position = { x = 0 }
"""
OPEN_END = 2.0 + 2*(2.0 - math.sin(2.0)) + 8/60
OPEN_SET = 2.0 + 6.0 + 8/60      # with F = 3
# A motion along where something switches: a status, and no number.
ALONG = at_rest("-sign(x')*3 + 5*sin(t)")
AWAY = at_rest('sign(x)')

MAIN = r"""
#include "NAME.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
  double p[NAME_PARAMETERS + 1];
  int i, status = 0;
  NAME_motion m;
  NAME_parameters(p);
  for (i = 3; i + 1 < argc; i += 2) {
    int k;
    for (k = 0; k < NAME_INPUTS; ++k) if (!strcmp(NAME_parameter_names[NAME_input_at[k]], argv[i])) p[NAME_input_at[k]] = atof(argv[i + 1]);
  }
  NAME_begin(&m, p, atof(argv[2]));
  while (!status && m.t < atof(argv[1])) status = NAME_step(&m, p, atof(argv[1]));
  printf("{\"status\": \"%s\", \"switches\": %d, \"values\": [", NAME_status_text(status), NAME_SWITCHES);
  for (i = 0; i < NAME_COORDINATES + NAME_STATES; ++i) printf("%.17g, ", m.q[i]);
  for (i = 0; i < NAME_COORDINATES; ++i) printf("%.17g%s", m.v[i], i + 1 < NAME_COORDINATES ? ", " : "]}\n");
  return 0;
}
"""


def call(*words):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=limits.CLOCK)


def built(program, folder, compiler, name, text):
    """The model as a program; else what was said."""
    file = folder / f'{name}.toml'
    file.write_text(text, encoding='utf-8')
    made = call(program, 'export', 'c', file, '-o', folder)
    if made.returncode != 0:
        return None, made.stderr
    (folder / 'switched.c').write_text(MAIN.replace('NAME', name), encoding='utf-8')
    done = call(compiler, '-std=c99', '-O0', '-Wall', '-Wextra', '-pedantic', '-Wconversion', '-Werror', '-ffp-contract=off', f'-I{folder}', folder / 'switched.c', folder / f'{name}.c', '-lm', '-o', folder / name)
    return (folder / name if done.returncode == 0 else None), done.stderr


def check_c(check, program, folder, compiler):
    for name, (text, closed) in MODELS.items():
        made, said = built(program, folder, compiler, name, text)
        check.that(f'{name}: is exported and compiled', made, said)
        if not made:
            continue
        run = json.loads(call(program, 'run', folder / f'{name}.toml', '--json', '--quiet', '--tolerance', '1e-11', '--every', '1e9').stdout)
        last = dict(zip(run['columns'], run['rows'][-1]))
        got = json.loads(call(made, repr(last['t']), '1e-11').stdout)
        count = (len(got['values']) + 1)//2      # coordinates and states; velocities of coordinates
        states = run['columns'][1:1 + count]
        names = states + [f'{x}\'' for x in run['columns'][1:1 + len(got['values']) - count]]
        if 'z' in states:
            names = ['x', 'y', 'z', "x'", "y'"]
        for which, want in (('`run`', last), ('the closed form', closed)):
            if want:
                error = max(abs(a - want[x]) for a, x in zip(got['values'], names))/max(1e-3, *(abs(want[x]) for x in names))
                check.that(f'{name}: ends where {which} does', got['status'] == 'success' and error < 2e-8, (got, {x: want[x] for x in names}))
        check.that(f'{name}: its switches are counted', (got['switches'] > 0) == (name != 'loop'), got)
    for name, text, why in (('along', ALONG, 'the motion would slide along'), ('away', AWAY, 'which way it goes is not determined')):
        made, said = built(program, folder, compiler, name, text)
        got = json.loads(call(made, '2.0', '1e-10').stdout) if made else {'status': said}
        check.that(f'{name}: is a status', why in got['status'], got)
    made, said = built(program, folder, compiler, 'open_inputs', OPEN)
    check.that('open_inputs: is exported and compiled', made, said)
    for words, want in (((), OPEN_END), (('F', '3'), OPEN_SET)):
        got = json.loads(call(made, '2.0', '1e-11', *words).stdout) if made else {'values': [math.nan]}
        check.that(f'open_inputs {words}: what is not set is what the model says', abs(got['values'][0] - want) < 1e-9, (got, want))


def check_fmus(check, program, folder, fmpy, np):
    """Event indicators for switches; both kinds of both versions end where the closed form or `run` does; inputs that are expressions."""
    for name in ('pulse', 'pushed', 'wheel', 'spring_floor', 'kinked_track', 'loop'):
        text, closed = MODELS[name]
        file = folder / f'{name}.toml'
        file.write_text(text, encoding='utf-8')
        run = json.loads(call(program.path, 'run', file, '--json', '--quiet', '--tolerance', '1e-11', '--every', '1e9').stdout)
        last = dict(zip(run['columns'], run['rows'][-1]))
        want = closed or last
        for version in ('2.0', '3.0'):
            fmu, said = program.export(file, version)
            check.that(f'{name} {version}: is exported', fmu and not said, said)
            if not fmu:
                continue
            problems = fmpy.validation.validate_fmu(fmu)
            check.that(f'{name} {version}: FMPy has nothing to say', not problems, problems)
            description = fmpy.read_model_description(fmu)
            indicators = int(description.numberOfEventIndicators)
            check.that(f'{name} {version}: event indicators for switches', (indicators > 0) == (name != 'loop'), indicators)
            names = [x for x in want if x in ('x', 'y', 'a', 'z', "x'", "y'", "a'", 'boom', 's')]
            for kind in ('ModelExchange', 'CoSimulation'):
                result = fmpy.simulate_fmu(fmu, fmi_type=kind, start_time=0.0, stop_time=last['t'], output_interval=last['t']/20, relative_tolerance=1e-10, output=names, timeout=limits.CLOCK)
                error = max(abs(float(result[x][-1]) - want[x]) for x in names)/max(1e-2, *(abs(want[x]) for x in names))
                check.that(f'{name} {version} {kind}: ends where it does', error < (2e-5 if kind == 'ModelExchange' else 2e-7), error)
    file = folder / 'open_inputs.toml'
    file.write_text(OPEN, encoding='utf-8')
    signals = np.array([(0.0, 3.0), (2.0, 3.0)], dtype=[('time', float), ('F', float)])
    for version in ('2.0', '3.0'):
        fmu, _ = program.export(file, version)
        found = {v.name: v for v in fmpy.read_model_description(fmu).modelVariables}
        check.that(f'open_inputs {version}: are inputs', all(x in found and found[x].causality == 'input' for x in 'UFP') and not [x for x in found if '__' in x], list(found))
        for kind in ('ModelExchange', 'CoSimulation'):
            simulate = dict(fmi_type=kind, stop_time=2.0, relative_tolerance=1e-9, output=['x', 'F'])
            plain, given = fmpy.simulate_fmu(fmu, **simulate), fmpy.simulate_fmu(fmu, input=signals, **simulate)
            # What the description says is no value that somebody set.
            again, begun = fmpy.simulate_fmu(fmu, start_values={'F': 0.0, 'P': 0.0}, **simulate), fmpy.simulate_fmu(fmu, start_values={'F': 3.0}, **simulate)
            for result, want, F in ((plain, OPEN_END, 2*math.sin(2)), (given, OPEN_SET, 3.0), (again, OPEN_END, 2*math.sin(2)), (begun, OPEN_SET, 3.0)):
                check.that(f'open_inputs {version} {kind}: what is not set is what the model says', abs(result['x'][-1] - want) < 1e-6 and abs(result['F'][-1] - F) < 1e-9, (result[-1], want))
    file = folder / 'along.toml'
    file.write_text(ALONG, encoding='utf-8')
    for version in ('2.0', '3.0'):
        fmu, _ = program.export(file, version)
        for kind in ('ModelExchange', 'CoSimulation'):
            try:
                result = fmpy.simulate_fmu(fmu, fmi_type=kind, stop_time=2.0, relative_tolerance=1e-9)
                check.that(f'along {version} {kind}: is a status', False, result[-1])
            except Exception as error:
                check.that(f'along {version} {kind}: is a status', 'failed with status' in repr(error), repr(error))
