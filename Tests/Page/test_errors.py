#!/usr/bin/env python3
"""A gateway that is away: every screen says so, and has what it needs when it is back."""

import socket
import unittest

import browser

ROUTES = ["", "search/6000", "stock/sh600000", "health"]


class Errors(browser.PageTest):
    def setUp(self):
        # The port of nobody.
        with socket.socket() as nobody:
            nobody.bind(("127.0.0.1", 0))
            self.nobody = nobody.getsockname()[1]

    def tearDown(self):
        # The browser reports each request that failed; that is the point.
        browser.complaints(self.driver)

    def test_screens_say_that_nothing_came_and_try_again(self):
        for route in ROUTES:
            with self.subTest(route=route):
                self.server.gateway = self.nobody
                self.open(route)
                self.wait("return document.querySelector('.empty[role=alert] button')")
                self.assertFalse(self.run_script("return document.querySelector('main .loading')"))
                self.wait("return !document.querySelector('.banner').hidden", seconds=5)
                self.server.gateway = browser.GATEWAY_PORT
                self.run_script("for (const button of document.querySelectorAll("
                                "'.empty[role=alert] button')) button.click()")
                self.wait("return !document.querySelector('.empty[role=alert]')"
                          " && document.querySelector('main table, main .chart')")
                self.wait("return document.querySelector('.banner').hidden", seconds=6)

    def test_a_refused_token_leads_to_the_form(self):
        self.open("watchlists", token="cndl_wrong")
        self.wait("return document.querySelector('.sign-in')")
        self.assertEqual(self.text(".sign-in .fault"), "The token is not valid.")
        self.assertIsNone(self.run_script("return sessionStorage.getItem('candled.token')"))


if __name__ == "__main__":
    unittest.main()
