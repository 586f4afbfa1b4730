/// The newest of each series: bars from the database, quotes from memory, and both in a snapshot.

import HTTPTypes
import Market
import Reader

extension AlpacaRoutes {
  private static let several = [symbols, feed, currency]

  var latest: [Route] {
    [
      Self.route(
        "/v2/stocks/bars/latest", summary: "Alpaca: the newest minute of several instruments.",
        parameters: Self.several, answer: .object([.init("bars", .object([]))])
      ) { arguments in
        let found = try symbols(arguments).series(ofAll: arguments.list("symbols") ?? [])
        let bars = try await newestBars(of: found.map(\.place), days: 0)
        return .object { answer in
          answer.object("bars") { list in
            for (entry, bars) in zip(found, bars) {
              if let bar = bars.minute { list.member(named: entry.symbol) { $0.write(bar) } }
            }
          }
        }
      },
      Self.route(
        "/v2/stocks/quotes/latest", summary: "Alpaca: the first level of the books there are.",
        parameters: Self.several, answer: .object([.init("quotes", .object([]))])
      ) { arguments in
        let found = try symbols(arguments).series(ofAll: arguments.list("symbols") ?? [])
        let state = market.memory.state
        return .object { answer in
          answer.object("quotes") { list in
            for entry in found {
              let stock = state.stock(at: entry.place)
              guard let quote = stock.flatMap({ AlpacaMessage(quote: $0.quote) }) else { continue }
              list.member(named: entry.symbol) { $0.write(quote) }
            }
          }
        }
      },
      // Sources have no trades, and none is made up of what they have.
      Self.route(
        "/v2/stocks/trades/latest", summary: "Alpaca: 404, for there are no single trades.",
        parameters: Self.several, answer: .object([])
      ) { _ in
        throw Problem(
          .notFound, code: "not_found",
          title: "There is nothing to show: single trades are not recorded.")
      },
      Self.route(
        "/v2/stocks/snapshots", summary: "Alpaca: the newest quote and bars of several.",
        parameters: Self.several, answer: .object([])
      ) { arguments in
        let found = try symbols(arguments).series(ofAll: arguments.list("symbols") ?? [])
        let bars = try await newestBars(of: found.map(\.place), days: 2)
        return .object { answer in
          for (entry, bars) in zip(found, bars) {
            answer.object(named: entry.symbol) {
              write(snapshotOf: entry.place, bars: bars, to: &$0)
            }
          }
        }
      }.costing(2),
    ]
  }

  private struct NewestBars: Sendable {
    var minute: AlpacaMessage?
    /// The newest first.
    var days: [(day: TradingDay, bar: AlpacaMessage)] = []
    /// Of the minute, or of the day where there is none.
    var close: ExactDecimal?
  }

  /// - Parameter days: how many days beside the minute.
  private func newestBars(
    of places: [SeriesPlace], days: Int32
  ) async throws(Problem) -> [NewestBars] {
    let directory = market.memory.state.directory
    let series = places.map { directory[$0].id }
    let asked =
      series.map { NewestCandles(of: $0, .minute1) }
      + series.map { NewestCandles(of: $0, .day1, count: days) }
    let found = try await market.pool.query { (reader) throws(StoreError) in
      try reader.newest(days == 0 ? Array(asked.prefix(series.count)) : asked)
    }
    return series.indices.map { index in
      let minute = found[index].last
      let days = days == 0 ? [] : found[series.count + index]
      return NewestBars(
        minute: minute.flatMap { AlpacaMessage($0) },
        days: days.reversed().compactMap { candle in
          AlpacaMessage(candle).map { (candle.tradingDay, $0) }
        }, close: minute?.close ?? days.last?.close)
    }
  }

  /// Where the last price comes from, a quote or the newest bar, is said beside it.
  private func write(
    snapshotOf place: SeriesPlace, bars: NewestBars, to text: inout JSONWriter
  ) {
    let state = market.memory.state
    let (stock, series) = (state.stock(at: place), state.directory[place])
    var days = bars.days
    if let figures = stock?.figures, days.first?.day != figures.tradingDay {
      let day = figures.tradingDay
      let opensAt = series.zone.moment(on: day, secondOfDay: series.zone.market?.dayOpens ?? 0)
      if let today = AlpacaMessage(today: figures, of: series, opensAt: opensAt) {
        days.insert((day, today), at: 0)
      }
    }
    text.member("latestTrade") { $0.null() }
    text.member("latestQuote") { text in
      text.optional(stock.flatMap { AlpacaMessage(quote: $0.quote) }) { $0.write($1) }
    }
    text.member("minuteBar") { $0.optional(bars.minute) { $0.write($1) } }
    text.member("dailyBar") { $0.optional(days.first?.bar) { $0.write($1) } }
    text.member("prevDailyBar") { $0.optional(days.dropFirst().first?.bar) { $0.write($1) } }
    text.object("candled") { ours in
      let price = stock?.currentPrice
      ours.member("price") { $0.optional(price ?? bars.close) { $0.number($1) } }
      ours.member("basis") { $0.string(price == nil ? "bar" : "quote") }
      ours.member("stale") { $0.boolean(state.lostAt != nil) }
    }
  }
}
