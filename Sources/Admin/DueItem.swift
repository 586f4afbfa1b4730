import Commits
import Ingest
import Market

/// Something that will need a person: by which day, and what to do. One list of these makes the
/// lines of `candled status`, `due` in `/status` and the metric, so that an end has one place.
package struct DueItem: Sendable, Hashable {
  /// Raw values are those of the metric's label.
  package enum Kind: String, CaseIterable, Sendable {
    case shanghaiCalendar = "calendar_shanghai"
    case newYorkCalendar = "calendar_new_york"
    case postgres
    case certificate
    case factors

    /// What comes later is not listed. New York's days are requested 400 ahead, each day anew.
    fileprivate var daysAheadMax: Int { self == .newYorkCalendar ? 365 : 400 }
  }

  package let kind: Kind
  package let day: TradingDay
  package let what: String
  package let remedy: String

  /// What comes so soon is to be done now.
  package static let soonDaysMax = 30
}

extension DaemonReport {
  /// Every end that is known, the earliest first.
  package var ends: [DueItem] {
    [shanghaiEnd, newYorkEnd, postgresEnd, certificateEnd, contradictedFactors].compactMap { $0 }
      .sorted { ($0.day, $0.kind.rawValue) < ($1.day, $1.kind.rawValue) }
  }

  /// Those that are near enough to be listed.
  package var due: [DueItem] { ends.filter { daysLeft($0) <= $0.kind.daysAheadMax } }

  /// By the engine's time: a replayed day has its own.
  package func daysLeft(_ item: DueItem) -> Int {
    (engine?.now ?? at).shanghaiDay.distance(to: item.day)
  }

  private var shanghaiEnd: DueItem? {
    guard let engine, engine.symbols > 0 else { return nil }
    return DueItem(
      kind: .shanghaiCalendar, day: engine.now.shanghaiDay.advanced(by: engine.calendar.daysLeft),
      what: "Shanghai's trading calendar ends",
      remedy: "the next year's days come by themselves around New Year; if not, install a newer "
        + "release")
  }

  private var newYorkEnd: DueItem? {
    engine?.calendar.newYorkEnd.map {
      DueItem(
        kind: .newYorkCalendar, day: $0, what: "New York's trading calendar ends",
        remedy: "check the keys of the source of US bars, whose calendar is requested daily")
    }
  }

  private var postgresEnd: DueItem? {
    guard let server = privateServer, let major = server.major, let day = server.maintainedUntil
    else { return nil }
    return DueItem(
      kind: .postgres, day: day, what: "PostgreSQL \(major) is no longer maintained",
      remedy: "install a newer version beside it, then candled database upgrade")
  }

  private var certificateEnd: DueItem? {
    guard let first = authorityEnds.min(by: { ($0.value, $0.key) < ($1.value, $1.key) }) else {
      return nil
    }
    return DueItem(
      kind: .certificate, day: first.value.shanghaiDay,
      what: "the root certificate by which \(first.key) is verified ends",
      remedy: "apt-get install ca-certificates, then restart candled")
  }

  private var contradictedFactors: DueItem? {
    guard let factors = engine?.status.store.contradictedFactors, let last = factors.lastDay
    else { return nil }
    return DueItem(
      kind: .factors, day: last.advanced(by: ContradictedFactors.daysKept),
      what: "factors of \(counted(factors.instruments, "instrument")) contradict the exchange",
      remedy: "they are not served; compare those of candled.factors with verdict 'contradicted' "
        + "with the announcements")
  }
}
