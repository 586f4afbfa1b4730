#!/usr/bin/env python3
"""What the chart draws, against what the gateway answers: places and pixels of candles, for twenty
instruments and five periods each."""

import time
import unittest

import browser

PERIODS = {
    ("intraday", "1d"): "interval=1m&period=1d",
    ("intraday", "5d"): "interval=5m&period=5d",
    ("daily", "1y"): "interval=1d&period=1y",
    ("weekly", "max"): "interval=1wk&period=max",
    ("monthly", "max"): "interval=1mo&period=max",
}
INSTRUMENTS = 20
SAMPLES = 12

GEOMETRY = """
const chart = candled.page.screen.panel.chart;
const geometry = chart.geometry();
geometry.colours = chart.colours;
return geometry;
"""

# The colours of points of the canvas, in CSS pixels.
PIXELS = """
const [points] = arguments;
const chart = candled.page.screen.panel.chart;
const ratio = chart.layout.ratio;
return points.map(([x, y]) => Array.from(
  chart.context.getImageData(Math.round(x * ratio), Math.round(y * ratio), 1, 1).data.slice(0, 3)));
"""


def minute_slot(day_index, opened_at, minutes):
    """Shanghai's 240 minutes of a day, so many to a candle."""
    minute = int(opened_at[11:13]) * 60 + int(opened_at[14:16])
    minute -= 570 if minute < 690 else 660
    return (day_index * 240 + minute) // minutes


def channels(colour):
    return [int(part) for part in colour[colour.index("(") + 1:-1].split(",")[:3]]


class ChartData(browser.PageTest):
    width, height = 1600, 1000

    def instruments(self):
        stocks = browser.answer("/v1/stocks?sort=turnover&limit=200")["stocks"]
        traded = [stock["symbol"] for stock in stocks if stock.get("currentPrice")]
        return traded[::max(len(traded) // INSTRUMENTS, 1)][:INSTRUMENTS]

    def test_candles_stand_where_the_answers_say(self):
        symbols = self.instruments()
        self.assertEqual(len(symbols), INSTRUMENTS)
        for symbol in symbols:
            self.open(f"stock/{symbol}")
            for (tab, period), query in PERIODS.items():
                with self.subTest(symbol=symbol, tab=tab, period=period):
                    self.choose(tab, period)
                    self.compare_while_it_moves(symbol, query)

    def choose(self, tab, period):
        self.wait("return document.querySelector('[data-name=\"intraday\"]') !== null")
        for name in (tab, period):
            self.run_script(
                "document.querySelector(`[data-name=\"${arguments[0]}\"]`).click()", name)
        self.wait("return candled.page.screen.panel.series !== null")

    def compare_while_it_moves(self, symbol, query):
        """A minute may end, or be corrected, between the answer and the drawing."""
        for tries in (2, 1, 0):
            try:
                return self.compare(symbol, query)
            except AssertionError:
                if not tries:
                    raise
                time.sleep(1)

    def compare(self, symbol, query):
        answer = browser.answer(f"/v1/stocks/{symbol}/history?{query}")
        # The candle of the moment moves, and the stream may be behind the answer for a moment.
        rows = [row for row in answer["rows"] if row["state"] == "final"]
        if not rows:
            return
        last = rows[-1]["openedAt"]
        self.wait("return candled.page.screen.panel.series.text.openedAt.includes(arguments[0])",
                  last)
        geometry = self.run_script(GEOMETRY)
        self.assertEqual(geometry["symbol"], symbol)
        self.assertFalse(geometry["isThinned"])
        drawn = {}
        for candle in geometry["candles"]:
            drawn[candle["openedAt"]] = candle
        plot, scale, view = geometry["plot"], geometry["scale"], geometry["view"]
        step = plot["width"] / view["span"]

        def height_of(text):
            share = (scale["high"] - float(text)) / (scale["high"] - scale["low"])
            return plot["top"] + share * plot["height"]

        days = sorted({row["tradingDay"] for row in rows})
        self.assertGreaterEqual(step, 1)
        for index, row in enumerate(rows):
            candle = drawn.get(row["openedAt"])
            self.assertIsNotNone(candle, row["openedAt"])
            slot = index
            if row_minutes := {"interval=1m": 1, "interval=5m": 5}.get(query.split("&")[0]):
                slot = minute_slot(
                    days.index(row["tradingDay"]), row["openedAt"], row_minutes)
            middle = plot["left"] + int((slot + 0.5 - view["first"]) * step)
            self.assertAlmostEqual(candle["x"] + candle["width"] // 2, middle, delta=1)
            for field in ("open", "high", "low", "close"):
                if row[field] is not None and candle["rows"] == 1:
                    self.assertAlmostEqual(candle[field], height_of(row[field]), delta=0.51)
        # What came since is newer.
        total = sum(candle["rows"] for candle in geometry["candles"]
                    if candle["openedAt"] <= last)
        self.assertEqual(total, len(rows))
        self.compare_pixels(rows, geometry)

    def compare_pixels(self, rows, geometry):
        """Bodies have the colour of their direction; what crosses them is drawn over."""
        prices = {row["openedAt"]: row for row in rows}
        bodies = [
            candle for candle in geometry["candles"]
            if candle["rows"] == 1 and candle["width"] >= 3 and candle["openedAt"] in prices
            and abs(candle["open"] - candle["close"]) >= 8
        ]
        picked = bodies[::max(len(bodies) // SAMPLES, 1)][:SAMPLES]
        points = []
        for body in picked:
            top = min(body["open"], body["close"])
            points += [(body["x"], top + 2), (body["x"], top + 5)]
        pixels = self.run_script(PIXELS, points)
        for index, body in enumerate(picked):
            row = prices[body["openedAt"]]
            is_rising = float(row["close"]) >= float(row["open"])
            colour = channels(geometry["colours"]["rising" if is_rising else "falling"])
            self.assertIn(colour, pixels[2 * index:2 * index + 2], row["openedAt"])


if __name__ == "__main__":
    unittest.main()
