/// The sources there are. To register one, name its value in `all`.

import Market

package enum SourceRegistry {
  package static let all: [any SourceDefinition] = [Sina(), Mairui(), Alpaca()]

  /// nil for a code that no source has.
  package static func known(_ source: Source) -> (any SourceDefinition)? { byCode[source]?.0 }

  /// - Precondition: a source of this version's.
  package static func definition(of source: Source) -> any SourceDefinition {
    guard let definition = known(source) else {
      preconditionFailure("no source has the code \(source.rawValue)")
    }
    return definition
  }

  package static let series: [SourceSeries] = all.flatMap(\.series)

  /// - Precondition: a source with live quotes.
  package static func quotes(of source: Source) -> QuotesDeclaration {
    guard let quotes = definition(of: source).quotes else {
      preconditionFailure("\(source.name) has no live quotes")
    }
    return quotes
  }

  static func entry(of source: Source) -> SourceSeries? { byCode[source]?.1 }

  private static let byCode: [Source: (any SourceDefinition, SourceSeries)] = Dictionary(
    uniqueKeysWithValues: all.flatMap { definition in
      definition.series.map { ($0.source, (definition, $0)) }
    })
}

extension Source {
  /// As stored and shown: `alpaca_iex`; the code where no source has it.
  package var name: String { SourceRegistry.entry(of: self)?.name ?? "source_\(rawValue)" }

  package init?(name: String) {
    guard let found = SourceRegistry.series.first(where: { $0.name == name }) else { return nil }
    self = found.source
  }

  /// Whether nothing is booked of its instruments: it has bars in stretches of time alone.
  package var hasBarsAlone: Bool {
    if case .window = SourceRegistry.known(self)?.bars?.form { true } else { false }
  }

  /// - Precondition: a source with the newest bars of an instrument.
  package var newestBarsMax: Int {
    guard case .newest(let barsMax) = SourceRegistry.definition(of: self).bars?.form else {
      preconditionFailure("\(name) has no newest bars")
    }
    return barsMax
  }

  /// - Precondition: a source with bars in pages.
  package var pageBarsMax: Int {
    guard case .window(_, let pageBarsMax) = SourceRegistry.definition(of: self).bars?.form else {
      preconditionFailure("\(name) has no bars in pages")
    }
    return pageBarsMax
  }

  /// Whose series what it says belongs to.
  package var instruments: Source { SourceRegistry.entry(of: self)?.instruments ?? self }

  /// The date where its instruments are traded.
  package func today(at moment: Timestamp) -> TradingDay {
    SourceRegistry.definition(of: self).market.day(at: moment)
  }
}

extension ListPart {
  /// One that a source declares.
  package init?(stored name: String) {
    let parts = SourceRegistry.all.flatMap { $0.lists?.parts ?? [] }
    guard let part = parts.first(where: { $0.name == name }) else { return nil }
    self = part
  }
}
