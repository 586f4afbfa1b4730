#!/usr/bin/env python3
"""Search, watch, order, reload: the watchlist keeps what was done."""

import unittest

import browser


class Watchlist(browser.PageTest):
    def setUp(self):
        self.assertTrue(browser.TOKEN, "CANDLED_TOKEN is needed")
        for watchlist in self.watchlists():
            browser.answer(f"/v1/watchlists/{watchlist['id']}", "DELETE", token=browser.TOKEN)

    def watchlists(self):
        return browser.answer("/v1/watchlists", token=browser.TOKEN)["watchlists"]

    def symbols(self):
        return [row["symbol"] for watchlist in self.watchlists() for row in watchlist["symbols"]]

    def shown(self):
        return self.run_script(
            "return [...document.querySelectorAll('main [data-symbol]')]"
            ".map((row) => row.dataset.symbol)")

    def watch(self, symbol):
        field = self.wait("return document.querySelector('input.search')")
        self.run_script("arguments[0].focus(); arguments[0].value = ''", field)
        field.send_keys(symbol)
        self.click(f"tr[data-symbol='{symbol}'] a")
        self.wait("return document.querySelector('.heart')?.ariaLabel")
        self.click(".heart")
        self.wait("return document.querySelector('.heart').ariaPressed === 'true'")

    def test_what_is_found_is_watched_ordered_and_kept(self):
        self.open(token=browser.TOKEN)
        self.assertNotIn("token", self.run_script("return location.href"))
        self.watch("sh600000")
        self.watch("sz000001")
        self.assertEqual(self.symbols(), ["sh600000", "sz000001"])
        self.run_script("location.hash = '#/watchlists'")
        self.wait("return document.querySelectorAll('main tr[data-symbol]').length === 2")
        self.click("main .card-head button")
        self.click("li[data-symbol='sz000001'] [data-move='-1']")
        self.wait("return document.querySelector('main [data-symbol]').dataset.symbol"
                  " === 'sz000001'")
        self.assertEqual(self.symbols(), ["sz000001", "sh600000"])
        self.driver.refresh()
        self.wait("return document.querySelectorAll('main tr[data-symbol]').length === 2")
        self.assertEqual(self.shown(), ["sz000001", "sh600000"])

    def test_a_trigger_lights_its_row(self):
        browser.answer("/v1/watchlists", "POST", {"name": "One"}, browser.TOKEN)
        watchlist = self.watchlists()[0]["id"]
        browser.answer(
            f"/v1/watchlists/{watchlist}/symbols/sh600000", "PUT", {"high": "1"}, browser.TOKEN)
        browser.answer(
            f"/v1/watchlists/{watchlist}/symbols/sz000001", "PUT", {"low": "0.01"}, browser.TOKEN)
        self.open("watchlists", token=browser.TOKEN)
        self.wait("return document.querySelectorAll('main tr[data-symbol]').length === 2")
        lit = self.run_script(
            "return [...document.querySelectorAll('main tr.above, main tr.below')]"
            ".map((row) => row.dataset.symbol)")
        self.assertEqual(lit, ["sh600000"])

    def test_several_are_removed_at_once(self):
        browser.answer("/v1/watchlists", "POST", {"name": "Three"}, browser.TOKEN)
        watchlist = self.watchlists()[0]["id"]
        browser.answer(
            f"/v1/watchlists/{watchlist}/symbols", "PUT",
            {"symbols": ["sh600000", "sz000001", "sh600004"]}, browser.TOKEN)
        self.open("watchlists", token=browser.TOKEN)
        self.click("main .card-head button")
        for symbol in ("sh600000", "sh600004"):
            self.click(f"li[data-symbol='{symbol}'] input[type=checkbox]")
        self.click(".editor > .line > button")
        self.wait("return document.querySelectorAll('main li[data-symbol]').length === 1")
        self.assertEqual(self.symbols(), ["sz000001"])


if __name__ == "__main__":
    unittest.main()
