import Commits
import Market
import Postgres

/// The one connection that writes, with what it knows of the database: instrument ids, the journal
/// position it left there, which months have a partition. Blocking; `StoreWriter` owns it.
///
/// A session ends with its connection. What must outlive it (a commit whose answer was lost) is
/// handed on as `PendingCommit`.
final class WriterSession {
  let connection: PostgresConnection
  var registry = InstrumentRegistry()
  var partitions: Set<Int32> = []
  /// The stored journal position, as far as this writer knows: the fence of the next commit.
  var position: JournalPosition
  let epoch: Int64
  /// What it writes under; nil for who has no journal of a daemon's.
  let lease: Lease?
  /// The lease's, or else the one that was found: also without a lease a writer ends with the term.
  let term: Int64
  /// Set from just before COMMIT is sent until its answer is here.
  var pending: PendingCommit?
  /// How far apart two checks of a gap must be.
  let confirmSeconds: Int32
  var notices = Notices()
  /// Rows on their way; kept between commits for its memory.
  var buffer = WireBuffer(capacity: 256 * 1024)

  /// Connects, makes the staging tables and reads the registry.
  /// - Throws: `connectionLost`, `operatorNeeded` on a replica, `schemaMismatch`, `leaseLost`.
  init(
    url: String, application: String = LeaseConnection.writerApplication, lease: Lease? = nil,
    gate: ConnectGate? = nil, confirmSeconds: Int64 = RepairTable.confirmSecondsDefault
  ) throws(StoreError) {
    self.confirmSeconds = Int32(clamping: confirmSeconds)
    connection = try gate.pass(.writer) { () throws(StoreError) in
      try PostgresConnection(url: url, application: application)
    }
    self.lease = lease
    try SchemaVersion.candled.require(connection)
    try ReplicaCheck.requirePrimary(connection)
    try connection.execute(Self.stagingTables, context: "connect")
    let milliseconds = max(2 * (lease?.milliseconds ?? 0), Self.idleMillisecondsMin)
    try connection.execute(
      "set idle_in_transaction_session_timeout = \(milliseconds)", context: "connect")
    let response = try connection.run(Self.readPosition, context: "connect")
    guard response.rowCount == 1 else {
      throw StoreError(.schemaMismatch, message: "journal_position has no row", context: "connect")
    }
    var row = response.row(0)
    let found = (epoch: try row.int64(), position: try row.int64(), term: try row.int64())
    position = JournalPosition(found.position)
    term = lease?.term ?? found.term
    if found.term != term { throw .leaseLost(term, to: found.term, context: "connect") }
    let renewed = try connection.run(Self.renewEpoch, context: "connect")
    var fresh = renewed.rowCount == 1 ? renewed.row(0) : nil
    epoch = try fresh?.int64() ?? found.epoch
    try readRegistry()
  }

  /// A leader or a backfill that was stopped in the middle of a transaction holds its rows no
  /// longer than this, should nobody be allowed to end its session.
  private static let idleMillisecondsMin: Int64 = 20_000

  /// Once a connection, without constraints: what is wrong is refused by the table behind. They
  /// are emptied at each commit, which for temporary tables writes no WAL and no catalog row.
  private static let stagingTables = """
    create temporary table quote_stage on commit delete rows as
    select \(QuoteColumns.staged.joined(separator: ", "))
    from quote
    with no data;
    create temporary table candle_stage on commit delete rows as
    select \(CandleColumns.stored.joined(separator: ", ")), 0::smallint as cause
    from candle
    with no data
    """

  static let readPosition = Statement(
    name: "read_position",
    sql: """
      select f.epoch, j.position, l.term
      from feed_sequence f
      cross join journal_position j
      cross join lease l
      """)

  /// In a database that was put back, seqs that followers have seen are given to other commits:
  /// the first who writes there says so before, with another epoch.
  private static let renewEpoch = Statement(
    name: "renew_epoch",
    sql: """
      update feed_sequence
      set
        epoch = case
          when identity is null then epoch
          else greatest(epoch + 1, (extract(epoch from clock_timestamp()) * 1000000)::bigint)
        end,
        identity = feed_identity()
      where identity is distinct from feed_identity()
      returning epoch
      """)

  func readRegistry() throws(StoreError) {
    var fresh = InstrumentRegistry()
    for (id, stored) in try reference.storedInstruments(context: "connect") {
      fresh.insert(InstrumentRegistry.Entry(id: id, row: stored.row))
    }
    registry = fresh
  }

  var quotes: QuoteTable { QuoteTable(session: self) }
  var candles: CandleTable { CandleTable(session: self) }
  var ranges: RangeTable { RangeTable(session: self) }
  var ledger: LedgerTable { LedgerTable(session: self) }
  var certificates: CertificateTable { CertificateTable(session: self) }
  var repairs: RepairTable { RepairTable(session: self) }
  var reference: ReferenceTable { ReferenceTable(session: self) }
  var factors: FactorTable { FactorTable(session: self) }

  /// The id of a series of the commit being written; its row was inserted first.
  func id(of symbol: Symbol, source: Source) -> Int32 {
    guard let id = registry[InstrumentRegistry.Series(symbol, source: source)] else {
      preconditionFailure("instruments are registered before rows refer to them")
    }
    return id
  }
}

extension WriterSession? {
  func opened() throws(StoreError) -> WriterSession {
    guard let self else {
      throw StoreError(.connectionLost, message: "not connected to PostgreSQL", context: "commit")
    }
    return self
  }
}

/// A commit whose outcome was unknown when the connection broke: the server knows it by this id.
struct PendingCommit {
  /// An xid8, as text.
  let transaction: String
  let backendProcess: Int32
  let position: JournalPosition
  let seq: Int64
}
