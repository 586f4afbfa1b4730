/// The parts of a connection URL that hold secrets, read as libpq reads them
/// (conninfo_uri_parse_options in fe-connect.c): credentials end at the first `@` that no `/` is
/// before, a `?` has no meaning in them, and nothing is a fragment.

import Market

struct ConnectionURL {
  /// `user:password`
  private let credentials: Substring?
  /// Hosts, database and parameters.
  private let rest: Substring

  init?(_ text: String) {
    guard let scheme = text.firstRange(of: "://") else { return nil }
    let body = text[scheme.upperBound...]
    if let end = body.firstIndex(where: { $0 == "@" || $0 == "/" }), body[end] == "@" {
      credentials = body[..<end]
      rest = body[body.index(after: end)...]
    } else {
      credentials = nil
      rest = body
    }
  }

  /// Whether its writer meant other parts than libpq sees: of a password with a `/` it takes the
  /// half before for a port, of one with an `@` the half behind for a host, and tells either.
  var isAmbiguous: Bool { rest.prefix { $0 != "?" }.contains("@") }

  /// The passwords, as they stand there and percent-decoded; empty when it has none.
  var passwords: [String] {
    var passwords: [Substring] = []
    if let credentials, let colon = credentials.firstIndex(of: ":") {
      passwords.append(credentials[credentials.index(after: colon)...])
    }
    for parameter in rest.drop(while: { $0 != "?" }).dropFirst().split(separator: "&") {
      for name in ["password=", "sslpassword="] where parameter.hasPrefix(name) {
        passwords.append(parameter.dropFirst(name.count))
      }
    }
    return passwords.filter { !$0.isEmpty }.flatMap { password in
      [String(password), String(percentEncoded: password)].compactMap(\.self)
    }
  }
}

extension Setting where Value == Secret? {
  /// May hold a password, and is treated as one whole secret.
  static func connectionURL(_ key: String, unset: String, help: String) -> Self {
    Setting(
      key, kind: "URL", default: nil, range: "unset: \(unset)", isSecret: true, help: help,
      write: { $0.map { _ in SecretMask.replacement.quoted } },
      read: { input in
        if case .string("") = input { return nil }
        guard case .string(let text) = input,
          ["postgres://", "postgresql://"].contains(where: text.hasPrefix)
        else { throw SettingMismatch(expected: "a URL that begins with postgres://") }
        if ConnectionURL(text)?.isAmbiguous == true {
          throw SettingMismatch(
            expected: "a URL with one @ at most, before the host (in a user or password write / as "
              + "%2F and @ as %40)")
        }
        return Secret(text)
      })
  }
}
