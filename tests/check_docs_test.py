#!/usr/bin/env python3
"""The checker of the documentation notices what is wrong: pages with one mistake each, and a stand-in for the program."""
import os, subprocess, sys, tempfile
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from check_docs import anchors_of, blocks_of, same_line, same_output

CHECKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'check_docs.py')
failed = 0


def expect(ok, what):
    global failed
    if not ok: failed += 1; print(what)


# Lines: words must agree, numbers up to rounding, `…` is any text.
expect(same_line('  x  0.5   1', 'x 0.50000000001 1'), 'rounding is allowed')
expect(not same_line('x 0.5', 'x 0.51'), 'a wrong number is noticed')
expect(not same_line('x 0.5', 'y 0.5'), 'a wrong word is noticed')
expect(not same_line('x 0.5', 'x 0.5 more'), 'what is missing is noticed')
expect(same_line('x … z 3', 'x 17 and y z 3'), 'an ellipsis is any text')
expect(not same_line('x … z 3', 'x 17 and y z 4'), 'a number after an ellipsis counts')
expect(same_line('residual 1.1e-16', 'residual 0'), 'zero up to rounding')
expect(not same_line('x -1', 'x 1'), 'a sign counts')
expect(not same_line('drive − 2·x', 'drive − 3·x'), 'a coefficient counts')

# Outputs: all lines, in order; a line `…` is any lines.
expect(same_output(['a', '…', 'd'], ['a', 'b', 'c', 'd', '']) is None, 'an ellipsis is any lines')
expect(same_output(['a', '…'], ['a']) is None, 'or none')
expect(same_output(['…', 'b', 'c'], ['b', 'x', 'b', 'c']) is None, 'the lines after it are found where they stand together')
expect(same_output(['a', 'c'], ['a', 'b', 'c']) is not None, 'a line too many is noticed')
expect(same_output(['a', '…', 'e'], ['a', 'b', 'c']) is not None, 'a missing last line is noticed')
expect(same_output([], ['a']) is not None, 'unexpected output is noticed')

page = '# Title\n```toml\n# file: a.toml\nx = 1\n```\ntext\n```console\n$ run a\nout\n```\n## A & b: c\n## Title\n'
expect([(b.language, b.line, b.file()) for b in blocks_of(page)] == [('toml', 2, 'a.toml'), ('console', 7, None)], 'blocks are found')
expect(anchors_of(page) == {'title', 'a--b-c', 'title-1'}, 'headings are found')


def run(page, model='# expect: 0\n# ' + 'word ' * 20 + '\ntitle = "A"\n', name='reference/page.md'):
    """The verdict on a page beside a program that prints its arguments and fails for `bad`."""
    with tempfile.TemporaryDirectory() as root:
        os.makedirs(os.path.join(root, 'docs')); os.makedirs(os.path.join(root, 'models'))
        open(os.path.join(root, 'models', 'a.toml'), 'w').write(model)
        os.makedirs(os.path.dirname(os.path.join(root, 'docs', name)), exist_ok=True)
        open(os.path.join(root, 'docs', name), 'w').write(page)
        os.makedirs(os.path.join(root, 'src/mechanician/a'))
        open(os.path.join(root, 'src/mechanician/a/b.hpp'), 'w').write('/// Not this: Other\nstruct Thing { int part; };\n')
        program = os.path.join(root, 'mechanician')
        open(program, 'w').write('#!/bin/bash\necho "$@"\n[ "$1" != bad ] && [[ "$1" != run || $(<"$2") != *stops* ]]\n')
        os.chmod(program, 0o755)
        p = subprocess.run([sys.executable, CHECKER, '--program', program, root], capture_output=True, text=True)
        return p.returncode, p.stdout.strip().split('\n')[-1]


good = '# Page\n[here](#page) [model](../../models/a.toml)\n```console\n$ mechanician check x\ncheck x\n$ cat models/a.toml | wc -l\n3\n```\n'
expect(run(good) == (0, '8 passed, 0 failed'), f'a good page passes: {run(good)}')
expect(run(good.replace('../../', '../'), name='new.md')[0] == 1, 'a page for empty folders that uses models of a clone is noticed')
expect(run(good, name='how-to/linearise.md')[0] == 1, 'so is a recipe')
absent = good + '```console needs=no_such_program_at_all\n$ no_such_program_at_all\n```\n'
expect(run(absent) == run(good), 'a block that needs a program that is not there is left out')
expect(run(absent.replace('needs=no_such_program_at_all', 'needs=bash'))[0] == 1, 'and is not left out where it is there')
for what, page in (('a wrong output', good.replace('\ncheck x', '\ncheck y')), ('a dead link', good.replace('#page', '#nowhere')),
                   ('a missing file', good.replace('models/a.toml)', 'models/b.toml)')), ('a failing command', good.replace('check x', 'bad x')),
                   ('a block without a command', good.replace('$ ', '')), ('a file outside the folder', good + '```toml\n# file: ../x.toml\n```\n')):
    expect(run(page)[0] == 1, f'{what} is noticed')
for what, block in (('Python that nothing runs', '```python\n# file: a.py\nprint(1)\n```\n'), ('Python without a file', '```python\nprint(1)\n```\n'),
                    ('C++ without a file', '```cpp\nint x;\n```\n'), ('TOML that is none', '```toml\na = = 1\n```\n'), ('a script that is not there', '```sh\ntools/nothing --at-all\n```\n'),
                    ('a model that is not there', '```sh\nls models/nothing.toml\n```\n')):
    expect(run(good + block)[0] == 1, f'{what} is noticed')
ran = good + '```python\n# file: a.py\nprint(1)\n```\n```console\n$ python3 a.py\n1\n```\n'
expect(run(ran)[0] == 0, 'Python that a command runs is fine')
expect(run(good + '```toml\na = 1\n```\n```console needs=python3:no_such_module\n$ false\n```\n```console needs=python3:json\n$ true\n```\n')[0] == 0, 'modules that are not there are not needed')
theory = ('# Theory\nThe law (K93 1):\n\n    a = b\n\nText.\n\nMore, derived here:\n\n    c = d\n\nText (Moreau 1988).\n\n' + ''.join(f'(W{k})\n' for k in range(5)) +
          '\n## Bibliography\n\n| tag | work |\n|---|---|\n| K93 | R. K |\n| Moreau 1988 | J. M |\n' + ''.join(f'| W{k} | A. B |\n' for k in range(5)))
expect(run(theory, name='theory.md')[0] == 0, f'formulas with their sources are fine: {run(theory, name="theory.md")}')
for what, page in (('a formula without a source', theory.replace(' (K93 1)', '').replace('| K93 | R. K |\n', '')), ('a work that is not cited', theory.replace('(W3)', '')),
                   ('a citation without its work', theory.replace('Text.', 'Text (Nobody 1999).', 1))):
    expect(run(page, name='theory.md')[0] == 1, f'{what} is noticed')
interface = '# C++\n### `mechanician/a/b.hpp`\n| name | is |\n|---|---|\n| `Thing` `part` | x |\n'
expect(run(interface, name='reference/cpp.md')[0] == 0, 'an interface that is there is fine')
for what, page in (('a name that is not there', interface.replace('`part`', '`parts`')), ('a name in a comment', interface.replace('`part`', '`Other`')), ('a header that is not there', interface.replace('b.hpp', 'c.hpp')),
                   ('a header that is not described', interface + '```cpp\n// file: a.cpp\n#include "mechanician/a/z.hpp"\n```\n')):
    expect(run(page, name='reference/cpp.md')[0] == 1, f'{what} is noticed')
told = good.replace('check x', 'bad x').replace('$ cat models/a.toml | wc -l\n3', '$ echo $?\n1')
expect(run(told)[0] == 0, 'a failure that is shown is fine')
expect(run(told.replace('$?\n1', '$?\n0'))[0] == 1, 'a wrong exit status is noticed')
for what, model in (('no title', '# ' + 'word ' * 20 + '\n'), ('no comment', 'title = "A"\n'), ('a wrong status', '# expect: 1\n# ' + 'word ' * 20 + '\ntitle = "A"\n')):
    expect(run(good, model)[0] == 1, f'a model with {what} is noticed')
runs = '# ' + 'word ' * 20 + '\ntitle = "A"\n[run]\nto = 1\n'
expect(run(good.replace('3\n```', '4\n```'), runs) == (0, '9 passed, 0 failed'), 'a model that runs is fine')
expect(run(good, runs + '# it stops\n')[0] == 1, 'a model that does not run to its end is noticed')

sys.exit(1 if failed else 0)
