import Commits
import Market
import Postgres
import Store
import TestSupport
import Testing

/// What is done about each class of SQLSTATE, and that nothing is dropped whatever it is.
@Suite struct SQLStateTests {
  private static let table: [(state: String, code: StoreError.Code)] = [
    ("08006", .connectionLost), ("08P01", .connectionLost), ("57P01", .connectionLost),
    ("57P03", .connectionLost), ("57014", .transient), ("25P02", .transient),
    ("25006", .connectionLost), ("40001", .transient), ("40P01", .transient),
    ("53100", .transient), ("53200", .transient), ("53300", .transient), ("54000", .transient),
    ("55P03", .transient), ("55006", .transient), ("58030", .transient), ("XX000", .transient),
    ("XX001", .operatorNeeded), ("0A000", .operatorNeeded), ("28P01", .operatorNeeded),
    ("3D000", .operatorNeeded), ("3F000", .operatorNeeded), ("42501", .operatorNeeded),
    ("42P01", .operatorNeeded), ("42703", .operatorNeeded), ("42883", .operatorNeeded),
    ("F0001", .operatorNeeded), ("22003", .rowRefused), ("22021", .rowRefused),
    ("22P02", .rowRefused), ("23502", .rowRefused), ("23505", .rowRefused),
    ("23514", .rowRefused), ("P0001", .refused), ("21000", .refused), ("ZZ999", .refused),
  ]

  @Test func `each class of SQLSTATE has its remedy`() {
    for (state, code) in Self.table {
      #expect(StoreError.code(forSQLState: state) == code, "\(state)")
    }
    #expect(StoreError.code(forSQLState: nil) == .connectionLost)
  }

  /// Raised where no row is to blame: in the statement that moves the journal's position.
  @Test(arguments: table.map(\.state))
  func `a commit that any SQLSTATE stopped is stored once it is gone`(_ state: String) async throws
  {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    try database.execute(
      """
      create function candled.fault() returns trigger language plpgsql as $$
      begin
        raise exception using errcode = '\(state)', message = 'on order';
      end
      $$;
      create trigger fault before update on candled.journal_position
        execute function candled.fault()
      """)
    var samples = StoreSamples(seed: 31)
    let commit = samples.minute(0, position: 1, instruments: 3)
    let error = await #expect(throws: StoreError.self) { try await writer.commit(commit) }
    #expect(error?.code == StoreError.code(forSQLState: state))
    #expect(error?.sqlState == state)
    #expect(try database.value("select count(*) from candled.rejected") == "0")
    try database.execute("drop trigger fault on candled.journal_position")
    let receipt = try await writer.commit(commit)
    #expect(receipt.candles == 3 && receipt.quotes == 3 && receipt.seq == 1)
    #expect(receipt.refusals.rows == 0)
  }

  @Test func `a right that is taken away and given back heals without a restart`() async throws {
    let database = try StoreDatabase()
    let role = "daemon_without_rights"
    try database.execute("create role \(role) login in role candled nosuperuser")
    let writer = StoreWriter(url: database.url(role: role))
    try await writer.connect()
    try database.execute("revoke insert on candled.candle from candled")
    var samples = StoreSamples(seed: 32)
    let commit = samples.minute(0, position: 1, instruments: 3)
    let error = await #expect(throws: StoreError.self) { try await writer.commit(commit) }
    #expect(error?.code == .operatorNeeded)
    try database.execute("grant insert on candled.candle to candled")
    #expect(try await writer.commit(commit).candles == 3)
  }

  @Test func `a database that will have nothing at all loses nothing`() async throws {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    try database.execute(
      "alter table candled.candle add constraint nothing_fits check (volume < 0)")
    var samples = StoreSamples(seed: 33)
    let commit = samples.minute(0, position: 1, instruments: 1_200)
    let error = await #expect(throws: StoreError.self) { try await writer.commit(commit) }
    #expect(error?.code == .refused)
    #expect(error?.message.hasPrefix("more than 1000 rows of one commit are refused") == true)
    for table in ["quote", "candle", "rejected", "change"] {
      #expect(try database.value("select count(*) from candled.\(table)") == "0", "\(table)")
    }
    try database.execute("alter table candled.candle drop constraint nothing_fits")
    #expect(try await writer.commit(commit).candles == 1_200)
  }
}
