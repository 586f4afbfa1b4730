/// Where the admin endpoint listens: a numeric address with its port, or a socket in the file
/// system. No names: what a resolver says at start is no setting.

import Glibc
import Market

package enum ListenAddress: Sendable, Hashable {
  case ipv4(host: String, port: UInt16)
  case ipv6(host: String, port: UInt16)
  case unix(path: String)

  /// `127.0.0.1:9466`, `[::1]:9466`, `localhost:9466` or `/run/candled/admin`; nil if it is none.
  package init?(_ text: String) {
    if text.hasPrefix("/") {
      guard text.utf8.count <= ListenAddress.pathBytesMax, !text.utf8.contains(0) else {
        return nil
      }
      self = .unix(path: text)
      return
    }
    guard let colon = text.lastIndex(of: ":") else { return nil }
    let digits = text[text.index(after: colon)...]
    guard digits.utf8.allSatisfy({ (48...57).contains($0) }), let port = UInt16(digits) else {
      return nil
    }
    let host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") {
      let inner = String(host.dropFirst().dropLast())
      var address = in6_addr()
      guard inet_pton(AF_INET6, inner, &address) == 1 else { return nil }
      self = .ipv6(host: inner, port: port)
    } else {
      let name = host == "localhost" ? "127.0.0.1" : String(host)
      var address = in_addr()
      guard inet_pton(AF_INET, name, &address) == 1 else { return nil }
      self = .ipv4(host: name, port: port)
    }
  }

  /// Why the path must not be listened at; nil where nothing is there, or a socket.
  ///
  /// A socket that is in the way is removed before listening: of anything else that would be the
  /// loss of a file.
  package var obstacle: String? {
    guard case .unix(let path) = self else { return nil }
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFSOCK else { return nil }
    return "\(path) exists and is not a socket"
  }

  /// What swift-nio takes, and every Unix.
  private static let pathBytesMax = 103

  /// With the port that a 0 has become.
  package func with(port: Int?) -> ListenAddress {
    guard let port = port.flatMap({ UInt16(exactly: $0) }) else { return self }
    switch self {
    case .ipv4(let host, _): return .ipv4(host: host, port: port)
    case .ipv6(let host, _): return .ipv6(host: host, port: port)
    case .unix: return self
    }
  }

  /// Whether only this machine reaches it.
  package var isLocal: Bool {
    switch self {
    case .ipv4(let host, _): host.hasPrefix("127.")
    case .ipv6(let host, _): host == "::1"
    case .unix: true
    }
  }
}

extension ListenAddress: CustomStringConvertible {
  package var description: String {
    switch self {
    case .ipv4(let host, let port): "\(host):\(port)"
    case .ipv6(let host, let port): "[\(host)]:\(port)"
    case .unix(let path): path
    }
  }
}

extension Setting where Value == ListenAddress? {
  /// Where to listen; an empty string is nowhere, unless it is required.
  static func listenAddress(
    _ key: String, default defaultValue: ListenAddress, isRequired: Bool = false, help: String
  ) -> Self {
    Setting(
      key, kind: "address", default: defaultValue,
      range: isRequired ? "address:port or /path" : "address:port, /path or empty for none",
      help: help,
      write: { ($0?.description ?? "").quoted },
      read: { input in
        if case .string("") = input, !isRequired { return nil }
        guard case .string(let text) = input, let address = ListenAddress(text) else {
          throw SettingMismatch(
            expected: "a numeric address and port such as \"\(defaultValue)\", or a path")
        }
        return address
      })
  }
}
