#!/usr/bin/env python3
"""Gathers the pages of the site in one folder: docs/, and what lies outside of it and belongs to the documentation.

usage: stage.py ROOT FOLDER

README.md is the home page, ARCHITECTURE.md and its neighbours stand under "Inside"; a link to a model leads to its page in
the gallery. Links between pages are made to fit. What a page links to and is no page (a folder, a script) is named without a link."""
import os, re, shutil, sys

PAGES = {'README.md': 'index.md', 'NOTATION.md': 'notation.md', 'ARCHITECTURE.md': 'inside/architecture.md',
         'CONTRIBUTING.md': 'inside/contributing.md', 'CHANGELOG.md': 'inside/changes.md', 'models': 'gallery/index.md',
         'docs/how-to/README.md': 'how-to/index.md', 'docs/how-to': 'how-to/index.md',
         'docs/python/README.md': 'python/index.md', 'docs/python': 'python/index.md',
         'docs/gallery/README.md': 'gallery/index.md', 'docs/gallery': 'gallery/index.md'}
COPIED = ('.md', '.svg', '.png', '.jpg', '.webp', '.gif', '.html')
FENCE = re.compile(r'^(\s*)(`{3,}|~{3,})')
LINK = re.compile(r'(!?)\[((?:[^\[\]]|\[[^\]]*\]\([^)]*\))*)\]\(([^)\s]+)\)')


def place_of(path, root):
    """Where a file of the repository stands in the site; None if it does not."""
    if path in PAGES: return PAGES[path]
    if path.startswith('docs/') and path.endswith(COPIED): return path[len('docs/'):]
    if path.startswith('models/') and path.endswith('.toml'):
        shown = f'gallery/{path[len("models/"):-len("toml")]}md'
        return shown if os.path.exists(os.path.join(root, 'docs', shown)) else None
    return None


def relink(text, source, root):
    """The text of the page at `source` with its links as they are in the site."""
    here = os.path.dirname(place_of(source, root))

    def one(found):
        image, label, target = found.groups()
        if image == '' and '](' in label: label = LINK.sub(one, label)      # a picture that is a link
        if re.match(r'[a-z]+:', target): return f'{image}[{label}]({target})'
        file, mark, anchor = target.partition('#')
        path = os.path.normpath(os.path.join(os.path.dirname(source), file)) if file else source
        if not os.path.exists(os.path.join(root, path)): return f'{image}[{label}]({target})'        # dead: mkdocs will say so
        place = place_of(path, root)
        if place is None: return label
        if not file: return f'{image}[{label}](#{anchor})'
        return f'{image}[{label}]({os.path.relpath(place, here or ".")}{mark}{anchor})'

    result, fence, prose = [], None, []

    def flush():
        # Links may run over the end of a line; code spans may look like links.
        pieces = re.split(r'((?<!`)(`+)(?!`).*?(?<!`)\2(?!`))', '\n'.join(prose), flags=re.S)
        text, codes = pieces[0::3], pieces[1::3]
        joined = LINK.sub(one, text[0] + ''.join(f'\0{k}\0{after}' for k, after in enumerate(text[1:])))
        joined = re.sub('\0(\\d+)\0', lambda found: codes[int(found.group(1))], joined)
        if prose: result.append(joined)
        prose.clear()

    for line in text.split('\n'):
        found = FENCE.match(line)
        if fence is None and found:
            flush()
            fence = found.group(2)
            result.append(re.sub(r'^(\s*[`~]+\s*[\w+-]*).*$', r'\1', line))   # what only the tests look at is left out
        elif fence is not None:
            result.append(line)
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]): fence = None
        else: prose.append(line)
    flush()
    return '\n'.join(result)


def write(folder, place, text):
    path = os.path.join(folder, place)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f: f.write(text)


def main():
    root, folder = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    for top, _, files in os.walk(os.path.join(root, 'docs')):
        for file in files:
            source = os.path.relpath(os.path.join(top, file), root)
            place = place_of(source, root)
            if place is None: continue
            if file.endswith('.md'):
                with open(os.path.join(root, source), encoding='utf-8') as f: write(folder, place, relink(f.read(), source, root))
            else:
                os.makedirs(os.path.dirname(os.path.join(folder, place)), exist_ok=True)
                shutil.copyfile(os.path.join(root, source), os.path.join(folder, place))
    for source, place in PAGES.items():
        if '/' in source or not source.endswith('.md'): continue
        with open(os.path.join(root, source), encoding='utf-8') as f: write(folder, place, relink(f.read(), source, root))


if __name__ == '__main__': main()
