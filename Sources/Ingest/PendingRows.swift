import Candles
import Commits
import Feeds
import Market

/// Rows decided and not yet handed to the store. Quotes coalesce: only the latest of an instrument
/// matters, so an outage of the store costs memory for candles alone.
struct PendingRows: Sendable {
  var candles: [Candle] = []
  var revisions: [Revision] = []
  var gaps: [Gap] = []
  var closedGaps: [Gap] = []
  var certificates: [DayCertificate] = []
  var events: [FeedEvent] = []
  var rejections: [Rejection] = []
  /// By the book's index.
  var names: [Int: String] = [:]
  var overview: [Symbol: OverviewQuote] = [:]
  var bars: [BarBatch] = []
  private(set) var barCount = 0
  var factors: [FactorBatch] = []
  /// The latest row of each day counts.
  var keyUsage: [KeyDay: KeyUsage] = [:]
  var lists: [ListVerdict] = []
  var listed: [InstrumentRow] = []
  var marks: [InstrumentMarks] = []
  var sessions: [MarketSession] = []
  var watermarks: [String: BarWatermark] = [:]
  /// Comes with the certificates of a day.
  var firstDayAvailable: TradingDay?
  private(set) var dirtyIndexes: [Int] = []
  private var isDirty: [Bool] = []

  struct KeyDay: Hashable {
    var label: String
    var day: TradingDay
  }

  var isEmpty: Bool {
    candles.isEmpty && revisions.isEmpty && gaps.isEmpty && closedGaps.isEmpty
      && certificates.isEmpty && events.isEmpty
      && rejections.isEmpty && names.isEmpty && overview.isEmpty && dirtyIndexes.isEmpty
      && isEmptyOfFeeds
  }

  private var isEmptyOfFeeds: Bool {
    bars.isEmpty && factors.isEmpty && keyUsage.isEmpty && lists.isEmpty && listed.isEmpty
      && marks.isEmpty && sessions.isEmpty && watermarks.isEmpty
  }

  mutating func add(_ batch: BarBatch) {
    bars.append(batch)
    barCount += batch.candles.count
  }

  /// The instrument's quote row must be written.
  mutating func dirty(_ index: Int) {
    while isDirty.count <= index { isDirty.append(false) }
    if isDirty[index] { return }
    isDirty[index] = true
    dirtyIndexes.append(index)
  }

  /// Hands everything over and begins anew; the table of dirty instruments stays, for its memory.
  mutating func handOver() -> PendingRows {
    for index in dirtyIndexes { isDirty[index] = false }
    var rows = PendingRows()
    swap(&rows.isDirty, &isDirty)
    swap(&rows, &self)
    return rows
  }

  /// What was opened and closed between two commits was never there.
  private mutating func add(gaps opened: [Gap], closed: [Gap]) {
    gaps += opened
    for gap in closed {
      if let place = gaps.lastIndex(of: gap) {
        gaps.remove(at: place)
      } else {
        closedGaps.append(gap)
      }
    }
  }

  mutating func add(_ output: CandleOutput) {
    candles += output.candles
    revisions += output.revisions
    add(gaps: output.gaps, closed: output.closedGaps)
    certificates += output.certificates
    events += output.events
    for index in output.touched { dirty(index) }
  }
}
