"""Runs the blocks of docs/analysts.md, as a reader would: in order, in a notebook's one namespace."""

import contextlib
import io
import os
import re
import tempfile
import unittest
from pathlib import Path

import demo

PAGE = Path(os.environ["CANDLED_TUTORIAL"]).read_text(encoding="utf-8")


class TutorialTests(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())

    def here(self, text):
        return text.replace("/tmp/day", demo.ADDRESS).replace("/tmp/parquet", self.folder)

    def test_every_block_runs(self):
        blocks = re.findall(r"(?s)```python\n(.*?)```", PAGE)
        self.assertGreaterEqual(len(blocks), 8)
        names, printed = {"__name__": "tutorial"}, io.StringIO()
        for number, block in enumerate(blocks, 1):
            with self.subTest(block=number), contextlib.redirect_stdout(printed):
                exec(compile(self.here(block), f"block {number}", "exec"), names)
        self.assertIn("expected a known instrument (the nearest: ", printed.getvalue())
        self.assertIn("2026-07-06 09:30:00+08:00", printed.getvalue())
        self.assertEqual(len(names["volatility"]), 6)

    def test_the_commands_of_the_page_are_accepted(self):
        from candled.__main__ import _parser

        commands = re.findall(r"(?m)^python3 -m candled (.+)$", PAGE)
        self.assertEqual(len(commands), 2)
        for command in commands:
            self.assertEqual(_parser().parse_args(self.here(command).split()).to, self.folder)


if __name__ == "__main__":
    unittest.main()
