#!/usr/bin/env python3
"""The checker of motions passes a program that answers as expected, and misses no single thing that is wrong."""

import copy
import json
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True  # nothing but build/ is written to

from check_cases import Case
from check_motions import check

MOTIONS = Path(__file__).parent / 'motions'


def perfect(case):
    """What a perfect program writes: a start row and the expected end, and the expected events."""
    end = case.expected['end']
    names = list(end['position'])
    last = [end['time'], *end['position'].values(), *(end['velocity'][name] for name in names)]
    return {'columns': ['t', *names, *(name + "'" for name in names)], 'rows': [[0.0] * len(last), last],
            'events': [{'constraints': [], **event} for event in case.expected.get('run_events', [])], 'summary': {}}


class Oracle:
    """Stands in for the program: writes the perfect result, with one change if asked for."""

    def __init__(self, case, change=lambda result: None, status=0, said='', writes=True):
        self.case, self.change, self.status, self.said, self.writes = case, change, status, said, writes
        self.arguments = None

    def call(self, command, model, *options):
        self.arguments = options
        if self.writes:
            result = copy.deepcopy(perfect(self.case))
            self.change(result)
            Path(options[options.index('-o') + 1]).write_text(json.dumps(result))
        return self.status, '', self.said


def verdict(program):
    said = []
    passed, failed = check(program, [program.case], said.append)
    assert passed + failed == 1
    return said[0] if failed else None


def case(name):
    return Case(MOTIONS / f'{name}.expected.json')


class CheckerNotices(unittest.TestCase):
    def misses(self, expected, name, *arguments, **keywords):
        self.assertRegex(verdict(Oracle(case(name), *arguments, **keywords)) or 'passed', expected)

    def test_every_case_passes_a_perfect_program(self):
        for path in sorted(MOTIONS.glob('*.expected.json')):
            c = Case(path)
            if 'end' in c.expected:
                self.assertIsNone(verdict(Oracle(c)), c.name)

    def test_a_wrong_position_velocity_or_time(self):
        def add(column, size):
            def change(result):
                result['rows'][-1][result['columns'].index(column)] += size
            return change
        self.misses('y1 off by', 'ladder_2_forward', add('y1', 1e-8))
        self.misses("x2' off by", 'ladder_2_forward', add("x2'", -2e-8))
        self.misses('ends at', 'ladder_2_forward', add('t', 1e-12))
        self.misses('ends at', 'projectile_stopped', add('t', 1e-9))
        self.assertIsNone(verdict(Oracle(case('projectile_stopped'), add('t', 1e-13))))

    def test_what_is_not_a_number(self):
        def change(result):
            result['rows'][-1][1] = None
        self.misses('off by inf', 'ladder_2_forward', change)

    def test_events_that_are_missing_too_many_or_late(self):
        self.misses('events `flat`|events `singular`', 'ladder_2_forward', lambda result: result['events'].pop())
        self.misses('events `singular`', 'ladder_2_forward', lambda result: result['events'].append(dict(result['events'][0])))
        self.misses('time of `three`', 'projectile', lambda result: result['events'][0].update(time=result['events'][0]['time'] + 1e-9))
        self.misses('events `three`', 'projectile', lambda result: result['events'][0].update(name='other'))

    def test_exit_status_and_nothing_written(self):
        self.misses('exit 5', 'ladder_2_forward', status=5)
        self.misses('no motion .exit 4.: error: why', 'ladder_2_forward', status=4, said='error: why', writes=False)
        self.misses('cannot be compared', 'ladder_2_forward', lambda result: result.pop('rows'))

    def test_a_refusal_must_be_one(self):
        c = case('rest_on_flat_ladder')
        self.assertIsNone(verdict(Oracle(c, status=1, said='a singular configuration at rest', writes=False)))
        self.assertRegex(verdict(Oracle(c, status=0, said='singular', writes=False)), 'not refused')
        self.assertRegex(verdict(Oracle(c, status=1, said='no', writes=False)), 'said')

    def test_an_honest_stop_passes_and_a_wrong_end_does_not(self):
        c = case('tangent_branches')
        self.assertIsNone(verdict(Oracle(c, status=4, writes=False)))

        def change(result):
            result['rows'][-1][2] += 1.0
        self.assertIsNotNone(verdict(Oracle(c, change)))

    def test_options_of_a_case_are_used(self):
        program = Oracle(case('car_axis'))
        verdict(program)
        self.assertIn('1e-14', program.arguments)


if __name__ == '__main__':
    unittest.main()
