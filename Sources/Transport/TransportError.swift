// Why a request has no response.
//
// One type for the module, and safe to log as it is: it holds a class, libcurl's own number and the
// label the caller gave the route. It must never hold a URL, a header, a body or libcurl's error
// buffer (which quotes host names and URLs).

package struct TransportError: Error, Sendable, Hashable {
  package enum Code: String, Sendable, CaseIterable {
    /// The deadline, the connect deadline or the low-speed guard ran out.
    case timeout
    /// Nobody accepted the connection.
    case connect
    /// The host has an address that the client must not connect to.
    case refusedAddress = "refused_address"
    /// The host name has no address.
    case resolve
    /// The handshake failed.
    case tls
    /// The peer did not prove who it is.
    case certificate
    /// The body, after inflation, or the header is larger than the request allows.
    case bodyTooLarge = "body_too_large"
    /// The connection broke before the answer was whole.
    case reset
    /// The peer closed in the middle of the body it had announced.
    case truncated
    /// The content encoding is damaged.
    case encoding
    /// The task that sent the request was cancelled.
    case cancelled
    /// As many requests as the client holds are already in flight.
    case tooManyInFlight = "too_many_in_flight"
    /// The client was shut down.
    case shutDown = "shut_down"
    /// The base address, the path or a header is not one that may be sent.
    case invalidRequest = "invalid_request"
    /// The system has no thread or memory for the client.
    case noResources = "no_resources"
    /// Anything else libcurl says.
    case other
  }

  package let code: Code
  /// The caller's name for what was asked, such as `sina-quotes`; empty where there was no request.
  package let route: String
  /// libcurl's own number, of `other`.
  private let curl: Int?

  package init(_ code: Code, route: String, curl: Int? = nil) {
    self.code = code
    self.route = route
    self.curl = curl
  }
}

extension TransportError: CustomStringConvertible {
  /// One sentence for people: `sina-quotes: the deadline ran out`.
  package var description: String { route.isEmpty ? sentence : "\(route): \(sentence)" }

  /// What happened, without the route.
  package var sentence: String {
    switch code {
    case .timeout: "the request timed out"
    case .connect: "the connection was refused"
    case .refusedAddress: "the host has an address that must not be called"
    case .resolve: "the host name has no address"
    case .tls: "the TLS handshake failed"
    case .certificate: "the server's certificate is not valid here"
    case .bodyTooLarge: "the response is larger than allowed"
    case .reset: "the connection broke before the response was complete"
    case .truncated: "the response ended before its announced length"
    case .encoding: "the compressed response is damaged"
    case .cancelled: "the request was cancelled"
    case .tooManyInFlight: "too many requests are in flight"
    case .shutDown: "the client was shut down"
    case .invalidRequest: "the address, path or header is not valid"
    case .noResources: "the system has no thread or memory left"
    case .other: "the transfer failed" + (curl.map { " (libcurl \($0))" } ?? "")
    }
  }
}
