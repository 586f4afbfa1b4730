#!/usr/bin/env python3
"""Makes the README's pictures of the page, light and dark, from a running demo: python3
picture_of_readme.py FOLDER. `script/picture page` runs it over one."""

import pathlib
import sys
import time

import browser
import pictures
import pixels

WIDTH, HEIGHT = 1280, 800
SYMBOL = "sh600000"
# When most of the day's candles are there.
MOMENT = "14:25"
BYTES_MAX = 150_000


def wait_for_the_afternoon():
    while browser.answer(f"/v1/stocks/{SYMBOL}").get("quotedAt", "")[11:16] < MOMENT:
        time.sleep(0.5)


def main():
    folder = pathlib.Path(sys.argv[1])
    wait_for_the_afternoon()
    with browser.page_server() as server, browser.chromium(WIDTH, HEIGHT) as driver:
        for scheme in ("light", "dark"):
            browser.appearance(driver, scheme, reduced_motion=True)
            driver.get("about:blank")
            driver.get(f"{server.address}/#token={browser.TOKEN}")
            pictures.until(driver, "return candled?.feed.state === 'live'")
            driver.execute_script("location.hash = arguments[0]", f"#/stock/{SYMBOL}")
            pictures.until(driver, pictures.CHART)
            pictures.frames(driver)
            picture = pixels.packed(driver, driver.get_screenshot_as_png())
            if len(picture) > BYTES_MAX:
                sys.exit(f"{len(picture)} bytes are too many for the README")
            (folder / f"page-{scheme}.png").write_bytes(picture)


if __name__ == "__main__":
    main()
