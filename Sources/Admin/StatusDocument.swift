import EmbeddedPostgres
import Feeds
import Ingest
import Journal
import Market
import Operations
import Polling
import Postgres
import Store

/// `/status` and `/status.txt`: the report as ordered pairs, each written once as JSON for programs
/// and once as text for people. Names are those of the metrics where there is one; times are
/// RFC 3339.
package struct StatusDocument: Sendable {
  private let value: StatusValue

  package init(_ report: DaemonReport) { value = .object(report.pairs) }

  /// On one line.
  package var json: String { value.json ?? "" }

  /// A line for each fact that people ask for; the first begins with `candled`.
  package var text: String {
    let width = value.lines.reduce(0) { max($0, $1.label.utf8.count) }
    return value.lines.map { line in
      line.label + String(repeating: " ", count: width + 2 - line.label.utf8.count) + line.words
    }.joined(separator: "\n")
  }
}

private typealias Pairs = [(name: String, value: StatusValue)]

extension DaemonReport {
  fileprivate var pairs: Pairs {
    let readiness = Readiness(self)
    let reasons = readiness.reasons
    let ready = readiness.isReady ? "yes" : reasons.joined(separator: "; ")
    let up = at.microseconds(since: startedAt) / 1_000_000
    var (leader, term): (String?, Int64?)
    if case .standby(let name) = role { leader = name }
    if case .leading(let number) = role { term = number }
    let (version, resident) = (BuildVersion.current, process.residentBytes)
    return [
      ("version", .text(version).line("candled", words: "\(version), up \(age(up))")),
      ("at", .moment(at)),
      ("started_at", .moment(startedAt)),
      ("uptime_seconds", .count(up)),
      ("role", .text(role.word).line("role", words: "\(role)")),
      ("leader", .text(leader)),
      ("term", .count(term)),
      ("is_ready", .flag(readiness.isReady).line("ready", words: ready)),
      ("not_ready", .texts(reasons)),
      ("due", .list(due.map { .object(pairs(of: $0)) })),
      ("stale_loops", .texts(staleLoops).line("no progress", words: staleLoops.sentence)),
      ("loops", loopAges),
      ("engine", .object(engine?.pairs)),
      ("store_trouble", .text(storeTrouble).line("store", words: storeWords)),
      ("sources", .list((engine?.sources ?? []).map { .object($0.pairs(at: engine?.now ?? at)) })),
      ("private_server", .object(privateServer?.pairs).line("postgres", words: serverWords)),
      (
        "backup",
        .object(privateServer?.backup?.pairs).line("backup", words: privateServer?.backup?.words)
      ),
      ("journal", journal.map { journalValue($0) } ?? .object(nil)),
      ("reload", .object(reload?.pairs).line("last reload", words: reload?.words)),
      ("resident_memory_bytes", .count(resident).line("memory", words: "\(resident >> 20) MiB")),
    ]
  }

  private func pairs(of item: DueItem) -> Pairs {
    let words = "\(item.what): \(item.remedy)"
    return [
      ("kind", .text(item.kind.rawValue)),
      ("day", .text("\(item.day)").line("due \(item.day)", words: words)),
      ("days_left", .count(daysLeft(item))),
      ("what", .text(item.what)),
      ("to_do", .text(item.remedy)),
    ]
  }

  private var loopAges: StatusValue {
    let ages = Dictionary(
      loops.map { ($0.name, $0.ageMicroseconds / 1_000) }, uniquingKeysWith: max)
    return .object(ages.sorted { $0.key < $1.key }.map { ($0.key, .thousandths($0.value)) })
  }

  private var storeWords: String? {
    engine.map {
      "\(storeTrouble ?? "ok"), \(counted($0.backlog.pendingCandles, "candle")) pending"
    }
  }

  private var serverWords: String? {
    guard let server = privateServer, let major = server.major else { return nil }
    let missing = server.install.map { "; its programs are missing: \($0)" } ?? ""
    return "\(major)\(missing)"
  }

  private func journalValue(_ usage: DiskUsage) -> StatusValue {
    let position = engine?.backlog.lastPosition.sequence
    let committed = engine?.status.journal.committed.sequence
    let value = StatusValue.object([
      ("position", .count(position)),
      ("synced_position", .count(engine?.backlog.syncedPosition.sequence)),
      ("committed_position", .count(committed)),
      ("segments", .count(usage.segments)),
      ("bytes", .count(usage.bytes)),
      ("disk_free_bytes", .count(usage.freeBytes)),
    ])
    let sizes = "\(usage.bytes >> 20) MiB in \(counted(usage.segments, "file"))"
    return value.line(
      "journal",
      words: "entry \(position ?? 0), committed \(committed ?? 0), \(sizes), "
        + "\(usage.freeBytes >> 30) GiB free")
  }
}

extension PrivateServer {
  fileprivate var pairs: Pairs {
    [
      ("major", .count(major)),
      ("fault", .text(fault)),
      ("install", .text(install)),
    ]
  }
}

extension BackupState {
  fileprivate var pairs: Pairs {
    [
      ("base_at", .moment(baseAt)),
      ("waiting_segments", .count(waitingSegments)),
      ("hole", .text(hole)),
      ("drill_at", .moment(drill?.at)),
      ("drill_passed", .flag(drill?.hasPassed)),
      ("drill", .text(drill?.sentence)),
    ]
  }

  fileprivate var words: String {
    let base = baseAt.map { "base copy of \($0)" } ?? "no base copy yet"
    let tried = drill.map { "drill \($0.hasPassed ? "passed" : "failed") at \($0.at)" }
    let waiting = waitingSegments > 1 ? ", \(waitingSegments) segments of the log wait" : ""
    return "\(base), \(tried ?? "never restored")\(waiting)"
  }
}

extension EngineReport {
  fileprivate var pairs: Pairs {
    let (commits, sweeps) = (status.commits, status.quotes.sweeps)
    let fault = status.journal.fault?.rawValue
    let parked = keys.parked.values.reduce(0, +)
    let isAny = commits.count > 0
    let duration = StatusValue.thousandths(isAny ? commits.duration.microseconds : nil)
    let lag = StatusValue.thousandths(isAny ? commits.lag.microseconds : nil)
    let times = isAny ? ", the last in \(duration.json ?? "") ms, lag \(lag.json ?? "") ms" : ""
    let entries = counted(backlog.entries, "entry", "entries")
    let left = backlog.isCatchingUp ? "\(entries) to go" : nil
    let late = isCertificateOverdue ? "overdue" : nil
    let market = symbols > 0 ? sessionText : nil
    let polled = counted(symbols, "symbol")
    return [
      ("now", .moment(now)),
      ("market", .text(market).line("market", words: market)),
      ("next_session_at", .moment(calendar.nextSession)),
      ("serving", .text(quotes?.source.name).line("live quotes", words: servingWords)),
      ("is_on_fallback", .flag(quotes == nil ? nil : isOnFallback)),
      ("symbols", .count(symbols)),
      ("sweeps", .count(sweeps).line("sweeps", words: "\(sweeps) over \(polled)")),
      ("commits", .count(commits.count).line("commits", words: "\(commits.count)\(times)")),
      ("candles", .count(commits.rows.candles)),
      ("gaps_opened", .count(commits.rows.gapsOpened)),
      ("gaps_closed", .count(commits.rows.gapsClosed)),
      ("revisions", .count(commits.rows.revisions)),
      ("rejections", .count(counters.rejectedRows.values.reduce(0, +))),
      ("pending_candles", .count(backlog.pendingCandles)),
      ("backlog_entries", .count(backlog.entries)),
      ("last_commit_at", .moment(commits.lastAt)),
      ("commit_milliseconds", duration),
      ("lag_milliseconds", lag),
      ("change_seq", .count(commits.sequence)),
      ("journal_fault", .text(fault).line("journal cannot be written", words: fault)),
      ("keys_parked", .count(parked).line("keys parked", words: parked > 0 ? "\(parked)" : nil)),
      ("codes_suspected", .count(counters.links.suspected)),
      ("is_catching_up", .flag(backlog.isCatchingUp).line("catching up", words: left)),
      ("is_certificate_overdue", .flag(isCertificateOverdue).line("certificate", words: late)),
      ("replicas", .list(status.store.replicas.map { .object($0.pairs) })),
    ]
  }

  /// nil where no other source may take over: the source's own line says all.
  private var servingWords: String? {
    guard let quotes, let since = quotes.servingSince else { return nil }
    let role = isOnFallback ? "the fallback \(quotes.source.name)" : quotes.source.name
    let others = sources.filter { $0.isQuotes && $0.isStandby }.map(\.source.name)
    return "from \(role) since \(since.clock(on: now)), standby: \(others.sentence ?? "none")"
  }
}

extension ReplicaLink {
  fileprivate var pairs: Pairs {
    [
      ("replica", .text(name).line("replica \(name)", words: sentence)),
      ("is_connected", .flag(isConnected)),
      ("lag_bytes", .count(lagBytes)),
      ("lag_milliseconds", .thousandths(lagMicroseconds)),
      ("slot_bytes", .count(keptBytes)),
      ("slot_limit_bytes", .count(keptBytes == nil ? nil : limitBytes)),
      ("alarm", .text(alarm?.rawValue)),
    ]
  }
}

extension SourceReport {
  /// As metrics label it.
  var stateName: String { state.map { "\($0.condition)" } ?? "waiting" }

  fileprivate func pairs(at now: Timestamp) -> Pairs {
    [
      ("source", .text(source.name).line(name, words: words(at: now))),
      ("endpoint", .text(endpoint)),
      ("state", .text(stateName)),
      ("since", .moment(state?.since)),
      ("is_serving", .flag(isQuotes ? !isStandby : nil)),
      ("serving_since", .moment(servingSince)),
      ("requests", .count(requests)),
      ("failures", .count(failures)),
      ("last_success_at", .moment(lastSuccessAt)),
      ("is_in_session", .flag(freshness?.isInSession)),
      ("staleness_seconds", .count(freshness?.stalenessSeconds)),
      ("limit_seconds", .count(freshness?.limitSeconds)),
      ("is_fresh", .flag(freshness?.isFresh)),
      ("fault", .object(fault?.pairs(at: now))),
    ]
  }

  private func words(at now: Timestamp) -> String {
    let limit = "limit \(freshness?.limitSeconds ?? 0) s"
    let late = freshness?.stalenessSeconds.map { ", \($0) s behind (\(limit))" } ?? ""
    let role = isStandby ? ", standby" : servingSince == nil ? "" : ", serving"
    let session = freshness?.excuse ?? ""
    return "\(stateName)\(role)\(late)\(session), \(counted(requests, "request")), "
      + counted(failures, "failure") + (fault.map { ": " + $0.advice(at: now) } ?? "")
  }
}

extension SourceFault {
  /// The code is that of `candled_request_faults_total` and `candled_answers_total`.
  fileprivate func pairs(at now: Timestamp) -> Pairs {
    [
      ("code", .text(code)),
      ("host", .text(host)),
      ("attempts", .count(attempts)),
      ("since", .moment(since)),
      ("sentence", .text(advice(at: now))),
    ]
  }
}

extension ReloadOutcome {
  fileprivate var pairs: Pairs {
    [
      ("at", .moment(at)),
      ("is_accepted", .flag(isAccepted)),
      ("problem", .text(problem)),
      ("accepted", .count(accepted)),
      ("refused", .count(refused)),
      ("needs_restart", .texts(needsRestart)),
    ]
  }

  fileprivate var words: String {
    (problem.map { "refused: \($0)" } ?? "accepted") + " at \(at)"
      + (needsRestart.sentence.map { "; after a restart: \($0)" } ?? "")
  }
}

extension [String] {
  /// nil where there are none.
  fileprivate var sentence: String? { isEmpty ? nil : joined(separator: ", ") }
}

private func age(_ seconds: Int64) -> String {
  let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60)
  if days > 0 { return "\(days) d \(hours) h" }
  if hours > 0 { return "\(hours) h \(minutes) min" }
  return minutes > 0 ? "\(minutes) min" : "\(seconds) s"
}
