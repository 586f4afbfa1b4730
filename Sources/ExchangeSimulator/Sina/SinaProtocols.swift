import Market

/// What Sina's hosts speak.
package enum SinaProtocols {
  package static let all: [any UpstreamProtocol] = [
    SinaQuoteProtocol(), SinaKlineProtocol(), SinaFileProtocol(), SinaNodeProtocol(),
  ]
}

extension UpstreamName {
  package static let sinaQuotes = UpstreamName("sina quotes")
  /// Sina's K-lines, factors, calendar and node lists.
  package static let sinaHistory = UpstreamName("sina history")
}

extension DemoUpstream {
  static let sina = DemoUpstream(name: "sina", key: nil, protocols: SinaProtocols.all)
}
