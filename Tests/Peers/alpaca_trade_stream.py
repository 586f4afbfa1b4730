"""Follows the orders of an account at the gateway at PORT with unmodified alpaca-py, and places
them: resting limit orders that somebody fills in parts (client_order_id "parts") and lets expire
("late"), a market order that is filled at once, one replaced, one cancelled, one refused."""

import asyncio
import os
import sys
import threading
import time

from alpaca.common.exceptions import APIError
from alpaca.trading.client import TradingClient
from alpaca.trading.enums import OrderSide, OrderStatus, TimeInForce
from alpaca.trading.requests import LimitOrderRequest, MarketOrderRequest, ReplaceOrderRequest
from alpaca.trading.stream import TradingStream

port, secret = sys.argv[1], os.environ["SECRET"]
client = TradingClient("id", secret, url_override=f"http://127.0.0.1:{port}")
stream = TradingStream("id", secret, url_override=f"ws://127.0.0.1:{port}/stream")
seen = []


async def note(update):
    seen.append(update)


def wait_for(*events):
    """Until the stream has had these, of one order each."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        had = [(str(getattr(u.event, "value", u.event)), u.order.client_order_id) for u in seen]
        if all(event in had for event in events):
            return
        time.sleep(0.02)
    raise AssertionError((events, had))


stream.subscribe_trade_updates(note)
thread = threading.Thread(target=stream.run, daemon=True)
thread.start()

buy = dict(symbol="600000.SH", side=OrderSide.BUY, time_in_force=TimeInForce.DAY)
# Until the stream listens, orders are not in it.
for number in range(600):
    client.submit_order(
        LimitOrderRequest(qty=100, limit_price=9, client_order_id=f"probe-{number}", **buy))
    time.sleep(0.05)
    if seen:
        break
assert seen and seen[0].event == "new", seen

parts = client.submit_order(
    LimitOrderRequest(qty=300, limit_price=10.02, client_order_id="parts", **buy))
wait_for(("new", "parts"), ("partial_fill", "parts"), ("fill", "parts"))
fills = [u for u in seen if u.order.client_order_id == "parts" and u.qty is not None]
assert [(u.qty, u.price) for u in fills] == [(100, 10.01), (200, 10.02)], fills
assert fills[-1].position_qty == 300 and fills[-1].order.status == OrderStatus.FILLED, fills
assert fills[-1].order.id == parts.id and len({u.execution_id for u in fills}) == 2, fills
assert fills[0].order.filled_avg_price is not None and fills[0].timestamp is not None

client.submit_order(MarketOrderRequest(qty=100, client_order_id="market", **buy))
wait_for(("new", "market"), ("fill", "market"))
first = client.submit_order(
    LimitOrderRequest(qty=100, limit_price=9.5, client_order_id="first", **buy))
second = client.replace_order_by_id(
    first.id, ReplaceOrderRequest(limit_price=9.6, client_order_id="second"))
client.cancel_order_by_id(second.id)
wait_for(("replaced", "first"), ("new", "second"), ("canceled", "second"))
client.submit_order(LimitOrderRequest(qty=100, limit_price=9.7, client_order_id="late", **buy))
wait_for(("new", "late"), ("expired", "late"))
try:
    client.submit_order(
        LimitOrderRequest(qty=999900, limit_price=1700, client_order_id="dear", **buy))
except APIError as error:
    assert error.status_code == 403, error
else:
    raise AssertionError("not refused")
wait_for(("rejected", "dear"))
rejected = [u for u in seen if u.order.client_order_id == "dear"]
assert [u.order.status for u in rejected] == [OrderStatus.REJECTED], rejected

wrong = TradingStream("id", "cndl_wrong", url_override=f"ws://127.0.0.1:{port}/stream")
wrong.subscribe_trade_updates(note)


async def refused():
    await wrong._connect()
    try:
        await wrong._auth()
    except ValueError:
        return True
    return False


assert asyncio.run(refused())
stream.stop()
print("all updates came")
