#!/usr/bin/env python3
"""axe-core on every screen in both themes, and the order of the keyboard's focus."""

import re
import unittest

from selenium.webdriver.common.keys import Keys

import browser

ROUTES = ["", "search/6000", "stock/sh600000", "watchlists", "portfolio", "orders", "queue",
          "account", "alerts", "health", "settings"]
FORMS = [("stock/sh600000", ".actions [data-side=buy]"),
         ("stock/sh600000", ".actions button:nth-child(3)"),
         ("stock/sh600000", ".actions button:last-child")]

FOCUSED = """
const node = document.activeElement;
return node === document.body ? "" : node.getAttribute("class") ?? node.textContent.trim();
"""


class Accessibility(browser.PageTest):
    def test_axe_finds_nothing_serious(self):
        for scheme in ("light", "dark"):
            browser.appearance(self.driver, scheme, reduced_motion=True)
            for route in ROUTES:
                with self.subTest(scheme=scheme, route=route):
                    self.open(route, token=browser.TOKEN or None)
                    self.wait("return document.querySelector('main')?.children.length > 0 "
                              "&& !document.querySelector('main .loading')")
                    if route.startswith("stock/"):
                        self.wait("return candled.page.screen.panel.series?.length > 0")
                        self.run_script("candled.page.screen.panel.chart.select(0)")
                        self.wait("return document.querySelector('.why .facts')")
                    self.assertEqual(self.serious(), [])

    def test_axe_finds_nothing_serious_in_forms(self):
        for scheme in ("light", "dark"):
            browser.appearance(self.driver, scheme, reduced_motion=True)
            for route, button in FORMS:
                with self.subTest(scheme=scheme, button=button):
                    self.open(route, token=browser.TOKEN)
                    self.click(button)
                    self.wait("return document.querySelector('dialog .instrument-line strong')")
                    self.assertEqual(self.serious(), [])

    def test_tab_goes_from_the_top_to_the_content(self):
        self.open("stock/sh600000")
        self.wait("return candled.page.screen?.panel?.series")
        seen = []
        for _ in range(32):
            self.driver.switch_to.active_element.send_keys(Keys.TAB)
            seen.append(self.run_script(FOCUSED))
        # How many notifications are unread depends on the tests before.
        self.assertEqual(
            [re.sub(r"\d+ unread$", "", name) for name in seen[:9]], ["skip", "brand", "Home" * 2, "WatchlistsLists", "Trading" * 2,
                       "Alerts" * 2, "Market healthHealth", "Settings" * 2, "search"])
        for name in ("Intraday", "MAX", "Line", "chart"):
            self.assertIn(name, seen)
        self.assertLess(seen.index("Intraday"), seen.index("chart"))


if __name__ == "__main__":
    unittest.main()
