import Market
import Postgres

/// A candle on its way through the staging table, with the reason for a revision it may become.
struct StagedCandle {
  var key: CandleKey
  var candle: Candle
  var cause: Int16
  var knownAt: Timestamp
}

enum CandleColumns {
  static let key = ["instrument_id", "timeframe", "opened_at"]

  /// What makes two candles of one key differ.
  private static let values = [
    "closed_at", "trading_day", "flags", "source", "open", "high", "low", "close", "volume",
    "turnover", "trades", "vwap",
  ]

  /// As in `candle` and `candle_stage`, in the order `candleRow` writes them; `revision` has a
  /// default.
  static let stored = [
    "opened_at", "closed_at", "known_from", "instrument_id", "trading_day", "timeframe", "flags",
    "source", "open", "high", "low", "close", "volume", "turnover", "trades", "vwap",
  ]

  private static func list(_ columns: [String], of table: String) -> String {
    columns.map { "\(table).\($0)" }.joined(separator: ", ")
  }

  static let insert = Statement(
    name: "insert_candles",
    sql: """
      insert into candle (\(stored.joined(separator: ", ")))
      select \(stored.joined(separator: ", "))
      from candle_stage
      order by instrument_id, timeframe, opened_at
      on conflict (\(key.joined(separator: ", "))) do nothing
      returning \(key.joined(separator: ", "))
      """)

  /// Both halves see the rows as they were before the statement. `$1` and `$2` bound
  /// `opened_at`, so that only the partitions concerned are looked at.
  static let revise = Statement(
    name: "revise_candles",
    sql: """
      with differing as (
        select \(list(stored, of: "c")), c.revision,
          greatest(s.known_from, c.known_from) as known_to, s.cause
        from candle_stage s
        join candle c on (\(list(key, of: "c"))) = (\(list(key, of: "s")))
        where c.opened_at between $1::timestamptz and $2::timestamptz
          and (\(list(values, of: "c"))) is distinct from (\(list(values, of: "s")))
      ),
      kept as (
        insert into candle_revision
          (\(stored.joined(separator: ", ")), revision, known_to, cause)
        select \(stored.joined(separator: ", ")), revision, known_to, cause
        from differing
        -- At the last number all later values are one: the first of them, until now.
        on conflict (\(key.joined(separator: ", ")), revision)
        do update set known_to = excluded.known_to
      )
      update candle c
      set
        known_from = greatest(s.known_from, c.known_from),
        revision = least(c.revision, \(Int16.max) - 1) + 1,
        \(values.map { "\($0) = s.\($0)" }.joined(separator: ",\n  "))
      from candle_stage s
      where (\(list(key, of: "c"))) = (\(list(key, of: "s")))
        and c.opened_at between $1::timestamptz and $2::timestamptz
        and (\(list(values, of: "c"))) is distinct from (\(list(values, of: "s")))
      returning \(list(key, of: "c"))
      """)
}

extension WireBuffer {
  /// `cause` only in rows for the staging table.
  mutating func candleRow(
    _ candle: Candle, key: CandleKey, knownAt: Timestamp, cause: Int16?
  ) {
    beginRow(fields: Int16(CandleColumns.stored.count + (cause == nil ? 0 : 1)))
    timestamp(candle.openedAt)
    timestamp(candle.closedAt)
    timestamp(knownAt)
    int32(key.instrument)
    date(candle.tradingDay)
    int16(key.timeframe)
    int16(candle.flags.rawValue)
    int16(candle.source.rawValue)
    numeric(candle.open)
    numeric(candle.high)
    numeric(candle.low)
    numeric(candle.close)
    numeric(candle.volume)
    optional(candle.turnover) { $0.numeric($1) }
    optional(candle.trades) { $0.int64($1) }
    optional(candle.vwap) { $0.numeric($1) }
    if let cause { int16(cause) }
  }
}
