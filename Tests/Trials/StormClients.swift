import Glibc
import TestSupport

/// Thousands of connections that mean no good: plain descriptors, no thread each.
final class StormClients {
  private var descriptors: [Int32] = []
  private let port: UInt16
  /// As many streams as the gateway lets one address have.
  private static let connectionsOfAddressMax = 10

  init(port: UInt16) { self.port = port }

  deinit { close() }

  /// As many as this process may have.
  static func raiseDescriptorLimit() -> Int {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return Int(clamping: limit.rlim_cur)
  }

  var count: Int { descriptors.count }

  /// Opens so many more, from many addresses of loopback.
  /// - Returns: how many could not be opened.
  func open(_ wanted: Int) -> Int {
    var failed = 0
    for _ in 0..<wanted {
      let host = UInt32(descriptors.count / Self.connectionsOfAddressMax)
      if let end = Self.connection(from: 0x7F01_0000 + host, port: port) {
        descriptors.append(end)
      } else {
        failed += 1
      }
    }
    return failed
  }

  private static func connection(from source: UInt32, port: UInt16) -> Int32? {
    let end = socket(
      AF_INET,
      Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard end >= 0 else { return nil }
    let isBound = LoopbackAddress.with(host: source, port: 0) { Glibc.bind(end, $0, $1) == 0 }
    let isOpening = LoopbackAddress.connect(end, to: port) == 0 || errno == EINPROGRESS
    guard isBound, isOpening else {
      Glibc.close(end)
      return nil
    }
    return end
  }

  /// What the kernel takes of it, to each.
  func send(_ bytes: (_ number: Int) -> [UInt8]) {
    for (number, end) in descriptors.enumerated() {
      let bytes = bytes(number)
      if bytes.isEmpty { continue }
      _ = Glibc.send(end, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }
  }

  /// Reads what has come and closes what the other side has closed.
  func readAll() {
    var piece = [UInt8](repeating: 0, count: 4_096)
    descriptors.removeAll { end in
      while true {
        let count = recv(end, &piece, piece.count, 0)
        if count > 0 { continue }
        if count < 0, errno == EAGAIN || errno == ENOTCONN { return false }
        Glibc.close(end)
        return true
      }
    }
  }

  /// Ends each; `abruptly` with a reset.
  func close(abruptly: Bool = false) {
    var linger = linger(l_onoff: 1, l_linger: 0)
    for end in descriptors {
      if abruptly {
        setsockopt(
          end, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
      }
      Glibc.close(end)
    }
    descriptors = []
  }
}
