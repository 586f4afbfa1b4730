"""Follows the gateway at PORT with unmodified alpaca-py until each kind of message came, and prints
them as JSON in the last line."""

import json
import os
import sys
import threading

from alpaca.data.live import StockDataStream

received = {"bars": {}, "quotes": {}, "updated": {}}
stream = StockDataStream(
    "any", os.environ["SECRET"], url_override=f"ws://127.0.0.1:{sys.argv[1]}/v2/iex"
)
names = ["sh600000", "600001.SH", "AAPL"]


def is_complete():
    bars, quotes = received["bars"], received["quotes"]
    return (
        set(bars) == set(names)
        and all(len(rows) >= 2 for rows in bars.values())
        and len(quotes.get("600001.SH", [])) >= 3
        and "sh600000" in received["updated"]
    )


stopping = threading.Thread(target=stream.stop)


def stop_if_complete():
    # Not on the stream's own thread: stop() waits for it.
    if is_complete() and stopping.ident is None:
        stopping.start()


def keep(kind):
    async def handler(bar):
        row = [bar.timestamp.isoformat(), bar.open, bar.high, bar.low, bar.close, bar.volume]
        received[kind].setdefault(bar.symbol, []).append(row)
        stop_if_complete()

    return handler


async def keep_quote(quote):
    row = [quote.bid_price, quote.bid_size, quote.ask_price, quote.ask_size]
    received["quotes"].setdefault(quote.symbol, []).append(row)
    stop_if_complete()


async def refuse(trade):
    raise AssertionError("there are no trades")


stream.subscribe_bars(keep("bars"), *names)
stream.subscribe_updated_bars(keep("updated"), "sh600000")
stream.subscribe_quotes(keep_quote, "600001.SH", "AAPL")
stream.subscribe_trades(refuse, "AAPL")
stream.run()
print(json.dumps(received))
