#!/usr/bin/env python3
"""Pictures of every screen and state, in themes, widths and languages, over recorded answers.

  python3 pictures.py record            asks a gateway for the answers and keeps them
  python3 pictures.py make [SCREEN…]    makes the pictures in Pictures/, or those of some screens
  python3 pictures.py compare [SCREEN…] names those that differ; what came instead is in
                                        .build/pictures"""

import contextlib
import json
import pathlib
import sys
import time
import unittest

import browser
import pixels
import replay

FOLDER = pathlib.Path(__file__).with_name("Pictures")
DIFFERENT = browser.ROOT / ".build/pictures"
# How many of a picture's pixels may differ. The same browser and fonts draw the same pixels; one
# moved candle is 0.00014 of the highest page.
TOLERANCE = 0.00005
# The browser that made them: another draws other pixels, and proves nothing.
CHROMIUM = "156"
SIZES = {390: 844, 1024: 768, 1600: 1000}
TOKEN = "cndl_picture"
WATCHED = [{"symbol": "sh600000"}, {"symbol": "sz300003", "high": "12.00"},
           {"symbol": "sh688006", "low": "13.00"}, {"symbol": "sz000001"}, {"symbol": "sz159006"}]

TRADED = [("sh600000", "300"), ("sz000001", "1200")]
TRIGGERS = {"sh600000": {"low": "100", "high": "139"}, "sz000001": {"low": "1"},
            "sh688006": {"low": "13.00"}}

# What a page does to requests whose address has a text in it.
FETCH = """
const original = window.fetch;
window.fetch = (path, options) => {
  if (!path.includes(%s)) return original(path, options);
  return %s;
};
"""
HANGS, FAILS = "new Promise(() => {})", "Promise.reject(new TypeError())"

MARKS = """
const { chart } = candled.page.screen.panel;
const day = chart.series.days.at(-1);
const gap = (from, to, cause) => ({ tradingDay: day, from: `${day}T${from}:00+08:00`,
  to: `${day}T${to}:00+08:00`, volume: "100", cause, state: "open",
  knownFrom: `${day}T00:00:00Z` });
chart.setGaps([gap("09:45", "10:00", "outage"), gap("10:20", "10:24", "late_print")]);
for (const [row, flags, revision] of [[5, ["partial"], 0], [12, ["extreme_ambiguous"], 0],
  [25, [], 2]]) chart.put({ ...chart.series.candle(row), flags, revision });
"""
CLICK = "document.querySelector(arguments[0]).click()"
POINT = "candled.page.screen.panel.chart.setHover({ row: 40, y: 120 })"
SLIDE = """
const slider = document.querySelector(".as-of input");
slider.value = 60;
slider.dispatchEvent(new Event("input", { bubbles: true }));
"""
SHARES = """
const field = [...document.querySelectorAll("dialog .fields input")][0];
field.value = arguments[0];
field.dispatchEvent(new Event("input"));
"""
CUT = """
const { feed } = candled;
feed.connect = () => {};
feed.lose(feed.socket, performance.now() - 60000);
"""
# The chart asks for gaps, and the table below it does.
CHART = """
return candled.page.screen.panel?.chart.series?.length > 0 && performance
  .getEntriesByType("resource").filter(({ name }) => name.endsWith("/gaps")).length >= 2;
"""
LOADED = "return !document.querySelector('main .loading')"
EVERYWHERE = [(390, "light", "en"), (390, "dark", "zh"), (1024, "light", "zh"),
              (1024, "dark", "en"), (1600, "light", "en"), (1600, "dark", "zh")]
# States are the same parts on the same screens.
SOMEWHERE = [(390, "light", "zh"), (1024, "dark", "zh"), (1600, "light", "en")]

# Screens of forms and tables that the rest of the page is made of, too.
SELDOM = [(390, "dark", "zh"), (1024, "light", "en"), (1600, "light", "en")]
FORBIDDEN = [403, {"type": "about:blank", "status": 403, "code": "forbidden",
                   "title": "the token lacks the scope account"}]


class Screen:
    def __init__(self, route, *steps, variants=SOMEWHERE, signed_in=True, is_away=False,
                 network=None, answers=None, settles=LOADED):
        self.route, self.steps, self.signed_in = route, steps, signed_in
        self.variants, self.is_away, self.settles = variants, is_away, settles
        self.network, self.answers = network, answers or {}


def chart_screen(*steps, variants=SOMEWHERE):
    return Screen("stock/sh600000", *steps, variants=variants, settles=CHART)


SCREENS = {
    "home": Screen("", variants=EVERYWHERE),
    "search": Screen("search/6000", variants=EVERYWHERE),
    "detail": chart_screen(variants=EVERYWHERE),
    "detail-daily": chart_screen((CLICK, "[data-name=daily]"), variants=EVERYWHERE),
    "detail-why": chart_screen(
        ("candled.page.screen.panel.chart.select(3)",), variants=EVERYWHERE),
    "watchlists": Screen("watchlists", variants=EVERYWHERE),
    "watchlists-edit": Screen(
        "watchlists", (CLICK, "main .card-head button"), variants=EVERYWHERE),
    "health": Screen("health", variants=EVERYWHERE),
    "settings": Screen("settings", variants=EVERYWHERE),
    "portfolio": Screen("portfolio", variants=SELDOM),
    "portfolio-edit": Screen(
        "portfolio", (CLICK, "main .card-head button"), variants=SELDOM[:2]),
    "portfolio-hidden": Screen("portfolio", (CLICK, ".eye"), variants=SELDOM[:2]),
    "portfolio-none": Screen(
        "portfolio", variants=SELDOM[:2], answers={"/v1/accounts": [200, {"accounts": []}]}),
    "portfolio-forbidden": Screen(
        "portfolio", variants=SELDOM[:2], answers={"/v1/accounts": FORBIDDEN}),
    "portfolio-failed": Screen("portfolio", variants=SELDOM[:2], network=("portfolio", FAILS)),
    "orders": Screen("orders", variants=SELDOM),
    "queue": Screen("queue", variants=SELDOM),
    "account": Screen("account", variants=SELDOM),
    "alerts": Screen("alerts", variants=SELDOM),
    "order-form": Screen(
        "stock/sh600000", (CLICK, ".actions [data-side=buy]"), (SHARES, "300"), variants=SELDOM,
        settles=CHART),
    "queue-form": Screen(
        "stock/sh600000", (CLICK, ".actions button:nth-child(3)"), (SHARES, "100"),
        variants=SELDOM[:2], settles=CHART),
    "alert-form": Screen("alerts", (CLICK, ".card .primary"), variants=SELDOM[:2]),
    "detail-marks": chart_screen((MARKS,)),
    "detail-line": chart_screen((CLICK, "[data-name=line]"), (POINT,)),
    "detail-past": chart_screen((SLIDE,)),
    "home-signed-out": Screen("", signed_in=False),
    "sign-in": Screen("watchlists", signed_in=False),
    "search-empty": Screen("search/nothing"),
    "search-start": Screen("search"),
    "watchlists-empty": Screen("watchlists", answers={
        "/v1/watchlists": [200, {"watchlists": [{"id": 1, "name": "Mine", "symbols": []}]}]}),
    "unknown": Screen("stock/nothing"),
    "nowhere": Screen("nowhere"),
    "home-loading": Screen(
        "", network=("", HANGS), settles="return document.querySelector('main .loading')"),
    "detail-loading": Screen(
        "stock/sh600000", network=("history", HANGS),
        settles="return document.querySelector('.book td')?.textContent"),
    "home-failed": Screen("", is_away=True, settles="return document.querySelector('.empty button')"
                          " && !document.querySelector('.banner').hidden"),
    "detail-failed": Screen("stock/sh600000", network=("history", FAILS)),
    "health-failed": Screen("health", network=("/v1/", FAILS)),
    "home-stale": Screen("", (CUT,)),
    "detail-stale": chart_screen((CUT,)),
}


def name_of(screen, variant):
    return "-".join([screen, *map(str, variant)])


def until(driver, script, *arguments):
    for _ in range(400):
        if driver.execute_script(script, *arguments):
            return
        driver.execute_async_script("setTimeout(arguments[0], 25)")
    raise TimeoutError(script)


def frames(driver):
    """What was changed is laid out and drawn."""
    driver.execute_async_script(
        "requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(arguments[0], 20)))")


def resize(driver, width, height):
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})


def show(driver, server, screen, variant):
    width, scheme, language = variant
    resize(driver, width, SIZES[width])
    browser.appearance(driver, scheme, reduced_motion=True)
    server.is_away, server.overrides = screen.is_away, screen.answers
    driver.get(server.address + "/icon.svg")
    driver.execute_script(
        "sessionStorage.clear(); localStorage.setItem('candled.settings', arguments[0])",
        json.dumps({"language": language}))
    if screen.signed_in:
        driver.execute_script("sessionStorage.setItem('candled.token', arguments[0])", TOKEN)
    source = FETCH % (json.dumps(screen.network[0]), screen.network[1]) if screen.network else ""
    script = driver.execute_cdp_cmd(
        "Page.addScriptToEvaluateOnNewDocument", {"source": source})
    driver.get(f"{server.address}/#/{screen.route}")
    driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)
    until(driver, "return window.candled?.page.screen !== undefined")
    until(driver, screen.settles)
    frames(driver)
    for step, *arguments in screen.steps:
        driver.execute_script(step, *arguments)
        # Longer than the page waits before it asks.
        driver.execute_async_script("setTimeout(arguments[0], 200)")
        until(driver, LOADED)
    # No blinking caret and no focus of the moment.
    driver.execute_script("document.activeElement.blur()")
    whole(driver, width)


def whole(driver, width):
    """The window becomes as high as what is in it; a chart's height depends on the window's."""
    for _ in range(2):
        frames(driver)
        height = driver.execute_script("return document.documentElement.scrollHeight")
        resize(driver, width, max(height, SIZES[width]))
    frames(driver)


def picture(driver, server, screen, variant):
    show(driver, server, screen, variant)
    return driver.get_screenshot_as_png()


def pictures_of(screens):
    return [(name, variant) for name in screens or SCREENS for variant in SCREENS[name].variants]


def trade():
    """Fills the demo's account and inbox with what the screens show."""
    def send(path, body):
        return browser.answer(path, "POST", body, TOKEN)
    order = {"side": "buy", "timeInForce": "day"}
    for symbol, quantity in TRADED:
        send("/v1/orders", {**order, "stockSymbol": symbol, "type": "market",
                            "quantity": quantity})
    lowest = browser.answer("/v1/stocks/sh688006")["limitDown"]
    send("/v1/orders", {**order, "stockSymbol": "sh688006", "type": "limit", "quantity": "200",
                        "limitPrice": lowest})
    send("/v1/queue-purchases", {"stockSymbol": "sz300003", "quantity": "500",
                                 "triggers": [{"kind": "atLimitUp"}]})
    for symbol, triggers in TRIGGERS.items():
        browser.answer(f"/v1/portfolio/{symbol}/triggers", "PUT", triggers, TOKEN)
    send("/v1/alerts", {"stockSymbol": "sh600000", "condition": "above", "threshold": "0.01"})
    send("/v1/alerts", {"condition": "sourceStale", "source": "sina", "repeat": "daily"})
    for _ in range(600):
        held = browser.answer("/v1/portfolio", token=TOKEN)["stocks"]
        if len(held) == len(TRADED) and browser.answer(
                "/v1/notifications", token=TOKEN)["notifications"]:
            return
        time.sleep(0.1)
    raise TimeoutError("what was ordered is not held within a minute")


def record():
    """One turn over all screens before a gateway, with a watchlist and an account."""
    global TOKEN
    TOKEN = browser.TOKEN
    for watchlist in browser.answer("/v1/watchlists", token=TOKEN)["watchlists"]:
        browser.answer(f"/v1/watchlists/{watchlist['id']}", "DELETE", token=TOKEN)
    made = browser.answer("/v1/watchlists", "POST", {"name": "Mine"}, TOKEN)
    browser.answer(
        f"/v1/watchlists/{made['id']}/symbols", "PUT", {"symbols": WATCHED}, TOKEN)
    trade()
    answers = {}
    with replay.running(replay.Recorder, browser.GATEWAY_PORT, answers) as server:
        with browser.chromium() as driver:
            for screen in SCREENS.values():
                if not (screen.is_away or screen.network or screen.answers):
                    show(driver, server, screen, (1024, "light", "en"))
    lines = (f"{json.dumps(path)}:{json.dumps(answer, ensure_ascii=False, separators=(',', ':'))}"
             for path, answer in sorted(answers.items()))
    replay.ANSWERS.write_text("{\n" + ",\n".join(lines) + "\n}\n")


@contextlib.contextmanager
def player():
    with replay.running(replay.Player) as server, browser.chromium(is_whole=False) as driver:
        yield driver, server


@contextlib.contextmanager
def comparing_player():
    with player() as (driver, server):
        version = driver.capabilities["browserVersion"]
        if version.split(".")[0] != CHROMIUM:
            raise unittest.SkipTest(
                f"the pictures are Chromium {CHROMIUM}'s, and this is {version}: make them anew")
        yield driver, server


def make(screens):
    FOLDER.mkdir(exist_ok=True)
    with player() as (driver, server):
        for name, variant in pictures_of(screens):
            made = picture(driver, server, SCREENS[name], variant)
            path = FOLDER / f"{name_of(name, variant)}.png"
            path.write_bytes(pixels.packed(driver, made))


def difference(driver, name, variant, made):
    """The share of pixels that are not those of the repository's picture."""
    return pixels.difference(
        driver, (FOLDER / f"{name_of(name, variant)}.png").read_bytes(), made)


def different(places):
    """The names of pictures that are not those of the repository, with how much of them differs."""
    found = []
    with comparing_player() as (driver, server):
        for name, variant in places:
            made = picture(driver, server, SCREENS[name], variant)
            share = difference(driver, name, variant, made)
            if share <= TOLERANCE:
                continue
            found.append(f"{name_of(name, variant)} {100 * share:.2f} %")
            DIFFERENT.mkdir(parents=True, exist_ok=True)
            (DIFFERENT / f"{name_of(name, variant)}.png").write_bytes(made)
    return found


def main():
    if sys.argv[1] == "record":
        record()
    elif sys.argv[1] == "make":
        make(sys.argv[2:])
    else:
        found = different(pictures_of(sys.argv[2:]))
        print("\n".join(found))
        sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
