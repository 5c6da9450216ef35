#!/usr/bin/env python3
"""Manual pages that tools/build_man makes of the reference: one for each command of the program, all text in them, nothing that groff complains of.

usage: check_man.py --program PATH"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument('--program', required=True)
    program = arguments.parse_args().program
    misses = []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, ROOT / 'tools' / 'build_man', folder, '0.0'], check=True)
        pages = {p.stem: p for p in pathlib.Path(folder).rglob('*.[15]')}
        help_text = subprocess.run([program, '--help'], capture_output=True, text=True).stdout
        commands = re.findall(r'^  ([a-z]+)\s', help_text[help_text.lower().find('subcommands'):], re.M)
        misses += [f'{c}: no page' for c in commands if f'mechanician-{c}' not in pages]
        if len(commands) < 10:
            misses.append(f'commands of --help: {commands}')
        for name, page in pages.items():
            source = page.read_text(encoding='utf-8')
            if not source.isascii() or '.SH NAME' not in source:
                misses.append(f'{name}: not plain roff')
            if shutil.which('groff'):
                p = subprocess.run(['groff', '-t', '-man', '-Tutf8', '-ww', page], capture_output=True, text=True)
                said = [line for line in p.stderr.splitlines() if 'cannot' not in line and "can't" not in line]
                if said or p.returncode:
                    misses.append(f'{name}: {said[:2]}')
                if name == 'mechanician-run':
                    shown = re.sub('.\b', '', p.stdout)
                    options = re.findall(r'`(--[a-z-]+)', (ROOT / 'docs/reference/command-line.md').read_text(encoding='utf-8').split('\n## run')[1].split('\n## ')[0])
                    misses += [f'mechanician-run: no {o}' for o in set(options) if o not in shown.replace('‐', '-').replace('-\n', '-')]
    for miss in misses:
        print('MISS', miss)
    print(f'{len(pages)} pages, {len(misses)} misses')
    return 1 if misses else 0


if __name__ == '__main__':
    sys.exit(main())
