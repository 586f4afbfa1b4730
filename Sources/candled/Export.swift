/// `candled export`: candles of days that are over as files, one for each market and day.

import ArgumentParser
import Commands
import Market
import Operations
import Postgres
import Reader
import TerminalView

struct Export: ParsableCommand, DrainsOnSignal {
  static let configuration = CommandConfiguration(
    abstract: "Write days of candles as CSV or JSON lines.",
    discussion: Help.discussion(
      """
      Writes DIR/candles-TIMEFRAME/market=NAME/DAY.csv, a file for each market and day that has \
      candles, sorted by symbol and time, every number with the digits of the database. A file \
      is complete or not there, whenever the command ends. A file that is there is left as it is, \
      so that the same command goes on where it was ended: after a correction of a day, or to \
      export other symbols, delete its file. With --follow each later day is written once it has \
      its certificates or, where a market gives none, is over; a database that does not answer is \
      tried again. Parquet is written by the Python package: `python3 -m candled export`.
      """,
      examples: [
        "candled export --day 2026-07-06 --to days": "every minute of a day, as CSV",
        "candled export --day 2026-07-01..2026-07-06 --to days --format jsonl":
          "of several days, as JSON lines",
        "candled export --day 2026-07-06 --to days --market cn --timeframe 1d":
          "the day candles of one market",
        "candled export --day 2026-07-06 --to days --follow": "a day, and each later one",
      ]))

  @Option(
    help: ArgumentHelp("A trading day, or the first and the last.", valueName: "day[..day]"))
  var day: DaysArgument

  @Option(help: ArgumentHelp("The folder that the files go to.", valueName: "dir"))
  var to: String

  @OptionGroup var timeframe: TimeframeOption

  @Option(help: ArgumentHelp("Only this market: cn, us, … (default: all)", valueName: "name"))
  var market: String?

  @Option(
    help: ArgumentHelp(
      "Only these instruments, with commas between them. (default: all)", valueName: "symbols"))
  var symbols: String?

  @Option(help: "The format: csv or jsonl.")
  var format = ExportFormat.csv

  @Flag(help: "Go on with each day that closes, until a signal.")
  var follow = false

  @Option(help: ArgumentHelp("How often --follow looks.", valueName: "seconds"))
  var every = 60

  @OptionGroup var options: ConfigurationOptions

  var drains: Bool { follow }

  func validate() throws {
    if every < 1 { throw ValidationError("--every takes a number above 0") }
  }

  func run() throws {
    let address = try options.load().storeAddress()
    if follow {
      var follower = ExportFollower(self, address: address)
      return try follower.run()
    }
    let reader = try StoreReader(url: address)
    let export = try open(reader, until: Interrupt())
    var found = 0
    var early: [String] = []
    for each in try givenDays(reader) {
      switch try write(each, by: export) {
      case .written, .present: found += 1
      case .early:
        early.append("\(each.day) is not over in the market \(each.market): run again then")
      case .empty: continue
      }
    }
    guard early.isEmpty else {
      throw CommandFailure(status: .temporaryFailure, sentence: early.joined(separator: "\n"))
    }
    guard found > 0 else {
      throw CommandFailure(
        status: .noInput, sentence: "there are no \(timeframe.value.name) candles of \(day.text)")
    }
  }

  func open(_ reader: StoreReader, until stop: Interrupt) throws -> DayExport {
    try DayExport(
      reader, folder: "\(to)/candles-\(timeframe.value.name)", timeframe: timeframe.value,
      format: format, series: series(reader), stop: stop)
  }

  /// Writes the file if it lacks, and prints a line if it is there.
  func write(_ each: MarketDay, by export: DayExport) throws -> DayExport.Outcome {
    let outcome = try export.write(each)
    switch outcome {
    case .written(let path, let candles):
      try StandardOutput.write("\(path): \(counted(candles, "candle"))\n")
    case .present(let path): try StandardOutput.write("\(path): left as it is\n")
    case .early, .empty: break
    }
    return outcome
  }

  func givenDays(_ reader: StoreReader) throws -> [MarketDay] {
    let markets = try chosenMarkets(reader)
    return day.days.flatMap { day in markets.map { MarketDay(market: $0, day: day) } }
  }

  private func chosenMarkets(_ reader: StoreReader) throws -> [String] {
    let known = try reader.markets()
    guard let market else { return known }
    guard known.contains(market) else {
      throw CommandFailure(
        status: .dataError,
        sentence: "\(market): no market of this database; there are: "
          + known.joined(separator: ", "))
    }
    return [market]
  }

  private func series(_ reader: StoreReader) throws -> [MarketSeries] {
    let all = try reader.marketSeries()
    guard let symbols else { return all }
    let spellings = symbols.split(separator: ",").map(String.init)
    let chosen = Set(try SymbolDirectory(reader).resolve(spellings))
    return all.filter { chosen.contains($0.symbol) }
  }
}

enum ExportFormat: String, CaseIterable, ExpressibleByArgument {
  case csv, jsonl

  var result: ResultFormat { self == .csv ? .csv : .jsonl }
}

/// `2026-07-06`, or `2026-07-01..2026-07-06`.
struct DaysArgument: ExpressibleByArgument {
  let days: ClosedRange<TradingDay>
  let text: String

  init?(argument: String) {
    let ends = argument.split(separator: ".", omittingEmptySubsequences: false)
    guard ends.count == 1 || (ends.count == 3 && ends[1].isEmpty),
      let first = TradingDay(ends[0]), let last = TradingDay(ends[ends.count - 1]), first <= last
    else { return nil }
    days = first...last
    text = argument
  }
}
