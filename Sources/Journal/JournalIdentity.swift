/// Who a journal is: a random name in a file of its folder, made once. The database says by it
/// whose entries a position counts, and which daemon leads. Holding it keeps every other process
/// out of the folder for as long as this one lives, whether it writes just now or stands by.
///
/// The name belongs to the folder: in a copied folder the file must be deleted, or two daemons pass
/// for one. (The lease tells them apart by their machines, and the second one waits.)

import Glibc

package final class JournalIdentity: Sendable {
  /// 16 hexadecimal digits.
  package let name: String
  /// The path of the folder.
  package let path: String
  private let lock: Descriptor

  private static let fileName = "journal.identity"
  private static let digits = 16

  /// Takes the journal in `directory`, made if it does not exist, and reads its name or gives it
  /// one.
  /// - Throws: `locked` by another process; `system`, `full`; `damaged` if the file holds something
  ///   else.
  package init(directory path: String) throws(JournalError) {
    let directory = JournalDirectory(path: path)
    try directory.create()
    self.path = path
    lock = try directory.lock()
    if let found = try JournalIdentity.name(in: path) {
      name = found
    } else {
      name = try JournalIdentity.make(directory)
    }
  }

  /// The name of the journal in `directory`; nil if no daemon ever held it.
  /// - Throws: `system`, `damaged`.
  package static func name(in path: String) throws(JournalError) -> String? {
    let path = path + "/" + fileName
    let number = uninterrupted { open(path, O_RDONLY | O_CLOEXEC) }
    if number < 0, errno == ENOENT { return nil }
    let file = Descriptor(try checked("open \(path)") { number })
    var bytes = [UInt8](repeating: 0, count: digits + 2)
    let count = try checked("read \(path)") { pread(file.number, &bytes, bytes.count, 0) }
    let name = bytes.prefix(digits)
    guard count == digits + 1, bytes[digits] == UInt8(ascii: "\n"),
      name.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) })
    else {
      throw JournalError(
        .damaged, sentence: "\(path) contains no identity. Delete it to get a new one.")
    }
    return String(decoding: name, as: UTF8.self)
  }

  /// Whether a daemon holds the journal in `directory` just now.
  package static func isHeld(in path: String) -> Bool { JournalDirectory(path: path).isLocked }

  /// The lock was taken in a folder that is no more.
  var isRemoved: Bool { Journal.isRemoved(lock.number) }

  /// Writes the name into a folder made anew.
  func restore() throws(JournalError) {
    try JournalIdentity.write(name, in: JournalDirectory(path: path))
  }

  private static func make(_ directory: JournalDirectory) throws(JournalError) -> String {
    let value = String(UInt64.random(in: .min ... .max), radix: 16)
    let name = String(repeating: "0", count: digits - value.utf8.count) + value
    try write(name, in: directory)
    return name
  }

  /// Writes the name and brings it to the disk before anything else learns it.
  private static func write(
    _ name: String, in directory: JournalDirectory
  ) throws(JournalError) {
    let text = Array((name + "\n").utf8)
    let path = directory.path(of: fileName)
    let draft = path + ".new"
    let file = Descriptor(
      try checked("create \(draft)") {
        open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o640)
      })
    let written = try checked("write \(draft)") { pwrite(file.number, text, text.count, 0) }
    guard written == text.count else { throw .systemCall("write \(draft)", number: ENOSPC) }
    _ = try checked("sync \(draft)") { fsync(file.number) }
    _ = try checked("rename \(draft)") { rename(draft, path) }
    try directory.sync()
  }
}
