#!/usr/bin/env python3
"""mypy --strict and ruff on the Python package and on the programs of its pages; docstrings of every public name.

usage: check_python_types.py [ROOT]

mypy and ruff come from PyPI (tools/python_environment all). Without them the docstrings alone are looked at, and it ends with 77: skipped."""
import ast
import importlib.util
import pathlib
import subprocess
import sys
import tempfile

from check_docs import blocks_of

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
ROOT = ROOT if ROOT.is_dir() else ROOT.parent.parent


def undocumented(file):
    """Public names of a source without a docstring."""
    missing = []

    def visit(node, path):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.ClassDef)) and not child.name.startswith('_'):
                if ast.get_docstring(child) is None:
                    missing.append('.'.join([*path, child.name]))
                if isinstance(child, ast.ClassDef):
                    visit(child, [*path, child.name])
    tree = ast.parse(file.read_text(encoding='utf-8'))
    if ast.get_docstring(tree) is None:
        missing.append('the module')
    visit(tree, [])
    return missing


def programs(folder):
    """Python programs of the pages, as files."""
    found = []
    for page in [*sorted((ROOT / 'docs' / 'python').rglob('*.md')), ROOT / 'docs' / 'how-to' / 'python.md']:
        for block in blocks_of(page.read_text(encoding='utf-8')):
            if block.language == 'python' and block.file() and 'import mechanician' in '\n'.join(block.lines):
                file = folder / f'{page.stem}_{block.file()}'.replace('-', '_')
                file.write_text('\n'.join(block.lines) + '\n', encoding='utf-8')
                found.append(file)
    return found


def main():
    failed = 0
    sources = sorted((ROOT / 'python' / 'mechanician').glob('*.py'))
    for file in sources:
        for name in undocumented(file):
            print(f'MISS {file.name}: {name} has no docstring')
            failed += 1
    print(f'{len(sources)} sources, {failed} names without docstring')
    missing = [tool for tool in ('mypy', 'ruff') if importlib.util.find_spec(tool) is None]
    if missing:
        print(f'no {" and no ".join(missing)} here (tools/python_environment all brings them): types and style are not checked')
        return 1 if failed else 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        package = ROOT / 'python' / 'mechanician'
        examples = programs(folder)
        settings = f'--config-file={ROOT / "pyproject.toml"}'
        commands = [
            [sys.executable, '-m', 'ruff', 'check', '--no-cache', '--config', ROOT / 'pyproject.toml', ROOT / 'python'],
            [sys.executable, '-m', 'ruff', 'check', '--no-cache', '--config', ROOT / 'pyproject.toml', '--ignore', 'D1,I', *examples],
            [sys.executable, '-m', 'mypy', settings, '--strict', f'--cache-dir={folder / "cache"}', package],
            # Other packages need not be typed.
            [sys.executable, '-m', 'mypy', settings, '--strict', '--ignore-missing-imports', '--disable-error-code=import-untyped',
             '--scripts-are-modules', f'--cache-dir={folder / "cache"}', *examples],
        ]
        for command in commands:
            p = subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=folder)
            print(f'{command[2]} on {len(examples)} programs of pages: ' if command[-1] in examples else f'{command[2]} on the package: ', end='')
            print('good' if p.returncode == 0 else p.stdout[-4000:] + p.stderr[-2000:])
            failed += p.returncode != 0
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
