/// The route of event streams, for the document and for what is wrong with a request of one. The
/// requests that open a stream are taken from the connection before they come to the table.

import HTTPTypes

enum StreamRoute {
  static let path = "/v1/stream"

  static let events = Route(
    path,
    summary: "Server-sent events: what a WebSocket at /ws gets, one message an event. To resume, "
      + "send the id of the last event as Last-Event-ID.",
    parameters: [
      Parameter(
        "symbols", .list(countMax: MarketRoutes.symbolsMax), summary: "These instruments.",
        example: "sh600519,sz000001"),
      Parameter(
        "channels", .list(countMax: StreamLimits.channelsMax),
        summary:
          "stock-prices if absent; candles, gaps, minute-complete, market; and of the token's "
          + "user order-updates, notifications, portfolio-updates.",
        example: "stock-prices,candles"),
      Parameter(
        "every",
        .matching(
          TextPattern("^[1-9][0-9]{0,3}s$", expectation: "a number of seconds such as 2s")),
        summary: "How far apart prices come at least.", example: "2s"),
      Parameter(
        "intervals", .list(countMax: HistoryRequest.intervals.count),
        summary: "Of the channel candles.", example: "1m"),
      Parameter(
        "ticket", .text(charactersMax: 64), summary: "Of POST /v1/tickets, instead of a token."),
      Parameter(
        "Last-Event-ID",
        .matching(
          TextPattern(
            "^[0-9]{1,19}-[0-9]{1,19}(-[0-9]{1,19}){0,2}([.][0-9]{1,19}){0,2}$",
            expectation: "the id of an event")),
        in: .header, summary: "Where the stream goes on.", example: "1783302600000000-120"),
    ], answer: .string, contentType: "text/event-stream", problems: [.serviceUnavailable],
    isStream: true
  ) { _ in
    throw Problem(
      .badRequest, code: "invalid_argument",
      title: "A stream cannot begin behind a request that is not answered yet.")
  }
}

extension Problem {
  static let malformedUpgrade = Problem(
    .upgradeRequired, code: "invalid_argument",
    title: "expected Sec-WebSocket-Key and Sec-WebSocket-Version 13",
    headers: [.secWebSocketVersion: "13", .upgrade: "websocket", .connection: "Upgrade"])

  static let tooManyStreams = Problem(
    .tooManyRequests, code: "too_many_connections",
    title: "the token or the address has too many streams open")
}
