#!/usr/bin/env python3
"""Says which symbols libmechanician.so shows, as a version script of the linker.

usage: shown_symbols.py --nm NM --archive LIBRARY --version NAME --output FILE HEADER...

Shown is what is defined in the namespace of the library under a name that a public header has outside of its comments: a program that
includes these can ask for nothing else. With a type come its members, its table of virtual functions and what exceptions are
recognised by. All other symbols, those of other libraries too, are local."""
import argparse, re, subprocess, sys

# A mangled name in the namespace, whatever the compiler made of it (table of virtual functions, type, thunk, static variable of a function):
# an operator, or the length of the first name behind the namespace, and what follows.
SYMBOL = re.compile(r'^_Z(?:T[VTIS]|GV|T[hv][n\d_]+?_|Tc[hvn\d_]+?_)?Z?N[VKRO]*11mechanician(?:([a-z][a-zA-Z])|(\d+)(.*))')


def shown(symbol, words):
    """Whether a symbol has a name that is among the words."""
    found = SYMBOL.match(symbol)
    if not found: return False
    if found.group(1): return True
    length = int(found.group(2))
    name, rest = found.group(3)[:length], found.group(3)[length:]
    # Types begin with a capital. What has members and does not is a namespace within ours, which no public header has.
    return name in words and (name[0].isupper() or rest[0] in 'EIB')


def words_of(headers):
    """All names in the headers that stand outside of comments."""
    words = set()
    for header in headers:
        with open(header, encoding='utf-8') as f: words |= set(re.findall(r'[A-Za-z_]\w*', re.sub(r'//.*|"[^"\n]*"', '', f.read())))
    return words


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ('nm', 'archive', 'version', 'output'): a.add_argument('--' + name, required=True)
    a.add_argument('headers', nargs='+')
    options = a.parse_args()
    names = subprocess.run([options.nm, '--extern-only', '--defined-only', '--format=posix', options.archive], check=True, capture_output=True, text=True).stdout
    words = words_of(options.headers)
    symbols = [s for s in sorted({line.split(' ')[0] for line in names.split('\n')}) if shown(s, words)]
    if not symbols: print('shown_symbols: the archive has none', file=sys.stderr); return 1
    with open(options.output, 'w', encoding='utf-8') as f:
        f.write(f'{options.version} {{\n  global:\n' + ''.join(f'    {symbol};\n' for symbol in symbols) + '  local: *;\n};\n')
    return 0


if __name__ == '__main__': sys.exit(main())
