"""The stream itself: one WebSocket at a time, replaced when it is lost."""

import asyncio
import json
import random
from collections import deque
from collections.abc import AsyncIterator, Iterable
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from websockets.exceptions import ConnectionClosed, InvalidHandshake, WebSocketException

from . import messages
from .errors import AccessRefused, ConnectionFailed, RequestRefused
from .messages import Candle, Candles, Message, Prices, Records, Resync, Slow, Stale, Stock
from .messages import Subscribed

try:  # websockets 13 and later
    from websockets.asyncio.client import connect as _connect

    _HEADERS = "additional_headers"
except ImportError:
    from websockets.legacy.client import connect as _connect  # type: ignore[assignment]

    _HEADERS = "extra_headers"

_RETRY_SECONDS_MIN = 0.5
_RETRY_SECONDS_MAX = 30.0
# A gateway that stops closes all its streams at once: they must not come back at once.
_GOING_AWAY, _GOING_AWAY_SECONDS = 1001, 5.0
# 4401 no token in time, 4403 not allowed or revoked, 4409 too many streams of the token.
_FINAL_CODES = {4401, 4403, 4409}
_FINAL_STATUSES = {400, 401, 403, 404}
# The gateway sends at most 64 KiB.
_MESSAGE_BYTES_MAX = 1 << 20
_PRICES = "stock-prices"
_PLACE = ("seq", "logSeq", "logPosition")

_Channels = list[dict[str, Any]]


def connect(url: str, *, token: str | None = None) -> "Stream":
    """A stream of the gateway at `url`, to be opened by `async with`.

    `url` is like "ws://127.0.0.1:8466" or "wss://example.com"; `token` is what
    `candled-gateway token create` prints, or None where the gateway needs none.
    """
    return Stream(url, token=token)


class Stream:
    """An asynchronous iterator of messages that outlives lost connections.

    After a reconnection it delivers what was missed, of prices the newest, of candles each once;
    or `Resync`, if that is not possible. Only one task may iterate.
    """

    def __init__(self, url: str, *, token: str | None = None) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("ws", "wss") or not parts.hostname:
            raise ValueError(f"expected an address such as ws://127.0.0.1:8466, found {url!r}")
        self._url = urlunsplit(parts if parts.path.strip("/") else parts._replace(path="/ws"))
        self._options: dict[str, Any] = {
            "subprotocols": ["candled.v1"],
            "max_size": _MESSAGE_BYTES_MAX,
            _HEADERS: {"Authorization": f"Bearer {token}"} if token else {},
        }
        self._socket: Any = None
        self._is_closed = False
        self._ready: deque[Message] = deque()
        self._is_stale = self._is_cut = False
        self._silence_seconds_max = 20.0
        self._attempts = 0
        self._retry_at = 0.0
        # Where to resume.
        self._epoch = 0
        self._after: dict[str, int] | None = None
        # Channels: those whose beginning has arrived, those whose snapshot is arriving (for each
        # request), those that were asked for (by the request's id), those that will be.
        self._begun: _Channels = []
        self._filling: deque[_Channels] = deque()
        self._asked: dict[int, _Channels] = {}
        self._wanted: _Channels = []
        self._requests = 0

    async def __aenter__(self) -> "Stream":
        """Connects. Raises AccessRefused or ConnectionFailed."""
        await self._open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends the stream, and with it the iteration."""
        self._is_closed = True
        if self._socket is not None:
            await self._socket.close()

    async def subscribe(
        self,
        *,
        prices: Iterable[str] = (),
        candles: Iterable[str] = (),
        intervals: Iterable[str] = ("1m",),
        every: int | None = None,
        channels: Iterable[str] = (),
    ) -> None:
        """Follows more: the stream answers with `Subscribed`, or raises RequestRefused.

        `prices` and `candles` are symbols such as "sh600519"; `intervals` belongs to the candles;
        `every` is the least number of seconds between two messages of prices; `channels` are
        others: "gaps", "minute-complete", "market".
        """
        wanted: _Channels = [{"name": name} for name in channels]
        if symbols := list(prices):
            pace = {} if every is None else {"every": f"{every}s"}
            wanted.append({"name": _PRICES, "symbols": symbols, **pace})
        if symbols := list(candles):
            wanted.append({"name": "candles", "symbols": symbols, "intervals": list(intervals)})
        self._wanted += wanted
        if self._socket is not None:
            await self._ask()

    def __aiter__(self) -> AsyncIterator[Message]:
        return self

    async def __anext__(self) -> Message:
        while not self._ready:
            if self._is_closed:
                raise StopAsyncIteration
            if self._socket is None:
                await self._reopen()
                continue
            try:
                async with asyncio.timeout(self._silence_seconds_max):
                    text = await self._socket.recv()
            except TimeoutError:
                self._lose("the gateway sends nothing")
            except ConnectionClosed as error:
                self._lose_closed(error)
            else:
                self._take(json.loads(text))
        return self._ready.popleft()

    # Connections

    async def _open(self) -> None:
        try:
            self._socket = await _connect(self._url, **self._options)
        except InvalidHandshake as error:
            status = getattr(getattr(error, "response", error), "status_code", None)
            if status in _FINAL_STATUSES:
                raise AccessRefused(f"{self._url} refuses the stream: HTTP {status}") from error
            raise ConnectionFailed(f"no stream at {self._url}: {error}") from error
        except (OSError, WebSocketException) as error:
            raise ConnectionFailed(f"cannot reach {self._url}: {error}") from error
        if self._begun:
            await self._request(self._begun, [], self._after)
        await self._ask()

    async def _reopen(self) -> None:
        await asyncio.sleep(self._retry_at - asyncio.get_running_loop().time())
        try:
            await self._open()
        except ConnectionFailed as error:
            self._lose(str(error))

    def _lose_closed(self, error: ConnectionClosed) -> None:
        code, reason = (error.rcvd.code, error.rcvd.reason) if error.rcvd else (None, "")
        if code in _FINAL_CODES:
            self._is_closed = True
            raise AccessRefused(f"{self._url} ended the stream: {reason} ({code})")
        if not self._is_closed:
            least = _GOING_AWAY_SECONDS if code == _GOING_AWAY else 0.0
            self._lose(f"connection lost: {reason}" if reason else "connection lost", least)

    def _lose(self, reason: str, limit_min: float = 0.0) -> None:
        if self._socket is not None:
            self._socket.transport.abort()
            self._socket = None
        # Full jitter: any moment up to a limit that doubles with each attempt.
        limit = min(_RETRY_SECONDS_MAX, _RETRY_SECONDS_MIN * 2 ** min(self._attempts, 10))
        wait = random.uniform(0.0, max(limit, limit_min))
        self._retry_at = asyncio.get_running_loop().time() + wait
        self._attempts += 1
        unfinished = [*self._filling, *self._asked.values(), self._wanted]
        self._wanted = [channel for channels in unfinished for channel in channels]
        self._filling.clear()
        self._asked.clear()
        self._is_cut = True
        self._set_stale(True, reason)

    async def _ask(self) -> None:
        wanted, self._wanted = self._wanted, []
        if wanted:
            await self._request(wanted, wanted)

    async def _request(
        self, channels: _Channels, new: _Channels, after: dict[str, int] | None = None
    ) -> None:
        self._requests += 1
        self._asked[self._requests] = new
        request = {"action": "subscribe", "id": self._requests, "channels": channels}
        try:
            await self._socket.send(json.dumps(request | ({"after": after} if after else {})))
        except ConnectionClosed:
            pass  # What reads will find out.

    # Messages

    def _take(self, message: dict[str, Any]) -> None:
        kind, data = message.get("type"), message.get("data", [])
        match kind:
            case "welcome":
                self._epoch = message["epoch"]
                self._silence_seconds_max = 2 * message["heartbeatSeconds"] + 5
            case "subscribed":
                self._take_subscribed(message)
            case "error":
                self._asked.pop(message.get("id", 0), None)
                raise RequestRefused(message["code"], message["title"])
            case "snapshot" | "stock-prices":
                self._take_prices(message, messages.rows(Stock, data))
            case "candles":
                self._advance(message)
                self._ready.append(Candles(messages.rows(Candle, data)))
            case "gap" | "gap-closed" | "certificate" | "minute-complete" | "event":
                self._advance(message)
                self._ready.append(Records(kind, tuple(data)))
            case "heartbeat":
                self._advance(message)
                self._is_cut = False
                silent = [feed["source"] for feed in message["feeds"] if feed["stale"]]
                self._set_stale(bool(silent), f"no new data: {', '.join(silent)}")
            case "resync":
                self._take_resync(message)
            case "slow":
                self._ready.append(Slow(message["conflated"]))

    def _take_subscribed(self, message: dict[str, Any]) -> None:
        names = tuple(channel["name"] for channel in message["channels"])
        new = self._asked.pop(message["id"], [])
        self._begun += [channel for channel in new if channel["name"] != _PRICES]
        if _PRICES in names:
            self._filling.append([channel for channel in new if channel["name"] == _PRICES])
        if self._after is None:
            self._after = {"epoch": self._epoch, "seq": message["to"]}
        self._ready.append(
            Subscribed(names, tuple(message["unknown"]), message.get("recovered")))

    def _take_prices(self, message: dict[str, Any], stocks: tuple[Stock, ...]) -> None:
        is_snapshot = message["type"] == "snapshot"
        if not is_snapshot:
            self._advance(message)
        elif message["part"] == message["parts"] and self._filling:
            self._begun += self._filling.popleft()
        if self._is_cut and not any(stock.stale for stock in stocks):
            self._is_cut = False
            self._set_stale(False, "")
        self._ready.append(Prices(stocks, is_snapshot))

    def _take_resync(self, message: dict[str, Any]) -> None:
        self._epoch = message["epoch"]
        self._after = {"epoch": self._epoch, "seq": message["seq"]}
        # One snapshot of all prices follows.
        pending = [*self._filling, self._begun]
        prices = [each for channels in pending for each in channels if each["name"] == _PRICES]
        self._begun = [channel for channel in self._begun if channel["name"] != _PRICES]
        self._filling = deque([prices] if prices else [])
        self._ready.append(Resync(message["reason"]))

    def _advance(self, message: dict[str, Any]) -> None:
        """Where to resume. A snapshot does not say: what others are owed may lie behind it."""
        self._after = {"epoch": self._epoch} | {
            name: message[name] for name in _PLACE if name in message}
        self._attempts = 0

    def _set_stale(self, is_stale: bool, reason: str) -> None:
        if is_stale != self._is_stale:
            self._is_stale = is_stale
            self._ready.append(Stale(is_stale, reason if is_stale else ""))
