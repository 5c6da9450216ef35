#!/usr/bin/env python3
"""A page of the documentation as a Jupyter notebook: text and programs as cells, in one interpreter.

usage: notebook.py PAGE.md OUT.ipynb

Programs that import what an earlier one of the page has made find it there already: those lines go. Console blocks, which say what programs print,
are left out: the notebook prints it."""
import json
import pathlib
import re
import sys


def cells_of(page):
    """('markdown' or 'code', text, what it prints) in order."""
    made, cells, text, k = set(), [], [], 0
    lines = page.split('\n')

    def flush():
        if any(line.strip() for line in text):
            cells.append(['markdown', '\n'.join(text).strip(), None])
        text.clear()
    while k < len(lines):
        fence = re.match(r'```(\w+)(.*)', lines[k])
        if not fence:
            text.append(lines[k])
            k += 1
            continue
        end = next(i for i in range(k + 1, len(lines)) if lines[i].strip() == '```')
        block, k = lines[k + 1:end], end + 1
        name = re.match(r'# file: (\w+)\.py', block[0]) if block else None
        if fence.group(1) == 'python' and name:
            flush()
            made.add(name.group(1))
            code = [line for line in block[1:] if not re.match(rf'from ({"|".join(made)}) import ', line)]
            code = '\n'.join(code).replace('if __name__ == "__main__":', 'if True:')
            cells.append(['code', code.strip(), None])
        elif fence.group(1) == 'console':
            if cells and cells[-1][0] == 'code' and not any(line.strip() for line in text):
                cells[-1][2] = '\n'.join(line for line in block if not line.startswith('$ ')).strip()
        else:
            text += [f'```{fence.group(1)}', *block, '```']
    flush()
    return cells


def notebook_of(page):
    cells = []
    for number, (kind, text, _) in enumerate(cells_of(page)):
        cell = {'cell_type': kind, 'id': f'cell-{number}', 'metadata': {}, 'source': text.splitlines(keepends=True)}
        if kind == 'code':
            cell |= {'execution_count': None, 'outputs': []}
        cells.append(cell)
    return {'cells': cells, 'metadata': {'kernelspec': {'display_name': 'Python 3', 'language': 'python', 'name': 'python3'}, 'language_info': {'name': 'python'}},
            'nbformat': 4, 'nbformat_minor': 5}


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    page = pathlib.Path(sys.argv[1]).read_text(encoding='utf-8')
    pathlib.Path(sys.argv[2]).write_text(json.dumps(notebook_of(page), indent=1, ensure_ascii=False) + '\n', encoding='utf-8')


if __name__ == '__main__':
    main()
