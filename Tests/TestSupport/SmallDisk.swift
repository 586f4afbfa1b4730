import Glibc

/// A file system of a few megabytes to be filled and emptied: a tmpfs, which only root may mount.
public final class SmallDisk: Sendable {
  public let path: String

  public struct Failure: Error { public var sentence: String }

  /// Whether this process may mount one.
  public static let isPossible = (try? SmallDisk(megabytes: 1)) != nil

  /// - Throws: `Failure` where this process may not mount.
  public init(megabytes: Int) throws {
    path = try PrivateCluster.freshDirectory()
    let options = "-t tmpfs -o size=\(megabytes)m,mode=0755"
    guard geteuid() == 0, system("mount \(options) tmpfs \(path) 2>/dev/null") == 0 else {
      throw Failure(sentence: "only root may mount a file system")
    }
  }

  private var ballast: String { path + "/ballast" }

  /// Until not a byte fits any more.
  public func fill() throws {
    let file = open(ballast, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw Failure(sentence: "no ballast: errno \(errno)") }
    defer { close(file) }
    let piece = [UInt8](repeating: 0, count: 1 << 16)
    while write(file, piece, piece.count) > 0 {}
    guard errno == ENOSPC else { throw Failure(sentence: "not filled: errno \(errno)") }
  }

  public func empty() { unlink(ballast) }

  deinit { _ = system("umount -l \(path) 2>/dev/null; rmdir \(path) 2>/dev/null") }
}
