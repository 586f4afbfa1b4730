#!/usr/bin/env python3
"""Serves the page's files, with the headers that the gateway sends, and passes the API and the
stream on to a gateway: python3 serve.py PORT GATEWAY_PORT [FILE]. It listens on loopback alone.
While FILE exists, streams are silent and requests hang: a cut network."""

import contextlib
import os
import pathlib
import selectors
import socket
import sys
import time
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

FILES = pathlib.Path(__file__).resolve().parents[2] / "Sources/Page/Files"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
PASSED = ("/v1/", "/ws", "/livez", "/readyz")


class Handler(SimpleHTTPRequestHandler):
    extensions_map = {**SimpleHTTPRequestHandler.extensions_map, ".js": "text/javascript"}

    def __init__(self, *arguments):
        super().__init__(*arguments, directory=str(FILES))

    def end_headers(self):
        self.send_header("Content-Security-Policy", POLICY)
        is_kept = self.server.keeps_files and not self.path.startswith(PASSED)
        self.send_header("Cache-Control", "max-age=3600" if is_kept else "no-store")
        super().end_headers()

    def log_message(self, *_):
        pass

    def do_GET(self):
        if self.path.startswith(PASSED):
            self.pass_on()
        else:
            super().do_GET()

    def do_POST(self):
        self.pass_on()

    do_PUT = do_PATCH = do_DELETE = do_POST

    def pass_on(self):
        """One request to a connection: the head as it came, then bytes both ways."""
        self.close_connection = True
        upgrades = self.headers.get("Upgrade") is not None
        kept = [(name, value) for name, value in self.headers.items()
                if upgrades or name.lower() != "connection"]
        kept += [] if upgrades else [("Connection", "close")]
        lines = [self.requestline, *(f"{name}: {value}" for name, value in kept)]
        length = int(self.headers.get("Content-Length", 0))
        try:
            gateway = socket.create_connection(("127.0.0.1", self.server.gateway))
        except ConnectionError:
            with contextlib.suppress(ConnectionError):
                self.send_error(502)
            return
        with gateway, contextlib.suppress(ConnectionError):
            gateway.sendall("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n")
            gateway.sendall(self.rfile.read(length))
            self.join(self.connection, gateway)

    def join(self, browser, gateway):
        with selectors.DefaultSelector() as selector:
            selector.register(browser, selectors.EVENT_READ, gateway)
            selector.register(gateway, selectors.EVENT_READ, browser)
            while True:
                for key, _ in selector.select():
                    while self.server.cut and os.path.exists(self.server.cut):
                        time.sleep(0.1)
                    data = key.fileobj.recv(1 << 16)
                    if not data:
                        return
                    key.data.sendall(data)


def server(port, gateway, cut=None, keeps_files=False):
    """With `keeps_files` browsers keep the page's files, as long as none of them changes."""
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads, server.gateway, server.cut = True, gateway, cut
    server.keeps_files = keeps_files
    return server


if __name__ == "__main__":
    server(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:4]).serve_forever()
