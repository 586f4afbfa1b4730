import Market

/// What Sina's hosts speak, and the faults that strike them.
package enum SinaProtocols {
  package static let all: [any UpstreamProtocol] = [
    SinaQuoteProtocol(), SinaKlineProtocol(), SinaFileProtocol(), SinaNodeProtocol(),
  ]
}

extension Fault.Upstream {
  package static let sinaQuotes = Fault.Upstream("sina quotes")
  /// Sina's K-lines, factors, calendar and node lists.
  package static let sinaHistory = Fault.Upstream("sina history")
}

extension Fault {
  /// A fault of the quotes.
  package init(
    _ kind: Kind, from: Timestamp? = nil, to: Timestamp? = nil, responsesMax: Int? = nil,
    symbols: Set<Symbol>? = nil, chancePerMille: Int = 1000
  ) {
    self.init(
      kind, on: .sinaQuotes, from: from, to: to, responsesMax: responsesMax, symbols: symbols,
      chancePerMille: chancePerMille)
  }

  /// No quotes between two moments.
  package static func silence(from: Timestamp, to: Timestamp) -> Fault {
    silence(on: .sinaQuotes, from: from, to: to)
  }
}

extension DemoUpstream {
  static let sina = DemoUpstream(name: "sina", key: nil, protocols: SinaProtocols.all)
}
