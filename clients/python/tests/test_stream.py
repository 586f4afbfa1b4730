"""The stream against a gateway of these tests, which plays one script a connection."""

import asyncio
import json
import unittest
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from unittest import mock

import candled

try:
    from websockets.asyncio.server import serve
except ImportError:
    from websockets.legacy.server import serve


def stock(symbol, price="1769.040", **more):
    return {
        "id": f"{symbol}@sina", "symbol": symbol, "source": "sina", "name": "样本", "currency": "CNY",
        "currentPrice": price, "previousClose": "1759.900", "volume": "100", "turnover": "5.50",
        "bidPrice": "1.000", "askPrice": "2.000", "bids": [{"price": "1.000", "volume": "3"}],
        "asks": [], "trading": "trading", "quotedAt": "2026-07-06T10:00:00+08:00",
        "receivedAt": "2026-07-06T10:00:00.7+08:00", "tradingDay": "2026-07-06", "forming": None,
        "stale": False, "seq": 7, "unheardOf": 1, **more,
    }


def snapshot(seq, *stocks, part=1, parts=1):
    return {"type": "snapshot", "seq": seq, "part": part, "parts": parts, "data": stocks}


def heartbeat(seq, *stale):
    feeds = [{"source": name, "state": "stalled", "stale": True} for name in stale]
    return {"type": "heartbeat", "seq": seq, "stale": False, "feeds": feeds}


class Gateway:
    """Each connection takes the next script: what to send, `"request"` to wait for one and answer
    it by `subscribed`, a number to close with that code."""

    def __init__(self, *scripts, epoch=1):
        self.scripts = list(scripts)
        self.epoch = epoch
        self.requests = []

    async def __aenter__(self):
        self.server = serve(self.play, "127.0.0.1", 0, subprotocols=["candled.v1"])
        server = await self.server.__aenter__()
        self.url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *error):
        await self.server.__aexit__(*error)

    async def play(self, socket, path=None):
        welcome = {"type": "welcome", "epoch": self.epoch, "seq": 1, "heartbeatSeconds": 15}
        await socket.send(json.dumps(welcome))
        for step in self.scripts.pop(0) if self.scripts else []:
            if step == "request":
                await self.answer(socket)
            elif isinstance(step, int):
                await socket.close(step, "as the script says")
            else:
                await socket.send(json.dumps(step))
        await socket.wait_closed()

    async def answer(self, socket):
        request = json.loads(await socket.recv())
        self.requests.append(request)
        channels = [{"name": channel["name"]} for channel in request["channels"]]
        answer = {"type": "subscribed", "id": request["id"], "channels": channels, "unknown": []}
        await socket.send(json.dumps(answer | {"to": 1}))


class StreamTests(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        # Attempts follow at once; the limits that were drawn below are kept.
        self.limits = []
        patch = mock.patch("random.uniform", lambda low, high: self.limits.append(high) or low)
        patch.start()
        self.addCleanup(patch.stop)

    async def messages(self, stream, count):
        async with asyncio.timeout(20):
            return [await anext(stream) for _ in range(count)]

    async def test_values_are_exact(self):
        async with Gateway(["request", snapshot(5, stock("sh600519"))]) as gateway:
            async with candled.connect(gateway.url, token="cndl_x") as stream:
                await stream.subscribe(prices=["sh600519"], every=2)
                _, prices = await self.messages(stream, 2)
        row = prices.stocks[0]
        self.assertEqual(str(row.current_price), "1769.040")
        self.assertEqual(row.bids, (candled.Level(Decimal("1.000"), Decimal("3")),))
        shanghai = timezone(timedelta(hours=8))
        self.assertEqual(row.quoted_at, datetime(2026, 7, 6, 10, tzinfo=shanghai))
        self.assertIsNone(row.limit_up)
        self.assertEqual(gateway.requests[0]["channels"][0]["every"], "2s")

    async def test_resumes_behind_the_last_message(self):
        candles = {"type": "candles", "seq": 9, "data": []}
        first = ["request", snapshot(5, stock("a")), candles, 1011]
        second = ["request", snapshot(9), heartbeat(12), 1001]
        async with Gateway(first, second, ["request", snapshot(12)]) as gateway:
            async with candled.connect(gateway.url) as stream:
                await stream.subscribe(prices=["a"], candles=["a"])
                found = await self.messages(stream, 11)
        kinds = [type(each).__name__ for each in found]
        cut = ["Stale", "Subscribed", "Stale", "Prices"]
        self.assertEqual(kinds, ["Subscribed", "Prices", "Candles", *cut, *cut])
        afters = [request.get("after") for request in gateway.requests]
        self.assertEqual(afters, [None, {"epoch": 1, "seq": 9}, {"epoch": 1, "seq": 12}])
        self.assertEqual([len(request["channels"]) for request in gateway.requests], [2, 2, 2])
        self.assertEqual(self.limits, [0.5, 5.0])

    async def test_a_beginning_that_did_not_arrive_is_asked_for_again_whole(self):
        first = ["request", snapshot(5, stock("a")), heartbeat(6), "request"]
        first += [snapshot(6, stock("b"), part=1, parts=2), 1011]
        async with Gateway(first, ["request", "request"]) as gateway:
            async with candled.connect(gateway.url) as stream:
                await stream.subscribe(prices=["a"])
                await self.messages(stream, 2)
                await stream.subscribe(prices=["b"], candles=["b"])
                await self.messages(stream, 5)
        asked = [
            ([each["name"] for each in request["channels"]], "after" in request)
            for request in gateway.requests[2:]
        ]
        self.assertEqual(asked, [(["stock-prices", "candles"], True), (["stock-prices"], False)])

    async def test_says_what_cannot_be_recovered(self):
        resync = {"type": "resync", "reason": "another_database", "epoch": 2, "seq": 3}
        first = ["request", snapshot(5, stock("a")), resync, 1011]
        async with Gateway(first, ["request", "request"]) as gateway:
            async with candled.connect(gateway.url) as stream:
                await stream.subscribe(prices=["a"], candles=["a"])
                found = await self.messages(stream, 6)
        self.assertEqual(found[2], candled.Resync("another_database"))
        asked = [
            ([each["name"] for each in request["channels"]], request.get("after"))
            for request in gateway.requests[1:]
        ]
        resumed = (["candles"], {"epoch": 2, "seq": 3})
        self.assertEqual(asked, [resumed, (["stock-prices"], None)])

    async def test_says_when_prices_are_stale(self):
        async with Gateway([heartbeat(1, "sina"), heartbeat(1, "sina"), heartbeat(1)]) as gateway:
            async with candled.connect(gateway.url) as stream:
                found = await self.messages(stream, 2)
        self.assertEqual(found, [candled.Stale(True, "no new data: sina"), candled.Stale(False, "")])

    async def test_gives_up_a_gateway_that_sends_nothing(self):
        async with Gateway([], [heartbeat(1)]) as gateway:
            async with candled.connect(gateway.url) as stream:
                stream._silence_seconds_max = 0.05
                with mock.patch.object(stream, "_take"):
                    found = await self.messages(stream, 1)
        self.assertEqual(found[0].reason, "the gateway sends nothing")

    async def test_waits_longer_with_each_attempt(self):
        async with Gateway([]) as gateway:
            stream = await candled.connect(gateway.url).__aenter__()
        for _ in range(10):
            stream._lose("test")
        self.assertEqual(self.limits, [0.5, 1, 2, 4, 8, 16, 30, 30, 30, 30])

    async def test_errors_are_clear(self):
        with self.assertRaisesRegex(ValueError, "http://x"):
            candled.connect("http://x")
        with self.assertRaisesRegex(candled.ConnectionFailed, "127.0.0.1:1"):
            await candled.connect("ws://127.0.0.1:1").__aenter__()
        error = {"type": "error", "id": 1, "code": "too_many_symbols", "title": "at most 6000"}
        script = [error, snapshot(5, {"symbol": "a"}), 4403]
        async with Gateway(script) as gateway:
            async with candled.connect(gateway.url) as stream:
                with self.assertRaises(candled.RequestRefused) as refused:
                    await anext(stream)
                self.assertEqual(refused.exception.code, "too_many_symbols")
                with self.assertRaisesRegex(candled.ProtocolError, "Stock .*source"):
                    await anext(stream)
                with self.assertRaisesRegex(candled.AccessRefused, "4403"):
                    await anext(stream)
                self.assertEqual([each async for each in stream], [])

    async def test_close_ends_the_iteration(self):
        async with Gateway([]) as gateway:
            async with candled.connect(gateway.url) as stream:
                waiting = asyncio.create_task(anext(stream, None))
                await asyncio.sleep(0.05)
                await stream.close()
                self.assertIsNone(await waiting)


if __name__ == "__main__":
    unittest.main()
