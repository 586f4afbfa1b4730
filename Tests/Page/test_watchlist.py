#!/usr/bin/env python3
"""Search, watch, order, sort, mark, remove, reload: the watchlist keeps what was done."""

import time
import unittest

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

import browser

ASK_FOR_MANY = """
const [symbols, done] = arguments;
const parts = [];
window.fetch = async (path) => {
  const part = new URL(path, location.href).searchParams.get("symbols").split(",");
  parts.push(part.length);
  return Response.json({
    epoch: 7, seq: 90 - parts.length, unknown: [], nextCursor: null,
    stocks: part.map((symbol) => ({ symbol })),
  });
};
import("/gateway.js").then(({ gateway }) => gateway.stocks(symbols)).then(({ seq, stocks }) => done(
  { parts, seq, symbols: stocks.map(({ symbol }) => symbol) }));
"""


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

    def list_of(self, *rows):
        """Makes a watchlist and shows it."""
        made = browser.answer("/v1/watchlists", "POST", {"name": "Mine"}, browser.TOKEN)
        browser.answer(f"/v1/watchlists/{made['id']}/symbols", "PUT",
                       {"symbols": [{"symbol": symbol, **more} for symbol, more in rows]},
                       browser.TOKEN)
        self.open("watchlists", token=browser.TOKEN)
        self.wait("return document.querySelectorAll('main tr[data-symbol]').length"
                  " === arguments[0]", len(rows))
        # The first prices come with the market's opening.
        self.wait("return [...document.querySelectorAll('main [data-column=price]')].every("
                  "(cell) => cell.textContent !== '–')", seconds=60)

    def wait_for_order(self, *symbols):
        """Until the gateway has it and the page shows it."""
        self.wait("return [...document.querySelectorAll('main [data-symbol]')]"
                  ".map((row) => row.dataset.symbol).join() === arguments[0]", ",".join(symbols))
        for _ in range(40):
            if self.symbols() == list(symbols):
                return
            time.sleep(0.05)
        self.assertEqual(self.symbols(), list(symbols))

    def test_rows_are_dragged_and_moved_by_keys_and_stay_so(self):
        first, second, third = "sh600000", "sz000001", "sh600004"
        self.list_of((first, {"high": "5"}), (second, {}), (third, {}))
        self.click("main .card-head button")
        row = self.wait("return document.querySelector(arguments[0])",
                        f"li[data-symbol='{first}']")
        self.run_script("document.querySelector('.editor').dataset.isOld = ''")
        ActionChains(self.driver).click_and_hold(
            row.find_element("css selector", ".grip")).move_by_offset(
                0, row.size["height"] + 5).move_by_offset(0, row.size["height"]).release().perform()
        self.wait_for_order(second, third, first)
        self.wait("return document.querySelector('.editor:not([data-is-old])')")
        button = self.wait("return document.querySelector(arguments[0])",
                           f"li[data-symbol='{first}'] [data-move='-1']")
        self.run_script("arguments[0].focus()", button)
        button.send_keys(Keys.ENTER)
        self.wait_for_order(second, first, third)
        # The focus stays with the row, so that the next key moves it on.
        self.wait("return document.activeElement.closest('li')?.dataset.symbol === arguments[0]",
                  first)
        self.driver.switch_to.active_element.send_keys(Keys.ENTER)
        self.wait_for_order(first, second, third)
        self.driver.refresh()
        self.wait_for_order(first, second, third)
        kept = self.watchlists()[0]["symbols"][0]
        self.assertEqual(kept["high"], "5", "a trigger went with the order")

    def test_columns_sort_and_the_own_order_comes_back(self):
        own = ["sh600004", "sh600000", "sz000001"]
        self.list_of(*((symbol, {}) for symbol in own))
        # Prices must not move meanwhile.
        self.run_script("candled.feed.connect = () => {}; candled.feed.lose(candled.feed.socket)")
        prices = dict(self.run_script(
            "return [...candled.page.screen.node.querySelectorAll('tr[data-symbol]')].map((row) =>"
            " [row.dataset.symbol, row.querySelector('[data-column=price]').textContent])"))
        by_price = sorted(own, key=lambda symbol: -float(prices[symbol].replace(",", "")))
        for column, orders in ((2, [by_price, by_price[::-1], own]),
                               (1, [sorted(own), sorted(own)[::-1], own])):
            for order, state in zip(orders, ("descending", "ascending", None)):
                self.click(f"main th:nth-child({column}) button")
                self.assertEqual(self.shown(), order)
                said = self.run_script("return document.querySelector(arguments[0]).ariaSort",
                                       f"main th:nth-child({column})")
                if column == 1 and state:
                    state = {"descending": "ascending", "ascending": "descending"}[state]
                self.assertEqual(said, state)
        self.assertEqual(self.symbols(), own)

    def test_triggers_light_their_rows_in_the_colours_that_were_chosen(self):
        self.list_of(("sh600000", {"high": "1"}), ("sz000001", {"low": "9999"}),
                     ("sh600004", {"low": "0.01", "high": "9999"}))
        lit = self.run_script(
            "return ['above', 'below'].map((name) => [...document.querySelectorAll("
            "`main tr.${name}`)].map((row) => row.dataset.symbol))")
        self.assertEqual(lit, [["sh600000"], ["sz000001"]])
        self.assertIn("≥ 1.00", self.text("tr.above"))
        self.assertIn("≤ 9,999.00", self.text("tr.below"))
        for colours, names in (("red-up", ("red", "green")), ("green-up", ("green", "red"))):
            self.run_script(
                "document.documentElement.dataset.colours = arguments[0]", colours)
            found = self.run_script("""
              const probe = document.body.appendChild(document.createElement("i"));
              const colour = (name) => {
                probe.style.backgroundColor =
                  `color-mix(in srgb, var(--${name}-tint) 50%, transparent)`;
                return getComputedStyle(probe).backgroundColor;
              };
              const tints = { [colour("red")]: "red", [colour("green")]: "green" };
              probe.remove();
              return ["above", "below"].map((name) => tints[
                getComputedStyle(document.querySelector(`tr.${name}`)).backgroundColor]);
            """)
            self.assertEqual(tuple(found), names)
            for scheme in ("light", "dark"):
                browser.appearance(self.driver, scheme, reduced_motion=True)
                self.assertEqual(self.serious(), [])

    def test_a_trigger_is_set_and_taken_away_in_the_list(self):
        self.list_of(("sh600000", {}))
        for typed, kept in (("12.50", "12.50"), ("", None)):
            self.click("main .card-head button")
            field = self.wait("return document.querySelector('li .trigger input')")
            self.run_script("arguments[0].value = ''", field)
            if typed:
                field.send_keys(typed)
            self.run_script("arguments[0].dispatchEvent(new Event('change'))", field)
            for _ in range(40):
                row = self.watchlists()[0]["symbols"][0]
                if row.get("low") == kept:
                    break
                time.sleep(0.05)
            self.assertEqual(row.get("low"), kept)
            self.driver.refresh()
            self.wait("return document.querySelector('main tr[data-symbol]')")

    def test_a_long_list_is_asked_for_in_parts_that_the_gateway_takes(self):
        self.open("settings")
        self.wait("return window.candled !== undefined")
        symbols = [f"sh{600000 + number}" for number in range(1000)] + ["sz000001"]
        found = self.driver.execute_async_script(ASK_FOR_MANY, symbols)
        self.assertEqual(found["parts"], [500, 500, 1])
        self.assertEqual(found["symbols"], symbols)
        self.assertEqual(found["seq"], 87, "a stream goes on from the oldest part")

    def test_several_are_removed_at_once(self):
        self.list_of(("sh600000", {}), ("sz000001", {}), ("sh600004", {}))
        self.click("main .card-head button")
        for symbol in ("sh600000", "sh600004"):
            self.click(f"li[data-symbol='{symbol}'] input[type=checkbox]")
        self.click(".editor > .line > button")
        self.wait_for_order("sz000001")


if __name__ == "__main__":
    unittest.main()
