#!/usr/bin/env python3
"""Mechanisms whose motion is known in closed form, and what bodies mean in every way of writing them.

    check_mechanisms.py PROGRAM

Prints a line for each miss and, last, `N passed, N failed`.
"""

import base64
import csv
import io
import json
import math
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

WAYS = ("joint", "free", "auto")
passed = failed = 0


def that(name, good, about=""):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print(f"{name}: {about}")


def call(program, text, command, *more, files=()):
    with tempfile.TemporaryDirectory() as folder:
        for other, content in files:
            (pathlib.Path(folder) / other).write_text(content)
        file = pathlib.Path(folder) / "model.toml"
        file.write_text(text)
        done = subprocess.run([program, command, str(file), *more], capture_output=True, text=True)
    return done


def rows(program, text, *more, files=()):
    done = call(program, text, "run", "--quiet", *more, files=files)
    if done.returncode != 0:
        that("run", False, done.stderr)
        return []
    return [{k: float(v) for k, v in row.items() if v} for row in csv.DictReader(io.StringIO(done.stdout))]


def near(a, b, allowed=1e-9):
    return abs(a - b) <= allowed * max(1.0, abs(a), abs(b))


def screw(program):
    """A nut on a screw under gravity: s'' = -g/(1 + I (2 pi/p)^2/m)."""
    for way in WAYS:
        text = f"""
[world]
gravity = [0, 0, -9.81]
formulation = "{way}"
[bodies.nut]
mass = 2
inertia = [0.1, 0.1, 0.03]
start = {{ at = [0.2, 0.1, 0.5] }}
[joints.thread]
type = "screw"
between = ["ground", "nut"]
at = [0.2, 0.1, 0]
axis = [0, 0, 1]
pitch = 0.4
[outputs]
s = "thread.distance"
a = "thread.angle"
z = "nut.z"
[run]
to = 1
every = 0.25
tolerance = 1e-11
"""
        fall = 9.81 / (1 + 0.03 * (2 * math.pi / 0.4) ** 2 / 2)
        for row in rows(program, text):
            s = -fall * row["t"] ** 2 / 2
            that(f"screw, {way}", near(row["s"], s) and near(row["a"], s * 2 * math.pi / 0.4) and near(row["z"], 0.5 + s), row)


def hooke(program):
    """Hooke's joint between shafts at an angle b: tan(out) = tan(in) cos(b), where the pin of the first stands across both shafts at the start."""
    b = 0.5
    for way in WAYS:
        text = f"""
[parameters]
b = {b}
[world]
formulation = "{way}"
[bodies.first]
mass = 1
inertia = [0.1, 0.1, 0.1]
start = {{ spin = [2, 0, 0] }}
[bodies.second]
mass = 1
inertia = [0.1, 0.1, 0.1]
start = {{ turned = {{ axis = [0, 0, 1], angle = "b" }}, spin = ["2*cos(b)", 0, 0] }}
[joints.bearing]
type = "revolute"
between = ["ground", "first"]
at = [0, 0, 0]
axis = [1, 0, 0]
drive = "2*t"
[joints.cross]
type = "universal"
between = ["first", "second"]
at = [0, 0, 0]
axis = [0, 0, 1]
axis2 = ["-sin(b)", "cos(b)", 0]
[joints.end]
type = "cylindrical"
between = ["ground", "second"]
at = [0, 0, 0]
axis = ["cos(b)", "sin(b)", 0]
[start]
velocity = {{ "bearing.angle" = 2 }}
[outputs]
out = "end.angle"
[run]
to = 4
every = 0.1
tolerance = 1e-11
"""
        done = rows(program, text) if way == "free" else rows(program, text.replace('velocity = { "bearing.angle" = 2 }\n', ""))
        turns = 0.0
        for row in done:
            angle = 2 * row["t"]
            out = math.atan2(math.sin(angle) * math.cos(b), math.cos(angle))
            turns = round((row["out"] - out) / (2 * math.pi))
            that(f"Hooke's joint, {way}", near(row["out"], out + 2 * math.pi * turns, 1e-8), (row["t"], row["out"], out))
        that(f"Hooke's joint counts turns, {way}", turns == 1, turns)


def axes_of_few_digits(program):
    """A universal joint whose axes are written with six digits is that of axes at right angles, in every way of writing it."""
    seen = []
    for digits in (6, 16):
        for way in WAYS:
            axis = ", ".join(f"{x:.{digits}f}" for x in (math.sqrt(0.5), math.sqrt(0.5), 0))
            axis2 = ", ".join(f"{x:.{digits}f}" for x in ((0.577350, -0.577351, 0.577351) if digits == 6 else (math.sqrt(1 / 3), -math.sqrt(1 / 3), math.sqrt(1 / 3))))
            text = f"""
[world]
gravity = [0, 0, -9.81]
formulation = "{way}"
[bodies.a]
mass = 1.0
inertia = [0.02, 0.03, 0.025]
[joints.u]
type = "universal"
between = ["ground", "a"]
at = [0.2, 0, 0.3]
axis = [{axis}]
axis2 = [{axis2}]
[points]
p = {{ on = "a", at = [0.1, 0.2, 0.3] }}
[outputs]
x = "p.x"
y = "p.y"
z = "p.z"
[run]
to = 0.5
every = 0.5
tolerance = 1e-11
"""
            seen.append([rows(program, text)[-1:][0].get(k) for k in "xyz"] if rows(program, text) else [math.nan] * 3)
    for k, way in enumerate(WAYS):
        that(f"axes of six digits, {way}", all(near(a, b, 1e-9) for a, b in zip(seen[k], seen[0])), seen[k])
        that(f"and of all digits, {way}", all(near(a, b, 1e-5) for a, b in zip(seen[3 + k], seen[0])), seen[3 + k])


def top(program):
    """A heavy symmetric top in steady precession: (I3 s - (I1 - I3) W cos a) W = m g l, for the spin s relative to the precession W."""
    m, l, i1, i3, a, precession = 0.5, 0.1, 0.006, 0.001, 0.6, 3.0
    # I1 about the fixed point; rates: W about the vertical, s about the axis on top of it
    s = (m * 9.81 * l + (i1 - i3) * precession**2 * math.cos(a)) / (i3 * precession)
    for way in WAYS:
        text = f"""
[world]
gravity = [0, 0, -9.81]
formulation = "{way}"
[bodies.top]
mass = {m}
centre = [0, 0, {l}]
inertia = [{i1 - m * l * l!r}, {i1 - m * l * l!r}, {i3}]
start = {{ turned = {{ axis = [1, 0, 0], angle = {a} }}, spin = [0, {precession * math.sin(a)!r}, {s + precession * math.cos(a)!r}] }}
[joints.foot]
type = "spherical"
between = ["ground", "top"]
at = [0, 0, 0]
[outputs]
z = "top.cz"
x = "top.cx"
y = "top.cy"
[run]
to = 2
every = 0.25
tolerance = 1e-12
"""
        for row in rows(program, text):
            z = l * math.cos(a)
            turned = -math.pi / 2 + precession * row["t"]
            that(f"top, {way}", near(row["z"], z, 1e-8) and near(row["x"], l * math.sin(a) * math.cos(turned), 1e-8) and
                 near(row["y"], l * math.sin(a) * math.sin(turned), 1e-8), row)


def shapes(program):
    """Masses, centres and inertias from shapes, as kinetic energies of a turn about each axis and of a way."""
    shape = {
        "{ box = [0.3, 0.4, 0.5], density = 100 }": (6.0, [6 / 12 * (0.16 + 0.25), 6 / 12 * (0.09 + 0.25), 6 / 12 * 0.25]),
        "{ sphere = 0.2, mass = 3 }": (3.0, [0.4 * 3 * 0.04] * 3),
        "{ sphere = 0.2, inner = 0.1, mass = 3 }": (3.0, [0.4 * 3 * (0.2**5 - 0.1**5) / (0.2**3 - 0.1**3)] * 3),
        '{ cylinder = [0.1, 0.6], axis = "y", mass = 2 }': (2.0, [2 / 12 * (0.03 + 0.36), 0.01, 2 / 12 * (0.03 + 0.36)]),
        '{ cylinder = [0.1, 0.6], inner = 0.05, axis = "x", mass = 2 }': (2.0, [(0.01 + 0.0025), 2 / 12 * (3 * 0.0125 + 0.36), 2 / 12 * (3 * 0.0125 + 0.36)]),
    }
    volume = math.pi * 0.01 * 0.6 + 4 / 3 * math.pi * 0.001
    body, ends = 2 * math.pi * 0.01 * 0.6 / volume, 2 * 4 / 3 * math.pi * 0.001 / volume
    across = body / 12 * (0.03 + 0.36) + ends * (0.4 * 0.01 + 0.09 + 0.375 * 0.06)
    shape["{ capsule = [0.1, 0.6], mass = 2 }"] = (2.0, [across, across, 0.5 * body * 0.01 + 0.4 * ends * 0.01])
    for text, (mass, inertia) in shape.items():
        for k in range(4):
            spin = [1.0 if i == k else 0.0 for i in range(3)]
            velocity = [1.0, 0.0, 0.0] if k == 3 else [0.0] * 3
            out = rows(program, f"[bodies.b]\nshape = {text}\nstart = {{ spin = {spin}, velocity = {velocity} }}\n"
                                '[outputs]\nT = "b.kinetic"\n[run]\nto = 0.1\nevery = 0.1\n')
            that(f"shape {text}", out and near(out[0]["T"], 0.5 * (mass if k == 3 else inertia[k]), 1e-12), (k, out[:1]))


def same_in_all_ways(program):
    """One orientation written in four ways; frames in the world and on the bodies."""
    c, s = math.cos(0.7), math.sin(0.7)
    ways = ["axis = [0, 0, 1], angle = 0.7", f"quaternion = [{math.cos(0.35)!r}, 0, 0, {math.sin(0.35)!r}]",
            'euler = { order = "zyx", angles = [0.7, 0, 0] }', f"matrix = [[{c!r}, {-s!r}, 0], [{s!r}, {c!r}, 0], [0, 0, 1]]"]
    ends = []
    for turned in ways:
        for joint in ("at = [0, 0, 0]\naxis = [0.6, 0, 0.8]",
                      f"first = {{ at = [0, 0, 0], axis = [0.6, 0, 0.8] }}\nsecond = {{ at = [{-0.5 * c!r}, {0.5 * s!r}, 0], axis = [{0.6 * c!r}, {-0.6 * s!r}, 0.8] }}"):
            out = rows(program, f"""
[world]
gravity = [0, 0, -9.81]
[bodies.b]
mass = 1
inertia = [[0.1, 0.02, 0], [0.02, 0.2, 0], [0, 0, 0.15]]
start = {{ at = [0.5, 0, 0], turned = {{ {turned} }} }}
[joints.j]
type = "revolute"
between = ["ground", "b"]
{joint}
[outputs]
x = "b.x"
z = "b.z"
[run]
to = 1
every = 1
tolerance = 1e-12
""")
            ends.append((out[-1]["x"], out[-1]["z"], out[-1]["j.angle"]) if out else (0, 0, 0))
    for end in ends:
        that("the same in all ways", all(near(a, b, 1e-9) for a, b in zip(end, ends[0])), (end, ends[0]))


def lines_belong_to_the_first_body(program):
    """A point on a line or a plane: the second body needs no axis of its own, and one that is given changes nothing."""
    for kind, axis in (("point_on_line", "[1, 0, 0]"), ("point_on_plane", "[0, 0, 1]")):
        ends = []
        for joint in (f"at = [0.3, 0, 0]\naxis = {axis}",
                      f"first = {{ at = [0.3, 0, 0], axis = {axis} }}\nsecond = {{ at = [0.3, 0, 0] }}",
                      f"first = {{ at = [0.3, 0, 0], axis = {axis} }}\nsecond = {{ at = [0.3, 0, 0], axis = [0, 1, 0] }}"):
            out = rows(program, f"""
[world]
gravity = [0, 0, -9.81]
[bodies.b]
mass = 1
inertia = [0.1, 0.2, 0.15]
centre = [0.1, 0.02, 0]
start = {{ spin = [0.3, 0.1, 0.2] }}
[joints.j]
type = "{kind}"
between = ["ground", "b"]
{joint}
[start]
assemble = true
[run]
to = 0.5
every = 0.5
tolerance = 1e-12
""")
            ends.append((out[-1]["b.x"], out[-1]["b.y"], out[-1]["b.z"]) if out else None)
        that(f"{kind} by frames of the bodies", None not in ends and all(near(a, b, 1e-9) for end in ends for a, b in zip(end, ends[0])), ends)


def four_bar(crank, s):
    """Angles about y of the rod, and where its tip is, by the cosine theorem: crank 0.2, rod 0.6, rocker 0.4 from (0.5, -0.1)."""
    x, z = 0.2 * math.cos(crank), -0.2 * math.sin(crank)
    dx, dz = 0.5 - x, -0.1 - z
    far = math.hypot(dx, dz)
    rod = -(math.atan2(dz, dx) + s * math.acos((far**2 + 0.36 - 0.16) / (1.2 * far)))
    return rod, x + 0.3 * math.cos(rod) + 0.1 * math.sin(rod), z - 0.3 * math.sin(rod) + 0.1 * math.cos(rod)


def holds_what_has_a_name(program):
    """[start] holds points, definitions, angles of bodies and their rates; the rest of a four-bar linkage is where the cosine theorem puts it."""
    for world in ('formulation = "joint"', 'formulation = "free"', 'planar = "xz"', 'planar = "xz"\nformulation = "free"'):
        for held in ("tip.x", "sum", "crank.angle", "tip.x'", "a.angle', crank.cx'"):
            if held == "crank.angle" and "planar" not in world:
                continue
            hold = ", ".join(f'"{name}"' for name in (held + (", a.angle" if held.endswith("'") else "")).split(", "))
            out = rows(program, f"""
[world]
gravity = [0, 0, -9.81]
{world}
[bodies.crank]
mass = 1
inertia = [0.01, 0.01, 0.01]
centre = [0.1, 0, 0]
[bodies.rod]
mass = 1
inertia = [0.02, 0.02, 0.02]
centre = [0.3, 0, 0]
start = {{ at = [0.2, 0, 0] }}
[bodies.rocker]
mass = 1.5
inertia = [0.02, 0.02, 0.02]
centre = [0.2, 0, 0]
start = {{ at = [0.5, 0, -0.1], turned = {{ axis = [0, 1, 0], angle = -1.2 }} }}
[joints.a]
type = "revolute"
between = ["ground", "crank"]
at = [0, 0, 0]
axis = [0, 1, 0]
[joints.b]
type = "revolute"
between = ["crank", "rod"]
at = [0.2, 0, 0]
axis = [0, 1, 0]
[joints.c]
type = "revolute"
between = ["ground", "rocker"]
at = [0.5, 0, -0.1]
axis = [0, 1, 0]
[joints.d]
type = "revolute"
between = ["rod", "rocker"]
first = {{ at = [0.6, 0, 0], axis = [0, 1, 0] }}
second = {{ at = [0.4, 0, 0], axis = [0, 1, 0] }}
[points]
tip = {{ on = "rod", at = [0.3, 0, 0.1] }}
[define]
sum = "tip.x + 2*tip.z"
[start]
position = {{ "a.angle" = 0.5, "b.angle" = -0.9 }}
velocity = {{ "a.angle" = 0.7 }}
assemble = true
hold = [{hold}]
[outputs]
aa = "a.angle"
aad = "a.angle'"
tx = "tip.x"
tz = "tip.z"
txd = "tip.x'"
g = "sum"
[run]
to = 0.01
every = 0.01
""")
            that(f"held {held}, {world}", bool(out), hold)
            if not out:
                continue
            row = out[0]
            rod, x, z = min((four_bar(row["aa"], s) for s in (1, -1)), key=lambda f: abs(f[1] - row["tx"]))
            that(f"the loop is closed, {held}, {world}", near(row["tx"], x, 1e-9) and near(row["tz"], z, 1e-9), (row, x, z))
            # As the tree has it before it is closed: crank at 0.5, rod at -0.4.
            x0 = 0.2 * math.cos(0.5) + 0.3 * math.cos(-0.4) + 0.1 * math.sin(-0.4)
            z0 = -0.2 * math.sin(0.5) - 0.3 * math.sin(-0.4) + 0.1 * math.cos(-0.4)
            xd0 = 0.7 * (-0.2 * math.sin(0.5) - 0.3 * math.sin(-0.4) + 0.1 * math.cos(-0.4))
            if held == "tip.x":
                that(f"held tip.x, {world}", near(row["tx"], x0, 1e-10), (row["tx"], x0))
            elif held == "sum":
                that(f"held sum, {world}", near(row["g"], x0 + 2 * z0, 1e-10), (row["g"], x0 + 2 * z0))
            elif held == "crank.angle":
                that(f"held crank.angle, {world}", near(row["aa"], 0.5, 1e-10), row["aa"])
            elif held == "tip.x'":
                that(f"held tip.x', {world}", near(row["txd"], xd0, 1e-10) and near(row["aa"], 0.5, 1e-10), (row["txd"], xd0))
            else:
                that(f"held a.angle', {world}", near(row["aad"], 0.7, 1e-10), row["aad"])


def limits_and_contacts(program):
    """A limit strikes back with its restitution; a ball on the floor bounces where it must; a ball that rolls down a slope: 5/7 g sin."""
    for way in ("joint", "free"):
        out = rows(program, f"""
[world]
formulation = "{way}"
[bodies.b]
mass = 1
inertia = [0.1, 0.1, 0.1]
start = {{ velocity = [1, 0, 0] }}
[joints.guide]
type = "prismatic"
between = ["ground", "b"]
axis = [1, 0, 0]
limits = [-1, 0.5]
restitution = 0.5
[outputs]
s = "guide.distance"
[run]
to = 2
every = 0.25
""")
        for row in out:
            s = row["t"] if row["t"] <= 0.5 else 0.5 - 0.5 * (row["t"] - 0.5)
            that(f"limits, {way}", near(row["s"], s), row)
        slope = rows(program, f"""
[parameters]
a = 0.3
[world]
gravity = [0, 0, -9.81]
formulation = "{way}"
[bodies.ball]
shape = {{ sphere = 0.1, density = 1000 }}
start = {{ at = ["0.1*sin(a)", 0, "0.1*cos(a)"] }}
[joints.roll]
type = "rolling"
between = ["ground", "ball"]
radius = 0.1
plane = {{ at = [0, 0, 0], normal = ["sin(a)", 0, "cos(a)"] }}
[outputs]
down = "(ball.x - 0.1*sin(a))*cos(a) - (ball.z - 0.1*cos(a))*sin(a)"
[run]
to = 1
every = 0.25
""")
        for row in slope:
            that(f"rolling ball, {way}", near(row["down"], 5 / 14 * 9.81 * math.sin(0.3) * row["t"] ** 2, 1e-8), row)
    drop = rows(program, """
[world]
gravity = [0, 0, -10]
[bodies.ball]
shape = { sphere = 0.1, mass = 1 }
start = { at = [0, 0, 1.35] }
[contacts.floor]
sphere = { on = "ball", radius = 0.1 }
plane = { at = [0, 0, 0], normal = [0, 0, 1] }
restitution = 0.6
[run]
to = 0.8
every = 0.1
""")
    for row in drop:
        t = row["t"]
        z = 1.35 - 5 * t * t if t <= 0.5 else 0.1 + 3 * (t - 0.5) - 5 * (t - 0.5) ** 2
        that("bouncing ball", near(row["ball.z"], z, 1e-8), row)


def planar(program):
    """In a plane: the same motion as in space, with fewer coordinates."""
    model = """
[world]
gravity = [0, 0, -9.81]
PLANAR
[bodies.a]
mass = 1
inertia = [0.1, 0.1, 0.1]
start = { at = [0.5, 0, 0] }
[bodies.b]
mass = 2
inertia = [0.1, 0.2, 0.1]
centre = [0.1, 0, 0.05]
start = { at = [1, 0, 0], turned = { axis = [0, 1, 0], angle = 0.3 } }
[joints.one]
type = "revolute"
between = ["ground", "a"]
at = [0, 0, 0]
axis = [0, 1, 0]
[joints.two]
type = "revolute"
between = ["a", "b"]
at = [1, 0, 0]
axis = [0, 1, 0]
[outputs]
x = "b.x"
z = "b.z"
one = "one.angle"
w = "b.wy"
ANGLE
[run]
to = 1
every = 0.2
tolerance = 1e-11
"""
    space = rows(program, model.replace("PLANAR", "").replace("ANGLE", ""))
    for plane, sign in (("xz", -1), ("zx", 1)):
        for way in WAYS:
            flat = rows(program, model.replace("PLANAR", f'planar = "{plane}"\nformulation = "{way}"').replace("ANGLE", 'angle = "b.angle"'))
            for a, b in zip(space, flat, strict=True):
                that(f"planar {plane}, {way}", all(near(a[k], b[k], 1e-8) for k in ("x", "z", "one", "w")), (a, b))
            that(f"planar {plane}, {way}: angle", near(flat[0]["angle"], sign * 0.3) and
                 near(flat[-1]["angle"] - flat[0]["angle"], sign * (flat[-1]["one"] + (flat[-1]["two.angle"] if "two.angle" in flat[-1] else 0)), 1e-6)
                 or "two.angle" not in flat[-1], flat[-1])


def parts_and_families(program):
    """A part with its bodies, against the same written out; members of a family against bodies with names of their own."""
    leg = """
[parameters]
L = 0.5
[world]
gravity = [0, 0, -9.81]
[bodies.shin]
mass = "2*L"
inertia = [0.01, 0.02, 0.03]
start = { at = [0, 0, "-L"] }
[joints.knee]
type = "revolute"
between = ["ground", "shin"]
at = [0, 0, 0]
axis = [0, 1, 0]
[points]
foot = { on = "shin", at = ["L/4", 0, 0] }
"""
    end = "[run]\nto = 1\nevery = 0.5\ntolerance = 1e-11\n"
    used = rows(program, '[world]\ngravity = [0, 0, -9.81]\n[parts.left]\nmodel = "leg.toml"\nset = { L = 0.3 }\nat = [1, 2, 3]\n'
                'turned = { axis = [0, 0, 1], angle = 0.4 }\nstart = { "knee.angle" = 0.4, "knee.angle\'" = 1 }\n[outputs]\nx = "left.foot.x"\nz = "left.foot.z"\n' + end,
                files=[("leg.toml", leg)])
    alone = rows(program, leg.replace("L = 0.5", "L = 0.3") + '[start]\nposition = { "knee.angle" = 0.4 }\nvelocity = { "knee.angle" = 1 }\n[outputs]\nx = "foot.x"\nz = "foot.z"\n' + end)
    for a, b in zip(used, alone, strict=True):
        that("part", near(a["x"], 1 + math.cos(0.4) * b["x"]) and near(a["z"], 3 + b["z"]) and near(a["left.knee.angle"], b["knee.angle"]), (a, b))
    other = call(program, '[world]\ngravity = [0, 0, -1]\n[parts.left]\nmodel = "leg.toml"\n', "check", files=[("leg.toml", leg)])
    that("part with another gravity", other.returncode == 1 and "another gravity" in other.stderr, other.stderr)
    wrong = call(program, '[parts.left]\nmodel = "leg.toml"\n', "check", files=[("leg.toml", leg.replace('"2*L"', '"2*M"'))])
    that("mistake in a part", wrong.returncode == 1 and "leg.toml:7:11: error: unknown name `M`" in wrong.stderr, wrong.stderr)
    several = rows(program, '[world]\ngravity = [0, 0, -9.81]\n[parts."leg[i]"]\nfor = "i = 1..3"\nmodel = "leg.toml"\nset = { L = "0.1*i + 0.2" }\nat = ["i", 0, 0]\n'
                   'start = { "knee.angle" = "0.1*i" }\n[outputs]\nx = "leg[2].foot.x"\nmean = "sum(i = 1..3, leg[i].foot.z)/3"\n' + end, files=[("leg.toml", leg)])
    zs = []
    for i in (1, 2, 3):
        zs.append(rows(program, leg.replace("L = 0.5", f"L = {0.1 * i + 0.2}") + f'[start]\nposition = {{ "knee.angle" = {0.1 * i} }}\n[outputs]\nz = "foot.z"\n' + end)[-1]["z"])
    that("parts in a family", near(several[-1]["mean"], sum(zs) / 3), (several[-1], zs))


def repeated_parts(program):
    """Parts with states, inputs, modes, tables, vectors, units and families of their own, repeated: against all of it written out."""
    drive = """
coordinates = ["phi", "u[1..2]"]
[units]
J = "g*m^2"
U = "mV"
[parameters]
J = 20
R = 2
k = 0.3
c = [3, 5]
[inputs]
U = 12000
load = "0.1*sin(5*t)"
[modes]
gear = 1
[tables.push]
points = [[0, 0], [1, 2], [4, 1]]
outside = "hold"
[tables.record]
file = "record.csv"
argument = "t"
value = ["a", "b"]
interpolation = "cubic"
outside = "hold"
[states]
i = { rate = "(U - R*i - k*phi')/0.05", start = 0.2 }
"T[n]" = { for = "n = 1..2", rate = "(n*i - T[n])/0.3", start = "n" }
[vectors]
r = ["cos(phi)", "sin(phi)"]
[define]
"g[n]" = { for = "n = 1..2", value = "n*u[n] + T[n]" }
[dynamics]
kinetic = "J/2*phi'^2 + sum(n = 1..2, u[n]'^2)/2"
potential = "sum(n = 1..2, c[n]*u[n]^2/2)"
[dynamics.force]
phi = "gear*k*i - load - push(phi)"
"u[n]" = { for = "n = 1..2", value = "g[n] + record.a(t) - record.b(phi) + dot(r, r')" }
[events]
shift = { when = "phi - 1", direction = "up", do = "gear = 2" }
"low[n]" = { for = "n = 1..2", when = "u[n] - 3" }
[summary]
most = { max = "g[2]" }
"""
    record = "t,a,b\n" + "".join(f"{0.25 * n},{math.sin(n)},{math.cos(2 * n)}\n" for n in range(20))
    end = "[run]\nto = 1.5\nevery = 0.25\ntolerance = 1e-11\n"

    def written(j):
        """The part with a prefix, all of it by hand and in SI."""
        p = f"d{j}_"
        return f"""
[parameters]
{p}R = {2 * j}
{p}c = [3, 5]
[inputs]
{p}U = 12
{p}load = "0.1*sin(5*t)"
[modes]
{p}gear = 1
[tables.{p}push]
points = [[0, 0], [1, 2], [4, 1]]
outside = "hold"
[tables.{p}record]
file = "record.csv"
argument = "t"
value = ["a", "b"]
interpolation = "cubic"
outside = "hold"
[states]
{p}i = {{ rate = "({p}U - {p}R*{p}i - 0.3*{p}phi')/0.05", start = 0.2 }}
"{p}T[n]" = {{ for = "n = 1..2", rate = "(n*{p}i - {p}T[n])/0.3", start = "n" }}
[define]
"{p}g[n]" = {{ for = "n = 1..2", value = "n*{p}u[n] + {p}T[n]" }}
[dynamics.force]
{p}phi = "{p}gear*0.3*{p}i - {p}load - {p}push({p}phi)"
"{p}u[n]" = {{ for = "n = 1..2", value = "{p}g[n] + {p}record.a(t) - {p}record.b({p}phi)" }}
[events]
{p}shift = {{ when = "{p}phi - 1", direction = "up", do = "{p}gear = 2" }}
[summary]
{p}most = {{ max = "{p}g[2]" }}
"""
    sections = {}
    for j in (1, 2):
        name = None
        for line in written(j).splitlines():
            if line.startswith("["): name = line
            elif line: sections.setdefault(name, []).append(line)
    plain = 'coordinates = ["d1_phi", "d1_u[1..2]", "d2_phi", "d2_u[1..2]"]\n' + "".join(f"{name}\n" + "\n".join(lines) + "\n" for name, lines in sections.items())
    plain += ('[dynamics]\nkinetic = "sum(n = 1..2, d1_u[n]\'^2 + d2_u[n]\'^2)/2 + 0.01*(d1_phi\'^2 + d2_phi\'^2)"\n'
              'potential = "sum(n = 1..2, d1_c[n]*d1_u[n]^2/2 + d2_c[n]*d2_u[n]^2/2)"\n')
    files = [("drive.toml", drive), ("record.csv", record)]
    family = '[parts."d[j]"]\nfor = "j = 1..2"\nmodel = "drive.toml"\nset = { R = "2*j" }\n[outputs]\nboth = "sum(j = 1..2, d[j].g[2])"\n' + end
    got, want = rows(program, family, files=files), rows(program, plain + end, files=files)
    for a, b in zip(got, want, strict=True):
        for j in (1, 2):
            for name in ("phi", "phi'", "u[1]", "u[2]'", "i", "T[1]", "T[2]", "gear"):
                that(f"repeated parts: {name} of {j}", near(a[f"d[{j}].{name}"], b[f"d{j}_{name}"], 1e-8), (a, b))
        that("repeated parts in a sum", near(a["both"], sum(2 * b[f"d{j}_u[2]"] + b[f"d{j}_T[2]"] for j in (1, 2)), 1e-8), (a, b))
    # What is said of members on the command line, in sweeps and in families of the file itself.
    more = family.replace("[outputs]\n", '[define]\n"w[j]" = { for = "j = 1..2", value = "d[j].i*d[j].phi" }\n[outputs]\n"v[j]" = { for = "j = 1..2", value = "w[j] + d[j].T[j]" }\n')
    other = rows(program, more, "--set", "d[2].U=6000", "--position", "d[1].i=0.5", files=files)
    same = rows(program, (plain + end).replace("d2_U = 12", "d2_U = 6").replace("start = 0.2", "start = 0.5", 1), files=files)
    for a, b in zip(other, same, strict=True):
        that("repeated parts: options", near(a["d[2].i"], b["d2_i"], 1e-8) and near(a["v[2]"], b["d2_i"] * b["d2_phi"] + b["d2_T[2]"], 1e-8), (a, b))
    done = call(program, family, "expand", files=files)
    again = call(program, done.stdout, "run", "--quiet", files=files)
    that("repeated parts: expand", done.returncode == 0 and again.returncode == 0 and again.stdout.splitlines()[-1].split(",")[:3] == call(program, family, "run", "--quiet", files=files).stdout.splitlines()[-1].split(",")[:3], done.stderr + again.stderr)
    # Units of a part are its own: numbers that are set are in them, what is made of names is in SI.
    spring = 'coordinates = ["x"]\n[parameters]\nL = 200\nm = 3\nk = 4\n[units]\nL = "mm"\nm = "kg"\nk = "N/m"\nx = "mm"\n[dynamics]\nkinetic = "m/2*x\'^2"\npotential = "k/2*(x - L)^2"\n'
    use = '[parameters]\nwide = 0.5\n[parts.a]\nmodel = "s.toml"\n[parts.b]\nmodel = "s.toml"\nset = { L = 300 }\n[parts.c]\nmodel = "s.toml"\nset = { L = "wide" }\n'
    found = json.loads(call(program, use, "accelerate", "--json", files=[("s.toml", spring)]).stdout or "{}").get("acceleration", {})
    that("parts with units", all(near(found.get(f"{p}.x", 9), 4 / 3 * L) for p, L in (("a", 0.2), ("b", 0.3), ("c", 0.5))), found)
    wrong = call(program, use.replace("wide = 0.5\n", 'wide = 0.5\n[units]\nwide = "kg"\n'), "check", files=[("s.toml", spring)])
    that("parts with units: a mismatch", wrong.returncode == 1 and "units do not agree" in wrong.stderr, wrong.stderr)


def families_that_mention_families(program):
    """Definitions, vectors, states and forces in families of the file itself, of members of bodies and parts: against all of it written out."""
    part = '''coordinates=["phi"]
[parameters]
R=2
[dynamics]
kinetic="0.01/2*phi'^2"
force={phi="0.1*R"}
[states]
i={rate="-i+phi'",start=0.2}
'''
    text = '''coordinates = ["u[1..2]"]
[parts."d[j]"]
for = "j = 1..2"
model = "p.toml"
set = { R = "2*j" }
[bodies."ball[i]"]
for = "i = 1..2"
mass = 1
start = { at = ["i", 0, 0], velocity = [0, "i^2", 0] }
[vectors]
"r[i]" = { for = "i = 1..2", value = ["ball[i].x", "ball[i].y"] }
[define]
"w[i]" = { for = "i = 1..2", value = "norm(r[i])*d[i].i" }
"own[i]" = { for = "i = 1..2", value = "2*u[i]" }
both = "sum(i = 1..2, w[i] + own[i])"
[states]
"T[i]" = { for = "i = 1..2", rate = "w[i] - T[i]", start = "i" }
[dynamics]
kinetic = "sum(i = 1..2, u[i]'^2)/2"
force = { "u[i]" = { for = "i = 1..2", value = "own[i] + w[3 - i] - u[i]'" } }
[start]
position = { "u[i]" = { for = "i = 1..2", value = "0.1*i" } }
[outputs]
"o[i]" = { for = "i = 1..2", value = "dot(r[i], r[3-i]) + T[i] + w[i]'" }
b = "both + r[1].y"
[run]
to = 1
every = 0.5
'''
    plain = '''coordinates = ["u1", "u2", "p1", "p2"]
[states]
i1 = { rate = "-i1+p1'", start = 0.2 }
i2 = { rate = "-i2+p2'", start = 0.2 }
T1 = { rate = "w1 - T1", start = 1 }
T2 = { rate = "w2 - T2", start = 2 }
[define]
w1 = "hypot(1, t)*i1"
w2 = "hypot(2, 4*t)*i2"
[dynamics]
kinetic = "(u1'^2+u2'^2)/2 + 0.005*(p1'^2+p2'^2)"
force = { u1 = "2*u1 + w2 - u1'", u2 = "2*u2 + w1 - u2'", p1 = 0.2, p2 = 0.4 }
[start]
position = { u1 = 0.1, u2 = 0.2 }
[outputs]
o1 = "2 + 4*t^2 + T1 + w1'"
b = "w1 + w2 + 2*u1 + 2*u2 + t"
[run]
to = 1
every = 0.5
'''
    got, want = rows(program, text, files=[("p.toml", part)]), rows(program, plain)
    for a, b in zip(got, want, strict=True):
        for x, y in (("u[1]", "u1"), ("u[2]'", "u2'"), ("T[1]", "T1"), ("T[2]", "T2"), ("d[2].i", "i2"), ("o[1]", "o1"), ("b", "b")):
            that(f"families that mention families: {x}", near(a[x], b[y], 1e-8), (a[x], b[y]))


def masses_beside_bodies(program):
    """A rack on a wheel: its mass as a mass, as an energy, and as what it adds to the inertia of the wheel. Families of masses too."""
    wheel = 'coordinates = ["s", "u[1..2]"]\n[parameters]\nM = 6\n[bodies.w]\nmass = 1\ninertia = [0.1, 0.1, 0.2]\n[joints.a]\ntype = "revolute"\nbetween = ["ground", "w"]\nat = [0, 0, 0]\naxis = [0, 0, 1]\ntorque = 1.2\n'
    wheel += '[constraints]\nrack = "s = 0.3*a.angle"\n[dynamics]\nforce = { "u[i]" = { for = "i = 1..2", value = 5 } }\n'
    for name, text in (("mass", 'mass = { s = "M", "u[i]" = { for = "i = 1..2", value = "2*i" } }\n'), ("energy", "kinetic = \"M/2*s'^2 + sum(i = 1..2, i*u[i]'^2)\"\n")):
        done = call(program, wheel + text, "accelerate", "--json")
        found = json.loads(done.stdout)["acceleration"] if done.returncode == 0 else {}
        want = {"a.angle": 1.2 / (0.2 + 6 * 0.09), "u[1]": 2.5, "u[2]": 1.25}
        that(f"a rack by its {name}", found and all(near(found[k], v, 1e-12) for k, v in want.items()), (found, done.stderr))


def families_everywhere(program):
    """Several members in one expression, families inside a part, in summaries, definitions and pictures; corners of a box by their numbers."""
    balls = """
[parameters]
n = 3
[bodies."ball[i]"]
for   = "i = 1..n"
mass  = 1
start = { at = ["i", 0, 0], velocity = [0, "i^2", 0] }
"""
    uses = """
[define]
"shifted[i]" = { for = "i = 1..2", value = "PRE.ball[2].y + i" }
[outputs]
steps = "sum(i = 2..3, PRE.ball[i].y - PRE.ball[i - 1].y)"
"gap[i]" = { for = "i = 2..3", value = "PRE.ball[i].y - PRE.ball[i - 1].y" }
second = "shifted[2]"
[summary]
"far[i]" = { for = "i = 1..3", max = "PRE.ball[i].y" }
[view]
points.tip = { for = "i = 1..3", at = ["PRE.ball[i].x", "PRE.ball[i].y", "PRE.ball[i].z"] }
rods.link  = { for = "i = 2..3", from = "tip[i - 1]", to = "tip[i]" }
lines.all  = { through = ["tip[1..3]"] }
[run]
to    = 1
every = 0.5
"""
    for name, text, files in (("own", balls + uses.replace("PRE.", ""), ()), ("part", '[parts.she]\nmodel = "balls.toml"\n' + uses.replace("PRE", "she"), [("balls.toml", balls)])):
        last = (rows(program, text, files=files) or [{}])[-1]
        if not last:
            continue
        that(f"members of families, {name}", near(last["steps"], 8) and near(last["gap[2]"], 3) and near(last["gap[3]"], 5) and near(last["second"], 6), last)
        said = call(program, text, "run", "--quiet", "--json", files=files)
        values = json.loads(said.stdout)["summary"]["values"] if said.returncode == 0 else said.stderr
        that(f"summaries of families, {name}", isinstance(values, dict) and all(near(values[f"far[{i}]"], i * i) for i in (1, 2, 3)), values)
        plain = call(program, text, "expand", files=files).stdout
        that(f"pictures of families, {name}", all(f'"tip[{i}]"' in plain for i in (1, 2, 3)) and '"link[3]"' in plain, plain[-600:])
        again = rows(program, plain)[-1] if plain else {}
        that(f"expanded families, {name}", again == last, again)
    box = """
[world]
gravity = [0, 0, -9.81]
[bodies.b]
shape = { box = [1, 1, 1], mass = 2 }
start = { at = [0, 0, 0.5] }
[contacts.c]
box   = { on = "b", size = [1, 1, 1] }
plane = { normal = [0, 0, 1] }
[outputs]
all   = "sum(k = 1..8, multiplier(c[k]))"
first = "multiplier(c[1])"
[run]
to    = 1
every = 0.5
"""
    for row in rows(program, box):
        that("corners of a box", near(row["all"], 2 * 9.81) and near(row["first"], 2 * 9.81 / 4), row)
    wrong = call(program, box.replace("c[1]", "c[9]"), "check")
    that("a corner that is not there", wrong.returncode == 1 and "`c[9]`" in wrong.stderr, wrong.stderr)


def pictures(program):
    """Bodies are drawn beside what [view] draws; what it draws under their names, and all of them with `bodies = false`, are not."""
    text = """
[bodies.wheel]
shape = { cylinder = [0.3, 0.05], axis = "y", inner = 0.2, mass = 1 }
[bodies.pole]
shape = { cylinder = [0.02, 1], mass = 1 }
start = { at = [1, 0, 0] }
[bodies.ball]
shape = { sphere = 0.1, mass = 1 }
start = { at = [2, 0, 0] }
"""
    def drawn(more):
        out = call(program, text + more, "expand").stdout
        return out[out.index("[view"):] if "[view" in out else ""
    view = drawn("")
    that("a flat cylinder is a disc", "[view.discs]" in view and "hollow = true" in view.split("wheel = ")[1].split("\n")[0], view)
    that("a long one is a rod", "pole" in view.split("[view.rods]")[1].split("[")[0], view)
    view = drawn("[view]\ncamera = { from = [0, -3, 1], at = [0, 0, 0] }\nspheres.ball = { at = [\"ball.x\", \"0\", \"1\"], radius = 0.2 }\n")
    that("what the file draws itself is drawn once", view.count("ball = ") == 1 and "wheel = " in view and "radius = 0.2" in view, view)
    that("no bodies", "[view.discs]" not in drawn("[view]\nbodies = false\ncamera = { from = [0, -3, 1], at = [0, 0, 0] }\n"))
    wrong = call(program, text + "[view]\nbodies = 3\n", "check")
    that("bodies is true or false", wrong.returncode == 1 and "`bodies` is true or false" in wrong.stderr, wrong.stderr)


def nearly_unturned(program):
    """A quaternion next to 1, whose scalar part has next to no mass: as one that is 1. Four corners on the floor, a leg on top that tips over."""
    text = """
[world]
gravity = [0, 0, -9.81]
[bodies.foot]
shape = { box = [0.3, 0.2, 0.1], mass = 1 }
start = { at = [0, 0, 0.05] }
[bodies.leg]
shape = { box = [0.1, 0.1, 0.6], mass = 3, at = [0, 0, 0.3] }
start = { at = [0, 0, 0.1], turned = { axis = [0, 1, 0], angle = 0.3 } }
[joints.ankle]
type    = "revolute"
between = ["foot", "leg"]
at      = [0, 0, 0.1]
axis    = [0, 1, 0]
[contacts.c]
box   = { on = "foot", size = [0.3, 0.2, 0.1] }
plane = { normal = [0, 0, 1] }
"""
    def accelerations(e):
        done = call(program, text, "accelerate", "--json", "--position", f"foot.qx={e},foot.qy={e},foot.qz=-{e}")
        found = json.loads(done.stdout)["acceleration"] if done.returncode == 0 else None
        return found and (found["foot.z"], found["ankle.angle"])
    exact = accelerations("0")
    for e in ("1e-10", "1e-12", "1e-14", "1e-16", "1e-25", "1e-100"):
        found = accelerations(e)
        that(f"turned by {e}", found and abs(found[0]) < 1e-9 and near(found[1], exact[1], 1e-8), (found, exact))
    # What outputs say of the load, and what the columns say, on a rough floor.
    rough = text + 'friction = 0.8\n[outputs]\nload = "sum(k = 1..8, multiplier(c[k]))"\n[run]\nto = 0.01\nevery = 0.002\n'
    for row in rows(program, rough):
        columns = sum(row[f"normal(c[{k}])"] for k in range(1, 9))
        that("load on a rough floor", near(row["load"], columns) and columns > 30, (row["t"], row["load"], columns))


def sliding_boxes(program):
    """A box on four corners shares its weight among them in many ways; where it slides without turning all of them brake it alike, by mu g."""
    g, mu, speed, slope = 9.81, 0.1, 0.5, 0.5
    text = """
[world]
gravity = [{gx!r}, 0, {gz!r}]
[bodies.box]
shape = {{ box = [0.3, 0.2, 0.1], mass = 2 }}
start = {{ at = [0, 0, 0.05], velocity = [{vx!r}, {vy!r}, 0]{more} }}
[contacts.c]
box      = {{ on = "box", size = [0.3, 0.2, 0.1] }}
plane    = {{ normal = [0, 0, 1] }}
friction = {mu!r}
[run]
to    = 1
every = 0.25
"""
    for angle in (0.0, 0.7, 2.5):  # of the way it slides, which is that of no edge
        c, s = math.cos(angle), math.sin(angle)
        seen = rows(program, text.format(gx=0, gz=-g, vx=speed * c, vy=speed * s, mu=mu, more=""))
        that("rows of a box that slides", len(seen) == 5, seen)
        for row in seen:
            t = min(row["t"], speed / (mu * g))
            way = speed * t - mu * g * t * t / 2
            that("a box slides to rest", near(row["box.x"], way * c, 1e-10) and near(row["box.y"], way * s, 1e-10) and abs(row["box.qz"]) < 1e-10, (angle, row["t"], row["box.x"], way))
            normal = sum(row[f"normal(c[{k}])"] for k in range(1, 9))
            that("and its corners carry it", near(normal, 2 * g) and min(row[f"normal(c[{k}])"] for k in range(1, 9)) > -1e-9, row)
            for k, along in ((1, c), (2, s)):
                friction = sum(row[f"friction(c[{j}],{k})"] for j in range(1, 9))
                that("and brake it", near(friction, -2 * mu * g * along if row["t"] < speed / (mu * g) else 0.0, 1e-8), (row["t"], friction))
    for row in rows(program, text.format(gx=g * math.sin(slope), gz=-g * math.cos(slope), vx=0, vy=0, mu=0.3, more="")):
        that("a box slides down", near(row["box.x"], g * (math.sin(slope) - 0.3 * math.cos(slope)) * row["t"] ** 2 / 2, 1e-10), row)
    # What turns as it slides is braked by each way of sharing in its own way: the least forces are taken, and that is said.
    turns = text.format(gx=0, gz=-g, vx=speed, vy=0, mu=mu, more=", spin = [0, 0, 1]")
    done = call(program, turns, "run", "--json", "--quiet")
    that("a box that turns", done.returncode == 0 and "share what they carry" in done.stdout, done.stderr)
    done = call(program, turns, "accelerate", "--json")
    that("its acceleration is not unique", done.returncode == 0 and json.loads(done.stdout)["unique"] is False, done.stdout[:300])


def pushed_crates(program):
    """What stands on three or four points and is pushed along F t begins to slip with all of them where F t = mu m g, in the direction of the
    push, and is then braked by mu m g: its way is F (t - t0)^3/(6 m). On a table that shakes it slips and sticks as a point does."""
    mu, m, g, rate = 0.1, 5.0, 9.81, 4.0
    begins = mu * m * g / rate
    box = 'box = { on = "crate", size = [0.2, 0.3, 0.4] }\nplane = { normal = [0, 0, 1] }\nfriction = 0.1\n'
    legs = [(0.2 * math.cos(k * 2 * math.pi / 3 + 0.3), 0.2 * math.sin(k * 2 * math.pi / 3 + 0.3)) for k in range(3)]
    for angle in (0.0, 0.9273, 4.1):
        c, s = math.cos(angle), math.sin(angle)
        head = (f"[world]\ngravity = [0, 0, -{g}]\n[bodies.crate]\nshape = {{ box = [0.2, 0.3, 0.4], mass = {m} }}\nstart = {{ at = [0, 0, 0.2] }}\n"
                f'[forces.push]\nat = "middle"\nvector = ["{rate!r}*t*{c!r}", "{rate!r}*t*({s!r})", 0]\n[run]\nto = 3\nevery = 0.5\n[points]\nmiddle = {{ on = "crate", at = [0, 0, 0] }}\n')
        feet = "".join(f'foot{k} = {{ on = "crate", at = [{x!r}, {y!r}, -0.2] }}\n' for k, (x, y) in enumerate(legs))
        on_feet = "".join(f'[contacts.c{k}]\npoint = "foot{k}"\nplane = {{ normal = [0, 0, 1] }}\nfriction = 0.1\n' for k in range(3))
        for name, text in (("a crate", head + "[contacts.c]\n" + box), ("a stool", head + feet + on_feet)):
            seen = rows(program, text)
            that(f"rows of {name} that is pushed", len(seen) == 7, (angle, seen[-1:]))
            for row in seen:
                way = rate / (6 * m) * max(0.0, row["t"] - begins) ** 3
                that(f"{name} that is pushed", near(row["crate.x"], way * c, 1e-7) and near(row["crate.y"], way * s, 1e-7) and abs(row["crate.qz"]) < 1e-9,
                     (angle, row["t"], row["crate.x"], row["crate.y"], way))
    shaken = (f"[world]\ngravity = [0, 0, -{g}]\n[bodies.crate]\nshape = {{ box = [0.2, 0.3, 0.4], mass = 5 }}\nstart = {{ at = [0, 0, 0.2] }}\n"
              '[points]\nmiddle = { on = "crate", at = [0, 0, 0] }\n[forces.push]\nat = "middle"\nvector = ["8*sin(2*t)", 0, 0]\n[contacts.c]\n' + box + "[run]\nto = 2\nevery = 0.5\n")
    # m x" = 8 sin 2t - mu m g from where that is positive, until x' is zero again.
    t0 = math.asin(mu * m * g / 8) / 2
    speed = lambda t: (4 * (math.cos(2 * t0) - math.cos(2 * t)) - mu * m * g * (t - t0)) / m
    low, high = math.pi / 4, math.pi / 2 + t0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if speed(middle) > 0 else (low, middle)
    x = (4 * (math.cos(2 * t0) * (low - t0) - (math.sin(2 * low) - math.sin(2 * t0)) / 2) - mu * m * g * (low - t0) ** 2 / 2) / m
    row = [r for r in rows(program, shaken, "--to", repr((low + t0 + math.pi / 2) / 2))][-1]
    that("a crate that is shaken sticks again", near(row["crate.x"], x, 1e-8) and abs(row["crate.x'"]) < 1e-9, (row["crate.x"], x))


def slips_that_joints_forbid(program):
    """The tip of a pole on a hinge cannot slip along its axis: the contact rubs in the plane alone, as in a model of that plane."""
    text = ('[world]\ngravity = [0, 0, -9.81]\n{plane}[bodies.pole]\nmass = 1\ninertia = [0.1, 0.1, 0.1]\nstart = {{ at = [0.5, 0, 1] }}\n[joints.h]\ntype = "revolute"\n'
            'between = ["ground", "pole"]\nat = [0, 0, 1]\naxis = [0, 1, 0]\n[points]\ntip = {{ on = "pole", at = [1, 0, 0] }}\n[contacts.floor]\npoint = "tip"\n'
            'plane = {{ normal = [0, 0, 1] }}\nfriction = 0.3\n[run]\nto = 1.5\nevery = 0.25\n')
    space, plane = rows(program, text.format(plane="")), rows(program, text.format(plane='planar = "xz"\n'))
    that("a pole falls on a rough floor", len(space) == len(plane) == 7 and all(near(a["h.angle"], b["h.angle"], 1e-9) for a, b in zip(space, plane)), (space[-1:], plane[-1:]))
    ball = ('[world]\ngravity = [0, 0, -9.81]\n[bodies.b]\nmass = 1\ninertia = [0.1, 0.1, 0.1]\nstart = { at = [0, 0, 1] }\n[joints.s]\ntype = "prismatic"\nbetween = ["ground", "b"]\naxis = [0, 0, 1]\n'
            '[points]\nfoot = { on = "b", at = [0, 0, 0] }\n[contacts.floor]\npoint = "foot"\nplane = { normal = [0, 0, 1] }\nfriction = 0.3\nrestitution = 0.5\n[run]\nto = 0.6\nevery = 0.6\n')
    last = rows(program, ball)[-1]
    t = 0.6 - math.sqrt(2 / 9.81)
    that("a ball that can only fall bounces", near(last["s.distance"], 0.5 * math.sqrt(2 * 9.81) * t - 9.81 * t * t / 2 - 1, 1e-9), last)


def balls_in_a_plane(program):
    """In a plane a ball joint is a pin, and what slides and turns about an axis in the plane slides alone."""
    text = ('[world]\ngravity = [0, 0, -9.81]\nplanar = "xz"\n[bodies.b]\nmass = 1\ninertia = [0.1, 0.2, 0.3]\nstart = {{ at = [0.5, 0, 0] }}\n[joints.j]\ntype = "{kind}"\nbetween = ["ground", "b"]\n{more}\n'
            '[run]\nto = 1\nevery = 0.25\n')
    ball, pin = (rows(program, text.format(kind=kind, more=more)) for kind, more in (("spherical", "at = [0, 0, 0]"), ("revolute", "at = [0, 0, 0]\naxis = [0, 1, 0]")))
    that("a ball joint in a plane", len(ball) == 5, ball)
    for a, b in zip(ball, pin):
        that("a ball in a plane is a pin", near(a["b.x"], 0.5 * math.cos(b["j.angle"]), 1e-8) and near(a["b.z"], -0.5 * math.sin(b["j.angle"]), 1e-8), (a, b))
    for kind, more in (("spherical", "at = [0, 0, 0]"), ("cylindrical", "at = [0, 0, 0]\naxis = [1, 0, 0]")):
        said = json.loads(call(program, text.format(kind=kind, more=more), "check", "--json").stdout)
        that(f"freedoms of a {kind} joint in a plane", said["degrees_of_freedom"] == 1, said)


def stops_in_both_formulations(program):
    """A body that a torque drives against the stop of its hinge: angles of bounces by closed forms, whichever way it is written; at later impacts
    coordinates across are rounding of rounding."""
    text = ('[world]\nformulation = "{form}"\n[bodies.a]\nmass = 1\ninertia = [{inertia}]\n[joints.h]\ntype = "revolute"\nbetween = ["ground", "a"]\nat = [0, 0, 0]\naxis = [{axis}]\ntorque = 0.8\n'
            'limits = [-1, 1]\nrestitution = 0.5\n[run]\nto = 3\nevery = 0.25\n')
    for axis, inertia, about in (("1, 0, 0", "0.1, 0.2, 0.3", 0.1), ("0, 0, 1", "0.1, 0.2, 0.3", 0.3), ("0, 1, 0", "0.2, 0.1, 0.25", 0.1)):
        for form in ("joint", "free"):
            seen = rows(program, text.format(form=form, axis=axis, inertia=inertia))
            a = 0.8 / about
            that("a hinge with stops runs", len(seen) == 13, (axis, form, len(seen)))
            for row in seen:
                t, since, speed, at = row["t"], 0.0, 0.0, 0.0
                flight = math.sqrt(2 / a)
                while t >= since + flight and speed + a * flight > 1e-7:
                    since, speed, at = since + flight, -0.5 * (speed + a * flight), 1.0
                    flight = -2 * speed / a
                want = 1.0 if speed > -1e-7 and at == 1.0 else at + speed * (t - since) + a * (t - since) ** 2 / 2
                that("angles of a hinge with stops", near(row["h.angle"], want, 1e-6), (axis, form, t, row["h.angle"], want))


def names_on_the_command_line(program):
    text = ("[world]\ngravity = [0, 0, -9.81]\n[bodies.b]\nmass = 2\ninertia = [0.1, 0.1, 0.1]\nstart = { at = [1, 0, 0] }\n"
            '[joints.hinge]\ntype = "revolute"\nbetween = ["ground", "b"]\nat = [0, 0, 0]\naxis = [0, 1, 0]\n')
    done = call(program, text, "accelerate", "--json", "--position", "hinge.angle=0.3", "--velocity", "hinge.angle=0.1")
    out = json.loads(done.stdout)
    value = json.dumps(out)
    that("accelerate --json", done.returncode == 0 and '"hinge.angle"' in value, value)
    expected = 2 * 9.81 * math.cos(0.3) / (0.1 + 2)
    found = out["acceleration"]["hinge.angle"] if isinstance(out.get("acceleration"), dict) else None
    that("accelerate --json: value", found is not None and near(found, expected), (found, expected))


ARM = """<?xml version="1.0"?>
<robot name="two link">
  <!-- an arm -->
  <link name="base_link"/>
  <link name="upper-arm">
    <inertial><origin xyz="0 0 0.25" rpy="0.1 0.2 0.3"/><mass value="2.0"/><inertia ixx="0.05" ixy="0.001" ixz="0" iyy="0.05" iyz="0" izz="0.004"/></inertial>
    <visual><geometry><box size="1 1 1"/></geometry></visual>
  </link>
  <link name="forearm"><inertial><origin xyz="0 0 0.2"/><mass value="1.0"/><inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.001"/></inertial></link>
  <link name="tip"><inertial><mass value="0.1"/><inertia ixx="1e-4" ixy="0" ixz="0" iyy="1e-4" iyz="0" izz="1e-4"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base_link"/><child link="upper-arm"/><origin xyz="0 0 1" rpy="0 1.5 0"/><axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="10" velocity="3"/><dynamics damping="0.1"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper-arm"/><child link="forearm"/><origin xyz="0 0 0.5" rpy="0 0.3 0.2"/><axis xyz="1 0 0"/></joint>
  <joint name="end" type="fixed"><parent link="forearm"/><child link="tip"/><origin xyz="0 0 0.4"/></joint>
</robot>
"""


def times(a, b):
    return [[sum(a[i][k] * b[k][j] for k in range(len(b))) for j in range(len(b[0]))] for i in range(len(a))]


def transposed(a):
    return [list(row) for row in zip(*a)]


def about(axis, angle):
    c, s = math.cos(angle), math.sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    turn = [[float(a == b) for b in range(3)] for a in range(3)]
    turn[i][i], turn[i][j], turn[j][i], turn[j][j] = c, -s, s, c
    return turn


def rpy(r, p, y):
    return times(about(2, y), times(about(1, p), about(0, r)))


def moved(p, turn, v):
    return [p[i] + sum(turn[i][k] * v[k] for k in range(3)) for i in range(3)]


def urdf(program):
    """A robot in URDF against its Lagrangian, differentiated by differences, which knows nothing of bodies."""
    inner = rpy(0.1, 0.2, 0.3)
    tensor = times(inner, times([[0.05, 0.001, 0], [0.001, 0.05, 0], [0, 0, 0.004]], transposed(inner)))
    diagonal = lambda *d: [[d[i] if i == j else 0.0 for j in range(3)] for i in range(3)]
    links = [(2.0, [0, 0, 0.25], tensor), (1.0, [0, 0, 0.2], diagonal(0.02, 0.02, 0.001)), (0.1, [0, 0, 0], diagonal(1e-4, 1e-4, 1e-4))]

    def frames(q):
        upper = times(rpy(0, 1.5, 0), about(1, q[0]))
        fore = times(times(upper, rpy(0, 0.3, 0.2)), about(0, q[1]))
        elbow = moved([0, 0, 1], upper, [0, 0, 0.5])
        return [([0, 0, 1], upper), (elbow, fore), (moved(elbow, fore, [0, 0, 0.4]), fore)]

    def kinetic(q, v, h=1e-5):
        ahead, behind, here = (frames([q[k] + sign * h * v[k] for k in range(2)]) for sign in (1, -1, 0))
        total = 0.0
        for (mass, centre, inertia), (pa, ra), (pb, rb), (_, r) in zip(links, ahead, behind, here):
            rate = [(a - b) / (2 * h) for a, b in zip(moved(pa, ra, centre), moved(pb, rb, centre))]
            spin = times(transposed(r), [[(ra[i][j] - rb[i][j]) / (2 * h) for j in range(3)] for i in range(3)])
            w = [spin[2][1], spin[0][2], spin[1][0]]
            total += mass / 2 * sum(x * x for x in rate) + 0.5 * sum(w[i] * inertia[i][j] * w[j] for i in range(3) for j in range(3))
        return total

    def potential(q):
        return sum(9.81 * mass * moved(p, r, centre)[2] for (mass, centre, _), (p, r) in zip(links, frames(q)))

    def mass_matrix(q):
        one, other, both = kinetic(q, [1, 0]), kinetic(q, [0, 1]), kinetic(q, [1, 1])
        return [[2 * one, both - one - other], [both - one - other, 2 * other]]

    q, v, h = [0.3, -0.4], [0.5, 1.2], 1e-3
    step = lambda k, d: [q[i] + (d if i == k else 0.0) for i in range(2)]
    slope = lambda f, k: (8 * (f(step(k, h)) - f(step(k, -h))) - (f(step(k, 2 * h)) - f(step(k, -2 * h)))) / (12 * h)
    along = lambda d: mass_matrix([q[i] + d * v[i] for i in range(2)])
    rate = [[(along(h)[i][j] - along(-h)[i][j]) / (2 * h) for j in range(2)] for i in range(2)]
    force = [slope(lambda x: kinetic(x, v), k) - slope(potential, k) - sum(rate[k][j] * v[j] for j in range(2)) for k in range(2)]
    force[0] -= 0.1 * v[0]
    m = mass_matrix(q)
    det = m[0][0] * m[1][1] - m[0][1] * m[1][0]
    expected = [(m[1][1] * force[0] - m[0][1] * force[1]) / det, (m[0][0] * force[1] - m[1][0] * force[0]) / det]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "arm.urdf"
        file.write_text(ARM)
        state = ["--position", "shoulder.angle=0.3,elbow.angle=-0.4", "--velocity", "shoulder.angle=0.5,elbow.angle=1.2"]
        done = subprocess.run([program, "accelerate", str(file), "--json", *state], capture_output=True, text=True)
        found = json.loads(done.stdout)["acceleration"] if done.returncode == 0 else {}
        that("urdf", found and near(found["shoulder.angle"], expected[0], 1e-5) and near(found["elbow.angle"], expected[1], 1e-5), (found, expected, done.stderr))
        made = subprocess.run([program, "import", str(file)], capture_output=True, text=True)
        that("import says what it does not read", "`visual` of links is not read" in made.stderr, made.stderr)
        (pathlib.Path(folder) / "arm.toml").write_text(made.stdout)
        again = subprocess.run([program, "accelerate", str(pathlib.Path(folder) / "arm.toml"), "--json", *state], capture_output=True, text=True)
        that("import", again.stdout == done.stdout and done.returncode == 0, again.stderr)
        file.write_text(ARM.replace('link="forearm"', 'link="foream"', 1))
        bad = subprocess.run([program, "check", str(file)], capture_output=True, text=True)
        that("a link that is not there", bad.returncode == 1 and "there is no link `foream`" in bad.stderr, bad.stderr)


def open_joints(program):
    """A start that does not close: the joint and by how much; moved onto the constraints where that is asked for."""
    text = """
[bodies.b]
mass = 1
inertia = [1, 1, 1]
start = { at = [1, 0, 0] }
[joints.hinge]
type = "revolute"
between = ["ground", "b"]
first = { at = [0, 0, 0], axis = [0, 1, 0] }
second = { at = [-0.9, 0, 0], axis = [0, 1, 0] }
[run]
to = 0.1
every = 0.1
"""
    done = call(program, text, "run")
    that("open joint", done.returncode != 0 and "hinge.x" in done.stderr and "0.1" in done.stderr, done.stderr)
    out = rows(program, text, "--project-start")
    that("open joint, moved", out and near(out[0]["b.x"], 0.9), out[:1])
    note = call(program, text.replace("start = { at = [1, 0, 0] }", "start = { at = [0.9, 0, 0] }"), "check")
    that("no gravity", note.returncode == 0 and "there is no gravity" in note.stderr, note.stderr)


def mjcf(program):
    """A robot in MJCF against a compound pendulum worked out by hand; classes, degrees, armature, equality."""
    robot = """<mujoco model="pendulum">
  <compiler angle="degree"/>
  <default><geom density="500"/><default class="heavy"><geom density="2000"/><joint armature="0.03"/></default></default>
  <worldbody>
    <body name="arm" pos="0 0 1" euler="0 30 0" childclass="heavy">
      <joint name="h" axis="0 1 0" damping="0.2" stiffness="3" springref="10"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.05"/>
      <geom type="box" class="main" size="0.1 0.2 0.05" pos="0 0 -0.6"/>
    </body>
    <body name="bar" pos="2 0 1"><joint name="g" axis="0 1 0"/><inertial pos="0.3 0 0" mass="2" diaginertia="0.1 0.2 0.3"/></body>
  </worldbody>
  <equality>EQUALITY</equality>
</mujoco>
"""
    rod, ball = 2000 * math.pi * 0.0025 * 0.5, 2000 * 4 / 3 * math.pi * 0.05**3
    box = 500 * 0.2 * 0.4 * 0.1
    inertia = rod * (3 * 0.0025 + 0.25) / 12 + ball * (0.4 * 0.0025 + 0.0625 + 0.375 * 0.5 * 0.05) + (rod + ball) * 0.0625
    inertia += box * (0.04 + 0.01) / 12 + box * 0.36 + 0.03
    torque = lambda a, w: -((rod + ball) * 0.25 + box * 0.6) * 9.81 * math.sin(a) - 0.2 * w - 3 * (a - math.pi / 6 - math.radians(10))
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "robot.xml"
        state = ["--position", "h.angle=0.4", "--velocity", "h.angle=0.7"]
        file.write_text(robot.replace("EQUALITY", ""))
        done = subprocess.run([program, "accelerate", str(file), "--json", *state], capture_output=True, text=True)
        found = json.loads(done.stdout)["acceleration"] if done.returncode == 0 else {"h.angle": 0.0, "g.angle": 0.0}
        # turned by 30 degrees at the start; positive turns about y take what hangs towards -x
        expected = torque(0.4 + math.pi / 6, 0.7) / inertia
        that("mjcf", near(found["h.angle"], expected, 1e-9), (found, expected, done.stderr))
        that("mjcf, inertial", near(found["g.angle"], 2 * 9.81 * 0.3 / (0.2 + 2 * 0.09)), found)
        file.write_text(robot.replace("EQUALITY", '<joint joint1="g" joint2="h" polycoef="0 2 0 0 0"/>'))
        tied = subprocess.run([program, "accelerate", str(file), "--json"], capture_output=True, text=True)
        both = json.loads(tied.stdout)["acceleration"] if tied.returncode == 0 else {"h.angle": 0.0, "g.angle": 1.0}
        that("mjcf, joints tied", near(both["g.angle"], 2 * both["h.angle"]), (both, tied.stderr))
        file.write_text(robot.replace("EQUALITY", '<connect body1="bar" anchor="0.6 0 0"/>'))
        held = subprocess.run([program, "check", str(file)], capture_output=True, text=True)
        that("mjcf, connected", held.returncode == 0 and "geoms are read for their inertia" in held.stderr, held.stderr)


def redundant(program):
    """A door on two hinges: what holds it is not determined; the least in force^2 + torque^2 is worked out by hand."""
    text = """
[world]
gravity = [0, 0, -9.81]
formulation = "free"
[bodies.door]
shape = { box = [0.8, 0.04, 2], mass = 20 }
start = { at = [0.4, 0, 1] }
[joints.low]
type = "revolute"
between = ["ground", "door"]
at = [0, 0, 0.3]
axis = [0, 0, 1]
[joints.high]
type = "revolute"
between = ["ground", "door"]
at = [0, 0, 1.7]
axis = [0, 0, 1]
"""
    out = json.loads(call(program, text, "accelerate", "--json").stdout)
    # 1.4 F + 2 T = 78.48 with 2 F^2 + 2 T^2 least
    share = 0.4 * 20 * 9.81 / 1.49
    expected = {"low.fx": 0.35 * share, "high.fx": -0.35 * share, "low.ty": -0.5 * share, "high.ty": -0.5 * share, "low.fz": 98.1, "high.fz": 98.1, "low.tz": 0.0}
    for name, value in expected.items():
        that(f"door, {name}", near(out["reactions"][name], value), (out["reactions"][name], value))
    that("door, undetermined", "low.fz" in out["reactions_undetermined"] and "low.tz" not in out["reactions_undetermined"], out["reactions_undetermined"])
    one = json.loads(call(program, text.replace("[joints.high]", "[joints.unused]").split("[joints.unused]")[0], "accelerate", "--json").stdout)
    that("door on one hinge", one["reactions_undetermined"] == [] and near(one["reactions"]["low.fz"], 196.2) and near(one["reactions"]["low.ty"], -78.48), one["reactions"])


HELD = """
[world]
gravity = [0, 0, -9.81]
formulation = "{way}"
[bodies.arm]
mass    = 1.5
inertia = [0.02, 0.1, 0.11]
centre  = [0.5, 0, 0]
[bodies.hand]
mass    = 0.7
inertia = [0.01, 0.03, 0.04]
centre  = [0.2, 0, 0]
start   = {{ at = [1, 0, 0] }}
[joints.shoulder]
type    = "revolute"
between = ["ground", "arm"]
at      = [0, 0, 0]
axis    = [0, 1, 0]
[joints.elbow]
type    = "revolute"
between = ["arm", "hand"]
at      = [1, 0, 0]
axis    = [0, 1, 0]
damping = 0.3
[outputs]
a  = "shoulder.angle"
b  = "elbow.angle"
fx = "{joint}.fx"
fz = "{joint}.fz"
[run]
to    = 0.5
every = 0.5
"""


def double_pendulum(a, b, u, v):
    """Accelerations of HELD from its energies, and the force in the elbow."""
    m1, m2, c1, c2, i1, i2, g, d = 1.5, 0.7, 0.5, 0.2, 0.1, 0.03, 9.81, 0.3
    # angles from the x axis towards -z: x = cos, z = -sin
    A, B = a, a + b
    w = u + v
    m11, m22, m12 = i1 + m1 * c1**2 + m2, i2 + m2 * c2**2, m2 * c2 * math.cos(A - B)
    q1 = -m2 * c2 * math.sin(A - B) * w**2 + (m1 * c1 + m2) * g * math.cos(A) + d * v
    q2 = m2 * c2 * math.sin(A - B) * u**2 + m2 * c2 * g * math.cos(B) - d * v
    det = m11 * m22 - m12**2
    A2, B2 = (m22 * q1 - m12 * q2) / det, (m11 * q2 - m12 * q1) / det
    ax = -math.sin(A) * A2 - math.cos(A) * u**2 - c2 * (math.sin(B) * B2 + math.cos(B) * w**2)
    az = -math.cos(A) * A2 + math.sin(A) * u**2 - c2 * (math.cos(B) * B2 - math.sin(B) * w**2)
    return A2, B2 - A2, m2 * ax, m2 * (az + g)


def starts_of_joints(program):
    """Where joints begin moves the bodies, whatever says so and however joints are written: against equations of the mechanism."""
    for seed, (a, b, u, v) in enumerate([(0.3, 0, 0, 0), (2.9, -1.7, 1.2, -0.4), (-2.2, 0.4, 0, 3.0)]):
        want = double_pendulum(a, b, u, v)
        for way in WAYS:
            for joint in ("elbow", "shoulder"):
                text = HELD.format(way=way, joint=joint)
                done = call(program, text, "accelerate", "--json", "--position", f"shoulder.angle={a},elbow.angle={b}",
                            "--velocity", f"shoulder.angle={u},elbow.angle={v}")
                if done.returncode:
                    that("start of a joint", False, done.stderr)
                    continue
                found = json.loads(done.stdout)
                got = [found["acceleration"].get(f"{name}.angle", math.nan) for name in ("shoulder", "elbow")]
                if joint == "elbow":
                    got += [found["reactions"]["elbow.fx"], found["reactions"]["elbow.fz"]]
                for have, known in zip(got, want):
                    if not math.isnan(have):
                        that(f"start of a joint ({way}, {joint}, {seed})", near(have, known, 1e-11), f"{have} and not {known}")
                that("start on the constraints", found["constraint_residual"] < 1e-12, found["constraint_residual"])
    # From motion to motion, with turns of more than half a turn.
    for way in WAYS:
        text = HELD.format(way=way, joint="elbow")
        done = call(program, text, "sweep", "--vary", "shoulder.angle=0.2,2.9", "--vary", "elbow.angle'=0,2", "--keep", "a,b,fx,fz", "--quiet")
        swept = [{k: float(v) for k, v in row.items() if k in ("a", "b", "fx", "fz")} for row in csv.DictReader(io.StringIO(done.stdout))]
        single = []
        for a in ("0.2", "2.9"):
            for v in ("0", "2"):
                single.append(rows(program, text, "--position", f"shoulder.angle={a}", "--velocity", f"elbow.angle={v}")[-1])
        that("starts of joints in a sweep", len(swept) == 4 and all(near(x[k], y[k], 1e-8) for x, y in zip(swept, single) for k in x), f"{swept} {single}")
    # A loop that a joint of the tree moves: what closes it begins where its bodies are.
    door = """
[world]
gravity = [0, 0, -9.81]
formulation = "{way}"
[bodies.door]
mass    = 20
inertia = [6, 3, 3]
centre  = [0.4, 0, 1]
[joints.lower]
type    = "revolute"
between = ["ground", "door"]
at      = [0, 0, 0.2]
axis    = [0, 0, 1]
[joints.upper]
type    = "revolute"
between = ["ground", "door"]
at      = [0, 0, 1.8]
axis    = [0, 0, 1]
[start]
position = {{ "lower.angle" = 2.5 }}
velocity = {{ "lower.angle" = 2 }}
[outputs]
fx = "lower.fx*cos(lower.angle) + lower.fy*sin(lower.angle)"
gx = "upper.fx*cos(upper.angle) + upper.fy*sin(upper.angle)"
fz = "lower.fz"
[run]
to = 0.1
"""
    for way in WAYS:
        found = rows(program, door.format(way=way))
        # 1.6 F + 2 T = m g c with 2 F^2 + 2 T^2 least, and half of m w^2 c in either hinge
        least = 0.4 * 20 * 9.81 * 0.4 / 1.64
        for row in found[:1] + found[-1:]:
            that(f"door that turns ({way})", near(row["fx"], least - 16) and near(row["gx"], -least - 16) and near(row["fz"], 98.1), row)


def corners(program):
    """A box has eight contacts with names: they carry its weight, also where it is an index that names them."""
    text = """
[world]
gravity = [0, 0, -9.81]
[bodies.crate]
shape = { box = [0.2, 0.3, 0.4], density = 500 }
start = { at = [0, 0, 0.2] }
[contacts.toe]
box      = { on = "crate", size = [0.2, 0.3, 0.4] }
plane    = { at = [0, 0, 0], normal = [0, 0, 1] }
friction = 0.4
[outputs]
n      = "sum(k = 1..8, multiplier(toe[k]))"
one    = "multiplier(toe[1]) + multiplier(toe[2])"
"p[k]" = { for = "k = 1..4", value = "multiplier(toe[k])" }
[events]
lift = { when = "t - 0.05", do = ["release toe[1]", "release toe[2]"] }
[run]
to    = 0.04
every = 0.02
"""
    for row in rows(program, text):
        that("corners", near(row["n"], 500 * 0.2 * 0.3 * 0.4 * 9.81) and near(row["one"], row["p[1]"] + row["p[2]"]), row)
    done = call(program, text.replace("release toe[2]", "release toe[9]"), "check")
    that("corners that are not there", done.returncode == 1 and "toe" in done.stderr, done.stderr)


def controlled_parts(program):
    """Actuators, limits, costs, free forces, samples and a model that is believed, of parts: against all of it written out."""
    cart = """
coordinates = ["x", "y", "u[1..2]"]
[parameters]
m = 2
F = 3
[dynamics]
kinetic = "(m*x'^2 + y'^2)/2 + sum(i = 1..2, u[i]'^2)/2"
[actuators]
mot = { x = "1", y = "0.2", limit = "F", cost = 2 }
side = { by = { y = "1 + 0.1*x" }, limit = [-2, 4] }
pull = { for = "i = 1..2", "u[i]" = "i", limit = 1.5 }
"push[i]" = { for = "i = 1..2", on = "x + u[i]", cost = 9 }
[control]
cost = { side = "3 + m" }
SETTING
[control.place]
equation = "x = 0.8"
frequency = 5
[control.hold]
for = "i = 1..2"
equation = "u[i] = 0.1*i"
frequency = 3
[nominal]
m = 1.5
[outputs]
effort = "tau(mot)"
"""
    end = "[run]\nto = 0.6\nevery = 0.1\ntolerance = 1e-10\n"

    one = cart.replace("SETTING", "every = 0.05")
    with_setting = lambda said: [("cart.toml", cart.replace("SETTING", said))]
    family = '[parts."c[j]"]\nfor = "j = 1..2"\nmodel = "cart.toml"\nset = { F = "1 + j" }\n' + end
    alone = [rows(program, one.replace("F = 3", f"F = {1 + j}") + end) for j in (1, 2)]
    both = rows(program, family, files=with_setting("every = 0.05"))
    that("controlled parts: rows", len(both) == 7 and all(len(rows_of) == 7 for rows_of in alone), len(both))
    for j in (1, 2):
        for a, b in zip(both, alone[j - 1]):
            for key in ("x", "y", "u[1]", "u[2]", "x'", "effort", "tau(mot)", "tau(side)", "tau(pull[1])", "tau(pull[2])", "tau(push[1])", "tau(push[2])", "Qcontrol(x)", "Qcontrol(y)"):
                name = re.sub(r"^(tau|Qcontrol)\((.*)\)$", rf"\1(c[{j}].\2)", key) if "(" in key else f"c[{j}].{key}"
                that(f"controlled parts: {name}", name in a and near(a[name], b[key], 1e-7), (a.get("t"), a.get(name), b.get(key)))
    shown = call(program, family, "expand", files=with_setting("every = 0.05")).stdout
    that("controlled parts: expand", "actuators" in shown and "nominal" in shown and "every" in shown, shown[-600:])
    # Free forces, without actuators.
    free = 'coordinates = ["x", "y"]\n[dynamics]\nkinetic = "(x\'^2 + y\'^2)/2"\n[control]\nfree = { y = "-0.1*y\' - y" }\n[control.c]\nequation = "x = 0.3*t"\nfrequency = 2\n[start]\nvelocity = { y = 1 }\n'
    single, used = rows(program, free + end), rows(program, '[parts.a]\nmodel = "free.toml"\n[parts.b]\nmodel = "free.toml"\n' + end, files=[("free.toml", free)])
    that("free forces of parts", len(single) == 7 and all(near(b[f"{p}.y"], a["y"], 1e-8) for a, b in zip(single, used) for p in "ab"), used[-1:])
    # What holds for all of control is said alike everywhere, or by the model itself.
    own = '[control.more]\nequation = "a.x = a.y"\nfrequency = 1\npriority = 2\n'
    one_part = '[parts.a]\nmodel = "cart.toml"\n'
    for what, text, said, wanted in (
            ("a part alone samples", one_part + own, "every = 0.05", "the part `a` gives `every` in [control], and not all other control does the same"),
            ("another time", "[control]\nevery = 0.1\n" + one_part, "every = 0.05", "gives `every`"),
            ("one of two", one_part + '[parts.b]\nmodel = "plain.toml"\n', "every = 0.05", "the part `b` does not give `every`"),
            ("robust", one_part + own, "robust = { gain = 5, layer = 1e-3 }", "gives `robust`"),
            ("a matrix of costs", one_part, "", "`cost` in [control] of the part `a` cannot be put together")):
        files = with_setting(said) if what != "a matrix of costs" else [("cart.toml", free.replace("free = { y = \"-0.1*y' - y\" }", "cost = [[1]]").replace("[control]\n", "[actuators]\nm = { x = \"1\" }\n[control]\n"))]
        done = call(program, text, "check", files=[*files, ("plain.toml", cart.replace("SETTING", ""))])
        that(f"control of parts: {what}", done.returncode == 1 and wanted in done.stderr and "model.toml:" in done.stderr, (done.returncode, done.stderr))
    # The model that uses the part may say it for all.
    that("said for all", call(program, "[control]\nevery = 0.1\n" + one_part, "check", files=with_setting("")).returncode == 0)


def parts_of_parts(program):
    """Numbers of a part of a part are made of the parameters of the part; what is its own part is said so."""
    inner = "coordinates = [\"x\"]\n[parameters]\nk = 4\n[dynamics]\nkinetic = \"x'^2/2\"\npotential = \"k*x^2/2\"\n[start]\nposition = { x = 1 }\n"
    middle = '[parameters]\nb = 3\n[parts.i]\nmodel = "inner.toml"\nset = { k = "2*b" }\n'
    text = '[parameters]\nc = 5\n[parts.m]\nmodel = "middle.toml"\nset = { b = "c + 1" }\n[parts.n]\nmodel = "middle.toml"\n'
    done = call(program, text, "accelerate", "--json", files=[("inner.toml", inner), ("middle.toml", middle)])
    found = json.loads(done.stdout)["acceleration"] if done.returncode == 0 else {}
    that("parts of parts", found == {"m.i.x": -12, "n.i.x": -6}, (found, done.stderr))
    done = call(program, '[parts.a]\nmodel = "other.toml"\n', "check", files=[("other.toml", '[parts.b]\nmodel = "model.toml"\n')])
    that("a circle of parts", done.returncode == 1 and "other.toml:2:9: error: the model is a part of itself: model.toml" in done.stderr, (done.returncode, done.stderr))
    with tempfile.TemporaryDirectory() as folder:
        inside = pathlib.Path(folder) / "inside"
        inside.mkdir()
        (pathlib.Path(folder) / "leg.toml").write_text(inner)
        (inside / "leg.toml").symlink_to("../leg.toml")
        (inside / "model.toml").write_text('[parts.a]\nmodel = "leg.toml"\n')
        done = subprocess.run([program, "check", str(inside / "model.toml")], capture_output=True, text=True)
        that("a link that leaves the folder", done.returncode == 1 and "leads out of the folder" in done.stderr, done.stderr)


ROBOT = """<robot name="r">
  <link name="hand"><inertial><mass value="1"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
  <link name="base"><inertial><mass value="3"/><inertia ixx="0.2" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.2"/></inertial></link>
  <link name="odd"><inertial><mass value="1"/><inertia ixx="1e-3" ixy="0.5" ixz="0" iyy="1e-3" iyz="0" izz="1e-3"/></inertial></link>
  <joint name="hand" type="revolute"><parent link="base"/><child link="hand"/><origin xyz="0 0 1"/><axis xyz="0 1 0"/><limit lower="0.5" upper="1"/></joint>
  <joint name="led" type="revolute"><parent link="base"/><child link="odd"/><origin xyz="1 0 0"/><axis xyz="0 0 1"/><limit lower="-9" upper="9"/><mimic joint="hand" multiplier="2" offset="0.25"/></joint>
</robot>
"""


def robots(program):
    """Files that other programs read: with a name for a link and a joint, a first link that stands later, an inertia that no body has."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "r.urdf"
        file.write_text(ROBOT)

        def json_of(*more):
            done = subprocess.run([program, *more], capture_output=True, text=True)
            that(f"robot: {more[0]}", done.returncode == 0, done.stderr)
            return json.loads(done.stdout) if done.returncode == 0 else None

        fixed, free = json_of("accelerate", str(file), "--json"), json_of("accelerate", str(file), "--json", "--base", "floating")
        if fixed and free:
            that("the joint keeps its name", set(fixed["position"]) == {"hand.angle", "led.angle"}, fixed["position"])
            that("starts between limits, and what follows", fixed["position"] == {"hand.angle": 0.5, "led.angle": 1.25}, fixed["position"])
            that("the first link is free", all(f"base.{c}" in free["position"] for c in "xyz") and near(free["acceleration"]["base.z"], -9.81), free["acceleration"])
            that("what follows", near(free["acceleration"]["led.angle"], 2 * free["acceleration"]["hand.angle"]), free["acceleration"])
        done = subprocess.run([program, "check", str(file)], capture_output=True, text=True)
        that("an inertia that no body has", done.returncode == 0 and "line 4: the inertia of `odd` is not positive" in done.stderr, done.stderr)
        file.write_text(ROBOT.replace('mimic joint="hand"', 'mimic joint="thumb"'))
        done = subprocess.run([program, "check", str(file)], capture_output=True, text=True)
        that("nobody to follow", done.returncode == 0 and "follows `thumb`, which is not there" in done.stderr, done.stderr)
        for name, text, line, said in (("two links", ROBOT.replace('name="odd"', 'name="hand"', 1), 4, "there are two links `hand`"),
                                       ("an axis", ROBOT.replace('xyz="0 0 1"/><limit lower="-9"', 'xyz="0 0 0"/><limit lower="-9"'), 6, "the axis of the joint `led` has no length"),
                                       ("a mass", ROBOT.replace('value="3"', 'value="-3"'), 3, "the mass of the link `base` is negative"),
                                       ("entities", '<!DOCTYPE r [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]>\n' + ROBOT, 1, "it declares entities")):
            file.write_text(text)
            done = subprocess.run([program, "check", str(file)], capture_output=True, text=True)
            that(f"robot with a mistake: {name}", done.returncode == 1 and f"r.urdf:{line}:1: error: {said}" in done.stderr, done.stderr)
        other = pathlib.Path(folder) / "m.toml"
        other.write_text('coordinates = ["x"]\n[dynamics]\nmass = { x = 1 }\n')
        done = subprocess.run([program, "check", str(other), "--base", "floating"], capture_output=True, text=True)
        that("--base of what is no robot", done.returncode == 2, done.stderr)


def units(program):
    """Parameters in other units: the same bodies as with numbers in SI; what is varied is in the unit too."""
    text = """
[parameters]
L = 400
m = 2500
[units]
L = "mm"
m = "g"
[world]
gravity = [0, 0, -9.81]
formulation = "WAY"
[bodies.b]
mass    = "m"
inertia = [0.01, "m*L^2/12", 0.02]
centre  = ["L/2", 0, 0]
[joints.h]
type    = "revolute"
between = ["ground", "b"]
at      = [0, 0, 0]
axis    = [0, 1, 0]
[points]
tip = { on = "b", at = ["L", 0, 0] }
[outputs]
h = "tip.z + L/4"
a = "h.angle"
[run]
to = 0.2
"""
    for way in WAYS:
        own = text.replace("WAY", way)
        plain = own.replace("L = 400", "L = 0.4").replace("m = 2500", "m = 2.5").replace('[units]\nL = "mm"\nm = "g"\n', "")
        a, b = rows(program, own)[-1], rows(program, plain)[-1]
        that("units of bodies", all(near(a[k], b[k], 1e-13) for k in ("h", "a")), (a, b))
        a, b = rows(program, own, "--set", "L=800")[-1], rows(program, plain, "--set", "L=0.8")[-1]
        that("units of bodies, set", all(near(a[k], b[k], 1e-13) for k in ("h", "a")), (a, b))


def angles_of_rest(program):
    """States of rest with every body by itself: the angle of a joint is where its bodies are, and not half a turn off."""
    text = HELD.replace("centre  = [0.5, 0, 0]", "centre  = [0, 0, -0.5]").replace("centre  = [0.2, 0, 0]", "centre  = [0, 0, -0.2]")
    text = text.replace("at = [1, 0, 0]", "at = [0, 0, -1]").replace("at      = [1, 0, 0]", "at      = [0, 0, -1]").format(way="free", joint="elbow")
    done = call(program, text, "equilibrium", "--json", "--starts", "20")
    found = json.loads(done.stdout)["equilibria"] if done.returncode == 0 else []
    that("states of rest", len(found) > 0, done.stderr)
    for state in found:
        q = state["position"]
        between = 2 * (math.atan2(q["hand.qy"], q["hand.qw"]) - math.atan2(q["arm.qy"], q["arm.qw"]))
        that("angle at rest", abs(math.remainder(between - q["elbow.angle"], 2 * math.pi)) < 1e-9, state)
        that("rest", state["stable"] == (q["hand.z"] < 0 and abs(math.remainder(between, 2 * math.pi)) < 1), state)


def damped_ball(program):
    """A ball of one moment about all axes: w' = -d w/I, one against the other too; as a robot says it, and as bodies."""
    for way in WAYS:
        text = f"""
[world]
formulation = "{way}"
[bodies.a]
mass    = 1
inertia = [0.2, 0.2, 0.2]
start   = {{ spin = [1, -2, 0.5], turned = {{ axis = [1, 2, 3], angle = 0.7 }} }}
[bodies.b]
mass    = 1
inertia = [0.3, 0.3, 0.3]
[joints.ball]
type    = "spherical"
between = ["a", "b"]
at      = [0, 0, 0]
damping = 0.4
[outputs]
u = "sqrt((a.Wx - b.Wx)^2 + (a.Wy - b.Wy)^2 + (a.Wz - b.Wz)^2)"
[run]
to    = 1
every = 0.5
"""
        for row in rows(program, text):
            that(f"damped ball ({way})", near(row["u"], math.sqrt(5.25) * math.exp(-0.4 * (1 / 0.2 + 1 / 0.3) * row["t"]), 1e-9), row)
    robot = '<mujoco><worldbody><body name="b"><joint name="j" type="ball" damping="0.4"/><inertial pos="0 0 0" mass="1" diaginertia="0.2 0.2 0.2"/></body></worldbody></mujoco>'
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "r.xml"
        file.write_text(robot)
        done = subprocess.run([program, "accelerate", str(file), "--json", "--velocity", "j.qx=0.5"], capture_output=True, text=True)
    found = json.loads(done.stdout)["acceleration"]["j.qx"] if done.returncode == 0 else 0.0
    that("damped ball of a robot", near(found, -0.4 / 0.2 * 0.5), (found, done.stderr))


def held_limits(program):
    """Joints that stand at their limits and are held there by friction: neither leaves, and the motion goes on."""
    text = '[world]\ngravity = [0, 0, -9.81]\n'
    for i in range(8):
        text += (f'[bodies.b{i}]\nmass = 1\ninertia = [0.1, 0.1, 0.1]\ncentre = [{0.02 * (i % 3)}, 0, -0.1]\nstart = {{ at = [{0.3 * i}, 0, {-0.1 * (i % 2)}] }}\n'
                 f'[joints.j{i}]\ntype = "revolute"\nbetween = ["{"ground" if i < 2 else f"b{i - 2}"}", "b{i}"]\nat = [{0.3 * i}, 0, {-0.1 * (i % 2)}]\n'
                 f'axis = [0, 1, {0.1 * i}]\nlimits = {"[0, 1]" if i % 2 else "[-1, 0]"}\n')
    text += "[constraints]\n" + "".join(f'"j{i}.friction" = {{ friction_force = {20 if i % 3 else 0.05}, slip = "j{i}.angle\'" }}\n' for i in range(8)) + "[run]\nto = 0.2\nevery = 0.1\n"
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "m.toml"
        file.write_text(text)
        done = subprocess.run([program, "run", str(file), "-o", str(pathlib.Path(folder) / "r.csv")], capture_output=True, text=True, timeout=120)
    that("joints held at limits", done.returncode == 0 and "passes its checks" in done.stderr, done.stderr[-500:])


TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def meshes(program):
    """Surfaces from files in the page of a report: the corners that the file has, where the body is; in parts and robots; what cannot be drawn is said."""
    def floats(text):
        data = base64.b64decode(text)
        return struct.unpack(f"<{len(data) // 4}f", data)

    def report(folder, name, *more):
        page = folder / "page.html"
        done = subprocess.run([program, "run", str(folder / name), "--quiet", "-o", str(folder / "rows.csv"), "--report", str(page), *more], capture_output=True, text=True)
        return done, json.loads(re.search(r'id="report">(.*?)</script>', page.read_text(), re.S)[1])["view"] if done.returncode == 0 else None

    body = '[bodies.hull]\nmass = 2\ninertia = [1, 1, 1]\nshape = { mesh = "MESH", at = [0.5, 0, 0], turned = { axis = [0, 0, 1], angle = "pi/2" }, scale = 0.1, colour = "red" }\nstart = { at = [0, 0, 1], spin = [0, 0, 2] }\n'
    end = "[run]\nto = 1\nevery = 0.5\n"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "below").mkdir()
        (folder / "below" / "hull.obj").write_text(TETRAHEDRON)
        (folder / "below" / "part.toml").write_text(body.replace("MESH", "hull.obj") + '[view.meshes]\nstand = { file = "hull.obj", at = [0, 0, 0] }\n')
        (folder / "own.toml").write_text(body.replace("MESH", "below/hull.obj") + '[view.meshes]\nstand = { file = "below/hull.obj", at = [0, 0, 0] }\n' + end)
        (folder / "used.toml").write_text('[parts.p]\nmodel = "below/part.toml"\n' + end)
        for file in ("own.toml", "used.toml"):
            done, view = report(folder, file)
            if not view:
                if "built without" not in done.stderr:
                    that(f"a report with meshes, {file}", False, done.stderr)
                continue
            that(f"a file is there once, {file}", len(view["meshes"]) == 1 and view["dimension"] == 3, len(view["meshes"]))
            points = floats(view["meshes"][0]["positions"])
            that(f"corners, {file}", points == (0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3), points)
            items = {i["name"].rpartition(".")[2]: i for i in view["items"] if i["kind"] == "mesh"}
            that(f"meshes, {file}", set(items) == {"hull", "stand"} and items["hull"]["colour"] == "red", items)

            def value(channel, row):
                c = view["channels"][channel]
                return c if not isinstance(c, dict) else floats(c["f32"])[row] if "f32" in c else None
            # The body turns by 2 t about z, and the mesh by a quarter more: its origin goes round, its x points along the y of the body.
            for row, t in enumerate((0, 0.5, 1)):
                at = [value(c, row) for c in items["hull"]["at"]]
                if None not in at:
                    that(f"where a mesh is, {file}", all(near(a, b, 1e-6) for a, b in zip(at, (0.5 * math.cos(2 * t), 0.5 * math.sin(2 * t), 1))), (t, at))
                turn = [value(c, row) for c in items["hull"]["turn"]]
                half = t + math.pi / 4
                if None not in turn:
                    that(f"how a mesh is turned, {file}", near(abs(turn[0] * math.cos(half) + turn[3] * math.sin(half)), 1, 1e-6), (t, turn))
            that(f"scales, {file}", [value(c, 0) for c in items["hull"]["scale"]] == [0.1] * 3 and [value(c, 0) for c in items["stand"]["scale"]] == [1] * 3, items)
        (folder / "r.urdf").write_text('<robot name="r"><link name="base"><visual><origin xyz="1 2 3"/><geometry><mesh filename="package://r/below/hull.obj" scale="2 2 2"/></geometry></visual>'
                                       '<visual><geometry><mesh filename="package://r/below/hull.dae"/></geometry></visual></link></robot>')
        done = subprocess.run([program, "import", str(folder / "r.urdf")], capture_output=True, text=True)
        that("the mesh of a robot", 'shape   = { mesh = "below/hull.obj", at = [1, 2, 3]' in done.stdout and "scale = [2, 2, 2]" in done.stdout, done.stdout)
        that("what is not drawn of a robot", "`visual` of links is not read, but for" in done.stderr, done.stderr)
        (folder / "below" / "bad.stl").write_text("neither this nor that")
        for what, text, said in (("no file", body.replace("MESH", "none.stl"), "there is no file `none.stl`"),
                                 ("an ending", body.replace("MESH", "below/part.toml"), "`below/part.toml` is neither an STL nor an OBJ file"),
                                 ("outside", body.replace("MESH", "../hull.stl"), "lies in the folder of the model, or below it"),
                                 ("a density", body.replace("MESH", "below/hull.obj").replace("scale = 0.1", "density = 1"), "a mesh has no `density`"),
                                 ("turned", body.replace('mesh = "MESH"', "sphere = 1"), "`turned` belongs to a mesh"),
                                 ("no name", 'coordinates = ["x"]\n[dynamics]\nmass = { x = 1 }\n[view.meshes]\na = { at = [0, 0, 0] }\n', "has no `file`")):
            (folder / "bad.toml").write_text(text + end)
            done = subprocess.run([program, "check", str(folder / "bad.toml")], capture_output=True, text=True)
            that(f"a mesh with a mistake: {what}", done.returncode == 1 and said in done.stderr, done.stderr)
        (folder / "bad.toml").write_text(body.replace("MESH", "below/bad.stl") + end)
        done, _ = report(folder, "bad.toml")
        that("a mesh that is none", done.returncode != 0 and ("bad.stl: no STL file" in done.stderr or "built without" in done.stderr), (done.returncode, done.stderr))


def heights_that_stay(program):
    """The potential of a body whose height does not change has a name too, and moves nothing."""
    text = """
[world]
gravity = [0, 0, -9.81]
[bodies.plate]
mass    = 2
inertia = [1, 1, 1]
start   = { at = [1, 0, 3], spin = [0, 0, 2], velocity = [0, 2, 0] }
[joints.axle]
type    = "revolute"
between = ["ground", "plate"]
at      = [0, 0, 0]
axis    = [0, 0, 1]
[outputs]
V = "plate.potential"
E = "plate.potential + plate.kinetic"
[run]
to    = 1
every = 0.5
"""
    for way in WAYS:
        for row in rows(program, text.replace("[world]", f'[world]\nformulation = "{way}"')):
            that(f"potential at one height ({way})", near(row["V"], 2 * 9.81 * 3) and near(row["E"], 2 * 9.81 * 3 + 4 + 2), row)


def chain_at_rest(N, L, m, J, g):
    """Accelerations of the centres of N links with ball joints, level and at rest, held at one end: forces in the joints from a tridiagonal system.

    V[i] lifts the near end of link i, V[i + 1] pulls its far end down. The ends of a link move with
    (V[i] - V[i + 1])/m - g ± L^2/(4 J)(V[i] + V[i + 1]), the far end of one as the near end of the next."""
    a, c = 1 / m, L * L / (4 * J)
    below, diagonal, above, right = [0.0] * N, [0.0] * N, [0.0] * N, [0.0] * N
    diagonal[0], above[0], right[0] = a + c, c - a, g
    for i in range(1, N):
        below[i], diagonal[i], above[i] = c - a, 2 * (a + c), c - a
    above[-1] = 0.0
    for i in range(1, N):
        k = below[i] / diagonal[i - 1]
        diagonal[i] -= k * above[i - 1]
        right[i] -= k * right[i - 1]
    V = [0.0] * (N + 1)
    for i in reversed(range(N)):
        V[i] = (right[i] - above[i] * V[i + 1]) / diagonal[i]
    return [a * (V[i] - V[i + 1]) - g for i in range(N)]


def long_chain(program):
    """Many balls in a row: against the tridiagonal system of a level chain, and against the same chain written out; a tree of them is refused."""
    N, L, m, J = 200, 0.2, 0.1, 3.4e-4
    body = 'mass = 0.1\ninertia = [1e-5, 3.4e-4, 3.4e-4]\n'
    head = '[world]\ngravity = [0, 0, -9.81]\n'
    end = '[outputs]\ntip = "{0}.z"\nmiddle = "{1}.z"\n[run]\nto = 0.02\nevery = 0.01\n'
    family = (f'{head}[parameters]\nN = {N}\n[bodies."link[i]"]\nfor = "i = 1..N"\n{body}start = {{ at = ["0.2*i - 0.1", 0, 0] }}\n'
              '[joints.hook]\ntype = "spherical"\nbetween = ["ground", "link[1]"]\nat = [0, 0, 0]\n'
              '[joints."ball[i]"]\nfor = "i = 2..N"\ntype = "spherical"\nbetween = ["link[i - 1]", "link[i]"]\nat = ["0.2*(i - 1)", 0, 0]\n'
              + end.format("link[N]", f"link[{N // 2}]"))
    done = call(program, family, "accelerate", "--json")
    found = json.loads(done.stdout)["acceleration"] if done.returncode == 0 else {}
    want = chain_at_rest(N, L, m, J, 9.81)
    off = max((abs(found.get(f"link[{i + 1}].z", math.nan) - z) for i, z in enumerate(want)), default=math.nan)
    that("a chain of 200 balls at rest", off < 1e-9 * 9.81, (off, done.stderr[-300:]))
    written = head
    for i in range(1, N + 1):
        written += f'[bodies.b{i}]\n{body}start = {{ at = [{0.2 * i - 0.1!r}, 0, 0] }}\n'
        written += f'[joints.j{i}]\ntype = "spherical"\nbetween = ["{f"b{i - 1}" if i > 1 else "ground"}", "b{i}"]\nat = [{0.2 * (i - 1)!r}, 0, 0]\n'
    for a, b in zip(rows(program, family), rows(program, written + end.format(f"b{N}", f"b{N // 2}")), strict=True):
        that("a chain of 200 balls, written out", near(a["tip"], b["tip"], 1e-11) and near(a["middle"], b["middle"], 1e-11), (a["tip"], b["tip"]))
    asked = call(program, family.replace("gravity", 'formulation = "joint"\ngravity').replace(f"N = {N}", "N = 2000"), "check")
    that("a tree of 2000 balls", asked.returncode == 1 and "model.toml:2:15: error: along these joints 4e+10 pairs" in asked.stderr, asked.stderr[-500:])


def door(way, hinges, more="", outputs=()):
    text = f'[world]\nformulation = "{way}"\ngravity = [0, 0, -9.81]\n[bodies.d]\nmass = 10\ninertia = [1, 1, 0.5]\nstart = {{ at = [0.4, 0, 1] }}\n'
    for name, z in (("top", 1.7), ("bot", 0.3)):
        text += f'[joints.{name}]\ntype = "revolute"\nbetween = ["ground", "d"]\nat = [0, 0, {z}]\naxis = [0, 0, 1]\n{hinges.get(name, "")}'
    return text + more + "[outputs]\n" * bool(outputs) + "".join(f'o{i} = "{o}"\n' for i, o in enumerate(outputs)) + "[run]\nto = 0.1\nevery = 0.1\n"


def least_reactions(program):
    """What two hinges share is least in force^2 + (torque/1 m)^2, whatever is asked for: they are h = 0.7 m above and below the middle, and
    2 (F h + T) = M, the moment of the weight, so that F : T = h : 1."""
    M, h = 10 * 9.81 * 0.4, 0.7
    F, T = M * h / (2 * (h * h + 1)), M / (2 * (h * h + 1))
    want = {"top.fx": -F, "bot.fx": F, "top.ty": -T, "bot.ty": -T, "top.fz": 49.05, "bot.fz": 49.05, "top.fy": 0.0, "bot.tx": 0.0}
    for way in WAYS:
        for asked in (["top.fz", "top.fx"], ["bot.ty"], list(want)):
            for row in rows(program, door(way, {}, outputs=asked)):
                that(f"door {way}", all(near(row[f"o{i}"], want[name], 1e-10) for i, name in enumerate(asked)), (asked, row))
        for outputs in ((), ("top.fz",)):
            done = call(program, door(way, {}, outputs=outputs), "accelerate", "--json")
            found = json.loads(done.stdout)
            that(f"door {way}: named", {"top.fx", "top.fz", "bot.ty"} <= set(found.get("reactions_undetermined", ())) and "top.tz" not in found["reactions_undetermined"], done.stdout[-600:])
            that(f"door {way}: values", all(near(found["reactions"][k], v, 1e-10) for k, v in want.items()), found.get("reactions"))
        # Both drives turn 0.5 + 10 0.4^2 = 2.1 kg m^2 at 0.6 rad/s^2; both limits hold a torque of 2. Halves are the least.
        driven = 'drive = "0.3*t^2"\n'
        for row in rows(program, door(way, {"top": driven, "bot": driven}, outputs=("top.drive", "bot.drive"))):
            that(f"two drives {way}", near(row["o0"], 0.63, 1e-9) and near(row["o1"], 0.63, 1e-9), row)
        limited = "limits = [-1, 0]\n"
        text = door(way, {"top": limited + 'torque = "2"\n', "bot": limited}, outputs=("top.limit", "bot.limit"))
        for row in rows(program, text):
            that(f"two limits {way}", near(row["o0"], -1.0, 1e-9) and near(row["o1"], -1.0, 1e-9), row)
        found = json.loads(call(program, text, "accelerate", "--json").stdout)
        that(f"two limits {way}: named", {"top.limit", "bot.limit"} <= set(found.get("reactions_undetermined", ())), found.get("reactions_undetermined"))
    # A four-bar that hangs out of its plane: formulations against each other.
    bar = ('[bodies.{0}]\nmass = {1}\ninertia = [0.01, 0.02, 0.03]\nstart = {{ at = {2} }}\n')
    four = ('gravity = [0, -9.81, -2]\n' + bar.format("a", 1, [0, 0, 0.2]) + bar.format("b", 2, [0.4, 0, 0.4]) + bar.format("c", 1.5, [0.8, 0, 0.2])
            + "".join(f'[joints.{n}]\ntype = "revolute"\nbetween = ["{p}", "{q}"]\nat = {at}\naxis = [0, 1, 0]\n'
                      for n, p, q, at in (("A", "ground", "a", [0, 0, 0]), ("B", "a", "b", [0, 0, 0.4]), ("C", "b", "c", [0.8, 0, 0.4]), ("D", "ground", "c", [0.8, 0, 0]))))
    ends = []
    for way in WAYS:
        for outputs in (("A.fy",), ("A.fy", "B.fy", "C.ty", "D.fz")):
            asked = f'[world]\nformulation = "{way}"\n' + four + "[outputs]\n" + "".join(f'"o{i}" = "{o}"\n' for i, o in enumerate(outputs)) + "[run]\nto = 0.2\nevery = 0.1\ntolerance = 1e-11\n"
            ends.append([row["o0"] for row in rows(program, asked)])
    that("four-bar out of its plane", all(len(e) == 3 and all(near(x, y, 1e-8) for x, y in zip(e, ends[0])) for e in ends) and abs(ends[0][0]) > 1.0, ends)


def axes_point_one_way(program):
    """From guesses that are turned by any angle, joints close with their axes the same way; where nothing is to be moved, axes against each other are refused."""
    # The turns of screws are how far they have come.
    kinds = {"revolute": "", "prismatic": "", "cylindrical": "", "screw": "pitch = 0.1\n", "planar": ""}
    for kind, more in kinds.items():
        for way in ("free", "auto"):
            for angle in (0.4, 1.3, 1.7, 2.2, 2.9, 3.1, math.pi):
                text = (f'[world]\nformulation = "{way}"\ngravity = [0, 0, -9.81]\n[bodies.b]\nmass = 1\ninertia = [0.1, 0.2, 0.3]\n'
                        f'start = {{ at = [0, 0, 0], turned = {{ axis = [0, 1, 0], angle = {angle!r} }} }}\n'
                        f'[joints.g]\ntype = "{kind}"\nbetween = ["ground", "b"]\n{more}'
                        'first = { at = [0, 0, 0], axis = [0, 0, 1] }\nsecond = { at = [0, 0, 0], axis = [0, 0, 1] }\n'
                        '[start]\nassemble = true\n[outputs]\nr33 = "b.r33"\n[run]\nto = 0.01\nevery = 0.01\n')
                found = rows(program, text)
                that(f"{kind} {way}, guess turned by {angle}", len(found) == 2 and all(near(r["r33"], 1.0, 1e-9) for r in found), found)
        for way in WAYS:
            text = (f'[world]\nformulation = "{way}"\ngravity = [0, 0, 0]\n[bodies.b]\nmass = 1\ninertia = [0.1, 0.2, 0.3]\n'
                    f'[joints.g]\ntype = "{kind}"\nbetween = ["ground", "b"]\n{more}first = {{ at = [0, 0, 0], axis = [0, 0, 1] }}\nsecond = {{ at = [0, 0, 0], axis = [0, 0, -1] }}\n')
            done = call(program, text, "accelerate")
            that(f"{kind} {way} against each other", done.returncode == 1 and "its axes are turned by 2" in done.stderr, (done.returncode, done.stderr))
    # A mass between two springs has three states of rest, and none of them on its head.
    L = math.hypot(1, 0.3)
    for way in WAYS:
        text = (f'[world]\nformulation = "{way}"\ngravity = [0, 0, 0]\n[bodies.m]\nmass = 1\ninertia = [0.1, 0.1, 0.1]\nstart = {{ at = [0, 0, 0.3] }}\n'
                '[points]\nl = { on = "ground", at = [-1, 0, 0] }\nr = { on = "ground", at = [1, 0, 0] }\nc = { on = "m", at = [0, 0, 0] }\n'
                '[joints.g]\ntype = "prismatic"\nbetween = ["ground", "m"]\nat = [0, 0, 0.3]\naxis = [0, 0, 1]\ndamping = 0.5\n'
                + "".join(f'[springs.s{p}]\nbetween = ["{p}", "c"]\nstiffness = 100\nfree = {L!r}\n' for p in "lr"))
        states = json.loads(call(program, text, "equilibrium", "--json").stdout)["equilibria"]
        heights = sorted(s["position"]["g.distance"] + 0.3 for s in states)
        that(f"states of rest {way}", len(heights) == 3 and all(abs(a - b) < 1e-9 for a, b in zip(heights, (-0.3, 0.0, 0.3))), heights)


def quaternions_of_the_file(program):
    """qw is that of `turned`, in every formulation and in the plane."""
    for way in WAYS:
        for kind in ("fixed", "revolute", "planar", "spherical", "universal", "cylindrical"):
            for angle in (1.1, 2.9, 4.0):
                text = (f'[world]\nformulation = "{way}"\n[bodies.a]\nmass = 2\ninertia = [0.3, 0.4, 0.5]\nstart = {{ at = [0.4, 0.1, 0.2], turned = {{ axis = [1, 2, 3], angle = {angle / 2!r} }} }}\n'
                        f'[bodies.b]\nmass = 1\ninertia = [0.05, 0.06, 0.07]\nstart = {{ at = [1, 0.3, -0.1], turned = {{ axis = [1, -1, 0.3], angle = {angle!r} }} }}\n'
                        '[joints.j1]\ntype = "planar"\nat = [0.1, 0, 0.1]\naxis = [1, 2, -1]\nbetween = ["ground", "a"]\n'
                        f'[joints.j2]\ntype = "{kind}"\nat = [0.3, 0.3, 0]\nbetween = ["a", "b"]\n' + 'axis = [2, -1, 1]\n' * (kind not in ("fixed", "spherical")) + 'axis2 = [1, 1, -1]\n' * (kind == "universal")
                        + '[outputs]\nw = "b.qw"\nx = "b.qx"\na = "a.qw"\n[run]\nto = 0.01\nevery = 0.01\n')
                found = rows(program, text)
                size = math.sqrt(2.09)
                want = (math.cos(angle / 2), math.sin(angle / 2) / size, math.cos(angle / 4))
                that(f"quaternion {kind} {way} {angle}", len(found) == 2 and all(near(found[0][k], v, 1e-12) for k, v in zip("wxa", want)), (found[:1], want))


def held_where_the_file_says(program):
    """A loop is closed with a point where the bodies of the file have it, also along a tree that begins elsewhere."""
    body = '[bodies.{}]\nmass = {}\ninertia = [0.1, 0.2, 0.1]\nstart = {{ at = {}, turned = {{ axis = [0, 1, 0], angle = {} }} }}\n'
    joint = '[joints.{}]\ntype = "revolute"\nbetween = ["{}", "{}"]\nfirst = {{ at = {}, axis = [0, 1, 0] }}\nsecond = {{ at = {}, axis = [0, 1, 0] }}\n'
    for way in WAYS:
        text = (f'[world]\nformulation = "{way}"\ngravity = [0, 0, -9.81]\n' + body.format("crank", 1, [0, 0, 0], -1.2) + body.format("coup", 2, [0.2, 0, 0.3], 0) + body.format("rock", 1.5, [1, 0, 0], 0)
                + joint.format("A", "ground", "crank", [0, 0, 0], [0, 0, 0]) + joint.format("B", "crank", "coup", [0.4, 0, 0], [0, 0, 0])
                + joint.format("C", "coup", "rock", [0.9, 0, 0], [0, 0, 0.6]) + joint.format("D", "ground", "rock", [1, 0, 0], [0, 0, 0])
                + '[points]\ntip = { on = "coup", at = [0.5, 0, 0.2] }\n[start]\nassemble = true\nhold = ["tip.x"]\n[outputs]\ntx = "tip.x"\n[run]\nto = 0.01\nevery = 0.01\n')
        found = rows(program, text)
        that(f"held {way}", len(found) == 2 and near(found[0]["tx"], 0.7, 1e-10), found[:1])


def assembled_in_every_formulation(program):
    """Bodies beside their joints, on a tree and in a loop, are moved to the same place and move on alike; so in sweeps, where a length varies."""
    body = '[bodies.{}]\nmass = {}\ninertia = [0.1, 0.2, 0.1]\nstart = {{ at = {}, turned = {{ axis = [0, 1, 0], angle = {} }}, velocity = [0.3, 0, 0.1] }}\n'
    joint = '[joints.{}]\ntype = "revolute"\nbetween = ["{}", "{}"]\nfirst = {{ at = {}, axis = [0, 1, 0] }}\nsecond = {{ at = {}, axis = [0, 1, 0] }}\n'
    for closed in (False, True):
        found, swept = {}, {}
        for way in WAYS:
            text = (f'[parameters]\nL = 0.6\n[world]\nformulation = "{way}"\ngravity = [0, 0, -9.81]\n' + body.format("crank", 1, [0.05, 0, 0], -1.2) + body.format("coup", 2, [0.2, 0, 0.3], 0) + body.format("rock", 1.5, [1, 0, 0.1], 0)
                    + joint.format("A", "ground", "crank", [0, 0, 0], [0, 0, 0]) + joint.format("B", "crank", "coup", [0.4, 0, 0], [0, 0, 0])
                    + joint.format("C", "coup", "rock", [0.9, 0, 0], '[0, 0, "L"]') + closed * joint.format("D", "ground", "rock", [1, 0, 0], [0, 0, 0])
                    + '[start]\nassemble = true\n[outputs]\nx = "rock.x"\nz = "rock.z"\nw = "crank.wy"\nv = "coup.wy"\n[run]\nto = 0.2\nevery = 0.1\ntolerance = 1e-11\n')
            found[way] = rows(program, text)
            done = call(program, text, "sweep", "--quiet", "--vary", "L=0.55,0.6", "--keep", "x,z,w,v")
            swept[way] = list(csv.DictReader(io.StringIO(done.stdout)))
            that(f"sweep {closed} {way}", done.returncode == 0, done.stderr)
        for way in WAYS[:1] + WAYS[2:]:
            for a, b in zip(found[way], found["free"]):
                that(f"assembled {closed} {way}", all(near(a[k], b[k], 1e-9) for k in "xzwv"), (a, b))
            that(f"assembled rows {closed} {way}", len(found[way]) == len(found["free"]) == 3)
            that(f"swept {closed} {way}", len(swept[way]) == 2 and all(near(float(a[k]), float(b[k]), 1e-8) for a, b in zip(swept[way], swept["free"]) for k in "xzwv"), (swept[way], swept["free"]))


def springs_without_length(program):
    """A damped spring whose ends are together, with free = 0: nothing pulls; and k times the length, c times its rate where they are apart."""
    for way in WAYS:
        for at, v in ((0.0, 0.0), (0.3, 0.5), (-0.3, 0.5)):
            text = (f'[world]\nformulation = "{way}"\n[bodies.b]\nmass = 2\nstart = {{ at = [{at}, 0, 0], velocity = [{v}, 0, 0] }}\n[points]\no = {{ on = "ground", at = [0, 0, 0] }}\np = {{ on = "b", at = [0, 0, 0] }}\n'
                    '[springs.s]\nbetween = ["o", "p"]\nstiffness = 50\ndamping = 0.4\nfree = 0\n[outputs]\nT = "s.tension"\nr = "s.rate"\n[run]\nto = 0.01\nevery = 0.01\n')
            rate = v * ((at > 0) - (at < 0))
            for row in rows(program, text)[:1]:
                that(f"spring {way} {at}", near(row.get("T", math.nan), 50 * abs(at) + 0.4 * rate, 1e-12) and near(row.get("r", math.nan), rate, 1e-12), row)


def drives_by_coordinate(program):
    """Joints with several drives have no `h.drive`; what they have is said."""
    text = ('[world]\n[bodies.b]\nmass = 1\ninertia = [0.1, 0.2, 0.3]\n[joints.h]\ntype = "universal"\nbetween = ["ground", "b"]\nat = [0, 0, 0]\naxis = [0, 0, 1]\naxis2 = [1, 0, 0]\n'
            'drive = { angle = "t", angle2 = "0" }\n[outputs]\nd = "h.drive"\n')
    done = call(program, text, "check")
    rope = ('[world]\n[bodies.b]\nmass = 1\nstart = { at = [1, 0, 0] }\n[joints.rope]\ntype = "distance"\nbetween = ["ground", "b"]\nat = [0, 0, 0]\nat2 = [1, 0, 0]\n'
            '[outputs]\nd = "multiplier(rope)"\n')
    said = call(program, rope, "check").stderr
    that("rows of a rope", "of `rope` there is `rope.length`" in said, said)
    that("names of drives", done.returncode == 1 and "`h.angle.drive` and `h.angle2.drive`" in done.stderr, done.stderr)


def main():
    program = sys.argv[1]
    for check in (screw, hooke, axes_of_few_digits, top, shapes, same_in_all_ways, lines_belong_to_the_first_body, holds_what_has_a_name, limits_and_contacts, planar, parts_and_families, repeated_parts, controlled_parts, families_that_mention_families, masses_beside_bodies, families_everywhere, pictures, nearly_unturned, sliding_boxes, pushed_crates, slips_that_joints_forbid, balls_in_a_plane, stops_in_both_formulations, names_on_the_command_line, urdf, mjcf, open_joints, redundant, starts_of_joints,
                  corners, parts_of_parts, robots, units, angles_of_rest, damped_ball, held_limits, least_reactions, axes_point_one_way, quaternions_of_the_file, held_where_the_file_says, assembled_in_every_formulation, springs_without_length, drives_by_coordinate, long_chain, heights_that_stay, meshes):
        check(program)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
