import Glibc

/// A file system of a few megabytes to be filled and emptied: a tmpfs, which only root may mount.
package final class SmallDisk: Sendable {
  package let path: String

  package struct Failure: Error { package var sentence: String }

  /// Whether this process may mount one.
  package static let isPossible = (try? SmallDisk(megabytes: 1)) != nil

  /// - Throws: `Failure` where this process may not mount.
  package init(megabytes: Int) throws {
    path = try PrivateCluster.freshDirectory()
    let options = "-t tmpfs -o size=\(megabytes)m,mode=0755"
    guard geteuid() == 0, system("mount \(options) tmpfs \(path) 2>/dev/null") == 0 else {
      throw Failure(sentence: "only root may mount a file system")
    }
  }

  private var ballast: String { path + "/ballast" }

  /// Until not a byte fits any more.
  package func fill() throws {
    let file = open(ballast, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw Failure(sentence: "no ballast: errno \(errno)") }
    defer { close(file) }
    let piece = [UInt8](repeating: 0, count: 1 << 16)
    while write(file, piece, piece.count) > 0 {}
    guard errno == ENOSPC else { throw Failure(sentence: "not filled: errno \(errno)") }
  }

  package func empty() { unlink(ballast) }

  deinit { _ = system("umount -l \(path) 2>/dev/null; rmdir \(path) 2>/dev/null") }
}
