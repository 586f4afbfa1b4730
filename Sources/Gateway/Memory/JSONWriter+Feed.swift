/// The rows of a change as the API shows them: members of one object each.

import Market
import Reader

extension Timeframe {
  /// As the API spells it: that of the database, but for the week.
  package var interval: String { self == .week1 ? "1wk" : name }

  package init?(interval: String) {
    guard let found = Timeframe.allCases.first(where: { $0.interval == interval }) else {
      return nil
    }
    self = found
  }
}

extension JSONWriter {
  /// - Parameter series: nil where it is not known.
  mutating func write(_ stored: StoredCandle, state: String, series: SeriesRecord?) {
    let (candle, zone) = (stored.candle, series?.zone ?? .utc)
    member("symbol") { $0.string(candle.symbol.description) }
    member("interval") { $0.string(candle.timeframe.interval) }
    member("openedAt") { $0.moment(candle.openedAt, in: zone) }
    member("closedAt") { $0.moment(candle.closedAt, in: zone) }
    member("tradingDay") { $0.day(candle.tradingDay) }
    member("open") { $0.decimal(candle.open) }
    member("high") { $0.decimal(candle.high) }
    member("low") { $0.decimal(candle.low) }
    member("close") { $0.decimal(candle.close) }
    member("volume") { $0.decimal(candle.volume) }
    member("turnover") { $0.optional(candle.turnover) { $0.decimal($1) } }
    member("vwap") { $0.optional(candle.averagePrice(in: series)) { $0.decimal($1) } }
    member("state") { $0.string(state) }
    member("revision") { $0.integer(Int64(stored.revision)) }
    member("flags") { $0.strings(candle.flags.names) }
  }

  mutating func write(_ event: FeedEvent) {
    switch event {
    case .minuteComplete(let minute): write(minute, as: MinuteComplete.shape, in: .shanghai)
    case .feedStalled(let source, let since):
      member("event") { $0.string("feed_stalled") }
      member("source") { $0.string(source) }
      member("since") { $0.moment(since, in: .utc) }
    case .feedRecovered(let source, let at):
      member("event") { $0.string("feed_recovered") }
      member("source") { $0.string(source) }
      member("at") { $0.moment(at, in: .utc) }
    case .dayComplete(let day, let instruments, let residuals):
      member("event") { $0.string("day_complete") }
      member("tradingDay") { $0.day(day) }
      member("instruments") { $0.integer(Int64(instruments)) }
      member("residuals") { $0.integer(Int64(residuals)) }
    case .codesChanged(let day, let count):
      member("event") { $0.string("codes_changed") }
      member("tradingDay") { $0.day(day) }
      member("instruments") { $0.integer(Int64(count)) }
    case .dispute(let dispute):
      member("event") { $0.string(dispute.kind.rawValue) }
      member("symbol") { $0.string(dispute.symbol.description) }
      member("tradingDay") { $0.day(dispute.tradingDay) }
      member("at") { $0.moment(dispute.at, in: .shanghai) }
    }
  }
}

extension DayCertificate {
  static let shape = Shape<DayCertificate>(
    fields: [
      .string("symbol") { $0.symbol.description }, .day("tradingDay") { $0.tradingDay },
      .optionalDecimal("exchangeVolume") { $0.exchangeVolume },
      .decimal("minuteVolume") { $0.minuteVolume }, .decimal("gapVolume") { $0.gapVolume },
      .decimal("afterHoursVolume") { $0.afterHoursVolume },
      .integer("minutesTraded") { Int64($0.minutesTraded) },
      .integer("minutesUntraded") { Int64($0.minutesUntraded) },
      .integer("minutesMissing") { Int64($0.minutesMissing) },
    ])
}

extension MinuteComplete {
  static let shape = Shape<MinuteComplete>(
    fields: [
      .day("tradingDay") { $0.tradingDay }, .moment("openedAt") { $0.openedAt },
      .integer("expected") { Int64($0.expected) }, .integer("traded") { Int64($0.traded) },
      .integer("untraded") { Int64($0.untraded) }, .integer("missing") { Int64($0.missing) },
    ])
}

extension Candle {
  /// As the database has it: the source's, else turnover ÷ volume, which of an index is no price.
  func averagePrice(in series: SeriesRecord?) -> ExactDecimal? {
    if let vwap { return vwap }
    guard series?.kind != InstrumentKind.index.name else { return nil }
    return .averagePrice(turnover: turnover, volume: volume)
  }
}

extension ExactDecimal {
  /// Turnover ÷ volume, as the database's `average_price()` has it; nil where nothing was traded
  /// or the turnover is not known.
  static func averagePrice(turnover: ExactDecimal?, volume: ExactDecimal) -> ExactDecimal? {
    try? turnover?.divided(by: volume, scale: averagePlaces)
  }

  private static let averagePlaces: UInt8 = 4
}
