#!/usr/bin/env python3
"""A cut network: a banner within 20 s, gone within 5 s of its end, and prices go on."""

import os
import tempfile
import time
import unittest

import browser

BANNER = "return !document.querySelector('.banner').hidden"


class Cut(browser.PageTest):
    cut = os.path.join(tempfile.gettempdir(), f"candled-cut-{os.getpid()}")

    def tearDown(self):
        # The browser reports requests that were cut off; that is the point.
        browser.complaints(self.driver)
        if os.path.exists(self.cut):
            os.unlink(self.cut)

    def test_a_silent_network_is_noticed_and_forgotten(self):
        self.open("stock/sh600000")
        self.wait("return candled.feed.state === 'live'")
        self.assertFalse(self.run_script(BANNER))
        with open(self.cut, "w"):
            cut_at = time.monotonic()
        self.wait(BANNER, seconds=30, message="the banner")
        noticed = time.monotonic() - cut_at
        os.unlink(self.cut)
        healed_at = time.monotonic()
        self.wait("return document.querySelector('.banner').hidden", message="its end")
        healed = time.monotonic() - healed_at
        print(f"noticed after {noticed:.1f} s, gone after {healed:.1f} s")
        self.assertLess(noticed, 20)
        self.assertLess(healed, 5)
        self.wait("return candled.feed.place !== null")


if __name__ == "__main__":
    unittest.main()
