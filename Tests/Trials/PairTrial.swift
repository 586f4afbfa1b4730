import Commits
import ExchangeSimulator
import Foundation
import Glibc
import Journal
import Ledgers
import Market
import Store
import TestSupport

/// Two daemons on one database. The one that leads is killed, or stopped past its lease and let go
/// on, again and again; the other takes over each time. Afterwards the table must be the ledger of
/// what the committed parts of the two journals hold, and every commit of a single leader.
///
/// Leases are real time, so the market's clock is scaled, not stepped: silence is what it would be.
package struct PairTrial {
  package var binary: String
  package var kills: Int
  package var pauses: Int
  package var instruments: Int
  package var seed: UInt64
  /// Simulated seconds per real second.
  package var speed = 20
  /// Second of the day at which it begins.
  package var start = TrialDay.start

  static let leaseSeconds = 3
  /// For how long a leader is left alone, ms.
  private static let leadMilliseconds = 200...1_200
  private static let waitSecondsMax = 60

  package init(binary: String, kills: Int, pauses: Int, instruments: Int, seed: UInt64) {
    self.binary = binary
    self.kills = kills
    self.pauses = pauses
    self.instruments = instruments
    self.seed = seed
  }

  package func run() throws -> ChaosVerdict {
    let world = try TrialDay("pair", seed: seed, instruments: instruments)
    defer { world.end() }
    var pair = try Pair(world, self)
    try pair.begin()
    var random = SplitMix(seed: seed)
    let blows =
      Array(repeating: Pair.Interruption.kill, count: kills)
      + Array(repeating: Pair.Interruption.pause, count: pauses)
    for interruption in blows.shuffled(using: &random) {
      let alone = UInt32.random(
        in: UInt32(Self.leadMilliseconds.lowerBound)...UInt32(Self.leadMilliseconds.upperBound),
        using: &random)
      usleep(alone * 1_000)
      try pair.strike(interruption)
    }
    try pair.finish()
    var verdict = try pair.verify()
    verdict.figures.insert(pair.figures, at: 0)
    verdict.complaints += pair.complaints
    return verdict
  }

  static func deadline() -> Date { Date().addingTimeInterval(TimeInterval(waitSecondsMax)) }
}

/// The two, and what is known of them from the database.
struct Pair {
  enum Interruption { case kill, pause }

  private let world: TrialDay
  private let plan: PairTrial
  private let daemons: [DaemonProcess]
  private var settings: [DaemonSettings]
  private let startedAt = Date()
  private let leases: StoredLeases
  /// Real milliseconds until the term changed, and until the new leader committed.
  private var takeovers: [Int] = []
  private var silences: [Int] = []
  private(set) var complaints: [String] = []

  private static let names = ["first", "second"]
  private static let endSecondsMax = 10
  private static let replaySecondsMax = 300

  init(_ world: TrialDay, _ plan: PairTrial) throws {
    self.world = world
    self.plan = plan
    leases = StoredLeases(url: world.url)
    settings = try Self.names.map { name in
      var settings = try world.settings(start: plan.start, daemon: name)
      settings["store.lease"] = "\"\(PairTrial.leaseSeconds)s\""
      settings["log.level"] = "\"info\""
      settings.scale(by: plan.speed)
      return settings
    }
    daemons = try zip(settings, Self.names).map { settings, name in
      try world.daemon(settings, binary: plan.binary, named: name)
    }
  }

  /// The market's time now.
  private var now: Timestamp {
    let passed = Int(Date().timeIntervalSince(startedAt) * Double(plan.speed))
    return world.moment(min(plan.start + passed, TrialDay.stop - 1))
  }

  /// Its clock begins where the market stands.
  private mutating func launch(_ place: Int) throws {
    settings[place]["clock.start"] = "\"\(now)\""
    try settings[place].text.write(
      toFile: daemons[place].configuration, atomically: true, encoding: .utf8)
    try daemons[place].start()
  }

  mutating func begin() throws {
    try launch(0)
    try wait("the first daemon leads") { try leases.commits(of: leases.now().term) > 0 }
    try launch(1)
    try waitForBoth()
  }

  private func waitForBoth() throws {
    try wait("both daemons ask for the lease") { try leases.askers() == 2 }
  }

  private func wait(_ what: String, until isSo: () throws -> Bool) throws {
    let deadline = PairTrial.deadline()
    while try !isSo() {
      guard Date() < deadline else {
        let tails = daemons.map(\.logTail).joined(separator: "\n")
        throw TrialFailure("not after \(Int(deadline.timeIntervalSinceNow)) s: \(what)\n\(tails)")
      }
      usleep(5_000)
    }
  }

  /// Takes the leader away, and waits for the other.
  mutating func strike(_ interruption: Interruption) throws {
    let before = try leases.now()
    try wait("the leader has committed") { try leases.commits(of: before.term) > 0 }
    guard let place = try leader(before.holder) else {
      throw TrialFailure("nobody's journal is \(before.holder)")
    }
    let began = Date()
    switch interruption {
    case .kill: daemons[place].kill()
    case .pause: daemons[place].signal(SIGSTOP)
    }
    try wait("a takeover") { try leases.now().term > before.term }
    let after = try leases.now()
    takeovers.append(milliseconds(since: began))
    if after.holder == before.holder { complaints.append("term \(after.term): the same leader") }
    try wait("the new leader commits") { try leases.commits(of: after.term) > 0 }
    silences.append(milliseconds(since: began))
    switch interruption {
    case .kill: try launch(place)
    case .pause:
      daemons[place].signal(SIGCONT)
      // The new term is also what its own next commit finds.
      usleep(300_000)
      if !daemons[place].isRunning { complaints.append("a stopped leader did not live on") }
    }
    try waitForBoth()
  }

  private func milliseconds(since date: Date) -> Int {
    Int(Date().timeIntervalSince(date) * 1_000)
  }

  private func leader(_ holder: String) throws -> Int? {
    try daemons.indices.first { try identity($0) == holder }
  }

  private func identity(_ place: Int) throws -> String? {
    try JournalIdentity.name(in: daemons[place].folder + "/journal")
  }

  /// Stops both, the standby first, and lets one of them see the day to its end.
  mutating func finish() throws {
    let lease = try leases.now()
    let leading = try leader(lease.holder) ?? 0
    for place in [1 - leading, leading] {
      daemons[place].signal(SIGTERM)
      let status = daemons[place].end(secondsMax: Self.endSecondsMax)
      if status != 0 {
        complaints.append("\(Self.names[place]) ended with \(status.map(String.init) ?? "nothing")")
        daemons[place].kill()
      }
    }
    if try !leases.isFree() { complaints.append("the lease was not given up on a clean drain") }
    let last = 1 - leading
    settings[last]["clock.mode"] = "\"stepped\""
    try launch(last)
    try daemons[last].finish(secondsMax: 600)
  }

  // MARK: - Judgement

  func verify() throws -> ChaosVerdict {
    var committed = DayRecorder.AskedMoments()
    var abandoned = 0
    for place in daemons.indices {
      guard let name = try identity(place) else { continue }
      let parts = try leases.committedParts(of: name)
      guard let reader = try JournalReader.whole(daemons[place].folder + "/journal") else {
        continue
      }
      while let (position, entry) = try reader.nextOverSkips() {
        guard entry.key.hasPrefix("quotes") else { continue }
        guard parts.contains(where: { $0.contains(position.sequence) }) else {
          abandoned += 1
          continue
        }
        let moment = Timestamp(microseconds: entry.requestedAt.microseconds / 1_000 * 1_000)
        committed.booked[moment, default: 0] += 1
      }
    }
    let lost = world.exchange.withRecorder { $0.withdrawResponses(except: committed) } ?? 0
    var verdict = try world.verify()
    let answers = committed.booked.values.reduce(0, +)
    verdict.figures.append(
      "\(answers) answers committed, \(lost) not; \(abandoned) journaled in vain")
    verdict.complaints += try leases.complaints()
    let replay = try replayed()
    verdict.figures.append("both journals replayed: \(replay.output)")
    if replay.status != 0 {
      verdict.complaints.append("the two journals do not give the tables: \(replay.status)")
    }
    if try leases.terms() < plan.kills + plan.pauses {
      verdict.complaints.append("too few terms: nothing was proven")
    }
    return verdict
  }

  /// What `candled replay` says of the two journals and the tables.
  private func replayed() throws -> (status: Int32, output: String) {
    let journals = daemons.map { $0.folder + "/journal" }
    let replay = try DaemonProcess(
      binary: plan.binary, folder: world.folder + "/replay", settings: settings[0],
      arguments: ["replay"] + journals + ["--verify"])
    try replay.start()
    let status = replay.end(secondsMax: Self.replaySecondsMax)
    replay.kill()
    return (status ?? -1, replay.logTail)
  }

  var figures: String {
    func text(_ values: [Int]) -> String {
      let sorted = values.sorted()
      guard let last = sorted.last else { return "none" }
      let lease = PairTrial.leaseSeconds * 1_000
      return "p50 \(sorted[sorted.count / 2]) ms, max \(last) ms = "
        + "\((last * 100 + lease / 2) / lease) % of a lease"
    }
    return "\(plan.kills) kills, \(plan.pauses) pauses, lease \(PairTrial.leaseSeconds) s, "
      + "\(plan.speed)×: lead taken after \(text(takeovers)); committed again after "
      + text(silences)
  }
}
