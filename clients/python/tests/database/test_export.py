"""Days as files, read back by this package, DuckDB and polars."""

import contextlib
import csv
import io
import json
import multiprocessing
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
from datetime import date, timedelta
from pathlib import Path

import duckdb
import polars
from pyarrow import parquet

import candled
import demo
from candled.export import Export, follow
from exporting import export_days

DAY = date.fromisoformat(demo.DAY)
SINCE = DAY - timedelta(days=4)
FORMATS = ("parquet", "csv", "jsonl")
BYTES_PER_ROW_MAX = 25
KILLS = 20
LAST_DAYS = [DAY - timedelta(days=back) for back in range(7, -1, -1)]
# Its processes have imported the package already.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["candled.export", "candled.parquet_files"])
START_SECONDS_MAX = 60


def command(folder, *more):
    return [sys.executable, "-m", "candled", "export", "--from", demo.ADDRESS, "--to", folder,
            *more]


def exported(folder, format, killed_after=None, behind=0):
    """By a process that may be killed, so many seconds after that many files are there; the seconds
    that it took."""
    began = PROCESSES.Event()
    process = PROCESSES.Process(
        target=export_days, args=(demo.ADDRESS, folder, LAST_DAYS, format, began))
    process.start()
    try:
        if not began.wait(START_SECONDS_MAX):
            raise AssertionError("the export did not begin")
        while len(paths(folder)) < behind and process.is_alive():
            time.sleep(0.001)
        start = time.monotonic()
        process.join(killed_after)
        return time.monotonic() - start
    finally:
        process.kill()
        process.join()


def paths(folder):
    """Of each file; without the lock."""
    return [path for path in Path(folder).glob("*/*/*") if path.name != ".lock"]


def files(folder):
    """The bytes of each, by name."""
    return {path.name: path.read_bytes() for path in paths(folder)}


class ExportTests(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.db = self.enterContext(demo.opened())

    def file(self, format="parquet"):
        return Path(self.folder) / "candles-1m" / "market=cn" / f"{demo.DAY}.{format}"

    def run_export(self, *more):
        return subprocess.run(command(self.folder, *more), capture_output=True, text=True)

    def expected(self, symbols=None):
        return demo.rows(
            "select symbol, opened_at, open, close, volume, turnover, vwap, trades, known_from "
            "from candled.market_candles('cn', '1m', '2026-07-06 00:00+08', '2026-07-07 00:00+08') "
            "where %s::text[] is null or symbol = any (%s) order by symbol collate \"C\", opened_at",
            symbols, symbols)

    def test_a_day_reads_back_with_every_digit(self):
        written, = Export(self.db, self.folder).day(DAY)
        rows = self.expected()
        table = candled.load(written.path)
        self.assertEqual((written.rows, len(table)), (len(rows), len(rows)))
        for place, name in ((2, "open"), (3, "close"), (4, "volume"), (5, "turnover"), (6, "vwap")):
            self.assertEqual(
                list(map(str, table[name])), [str(row[place]) for row in rows], name)
        self.assertEqual(table["symbol"].tolist(), [row[0] for row in rows])
        self.assertEqual([str(each) for each in table.to_pandas().index],
                         [str(row[1]) for row in rows])
        self.assertGreater(len({each.as_tuple().exponent for each in table["close"]}), 1)
        # Of a file of so few rows the footer is a third.
        data = parquet.ParquetFile(written.path).metadata
        size = sum(data.row_group(at).column(column).total_compressed_size
                   for at in range(data.num_row_groups) for column in range(data.num_columns))
        self.assertLessEqual(size / len(rows), BYTES_PER_ROW_MAX)

    def test_duckdb_and_polars_read_the_same(self):
        Export(self.db, self.folder).day(DAY)
        rows = [row[:6] for row in self.expected()]
        files = f"{self.folder}/candles-1m/*/*.parquet"
        asked = duckdb.connect()
        asked.execute("set timezone = 'Asia/Shanghai'")
        found = asked.sql(
            "select symbol::text, epoch_us(opened_at), open, close, volume, turnover, market "
            f"from read_parquet('{files}', hive_partitioning = true)").fetchall()
        moments = [int(row[1].timestamp() * 1_000_000) for row in rows]
        self.assertEqual(
            found, [(row[0], at, *row[2:], "cn") for row, at in zip(rows, moments, strict=True)])
        frame = polars.read_parquet(files)
        self.assertEqual(frame.select("symbol", "opened_at", "open", "close", "volume", "turnover")
                         .with_columns(polars.col("symbol").cast(polars.String)).rows(), rows)

    def test_csv_and_json_lines_have_the_same_rows(self):
        rows = self.expected()
        for format in ("csv", "jsonl"):
            written, = Export(self.db, self.folder, format=format).day(DAY)
            with open(written.path, newline="") as file:
                found = list(
                    csv.DictReader(file) if format == "csv" else map(json.loads, file))
            self.assertEqual((written.rows, len(found)), (len(rows), len(rows)))
            for place, name in (
                (2, "open"), (3, "close"), (4, "volume"), (5, "turnover"), (6, "vwap")
            ):
                self.assertEqual(
                    [each[name] or None for each in found],
                    [None if row[place] is None else f"{row[place]:f}" for row in rows], name)
            self.assertEqual(
                [(each["symbol"], each["opened_at"], each["known_from"]) for each in found],
                [(row[0], row[1].isoformat(), row[8].isoformat()) for row in rows])

    def test_a_second_run_writes_only_what_lacks(self):
        for format in FORMATS:
            self.run_export("--day", "2026-07-03", "--format", format)
            both = self.run_export("--day", f"2026-07-03..{demo.DAY}", "--format", format)
            self.assertEqual(both.returncode, 0, both.stderr)
            states = {line.split("/")[-1][:10]: line.endswith(", as it was")
                      for line in both.stdout.splitlines()}
            self.assertEqual(states, {"2026-07-03": True, demo.DAY: False})

    def test_a_file_of_older_values_is_written_again(self):
        for format in FORMATS:
            export = Export(self.db, self.folder, format=format)
            with unittest.mock.patch.object(
                export, "_made_of", return_value=export._made_of(DAY, "cn") | {"revisions": -1}
            ):
                export.day(DAY)
            self.assertEqual([each.is_new for each in export.day(DAY)], [True])
            self.assertEqual([each.is_new for each in export.day(DAY)], [False])

    def test_symbols_are_chosen_and_not_mixed(self):
        asked = self.run_export("--day", demo.DAY, "--symbols", "600000.SH,bj920000")
        self.assertEqual(asked.returncode, 0, asked.stderr)
        self.assertEqual(len(candled.load(self.file())),
                         len(self.expected(["sh600000", "bj920000"])))
        others = self.run_export("--day", demo.DAY)
        self.assertEqual((others.returncode, "another folder" in others.stderr), (64, True))

    def test_mistakes_are_told_in_a_line(self):
        for more, status, text in (
            (["--day", "2026-07-05"], 66, "no candles of 2026-07-05"),
            (["--day", "yesterday"], 64, "2026-07-06 or 2026-07-01..2026-07-06"),
            (["--day", demo.DAY, "--symbols", "sh60000"], 64, "nearest"),
            (["--day", demo.DAY, "--format", "xml"], 64, "parquet, csv or jsonl"),
            (["--day", demo.DAY, "--from", "/nowhere"], 69, "/nowhere"),
        ):
            run = self.run_export(*more)
            self.assertEqual((run.returncode, run.stderr.count("\n")), (status, 1), run.stderr)
            self.assertIn(text, run.stderr)

    def test_following_adds_the_days_that_closed(self):
        # Bars alone have no certificates: their days close at midnight.
        closed = demo.rows(
            "select distinct trading_day, 'cn' from candled.coverage "
            "where certified and trading_day >= %s union select distinct trading_day, 'us' "
            "from candled.market_candles('us', '1m', '2026-07-02 00:00-04') order by 1, 2", SINCE)
        self.assertEqual({market for _, market in closed}, {"cn", "us"})
        written = follow(Export(self.db, self.folder), SINCE, every_seconds=0.01)
        found = [next(written).path.relative_to(self.folder) for _ in closed]
        self.assertEqual(
            list(map(str, found)),
            [f"candles-1m/market={market}/{day}.parquet" for day, market in closed])

    def test_following_outlives_a_database_that_does_not_answer(self):
        away = iter([candled.ConnectionFailed("no answer")] * 3)
        connected = self.db._connected

        def sometimes():
            for error in away:
                raise error
            return connected()

        written = follow(Export(self.db, self.folder, market="cn"), SINCE, every_seconds=0.01)
        first = next(written)
        complaints = io.StringIO()
        with (unittest.mock.patch.object(self.db, "_connected", sometimes),
              contextlib.redirect_stderr(complaints)):
            second = next(written)
        self.assertLess(first.path, second.path)
        self.assertEqual(complaints.getvalue(), "candled: no answer; trying again\n")

    def test_kill_leaves_no_torn_file_and_a_second_run_completes_it(self):
        for format in ("parquet", "csv"):
            home = Path(self.folder) / format
            seconds = min(exported(home / f"whole{turn}", format) for turn in range(2))
            expected = files(home / "whole0")
            self.assertGreater(len(expected), 3)
            self.assertEqual(files(home / "whole1"), expected)
            left = []
            for moment in range(KILLS):
                folder = home / str(moment)
                exported(
                    folder, format, killed_after=(moment + 0.5) / KILLS * seconds / 2,
                    behind=moment % 3)
                found = files(folder)
                left.append(len(found))
                with self.subTest(format=format, moment=moment):
                    finished = {name for name in found if not name.endswith(".part")}
                    self.assertEqual({name: found[name] for name in finished},
                                     {name: expected[name] for name in finished})
                    export_days(demo.ADDRESS, folder, LAST_DAYS, format)
                    self.assertEqual(files(folder), expected)
            # Some were killed before the end of all days, and not all before the first.
            self.assertTrue(any(0 < count < len(expected) for count in left), left)

    def test_a_file_that_is_being_written_has_no_name_yet(self):
        # What a kill in the middle of the bytes leaves, made on purpose: half of a file.
        export = Export(self.db, self.folder)
        with unittest.mock.patch("os.replace", side_effect=KeyboardInterrupt):
            with self.assertRaises(KeyboardInterrupt):
                export.day(DAY)
        names = [each.name for each in self.file().parent.iterdir()]
        self.assertEqual(sorted(names), [f".{demo.DAY}.parquet.part", ".lock"])


if __name__ == "__main__":
    unittest.main()
