#!/usr/bin/env python3
"""Checks that the documentation is true of the program.

usage: check_docs.py --program PATH [--library PATH] [--compiler PATH] [--flags "..."] [--only TEXT] [--update] [ROOT]

Looks at every Markdown file at the top of ROOT and under ROOT/docs, and at ROOT/models:

- A fenced block whose first line is a comment `file: NAME` (`# file: pendulum.toml`, `// file: main.cpp`) is written to
  a folder that all blocks of its page share. A C++ file is compiled and linked against the library, as ./NAME.
- In a ```console block, lines that begin with `$ ` are run by bash in that folder, with the program as `mechanician`
  in an empty folder: a page makes every file that it uses. Only pages that are read beside a clone (the reference, the gallery, theory, contacts,
  performance) find the models under models/. What they print, on both streams, must be the lines that follow. `…` stands for any text
  within a line, and for any number of lines on a line of its own. Numbers may differ by rounding. A command that fails
  must be followed by `$ echo $?`. A block that begins with ```console needs=NAME is left out where there is no program NAME;
  needs=page where the program was built without the page of reports; needs=python3:MODULE where Python lacks the module.
- No snippet is only shown: Python and C++ must be files (and Python must be run by a command of the page), TOML must be a
  file or at least readable, the commands of ```sh blocks must exist in the repository or be subcommands of the program.
- Links to files and headings must lead somewhere.
- In docs/reference/cpp.md a heading that is the name of a header opens a table; what the table names must stand in that
  header, every header that its programs include must have such a heading, and headers must be there.
- In docs/theory.md every formula that stands by itself has, there or in the paragraph before or after it, a paper, a work of
  the bibliography, or the words *derived here*; what is cited is in the bibliography, and what is there is cited.
- Every model has a title, and `check` ends with 0, or with what a comment `# expect: 1` at its top says. `equations` can
  print it. Where its [run] says when the motion ends, `run` ends with 0 too.

--update writes what the commands print into the pages, except where the page has a line of `…`: read what changed. Lines with
`…` in them stay as they are while they fit.

Prints a line for each miss and, last, `N passed, N failed`. Needs nothing but Python 3.11, bash and a compiler."""
import argparse, math, os, re, shlex, shutil, subprocess, sys, tempfile, tomllib

import limits

FENCE = re.compile(r'^(\s*)(`{3,}|~{3,})\s*([\w+-]*)(.*)$')
FILE = re.compile(r'^\s*(?:#|//)\s*file:\s*([\w./-]+)\s*$')
NUMBER = re.compile(r'[-−+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?')
BESIDE_CLONE = re.compile(r'docs/(reference|gallery)/|docs/(theory|contacts|performance)\.md$')    # pages that find the models
RELATIVE, ABSOLUTE = 2e-6, 1e-11      # six digits are printed for people; what is smaller is rounding


def search_path():
    """With the interpreter that can import the package first: wrappers of `python3` put their own before it."""
    return os.pathsep.join(filter(None, (os.environ.get('MECHANICIAN_PYTHON_FOLDER'), os.environ['PATH'])))


class Block:
    def __init__(self, language, line, lines, info=''):
        self.language, self.line, self.lines = language, line, lines
        self.needs = re.findall(r'needs=(\S+)', info)

    def file(self):
        found = FILE.match(self.lines[0]) if self.lines else None
        return found.group(1) if found else None


def blocks_of(text):
    """The fenced blocks of a Markdown text, in order."""
    result, open_fence = [], None
    for number, line in enumerate(text.split('\n'), 1):
        if open_fence is None:
            found = FENCE.match(line)
            if found: open_fence = (found.group(2), len(found.group(1)), Block(found.group(3), number, [], found.group(4)))
        elif line.strip().startswith(open_fence[0]) and not line.strip().strip(open_fence[0][0]):
            result.append(open_fence[2]); open_fence = None
        else:
            indent = open_fence[1]
            open_fence[2].lines.append(line[indent:] if line[:indent].isspace() else line)
    if open_fence: result.append(open_fence[2])
    return result


def without_blocks(text):
    """A Markdown text without its fenced blocks and code spans: what may contain links."""
    lines, fence = [], None
    for line in text.split('\n'):
        found = FENCE.match(line)
        if fence is None and found: fence = found.group(2)
        elif fence is not None:
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]): fence = None
        else: lines.append(line)
    return re.sub(r'(`+)(?!`).*?(?<!`)\1(?!`)', '', '\n'.join(lines), flags=re.S)


def anchors_of(text):
    """The names under which the headings of a Markdown text can be linked to, as GitHub makes them."""
    result, seen, fence = set(), {}, None
    for line in text.split('\n'):
        found = FENCE.match(line)
        if fence is None and found: fence = found.group(2)
        elif fence is not None:
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]): fence = None
        elif re.match(r'#{1,6}\s', line):
            title = re.sub(r'\[([^]]*)\]\([^)]*\)', r'\1', line.lstrip('#').strip().rstrip('#').strip())
            slug = re.sub(r'[^\w\- ]', '', title.lower()).replace(' ', '-')
            count = seen.get(slug, 0); seen[slug] = count + 1
            result.add(slug if count == 0 else f'{slug}-{count}')
    return result


def same_line(want, got):
    """Whether a line of the documentation says what was printed: the same words, numbers up to rounding."""
    want, got = want.rstrip(), got.rstrip()
    if want == got: return True
    pieces = want.split('…')
    words = [NUMBER.sub('\0', ' '.join(piece.split())) for piece in pieces]
    numbers = [float(x.replace('−', '-')) for piece in pieces for x in NUMBER.findall(' '.join(piece.split()))]
    # The numbers of the printed line are found where the documentation has some.
    pattern = r'.*?'.join(re.escape(w).replace('\0', f'({NUMBER.pattern})') for w in words)
    found = re.fullmatch(pattern, ' '.join(got.split()))
    if not found: return False
    return all(math.isclose(float(x.replace('−', '-')), y, rel_tol=RELATIVE, abs_tol=ABSOLUTE) for x, y in zip(found.groups(), numbers))


def same_output(want, got):
    """The first line of `want` that `got` does not have, or None. A line of `…` alone stands for any lines."""
    while want and not want[-1].strip(): want = want[:-1]
    while got and not got[-1].strip(): got = got[:-1]
    i = k = furthest = 0
    skipping, retry = False, None
    while True:
        furthest = max(furthest, i)
        if i < len(want) and want[i].strip() == '…':
            skipping, i = True, i + 1
            retry = (i, k)
            continue
        if i == len(want) and (k == len(got) or skipping): return None
        if i < len(want) and k < len(got) and same_line(want[i], got[k]):
            i, k, skipping = i + 1, k + 1, False
            continue
        # Try the lines after the last `…` one line further down.
        if retry is None or retry[1] >= len(got): return want[furthest] if furthest < len(want) else 'nothing more after that'
        i, k = retry[0], retry[1] + 1
        retry, skipping = (i, k), True


class Checker:
    def __init__(self, options):
        self.options, self.passed, self.failed = options, 0, 0
        self.root = os.path.abspath(options.root)
        self.known = {}         # what snippets need, and whether it is there

    def say(self, ok, where, what=''):
        if ok: self.passed += 1
        else: self.failed += 1; print(f'{where}: {what}')

    # ---- pages ------------------------------------------------------------------------------------------------------

    def pages(self):
        found = [os.path.join(self.root, f) for f in sorted(os.listdir(self.root)) if f.endswith('.md')]
        for folder, _, files in sorted(os.walk(os.path.join(self.root, 'docs'))):
            found += [os.path.join(folder, f) for f in sorted(files) if f.endswith('.md')]
        return found

    def page(self, path):
        name = os.path.relpath(path, self.root)
        text = open(path, encoding='utf-8').read()
        self.links(path, name, text)
        if name == 'docs/reference/cpp.md': self.headers(text, name)
        if name == 'docs/theory.md': self.sources(text, name)
        self.updates = []
        with tempfile.TemporaryDirectory() as folder:
            if BESIDE_CLONE.match(name): os.symlink(os.path.join(self.root, 'models'), os.path.join(folder, 'models'))
            self.shown(blocks_of(text), name)
            for block in blocks_of(text):
                where = f'{name}:{block.line}'
                if block.file(): self.write(block, folder, where)
                if block.language == 'console': self.console(block, folder, where)
        if self.updates:
            lines = text.split('\n')
            for first, count, now in reversed(self.updates): lines[first:first + count] = now
            open(path, 'w', encoding='utf-8').write('\n'.join(lines))

    def shown(self, blocks, name):
        """Snippets that nothing would run."""
        consoles = '\n'.join('\n'.join(b.lines) for b in blocks if b.language == 'console')
        for block in blocks:
            where = f'{name}:{block.line}'
            if block.language in ('cpp', 'c++', 'python', 'py'):
                if not block.file(): self.say(False, where, f'{block.language} that is shown and not run: begin it with a comment `file: NAME`')
                elif block.language in ('python', 'py'): self.say(f'python3 {block.file()}' in consoles, where, f'no command of the page runs {block.file()}')
            elif block.language == 'toml' and not block.file():
                try: tomllib.loads('\n'.join(block.lines)); self.say(True, where)
                except tomllib.TOMLDecodeError as e: self.say(False, where, f'not TOML: {e}')
            elif block.language in ('sh', 'bash'): self.script(block, where)

    def script(self, block, where):
        """Commands that are too much for a test: that they exist can be checked."""
        for line in block.lines:
            line = re.sub(r'\s#.*$', '', line)
            for word, option in re.findall(r'(?:^|[;&|]\s*|\bthen |\belse )((?:\./|tools/|bench/|tests/)[\w./-]+|mechanician)((?:\s+[\w./=$~-]+)?)', line):
                path = os.path.join(self.root, word)
                if word != 'mechanician': self.say(os.access(path, os.X_OK) and os.path.isfile(path), where, f'there is no program {word}')
                elif option.strip(): self.say(option.strip() in self.subcommands(), where, f'mechanician has no command {option.strip()}')
            for model in re.findall(r'models/\w+\.toml', line): self.say(os.path.exists(os.path.join(self.root, model)), where, f'there is no {model}')

    def subcommands(self):
        if 'subcommands' not in self.known:
            p = subprocess.run([os.path.abspath(self.options.program), '--help'], capture_output=True, text=True, encoding='utf-8')
            self.known['subcommands'] = set(re.findall(r'(?m)^\s+([a-z]+)\s', p.stdout))
        return self.known['subcommands']

    def has(self, need):
        """Whether a machine has what a block needs."""
        if need not in self.known:
            if need == 'page':
                with tempfile.TemporaryDirectory() as folder:
                    path = os.path.join(folder, 'model.toml')
                    with open(path, 'w', encoding='utf-8') as f: f.write('coordinates = ["x"]\n[dynamics]\nmass = { x = 1 }\n')
                    self.known[need] = subprocess.run([os.path.abspath(self.options.program), 'run', path, '--to', '1', '--quiet', '-o', path + '.csv', '--report', path + '.html'],
                                                      capture_output=True).returncode == 0
            elif need.startswith('python3:'):
                self.known[need] = subprocess.run(['python3', '-c', f'import {need[8:]}'], capture_output=True, env=dict(os.environ, PATH=search_path())).returncode == 0
            else: self.known[need] = shutil.which(need) is not None
        return self.known[need]

    def headers(self, text, name):
        """The page on C++ names what is in the headers, and nothing else."""
        pieces = re.split(r'(?m)^### `(mechanician/[\w/]+\.hpp)`$', text)
        for header, piece in zip(pieces[1::2], pieces[2::2]):
            path = os.path.join(self.root, 'src', header)
            if not os.path.exists(path): self.say(False, name, f'there is no header {header}'); continue
            with open(path, encoding='utf-8') as f: words = set(re.findall(r'\w+', re.sub(r'//.*', '', f.read())))
            rows = re.findall(r'(?m)^\| (`[^|]+`) \|', piece.split('\n## ')[0])
            self.say(bool(rows), name, f'nothing is said of {header}')
            for word in re.findall(r'`(\w+)`', ' '.join(rows)): self.say(word in words, name, f'{header} has no {word}')
        for header in sorted(set(re.findall(r'#include "(mechanician/[^"]+)"', text)) - set(pieces[1::2]) - {'mechanician/mechanician.hpp'}):  # which has nothing of its own
            self.say(False, name, f'{header} is included and not described')

    def sources(self, text, name):
        """Every formula of the theory says where it comes from."""
        body, _, works = text.partition('\n## Bibliography\n')
        tags = re.findall(r'(?m)^\| ([^|]+?) \| [A-Z]\. ', works)
        cited = re.compile('|'.join(re.escape(tag).replace(r'\ ', r'\s+') for tag in tags) + r'|derived\s+here')
        self.say(len(tags) > 5, name, 'has no bibliography')
        for tag in tags: self.say(re.search(re.escape(tag).replace(r'\ ', r'\s+'), body) is not None, name, f'{tag} is not cited')
        for work in set(re.findall(r'\(([A-Z][\w, ]*? (?:1[89]|20)\d\d)\b', body.replace('\n', ' '))):
            self.say(work in tags, name, f'{work} is not in the bibliography')
        pieces = re.split(r'\n\s*\n', body)
        for k, piece in enumerate(pieces):
            if not all(line.startswith('    ') for line in piece.strip('\n').split('\n')): continue
            around = '\n'.join(pieces[max(0, k - 1):k + 2])
            self.say(cited.search(around) is not None, name, f'no source for the formula {piece.strip().split(chr(10))[0]}')

    def links(self, path, name, text):
        for target in re.findall(r'\]\(([^)\s]+)(?:\s+"[^"]*")?\)|<img[^>]*\ssrc="([^"]+)"', without_blocks(text)):
            target = target[0] or target[1]
            if re.match(r'[a-z]+:', target): continue
            file, _, anchor = target.partition('#')
            to = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
            if not os.path.exists(to): self.say(False, name, f'link to {target}, which is not there'); continue
            if anchor and to.endswith('.md') and anchor not in anchors_of(open(to, encoding='utf-8').read()):
                self.say(False, name, f'link to {target}: no such heading'); continue
            self.say(True, name)

    def write(self, block, folder, where):
        path = os.path.normpath(os.path.join(folder, block.file()))
        if not path.startswith(folder + os.sep): return self.say(False, where, f'{block.file()} lies outside the folder')
        os.makedirs(os.path.dirname(path), exist_ok=True)
        open(path, 'w', encoding='utf-8').write('\n'.join(block.lines) + '\n')
        if not path.endswith('.cpp') or not self.options.library: return
        command = [self.options.compiler, '-std=c++20', '-O0', '-Wall', '-Wextra', '-I', os.path.join(self.root, 'src'), path, '-o', path[:-len('.cpp')],
                   self.options.library, *shlex.split(self.options.flags)]
        p = subprocess.run(command, capture_output=True, text=True)
        self.say(p.returncode == 0 and not p.stderr, where, f'{block.file()} does not compile:\n{p.stderr}')

    def console(self, block, folder, where):
        commands = []       # command, line, expected lines
        for offset, line in enumerate(block.lines, 1):
            if line.startswith('$ '): commands.append((line[2:], block.line + offset, []))
            elif line.startswith('> ') and commands and not commands[-1][2]:
                commands[-1] = (commands[-1][0] + '\n' + line[2:], commands[-1][1], [])
            elif commands: commands[-1][2].append(line)
        if not commands: return self.say(False, where, 'a console block without a command')
        if not self.options.library and any(c.startswith('./') for c, _, _ in commands): return      # of a C++ block that was not built
        if not all(map(self.has, block.needs)): return
        mark = '@@end of a command@@'
        script = ''.join(f'{command}\n__status=$?; echo; echo "{mark} $__status"; (exit $__status)\n' for command, _, _ in commands)
        environment = dict(os.environ, PATH=os.path.dirname(os.path.abspath(self.options.program)) + os.pathsep + search_path(), LC_ALL='C.UTF-8')
        try:
            p = subprocess.run(['bash', '-c', script], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding='utf-8', env=environment, timeout=limits.CLOCK)
        except subprocess.TimeoutExpired:
            return self.say(False, where, f'no answer in {limits.CLOCK} s')
        parts = re.split(rf'\n{mark} (\d+)\n', p.stdout)
        for k, (command, line, want) in enumerate(commands):
            here = f'{where.rpartition(":")[0]}:{line}'
            if 2 * k + 1 >= len(parts): self.say(False, here, f'`{command}` did not run'); continue
            got, status = parts[2 * k].split('\n') if parts[2 * k] else [], int(parts[2 * k + 1])
            told = k + 1 < len(commands) and commands[k + 1][0].strip() == 'echo $?'
            if status != 0 and not told: self.say(False, here, f'`{command}` ends with {status}:\n{parts[2 * k]}'); continue
            miss = same_output(want, got)
            while got and not got[-1].strip(): got = got[:-1]
            same_length = len([x for x in want if x.strip()]) == len([x for x in got if x.strip()])
            if miss is not None and self.options.update and not any(x.strip() == '…' for x in want) and ('…' not in '\n'.join(want) or same_length):
                first = line + command.count('\n')
                now = [w if '…' in w and same_line(w, g) else g.rstrip() for w, g in zip(want, got)] if len(want) == len(got) else [x.rstrip() for x in got]
                self.updates.append((first, len(want), now))
                print(f'{here}: updated'); continue
            self.say(miss is None, here, f'`{command}` does not print\n  {miss}\nbut\n{parts[2 * k]}')

    # ---- models -----------------------------------------------------------------------------------------------------

    def model(self, name):
        path = os.path.join('models', name)
        text = open(os.path.join(self.root, path), encoding='utf-8').read()
        expect = re.match(r'# expect: (\d+)\n', text)
        self.say(text.startswith('#') and len(text.split('\ntitle')[0].split()) > 20, path, 'does not begin with a comment on what to see')
        self.say(bool(re.search(r'(?m)^title = ".+"$', text)), path, 'has no title')
        for command, want in (('check', int(expect.group(1)) if expect else 0), ('equations', 0)):
            p = subprocess.run([os.path.abspath(self.options.program), command, path], cwd=self.root, capture_output=True, text=True, encoding='utf-8', timeout=limits.CLOCK)
            self.say(p.returncode == want, path, f'{command} ends with {p.returncode}, not {want}:\n{p.stderr}')
        if 'to' not in tomllib.loads(text).get('run', {}): return
        p = subprocess.run([os.path.abspath(self.options.program), 'run', path], cwd=self.root, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, encoding='utf-8', timeout=limits.CLOCK)
        self.say(p.returncode == 0, path, f'run ends with {p.returncode}:\n{p.stderr}')

    def run(self):
        only = self.options.only
        for path in self.pages():
            if not only or only in path: self.page(path)
        folder = os.path.join(self.root, 'models')
        for name in sorted(os.listdir(folder)):
            if name.endswith('.toml') and (not only or only in os.path.join(folder, name)): self.model(name)
        print(f'{self.passed} passed, {self.failed} failed')
        return 1 if self.failed or not self.passed else 0


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument('--program', default='build/release/mechanician')
    a.add_argument('--library', help='libmechanician.a; without it no C++ is compiled')
    a.add_argument('--compiler', default='c++')
    sundials = ' '.join(f'-lsundials_{part}' for part in 'cvodes nvecserial sunnonlinsolnewton generic'.split())
    a.add_argument('--flags', default=f'-I /usr/include/eigen3 -lfmt -ltomlplusplus {sundials} -lklu -lbtf -lamd -lcolamd -lsuitesparseconfig -lhdf5_serial', help='further flags for the compiler, at the end of its command line')
    a.add_argument('--only', help='only files whose path contains this')
    a.add_argument('--update', action='store_true', help='write what is printed into the pages')
    a.add_argument('root', nargs='?', default=os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
    options = a.parse_args()
    if not os.access(options.program, os.X_OK): print(f'no program at {options.program}'); return 2
    return Checker(options).run()


if __name__ == '__main__': sys.exit(main())
