import Candles
import Commits
import Market
import Testing

@testable import Store

/// The database in memory, as far as a restart and a comparison need it: later rows replace earlier
/// ones of their key, an equal rejection is kept once, everything else is a list.
struct Tables: Sendable, Equatable {
  struct CandleKey: Hashable {
    var symbol: Symbol
    var timeframe: Timeframe
    var openedAt: Timestamp
  }

  struct RejectionKey: Hashable {
    var day: TradingDay
    var symbol: Symbol?
    var reason: RejectionReason
    var payload: [UInt8]
  }

  struct QuoteState: Equatable {
    var quote: Quote
    var forming: Candle?
    var bookState: [UInt8]
    var receivedAt: Timestamp
    var servedBy: Source
  }

  struct CertificateKey: Hashable {
    var symbol: Symbol
    var day: TradingDay
  }

  var candles: [CandleKey: Candle] = [:]
  var revisions: [Revision] = []
  var gaps: [Gap] = []
  var certificates: [CertificateKey: DayCertificate] = [:]
  var events: [FeedEvent] = []
  var rejections: [RejectionKey: Rejection] = [:]
  var quotes: [Symbol: QuoteState] = [:]
  var names: [Symbol: String] = [:]
  var serving: [ServingRow] = []
  /// Final candles that were handed out a second time: there must be none.
  var candlesTwice: [Candle] = []
  private(set) var position = JournalPosition.start
  private(set) var knownAt: Timestamp?
  private var bookState: [UInt8] = []

  mutating func take(_ commit: Commit) {
    position = commit.position
    knownAt = commit.knownAt
    bookState = commit.bookState
    for row in commit.instruments { if let name = row.name { names[row.symbol] = name } }
    for candle in commit.candles {
      let key = CandleKey(candle)
      if candles.updateValue(candle, forKey: key) != nil { candlesTwice.append(candle) }
    }
    for revision in commit.revisions {
      candles[CandleKey(revision.candle)] = revision.candle
    }
    revisions += commit.revisions
    for gap in commit.closedGaps {
      if let place = gaps.lastIndex(of: gap) { gaps.remove(at: place) }
    }
    gaps += commit.gaps
    for certificate in commit.certificates {
      certificates[CertificateKey(symbol: certificate.symbol, day: certificate.tradingDay)] =
        certificate
    }
    events += commit.events
    serving += commit.reference.serving
    for rejection in commit.rejections {
      let key = RejectionKey(
        day: rejection.receivedAt.shanghaiDay, symbol: rejection.symbol,
        reason: rejection.reason, payload: rejection.payload)
      if rejections[key] == nil { rejections[key] = rejection }
    }
    for row in commit.quotes {
      quotes[row.quote.symbol] = QuoteState(
        quote: row.quote, forming: row.forming, bookState: row.bookState,
        receivedAt: row.receivedAt,
        servedBy: serving.last { $0.since <= row.receivedAt }?.source ?? row.source)
    }
  }

  /// What a restart finds, the instruments in another order than they were first seen in.
  var stored: StoredState {
    var state = StoredState(
      position: position, knownAt: knownAt, bookState: bookState,
      quotes: quotes.values.map { row in
        StoredState.InstrumentState(
          quote: row.quote, source: .live, servedBy: row.servedBy, name: names[row.quote.symbol],
          receivedAt: row.receivedAt, bookState: row.bookState)
      },
      epoch: 1, lastSeq: 0)
    state.serving = Array(serving.suffix(1))
    return state
  }

  static func == (left: Tables, right: Tables) -> Bool {
    left.differences(from: right).isEmpty
  }

  /// The tables in which two stores differ. The position may: entries that change nothing need
  /// not be committed.
  func differences(from other: Tables) -> [String] {
    var found: [String] = []
    func compare(_ table: String, _ isEqual: Bool) { if !isEqual { found.append(table) } }
    compare("candles", candles == other.candles)
    compare("revisions", revisions == other.revisions)
    compare("gaps", gaps == other.gaps)
    compare("audits", certificates == other.certificates)
    compare("events", events == other.events)
    compare("rejections", rejections == other.rejections)
    compare("names", names == other.names)
    compare("serving", serving == other.serving)
    compare(
      "quotes",
      quotes.mapValues { [$0.quote] } == other.quotes.mapValues { [$0.quote] }
        && quotes.mapValues(\.forming) == other.quotes.mapValues(\.forming))
    return found
  }

  func candles(of symbol: Symbol) -> [Candle] {
    candles.values.filter { $0.symbol == symbol }.sorted { $0.openedAt < $1.openedAt }
  }

  func rejections(of symbol: Symbol) -> [Rejection] {
    rejections.values.filter { $0.symbol == symbol }
  }
}

extension Tables.CandleKey {
  init(_ candle: Candle) {
    self.init(symbol: candle.symbol, timeframe: candle.timeframe, openedAt: candle.openedAt)
  }
}
