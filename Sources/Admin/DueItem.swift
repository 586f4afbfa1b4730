import Commits
import EmbeddedPostgres
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
    case licence, disk, backup, drill
    /// Codes of which it is only suspected that they changed.
    case identity
    case factors

    /// What comes later is not listed.
    fileprivate var daysAheadMax: Int {
      switch self {
      // Its days are requested 400 ahead, each day anew.
      case .newYorkCalendar: 365
      // Timers do it.
      case .backup, .drill: 0
      default: 400
      }
    }
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
    let each = [
      shanghaiEnd, newYorkEnd, postgresEnd, certificateEnd, licenceEnd, diskEnd, suspectedCodes,
      contradictedFactors,
    ]
    return (each.compactMap { $0 } + copies)
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
      remedy: "apt-get install --only-upgrade ca-certificates; candled takes it by itself")
  }

  private var licenceEnd: DueItem? {
    keyEnds.min { ($0.value, $0.key) < ($1.value, $1.key) }.map { source, day in
      DueItem(
        kind: .licence, day: day, what: "the licence of \(source) ends",
        remedy: "renew it; a new key goes into its file, then systemctl reload candled, or restart "
          + "if it is a credential")
    }
  }

  private var diskEnd: DueItem? {
    disks.compactMap { disk in
      disk.fullOn.map { day in
        DueItem(
          kind: .disk, day: day, what: "the disk of the \(disk.name) is full, as it fills now",
          remedy: "make room, or move it to a larger disk")
      }
    }.min { $0.day < $1.day }
  }

  /// Late only behind the longest pause of a timer: from a month's first Sunday to the next one's
  /// 35 days, from a quarter's second to the next one's 98.
  private var copies: [DueItem] {
    guard let backup = privateServer?.backup else { return [] }
    let drill = backup.drill.flatMap { $0.hasPassed ? $0.at.shanghaiDay : nil }
    let base = backup.hole == nil ? backup.baseAt?.shanghaiDay : nil
    return [
      DueItem(
        kind: .backup, day: base?.advanced(by: 36) ?? at.shanghaiDay,
        what: backup.hole.map { "nothing new can be restored, \($0)" }
          ?? "a new base copy of the database is due",
        remedy: "candled-backup.timer makes it; else candled database backup"),
      DueItem(
        kind: .drill, day: drill?.advanced(by: 99) ?? at.shanghaiDay,
        what: "a drill of the copies is due",
        remedy: "candled-drill.timer runs it; else candled database drill"),
    ]
  }

  private var suspectedCodes: DueItem? {
    let suspected = engine?.counters.links.suspected ?? 0
    return suspected == 0
      ? nil
      : DueItem(
        kind: .identity, day: at.shanghaiDay,
        what: "\(counted(suspected, "suspected change")) of codes",
        remedy: "candled instrument show, then candled instrument link or unlink")
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
