#!/usr/bin/env python3
"""Robots for bench/run --robot-speed, from Pinocchio's models of them.

usage: robot_speed.py PROGRAM FOLDER CASE ...

CASE is the name of a robot, or that and `_held`: its base free and the ends of two limbs held (peers/robots.py says how). Writes into FOLDER, for each CASE: CASE.toml for us, imported by
PROGRAM; CASE.joints, CASE.held and CASE.states for export_pinocchio.cpp; CASE.xml and CASE.mujoco for mujoco_robots.cpp. Prints one object of JSON: by case the freedoms, the
number of rows, and the states by the names of our coordinates, with the accelerations that Pinocchio finds."""
import json
import pathlib
import re
import subprocess
import sys

import numpy as np
import pinocchio as pin
from robot_trees import bare, named, tree, write_held, write_joints
from robots import Robot, held_rates, held_rows, limbs, solved, with_held

STATES = 16
FILES = {'panda': 'panda_description/urdf/panda.urdf', 'solo12': 'solo_description/robots/solo12.urdf', 'talos': 'talos_data/robots/talos_reduced.urdf'}
FIXED = {'panda'}


def numbers(values):
    return ' '.join(repr(float(x)) for x in values)


def quaternion(R):
    q = pin.Quaternion(R)
    return [q.w, q.x, q.y, q.z]


def mjcf(links, held):
    """Bodies as Pinocchio has them, without shapes. Constraints are as hard as MuJoCo lets them be."""
    children = {}
    for i, link in enumerate(links):
        children.setdefault(link['parent'], []).append(i)

    def body(i):
        k = links[i]
        axis = k['axis']
        joint = '<freejoint/>' if axis is None else f'<joint type="{"hinge" if np.any(axis[3:]) else "slide"}" axis="{numbers(axis[3:] if np.any(axis[3:]) else axis[:3])}"/>'
        I = k['inertia']
        return (f'<body name="b{i}" pos="{numbers(k["p"])}" quat="{numbers(quaternion(k["R"]))}">{joint}<inertial pos="{numbers(k["centre"])}" mass="{k["mass"]!r}" '
                f'fullinertia="{numbers([I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])}"/>' + ''.join(body(c) for c in children.get(i, [])) + '</body>')

    hard = 'solref="0.002 1" solimp="0.9999 0.9999 0.001"'
    rows = ''.join(f'<weld body1="b{joint - 1}" {hard}/>' if count == 6 else f'<connect body1="b{joint - 1}" anchor="{numbers(place.translation)}" {hard}/>' for _, joint, place, count in held)
    return ('<mujoco><compiler inertiafromgeom="false" angle="radian" boundmass="1e-12" boundinertia="1e-12"/><option gravity="0 0 -9.81" solver="Newton" tolerance="1e-12" iterations="100" '
            'timestep="0.001"><flag contact="disable"/></option><worldbody>' + ''.join(body(i) for i in children[-1]) + f'</worldbody><equality>{rows}</equality></mujoco>')


def order(links):
    """That of MuJoCo: each body before those that hang on it, depth first."""
    children = {}
    for i, link in enumerate(links):
        children.setdefault(link['parent'], []).append(i)
    found, open_ = [], list(reversed(children[-1]))
    while open_:
        found.append(open_.pop())
        open_ += reversed(children.get(found[-1], []))
    return [links[i] for i in found]


def as_mujoco(links, q, v, a):
    """The free joint has its velocity along the axes of the world, and that of turning along those of the body."""
    parts = [[], [], []]
    for k in order(links):
        if k['axis'] is not None:
            for part, value in zip(parts, (q[k['q']], v[k['v']], a[k['v']])):
                part.append(value)
            continue
        R = pin.Quaternion(q[6], q[3], q[4], q[5]).matrix()
        parts[0] += [*q[:3], q[6], *q[3:6]]
        parts[1] += [*(R @ v[:3]), *v[3:6]]
        parts[2] += [*(R @ (a[:3] + np.cross(v[3:6], v[:3]))), *a[3:6]]
    return parts[0] + parts[1] + parts[2]


def write_states(file, model, rows):
    file.write_text(f'{len(rows)} {model.nq} {model.nv}\n' + '\n'.join(numbers(row) for row in rows) + '\n', encoding='utf-8')


def our_model(program, folder, case, text, floating, held):
    source = folder / f'{case}.urdf'
    source.write_text(bare(text), encoding='utf-8')
    done = subprocess.run([program, 'import', source, '--base', 'floating' if floating else 'fixed', '-o', folder / f'{case}.toml'], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[-300:])
    model = (folder / f'{case}.toml').read_text(encoding='utf-8')
    bodies = set(re.findall(r'(?m)^\[bodies\."?([A-Za-z0-9_]+)"?\]', model))
    (folder / f'{case}.toml').write_text(with_held(model, held, bodies) if held else model, encoding='utf-8')


def prepare(program, folder, case):
    name, is_held = case.removesuffix('_held'), case.endswith('_held')
    package = next(p for p in pathlib.Path(pin.__file__).resolve().parents if p.name == 'cmeel.prefix') / 'share' / 'example-robot-data' / 'robots'
    text = (package / FILES[name]).read_text(encoding='utf-8')
    robot = Robot(text, is_held or name not in FIXED)
    model, held = robot.model, limbs(robot, text) if is_held else []
    assert all(model.joints[k].nq == 1 for k in range(2 if robot.floating else 1, model.njoints)), name
    random, links, rows, states = np.random.default_rng(7), tree(model), 0, []
    for _ in range(STATES):
        q, v, _ = robot.random(random)
        A, b = np.zeros((0, model.nv)), np.zeros(0)
        if held:
            A = held_rows(robot, q, held)
            if np.linalg.matrix_rank(A, 1e-8) < len(A):
                held = [(*h[:3], 3) for h in held]
                A = held_rows(robot, q, held)
            v = v - np.linalg.pinv(A) @ (A @ v)
            b = -held_rates(robot, q, v, held)
        M = pin.crba(model, robot.data, q)
        a, _ = solved(np.triu(M) + np.triu(M, 1).T, -pin.nle(model, robot.data, q, v), A, b)
        rows = len(A)
        states.append((q, v, a))
    our_model(program, folder, case, text, robot.floating, held)
    write_joints(folder / f'{case}.joints', model, links)
    write_held(folder / f'{case}.held', [h[1:] for h in held])
    write_states(folder / f'{case}.states', model, [[*q, *v, *a] for q, v, a in states])
    (folder / f'{case}.xml').write_text(mjcf(links, held), encoding='utf-8')
    write_states(folder / f'{case}.mujoco', model, [as_mujoco(links, *s) for s in states])
    return {'freedoms': model.nv, 'rows': rows, 'states': [named(model, links, *s) for s in states]}


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    json.dump({case: prepare(program, folder, case) for case in sys.argv[3:]}, sys.stdout)


if __name__ == '__main__':
    main()
