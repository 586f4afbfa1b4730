/// `candled database`: the private cluster and the major version of its PostgreSQL.

import ArgumentParser
import Commands
import DaemonCommands
import EmbeddedPostgres
import Feeds
import Ingest
import Market
import Operations
import Polling
import TerminalView

struct DatabaseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "database",
    abstract: "Show the private PostgreSQL, copy it, or bring it to another major version.",
    discussion: Help.discussion(
      """
      Without store.url candled runs a PostgreSQL of its own, made by the version that was \
      installed then. Each major version is maintained for five years. A server of store.url is \
      upgraded by its operator.
      """,
      examples: [
        "candled database status": "the version, its end, and what an upgrade would take",
        "candled database check": "whether it can be upgraded now",
        "candled database upgrade": "to the newest version that is installed",
        "candled database discard": "remove what the last upgrade replaced",
        "candled database backup": "copy it to store.backup_directory",
        "candled database drill": "restore the newest copy, and check it",
      ]),
    subcommands: [
      DatabaseStatus.self, DatabaseCheck.self, DatabaseUpgrade.self, DatabaseDiscard.self,
      DatabaseBackup.self, DatabaseDrill.self,
    ])

  struct DatabaseStatus: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "status",
      abstract: "Print the version of the private PostgreSQL, and what an upgrade would take.",
      discussion: Help.discussion(
        "Asks neither the server nor a source. Writes 64 MiB for a moment, to time a copy.",
        examples: ["candled database status --json | jq .maintained_until": "for a monitor"]))

    @OptionGroup var options: ConfigurationOptions

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
      let server = try options.privateServer()
      let members = try server.facts()
      try StandardOutput.write(
        json
          ? JSONText.object(members) + "\n"
          : ResultWriter.text(
            format: .table, columns: [ResultColumn("what"), ResultColumn("value")],
            rows: members.map { [.text($0.key), $0.value] }))
    }
  }

  struct DatabaseCheck: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "check",
      abstract: "Check whether the private PostgreSQL can be upgraded.",
      discussion: Help.discussion(
        """
        Beside a running server, at any time: nothing is changed. Exits 0 if an upgrade can be \
        made, 65 if it cannot, 69 if programs of a newer version are missing.
        """,
        examples: ["candled database check --to 17": "for one version"]))

    @OptionGroup var options: ConfigurationOptions
    @OptionGroup var target: UpgradeTarget

    func run() throws {
      try target.upgrade(of: options.privateServer()).check(to: target.to)
      StandardError.writeLine("it can be upgraded")
    }
  }

  struct DatabaseUpgrade: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "upgrade",
      abstract: "Bring the private PostgreSQL to another major version.",
      discussion: Help.discussion(
        """
        The daemon runs on: it records into its journal while there is no database, and stores \
        all of it afterwards. Readers have no database meanwhile. The data is copied, compared \
        and then replaced; what it was stays as data.old. If it is stopped or killed, the old \
        data is in its place and the next run goes on. Exits 75 while a market trades, or where \
        it would last beyond the next opening.
        """,
        examples: [
          "candled database upgrade": "to the newest version that is installed",
          "candled database upgrade --to 17 --mode clone": "without a copy, on XFS or Btrfs",
        ]))

    @OptionGroup var options: ConfigurationOptions
    @OptionGroup var target: UpgradeTarget

    @Flag(help: "Begin also while a market trades.")
    var now = false

    func run() throws {
      let settings = try options.load()
      let server = try options.privateServer()
      if !now, let seconds = settings.secondsToNextRequest {
        try server.expectTime(of: seconds)
      }
      let major = try target.upgrade(of: server).run(to: target.to)
      StandardError.writeLine(
        "the data is of PostgreSQL \(major) now; what it was is in data.old until "
          + "`candled database discard`")
    }
  }

  struct DatabaseDiscard: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "discard",
      abstract: "Remove what the last upgrade replaced.",
      discussion: Help.discussion(
        """
        Refused (exit 65) until \(ClusterUpgrade.certifiedDaysMin) days are certified in the \
        upgraded database. Needs a running server.
        """,
        examples: ["candled database discard": "a week after an upgrade"]))

    @OptionGroup var options: ConfigurationOptions

    func run() throws {
      try ClusterUpgrade(of: options.privateServer()) { _ in }.discard()
      StandardError.writeLine("data.old is removed")
    }
  }
}

/// The options of what upgrades.
struct UpgradeTarget: ParsableArguments {
  @Option(help: "The major version to come to. (default: the newest that is installed)")
  var to: Int?

  @Option(help: "copy: twice the space; clone: the same blocks, on XFS and Btrfs.")
  var mode = ClusterUpgrade.Mode.copy

  func upgrade(of server: EmbeddedServer) -> ClusterUpgrade {
    ClusterUpgrade(of: server, mode: mode) { StandardError.writeLine($0) }
  }
}

extension ClusterUpgrade.Mode: ExpressibleByArgument {}

extension ConfigurationOptions {
  /// The private cluster, as the owner of its folder.
  /// - Throws: `configuration` where another server is configured.
  func privateServer() throws -> EmbeddedServer {
    let settings = try load()
    guard settings[StoreSettings.url] == nil else {
      throw CommandFailure(
        status: .configuration,
        sentence: "store.url is set: that server is upgraded by its operator")
    }
    try FolderOwner.become(of: settings[StateSettings.directory])
    return settings.embeddedServer
  }
}

extension Settings {
  /// How long no live quotes are requested, by what is known without a database: on weekdays.
  fileprivate var secondsToNextRequest: Int64? {
    let now = EngineClock(self).now
    let cadence = Int(self[QuotesSettings.cadence].wholeMilliseconds) / 1_000
    return SourceRegistry.liveSeries.compactMap { series in
      let market = SourceRegistry.definition(of: series).market
      return PollSchedule(
        windows: PollWindow.windows(of: market, every: cadence), zone: market.zone,
        phaseMilliseconds: 0, spreadMilliseconds: 0, seed: 0,
        isTradingDay: { market.tradingDays == .everyDay || !$0.isWeekend }
      ).nextSlot(after: now)?.due
    }.min().map { $0.microseconds(since: now) / 1_000_000 }
  }
}

extension EmbeddedServer {
  fileprivate func facts() throws -> [(key: String, value: ResultCell)] {
    guard let major, let size = ClusterSize(of: self) else {
      throw CommandFailure(
        status: .unavailable,
        sentence: "no cluster in \(directory) (`candled run` makes it)")
    }
    let installed = ServerBinaries.installed().map { "\($0.major)" }
    let state = upgradeState
    let backup = BackupState(of: self)
    let drill = backup?.drill
    return [
      ("major", .integer(Int64(major))),
      ("maintained_until", .text("\(ServerRelease(major: major).lastRelease)")),
      ("installed", .list(installed)),
      ("is_installed", .boolean(hasBinaries)),
      ("install", hasBinaries ? .null : .text(installCommand)),
      ("is_running", .boolean(isRunning)),
      ("bytes", .integer(size.bytes)),
      ("free_bytes", .integer(size.freeBytes)),
      ("upgrade_needs_bytes", .integer(size.neededBytes)),
      ("upgrade_seconds", .integer(try size.copySeconds(of: self))),
      ("backup_at", backup?.baseAt.map { .text("\($0)") } ?? .null),
      ("unarchived_segments", backup.map { .integer(Int64($0.waitingSegments)) } ?? .null),
      ("drill_at", drill.map { .text("\($0.at)") } ?? .null),
      ("drill_passed", drill.map { .boolean($0.hasPassed) } ?? .null),
      ("drill", drill.map { .text($0.sentence) } ?? .null),
      ("upgrade", state.map { .text("\($0.from) to \($0.to): \($0.step.rawValue)") } ?? .null),
    ]
  }

  /// - Throws: `temporaryFailure` where an upgrade may last longer than so many seconds.
  fileprivate func expectTime(of seconds: Int64) throws {
    guard let size = ClusterSize(of: self) else { return }
    // Counting before and after, and statistics, read what a copy writes.
    let needed = 60 + 3 * (try size.copySeconds(of: self))
    guard needed > seconds else { return }
    throw CommandFailure(
      status: .temporaryFailure,
      sentence: "it may take \(needed) s, and a market is requested again in \(seconds) s: "
        + "run it after the close, or with --now")
  }
}
