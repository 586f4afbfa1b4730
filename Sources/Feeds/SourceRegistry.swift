/// The sources there are. To register one, name its value in `candled`.

import Market

package enum SourceRegistry {
  package static var all: [any SourceDefinition] { sources.all }

  private static let candled = Sources([Sina(), Tencent(), Mairui(), Alpaca()])

  private static var sources: Sources { other ?? candled }

  /// Other sources in the place of candled's, for a test and the tasks below it.
  @TaskLocal private static var other: Sources?

  package static func with<Answer>(
    _ all: [any SourceDefinition], isolation: isolated (any Actor)? = #isolation,
    _ work: () async throws -> Answer
  ) async rethrows -> Answer {
    try await $other.withValue(Sources(all), operation: work)
  }

  /// Whether others stand in the place of candled's.
  package static var isReplaced: Bool { other != nil }

  /// nil for a code that no source has.
  package static func known(_ source: Source) -> (any SourceDefinition)? {
    sources.byCode[source]?.definition
  }

  /// - Precondition: a source of this version's.
  package static func definition(of source: Source) -> any SourceDefinition {
    guard let definition = known(source) else {
      preconditionFailure("no source has the code \(source.rawValue)")
    }
    return definition
  }

  package static var series: [SourceSeries] { sources.series }

  /// The series that live quotes are booked in, one a market, the mainland's first.
  package static var liveSeries: [Source] {
    let live = all.filter { $0.quotes != nil }.sorted { $0.market.code < $1.market.code }
    return live.map(\.mainSeries.instruments).reduce(into: []) { series, source in
      if !series.contains(source) { series.append(source) }
    }
  }

  /// The sources with live quotes of a series, the one of the lowest priority first.
  package static func liveSources(of series: Source) -> [any SourceDefinition] {
    all.filter { $0.quotes != nil && $0.mainSeries.instruments == series }
      .sorted { $0.priority < $1.priority }
  }

  /// - Precondition: a source with live quotes.
  package static func quotes(of source: Source) -> QuotesDeclaration {
    guard let quotes = definition(of: source).quotes else {
      preconditionFailure("\(source.name) has no live quotes")
    }
    return quotes
  }

  static func entry(of source: Source) -> SourceSeries? { sources.byCode[source]?.series }

  /// Sources, and their series by code.
  private struct Sources: Sendable {
    let all: [any SourceDefinition]
    let series: [SourceSeries]
    let byCode: [Source: (definition: any SourceDefinition, series: SourceSeries)]

    init(_ all: [any SourceDefinition]) {
      self.all = all
      series = all.flatMap(\.series)
      byCode = Dictionary(
        uniqueKeysWithValues: all.flatMap { definition in
          definition.series.map { ($0.source, (definition, $0)) }
        })
    }
  }
}

extension Source {
  /// The name as stored and shown: `alpaca_iex`; the code where no source has it.
  package var name: String { SourceRegistry.entry(of: self)?.name ?? "source_\(rawValue)" }

  package init?(name: String) {
    guard let found = SourceRegistry.series.first(where: { $0.name == name }) else { return nil }
    self = found.source
  }

  /// Whether nothing is booked of its instruments: it has bars in stretches of time alone.
  package var hasBarsAlone: Bool {
    guard let definition = SourceRegistry.known(self), case .window = definition.bars?.form else {
      return false
    }
    return definition.quotes == nil || self != definition.mainSeries
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
