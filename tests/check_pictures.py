#!/usr/bin/env python3
"""What is drawn of joints: a symbol of each, where it is, and arrows of their forces.

    check_pictures.py PROGRAM

Symbols and arrows are looked for in the plain model (`expand`) and in the data of a report, whose numbers are compared with closed forms: a
pendulum of angle a at the point A has its pin at A, and its rod pulls with the force that the swing of its mass takes."""

import base64
import json
import math
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

try:
    import tomllib
except ImportError:  # before Python 3.11
    print("tomllib is not there: skipped")
    sys.exit(77)

passed = failed = 0
PENDULUM = """
[world]
gravity = [0, 0, -9.81]
[bodies.bob]
mass   = 2
centre = [0, 0, -0.5]
inertia = [0.1, 0.1, 0.1]
start  = { at = [1, 2, 3] }
[joints.hinge]
type    = "revolute"
between = ["ground", "bob"]
at      = [1, 2, 3]
axis    = [0, 1, 0]
[start]
position = { "hinge.angle" = 0.6 }
[run]
to    = 1
every = 0.125
"""
TWO = """
[bodies.a]
shape = { box = [1, 1, 1], mass = 1 }
[bodies.b]
shape = { box = [1, 1, 1], mass = 1 }
start = { at = [0, 0, 2] }
[joints.j]
type    = "TYPE"
between = ["a", "b"]
at      = [0, 0, 1]
MORE
"""
AXIS = "axis = [0, 0, 1]"
TYPES = {  # further keys, and what is drawn
    "fixed": ("", {"boxes": ["j"]}), "revolute": (AXIS, {"rods": ["j"]}), "prismatic": (AXIS, {"boxes": ["j"], "rods": ["j.bar"]}),
    "cylindrical": (AXIS, {"rods": ["j", "j.bar"]}), "screw": (AXIS + "\npitch = 0.1", {"rods": ["j", "j.bar"]}), "spherical": ("", {"spheres": ["j"]}),
    "planar": (AXIS, {"boxes": ["j"]}), "universal": (AXIS + "\naxis2 = [1, 0, 0]", {"rods": ["j", "j.cross"]}), "distance": ("at2 = [0, 0, 2]", {"rods": ["j"]}),
    "point_on_line": (AXIS, {"rods": ["j.bar"], "spheres": ["j"]}), "point_on_plane": (AXIS, {"boxes": ["j.plate"], "spheres": ["j"]}),
    "parallel": (AXIS, {}), "perpendicular": ("first = { axis = [0, 0, 1] }\nsecond = { axis = [1, 0, 0] }", {}),
}


def that(name, good, about=""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print(f"{name}: {about}")


def call(program, command, text, *more):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "model.toml"
        file.write_text(text)
        return subprocess.run([program, command, str(file), *more], capture_output=True, text=True)


class Page:
    """The picture of a report, with its numbers; nothing where the program was built without the page."""

    def __init__(self, program, text):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "model.toml").write_text(text)
            done = subprocess.run([program, "run", str(folder / "model.toml"), "--quiet", "-o", str(folder / "rows.csv"), "--report", str(folder / "page.html")],
                                  capture_output=True, text=True)
            self.is_there = done.returncode == 0
            if not self.is_there:
                that("a report", "built without" in done.stderr, done.stderr)
                return
            data = json.loads(re.search(r'id="report">(.*?)</script>', (folder / "page.html").read_text(), re.S)[1])
        self.view, self.columns = data["view"], data["columns"]
        self.t = self.column("t")

    def column(self, name):
        data = base64.b64decode(next(c for c in self.columns if c["name"] == name)["f64"])
        return struct.unpack(f"<{len(data) // 8}d", data)

    def items(self, kind):
        return {item["name"]: item for item in self.view["items"] if item["kind"] == kind}

    def values(self, channels, row):
        found = []
        for channel in channels:
            c = self.view["channels"][channel]
            if isinstance(c, dict) and "f32" in c:
                c = struct.unpack_from("<f", base64.b64decode(c["f32"]), 4 * row)[0]
            elif isinstance(c, dict):
                c = struct.unpack_from("<d", base64.b64decode(self.columns[c["column"]]["f64"]), 8 * row)[0]
            found.append(c)
        return found


def near(a, b, within=1e-5):
    return len(a) == len(b) and all(abs(x - y) <= within * max(1, abs(y)) for x, y in zip(a, b))


def drawn(program, text):
    """By kind the names of what [view] of the plain model draws."""
    done = call(program, "expand", text)
    that("expand", done.returncode == 0, done.stderr)
    view = tomllib.loads(done.stdout).get("view", {}) if done.returncode == 0 else {}
    return {kind: sorted(table) for kind, table in view.items() if isinstance(table, dict)}


def symbols(program):
    for joint, (more, want) in TYPES.items():
        text = TWO.replace("TYPE", joint).replace("MORE", more)
        if "first" in more:
            text = text.replace("at      = [0, 0, 1]\n", "")
        found = drawn(program, text)
        own = {kind: [n for n in names if n not in ("a", "b")] for kind, names in found.items()}
        that(f"the symbol of a {joint} joint", {kind: names for kind, names in own.items() if names} == want, found)
    that("joints = false", drawn(program, PENDULUM + "[view]\njoints = false\n") == {"points": ["bob"]})
    that("bodies = false", drawn(program, PENDULUM + "[view]\nbodies = false\n") == {})
    own = drawn(program, PENDULUM + '[view.spheres]\nhinge = { at = [1, 2, 3], radius = 0.1 }\n')
    that("what the file draws itself is drawn once", "rods" not in own and own["spheres"] == ["hinge"], own)
    for command in ("check", "accelerate"):  # they draw nothing, and know what the file hangs on the points of bodies
        done = call(program, command, PENDULUM + '[view.traces]\npath = "bob"\n[view.lines]\nrod = ["bob", [0, 0, 0]]\n')
        that(f"names of what is drawn of bodies, {command}", done.returncode == 0, done.stderr)
    for command in ("check", "accelerate"):
        wrong = call(program, command, TWO.replace("mass = 1 }", 'mass = 1, colour = "blu" }').replace("TYPE", "fixed").replace("MORE", ""))
        that(f"a colour that is none, {command}", wrong.returncode == 1 and "`blu` is no colour" in wrong.stderr, wrong.stderr)
    for key in ("joints", "bodies"):
        wrong = call(program, "check", PENDULUM + f"[view]\n{key} = 3\n")
        that(f"{key} is true or false", wrong.returncode == 1 and f"`{key}` is true or false" in wrong.stderr, wrong.stderr)


def arrows(program):
    asked = PENDULUM + '[outputs]\npull = "hinge.fz"\n'
    that("no reaction is asked for", "arrows" not in drawn(program, PENDULUM))
    that("one is", drawn(program, asked).get("arrows") == ["hinge"], drawn(program, asked))
    for word in ("reactions", "forces", "bodies"):
        that(f"{word} = false", "arrows" not in drawn(program, asked + f"[view]\n{word} = false\n"))
    own = drawn(program, asked + '[view.arrows]\nown = { at = [1, 2, 3], vector = ["hinge.fx", "hinge.fy", "hinge.fz"] }\n')
    that("an arrow of the file is enough", own["arrows"] == ["own"], own)
    for word in ("true", '["hinge"]'):
        that(f"reactions = {word}", drawn(program, PENDULUM + f"[view]\nreactions = {word}\n").get("arrows") == ["hinge"])
    for word, said in (("3", "`reactions` is true, false or a list of joints"), ('["hing"]', "there is no joint `hing`")):
        wrong = call(program, "check", PENDULUM + f"[view]\nreactions = {word}\n")
        that(f"reactions = {word}", wrong.returncode == 1 and said in wrong.stderr, wrong.stderr)
    wrong = call(program, "check", 'coordinates = ["s"]\n[dynamics]\nmass = { s = 1 }\n[view]\nreactions = true\n')
    that("reactions without joints", wrong.returncode == 1 and "`reactions` are those of joints: there are none" in wrong.stderr, wrong.stderr)
    wrong = call(program, "check", PENDULUM + '[view.arrows]\na = { at = [0, 0, 0], vector = [1, 0, 0], of = ["bob.x"] }\n')
    that("vector or of", wrong.returncode == 1 and "has one of `vector` and `of`" in wrong.stderr, wrong.stderr)


def numbers(program):
    """The pin stays at A and points along y; the force on the bob is m (a − g) of its centre, from the energy."""
    page = Page(program, PENDULUM + '[outputs]\nangle = "hinge.angle"\nrate = "hinge.angle\'"\n[view]\nreactions = true\n')
    if not page.is_there:
        return
    pin, arrow = page.items("rod").get("hinge"), page.items("arrow").get("hinge")
    that("a symbol and an arrow of the force", pin and arrow and arrow["role"] == "ideal" and arrow["scale"] is None, page.view["items"])
    if not pin or not arrow:
        return
    that("no arrow but that of the joint", list(page.items("arrow")) == ["hinge"], page.view["items"])
    m, L, g, I = 2.0, 0.5, 9.81, 0.1 + 2.0 * 0.25
    for row, (t, a, w) in enumerate(zip(page.t, page.column("angle"), page.column("rate"))):
        ends = page.values(pin["from"], row), page.values(pin["to"], row)
        half = 0.5 * (ends[1][1] - ends[0][1])
        that("where the pin is", half > 0 and near(ends[0], [1, 2 - half, 3]) and near(ends[1], [1, 2 + half, 3]), (t, ends))
        energy = I / 2 * w * w - m * g * L * math.cos(a)
        that("the swing", abs(energy + m * g * L * math.cos(0.6)) < 1e-6, (t, energy))
        # The centre is at A − L (sin a, 0, cos a): a turn about y takes −z to −x.
        wd = -m * g * L * math.sin(a) / I
        ax, az = -L * (math.cos(a) * wd - math.sin(a) * w * w), L * (math.sin(a) * wd + math.cos(a) * w * w)
        force = page.values(arrow["vector"], row)
        that("the force of the pin", near(force, [m * ax, 0, m * (az + g)]) and near(page.values(arrow["at"], row), [1, 2, 3]), (t, force))


def main():
    for check in (symbols, arrows, numbers):
        check(sys.argv[1])
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
