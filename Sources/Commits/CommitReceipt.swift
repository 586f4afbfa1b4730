import Market

/// What a commit wrote.
package struct CommitReceipt: Sendable, Hashable {
  /// What repairs changed beside candles.
  package struct Repairs: Sendable, Hashable {
    /// Their minutes were found.
    package var closedGaps = 0
    /// Another row took their place.
    package var supersededGaps = 0
    /// Gaps that were looked for once more.
    package var gapChecks = 0
    /// New, changed or resolved.
    package var disagreements = 0

    fileprivate var rows: Int { closedGaps + supersededGaps + gapChecks + disagreements }
  }

  /// Rows the database would not have: they are in `rejected`, and the rest is stored.
  package struct Refusals: Sendable, Hashable {
    package var rows = 0
    /// Why, of the first of them.
    package var first: String?
    /// Groups of rows that were tried and taken back to find them.
    package var groups = 0
  }

  /// Its place in the change feed; nil when nothing differed from what was stored, and so nothing
  /// was written.
  package var seq: Int64?
  package var instruments = 0
  package var quotes = 0
  package var candles = 0
  package var revisions = 0
  /// Opened.
  package var gaps = 0
  package var certificates = 0
  package var rejections = 0
  package var events = 0
  package var repairs = Repairs()
  /// The reference rows that are new, differ or ended.
  package var reference = 0
  package var refusals = Refusals()
  /// Instruments and days of which a file says otherwise than the exchange, for the first time.
  package var contradictedFactors: [String] = []
  /// Why this commit was not notified; followers find it by their timers.
  package var notifyFault: StoreError?
  /// The commit had been made before the connection was lost; this call only learnt of it, and
  /// the counts are not known.
  package var wasAlreadyStored = false

  package init(seq: Int64? = nil) { self.seq = seq }

  package var rows: Int {
    let account = instruments + quotes + candles + revisions + gaps + certificates + rejections
    return account + events + repairs.rows + reference
  }
}
