/// What libpq says of a connection string (or a `PG…` variable) that parses and cannot be used. It
/// quotes the value, which may be half a password: only the option's name is passed on. That a host
/// or a socket is not there is no such complaint.

package enum AddressComplaint {
  /// How its texts begin (fe-connect.c of 15, in English: no locale is set here), and ours.
  private static let kinds: [(beginning: String, sentence: String)] = [
    ("invalid port number", "a port is not in 1…65535"),
    ("invalid SSL protocol version range", "the range of TLS versions is empty"),
    ("could not match ", "hosts, addresses and ports differ in number"),
    ("could not parse network address ", "hostaddr is not a numeric address"),
    ("Unix-domain socket path ", "the path of the socket is too long"),
    ("definition of service ", "the service is not defined"),
    ("service file ", "the service file does not exist"),
  ]

  /// - Returns: nil unless every line is about the string, for another host might do.
  static func sentence(for text: String) -> String? {
    let sentences = text.split(separator: "\n").map(sentence(forLine:))
    guard let first = sentences.first ?? nil, !sentences.contains(nil) else { return nil }
    return "the connection string cannot be used: \(first)"
  }

  static func sentence(forLine line: Substring) -> String? {
    var complaint = line
    if line.hasPrefix("connection to server "), let cause = line.firstRange(of: " failed: ") {
      complaint = line[cause.upperBound...]
    }
    if let kind = kinds.first(where: { complaint.hasPrefix($0.beginning) }) { return kind.sentence }
    guard complaint.hasPrefix("invalid ") else { return nil }
    return "\(option(in: complaint) ?? "one of its values") is not valid"
  }

  /// `invalid integer value "abc" for connection option "port"`, `invalid sslmode value: "abc"`
  private static func option(in complaint: Substring) -> String? {
    AddressOptions.keywords.first {
      complaint.hasSuffix("\" for connection option \"\($0)\"")
        || complaint.hasPrefix("invalid \($0) value: ")
    }
  }
}
