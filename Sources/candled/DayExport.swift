/// Writes the candles of a market's day into a file, some series at a time: the memory does not
/// grow with the market. All of a file is of one moment of the database.

import Commands
import Glibc
import Market
import Operations
import Postgres
import Reader
import TerminalView

struct DayExport {
  enum Outcome {
    case written(path: String, candles: Int)
    /// It was there before.
    case present(path: String)
    /// The day is not over.
    case early
    /// There are no candles.
    case empty
  }

  /// With a day's minutes 30,000 candles are in memory at once, a tenth of a second of reading.
  private static let seriesAtOnce = 128

  private let reader: StoreReader
  private let folder: String
  private let timeframe: Timeframe
  private let format: ExportFormat
  private let series: [String: [MarketSeries]]
  private let stop: Interrupt

  /// - Parameters:
  ///   - series: by symbol.
  ///   - stop: ends the process with success, and leaves nothing of a file that is not complete.
  init(
    _ reader: StoreReader, folder: String, timeframe: Timeframe, format: ExportFormat,
    series: [MarketSeries], stop: Interrupt
  ) {
    self.reader = reader
    self.stop = stop
    self.folder = folder
    self.timeframe = timeframe
    self.format = format
    self.series = Dictionary(grouping: series, by: \.market)
  }

  func write(_ each: MarketDay) throws -> Outcome {
    let (market, day) = (each.market, each.day)
    guard let series = series[market] else { return .empty }
    let place = "\(folder)/market=\(market)"
    let path = "\(place)/\(day).\(format.rawValue)"
    guard access(path, F_OK) != 0 else { return .present(path: path) }
    guard try reader.isOver(day, in: market) else { return .early }
    return try reader.whileHolding {
      var file: CompleteFile?
      var count = 0
      for first in stride(from: 0, to: series.count, by: Self.seriesAtOnce) {
        if stop.isSignalled { throw CommandFailure.silent(.ok) }
        let part = series[first..<min(first + Self.seriesAtOnce, series.count)]
        let rows = try rows(of: part, on: day, in: market)
        guard !rows.isEmpty else { continue }
        let lines = ResultWriter(format: format.result, columns: Self.columns).lines(of: rows)
        // Each part of a CSV comes with the header.
        let skipped = file != nil && format == .csv ? 1 : 0
        let target = try file ?? CompleteFile(path, in: place)
        try target.write(lines: lines, skipping: skipped)
        file = target
        count += rows.count
      }
      guard let file else { return .empty }
      try file.finish()
      return .written(path: path, candles: count)
    }
  }

  private static let columns = [ResultColumn("symbol")] + QueryCandles.columns

  /// By symbol and source, and time.
  private func rows(
    of series: ArraySlice<MarketSeries>, on day: TradingDay, in market: String
  ) throws -> [[ResultCell]] {
    var found: [MarketSeries: [CandleRecord]] = [:]
    for (source, series) in Dictionary(grouping: series, by: \.source) {
      let rows = try reader.candles(
        of: series.map(\.symbol), timeframe: timeframe, on: day, in: market, from: source)
      for (symbol, candle) in rows {
        let key = MarketSeries(market: market, symbol: symbol, source: source)
        found[key, default: []].append(candle)
      }
    }
    return series.flatMap { series in
      (found[series] ?? []).sorted { $0.openedAt < $1.openedAt }.map { candle in
        [.text(series.symbol.description)] + QueryCandles.cells(candle)
      }
    }
  }
}
