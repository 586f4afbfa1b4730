#!/usr/bin/env python3
"""A demo with its gateway, for whatever looks at the page:

  python3 demo.py PROGRAM [OPTION…]               prints the environment that browser.py reads, as a
                                                  line of JSON; ends with its standard input
  python3 demo.py PROGRAM [OPTION…] -- COMMAND…   runs a command in it

PROGRAM is a built candled-demo, options are its own."""

import contextlib
import json
import os
import re
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

# A minute of the market lasts four seconds: the morning outlasts the tests.
OPTIONS = ["--speed", "15", "--instruments", "80", "--days", "60"]
PAGE = re.compile(r"^page: http://127\.0\.0\.1:(\d+)/#token=(cndl_\S+)$")


@contextlib.contextmanager
def running(program, *options):
    """Yields the environment once the gateway is there."""
    demo = subprocess.Popen(
        [program, "--gateway", *(options or OPTIONS)], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, text=True)
    try:
        lines = []
        for line in demo.stdout:
            lines.append(line)
            found = PAGE.match(line)
            if found:
                break
        else:
            sys.exit(f"the demo printed no address of the page: {''.join(lines)}")
        threading.Thread(target=demo.stdout.read, daemon=True).start()
        wait(found[1])
        yield {"CANDLED_GATEWAY_PORT": found[1], "CANDLED_TOKEN": found[2]}
    finally:
        demo.terminate()
        demo.wait()


def wait(port):
    """Until the gateway has prices: it is there before the market has opened."""
    address = f"http://127.0.0.1:{port}/v1/stocks?limit=200"
    for _ in range(300):
        try:
            with urllib.request.urlopen(address, timeout=20) as answer:
                stocks = json.load(answer)["stocks"]
            if 2 * sum(bool(stock.get("currentPrice")) for stock in stocks) > len(stocks):
                return
        except urllib.error.URLError:
            pass
        time.sleep(0.2)
    sys.exit("the gateway has no prices within 60 s")


def main():
    arguments = sys.argv[1:]
    place = arguments.index("--") if "--" in arguments else len(arguments)
    command = arguments[place + 1:]
    with running(*arguments[:place]) as environment:
        if command:
            sys.exit(subprocess.run(command, env=os.environ | environment).returncode)
        print(json.dumps(environment), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
