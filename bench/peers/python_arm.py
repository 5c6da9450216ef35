#!/usr/bin/env python3
"""An arm of seven axes whose tip is held, from Python: one acceleration, as users of each package would ask for it.

usage: python_arm.py CONTESTANT [ROUNDS]

The numbers are those of contest.hpp. Prints one object of JSON: lines, import_ms, load_ms, single_ns, batch_ns (each of 10,000), qdd (at the start of the model)."""
import inspect
import json
import pathlib
import sys
import time

from python_pendulum import STATES, best_of

OFFSET = [0.1575, 0.2025, 0.2045, 0.2155, 0.1845, 0.2155, 0.081, 0.045]
MASS = [4, 4, 3, 2.7, 1.7, 1.8, 0.3]
INERTIA_XY, INERTIA_Z = [0.05, 0.05, 0.03, 0.03, 0.02, 0.01, 0.001], [0.02, 0.02, 0.01, 0.01, 0.008, 0.006, 0.001]
ABOUT_Y = [False, True, False, True, False, True, False]
TIP = [-0.057661529810798612, 0.10745372018175196, 1.1453841781759826]
START = [0.3, 0.5, -0.2, -1.2, 0.4, 0.9, 0.1]
MODEL = pathlib.Path(__file__).resolve().parent.parent.parent / 'models' / 'arm7.toml'


class Mechanician:
    def load(self):
        import mechanician as me
        self.f = me.load(MODEL).compiled()

    def calls(self):
        import numpy as np
        q, v = np.array(START), np.zeros(7)
        many, still = np.tile(q, (STATES, 1)), np.zeros((STATES, 7))
        return lambda: self.f(0.0, q, v), lambda: self.f(0.0, many, still)


class Pinocchio:
    def load(self):
        import numpy as np
        import pinocchio as pin
        self.pin, model, link = pin, pin.Model(), 0
        model.gravity = pin.Motion(np.array([0, 0, -9.81]), np.zeros(3))
        for i in range(7):
            joint = pin.JointModelRY() if ABOUT_Y[i] else pin.JointModelRZ()
            link = model.addJoint(link, joint, pin.SE3(np.eye(3), np.array([0, 0, OFFSET[i]])), f"axis{i}")
            inertia = np.diag([INERTIA_XY[i], INERTIA_XY[i], INERTIA_Z[i]])
            model.appendBodyToJoint(link, pin.Inertia(MASS[i], np.array([0, 0.02, 0.5 * OFFSET[i + 1]]), inertia), pin.SE3.Identity())
        tip, ground = pin.SE3(np.eye(3), np.array([0, 0, OFFSET[7]])), pin.SE3(np.eye(3), np.array(TIP))
        self.held, self.datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        self.held.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, link, tip, 0, ground, pin.ReferenceFrame.LOCAL))
        self.datas.append(self.held[0].createData())
        self.model, self.data, self.settings = model, model.createData(), pin.ProximalSettings(1e-12, 0.0, 1)
        pin.initConstraintDynamics(model, self.data, self.held, self.datas)

    def calls(self):
        import numpy as np
        q, v, tau = np.array(START), np.zeros(7), np.zeros(7)
        solve = self.pin.constraintDynamics

        def one():
            return solve(self.model, self.data, q, v, tau, self.held, self.datas, self.settings)

        def many():
            for _ in range(STATES):
                one()
        return one, many


class MuJoCo:
    def load(self):
        import mujoco
        self.mj = mujoco
        links = "".join(
            f"<body name='link{i}' pos='0 0 {OFFSET[i]}'><joint type='hinge' axis='0 {int(ABOUT_Y[i])} {int(not ABOUT_Y[i])}'/>"
            f"<inertial pos='0 0.02 {0.5 * OFFSET[i + 1]}' mass='{MASS[i]}' diaginertia='{INERTIA_XY[i]} {INERTIA_XY[i]} {INERTIA_Z[i]}'/>" for i in range(7))
        self.model = mujoco.MjModel.from_xml_string(
            f"<mujoco><option gravity='0 0 -9.81' timestep='1e-4' tolerance='1e-12'/><worldbody>{links}{'</body>' * 7}</worldbody>"
            f"<equality><connect body1='link6' anchor='0 0 {OFFSET[7]}' solref='2e-4 1' solimp='0.9999 0.9999 0.001'/></equality></mujoco>")
        self.model.eq_data[0, 3:6] = TIP
        self.data = mujoco.MjData(self.model)

    def calls(self):
        forward, model, data = self.mj.mj_forward, self.model, self.data

        def one():
            data.qpos[:] = START
            data.qvel[:] = 0.0
            forward(model, data)
            return data.qacc

        def many():
            for _ in range(STATES):
                one()
        return one, many


MODULES = {'mechanician': (Mechanician, 'mechanician'), 'MuJoCo': (MuJoCo, 'mujoco'), 'Pinocchio': (Pinocchio, 'pinocchio')}


def main():
    name, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    kind, module = MODULES[name]
    begin = time.perf_counter()
    __import__(module)
    imported = time.perf_counter()
    contestant = kind()
    contestant.load()
    loaded = time.perf_counter()
    one, many = contestant.calls()
    lines = sum(bool(x.strip()) for x in inspect.getsource(kind.load).splitlines())
    if kind is Mechanician:  # the model is a file
        lines += sum(bool(x.strip()) and not x.startswith('#') for x in MODEL.read_text(encoding='utf-8').splitlines())
    json.dump({'who': name, 'lines': lines, 'import_ms': 1e3 * (imported - begin), 'load_ms': 1e3 * (loaded - imported), 'qdd': [float(x) for x in one()],
               'single_ns': best_of(one, 4 * rounds), 'batch_ns': best_of(many, rounds) / STATES}, sys.stdout)


if __name__ == '__main__':
    main()
