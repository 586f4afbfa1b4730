#!/usr/bin/env python3
"""Measures the page in Chromium: python3 measure.py [SECTION…] [--runs N] [--minutes N] [--check]

  load   from navigation to all prices of home, in milliseconds of the browser's clock
  chart  the first draw of made-up candles, with reading the numbers out of the answer, and an
         update of the last candle: CPU time, and beside it the clock's, which says little on a
         busy machine without real-time priority
  heap   whether JavaScript's memory grows while screens come and go, or with --stay on a stock's:
         the heap after a forced collection, at the end against that after --warm minutes. What the
         page keeps is measured, without the machine code that the browser makes of its functions
         the more often they run: --compiled counts that as well

`script/bench page` runs it over a demo, `script/trials page` over two days of a market. With --check
it fails where a bar is missed."""

import argparse
import itertools
import statistics
import sys
import time

import browser

LOAD_BAR = 1_000
UPDATE_COUNT = 60
CHART_BARS = {1_250: (20, 8), 50_000: (33, 8)}
HEAP_BAR = 0.1
ROUTES = ["stock/sh600000", "", "stock/sz000001", "search/6000", "health"]
SECONDS_ON_A_SCREEN = 6

WATCH = """
const watch = () => {
  const prices = [...document.querySelectorAll(".index-last, main td[data-column='price']")];
  const hasAll = prices.length >= 4 + 15 && prices.every((node) => node.textContent !== "");
  if (hasAll) window.pricesAt = performance.now();
  else requestAnimationFrame(watch);
};
requestAnimationFrame(watch);
"""

MAKE = """
const [count, interval, kind, done] = arguments;
(async () => {
  const { Chart, CandleSeries } = await import("/chart.js");
  const rows = { openedAt: [], closedAt: [], tradingDay: [], open: [], high: [], low: [], close: [],
    volume: [], turnover: [], vwap: [], state: [], revision: [], flags: [] };
  let price = 100000, seed = 1;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  const text = (thousandths) => (thousandths / 1000).toFixed(3);
  const start = Date.parse("2006-01-02T00:00:00Z");
  for (let index = 0; index < count; index += 1) {
    const minutes = interval === "1m" ? index % 240 : 0;
    const day = interval === "1m" ? Math.floor(index / 240) : index;
    const date = new Date(start + day * 86400000).toISOString().slice(0, 10);
    const minute = minutes < 120 ? 570 + minutes : 660 + minutes;
    const two = (number) => String(number | 0).padStart(2, "0");
    const clock = (m) => `${two(m / 60)}:${two(m % 60)}`;
    const open = price;
    price = Math.max(1000, Math.round(price * (1 + (random() - 0.5) * 0.02)));
    rows.openedAt.push(`${date}T${clock(minute)}:00+08:00`);
    rows.closedAt.push(`${date}T${clock(minute + 1)}:00+08:00`);
    rows.tradingDay.push(date);
    rows.open.push(text(open));
    rows.high.push(text(Math.max(open, price) * 1.002));
    rows.low.push(text(Math.min(open, price) * 0.998));
    rows.close.push(text(price));
    rows.volume.push(String(Math.round(random() * 1e6)));
    rows.turnover.push(null);
    rows.vwap.push(text((open + price) / 2));
    rows.state.push("final");
    rows.revision.push(0);
    rows.flags.push([]);
  }
  const host = document.createElement("div");
  host.style.cssText = "position:fixed;inset:0;width:1000px;height:520px";
  document.body.append(host);
  const chart = new Chart(host);
  chart.resize();
  chart.setOptions({ kind });
  const answer = { symbol: "sh600000", interval, timeZone: "Asia/Shanghai", epoch: 1, seq: 1,
    columns: rows };
  // What is drawn is read back, so that the time of the canvas itself is counted.
  const settle = () => chart.context.getImageData(0, 0, 1, 1);
  settle();
  Object.assign(window, { chart, settle, text, price, make: () => new CandleSeries(answer) });
  return {};
})().then(done, (error) => done({ error: String(error.stack) }));
"""

FIRST = """
const begun = performance.now();
chart.setSeries(make());
chart.drawNow();
settle();
return performance.now() - begun;
"""

UPDATES = """
const [count] = arguments;
const last = chart.series.candle(chart.series.length - 1);
const times = [];
for (let index = 0; index < count; index += 1) {
  const begun = performance.now();
  chart.put({ ...last, close: text(price * (1 + (index % 7) / 10000)), revision: index });
  chart.drawNow();
  settle();
  times.push(performance.now() - begun);
}
return times.sort((one, other) => one - other)[count >> 1];
"""


def load(options):
    times = []
    with browser.page_server() as server, browser.chromium() as driver:
        driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
        for _ in range(options.runs):
            driver.get("about:blank")
            driver.get(server.address + "/")
            while not (found := driver.execute_script("return window.pricesAt")):
                time.sleep(0.05)
            times.append(found)
    median = statistics.median(times)
    print(f"all prices of home after {median:.0f} ms (fastest {min(times):.0f}, bar {LOAD_BAR})")
    return median <= LOAD_BAR


def thread_milliseconds(driver):
    """Of the page's main thread, in CPU time: others on the machine do not count."""
    metrics = driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return 1e3 * next(entry["value"] for entry in metrics if entry["name"] == "TaskDuration")


def timed(driver, script, *arguments):
    """The CPU time of a script, with that of starting it, and what its own clock says."""
    start = thread_milliseconds(driver)
    wall = driver.execute_script(script, *arguments)
    return thread_milliseconds(driver) - start, wall


def drawn(driver, address, count, interval, kind):
    driver.get("about:blank")
    driver.get(address + "/#/settings")
    answer = driver.execute_async_script(MAKE, count, interval, kind)
    if "error" in answer:
        sys.exit(answer["error"])
    first, first_wall = timed(driver, FIRST)
    updates, update_wall = timed(driver, UPDATES, UPDATE_COUNT)
    return first, first_wall, updates / UPDATE_COUNT, update_wall


def chart(options):
    is_good = True
    with browser.page_server() as server, browser.chromium(1024, 768) as driver:
        driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
        for count, bars in CHART_BARS.items():
            for interval, kind in itertools.product(("1d", "1m"), ("candles", "line")):
                runs = [drawn(driver, server.address, count, interval, kind)
                        for _ in range(options.runs)]
                first, first_wall, update, update_wall = [
                    statistics.median(values) for values in zip(*runs)]
                print(f"{count:>6} {interval} {kind:<7} "
                      f"first draw {first:5.1f} ms (bar {bars[0]}; by the clock {first_wall:.1f})  "
                      f"update {update:4.1f} ms (bar {bars[1]}; by the clock {update_wall:.1f})",
                      flush=True)
                is_good &= first <= bars[0] and update <= bars[1]
    return is_good


def heap_kilobytes(driver):
    driver.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
    return driver.execute_cdp_cmd("Runtime.getHeapUsage", {})["usedSize"] / 1024


def heap(options):
    readings = []
    warm = options.minutes / 5 if options.warm is None else options.warm
    flags = [] if options.compiled else ["--js-flags=--jitless"]
    with browser.page_server() as server, browser.chromium(flags=flags) as driver:
        driver.get(f"{server.address}/#/")
        begun = time.monotonic()
        while (minutes := (time.monotonic() - begun) / 60) < options.minutes:
            for route in ROUTES[:1] if options.stay else ROUTES:
                driver.execute_script("location.hash = arguments[0]", f"#/{route}")
                time.sleep(SECONDS_ON_A_SCREEN)
            # Always of the same screen.
            if not options.stay:
                driver.execute_script("location.hash = '#/settings'")
                time.sleep(1)
            readings.append((minutes, heap_kilobytes(driver)))
            print("%6.1f min  %8.0f kB" % readings[-1], flush=True)
            # Without news nothing grows.
            if not driver.execute_script("return document.querySelector('.banner').hidden"):
                sys.exit("the page is cut off from its gateway")
        complaints = browser.complaints(driver)
    start = next((reading for reading in readings if reading[0] >= warm), readings[0])
    growth = readings[-1][1] / start[1] - 1
    print(f"grown by {100 * growth:.1f} % since minute {start[0]:.1f}: from {start[1]:.0f} to "
          f"{readings[-1][1]:.0f} kB (bar {100 * HEAP_BAR:.0f} %)")
    for line in complaints:
        print(line)
    return growth <= HEAP_BAR and not complaints


SECTIONS = {"load": load, "chart": chart, "heap": heap}


def main():
    parser = argparse.ArgumentParser(prog="script/bench page")
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=", ".join(SECTIONS))
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--minutes", type=float, default=10, help="of heap")
    parser.add_argument("--warm", type=float, help="minutes; a fifth of them unless given")
    parser.add_argument("--stay", action="store_true", help="heap stays on one screen")
    parser.add_argument("--compiled", action="store_true", help="heap with machine code")
    parser.add_argument("--check", action="store_true", help="fail where a bar is missed")
    options = parser.parse_args()
    if unknown := set(options.sections) - set(SECTIONS):
        parser.error(f"no such section: {', '.join(unknown)}")
    results = [SECTIONS[name](options) for name in options.sections or SECTIONS]
    sys.exit(1 if options.check and not all(results) else 0)


if __name__ == "__main__":
    main()
