#!/usr/bin/env python3
"""Every screen at every width, in both themes and languages: nothing overflows, everything has a
name, nothing is left in the other language, and the Content-Security-Policy allows all of it."""

import json
import unittest

import browser

ROUTES = ["", "search/6000", "stock/sh600000", "stock/nothing", "watchlists", "portfolio", "orders",
          "queue", "account", "alerts", "health", "settings", "nowhere"]
WIDTHS = [390, 1024, 1600]

READY = "return document.querySelector('main')?.children.length > 0 " \
    "&& !document.querySelector('main .loading')"

# Before the page begins; what is opened first has no storage.
SPEAK = """
if (location.protocol === "http:") {
  localStorage.setItem("candled.settings", JSON.stringify({ language: %s }));
}
"""

NAMELESS = """
return [...document.querySelectorAll("button, a, input, [tabindex='0']")].filter((node) =>
  node.checkVisibility() && !(node.ariaLabel || node.textContent.trim() || node.labels?.length))
  .map((node) => node.outerHTML.slice(0, 120));
"""

# Texts of the page itself; names of instruments stay as the exchange writes them.
FOREIGN = """
const found = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const node = walker.currentNode;
  if (node.parentElement.closest(
    ".stock-name, .index-name, h1, .option, noscript, .range-name")) continue;
  if (/[\\u4e00-\\u9fff]/.test(node.data)) found.push(node.data);
}
return found;
"""

COLUMNS = """
return [...document.querySelectorAll("main table.stocks")].map((table) => [
  table.parentElement.clientWidth,
  [...table.querySelectorAll("thead th")].filter((cell) => cell.checkVisibility()).length]);
"""


def columns_for(width):
    return 4 + sum(width >= bound for bound in (420, 550, 700, 750))


class Screens(browser.PageTest):
    def size(self, width):
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": False})

    def show(self, route, scheme, language):
        browser.appearance(self.driver, scheme)
        added = self.driver.execute_cdp_cmd(
            "Page.addScriptToEvaluateOnNewDocument", {"source": SPEAK % json.dumps(language)})
        self.open(route)
        self.wait(READY)
        self.driver.execute_cdp_cmd(
            "Page.removeScriptToEvaluateOnNewDocument", {"identifier": added["identifier"]})

    def tearDown(self):
        said = browser.complaints(self.driver)
        self.assertEqual([line for line in said if "stocks/nothing" not in line], [])

    def test_screens_fit_and_have_names(self):
        for width in WIDTHS:
            self.size(width)
            for route in ROUTES:
                scheme, language = ("light", "en") if width != 1024 else ("dark", "zh")
                with self.subTest(width=width, route=route):
                    self.show(route, scheme, language)
                    overflow = self.run_script(
                        "return document.documentElement.scrollWidth - innerWidth")
                    self.assertLessEqual(overflow, 0)
                    self.assertEqual(self.run_script(NAMELESS), [])
                    self.assertNotEqual(self.run_script("return document.title"), "")
                    if language == "en":
                        self.assertEqual(self.run_script(FOREIGN), [])
                    for table_width, count in self.run_script(COLUMNS):
                        self.assertEqual(count, columns_for(table_width), table_width)

    def test_colours_and_language_change_at_once(self):
        self.show("settings", "light", "en")
        colour = "return getComputedStyle(document.documentElement).getPropertyValue('--rising')"
        before = self.run_script(colour)
        self.run_script("document.getElementById('setting-colours-green-up').click()")
        self.assertNotEqual(self.run_script(colour), before)
        self.run_script("document.getElementById('setting-language-zh').click()")
        self.wait("return document.querySelector('h1').textContent === '设置'")
        self.assertEqual(self.run_script("return document.documentElement.lang"), "zh-Hans")

    def test_certificate_and_gaps_go_on_with_the_day(self):
        added = self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """
          const own = setInterval;
          setInterval = (action, pause) => own(action, pause === 60_000 ? 200 : pause);
        """})
        self.open("stock/sh600000")
        self.wait("""
          const asked = performance.getEntriesByType("resource").map(({ name }) => name);
          return ["/coverage?", "/gaps"].every(
            (path) => asked.filter((name) => name.includes(path)).length > 2);
        """)
        self.driver.execute_cdp_cmd(
            "Page.removeScriptToEvaluateOnNewDocument", {"identifier": added["identifier"]})

    def test_no_motion_is_shown_to_those_who_want_none(self):
        browser.appearance(self.driver, reduced_motion=True)
        self.open("")
        self.wait("return document.querySelector('main tr[data-symbol]')")
        self.run_script("""
          const row = document.querySelector("main tr[data-symbol]");
          const table = candled.page.screen.moverTable;
          const [id, shown] = [...table.rows][0];
          table.update([{ ...shown.stock, currentPrice: "1", seq: shown.stock.seq + 1e6 }]);
        """)
        self.assertEqual(self.run_script("return document.getAnimations().length"), 0)


if __name__ == "__main__":
    unittest.main()
