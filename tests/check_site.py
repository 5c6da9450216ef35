#!/usr/bin/env python3
"""Builds the site of the documentation and checks its pages themselves, as a browser would find them.

usage: check_site.py [--site FOLDER] [ROOT]      without FOLDER: a folder that is removed afterwards

- tools/build_site ends without a warning.
- Every link inside the site leads to a file, and to an anchor that is there; every picture, style and script is there.
- Nothing is loaded from elsewhere: the site reads without a network.
- Every page has a title, one heading of the first level, and can be reached from the home page.
- The index of the search names pages and anchors that are there. Where chromium is there, a page that was opened from the
  disk finds something with it.

Before that it checks itself on pages with one mistake each. Prints a line for each miss and, last, `N passed, N failed`.
Ends with 77 where mkdocs is not installed."""
import argparse, html.parser, json, os, re, shutil, subprocess, sys, tempfile, urllib.parse

import limits

SECTIONS = ('Home', 'Tutorial', 'How-to', 'Gallery', 'Reference', 'Theory', 'Inside', 'Benchmarks')
LOADED = {'img': 'src', 'script': 'src', 'link': 'href', 'iframe': 'src', 'source': 'src', 'video': 'src', 'embed': 'src'}


class Page(html.parser.HTMLParser):
    """What a page links to, loads, and can be linked to."""
    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.anchors, self.headings, self.title, self.inside = [], [], set(), 0, '', None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if 'id' in given: self.anchors.add(given['id'])
        if tag == 'a' and given.get('href') is not None: self.links.append(given['href'])
        if tag == 'a' and 'name' in given: self.anchors.add(given['name'])
        if given.get(LOADED.get(tag)) is not None: self.loads.append(given[LOADED[tag]])
        if tag == 'h1': self.headings += 1
        if tag == 'title': self.inside = tag

    def handle_endtag(self, tag):
        if tag == self.inside: self.inside = None

    def handle_data(self, data):
        if self.inside == 'title': self.title += data


def look(site):
    """All misses of a site, and how many things were looked at."""
    pages, misses, looked = {}, [], 0
    for folder, _, files in os.walk(site):
        for file in files:
            path = os.path.join(folder, file)
            if file.endswith('.html'):
                with open(path, encoding='utf-8') as f: text = f.read()
                if not is_report(text): pages[os.path.relpath(path, site)] = Page(text)
            elif file.endswith('.css'):
                with open(path, encoding='utf-8') as f: css = f.read()
                for target in re.findall(r'url\(([^)]*)\)|@import\s+(\S+)', css): misses.append(f'{file}: loads {target}')

    def resolve(page, target):
        """The file and the anchor of a link, or None for one that leads out of the site."""
        parts = urllib.parse.urlsplit(target)
        if parts.scheme or parts.netloc: return None
        path = urllib.parse.unquote(parts.path)
        return os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page, urllib.parse.unquote(parts.fragment)

    reached, queue = set(), ['index.html']
    for name, page in pages.items():
        for target in page.links + page.loads:
            looked += 1
            found = resolve(name, target)
            if found is None:
                if target in page.loads: misses.append(f'{name}: loads {target} from elsewhere')
                continue
            file, anchor = found
            if not os.path.isfile(os.path.join(site, file)): misses.append(f'{name}: {target} is not there')
            elif anchor and file in pages and anchor not in pages[file].anchors: misses.append(f'{name}: {target}: no such anchor')
        looked += 2
        if not page.title.strip(): misses.append(f'{name}: no title')
        if page.headings != 1: misses.append(f'{name}: {page.headings} headings of the first level')
    while queue:
        name = queue.pop()
        if name in reached or name not in pages: continue
        reached.add(name)
        queue += [found[0] for found in (resolve(name, target) for target in pages[name].links) if found]
    for name in sorted(set(pages) - reached): misses.append(f'{name}: cannot be reached from the home page')
    return misses, looked, pages


def is_report(text):
    """A report of a run is a page of its own: it has its own tests."""
    return '<script type="application/json" id="report">' in text


def check_itself():
    """Mistakes that must be noticed."""
    good = '<title>A</title><h1 id="a">A</h1><a href="b.html#b">b</a><a href="https://elsewhere.org/">out</a><img src="p.svg">'
    other = '<title>B</title><h1 id="b">B</h1><a href="index.html">home</a>'

    def verdict(first=good, second=other):
        with tempfile.TemporaryDirectory() as site:
            for name, text in (('index.html', first), ('b.html', second), ('p.svg', '')):
                with open(os.path.join(site, name), 'w', encoding='utf-8') as f: f.write(text)
            return look(site)[0]

    if verdict(): return [f'a good site is refused: {verdict()}']
    return [f'{what} is not noticed' for what, bad in (
        ('a dead link', verdict(good.replace('b.html#b', 'c.html'))), ('a dead anchor', verdict(good.replace('#b', '#c'))),
        ('a picture that is missing', verdict(good.replace('p.svg', 'q.svg'))), ('a script from elsewhere', verdict(good + '<script src="https://x.org/a.js"></script>')),
        ('a page without a title', verdict(good.replace('<title>A</title>', ''))), ('a page that nothing links to', verdict(good.replace('b.html#b', '#a'))),
        ('a page with two headings', verdict(good, other + '<h1>C</h1>'))) if not bad]


def search_from_disk(site):
    """A search in a browser on a page from the disk: what is wrong with it, or None."""
    browser = shutil.which('chromium')
    if browser is None: return None
    with open(os.path.join(site, 'tutorial.html'), encoding='utf-8') as f: text = f.read()
    path = os.path.join(site, 'search_test.html')
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text.replace('</body>', '<script>addEventListener("load", () => { query.value = "rolling disk"; query.dispatchEvent(new Event("input")); });</script></body>'))
    try:
        with tempfile.TemporaryDirectory() as profile:
            p = subprocess.run([browser, '--headless', '--no-sandbox', '--disable-gpu', f'--user-data-dir={profile}', '--virtual-time-budget=10000', '--dump-dom', 'file://' + path],
                               capture_output=True, text=True, timeout=600)
    except subprocess.TimeoutExpired: print('chromium does not answer: the search is not tried'); return None
    finally: os.remove(path)
    if p.returncode != 0 or '<main>' not in p.stdout: print('chromium does not start: the search is not tried'); return None
    found = re.search(r'<ol id="found"[^>]*>(.*?)</ol>', p.stdout, re.S)
    return None if found and 'tutorial.html#a-rolling-disk' in found.group(1) else f'search from the disk: {found.group(0)[:300] if found else "no list"}'


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument('--site', help='where the site is built')
    a.add_argument('root', nargs='?', default=os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
    options = a.parse_args()
    misses = check_itself()
    if shutil.which('mkdocs') is None: print('mkdocs is not installed: skipped'); return 77
    folder = None if options.site else tempfile.mkdtemp()
    site = os.path.abspath(options.site or os.path.join(folder, 'site'))
    try:
        p = subprocess.run([os.path.join(options.root, 'tools/build_site'), site], capture_output=True, text=True, env=dict(os.environ, MECHANICIAN_SKIP_SETUP='1'), timeout=limits.CLOCK)
        if p.returncode != 0 or p.stderr: print(f'tools/build_site ends with {p.returncode}:\n{p.stderr}\n0 passed, 1 failed'); return 1
        found, looked, pages = look(site)
        misses += found
        home = open(os.path.join(site, 'index.html'), encoding='utf-8').read()
        for section in SECTIONS:
            looked += 1
            if not re.search(rf'<(?:a|summary)[^>]*>{section}</', home): misses.append(f'the list of pages has no {section}')
        with open(os.path.join(site, 'search_index.js'), encoding='utf-8') as f: index = json.loads(f.read().partition('=')[2].strip().rstrip(';'))
        for title, url, text in index:
            looked += 1
            file, _, anchor = url.partition('#')
            if not title or not text or file not in pages or anchor and anchor not in pages[file].anchors: misses.append(f'search: {title!r} at {url} is not there')
        looked += 1
        if miss := search_from_disk(site): misses.append(miss)
        if len(index) < 100: misses.append(f'search: only {len(index)} sections')
    finally:
        if folder: shutil.rmtree(folder)
    for miss in misses: print(miss)
    print(f'{len(pages)} pages\n{looked - len(misses)} passed, {len(misses)} failed')
    return 1 if misses else 0


if __name__ == '__main__': sys.exit(main())
