import HTTPTypes

extension GoldenAnswerTests {
  private static let order =
    #"{"stockSymbol":"600000.SH","side":"buy","type":"limit","quantity":"300","limitPrice":"10.02""#
  private static let alpacaOrder = "0000000b-0000-8000-8000-00000000000"

  /// In this order: each builds on those before.
  static let trading = accounts + orders + purchases + alpaca + alpacaWatchlists + closing

  private static let accounts = [
    Case("trade-no-account", "/v1/account", status: 404),
    Case(
      "trade-account", "/v1/accounts", status: 201, method: .post,
      body: #"{"name":"纸上","market":"A"}"#),
    Case(
      "trade-account-bad", "/v1/accounts", status: 400, method: .post,
      body: #"{"name":"b","market":"B"}"#),
    Case("trade-accounts", "/v1/accounts"),
    Case(
      "trade-deposit", "/v1/account/deposits", status: 201, method: .post,
      body: #"{"amount":"100000.00","type":"apple_pay","description":"first"}"#),
    Case(
      "trade-deposit-bad", "/v1/account/deposits", status: 400, method: .post,
      body: #"{"amount":"1.001","type":"bank"}"#),
    Case(
      "trade-withdrawal", "/v1/account/withdrawals", status: 201, method: .post,
      body: #"{"amount":"0.50"}"#),
    Case(
      "trade-withdrawal-beyond", "/v1/account/withdrawals", status: 403, method: .post,
      body: #"{"amount":"1000000"}"#),
    Case("trade-account-valued", "/v1/account?account=1"),
    Case("trade-log", "/v1/account/transactions?limit=1"),
    Case("trade-log-cursor", "/v1/account/transactions?cursor=abcd", status: 404),
    Case("trade-command", "/v1/commands/1"),
    Case("trade-command-unknown", "/v1/commands/999", status: 404),
  ]

  private static let orders = [
    Case("trade-order", "/v1/orders", status: 201, method: .post, body: order + "}"),
    Case(
      "trade-order-bad", "/v1/orders", status: 400, method: .post,
      body: order + #","timeInForce":"ever"}"#),
    Case("trade-order-read", "/v1/orders/1"),
    Case("trade-order-unknown", "/v1/orders/99", status: 404),
    Case(
      "trade-order-replaced", "/v1/orders/1", method: .patch, body: #"{"limitPrice":"10.05"}"#),
    Case("trade-order-unchanged", "/v1/orders/2", status: 422, method: .patch, body: "{}"),
    Case("trade-order-cancelled", "/v1/orders/2", method: .delete),
    Case(
      "trade-order-market", "/v1/orders", status: 201, method: .post,
      body: #"{"stockSymbol":"sh600000","side":"buy","type":"market","quantity":"100"}"#),
    Case("trade-orders", "/v1/orders?status=CANCELED&page=1&limit=5"),
    Case("trade-portfolio", "/v1/portfolio"),
    Case(
      "trade-triggers", "/v1/portfolio/600000.SH/triggers", status: 204, method: .put,
      body: #"{"low":"9.50","high":"10.500"}"#),
    Case(
      "trade-triggers-bad", "/v1/portfolio/sh600000/triggers", status: 422, method: .put,
      body: #"{"low":"-1"}"#),
    Case("trade-portfolio-history", "/v1/portfolio/history?period=3mo"),
  ]

  private static let purchases = [
    Case(
      "trade-queue", "/v1/queue-purchases", status: 201, method: .post,
      body: #"{"stockSymbol":"sh600000","quantity":"200","triggers":[{"kind":"atLimitUp"}]}"#),
    Case("trade-queue-list", "/v1/queue-purchases?status=open"),
    Case("trade-queue-one", "/v1/queue-purchases/8"),
    Case("trade-queue-none", "/v1/queue-purchases/99", status: 404),
    Case("trade-queue-disarmed", "/v1/queue-purchases/8", method: .delete),
    Case("trade-queue-unknown", "/v1/queue-purchases/99", status: 404, method: .delete),
  ]

  private static let alpaca = [
    Case("alpaca-account", "/v2/account"), Case("alpaca-order", "/v2/orders/\(alpacaOrder)3"),
    Case("alpaca-orders", "/v2/orders?status=closed&limit=2&direction=asc"),
    Case("alpaca-positions", "/v2/positions"),
    Case("alpaca-position-none", "/v2/positions/sh600001", status: 404),
    Case("alpaca-activities", "/v2/account/activities"),
    Case("alpaca-deposits", "/v2/account/activities/CSD"),
    Case("alpaca-configurations", "/v2/account/configurations"),
    Case("alpaca-portfolio-history", "/v2/account/portfolio/history?period=1M&timeframe=1D"),
    Case(
      "alpaca-order-no-shares", "/v2/positions/sh600000", status: 403, method: .delete),
  ]

  private static let closing = [
    Case("trade-account-reset", "/v1/accounts/1/reset", status: 201, method: .post),
    Case("trade-account-closed", "/v1/accounts/2", status: 204, method: .delete),
    Case("trade-account-unknown", "/v1/accounts/99", status: 404, method: .delete),
  ]
  private static let alpacaList = "/v2/watchlists/0000000d-0000-8000-8000-000000000001"

  private static let alpacaWatchlists = [
    Case(
      "alpaca-watchlist-made", "/v2/watchlists", method: .post,
      body: #"{"name":"mine","symbols":["600001.SH","sh600000"]}"#),
    Case(
      "alpaca-watchlist-taken", "/v2/watchlists", status: 409, method: .post,
      body: #"{"name":"mine"}"#),
    Case(
      "alpaca-watchlist-unlisted", alpacaList, status: 404, method: .post,
      body: #"{"symbol":"sh600009"}"#),
    Case("alpaca-watchlist-bad", "/v2/watchlists", status: 400, method: .post, body: "{"),
    Case(
      "alpaca-watchlist-changed", alpacaList, method: .put,
      body: #"{"name":"ours","symbols":["sh600002","sh600001"]}"#),
    Case(
      "alpaca-watchlist-added", alpacaList, method: .post,
      body: #"{"symbol":"600000.SH"}"#),
    Case("alpaca-watchlist-removed", "\(alpacaList)/sh600001", method: .delete),
    Case("alpaca-watchlists", "/v2/watchlists"), Case("alpaca-watchlist", alpacaList),
    Case("alpaca-watchlist-deleted", alpacaList, status: 204, method: .delete),
    Case("alpaca-watchlist-none", alpacaList, status: 404),
  ]
}
