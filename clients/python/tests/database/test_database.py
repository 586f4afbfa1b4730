"""Questions to a database, compared with psycopg's rows."""

import math
import unittest
from datetime import datetime
from unittest import mock
from zoneinfo import ZoneInfo

import numpy as np

import candled
import demo

SHANGHAI = ZoneInfo("Asia/Shanghai")
SYMBOL = "sh600000"
ALL = "select * from candled.candles(array['sh600000', 'bj920000'], '5m') c"


class DatabaseTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.db = demo.opened()
        cls.addClassCleanup(cls.db.close)

    def test_columns_are_what_rows_are(self):
        expected = demo.rows(ALL)
        exact = self.db.candles([SYMBOL, "bj920000"], "5m", exact=True)
        floats = self.db.candles([SYMBOL, "bj920000"], "5m")
        self.assertGreater(len(expected), 300)
        self.assertEqual((len(exact), len(floats)), (len(expected), len(expected)))
        for place, name in enumerate(exact.names):
            column = [row[place] for row in expected]
            with self.subTest(name):
                if name in ("opened_at", "closed_at", "known_from"):
                    found = exact.to_pandas().reset_index()[name].tolist()
                    self.assertEqual([str(each) for each in found], [str(each) for each in column])
                elif name == "trading_day":
                    self.assertEqual(exact[name].astype("datetime64[D]").tolist(), column)
                elif name in ("open", "high", "low", "close", "volume", "turnover", "vwap"):
                    self.assertEqual([str(each) for each in exact[name]],
                                     [str(each) for each in column])
                    numbers = [math.nan if each is None else float(each) for each in column]
                    np.testing.assert_array_equal(floats[name], numbers)
                else:
                    missing = [None if each != each else each for each in exact[name]]
                    self.assertEqual(missing, column)

    def test_pandas_has_times_of_shanghai_and_symbols(self):
        frame = self.db.candles("600000.SH", "1m", demo.DAY, "2026-07-07").to_pandas()
        first = datetime(2026, 7, 6, 9, 30, tzinfo=SHANGHAI)
        self.assertEqual((frame.index.name, frame.index[0]), ("opened_at", first))
        self.assertEqual(str(frame.index.tz), "Asia/Shanghai")
        self.assertEqual(list(frame["symbol"].cat.categories), [SYMBOL])
        self.assertEqual(str(frame["close"].dtype), "float64")
        self.assertEqual(len(frame), 240)

    def test_polars_has_the_same(self):
        table = self.db.candles(SYMBOL, "5m", demo.DAY, exact=True)
        frame = table.to_polars()
        self.assertEqual(frame["close"].to_list(), table["close"].tolist())
        self.assertEqual(str(frame["opened_at"].dtype.time_zone), "Asia/Shanghai")

    def test_times_without_an_offset_are_of_the_zone(self):
        begin = datetime(2026, 7, 6, 10)
        of_shanghai = self.db.candles(SYMBOL, "1m", begin, newest=1000)["opened_at"][0]
        with demo.opened(zone="America/New_York") as db:
            aware = db.candles(SYMBOL, "1m", begin.replace(tzinfo=SHANGHAI))
        self.assertEqual(of_shanghai, np.datetime64("2026-07-06T02:00"))
        self.assertEqual(aware["opened_at"][0], of_shanghai)
        self.assertEqual(aware.to_pandas().index[0].hour, 22)

    def test_the_market_of_a_day_is_whole_and_in_order(self):
        table = self.db.market(demo.DAY, "30m", market="cn", columns=["close"])
        expected = demo.rows(
            "select symbol, opened_at, close from candled.candle_30m "
            "where trading_day = %s and state = 'final' order by symbol, opened_at", demo.DAY)
        self.assertGreater(len(expected), 100)
        self.assertEqual(table["symbol"].tolist(), [row[0] for row in expected])
        self.assertEqual(table["close"].tolist(), [float(row[2]) for row in expected])
        self.assertEqual(table.names, ("symbol", "opened_at", "close"))

    def test_adjusted_and_past_values_are_asked_for(self):
        symbol, = demo.rows("select symbol from candled.factors where kind = 'qfq' and factor <> 1 "
                            "order by symbol limit 1")[0]
        for options in ({"adjust": "qfq"}, {"adjust": "hfq"}, {"as_of": "2026-07-06 10:00"}):
            (name, value), = options.items()
            expected = demo.rows(
                f"select close from candled.candles(%s, '1d', {name} => %s)", symbol, value)
            found = self.db.candles(symbol, "1d", exact=True, **options)
            self.assertEqual([row[0] for row in expected], found["close"].tolist())
        raw = self.db.candles(symbol, "1d")["close"]
        self.assertFalse(np.array_equal(raw, self.db.candles(symbol, "1d", adjust="hfq")["close"]))

    def test_quotes_gaps_and_reasons_are_those_of_the_views(self):
        latest = self.db.latest([SYMBOL, "AAPL"], exact=True)
        expected = demo.rows("select last, bid_prices[2] from candled.latest where symbol = %s", SYMBOL)
        place = latest["symbol"].tolist().index(SYMBOL)
        self.assertEqual((latest["last"][place], latest["bid_price_2"][place]), expected[0])
        gaps = demo.rows("select symbol, volume from candled.gaps")
        found = self.db.gaps(exact=True)
        self.assertCountEqual(zip(found["symbol"], found["volume"], strict=True), gaps)
        why = self.db.why(SYMBOL, "2026-07-06 09:31")
        self.assertIn("candle", why["what"].tolist())
        self.assertEqual(len(self.db.gaps(start="2026-07-07")), 0)

    def test_mistakes_name_what_was_expected(self):
        for ask in (self.db.candles, self.db.gaps, self.db.latest):
            with self.assertRaisesRegex(candled.BadArgument, "nearest: .*sh600000.*'sh60000'"):
                ask("sh60000")
        with self.assertRaisesRegex(candled.BadArgument, "timeframe: expected 1m, .*'7m'"):
            self.db.candles(SYMBOL, "7m")
        with self.assertRaisesRegex(candled.BadArgument, "market: expected one of cn, us.*'de'"):
            self.db.market(demo.DAY, market="de")
        with self.assertRaisesRegex(candled.BadArgument, "column: expected .*close.*'clsoe'"):
            self.db.candles(SYMBOL, newest=1)["clsoe"]
        with self.assertRaisesRegex(candled.QueryFailed, "nosuch"):
            self.db.query("select nosuch")
        with self.assertRaisesRegex(candled.ConnectionFailed, "candled-demo --open /nowhere"):
            candled.open("/nowhere")
        self.assertEqual(len(self.db.candles(SYMBOL, newest=1)), 1)

    def test_a_package_that_is_missing_is_named_with_its_extra(self):
        table = self.db.candles(SYMBOL, newest=1)
        for package, ask in (("pandas", table.to_pandas), ("polars", table.to_polars)):
            with mock.patch.dict("sys.modules", {package: None}):
                with self.assertRaisesRegex(candled.MissingPackage, rf"candled\[{package}\]"):
                    ask()

    def test_a_session_that_was_ended_is_replaced(self):
        with demo.opened() as db:
            pid = db.query("select pg_backend_pid() as pid")["pid"][0]
            demo.rows("select pg_terminate_backend(%s)", int(pid))
            with self.assertRaises(candled.ConnectionFailed):
                db.latest(SYMBOL)
            self.assertEqual(len(db.latest(SYMBOL)), 1)

    def test_a_plot_has_a_line_for_each_symbol(self):
        axes = mock.Mock()
        self.db.candles([SYMBOL, "bj920000"], "5m", demo.DAY).plot(axes=axes)
        self.assertEqual([call.kwargs["label"] for call in axes.plot.call_args_list],
                         [SYMBOL, "bj920000"])
        times, closes = axes.plot.call_args_list[0].args
        self.assertEqual((len(times), closes.dtype), (48, np.float64))

    def test_nothing_can_be_written(self):
        with self.assertRaisesRegex(candled.QueryFailed, "read-only|permission"):
            self.db._rows(candled.database.sql.SQL("create table public.t (a int)"))


if __name__ == "__main__":
    unittest.main()
