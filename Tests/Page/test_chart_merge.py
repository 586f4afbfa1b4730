#!/usr/bin/env python3
"""Above one candle a pixel a column keeps what its candles reached; on made-up candles."""

import unittest

import browser
import measure

COUNT = 50_000

READ = """
chart.setSeries(make());
const geometry = chart.geometry();
const { high, low, open, close } = chart.series.text;
return { geometry, rows: { high, low, open, close } };
"""


class ChartMerge(browser.PageTest):
    def test_columns_keep_extremes_and_edges(self):
        self.open("settings")
        self.driver.execute_async_script(measure.MAKE, COUNT, "1d", "candles")
        read = self.run_script(READ)
        geometry, rows = read["geometry"], read["rows"]
        plot, scale = geometry["plot"], geometry["scale"]

        def height_of(price):
            share = (scale["high"] - price) / (scale["high"] - scale["low"])
            return plot["top"] + share * plot["height"]

        columns = geometry["candles"]
        self.assertEqual(sum(column["rows"] for column in columns), COUNT)
        self.assertLessEqual(len(columns), plot["width"])
        self.assertEqual(len({column["x"] for column in columns}), len(columns))
        first = 0
        for column in columns:
            held = slice(first, first + column["rows"])
            high = max(float(text) for text in rows["high"][held])
            low = min(float(text) for text in rows["low"][held])
            self.assertAlmostEqual(column["high"], height_of(high), delta=0.51)
            self.assertAlmostEqual(column["low"], height_of(low), delta=0.51)
            opened, closed = rows["open"][held][0], rows["close"][held][-1]
            self.assertAlmostEqual(column["open"], height_of(float(opened)), delta=0.51)
            self.assertAlmostEqual(column["close"], height_of(float(closed)), delta=0.51)
            first += column["rows"]


if __name__ == "__main__":
    unittest.main()
