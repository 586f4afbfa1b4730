/// The sessions of the American exchanges, `/v2/calendar` of the trading host.
///
/// Only trading days are listed; times are New York's wall clock without a zone, early closes are
/// in `close` (docs/sources/alpaca.md#calendar-and-assets). A row that cannot be read refuses the
/// whole: a calendar with a hole would call a trading day a holiday.

import Market

enum AlpacaCalendar {
  static let route = "/v2/calendar"

  static func endpoint(
    from: TradingDay, to: TradingDay, headers: [Endpoint.Header]
  ) -> Endpoint {
    Endpoint(route: route, path: "\(route)?start=\(from)&end=\(to)", headers: headers)
  }

  /// The sessions in ascending order.
  static func decode(
    _ body: UnsafeRawBufferPointer, status: Int
  ) throws(FeedRefusal) -> [MarketSession] {
    if let refusal = AlpacaRefusal.classify(body, status: status) { throw refusal }
    var sessions: [MarketSession] = []
    do throws(JSONFault) {
      var reader = try JSONReader(body.trimmed)
      try reader.openArray()
      while try reader.nextElement() { sessions.append(try session(&reader)) }
      try reader.finish()
    } catch {
      throw FeedRefusal(error)
    }
    sessions.sort { $0.day < $1.day }
    if let reversed = sessions.first(where: { $0.opens >= $0.closes }) {
      throw FeedRefusal(.implausible, "the session of \(reversed.day) ends before it begins")
    }
    return sessions
  }

  private static func session(_ reader: inout JSONReader) throws(JSONFault) -> MarketSession {
    _ = try reader.peek()
    let start = reader.offset
    var day: TradingDay?
    var opens: Int?
    var closes: Int?
    try reader.openObject()
    while let key = try reader.nextKey() {
      let value = try reader.readValue().string?.bytes
      switch key {
      case "date": day = value.flatMap { TradingDay(ascii: $0) }
      case "open": opens = value.flatMap(secondOfDay)
      case "close": closes = value.flatMap(secondOfDay)
      default: break
      }
    }
    guard let day, let opens, let closes else {
      throw JSONFault(reason: .expected("a day with `date`, `open` and `close`"), offset: start)
    }
    return MarketSession(
      exchange: .unitedStates, day: day,
      opens: Timestamp(day: day, newYorkSecondOfDay: opens),
      closes: Timestamp(day: day, newYorkSecondOfDay: closes))
  }

  /// `09:30`.
  private static func secondOfDay(_ text: UnsafeRawBufferPointer) -> Int? {
    guard text.count == 5, text[2] == UInt8(ascii: ":"),
      let hour = text.number(from: 0, to: 2), let minute = text.number(from: 3, to: 5),
      hour < 24, minute < 60
    else { return nil }
    return hour * 3600 + minute * 60
  }
}
