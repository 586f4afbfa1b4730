#!/usr/bin/env python3
"""Paper trading by hand: money paid in, shares bought and held, a purchase queued, orders
cancelled."""

import decimal
import time
import unittest

from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

import browser

SYMBOL = "sh600000"
NAME = f"th a[href='#/stock/{SYMBOL}']"

LOSE_FIRST_ANSWER = """
const own = window.fetch;
let isLost = false;
window.fetch = async (path, options) => {
  const answer = await own(path, options);
  if (isLost || options?.method !== "POST" || !path.startsWith("/v1/orders")) return answer;
  isLost = true;
  throw new TypeError("lost");
};
"""

ANSWER_LATE = """
const own = window.fetch;
const answers = {
  "/v1/commands/900": { id: "900", state: "done", answer: "order=17" },
  "/v1/orders/17": { order: { id: "17", state: "accepted" } },
};
const pending = { id: "900", state: "pending", answer: null };
window.fetch = (path, options) => {
  const isOrder = options?.method === "POST" && path.startsWith("/v1/orders");
  const answer = isOrder ? pending : answers[path];
  return answer ? Promise.resolve(Response.json(answer, { status: isOrder ? 202 : 200 }))
    : own(path, options);
};
"""


class Trading(browser.PageTest):
    is_whole = True

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        assert browser.TOKEN, "CANDLED_TOKEN is needed"
        # Before, there is no band of prices, and a market order is refused.
        end = time.monotonic() + 60
        while browser.answer("/v1/market")["session"]["phase"] != "open":
            assert time.monotonic() < end, "the market did not open within 60 s"
            time.sleep(0.2)

    def tearDown(self):
        # What the eye hides is a preference of the user.
        browser.answer("/v1/preferences", "PUT", {}, browser.TOKEN)
        # What is refused is an answer, of which the browser makes a complaint.
        self.assertEqual([line for line in browser.complaints(self.driver)
                          if "/v1/orders?" not in line or "status of 4" not in line], [])

    def account(self, cash=None):
        """Opens an account of the test's own, which the page then shows."""
        made = self.send("/v1/accounts", {"name": f"{self.id()[-40:]} {time.time_ns()}"[-64:],
                                          "market": "A"})
        if cash:
            self.send(f"/v1/account/deposits?account={made['id']}",
                      {"amount": cash, "type": "bank"})
        self.open("portfolio", token=browser.TOKEN)
        self.run_script("localStorage.setItem('candled.account', arguments[0])", made["id"])
        self.driver.refresh()
        self.wait("return document.querySelector('.trading .tiles')")
        return made["id"]

    @staticmethod
    def send(path, body):
        return browser.answer(path, "POST", body, browser.TOKEN)

    def show(self, route, selector):
        self.run_script("location.hash = arguments[0]", f"#/{route}")
        return self.wait("return document.querySelector(arguments[0])", selector)

    def type(self, selector, words):
        # Clearing a field leaves it, and the form would suggest a price again.
        field = self.wait("return document.querySelector(arguments[0])", selector)
        field.send_keys(Keys.CONTROL, "a", Keys.NULL, words)

    def choose(self, selector, value):
        Select(self.wait("return document.querySelector(arguments[0])", selector)) \
            .select_by_value(value)

    def wait_for_text(self, selector, words, seconds=20):
        self.wait("return [...document.querySelectorAll(arguments[0])].some((node) =>"
                  " node.textContent.includes(arguments[1]))", selector, words, seconds=seconds)

    def order_form(self, side, quantity):
        """The form on the instrument's screen, with its price."""
        self.show(f"stock/{SYMBOL}", f".actions [data-side={side}]")
        self.click(f".actions [data-side={side}]")
        self.wait("return document.querySelector('dialog .instrument-line strong')")
        self.type("dialog .fields label:nth-of-type(3) input", quantity)

    def reason(self):
        return self.text("dialog .reason")

    def can_send(self):
        return self.run_script(
            "return !document.querySelector('dialog button.primary').disabled")

    def test_money_paid_in_buys_shares_that_are_then_held(self):
        self.account()
        self.show("account", "[data-form=deposit]")
        self.type("[data-form=deposit] input", "1000000")
        self.wait("return document.querySelector('[data-form=deposit] .primary').disabled",
                  message="a deposit without a type is not sent")
        self.choose("[data-form=deposit] select", "bank")
        self.click("[data-form=deposit] .primary")
        self.wait_for_text(".big", "1,000,000.00")
        self.wait_for_text(".data td[data-column=transaction]", "Deposit")
        self.order_form("buy", "100000000")
        self.wait("return document.querySelector('dialog .reason').textContent.includes('funds')")
        self.assertFalse(self.can_send())
        self.type("dialog .fields label:nth-of-type(3) input", "100")
        self.choose("dialog .fields select", "market")
        self.wait("return !document.querySelector('dialog button.primary').disabled")
        self.assertNotEqual(self.text("dialog .total"), "–")
        self.click("dialog button.primary")
        self.wait("return document.querySelector('dialog .nearest a')")
        self.show("portfolio", ".tiles")
        self.wait("return document.querySelector(arguments[0])", NAME, seconds=60)
        self.wait_for_text("td[data-column=shares]", "100")
        self.click(".trading .card-head button")
        self.type("li .trigger input", f"9999{Keys.TAB}")
        self.click(".trading .card-head button")
        self.wait_for_text("tr.below .mark", "≤ 9,999.00")
        self.driver.refresh()
        self.wait_for_text("tr.below .mark", "≤ 9,999.00")
        self.show("orders", ".trading .card")
        self.wait_for_text("td[data-column=state]", "filled")
        # Bought today, so not for sale today.
        self.order_form("sell", "100")
        self.wait("return document.querySelector('dialog .reason').textContent.includes('Only 0')")
        self.assertFalse(self.can_send())

    def test_what_the_gateway_refuses_is_shown_as_it_says_it(self):
        self.account(cash="1000000")
        self.order_form("buy", "150")
        self.wait("return !document.querySelector('dialog button.primary').disabled")
        self.click("dialog button.primary")
        said = self.wait("return document.querySelector('dialog .ticket > .fault').textContent")
        self.assertIn("100", said)

    def test_an_open_order_is_cancelled(self):
        self.account(cash="1000000")
        self.order_form("buy", "100")
        lowest = browser.answer(f"/v1/stocks/{SYMBOL}")["limitDown"]
        self.type("dialog .fields label:nth-of-type(4) input", lowest)
        self.wait("return !document.querySelector('dialog button.primary').disabled")
        self.click("dialog button.primary")
        self.wait("return document.querySelector('dialog .nearest a')")
        self.show("orders", "td[data-column=cancel] button")
        self.click("td[data-column=cancel] button")
        self.wait("return !document.querySelector('td[data-column=cancel] button')")
        self.click(".choice [data-name=CANCELED]")
        self.wait_for_text("td[data-column=state]", "cancelled")

    def test_an_order_whose_answer_was_lost_is_sent_again_and_placed_once(self):
        account = self.account(cash="1000000")
        self.order_form("buy", "100")
        lowest = browser.answer(f"/v1/stocks/{SYMBOL}")["limitDown"]
        self.type("dialog .fields label:nth-of-type(4) input", lowest)
        self.run_script(LOSE_FIRST_ANSWER)
        self.wait("return !document.querySelector('dialog button.primary').disabled")
        self.click("dialog button.primary")
        self.wait_for_text("dialog .ticket > .fault", "Sending it again is safe")
        self.click("dialog button.primary")
        self.wait("return document.querySelector('dialog .nearest a')")
        placed = browser.answer(f"/v1/orders?account={account}", token=browser.TOKEN)["orders"]
        self.assertEqual(len(placed), 1)

    def test_an_order_that_was_answered_late_is_named_by_its_own_number(self):
        self.account(cash="1000000")
        self.order_form("buy", "100")
        self.run_script(ANSWER_LATE)
        self.wait("return !document.querySelector('dialog button.primary').disabled")
        self.click("dialog button.primary")
        self.wait_for_text("dialog", "Order 17: accepted.")

    def test_a_sealed_stock_is_offered_at_its_limit(self):
        self.account(cash="1000000000")
        symbol = self.show_limit_up()
        self.click(".actions [data-side=buy]")
        self.wait("return document.querySelector('dialog .instrument-line strong')")
        self.type("dialog .fields label:nth-of-type(3) input", "100")
        self.wait("return !document.querySelector('dialog button.primary').disabled")
        offered = self.run_script(
            "return document.querySelector('dialog .fields label:nth-of-type(4) input').value")
        limit = browser.answer(f"/v1/stocks/{symbol}")["limitUp"]
        self.assertEqual(decimal.Decimal(offered), decimal.Decimal(limit))

    def test_a_purchase_is_queued_and_taken_out(self):
        self.account(cash="1000000")
        self.show("queue", ".card .primary")
        self.click(".card .primary")
        self.type("dialog .instrument input", f"{SYMBOL}\t")
        self.wait("return document.querySelector('dialog .instrument-line strong')")
        self.type("dialog .fields input", "100")
        self.wait("return !document.querySelector('dialog button.primary').disabled")
        self.assertNotEqual(self.text("dialog .total"), "–")
        self.click("dialog button.primary")
        self.wait("return document.querySelector('dialog .nearest a')")
        self.click("dialog .card-head button")
        self.wait_for_text("td[data-column=state]", "armed")
        self.click("td[data-column=cancel] button")
        self.wait_for_text("td[data-column=state]", "cancelled")
        self.wait("return !document.querySelector('td[data-column=cancel] button')")

    def show_limit_up(self):
        """The screen of a stock at limit-up, by the way that a person finds one; its symbol."""
        self.show("", ".movers")
        symbol = self.wait(
            "return [...document.querySelectorAll('.movers tr[data-symbol]')].find((row) =>"
            " row.querySelector('.mark').textContent === 'limit up')?.dataset.symbol",
            message="a stock at limit-up among those that rise most")
        self.click(f".movers tr[data-symbol={symbol}] .stock-name")
        self.wait("return document.querySelector('.detail .mark')?.textContent === 'limit up'")
        return symbol

    def test_a_purchase_of_a_sealed_stock_is_ordered_and_filled_in_part(self):
        self.account(cash="1000000000")
        symbol = self.show_limit_up()
        self.click(".actions button:nth-of-type(3)")
        self.wait("return document.querySelector('dialog .instrument-line strong')")
        # More than trades within the test, so that it is not filled whole.
        self.type("dialog .fields input", "300000")
        self.choose("dialog .fields select", "sealedForSeconds")
        self.wait("return !document.querySelector('dialog button.primary').disabled")
        self.click("dialog button.primary")
        self.click("dialog .nearest a")
        purchase = f"tr:has(a[href='#/stock/{symbol}'])"
        self.wait_for_text(f"{purchase} td[data-column=state]", "in the queue", seconds=40)
        self.wait_for_text(f"{purchase} td[data-column=ahead]", "≤ ", seconds=40)
        self.wait("return /[1-9]/.test(document.querySelector(arguments[0])?.textContent)",
                  f"{purchase} td[data-column=certain]", message="a share that is certainly bought")
        self.assertEqual(self.text(f"{purchase} td[data-column=state]"), "in the queue")
        self.assertEqual(self.text(f"{purchase} td[data-column=ahead]"), "≤ 0")
        self.show("orders", f"{purchase} .mark")
        self.assertEqual(self.text(f"{purchase} .mark"), "Queue Purchase")
        self.assertRegex(self.text(f"{purchase} td[data-column=filled]"), "^[1-9].* / 300,000$")
        self.assertEqual(self.text(f"{purchase} td[data-column=state]"), "partly filled")
        self.show("account", ".big")
        self.wait_for_text(".data td[data-column=transaction]", "Queue Purchase")
        self.show("portfolio", f".trading a[href='#/stock/{symbol}']")

    def test_the_eye_hides_every_amount(self):
        self.account(cash="1000000")
        self.wait_for_text(".tile-value", "1,000,000.00")
        self.click(".eye")
        self.wait("return !document.querySelector('.tiles').textContent.includes('1,000,000')")
        self.show("account", ".big")
        self.assertNotIn("1,000,000", self.text(".trading-body"))
        self.click(".eye")
        self.wait_for_text(".big", "1,000,000.00")


if __name__ == "__main__":
    unittest.main()
