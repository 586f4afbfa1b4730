import Operations

/// Where a request comes from: the peer of the connection, or, behind a proxy that is trusted, whom
/// the proxy names.
package struct ClientAddress: Sendable, Hashable {
  /// What is counted together: an IPv4 address, the /64 of an IPv6 one (which is one customer), or
  /// nothing of a peer on a Unix socket.
  package let bytes: [UInt8]

  /// Longer lists are cut; no proxy of ours is that far away.
  private static let hopsMax = 16

  /// - Parameters:
  ///   - peer: the numeric address of the connection's other end; nil on a Unix socket.
  ///   - forwardedFor: `X-Forwarded-For`, all of them joined by commas.
  package init(
    peer: String?, forwardedFor: String?, trusting proxies: [AddressRange]
  ) {
    var address = peer
    if Self.isTrusted(peer, by: proxies), let forwardedFor {
      // From the right: the last entry was written by the proxy at our side, and what an untrusted
      // one wrote before it is worth nothing.
      for hop in forwardedFor.split(separator: ",").suffix(Self.hopsMax).reversed() {
        guard let numeric = Self.numeric(hop) else { break }
        address = numeric
        if !Self.isTrusted(numeric, by: proxies) { break }
      }
    }
    let bytes = address.flatMap(NumericAddress.bytes) ?? []
    self.bytes = bytes.count == 16 ? Array(bytes.prefix(8)) : bytes
  }

  private static func isTrusted(_ address: String?, by proxies: [AddressRange]) -> Bool {
    proxies.contains { $0.contains(address) }
  }

  /// `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1` or `[2001:db8::1]:4711`.
  private static func numeric(_ hop: Substring) -> String? {
    var text = hop.drop { $0 == " " }
    while text.last == " " { text.removeLast() }
    if text.hasPrefix("[") {
      text = text.dropFirst().prefix { $0 != "]" }
    } else if text.filter({ $0 == ":" }).count == 1 {
      text = text.prefix { $0 != ":" }
    }
    return NumericAddress.bytes(String(text)) == nil ? nil : String(text)
  }
}
