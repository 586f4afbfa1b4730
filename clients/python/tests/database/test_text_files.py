"""Days as CSV and JSON lines, read back by Python and DuckDB. Without a database."""

import csv
import json
import os
import random
import tempfile
import unittest
import unittest.mock
from datetime import date
from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np

import candled
from candled.columns import Column
from candled.export import Export
from candled.tables import Table
from candled.text_files import CSV, JSONLines
from test_files import column, numbers, times

DAY = date(2026, 7, 6)
FORMATS = ("csv", "jsonl")


def words(values):
    known = list(dict.fromkeys(each for each in values if each is not None))
    codes = [0 if each is None else known.index(each) for each in values]
    return Column(
        "text", np.array(codes, dtype=np.int32), np.array([each is not None for each in values]),
        words=tuple(known))


def table(symbols, closes, **more):
    minutes = [f"{DAY}T01:{30 + row % 30}" for row in range(len(symbols))]
    return Table(
        {"symbol": words(symbols), "opened_at": times(minutes), "close": column(closes), **more},
        zone="Asia/Shanghai")


def rows_of_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def rows_of_json(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def interrupted_after(count):
    """A rename that is good for so many files."""
    rename, left = os.replace, [None] * count

    def replace(*paths):
        if not left:
            raise KeyboardInterrupt
        left.pop()
        rename(*paths)

    return replace


class TextFilesTests(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.seed = random.randrange(1 << 32)
        self.source = random.Random(self.seed)

    def write(self, kind, content, made_of=None):
        path = self.folder / f"{DAY}.{kind.suffix}"
        kind.write(path, content, made_of or {})
        return path

    def every_kind(self):
        return table(
            ["sh600000", None], [Decimal("136.390"), None],
            trades=Column("integer", np.array([12, 0]), np.array([True, False])),
            trading_day=Column("date", np.array([DAY, DAY], dtype="datetime64[s]")),
            known_from=times([f"{DAY}T01:31:05.250000", "NaT"]),
            is_whole=Column("bool", np.array([True, False]), None))

    def test_every_kind_of_value_has_its_text(self):
        self.assertEqual(
            self.write(CSV(), self.every_kind()).read_text(),
            "symbol,opened_at,close,trades,trading_day,known_from,is_whole\n"
            "sh600000,2026-07-06T09:30:00+08:00,136.390,12,2026-07-06,"
            "2026-07-06T09:31:05.250000+08:00,true\n"
            ",2026-07-06T09:31:00+08:00,,,2026-07-06,,false\n")
        self.assertEqual(
            self.write(JSONLines(), self.every_kind()).read_text(),
            '{"symbol":"sh600000","opened_at":"2026-07-06T09:30:00+08:00","close":"136.390",'
            '"trades":12,"trading_day":"2026-07-06",'
            '"known_from":"2026-07-06T09:31:05.250000+08:00","is_whole":true}\n'
            '{"symbol":null,"opened_at":"2026-07-06T09:31:00+08:00","close":null,"trades":null,'
            '"trading_day":"2026-07-06","known_from":null,"is_whole":false}\n')

    def test_each_number_keeps_the_digits_that_the_database_has(self):
        values = numbers(self.source, 10, 10**9, 500) + [Decimal(text) for text in (
            "0", "0.0000000", "-0.01", "-1", "9223372036854775808", "0.0000000001",
            "-12345678901234567890.1234567890")]
        expected = [None if each is None else format(each, "f") for each in values]
        symbols = [f"s{row}" for row in range(len(values))]
        with unittest.mock.patch("candled.text_files._ROWS_AT_ONCE", 100):
            by_csv = rows_of_csv(self.write(CSV(), table(symbols, values)))
            by_json = rows_of_json(self.write(JSONLines(), table(symbols, values)))
        self.assertEqual([row["close"] or None for row in by_csv], expected, self.seed)
        self.assertEqual([row["close"] for row in by_json], expected, self.seed)
        for rows in (by_csv, by_json):
            self.assertEqual([row["symbol"] for row in rows], symbols)

    def test_any_text_comes_back_and_null_is_not_empty(self):
        symbols = ["", None, 'a "b"', "a,b", "a\nb", "a\rb", "浦发银行", " ", "null"]
        content = table(symbols, [Decimal(1)] * len(symbols))
        by_json = self.write(JSONLines(), content)
        self.assertEqual([row["symbol"] for row in rows_of_json(by_json)], symbols)
        by_csv = self.write(CSV(), content)
        self.assertEqual(
            [row["symbol"] for row in rows_of_csv(by_csv)], [each or "" for each in symbols])
        lines = by_csv.read_text().splitlines()
        self.assertEqual([line.split(",")[0] for line in lines[1:3]], ['""', ""])

    def test_duckdb_reads_the_files_of_a_folder_alone(self):
        content = table(["sh600000", "sz000001"], [Decimal("136.390"), Decimal("10.2")])
        for kind, read in ((CSV(), "read_csv('{}', all_varchar = true)"),
                           (JSONLines(), "read_json('{}')")):
            self.write(kind, content)
            files = read.format(f"{self.folder}/*.{kind.suffix}")
            found = duckdb.sql(f"select sum(close::decimal(18, 3)) from {files}").fetchall()
            self.assertEqual(found, [(Decimal("146.590"),)])

    def test_a_file_has_what_it_was_made_of_until_its_content_is_another(self):
        made_of = {"version": 1, "symbols": None, "rows": 1}
        for kind in (CSV(), JSONLines()):
            path = self.write(kind, table(["sh600000"], [Decimal(1)]), made_of)
            self.assertEqual(kind.made_of(path), made_of)
            with open(path, "a") as file:
                file.write("\n")
            self.assertEqual(kind.made_of(path), made_of | {"version": 0})

    def test_a_file_of_another_program_is_refused(self):
        path = self.folder / f"{DAY}.csv"
        path.write_text("symbol,close\n")
        with self.assertRaisesRegex(candled.CandledError, "is not a file of this export"):
            CSV().made_of(path)


class Market:
    """What an export asks of a database, with one day of one market."""

    def __init__(self):
        self.close, self.revision, self.reads = Decimal("136.390"), 0, 0

    def markets(self):
        return {"cn": "Asia/Shanghai"}

    def _check_market(self, market):
        pass

    def _spelled(self, symbols):
        return symbols

    def query(self, statement, *values, exact=False):
        if exact:
            self.reads += 1
            return table(["sz000001", "sh600000"], [Decimal("10.20"), self.close])
        known = f"2026-07-06 10:00:0{self.revision}+08"
        return Table(
            {"rows": Column("integer", np.array([2])),
             "revisions": Column("integer", np.array([self.revision])),
             "known": words([known])}, zone="Asia/Shanghai")


class TextExportTests(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.market = Market()

    def export(self, format, **more):
        return Export(self.market, self.folder, format=format, **more)

    def closes(self, path):
        read = rows_of_csv if path.suffix == ".csv" else rows_of_json
        return {row["symbol"]: row["close"] for row in read(path)}

    def test_the_rows_of_a_day_are_sorted_and_have_a_file_of_their_own(self):
        for format in FORMATS:
            written, = self.export(format).day(DAY)
            self.assertEqual(
                written.path.relative_to(self.folder),
                Path("candles-1m", "market=cn", f"2026-07-06.{format}"))
            self.assertEqual((written.rows, written.is_new), (2, True))
            self.assertEqual(written.bytes, written.path.stat().st_size)
            self.assertEqual(
                list(self.closes(written.path).items()),
                [("sh600000", "136.390"), ("sz000001", "10.20")])

    def test_a_corrected_day_is_written_again_and_no_other(self):
        for format in FORMATS:
            self.market = Market()
            first, = self.export(format).day(DAY)
            again, = self.export(format).day(DAY)
            self.assertEqual((again.is_new, self.market.reads), (False, 1))
            self.market.close, self.market.revision = Decimal("136.40"), 1
            corrected, = self.export(format).day(DAY)
            self.assertEqual((corrected.is_new, self.market.reads), (True, 2))
            self.assertEqual(self.closes(first.path)["sh600000"], "136.40")
            self.assertEqual([each.is_new for each in self.export(format).day(DAY)], [False])

    def test_ended_at_any_rename_the_file_is_whole_and_the_next_run_completes_it(self):
        for format in FORMATS:
            for renamed in range(2):
                self.market = Market()
                path = self.export(format).day(DAY)[0].path
                before = path.read_bytes()
                self.market.close, self.market.revision = Decimal("136.40"), 1
                with (unittest.mock.patch("os.replace", interrupted_after(renamed)),
                      self.assertRaises(KeyboardInterrupt)):
                    self.export(format).day(DAY)
                self.assertEqual(path.read_bytes(), before)
                self.assertEqual([each.is_new for each in self.export(format).day(DAY)], [True])
                self.assertEqual(self.closes(path)["sh600000"], "136.40")
                self.assertEqual(
                    sorted(each.name for each in path.parent.glob(f"*{format}*")),
                    [f".2026-07-06.{format}.json", f"2026-07-06.{format}"])

    def test_symbols_are_not_mixed(self):
        for format in FORMATS:
            self.export(format, symbols=["sh600000"]).day(DAY)
            with self.assertRaisesRegex(candled.BadArgument, "another folder"):
                self.export(format).day(DAY)

    def test_another_format_is_refused(self):
        with self.assertRaisesRegex(
            candled.BadArgument, "format: expected parquet, csv or jsonl, found 'xml'"
        ):
            self.export("xml")


if __name__ == "__main__":
    unittest.main()
