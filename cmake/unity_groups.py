"""Which sources of a folder can be compiled together, as one.

    unity_groups.py LINES SOURCE...

Prints a source per line, after the number of its group; one that is compiled alone is not printed. A group has LINES lines at
most.

Compiled together, two sources share their unnamed namespaces: a name of one of them would hide, or be mistaken for, the same
name in the other. So two sources come together only if no name that the one defines in an unnamed namespace is as much as
mentioned in the other. Then each means what it means alone, without being written with the others in mind.
"""

import re
import sys
from pathlib import Path

# What a source may define at the start of a line of an unnamed namespace; the code is formatted so.
TYPE = re.compile(r"^(?:(?:struct|class|union|enum class|enum|concept)\s+(\w+)|using\s+(\w+)\s*=)")
DEFINITION = re.compile(r"^(?!namespace|return|template|using)\w[^(={;]*?(\w+)\s*(?:\[[^\]]*\]\s*)*[({=;]")
OPERATOR = re.compile(r"^\w.*\boperator\s*[^\w\s]")
# Macros and directives reach further than a namespace.
ALONE = re.compile(r"^\s*#\s*define|^using namespace (?!mechanician)|^extern \"C\"", re.MULTILINE)
COMMENT_OR_TEXT = re.compile(r"//[^\n]*|/\*.*?\*/|R\"(\w*)\(.*?\)\1\"|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)


class Source:
    def __init__(self, path):
        self.path = path
        text = Path(path).read_text()
        self.lines = text.count("\n")
        self.alone = bool(ALONE.search(text))
        text = re.sub(r"^#.*$", "", COMMENT_OR_TEXT.sub(lambda found: "" if found[0][0] == "/" else '""', text), flags=re.MULTILINE)
        # Members and qualified names are looked up elsewhere.
        self.mentions = set(re.findall(r"(?<![\w.])(?<!->)(?<!::)[A-Za-z_]\w*", text))
        self.own = set()
        unnamed = False
        # The comments at the ends of namespaces are gone by now: an unnamed one ends at the next brace that starts a line
        # and is followed by an empty one.
        lines = text.split("\n")
        for i, line in enumerate(lines):
            if line.startswith("namespace {"):
                unnamed = True
            elif unnamed and line.rstrip() == "}" and i > 0 and not lines[i - 1].strip():
                unnamed = False
            elif unnamed:
                found = TYPE.match(line) or DEFINITION.match(line)
                if OPERATOR.match(line):
                    self.alone = True  # found by the types of its arguments, under no name
                elif found:
                    self.own.add(next(name for name in found.groups() if name))
                elif re.match(r"^(?:const|constexpr|static)?\s*auto\s*\[", line):
                    self.alone = True

    def fits(self, other):
        return not self.own & other.mentions and not other.own & self.mentions


def groups(sources, most_lines):
    found = []
    for source in sources:
        if source.alone or source.lines > most_lines:
            continue
        for group in found:
            if sum(s.lines for s in group) + source.lines <= most_lines and all(source.fits(s) for s in group):
                group.append(source)
                break
        else:
            found.append([source])
    return [group for group in found if len(group) > 1]


def main():
    for number, group in enumerate(groups([Source(path) for path in sys.argv[2:]], int(sys.argv[1]))):
        for source in group:
            print(number, source.path)


if __name__ == "__main__":
    main()
