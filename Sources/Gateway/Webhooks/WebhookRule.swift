/// What a webhook may call. A name is judged when it is used, by each address that it is resolved
/// to: who controls a name controls its addresses, too.

import Operations
import Transport

package struct WebhookRule: Sendable {
  /// Whether private networks may be called, and loopback without TLS.
  package var isPrivateAllowed: Bool
  /// Whether an address is one of this machine: it lies behind the firewall, and what listens there
  /// may trust who is local.
  private let isOwn: @Sendable ([UInt8]) -> Bool

  package init(
    isPrivateAllowed: Bool = false,
    isOwn: @escaping @Sendable ([UInt8]) -> Bool = OwnAddresses.contains
  ) {
    self.isPrivateAllowed = isPrivateAllowed
    self.isOwn = isOwn
  }

  /// Where to connect, and what to ask there.
  struct Target: Sendable {
    let base: BaseAddress
    let path: String
  }

  enum Refusal: Error {
    case scheme, address

    var sentence: String {
      switch self {
      case .scheme: "the URL must begin with https"
      case .address: "the address is not one of the public Internet"
      }
    }
  }

  /// A name or an IPv4 address; no user, no fragment.
  static let pattern: TextPattern = {
    let label = "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
    let port =
      "([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
    return TextPattern(
      #"^https?://\#(label)([.]\#(label)){0,9}(:\#(port))?(/[!"$-~]*)?$"#,
      expectation: "an address that begins with https://, without a user and a fragment")
  }()

  /// nil: it is no URL.
  func target(of url: String) throws(Refusal) -> Target? {
    guard Self.pattern.matches(url), let scheme = url.firstRange(of: "://") else { return nil }
    let end = url[scheme.upperBound...].firstIndex(of: "/") ?? url.endIndex
    guard let base = try? BaseAddress(parsing: String(url[..<end])) else { return nil }
    let isLoopback = Self.loopback.contains { $0.contains(base.host) } || base.host == "localhost"
    if base.scheme == .http, !(isPrivateAllowed && isLoopback) { throw .scheme }
    if NumericAddress.bytes(base.host) != nil, refuses(base.host) { throw .address }
    return Target(base: base, path: end == url.endIndex ? "/" : String(url[end...]))
  }

  /// Whether a numeric address must not be connected to.
  func refuses(_ address: String) -> Bool {
    guard let bytes = NumericAddress.bytes(address) else { return true }
    if isPrivateAllowed { return Self.multicast.contains { $0.contains(address) } }
    if isOwn(bytes) { return true }
    if bytes.count == 4 { return Self.reserved.contains { $0.contains(address) } }
    // Behind NAT64 an IPv4 address is the end of an IPv6 one.
    if Self.translated.contains(where: { $0.contains(address) }) {
      return refuses(bytes.suffix(4).map { String($0) }.joined(separator: "."))
    }
    return !Self.global.contains { $0.contains(address) }
      || Self.reserved.contains { $0.contains(address) }
  }

  private static let loopback = ranges("127.0.0.0/8")
  private static let multicast = ranges("224.0.0.0/4", "255.255.255.255", "ff00::/8")
  private static let translated = ranges("64:ff9b::/96")
  /// What of IPv6 is global unicast.
  private static let global = ranges("2000::/3")
  /// IANA's registries of special-purpose addresses, and multicast.
  private static let reserved = ranges(
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
    "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
    "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",
    "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")

  private static func ranges(_ texts: String...) -> [AddressRange] {
    texts.map { text in
      guard let range = AddressRange(text) else { preconditionFailure("no range: \(text)") }
      return range
    }
  }
}
