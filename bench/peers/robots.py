#!/usr/bin/env python3
"""Accelerations of robots against Pinocchio's, at random states: fixed, with a free base, and with a free base and two limbs held.

usage: peers/robots.py PROGRAM FOLDER STATES [NAME …]

Goes through all URDF files of the package example-robot-data, or those whose name contains one of NAME, and prints a line of JSON for each. PROGRAM imports them,
into FOLDER; the module `mechanician` and Pinocchio evaluate. Pinocchio's M and h with damping, friction and `mimic` rows give what is compared with; where there is no
`mimic`, its ABA and its constraintDynamics too. Coulomb's friction of joints, which these do not know, is added to the forces, at a tenth of the states.

A limb is held at the last link of a branch: by six rows where the links between it and the other limb leave it that much, by three (its origin) where they do not. Rows
are velocities that are zero, so random states need not meet them in position; random velocities are projected onto them."""
import json
import pathlib
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

import numpy as np
import pinocchio as pin

SEED = 20261117
LARGEST = 1e13       # of a condition: beyond it Pinocchio's mass matrix is singular


def plain(name):
    return re.sub(r'[^A-Za-z0-9_]', '_', name)


class Robot:
    """In Pinocchio, all joints by themselves; `mimic` as rows."""

    def __init__(self, text, floating):
        self.model = pin.buildModelFromXML(text, *([pin.JointModelFreeFlyer()] if floating else []), mimic=False)
        self.data = self.model.createData()
        self.floating = floating
        self.rubs = False      # whether Coulomb's friction acts
        self.follows = {}      # joint → joint it follows, factor, offset
        for joint in ElementTree.fromstring(text.encode()).iter('joint'):
            mimic = joint.find('mimic')
            if mimic is not None and self.model.existJointName(joint.get('name')) and self.model.existJointName(mimic.get('joint')):
                self.follows[joint.get('name')] = mimic.get('joint'), float(mimic.get('multiplier', 1)), float(mimic.get('offset', 0))
        self.rows = np.zeros((len(self.follows), self.model.nv))
        for row, (name, (leader, factor, _)) in zip(self.rows, self.follows.items()):
            row[self.joint(name).idx_v], row[self.joint(leader).idx_v] = 1.0, -factor
        self.coordinates = {}  # joint → our name of its coordinate
        for k in range(1, self.model.njoints):
            joint = self.model.joints[k]
            if joint.nv == 1:
                self.coordinates[self.model.names[k]] = plain(self.model.names[k]) + ('.distance' if joint.shortname().startswith('JointModelP') else '.angle')
            elif not (floating and k == 1):
                raise ValueError(f'a joint of type {joint.shortname()}')

        # Followers whose limits leave their leader no room, as the file of a PR2 has them.
        self.contradict = {f for f, (leader, factor, offset) in self.follows.items() if not factor or self.room(leader, f, factor, offset) <= 0}

    def room(self, leader, follower, factor, offset):
        ends = sorted((end - offset) / factor for end in self.limits(follower))
        low, high = self.limits(leader)
        return min(high, ends[1]) - max(low, ends[0])

    def joint(self, name):
        return self.model.joints[self.model.getJointId(name)]

    def limits(self, name):
        """Of a joint, three radians at most; wide where its file leaves it no room, since limits are not read then."""
        at = self.joint(name).idx_q
        low, high = max(self.model.lowerPositionLimit[at], -3.0), min(self.model.upperPositionLimit[at], 3.0)
        return (low, high) if high > low else (-3.0, 3.0)

    def random(self, rng):
        q, v = pin.neutral(self.model), rng.normal(size=self.model.nv)
        if self.floating:
            turn = rng.normal(size=4)
            q[:3], q[3:7] = rng.normal(size=3), turn / np.linalg.norm(turn)
        angles = {}
        for name in self.coordinates:
            joint = self.joint(name)
            if joint.nq == 2:
                angles[name] = rng.uniform(-3, 3)
                continue
            low, high = self.limits(name)
            for follower, (leader, factor, offset) in self.follows.items():
                if leader == name and follower not in self.contradict:
                    ends = sorted((end - offset) / factor for end in self.limits(follower))
                    low, high = max(low, ends[0]), min(high, ends[1])
            angles[name] = rng.uniform(low + .05 * (high - low), high - .05 * (high - low))
        for name, (leader, factor, offset) in self.follows.items():
            angles[name] = factor * angles[leader] + offset
            v[self.joint(name).idx_v] = factor * v[self.joint(leader).idx_v]
        for name, angle in angles.items():
            joint = self.joint(name)
            q[joint.idx_q:joint.idx_q + joint.nq] = [np.cos(angle), np.sin(angle)] if joint.nq == 2 else [angle]
        return q, v, angles

    def forces(self, v):
        dry = getattr(self.model, 'upperDryFrictionLimit', None)
        return -self.model.damping * v - (self.model.friction if dry is None else dry) * np.sign(v) * self.rubs

    def terms(self, q, v):
        M = pin.crba(self.model, self.data, q)
        M = np.triu(M) + np.triu(M, 1).T
        return M, self.forces(v) - pin.nle(self.model, self.data, q, v)


def solved(M, f, A, b):
    m = len(A)
    K = np.block([[M, A.T], [A, np.zeros((m, m))]]) if m else M
    return np.linalg.solve(K, np.concatenate([f, b]))[:len(M)], np.linalg.cond(K)


class Ours:
    def __init__(self, system):
        self.system = system
        self.root = next((c[:-3] for c in system.coordinates if c.endswith('.qw')), None)

    def accelerate(self, robot, q, v, angles):
        position = {robot.coordinates[name]: float(angle) for name, angle in angles.items()}
        velocity = {c: float(v[robot.joint(name).idx_v]) for name, c in robot.coordinates.items()}
        if robot.floating:
            x, y, z, w = (float(c) for c in q[3:7])
            a, b, c = (float(s) for s in v[3:6])
            rate = [-x * a - y * b - z * c, w * a + y * c - z * b, w * b - x * c + z * a, w * c + x * b - y * a]
            u = pin.Quaternion(w, x, y, z).matrix() @ v[:3]
            position |= dict(zip((f'{self.root}.{s}' for s in ('x', 'y', 'z', 'qw', 'qx', 'qy', 'qz')), (*map(float, q[:3]), w, x, y, z)))
            velocity |= dict(zip((f'{self.root}.{s}' for s in ('x', 'y', 'z', 'qw', 'qx', 'qy', 'qz')), (*map(float, u), *(s / 2 for s in rate))))
        found = self.system.accelerate(position, velocity).acceleration
        result = np.zeros(robot.model.nv)
        for name, c in robot.coordinates.items():
            result[robot.joint(name).idx_v] = found[c]
        if robot.floating:
            R = pin.Quaternion(w, x, y, z).matrix()
            result[:3] = R.T @ [found[f'{self.root}.{s}'] for s in 'xyz'] - np.cross(v[3:6], v[:3])
            # 2 conj(e) e'' has the angular acceleration along the axes of the body as its vector part.
            s, i, j, k = (found[f'{self.root}.{n}'] for n in ('qw', 'qx', 'qy', 'qz'))
            result[3:6] = 2 * np.array([w * i - x * s - y * k + z * j, w * j - y * s - z * i + x * k, w * k - z * s - x * j + y * i])
        return result


def list_of(kind, items):
    result = kind()
    for item in items:
        result.append(item)
    return result


def compare(robot, ours, states, rng, held=()):
    """Largest differences over the states, of those that Pinocchio can evaluate."""
    worst, share, condition, singular, others = 0.0, 0.0, 0.0, 0, 0.0
    models = [pin.RigidConstraintModel(pin.ContactType.CONTACT_6D if rows == 6 else pin.ContactType.CONTACT_3D, robot.model, joint, place, pin.ReferenceFrame.LOCAL)
              for _, joint, place, rows in held]
    datas = [m.createData() for m in models]
    models, datas = list_of(pin.StdVec_RigidConstraintModel, models), list_of(pin.StdVec_RigidConstraintData, datas)
    if held:
        pin.initConstraintDynamics(robot.model, robot.data, models, datas)
    ns = 0
    for _ in range(states):
        q, v, angles = robot.random(rng)
        A, b = robot.rows, np.zeros(len(robot.rows))
        if held:
            A = np.vstack([A, held_rows(robot, q, held)])
            v = v - np.linalg.pinv(A) @ (A @ v)
            b = np.concatenate([b, -held_rates(robot, q, v, held)])
        M, f = robot.terms(q, v)
        if np.linalg.cond(M) > LARGEST:
            singular += 1
            continue
        want, c = solved(M, f, A, b)
        begin = time.perf_counter_ns()
        got = ours.accelerate(robot, q, v, angles)
        ns += time.perf_counter_ns() - begin
        size = max(1e-9, np.abs(want).max())
        error = np.abs(got - want).max() / size
        worst, share, condition = max(worst, error), max(share, error / c), max(condition, c)
        # The same by Pinocchio's own algorithms.
        if not robot.follows:
            if held:
                own = pin.constraintDynamics(robot.model, robot.data, q, v, robot.forces(v), models, datas, pin.ProximalSettings(1e-14, 1e-14, 0.0, 1))
            else:
                own = pin.aba(robot.model, robot.data, q, v, robot.forces(v))
            others = max(others, np.abs(got - own).max() / size / c)
    return {'error': worst, 'share': share, 'condition': condition, 'singular': singular, 'own_share': None if robot.follows else others, 'ms': ns / 1e6 / max(1, states - singular)}


def compare_both(robot, source, states, rng, held=()):
    """Without Coulomb's friction at all states, as ABA knows none; where joints have some, at a tenth of them with it too."""
    smooth = re.sub(r'(?m)^"[^"]*\.friction" = .*\n', '', source)
    import mechanician  # what else is here is of use without it

    robot.rubs = False
    found = compare(robot, Ours(mechanician.read(smooth, name='robot')), states, rng, held)
    if smooth != source:
        robot.rubs = True
        more = compare(robot, Ours(mechanician.read(source, name='robot')), max(1, states // 10), rng, held)
        found = {**found, 'with_friction': more, **{k: max(found[k], more[k]) for k in ('error', 'share', 'condition')},
                 'own_share': None if robot.follows else max(found['own_share'], more['own_share'])}
    return found


# ---- two limbs that are held --------------------------------------------------------------------------------------------

def limbs(robot, text):
    """The ends of the two longest branches that part from each other: link, joint, where the link is on it, and the number of joints that are its alone."""
    model = robot.model
    children = {k: [] for k in range(model.njoints)}
    for k in range(2, model.njoints):
        children[model.parents[k]].append(k)
    ends = [k for k in range(2, model.njoints) if not children[k]]

    def branch(k):
        way = []
        while k > 1:
            way.append(k)
            k = model.parents[k]
        return way
    ends.sort(key=lambda k: (-len(branch(k)), k))
    if len(ends) < 2:
        return []
    first = ends[0]
    # The other one that shares least with the first, the longest of these.
    second = min(ends[1:], key=lambda k: (len(set(branch(k)) & set(branch(first))), -len(branch(k)), k))
    links = {j.get('name'): j.find('child').get('link') for j in ElementTree.fromstring(text.encode()).iter('joint') if j.find('child') is not None}
    found = []
    for k, other in ((first, second), (second, first)):
        link = links[model.names[k]]
        own = [j for j in branch(k) if j not in branch(other)]
        frame = model.frames[model.getFrameId(link, pin.FrameType.BODY)]
        found.append((link, k, frame.placement, 6 if len(own) >= 6 else 3))
    return found


def held_rows(robot, q, held):
    pin.computeJointJacobians(robot.model, robot.data, q)
    rows = []
    for _, joint, place, count in held:
        J = place.toActionMatrixInverse() @ pin.getJointJacobian(robot.model, robot.data, joint, pin.ReferenceFrame.LOCAL)
        rows.append(J[:count])
    return np.vstack(rows)


def held_rates(robot, q, v, held):
    """Accelerations of what is held without those of the coordinates, along the axes of the links."""
    pin.forwardKinematics(robot.model, robot.data, q, v, np.zeros(robot.model.nv))
    rates = []
    for _, joint, place, count in held:
        a, u = place.actInv(robot.data.a[joint]), place.actInv(robot.data.v[joint])
        # Of the origin of the link, not of the point of the world it passes.
        rates.append(np.concatenate([a.linear + np.cross(u.angular, u.linear), a.angular])[:count])
    return np.concatenate(rates)


def with_held(text, held, bodies):
    lines = []
    for k, (link, _, _, count) in enumerate(held):
        name = plain(link)
        name = name if name in bodies else name + '_'
        lines += [f'held_{k}_{c} = "{name}.{c}\' = 0"' for c in 'xyz'] + ([f'held_{k}_w{c} = "{name}.w{c} = 0"' for c in 'xyz'] if count == 6 else [])
    head = '[constraints]\n'
    return text.replace(head, head + '\n'.join(lines) + '\n', 1) if head in text else text + '\n' + head + '\n'.join(lines) + '\n'


def examine(program, folder, file, states):
    text = file.read_text(encoding='utf-8')
    result = {'robot': f'{file.parent.parent.name}/{file.name}', 'note': ''}
    if not list(ElementTree.fromstring(text.encode()).iter('link')):
        said = subprocess.run([program, 'check', file], capture_output=True, text=True, check=False).stderr
        return {**result, 'empty': 'no links' in said, 'note': 'a robot without links, which both refuse'}
    for way in ('fixed', 'floating'):
        rng = np.random.default_rng(SEED)
        robot = Robot(text, way == 'floating')
        model = folder / 'robot.toml'
        done = subprocess.run([program, 'import', file, '--base', way, '-o', model], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr.strip()[-300:])
        result[f'{way}_nv'] = robot.model.nv
        if robot.model.nv == 0:
            continue
        begin = time.perf_counter()
        source = model.read_text(encoding='utf-8')
        for name in robot.contradict:
            source = re.sub(rf'(?ms)(^\[joints\.{re.escape(plain(name))}\]\n(?:(?!\[).*?\n)*?)limits .*?\n', r'\1', source, count=1)
            result['note'] = 'limits of joints that follow leave no room, and are left out'
        result[way] = {**compare_both(robot, source, states, rng), 'load_s': time.perf_counter() - begin}
        if way == 'floating' and (held := limbs(robot, text)):
            bodies = set(re.findall(r'(?m)^\[bodies\."?([A-Za-z0-9_]+)"?\]', source))
            q, _, _ = robot.random(np.random.default_rng(1))
            rows = np.vstack([robot.rows, held_rows(robot, q, held)])
            if np.linalg.matrix_rank(rows, 1e-8) < len(rows):
                held = [(*h[:3], 3) for h in held]
                rows = np.vstack([robot.rows, held_rows(robot, q, held)])
            if np.linalg.matrix_rank(rows, 1e-8) == len(rows):
                result['held'] = {**compare_both(robot, with_held(source, held, bodies), states, rng, held), 'links': [h[0] for h in held], 'rows': sum(h[3] for h in held)}
    return result


def main():
    program, folder, states, names = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
    root = next(p for p in pathlib.Path(pin.__file__).resolve().parents if (p / 'share' / 'example-robot-data').exists()) / 'share' / 'example-robot-data'
    for file in sorted(root.rglob('*.urdf'), key=lambda f: f.name):
        if names and not any(n in file.name for n in names):
            continue
        try:
            result = examine(program, folder, file, states)
        except Exception as error:
            result = {'robot': f'{file.parent.parent.name}/{file.name}', 'failed': f'{type(error).__name__}: {str(error)[-300:]}'}
        print(json.dumps(result), flush=True)


if __name__ == '__main__':
    main()
