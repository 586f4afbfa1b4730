/// What the queries have in common: where to ask, how to print, and how people spell instruments
/// and times.

import ArgumentParser
import Commands
import Feeds
import Market
import Operations
import Postgres
import Reader
import TerminalView

struct QueryOptions: ParsableArguments {
  @OptionGroup var configuration: ConfigurationOptions

  @Option(help: "The output format: table, csv, json or jsonl.")
  var format = ResultFormat.table

  @Flag(help: "The same as --format json.")
  var json = false

  /// Asks, and prints the rows that come of it.
  func print(
    _ columns: [ResultColumn], rows: (StoreReader) throws -> [[ResultCell]]
  ) throws {
    let found = try rows(StoreReader(url: configuration.load().storeAddress()))
    let writer = ResultWriter(format: json ? .json : format, columns: columns)
    try StandardOutput.write(lines: writer.lines(of: found))
  }
}

/// What is kept a day and an instrument, and may be asked for by both.
struct LedgerOptions: ParsableArguments {
  @Argument(help: "The instrument, in any spelling. (default: all)")
  var symbol: String?

  @Option(help: ArgumentHelp("Only this trading day.", valueName: "yyyy-mm-dd"))
  var date: DayArgument?

  @OptionGroup var query: QueryOptions

  /// Asks for the chosen day and instrument, nil for all, and prints the rows that come of it.
  func print(
    _ columns: [ResultColumn], rows: (StoreReader, TradingDay?, Symbol?) throws -> [[ResultCell]]
  ) throws {
    try query.print(columns) { queries in
      let chosen = try symbol.map { try SymbolDirectory(queries).resolve($0) }
      return try rows(queries, date?.day, chosen)
    }
  }
}

extension ResultFormat: ExpressibleByArgument {}

extension ResultColumn {
  static func leading(_ names: String...) -> [ResultColumn] { names.map { ResultColumn($0) } }
  static func trailing(_ names: String...) -> [ResultColumn] {
    names.map { ResultColumn($0, alignment: .trailing) }
  }
}

/// The instruments a database knows, for telling a spelling from a slip.
struct SymbolDirectory {
  private let known: Set<String>
  private let names: [String: String]

  private static let suggestionsMax = 3
  /// More slips than that in eight characters are another symbol.
  private static let slipsMax = 3

  init(_ queries: StoreReader) throws(StoreError) {
    let instruments = try queries.instruments()
    known = Set(instruments.map(\.symbol.description))
    names = Dictionary(
      instruments.map { ($0.symbol.description, $0.name ?? "") }, uniquingKeysWith: { $1 })
  }

  /// - Throws: `dataError` with the nearest known symbols.
  func resolve(_ spelling: String) throws(CommandFailure) -> Symbol {
    for spelling in [spelling, spelling.uppercased()] {
      if let symbol = Symbol(anySpelling: spelling), known.contains(symbol.description) {
        return symbol
      }
    }
    let nearest = nearest(to: spelling)
    let hint =
      if known.isEmpty {
        "the database has no instruments"
      } else if nearest.isEmpty {
        "`candled query instruments --like PART` finds a part of a symbol or name"
      } else {
        "nearest known: \(nearest.joined(separator: ", "))"
      }
    throw CommandFailure(
      status: .dataError, sentence: "\(spelling): not in this database; \(hint)")
  }

  func resolve(_ spellings: [String]) throws(CommandFailure) -> [Symbol] {
    try spellings.map { (spelling) throws(CommandFailure) in try resolve(spelling) }
  }

  /// A name stands for its instruments, and a code without its exchange is nearest to what it is
  /// the code of.
  private func nearest(to spelling: String) -> [String] {
    let named = known.filter { names[$0]?.contains(spelling) == true }.sorted()
    if !named.isEmpty { return Array(named.prefix(Self.suggestionsMax)) }
    let wanted = spelling.lowercased()
    let scored = known.map { symbol in
      (symbol: symbol, distance: symbol.hasSuffix(wanted) ? 0 : editDistance(symbol, to: wanted))
    }
    return
      scored.filter { $0.distance <= Self.slipsMax }
      .sorted { ($0.distance, $0.symbol) < ($1.distance, $1.symbol) }
      .prefix(Self.suggestionsMax).map(\.symbol)
  }
}

/// A moment as people type it: RFC 3339, or a Shanghai date with or without a time.
struct MomentArgument: ExpressibleByArgument {
  /// A date alone is that whole day: it begins and ends.
  let first: Timestamp
  let end: Timestamp

  init?(argument: String) {
    if let day = TradingDay(argument) {
      first = Timestamp(day: day, secondOfDay: 0)
      end = Timestamp(day: day.advanced(by: 1), secondOfDay: 0)
      return
    }
    let joined = argument.split(separator: " ").joined(separator: "T")
    let spellings = [argument, joined + "+08:00", joined + ":00+08:00"]
    guard let moment = spellings.lazy.compactMap({ Timestamp(rfc3339: $0) }).first else {
      return nil
    }
    first = moment
    end = moment
  }
}

struct DayArgument: ExpressibleByArgument {
  let day: TradingDay

  init?(argument: String) {
    guard let day = TradingDay(argument) else { return nil }
    self.day = day
  }
}

/// A timeframe by its name; of one with a raw value the help would print that.
struct TimeframeArgument: ExpressibleByArgument {
  let value: Timeframe

  init(_ value: Timeframe) { self.value = value }

  /// An hour has two names, here as in SQL, and a week the one it has in the gateway's API.
  init?(argument: String) {
    let name = ["1h": "60m", "1wk": "1w"][argument] ?? argument
    guard let value = Timeframe(name: name) else { return nil }
    self.value = value
  }

  var defaultValueDescription: String { value.name }

  static var allValueStrings: [String] { Timeframe.allCases.map(\.name) }
}

/// A source with series of its own, by its name.
struct SourceArgument: ExpressibleByArgument {
  let value: Source

  private static let all = SourceRegistry.series.map(\.source).filter { $0.instruments == $0 }

  init?(argument: String) {
    guard let value = Self.all.first(where: { $0.name == argument }) else { return nil }
    self.value = value
  }

  static var allValueStrings: [String] { all.map(\.name) }
}
