#!/usr/bin/env python3
"""Tries an installed package as somebody does who has just installed it: usage check_wheel.py WHEEL

Run by tools/build_wheel in a fresh environment without a compiler. Ends with 1 where something is wrong."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

begin = time.perf_counter()
import mechanician as me  # noqa: E402

imported = time.perf_counter() - begin
import numpy as np  # noqa: E402

MODEL = """title = "Pendulum"
coordinates = ["x", "y"]
[parameters]
L = 1.0
[inputs]
F = 0.0
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
force = { x = "F" }
[constraints]
rod = "x^2 + y^2 = L^2"
[start]
position = { x = 0.6, y = -0.8 }
[run]
to = 2
every = 0.1
"""


def main():
    """All of it."""
    wheel = pathlib.Path(sys.argv[1])
    size = wheel.stat().st_size
    assert size <= 15_000_000, f"the wheel has {size / 1e6:.1f} MB"
    assert not any(shutil.which(c) for c in ("gcc", "cc", "c++", "clang", "cmake")), "there is a compiler"
    assert "build" not in pathlib.Path(me.__file__).parts, me.__file__
    m = me.read(MODEL)
    a = m.accelerate()
    assert abs(a.acceleration["x"] + 0.48 * 9.81) < 1e-12, a
    r = m.run(tolerance=1e-10)
    energy = (r["x'"] ** 2 + r["y'"] ** 2) / 2 + 9.81 * r["y"]
    assert r.trusted and np.max(np.abs(energy - energy[0])) < 1e-7, r
    f = m.compiled()
    q, qd = np.array([0.6, -0.8]), np.zeros(2)
    assert np.allclose(f(0.0, q, qd), [a.acceleration["x"], a.acceleration["y"]], rtol=1e-13)
    assert f(0.0, np.tile(q, (100, 1)), np.zeros((100, 2))).shape == (100, 2)
    s = m.sweep(vary={"L": [1.0, 2.0]}, position={"x": 0.0, "y": -1.0}, to=1.0)
    assert list(s.outcomes) == ["done", "done"], s
    rest = m.rest()
    assert len(rest) == 2 and sum(x.stable for x in rest) == 1, rest
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "pendulum.toml").write_text(MODEL, encoding="utf-8")
        r.save(folder / "a.h5")
        assert (folder / "a.h5").read_bytes()[:4] == b"\x89HDF"
        assert "<" in r.report()[:10]
        for command in ([sys.executable, "-m", "mechanician"], ["mechanician"]):
            words = [*command, "run", "pendulum.toml", "--tolerance", "1e-10", "-o", "a.csv", "--quiet"]
            p = subprocess.run(words, cwd=folder, capture_output=True, text=True)
            assert p.returncode == 0, p.stderr
            rows = [line for line in (folder / "a.csv").read_text(encoding="utf-8").splitlines() if not line.startswith("#")][1:]
            assert np.array_equal(np.array([row.split(",") for row in rows], dtype=float), r.array()), "other bits than the command line"
    print(f"{wheel.name}: {size / 1e6:.1f} MB, import {1e3 * imported:.0f} ms, NumPy {np.__version__}, Python {sys.version.split()[0]}: good")


main()
