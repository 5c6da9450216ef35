#!/usr/bin/env python3
"""The checker of verdicts must notice wrong answers with a good verdict, right ones that are not trusted, and none at all. A program that
writes a given result stands for the real one."""
import json
import stat
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True

import check_verdicts
from verdict_problems import ROWS, all_problems, unit

UNITS = (1e3, 1e-2, 1e-6)


class Verdicts(unittest.TestCase):
    def run_with(self, problem, off, status, exit_status):
        """A run whose program writes the exact motion, times 1 + off."""
        columns, rows = ['t'], []
        for name in problem.coordinates:
            columns += [name, name + "'"]
        for k in range(ROWS + 1):
            t = problem.begin + (problem.to - problem.begin) * k / ROWS
            row = [t * UNITS[2]]
            for name, pair in problem.exact(t).items():
                row += [x * (1 + off) * unit(problem.coordinates[name] + per, UNITS) for x, per in zip(pair, ('', ' T-1'))]
            rows.append(row)
        result = {'columns': columns, 'rows': rows, 'summary': {'status': status, 'trusted': status == 'done', 'reasons': []}}
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / 'program'
            text = json.dumps(result) if status else ''
            program.write_text(f'#!{sys.executable}\nimport sys\nopen(sys.argv[sys.argv.index("-o") + 1], "w").write({text!r})\nsys.exit({exit_status})\n')
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
            return check_verdicts.Run(str(program), problem, 1e-6, UNITS)

    def test_every_kind_of_verdict(self):
        problem = next(p for p in all_problems() if p.group == 'Kepler')
        for off, status, code, right, verdict in ((0.0, 'done', 0, True, 'good'), (0.0, 'suspect', 5, True, 'suspect'), (5e-4, 'done', 0, True, 'good'),
                                                  (2e-3, 'done', 0, False, 'good'), (2e-3, 'suspect', 5, False, 'suspect'),
                                                  (0.0, 'failed', 4, False, 'failed'), (0.0, '', 1, False, 'failed')):
            run = self.run_with(problem, off, status, code)
            self.assertEqual((run.right, run.verdict), (right, verdict), (off, status, run.words()))
            self.assertEqual(run.is_wrong_with_a_good_verdict(), off == 2e-3 and status == 'done')

    def test_exact_motions_are_motions(self):
        for problem in all_problems():
            self.assertEqual(check_verdicts.inconsistencies(problem), [])

    def test_a_wrong_exact_motion_is_noticed(self):
        problem = next(p for p in all_problems() if p.group == 'pendulum')
        bad = problem.started_at({name: (q + 1e-3, v) for name, (q, v) in problem.start.items()})
        self.assertTrue(check_verdicts.inconsistencies(bad))


if __name__ == '__main__':
    unittest.main()
