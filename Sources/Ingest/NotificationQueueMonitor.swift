import Market
import Store

/// Asks for the notification queue every ten seconds, whether anything is committed or not: a queue
/// that a stuck listener had filled revives only when its usage is requested. And for replicas, for
/// one that is gone fills the server's disk; and, each hour, for what a person has to look at.
struct NotificationQueueMonitor {
  private static let pauseNanoseconds: UInt64 = 10_000_000_000
  private static let turnsOfHour = 360

  let writer: StoreWriter
  let engine: Engine

  /// Runs until cancelled.
  func run() async {
    var turn = 0
    while !Task.isCancelled {
      if turn % Self.turnsOfHour == 0 {
        let today = await engine.now.shanghaiDay
        let factors = try? await writer.contradictedFactors(on: today)
        if let factors { await engine.record(factors) }
      }
      turn += 1
      if let queue = try? await writer.notificationQueue() { await engine.record(queue) }
      if let replicas = try? await writer.replicas() { await engine.record(replicas) }
      try? await Task.sleep(nanoseconds: Self.pauseNanoseconds)
    }
  }
}
