/// The hours of a market whose clock is a fixed time ahead of UTC and that trades in one or two
/// sessions a day, and the minutes they are cut into.
///
/// Minutes are numbered from 0, through both sessions. Each is open on the left and closed on the
/// right. An auction before the open belongs to the first minute; prints that straggle in after a
/// close belong to the last minute of their session. A session that ends at midnight ends at second
/// 86,400 of its day. Small and without references, for it is copied with the candle rules.
package struct TradingHours: Sendable, Hashable {
  package let clock: LocalClock
  @usableFromInline let first: Span
  /// Empty, at the end of the first, where there is one session.
  @usableFromInline let second: Span
  private let afterHoursSpan: Span
  /// While a closing auction is collected.
  private let silent: Span
  private let dayEndsAt: Int32

  /// In seconds since midnight.
  @usableFromInline
  struct Span: Sendable, Hashable {
    @usableFromInline let opens: Int32
    @usableFromInline let closes: Int32

    init(opens: Int, closes: Int) {
      self.opens = Int32(opens)
      self.closes = Int32(closes)
    }

    @inlinable var seconds: Int { Int(closes &- opens) }

    /// How much of it lies behind `second`.
    @inlinable
    func seconds(before second: Int) -> Int { min(max(second - Int(opens), 0), seconds) }

    /// Of its minutes, the one that `second` belongs to; the nearest for a second outside it.
    @inlinable
    func minute(of second: Int) -> Int {
      min(max((second - Int(opens) + 59) / 60 - 1, 0), seconds / 60 - 1)
    }
  }

  /// When the certificates of a day are written, after its last session. The fixed-price session of
  /// the mainland ends 15:30, the last stamps seen were 15:35:45.
  private static let settlementSeconds = 6 * 60
  /// The same where trading goes on over midnight: later than the last minute's timers, and before
  /// those of the next day's first minute.
  private static let settlementAtMidnightSeconds = 40

  /// nil where the clock is put forward in summer, the sessions are none or more than two, or one
  /// of them has no whole minutes.
  package init?(_ market: MarketDefinition) {
    guard let zone = market.zone.clock, let opening = market.sessions.first,
      let closing = market.sessions.last, market.sessions.count <= 2,
      market.sessions.allSatisfy({ ($0.closes - $0.opens) % 60 == 0 })
    else { return nil }
    first = Span(opens: opening.opens, closes: opening.closes)
    second =
      market.sessions.count == 2
      ? Span(opens: closing.opens, closes: closing.closes)
      : Span(opens: opening.closes, closes: opening.closes)
    clock = LocalClock(
      offsetSeconds: zone.offsetSeconds,
      auctionOpens: Int32(market.auction?.opens ?? opening.opens),
      auctionMatches: Int32(market.auction?.closes ?? opening.opens), opens: Int32(opening.opens))
    afterHoursSpan = Span(
      opens: market.afterHours?.opens ?? closing.closes,
      closes: market.afterHours?.closes ?? closing.closes)
    silent = Span(
      opens: market.silentMinutes.first ?? closing.closes,
      closes: market.silentMinutes.last.map { $0 + 60 } ?? closing.closes)
    let isUnbroken = opening.opens == 0 && closing.closes == 86_400
    dayEndsAt =
      max(afterHoursSpan.closes, Int32(closing.closes))
      + Int32(isUnbroken ? Self.settlementAtMidnightSeconds : Self.settlementSeconds)
  }

  /// Those of Shanghai, Shenzhen and Beijing today.
  package static var mainlandChina: TradingHours { RuleBook.current.mainlandHours }
}

// MARK: - Seconds of the day

extension TradingHours {
  @inlinable package var opens: Int { Int(first.opens) }

  /// The end of the last session.
  @inlinable package var closes: Int { Int(second.closes) }

  /// Between the sessions; empty where there is one.
  package var breakSeconds: Range<Int> { Int(first.closes)..<Int(second.opens) }

  /// What is proven by an answer of a later day.
  @inlinable package var lastSecond: Int { max(closes, LocalClock.secondsPerDay - 1) }

  /// When the exchange has said its last of a day: certificates are written then. Beyond 86,400
  /// where a session ends at midnight.
  package var dayEnds: Int { Int(dayEndsAt) }

  /// When something begins: the opening auction, and the session after the break.
  var beginnings: [Int] {
    let auction = Int(clock.auctionOpens)
    return second.seconds > 0 ? [auction, Int(second.opens)] : [auction]
  }

  /// The fixed-price session after the close; nil where there is none.
  package var afterHours: (opens: Int, closes: Int)? {
    afterHoursSpan.seconds > 0 ? (Int(afterHoursSpan.opens), Int(afterHoursSpan.closes)) : nil
  }

  /// Whether the next day begins as this one ends.
  @inlinable package var isUnbroken: Bool { opens == 0 && closes == LocalClock.secondsPerDay }

  /// Prints may straggle in for so long after a session.
  private static let stragglingSecondsMax = 60

  /// Whether nothing trades at a second of the day: before the opening auction matches, between the
  /// sessions and after the last.
  package func isClosed(_ second: Int) -> Bool {
    if second < Int(clock.auctionMatches) { return true }
    if second > closes + Self.stragglingSecondsMax { return true }
    return Int(first.closes) + Self.stragglingSecondsMax < second && second < Int(self.second.opens)
  }

  /// Seconds of trading that lie behind a second of the day. Outages and freshness are measured on
  /// this axis.
  @inlinable
  package func tradingSeconds(before second: Int) -> Int {
    first.seconds(before: second) + self.second.seconds(before: second)
  }

  /// The moment of a second of `day`.
  @inlinable
  package func moment(on day: TradingDay, secondOfDay: Int) -> Timestamp {
    clock.moment(on: day, secondOfDay: secondOfDay)
  }
}

// MARK: - Minutes

extension TradingHours {
  @inlinable package var minutesPerDay: Int { (first.seconds + second.seconds) / 60 }

  /// The minute a trade stamped `second` belongs to, left-open and right-closed.
  @inlinable
  package func minute(of second: Int) -> Int {
    second < self.second.opens
      ? first.minute(of: second) : first.seconds / 60 + self.second.minute(of: second)
  }

  /// When a minute opens, in seconds since midnight. It closes 60 s later.
  @inlinable
  package func opening(ofMinute minute: Int) -> Int {
    let inFirst = first.seconds / 60
    return minute < inFirst
      ? Int(first.opens) + minute * 60 : Int(second.opens) + (minute - inFirst) * 60
  }

  @inlinable
  package func closing(ofMinute minute: Int) -> Int { opening(ofMinute: minute) + 60 }

  /// Whether trading stops as it closes.
  package func endsSession(_ minute: Int) -> Bool {
    minute + 1 == minutesPerDay
      ? !isUnbroken : closing(ofMinute: minute) != opening(ofMinute: minute + 1)
  }

  /// Of a closing auction, when orders gather and nothing trades.
  package var silentMinutes: Range<Int> {
    guard silent.seconds > 0 else { return minutesPerDay..<minutesPerDay }
    return minute(of: Int(silent.opens) + 60)..<minute(of: Int(silent.closes)) + 1
  }
}

/// A market's clock, a fixed time ahead of UTC, and when on it the trading day begins: what a quote
/// needs to know of its market.
package struct LocalClock: Sendable, Hashable {
  package let offsetSeconds: Int32
  /// The opening auction takes orders from here on, and makes a price here; both at the open where
  /// there is none. In seconds since midnight.
  let auctionOpens: Int32
  let auctionMatches: Int32
  let opens: Int32

  @inlinable package static var secondsPerDay: Int { 86_400 }

  @usableFromInline
  init(
    offsetSeconds: Int32, auctionOpens: Int32 = 0, auctionMatches: Int32 = 0, opens: Int32 = 0
  ) {
    self.offsetSeconds = offsetSeconds
    self.auctionOpens = auctionOpens
    self.auctionMatches = auctionMatches
    self.opens = opens
  }

  /// `TradingHours.mainlandChina` has the same; a constant, for each quote begins with it.
  @inlinable
  package static var mainlandChina: LocalClock {
    LocalClock(
      offsetSeconds: 8 * 3600, auctionOpens: 33_300, auctionMatches: 33_900, opens: 34_200)
  }

  /// The date it shows.
  @inlinable
  package func day(at moment: Timestamp) -> TradingDay {
    let local = moment.seconds + Int64(offsetSeconds)
    return TradingDay(daysSince1970: Int32(local.flooredQuotient(86_400)))
  }

  /// Seconds since midnight, 0…86,399.
  @inlinable
  package func secondOfDay(at moment: Timestamp) -> Int { second(of: moment, on: day(at: moment)) }

  /// Seconds since the midnight that `day` begins with: 86,400 for the one it ends with.
  @inlinable
  package func second(of moment: Timestamp, on day: TradingDay) -> Int {
    Int(moment.seconds + Int64(offsetSeconds) - Int64(day.daysSince1970) * 86_400)
  }

  /// The moment it shows `secondOfDay` on `day`.
  @inlinable
  package func moment(on day: TradingDay, secondOfDay: Int) -> Timestamp {
    Timestamp(
      seconds: Int64(day.daysSince1970) * 86_400 + Int64(secondOfDay) - Int64(offsetSeconds))
  }
}
