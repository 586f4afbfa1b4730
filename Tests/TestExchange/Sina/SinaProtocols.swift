import ExchangeSimulator
import Market

/// What of Sina's hosts is asked every day.
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
