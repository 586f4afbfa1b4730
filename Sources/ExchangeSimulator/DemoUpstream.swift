/// An upstream as the demo's exchange plays it; each declares its own in its folder.
package struct DemoUpstream: Sendable {
  /// The source's.
  package let name: String
  /// What a credential file has to hold; nil where no key is asked for.
  package let key: String?
  package let protocols: [any UpstreamProtocol]

  /// The registry.
  package static let all: [DemoUpstream] = [.sina, .alpaca]
}
