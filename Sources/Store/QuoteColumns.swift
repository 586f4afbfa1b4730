/// The columns of the table `quote` as they are staged and merged.

import Commits
import Market
import Postgres

enum QuoteColumns {
  /// As in `quote_stage`, in the order `quoteRow` writes them.
  static let staged = [
    "quoted_at", "received_at", "candle_opened_at", "instrument_id", "trading_day", "status",
    "trading", "candle_flags", "candle_source", "open", "previous_close", "last", "high", "low",
    "bid", "ask", "volume", "turnover", "after_hours_volume", "after_hours_turnover",
    "candle_open", "candle_high", "candle_low", "candle_close", "candle_volume",
    "candle_turnover", "bids", "asks", "book_state", "limit_up", "limit_down",
  ]

  /// The arrival time alone is no difference. The rest is compared in the order in which quotes
  /// usually differ; the comparison stops at the first that does.
  private static let compared = staged.filter { $0 != "received_at" && $0 != "instrument_id" }

  static func merge(limit: Int?) -> String {
    func list(_ columns: [String], form: (String) -> String) -> String {
      columns.map(form).joined(separator: ", ")
    }
    let written = staged.filter { $0 != "instrument_id" }
    return """
      merge into quote q
      using (select * from quote_stage\(limit.map { " limit \($0)" } ?? "")) s
      on q.instrument_id = s.instrument_id
      when matched
        and (\(list(compared) { "q.\($0)" })) is distinct from (\(list(compared) { "s.\($0)" }))
      then update set changed_seq = $1::bigint, \(list(written) { "\($0) = s.\($0)" })
      when not matched
      then insert (changed_seq, \(list(staged) { $0 }))
        values ($1::bigint, \(list(staged) { "s.\($0)" }))
      """
  }
}

extension WireBuffer {
  mutating func quoteRow(_ row: borrowing QuoteRow, id: Int32) {
    beginRow(fields: Int16(QuoteColumns.staged.count))
    timestamp(row.quote.at)
    timestamp(row.receivedAt)
    if let forming = row.forming { timestamp(forming.openedAt) } else { null() }
    int32(id)
    date(row.quote.tradingDay)
    int16(Int16(row.quote.status.rawValue))
    int16(Int16(row.quote.trading.rawValue))
    if let forming = row.forming {
      int16(forming.flags.rawValue)
      int16(forming.source.rawValue)
    } else {
      null()
      null()
    }
    dayFields(row.quote)
    formingFields(row.forming)
    book(row.quote.bids)
    book(row.quote.asks)
    bytes(row.bookState)
    let limits = row.quote.limits.stored
    optionalNumeric(limits?.upper)
    optionalNumeric(limits?.lower)
  }

  private mutating func dayFields(_ quote: borrowing Quote) {
    numeric(quote.open)
    numeric(quote.previousClose)
    numeric(quote.last)
    numeric(quote.high)
    numeric(quote.low)
    numeric(quote.bid)
    numeric(quote.ask)
    numeric(quote.volume)
    numeric(quote.turnover)
    if let afterHours = quote.afterHours {
      numeric(afterHours.volume)
      numeric(afterHours.turnover)
    } else {
      null()
      null()
    }
  }

  private mutating func formingFields(_ forming: Candle?) {
    guard let forming else {
      for _ in 0..<6 { null() }
      return
    }
    numeric(forming.open)
    numeric(forming.high)
    numeric(forming.low)
    numeric(forming.close)
    numeric(forming.volume)
    optional(forming.turnover) { $0.numeric($1) }
  }
}
