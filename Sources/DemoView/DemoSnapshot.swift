import Market

/// Everything the demo's terminal view shows at one moment: a plain value, so that a frame can be
/// drawn, compared and tested without a daemon, a clock or a terminal.
package struct DemoSnapshot: Sendable {
  /// Simulated time.
  package var at: Timestamp
  /// Simulated seconds per real second.
  package var speed: Int
  /// How many instruments are polled.
  package var instruments: Int

  package var polling = Polling()
  package var storing = Storing()
  package var results = Results()

  /// The first few of the market, in the order to show them.
  package var quotes: [DemoQuote] = []
  /// nil until the day's certificates are written, after its close.
  package var conservation: Conservation?
  /// The command line that opens the demo's database.
  package var psql = ""
  /// Lines to try on the gateway beside it; none if there is no gateway.
  package var gateway: [String] = []

  package init(at: Timestamp, speed: Int, instruments: Int) {
    self.at = at
    self.speed = speed
    self.instruments = instruments
  }

  package var phase: SessionPhase { SessionPhase(secondOfDay: at.shanghaiSecondOfDay) }

  /// What was asked of the source.
  package struct Polling: Sendable {
    package var sweeps = 0
    /// Rows of quotes taken.
    package var rows = 0
    /// Sweeps in the last simulated minute.
    package var sweepsPerMinute = ExactDecimal.zero
    package var requestsAnswered = 0
    /// Batches that had no answer before the next sweep was due, whatever the reason.
    package var requestsFailed = 0
    package var source = Condition("starting", health: .waiting)
  }

  /// What was committed.
  package struct Storing: Sendable {
    /// From the last byte of an answer to its rows being visible, µs of real time; nil before the
    /// first commit.
    package var lagMicroseconds: Int64?
    /// From the beginning of the last commit to its end, µs of real time.
    package var commitMicroseconds: Int64?
    /// The change feed's last number.
    package var sequence: Int64 = 0
    package var store = Condition("starting", health: .waiting)
  }

  /// What came of it.
  package struct Results: Sendable {
    package var candles = 0
    package var gaps = 0
    package var revisions = 0
    package var rejected = 0
  }

  /// A word on how something is doing, and whether that is well.
  package struct Condition: Sendable, Hashable {
    package enum Health: Sendable { case good, waiting, bad }

    package var word: String
    package var health: Health

    package init(_ word: String, health: Health) {
      self.word = word
      self.health = health
    }
  }

  /// How many of the day's certificates were written, and how many of those have no residual.
  package struct Conservation: Sendable, Hashable {
    package var certificates: Int
    package var balanced: Int

    package init(certificates: Int, balanced: Int) {
      self.certificates = certificates
      self.balanced = balanced
    }
  }
}

/// One instrument of the view, with its forming minute.
package struct DemoQuote: Sendable, Hashable {
  package var symbol: Symbol
  package var name: String
  /// Zero before the first trade.
  package var last: ExactDecimal
  package var previousClose: ExactDecimal
  /// The candle under way; nil between sessions.
  package var forming: Candle?

  package init(
    symbol: Symbol, name: String, last: ExactDecimal, previousClose: ExactDecimal,
    forming: Candle? = nil
  ) {
    self.symbol = symbol
    self.name = name
    self.last = last
    self.previousClose = previousClose
    self.forming = forming
  }

  /// Against the previous close; nil where nothing traded or there is nothing to compare with.
  package var percentChange: ExactDecimal? {
    last.isZero ? nil : last.percentChange(from: previousClose)
  }
}
