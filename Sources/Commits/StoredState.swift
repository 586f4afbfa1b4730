import Market

/// What a restart goes on from.
package struct StoredState: Sendable {
  /// A row of `quote`: the snapshot taken last, and how the book goes on from it.
  package struct InstrumentState: Sendable, Equatable {
    package var quote: Quote
    package var source: Source
    /// Who served then.
    package var servedBy: Source
    package var name: String?
    package var receivedAt: Timestamp
    package var bookState: [UInt8]

    package init(
      quote: Quote, source: Source, servedBy: Source, name: String?, receivedAt: Timestamp,
      bookState: [UInt8]
    ) {
      self.quote = quote
      self.source = source
      self.servedBy = servedBy
      self.name = name
      self.receivedAt = receivedAt
      self.bookState = bookState
    }

    package var symbol: Symbol { quote.symbol }
    package var tradingDay: TradingDay { quote.tradingDay }
  }

  /// Replay the journal after it.
  package var position: JournalPosition
  /// The identity of the journal it belongs to; empty where none was ever told.
  package var journal = ""
  /// The daemon's clock there; nil in a database that was never written to.
  package var knownAt: Timestamp?
  package var bookState: [UInt8]
  /// One for each row of `quote`, by instrument id.
  package var quotes: [InstrumentState]
  /// Of the change feed.
  package var epoch: Int64
  package var lastSeq: Int64
  /// Every series there is, by instrument id.
  package var instruments: [StoredInstrument] = []
  /// The last accepted list of each part.
  package var lists: [ListVerdict] = []
  /// Of each key, its last day.
  package var keyUsage: [KeyUsage] = []
  package var watermarks: [BarWatermark] = []
  /// Of every market, by exchange and day.
  package var sessions: [MarketSession] = []
  /// The last of each series; none where it is the series' own and always was.
  package var serving: [ServingRow] = []
  /// What became of instruments, those included that were ended.
  package var links: [StoredLink] = []

  package init(
    position: JournalPosition, knownAt: Timestamp?, bookState: [UInt8],
    quotes: [InstrumentState], epoch: Int64, lastSeq: Int64
  ) {
    self.position = position
    self.knownAt = knownAt
    self.bookState = bookState
    self.quotes = quotes
    self.epoch = epoch
    self.lastSeq = lastSeq
  }
}

/// A row of `instrument_link`.
package struct StoredLink: Sendable, Hashable {
  package var link: InstrumentLink
  /// It was not ended, and neither code is another instrument's now.
  package var stands: Bool

  package init(link: InstrumentLink, stands: Bool) {
    self.link = link
    self.stands = stands
  }
}

/// A row of `instrument`.
package struct StoredInstrument: Sendable, Hashable {
  package var row: InstrumentRow
  package var marks: InstrumentMarks
  /// nil where that is not known.
  package var firstSeen: Timestamp?

  package init(row: InstrumentRow, marks: InstrumentMarks, firstSeen: Timestamp? = nil) {
    self.row = row
    self.marks = marks
    self.firstSeen = firstSeen
  }
}
