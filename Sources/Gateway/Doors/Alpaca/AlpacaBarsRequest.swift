/// Which bars a request means, and a page of them: series by series, each in order of time.

import Market
import Reader

struct AlpacaBarsRequest: Sendable {
  struct Asked: Sendable {
    /// As the client spells it, and reads it in the answer.
    let symbol: String
    let series: SeriesRecord
    let from: Timestamp
    let to: Timestamp
  }

  struct Page: Sendable {
    var bars: [(symbol: String, candles: [CandleRecord])] = []
    var nextToken: String?
  }

  /// Factors hold dividends and splits together, or splits alone, and the newest prices stand, as
  /// Alpaca's do. A series without factors is refused, not shown as it is.
  static let adjustments: KeyValuePairs<String, PriceAdjustment> = [
    "raw": .raw, "split": .split, "dividend": .qfq(standsOn: nil), "all": .qfq(standsOn: nil),
  ]
  static let limitMax: Int64 = 10_000
  private static let limitDefault: Int64 = 1_000
  /// Stored rows that one page reads: a page of hours has fewer bars than one of minutes.
  private static let rowsMax: Int64 = 60_000

  let asked: [Asked]
  private let timeframe: AlpacaTimeframe
  private let state: MarketState
  let adjust: PriceAdjustment
  let limit: Int
  let isDescending: Bool
  private let fingerprint: String
  /// Where the page begins; nil: with the first.
  private var position: (index: Int, openedAt: Timestamp)?

  /// - Parameters:
  ///   - series: with the newest day that is known of each.
  ///   - names: of the arguments that the page's token depends on.
  init(
    _ arguments: Arguments, series: [(symbol: String, series: SeriesRecord, lastDay: TradingDay)],
    names: [String], in state: MarketState
  ) throws(Problem) {
    guard let timeframe = AlpacaTimeframe(arguments["timeframe"] ?? "") else {
      throw .invalid(
        "timeframe", expected: AlpacaTimeframe.pattern.expectation,
        found: arguments["timeframe"] ?? "")
    }
    (self.timeframe, self.state) = (timeframe, state)
    adjust = Self.adjustments.first { $0.key == arguments["adjustment"] }?.value ?? .raw
    limit = Int(
      min(
        arguments.integer("limit") ?? Self.limitDefault, Self.rowsMax / timeframe.storedRows))
    isDescending = arguments["sort"] == "desc"
    fingerprint = names.map { "\($0)=\(arguments[$0] ?? "")" }.joined(separator: "&")
    asked = series.compactMap { entry in
      let (from, to) = arguments.bounds(zone: entry.series.zone, lastDay: entry.lastDay)
      // Bounds that contradict each other are a range without bars.
      guard from <= to else { return nil }
      return Asked(symbol: entry.symbol, series: entry.series, from: from, to: to)
    }
    guard let token = arguments["page_token"] else { return }
    guard let value = Cursor.read(token, of: fingerprint), value >= 0,
      Int(value >> Self.timeBits) < asked.count
    else { throw Cursor.unknown }
    position = (
      Int(value >> Self.timeBits), Timestamp(microseconds: value & (1 << Self.timeBits - 1))
    )
  }

  /// Microseconds until the year 2255; the ten bits above are the place among the symbols.
  private static let timeBits: Int64 = 53

  private func token(of index: Int, at moment: Timestamp) -> String {
    Cursor.text(Int64(index) << Self.timeBits | max(moment.microseconds, 0), of: fingerprint)
  }

  func read(_ reader: StoreReader) throws(StoreError) -> Page {
    var page = Page()
    var left = limit
    for index in (position?.index ?? 0)..<asked.count {
      let found = try candles(of: index, count: left + 1, reader)
      if left > 0, !found.isEmpty {
        page.bars.append((asked[index].symbol, Array(found.prefix(left))))
      }
      if found.count > left {
        page.nextToken = token(of: index, at: found[left].openedAt)
        return page
      }
      left -= found.count
    }
    return page
  }

  private func candles(
    of index: Int, count: Int, _ reader: StoreReader
  ) throws(StoreError) -> [CandleRecord] {
    let one = asked[index]
    let zone = one.series.zone
    var (from, to) = (one.from, one.to)
    if let position, position.index == index {
      if isDescending { to = position.openedAt.next } else { from = position.openedAt }
    }
    var query = CandleQuery(one.series.symbol, timeframe: timeframe.parts(in: zone))
    query.source = one.series.sourceName
    query.adjust = adjust
    let reach = timeframe.reachSeconds(in: zone)
    let first = from.adding(seconds: -reach.back)
    query.from = first
    // So many bars and those that are cut: by the bounds, and at the end of what is read.
    let most = count + Self.cutMax
    if isDescending {
      query.newest = Int32(clamping: most * timeframe.partsOfOne(in: zone))
    } else if let last = try reader.opening(
      ofRow: Int64(most) * timeframe.storedRows, series: one.series.id,
      timeframe: timeframe.stored, from: first, before: to)
    {
      to = last.next
    }
    query.to = to.adding(seconds: reach.ahead)
    let bars = timeframe.bars(
      of: try reader.candles(query), series: one.series, in: state, isRaw: adjust == .raw
    ).filter { from <= $0.openedAt && $0.openedAt < to }
    return Array((isDescending ? bars.reversed() : bars).prefix(count))
  }

  private static let cutMax = 3
}

extension Arguments {
  /// `end` is inclusive, and a date means all of that day. Without `start` the newest day begins
  /// it.
  fileprivate func bounds(
    zone: MarketZone, lastDay: TradingDay
  ) -> (from: Timestamp, to: Timestamp) {
    let end = self["end"].flatMap { TradingDay($0) }.map {
      zone.moment(on: $0.advanced(by: 1), secondOfDay: 0)
    }
    let to = end ?? (moment("end", zone: zone) ?? .now).next
    let newest = min(lastDay, zone.day(at: to))
    return (moment("start", zone: zone) ?? zone.moment(on: newest, secondOfDay: 0), to)
  }
}

extension Timestamp {
  fileprivate var next: Timestamp { Timestamp(microseconds: microseconds + 1) }
}
