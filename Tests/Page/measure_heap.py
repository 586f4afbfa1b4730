#!/usr/bin/env python3
"""Measures whether the page's memory grows: the heap of JavaScript after a forced collection, in
kilobytes, while screens come and go. python3 measure_heap.py --minutes N [--check]

The bar: the last is at most a tenth above that of one fifth of the time."""

import argparse
import sys
import time

import browser

ROUTES = ["stock/sh600000", "", "stock/sz000001", "search/6000", "health"]
SECONDS_ON_A_SCREEN = 6


def heap(driver):
    driver.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
    return driver.execute_cdp_cmd("Runtime.getHeapUsage", {})["usedSize"] / 1024


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    readings = []
    with browser.page_server() as server, browser.chromium() as driver:
        driver.get(f"{server.address}/#/")
        begun = time.monotonic()
        while (elapsed := time.monotonic() - begun) < options.minutes * 60:
            for route in ROUTES:
                driver.execute_script("location.hash = arguments[0]", f"#/{route}")
                time.sleep(SECONDS_ON_A_SCREEN)
            # Always of the same screen.
            driver.execute_script("location.hash = '#/settings'")
            time.sleep(1)
            readings.append((elapsed, heap(driver)))
            print(f"{readings[-1][0]:6.0f} s  {readings[-1][1]:8.0f} kB", flush=True)
        said = browser.complaints(driver)
    early = readings[len(readings) // 5][1]
    growth = readings[-1][1] / early - 1
    print(f"grown by {100 * growth:.1f} % since the first fifth (bar 10 %)")
    for line in said:
        print(line)
    sys.exit(1 if options.check and (growth > 0.1 or said) else 0)


if __name__ == "__main__":
    main()
