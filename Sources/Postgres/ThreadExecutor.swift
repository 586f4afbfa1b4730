import Platform

/// A serial executor on a thread of its own: for actors that block in C (libpq, poll(2)).
///
/// Two blocked default actors are enough to stop every other task on a two-core machine, so nothing
/// that blocks may run on the shared pool. The thread ends when the executor is released.
package final class ThreadExecutor: SerialExecutor {
  private let queue = JobQueue()

  /// - Parameter name: shown by `top -H`; 15 bytes count.
  package init(name: String) {
    let queue = queue
    do {
      try DetachedThread.start(name: name) { queue.run() }
    } catch {
      preconditionFailure("the system has no thread left")
    }
  }

  deinit { queue.close() }

  package func enqueue(_ job: consuming ExecutorJob) {
    queue.append(JobQueue.Entry(job: UnownedJob(job), executor: asUnownedSerialExecutor()))
  }

  package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }
}

/// The queue and its thread. The thread holds the queue, never the executor: an executor that is
/// released while a job of its runs still closes the queue.
private final class JobQueue: Sendable {
  struct Entry: Sendable {
    let job: UnownedJob
    let executor: UnownedSerialExecutor
  }

  private struct Waiting: Sendable {
    var entries: [Entry] = []
    var isClosed = false
  }

  private let waiting = Monitor(Waiting())

  func append(_ entry: Entry) { waiting.change { $0.entries.append(entry) } }

  func close() { waiting.change { $0.isClosed = true } }

  /// The jobs that wait, oldest first; blocks while there are none; nil once closed and empty.
  private func take() -> [Entry]? {
    waiting.wait(
      while: { $0.entries.isEmpty && !$0.isClosed },
      then: { waiting in
        if waiting.entries.isEmpty { return nil }
        defer { waiting.entries.removeAll(keepingCapacity: true) }
        return waiting.entries
      })
  }

  func run() {
    while let batch = take() {
      for entry in batch { entry.job.runSynchronously(on: entry.executor) }
    }
  }
}
