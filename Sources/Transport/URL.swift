// The only file in candled in which a URL exists as text.
//
// A request names a base address, which is configuration, and a path, which a feed declares; they
// meet here, on the transport thread, and the result goes straight into libcurl. Keys that some
// upstreams want in the path therefore have one place to leak from, and it has no logger: nothing
// here may put its input into an error or a description.

/// Where an upstream lives: scheme, host and port, and nothing that could carry a secret.
package struct BaseAddress: Sendable, Hashable {
  package enum Scheme: String, Sendable { case http, https }

  package let scheme: Scheme
  /// Lower case; an IPv6 address keeps its brackets.
  package let host: String
  /// nil is the scheme's own: 80 or 443.
  package let port: UInt16?

  /// RFC 1035: a name is at most 253 characters as text.
  static let hostBytesMax = 253

  /// Reads `https://hq.sinajs.cn` or `http://127.0.0.1:8080`; one closing slash is allowed.
  /// - Throws: `invalidRequest` for anything else, a path, query, fragment or user included.
  package init(parsing text: String) throws(TransportError) {
    guard let parsed = BaseAddress(checking: text) else {
      throw TransportError(.invalidRequest, route: "")
    }
    self = parsed
  }

  private init?(checking text: String) {
    let lowered = text.lowercased()
    guard
      let scheme = [Scheme.http, .https].first(where: { lowered.hasPrefix($0.rawValue + "://") })
    else { return nil }
    var authority = lowered.dropFirst(scheme.rawValue.utf8.count + 3)
    if authority.hasSuffix("/") { authority.removeLast() }
    let hostEnd = BaseAddress.hostEnd(in: authority)
    let host = authority[..<hostEnd]
    guard BaseAddress.isHost(host) else { return nil }
    var port: UInt16?
    if hostEnd != authority.endIndex {
      let digits = authority[hostEnd...].dropFirst()
      guard digits.utf8.allSatisfy({ (48...57).contains($0) }), let number = UInt16(digits),
        number > 0
      else { return nil }
      port = number
    }
    self.scheme = scheme
    self.host = String(host)
    self.port = port
  }

  /// Where the port's colon stands, or the end; the colons of an IPv6 address are inside brackets.
  private static func hostEnd(in authority: Substring) -> Substring.Index {
    let start = authority.hasPrefix("[") ? authority.firstIndex(of: "]") : authority.startIndex
    return authority[(start ?? authority.startIndex)...].firstIndex(of: ":") ?? authority.endIndex
  }

  private static func isHost(_ host: Substring) -> Bool {
    guard (1...hostBytesMax).contains(host.utf8.count) else { return false }
    if host.hasPrefix("[") {
      let inner = host.dropFirst().dropLast()
      return host.hasSuffix("]") && inner.contains(":")
        && inner.utf8.allSatisfy { isHexadecimal($0) || $0 == UInt8(ascii: ":") || isDot($0) }
    }
    let labels = host.split(separator: ".", omittingEmptySubsequences: false)
    return labels.allSatisfy { label in
      (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
        && label.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }
    }
  }

  private static func isDot(_ byte: UInt8) -> Bool { byte == UInt8(ascii: ".") }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    (48...57).contains(byte) || (97...102).contains(byte)
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    (48...57).contains(byte) || (97...122).contains(byte)
  }
}

extension BaseAddress: CustomStringConvertible {
  /// `https://hq.sinajs.cn`, `http://127.0.0.1:8080`: safe to log.
  package var description: String {
    "\(scheme.rawValue)://\(host)" + (port.map { ":\($0)" } ?? "")
  }
}

extension HTTPRequest {
  /// Servers and proxies commonly refuse lines beyond 8 KiB; 800 Sina symbols need 7.2 KB.
  static let pathBytesMax = 16_384

  /// The URL, or nil if the path is not an absolute path of printable ASCII without a fragment.
  /// The path goes out as it is: Sina refuses percent-encoded commas and dollars.
  var url: String? {
    let isSendable = path.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }
    guard path.hasPrefix("/"), path.utf8.count <= HTTPRequest.pathBytesMax, isSendable else {
      return nil
    }
    return base.description + path
  }
}
