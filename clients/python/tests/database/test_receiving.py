"""The server's messages, from a socket of these tests and from the database, read past libpq."""

import random
import socket
import struct
import threading
import unittest
from unittest import mock

import psycopg

import candled
import demo
from candled import receiving
from candled.columns import Decoder

INT8, TEXT = 20, 25
SIGNATURE = b"PGCOPY\n\xff\r\n\0" + bytes(8)


def message(kind, body):
    return kind + struct.pack(">I", 4 + len(body)) + body


def row(number, text):
    fields = (struct.pack(">q", number), text.encode())
    return struct.pack(">h", 2) + b"".join(
        struct.pack(">i", len(field)) + field for field in fields)


def answer(rows, end=b""):
    """As a server answers: notices may stand anywhere, the header is in the first row's message."""
    messages = [message(b"H", bytes(7)), message(b"d", SIGNATURE + row(*rows[0]))]
    for place, each in enumerate(rows[1:]):
        if place % 7 == 0:
            messages.append(message(b"N", b"SNOTICE\0Mnothing\0\0"))
        messages.append(message(b"d", row(*each)))
    messages += [message(b"d", b"\xff\xff"), message(b"c", b""), message(b"C", b"COPY 1\0")]
    return b"".join(messages) + end


READY = message(b"Z", b"I")


def received(data, sizes, room=None):
    """What the decoder makes of `data` that arrives in pieces."""
    here, there = socket.socketpair()

    def send():
        with there:
            place = 0
            for size in sizes:
                there.sendall(data[place:place + size])
                place += size
            there.sendall(data[place:])

    sender = threading.Thread(target=send)
    sender.start()
    decoder = Decoder({"n": INT8, "t": TEXT}, exact=False)
    with here, mock.patch.object(receiving, "_ROOM_BYTES", room or receiving._ROOM_BYTES):
        here.setblocking(False)
        incoming = receiving._Incoming(here)
        try:
            error = incoming.read(decoder)
        finally:
            sender.join()
    columns = decoder.columns()
    table = candled.Table(columns, zone="UTC")
    rows = list(zip(table["n"].tolist(), table["t"].tolist(), strict=True))
    return rows, error, incoming.is_ready


class MessageTests(unittest.TestCase):
    def test_rows_are_whole_wherever_the_stream_is_cut(self):
        seed = random.randrange(1 << 32)
        source = random.Random(seed)
        rows = [(place, "x" * source.choice((0, 3, 8, 30, 400))) for place in range(3_000)]
        data = answer(rows, READY)
        for room in (1 << 10, 1 << 13, None):
            sizes = [source.choice((1, 2, 5, 100, 9_000)) for _ in range(2_000)]
            with self.subTest(seed=seed, room=room):
                self.assertEqual(received(data, sizes, room), (rows, None, True))

    def test_a_row_may_be_larger_than_the_room(self):
        rows = [(1, "a"), (2, "b" * 100_000), (3, "c")]
        self.assertEqual(received(answer(rows, READY), [50], room=1 << 10), (rows, None, True))

    def test_what_looks_like_the_end_is_no_end(self):
        rows = [(0x5A_0000_0005, "Z\1\1\1\5I"), (2, "b")]
        data = answer(rows, READY)
        self.assertEqual(received(data, [data.index(b"Z\1") + 6]), (rows, None, True))

    def test_an_error_in_the_middle_is_known_and_the_end_awaited(self):
        fields = b"SERROR\0C57014\0Mcanceling statement\0\0"
        _, found, is_ready = received(answer([(1, "a")]) + message(b"E", fields) + READY, [])
        error = receiving._error(found, "utf-8")
        self.assertIsInstance(error, psycopg.errors.QueryCanceled)
        self.assertEqual((str(error), is_ready), ("canceling statement", True))

    def test_an_end_without_a_word_is_no_end(self):
        data = answer([(1, "a")])
        self.assertEqual(received(data, []), ([(1, "a")], None, False))
        self.assertEqual(received(data[:-20], []), ([(1, "a")], None, False))

    def test_what_no_server_sends_is_refused(self):
        with self.assertRaisesRegex(candled.ProtocolError, "type 63"):
            received(message(b"?", b"") + READY, [])


class DatabaseTests(unittest.TestCase):
    def setUp(self):
        self.db = self.enterContext(demo.opened())

    def test_both_ways_bring_the_same(self):
        self.assertTrue(self.db._is_plain)
        found = self.db.query("select * from candled.market_candles('cn', '1m')", exact=True)
        self.db._is_plain = False
        other = self.db.query("select * from candled.market_candles('cn', '1m')", exact=True)
        self.assertGreater(len(found), 4_000)
        self.assertTrue(found.to_pandas().equals(other.to_pandas()))

    def test_the_connection_serves_again_after_an_error(self):
        connection = self.db._connection
        for is_plain in (True, False):
            self.db._is_plain = is_plain
            with self.assertRaisesRegex(candled.QueryFailed, "division by zero"):
                self.db.query("select 1 / (n - 5) as x from generate_series(1, 9) n")
            if is_plain:
                self.assertIs(self.db._connected(), connection)
            self.assertEqual(self.db.query("select 7 as x")["x"].tolist(), [7])

    def test_a_lost_connection_is_an_error_and_replaced(self):
        with self.assertRaisesRegex(candled.ConnectionFailed, "terminating connection"):
            self.db.query("select pg_terminate_backend(pg_backend_pid()) as x")
        self.assertEqual(self.db.query("select 7 as x")["x"].tolist(), [7])


if __name__ == "__main__":
    unittest.main()
