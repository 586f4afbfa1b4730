import Market
import Postgres

/// Puts the candles of closed months in key order, so that the minutes of one instrument lie beside
/// each other: a month after the other, step by step, on a connection of its own. How is written in
/// schema.sql; this is when.
///
/// Nobody waits for it for more than a third of a second: it gives up its place in a queue for a
/// lock, lets the others pass and tries again. A month's new rows are hidden from transactions that
/// began before them, so it takes the old one's place only when no such transaction runs any more.
/// It may be killed at any moment: the next run goes on with the next step.
package actor Reclustering {
  private let executor = ThreadExecutor(name: "recluster")
  nonisolated package var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  private let url: String
  private let folder: String?
  private let gate: ConnectGate?
  private let patience: Patience

  struct Patience: Sendable {
    /// After a lock that was not given; twice as long after each further one.
    var pauseMilliseconds: UInt64 = 1_000
    /// With the pauses eight minutes.
    var lockTriesMax = 9
    /// How long earlier transactions are waited for; a dump takes hours.
    var readersSecondsMax: Int64 = 600
    var lookMilliseconds: UInt64 = 200
  }

  package enum Event: Sendable, Equatable {
    /// So many closed months are not in order.
    case left(Int)
    case began(String, bytes: Int64)
    case moved(Int64)
    case ended(String, candles: Int64, seconds: Int64)
    /// It went no further, for the reason given; it may go on later.
    case stopped(String)
  }

  /// Nothing is opened yet.
  /// - Parameters:
  ///   - folder: one on the disk of the database, to see how much of it is free; nil asks the
  ///     server for its own, which it names to some only.
  ///   - gate: what a daemon's connections pass.
  package init(url: String, folder: String?, gate: ConnectGate? = nil) {
    self.init(url: url, folder: folder, gate: gate, patience: Patience())
  }

  init(url: String, folder: String?, gate: ConnectGate? = nil, patience: Patience) {
    self.url = url
    self.folder = folder
    self.gate = gate
    self.patience = patience
  }

  /// Goes on until every month is in order, or one cannot be now.
  /// - Parameters:
  ///   - day: months that ended by then (UTC) are closed.
  ///   - mayGoOn: asked before each step; a step takes seconds, an index of a large month a minute.
  /// - Returns: false if it reported why it stopped.
  /// - Throws: `connectionLost`, `schemaMismatch`, `operatorNeeded`, `transient`: try later.
  @discardableResult
  package func run(
    closedBy day: TradingDay, mayGoOn: @Sendable () async -> Bool,
    report: @Sendable (Event) async -> Void
  ) async throws(StoreError) -> Bool {
    let session = try ReclusteringSession(url: url, gate: gate)
    guard try session.isAlone() else {
      await report(.stopped("another process puts months of candles in key order"))
      return false
    }
    while true {
      let months = try session.months(closedBy: day)
      await report(.left(months.count))
      guard let month = months.first, await mayGoOn() else { return true }
      let space = try session.space(for: month, folder: folder)
      if let refusal = space.refusal(of: month) {
        await report(.stopped(refusal))
        return false
      }
      await report(.began(month.name, bytes: space.monthBytes))
      let start = ContinuousClock.now
      switch try await order(month, session: session, mayGoOn: mayGoOn, report: report) {
      case .ordered:
        let candles = try session.candles(in: month)
        let seconds = (ContinuousClock.now - start).components.seconds
        await report(.ended(month.name, candles: candles, seconds: seconds))
      case .interrupted: return true
      case .postponed(let reason):
        await report(.stopped("candles of \(month.name) are not in key order yet: \(reason)"))
        return false
      }
    }
  }

  private enum Outcome {
    case ordered
    case interrupted
    case postponed(String)
  }

  private func order(
    _ month: ReclusteringSession.Month, session: ReclusteringSession,
    mayGoOn: @Sendable () async -> Bool, report: @Sendable (Event) async -> Void
  ) async throws(StoreError) -> Outcome {
    var lockTries = 0
    while await mayGoOn() {
      do throws(StoreError) {
        let (step, moved) = try session.step(of: month)
        await report(.moved(moved))
        guard step == "ready" else { continue }
        if let end = try await earlierTransactionsEnd(session, mayGoOn: mayGoOn) { return end }
        if try session.swap(month) { return .ordered }
      } catch {
        guard error.sqlState == StoreError.lockNotAvailable else { throw error }
        lockTries += 1
        guard lockTries < patience.lockTriesMax else {
          return .postponed("other sessions hold locks on the table candle; trying again later")
        }
        await pause(patience.pauseMilliseconds << UInt64(lockTries - 1))
      }
    }
    return .interrupted
  }

  /// Waits for the transactions that run now.
  /// - Returns: why it waited no longer; nil if they have ended.
  private func earlierTransactionsEnd(
    _ session: ReclusteringSession, mayGoOn: @Sendable () async -> Bool
  ) async throws(StoreError) -> Outcome? {
    let deadline = ContinuousClock.now + .seconds(patience.readersSecondsMax)
    var earlier = try session.transactions()
    while let process = earlier.values.min() {
      guard await mayGoOn() else { return .interrupted }
      if ContinuousClock.now >= deadline {
        return .postponed(
          "a transaction that began before goes on (process \(process)); trying again later")
      }
      await pause(patience.lookMilliseconds)
      let running = try session.transactions()
      earlier = earlier.filter { running[$0.key] != nil }
    }
    return nil
  }

  private func pause(_ milliseconds: UInt64) async {
    try? await Task.sleep(nanoseconds: milliseconds * 1_000_000)
  }
}

extension Reclustering.Event: CustomStringConvertible {
  package var description: String {
    switch self {
    case .left(let months): "\(counted(months, "closed month")) of candles not in key order"
    case .began(let month, let bytes):
      "putting the candles of \(month) in key order, \(bytes.megabytes)"
    case .moved(let candles): "\(counted(candles, "candle")) copied"
    case .ended(let month, let candles, let seconds):
      "the candles of \(month) are in key order: \(candles) in \(seconds) s"
    case .stopped(let reason): reason
    }
  }
}

extension Int64 {
  var megabytes: String { "\((self + 999_999) / 1_000_000) MB" }
}
