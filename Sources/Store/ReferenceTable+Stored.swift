import Commits
import Market
import Postgres

/// Reading back what a restart needs beside the quotes: the universe, what keys have spent, and how
/// far plans have come.
extension ReferenceTable {
  func read(into state: inout StoredState) throws(StoreError) {
    state.instruments = try storedInstruments(context: "load").map(\.stored)
    state.lists = try storedLists()
    state.keyUsage = try storedKeyUsage()
    state.watermarks = try storedWatermarks()
    state.sessions = try storedSessions()
    state.serving = try storedServing()
    state.links = try storedLinks()
  }

  private static let readInstruments = Statement(
    name: "read_stored_instruments",
    sql: """
      select id, symbol, source, exchange, kind, board, name, delisted_at, missed_lists,
        listed_part, first_seen
      from instrument
      where reused_on is null
      order by id
      """)

  /// With their ids, in their order.
  func storedInstruments(
    context: String
  ) throws(StoreError) -> [(id: Int32, stored: StoredInstrument)] {
    try connection.read(Self.readInstruments, context: context) { (row) throws(StoreError) in
      let id = try row.int32()
      let symbol = try row.symbol()
      let source = try row.source()
      let instrument = InstrumentRow(
        symbol: symbol, source: source, exchange: try row.optionalInt16().flatMap(Exchange.init),
        kind: try row.optionalInt16().flatMap(InstrumentKind.init),
        board: try row.optionalInt16().flatMap(Board.init), name: try row.optionalText())
      let marks = InstrumentMarks(
        symbol: symbol, source: source, delistedAt: try row.optionalDay(),
        missedLists: try row.int16(), listedPart: try row.optionalText())
      let stored = StoredInstrument(
        row: instrument, marks: marks, firstSeen: try row.timestamp())
      return (id, stored)
    }
  }

  private static let readLists = Statement(
    name: "read_accepted_lists",
    sql: """
      select distinct on (source, part) source, part, judged_at, rows, content_hash, detail
      from instrument_list
      where verdict = 'accepted'
      order by source, part, id desc
      """)

  private func storedLists() throws(StoreError) -> [ListVerdict] {
    try connection.read(Self.readLists, context: "load") { (row) throws(StoreError) in
      ListVerdict(
        source: try row.source(), part: try row.text(), decidedAt: try row.timestamp(),
        rows: Int(try row.int32()), contentHash: UInt64(bitPattern: try row.int64()),
        verdict: .accepted, detail: try row.text())
    }
  }

  private static let readKeyUsage = Statement(
    name: "read_key_usage",
    sql: """
      select distinct on (source, label)
        source, label, day, requests, parked_until, parked_reason, updated_at
      from api_key_usage
      order by source, label, day desc
      """)

  private func storedKeyUsage() throws(StoreError) -> [KeyUsage] {
    try connection.read(Self.readKeyUsage, context: "load") { (row) throws(StoreError) in
      var usage = KeyUsage(
        source: try row.source(), label: try row.text(), day: try row.day(),
        requests: Int(try row.int32()), parkedUntil: try row.optionalTimestamp())
      if let reason = try row.optionalText() {
        guard let parking = KeyParking.allCases.first(where: { $0.name == reason }) else {
          throw row.malformed()
        }
        usage.parkedReason = parking
      }
      usage.recordedAt = try row.timestamp()
      return usage
    }
  }

  private static let readWatermarks = Statement(
    name: "read_watermarks",
    sql: """
      select source, chunk, timeframe, through
      from bar_watermark
      order by source, chunk, timeframe
      """)

  private func storedWatermarks() throws(StoreError) -> [BarWatermark] {
    try connection.read(Self.readWatermarks, context: "load") { (row) throws(StoreError) in
      BarWatermark(
        source: try row.source(), chunk: try row.text(), timeframe: try row.code(),
        through: try row.timestamp())
    }
  }

  private static let readServing = Statement(
    name: "read_last_serving",
    sql: """
      select distinct on (series) series, since, source
      from serving
      order by series, since desc
      """)

  private func storedServing() throws(StoreError) -> [ServingRow] {
    try connection.read(Self.readServing, context: "load") { (row) throws(StoreError) in
      try row.servingRow()
    }
  }

  func storedSessions() throws(StoreError) -> [MarketSession] {
    try connection.read(MarketSession.readAll, context: "load") { (row) throws(StoreError) in
      try row.marketSession()
    }
  }
}
