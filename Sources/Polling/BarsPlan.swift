// When to ask for ready-made bars, and for which stretch of time.
//
// A minute bar is there some seconds after its minute and may change for half a minute more; later
// corrections reach the history during the day (docs/sources/alpaca.md#bars). So each minute asks
// again for the last three, the evening asks for the whole day, and the next two mornings once
// more. What was missed is asked for from the watermark on: an outage heals by itself. The bars of
// days have no watermark: each evening asks for those of a week, which are few. Pure: the shell
// performs the windows and says which are complete.
import Market

/// A stretch of bars of one chunk of symbols.
package struct BarsWindow: Sendable, Hashable {
  package let chunk: Int
  package let timeframe: Timeframe
  /// Bars that open in [from, to).
  package let from: Timestamp
  package let to: Timestamp
}

/// When a market has bars, on its own clock.
package struct BarsHours: Sendable, Hashable {
  package let zone: MarketZone
  /// Trades before and after the regular session count (docs/sources/alpaca.md#bars).
  package let span: SessionHours
  /// Whether there are bars on weekends and holidays, too.
  package let isEveryDay: Bool

  package init(zone: MarketZone, span: SessionHours, isEveryDay: Bool) {
    self.zone = zone
    self.span = span
    self.isEveryDay = isEveryDay
  }

  func opening(of day: TradingDay) -> Timestamp { zone.moment(on: day, secondOfDay: span.opens) }
  func closing(of day: TradingDay) -> Timestamp { zone.moment(on: day, secondOfDay: span.closes) }
}

package struct BarsPlan: Sendable {
  struct Chunk: Sendable {
    var symbols: [Symbol]
    /// Every bar that closed until then was read.
    var through: Timestamp?
    /// Or `through` is only where to begin.
    var isRead: Bool
    /// The windows that are requested and not complete.
    var open: Set<BarsWindow> = []
    /// Occasions on which a whole day was read again.
    var reread: Set<Occasion> = []
  }

  struct Occasion: Sendable, Hashable {
    enum Round: Sendable { case evening, morning, secondMorning }

    let day: TradingDay
    let round: Round
  }

  package let hours: BarsHours
  /// How far behind to stay: the basic plan refuses the whole market's last 15 minutes.
  package let delaySeconds: Int64
  private var sessions: [TradingDay: MarketSession] = [:]
  private(set) var chunks: [Chunk]

  /// The time after the close, and after the next morning's open.
  static let eveningSeconds = 5 * 60
  static let morningSeconds = 30 * 60
  static let overlapSeconds: Int64 = 180
  /// The time after the minute's end until its bar is there.
  static let phaseSeconds: Int64 = 5
  /// A longer absence is a backfill's to mend.
  static let daysBackMax = 7

  /// - Parameter through: what was read before, by `key(of:)` of the chunk's symbols. A chunk that
  ///   was never asked like this goes on from the day the others had come to: one symbol more must
  ///   not make the rest forget an outage.
  package init(
    _ symbols: [Symbol], hours: BarsHours, delaySeconds: Int64 = 0, chunkSymbolsMax: Int = 200,
    through: [String: Timestamp] = [:]
  ) {
    self.hours = hours
    self.delaySeconds = delaySeconds
    let since = through.values.max().map { hours.opening(of: hours.zone.day(at: $0)) }
    let symbols = Set(symbols).sorted()
    chunks = stride(from: 0, to: symbols.count, by: chunkSymbolsMax).map { start in
      let end = min(start + chunkSymbolsMax, symbols.count)
      let part = Array(symbols[start..<end])
      let known = through[BarsPlan.key(of: part)]
      return Chunk(symbols: part, through: known ?? since, isRead: known != nil)
    }
  }

  /// Names a chunk: `AAPL…TSLA/12`.
  package static func key(of symbols: [Symbol]) -> String {
    "\(symbols.first?.description ?? "")…\(symbols.last?.description ?? "")/\(symbols.count)"
  }

  package func symbols(of chunk: Int) -> [Symbol] { chunks[chunk].symbols }

  /// All that are asked for.
  package var symbols: [Symbol] { chunks.flatMap(\.symbols) }

  /// A symbol the source refuses voids whatever it is asked with.
  package mutating func drop(_ symbol: Symbol) {
    for chunk in chunks.indices { chunks[chunk].symbols.removeAll { $0 == symbol } }
  }

  /// The exchange's own calendar; days it does not cover trade from Monday to Friday. Of the days
  /// from its first to its last those that it lacks are closed, whatever was known, unless they are
  /// too many to be believed.
  package mutating func learn(_ sessions: [MarketSession]) {
    let days = sessions.map(\.day)
    guard let first = days.min(), let last = days.max() else { return }
    let lacking = Set(self.sessions.keys.filter { first <= $0 && $0 <= last }).subtracting(days)
    if lacking.count <= TradingCalendar.changedDaysMax {
      self.sessions = self.sessions.filter { !lacking.contains($0.key) }
    }
    for session in sessions where session.trades { self.sessions[session.day] = session }
  }

  /// The last day the calendar covers.
  package var knownThrough: TradingDay? { sessions.keys.max() }
}

// MARK: - Watermarks

extension BarsPlan {
  /// The moment up to which a chunk is read that was until `known`, once [from, to) is; nil where
  /// it is no further. A day read again says nothing of what lies between it and the watermark.
  /// What is older than the longest window is waited for no more, or the watermark would never move
  /// again.
  package static func through(
    _ known: Timestamp?, reading from: Timestamp, to: Timestamp
  ) -> Timestamp? {
    guard let known else { return to }
    return from <= max(known, earliest(before: to)) && known < to ? to : nil
  }

  /// The moment up to which every chunk is read that ever was: the symbols of another may be
  /// unknown.
  package var through: Timestamp? {
    chunks.filter { $0.isRead && !$0.symbols.isEmpty }.compactMap(\.through).min()
  }

  /// What counts, at `now`, of having read up to `known`. If that is yet to come, a clock was
  /// ahead: nobody knows what there was to be read of today.
  package static func believed(
    _ known: Timestamp, at now: Timestamp, _ hours: BarsHours
  ) -> Timestamp {
    known <= now ? known : min(now, hours.opening(of: hours.zone.day(at: now)))
  }

  private static func earliest(before end: Timestamp) -> Timestamp {
    end.adding(seconds: -Int64(daysBackMax) * 86_400)
  }
}

// MARK: - Windows

extension BarsPlan {
  /// What is to be asked now.
  package mutating func due(at now: Timestamp) -> [BarsWindow] {
    var windows: [BarsWindow] = []
    for chunk in chunks.indices where !chunks[chunk].symbols.isEmpty {
      discardFuture(chunk, at: now)
      let wanted = [live(chunk, at: now)].compactMap { $0 } + rereads(chunk, at: now)
      for window in wanted where chunks[chunk].open.insert(window).inserted {
        windows.append(window)
      }
    }
    return windows
  }

  /// The window was walked to its end.
  package mutating func completed(_ window: BarsWindow) {
    chunks[window.chunk].open.remove(window)
    guard window.timeframe == .minute1 else { return }
    let known = chunks[window.chunk].through
    if let through = Self.through(known, reading: window.from, to: window.to) {
      chunks[window.chunk].through = through
      chunks[window.chunk].isRead = true
    }
  }

  /// The window came to nothing; it is due again.
  package mutating func failed(_ window: BarsWindow) {
    chunks[window.chunk].open.remove(window)
    chunks[window.chunk].reread = chunks[window.chunk].reread.filter { occasion in
      !self.windows(of: occasion, chunk: window.chunk).contains(window)
    }
  }

  /// Brings a watermark back that a clock set ahead of now. It also had days read again that were
  /// not over: that counts for nothing.
  private mutating func discardFuture(_ chunk: Int, at now: Timestamp) {
    guard let known = chunks[chunk].through, known > now else { return }
    chunks[chunk].through = Self.believed(known, at: now, hours)
    chunks[chunk].reread = []
  }

  private func live(_ chunk: Int, at now: Timestamp) -> BarsWindow? {
    let isAsked = chunks[chunk].open.contains { $0.timeframe == .minute1 }
    guard !isAsked, let end = lastMinuteEnd(now) else { return nil }
    let earliest = Self.earliest(before: end)
    let start = chunks[chunk].through ?? opening(of: day(at: end.adding(seconds: -1)))
    guard start < end else { return nil }
    let overlap = end.adding(seconds: -Self.overlapSeconds)
    return BarsWindow(
      chunk: chunk, timeframe: .minute1, from: max(min(start, overlap), earliest), to: end)
  }

  /// The end of the latest minute that can be had; nil if no day within reach traded.
  private func lastMinuteEnd(_ now: Timestamp) -> Timestamp? {
    let visible = now.adding(seconds: -delaySeconds - Self.phaseSeconds)
    let minute = Timestamp(seconds: visible.seconds - (visible.seconds % 60 + 60) % 60)
    var day = day(at: minute)
    for _ in 0..<Self.daysBackMax {
      if trades(day), minute > opening(of: day) { return min(minute, closing(of: day)) }
      day = day.advanced(by: -1)
    }
    return nil
  }

  private mutating func rereads(_ chunk: Int, at now: Timestamp) -> [BarsWindow] {
    var windows: [BarsWindow] = []
    for occasion in occasions(now) where chunks[chunk].reread.insert(occasion).inserted {
      windows += self.windows(of: occasion, chunk: chunk)
    }
    let oldest = day(at: now).advanced(by: -Self.daysBackMax)
    chunks[chunk].reread = chunks[chunk].reread.filter { $0.day >= oldest }
    return windows
  }

  /// The evening of the last day that traded and the morning after, the second of the day before.
  private func occasions(_ now: Timestamp) -> [Occasion] {
    let visible = now.adding(seconds: -delaySeconds)
    let today = day(at: visible)
    if trades(today), visible >= closing(of: today).adding(seconds: Int64(Self.eveningSeconds)) {
      return [Occasion(day: today, round: .evening)]
    }
    guard let last = previous(today) else { return [] }
    var occasions = [Occasion(day: last, round: .evening)]
    if visible < opening(of: today).adding(seconds: Int64(Self.morningSeconds)) {
      return occasions
    }
    occasions.append(Occasion(day: last, round: .morning))
    if let before = previous(last) {
      occasions.append(Occasion(day: before, round: .secondMorning))
    }
    return occasions
  }

  private func windows(of occasion: Occasion, chunk: Int) -> [BarsWindow] {
    let day = occasion.day
    let first = occasion.round == .evening ? day.advanced(by: -Self.daysBackMax) : day
    let zone = hours.zone
    let midnight = zone.moment(on: first, secondOfDay: 0)
    let next = zone.moment(on: day.advanced(by: 1), secondOfDay: 0)
    return [
      BarsWindow(
        chunk: chunk, timeframe: .minute1, from: opening(of: day), to: closing(of: day)),
      BarsWindow(chunk: chunk, timeframe: .day1, from: midnight, to: next),
    ]
  }
}

// MARK: - Days

extension BarsPlan {
  /// When to look again.
  package func nextWake(after now: Timestamp) -> Timestamp {
    let wait = delaySeconds + Self.phaseSeconds
    let visible = now.adding(seconds: -wait)
    let minute = visible.seconds - (visible.seconds % 60 + 60) % 60 + 60
    let next = Timestamp(seconds: minute)
    let day = day(at: next)
    let isInSession = trades(day) && next > opening(of: day) && next <= closing(of: day)
    if isInSession { return next.adding(seconds: wait) }
    let today = self.day(at: visible)
    return [today, today.advanced(by: 1)]
      .flatMap { day in
        [
          opening(of: day).adding(seconds: 60),
          opening(of: day).adding(seconds: Int64(Self.morningSeconds)),
          closing(of: day).adding(seconds: Int64(Self.eveningSeconds)),
        ]
      }
      .map { $0.adding(seconds: wait) }
      .filter { $0 > now }.min() ?? now.adding(seconds: 3_600)
  }

  private func trades(_ day: TradingDay) -> Bool {
    if hours.isEveryDay { return true }
    guard let first = sessions.keys.min(), let last = sessions.keys.max(),
      first <= day, day <= last
    else { return !day.isWeekend }
    return sessions[day] != nil
  }

  private func previous(_ day: TradingDay) -> TradingDay? {
    (1...Self.daysBackMax).lazy.map { day.advanced(by: -$0) }.first(where: trades)
  }

  private func day(at moment: Timestamp) -> TradingDay { hours.zone.day(at: moment) }
  private func opening(of day: TradingDay) -> Timestamp { hours.opening(of: day) }
  private func closing(of day: TradingDay) -> Timestamp { hours.closing(of: day) }
}
