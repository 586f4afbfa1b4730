/// How long Alpaca's bars are, and how they are made of the candles that the database gives.
///
/// Bars of minutes and hours begin with the clock of UTC, counted from its midnight, as Alpaca's do
/// (docs/sources/alpaca.md#bars). On the mainland they begin with each session and end with it, as
/// all candles there, of which the history of hours is made. Those of weeks and months are dated as
/// the bar of their first trading day is.

import Market
import Reader

struct AlpacaTimeframe: Sendable {
  /// `.minute1`, `.day1`, `.week1` or `.month1`.
  private let unit: Timeframe
  /// How many of them make a bar.
  private let count: Int

  /// `1M` is a month: Alpaca's minutes are `Min` and `T`.
  static let pattern = TextPattern(
    "^(([1-9]|[1-5][0-9])(Min|T)|([1-9]|1[0-9]|2[0-3])(Hour|H)|1(Day|D|Week|W)"
      + "|([12346]|12)(Month|M))$",
    expectation: "[1-59]Min, [1-23]Hour, 1Day, 1Week, [1,2,3,4,6,12]Month, or T, H, D, W and M for "
      + "short")

  private static let units: KeyValuePairs<Timeframe, [String]> = [
    .minute1: ["Min", "T"], .hour1: ["Hour", "H"], .day1: ["Day", "D"], .week1: ["Week", "W"],
    .month1: ["Month", "M"],
  ]

  init?(_ text: String) {
    let digits = text.prefix { "0"..."9" ~= $0 }
    let name = String(text.dropFirst(digits.count))
    guard Self.pattern.matches(text), let number = Int(digits),
      let unit = Self.units.first(where: { $0.value.contains(name) })?.key
    else { return nil }
    self.unit = unit == .hour1 ? .minute1 : unit
    count = unit == .hour1 ? number * 60 : number
  }

  private var isOfPeriods: Bool { unit == .week1 || unit == .month1 }

  /// What is stored and makes bars of it.
  var stored: Timeframe { unit == .minute1 ? .minute1 : .day1 }

  /// How many of them make one, at most.
  var storedRows: Int64 { Int64(count) * (unit == .month1 ? 31 : unit == .week1 ? 7 : 1) }

  /// What is read in a zone: the longest candles of which whole ones make a bar. Those of an hour
  /// begin with the session, at half past the hour in New York.
  func parts(in zone: MarketZone) -> Timeframe {
    guard unit == .minute1 else { return unit }
    let lengths: [Timeframe] = [.hour1, .minute30, .minute15, .minute5]
    return lengths.first { length in
      count.isMultiple(of: Int(length.rawValue)) && (length != .hour1 || zone != .newYork)
    } ?? .minute1
  }

  /// How many of its parts make a bar, at most.
  func partsOfOne(in zone: MarketZone) -> Int {
    unit == .minute1 ? count / Int(parts(in: zone).rawValue) : count
  }

  /// How much later than a bar opens its last part can, and how much earlier its first: a week
  /// opens on a Monday, and is dated on the first trading day.
  func reachSeconds(in zone: MarketZone) -> (back: Int64, ahead: Int64) {
    let span = storedRows * (unit == .minute1 ? 60 : 86_400)
    return (isOfPeriods ? span : 0, partsOfOne(in: zone) == 1 ? 0 : span)
  }

  // MARK: Rolled up

  /// Bars of candles that follow each other, oldest first.
  func bars(of parts: [CandleRecord], series: SeriesRecord, in state: MarketState, isRaw: Bool)
    -> [CandleRecord]
  {
    var bars: [CandleRecord] = []
    var index = parts.startIndex
    while index < parts.endIndex {
      let opening = opening(of: parts[index], in: series.zone)
      let next = parts[index...].firstIndex { self.opening(of: $0, in: series.zone) != opening }
      let end = next ?? parts.endIndex
      if var bar = CandleRecord(rolledUp: parts[index..<end], isRaw: isRaw) {
        bar.openedAt = isOfPeriods ? date(of: bar, opening, in: series.zone, state) : opening
        bars.append(bar)
      }
      index = end
    }
    return bars
  }

  private func opening(of part: CandleRecord, in zone: MarketZone) -> Timestamp {
    switch unit {
    case .minute1:
      let (day, second) = zone.wallClock(at: part.openedAt)
      let session =
        zone == .shanghai ? zone.market?.sessions.last { $0.opens <= second }?.opens : nil
      let anchor =
        session.map { zone.moment(on: day, secondOfDay: $0) }
        ?? MarketZone.utc.moment(on: MarketZone.utc.day(at: part.openedAt), secondOfDay: 0)
      let length = Int64(count) * 60
      let behind = part.openedAt.seconds - anchor.seconds
      return anchor.adding(seconds: behind - behind % length)
    case .month1:
      let (year, month, _) = zone.day(at: part.openedAt).civil
      let first = TradingDay(year: year, month: (month - 1) / count * count + 1, day: 1)
      return first.map { zone.moment(on: $0, secondOfDay: 0) } ?? part.openedAt
    default: return part.openedAt
    }
  }

  private func date(
    of bar: CandleRecord, _ opening: Timestamp, in zone: MarketZone, _ state: MarketState
  ) -> Timestamp {
    let day = state.firstTradingDay(
      from: zone.day(at: opening), through: bar.tradingDay, in: zone)
    return zone.moment(on: day, secondOfDay: zone.market?.dayOpens ?? 0)
  }
}

extension CandleRecord {
  /// One of several, by the rules of the database's `series_rolled`: where some of them traded the
  /// others have no say. nil of sums that no decimal holds.
  fileprivate init?(rolledUp parts: ArraySlice<CandleRecord>, isRaw: Bool) {
    guard let first = parts.first, let last = parts.last else { return nil }
    self = first
    if parts.count == 1 { return }
    closedAt = last.closedAt
    tradingDay = last.tradingDay
    let traded = parts.filter { !$0.flags.contains(.noTrade) }
    let shown = traded.isEmpty ? Array(parts) : traded
    let isPriced = shown.allSatisfy { $0.open != nil }
    open = isPriced ? shown.first?.open : nil
    high = shown.compactMap(\.high).max()
    low = shown.compactMap(\.low).min()
    close = shown.last?.close
    guard let sum = try? ExactDecimal.sum(parts.map(\.volume)) else { return nil }
    volume = sum
    let turnovers = parts.compactMap(\.turnover)
    turnover = turnovers.count == parts.count ? try? .sum(turnovers) : nil
    let counts = parts.compactMap(\.trades)
    trades = counts.count == parts.count ? counts.reduce(0, +) : nil
    let hasAverage = isRaw && parts.contains { $0.vwap != nil }
    vwap = hasAverage ? .averagePrice(turnover: turnover, volume: volume) : nil
  }
}
