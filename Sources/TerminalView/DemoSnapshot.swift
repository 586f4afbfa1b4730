import Market

/// Everything the demo's terminal view shows at one moment: a plain value, so that a frame can be
/// drawn, compared and tested without a daemon, a clock or a terminal.
public struct DemoSnapshot: Sendable {
  /// Simulated time.
  public var at: Timestamp
  /// Simulated seconds per real second.
  public var speed: Int
  /// How many instruments are polled.
  public var instruments: Int

  public var sweeps = 0
  /// Rows of quotes taken.
  public var rows = 0
  /// Sweeps in the last simulated minute.
  public var sweepsPerMinute = ExactDecimal.zero
  public var requestsAnswered = 0
  /// Batches that had no answer before the next sweep was due, whatever the reason.
  public var requestsFailed = 0
  public var source = Condition("starting", .waiting)
  public var store = Condition("starting", .waiting)

  /// From the last byte of an answer to its rows being visible, µs of real time; nil before the
  /// first commit.
  public var lagMicroseconds: Int64?
  /// From the beginning of the last commit to its end, µs of real time.
  public var commitMicroseconds: Int64?
  public var commits = 0
  /// The change feed's last number.
  public var sequence: Int64 = 0

  public var candles = 0
  public var gaps = 0
  public var revisions = 0
  public var rejected = 0

  /// The first few of the market, in the order to show them.
  public var quotes: [DemoQuote] = []
  /// nil until the day's certificates are written, after its close.
  public var conservation: Conservation?
  /// The command line that opens the demo's database.
  public var psql = ""

  public init(at: Timestamp, speed: Int, instruments: Int) {
    self.at = at
    self.speed = speed
    self.instruments = instruments
  }

  public var phase: SessionPhase { SessionPhase(secondOfDay: at.shanghaiSecondOfDay) }

  /// A word on how something is doing, and whether that is well.
  public struct Condition: Sendable, Hashable {
    public enum Health: Sendable { case good, waiting, bad }

    public var word: String
    public var health: Health

    public init(_ word: String, _ health: Health) {
      self.word = word
      self.health = health
    }
  }

  /// How many of the day's certificates were written, and how many of those have no residual.
  public struct Conservation: Sendable, Hashable {
    public var certificates: Int
    public var balanced: Int

    public init(certificates: Int, balanced: Int) {
      self.certificates = certificates
      self.balanced = balanced
    }
  }
}

/// One instrument of the view, with its forming minute.
public struct DemoQuote: Sendable, Hashable {
  public var symbol: Symbol
  public var name: String
  /// Zero before the first trade.
  public var last: ExactDecimal
  public var previousClose: ExactDecimal
  /// nil between sessions.
  public var forming: Forming?

  /// The candle under way.
  public struct Forming: Sendable, Hashable {
    public var openedAt: Timestamp
    public var open: ExactDecimal
    public var high: ExactDecimal
    public var low: ExactDecimal
    public var close: ExactDecimal
    public var volume: ExactDecimal

    public init(
      openedAt: Timestamp, open: ExactDecimal, high: ExactDecimal, low: ExactDecimal,
      close: ExactDecimal, volume: ExactDecimal
    ) {
      self.openedAt = openedAt
      self.open = open
      self.high = high
      self.low = low
      self.close = close
      self.volume = volume
    }
  }

  public init(
    symbol: Symbol, name: String, last: ExactDecimal, previousClose: ExactDecimal,
    forming: Forming? = nil
  ) {
    self.symbol = symbol
    self.name = name
    self.last = last
    self.previousClose = previousClose
    self.forming = forming
  }

  /// Against the previous close, in per cent with two digits, half away from zero; nil where
  /// nothing traded or there is nothing to compare with.
  public var percentChange: ExactDecimal? {
    guard !last.isZero, !previousClose.isZero else { return nil }
    return try? ((last - previousClose) * ExactDecimal(100))
      .divided(by: previousClose, scale: 2)
  }
}
