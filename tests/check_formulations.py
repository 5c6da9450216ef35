#!/usr/bin/env python3
"""Random mechanisms, along the tree of their joints and with every body by itself: the same motion, energy and reactions.

    check_formulations.py PROGRAM [--count N] [--seed S]

The two ways share neither coordinates nor constraints nor start values: what they agree in is the mechanism. A mechanism is a tree of
bodies with random frames, shapes and joints of all kinds, sometimes closed to loops, with springs, dampers, torques, forces at points and drives, and
with starts of joints that are not those of the bodies. Its plain model, as `expand` prints it, gives the same bits.
"""

import argparse
import csv
import io
import math
import pathlib
import random
import subprocess
import sys
import tempfile

TREE = ["revolute", "revolute", "prismatic", "cylindrical", "spherical", "universal", "screw", "planar", "fixed"]
COORDINATES = {"revolute": ["angle"], "prismatic": ["distance"], "cylindrical": ["angle", "distance"], "universal": ["angle", "angle2"],
               "screw": ["angle"], "planar": ["distance", "distance2", "angle"]}


def vector(values):
    return "[" + ", ".join(repr(round(v, 6)) for v in values) + "]"


def direction(rng):
    while True:
        v = [rng.uniform(-1, 1) for _ in range(3)]
        if 0.3 < math.hypot(*v) < 1:
            return v


def across(rng, a):
    b = direction(rng)
    c = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    return c if math.hypot(*c) > 0.2 else across(rng, a)


def exact(values):
    return "[" + ", ".join(repr(v) for v in values) + "]"


def mechanism(rng):
    n = rng.randint(1, 4)
    text, outputs = [], []
    place = [[0, 0, 0]] + [[rng.uniform(-1, 1) for _ in range(3)] for _ in range(n)]
    for i in range(1, n + 1):
        kind = rng.choice(["inertia", "box", "cylinder", "tensor"])
        body = {"inertia": f"mass = {rng.uniform(0.5, 2):.3f}\ninertia = [0.03, 0.04, 0.05]\ncentre = {vector(rng.uniform(-0.2, 0.2) for _ in range(3))}",
                "tensor": f"mass = {rng.uniform(0.5, 2):.3f}\ninertia = [[0.05, 0.01, 0.004], [0.01, 0.06, -0.006], [0.004, -0.006, 0.04]]",
                "box": "shape = { box = [0.3, 0.2, 0.5], density = 40 }",
                "cylinder": 'shape = { cylinder = [0.1, 0.6], axis = "x", density = 60, inner = 0.05, at = [0.1, 0, 0] }'}[kind]
        free = i > 1 and rng.random() < 0.1
        spin = f", velocity = {vector(direction(rng))}, spin = {vector(direction(rng))}" if free else ""
        text.append(f"[bodies.b{i}]\n{body}\nstart = {{ at = {vector(place[i])}, turned = {{ axis = {vector(direction(rng))}, angle = {rng.uniform(-2, 2):.3f} }}{spin} }}\n")
        outputs += [f'"p{i}{c}" = "b{i}.{c}"' for c in "xyz"] + [f'"w{i}{c}" = "b{i}.w{c}"' for c in "xyz"]
        outputs += [f'"a{i}{c}" = "b{i}.c{c}\'\'"' for c in "xyz"]
        if free:
            place[i] = None
    starts = {"position": [], "velocity": []}
    joints = []
    for i in range(1, n + 1):
        if place[i] is None:
            continue
        kind = rng.choice(TREE if i > 1 else TREE[:-1])
        other = rng.choice([k for k in range(i) if place[k] is not None])
        ends = ["ground" if k == 0 else f"b{k}" for k in (other, i)]
        if rng.random() < 0.3:
            ends.reverse()
        a = direction(rng)
        lines = [f"[joints.j{i}]", f'type = "{kind}"', f'between = ["{ends[0]}", "{ends[1]}"]',
                 f"at = {vector(rng.uniform(-1, 1) for _ in range(3))}"]
        if kind in COORDINATES:
            lines.append(f"axis = {exact(a)}")
        if kind == "universal":
            lines.append(f"axis2 = {exact(across(rng, a))}")
        if kind == "screw":
            lines.append(f"pitch = {rng.uniform(-0.5, 0.5):.3f}")
        names = COORDINATES.get(kind, [])
        several = len(names) > 1
        for c in names:
            outputs.append(f'"q{i}{c}" = "j{i}.{c}"')
            if rng.random() < 0.5:
                starts["position"].append(f'"j{i}.{c}" = {rng.uniform(-0.8, 0.8):.3f}')
            if rng.random() < 0.5:
                starts["velocity"].append(f'"j{i}.{c}" = {rng.uniform(-1, 1):.3f}')
        if names and rng.random() < 0.4:
            spring = f"{{ stiffness = {rng.uniform(2, 9):.2f}, free = 0.2 }}"
            lines.append(f"spring = {{ {names[-1]} = {spring} }}" if several else f"spring = {spring}")
        if names and rng.random() < 0.4:
            lines.append(f"damping = {{ {names[0]} = 0.3 }}" if several else "damping = 0.3")
        if "angle" in names and rng.random() < 0.4:
            lines.append(f'torque = "0.4*sin(3*t) - 0.1*j{i}.angle\'"')
        joints.append("\n".join(lines) + "\n")
    alive = [k for k in range(1, n + 1) if place[k] is not None]
    # Loops and mechanisms whose joints are given starts do not go together: those would have to close.
    if not starts["position"] and not starts["velocity"] and len(alive) > 1 and rng.random() < 0.8:
        kind = rng.choice(["distance", "spherical", "point_on_plane", "perpendicular"])
        lines = ["[joints.loop]", f'type = "{kind}"', f'between = ["ground", "b{alive[-1]}"]']
        if kind != "perpendicular":
            lines.append(f"at = {vector(rng.uniform(-1, 1) for _ in range(3))}")
        if kind == "distance":
            lines.append(f"at2 = {vector(rng.uniform(-1, 1) for _ in range(3))}")
        a = direction(rng)
        if kind in ("point_on_plane", "perpendicular"):
            lines.append(f"axis = {exact(a)}")
        if kind == "perpendicular":
            lines.append(f"axis2 = {exact(across(rng, a))}")
        if kind != "spherical" or n > 2:
            joints.append("\n".join(lines) + "\n")
    points = [f"tip{i} = {{ on = \"b{i}\", at = {vector(direction(rng))} }}" for i in range(1, n + 1)]
    points.append(f"anchor = {{ on = \"ground\", at = {vector(direction(rng))} }}")
    loads = [f"[springs.s]\nbetween = [\"anchor\", \"tip{n}\"]\nstiffness = 6\ndamping = 0.4\nfree = 0.3\n",
             f"[forces.f]\nat = \"tip1\"\nvector = [\"cos(2*t)\", 0.5, \"-0.3*tip1.z'\"]\nframe = \"{rng.choice(['world', 'body'])}\"\n",
             f"[forces.m]\non = \"b{n}\"\ntorque = [0.1, \"0.2*t\", -0.1]\nframe = \"{rng.choice(['world', 'body'])}\"\n"]
    outputs += [f'"T{i}" = "b{i}.kinetic"' for i in range(1, n + 1)] + ['"tip_rate" = "tip1.y\'"']
    head = f"[world]\ngravity = {vector(direction(rng))}\nformulation = \"FORMULATION\"\n"
    start = "".join(f"[start.{key}]\n" + "\n".join(values) + "\n" for key, values in starts.items() if values)
    return "\n".join([head] + text + joints + ["[points]\n" + "\n".join(points) + "\n"] + rng.sample(loads, rng.randint(0, 3)) + [start] +
                     ["[outputs]\n" + "\n".join(outputs) + "\n[run]\nto = 0.3\nevery = 0.1\ntolerance = 1e-12\n"])


def rows_of(program, text, folder, name, *more):
    file = pathlib.Path(folder) / name
    file.write_text(text)
    done = subprocess.run([program, "run", str(file), "--quiet", *more], capture_output=True, text=True)
    return (list(csv.DictReader(io.StringIO(done.stdout))) if done.returncode == 0 else None), done.stderr


def outputs_of(text):
    return [line.split('"')[1] for line in text.split("[outputs]\n")[1].split("[run]")[0].splitlines() if line.strip()]


def check(program, seed):
    rng = random.Random(seed)
    text = mechanism(rng)
    with tempfile.TemporaryDirectory() as folder:
        motions = {}
        for way in ("joint", "free"):
            motions[way], said = rows_of(program, text.replace("FORMULATION", way), folder, way + ".toml")
            if motions[way] is None:
                return f"{way} fails: {said}", text
        worst = 0.0
        for a, b in zip(motions["joint"], motions["free"], strict=True):
            for name in outputs_of(text):
                x, y = float(a[name]), float(b[name])
                off = abs(x - y) / max(1.0, abs(x), abs(y))
                worst = max(worst, off)
                if not off < 2e-8:
                    return f"{name} at t = {a['t']}: {x!r} along the tree, {y!r} with every body by itself", text
        # The plain model is the same model.
        plain = subprocess.run([program, "expand", str(pathlib.Path(folder) / "free.toml")], capture_output=True, text=True)
        again, said = rows_of(program, plain.stdout, folder, "plain.toml") if plain.returncode == 0 else (None, plain.stderr)
        if again != motions["free"]:
            return f"what expand prints is another model {said}", text
    return None, worst


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="print mechanisms that fail")
    given = parser.parse_args()
    failed, worst = 0, 0.0
    for seed in range(given.seed, given.seed + given.count):
        wrong, about = check(given.program, seed)
        if wrong:
            failed += 1
            print(f"seed {seed}: {wrong}")
            if given.show:
                print(about)
        else:
            worst = max(worst, about)
    print(f"{given.count - failed} of {given.count} mechanisms agree, to {worst:.1e}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
