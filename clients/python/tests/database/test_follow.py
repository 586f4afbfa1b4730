"""The change feed of a day that is over, from its beginning."""

import asyncio
import unittest
from unittest import mock

import candled
import demo
from candled import following
from candled.database import _address
from candled.following import follow
from psycopg.conninfo import conninfo_to_dict, make_conninfo

SYMBOL = "sh600000"


class FollowTests(unittest.IsolatedAsyncioTestCase):
    async def test_delivers_every_candle_with_its_values(self):
        found = {}
        with demo.opened() as db:
            expected = {
                row[0]: row[1:] for row in demo.rows(
                    "select opened_at, close, revision from candled.candles(%s, '1m', %s)",
                    SYMBOL, demo.DAY)}
            async with asyncio.timeout(30):
                async for message in db.follow("600000.SH", after=0):
                    self.assertIsInstance(message, candled.Candles)
                    for candle in message.candles:
                        self.assertEqual((candle.symbol, candle.interval), (SYMBOL, "1m"))
                        found[candle.opened_at] = (candle.close, candle.revision)
                    if set(found) >= set(expected):
                        break
        self.assertEqual(len(expected), 240)
        self.assertEqual({at: found[at] for at in expected}, expected)

    @mock.patch("candled.following._CHANGES_MAX", 20)
    async def test_goes_on_where_a_lost_connection_ended(self):
        whole, cut, states = [], [], []
        with demo.opened() as db:
            (count,), = demo.rows(
                "select count(*) from candled.changes(0, 1000000) f, "
                "unnest(f.candle_timeframes || f.revision_timeframes) t where t = 1")
            async for message in db.follow(after=0):
                whole += message.candles
                if len(whole) == count:
                    break
            async with asyncio.timeout(60):
                async for message in db.follow(after=0):
                    if isinstance(message, candled.Stale):
                        states.append(message.is_stale)
                        continue
                    cut += message.candles
                    if not states:
                        demo.rows("select pg_terminate_backend(pid) from pg_stat_activity "
                                  "where query ~ 'feed_candles' and pid <> pg_backend_pid()")
                    if len(cut) >= len(whole):
                        break
        self.assertEqual(cut[:len(whole)], whole)
        self.assertEqual(states[:2], [True, False])

    async def test_what_the_feed_has_not_is_refused_at_once(self):
        with demo.opened() as db:
            with self.assertRaisesRegex(candled.BadArgument, "1m, after_hours or 1d, found '5m'"):
                db.follow(SYMBOL, ["5m"])
            with self.assertRaisesRegex(candled.BadArgument, "nearest"):
                db.follow("sh60000")


class Proxy:
    """Between a follower and the database, over TCP. It can stop forwarding: the kernel goes on to
    acknowledge what is sent, so that nothing but time says so."""

    async def __aenter__(self):
        self.is_open = asyncio.Event()
        self.is_open.set()
        self.connections = 0
        self._tasks, self._writers = set(), []
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_):
        self._server.close()
        for task in self._tasks:
            task.cancel()
        for writer in self._writers:
            writer.close()

    async def _serve(self, reader, writer):
        self.connections += 1
        await self.is_open.wait()
        place = conninfo_to_dict(_address(demo.ADDRESS))
        server = await asyncio.open_unix_connection(f"{place['host']}/.s.PGSQL.{place['port']}")
        self._writers += [writer, server[1]]
        for source, target in ((reader, server[1]), (server[0], writer)):
            task = asyncio.create_task(self._forward(source, target))
            self._tasks.add(task)

    async def _forward(self, source, target):
        while data := await source.read(1 << 16):
            await self.is_open.wait()
            target.write(data)
        target.close()


@mock.patch("candled.following._POLL_SECONDS", 0.2)
@mock.patch("candled.following._ANSWER_SECONDS", 1.0)
class CutTests(unittest.IsolatedAsyncioTestCase):
    async def test_a_connection_that_stands_still_is_reported_and_replaced(self):
        async with Proxy() as proxy, asyncio.timeout(60):
            address = make_conninfo(
                _address(demo.ADDRESS), host="127.0.0.1", port=proxy.port, sslmode="disable")
            followed = follow(address, "Asia/Shanghai", [SYMBOL], [1], 0)
            self.assertIsInstance(await anext(followed), candled.Candles)
            proxy.is_open.clear()
            loop = asyncio.get_running_loop()
            begun = loop.time()
            while not isinstance(message := await anext(followed), candled.Stale):
                pass
            self.assertTrue(message.is_stale)
            self.assertEqual(message.reason, "the database does not answer within 1 s")
            self.assertLess(loop.time() - begun, 10)
            proxy.is_open.set()
            message = await anext(followed)
            self.assertEqual((type(message), message.is_stale), (candled.Stale, False))
            self.assertGreater(proxy.connections, 1)


class LimitTests(unittest.TestCase):
    def test_a_cut_is_reported_within_half_a_minute(self):
        self.assertLessEqual(following._POLL_SECONDS + following._ANSWER_SECONDS, 30)
        kept = following._TRANSPORT
        self.assertLessEqual(
            int(kept["keepalives_idle"])
            + int(kept["keepalives_interval"]) * int(kept["keepalives_count"]), 30)


if __name__ == "__main__":
    unittest.main()
