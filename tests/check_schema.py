#!/usr/bin/env python3
"""Checks schema/model.schema.json against the program: what editors say of a model file is what the program says.

usage: check_schema.py --program PATH [ROOT]

- Everything the program reads is accepted: models, cases, motions, the good files of the corpus, the files in the
  documentation. A false refusal is a miss.
- Every file of the corpus that the schema refuses is refused by the program.
- What the program refuses for its structure (unknown key, wrong type, key missing) is refused by the schema: in the
  corpus, and in models to which such a mistake was added. Entries that the program takes with `for` the schema takes too.
- Keys are those of the reader in src/mechanician/model and those of the reference, no more and no fewer, table by table: the keys that
  the reader knows in one place are those that the schema has in one. Each has a description.

Prints a line for each miss, the counts and, last, `N passed, N failed`. Ends with 77 where jsonschema is not installed."""
import argparse, copy, glob, json, os, re, subprocess, sys, tempfile, tomllib

import limits

try: import jsonschema
except ImportError: print('jsonschema is not installed: skipped'); sys.exit(77)

# What the program says of a file whose structure is wrong.
STRUCTURE = re.compile(
    r'error: (unknown key|.* is a (?:string|table|list|matrix or a table by coordinate|list of names)[^,]*, not |.* is (?:an equation in quotation marks|a number or an '
    r'expression in quotation marks), not |.* has no (?:equation|`\w+`)|.* has friction but no slip|.* has a slip but no friction|`\w+` cannot be |.* has two or three components'
    r'|.* is true or false|.* is no colour|damping without a frequency|a row of `\w+` is a list)')


class Checker:
    def __init__(self, options):
        self.options, self.root, self.passed, self.failed = options, os.path.abspath(options.root), 0, 0
        with open(os.path.join(self.root, 'schema/model.schema.json'), encoding='utf-8') as f: self.schema = json.load(f)
        jsonschema.Draft7Validator.check_schema(self.schema)
        self.validator = jsonschema.Draft7Validator(self.schema)

    def say(self, ok, where, what=''):
        if ok: self.passed += 1
        else: self.failed += 1; print(f'{where}: {what}')

    def problem(self, model):
        """What the schema has against a model, or None."""
        error = jsonschema.exceptions.best_match(self.validator.iter_errors(model))
        return None if error is None else f'{"/".join(map(str, error.absolute_path))}: {error.message[:200]}'

    def refusal(self, path):
        """What the program has against a file, or None. `equations` needs no start that fits and no answer."""
        p = subprocess.run([os.path.abspath(self.options.program), 'equations', path], capture_output=True, text=True, encoding='utf-8', errors='replace', timeout=limits.CLOCK)
        return None if p.returncode == 0 else p.stderr

    @staticmethod
    def load(path):
        """A TOML file as Python values, or None where it is none."""
        try:
            with open(path, 'rb') as f: return tomllib.load(f)
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError): return None

    # ---- files ------------------------------------------------------------------------------------------------------

    def files(self):
        for pattern in ('models', 'tests/bodies', 'tests/cases', 'tests/cases_generated', 'tests/motions', 'bench/models'):
            yield from sorted(glob.glob(os.path.join(self.root, pattern, '*.toml')))

    def accepted(self, folder):
        """Files that the program reads, wherever they are."""
        count = 0
        texts = [(os.path.relpath(path, self.root), path) for path in self.files() if os.path.basename(path) != 'expectations.toml']
        for page in glob.glob(os.path.join(self.root, '**/*.md'), recursive=True):
            if f'{os.sep}build{os.sep}' in page or 'node_modules' in page: continue
            with open(page, encoding='utf-8') as f: text = f.read()
            for k, block in enumerate(re.findall(r'(?ms)^```toml\n(# file: \S+\.toml\n.*?)^```', text)):
                path = os.path.join(folder, f'{k}.toml')
                with open(path, 'w', encoding='utf-8') as f: f.write(block)
                texts.append((f'{os.path.relpath(page, self.root)} ({block.split(chr(10))[0][8:]})', path))
                self.one(*texts.pop()); count += 1
        for name, path in texts: self.one(name, path); count += 1
        print(f'{count} files of models, cases, motions and documentation')

    def one(self, name, path):
        model = self.load(path)
        if model is None: return
        problem = self.problem(model)
        if problem is None: self.say(True, name); return
        self.say(self.refusal(path) is not None, name, f'the schema refuses what the program reads: {problem}')

    def corpus(self):
        refused = structural = both = 0
        for path in sorted(glob.glob(os.path.join(self.root, 'tests/corpus/*.toml'))):
            name = os.path.relpath(path, self.root)
            if os.path.basename(path) == 'expectations.toml' or os.path.getsize(path) > 1 << 20: continue
            model = self.load(path)
            if model is None: continue
            problem, refusal = self.problem(model), self.refusal(path)
            refused += problem is not None
            if problem is not None: self.say(refusal is not None, name, f'the schema refuses what the program reads: {problem}')
            elif refusal is None: self.say(True, name)
            if refusal and STRUCTURE.search(refusal):
                structural += 1
                both += problem is not None
                self.say(problem is not None, name, f'the schema accepts what the program refuses: {STRUCTURE.search(refusal).group(0)}')
        print(f'corpus: the schema refuses {refused} files, all of which the program refuses; of {structural} with a wrong structure it refuses {both}')
        self.say(structural >= 40, 'tests/corpus', f'only {structural} files with a wrong structure: the checker does not see them')

    # ---- mistakes ---------------------------------------------------------------------------------------------------

    def mistakes(self, folder):
        """Mistakes added to models, one at a time: the schema and the program must both refuse."""
        count = 0
        for name in ('rolling_disk', 'measured_gauges', 'steered_bead', 'sliding_to_rolling_disc', 'four_bar'):
            with open(os.path.join(self.root, 'models', name + '.toml'), 'rb') as f: model = tomllib.load(f)
            for where, change in self.changes(model):
                bad = copy.deepcopy(model)
                change(bad)
                path = os.path.join(folder, 'mistake.toml')
                with open(path, 'w', encoding='utf-8') as f: f.write(toml_text(bad))
                if self.load(path) != bad: self.say(False, name, f'{where}: written wrongly'); continue
                refusal, problem = self.refusal(path), self.problem(bad)
                self.say(refusal is not None, name, f'{where}: the program reads it')
                self.say(problem is not None, name, f'{where}: the schema accepts what the program refuses: {(refusal or "").strip().split(chr(10))[0]}')
                count += 1
        print(f'{count} mistakes in models')
        self.say(count > 100, 'models', f'only {count} mistakes were made')

    def changes(self, model):
        yield 'a key at the top', lambda m: m.update(surplus=1)
        yield 'no coordinates', lambda m: m.pop('coordinates')
        yield 'a coordinate that is a number', lambda m: m['coordinates'].append(3)
        yield 'a title that is a number', lambda m: m.update(title=3)
        open_tables = {'parameters', 'define', 'unknown', 'constraints', 'control', 'outputs', 'events', 'nonideal'}
        for section, value in model.items():
            if not isinstance(value, dict): continue
            yield f'[{section}] that is a number', lambda m, s=section: m.update({s: 3})
            if section not in open_tables: yield f'a key in [{section}]', lambda m, s=section: m[s].update(surplus=1)
            for key, item in value.items():
                yield f'{section}.{key} that is a truth value', lambda m, s=section, k=key: m[s].update({k: True}) if (s, k) != ('view', 'forces') else m[s].update({k: 1})
                if section in ('constraints', 'control', 'events') and isinstance(item, dict):
                    yield f'a key in {section}.{key}', lambda m, s=section, k=key: m[s][k].update(surplus=1)
                    needed = 'when' if section == 'events' else 'equation'
                    yield f'{section}.{key} without {needed}', lambda m, s=section, k=key, n=needed: m[s][k].pop(n)
                if section == 'view' and isinstance(item, dict) and key != 'camera':
                    for name, part in item.items():
                        yield f'view.{key}.{name} that is a truth value', lambda m, k=key, n=name: m['view'][k].update({n: True})
                        if isinstance(part, dict):
                            yield f'a key in view.{key}.{name}', lambda m, k=key, n=name: m['view'][k][n].update(surplus=1)

    def families(self, folder):
        """Entries of models with `for` added: what the program takes for many, the schema does too. Kinds of entries, each in some models."""
        tried, taken = {}, 0
        for path in self.files():
            model = self.load(path)
            for section, value in (model or {}).items():
                if not isinstance(value, dict): continue
                kinds = [(section, value)] if section != 'view' else [(f'view.{kind}', part) for kind, part in value.items() if isinstance(part, dict)]
                for kind, part in kinds:
                    for name, item in part.items():
                        if not isinstance(item, dict) or 'for' in item or tried.get(kind, 0) >= 4: continue
                        tried[kind] = tried.get(kind, 0) + 1
                        more = copy.deepcopy(model)
                        entries = more[section] if section != 'view' else more['view'][kind[5:]]
                        entries[name if kind.startswith('view') else f'{name}[i]'] = {**entries.pop(name), 'for': 'i = 1..2'}
                        bad = os.path.join(folder, 'family.toml')
                        with open(bad, 'w', encoding='utf-8') as f: f.write(toml_text(more))
                        if self.refusal(bad) is not None: continue
                        taken += 1
                        self.say(self.problem(more) is None, os.path.relpath(path, self.root), f'{kind} with `for`: the schema refuses what the program reads: {self.problem(more)}')
        print(f'{sum(tried.values())} entries of {len(tried)} kinds with `for`, of which the program takes {taken}')
        self.say(taken > 10, 'schema', f'only {taken} entries with `for`: the checker does not see them')

    # ---- keys -------------------------------------------------------------------------------------------------------

    def schema_keys(self):
        """Every key with a name of its own, and whether it is explained."""
        result = {}

        def walk(node):
            if isinstance(node, list):
                for item in node: walk(item)
            elif isinstance(node, dict):
                for key, value in node.get('properties', {}).items():
                    about = value.get('description') or self.schema['definitions'].get(value.get('$ref', '').rpartition('/')[2], {}).get('description')
                    result[key] = result.get(key) or bool(about)
                for value in node.values(): walk(value)

        walk(self.schema)
        return result

    def schema_tables(self):
        """Where the schema has a table with keys of its own, and which."""
        result = []

        def walk(node, where):
            for key, value in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
                if key == 'properties' and value and 'additionalProperties' in node: result.append((where or 'top', frozenset(value)))
                walk(value, f'{where}/{key}')

        walk(self.schema, '')
        return result

    def reader_tables(self):
        """Which keys the reader knows in one place, and in which source."""
        result = []
        for path in sorted(glob.glob(os.path.join(self.root, 'src/mechanician/model/*.cpp'))):
            if path.endswith('_test.cpp'): continue
            with open(path, encoding='utf-8') as f: text = re.sub(r'//.*', '', f.read())
            for block in re.findall(r'(?:check_keys\(|is_one_of\(|\btable\(m, )[^{};]*\{([^{}]*)\}', text):
                keys = frozenset(re.findall(r'"(\w+)"', block))
                if keys: result.append((os.path.basename(path), keys))
        return result

    def keys(self):
        have, tables, readers = self.schema_keys(), self.schema_tables(), self.reader_tables()
        # `for` is taken away before tables are read. What belongs to contacts is read in requirements only to be refused in better words, and
        # requirements of the names that [control] has for itself, cost and the like, are not switched.
        def compared(keys): return keys - ({'for'} | ({'friction', 'friction_force', 'restitution', 'slip', 'engaged'} if {'law', 'priority'} <= keys else set()))
        read = set().union(*(keys for _, keys in readers))
        self.say(len(read) > 50 and len(readers) > 40, 'src/mechanician/model', f'only {len(read)} keys in {len(readers)} places found: the checker does not see them')
        for key in sorted(read - set(have)): self.say(False, 'schema', f'has no key `{key}`, which the program reads')
        for key in sorted(set(have) - read): self.say(False, 'schema', f'has the key `{key}`, which the program does not read')
        for one, others, what in ((readers, tables, 'the schema has no table with the keys that are read'), (tables, readers, 'no reader knows the keys of this table')):
            for where, keys in one:
                near = min(others, key=lambda other: len(compared(keys) ^ compared(other[1])))
                more, fewer = sorted(compared(keys) - near[1]), sorted(compared(near[1]) - keys)
                self.say(compared(keys) == compared(near[1]), where, f'{what}: {sorted(keys)}; the nearest, {near[0]}, lacks {more} and has {fewer} beyond them')
        page = ''
        for name in ('model-language.md', 'bodies.md'):
            with open(os.path.join(self.root, 'docs/reference', name), encoding='utf-8') as f: page += f.read()
        for key, explained in sorted(have.items()):
            self.say(explained or key in ('dashed',), 'schema', f'`{key}` has no description')
            self.say(re.search(rf'[`\[]{key}\b', page) is not None, 'docs/reference', f'says nothing of `{key}`')

    def run(self):
        with tempfile.TemporaryDirectory() as folder:
            self.keys()
            self.accepted(folder)
            self.corpus()
            self.mistakes(folder)
            self.families(folder)
        print(f'{self.passed} passed, {self.failed} failed')
        return 1 if self.failed or not self.passed else 0


def toml_text(table):
    """TOML for a table of tables, lists, texts and numbers; JSON's texts, numbers and lists are TOML's too."""
    def inline(value):
        if isinstance(value, dict): return '{ ' + ', '.join(f'{json.dumps(k, ensure_ascii=False)} = {inline(v)}' for k, v in value.items()) + ' }'
        if isinstance(value, list): return '[' + ', '.join(map(inline, value)) + ']'
        return json.dumps(value, ensure_ascii=False)
    return ''.join(f'{json.dumps(key, ensure_ascii=False)} = {inline(value)}\n' for key, value in table.items())


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument('--program', default='build/release/mechanician')
    a.add_argument('root', nargs='?', default=os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
    options = a.parse_args()
    if not os.access(options.program, os.X_OK): print(f'no program at {options.program}'); return 2
    return Checker(options).run()


if __name__ == '__main__': sys.exit(main())
