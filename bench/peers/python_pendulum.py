#!/usr/bin/env python3
"""The double pendulum as users of Python packages would write it: what each takes to load, for an acceleration, for ten seconds.

usage: python_pendulum.py CONTESTANT [ROUNDS]

Rods of 1 and 0.8 m, masses of 1 and 1.5 kg, from rest at angles of 0.3 and 0.9. Prints one object of JSON:
lines (of the contestant's own class), import_ms, load_ms (until the first acceleration can be asked for), first_ms (until the first motion is there), single_ns and batch_ns (an acceleration, one by one and
of 10,000 at once), and runs: for each setting its time in ms, where the pendulum ends, and how far rods are off where they are constraints."""
import inspect
import json
import math
import sys
import time

M1, M2, L1, L2, G, A0, B0, END = 1.0, 1.5, 1.0, 0.8, 9.81, 0.3, 0.9, 10.0
STATES = 10_000


def best_of(call, rounds, least=0.004):
    """Quickest of some rounds, in ns a call; a round takes a while."""
    count = 1
    while True:
        begin = time.perf_counter()
        for _ in range(count):
            call()
        took = time.perf_counter() - begin
        if took > least:
            break
        count = max(2 * count, int(1.2 * count * least / max(took, 1e-9)))
    best = took
    for _ in range(rounds - 1):
        begin = time.perf_counter()
        for _ in range(count):
            call()
        best = min(best, time.perf_counter() - begin)
    return 1e9 * best / count


def cartesian(a, b):
    return [L1 * math.sin(a), -L1 * math.cos(a), L1 * math.sin(a) + L2 * math.sin(b), -L1 * math.cos(a) - L2 * math.cos(b)]


class Mechanician:
    SETTINGS = [1e-6, 1e-7, 1e-8, 1e-9, 1e-10]

    def load(self):
        import mechanician as me
        self.m = me.read("""
            coordinates = ["x1", "y1", "x2", "y2"]
            [dynamics]
            kinetic = "(x1'^2 + y1'^2)/2 + 0.75*(x2'^2 + y2'^2)"
            potential = "9.81*(y1 + 1.5*y2)"
            [constraints]
            upper = "x1^2 + y1^2 = 1"
            lower = "(x2 - x1)^2 + (y2 - y1)^2 = 0.64"
            [start]
            position = { x1 = "sin(0.3)", y1 = "-cos(0.3)", x2 = "sin(0.3) + 0.8*sin(0.9)", y2 = "-cos(0.3) - 0.8*cos(0.9)" }
            """)
        self.f = self.m.compiled()

    def run(self, tolerance):
        r = self.m.run(to=10, every=0.01, tolerance=tolerance)
        return [r[c][-1] for c in ("x1", "y1", "x2", "y2")], r.summary["position_violation"]

    def calls(self):
        import numpy as np
        q, v = np.array(cartesian(A0, B0)), np.zeros(4)
        many, still = np.tile(q, (STATES, 1)), np.zeros((STATES, 4))
        return lambda: self.f(0.0, q, v), lambda: self.f(0.0, many, still)


class SympyAndScipy:
    SETTINGS = [1e-6, 1e-7, 1e-8, 1e-9, 1e-13]

    def load(self):
        import sympy as sm
        from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols
        a, b = dynamicsymbols("a b")
        u, v = a.diff(), b.diff()
        kinetic = L1**2 * u**2 / 2 + M2 * (L1**2 * u**2 + L2**2 * v**2 + 2 * L1 * L2 * u * v * sm.cos(a - b)) / 2
        potential = -(M1 + M2) * G * L1 * sm.cos(a) - M2 * G * L2 * sm.cos(b)
        method = LagrangesMethod(kinetic - potential, [a, b])
        method.form_lagranges_equations()
        p, q, r, s = sm.symbols("p q r s")
        named = [e.subs({u: r, v: s}).subs({a: p, b: q}) for e in (method.mass_matrix, method.forcing)]
        self.f = sm.lambdify([p, q, r, s], named[0].LUsolve(named[1]), cse=True)

    def run(self, tolerance):
        import numpy as np
        from scipy.integrate import solve_ivp
        f = self.f
        s = solve_ivp(lambda t, y: (y[2], y[3], *f(*y)[:, 0]), (0, END), [A0, B0, 0, 0], method="DOP853",
                      rtol=tolerance, atol=tolerance, t_eval=np.linspace(0, END, 1001))
        return cartesian(*s.y[:2, -1]), 0.0

    def calls(self):
        import numpy as np
        f, many, still = self.f, np.full(STATES, A0), np.zeros(STATES)
        return lambda: f(A0, B0, 0.0, 0.0), lambda: f(many, many, still, still)


class CasADi:
    SETTINGS = [1e-6, 1e-7, 1e-8, 1e-9, 1e-10]

    def load(self):
        import casadi as ca
        self.ca = ca
        q, v = ca.SX.sym("q", 2), ca.SX.sym("v", 2)
        kinetic = L1**2 * v[0] ** 2 / 2 + M2 * (L1**2 * v[0] ** 2 + L2**2 * v[1] ** 2 + 2 * L1 * L2 * v[0] * v[1] * ca.cos(q[0] - q[1])) / 2
        potential = -(M1 + M2) * G * L1 * ca.cos(q[0]) - M2 * G * L2 * ca.cos(q[1])
        momentum = ca.gradient(kinetic, v)
        force = ca.gradient(kinetic - potential, q) - ca.jtimes(momentum, q, v)
        self.acceleration = ca.solve(ca.jacobian(momentum, v), force)
        self.q, self.v = q, v
        self.f = ca.Function("f", [q, v], [self.acceleration])

    def run(self, tolerance):
        ca = self.ca
        dae = {"x": ca.vertcat(self.q, self.v), "ode": ca.vertcat(self.v, self.acceleration)}
        grid = [END * k / 1000 for k in range(1, 1001)]
        solver = ca.integrator("F", "cvodes", dae, 0, grid, {"reltol": tolerance, "abstol": tolerance, "max_num_steps": 1_000_000})
        end = solver(x0=[A0, B0, 0, 0])["xf"]
        return cartesian(float(end[0, -1]), float(end[1, -1])), 0.0

    def calls(self):
        import numpy as np
        q, v = np.array([A0, B0]), np.zeros(2)
        many, batch = self.f.map(STATES), np.tile(q[:, None], STATES)
        still = np.zeros((2, STATES))
        return lambda: self.f(q, v), lambda: many(batch, still)


class Heyoka:
    SETTINGS = [1e-6, 1e-7, 1e-8, 1e-9, 1e-16]

    def load(self):
        import heyoka as hy
        self.hy = hy
        a, b, u, v = hy.make_vars("a", "b", "u", "v")
        c, s = hy.cos(a - b), hy.sin(a - b)
        m11, m12, m22 = (M1 + M2) * L1**2, M2 * L1 * L2 * c, M2 * L2**2
        f1 = -M2 * L1 * L2 * s * v**2 - (M1 + M2) * G * L1 * hy.sin(a)
        f2 = M2 * L1 * L2 * s * u**2 - M2 * G * L2 * hy.sin(b)
        det = m11 * m22 - m12 * m12
        self.equations = [(a, u), (b, v), (u, (m22 * f1 - m12 * f2) / det), (v, (m11 * f2 - m12 * f1) / det)]
        self.f = hy.cfunc([e for _, e in self.equations[2:]], [a, b, u, v])

    def run(self, tolerance):
        import numpy as np
        integrator = self.hy.taylor_adaptive(self.equations, [A0, B0, 0.0, 0.0], tol=tolerance)
        rows = integrator.propagate_grid(np.linspace(0, END, 1001))[-1]
        return cartesian(*rows[-1][:2]), 0.0

    def calls(self):
        import numpy as np
        y, many = np.array([A0, B0, 0.0, 0.0]), np.tile(np.array([[A0], [B0], [0.0], [0.0]]), STATES)
        return lambda: self.f(y), lambda: self.f(many)


class MuJoCo:
    SETTINGS = [4e-3, 2e-3, 1e-3, 5e-4]  # steps

    def load(self):
        import mujoco
        self.mj = mujoco
        self.model = mujoco.MjModel.from_xml_string(f"""
            <mujoco><option gravity="0 0 -{G}" integrator="RK4"><flag contact="disable"/></option><worldbody>
              <body><joint name="a" type="hinge" axis="0 -1 0"/><inertial pos="0 0 -{L1}" mass="{M1}" diaginertia="1e-12 1e-12 1e-12"/>
                <body pos="0 0 -{L1}"><joint name="b" type="hinge" axis="0 -1 0"/><inertial pos="0 0 -{L2}" mass="{M2}" diaginertia="1e-12 1e-12 1e-12"/></body>
              </body></worldbody></mujoco>""")
        self.data = mujoco.MjData(self.model)
        self.data.qpos[:] = [A0, B0 - A0]
        mujoco.mj_forward(self.model, self.data)

    def run(self, step):
        mj, data = self.mj, self.mj.MjData(self.model)
        self.model.opt.timestep = step
        data.qpos[:] = [A0, B0 - A0]
        for _ in range(round(END / step)):
            mj.mj_step(self.model, data)
        return cartesian(data.qpos[0], data.qpos[0] + data.qpos[1]), 0.0

    def calls(self):
        mj, model, data = self.mj, self.model, self.data

        def one():
            data.qpos[:] = [A0, B0 - A0]
            data.qvel[:] = 0.0
            mj.mj_forward(model, data)
            return data.qacc

        def many():
            for _ in range(STATES):
                one()
        return one, many


class Pinocchio:
    SETTINGS = [1e-6, 1e-7, 1e-8, 1e-9]

    def load(self):
        import numpy as np
        import pinocchio as pin
        self.pin, self.tau = pin, np.zeros(2)
        model = pin.Model()
        model.gravity = pin.Motion(np.array([0, 0, -G]), np.zeros(3))
        first = model.addJoint(0, pin.JointModelRY(), pin.SE3.Identity(), "a")
        model.appendBodyToJoint(first, pin.Inertia(M1, np.array([0, 0, -L1]), np.zeros((3, 3))), pin.SE3.Identity())
        second = model.addJoint(first, pin.JointModelRY(), pin.SE3(np.eye(3), np.array([0, 0, -L1])), "b")
        model.appendBodyToJoint(second, pin.Inertia(M2, np.array([0, 0, -L2]), np.zeros((3, 3))), pin.SE3.Identity())
        self.model, self.data = model, model.createData()

    def run(self, tolerance):
        import numpy as np
        from scipy.integrate import solve_ivp
        aba, model, data, tau = self.pin.aba, self.model, self.data, self.tau
        s = solve_ivp(lambda t, y: np.concatenate([y[2:], aba(model, data, y[:2], y[2:], tau)]), (0, END), [-A0, A0 - B0, 0, 0],
                      method="DOP853", rtol=tolerance, atol=tolerance, t_eval=np.linspace(0, END, 1001))
        return cartesian(-s.y[0, -1], -s.y[0, -1] - s.y[1, -1]), 0.0

    def calls(self):
        import numpy as np
        q, v, tau, aba, model, data = np.array([-A0, A0 - B0]), np.zeros(2), self.tau, self.pin.aba, self.model, self.data

        def many():
            for _ in range(STATES):
                aba(model, data, q, v, tau)
        return lambda: aba(model, data, q, v, tau), many


MODULES = {'mechanician': (Mechanician, 'mechanician'), 'SymPy and SciPy': (SympyAndScipy, 'sympy.physics.mechanics scipy.integrate'),
           'CasADi': (CasADi, 'casadi'), 'heyoka': (Heyoka, 'heyoka'), 'MuJoCo': (MuJoCo, 'mujoco'), 'Pinocchio': (Pinocchio, 'pinocchio')}


def main():
    name, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    kind, modules = MODULES[name]
    begin = time.perf_counter()
    for module in modules.split():
        __import__(module)
    imported = time.perf_counter()
    contestant = kind()
    contestant.load()
    loaded = time.perf_counter()
    contestant.run(kind.SETTINGS[1])
    first = time.perf_counter()
    one, many = contestant.calls()
    result = {'who': name, 'lines': sum(bool(x.strip()) for m in (kind.load, kind.run) for x in inspect.getsource(m).splitlines()),
              'import_ms': 1e3 * (imported - begin), 'load_ms': 1e3 * (loaded - imported), 'first_ms': 1e3 * (first - begin),
              'single_ns': best_of(one, 8 * rounds), 'batch_ns': best_of(many, 3 * rounds) / STATES, 'runs': []}
    for setting in kind.SETTINGS:
        end, violation = contestant.run(setting)
        ns = best_of(lambda s=setting: contestant.run(s), 2 if rounds < 5 else 3, 0.0)
        result['runs'].append({'setting': setting, 'ms': ns / 1e6, 'end': [float(x) for x in end], 'violation': violation})
    if name == 'mechanician':  # once more: what there is of it is in the cache
        import mechanician
        result['again_ms'] = best_of(lambda: mechanician.read(contestant.m.source), rounds) / 1e6
    json.dump(result, sys.stdout)


if __name__ == '__main__':
    main()
