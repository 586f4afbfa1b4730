#!/usr/bin/env python3
"""A click on a candle shows where it came from."""

import unittest

from selenium.webdriver.common.action_chains import ActionChains

import browser

SYMBOL = "sh600000"


class Why(browser.PageTest):
    width, height = 1600, 1000

    def test_a_click_shows_the_facts_that_the_gateway_has(self):
        self.open(f"stock/{SYMBOL}")
        self.wait("return candled.page.screen?.panel?.series?.length > 26", seconds=120)
        geometry = self.run_script("return candled.page.screen.panel.chart.geometry()")
        candle = geometry["candles"][20]
        chart = self.driver.find_element("css selector", ".chart")
        size = chart.size
        ActionChains(self.driver).move_to_element_with_offset(
            chart, candle["x"] - size["width"] // 2, candle["close"] - size["height"] // 2,
        ).click().perform()
        self.wait("return document.querySelectorAll('.why .facts li').length > 0")
        shown = self.run_script(
            "return [...document.querySelectorAll('.why .fact-detail')].map((e) => e.textContent)")
        at = candle["openedAt"].replace("+", "%2B")
        facts = browser.answer(f"/v1/stocks/{SYMBOL}/why?interval=1m&at={at}")["facts"]
        self.assertEqual(shown, [fact["detail"] for fact in facts])
        self.assertIn(candle["openedAt"][11:16], self.text(".why h3"))


if __name__ == "__main__":
    unittest.main()
