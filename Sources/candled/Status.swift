/// `candled status`: what the daemon is doing, and how its database stands.

import Admin
import ArgumentParser
import Commands
import DaemonCommands
import Feeds
import Market
import Operations
import Postgres
import Reader
import TerminalView

struct Status: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show the state of the daemon and of the database.",
    discussion: Help.discussion(
      """
      From the daemon at admin.listen: its role, what will need a person within 400 days, its \
      sources and how late they are, the journal and the last reload, or one line if it is not \
      reachable. From the database: the stored journal position, the last commit, the row counts \
      of the newest trading day and the certificates. Exits 69 if there is no database, 1 if \
      something needs a person within 30 days.
      """,
      examples: [
        "candled status": "as a table",
        "candled status --json | jq .daemon.role": "the role of the daemon",
        "candled status --json | jq .daemon.due": "what will need a person, and when",
        "candled status --json | jq .last_commit_age_seconds": "for a monitor",
      ]))

  @OptionGroup var options: ConfigurationOptions

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() async throws {
    let settings = try options.load()
    let demo = KeptDemo(settings[StateSettings.directory])
    let isDemo = settings[StoreSettings.url] == nil && demo.isThere
    let daemon =
      await isDemo
      ? DaemonReply(silence: "none: \(demo.path) is the folder of a demo")
      : DaemonReply(of: settings[AdminSettings.listen], isJSON: json)
    do {
      let status = try StoreReader(url: settings.storeAddress()).status()
      try StandardOutput.write(json ? status.json(daemon) + "\n" : daemon.text + status.table)
    } catch {
      // What it says is worth having when the database is away.
      if daemon.isThere {
        try StandardOutput.write(json ? "{\"daemon\":\(daemon.json)}\n" : daemon.text)
      }
      throw error
    }
    guard daemon.dueSoon == 0 else {
      throw CommandFailure(
        status: .due,
        sentence: "to do within \(DueItem.soonDaysMax) days: \(counted(daemon.dueSoon, "thing"))"
          + ", see due")
    }
  }
}

extension StoreStatus {
  fileprivate func json(_ daemon: DaemonReply) -> String {
    let replicas = Self.list(place.replicas.map(\.members))
    let lists = ",\"replicas\":\(replicas),\"health\":\(Self.list(health.map(\.members)))"
    return JSONText.object(members).dropLast() + lists + ",\"daemon\":" + daemon.json + "}"
  }

  private static func list(_ objects: [[(key: String, value: ResultCell)]]) -> String {
    "[" + objects.map { JSONText.object($0) }.joined(separator: ",") + "]"
  }

  fileprivate var table: String {
    let rows = members.map { [ResultCell.text($0.key), $0.value] }
    let health = health.map { row in
      [ResultCell.text("\(row.source.name) \(row.endpoint)"), .text(row.sentence)]
    }
    let replicas = place.replicas.map { replica in
      [ResultCell.text("replica \(replica.name)"), .text(replica.sentence)]
    }
    return ResultWriter.text(
      format: .table, columns: [ResultColumn("what"), ResultColumn("value")],
      rows: rows + replicas + health)
  }

  private var members: [(key: String, value: ResultCell)] {
    [
      ("position", .integer(feed.position.sequence)), ("known_at", .moment(feed.knownAt)),
      ("epoch", .integer(feed.epoch)), ("last_seq", .integer(feed.lastSeq)),
      ("last_commit_at", .moment(feed.lastCommitAt)),
      ("last_commit_age_seconds", .optional(feed.lastCommitAge)),
      ("instruments", .integer(instruments)), ("trading_day", .day(day.tradingDay)),
      ("quotes", .integer(day.quotes)), ("candles", .integer(day.candles)),
      ("gaps", .integer(day.gaps)),
      ("rejections", .integer(day.rejections)), ("audited_day", .day(certified.day)),
      ("certificates", .integer(certified.certificates)),
      ("residuals", .integer(certified.residuals)),
      ("database_bytes", .integer(databaseBytes)),
      ("notification_queue", .decimal(notificationQueue)),
      ("leader", .optional(leader?.host)), ("leader_journal", .optional(leader?.holder)),
      ("leader_state", .optional(leader?.state)),
      ("term", leader.map { .integer($0.term) } ?? .null),
      ("term_began", .moment(leader?.acquiredAt)),
      ("database_role", .text(place.role)), ("replica_lag_seconds", .optional(place.lag)),
    ]
  }
}

extension ReplicaLink {
  fileprivate var members: [(key: String, value: ResultCell)] {
    [
      ("replica", .text(name)), ("is_connected", .boolean(isConnected)),
      ("lag_bytes", .optional(lagBytes)),
      ("lag_milliseconds", .optional(lagMicroseconds.map { $0 / 1_000 })),
      ("slot_bytes", .optional(keptBytes)),
      ("slot_limit_bytes", .optional(keptBytes == nil ? nil : limitBytes)),
      ("alarm", .optional(alarm?.rawValue)),
    ]
  }
}

extension SourceHealthRow {
  fileprivate var members: [(key: String, value: ResultCell)] {
    [
      ("source", .text(source.name)), ("endpoint", .text(endpoint)),
      ("state", .text(state.rawValue)), ("since", .moment(since)),
      ("last_success_at", .moment(lastSuccessAt)), ("requests", .integer(requests)),
      ("failures", .integer(failures)), ("detail", .text(detail)),
    ]
  }

  fileprivate var sentence: String {
    "\(state.rawValue) since \(since), \(counted(requests, "request")), "
      + counted(failures, "failure")
      + (detail.isEmpty ? "" : ": \(detail)")
  }
}

/// Cells of what may be absent.
extension ResultCell {
  static func moment(_ at: Timestamp?) -> ResultCell { at.map { .text("\($0)") } ?? .null }
  static func day(_ day: TradingDay?) -> ResultCell { day.map { .text("\($0)") } ?? .null }
  static func optional(_ value: ExactDecimal?) -> ResultCell { value.map { .decimal($0) } ?? .null }
  static func optional(_ value: Int64?) -> ResultCell { value.map { .integer($0) } ?? .null }
  static func optional(_ text: String?) -> ResultCell { text.map { .text($0) } ?? .null }
}
