#!/usr/bin/env python3
"""axe-core on every screen in both themes, and the order of the keyboard's focus. The script comes
inside PyPI's axe-playwright-python, which script/bootstrap puts into .build/python."""

import unittest

from selenium.webdriver.common.keys import Keys

import browser

ROUTES = ["", "search/6000", "stock/sh600000", "watchlists", "health", "settings"]

AXE = ".build/python/lib/*/site-packages/axe_playwright_python/axe.min.js"
RUN = """
const done = arguments[arguments.length - 1];
axe.run(document, { resultTypes: ["violations"] }).then(
  ({ violations }) => done(violations.map(({ id, impact, nodes }) => ({
    id, impact, nodes: nodes.slice(0, 5).map(({ html, failureSummary }) => (
      `${html.slice(0, 120)} ${failureSummary.slice(0, 220)}`)) }))),
  (error) => done([{ id: String(error), impact: "critical", nodes: [] }]));
"""

FOCUSED = """
const node = document.activeElement;
return node === document.body ? "" : node.getAttribute("class") ?? node.textContent.trim();
"""


class Accessibility(browser.PageTest):
    def test_axe_finds_nothing_serious(self):
        script = next(browser.ROOT.glob(AXE)).read_text()
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
                    self.run_script(script)
                    found = self.driver.execute_async_script(RUN)
                    serious = [entry for entry in found
                               if entry["impact"] in ("serious", "critical")]
                    self.assertEqual(serious, [])

    def test_tab_goes_from_the_top_to_the_content(self):
        self.open("stock/sh600000")
        self.wait("return candled.page.screen?.panel?.series")
        seen = []
        for _ in range(24):
            self.driver.switch_to.active_element.send_keys(Keys.TAB)
            seen.append(self.run_script(FOCUSED))
        self.assertEqual(
            seen[:7], ["skip", "brand", "Home" * 2, "Watchlists" * 2, "Market healthHealth",
                       "Settings" * 2, "search"])
        for name in ("Intraday", "MAX", "Line", "chart"):
            self.assertIn(name, seen)
        self.assertLess(seen.index("Intraday"), seen.index("chart"))


if __name__ == "__main__":
    unittest.main()
