"""The page over recorded answers, the same each time, for pictures: a recorder before a gateway,
and a player that needs none. Answers are kept by the address that was asked for."""

import base64
import contextlib
import hashlib
import json
import pathlib
import threading
import urllib.error
import urllib.request
from http.server import ThreadingHTTPServer

import serve

ANSWERS = pathlib.Path(__file__).with_name("answers.json")
# Of RFC 6455: what a server proves with that it speaks WebSocket.
WEBSOCKET = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
AWAY = {"type": "about:blank", "status": 404, "code": "not_recorded", "title": "not recorded"}


class Recorder(serve.Handler):
    def pass_on(self):
        if self.command != "GET" or self.path.startswith("/ws"):
            super().pass_on()
            return
        headers = {name: value for name, value in self.headers.items() if name == "Authorization"}
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.server.gateway}{self.path}", headers=headers)
        try:
            with urllib.request.urlopen(request) as response:
                status, body = response.status, response.read()
        except urllib.error.HTTPError as error:
            status, body = error.code, error.read()
        self.server.answers.setdefault(self.path, [status, json.loads(body)])
        answer(self, *self.server.answers[self.path])


class Player(serve.Handler):
    def pass_on(self):
        if self.path.startswith("/ws"):
            self.welcome()
        elif self.server.is_away:
            self.send_error(502)
        elif self.path == "/v1/tickets":
            answer(self, 201, {"ticket": "one", "expiresInSeconds": 30})
        else:
            answers = self.server.answers | self.server.overrides
            answer(self, *answers.get(self.path, [404, AWAY]))

    def welcome(self):
        """A stream on which nothing happens."""
        self.close_connection = True
        if self.server.is_away:
            return
        key = self.headers["Sec-WebSocket-Key"] + WEBSOCKET
        proof = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
        self.connection.sendall(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Accept: {proof}\r\n\r\n".encode())
        epoch = self.server.answers["/v1/market"][1]["epoch"]
        text = json.dumps({"type": "welcome", "epoch": epoch, "seq": 0}).encode()
        self.connection.sendall(bytes([0x81, len(text)]) + text)
        self.wait_for_the_end()

    def wait_for_the_end(self):
        """Until the browser closes the connection."""
        self.close_connection = True
        with contextlib.suppress(ConnectionError):
            while self.connection.recv(1 << 12):
                pass


def answer(handler, status, body):
    data = json.dumps(body).encode()
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data)


@contextlib.contextmanager
def running(handler, gateway=None, answers=None):
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = server.keeps_files = True
    server.gateway, server.cut = gateway, None
    server.is_away, server.overrides = False, {}
    server.answers = answers if answers is not None else json.loads(ANSWERS.read_text())
    server.address = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
