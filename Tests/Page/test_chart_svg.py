#!/usr/bin/env python3
"""The chart that the gateway draws as SVG, in a browser, against what it answers as numbers: what
stands at the pixels of a candle, for some instruments and periods."""

import time
import unittest
from decimal import ROUND_HALF_UP, Decimal

import browser

PERIODS = {
    "interval=1m&period=1d": 240, "interval=5m&period=5d": 48, "interval=1d&period=1y": None,
    "interval=1wk&period=max": None, "interval=1mo&period=max": None,
}
INSTRUMENTS = 4
SAMPLES = 24
WIDTH, HEIGHT = 1500, 700

# The paths whose strokes are at points of the picture; a body is wider than a wick.
HITS = """
return arguments[0].map(([x, y]) => {
  const hit = document.elementFromPoint(x + 0.5, y + 0.5);
  return hit.tagName === "path" ? hit.getAttribute("class") : null;
});
"""
SCALE = """
const group = document.querySelector("[data-low]");
const grid = document.querySelector("path.g").getAttribute("d").match(/^M(\\d+) \\d+h(\\d+)/);
return { ...group.dataset, left: +grid[1], width: +grid[2] };
"""


class ChartPicture(browser.PageTest):
    width, height = WIDTH, HEIGHT + 100

    def tearDown(self):
        pass  # A picture has no console.

    def test_candles_stand_where_the_answers_say(self):
        stocks = browser.answer("/v1/stocks?sort=turnover&limit=200")["stocks"]
        traded = [stock["symbol"] for stock in stocks if stock.get("currentPrice")]
        symbols = traded[::max(len(traded) // INSTRUMENTS, 1)][:INSTRUMENTS]
        for symbol in symbols:
            for query, slots in PERIODS.items():
                with self.subTest(symbol=symbol, query=query):
                    self.compare(symbol, query, slots)

    def rows(self, symbol, query):
        """Once one of them is final: the market may just have opened."""
        for _ in range(60):
            rows = browser.answer(f"/v1/stocks/{symbol}/history?{query}")["rows"]
            if any(self.is_final(row) for row in rows):
                break
            time.sleep(1)
        return rows

    @staticmethod
    def is_final(row):
        return row["state"] == "final" and row["close"] is not None

    def scale(self, picture):
        """Where a picture has its prices. An address gets so many a second."""
        for _ in range(20):
            self.driver.get(picture)
            if self.run_script("return document.documentElement.tagName") == "svg":
                return self.run_script(SCALE)
            time.sleep(1)
        self.fail(f"{picture} was refused for 20 s")

    def compare(self, symbol, query, slots):
        rows = self.rows(symbol, query)
        scale = self.scale(
            f"{self.address}/v1/stocks/{symbol}/chart.svg?{query}&width={WIDTH}&height={HEIGHT}")
        low, high = Decimal(scale["low"]), Decimal(scale["high"])
        top, bottom = int(scale["top"]), int(scale["bottom"])
        days = sorted({row["tradingDay"] for row in rows})
        count = len(days) * slots if slots else len(rows)

        def y(text):
            share = (high - Decimal(text)) / (high - low) * (bottom - top)
            return top + int(share.quantize(Decimal(1), ROUND_HALF_UP))

        def x(index, row):
            slot = self.slot(days, row, slots) if slots else index
            return scale["left"] + (2 * slot + 1) * scale["width"] // (2 * count)

        self.assertLessEqual(count, min(scale["width"], 1200))
        # What is not over may have moved on between the two answers.
        final = [(index, row) for index, row in enumerate(rows) if self.is_final(row)]
        self.assertGreater(len(final), 0)
        points, expected = [], []
        for index, row in final[::max(len(final) // SAMPLES, 1)]:
            middle = x(index, row)
            name = "u" if Decimal(row["close"]) >= Decimal(row["open"]) else "d"
            points += [(middle, y(row["high"])), (middle, y(row["low"]))]
            body = max(y(row["open"]), y(row["close"])) - 1
            points.append((middle, max(body, min(y(row["open"]), y(row["close"])))))
            expected += [name] * 3
            points.append((middle, y(row["high"]) - 2))
            expected.append(None)
        hits = self.run_script(HITS, points)
        for hit, name, point in zip(hits, expected, points):
            if hit in ("w", "n", "m", "m i", "M", "g", "a e", "u e", "d e"):
                continue  # The mean price, a mark or a level crosses it.
            if name is None:
                self.assertNotIn(hit, ("u", "d"), point)
            else:
                self.assertEqual(hit, name, point)

    @staticmethod
    def slot(days, row, slots):
        minute = int(row["openedAt"][11:13]) * 60 + int(row["openedAt"][14:16])
        minute -= 570 if minute < 690 else 660
        return days.index(row["tradingDay"]) * slots + minute * slots // 240


if __name__ == "__main__":
    unittest.main()
