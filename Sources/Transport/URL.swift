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
    let pattern =
      #/(https?)://(\[[0-9a-f.]*:[0-9a-f:.]*\]|[a-z0-9.\-]+)(?::([0-9]+))?/?/#
    guard let found = try? pattern.wholeMatch(in: text.lowercased())?.output,
      let scheme = Scheme(rawValue: String(found.1)), BaseAddress.isHost(found.2)
    else { return nil }
    let port = found.3.map { UInt16($0) ?? 0 }
    if port == 0 { return nil }
    self.scheme = scheme
    host = String(found.2)
    self.port = port
  }

  /// Whether its length is right, and of a name that of each label, which no hyphen begins or ends.
  private static func isHost(_ host: Substring) -> Bool {
    guard host.utf8.count <= hostBytesMax else { return false }
    return host.hasPrefix("[")
      || host.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
        (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
      }
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
