import Candles
import Commits
import Feeds
import Market

/// Rows decided and not yet handed to the store, and what was counted of all of them. The latest
/// snapshots are not among them: their stages keep those, so an outage of the store costs memory
/// for candles alone.
struct PendingRows: Sendable {
  /// The rows that are handed over as they are.
  var commit = Commit(position: .start, knownAt: Timestamp(microseconds: 0))
  var overview: [Symbol: OverviewQuote] = [:]
  /// The latest row of each day counts.
  var keyUsage: [KeyDay: KeyUsage] = [:]
  var watermarks: [String: BarWatermark] = [:]
  private(set) var barCount = 0
  var counters = PipelineCounters()
  var rejectionsSeen = RejectionMemory()
  /// Of rows that count. Apart, for a rule that changed is broken by most of a day's rows.
  var breachesSeen = RejectionMemory()

  struct KeyDay: Hashable {
    var label: String
    var day: TradingDay
  }

  var isEmpty: Bool {
    commit.isEmpty && overview.isEmpty && keyUsage.isEmpty && watermarks.isEmpty
  }

  mutating func add(_ batch: BarBatch) {
    commit.bars.append(batch)
    barCount += batch.candles.count
  }

  mutating func add(_ output: CandleOutput) {
    commit.candles += output.candles
    commit.revisions += output.revisions
    add(gaps: output.gaps, closed: output.closedGaps)
    commit.certificates += output.certificates
    commit.events += output.events
    counters.count(output)
  }

  /// What was opened and closed between two commits was never there.
  private mutating func add(gaps opened: [Gap], closed: [Gap]) {
    commit.gaps += opened
    commit.closedGaps += commit.gaps.removeThose(in: closed)
  }

  /// Hands everything over and begins anew; the counts go on.
  mutating func handOver(at position: JournalPosition, knownAt: Timestamp) -> Commit {
    var handed = commit
    handed.position = position
    handed.knownAt = knownAt
    handed.reference.keyUsage = keyUsage.values.sorted { ($0.day, $0.label) < ($1.day, $1.label) }
    handed.reference.watermarks = watermarks.values.sorted { $0.chunk < $1.chunk }
    handed.reference.overview = overview.values.sorted { $0.symbol < $1.symbol }.map { row in
      OverviewRow(
        symbol: row.symbol.description, name: row.name, last: row.last, change: row.change,
        percentChange: row.percentChange, at: row.at ?? knownAt)
    }
    var begun = PendingRows()
    (begun.counters, begun.rejectionsSeen) = (counters, rejectionsSeen)
    begun.breachesSeen = breachesSeen
    self = begun
    return handed
  }
}

/// Totals since the pipeline was made.
package struct PipelineCounters: Sendable, Hashable {
  package var entries = 0
  package var snapshots = 0
  package var changedSnapshots = 0
  package var missingRows = 0
  package var rejectedRows: [RejectionReason: Int] = [:]
  package var droppedMembers: [OptionalMember: Int] = [:]
  package var ruleBreaches: [RuleBreach: Int] = [:]
  package var candles = 0
  package var gaps = 0
  package var revisions = 0
  package var certificates = 0
  package var balancedCertificates = 0
  /// The day's end was never seen, so there is nothing to balance against.
  package var unseenCertificates = 0
  /// Rows that contradicted what was known, by what came of it.
  package var disputes: [DisputeEvent.Kind: Int] = [:]
  /// What became known of codes.
  package var links = LinkCounts()

  package struct LinkCounts: Sendable, Hashable {
    /// By how well it is known.
    package var found: [InstrumentLink.Verdict: Int] = [:]
    /// Those suspected in the last 30 days that nobody has decided.
    package var suspected = 0
  }

  mutating func count(_ dropped: [DroppedMember]) {
    for each in dropped { droppedMembers[each.member, default: 0] += 1 }
  }

  mutating func count(_ output: CandleOutput) {
    candles += output.candles.count
    // One that grows is closed, and opened again as the larger one.
    gaps += output.gaps.count - output.closedGaps.count
    revisions += output.revisions.count
    certificates += output.certificates.count
    balancedCertificates += output.certificates.count { $0.isBalanced }
    unseenCertificates += output.certificates.count { $0.exchangeVolume == nil }
    for case .dispute(let dispute) in output.events { disputes[dispute.kind, default: 0] += 1 }
  }
}
