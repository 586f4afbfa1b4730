"""One type a column in all Parquet files, whatever the numbers of a day are: read as one table by
DuckDB, polars and pyarrow, to the digit. Without a database."""

import random
import tempfile
import unittest
from decimal import Decimal, localcontext
from pathlib import Path

import duckdb
import numpy as np
import polars
import pyarrow
from pyarrow import dataset

import candled
from candled import arrow
from candled.columns import Column
from candled.parquet_files import Parquet, load
from candled.tables import Table

NAMES = ("close", "vwap", "turnover")
# Of a market, year by year: the decimals of prices, of averages, of money; the largest money.
DAYS = {
    ("cn", "2025-12-31"): (2, 4, 0, 10**12), ("cn", "2026-01-05"): (3, 4, 3, 10**10),
    ("us", "2025-12-31"): (4, 6, 2, 10**7), ("us", "2026-01-02"): (0, 10, 8, 10**13),
}


def numbers(source, decimals, limit, rows):
    """So many of at most these decimals, some of them nothing."""
    found = []
    for _ in range(rows):
        each = source.randrange(0, decimals + 1)
        value = Decimal(source.randrange(limit * 10**each)).scaleb(-each)
        found.append(None if source.random() < 0.1 else value)
    return found


def column(values):
    """As the decoder makes one."""
    decimals = np.array(
        [0 if value is None else -value.as_tuple().exponent for value in values], dtype=np.uint8)
    with localcontext() as context:
        context.prec = 60
        whole = [0 if value is None else int(value.scaleb(int(places)))
                 for value, places in zip(values, decimals, strict=True)]
    is_short = all(abs(each) < 1 << 63 for each in whole)
    valid = np.array([value is not None for value in values])
    return Column(
        "decimal", np.array(whole, dtype=np.int64 if is_short else object),
        None if valid.all() else valid, decimals)


def texts(values):
    return Column(
        "text", np.arange(len(values), dtype=np.int32), None, words=tuple(values))


def times(values):
    return Column("time", np.array(values, dtype="datetime64[us]"))


class FilesTests(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.seed = random.randrange(1 << 32)
        self.source = random.Random(self.seed)

    def write(self, market, day, values):
        rows = len(next(iter(values.values())))
        table = Table(
            {"symbol": texts([f"s{row}" for row in range(rows)]),
             "opened_at": times([f"{day}T01:30"] * rows),
             "closed_at": times([f"{day}T01:31"] * rows),
             **{name: column(each) for name, each in values.items()}}, zone="Asia/Shanghai")
        path = self.folder / f"market={market}" / f"{day}.parquet"
        path.parent.mkdir(exist_ok=True)
        Parquet().write(path, table, {})
        return path

    def all_days(self, rows=500):
        written = {}
        for (market, day), (prices, averages, money, limit) in DAYS.items():
            values = {
                "close": numbers(self.source, prices, 10**5, rows),
                "vwap": numbers(self.source, averages, 10**5, rows),
                "turnover": numbers(self.source, money, limit, rows)}
            written[self.write(market, day, values)] = values
        return written

    def test_two_markets_and_two_years_are_one_table_for_all_readers(self):
        written = self.all_days()
        # A file of nothing but nulls, and one of whole numbers alone.
        written[self.write("us", "2026-01-05", {name: [None] * 3 for name in NAMES})] = {
            name: [] for name in NAMES}
        files = f"{self.folder}/*/*.parquet"
        expected = [
            sum((each for day in written.values() for each in day[name] if each is not None),
                Decimal())
            for name in NAMES]
        sums = ", ".join(f"sum({name})" for name in NAMES)
        by_duckdb = duckdb.sql(f"select {sums} from read_parquet('{files}')").fetchall()[0]
        by_polars = polars.scan_parquet(files).select(polars.sum(*NAMES)).collect().row(0)
        table = dataset.dataset(self.folder, partitioning="hive").to_table(columns=list(NAMES))
        by_arrow = [pyarrow.compute.sum(table[name]).as_py() for name in NAMES]
        for found in (by_duckdb, by_polars, by_arrow):
            self.assertEqual(list(found), expected, self.seed)

    def test_a_column_has_the_same_type_in_every_file(self):
        kinds = {
            path: dataset.dataset(path).schema.field("turnover").type for path in self.all_days(9)}
        self.assertEqual(set(kinds.values()), {pyarrow.decimal128(38, 10)})

    def test_each_number_keeps_the_digits_that_the_database_has(self):
        for path, values in self.all_days().items():
            found = load(path)
            for name in NAMES:
                self.assertEqual(
                    [None if each is None else str(each) for each in found[name]],
                    [None if each is None else str(each) for each in values[name]],
                    (self.seed, name))

    def test_numbers_of_either_sign_and_any_size_come_back(self):
        values = [Decimal(text) for text in (
            "0", "-0.01", "-1", "9223372036854775807", "-9223372036854775808", "0.0000000001",
            "922337203685477580.7", "-92233720368547.75808", "99999999999999999999999999.99",
            "-12345678901234567890.1234567890")]
        for some in (values, values[:-2], values[:3]):
            path = self.write("cn", "2026-07-06", {"turnover": some})
            self.assertEqual(load(path)["turnover"].tolist(), some)
            by_duckdb = duckdb.sql(f"select turnover from '{path}'").fetchall()
            self.assertEqual([row[0] for row in by_duckdb], some)

    def test_what_does_not_fit_is_refused_and_no_file_is_left(self):
        for text, sentence in (
            ("0.00000000001", "turnover has a number of 11 decimals, and a file keeps 10"),
            ("1" + "0" * 28, "turnover has a number of more than 28 digits before the point"),
        ):
            with self.assertRaisesRegex(candled.CandledError, sentence):
                self.write("cn", "2026-07-06", {"turnover": [Decimal("1.5"), Decimal(text)]})
            self.assertEqual(list(self.folder.glob("*/*")), [])

    def test_a_question_keeps_its_own_decimals(self):
        factor = Decimal("1.0472440944882000")
        found = arrow.table({"factor": column([factor, Decimal(1)])}, "UTC")
        self.assertEqual(found["factor"].to_pylist(), [factor, Decimal(1)])
        self.assertEqual(arrow.columns(found)["factor"].exact().tolist(), [factor, Decimal(1)])


if __name__ == "__main__":
    unittest.main()
