"""Prints what a database answers of one instrument, then each candle of it as it follows, a JSON
object a line. For Tests/CandledTests.

    standby.py ADDRESS SYMBOL
"""

import asyncio
import json
import sys

import candled


def show(**fields):
    print(json.dumps(fields, default=str), flush=True)


async def main():
    address, symbol = sys.argv[1:]
    with candled.open(address) as db:
        found = db.candles(symbol, exact=True)
        show(closes=found["close"].tolist(), last=db.latest(symbol, exact=True)["last"].tolist())
        async for message in db.follow(symbol, after=0):
            for candle in getattr(message, "candles", ()):
                show(opened_at=candle.opened_at, volume=candle.volume, state=candle.state)


asyncio.run(main())
