#!/usr/bin/env python3
"""The address with a token, at the gateway itself: the token stays in the tab, goes out in headers
alone, and streams are opened with tickets that serve once."""

import json
import time
import unittest

import browser

ADDRESS = f"http://127.0.0.1:{browser.GATEWAY_PORT}"
LIVE = "return candled.feed.state === 'live'"


class SignIn(browser.PageTest):
    logs = {"browser": "ALL", "performance": "ALL"}

    def setUp(self):
        self.address = ADDRESS
        self.events = []

    def network(self):
        """What went over the network so far: (name, parameters)."""
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            self.events.append((message["method"], message["params"]))
        return self.events

    def test_a_token_is_kept_in_the_tab_and_sent_in_headers_alone(self):
        token = browser.TOKEN
        self.open("watchlists", token=token)
        self.wait(LIVE)
        self.assertEqual(self.run_script("return location.href"), f"{ADDRESS}/#/watchlists")
        self.assertEqual(self.run_script("return sessionStorage.getItem('candled.token')"), token)
        self.run_script("window.lost = candled.feed.socket; candled.feed.lose(lost)")
        self.wait("return candled.feed.state === 'live' && candled.feed.socket !== lost")
        self.driver.refresh()
        self.wait(LIVE)
        self.assertIsNone(self.run_script("return document.querySelector('.sign-in')"))
        self.assertEqual(self.run_script("return document.cookie"), "")
        for place in ("JSON.stringify(localStorage)", "document.documentElement.outerHTML"):
            self.assertNotIn(token, self.run_script(f"return {place}"))

        events = self.network()
        addresses = [values["request"]["url"] for name, values in events
                     if name == "Network.requestWillBeSent"]
        self.assertTrue(any("/page/" in address for address in addresses))
        sockets = [values["url"] for name, values in events if name == "Network.webSocketCreated"]
        for address in addresses + sockets:
            self.assertNotIn("cndl_", address)
        tickets = [address.partition("/ws?ticket=")[2] for address in sockets]
        self.assertGreaterEqual(len(tickets), 3)
        self.assertEqual(len(set(tickets)), len(tickets), "a ticket was used twice")
        self.assertNotIn("", tickets)
        headers = [name.lower() for method, values in events
                   if method.endswith("ExtraInfo") for name in values["headers"]]
        self.assertIn("authorization", headers)
        self.assertNotIn("cookie", headers)
        self.assertNotIn("set-cookie", headers)

    def test_a_link_with_another_token_asks_before_it_takes_the_place_of_one(self):
        other = "cndl_of-somebody-else"
        self.open("watchlists", token=browser.TOKEN)
        self.wait(LIVE)
        self.addCleanup(self.run_script, "sessionStorage.clear()")
        # Nothing is asked of the gateway with a token that it does not know.
        self.run_script("window.fetch = () => new Promise(() => {})")
        for button, kept in (("[autofocus]", browser.TOKEN), (":not([autofocus])", other)):
            self.run_script("location.hash = arguments[0]", f"#token={other}")
            self.wait("return document.querySelector('dialog[open]')")
            self.assertNotIn("token", self.run_script("return location.href"))
            self.assertEqual(self.stored(), browser.TOKEN)
            self.click(f"dialog .line button{button}")
            self.wait("return !document.querySelector('dialog')")
            self.assertEqual(self.stored(), kept)

    def stored(self):
        return self.run_script("return sessionStorage.getItem('candled.token')")

    def test_preferences_of_other_apps_stay(self):
        token = browser.TOKEN
        browser.answer("/v1/preferences", "PUT", {"mine": 1, "theme": "none"}, token)
        self.addCleanup(browser.answer, "/v1/preferences", "PUT", {}, token)
        self.open("settings", token=token)
        self.wait("return document.querySelector('#setting-theme-dark')")
        self.click("#setting-theme-dark")
        end = time.monotonic() + 20
        while "page" not in (kept := browser.answer("/v1/preferences", token=token)):
            self.assertLess(time.monotonic(), end, "the choice was not saved")
            time.sleep(0.05)
        self.assertEqual(kept["page"]["theme"], "dark")
        self.assertEqual((kept["mine"], kept["theme"]), (1, "none"))

    def test_another_tab_is_not_signed_in(self):
        self.open("watchlists", token=browser.TOKEN)
        self.wait(LIVE)
        self.driver.switch_to.new_window("tab")
        self.driver.get(f"{ADDRESS}/#/watchlists")
        self.wait("return document.querySelector('.sign-in')")
        self.assertIsNone(self.run_script("return sessionStorage.getItem('candled.token')"))


if __name__ == "__main__":
    unittest.main()
