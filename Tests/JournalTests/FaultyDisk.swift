import Glibc
import Synchronization

@testable import Journal

/// A disk that fails on order: what a journal writes and syncs goes through it.
final class FaultyDisk: Sendable {
  private let orders = Atomic<UInt64>(0)
  private let syncCount = Atomic<Int>(0)

  /// Packed into a word: read by the sync thread while a test sets it.
  private enum Field { static let write: UInt64 = 0, bytes: UInt64 = 16, sync: UInt64 = 48 }

  func order(writeError: Int32 = 0, after bytes: Int = 0, syncError: Int32 = 0) {
    let word =
      UInt64(writeError) << Field.write | UInt64(bytes) << Field.bytes
      | UInt64(syncError) << Field.sync
    orders.store(word, ordering: .sequentiallyConsistent)
  }

  func heal() { order() }

  var syncs: Int { syncCount.load(ordering: .sequentiallyConsistent) }

  private func field(_ shift: UInt64, _ bits: UInt64) -> Int {
    Int(orders.load(ordering: .sequentiallyConsistent) >> shift & (1 << bits - 1))
  }

  var options: JournalOptions {
    var options = JournalOptions()
    options.syncIntervalMilliseconds = 1
    options.healPauseMilliseconds = 0
    options.systemSync = { [self] file in
      syncCount.add(1, ordering: .sequentiallyConsistent)
      let error = field(Field.sync, 16)
      guard error == 0 else {
        errno = Int32(error)
        return -1
      }
      return fdatasync(file)
    }
    return options
  }

  func attach(to writer: JournalWriter) {
    writer.systemWrite = { [self] file, bytes, offset in
      let error = field(Field.write, 16)
      guard error != 0 else { return pwrite(file, bytes.baseAddress, bytes.count, offset) }
      let part = min(field(Field.bytes, 32), bytes.count - 1)
      if part > 0 { _ = pwrite(file, bytes.baseAddress, part, offset) }
      errno = Int32(error)
      return -1
    }
  }
}
