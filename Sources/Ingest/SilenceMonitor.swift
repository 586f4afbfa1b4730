import Market

/// Instruments that are asked for, and answered beside others, without a row that counts. A source
/// that is silent as a whole is another matter: its answers are missing, not its rows.
///
/// For people only: no candle depends on it, and a restart begins anew.
struct SilenceMonitor: Sendable {
  /// An instrument that fell silent, or is back.
  struct Change: Sendable, Hashable {
    var symbol: Symbol
    /// The last refusal's name, or `missing`; nil for one that is back.
    var reason: String?
    /// Receive time of the last row that counted; of the first refusal where none ever did.
    var since: Timestamp
  }

  static let missing = "missing"
  /// Session seconds without a row that counts.
  static let silentSecondsMin: Int64 = 60

  private struct Entry {
    var acceptedAt: Timestamp?
    var refusedAt: Timestamp?
    var reason = SilenceMonitor.missing
    var isSilent = false

    /// A row was accepted since the last refusal.
    var isBack: Bool {
      guard let acceptedAt, let refusedAt else { return false }
      return acceptedAt > refusedAt
    }
  }

  private var entries: [Entry] = []
  private var lookedAt = Timestamp(microseconds: 0)

  mutating func accepted(_ index: Int, at moment: Timestamp) {
    grow(to: index)
    entries[index].acceptedAt = moment
  }

  mutating func refused(_ index: Int, reason: RejectionReason, at moment: Timestamp) {
    record(index, reason: reason.rawValue, at: moment)
  }

  /// No row of it came; one that came and was refused is known already.
  mutating func missed(_ index: Int, at moment: Timestamp) {
    if index < entries.count, entries[index].refusedAt == moment { return }
    record(index, reason: Self.missing, at: moment)
  }

  private mutating func record(_ index: Int, reason: String, at moment: Timestamp) {
    grow(to: index)
    if entries[index].acceptedAt == nil { entries[index].acceptedAt = moment }
    entries[index].refusedAt = moment
    entries[index].reason = reason
  }

  private mutating func grow(to index: Int) {
    while entries.count <= index { entries.append(Entry()) }
  }

  /// How many are silent, by reason.
  var counts: [String: Int] {
    entries.reduce(into: [:]) { counts, entry in
      if entry.isSilent { counts[entry.reason, default: 0] += 1 }
    }
  }

  /// Looks through all of them, at most once in ten seconds. Out of session nobody is silent, and
  /// nobody comes back.
  mutating func changes(
    at now: Timestamp, calendar: TradingCalendar, hours: TradingHours,
    symbol: (Int) -> Symbol
  ) -> [Change] {
    guard calendar.isInSession(now, hours: hours) else {
      for index in entries.indices where entries[index].isSilent { entries[index].isSilent = false }
      return []
    }
    guard now >= lookedAt.adding(seconds: 10) else { return [] }
    lookedAt = now
    var changes: [Change] = []
    for index in entries.indices {
      let isSilent = isSilent(entries[index]) {
        calendar.tradingSeconds(from: $0, to: now, hours: hours)
      }
      guard isSilent != entries[index].isSilent else { continue }
      entries[index].isSilent = isSilent
      // One that nobody asks for any more is not silent, and not back either.
      guard isSilent || entries[index].isBack else { continue }
      let since = entries[index].acceptedAt ?? now
      changes.append(
        Change(symbol: symbol(index), reason: isSilent ? entries[index].reason : nil, since: since))
    }
    return changes
  }

  /// - Parameter tradedSince: the seconds of trading that have passed since a moment.
  private func isSilent(_ entry: Entry, tradedSince: (Timestamp) -> Int64) -> Bool {
    guard let acceptedAt = entry.acceptedAt, let refusedAt = entry.refusedAt,
      refusedAt > acceptedAt || entry.isSilent,
      tradedSince(refusedAt) < Self.silentSecondsMin
    else { return false }
    return tradedSince(acceptedAt) >= Self.silentSecondsMin
  }
}

extension SilenceMonitor.Change {
  private static let namedMax = 5

  /// The instruments that fell silent as one phrase for the log, the first of them by name: `since
  /// 10:02: sh600000 (lagging), sz000001 (missing)`, times in Shanghai.
  static func silent(_ changes: [Self], at now: Timestamp) -> String {
    let sorted = changes.sorted { ($0.since, $0.symbol) < ($1.since, $1.symbol) }
    var text = ""
    var minute = ""
    for change in sorted.prefix(namedMax) {
      let since = change.since.clock(on: now)
      text += text.isEmpty ? "" : since == minute ? ", " : "; "
      if since != minute { text += "since \(since): " }
      text += "\(change.symbol) (\(change.reason ?? SilenceMonitor.missing))"
      minute = since
    }
    return text + more(changes)
  }

  static func back(_ changes: [Self]) -> String {
    changes.prefix(namedMax).map { "\($0.symbol)" }.joined(separator: ", ") + more(changes)
  }

  private static func more(_ changes: [Self]) -> String {
    changes.count > namedMax ? " and \(changes.count - namedMax) more" : ""
  }
}
