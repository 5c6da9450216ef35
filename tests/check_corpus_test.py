#!/usr/bin/env python3
"""check_corpus.py must notice a program that is wrong: each of these programs is wrong in one way."""
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import check_corpus

CHECKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "check_corpus.py")
EXPECTATIONS = """
[bad]
says = ['FILE:1:5: error: broken']
never = ['follow-up']
[good]
exit = 0
"""
RIGHT = 'case $2 in bad.toml) echo "bad.toml:1:5: error: broken" >&2; exit 1;; esac; exit 0'


class CheckerNotices(unittest.TestCase):
    def check(self, script, files=("bad", "good")):
        with tempfile.TemporaryDirectory() as folder:
            corpus, program = os.path.join(folder, "corpus"), os.path.join(folder, "program")
            os.mkdir(corpus)
            with open(os.path.join(corpus, "expectations.toml"), "w", encoding="utf-8") as f:
                f.write(EXPECTATIONS)
            for name in files:
                with open(os.path.join(corpus, name + ".toml"), "w", encoding="utf-8") as f:
                    f.write("x = 1\n")
            with open(program, "w", encoding="utf-8") as f:
                f.write("#!/bin/sh\n" + script + "\n")
            os.chmod(program, 0o755)
            done = subprocess.run([sys.executable, CHECKER, "--program", program, corpus], capture_output=True, text=True, check=False)
            return done.returncode, done.stdout

    def refuses(self, script, said, **more):
        status, out = self.check(script, **more)
        self.assertEqual(status, 1, out)
        self.assertIn(said, out)

    def test_a_right_program_passes(self):
        self.assertEqual(self.check(RIGHT), (0, "2 passed, 0 failed\n"))

    def test_a_wrong_exit_status(self):
        self.refuses(RIGHT.replace("exit 1", "exit 2"), "exit status 2 instead of 1")

    def test_another_message(self):
        self.refuses(RIGHT.replace(":5:", ":6:"), "does not match")

    def test_a_message_too_many(self):
        self.refuses(RIGHT.replace("broken", "broken; follow-up"), "standard error matches follow-up")

    def test_output_of_a_refused_file(self):
        self.refuses("echo result; " + RIGHT, "prints on standard output although the file is refused")

    def test_a_crash(self):
        self.refuses("kill -SEGV $$", "was ended by signal 11")

    def test_a_loop_that_does_not_end(self):
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(check_corpus, "TIME_LIMIT", 1):
            with open(os.path.join(folder, "check"), "w", encoding="utf-8") as f:
                f.write("while :; do :; done\n")
            self.assertEqual(check_corpus.run_one("/bin/sh", folder, "bad", {}, False), ["took more than 1 s"])

    def test_control_characters(self):
        self.refuses("printf '\\033[31m' >&2; " + RIGHT, "prints control characters")

    def test_silence(self):
        self.refuses("exit 1", "says nothing")

    def test_a_file_that_is_not_listed(self):
        self.refuses(RIGHT, "other.toml: is not in expectations.toml", files=("bad", "good", "other"))

    def test_a_file_that_is_missing(self):
        self.refuses(RIGHT, "good.toml: is in expectations.toml but not there", files=("bad",))


if __name__ == "__main__":
    unittest.main()
