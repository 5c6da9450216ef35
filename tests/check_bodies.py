#!/usr/bin/env python3
"""Mechanisms of tests/bodies against published motions, in every formulation.

    check_bodies.py PROGRAM [NAME...]

A model NAME.toml has NAME.json beside it: times, and for each output the published rows (MSC ADAMS, Dymola), how far these are known to
be off, its scale (of torques at least that of the forces, at arms of a metre), and where there are any the rows of an independent simulation,
which are far more exact. The same model is run as it is, with
every body by itself and along the tree of its joints: all agree with the rows and with each other.
"""

import csv
import io
import json
import pathlib
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).parent / "bodies"
EXACT = 3e-7  # of the scale: what the independent simulation is good for


def with_formulation(text, formulation):
    """The model in a formulation of its own."""
    if formulation == "auto":
        return text
    return text.replace("[world]\n", f'[world]\nformulation = "{formulation}"\n', 1)


def run(program, text):
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "model.toml"
        model.write_text(text)
        done = subprocess.run([program, "run", str(model), "--quiet"], capture_output=True, text=True)
        if done.returncode != 0:
            return None, done.stderr
        return list(csv.DictReader(io.StringIO(done.stdout))), done.stderr


def rows_at(rows, times):
    found = []
    for t in times:
        best = min(rows, key=lambda row: abs(float(row["t"]) - t))
        if abs(float(best["t"]) - t) > 1e-9:
            raise ValueError(f"no row at t = {t}")
        found.append(best)
    return found


def check(program, name):
    problems = []
    text = (FOLDER / f"{name}.toml").read_text()
    expected = json.loads((FOLDER / f"{name}.json").read_text())
    for formulation in ("auto", "free", "joint"):
        rows, said = run(program, with_formulation(text, formulation))
        if rows is None:
            problems.append(f"{name} ({formulation}): the run failed\n{said}")
            continue
        rows = rows_at(rows, expected["t"])
        # q and -q are the same orientation
        signs = [1.0] * len(rows)
        if "qw" in rows[0] and "qw" in expected["outputs"]:
            for i, row in enumerate(rows):
                dot = sum(float(row[q]) * expected["outputs"][q]["published"][i] for q in ("qw", "qx", "qy", "qz"))
                signs[i] = 1.0 if dot >= 0 else -1.0
        for output, about in expected["outputs"].items():
            if output not in rows[0]:
                problems.append(f"{name} ({formulation}): no output {output}")
                continue
            own = [float(row[output]) * (signs[i] if output in ("qw", "qx", "qy", "qz") else 1.0) for i, row in enumerate(rows)]
            scale = max(about["scale"], 0.01)
            for kind, allowed in (("published", 1.1 * about["difference"] + EXACT * scale), ("recomputed", EXACT * scale)):
                if kind not in about:
                    continue
                off = [abs(a - b) for a, b in zip(own, about[kind])]
                worst = max(range(len(off)), key=off.__getitem__)
                if not off[worst] <= allowed:
                    problems.append(f"{name} ({formulation}): {output} is {own[worst]!r} at t = {expected['t'][worst]}, "
                                    f"{kind} {about[kind][worst]!r}: off by {off[worst]:.2g}, allowed {allowed:.2g}")
    return problems


def main():
    program, names = sys.argv[1], sys.argv[2:]
    names = names or sorted(path.stem for path in FOLDER.glob("*.json"))
    failed = 0
    for name in names:
        problems = check(program, name)
        failed += bool(problems)
        print(f"{'FAILED' if problems else 'ok':7}{name}")
        for problem in problems[:8]:
            print("  " + problem)
    print(f"{len(names) - failed} of {len(names)} mechanisms agree")
    return 1 if failed or not names else 0


if __name__ == "__main__":
    sys.exit(main())
