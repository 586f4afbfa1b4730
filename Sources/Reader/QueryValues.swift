import Market
import Postgres

/// What queries return.

/// How the database stands, at one moment.
package struct StoreStatus: Sendable {
  /// How far the journal has become rows.
  package struct Feed: Sendable {
    /// The last journal entry whose effects are stored.
    package var position: JournalPosition
    /// The daemon's clock at that entry; nil before the first commit.
    package var knownAt: Timestamp?
    package var epoch: Int64
    /// The change that came last.
    package var lastSeq: Int64
    package var lastCommitAt: Timestamp?
    /// Seconds since then, by the server's clock.
    package var lastCommitAge: ExactDecimal?
  }

  /// The day of the newest quote, and what is stored of it.
  package struct Day: Sendable {
    package var tradingDay: TradingDay?
    package var quotes: Int64
    package var candles: Int64
    package var gaps: Int64
    package var rejections: Int64
  }

  /// The newest day with certificates, how many it has, and how many of them do not balance.
  package struct Certified: Sendable {
    package var day: TradingDay?
    package var certificates: Int64
    package var residuals: Int64
  }

  /// Where the database's rows come from.
  package struct Place: Sendable {
    /// primary, standby or logical_replica.
    package var role: String
    /// Seconds that a replica is behind: of what it has received, or since it received anything.
    package var lag: ExactDecimal?
    /// Who takes rows from here.
    package var replicas: [ReplicaLink]
  }

  package var place: Place
  package var feed: Feed
  package var instruments: Int64
  package var day: Day
  package var certified: Certified
  package var databaseBytes: Int64
  /// Filled share of the server's notification queue, 0…1.
  package var notificationQueue: ExactDecimal
  package var health: [SourceHealthRow]
  /// Who leads, or did last; nil if nobody ever has.
  package var leader: StoredLeader?
}

/// A term of the lease.
package struct StoredLeader: Sendable, Hashable {
  package var term: Int64
  /// The identity of its journal.
  package var holder: String
  /// The machine.
  package var host: String
  package var acquiredAt: Timestamp
  /// `leads`, or `expired`: then anybody may.
  package var state: String
}

/// Which candles are wanted, as the parameters of the function `candles`.
package struct CandleQuery: Sendable {
  package var symbol: Symbol
  package var timeframe: Timeframe
  /// Opened then or later.
  package var from: Timestamp?
  /// Opened before then.
  package var to: Timestamp?
  package var fill = CandleFill.none
  package var adjust = PriceAdjustment.raw
  /// What was believed then; nil for what is believed now.
  package var asOf: Timestamp?
  /// Whose series, where the symbol has several.
  package var source: String?
  /// How many at most, counted from the end; nil for all.
  package var newest: Int32?

  package init(_ symbol: Symbol, timeframe: Timeframe) {
    self.symbol = symbol
    self.timeframe = timeframe
  }
}

/// Of one series, so many of its newest candles.
package struct NewestCandles: Sendable {
  package var series: Int32
  /// One that is stored.
  package var timeframe: Timeframe
  package var count: Int32

  package init(of series: Int32, _ timeframe: Timeframe, count: Int32 = 1) {
    self.series = series
    self.timeframe = timeframe
    self.count = count
  }
}

/// What stands where a day that has candles lacks one.
package enum CandleFill: String, Sendable, CaseIterable {
  case none
  /// A flat candle at the close before it, flagged `filled`.
  case flat
}

/// Which prices a candle shows (docs/sources/sina.md#factors).
package enum PriceAdjustment: Sendable, Hashable {
  case raw
  /// Forward: divided by the factor of the day, so that the newest prices stand; or those of a day.
  case qfq(standsOn: TradingDay?)
  /// Backward: multiplied with the factor of the day, so that the first prices stand.
  case hfq
  /// Forward, for splits alone; volumes follow.
  case split

  /// Whether the newest prices stand, so that those of a day that is not over do.
  package var isOfNewest: Bool { [.raw, .qfq(standsOn: nil), .split].contains(self) }

  /// `raw`, `qfq`, `qfq:2025-06-30`, `hfq`, `split`.
  package var text: String {
    switch self {
    case .raw: "raw"
    case .qfq(nil): "qfq"
    case .qfq(let day?): "qfq:\(day)"
    case .hfq: "hfq"
    case .split: "split"
    }
  }

  package init?(text: String) {
    switch text {
    case "raw": self = .raw
    case "qfq", "total": self = .qfq(standsOn: nil)
    case "hfq": self = .hfq
    case "split": self = .split
    default:
      guard text.hasPrefix("qfq:"), let day = TradingDay(String(text.dropFirst(4))) else {
        return nil
      }
      self = .qfq(standsOn: day)
    }
  }
}

/// One thing known of a candle, as the function `why` tells it.
package struct CandleFact: Sendable, Hashable {
  /// `candle`, `rolled up`, `revision`, `change`, `served`, `gap`, `disagreement`, `factor`,
  /// `certificate`, `nothing`.
  package var what: String
  package var at: Timestamp
  /// For people.
  package var detail: String
}

/// Where two sources, or two readings, could not be reconciled, with its codes as words.
package struct DisagreementRecord: Sendable, Hashable {
  package var symbol: Symbol
  package var timeframe: String
  package var openedAt: Timestamp
  package var tradingDay: TradingDay
  package var field: String
  package var ours: ExactDecimal?
  package var theirs: ExactDecimal?
  package var ourSource: String
  package var theirSource: String
  /// `open` or `resolved`.
  package var state: String
  package var knownFrom: Timestamp
}

/// A gap and what became of it.
package struct GapRecord: Sendable, Hashable {
  package var gap: Gap
  /// `open`, `closed` or `permanent`.
  package var state: String
  /// How often its minutes were looked for in vain.
  package var sightings: Int16
  package var permanentReason: String?
  package var knownFrom: Timestamp
}

/// A certificate, with the residuals as the database reckons them.
package struct CertificateRecord: Sendable, Hashable {
  package var certificate: DayCertificate
  package var residualVolume: ExactDecimal?
  package var residualTurnover: ExactDecimal?
  /// nil if the day's end was not seen.
  package var isBalanced: Bool?
  /// When bars were last held against the day; nil if never.
  package var repairedAt: Timestamp?
}

/// A series of an instrument, with its codes as words.
package struct InstrumentRecord: Sendable, Hashable {
  package var symbol: Symbol
  package var name: String?
  package var exchange: String?
  package var kind: String?
  package var board: String?
  package var source: String
  package var firstSeen: Timestamp
}

/// A refused row, without the moment it came: a repetition may have come first.
package struct RejectionRecord: Sendable, Hashable {
  package var source: Source
  package var symbol: String
  package var reason: String
  package var detail: String
  package var payload: [UInt8]
}

/// What became of an instrument, and how long that was so.
package struct LinkRecord: Sendable, Hashable {
  package var link: InstrumentLink
  package var knownFrom: Timestamp
  /// nil while it stands.
  package var knownTo: Timestamp?
}
