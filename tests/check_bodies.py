#!/usr/bin/env python3
"""Mechanisms of tests/bodies against published motions, in every formulation.

    check_bodies.py PROGRAM [--table] [NAME...]

A model NAME.toml has NAME.json beside it: times, and for each output the published rows (MSC ADAMS, Dymola), how far these are known to
be off, its scale (of torques at least that of the forces, at arms of a metre), and where there are any the rows of an independent simulation,
which are far more exact. The same model is run as it is, with
every body by itself and along the tree of its joints: all agree with the rows and with each other, and with the table of docs/accuracy.md.
--table prints that table (bench/motion/tables.py writes it).
"""

import csv
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).parent / "bodies"
PAGE = pathlib.Path(__file__).parent.parent / "docs" / "accuracy.md"
EXACT = 3e-7  # of the scale: what the independent simulation is good for
FORMULATIONS = ("auto", "free", "joint")
KINDS = {  # of outputs, by their names
    "positions": r"p[xyz]|q[wxyz]|.*_(phi|s|x|y|angles[123]|r_0[xyz])",
    "velocities": r"[vW][xyz]|.*_(w|v|rates[123]|w_a[xyz]|v_0[xyz])",
    "accelerations": r"a[xyz]|dW[xyz]",
    "reactions": r"[ft]b?[xyz]|drive",
}


def kind_of(output):
    return next(kind for kind, pattern in KINDS.items() if re.fullmatch(pattern, output))


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


def columns(rows, expected):
    """Each output, by time; q and -q are the same orientation."""
    signs = [1.0] * len(rows)
    if "qw" in rows[0] and "qw" in expected["outputs"]:
        for i, row in enumerate(rows):
            dot = sum(float(row[q]) * expected["outputs"][q]["published"][i] for q in ("qw", "qx", "qy", "qz"))
            signs[i] = 1.0 if dot >= 0 else -1.0
    return {output: [float(row[output]) * (sign if output in ("qw", "qx", "qy", "qz") else 1.0) for row, sign in zip(rows, signs)]
            for output in expected["outputs"] if output in rows[0]}


class Worst:
    """The largest differences of a mechanism, all formulations together."""

    def __init__(self):
        self.off, self.known = {}, {}  # by kind: from the published rows; these from the independent ones, beyond which they are not known
        self.slack = {}  # by kind: what the independent simulation itself is worth
        self.exact = None  # from the independent simulation, of the scale

    def note(self, output, about, own):
        kind, scale = kind_of(output), max(about["scale"], 0.01)
        off = {rows: max(abs(a - b) for a, b in zip(own, about[rows])) for rows in ("published", "recomputed") if rows in about}
        self.off[kind] = max(self.off.get(kind, 0.0), off["published"])
        self.known[kind] = max(self.known.get(kind, 0.0), about["difference"])
        self.slack[kind] = max(self.slack.get(kind, 0.0), EXACT * scale)
        if "recomputed" in off:
            self.exact = max(self.exact or 0.0, off["recomputed"] / scale)

    def cells(self):
        shown = [f"{self.off[kind]:.1e} ({self.known[kind]:.1e})" if kind in self.off else "" for kind in KINDS]
        return [*shown, "" if self.exact is None else f"{self.exact:.0e}"]


def check(program, name):
    problems, worst = [], Worst()
    text = (FOLDER / f"{name}.toml").read_text()
    expected = json.loads((FOLDER / f"{name}.json").read_text())
    for formulation in FORMULATIONS:
        rows, said = run(program, with_formulation(text, formulation))
        if rows is None:
            problems.append(f"{name} ({formulation}): the run failed\n{said}")
            continue
        found = columns(rows_at(rows, expected["t"]), expected)
        for output, about in expected["outputs"].items():
            if output not in found:
                problems.append(f"{name} ({formulation}): no output {output}")
                continue
            own = found[output]
            worst.note(output, about, own)
            scale = max(about["scale"], 0.01)
            for kind, allowed in (("published", 1.1 * about["difference"] + EXACT * scale), ("recomputed", EXACT * scale)):
                if kind not in about:
                    continue
                off = [abs(a - b) for a, b in zip(own, about[kind])]
                at = max(range(len(off)), key=off.__getitem__)
                if not off[at] <= allowed:
                    problems.append(f"{name} ({formulation}): {output} is {own[at]!r} at t = {expected['t'][at]}, "
                                    f"{kind} {about[kind][at]!r}: off by {off[at]:.2g}, allowed {allowed:.2g}")
    return problems, worst


def title_of(name):
    program, _, case = name.partition("_")
    return f"{'ADAMS' if program == 'adams' else 'Modelica'} {case.replace('_', ' ')}"


def table(found):
    lines = ["| mechanism | positions | velocities | accelerations | reactions | independent |", "|:--|--:|--:|--:|--:|--:|"]
    lines += ["| " + " | ".join([title_of(name), *worst.cells()]) + " |" for name, worst in found.items()]
    exact = [worst.exact for worst in found.values() if worst.exact is not None]
    lines += ["", f"{len(found)} mechanisms, each in {len(FORMULATIONS)} formulations; from the independent simulations, where there are any, "
              f"at most {max(exact):.0e} of the scale."]
    return "\n".join(lines)


def differs_from_page(name, worst):
    """What docs/accuracy.md says of a mechanism, where it is not what was found: beyond a tenth and what nobody knows better."""
    row = next((line for line in PAGE.read_text().splitlines() if line.startswith(f"| {title_of(name)} |")), None)
    if row is None:
        return [f"{name}: docs/accuracy.md has no row of it"]
    cells = [cell.strip() for cell in row.strip("| ").split(" | ")] + [""]
    said = dict(zip(KINDS, cells[1:]))
    if {kind for kind in KINDS if said.get(kind)} != set(worst.off):
        return [f"{name}: docs/accuracy.md has other columns: {row}"]
    return [f"{name}: {kind} are off by {worst.off[kind]:.1e}, in docs/accuracy.md by {said[kind]}" for kind in worst.off
            if abs(float(said[kind].split()[0]) - worst.off[kind]) > 0.1 * worst.off[kind] + worst.slack[kind]]


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--table"]
    as_table = "--table" in sys.argv[1:]
    program, names = arguments[0], arguments[1:] or sorted(path.stem for path in FOLDER.glob("*.json"))
    failed, found = 0, {}
    for name in names:
        problems, found[name] = check(program, name)
        if not problems and not as_table:
            problems = differs_from_page(name, found[name])
        failed += bool(problems)
        out = sys.stderr if as_table else sys.stdout
        if problems or not as_table:
            print(f"{'FAILED' if problems else 'ok':7}{name}", file=out)
        for problem in problems[:8]:
            print("  " + problem, file=out)
    print(table(found) if as_table else f"{len(names) - failed} of {len(names)} mechanisms agree")
    return 1 if failed or not names else 0


if __name__ == "__main__":
    sys.exit(main())
