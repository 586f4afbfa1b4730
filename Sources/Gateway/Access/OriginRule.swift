/// Which pages may use the gateway in a browser: its own, and those of `gateway.origins`. There are
/// no cookies, so a foreign page could do nothing with a user's rights; what it could do is use the
/// user's network to reach a gateway that the internet cannot.
///
/// Such a page may have its own name resolved to the gateway's address (DNS rebinding), so that
/// `Origin` and `Host` agree. So a page under a name is the gateway's own only where the name is in
/// `gateway.hosts`. A browser's GET to its own origin carries no `Origin`: with `gateway.hosts`
/// every request is held to it; without, any `Host` will do, for programs name what they like.

import HTTPTypes
import Operations

package struct OriginRule: Sendable {
  private let origins: Set<String>
  private let hosts: Set<String>

  package init(origins: [String], hosts: [String] = []) {
    self.origins = Set(origins.map { $0.lowercased() })
    self.hosts = Set(hosts.map { $0.lowercased() })
  }

  package enum Verdict: Sendable, Hashable {
    /// No page, or the gateway's own.
    case own
    /// A page that may read the answer.
    case listed(String)
    case foreign
    /// Sent to a name that is not the gateway's.
    case misdirected
  }

  /// - Parameters:
  ///   - origin: the header of that name.
  ///   - host: what the request was sent to, `Host` or `:authority`.
  package func verdict(origin: String?, host: String?) -> Verdict {
    let host = host?.lowercased()
    let isOurs = host.map(isOurs) ?? false
    if !hosts.isEmpty, host != nil, !isOurs { return .misdirected }
    guard let origin else { return .own }
    let lower = origin.lowercased()
    if origins.contains(lower) { return .listed(origin) }
    guard isOurs, let host, let scheme = lower.firstRange(of: "://") else { return .foreign }
    return lower[scheme.upperBound...] == host ? .own : .foreign
  }

  /// A numeric address is resolved by nobody.
  private func isOurs(_ host: String) -> Bool {
    if host.hasPrefix("[") {
      return NumericAddress.bytes(String(host.dropFirst().prefix { $0 != "]" })) != nil
    }
    let name = String(host.prefix { $0 != ":" })
    return name == "localhost" || hosts.contains(name) || NumericAddress.bytes(name) != nil
  }

  /// What an answer to a page says, so that the browser hands it over.
  package func headers(for verdict: Verdict) -> [(name: String, value: String)] {
    var headers = origins.isEmpty ? [] : [(name: "Vary", value: "Origin")]
    if case .listed(let origin) = verdict {
      headers += [
        ("Access-Control-Allow-Origin", origin),
        (
          "Access-Control-Expose-Headers",
          "ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After, Warning"
        ),
      ]
    }
    return headers
  }

  /// What an answer to a preflight (`OPTIONS` with Access-Control-Request-Method) says beside.
  /// - Parameter methods: those of the path.
  static func preflightHeaders(methods: String?) -> HTTPFields {
    var headers: HTTPFields = [
      .accessControlAllowHeaders:
        "Authorization, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID",
      .accessControlMaxAge: "600",
    ]
    headers[.accessControlAllowMethods] = methods
    return headers
  }
}
