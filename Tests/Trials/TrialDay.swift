import Commits
import EmbeddedPostgres
import ExchangeSimulator
import Feeds
import Foundation
import Journal
import Ledgers
import Market
import Store
import TestExchange
import TestSupport

/// What the trials of `script/chaos` share: a simulated day with its ledger, a database, daemons
/// full of secrets that log all they can, and the judgement at the end.
package final class TrialDay {
  package let folder: String
  package let day: TradingDay
  package let symbols: [Symbol]
  package let exchange: ExchangeServer
  /// nil where the daemon keeps a private one.
  package let cluster: PrivateCluster?
  private let listener: NotificationListener?
  private let systemdListener: SystemdListener
  private let scraper: AdminScraper
  private var daemons: [DaemonProcess] = []
  /// Of what else was asked, to be searched as all is.
  var answers: [Data] = []

  /// From before the opening auction to after the day's certificates.
  package static let start = 9 * 3600 + 24 * 60
  package static let stop = 15 * 3600 + 37 * 60

  /// At most one answer in so many may come too late.
  private static let lateEvery = 10

  /// Roughly how often the market is asked about from a second of the day to the close.
  static func sweeps(from second: Int) -> Int {
    max(11 * 3600 + 30 * 60 - second, 0) / 3 + (15 * 3600 - max(second, 13 * 3600)) / 3
  }

  package init(
    _ name: String, seed: UInt64, instruments: Int, hasCluster: Bool = true, days: Int = 1,
    disk: SmallDisk? = nil
  ) throws {
    folder = try Leftovers.folder(name)
    systemdListener = try SystemdListener()
    day = TradingDay(daysSince1970: 20_640)  // 2026-07-06
    let mairui = MairuiOptions(licences: [Canaries.licence: .valid(requestsPerDay: 50)])
    let alpaca = AlpacaOptions(keys: [Canaries.keyID: Canaries.keySecret])
    let market = SimulatedMarket(seed: seed, day: day, instruments: instruments)
    symbols = market.symbols
    if days == 1 {
      exchange = try ExchangeServer(
        market: market, recorder: DayRecorder(market), mairui: mairui, alpaca: alpaca)
    } else {
      let history = SimulatedHistory(
        seed: seed, instruments: instruments, through: day.advanced(by: days - 1), days: days)
      exchange = try ExchangeServer(
        history: history, from: history.days[0], recordsEveryDay: true, mairui: mairui,
        alpaca: alpaca)
    }
    if hasCluster {
      let cluster = try disk.map { try PrivateCluster.own(on: $0) } ?? PrivateCluster.own()
      let url = cluster.server.ownerConnectionString
      try Schema.apply(url: url, sources: SourceRegistry.rows)
      self.cluster = cluster
      listener = NotificationListener(url: url)
    } else {
      (cluster, listener) = (nil, nil)
    }
    // Last: its port is free for as long as nobody binds another.
    scraper = try AdminScraper()
  }

  deinit { end() }

  /// Ends what is still running, and removes the folder.
  package func end() {
    for daemon in daemons { daemon.kill() }
    listener?.stop()
    systemdListener.stop()
    scraper.stop()
    exchange.stop()
    Leftovers.remove(folder)
  }

  /// Of the cluster's database, as superuser, over its Unix socket.
  package var url: String {
    cluster?.server.ownerConnectionString ?? embeddedServer.ownerConnectionString
  }

  /// The server of a daemon without `store.url`.
  package var embeddedServer: EmbeddedServer {
    EmbeddedServer(directory: folder + "/daemon/postgres")
  }

  package func moment(_ secondOfDay: Int) -> Timestamp {
    Timestamp(day: day, secondOfDay: secondOfDay)
  }

  /// Settings of a daemon that lives through this day, secrets and all.
  /// - Parameter proxy: what it reaches the database through.
  package func settings(
    start: Int = TrialDay.start, stop: Int = TrialDay.stop, proxy: DatabaseProxy? = nil,
    daemon name: String = "daemon"
  ) throws -> DaemonSettings {
    let folder = "\(self.folder)/\(name)"
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o711])
    var settings = DaemonSettings(
      folder: folder, store: storeURL(through: proxy), exchange: exchange, symbols: symbols,
      start: moment(start), stop: moment(stop))
    settings["log.level"] = "\"trace\""
    if name == "daemon" { settings["admin.listen"] = "\"127.0.0.1:\(scraper.port)\"" }
    settings["mairui.licence_file"] = try secretFile("licences", Canaries.licence)
    settings["alpaca.key_file"] = try secretFile(
      "alpaca.key", "\(Canaries.keyID) \(Canaries.keySecret)")
    settings["alpaca.symbols"] = "[\"AAPL\"]"
    return settings
  }

  func storeURL(
    through proxy: DatabaseProxy? = nil, as role: String = EmbeddedServer.userName
  ) -> String? {
    guard let cluster else { return nil }
    let user = "\(role):\(Canaries.percentEncoded(Canaries.password))"
    let database = EmbeddedServer.databaseName
    if let proxy {
      return "postgresql://\(user)@127.0.0.1:\(proxy.port)/\(database)"
        + "?sslmode=disable&gssencmode=disable"
    }
    let host = Canaries.percentEncoded(cluster.server.socketDirectory)
    return "postgresql://\(user)@/\(database)?host=\(host)&port=5432"
  }

  /// - Returns: its path, as TOML has it.
  private func secretFile(_ name: String, _ text: String) throws -> String {
    let path = "\(folder)/\(name)"
    _ = FileManager.default.createFile(
      atPath: path, contents: Data((text + "\n").utf8), attributes: [.posixPermissions: 0o600])
    return "\"\(path)\""
  }

  package func daemon(
    _ settings: DaemonSettings, binary: String, named name: String = "daemon"
  ) throws -> DaemonProcess {
    let daemon = try DaemonProcess(
      binary: binary, folder: "\(folder)/\(name)", settings: settings)
    daemon.environment["NOTIFY_SOCKET"] = systemdListener.name
    daemons.append(daemon)
    return daemon
  }

  /// An answer that was served to a daemon and is not in its journal is nobody's: the daemon was
  /// killed in between, or gave the answer up when told to stop. It is the ledger's no more.
  /// - Returns: how many they were.
  private func withdrawUnjournaled() throws -> Int {
    var moments = DayRecorder.AskedMoments()
    var refreshed = DayRecorder.AskedMoments()
    let probes = "quotes/\(QuotesQuery.probeGroup)"
    let journals = ["\(folder)/daemon"] + daemons.map(\.folder)
    for folder in Set(journals) {
      guard let reader = try JournalReader.whole(folder + "/journal") else { continue }
      while let (_, entry) = try reader.next() {
        let milliseconds = entry.requestedAt.microseconds / 1000
        let moment = Timestamp(microseconds: milliseconds * 1000)
        guard entry.key.hasPrefix("quotes") else { continue }
        switch (entry.source == .live, entry.key == probes) {
        case (true, true): moments.probed[moment, default: 0] += 1
        case (true, false): moments.booked[moment, default: 0] += 1
        case (false, true): refreshed.probed[moment, default: 0] += 1
        case (false, false): refreshed.booked[moment, default: 0] += 1
        }
      }
    }
    return exchange.withRecorder {
      $0.withdrawResponses(except: moments, refreshed: refreshed)
    } ?? 0
  }

  /// Answers with quotes in a daemon's journal: what it got round to asking.
  func sweepsJournaled(by daemon: DaemonProcess) throws -> Int {
    guard let reader = try JournalReader.whole(daemon.folder + "/journal") else { return 0 }
    var count = 0
    while let (_, entry) = try reader.next() {
      if entry.key == "quotes/0", entry.requestedAt.shanghaiDay == day { count += 1 }
    }
    return count
  }

  /// The day against the ledger, and everything against the canaries.
  /// - Parameters:
  ///   - isExact: the table must be the ledger; not where K-lines revised it.
  ///   - deaths: how often the daemon ended, each with an answer that may have been lost; nil where
  ///     any number may have been.
  ///   - isLate: answers may also come after their deadline, on a machine that is too busy for a
  ///     clock as fast as this.
  package func verify(
    isExact: Bool = true, deaths: Int? = 0, isLate: Bool = false
  ) throws -> ChaosVerdict {
    let lost = deaths != 0 || isLate ? try withdrawUnjournaled() : 0
    let lateMax = isLate ? exchange.requestsAnswered / Self.lateEvery + 5 : 0
    let ledger = isExact ? exchange.withRecorder { $0.observableLedger() } : nil
    let finding = try DayVerifier(url: url).verify(day, by: ledger)
    let sweep = try sweepForCanaries()
    var verdict = ChaosVerdict(figures: [finding.line], complaints: finding.complaints)
    verdict.figures.append(
      "canaries in \(sweep.places) places, \(sweep.bytes / 1024) KiB: \(sweep.complaints.count)")
    verdict.complaints += sweep.complaints
    if lost > 0 { verdict.figures.append("\(lost) answers were served and never journaled") }
    if let deaths, lost > deaths + lateMax {
      verdict.complaints.append("\(lost) answers are not in the journal")
    }
    return verdict
  }

  /// Those that talk while a daemon lives and said nothing to be searched.
  var silentListeners: [String] {
    var silent: [String] = []
    if listener?.payloads.isEmpty != false { silent.append("notifications") }
    if systemdListener.messages.isEmpty { silent.append("what systemd is told") }
    if scraper.responses.isEmpty { silent.append("the admin endpoint") }
    return silent
  }

  private func sweepForCanaries() throws -> CanarySweep {
    var sweep = CanarySweep()
    for answer in answers { sweep.look(at: "an answer", answer) }
    let payloads = listener?.payloads ?? []
    sweep.look(at: "notifications", Data(payloads.joined(separator: "\n").utf8))
    sweep.look(
      at: "what systemd was told", Data(systemdListener.messages.joined(separator: "\n").utf8))
    for response in scraper.responses { sweep.look(at: "the admin endpoint", response) }
    for daemon in daemons {
      sweep.look(atFile: daemon.log)
      sweep.look(at: "command line and environment", daemon.captured)
      try sweep.look(atJournal: daemon.folder + "/journal")
      sweep.look(atFile: daemon.folder + "/postgres/server.log")
    }
    if let cluster { sweep.look(atFile: cluster.server.directory + "/server.log") }
    try sweep.look(atDatabase: url)
    if daemons.contains(where: { $0.captured.isEmpty }) {
      sweep.complaints.append("nobody looked at a daemon's command line")
    }
    return sweep
  }
}
