import Ingest
import Market

/// What is special about a day of the ten years: of the exchange, of its sources, and of the
/// daemon. An ordinary day has nothing.
struct DecadePlan: Sendable {
  typealias Change = @Sendable (inout DecadeMarket) -> Void

  var day: TradingDay
  /// Whether the exchange trades, whatever a calendar says.
  var trades = true
  /// Seconds of continuous trading.
  var spans = [34_200..<41_400, 46_800..<53_820]
  /// Whether there is a closing auction.
  var hasClose = true
  /// Seconds in which nothing moves.
  var still: Range<Int>?
  /// Each instrument trades so often, and quotes are requested five times as often on days that
  /// are watched closely.
  var printSeconds = 600
  var cadenceSeconds = 600
  /// Whether Tencent is requested beside Sina.
  var hasBoth = false
  /// What happens to instruments before the first line.
  var changes: [Change] = []
  /// What the operator's file says of codes from that day on.
  var links: [InstrumentLink] = []
  /// Sources that keep yesterday's lines, and those that do not answer.
  var stale: Set<Source> = []
  var silent: [Source: Range<Int>] = [:]
  /// From that second on Tencent's volumes of stocks are a hundred times too large.
  var hundredfoldFrom: Int?
  /// Sina's lines have one field more.
  var hasExtraField = false
  /// Lists lack every instrument, or every second one.
  var listed = Listed.all
  /// Of factor files: a wrong one.
  var factorFault: (symbol: Symbol, fault: FactorFault)?
  /// When the daemon runs, in seconds of the day.
  var start = 8 * 3600 + 55 * 60
  var end = 16 * 3600 + 5 * 60
  var jumps: [WallClockJump] = []
  /// A stop and a start in the middle.
  var restartAt: Int?
  /// Something is missed on purpose: only sums are held against the truth.
  var mayMiss = false
  /// Whether the American market is recorded in the night behind it.
  var hasNight = false

  enum Listed: Sendable { case all, half, none }
  enum FactorFault: Sendable { case tenfold, tenth, twoRows }

  init(_ day: TradingDay) { self.day = day }

  /// Both sources, and sweeps that see each minute five times: four could miss one.
  mutating func watchClosely() {
    (printSeconds, cadenceSeconds, hasBoth) = (60, 12, true)
  }

  mutating func change(
    _ text: String, _ body: @escaping @Sendable (inout DecadeMarket.Instrument) -> Void
  ) {
    changes.append { $0.change(text, body) }
  }
}
