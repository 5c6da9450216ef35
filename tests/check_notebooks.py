#!/usr/bin/env python3
"""Executes the Python tutorial as a notebook (tools/site/notebook.py, nbclient): cells print what the page says; models, runs and reports show themselves.

usage: check_notebooks.py [ROOT]

nbclient and ipykernel come from PyPI (tools/python_environment all); without them it says so and ends with 77: skipped."""
import importlib.util
import json
import pathlib
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)
sys.path.insert(0, str(ROOT / 'tools' / 'site'))
SHOWN = [
    # code, what the output must have in it
    ('pendulum', ['text/html', 'pmatrix', 'coordinates x, y', '<svg', '<circle']),
    ('pendulum.run(to=1, every=0.25)', ['text/html', '<table>']),
    ('pendulum.equations()', ['text/latex', 'pmatrix']),
    ('me.show(pendulum, to=0.5)', ['text/html', '<iframe srcdoc=']),
]


def main():
    missing = [m for m in ('nbclient', 'nbformat', 'ipykernel') if importlib.util.find_spec(m) is None]
    if missing:
        print(f'no {", ".join(missing)} here (tools/python_environment all brings them): notebooks are not tested')
        return 77
    import nbclient
    import nbformat
    from check_docs import same_output
    from notebook import cells_of, notebook_of
    page = (ROOT / 'docs' / 'python' / 'tutorial.md').read_text(encoding='utf-8')
    book = nbformat.reads(json.dumps(notebook_of(page)), as_version=4)
    book.cells += [nbformat.v4.new_code_cell(code) for code, _ in SHOWN]
    nbclient.NotebookClient(book, timeout=120, kernel_name='python3').execute()
    passed = failed = 0
    wanted = [(text, prints) for kind, text, prints in cells_of(page) if kind == 'code']
    code = [c for c in book.cells if c.cell_type == 'code']
    for (_, prints), cell in zip(wanted, code, strict=False):
        got = ''.join(o.get('text', '') for o in cell.outputs if o.output_type == 'stream')
        if prints is None:
            continue
        wrong = same_output(prints.split('\n'), got.strip().split('\n'))
        passed, failed = passed + (wrong is None), failed + (wrong is not None)
        if wrong is not None:
            print(f'MISS the page says\n{prints}\nthe notebook prints\n{got}')
    for (source, needles), cell in zip(SHOWN, code[len(wanted):], strict=True):
        got = ' '.join(f'{kind} {text}' for o in cell.outputs for kind, text in o.get('data', {}).items())
        absent = [n for n in needles if n not in got]
        passed, failed = passed + (not absent), failed + bool(absent)
        if absent:
            print(f'MISS {source}: no {absent} in {got[:300]}')
    print(f'{passed} passed, {failed} failed')
    return 0 if passed and not failed else 1


if __name__ == '__main__':
    sys.exit(main())
