#!/usr/bin/env python3
"""The checker passes a program that answers as expected, and misses no single thing that is wrong."""

import copy
import json
import re
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True  # nothing but build/ is written to

import check_cases
from check_cases import PARTS, Case, check, find_cases

CASES = Path(__file__).parent / 'cases'


def full_answer(expected):
    """What a perfect program prints at an expected instant: the expectation, and what it leaves open filled in."""
    names = list(expected['position'])
    answer = {key: {name: 0.0 for name in names} for key in check_cases.VECTORS}
    answer |= {'multipliers': {}, 'multipliers_unique': True, 'multipliers_undetermined': [], 'gaussian': 0.0, 'rank': 1,
               'redundant': [], 'depends': {}, 'unique': True, 'solvable': True, 'consistent': True, 'conflicts': [],
               'constraint_residual': 0.0, 'time': 0.0}
    answer |= copy.deepcopy({key: value for key, value in expected.items() if key not in check_cases.REMARKS})
    answer['depends'] = {row: answer['depends'].get(row, {}) for row in answer['redundant']}
    answer['rows'] = answer['rank'] + len(answer['redundant'])
    if 'ideal_force' not in expected:
        answer['ideal_force'] = copy.deepcopy(answer['constraint_force'])
    if not (answer['unique'] and answer['consistent']) and 'W2' not in expected:
        answer['acceleration'] = None
    return answer


class Oracle:
    """Stands in for the program: answers from the expected files, with one change if asked for."""

    def __init__(self, case, change=lambda answer: None, status=0, said=''):
        self.case, self.change, self.status, self.said = case, change, status, said

    def accelerate(self, model, state):
        weighted = any(state is other for key in ('weighted', 'weighted_instants') for other in self.case.expected.get(key, []))
        answer = full_answer(state)
        if weighted:
            answer['consistent'] = False
            answer['acceleration'] = dict(state['acceleration'])
        answered = weighted or (answer['unique'] and answer['consistent'])
        self.change(answer)
        return self.status or (0 if answered else 1), json.dumps(answer), ''

    def call(self, command, model, *options):
        if command == 'project':
            answer = {**copy.deepcopy(self.case.expected['project']), 'moved': 0.1}
            self.change(answer)
            return self.status, json.dumps(answer), ''
        return self.status or 1, '', self.said or 'the mass matrix is refused: constraint h1'


def failures(name, part, **how):
    case = Case(CASES / f'{name}.expected.json')
    return check(Oracle(case, **how), [case], [part], say=lambda line: None)[1]


def setting(**values):
    return lambda answer: answer.update(values)


class Checker(unittest.TestCase):
    def test_every_case_has_a_model_and_is_read_by_some_part_or_a_later_one(self):
        cases = find_cases([CASES])
        self.assertGreaterEqual(len(cases), 59)
        for case in cases:
            self.assertTrue(case.model.is_file(), case.name)
            self.assertTrue(case.expected.keys() & {'instants', 'weighted', 'refuse', 'project', 'one_sided_instants', 'weighted_instants', 'events', 'end'})

    def test_right_answers_pass(self):
        said = []
        for case in find_cases([CASES]):
            check(Oracle(case), [case], list(PARTS), say=said.append)
        self.assertEqual(said, [])

    def test_each_part_finds_something_to_check(self):
        for part in PARTS:
            passed = sum(check(Oracle(case), [case], [part])[0] for case in find_cases([CASES]))
            self.assertGreater(passed, 0, part)

    def test_an_error_of_a_thousand_tolerances_in_any_entry_is_noticed(self):
        name = 'coulomb_incline'
        first = Case(CASES / f'{name}.expected.json').expected['instants'][0]
        size = check_cases.instant_size(first)
        for key in (*check_cases.VECTORS, 'multipliers'):
            for entry in first.get(key) or {}:
                def change(answer):
                    answer[key][entry] += 1e-8 * size
                self.assertGreater(failures(name, 'instants', change=change), 0, f'{key} {entry}')
        self.assertGreater(failures(name, 'instants', change=lambda a: a.update(gaussian=a['gaussian'] + 1e-6 * size)), 0)

    def test_a_missing_or_extra_entry_is_noticed(self):
        for key in ('acceleration', 'constraint_force', 'multipliers'):
            self.assertGreater(failures('coulomb_incline', 'instants', change=lambda a: a[key].popitem()), 0, key)
            self.assertGreater(failures('coulomb_incline', 'instants', change=lambda a: a[key].update(other=0.0)), 0, key)

    def test_every_key_of_the_contract_must_be_printed(self):
        for key in check_cases.ALWAYS_PRINTED:
            self.assertGreater(failures('coulomb_incline', 'instants', change=lambda a: a.pop(key)), 0, key)

    def test_wrong_verdicts_are_noticed(self):
        wrong = [('dependence', {'rank': 3}), ('dependence', {'redundant': ['third']}), ('dependence', {'depends': {}}),
                 ('dependence', {'depends': {'third': {'first': 1.0}, 'other': {'first': 1.0}}}),
                 ('dependence', {'multipliers_undetermined': ['first']}), ('dependence', {'rows': 3}),
                 ('coulomb_incline', {'multipliers_unique': False}), ('coulomb_incline', {'unique': False}),
                 ('coulomb_incline', {'consistent': False}), ('coulomb_incline', {'acceleration': None}),
                 ('coulomb_incline', {'time': 99.0}), ('coulomb_incline', {'constraint_residual': -1.0}),
                 ('conflict_pair', {'conflicts': [['level', 'push']]}), ('conflict_pair', {'conflicts': []}),
                 ('conflict_pair', {'consistent': True}), ('conflict_pair', {'acceleration': {'x': 3.5, 'y': 0.0}}),
                 ('nonunique_rank_deficient', {'undetermined': ['x']}), ('nonunique_rank_deficient', {'solvable': False}),
                 ('nonunique_rank_deficient', {'unique': True})]
        for name, values in wrong:
            self.assertGreater(failures(name, 'instants', change=setting(**values)), 0, f'{name} {values}')

    def test_a_wrong_exit_status_is_noticed(self):
        for name, part in (('coulomb_incline', 'instants'), ('weighted_lsq_measured', 'weighted'),
                           ('project_circle', 'project'), ('indefinite_mass_matrix', 'refuse')):
            self.assertGreater(failures(name, part, status=2), 0, name)

    def test_wrong_weighted_and_projected_answers_are_noticed(self):
        for values in ({'acceleration': {'x': 1.0, 'y': -1.5 + 1e-9}}, {'consistent': True}, {'constraint_force': None}):
            for name in ('weighted_lsq_measured', 'measured_full_weight'):
                self.assertGreater(failures(name, 'weighted', change=setting(**values)), 0, f'{name} {values}')
        for values in ({'position': {'x': 3.0, 'y': 4.0 + 1e-9}}, {'velocity': {'x': 0.64}}, {'moved': None}):
            self.assertGreater(failures('project_circle', 'project', change=setting(**values)), 0, str(values))

    def test_a_refusal_without_its_reason_is_noticed(self):
        self.assertGreater(failures('indefinite_mass_matrix', 'refuse', said='no'), 0)

    def test_what_is_no_finite_number_is_noticed(self):
        for value in (float('nan'), float('inf'), '1.0', True, None):
            def change(answer):
                answer['acceleration'] = {name: value for name in answer['acceleration']}
            self.assertGreater(failures('coulomb_incline', 'instants', change=change), 0, repr(value))

    def test_an_expectation_that_nothing_checks_is_noticed(self):
        case = Case(CASES / 'coulomb_incline.expected.json')
        case.expected['instants'][0]['colour'] = 1
        self.assertEqual(check(Oracle(case), [case], ['instants'], say=lambda line: None)[1], 1)

    def test_diagonal_weights_are_tried_in_both_spellings(self):
        text = 'a = 1\ns1 = "x\'\' = 1"\ns2 = "x\'\' = 2"\n'
        spellings = dict(check_cases.weight_spellings(text, [[4.0, 0.0], [0.0, 0.25]]))
        self.assertIn('s2 = { equation = "x\'\' = 2", weight = 0.25 }', spellings['row by row'])
        self.assertIn('weight = [[4.0, 0.0], [0.0, 0.25]]', spellings['matrix'])
        self.assertEqual(list(dict(check_cases.weight_spellings(text, [[4.0, 1.0], [1.0, 0.25]]))), ['matrix'])

    def test_a_program_that_prints_nothing_fails_every_check(self):
        done = subprocess.run([sys.executable, Path(check_cases.__file__), '--program', '/bin/false', CASES],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        summary = re.fullmatch(r'(\d+) passed, (\d+) failed', done.stdout.splitlines()[-1])
        self.assertEqual(summary[1], '0')
        self.assertGreater(int(summary[2]), 90)


if __name__ == '__main__':
    unittest.main()
