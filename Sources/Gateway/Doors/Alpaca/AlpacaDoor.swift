/// Alpaca's market data API (docs.alpaca.markets): unmodified alpaca-py reads the instruments of
/// every market here. What clients check strictly is as they want it, and nothing is made up: there
/// are no trades, and no quote where there is no book.

import HTTPTypes
import Reader

enum AlpacaDoor {
  static let door = Door(
    path: "/v2",
    error: .named("AlpacaError", .object([.init("code", .integer), .init("message", .string)])),
    refusal: .unprocessableContent
  ) { problem in
    JSONWriter.encode { error in
      error.member("code") { $0.integer(code(of: problem)) }
      error.member("message") { $0.string(message(of: problem)) }
    }
  }

  /// The status and four digits more, as Alpaca's: 40010001 is what its clients know for a request
  /// that is not well formed.
  private static func code(of problem: Problem) -> Int64 {
    Int64(problem.status.code) * 100_000 + (problem.status.code == 400 ? 10_001 : 10_000)
  }

  /// There is one member for everything.
  private static func message(of problem: Problem) -> String {
    let faults = problem.faults.map { fault in
      let found = fault.found.isEmpty ? "" : ", found \(fault.found)"
      return "\(fault.field): expected \(fault.expected)\(found)"
    }
    let nearest = problem.nearest.map { ["nearest: \($0.joined(separator: ", "))"] } ?? []
    return ([problem.title] + faults + nearest).joined(separator: " · ")
  }
}

/// Which series a symbol means. A feed that names a source of ours, `iex` or `sip`, is meant first;
/// any other feed has no effect, for there is one series of each instrument.
struct AlpacaSymbols: Sendable {
  private let directory: InstrumentDirectory
  private let source: String?
  private let currency: String?

  /// - Parameter currency: that of the prices; nil for each instrument's own.
  init(_ directory: InstrumentDirectory, feed: String?, currency: String? = nil) {
    self.directory = directory
    self.currency = currency?.uppercased()
    source = feed.flatMap { feed in
      directory.sourceNames.first { $0 == feed || $0.hasSuffix("_\(feed)") }
    }
  }

  func place(_ symbol: String) -> SeriesPlace? {
    let named = source.flatMap { directory.place(spelling: symbol, source: $0) }
    return named ?? directory.place(spelling: symbol)
  }

  /// - Throws: 404; 422 where its prices are in another currency.
  func series(_ symbol: String) throws(Problem) -> SeriesPlace {
    guard let place = place(symbol) else { throw .unknownSymbol(symbol, in: directory) }
    try requireCurrency(of: place)
    return place
  }

  /// Each symbol once; unknown ones are left out, as Alpaca does.
  /// - Throws: 422 where prices of one are in another currency.
  func series(ofAll symbols: [String]) throws(Problem) -> [(symbol: String, place: SeriesPlace)] {
    var seen: Set<String> = []
    var found: [(symbol: String, place: SeriesPlace)] = []
    for symbol in symbols where seen.insert(symbol).inserted {
      guard let place = place(symbol) else { continue }
      try requireCurrency(of: place)
      found.append((symbol, place))
    }
    return found
  }

  private func requireCurrency(of place: SeriesPlace) throws(Problem) {
    let series = directory[place]
    guard let currency, currency != series.currency else { return }
    throw .unstorable(
      "currency", expected: "\(series.currency), for prices of \(series.symbol) are not converted")
  }
}
