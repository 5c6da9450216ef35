"""What mkdocs does for the site beside its own work: the list of pages completed, the index of the search.

A page of a folder that mkdocs.yml does not name comes at the end of the section of that folder.

A section of a page is an entry: title, address, text. The index is a script and not JSON, since a page that was opened
from the disk may load scripts and nothing else."""
import html, json, os, re

entries = []


def text_of(markup):
    return ' '.join(html.unescape(re.sub(r'<[^>]+>', ' ', markup)).split())


def named(nav):
    """The files that a list of pages names."""
    if isinstance(nav, str): return {nav}
    return set().union(*(named(part) for part in (nav.values() if isinstance(nav, dict) else nav)))


def on_config(config):
    known = named(config['nav'])
    for entry in config['nav']:
        for section, folder in (('How-to', 'how-to'), ('Reference', 'reference')):
            path = os.path.join(config['docs_dir'], folder)
            if section not in entry or not os.path.isdir(path): continue
            entry[section] += [f'{folder}/{file}' for file in sorted(os.listdir(path)) if file.endswith('.md') and f'{folder}/{file}' not in known]
    return config


def on_pre_build(config):
    entries.clear()


def on_page_content(content, page, config, files):
    title, anchor = page.title, ''
    pieces = re.split(r'(<h[1-6] id="[^"]*">.*?</h[1-6]>)', content, flags=re.S)
    for piece in pieces:
        found = re.match(r'<h([1-6]) id="([^"]*)">(.*?)</h', piece, flags=re.S)
        if found:
            level, anchor = int(found.group(1)), found.group(2)
            words = text_of(re.sub(r'<a class="headerlink".*?</a>', '', found.group(3), flags=re.S))
            title = words if level == 1 else f'{page.title} › {words}'
        elif text_of(piece):
            entries.append([title, page.url + (f'#{anchor}' if anchor else ''), text_of(piece)])
    return content


def on_post_build(config):
    with open(os.path.join(config['site_dir'], 'search_index.js'), 'w', encoding='utf-8') as f:
        f.write('window.search_index = ' + json.dumps(entries, ensure_ascii=False, separators=(',', ':')) + ';\n')
