import CLinux
import Glibc

/// A serial executor on a thread of its own: for actors that block in C (libpq, poll(2)).
///
/// Two blocked default actors are enough to stop every other task on a two-core machine
/// (TOOLCHAIN §6), so nothing that blocks may run on the shared pool. The thread ends when the
/// executor is released. A pthread mutex, not `Mutex`: ThreadSanitizer understands it.
public final class ThreadExecutor: SerialExecutor {
  private let queue: JobQueue

  /// - Parameter name: shown by `top -H`; 15 bytes count.
  public init(name: String) {
    queue = JobQueue(name: name)
    queue.startThread()
  }

  deinit { queue.close() }

  public func enqueue(_ job: consuming ExecutorJob) {
    queue.append(JobQueue.Entry(job: UnownedJob(job), executor: asUnownedSerialExecutor()))
  }

  public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }
}

/// The queue and its thread. The thread holds the queue, never the executor: an executor that is
/// released while a job of its runs still closes the queue.
// `@unchecked Sendable`: every access to the stored properties that change is under `mutex`.
private final class JobQueue: @unchecked Sendable {
  struct Entry {
    let job: UnownedJob
    let executor: UnownedSerialExecutor
  }

  private let name: String
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let wakeup = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var entries: [Entry] = []
  private var closed = false

  init(name: String) {
    self.name = name
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(wakeup, nil)
  }

  deinit {
    pthread_cond_destroy(wakeup)
    pthread_mutex_destroy(mutex)
    wakeup.deallocate()
    mutex.deallocate()
  }

  func append(_ entry: Entry) {
    pthread_mutex_lock(mutex)
    entries.append(entry)
    pthread_cond_signal(wakeup)
    pthread_mutex_unlock(mutex)
  }

  func close() {
    pthread_mutex_lock(mutex)
    closed = true
    pthread_cond_signal(wakeup)
    pthread_mutex_unlock(mutex)
  }

  /// The jobs that wait, oldest first; blocks while there are none; nil once closed and empty.
  private func take() -> [Entry]? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while entries.isEmpty, !closed { pthread_cond_wait(wakeup, mutex) }
    if entries.isEmpty { return nil }
    defer { entries.removeAll(keepingCapacity: true) }
    return entries
  }

  func startThread() {
    var thread = pthread_t()
    let queue = Unmanaged.passRetained(self)
    let failed = pthread_create(
      &thread, nil,
      { @Sendable argument in
        guard let argument else { return nil }
        let queue = Unmanaged<JobQueue>.fromOpaque(argument).takeRetainedValue()
        queue.run()
        return nil
      }, queue.toOpaque())
    precondition(failed == 0, "the system has no thread left to give")
    pthread_detach(thread)
  }

  private func run() {
    _ = clinux_name_thread(name)
    while let batch = take() {
      for entry in batch { entry.job.runSynchronously(on: entry.executor) }
    }
  }
}
