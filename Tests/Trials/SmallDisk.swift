import Foundation
import Glibc

/// A file system of a few kilobytes, in a mount namespace of its own that a child keeps alive and
/// that goes with it. Seen from here through the child's root.
final class SmallDisk {
  struct Unavailable: Error, CustomStringConvertible {
    var why: String
    var description: String { why }
  }

  private let holder = Process()
  /// Where it is, for this process and its children.
  let path: String

  /// - Throws: `Unavailable` where mounting is not allowed.
  init(under folder: String, kibibytes: Int) throws {
    let point = folder + "/disk"
    try FileManager.default.createDirectory(atPath: point, withIntermediateDirectories: true)
    let output = Pipe()
    holder.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
    holder.arguments = [
      "-m", "sh", "-c",
      "mount -t tmpfs -o size=\(kibibytes)k tmpfs '\(point)' && echo ready && exec sleep 3600",
    ]
    holder.standardOutput = output
    holder.standardError = output
    do {
      try holder.run()
    } catch {
      throw Unavailable(why: "no unshare: \(error)")
    }
    path = "/proc/\(holder.processIdentifier)/root\(point)"
    let said = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard said.hasPrefix("ready"), access(path, W_OK) == 0 else {
      end()
      throw Unavailable(why: "no file system of our own: \(said)")
    }
  }

  deinit { end() }

  func end() {
    guard holder.isRunning else { return }
    kill(holder.processIdentifier, SIGKILL)
    holder.waitUntilExit()
  }

  private var ballast: String { path + "/ballast" }

  /// Leaves no byte free.
  func fill() {
    let file = open(ballast, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    defer { close(file) }
    let bytes = [UInt8](repeating: 0xB5, count: 4096)
    while write(file, bytes, bytes.count) > 0 {}
  }

  func free() { unlink(ballast) }
}
