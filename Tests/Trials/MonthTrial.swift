import Commits
import EmbeddedPostgres
import ExchangeSimulator
import Feeds
import Foundation
import Ledgers
import Market
import Store
import TestExchange
import TestSupport

/// A month of trading days with outages, lived through by the built daemon and healed by its own
/// repairs: afterwards nothing may be missing that could be had, and nothing may have been lost.
package struct MonthTrial {
  package var binary: String
  package var days: Int
  package var instruments: Int
  package var seed: UInt64
  /// Of 1,000 instruments so many have false rows on a day.
  package var deceivedPerMille: Int64 = 50

  /// Four polls a minute would leave gaps between two publications; five do not.
  private static let cadenceSeconds = 12
  private static let lastDay = TradingDay(daysSince1970: 20_665)  // 2026-07-31

  package init(binary: String, days: Int, instruments: Int, seed: UInt64) {
    self.binary = binary
    self.days = days
    self.instruments = instruments
    self.seed = seed
  }

  package struct Verdict: Sendable {
    package var candles = 0
    package var revised = 0
    package var filled = 0
    package var gaps = 0
    package var closed = 0
    package var permanent = 0
    /// Open at the end, with an occasion to be looked for still ahead.
    package var waiting = 0
    package var certificates = 0
    /// Certificates whose day's end nobody saw, and that got their totals from the bars.
    package var totalsFromBars = 0
    /// Days of an instrument that were held against the truth, minute by minute.
    package var proven = 0
    package var falseRows: [FalseRow] = []
    /// Events, and minutes they revised.
    package var corrections = 0
    package var corrected = 0
    /// Gaps that a correction took back.
    package var superseded = 0
    /// Days of an instrument with false rows that nobody can know, and those of them that were held
    /// against the truth all the same.
    package var deceived = 0
    package var undeceived = 0
    package var complaints: [String] = []
  }

  package func run() throws -> Verdict {
    let folder = try Leftovers.folder("month")
    defer { Leftovers.remove(folder) }
    let cluster = try PrivateCluster.own()
    let url = cluster.server.ownerConnectionString
    try Schema.apply(url: url, sources: SourceRegistry.rows)
    // A daemon that starts sees yesterday's totals first, so there must be a yesterday.
    var history = SimulatedHistory(
      seed: seed, instruments: instruments, through: MonthTrial.lastDay, days: days + 1)
    let plan = MonthPlan(
      days: Array(history.days.dropFirst()), symbols: history.symbols, seed: seed)
    var falseRows = FalseRowPlan(seed: seed)
    falseRows.instrumentsPerMille = deceivedPerMille
    let exchange = try ExchangeServer(
      history: history, from: plan.days[0], faults: plan.faults, recordsEveryDay: true,
      falseRows: falseRows)
    defer { exchange.stop() }
    var warnings = 0
    for (start, stop) in plan.shifts where start < stop {
      let daemon = try DaemonProcess(
        binary: binary, folder: folder,
        store: cluster.server.url(database: EmbeddedServer.databaseName), exchange: exchange,
        symbols: history.symbols, start: start, stop: stop,
        cadenceSeconds: MonthTrial.cadenceSeconds, repairsPerNight: 6_000)
      try daemon.start()
      try daemon.finish(secondsMax: 1_800)
      warnings = try daemon.warnings(of: .corrected)
    }
    var verifier = try MonthVerifier(plan: plan, stored: StoredMonth(url: url))
    for day in history.days {
      let seen = exchange.withRecorder(of: day) { $0.observableLedger() }
      try verifier.compare(day, seen: seen, truth: history.trueLedger(on: day))
    }
    return try verifier.verdict(warnings: warnings)
  }
}

extension MonthTrial.Verdict {
  /// What false rows did and what became of it, for people to see.
  package var remarks: String {
    let fates = falseRows.map(\.fate)
    return "\(falseRows.count) false rows: \(fates.count { $0 == .refused }) never booked, "
      + "\(fates.count { !$0.isHidden && $0 != .refused }) to correct, "
      + "\(fates.count { $0.isHidden }) not to be known, on \(deceived) instrument days, of which "
      + "\(undeceived) are proven; \(corrections) corrections, \(corrected) minutes revised, "
      + "\(superseded) gaps taken back"
  }
}

extension DaemonProcess {
  /// How often its log, of all its runs, tells a dispute of that kind.
  fileprivate func warnings(of kind: DisputeEvent.Kind) throws -> Int {
    let text = try String(contentsOfFile: log, encoding: .utf8)
    return text.split(separator: "\n").count { $0.contains(kind.sentence) }
  }
}
