"""The change feed of a day that is over, from its beginning."""

import asyncio
import unittest
from unittest import mock

import candled
import demo

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


if __name__ == "__main__":
    unittest.main()
