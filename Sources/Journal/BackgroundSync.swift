/// Brings appended bytes to the disk on a thread of its own, so that an append costs one write(2)
/// and never waits for a spindle. Sleeps while there is nothing to sync.
///
/// It owns the segments' descriptors: the writer hands each one over and must not close it. After
/// a failed sync it stops for good, because the kernel marks pages clean that it could not write,
/// and a second fsync would lie. What it had not synced stays open, for `JournalWriter.heal` to
/// copy into a segment that can be trusted.

import Glibc
import Market
import Platform

final class BackgroundSync: Sendable {
  private let intervalNanoseconds: Int64
  private let directory: JournalDirectory
  private let systemSync: SystemSync
  private let state: Monitor<State>

  /// Brings a file's bytes to the disk: 0, or -1 with `errno` set.
  typealias SystemSync = @Sendable (Int32) -> Int32

  /// A segment whose bytes may not all be on the disk yet.
  struct OpenFile: Sendable {
    var number: Int32
    /// The sequence it begins with.
    var first: Int64
  }

  private struct State: Sendable {
    var current: OpenFile?
    var rolled: [OpenFile] = []
    /// The files of a sync under way.
    var taken: [OpenFile] = []
    var folderChanged = false
    var appended: Int64
    var synced: Int64
    var isUrgent = false
    var isStopping = false
    var failure: JournalError?
    var thread: JoinableThread?

    var files: [OpenFile] { rolled + [current].compactMap { $0 } }

    /// Whether there is hope that `target` will be on the disk, and it is not yet.
    func isBringing(_ target: Int64) -> Bool { synced < target && failure == nil && thread != nil }
  }

  /// What one sync has to bring to the disk.
  private struct Work {
    var target: Int64
    /// Nothing is appended to them any more.
    var rolled: [OpenFile]
    var files: [OpenFile]
    var folderChanged: Bool
  }

  init(
    directory: JournalDirectory, intervalMilliseconds: Int, synced: Int64,
    systemSync: @escaping SystemSync = { fdatasync($0) }
  ) {
    self.directory = directory
    self.systemSync = systemSync
    intervalNanoseconds = Int64(intervalMilliseconds) * 1_000_000
    state = Monitor(State(appended: synced, synced: synced))
  }

  /// The last entry known to be on the disk.
  var syncedSequence: Int64 { state.withLock { $0.synced } }

  /// Takes over the segment that entries go to from now on.
  func adopt(
    _ file: consuming Descriptor, first: Int64, isNew: Bool
  ) throws(JournalError) {
    let number = file.release()
    state.withLock { state in
      if let current = state.current { state.rolled.append(current) }
      state.current = OpenFile(number: number, first: first)
      state.folderChanged = state.folderChanged || isNew
    }
    try start()
  }

  /// Records that an entry was written. That it is in the file is true whatever became of the sync
  /// before it, so this does not throw: the next append does.
  func appended(_ sequence: Int64) { state.change { $0.appended = sequence } }

  /// What a sync failed with; no other follows it.
  var failedWith: JournalError? { state.withLock { $0.failure } }

  /// After a failure: the segments that hold what was not synced, oldest first. They stay open
  /// until `stop`.
  var unsyncedFiles: [OpenFile] { state.withLock { $0.files } }

  /// Whether a sync has to see the segment yet: until then it must keep its name.
  func isOpen(_ segment: JournalSegment) -> Bool {
    state.withLock { ($0.taken + $0.files).contains { $0.first == segment.first } }
  }

  /// Waits until everything appended is on the disk.
  func sync() throws(JournalError) {
    let target = state.change { state in
      if state.isBringing(state.appended) { state.isUrgent = true }
      return state.appended
    }
    let failure = state.wait(while: { $0.isBringing(target) }, then: { $0.failure })
    if let failure { throw failure }
  }

  /// Syncs what is left, ends the thread and closes the files.
  func stop() {
    let ending = state.change { state in
      state.isStopping = true
      defer { state.thread = nil }
      return state.thread
    }
    ending?.join()
    state.withLock { state in
      for file in state.files { _ = close(file.number) }
      state.rolled = []
      state.current = nil
    }
  }

  private func start() throws(JournalError) {
    guard state.withLock({ $0.thread == nil }) else { return }
    do throws(ThreadError) {
      let started = try JoinableThread { self.run() }
      state.withLock { $0.thread = started }
    } catch {
      throw .systemCall("start the journal's sync thread", number: error.systemError)
    }
  }

  private func run() {
    while let work = next() {
      let failure = bringToDisk(work)
      state.change { state in
        state.failure = failure
        state.taken = []
        if failure == nil {
          state.synced = work.target
        } else {
          state.rolled = work.rolled + state.rolled
        }
      }
      if failure != nil { return }
    }
  }

  /// Sleeps while there is nothing to sync, then lets the interval pass, so that many appends share
  /// one sync; nil when it is time to end.
  private func next() -> Work? {
    let isThere = state.wait(
      while: { $0.appended == $0.synced && !$0.isStopping },
      then: { $0.appended != $0.synced })
    guard isThere else { return nil }
    return state.wait(
      while: { !$0.isUrgent && !$0.isStopping }, nanosecondsMax: intervalNanoseconds,
      then: { state in
        defer {
          state.isUrgent = false
          (state.taken, state.rolled) = (state.rolled, [])
          state.folderChanged = false
        }
        return Work(
          target: state.appended, rolled: state.rolled, files: state.files,
          folderChanged: state.folderChanged)
      })
  }

  /// - Returns: why it could not; if it could, the rolled files are closed.
  private func bringToDisk(_ work: Work) -> JournalError? {
    do throws(JournalError) {
      for file in work.files {
        _ = try checked("sync the journal") { systemSync(file.number) }
        // Bytes in a file without a name are gone with the process.
        if isRemoved(file.number) {
          throw JournalError(.syncFailed, sentence: "A segment of the journal was removed.")
        }
      }
      if work.folderChanged { try directory.sync() }
      for file in work.rolled { _ = close(file.number) }
      return nil
    } catch {
      return JournalError(.syncFailed, sentence: error.sentence)
    }
  }
}

/// Whether no name leads to an open file any more.
func isRemoved(_ file: Int32) -> Bool {
  var status = stat()
  return fstat(file, &status) == 0 && status.st_nlink == 0
}
