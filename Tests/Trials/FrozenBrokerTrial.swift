import AppStore
import Broker
import Foundation
import Glibc
import Market
import PaperTrading
import Platform
import Postgres
import TestSupport

/// The gateway that executes is stopped (SIGSTOP), again and again, at any moment of its work:
/// another executes within 15 s, and the first one commits nothing when it wakes.
package struct FrozenBrokerTrial {
  package var binary: String
  package var pauses: Int
  package var seed: UInt64

  private static let takeOverMillisecondsMax: Int64 = 15_000
  private static let wakeMillisecondsMax: Int64 = 15_000
  /// Of the stopped one; the others go on meanwhile.
  private static let restMicroseconds: UInt32 = 1_000_000
  private static let instruments = 12

  package init(binary: String, pauses: Int, seed: UInt64) {
    (self.binary, self.pauses, self.seed) = (binary, pauses, seed)
  }

  package func run(say: (String) -> Void = { _ in }) throws -> ChaosVerdict {
    let pair = try GatewayPair(
      "frozen", binary: binary, gateways: 2, instruments: Self.instruments, seed: seed,
      day: TrialDay.start..<TrialDay.stop)
    defer { pair.end() }
    try pair.open()
    let accounts = try (0...pauses).flatMap {
      try BrokerTrial.makeAccounts(1, of: "user \($0)", url: pair.world.url)
    }
    let depositor = Depositor(url: pair.world.url, accounts: accounts)
    try depositor.start()
    defer { depositor.stop() }
    var verdict = ChaosVerdict()
    var longest: Int64 = 0
    var random = SplitMix(seed: seed)
    try depositor.awaitAnswer(of: MonotonicClock.milliseconds(), within: 60_000)
    for number in 1...max(pauses, 1) {
      usleep(.random(in: 0...500_000, using: &random))
      let (took, end) = try pause(pair, depositor, into: &verdict)
      longest = max(longest, took)
      say("stopped \(number) ×: another executed after \(took) ms; woken: \(end)")
    }
    depositor.stop()
    try judge(pair, depositor, into: &verdict)
    verdict.figures.append(
      "\(pauses) × SIGSTOP: another executed after \(longest) ms at most; \(depositor.answered) "
        + "commands")
    return verdict
  }

  /// - Returns: after how many milliseconds another executed, and what the first one logged when it
  ///   woke.
  private func pause(
    _ pair: GatewayPair, _ depositor: Depositor, into verdict: inout ChaosVerdict
  ) throws -> (took: Int64, end: String) {
    let before = try leases(pair)
    guard let frozen = pair.gateways.first(where: { before.broker.hasSuffix(" \($0.pid)") }) else {
      throw TrialFailure("no gateway executes: \(before.broker)")
    }
    let fences = frozen.lines(with: Self.fenced).count
    frozen.signal(SIGSTOP)
    let stopped = MonotonicClock.milliseconds()
    defer { frozen.signal(SIGCONT) }
    do {
      try depositor.awaitAnswer(of: stopped, within: Self.takeOverMillisecondsMax)
    } catch let ended as DepositorEnded {
      throw ended
    } catch {
      verdict.complaints.append(
        "no gateway executed within \(Self.takeOverMillisecondsMax) ms of the stop")
    }
    let took = MonotonicClock.milliseconds() - stopped
    while try leases(pair).webhooks.hasSuffix(" \(frozen.pid)"),
      MonotonicClock.milliseconds() - stopped < Self.takeOverMillisecondsMax
    { usleep(20_000) }
    let during = try leases(pair)
    for holder in [during.broker, during.webhooks] where holder.hasSuffix(" \(frozen.pid)") {
      verdict.complaints.append("the stopped gateway has a lease still")
    }
    usleep(Self.restMicroseconds)
    frozen.signal(SIGCONT)
    let woken = MonotonicClock.milliseconds()
    while frozen.lines(with: Self.fenced).count == fences {
      guard MonotonicClock.milliseconds() - woken < Self.wakeMillisecondsMax else {
        verdict.complaints.append("the woken gateway was not fenced: \(frozen.logTail)")
        break
      }
      usleep(20_000)
    }
    let after = try leases(pair)
    if after.terms != during.terms {
      verdict.complaints.append("the woken gateway took a lease: \(during) became \(after)")
    }
    return (took, frozen.lines(with: Self.fenced).dropFirst(fences).last ?? "nothing")
  }

  /// What a broker logs that executes no more, whatever ended its term: the lease of another, or
  /// the server, which ends a session that is silent in a transaction.
  private static let fenced = "paper orders are not executed"

  private struct Leases: CustomStringConvertible {
    var broker = ""
    var webhooks = ""
    var terms: [String] = []
    var description: String { "\(broker), \(webhooks) (\(terms))" }
  }

  private func leases(_ pair: GatewayPair) throws -> Leases {
    let rows = try SQLProbe.run(
      "select holder, term from candled_app.gateway_lease order by role", url: pair.world.url)
    guard rows.count == 2 else { throw TrialFailure("there are \(rows.count) leases") }
    return Leases(
      broker: rows[0][0] ?? "", webhooks: rows[1][0] ?? "", terms: rows.map { $0[1] ?? "" })
  }

  private func judge(
    _ pair: GatewayPair, _ depositor: Depositor, into verdict: inout ChaosVerdict
  ) throws {
    let connection = try AppConnection(
      url: pair.world.url, application: "frozen broker trial", statementSeconds: 120)
    verdict.complaints += try LedgerReplay(connection).differences()
    let counts = try SQLProbe.run(
      """
      select
        (select count(*) from candled_app.command where outcome = 'done'),
        (select count(*) from candled_app.posting)
      """, url: pair.world.url)
    if counts.first?[0] != counts.first?[1] || counts.first?[0] != "\(depositor.answered)" {
      verdict.complaints.append("\(depositor.answered) answers, but \(counts)")
    }
  }
}

extension DaemonProcess {
  /// Of its log, those that have these words.
  fileprivate func lines(with words: String) -> [String] {
    let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").map(String.init).filter { $0.contains(words) }
  }
}

/// It can say nothing of gateways any more.
private struct DepositorEnded: Error {}

/// Pays in one yuan after the other, waiting for each: into an account of another user before the
/// bound of a day is reached.
private final class Depositor: Sendable {
  private struct State {
    var isStopped = false
    var isRunning = false
    var answered = 0
    /// When the newest that is answered was sent.
    var sentAt: Int64 = 0
  }

  private let url: String
  private let accounts: [Int64]
  private let state = Locked(State())

  private static let paymentsOfUserMax = 900
  private static let pauseMicroseconds: UInt32 = 20_000

  init(url: String, accounts: [Int64]) { (self.url, self.accounts) = (url, accounts) }

  var answered: Int { state.withLock { $0.answered } }

  func start() throws {
    state.withLock { $0.isRunning = true }
    try DetachedThread.start(name: "depositor") { [self] in
      try? run()
      state.withLock { $0.isRunning = false }
    }
  }

  /// Once all that was sent is answered.
  func stop() {
    state.withLock { $0.isStopped = true }
    while state.withLock({ $0.isRunning }) { usleep(10_000) }
  }

  private func run() throws {
    let commands = CommandTable(try AppConnection(url: url, application: "depositor"))
    try commands.listenForOutcomes()
    var number = 0
    while !state.withLock({ $0.isStopped }), number < accounts.count * Self.paymentsOfUserMax {
      let account = accounts[number / Self.paymentsOfUserMax]
      number += 1
      let sentAt = MonotonicClock.milliseconds()
      let sent = try commands.send([
        KeyedRequest(
          accountID: account, key: "deposit \(number)",
          request: .deposit(ExactDecimal(1), type: .bank, description: ""))
      ])
      guard case .command(let id, _)? = sent.first else { return }
      while try commands.wait(for: [id], milliseconds: 1_000).isEmpty {}
      state.withLock { ($0.answered, $0.sentAt) = ($0.answered + 1, sentAt) }
      usleep(Self.pauseMicroseconds)
    }
  }

  /// Blocks until one that was sent from then on, or waited then, is answered.
  func awaitAnswer(of moment: Int64, within milliseconds: Int64) throws {
    let answered = answered
    let deadline = MonotonicClock.milliseconds() + milliseconds
    while state.withLock({ $0.sentAt < moment && $0.answered < answered + 2 }) {
      guard state.withLock({ $0.isRunning }) else { throw DepositorEnded() }
      guard MonotonicClock.milliseconds() < deadline else { throw TrialFailure("no answer") }
      usleep(5_000)
    }
  }
}
