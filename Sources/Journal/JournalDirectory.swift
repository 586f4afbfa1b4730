/// The folder a journal lives in: which segments there are, by name alone, and the lock that keeps
/// a second writer out.

import CLinux
import Glibc
import Platform

/// One segment file. Its name carries the sequence of its first entry, so the folder's listing is
/// the index of the journal.
package struct JournalSegment: Sendable, Hashable {
  package var name: String
  package var first: Int64
  package var bytes: Int64

  /// Reached in 146,000 years at a million entries a second: what is counted on from a number never
  /// comes to the end of 64 bits.
  static let firstMax = Int64.max / 2
  private static let prefix = "journal-"
  private static let suffix = ".candled"
  private static let digits = 20

  static func name(first: Int64) -> String {
    let number = String(first)
    return prefix + String(repeating: "0", count: digits - number.utf8.count) + number + suffix
  }

  /// nil for a name that is not a segment's, `Int64.max` for a number beyond 64 bits.
  static func first(inName name: String) -> Int64? {
    guard name.hasPrefix(prefix), name.hasSuffix(suffix),
      name.utf8.count == prefix.utf8.count + digits + suffix.utf8.count
    else { return nil }
    let number = name.dropFirst(prefix.count).dropLast(suffix.count)
    guard number.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
    let first = Int64(number) ?? .max
    return first > 0 ? first : nil
  }
}

struct JournalDirectory: Sendable {
  let path: String
  private static let lockName = "journal.lock"

  func path(of name: String) -> String { path + "/" + name }

  /// The segments in order. Empty when the folder does not exist.
  func segments() throws(JournalError) -> [JournalSegment] { try listing().segments }

  /// What the folder holds under names of segments.
  struct Listing {
    /// The segments in order.
    var segments: [JournalSegment] = []
    /// What cannot be a segment: a sentence each, with its path. Nothing is opened to find that
    /// out, for to open a pipe may take for ever.
    var ignored: [String] = []
  }

  func listing() throws(JournalError) -> Listing {
    guard let names = Folder.names(in: path) else {
      if errno == ENOENT { return Listing() }
      throw .systemCall("open the journal folder \(path)", number: errno)
    }
    var found = Listing()
    for name in names {
      var status = stat()
      // One that is not there any more was deleted meanwhile.
      guard let first = JournalSegment.first(inName: name), stat(path(of: name), &status) == 0
      else { continue }
      if let obstacle = JournalDirectory.obstacle(first, status: status) {
        found.ignored.append("\(path(of: name)) \(obstacle)")
      } else {
        found.segments.append(
          JournalSegment(name: name, first: first, bytes: Int64(status.st_size)))
      }
    }
    found.segments.sort { $0.first < $1.first }
    found.ignored.sort()
    return found
  }

  /// Why it is no segment; nil if it may be one.
  private static func obstacle(_ first: Int64, status: stat) -> String? {
    switch status.st_mode & S_IFMT {
    case S_IFREG:
      first > JournalSegment.firstMax ? "has a number too large for a journal" : nil
    case S_IFDIR: "is a folder"
    case S_IFIFO: "is a named pipe"
    case S_IFSOCK: "is a socket"
    default: "is a device"
    }
  }

  /// Makes the folder, and those it lies in.
  func create() throws(JournalError) {
    if mkdir(path, 0o750) == 0 || errno == EEXIST { return }
    if errno == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex {
      try JournalDirectory(path: String(path[..<slash])).create()
      if mkdir(path, 0o750) == 0 || errno == EEXIST { return }
    }
    throw .systemCall("make the journal folder \(path)", number: errno)
  }

  /// Makes what was created, renamed or deleted in the folder survive a power cut.
  func sync() throws(JournalError) {
    let folder = Descriptor(
      try checked("open the journal folder \(path)") {
        open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      })
    _ = try checked("sync the journal folder \(path)") { fsync(folder.number) }
  }

  /// Held for as long as the descriptor lives; the kernel gives it back when the process dies.
  func lock() throws(JournalError) -> Descriptor {
    let path = path(of: JournalDirectory.lockName)
    let file = Descriptor(
      try checked("open the lock \(path)") { open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o640) })
    guard uninterrupted({ flock(file.number, LOCK_EX | LOCK_NB) }) == 0 else {
      guard errno == EWOULDBLOCK else { throw .systemCall("lock \(path)", number: errno) }
      throw JournalError(
        .locked,
        sentence: "The journal in \(self.path) is in use by process \(owner(of: file.number)).")
    }
    record(getpid(), in: file.number)
    return file
  }

  /// Whether a process holds it just now.
  var isLocked: Bool {
    let number = uninterrupted { open(path(of: JournalDirectory.lockName), O_RDWR | O_CLOEXEC) }
    guard number >= 0 else { return false }
    let file = Descriptor(number)
    return uninterrupted { flock(file.number, LOCK_EX | LOCK_NB) } != 0 && errno == EWOULDBLOCK
  }

  private func owner(of file: Int32) -> String {
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = pread(file, &bytes, bytes.count, 0)
    let digits = bytes.prefix(max(0, count)).prefix { (48...57).contains($0) }
    return digits.isEmpty ? "unknown" : String(decoding: digits, as: UTF8.self)
  }

  /// Writes the process down, only for the message of the other one: a failure changes nothing.
  private func record(_ process: pid_t, in file: Int32) {
    let text = Array("\(process)\n".utf8)
    _ = ftruncate(file, 0)
    _ = pwrite(file, text, text.count, 0)
  }
}
