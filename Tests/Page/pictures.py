#!/usr/bin/env python3
"""Pictures of every screen and state, in themes, widths and languages, over recorded answers.

  python3 pictures.py record           asks a gateway for the answers and keeps them
  python3 pictures.py make FOLDER [SCREEN…]      makes the pictures, or those of some screens
  python3 pictures.py compare FOLDER [SCREEN…]   makes them again and names those that differ"""

import base64
import contextlib
import json
import pathlib
import sys

import browser
import replay

# How many of a picture's pixels may differ: one moved candle is 0.0008 of a page.
TOLERANCE = 0.0002
SIZES = {390: 844, 1024: 768, 1600: 1000}
TOKEN = "cndl_picture"
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
# The chart asks for gaps, and the table below it does.
CHART = """
return candled.page.screen.panel?.chart.series?.length > 0 && performance
  .getEntriesByType("resource").filter(({ name }) => name.endsWith("/gaps")).length >= 2;
"""


class Screen:
    def __init__(self, route, *steps, signed_in=True, is_away=False, hangs=False, settles=None):
        self.route, self.steps, self.signed_in = route, steps, signed_in
        self.is_away, self.hangs = is_away, hangs
        self.settles = settles or "return !document.querySelector('main .loading')"


def chart_screen(*steps):
    return Screen("stock/sh600000", *steps, settles=CHART)


SCREENS = {
    "home": Screen(""),
    "home-signed-out": Screen("", signed_in=False),
    "search": Screen("search/6000"),
    "detail": chart_screen(),
    "detail-marks": chart_screen((MARKS,)),
    "detail-daily": chart_screen((CLICK, "[data-name=daily]")),
    "detail-why": chart_screen(("candled.page.screen.panel.chart.select(3)",)),
    "watchlists": Screen("watchlists"),
    "watchlists-edit": Screen("watchlists", (CLICK, "main .card-head button")),
    "health": Screen("health"),
    "settings": Screen("settings"),
    "unknown": Screen("stock/nothing"),
    "failed": Screen("", is_away=True, settles="return document.querySelector('.empty button')"
                     " && !document.querySelector('.banner').hidden"),
    "loading": Screen("", hangs=True, settles="return document.querySelector('main .loading')"),
}
VARIANTS = [
    (390, "light", "en"), (390, "dark", "zh"), (1024, "light", "en"), (1024, "dark", "en"),
    (1600, "light", "zh"), (1600, "dark", "en"),
]


def name_of(screen, variant):
    return "-".join([screen, *map(str, variant)])


def until(driver, script, *arguments):
    for _ in range(200):
        if driver.execute_script(script, *arguments):
            return
        driver.execute_async_script("setTimeout(arguments[0], 50)")
    raise TimeoutError(script)


def show(driver, server, screen, variant):
    width, scheme, language = variant
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": width, "height": SIZES[width], "deviceScaleFactor": 1, "mobile": False})
    browser.appearance(driver, scheme, reduced_motion=True)
    server.is_away = screen.is_away
    driver.get(server.address + "/icon.svg")
    driver.execute_script(
        "sessionStorage.clear(); localStorage.setItem('candled.settings', arguments[0])",
        json.dumps({"language": language}))
    if screen.signed_in:
        driver.execute_script("sessionStorage.setItem('candled.token', arguments[0])", TOKEN)
    waiting = driver.execute_cdp_cmd(
        "Page.addScriptToEvaluateOnNewDocument",
        {"source": "window.fetch = () => new Promise(() => {});" if screen.hangs else ""})
    driver.get("about:blank")
    driver.get(f"{server.address}/#/{screen.route}")
    driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", waiting)
    until(driver, "return window.candled?.page.screen !== undefined")
    until(driver, screen.settles)
    driver.execute_async_script("setTimeout(arguments[0], 100)")
    for script, *arguments in screen.steps:
        driver.execute_script(script, *arguments)
        driver.execute_async_script("setTimeout(arguments[0], 300)")
        until(driver, "return !document.querySelector('main .loading')")
    # No blinking caret, no focus of the moment, and two frames for the chart.
    driver.execute_script("document.activeElement.blur()")
    driver.execute_async_script("setTimeout(arguments[0], 250)")


def picture(driver, server, screen, variant):
    show(driver, server, screen, variant)
    return driver.get_screenshot_as_png()


DIFFERENCE = """
const [one, other, done] = arguments;
const read = async (data) => {
  const image = new Image();
  image.src = `data:image/png;base64,${data}`;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height);
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  return context.getImageData(0, 0, image.width, image.height);
};
Promise.all([read(one), read(other)]).then(([first, second]) => {
  if (first.width !== second.width || first.height !== second.height) return done(1);
  const left = new Uint32Array(first.data.buffer);
  const right = new Uint32Array(second.data.buffer);
  let count = 0;
  for (let place = 0; place < left.length; place += 1) count += left[place] !== right[place];
  return done(count / left.length);
}, () => done(1));
"""


def difference(driver, one, other):
    """The share of pixels that differ; the browser reads the pictures."""
    driver.get("about:blank")
    encoded = [base64.b64encode(data).decode() for data in (one, other)]
    return driver.execute_async_script(DIFFERENCE, *encoded)


def pictures_of(screens):
    return [(name, variant) for name in screens or SCREENS for variant in VARIANTS]


def record():
    """One turn over all screens before a gateway, with a token that has a watchlist."""
    answers = {}
    with replay.running(replay.Recorder, browser.GATEWAY_PORT, answers) as server:
        with browser.chromium() as driver:
            for screen in SCREENS.values():
                if screen.is_away or screen.hangs:
                    continue
                global TOKEN
                TOKEN = browser.TOKEN
                show(driver, server, screen, (1024, "light", "en"))
    replay.ANSWERS.write_text(json.dumps(answers, ensure_ascii=False, separators=(",", ":")))


@contextlib.contextmanager
def player():
    with replay.running(replay.Player) as server, browser.chromium() as driver:
        yield driver, server


def main():
    if sys.argv[1] == "record":
        record()
        return
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    different = 0
    with player() as (driver, server):
        for name, variant in pictures_of(sys.argv[3:]):
            path = folder / f"{name_of(name, variant)}.png"
            made = picture(driver, server, SCREENS[name], variant)
            if sys.argv[1] == "make":
                path.write_bytes(made)
            elif difference(driver, path.read_bytes(), made) > TOLERANCE:
                different += 1
                print(path.name, flush=True)
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
