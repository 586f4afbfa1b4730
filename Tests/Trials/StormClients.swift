import Glibc
import TestSupport

/// Thousands of connections that mean no good: plain descriptors, no thread each.
final class StormClients {
  struct Client {
    let number: Int
    fileprivate let end: Int32
    /// How often it was told what to send.
    fileprivate(set) var step = 0
    /// What the kernel has not taken.
    fileprivate var unsent: ArraySlice<UInt8> = []
    /// The beginning of what came.
    fileprivate(set) var received: [UInt8] = []
    fileprivate var isOver = false
  }

  private var clients: [Client] = []
  private let port: UInt16
  private let connectionsOfAddressMax: Int
  private static let receivedBytesMax = 8 << 10

  init(port: UInt16, connectionsOfAddressMax: Int = 10) {
    self.port = port
    self.connectionsOfAddressMax = connectionsOfAddressMax
  }

  deinit { close() }

  /// As many as this process may have.
  static func raiseDescriptorLimit() -> Int {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return Int(clamping: limit.rlim_cur)
  }

  var count: Int { clients.count }

  func count(where isCounted: (Client) -> Bool) -> Int { clients.count(where: isCounted) }

  /// Opens so many more, from many addresses of loopback.
  /// - Returns: how many could not be opened.
  func open(_ wanted: Int) -> Int {
    var failed = 0
    for _ in 0..<wanted {
      let host = UInt32(clients.count / connectionsOfAddressMax)
      if let end = Self.connection(from: 0x7F01_0000 + host, port: port) {
        clients.append(Client(number: clients.count, end: end))
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

  /// Each sends what is next, once the kernel has taken what was before.
  /// - Parameter bytes: nil of a client that waits for what it has not been told.
  func send(_ bytes: (Client) -> [UInt8]?) {
    for index in clients.indices {
      if clients[index].unsent.isEmpty {
        guard let next = bytes(clients[index]) else { continue }
        clients[index].unsent = next[...]
        clients[index].step += 1
      }
      if clients[index].unsent.isEmpty { continue }
      let end = clients[index].end
      let taken = clients[index].unsent.withUnsafeBytes { unsent in
        Glibc.send(end, unsent.baseAddress, unsent.count, Int32(MSG_NOSIGNAL))
      }
      clients[index].unsent = clients[index].unsent.dropFirst(max(taken, 0))
    }
  }

  /// Reads what has come and closes what the other side has closed.
  func readAll(ended: (Client) -> Void) {
    var piece = [UInt8](repeating: 0, count: 4_096)
    for index in clients.indices {
      while true {
        let count = recv(clients[index].end, &piece, piece.count, 0)
        if count > 0 {
          let room = max(Self.receivedBytesMax - clients[index].received.count, 0)
          clients[index].received += piece[..<min(count, room)]
          continue
        }
        if count < 0, errno == EAGAIN || errno == ENOTCONN { break }
        Glibc.close(clients[index].end)
        clients[index].isOver = true
        ended(clients[index])
        break
      }
    }
    clients.removeAll(where: \.isOver)
  }

  /// Ends each; `abruptly` with a reset.
  func close(abruptly: Bool = false) {
    var linger = linger(l_onoff: 1, l_linger: 0)
    for client in clients {
      if abruptly {
        setsockopt(
          client.end, SOL_SOCKET, SO_LINGER, &linger,
          socklen_t(MemoryLayout.size(ofValue: linger)))
      }
      Glibc.close(client.end)
    }
    clients = []
  }
}
