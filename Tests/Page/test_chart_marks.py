#!/usr/bin/env python3
"""Gaps as bands, marks of candles, and what the keyboard does with the chart."""

import unittest

from selenium.webdriver.common.keys import Keys

import browser

SYMBOL = "sh600000"

MARKS = """
const { chart } = candled.page.screen.panel;
const day = chart.series.days.at(-1);
const gap = (from, to, cause) => ({
  symbol: chart.series.symbol, tradingDay: day, from: `${day}T${from}:00+08:00`,
  to: `${day}T${to}:00+08:00`, volume: "100", turnover: "0", cause, state: "open",
  knownFrom: `${day}T${to}:00+08:00`,
});
chart.setGaps([gap("10:00", "10:30", "outage"), gap("11:20", "11:30", "late_start"),
  gap("14:50", "15:00", "unseen_close")]);
// On a busy machine the demo misses minutes of its own.
for (let row = 0; row < chart.series.length; row += 1) {
  chart.put({ ...chart.series.candle(row), flags: [], revision: 0 });
}
const [tenth, twentieth, last] = ["09:40", "09:50", "09:55"].map(
  (time) => chart.series.candle(chart.series.rowFrom(chart.series.slotAt(day, `${day}T${time}`))));
chart.put({ ...tenth, flags: ["partial"] });
chart.put({ ...twentieth, flags: ["extreme_ambiguous"] });
chart.put({ ...last, revision: 2 });
return chart.geometry();
"""


class ChartMarks(browser.PageTest):
    width, height = 1600, 1000

    def setUp(self):
        self.open(f"stock/{SYMBOL}")
        # A demo that has just opened needs some minutes.
        self.wait("return candled.page.screen?.panel?.series?.length > 26", seconds=120)

    def test_gaps_are_bands_over_the_minutes_that_were_not_seen(self):
        geometry = self.run_script(MARKS)
        step = geometry["plot"]["width"] / 240
        bands = [(round(band["left"] / step), round(band["width"] / step), band["label"])
                 for band in geometry["bands"]]
        self.assertEqual(bands, [
            (30, 30, "outage"), (110, 10, "late start"), (230, 10, "close not seen")])

    def test_candles_that_are_not_plain_have_marks(self):
        marks = self.run_script(MARKS)["marks"]
        self.assertEqual(
            [(mark["kind"], mark["openedAt"][11:16]) for mark in marks],
            [("partial", "09:40"), ("ambiguous", "09:50"), ("revision", "09:55")])

    def test_keys_move_zoom_and_explain(self):
        chart = self.wait("return document.querySelector('.chart')")
        self.run_script("arguments[0].focus()", chart)
        chart.send_keys(Keys.HOME)
        self.assertIn("09:30", self.text(".legend-time"))
        chart.send_keys(Keys.ARROW_RIGHT)
        self.assertIn("09:31", self.text(".legend-time"))
        before = self.run_script("return candled.page.screen.panel.chart.view.span")
        chart.send_keys("+")
        self.assertLess(
            self.run_script("return candled.page.screen.panel.chart.view.span"), before)
        chart.send_keys("0")
        self.assertEqual(
            self.run_script("return candled.page.screen.panel.chart.view.span"), before)
        chart.send_keys(Keys.ENTER)
        self.wait("return document.querySelectorAll('.why .facts li').length > 0")
        self.assertIn("09:31", self.text(".why h3"))


if __name__ == "__main__":
    unittest.main()
