import Glibc

/// What systemd's end of sd_notify is to a service: a datagram socket that messages arrive at.
package final class NotifySocket: Sendable {
  /// As NOTIFY_SOCKET names it.
  package let name: String
  private let descriptor: Int32

  /// For a message that will never come: on an idle machine none takes ten.
  private static let patienceSeconds = 180

  package struct Failed: Error {
    package var step: String
    package var errorNumber: Int32
  }

  /// - Parameter isAbstract: in the namespace without files.
  package init(isAbstract: Bool = false) throws {
    let unique = "/tmp/candled-notify-\(getpid())-\(UInt32.random(in: .min ... .max))"
    name = isAbstract ? "@" + unique.dropFirst() : unique
    var path = Array(name.utf8)
    if isAbstract { path[0] = 0 } else { path.append(0) }
    let address = withUnsafeBytes(of: sa_family_t(AF_UNIX)) { Array($0) } + path
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw Failed(step: "socket", errorNumber: errno) }
    let bound = address.withUnsafeBytes { bytes in
      bind(
        descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self),
        socklen_t(bytes.count))
    }
    guard bound == 0 else { throw Failed(step: "bind", errorNumber: errno) }
    var patience = timeval(tv_sec: Self.patienceSeconds, tv_usec: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit {
    close(descriptor)
    if name.hasPrefix("/") { unlink(name) }
  }

  /// The next message; waits for it.
  /// - Throws: `Failed` if none comes.
  package func next() throws -> String {
    guard let message = message(flags: 0) else {
      throw Failed(step: "wait for a message", errorNumber: errno)
    }
    return message
  }

  /// What has arrived.
  package func waiting() -> [String] {
    var messages: [String] = []
    while let message = message(flags: Int32(MSG_DONTWAIT)) { messages.append(message) }
    return messages
  }

  private func message(flags: Int32) -> String? {
    var bytes = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = recv(descriptor, &bytes, bytes.count, flags)
      if count < 0, errno == EINTR { continue }
      return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
    }
  }
}
