#!/usr/bin/env python3
"""Models as FMUs: FMPy has nothing to say of them, and simulates them as `run` does, as Model Exchange and Co-Simulation of FMI 2.0 and 3.0.

usage: check_fmus.py --program PATH --models FOLDER [--all]

--all (or MECHANICIAN_ALL_FMUS=1): every model that can be exported instead of a handful. FMPy comes from PyPI (tools/fmu_environment); where that is
out of reach the test is skipped, with exit status 77. Prints a line for each miss and, last, `N passed, N failed`."""
import argparse
import ctypes
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import zipfile
from xml.etree import ElementTree as etree

import check_exports
import limits
import switched_models

HERE = pathlib.Path(__file__).resolve().parent
try:
    import fmpy
    import fmpy.fmi2
    import fmpy.fmi3
    import fmpy.validation
    import numpy as np
except ImportError:
    made = subprocess.run([str(HERE.parent / 'tools' / 'fmu_environment')], capture_output=True, text=True)
    if made.returncode != 0 or os.environ.get('MECHANICIAN_FMPY') == 'tried':
        print(f'skipped: FMPy is not to be had: {made.stderr.strip()[-200:]}')
        sys.exit(77)
    os.environ['MECHANICIAN_FMPY'] = 'tried'
    python = made.stdout.strip()
    os.execv(python, [python, *sys.argv])

HANDFUL = ('pendulum', 'servo', 'bouncing_ball', 'newtons_cradle', 'string_pendulum', 'block_on_incline', 'rough_wire_bead', 'clutch', 'weak_rod', 'ladder_leaves_wall',
           'steered_bead', 'door_on_two_hinges', 'quadruped_leg', 'cart_pole')
OPTIMISED = ('pendulum', 'servo', 'bouncing_ball', 'clutch')     # compiled as the program does it for everybody
KINDS = ('ModelExchange', 'CoSimulation')
# How far an importer's integrator (CVODE, 1e-9) may be off at the end; motions that part from each other quickly, and records with kinks, more.
EXCHANGE = {'shear_frame': 1e-3, 'quaternion_body': 1e-3, 'rattleback': 1e-2, 'tennis_racket': 1e-2, 'double_pendulum': 1e-3, 'tippe_top': 1e-3}
# Feet that stick side by side: how they share their load is not determined.
SHARED = {'box_stack', 'humanoid_standing'}


class Check:
    def __init__(self):
        self.passed = self.failed = 0

    def that(self, what, holds, seen=''):
        self.passed += bool(holds)
        self.failed += not holds
        if not holds:
            print(f'MISS {what}: {str(seen)[:300]}', flush=True)


class Program:
    def __init__(self, path, folder):
        self.path, self.folder = os.path.abspath(path), pathlib.Path(folder)
        # Optimising what the program compiles takes longer than all that is done with it: `cc` with -O0 behind the other options.
        wrapper = self.folder / 'quick' / 'cc'
        wrapper.parent.mkdir()
        wrapper.write_text(f'#!/bin/sh\nexec {shutil.which("cc")} "$@" -O0\n', encoding='utf-8')
        wrapper.chmod(0o755)
        self.quick = os.environ | {'PATH': f'{wrapper.parent}:{os.environ["PATH"]}'}

    def call(self, *words, **options):
        return subprocess.run([self.path, *map(str, words)], capture_output=True, text=True, timeout=limits.CLOCK, **options)

    def run(self, file, *words):
        """What is right: where springs shake hundreds of times a run to 1e-10 is off by 4e-7 itself."""
        result = json.loads(self.call('run', file, '--json', '--quiet', '--tolerance', '1e-12', '--every', '1e9', *words).stdout or 'null')
        return result and [dict(zip(result['columns'], row)) for row in (result['rows'][0], result['rows'][-1])]

    def export(self, file, version):
        """The FMU, or what the program said instead."""
        fmu = self.folder / f'{pathlib.Path(file).stem}_{version[0]}.fmu'
        made = self.call('export', 'fmu', file, '-o', fmu, '--fmi', version, env=None if pathlib.Path(file).stem in OPTIMISED else self.quick)
        return (str(fmu), made.stderr) if made.returncode == 0 else (None, made.stderr)


def difference(result, want, names):
    scale = max([1e-9] + [abs(want[x]) for x in names])
    return max((abs(float(result[x][-1]) - want[x])/scale for x in names), default=0.0)


def check_model(check, program, file, versions=('2.0', '3.0')):
    name = pathlib.Path(file).stem
    ends = None
    for version in versions:
        fmu, said = program.export(file, version)
        if not fmu:
            check.that(f'{name} is refused with a reason', 'error:' in said, said)
            return
        check.that(f'{name} {version}: the compiler says nothing', not said, said)
        problems = fmpy.validation.validate_fmu(fmu)
        check.that(f'{name} {version}: FMPy has nothing to say', not problems, problems)
        ends = ends or program.run(file)
        first, last = ends
        variables = fmpy.read_model_description(fmu).modelVariables
        names = [v.name for v in variables if v.causality == 'output' and last.get(v.name) is not None]
        check.that(f'{name} {version}: every output of the model is there', len(names) >= 3, names)
        states = [v.name for v in variables if v.variability == 'continuous' and v.initial == 'exact' and v.name in last]
        for kind in KINDS:
            exchange = kind == 'ModelExchange'
            try:
                result = fmpy.simulate_fmu(fmu, fmi_type=kind, start_time=first['t'], stop_time=last['t'], output_interval=(last['t'] - first['t'])/200,
                                           relative_tolerance=1e-9 if exchange else 1e-10, output=names, timeout=limits.CLOCK)
            except Exception as error:
                check.that(f'{name} {version} {kind}: is simulated', False, repr(error))
                continue
            allowed = EXCHANGE.get(name, 2e-5) if exchange else EXCHANGE.get(name, 2e-6)*0.1
            check.that(f'{name} {version} {kind}: comes to the end', abs(float(result['time'][-1]) - last['t']) < 1e-9*max(1, abs(last['t'])), result['time'][-1])
            check.that(f'{name} {version} {kind}: moves as `run` does', difference(result, last, states) < allowed, difference(result, last, states))
            check.that(f'{name} {version} {kind}: and has its forces and outputs', name in SHARED or difference(result, last, names) < 20*allowed, difference(result, last, names))


def instance_of(fmu, name='instance'):
    """A Co-Simulation that has begun, with what steps, reads and keeps it."""
    description = fmpy.read_model_description(fmu)
    folder = fmpy.extract(fmu)
    two = description.fmiVersion == '2.0'
    made = (fmpy.fmi2.FMU2Slave if two else fmpy.fmi3.FMU3Slave)(guid=description.guid, unzipDirectory=folder, modelIdentifier=description.coSimulation.modelIdentifier, instanceName=name)
    made.instantiate()
    if two:
        made.setupExperiment(tolerance=1e-9, startTime=0.0)
        made.enterInitializationMode()
    else:
        made.enterInitializationMode(tolerance=1e-9, startTime=0.0)
    references = {v.name: v.valueReference for v in description.modelVariables}
    return made, references, two


def read(made, two, references):
    return tuple((made.getReal if two else made.getFloat64)(references))


def check_samples(check, program, folder):
    """At the time of a sample a row of Co-Simulation has what was held up to it, as `run` does; Model Exchange has an event there, and what is held from it on."""
    (folder / 'sampled.toml').write_text(check_exports.SAMPLED, encoding='utf-8')
    result = json.loads(program.call('run', folder / 'sampled.toml', '--json', '--quiet', '--tolerance', '1e-11', '--every', '0.01').stdout)
    at = result['columns'].index('tau(t1)')
    want = [row[at] for row in result['rows']]
    for version in ('2.0', '3.0'):
        fmu, _ = program.export(folder / 'sampled.toml', version)
        for kind in KINDS:
            got = fmpy.simulate_fmu(fmu, fmi_type=kind, stop_time=0.5, output_interval=0.01, relative_tolerance=1e-10, output=['tau(t1)'], record_events=False)['tau(t1)']
            steps = range(50) if kind == 'CoSimulation' else range(1, 50, 2)    # between samples both agree
            check.that(f'samples {version} {kind}: rows are those of `run`', len(got) == len(want) and all(abs(got[k] - want[k]) < 1e-5*max(map(abs, want)) for k in steps), list(zip(got, want))[:6])


def fails(call):
    """Whether the unit answers with an error."""
    try:
        call()
    except fmpy.fmi1.FMICallException as error:
        return error.status >= 2
    return False


def check_wrong_calls(check, program, models):
    """Steps that cannot be, at times when there are none, and bytes that are no state are errors, and nothing has moved; start values off the constraints are moved, with a word."""
    for version in ('2.0', '3.0'):
        fmu, _ = program.export(models / 'pendulum.toml', version)
        made, references, two = instance_of(fmu)
        check.that(f'{version}: no step before the initialisation', fails(lambda: made.doStep(0.0, 0.1)))
        made.exitInitializationMode()
        x = read(made, two, [references['x']])
        for now, h in ((0.0, -0.1), (0.0, 0.0), (0.0, math.nan), (0.0, math.inf), (5.0, 0.1), (math.nan, 0.1)):
            check.that(f'{version}: a step of {h} from {now} is an error', fails(lambda now=now, h=h: made.doStep(now, h)) and read(made, two, [references['x']]) == x)
        made.doStep(0.0, 0.1), made.doStep(0.1, 0.1)
        check.that(f'{version}: and steps go on', read(made, two, [references['x']]) != x)
        state = made.getFMUstate() if two else made.getFMUState()
        kept = bytes(made.serializeFMUstate(state) if two else made.serializeFMUState(state))
        take = made.deSerializeFMUstate if two else made.deserializeFMUState
        other = bytes(255 - b for b in kept)
        one = kept[:40] + bytes([kept[40] ^ 1]) + kept[41:]
        for what, wrong in (('other bytes', other), ('a bit that is another', one)):
            check.that(f'{version}: {what}, no state', fails(lambda wrong=wrong: take(wrong)))
        take(kept)
        made.terminate()
        check.that(f'{version}: no step after the end', fails(lambda: made.doStep(0.2, 0.1)))
        made.freeInstance()
        # Off x^2 + y^2 = 1: the nearest state is on the ray through it, for equal masses.
        for kind in KINDS:
            result = fmpy.simulate_fmu(fmu, fmi_type=kind, start_values={'x': 0.9, 'y': -0.8}, stop_time=0.1, output_interval=0.1, output=['x', 'y'])
            size = math.hypot(0.9, 0.8)
            check.that(f'{version} {kind}: a start off the constraints is moved first', abs(result['x'][0] - 0.9/size) < 1e-9 and abs(result['y'][0] + 0.8/size) < 1e-9, (result['x'][0], result['y'][0]))


# The time decides where something switches anyway: the next look would be a rounding away.
CLOSE = """coordinates = ["x", "y", "z"]
[parameters]
k = 7.3
[dynamics]
kinetic = "0.606*x'^2 + 1.92*y'^2 + 1.88*z'^2"
potential = "k*x^2/2 + k*y^2/2 + k*z^2/2 + 2*y"
force = { x = "if(t > 0.878 and x < -0.285, 1.48, 0) - 0.485*x' + if(-2.84*x + -0.357*y + -1.48*z + 0.286*sin(1.26*t) > -0.731, 0.935*x + 2.06*y + 2.28*z, -1.18)", y = "-2.1*x + -0.724*x' + -0.529*y + -0.671*y' + -1.35*z - 0.886*y'", z = "if(-1.72*x + -0.671*y + 0.441*y' + -1.7*z + 0.86*z' + 2.84*sin(1.69*t) + 0.935*s1 > 0.22, 2.26*y + -1.08*z, -1.8) - 0.409*z' + tb0(t*1.69)" }
[states]
s1 = { rate = "if(-0.559*x + 0.418*x' + -0.669*y + -1.62*z + 2.13*sin(0.939*t) > 0.481, -1.75*x + 1.05*y + -2.8*z, 1.19) - 2*s1", start = 0.704 }
[constraints.c0]
equation = "z >= -0.1*sin(2*t) - 0.2"
restitution = 0.8
[start]
position = { x = 0.2908160216618538, y = 0.7499251168185924, z = 0.3955214573886251 }
[tables.tb0]
points = [[-1.6, 1.89], [-1.4, 1.33], [-1.3, 1.33], [-0.8, -1.91], [0.5, 1.89]]
interpolation = "linear"
outside = "periodic"
[run]
to = 2.0
"""


def check_close_times(check, program, folder):
    (folder / 'close.toml').write_text(CLOSE, encoding='utf-8')
    check_model(check, program, folder / 'close.toml', ('2.0',))


# Ever lower bounces with friction, on a floor that is not even.
BOUNCES = """coordinates = ["x", "y"]
[modes]
n = 0
gain = 1
[inputs]
U = 1.0
[dynamics]
kinetic = "x'^2/2 + y'^2/2"
potential = "9.81*y"
force = { x = "gain*U - 0.1*x'" }
[constraints.floor]
equation = "y >= 0.1*sin(3*x)"
restitution = 0.6
friction = 0.1
slip = ["x'"]
[start]
position = { x = 0.0, y = 1.0 }
[events]
a = { when = "y - 0.5", direction = "up", do = ["n = n + 1", "gain = -gain"] }
[outputs]
nn = "n"
[run]
to = 2.0
"""


def check_low_bounces(check, program, folder):
    """Where bounces come to their end Model Exchange goes on as `run` does, to the tolerance of its integrator."""
    (folder / 'bounces.toml').write_text(BOUNCES, encoding='utf-8')
    _, last = program.run(folder / 'bounces.toml')
    fmu, _ = program.export(folder / 'bounces.toml', '2.0')
    result = fmpy.simulate_fmu(fmu, fmi_type='ModelExchange', stop_time=2.0, output_interval=0.2, relative_tolerance=1e-9, output=['x', "x'"])
    error = difference(result, last, ['x', "x'"])
    check.that('the end of low bounces', error < 1e-6, error)


def check_states(check, program, models):
    """A state that was kept, as bytes, gives the same bits again; so do instances side by side in threads."""
    for version in ('2.0', '3.0'):
        fmu, _ = program.export(models / 'string_pendulum.toml', version)
        made, references, two = instance_of(fmu)
        made.exitInitializationMode()
        wanted = [references[x] for x in ('x', "x'", 'y', "y'", 'lambda(string)', 'energy')]
        for k in range(10):
            made.doStep(currentCommunicationPoint=0.1*k, communicationStepSize=0.1)
        state = made.getFMUstate() if two else made.getFMUState()
        kept = made.serializeFMUstate(state) if two else made.serializeFMUState(state)
        ends = []
        for _ in range(2):
            for k in range(10, 30):
                made.doStep(currentCommunicationPoint=0.1*k, communicationStepSize=0.1)
            ends.append(read(made, two, wanted))
            back = made.deSerializeFMUstate(kept) if two else made.deserializeFMUState(kept)
            made.setFMUstate(back) if two else made.setFMUState(back)
        check.that(f'{version}: the same bits from a state that was kept', ends[0] == ends[1], ends)
        made.reset()
        if two:
            made.setupExperiment(tolerance=1e-9, startTime=0.0)
            made.enterInitializationMode()
        else:
            made.enterInitializationMode(tolerance=1e-9, startTime=0.0)
        made.exitInitializationMode()
        for k in range(30):
            made.doStep(currentCommunicationPoint=0.1*k, communicationStepSize=0.1)
        check.that(f'{version}: and from a reset', read(made, two, wanted) == ends[0])
        seen = [None]*4

        def go(i):
            other, refs, _ = instance_of(fmu, f'thread{i}')
            other.exitInitializationMode()
            for k in range(30):
                other.doStep(currentCommunicationPoint=0.1*k, communicationStepSize=0.1)
            seen[i] = read(other, two, [refs[x] for x in ('x', "x'", 'y', "y'", 'lambda(string)', 'energy')])
        threads = [threading.Thread(target=go, args=(i,)) for i in range(4)]
        [t.start() for t in threads], [t.join() for t in threads]
        check.that(f'{version}: instances in threads do not know of each other', all(s == ends[0] for s in seen), seen)


RUBBED = """title = "A rod that resists, and not only along the way"
coordinates = ["x", "y"]
[dynamics]
kinetic = "x'^2 + y'^2"
potential = "9.81*y"
[constraints]
rod = "x^2 + y^2 = 1"
[nonideal]
x = "0.7*x - 0.2*x'"
y = "0.5 + 0.3*x*y"
[start]
position = { x = 0.6, y = -0.8 }
velocity = { x = 0.8, y = 0.6 }
[run]
to = 1.0
[outputs]
ideal_x = "ideal(x)"
"""


def check_derivatives(check, program, models, folder):
    """Directional derivatives against differences, of everything by every state; forces that are not the only ones have none."""
    (folder / 'rubbed.toml').write_text(RUBBED, encoding='utf-8')
    for name in ('rubbed', 'pendulum', 'servo', 'sliding_to_rolling_disc', 'weak_rod', 'double_pendulum', 'tracking_arm', 'steered_bead'):
        for version in ('2.0', '3.0'):
            fmu, _ = program.export((folder if name == 'rubbed' else models) / f'{name}.toml', version)
            description = fmpy.read_model_description(fmu)
            two = version == '2.0'
            made = (fmpy.fmi2.FMU2Model if two else fmpy.fmi3.FMU3Model)(guid=description.guid, unzipDirectory=fmpy.extract(fmu), modelIdentifier=description.modelExchange.modelIdentifier, instanceName='d')
            made.instantiate()
            if two:
                made.setupExperiment(startTime=0.0)
                made.enterInitializationMode()
            else:
                made.enterInitializationMode(startTime=0.0)
            made.exitInitializationMode()
            made.enterContinuousTimeMode()
            states = [d.variable.derivative for d in description.derivatives]
            unknowns = [v for v in description.modelVariables if v.causality == 'output' and v.initial == 'calculated' and v.variability == 'continuous']
            references, n = [u.valueReference for u in unknowns], len(states)
            start = np.array(read(made, two, [s.valueReference for s in states]))

            def at(x):
                made.setContinuousStates((ctypes.c_double*n)(*x), n)
                return np.array(read(made, two, references))
            worst, missing = 0.0, set()
            for j in range(n):
                e = np.zeros(n)
                e[j] = 1e-6
                differences = (at(start + e) - at(start - e))/2e-6
                at(start)
                size = max(1.0, *abs(differences))
                for u, r, want in zip(unknowns, references, differences):
                    try:
                        got = made.getDirectionalDerivative([r], [states[j].valueReference], [1.0]) if two else made.getDirectionalDerivative([r], [states[j].valueReference], [1.0], 1)
                        worst = max(worst, abs(got[0] - want)/size)
                    except Exception:
                        missing.add(u.name)
            check.that(f'{name} {version}: directional derivatives', worst < 1e-7, worst)
            check.that(f'{name} {version}: of everything', missing <= {'lambda(table)'}, missing)


def check_parameters(check, program, models, folder):
    file = folder / 'tuned.toml'
    file.write_text('title = "Tuned"\ncoordinates = ["x"]\n[parameters]\nk = 4.0\nm = 2.0\nw = "sqrt(k/m)"\n[units]\nm = "g"\nx = "mm"\n[dynamics]\n'
                    'kinetic = "m/2*x\'^2"\npotential = "m*w^2/2*x^2"\n[start]\nposition = { x = 3.0 }\n[run]\nto = 1.0\n[outputs]\ntwice = "2*w"\n', encoding='utf-8')
    for version in ('2.0', '3.0'):
        fmu, _ = program.export(file, version)
        check.that(f'{version}: units are valid', not fmpy.validation.validate_fmu(fmu), fmpy.validation.validate_fmu(fmu))
        result = fmpy.simulate_fmu(fmu, fmi_type='CoSimulation', stop_time=1.0, start_values={'k': 9.0}, relative_tolerance=1e-10, output=['x', 'twice'])
        last = program.run(file, '--set', 'k=9')[1]
        check.that(f'{version}: what is made of a parameter follows it', abs(result['x'][-1] - last['x']) < 1e-9 and abs(result['twice'][-1] - last['twice']) < 1e-9*last['twice'], (result[-1], last))
        made, references, two = instance_of(fmu)
        try:
            (made.setReal if two else made.setFloat64)([references['w']], [1.0])
            check.that(f'{version}: what is made of others cannot be set', False)
        except Exception:
            check.that(f'{version}: what is made of others cannot be set', True)
        fmu, _ = program.export(models / 'shear_frame.toml', version)
        variable = {v.name: v for v in fmpy.read_model_description(fmu).modelVariables}['N']
        check.that(f'{version}: how many there are is a constant', variable.variability == 'constant', variable.variability)
        fmu, _ = program.export(models / 'servo.toml', version)
        for kind in KINDS:
            signals = np.array([(0.0, 1.0), (5.0, 1.0)], dtype=[('time', float), ('target', float)])
            result = fmpy.simulate_fmu(fmu, fmi_type=kind, stop_time=4.0, input=signals, relative_tolerance=1e-9, output=['phi', 'i'])
            last = program.run(models / 'servo.toml', '--set', 'target=1')[1]
            check.that(f'{version} {kind}: inputs', abs(result['phi'][-1] - last['phi']) < 1e-6, (result[-1], last['phi']))


def check_halves(check, program, folder):
    """Two masses joined by a spring, each an FMU that is told the force; the error goes with the square of the step, or nearly."""
    for name, mass, start in (('left', 1.0, 0.0), ('right', 2.0, 1.5)):
        (folder / f'{name}.toml').write_text(f'title = "Half"\ncoordinates = ["x", "a"]\n[parameters]\nm = {mass}\nk = 3.0\n[inputs]\nF = 0.0\n[dynamics]\n'
                                             'kinetic = "m/2*(x\'^2 + a\'^2)"\npotential = "k/2*a^2"\nforce = { x = "F" }\n[constraints]\ntied = "a = x"\n'
                                             f'[start]\nposition = {{ x = {start}, a = {start} }}\n[run]\nto = 2.0\n', encoding='utf-8')
    (folder / 'whole.toml').write_text('title = "Whole"\ncoordinates = ["x", "y"]\n[parameters]\nc = 5.0\n[dynamics]\nkinetic = "2*x\'^2/2 + 4*y\'^2/2"\n'
                                       'potential = "3/2*x^2 + 3/2*y^2 + c/2*(y - x - 1)^2"\n[start]\nposition = { y = 1.5 }\n[run]\nto = 2.0\n', encoding='utf-8')
    last = program.run(folder / 'whole.toml')[1]
    for version in ('2.0', '3.0'):
        errors = []
        for steps in (200, 400):
            halves = []
            for name in ('left', 'right'):
                fmu, _ = program.export(folder / f'{name}.toml', version)
                made, references, two = instance_of(fmu, name)
                made.exitInitializationMode()
                halves.append((made, references))
            h = 2.0/steps
            for k in range(steps):
                x, y = (read(made, two, [r['x']])[0] for made, r in halves)
                force = 5.0*(y - x - 1)
                for (made, r), sign in zip(halves, (1.0, -1.0)):
                    (made.setReal if two else made.setFloat64)([r['F']], [sign*force])
                    made.doStep(currentCommunicationPoint=h*k, communicationStepSize=h)
            x, y = (read(made, two, [r['x']])[0] for made, r in halves)
            errors.append(max(abs(x - last['x']), abs(y - last['y'])))
        check.that(f'{version}: two halves come to the whole', errors[1] < 0.02 and 1.7 < errors[0]/errors[1] < 2.3, errors)


def check_early_return(check, program, models):
    fmu, _ = program.export(models / 'string_pendulum.toml', '3.0')
    description = fmpy.read_model_description(fmu)
    made = fmpy.fmi3.FMU3Slave(guid=description.guid, unzipDirectory=fmpy.extract(fmu), modelIdentifier=description.coSimulation.modelIdentifier, instanceName='early')
    times = []

    def update(environment, time, set_requested, get_allowed, finished, can_return, requested, when):
        times.append(time)
        requested[0] = can_return and time >= 0.5
        when[0] = time
    callback = fmpy.fmi3.fmi3CallbackIntermediateUpdate(update) if hasattr(fmpy.fmi3, 'fmi3CallbackIntermediateUpdate') else fmpy.fmi3.fmi3IntermediateUpdateCallback(update)
    made.instantiate(earlyReturnAllowed=True, intermediateUpdate=callback)
    made.enterInitializationMode(tolerance=1e-9, startTime=0.0)
    made.exitInitializationMode()
    event, terminate, early, last = made.doStep(currentCommunicationPoint=0.0, communicationStepSize=2.0)
    check.that('a step that is asked to returns early', early and 0.5 <= last < 2.0 and times == sorted(times) and len(times) > 1 and times[-1] == last, (early, last, times))


def logged_instance(fmu, said, logging):
    """A Co-Simulation of version 2.0 or 3.0 that tells `said` what it says."""
    description = fmpy.read_model_description(fmu)
    two = description.fmiVersion == '2.0'
    made = (fmpy.fmi2.FMU2Slave if two else fmpy.fmi3.FMU3Slave)(guid=description.guid, unzipDirectory=fmpy.extract(fmu), modelIdentifier=description.coSimulation.modelIdentifier, instanceName='logged')
    if two:
        def log(environment, name, status, category, message):
            said.append((name.decode(), status, category.decode(), message.decode()))
        callbacks = fmpy.fmi2.fmi2CallbackFunctions()
        callbacks.logger = fmpy.fmi2.fmi2CallbackLoggerTYPE(log)
        callbacks.allocateMemory = fmpy.fmi2.fmi2CallbackAllocateMemoryTYPE(fmpy.calloc)
        callbacks.freeMemory = fmpy.fmi2.fmi2CallbackFreeMemoryTYPE(fmpy.free)
        made.instantiate(callbacks=callbacks, loggingOn=logging)
        made.setupExperiment(tolerance=1e-9, startTime=0.0)
        made.enterInitializationMode()
    else:
        def log(environment, status, category, message):
            said.append(('logged', status, category.decode(), message.decode()))
        made.instantiate(loggingOn=logging, logMessage=fmpy.fmi3.fmi3LogMessageCallback(log))
        made.enterInitializationMode(tolerance=1e-9, startTime=0.0)
    made.kept = log
    made.exitInitializationMode()
    return made, {v.name: v.valueReference for v in description.modelVariables}, two


def set_logging(made, two, on, *categories):
    names = (ctypes.c_char_p*max(1, len(categories)))(*[c.encode() for c in categories])
    (made.fmi2SetDebugLogging if two else made.fmi3SetDebugLogging)(made.component, on, len(categories), names)


def check_logging(check, program, models):
    """Silence where nothing is asked for; what happens, where it is; mistakes always, in their category; categories that are not there are refused. Restarts within a
    Co-Simulation, start times and stop times as asked for."""
    for version in ('2.0', '3.0'):
        fmu, _ = program.export(models / 'bouncing_ball.toml', version)
        categories = {c.attrib['name'] for c in etree.fromstring(zipfile.ZipFile(fmu).read('modelDescription.xml')).iter('Category')}
        for logging in (False, True):
            said = []
            made, references, two = logged_instance(fmu, said, logging)
            for k in range(20):
                made.doStep(currentCommunicationPoint=0.1*k, communicationStepSize=0.1)
            events = [m for m in said if 'event' in m[3]]
            check.that(f'{version}: logging {logging}: as asked for', bool(said) == logging and (len(events) >= 2) == logging, said)
            check.that(f'{version}: logging {logging}: in categories that are declared, by name', all(m[0] == 'logged' and m[1] == 0 and m[2] in categories for m in said), said)
            said.clear()
            try:
                (made.setReal if two else made.setFloat64)([references['z']], [float('nan')])
                check.that(f'{version}: a value that is no number is refused', False)
            except Exception:
                check.that(f'{version}: and it is said why, as a mistake', len(said) == 1 and said[0][1] == 3 and said[0][2] == 'logStatusError' and 'finite' in said[0][3], said)
            said.clear()
            try:
                set_logging(made, two, True, 'nonsense')
                check.that(f'{version}: a category that is not there is refused', False)
            except Exception:
                check.that(f'{version}: a category that is not there is said', len(said) == 1 and 'category' in said[0][3], said)
            for on in (True, False):
                set_logging(made, two, on, *(['logAll'] if logging else []))
                said.clear()
                for k in range(20, 40):
                    made.doStep(currentCommunicationPoint=0.1*(k + 20*(not on)), communicationStepSize=0.1)
                check.that(f'{version}: logging can be switched {"on" if on else "off"}', bool(said) == on, said)
        said = []
        description = fmpy.read_model_description(fmu)
        for kind in KINDS:
            result = fmpy.simulate_fmu(fmu, fmi_type=kind, start_time=0.5, stop_time=1.5, output_interval=0.25, output=['z'])
            check.that(f'{version} {kind}: begins and ends when it is told to', result['time'][0] == 0.5 and result['time'][-1] == 1.5, result['time'])
            if kind == 'CoSimulation':
                check.that(f'{version}: rows at the interval', np.allclose(np.diff(result['time']), 0.25, atol=1e-12), result['time'])
        wrong = (fmpy.fmi2.FMU2Slave if version == '2.0' else fmpy.fmi3.FMU3Slave)(guid='{other}', unzipDirectory=fmpy.extract(fmu), modelIdentifier=description.coSimulation.modelIdentifier, instanceName='wrong')
        try:
            wrong.instantiate()
            check.that(f'{version}: the token of another model is refused', False)
        except Exception:
            check.that(f'{version}: the token of another model is refused', True)


def check_exchange_state(check, program, models):
    """A state that was kept in Model Exchange, taken by another instance: the same states, derivatives, indicators and outputs, to the bits."""
    for version in ('2.0', '3.0'):
        fmu, _ = program.export(models / 'string_pendulum.toml', version)
        description, two = fmpy.read_model_description(fmu), version == '2.0'
        seen, kept = [], None
        for k in range(2):
            made = (fmpy.fmi2.FMU2Model if two else fmpy.fmi3.FMU3Model)(guid=description.guid, unzipDirectory=fmpy.extract(fmu), modelIdentifier=description.modelExchange.modelIdentifier, instanceName=f'e{k}')
            made.instantiate()
            if two:
                made.setupExperiment(startTime=0.0)
                made.enterInitializationMode()
            else:
                made.enterInitializationMode(startTime=0.0)
            made.exitInitializationMode()
            made.enterContinuousTimeMode()
            if kept is None:
                n = len(description.derivatives)
                x = (ctypes.c_double*n)()
                made.getContinuousStates(x, n)
                x[0] += 0.01
                made.setTime(0.3)
                made.setContinuousStates(x, n)
                state = made.getFMUstate() if two else made.getFMUState()
                kept = made.serializeFMUstate(state) if two else made.serializeFMUState(state)
            else:
                state = made.deSerializeFMUstate(kept) if two else made.deserializeFMUState(kept)
                made.setFMUstate(state) if two else made.setFMUState(state)
            dx = (ctypes.c_double*n)()
            (made.getDerivatives if two else made.getContinuousStateDerivatives)(dx, n)
            outputs = [v.valueReference for v in description.modelVariables if v.causality == 'output' and v.type in ('Real', 'Float64')]
            seen.append((list(dx), read(made, two, outputs)))
        check.that(f'{version}: a state of Model Exchange is another instance\'s', seen[0] == seen[1] and any(seen[0][0]), seen)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument('--program', required=True)
    arguments.add_argument('--models', required=True, type=pathlib.Path)
    arguments.add_argument('--all', action='store_true', default=os.environ.get('MECHANICIAN_ALL_FMUS') == '1')
    options = arguments.parse_args()
    check = Check()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        program, models = Program(options.program, folder), options.models.resolve()
        for file in sorted(models.glob('*.toml')):
            if options.all or file.stem in HANDFUL:
                check_model(check, program, file)
        for name, text in check_exports.made_models():
            if name in ('limited_control', 'sampled_control'):
                (folder / f'{name}.toml').write_text(text, encoding='utf-8')
                check_model(check, program, folder / f'{name}.toml')
        switched_models.check_fmus(check, program, folder, fmpy, np)
        check_samples(check, program, folder)
        check_wrong_calls(check, program, models)
        check_close_times(check, program, folder)
        check_low_bounces(check, program, folder)
        check_states(check, program, models)
        check_exchange_state(check, program, models)
        check_logging(check, program, models)
        check_derivatives(check, program, models, folder)
        check_parameters(check, program, models, folder)
        check_halves(check, program, folder)
        check_early_return(check, program, models)
    print(f'{check.passed} passed, {check.failed} failed')
    return 0 if check.failed == 0 and check.passed else 1


if __name__ == '__main__':
    sys.exit(main())
