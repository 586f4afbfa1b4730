"""Trades on the gateway at PORT with unmodified alpaca-py: an account with money, 300 shares of
sh600001 to sell, and a broker that fills market orders at 10.00 and lets limit orders rest."""

import os
import sys
from datetime import date, datetime, timezone
from uuid import UUID

from alpaca.common.exceptions import APIError
from alpaca.trading.client import TradingClient
from alpaca.trading.enums import (
    OrderClass,
    OrderSide,
    OrderStatus,
    PositionIntent,
    QueryOrderStatus,
    TimeInForce,
)
from alpaca.trading.requests import (
    ClosePositionRequest,
    CreateWatchlistRequest,
    GetOrderByIdRequest,
    GetOrdersRequest,
    GetPortfolioHistoryRequest,
    LimitOrderRequest,
    MarketOrderRequest,
    ReplaceOrderRequest,
    StopLimitOrderRequest,
    StopLossRequest,
    TakeProfitRequest,
    UpdateWatchlistRequest,
)

client = TradingClient("id", os.environ["SECRET"], url_override=f"http://127.0.0.1:{sys.argv[1]}")


def refused(call, status, code):
    try:
        call()
    except APIError as error:
        assert (error.status_code, error.code) == (status, code), (error.status_code, error.code)
    else:
        raise AssertionError("not refused")


account = client.get_account()
assert account.status.value == "ACTIVE" and account.currency == "CNY", account
assert not account.trading_blocked and float(account.cash) > 0, account
settings = client.get_account_configurations()
assert client.set_account_configurations(settings) == settings

buy = dict(symbol="600000.SH", side=OrderSide.BUY, time_in_force=TimeInForce.DAY)
first = client.submit_order(
    LimitOrderRequest(qty=300, limit_price=10.02, client_order_id="first", **buy))
assert first.status == OrderStatus.NEW and first.client_order_id == "first", first
assert (first.symbol, first.qty, first.limit_price) == ("sh600000", "300", "10.02"), first
again = client.submit_order(
    LimitOrderRequest(qty=300, limit_price=10.02, client_order_id="first", **buy))
assert again.id == first.id
assert client.get_order_by_id(first.id, GetOrderByIdRequest(nested=True)).id == first.id
assert client.get_order_by_client_id("first").id == first.id
found = client.get_orders(
    GetOrdersRequest(
        status=QueryOrderStatus.OPEN, symbols=["600000.SH"], side=OrderSide.BUY, limit=5,
        after="2026-07-01T00:00:00Z", nested=True))
assert [order.id for order in found] == [first.id], found
second = client.replace_order_by_id(first.id, ReplaceOrderRequest(qty=200, limit_price=10.05))
assert (second.qty, second.limit_price) == ("200", "10.05") and second.id != first.id
old = client.get_order_by_id(first.id)
assert (old.status, old.replaced_by) == (OrderStatus.REPLACED, second.id), old
assert (second.replaces, second.replaced_by) == (first.id, None), second
client.cancel_order_by_id(second.id)
assert client.get_order_by_id(second.id).status == OrderStatus.CANCELED
refused(lambda: client.cancel_order_by_id(second.id), 404, 40410000)

third = client.submit_order(MarketOrderRequest(qty=100.0, **buy))
assert third.status == OrderStatus.FILLED and float(third.filled_avg_price) == 10, third
resting = client.submit_order(
    StopLimitOrderRequest(qty=100, limit_price=9.99, stop_price=10.5, **buy))
assert resting.stop_price == "10.50" or resting.stop_price == "10.5", resting
refused(lambda: client.submit_order(
    LimitOrderRequest(qty=999999, limit_price=1700.01, **buy)), 403, 40310000)
refused(lambda: client.submit_order(MarketOrderRequest(notional=100, **buy)), 422, 42210000)
for more in [
    dict(take_profit=TakeProfitRequest(limit_price=12), stop_loss=StopLossRequest(stop_price=9)),
    dict(position_intent=PositionIntent.SELL_TO_OPEN),
    dict(extended_hours=True),
]:
    refused(lambda: client.submit_order(MarketOrderRequest(qty=100, **buy, **more)), 422, 42210000)
plain = dict(
    extended_hours=False, order_class=OrderClass.SIMPLE, position_intent=PositionIntent.BUY_TO_OPEN)
ended = client.submit_order(
    LimitOrderRequest(qty=100, limit_price=9, client_order_id="ended", **buy, **plain))
client.cancel_order_by_id(ended.id)
refused(lambda: client.submit_order(
    LimitOrderRequest(qty=100, limit_price=9, client_order_id="ended", **buy)), 422, 42210000)
refused(lambda: client.get_order_by_id(UUID(int=17)), 404, 40410000)

positions = {position.symbol: position for position in client.get_all_positions()}
assert sorted(positions) == ["sh600000", "sh600001"], positions
held = client.get_open_position("600000.SH")
assert (held.qty, held.qty_available, float(held.avg_entry_price)) == ("100", "0", 10), held
assert client.get_open_position(held.asset_id).symbol == "sh600000"
refused(lambda: client.get_open_position("sh600002"), 404, 40410000)
refused(lambda: client.close_position("sh600000"), 403, 40310000)
sold = client.close_position("sh600001", ClosePositionRequest(percentage="50"))
assert (sold.side, sold.qty, sold.status) == (OrderSide.SELL, "100", OrderStatus.FILLED), sold
closed = {entry.symbol: entry for entry in client.close_all_positions(cancel_orders=True)}
assert closed["sh600001"].status == 200 and closed["sh600000"].status == 403, closed
assert client.get_order_by_id(resting.id).status == OrderStatus.CANCELED
assert client.cancel_orders() == []

history = client.get_portfolio_history(GetPortfolioHistoryRequest(period="1M", timeframe="1D"))
assert len(history.timestamp) == len(history.equity) > 0, history
stamp = datetime.fromtimestamp(history.timestamp[-1], tz=timezone.utc)
assert stamp.date() == date(2026, 7, 6), stamp
kinds = [row["activity_type"] for row in client.get("/account/activities")]
assert kinds[0] == "FILL" and kinds[-1] == "CSD", kinds
assert {row["side"] for row in client.get("/account/activities/FILL")} == {"buy", "sell"}
kinds = [
    row["activity_type"]
    for row in client.get(
        "/account/activities",
        {"activity_types": "CSD,FEE", "direction": "asc", "after": "2026-07-01T00:00:00Z"})]
assert kinds == ["CSD"], kinds
assert client.get("/account/activities/FEE") == []

moment = datetime(2026, 7, 6, 2, tzinfo=timezone.utc)
first_day = GetPortfolioHistoryRequest(
    start=moment, end=moment, extended_hours=True, pnl_reset="no_reset",
    intraday_reporting="market_hours", cashflow_types="NONE")
assert len(client.get_portfolio_history(first_day).equity) == 1
before = GetPortfolioHistoryRequest(date_end=date(2026, 7, 3), period="1W")
assert client.get_portfolio_history(before).equity == []
hours = GetPortfolioHistoryRequest(timeframe="1H")
refused(lambda: client.get_portfolio_history(hours), 400, 40010001)


def spelled(watchlist):
    assert watchlist.account_id == account.id and watchlist.created_at <= watchlist.updated_at
    return [asset.symbol for asset in watchlist.assets]


assert client.get_watchlists() == []
made = client.create_watchlist(
    CreateWatchlistRequest(name="mine", symbols=["600001.SH", "sh600000"]))
assert made.name == "mine" and spelled(made) == ["sh600001", "sh600000"], made
assert made.assets[0] == client.get_asset("sh600001") and made.assets[0].tradable, made
assert client.get_watchlist_by_id(made.id) == made and client.get_watchlists() == [made]
added = client.add_asset_to_watchlist_by_id(made.id, "600002.SH")
assert spelled(added) == ["sh600001", "sh600000", "sh600002"] and added.updated_at > made.updated_at
removed = client.remove_asset_from_watchlist_by_id(made.id, "sh600000")
assert spelled(removed) == ["sh600001", "sh600002"], removed
updated = client.update_watchlist_by_id(
    made.id, UpdateWatchlistRequest(name="ours", symbols=["sh600002", "sh600000"]))
assert updated.name == "ours" and spelled(updated) == ["sh600002", "sh600000"], updated
taken = CreateWatchlistRequest(name="ours", symbols=[])
refused(lambda: client.create_watchlist(taken), 409, 40910000)
refused(lambda: client.add_asset_to_watchlist_by_id(made.id, "nothing"), 404, 40410000)
refused(lambda: client.get_watchlist_by_id(UUID(int=17)), 404, 40410000)
client.delete_watchlist_by_id(made.id)
refused(lambda: client.delete_watchlist_by_id(made.id), 404, 40410000)
assert client.get_watchlists() == []
print("all calls answered")
