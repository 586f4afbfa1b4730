#!/usr/bin/env python3
"""Prices and candles that move; needs a demo whose market is open. The stream is stitched to the
answers: whatever connections are lost, the chart has each final candle of the gateway, once."""

import time
import unittest

import browser

SYMBOL = "sh600000"
# The demo's: before its first quotes the gateway answers with the day before.
DAY = "2026-07-06"
CUTS = 3
# Longer than a minute of the demo, so that candles end meanwhile.
CUT_SECONDS = 8

CUT = "const { feed } = candled; feed.connect = () => {}; feed.socket.close();"
HEAL = "const { feed } = candled; delete feed.connect; feed.retryNow();"

FINAL = """
const { series } = candled.page.screen.panel;
return series.text.openedAt
  .map((openedAt, row) => ({ openedAt, ...series.candle(row) }))
  .filter(({ state }) => state === "final");
"""


def minutes():
    answer = browser.answer(f"/v1/stocks/{SYMBOL}/history?interval=1m&period=1d")
    return [row for row in answer["rows"] if row["openedAt"].startswith(DAY)]


def world():
    return [row["symbol"] for row in browser.answer("/v1/market")["indexes"]]


class Live(browser.PageTest):
    is_whole = True

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        deadline = time.monotonic() + 120
        while not (minutes() and world()):
            if time.monotonic() > deadline:
                raise AssertionError("the demo's day does not begin")
            time.sleep(0.5)

    def setUp(self):
        self.open(f"stock/{SYMBOL}")
        self.wait("return candled.page.screen?.panel?.series?.length > 0", seconds=60)

    def test_the_price_moves_and_the_last_candle_with_it(self):
        before = self.text(".big")
        self.wait("return document.querySelector('.big').textContent !== arguments[0]", before)
        # Of one quote both come, but not in one step.
        self.wait("""
          const { panel, stock } = candled.page.screen;
          return panel.series.text.close.at(-1) === (stock.forming?.close ?? null);
        """)

    def test_the_next_day_begins_a_chart_of_its_own(self):
        self.run_script("""
          const { panel } = candled.page.screen;
          window.earlier = panel.series;
          panel.showStock({ ...panel.stock, tradingDay: "2036-07-04" });
        """)
        self.wait("return candled.page.screen.panel.series !== window.earlier")

    def test_home_shows_indexes_of_the_mainland_and_of_the_world(self):
        self.open()
        self.wait("return document.querySelectorAll('.index').length >= 5", seconds=60)
        shown = self.text(".indexes")
        self.assertEqual(world(), ["gb_$dji", "gb_$inx", "gb_$ixic"])
        foreign = browser.answer("/v1/market")["indexes"]
        mainland = [browser.answer(f"/v1/stocks/{symbol}") for symbol in ("sh000001", "sz399001")]
        for index in foreign + mainland:
            self.assertIn(index["name"], shown)

    def test_lost_connections_leave_no_hole(self):
        first = len(self.run_script(FINAL))
        for _ in range(CUTS):
            self.run_script(CUT)
            time.sleep(CUT_SECONDS)
            self.run_script(HEAL)
            self.wait("return candled.feed.state === 'live'")
        final = [row for row in minutes() if row["state"] == "final"]
        last = final[-1]["openedAt"]
        self.wait(f"{FINAL.strip().removesuffix(';')}"
                  ".some(({ openedAt }) => openedAt === arguments[0])", last)
        shown = [row for row in self.run_script(FINAL) if row["openedAt"] <= last]
        self.assertGreater(len(shown), first, "no minute ended while the test ran")
        fields = ("openedAt", "open", "high", "low", "close", "volume", "revision")
        self.assertEqual(
            [[row[field] for field in fields] for row in shown],
            [[row[field] for field in fields] for row in final])


if __name__ == "__main__":
    unittest.main()
