/// What the data of a cluster takes on its disk, and how fast that writes: how long a copy lasts.

import Glibc
import Platform

package struct ClusterSize: Sendable, Hashable {
  package var bytes: Int64
  package var freeBytes: Int64

  /// Of a copy: the log of its own making, and what its indexes may take more.
  package var neededBytes: Int64 { bytes + bytes / 10 + (256 << 20) }

  /// nil where it cannot be read.
  package init?(of server: EmbeddedServer) {
    let command = ["/usr/bin/du", "--summarize", "--block-size=1", server.dataDirectory]
    guard let user = try? server.serverUser(),
      let words = try? ChildProcess.output(of: user.running(command)),
      let bytes = words.split(whereSeparator: \.isWhitespace).first.flatMap({ Int64($0) })
    else { return nil }
    guard let free = Folder.freeBytes(of: server.directory) else { return nil }
    self.bytes = bytes
    freeBytes = free
  }

  private static let probeMegabytes: Int64 = 64

  /// Seconds for a copy at the speed at which a few megabytes are written to the disk now.
  package func copySeconds(of server: EmbeddedServer) throws(EmbeddedServerError) -> Int64 {
    let probe = server.directory + "/upgrade.probe"
    defer { unlink(probe) }
    let start = MonotonicClock.microseconds()
    let ended = try ChildProcess.run([
      "/bin/dd", "if=/dev/zero", "of=\(probe)", "bs=1M", "count=\(Self.probeMegabytes)",
      "conv=fsync",
    ])
    guard ended == 0 else { throw server.unusable("write \(probe) in", errno: ENOSPC) }
    let microseconds = max(MonotonicClock.microseconds() - start, 1)
    return bytes / max((Self.probeMegabytes << 20) * 1_000_000 / microseconds, 1)
  }
}
