#!/usr/bin/env python3
"""A machine with closed loops in MuJoCo or Drake, from PyPI: how far its loops open, and how its energy drifts.

usage: peers/loops.py mujoco|drake MACHINE.json SETTING

MACHINE.json is what bench/loops_workloads.py writes: bodies in a tree with where they are at the start and how they move, loops, and the time. SETTING is one of
SETTINGS below. Prints one line of JSON: the largest opening of a loop, the energy at the start and by how much it is off at most, the places of all bodies
after one second, and the processor time of the motion."""
import json
import sys
import time

import numpy as np

# Steps, and how hard loops are held. MuJoCo: time constants of constraints can be as short as two steps, and impedances 0.9999 at most.
SETTINGS = {
    'mujoco': {'as it comes': dict(step=2e-3), 'Runge-Kutta, 1 ms, stiff': dict(step=1e-3, stiff=True), 'Runge-Kutta, 0.1 ms, stiff': dict(step=1e-4, stiff=True)},
    'drake': {'SAP, 1 ms': dict(step=1e-3), 'SAP, 0.25 ms': dict(step=2.5e-4)},
}


def rotation(q):
    w, x, y, z = np.array(q) / np.linalg.norm(q)
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)], [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def unit(v):
    return np.array(v, float) / np.linalg.norm(v)


class Machine:
    """Bodies with R and p at the start, and points of loops in the axes of their bodies."""

    def __init__(self, data):
        self.to, self.every, self.bodies = data['to'], data['every'], data['bodies']
        self.frames = {'ground': (np.eye(3), np.zeros(3))}
        for b in self.bodies:
            self.frames[b['name']] = (rotation(b['pose'][3:]), np.array(b['pose'][:3]))
        self.speeds = {'ground': (np.zeros(3), np.zeros(3)), **{b['name']: (np.array(b['rate'][:3]), np.array(b['rate'][3:])) for b in self.bodies}}
        self.loops = []
        for loop in data['loops']:
            points = []
            for k, name in enumerate(loop['bodies']):
                R, p = self.frames[name]
                points.append(R.T @ (np.array(loop['at'][k], float) - p) if loop['at'][k] is not None else np.array(loop['own'][k], float))
            self.loops.append((loop['kind'], loop['bodies'], points, loop.get('length')))

    def opening(self, frames):
        """The largest distance between points that are one, or by which a rod is too long or short. frames: name to (R, p)."""
        worst = 0.0
        for kind, (a, b), (u, v), length in self.loops:
            apart = np.linalg.norm(frames[a][0] @ u + frames[a][1] - frames[b][0] @ v - frames[b][1])
            worst = max(worst, apart if kind == 'point' else abs(apart - length))
        return worst

    def rates(self, b):
        """Of the coordinates of its joint, in order: those of a `planar` joint are x, z and the angle; of a free one velocity, and spin in the world."""
        (_, p), (u, w) = self.frames[b['name']], self.speeds[b['name']]
        (_, _), (up, wp) = self.frames[b['parent']], self.speeds[b['parent']]
        if b['joint'] == 'free':
            return [*u, *w]
        if b['joint'] == 'planar':
            return [u[0], u[2], float(unit(b['axes'][0]) @ w)]
        axes = [unit(a) for a in b['axes']]
        if b['joint'] == 'slide':
            P = self.frames[b['parent']][1]
            return [float(axes[0] @ (u - up - np.cross(wp, p - P)))]
        return [float(a @ (w - wp)) for a in axes]          # hinges: axes of a universal joint are at right angles at the start


def with_mujoco(machine, setting):
    import mujoco

    def text(v):
        return ' '.join(repr(float(x)) for x in v)

    def quaternion(R):
        q = np.zeros(4)
        mujoco.mju_mat2Quat(q, R.flatten())
        return q

    number = {b['name']: k for k, b in enumerate(machine.bodies)}
    sites, equalities, tendons = {name: [] for name in machine.frames}, [], []
    for k, (kind, names, points, _) in enumerate(machine.loops):
        for side, (name, point) in enumerate(zip(names, points)):
            sites[name].append(f'<site name="s{k}_{side}" pos="{text(point)}"/>')
        if kind == 'point':
            equalities.append(f'<connect site1="s{k}_0" site2="s{k}_1" HOW/>')
        else:
            tendons.append(f'<spatial name="t{k}"><site site="s{k}_0"/><site site="s{k}_1"/></spatial>')
            equalities.append(f'<tendon tendon1="t{k}" HOW/>')

    def written(b):
        (R, p), (P, o) = machine.frames[b['name']], machine.frames[b['parent']]
        joints = {'hinge': '<joint type="hinge" pos="AT" axis="A0"/>', 'slide': f'<joint type="slide" axis="A0" stiffness="{b["stiffness"]!r}"/>',
                  'universal': '<joint type="hinge" pos="AT" axis="A0"/><joint type="hinge" pos="AT" axis="A1"/>', 'free': '<freejoint/>',
                  'planar': '<joint type="slide" axis="X"/><joint type="slide" axis="Z"/><joint type="hinge" axis="A0"/>'}[b['joint']]
        if b['at'] is not None:
            joints = joints.replace('AT', text(R.T @ (np.array(b['at'], float) - p)))
        for k, axis in enumerate(b['axes']):
            joints = joints.replace(f'A{k}', text(R.T @ unit(axis)))
        joints = joints.replace('"X"', f'"{text(R.T @ [1, 0, 0])}"').replace('"Z"', f'"{text(R.T @ [0, 0, 1])}"')
        inside = ''.join(written(c) for c in machine.bodies if c['parent'] == b['name'])
        return (f'<body name="b{number[b["name"]]}" pos="{text(P.T @ (p - o))}" quat="{text(quaternion(P.T @ R))}">{joints}'
                f'<inertial pos="{text(b["centre"])}" mass="{b["mass"]!r}" diaginertia="{text(b["inertia"])}"/>{"".join(sites[b["name"]])}{inside}</body>')

    step, stiff = setting['step'], setting.get('stiff')
    how = f'solref="{2 * step!r} 1" solimp="0.9999 0.9999 0.001 0.5 2"' if stiff else ''
    options = f'timestep="{step!r}"' + (' integrator="RK4" solver="Newton" iterations="100" tolerance="1e-14"' if stiff else '')
    xml = (f'<mujoco><compiler angle="radian"/><option gravity="0 0 -9.81" {options}><flag energy="enable" contact="disable"/></option><worldbody>{"".join(sites["ground"])}'
           f'{"".join(written(b) for b in machine.bodies if b["parent"] == "ground")}</worldbody>'
           f'{"<tendon>" + "".join(tendons) + "</tendon>" if tendons else ""}<equality>{"".join(equalities).replace("HOW", how)}</equality></mujoco>')
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    for b in machine.bodies:
        first = model.body_dofadr[model.body(f'b{number[b["name"]]}').id]
        rates = machine.rates(b)
        if b['joint'] == 'free':        # spin along the axes of the body
            rates = [*rates[:3], *(machine.frames[b['name']][0].T @ rates[3:])]
        data.qvel[first:first + len(rates)] = rates

    def frames():
        found = {'ground': machine.frames['ground']}
        for name, k in number.items():
            here = data.body(f'b{k}')
            found[name] = (here.xmat.reshape(3, 3), here.xpos)
        return found

    def go(now):
        while data.time < now - step / 2:
            mujoco.mj_step(model, data)
        mujoco.mj_forward(model, data)
        return frames(), float(data.energy.sum())
    return go


def with_drake(machine, setting):
    from pydrake.math import RigidTransform, RotationMatrix
    from pydrake.multibody.plant import DiscreteContactApproximation, MultibodyPlant
    from pydrake.multibody.tree import (FixedOffsetFrame, PlanarJoint, PrismaticJoint, PrismaticSpring, RevoluteJoint, RotationalInertia, SpatialInertia,
                                        UniversalJoint)
    from pydrake.systems.analysis import Simulator
    from pydrake.multibody.math import SpatialVelocity

    plant = MultibodyPlant(time_step=setting['step'])
    plant.set_discrete_contact_approximation(DiscreteContactApproximation.kSap)
    plant.mutable_gravity_field().set_gravity_vector([0, 0, -9.81])
    # A loop with the world itself ends the process (1.51): the ground is a body that is welded to it.
    anchor = plant.AddRigidBody('anchor', SpatialInertia.MakeFromCentralInertia(1.0, [0, 0, 0], RotationalInertia(1, 1, 1)))
    plant.WeldFrames(plant.world_frame(), anchor.body_frame())
    links, joints = {'ground': anchor}, {}
    for b in machine.bodies:
        inertia = SpatialInertia.MakeFromCentralInertia(b['mass'], b['centre'], RotationalInertia(*b['inertia']))
        links[b['name']] = plant.AddRigidBody(b['name'], inertia)

    def offset(name, at, R):
        """A frame of a body with its origin and axes given in the world at the start."""
        Rb, p = machine.frames[name]
        number = plant.num_frames()
        return plant.AddFrame(FixedOffsetFrame(f'f{number}', links[name].body_frame(), RigidTransform(RotationMatrix(Rb.T @ R), Rb.T @ (np.array(at, float) - p))))

    for b in machine.bodies:
        name, kind = b['name'], b['joint']
        if kind == 'free':
            continue
        at = b['at'] if b['at'] is not None else machine.frames[name][1]
        if kind == 'planar':
            R = np.column_stack(([1, 0, 0], [0, 0, 1], [0, -1, 0]))
            joints[name] = plant.AddJoint(PlanarJoint(name, offset(b['parent'], at, R), offset(name, at, R)))
        elif kind == 'universal':
            x, y = (unit(a) for a in b['axes'])
            R = np.column_stack((x, y, np.cross(x, y)))
            joints[name] = plant.AddJoint(UniversalJoint(name, offset(b['parent'], at, R), offset(name, at, R)))
        else:
            make = RevoluteJoint if kind == 'hinge' else PrismaticJoint
            joints[name] = plant.AddJoint(make(name, offset(b['parent'], at, np.eye(3)), offset(name, at, np.eye(3)), unit(b['axes'][0])))
            if b['stiffness']:
                plant.AddForceElement(PrismaticSpring(joints[name], 0.0, b['stiffness']))
    for kind, (a, b), (u, v), length in machine.loops:
        if kind == 'point':
            plant.AddBallConstraint(body_A=links[a], p_AP=u, body_B=links[b], p_BQ=v)
        else:
            plant.AddDistanceConstraint(body_A=links[a], p_AP=u, body_B=links[b], p_BQ=v, distance=length)
    plant.Finalize()
    simulator = Simulator(plant)
    context = simulator.get_mutable_context()
    for b in machine.bodies:
        R, p = machine.frames[b['name']]
        rates = machine.rates(b)
        if b['joint'] == 'free':
            plant.SetFreeBodyPose(context, links[b['name']], RigidTransform(RotationMatrix(R), p))
            plant.SetFreeBodySpatialVelocity(links[b['name']], SpatialVelocity(w=rates[3:], v=rates[:3]), context)
        else:
            velocities = plant.GetVelocities(context)
            first = joints[b['name']].velocity_start()
            velocities[first:first + len(rates)] = rates
            plant.SetVelocities(context, velocities)

    def go(now):
        if now > 0:
            simulator.AdvanceTo(now)
        found = {'ground': machine.frames['ground']}
        for name, link in links.items():
            if name != 'ground':
                pose = plant.EvalBodyPoseInWorld(context, link)
                found[name] = (pose.rotation().matrix(), pose.translation())
        return found, plant.CalcKineticEnergy(context) + plant.CalcPotentialEnergy(context)
    return go


def main():
    who, file, name = sys.argv[1:4]
    with open(file, encoding='utf-8') as f:
        machine = Machine(json.load(f))
    go = {'mujoco': with_mujoco, 'drake': with_drake}[who](machine, SETTINGS[who][name])
    frames, start = go(0.0)
    at_start, opening, off, later, spent = machine.opening(frames), 0.0, 0.0, None, 0.0
    for k in range(1, round(machine.to / machine.every) + 1):
        now = k * machine.every
        begin = time.process_time()
        frames, energy = go(now)
        spent += time.process_time() - begin
        opening, off = max(opening, machine.opening(frames)), max(off, abs(energy - start))
        if abs(now - 1) < machine.every / 2:
            later = {b['name']: [float(x) for x in frames[b['name']][1]] for b in machine.bodies}
        if not np.isfinite(opening + off):
            break
    print(json.dumps({'setting': name, 'opening_at_start': float(at_start), 'opening': float(opening), 'energy': float(start), 'energy_off': float(off),
                      'after_1_s': later, 'cpu_s': spent, 'until': now}))


if __name__ == '__main__':
    main()
