/// What systemd is told (sd_notify(3)): one datagram a message, to the socket it named. Not
/// libsystemd: that is one more library for sixty lines. Nobody asked is no error, and a message
/// that cannot be sent is lost: the daemon's work does not depend on who listens.

import Glibc
import Platform

package struct ServiceNotifier: Sendable {
  /// What systemd kills us after, if it asked for signs of life.
  package let watchdogMicroseconds: Int64?
  private let descriptor: Int32
  /// A `sockaddr_un` of just its length.
  private let address: [UInt8]
  private let mask: SecretMask

  /// Beyond this systemd cuts a status; ours are one line.
  static let statusBytesMax = 1024
  /// A listener that takes nothing must not hold us up.
  private static let sendSecondsMax = 1

  /// - Parameter path: of a datagram socket; a leading `@` is for the abstract namespace.
  package init?(path: String, watchdogMicroseconds: Int64? = nil, mask: SecretMask = SecretMask()) {
    var name = Array(path.utf8)
    let room = MemoryLayout.size(ofValue: sockaddr_un().sun_path)
    guard let first = name.first, "/@".utf8.contains(first), name.count < room else { return nil }
    if first == UInt8(ascii: "@") { name[0] = 0 } else { name.append(0) }
    address = withUnsafeBytes(of: sa_family_t(AF_UNIX)) { Array($0) } + name
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    var patience = timeval(tv_sec: Self.sendSecondsMax, tv_usec: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    self.watchdogMicroseconds = watchdogMicroseconds
    self.mask = mask
  }

  /// As the environment says, whose variables are taken out: no child of ours speaks for us. nil
  /// if nobody wants to be told. To be called before there are threads.
  package static func fromEnvironment(mask: SecretMask) -> ServiceNotifier? {
    let names = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]
    let values = names.map { name in getenv(name).map { String(cString: $0) } }
    for name in names { unsetenv(name) }
    let isForUs = values[2].map { pid_t($0) == getpid() } ?? true
    let watchdog = isForUs ? values[1].flatMap { Int64($0) }.flatMap { $0 > 0 ? $0 : nil } : nil
    return values[0].flatMap { path in
      ServiceNotifier(path: path, watchdogMicroseconds: watchdog, mask: mask)
    }
  }

  /// Up, or done with a reload.
  package func ready(status: String) { send(["READY=1", line(status)]) }

  package func status(_ status: String) { send([line(status)]) }

  /// With the moment, so that systemd can tell it from an earlier one's.
  package func reloading() {
    send(["RELOADING=1", "MONOTONIC_USEC=\(MonotonicClock.microseconds())"])
  }

  package func stopping(status: String) { send(["STOPPING=1", line(status)]) }

  /// From now on, instead of what is left of the time to start, reload or stop.
  package func extendTimeout(seconds: Int64) {
    send(["EXTEND_TIMEOUT_USEC=\(seconds * 1_000_000)"])
  }

  package func watchdog() { send(["WATCHDOG=1"]) }

  private func line(_ status: String) -> String {
    let oneLine = mask.masked(status).split(whereSeparator: \.isNewline).joined(separator: " ")
    let cut = oneLine.utf8.prefix(Self.statusBytesMax)
    return "STATUS=" + (String(cut) ?? String(decoding: cut, as: UTF8.self))
  }

  private func send(_ lines: [String]) {
    let message = Array(lines.joined(separator: "\n").utf8)
    address.withUnsafeBytes { bytes in
      guard let address = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return }
      let length = socklen_t(bytes.count)
      while sendto(descriptor, message, message.count, Int32(MSG_NOSIGNAL), address, length)
        < 0, errno == EINTR
      {}
    }
  }
}
