import Commits
import Ingest
import Market
import Postgres
import TestSupport

@testable import History
@testable import Reader

/// Tables in memory, filled with what a replay makes and altered by a test.
struct StoredTables: ReplayedTables {
  var candles: [Candle] = []
  var gaps: [Gap] = []
  var certificates: [DayCertificate] = []
  var refused: [Rejection] = []
  var quoteRows: [QuoteRow] = []
  var servingRows: [ServingRow] = []
  /// Days that bars were compared with, and the moment.
  var repairedAt: Timestamp?

  mutating func take(_ commit: Commit) {
    for candle in commit.candles + commit.revisions.map(\.candle) {
      candles.removeAll { CandleKey($0) == CandleKey(candle) }
      candles.append(candle)
    }
    gaps.removeAll { commit.closedGaps.contains($0) }
    gaps += commit.gaps
    certificates += commit.certificates
    refused += commit.rejections
    servingRows += commit.reference.serving
    let symbols = Set(commit.quotes.map(\.quote.symbol))
    quoteRows = quoteRows.filter { !symbols.contains($0.quote.symbol) } + commit.quotes
  }

  func instruments(of source: Source) -> [Symbol] {
    Set(candles.filter { $0.source == source }.map(\.symbol)).sorted()
  }

  func days(from first: TradingDay) -> [TradingDay] {
    Set(candles.map(\.tradingDay).filter { $0 >= first }).sorted()
  }

  func candles(of symbol: Symbol, day: TradingDay, before moment: Timestamp?) -> [StoredCandle] {
    candles.filter { $0.symbol == symbol && $0.tradingDay == day }
      .map { StoredCandle(candle: $0, knownFrom: $0.closedAt, revision: 0) }
  }

  func gaps(day: TradingDay) -> [GapRecord] {
    gaps.filter { $0.tradingDay == day }
      .map { GapRecord(gap: $0, state: "open", sightings: 0, knownFrom: $0.to) }
  }

  func certificates(day: TradingDay) -> [CertificateRecord] {
    certificates.filter { $0.tradingDay == day }
      .map { CertificateRecord(certificate: $0, repairedAt: repairedAt) }
  }

  func rejections(day: TradingDay) -> [RejectionRecord] {
    refused.filter { $0.receivedAt.shanghaiDay == day }.map { row in
      RejectionRecord(
        source: row.source, symbol: row.symbol?.description ?? "", reason: row.reason.rawValue,
        detail: "", payload: row.payload)
    }
  }

  func serving() -> [ServingRow] { servingRows }

  func quotes() -> [LatestQuote] {
    quoteRows.map { row in
      LatestQuote(
        quote: row.quote, source: row.source, name: row.name, forming: row.forming,
        receivedAt: row.receivedAt, seq: 1)
    }
  }
}

extension StoreSamples {
  static var certificate: DayCertificate {
    let (volume, turnover) = (ExactDecimal(900), ExactDecimal(units: 1_234, scale: 2))
    return DayCertificate(
      symbol: symbol(0), tradingDay: day, exchangeVolume: volume, exchangeTurnover: turnover,
      minuteVolume: volume, minuteTurnover: turnover, gapVolume: .zero, gapTurnover: .zero,
      afterHoursVolume: .zero, afterHoursTurnover: .zero, minutesTraded: 238, minutesUntraded: 2,
      minutesMissing: 0)
  }

  static func gap(_ number: Int) -> Gap {
    Gap(
      symbol: symbol(number), tradingDay: day, from: start, to: start.adding(seconds: 90),
      volume: ExactDecimal(100), turnover: ExactDecimal(1_000), cause: .outage)
  }

  static func rejection(_ number: Int) -> Rejection {
    Rejection(
      source: .live, receivedAt: start, symbol: symbol(number), reason: .malformed,
      detail: "3 fields", payload: Array("a,b,c".utf8))
  }
}
