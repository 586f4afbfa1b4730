"""Chromium for the tests of the page: Debian's, driven by Debian's Selenium. The tests need a
gateway beside a demo, its port in CANDLED_GATEWAY_PORT, and a token for watchlists in
CANDLED_TOKEN."""

import contextlib
import json
import os
import pathlib
import threading
import time
import unittest
import urllib.error
import urllib.request

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

import serve

TOKEN = os.environ.get("CANDLED_TOKEN", "")
GATEWAY_PORT = int(os.environ.get("CANDLED_GATEWAY_PORT", "8466"))
# What people have; and what draws the same pixels without the rest of a browser.
WHOLE, SHELL = "/usr/bin/chromium", "/usr/lib/chromium/chromium-headless-shell"
ROOT = pathlib.Path(__file__).resolve().parents[2]
FONTS = ROOT / "Tests/Page/fonts.conf"
LOGS = {"browser": "ALL"}


@contextlib.contextmanager
def page_server(cut=None, keeps_files=False):
    """The page and the gateway's API at one address: a server, which is yielded."""
    server = serve.server(0, GATEWAY_PORT, cut, keeps_files)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        server.address = f"http://127.0.0.1:{server.server_address[1]}"
        yield server
    finally:
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def chromium(width=1024, height=768, language="en", logs=None, flags=(), is_whole=True):
    """The language is the browser's: the page begins in it."""
    options = Options()
    has_shell = os.access(SHELL, os.X_OK)
    options.binary_location = WHOLE if is_whole or not has_shell else SHELL
    for argument in (
        "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
        "--enable-precise-memory-info", f"--window-size={width},{height}", f"--lang={language}",
        *flags,
    ):
        options.add_argument(argument)
    # Answers that do not come must not hold up a test of what is shown meanwhile.
    options.page_load_strategy = "eager"
    options.set_capability("goog:loggingPrefs", logs or LOGS)
    service = Service(
        "/usr/bin/chromedriver", env={**os.environ, "FONTCONFIG_FILE": str(FONTS)})
    driver = webdriver.Chrome(options=options, service=service)
    try:
        driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        driver.execute_cdp_cmd("Emulation.setLocaleOverride", {"locale": language})
        driver.set_script_timeout(60)
        yield driver
    finally:
        driver.quit()


def appearance(driver, scheme="light", reduced_motion=False):
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    if reduced_motion:
        features.append({"name": "prefers-reduced-motion", "value": "reduce"})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def complaints(driver):
    """What the browser's console says that is an error: scripts, files, policy. A request that the
    gateway put off is none: the page repeats it."""
    return [entry["message"] for entry in driver.get_log("browser")
            if entry["level"] == "SEVERE" and "favicon.ico" not in entry["message"]
            and "status of 429" not in entry["message"]
            and "response code: 429" not in entry["message"]]


def answer(path, method="GET", body=None, token=None):
    """What the gateway itself answers."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    data = None if body is None else json.dumps(body).encode()
    if data:
        headers["Content-Type"] = "application/json"
    request = urllib.request.Request(
        f"http://127.0.0.1:{GATEWAY_PORT}{path}", data=data, headers=headers, method=method)
    while True:
        try:
            with urllib.request.urlopen(request, timeout=20) as response:
                text = response.read()
            return json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            if error.code != 429:
                raise
            time.sleep(float(error.headers["Retry-After"]))


# PyPI's axe-playwright-python brings it; script/bootstrap puts that into .build/python.
AXE = ".build/python/lib/*/site-packages/axe_playwright_python/axe.min.js"
AXE_RUN = """
const done = arguments[arguments.length - 1];
axe.run(document, { resultTypes: ["violations"] }).then(
  ({ violations }) => done(violations.map(({ id, impact, nodes }) => ({
    id, impact, nodes: nodes.slice(0, 5).map(({ html, failureSummary }) => (
      `${html.slice(0, 120)} ${failureSummary.slice(0, 220)}`)) }))),
  (error) => done([{ id: String(error), impact: "critical", nodes: [] }]));
"""


class PageTest(unittest.TestCase):
    """One browser and one address for the tests of a class."""

    width, height, language = 1024, 768, "en"
    cut = None
    logs = LOGS
    is_whole = False

    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(page_server(cls.cut, keeps_files=True))
        cls.address = cls.server.address
        cls.driver = cls.enterClassContext(
            chromium(cls.width, cls.height, cls.language, cls.logs, is_whole=cls.is_whole))

    def tearDown(self):
        self.assertEqual(complaints(self.driver), [])

    def open(self, route="", token=None):
        """Opens a route in a page of its own; the address with a token comes first."""
        self.driver.get("about:blank")
        if token:
            self.driver.get(f"{self.address}/#token={token}")
            self.wait("return !location.hash.includes('token')")
            self.driver.execute_script("location.hash = arguments[0]", f"#/{route}")
        else:
            self.driver.get(f"{self.address}/#/{route}")

    def run_script(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def wait(self, script, *arguments, seconds=40, message=None):
        """Until a script returns something true, which is returned."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = self.run_script(script, *arguments)
            if found:
                return found
            time.sleep(0.05)
        shown = self.run_script("return (document.querySelector('dialog[open]')"
                                " ?? document.querySelector('main') ?? document.body).innerText")
        self.fail(f"{message or script} did not come within {seconds} s; shown: {shown[:600]}")

    def click(self, selector):
        """As a person does: what covers the middle of an element takes the click."""
        for is_last in (False, False, True):
            element = self.wait("return document.querySelector(arguments[0])", selector)
            try:
                self.run_script("arguments[0].scrollIntoView({block: 'center'})", element)
                return element.click()
            except StaleElementReferenceException:
                # It was drawn anew meanwhile, and nothing was clicked.
                if is_last:
                    raise

    def serious(self):
        """What axe-core finds serious or worse in what is shown."""
        self.run_script(next(ROOT.glob(AXE)).read_text())
        found = self.driver.execute_async_script(AXE_RUN)
        return [entry for entry in found if entry["impact"] in ("serious", "critical")]

    def text(self, selector):
        return self.run_script(
            "return document.querySelector(arguments[0])?.textContent ?? null", selector)
