#!/usr/bin/env python3
"""Robots for bench/run --exports: what the other contestants need, from Pinocchio's model of each.

usage: export_robots.py FOLDER ROBOT ...

ROBOT is arm7 (its tip free), arm7_held, panda or talos. Writes into FOLDER, for each ROBOT: ROBOT.urdf where it is one, without what only we would read (limits, mimics,
damping); ROBOT.joints, and where something is held ROBOT.held, for export_pinocchio.cpp; ROBOT.states, the states as Pinocchio has them; ROBOT_casadi.c, the forward dynamics as CasADi writes them;
and prints one object of JSON: by robot, `states` by the names of our coordinates, with the accelerations that Pinocchio finds, and `operations` of CasADi.

The algorithm is articulated bodies, written in CasADi's symbols as Pinocchio's own casadi module does it (which is not in the package of PyPI). Where the tip is held, composite
bodies give M, the recursion of Newton and Euler the forces, and L D Lᵀ of M and of J M⁻¹ Jᵀ solves."""
import json
import math
import pathlib
import sys

import casadi as cs
import numpy as np
import pinocchio as pin
from python_arm import ABOUT_Y, INERTIA_XY, INERTIA_Z, MASS, OFFSET
from robot_trees import bare, named, tree, write_held, write_joints

STATES = 16


def arm():
    """That of contest.hpp."""
    model, link = pin.Model(), 0
    model.gravity = pin.Motion(np.array([0, 0, -9.81]), np.zeros(3))
    for i in range(7):
        joint = pin.JointModelRY() if ABOUT_Y[i] else pin.JointModelRZ()
        link = model.addJoint(link, joint, pin.SE3(np.eye(3), np.array([0, 0, OFFSET[i]])), f'q{i}')
        inertia = np.diag([INERTIA_XY[i], INERTIA_XY[i], INERTIA_Z[i]])
        model.appendBodyToJoint(link, pin.Inertia(MASS[i], np.array([0, 0.02, 0.5 * OFFSET[i + 1]]), inertia), pin.SE3.Identity())
    return model


def urdf_of(name):
    """In the package example-robot-data, which is files alone."""
    packages = pathlib.Path(pin.__file__).resolve()
    folder = next(p for p in packages.parents if p.name == 'cmeel.prefix') / 'share' / 'example-robot-data' / 'robots'
    return folder / ('panda_description/urdf/panda.urdf' if name == 'panda' else 'talos_data/robots/talos_reduced.urdf')


def load(name, folder):
    if name.startswith('arm7'):
        return arm()
    file = urdf_of(name)
    (folder / f'{name}.urdf').write_text(bare(file.read_text(encoding='utf-8')), encoding='utf-8')
    return pin.buildModelFromUrdf(str(file), pin.JointModelFreeFlyer()) if name == 'talos' else pin.buildModelFromUrdf(str(file))


# ---- dynamics in CasADi's symbols. Spatial vectors are (linear, angular), as Pinocchio's.

def skew(x):
    return cs.vertcat(cs.horzcat(0, -x[2], x[1]), cs.horzcat(x[2], 0, -x[0]), cs.horzcat(-x[1], x[0], 0))


def turned(axis, angle):
    s, c, K = cs.sin(angle), cs.cos(angle), np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return cs.SX(np.eye(3) + K @ K) + s * cs.SX(K) - c * cs.SX(K @ K)


def placement(link, q):
    if link['axis'] is None:
        x, y, z, w = (q[link['q'] + 3 + i] for i in range(4))
        R = cs.vertcat(cs.horzcat(1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)), cs.horzcat(2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
                       cs.horzcat(2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)))
        return link['R'] @ R, link['p'] + link['R'] @ q[link['q']:link['q'] + 3]
    turn, slide = link['axis'][3:], link['axis'][:3]
    if np.any(turn):
        return link['R'] @ turned(turn, q[link['q']]), cs.SX(link['p'])
    return cs.SX(link['R']), link['p'] + (link['R'] @ slide) * q[link['q']]


def motion_into(R, p, x):
    """A velocity of the parent, in the frame of the child."""
    return cs.vertcat(R.T @ (x[:3] - cs.cross(p, x[3:])), R.T @ x[3:])


def force_out(R, p, f):
    F = R @ f[:3]
    return cs.vertcat(F, R @ f[3:] + cs.cross(p, F))


def cross_motion(v, x):
    return cs.vertcat(cs.cross(v[3:], x[:3]) + cs.cross(v[:3], x[3:]), cs.cross(v[3:], x[3:]))


def cross_force(v, f):
    return cs.vertcat(cs.cross(v[3:], f[:3]), cs.cross(v[3:], f[3:]) + cs.cross(v[:3], f[:3]))


def inertia_of(link):
    C = np.array([[0, -link['centre'][2], link['centre'][1]], [link['centre'][2], 0, -link['centre'][0]], [-link['centre'][1], link['centre'][0], 0]])
    m = link['mass']
    return np.block([[m * np.eye(3), -m * C], [m * C, link['inertia'] - m * C @ C]])


def same_both_ways(I):
    """Of a symmetric matrix the upper half, twice: expressions of the lower one are not made."""
    return cs.triu(I) + cs.triu(I, False).T


def moved_inertia(R, p, I):
    X = cs.vertcat(cs.horzcat(R, cs.SX(3, 3)), cs.horzcat(skew(p) @ R, R))
    return same_both_ways(X @ I @ X.T)


def aba(links, q, v, gravity):
    count, zero = len(links), cs.SX.zeros(6)
    places = [placement(k, q) for k in links]
    speed, bias, I, force = [None] * count, [None] * count, [None] * count, [None] * count
    for i, k in enumerate(links):
        R, p = places[i]
        own = v[k['v']:k['v'] + 6] if k['axis'] is None else cs.SX(k['axis']) * v[k['v']]
        speed[i] = own if k['parent'] < 0 else motion_into(R, p, speed[k['parent']]) + own
        bias[i] = zero if k['parent'] < 0 else cross_motion(speed[i], own)
        I[i] = cs.SX(inertia_of(k))
        force[i] = cross_force(speed[i], I[i] @ speed[i])
    U, D, u = [None] * count, [None] * count, [None] * count
    for i in reversed(range(count)):
        k = links[i]
        R, p = places[i]
        if k['axis'] is None:
            continue
        S = cs.SX(k['axis'])
        U[i] = I[i] @ S
        D[i], u[i] = cs.dot(S, U[i]), -cs.dot(S, force[i])
        if k['parent'] >= 0:
            Ia = I[i] - same_both_ways(U[i] @ (U[i].T / D[i]))
            fa = force[i] + Ia @ bias[i] + U[i] * (u[i] / D[i])
            I[k['parent']] = I[k['parent']] + moved_inertia(R, p, Ia)
            force[k['parent']] = force[k['parent']] + force_out(R, p, fa)
    acceleration, out = [None] * count, cs.SX(v.shape[0], 1)
    for i, k in enumerate(links):
        R, p = places[i]
        before = motion_into(R, p, -cs.SX(np.concatenate([gravity, np.zeros(3)])) if k['parent'] < 0 else acceleration[k['parent']]) + bias[i]
        if k['axis'] is None:
            d, LT, order = cs.ldl(I[i])
            a = cs.ldl_solve(-force[i], d, LT, order)
            out[k['v']:k['v'] + 6] = a - before
            acceleration[i] = a
        else:
            a = (u[i] - cs.dot(U[i], before)) / D[i]
            out[k['v']] = a
            acceleration[i] = before + cs.SX(k['axis']) * a
    return out


def mass_and_forces(links, q, v, gravity):
    """M and what M q̈ equals, without constraints; axes of rotation and translation alone."""
    count = len(links)
    places = [placement(k, q) for k in links]
    speed, acceleration, force, I = [None] * count, [None] * count, [None] * count, [cs.SX(inertia_of(k)) for k in links]
    for i, k in enumerate(links):
        R, p = places[i]
        own = cs.SX(k['axis']) * v[k['v']]
        speed[i] = own if k['parent'] < 0 else motion_into(R, p, speed[k['parent']]) + own
        acceleration[i] = motion_into(R, p, -cs.SX(np.concatenate([gravity, np.zeros(3)])) if k['parent'] < 0 else acceleration[k['parent']]) + cross_motion(speed[i], own)
        force[i] = I[i] @ acceleration[i] + cross_force(speed[i], I[i] @ speed[i])
    M, h = cs.SX(count, count), cs.SX(count, 1)
    for i in reversed(range(count)):
        k = links[i]
        h[i] = -cs.dot(cs.SX(k['axis']), force[i])
        F, j = I[i] @ cs.SX(k['axis']), i
        while j >= 0:
            M[i, j] = M[j, i] = cs.dot(cs.SX(links[j]['axis']), F)
            F, j = force_out(*places[j], F), links[j]['parent']
        if k['parent'] >= 0:
            I[k['parent']] = I[k['parent']] + moved_inertia(*places[i], I[i])
            force[k['parent']] = force[k['parent']] + force_out(*places[i], force[i])
    return M, h


def held(links, q, v, gravity):
    M, h = mass_and_forces(links, q, v, gravity)
    R, p = cs.SX(np.eye(3)), cs.SX.zeros(3)
    for k in links:
        Rk, pk = placement(k, q)
        R, p = R @ Rk, p + R @ pk
    tip = p + R @ cs.SX([0, 0, OFFSET[7]])
    J = cs.jacobian(tip, q)
    b = -cs.jtimes(J @ v, q, v)
    d, LT, order = cs.ldl(M)
    columns = cs.ldl_solve(cs.horzcat(h, J.T), d, LT, order)
    a, W = columns[:, 0], columns[:, 1:]
    e, ET, by = cs.ldl(same_both_ways(J @ W))
    return a + W @ cs.ldl_solve(b - J @ a, e, ET, by)


# ---- states

def random_state(model, links, random):
    q, v = random.uniform(-1, 1, model.nq), random.uniform(-1, 1, model.nv)
    if links[0]['axis'] is None:
        q[3:7] /= np.linalg.norm(q[3:7])
    return q, v


def held_states(model, random):
    """On the constraint, and moving along it."""
    data, last = model.createData(), model.njoints - 1
    from python_arm import START, TIP
    q, out = np.array(START), []

    def look(x):
        pin.forwardKinematics(model, data, x)
        pin.computeJointJacobians(model, data, x)
        place, at = data.oMi[last], np.array([0, 0, OFFSET[7]])
        J = pin.getJointJacobian(model, data, last, pin.ReferenceFrame.LOCAL)
        S = np.array([[0, -at[2], at[1]], [at[2], 0, -at[0]], [-at[1], at[0], 0]])
        return place.act(at), place.rotation @ (J[:3] - S @ J[3:])
    while len(out) < STATES:
        q = q + random.uniform(-0.2, 0.2, 7)
        for _ in range(50):
            tip, J = look(q)
            q = q - np.linalg.pinv(J) @ (tip - np.array(TIP))
        tip, J = look(q)
        assert np.abs(tip - np.array(TIP)).max() < 1e-14
        v = random.uniform(-1, 1, 7)
        out.append((q, v - np.linalg.pinv(J) @ (J @ v)))
    return out


def held_acceleration(model, q, v):
    """Pinocchio's, with the tip held."""
    from python_arm import TIP
    last = model.njoints - 1
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    models.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, last, pin.SE3(np.eye(3), np.array([0, 0, OFFSET[7]])), 0, pin.SE3(np.eye(3), np.array(TIP)),
                                           pin.ReferenceFrame.LOCAL))
    datas.append(models[0].createData())
    data = model.createData()
    pin.initConstraintDynamics(model, data, models, datas)
    return np.array(pin.constraintDynamics(model, data, q, v, np.zeros(model.nv), models, datas, pin.ProximalSettings(1e-12, 0.0, 1)))


def main():
    folder = pathlib.Path(sys.argv[1])
    answer = {}
    for name in sys.argv[2:]:
        model = load(name, folder)
        links, random = tree(model), np.random.default_rng(7)
        write_joints(folder / f'{name}.joints', model, links)
        if name == 'arm7_held':
            write_held(folder / f'{name}.held', [(model.njoints - 1, pin.SE3(np.eye(3), np.array([0, 0, OFFSET[7]])), 3)])
        states = held_states(model, random) if name == 'arm7_held' else [random_state(model, links, random) for _ in range(STATES)]
        data = model.createData()
        found = [held_acceleration(model, q, v) if name == 'arm7_held' else np.array(pin.aba(model, data, q, v, np.zeros(model.nv))) for q, v in states]
        (folder / f'{name}.states').write_text(f'{STATES} {model.nq} {model.nv}\n' + '\n'.join(' '.join(repr(float(x)) for x in [*q, *v, *a]) for (q, v), a in zip(states, found)) + '\n', encoding='utf-8')
        q, v = cs.SX.sym('q', model.nq), cs.SX.sym('v', model.nv)
        gravity = np.array(model.gravity.linear)
        function = cs.Function('dynamics', [q, v], [(held if name == 'arm7_held' else aba)(links, q, v, gravity)], {'cse': True})
        generator = cs.CodeGenerator(f'{name}_casadi.c')
        generator.add(function)
        generator.generate(str(folder) + '/')
        error = max(float(np.abs(np.array(function(x, y)).ravel() - a).max() / np.abs(a).max()) for (x, y), a in zip(states, found))
        assert error < 1e-9, (name, error)
        answer[name] = {'states': [named(model, links, x, y, a) for (x, y), a in zip(states, found)], 'operations': function.n_instructions(), 'freedoms': model.nv - (3 if name == 'arm7_held' else 0),
                        'mass': math.fsum(k['mass'] for k in links)}
    json.dump(answer, sys.stdout)


if __name__ == '__main__':
    main()
