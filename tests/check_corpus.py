#!/usr/bin/env python3
"""Runs the program on bad and on hard model files and compares what it says with corpus/expectations.toml.

    check_corpus.py --program build/release/mechanician [--only PATTERN] [--verbose] [CORPUS]

Of every run it also asks: no crash, an end within the time limit, bounded memory, nothing on standard output where the
file is refused, no control characters in the messages. Prints a line for each miss and `N passed, N failed` at the end.
"""
import argparse
import concurrent.futures
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import tomllib

import limits

TIME_LIMIT = 60  # seconds of the processor; ten times what the slowest takes on an idle machine
SANITIZED_TIME_LIMIT = 400
MEMORY_LIMIT = 4 << 30  # bytes

TOP = 'coordinates = ["x"]\n[dynamics]\nmass = { x = 1 }\n'  # three lines; a test's own text begins in line 4
UNSAFE = re.compile('[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]')


def expression(text):
    """A model whose line 4 holds one expression; it is the potential energy."""
    return TOP + f'potential = "{text}"\n'


def section(name, lines):
    return TOP + f"[{name}]\n" + "\n".join(lines) + "\n"


MILLION = 1_000_000
MAKERS = {
    "parentheses": lambda: expression("(" * MILLION + "x" + ")" * MILLION),
    "open_parentheses": lambda: expression("(" * MILLION + "x"),
    "minus_signs": lambda: expression("-" * MILLION + "x"),
    "powers": lambda: expression("1^" * 300_000 + "x"),
    "brackets": lambda: TOP + "force = " + "[" * MILLION + "\n",
    "braces": lambda: TOP + "force = " + "{ a = " * MILLION + "\n",
    "brackets_at_line_start": lambda: TOP + "[" * MILLION + "\n",
    "dotted_key": lambda: TOP + "a." * MILLION + "a = 1\n",
    "dotted_header": lambda: TOP + "[" + "a." * MILLION + "a]\n",
    "definitions": lambda: section("define", [f'd{i} = "d{i + 1} + 1"' for i in range(100_000)] + ['d100000 = "x"'])
    + '[outputs]\nlast = "d0"\n',
    "definition_cycle": lambda: section("define", [f'd{i} = "d{(i + 1) % 100_000} + 1"' for i in range(100_000)]),
    "parameters": lambda: section("parameters", [f'p{i} = "p{i + 1} + 1"' for i in range(100_000)] + ["p100000 = 1"]),
    "long_expression": lambda: expression(" + ".join(f"sin(x + {i})" for i in range(100_000))),
    "too_long_expression": lambda: TOP + 'potential = "' + "x + " * (MILLION + 100_000) + 'x"\n',
    "too_large_file": lambda: TOP + "# filling\n" * (100 * MILLION // 10),
    "many_mistakes": lambda: section("parameters", [f"p{i} =" for i in range(2000)]),
    "many_unknown_names": lambda: expression(" + ".join(f"u{i}" for i in range(100_000))),
    "sums": lambda: expression("".join(f"sum(i{k} = 1..1, " for k in range(100_000)) + "x" + ")" * 100_000),
    "indices": lambda: TOP.replace('["x"]', '["x", "y[1..2]"]') + 'potential = "' + "y[" * 100_000 + "1" + "]" * 100_000 + '"\n',
    "open_indices": lambda: expression("x[" * MILLION),
    "long_name": lambda: section("outputs", [f'o = "{"a" * MILLION}"']),
}


def make(maker, path):
    """Puts the model where the program will look for it; returns nothing."""
    if maker == "missing_file":
        return
    if maker == "folder":
        os.mkdir(path)
    elif maker == "zeros":
        with open(path, "wb") as f:
            f.truncate(100 << 20)
    else:
        with open(path, "w", encoding="utf-8") as f:
            f.write(MAKERS[maker]())


def run_one(program, folder, name, expected, sanitized):
    """The misses of one case, as texts."""
    time_limit = SANITIZED_TIME_LIMIT if sanitized else TIME_LIMIT
    with tempfile.TemporaryDirectory() as scratch:
        file = f"{name}.toml"
        cwd = folder
        if "make" in expected:
            cwd = scratch
            make(expected["make"], os.path.join(scratch, file))

        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (time_limit, resource.getrlimit(resource.RLIMIT_CPU)[1]))
            if not sanitized:
                resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))

        try:
            done = subprocess.run([program, expected.get("command", "check"), file], cwd=cwd, stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=limits.CLOCK, preexec_fn=limit, check=False)
        except subprocess.TimeoutExpired:
            return [f"no answer in {limits.CLOCK} s"]
        if done.returncode == -signal.SIGXCPU:
            return [f"took more than {time_limit} s"]
    misses = []
    try:
        out, err = done.stdout.decode(), done.stderr.decode()
    except UnicodeDecodeError:
        return ["its output is not UTF-8"]
    if done.returncode < 0:
        misses.append(f"was ended by signal {-done.returncode}")
    wanted = expected.get("exit", 1)
    if done.returncode != wanted:
        misses.append(f"exit status {done.returncode} instead of {wanted}")
    where, text = ("standard output", out) if expected.get("where") == "stdout" else ("standard error", err)
    patterns = [p.replace("FILE", re.escape(file)) for p in expected.get("says", [])]
    misses += [f"{where} does not match {p}" for p in patterns if not re.search(p, text)]
    misses += [f"standard error matches {p}" for p in expected.get("never", []) if re.search(p, err)]
    if wanted in (1, 3) and out and not expected.get("prints") and expected.get("command") != "accelerate":
        misses.append("prints on standard output although the file is refused")
    if wanted == 1 and not err.strip():
        misses.append("says nothing")
    if UNSAFE.search(err) or UNSAFE.search(out):
        misses.append("prints control characters")
    if len(err) > 200_000:
        misses.append(f"prints {len(err)} characters of messages")
    if misses and err:
        misses.append("it said:\n" + "\n".join("    " + line[:200] for line in err.splitlines()[:12]))
    return misses


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--only", default="", help="only names that match this regular expression")
    parser.add_argument("--sanitized", action="store_true", help="more time, and no limit on address space, which the sanitizer maps in bulk")
    parser.add_argument("--verbose", action="store_true", help="print the names of what passes, too")
    parser.add_argument("corpus", nargs="?", default=os.path.join(here, "corpus"))
    options = parser.parse_args()

    program = os.path.abspath(options.program)
    with open(os.path.join(options.corpus, "expectations.toml"), "rb") as f:
        cases = tomllib.load(f)
    stored = {name[:-5] for name in os.listdir(options.corpus) if name.endswith(".toml")} - {"expectations"}
    listed = {name for name, e in cases.items() if "make" not in e}
    results = {f"{name}.toml": ["is not in expectations.toml"] for name in stored - listed}
    results |= {f"{name}.toml": ["is in expectations.toml but not there"] for name in listed - stored}
    names = [name for name in cases if re.search(options.only, name) and (name in stored or "make" in cases[name])]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {name: pool.submit(run_one, program, options.corpus, name, cases[name], options.sanitized) for name in names}
        results |= {name: job.result() for name, job in jobs.items()}

    failed = 0
    for name, misses in results.items():
        if misses:
            failed += 1
        elif options.verbose:
            print(f"{name}: as expected")
        for miss in misses:
            print(f"{name}: {miss}")
    print(f"{len(results) - failed} passed, {failed} failed")
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
