#!/usr/bin/env python3
"""An alert is made, fires into the inbox, is read and removed."""

import unittest

from selenium.webdriver.support.select import Select

import browser

SYMBOL = "sh600000"

# Whether the top shows how many are unread.
COUNTED = """
const count = document.querySelector('.top .count');
const unread = document.querySelectorAll('.news li.unread').length;
return unread === 0 ? count.hidden : count.textContent.startsWith(String(unread));
"""


class Alerts(browser.PageTest):
    def setUp(self):
        self.assertTrue(browser.TOKEN, "CANDLED_TOKEN is needed")
        for alert in browser.answer("/v1/alerts", token=browser.TOKEN)["alerts"]:
            browser.answer(f"/v1/alerts/{alert['id']}", "DELETE", token=browser.TOKEN)
        for notice in browser.answer("/v1/notifications", token=browser.TOKEN)["notifications"]:
            browser.answer(f"/v1/inbox/{notice['id']}", "DELETE", token=browser.TOKEN)

    def make(self, condition, threshold):
        """On the instrument's screen."""
        self.open(f"stock/{SYMBOL}", token=browser.TOKEN)
        self.click(".actions button:last-child")
        self.wait("return document.querySelector('dialog .instrument-line strong')")
        selects = self.wait("return [...document.querySelectorAll('dialog select')]")
        Select(selects[0]).select_by_value(condition)
        self.assertFalse(self.run_script("return document.querySelector("
                                         "'dialog .fields label:nth-of-type(2)').hidden"))
        self.wait("return document.querySelector('dialog .fields input')").send_keys(threshold)
        self.click("dialog button.primary")
        self.click("dialog .nearest a")

    def test_what_fires_is_in_the_inbox_until_it_is_removed(self):
        self.make("above", "0.01")
        # Orders of other tests have their own news.
        fired = self.wait("return [...document.querySelectorAll('.news li.unread')].find("
                          "(row) => row.textContent.includes('≥ 0.01'))?.dataset.id", seconds=60)
        self.wait(COUNTED)
        self.click(f".news li[data-id='{fired}'] button")
        self.wait(f"return document.querySelector('.news li[data-id=\"{fired}\"]:not(.unread)')")
        self.wait(COUNTED)
        self.click(f".news li[data-id='{fired}'] button")
        self.wait(f"return !document.querySelector('.news li[data-id=\"{fired}\"]')")

    def test_all_are_read_at_once(self):
        self.make("above", "0.01")
        self.wait("return document.querySelector('.news li.unread')", seconds=60)
        self.click(".alerts .card-head button:not(.primary)")
        self.wait("return document.querySelector('.news li:not(.unread)')")
        # What orders of other tests have sent since is read with the next click.
        self.wait("const all = document.querySelector('.alerts .card-head button:not(.primary)');"
                  "if (!all.hidden) all.click();"
                  "return all.hidden && document.querySelector('.top .count').hidden")

    def test_an_alert_that_waits_is_removed(self):
        self.make("above", "99999")
        self.wait("return document.querySelector('td[data-column=state]')?.textContent === 'armed'")
        self.click("td[data-column=remove] button")
        self.wait("return !document.querySelector('td[data-column=remove]')")
        self.assertEqual(browser.answer("/v1/alerts", token=browser.TOKEN)["alerts"], [])


if __name__ == "__main__":
    unittest.main()
