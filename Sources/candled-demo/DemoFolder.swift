import Commands
import DaemonCommands
import FoundationEssentials
import Glibc
import Operations

/// Where a demo's database and journal live: a folder that goes with it, unless one was named.
struct DemoFolder {
  let path: String
  let isKept: Bool

  init(_ kept: String?) throws {
    isKept = kept != nil
    if let kept {
      path = KeptDemo.withoutEndingSlashes(kept)
      try make()
      return
    }
    var template = Array("/tmp/candled-demo-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw CommandFailure(status: .cannotCreate, sentence: "cannot create a folder in /tmp")
    }
    path = template.withUnsafeBufferPointer { buffer in
      String(decoding: buffer.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    // The server runs as another user and must reach its own folder in here.
    chmod(path, 0o711)
  }

  /// Makes the folder that was named, or takes one of our own: somebody else might have put links
  /// into theirs, and as root we would write wherever those lead.
  private func make() throws(CommandFailure) {
    for slash in path.indices.dropFirst() where path[slash] == "/" {
      mkdir(String(path[..<slash]), 0o755)
    }
    if mkdir(path, 0o755) != 0 { try DemoFolder.check(path, otherwise: .cannotCreate) }
  }

  /// That it is a folder of ours, which nobody else changes.
  static func check(_ path: String, otherwise exit: Operations.ExitCode) throws(CommandFailure) {
    func unusable(_ what: String) -> CommandFailure {
      CommandFailure(status: exit, sentence: path + what)
    }
    var status = stat()
    guard lstat(path, &status) == 0 else { throw unusable(": \(reason(errno))") }
    switch status.st_mode & S_IFMT {
    case S_IFDIR: break
    case S_IFLNK: throw unusable(" is a symbolic link: name a folder")
    default: throw unusable(" is not a folder")
    }
    if status.st_uid != geteuid() {
      throw unusable(" belongs to another user: name another folder")
    }
    if status.st_mode & 0o022 != 0 {
      throw unusable(" is writable by others: run chmod go-w, or name another folder")
    }
  }

  /// A file that only its owner reads.
  /// - Returns: its path.
  func write(_ text: String, to name: String) throws(CommandFailure) -> String {
    let file = "\(path)/\(name)"
    let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw CommandFailure(status: .cannotCreate, sentence: "\(file): \(reason(errno))")
    }
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
      throw CommandFailure(status: .inputOutput, sentence: "\(file): \(reason(errno))")
    }
    return file
  }

  /// A link in it is removed, never followed.
  func remove() {
    if !isKept { try? FileManager.default.removeItem(atPath: path) }
  }
}
