#!/usr/bin/env python3
"""The slider shows the chart as it was known at a moment, and back."""

import unittest

import browser

SYMBOL = "sh600000"
SLIDE = """
const slider = document.querySelector(".as-of input");
slider.value = arguments[0];
slider.dispatchEvent(new Event("input", { bubbles: true }));
"""


class AsOf(browser.PageTest):
    def test_the_past_has_only_what_was_known_then(self):
        self.open(f"stock/{SYMBOL}")
        # A demo that has just opened needs some minutes.
        self.wait("return candled.page.screen?.panel?.series?.length > 20", seconds=120)
        rows = browser.answer(f"/v1/stocks/{SYMBOL}/history?interval=1m&period=1d")["rows"]
        step = len(rows) // 2
        moment = rows[step]["closedAt"]
        self.run_script(SLIDE, str(step))
        self.wait(
            "return candled.page.screen.panel.chart.series.length < arguments[0]", len(rows))
        self.assertEqual(self.text(".as-of-text"), f"{moment[:10]} {moment[11:19]}")
        at = moment.replace("+", "%2B")
        known = browser.answer(
            f"/v1/stocks/{SYMBOL}/history?interval=1m&period=1d&asOf={at}")["rows"]
        self.assertLess(len(known), len(rows))
        geometry = self.run_script("return candled.page.screen.panel.chart.geometry()")
        self.assertEqual(
            [candle["openedAt"] for candle in geometry["candles"]],
            [row["openedAt"] for row in known])
        # The axis stays that of the whole day.
        self.assertEqual(geometry["slotCount"], 240)
        self.click(".as-of button")
        self.wait(
            "return candled.page.screen.panel.chart.series.length >= arguments[0]", len(rows))
        self.assertEqual(self.text(".as-of-text"), "now")


if __name__ == "__main__":
    unittest.main()
