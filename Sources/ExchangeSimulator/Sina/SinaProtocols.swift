import Market

/// What of Sina's hosts a demo needs.
package enum SinaProtocols {
  package static let all: [any UpstreamProtocol] = [
    SinaQuoteProtocol(), SinaKlineProtocol(), SinaFileProtocol(),
  ]
}

extension UpstreamName {
  package static let sinaQuotes = UpstreamName("sina quotes")
  /// K-lines, factors and, where they are spoken, the calendar and node lists.
  package static let sinaHistory = UpstreamName("sina history")
}

extension DemoUpstream {
  static let sina = DemoUpstream(name: "sina", key: nil, protocols: SinaProtocols.all)
}
