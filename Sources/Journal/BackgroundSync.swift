/// Brings appended bytes to the disk on a thread of its own, so that an append costs one write(2)
/// and never waits for a spindle. Sleeps while there is nothing to sync.
///
/// It owns the segments' descriptors: the writer hands each one over and must not close it. After
/// a failed sync it stops for good, because the kernel marks pages clean that it could not write,
/// and a second fsync would lie. What it had not synced stays open, for `JournalWriter.heal` to
/// copy into a segment that can be trusted.

import CLinux
import Glibc
import Market

/// `@unchecked Sendable`: every stored property below `mutex` is read and written only with
/// `mutex` held; `mutex` and `condition` are initialised before the thread starts and freed in
/// `deinit`, which runs after the thread ended because the thread holds a reference.
final class BackgroundSync: @unchecked Sendable {
  private let interval: Int
  private let directory: JournalDirectory
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  private var current: OpenFile?
  private var rolled: [OpenFile] = []
  private var folderChanged = false
  private var appended: Int64
  private var synced: Int64
  private var isUrgent = false
  private var isStopping = false
  private var failure: JournalError?
  private var thread: pthread_t?
  private let systemSync: SystemSync

  /// Brings a file's bytes to the disk: 0, or -1 with `errno` set.
  typealias SystemSync = @Sendable (Int32) -> Int32

  /// A segment whose bytes may not all be on the disk yet.
  struct OpenFile {
    var number: Int32
    /// The sequence it begins with.
    var first: Int64
  }

  init(
    directory: JournalDirectory, intervalMilliseconds: Int, synced: Int64,
    systemSync: @escaping SystemSync = { fdatasync($0) }
  ) {
    self.directory = directory
    self.systemSync = systemSync
    interval = intervalMilliseconds
    appended = synced
    self.synced = synced
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// The last entry known to be on the disk.
  var syncedSequence: Int64 { locked { synced } }

  /// Takes over the segment that entries go to from now on.
  func adopt(
    _ file: consuming Descriptor, first: Int64, isNew: Bool
  ) throws(JournalError) {
    let number = file.release()
    locked {
      if let current { rolled.append(current) }
      current = OpenFile(number: number, first: first)
      folderChanged = folderChanged || isNew
    }
    try start()
  }

  /// Tells of an entry that was written. That it is in the file is true whatever became of the
  /// sync before it, so this does not throw: the next append does.
  func appended(_ sequence: Int64) {
    locked {
      appended = sequence
      pthread_cond_broadcast(condition)
    }
  }

  /// What a sync failed with; no other follows it.
  var failedWith: JournalError? { locked { failure } }

  /// After a failure: the segments that hold what was not synced, oldest first. They stay open
  /// until `stop`.
  var unsyncedFiles: [OpenFile] { locked { rolled + [current].compactMap { $0 } } }

  /// Waits until everything appended is on the disk.
  func sync() throws(JournalError) {
    let failure = locked {
      let target = appended
      while synced < target, self.failure == nil, thread != nil {
        isUrgent = true
        pthread_cond_broadcast(condition)
        pthread_cond_wait(condition, mutex)
      }
      return self.failure
    }
    if let failure { throw failure }
  }

  /// Syncs what is left, ends the thread and closes the files.
  func stop() {
    let ending = locked {
      isStopping = true
      pthread_cond_broadcast(condition)
      defer { thread = nil }
      return thread
    }
    if let ending { pthread_join(ending, nil) }
    locked {
      for file in rolled + [current].compactMap({ $0 }) { _ = close(file.number) }
      rolled = []
      current = nil
    }
  }

  private func start() throws(JournalError) {
    guard locked({ thread == nil }) else { return }
    var started = pthread_t()
    let context = Unmanaged.passRetained(self)
    let code = pthread_create(&started, nil, backgroundSyncMain, context.toOpaque())
    guard code == 0 else {
      context.release()
      throw .systemCall("start the journal's sync thread", code)
    }
    locked { thread = started }
  }

  fileprivate func run() {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while failure == nil {
      while appended == synced, !isStopping { pthread_cond_wait(condition, mutex) }
      if appended == synced { break }
      waitForMore()
      syncOnce()
      pthread_cond_broadcast(condition)
    }
  }

  /// Lets the interval pass, so that many appends share one sync. The mutex is held.
  private func waitForMore() {
    var deadline = timespec()
    clock_gettime(CLOCK_MONOTONIC, &deadline)
    let nanoseconds = deadline.tv_nsec + interval % 1000 * 1_000_000
    deadline.tv_sec += interval / 1000 + nanoseconds / 1_000_000_000
    deadline.tv_nsec = nanoseconds % 1_000_000_000
    while !isUrgent, !isStopping {
      if pthread_cond_timedwait(condition, mutex, &deadline) == ETIMEDOUT { break }
    }
    isUrgent = false
  }

  /// The mutex is held on entry and on return, and open while the disk works.
  private func syncOnce() {
    let target = appended
    let finished = rolled
    let files = finished + [current].compactMap { $0 }
    let folder = folderChanged
    rolled = []
    folderChanged = false
    pthread_mutex_unlock(mutex)
    let outcome = bringToDisk(files, folder: folder)
    if outcome == nil { for file in finished { _ = close(file.number) } }
    pthread_mutex_lock(mutex)
    if let outcome {
      failure = outcome
      rolled = finished + rolled
    } else {
      synced = target
    }
  }

  private func bringToDisk(_ files: [OpenFile], folder: Bool) -> JournalError? {
    do throws(JournalError) {
      for file in files {
        _ = try checked("sync the journal") { systemSync(file.number) }
        // Bytes in a file without a name are gone with the process.
        if isRemoved(file.number) {
          throw JournalError(.syncFailed, "A segment of the journal was removed.")
        }
      }
      if folder { try directory.sync() }
      return nil
    } catch {
      return JournalError(.syncFailed, error.sentence, systemError: error.systemError)
    }
  }

  private func locked<Result>(_ body: () -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }
}

/// Whether no name leads to an open file any more.
func isRemoved(_ file: Int32) -> Bool {
  var status = stat()
  return fstat(file, &status) == 0 && status.st_nlink == 0
}

private func backgroundSyncMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  if let context {
    Unmanaged<BackgroundSync>.fromOpaque(context).takeRetainedValue().run()
  }
  return nil
}
