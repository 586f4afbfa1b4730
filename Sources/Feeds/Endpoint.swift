/// A request as a feed describes it: a path and headers, nothing that names a host.
///
/// Feeds say *what* to ask; which host answers is configuration, and only Transport puts the two
/// together. An endpoint therefore never holds a URL, and `route` is what logs and metrics show:
/// it must never carry a symbol list, a key or anything else of unbounded variety.

public struct Endpoint: Sendable, Hashable {
  /// The template for logs and metric labels, `/list={symbols}`.
  public let route: String
  /// Path and query as they go on the wire, already encoded, beginning with a slash.
  public let path: String
  public let headers: [Header]

  public struct Header: Sendable, Hashable {
    public let name: String
    public let value: String

    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  public init(route: String, path: String, headers: [Header]) {
    self.route = route
    self.path = path
    self.headers = headers
  }
}

extension Endpoint.Header: CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// The name alone: the value may be a key.
  public var description: String { name }
  public var debugDescription: String { name }
  public var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}

extension Endpoint: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The route alone: a path may hold a licence, a header a key.
  public var description: String { route }
  public var debugDescription: String { route }
  public var customMirror: Mirror { Mirror(self, children: ["route": route]) }
}
