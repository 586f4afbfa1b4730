"""Runs the blocks of docs/analysts.md, as a reader would: in order, in a notebook's one namespace;
and the line of psql in docs/database.md."""

import contextlib
import csv
import io
import os
import re
import shlex
import subprocess
import tempfile
import unittest
from pathlib import Path

import demo
from candled.database import _address

TUTORIAL = Path(os.environ["CANDLED_TUTORIAL"])
PAGE = TUTORIAL.read_text(encoding="utf-8")


class TutorialTests(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())

    def here(self, text):
        for written in ("/tmp/parquet", "/tmp/lines"):
            text = text.replace(written, self.folder)
        return text.replace("/tmp/day", demo.ADDRESS)

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
        self.assertEqual(len(commands), 4)
        for command in commands:
            self.assertEqual(_parser().parse_args(self.here(command).split()).to, self.folder)

    def test_the_line_of_psql_writes_every_digit(self):
        page = TUTORIAL.with_name("database.md").read_text(encoding="utf-8")
        line, = re.findall(r"(?m)^psql candled (-c .*\\copy .*)$", page)
        subprocess.run(
            ["psql", "-X", "-q", "-d", _address(demo.ADDRESS), *shlex.split(line)],
            cwd=self.folder, env=os.environ | {"PGTZ": "Asia/Shanghai"}, check=True)
        with open(f"{self.folder}/sh600000.csv", newline="") as file:
            found = [(row["symbol"], row["close"], row["turnover"])
                     for row in csv.DictReader(file)]
        rows = demo.rows(
            "select symbol, close, turnover from candled.candles('sh600000', '1m', %s::timestamptz)",
            demo.DAY)
        self.assertEqual(
            found, [(symbol, f"{close:f}", f"{turnover:f}") for symbol, close, turnover in rows])
        self.assertGreater(len(found), 200)


if __name__ == "__main__":
    unittest.main()
