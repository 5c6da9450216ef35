"""Trees of Pinocchio's models as other contestants take them, and states by the names of our coordinates."""
import re

import numpy as np
import pinocchio as pin


def bare(text):
    """Joints that only move: others do not look at limits, mimics, damping and friction when they are asked for an acceleration."""
    text = re.sub(r'<(limit|mimic|dynamics|safety_controller|calibration)\b[^>]*?(/>|>.*?</\1>)', '', text, flags=re.S)
    text = re.sub(r'(<joint\b[^>]*type=")revolute(")', r'\1continuous\2', text)
    text = re.sub(r'<(visual|collision|gazebo|transmission)\b[^>]*?>.*?</\1>', '', text, flags=re.S)
    return re.sub(r'<(gazebo|visual|collision)\b[^>]*/>', '', text)


def axis_of(joint):
    """Six numbers, linear ones first; None: it moves freely."""
    if joint.shortname() == 'JointModelFreeFlyer':
        return None
    data = joint.createData()
    joint.calc(data, np.zeros(joint.nq), np.ones(joint.nv))
    return np.array(data.S).ravel()


def tree(model):
    links = []
    for i in range(1, model.njoints):
        joint, place, inertia = model.joints[i], model.jointPlacements[i], model.inertias[i]
        links.append({'parent': model.parents[i] - 1, 'axis': axis_of(joint), 'q': joint.idx_q, 'v': joint.idx_v, 'R': np.array(place.rotation), 'p': np.array(place.translation),
                      'mass': inertia.mass, 'centre': np.array(inertia.lever), 'inertia': np.array(inertia.inertia), 'name': model.names[i]})
    return links


def write_joints(file, model, links):
    rows = [f'{len(links)}']
    for k in links:
        axis = [0.0] * 6 if k['axis'] is None else k['axis']
        numbers = [*axis, *k['R'].ravel(), *k['p'], k['mass'], *k['centre'], *k['inertia'].ravel()]
        rows.append(f'{k["parent"]} {int(k["axis"] is None)} ' + ' '.join(repr(float(x)) for x in numbers))
    file.write_text('\n'.join(rows) + '\n', encoding='utf-8')


def write_held(file, held):
    """Joints, where on them something is held, and by how many rows."""
    rows = [f'{joint} {count} ' + ' '.join(repr(float(x)) for x in [*np.array(place.rotation).ravel(), *place.translation]) for joint, place, count in held]
    file.write_text(f'{len(rows)}\n' + '\n'.join(rows) + '\n', encoding='utf-8')


def product(a, b):
    """Of quaternions, w first."""
    return np.array([a[0] * b[0] - a[1:] @ b[1:], *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))])


def named(model, links, q, v, a):
    """Of one state: positions, velocities and accelerations by coordinate."""
    names, out = {}, []
    for k in links:
        if k['axis'] is not None:
            what = k['name'] if re.fullmatch(r'q\d', k['name']) else k['name'] + ('.angle' if np.any(k['axis'][3:]) else '.distance')
            names[what] = (q[k['q']], v[k['v']], a[k['v']])
            continue
        x, turn = q[:3], np.array([q[6], q[3], q[4], q[5]])
        R = pin.Quaternion(q[6], q[3], q[4], q[5]).matrix()
        w, dw = np.array([0, *v[3:6]]), np.array([0, *a[3:6]])
        dturn = 0.5 * product(turn, w)
        ddturn = 0.5 * (product(dturn, w) + product(turn, dw))
        dx, ddx = R @ v[:3], R @ (a[:3] + np.cross(v[3:6], v[:3]))
        for i, c in enumerate('xyz'):
            names[f'base.{c}'] = (x[i], dx[i], ddx[i])
        for i, c in enumerate(('qw', 'qx', 'qy', 'qz')):
            names[f'base.{c}'] = (turn[i], dturn[i], ddturn[i])
    out = {c: [float(x) for x in values] for c, values in names.items()}
    return out
