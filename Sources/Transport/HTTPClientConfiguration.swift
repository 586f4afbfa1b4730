// What is the same for every request of a client.

/// Limits and trust of a client.
public struct HTTPClientConfiguration: Sendable {
  /// Transfers at once with one host; each HTTP/1.1 transfer has a connection of its own. A
  /// whole-market sweep is seven requests, and upstreams are asked over few connections. A host
  /// that answers slowly holds up its own requests and nobody else's.
  public var transfersMax = 8
  /// Idle connections kept, of all hosts together.
  public var connectionsKeptMax = 24
  /// Requests waiting or in transfer; the next one is refused with `tooManyInFlight`.
  public var requestsMax = 64
  /// A PEM file with the certificates to trust instead of the system's.
  public var authoritiesPath: String?
  /// Empty: no proxy, whatever the environment says.
  public var proxy = ""
  /// Below this rate for `lowSpeedSeconds` a transfer is given up as a timeout.
  public var lowSpeedBytesPerSecond = 64
  public var lowSpeedSeconds = 10

  public init() {}
}
