import Commits
import Market
import Postgres
import Store
import TestSupport

/// A trading day of Sina's series as it stands in a database, read with plain SQL: a trial must not
/// trust the daemon's own queries.
struct StoredDay {
  let url: String
  let day: TradingDay

  func candles() throws -> [Candle] {
    try SQLProbe.run(
      """
      select i.symbol, c.timeframe, extract(epoch from c.opened_at)::bigint,
        extract(epoch from c.closed_at)::bigint, c.open, c.high, c.low, c.close, c.volume,
        c.turnover, c.flags
      from candled.candle c join candled.instrument i on i.id = c.instrument_id
      where c.source = 1 and c.trading_day = '\(day)'
      """, url: url
    ).map { row in
      var fields = StoredFields(row)
      let symbol = try fields.symbol()
      guard let timeframe = Timeframe(rawValue: Int16(try fields.number())) else {
        throw StoredFields.Malformed(row: row)
      }
      return Candle(
        symbol: symbol, timeframe: timeframe, tradingDay: day, openedAt: try fields.moment(),
        closedAt: try fields.moment(), open: try fields.decimal(), high: try fields.decimal(),
        low: try fields.decimal(), close: try fields.decimal(), volume: try fields.decimal(),
        turnover: try fields.optional { try $0.decimal() },
        flags: CandleFlags(rawValue: Int16(try fields.number())), source: .live)
    }
  }

  /// Without those whose place another one took.
  func gaps() throws -> [Gap] {
    try SQLProbe.run(
      """
      select i.symbol, extract(epoch from g.from_at)::bigint,
        extract(epoch from g.to_at)::bigint, g.volume, g.turnover, g.cause
      from candled.gap g join candled.instrument i on i.id = g.instrument_id
      where g.trading_day = '\(day)' and g.closed_by is distinct from 'superseded'
      """, url: url
    ).map { row in
      var fields = StoredFields(row)
      let symbol = try fields.symbol()
      let (from, to) = (try fields.moment(), try fields.moment())
      let (volume, turnover) = (try fields.decimal(), try fields.decimal())
      guard let cause = GapCause(rawValue: Int16(try fields.number())) else {
        throw StoredFields.Malformed(row: row)
      }
      return Gap(
        symbol: symbol, tradingDay: day, from: from, to: to, volume: volume,
        turnover: turnover, cause: cause)
    }
  }

  func certificates() throws -> [DayCertificate] {
    try SQLProbe.run(
      """
      select i.symbol, a.exchange_volume, a.exchange_turnover, a.minute_volume,
        a.minute_turnover, a.gap_volume, a.gap_turnover, a.after_hours_volume,
        a.after_hours_turnover, a.minutes_traded, a.minutes_untraded, a.minutes_missing, a.coarse
      from candled.day_audit a join candled.instrument i on i.id = a.instrument_id
      where a.trading_day = '\(day)'
      """, url: url
    ).map { row in
      var fields = StoredFields(row)
      return DayCertificate(
        symbol: try fields.symbol(), tradingDay: day,
        exchangeVolume: try fields.optional { try $0.decimal() },
        exchangeTurnover: try fields.optional { try $0.decimal() },
        minuteVolume: try fields.decimal(), minuteTurnover: try fields.decimal(),
        gapVolume: try fields.decimal(), gapTurnover: try fields.decimal(),
        afterHoursVolume: try fields.decimal(), afterHoursTurnover: try fields.decimal(),
        minutesTraded: Int16(try fields.number()), minutesUntraded: Int16(try fields.number()),
        minutesMissing: Int16(try fields.number()), isCoarse: try fields.flag())
    }
  }
}

/// The fields of a row, one after the other.
struct StoredFields {
  struct Malformed: Error { var row: [String?] }

  private let row: [String?]
  private var place = 0

  init(_ row: [String?]) { self.row = row }

  mutating func text() throws -> String { try read { $0 } }
  mutating func symbol() throws -> Symbol { try read { Symbol($0) } }
  mutating func day() throws -> TradingDay { try read { TradingDay($0) } }
  mutating func number() throws -> Int64 { try read { Int64($0) } }
  mutating func moment() throws -> Timestamp { Timestamp(seconds: try number()) }
  mutating func flag() throws -> Bool { try read { $0 == "t" } }
  mutating func decimal() throws -> ExactDecimal { try read { try? ExactDecimal($0) } }

  mutating func optional<Value>(
    _ field: (inout StoredFields) throws -> Value
  ) throws -> Value? {
    guard row[place] == nil else { return try field(&self) }
    place += 1
    return nil
  }

  private mutating func read<Value>(_ parse: (String) -> Value?) throws -> Value {
    defer { place += 1 }
    guard let value = row[place].flatMap(parse) else { throw Malformed(row: row) }
    return value
  }
}
