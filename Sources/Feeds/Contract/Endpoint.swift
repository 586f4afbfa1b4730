/// A request as a feed describes it: a path and headers, nothing that names a host.
///
/// Feeds say *what* to ask; which host answers is configuration, and only Transport puts the two
/// together. An endpoint therefore never holds a URL, and `route` is what logs and metrics show:
/// it must never carry a symbol list, a key or anything else of unbounded variety.

package struct Endpoint: Sendable, Hashable {
  /// The template for logs and metric labels, `/list={symbols}`.
  package let route: String
  /// Path and query as they go on the wire, already encoded, beginning with a slash.
  package let path: String
  package let headers: [Header]

  package struct Header: Sendable, Hashable {
    package let name: String
    package let value: String
  }
}

extension Endpoint.Header: CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// The name alone: the value may be a key.
  package var description: String { name }
  package var debugDescription: String { name }
  package var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}

extension Endpoint: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The route alone: a path may hold a licence, a header a key.
  package var description: String { route }
  package var debugDescription: String { route }
  package var customMirror: Mirror { Mirror(self, children: ["route": route]) }
}
