// What is the same for every request of a client.

/// Limits and trust of a client.
package struct HTTPClientConfiguration: Sendable {
  /// Transfers at once with one host; each HTTP/1.1 transfer has a connection of its own. A
  /// whole-market sweep is seven requests, and upstreams are asked over few connections. A host
  /// that answers slowly holds up its own requests and nobody else's.
  package var transfersMax = 8
  /// Idle connections kept, of all hosts together.
  package var connectionsKeptMax = 24
  /// Requests waiting or in transfer; the next one is refused with `tooManyInFlight`.
  package var requestsMax = 64
  /// A PEM file with the certificates to trust instead of the system's.
  package var authoritiesPath: String?
  /// Whether a numeric address must not be connected to, asked before each connection; nil: any
  /// may be.
  package var refuses: (@Sendable (_ address: String) -> Bool)?
  /// A socket in the file system that every request goes to, whatever its base address; nil: none.
  package var socketPath: String?
  /// Below this rate for `lowSpeedSeconds` a transfer is given up as a timeout.
  package var lowSpeedBytesPerSecond = 64
  package var lowSpeedSeconds = 10

  package init() {}
}
