"""Opens the page in Chromium, follows a gateway and prints what the page shows, a JSON object for
each change, until SIGTERM. The first line is the page's origin. For Tests/CandledTests.

    browser.py GATEWAY TOKEN SYMBOL…
"""

import functools
import http.server
import json
import os
import pathlib
import signal
import sys
import threading
import time

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

SHELL = "/usr/lib/chromium/chromium-headless-shell"
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
SHOWN = """
const cells = (row) => [...row.cells].map((cell) => cell.textContent);
return {
  state: document.querySelector("#state").textContent,
  isStale: document.querySelector("#table").classList.contains("stale"),
  rows: [...document.querySelectorAll("#table tbody tr")].map(cells),
};
"""


class Files(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def serve(folder):
    handler = functools.partial(Files, directory=folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = SHELL if os.access(SHELL, os.X_OK) else "/usr/bin/chromium"
    for flag in FLAGS:
        options.add_argument(flag)
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)


def follow(driver, origin, gateway, token, symbols):
    driver.get(origin)
    for name, text in [("gateway", gateway), ("symbols", " ".join(symbols)), ("token", token)]:
        field = driver.find_element(By.NAME, name)
        field.clear()
        field.send_keys(text)
    driver.find_element(By.TAG_NAME, "button").click()
    shown, parent = None, os.getppid()
    # Whoever started it may be gone.
    while os.getppid() == parent:
        now = driver.execute_script(SHOWN)
        if now != shown:
            print(json.dumps(now, ensure_ascii=False), flush=True)
        shown = now
        time.sleep(0.05)


def main():
    gateway, token, *symbols = sys.argv[1:]
    # The thread that started this may have blocked them.
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    origin = serve(pathlib.Path(__file__).parents[1])
    print(json.dumps({"origin": origin}), flush=True)
    driver = browser()
    try:
        follow(driver, origin, gateway, token, symbols)
    finally:
        driver.quit()


if __name__ == "__main__":
    main()
