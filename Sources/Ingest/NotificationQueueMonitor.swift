import Store

/// Asks for the notification queue every ten seconds, whether anything is committed or not: a queue
/// that a stuck listener had filled revives only when its usage is requested. And for replicas, for
/// one that is gone fills the server's disk.
struct NotificationQueueMonitor {
  private static let pauseNanoseconds: UInt64 = 10_000_000_000

  let writer: StoreWriter
  let engine: Engine

  /// Runs until cancelled.
  func run() async {
    while !Task.isCancelled {
      if let queue = try? await writer.notificationQueue() { await engine.record(queue) }
      if let replicas = try? await writer.replicas() { await engine.record(replicas) }
      try? await Task.sleep(nanoseconds: Self.pauseNanoseconds)
    }
  }
}
