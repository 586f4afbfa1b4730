"""The decoder against numbers that these tests encode, without a database."""

import random
import struct
import unittest
from decimal import Decimal

import numpy as np

import candled
from candled.columns import Decoder

NUMERIC, TEXT, INT8, BOOL, TIMESTAMPTZ, DATE = 1700, 25, 20, 16, 1184, 1082
HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
# As numeric_send() of PostgreSQL sends it.
NAN = struct.pack(">HhHH", 0, 0, 0xC000, 0)


def numeric(value):
    sign, digits, exponent = value.as_tuple()
    scale = max(-exponent, 0)
    text = "".join(map(str, digits)) + "0" * max(exponent, 0)
    whole, part = (text[:-scale], text[-scale:].rjust(scale, "0")) if scale else (text, "")
    whole = whole.rjust(-len(whole) % 4 + len(whole), "0")
    part = part.ljust(-len(part) % 4 + len(part), "0")
    groups = [int((whole + part)[at:at + 4]) for at in range(0, len(whole + part), 4)]
    power = len(whole) // 4 - 1
    while groups and groups[0] == 0:
        groups.pop(0)
        power -= 1
    while groups and groups[-1] == 0:
        groups.pop()
    power = power if groups else 0
    head = struct.pack(">HhHH", len(groups), power, 0x4000 if sign and groups else 0, scale)
    return head + b"".join(struct.pack(">H", group) for group in groups)


def message(*fields):
    parts = [struct.pack(">h", len(fields))]
    for field in fields:
        parts.append(struct.pack(">i", -1) if field is None else
                     struct.pack(">i", len(field)) + field)
    return b"".join(parts)


def decoded(types, rows, exact=False):
    decoder = Decoder(types, exact=exact)
    messages = [message(*row) for row in rows] + [b"\xff\xff"]
    messages[0] = HEADER + messages[0]
    decoder.take_messages(messages)
    return decoder.columns()


class ColumnsTests(unittest.TestCase):
    def test_every_number_is_the_nearest_float_and_the_same_decimal(self):
        seed = random.randrange(1 << 32)
        source = random.Random(seed)
        values = [Decimal(text) for text in (
            "0", "0.000", "-1.50", "9007199254740993", "0.1", "136.390", "9223372036854775807",
            "-9223372036854775808", "1e25", "0.0000000000000000000000012", "99999999.99999999")]
        for _ in range(4_000):
            digits = source.randrange(10 ** source.randrange(1, 30))
            value = Decimal(digits).scaleb(-source.randrange(0, 26))
            values.append(-value if source.random() < 0.3 and value else value)
            values.append(Decimal(source.randrange(-(10**9), 10**9)).scaleb(-source.randrange(0, 4)))
        # Short and long ones in batches of their own, so that each way of decoding is taken.
        for limit, decimals in ((10**6, 3), (10**8, 9), (10**40, 99)):
            some = [value for value in values if abs(value) < limit
                    and value.as_tuple().exponent >= -decimals]
            fields = [[numeric(value)] for value in some]
            floats = decoded({"n": NUMERIC}, fields)["n"].values
            exact = decoded({"n": NUMERIC}, fields, exact=True)["n"].exact()
            with self.subTest(seed=seed, limit=limit):
                self.assertGreater(len(some), 100)
                self.assertEqual(floats.tolist(), [float(value) for value in some])
                self.assertEqual([format(value, "f") for value in exact],
                                 [format(value, "f") for value in some])

    def test_nulls_and_infinities_are_nothing(self):
        types = {"n": NUMERIC, "t": TEXT, "i": INT8, "b": BOOL, "z": TIMESTAMPTZ, "d": DATE}
        endless = [None, None, None, None, struct.pack(">q", -(1 << 63)),
                   struct.pack(">i", (1 << 31) - 1)]
        table = candled.Table(decoded(types, [[None] * 6, endless]), zone="Asia/Shanghai")
        self.assertTrue(np.isnan(table["n"]).all() and np.isnan(table["i"]).all())
        self.assertEqual(table["t"].tolist(), [None, None])
        self.assertTrue(np.isnat(table["z"]).all() and np.isnat(table["d"]).all())

    def test_what_is_no_number_is_nan_and_no_decimal(self):
        self.assertTrue(np.isnan(decoded({"n": NUMERIC}, [[NAN]])["n"].values[0]))
        with self.assertRaises(candled.ProtocolError):
            decoded({"n": NUMERIC}, [[NAN]], exact=True)

    def test_texts_of_any_length_keep_their_rows(self):
        for texts in (["sh600519", "", "平安银行", "sh600519", "x" * 200, "样"],
                      ["b", "sh600519", "", "a", "AAPL", "b", "a", "b"]):
            decoder = Decoder({"t": TEXT}, exact=False)
            # A second batch finds the words of the first, and has new ones among them.
            messages = [message(text.encode()) for text in texts]
            decoder.take_messages([HEADER + messages[0], *messages[1:3]])
            decoder.take_messages(messages[3:])
            column = decoder.columns()
            self.assertEqual(candled.Table(column, zone="UTC")["t"].tolist(), texts)
            self.assertEqual(sorted(set(column["t"].words)), sorted(set(texts)))

    def test_what_is_not_understood_is_refused(self):
        with self.assertRaisesRegex(candled.ProtocolError, "prices .*1231"):
            Decoder({"prices": 1231}, exact=False)
        with self.assertRaisesRegex(candled.ProtocolError, "1 fields"):
            decoded({"n": NUMERIC}, [[None, None]])
        with self.assertRaisesRegex(candled.ProtocolError, "not one row"):
            decoder = Decoder({"n": NUMERIC}, exact=False)
            decoder.take_messages([HEADER + message(None) + b"more"])
        with self.assertRaisesRegex(candled.ProtocolError, "no binary COPY"):
            Decoder({"n": NUMERIC}, exact=False).take_messages([b"1769.040\n"])


if __name__ == "__main__":
    unittest.main()
