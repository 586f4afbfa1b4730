import Commits
import EmbeddedPostgres
import Market
import Store
import TestSupport
import TestTraits
import Testing

/// What a consumer of a publication receives, Kafka's connectors say: by PostgreSQL's own
/// pg_recvlogical, as docs/replicas.md shows.
@Suite(.ownThread) struct PublicationTests {
  @Test func `a candle arrives with every digit, and its revision as an update`() async throws {
    let database = try StoreDatabase.alone()
    let writer = try await freshWriter(database)
    let slot = try ReceivingSlot(on: database)
    var samples = StoreSamples(seed: 51)
    let first = samples.minute(0, position: 1, instruments: 5)
    var second = samples.minute(1, position: 2, instruments: 5)
    var revised = first.candles[2]
    revised.volume = ExactDecimal(units: 1_234_500, scale: 3)
    revised.turnover = ExactDecimal(units: 7, scale: 3)
    second.revisions = [Revision(candle: revised, cause: .latePrint)]
    for commit in [first, second] { _ = try await writer.commit(commit) }

    let changes = try slot.changes(of: "candled_candles")
    let instruments = try Self.symbols(of: changes)
    func candles(_ kind: PublishedChange.Kind) -> [[String?]] {
      changes.filter { $0.table == "candled.candle" && $0.kind == kind }
        .map { Self.values(of: $0, instruments) }
    }
    let wanted = (first.candles + second.candles).map(Self.values)
    #expect(candles(.insert).count == wanted.count && Set(candles(.insert)) == Set(wanted))
    #expect(candles(.update) == [Self.values(of: revised)])
    #expect(candles(.update).last?.suffix(2) == ["1234.500", "0.007"])
    #expect(candles(.delete).isEmpty)
    let tables = Set(changes.map(\.table))
    #expect(tables.isSuperset(of: ["candled.change", "candled.candle_revision"]))
    #expect(!tables.contains("candled.quote"))
  }

  private static let columns = ["open", "high", "low", "close", "volume", "turnover"]

  private static func values(of candle: Candle) -> [String?] {
    let numbers = [
      candle.open, candle.high, candle.low, candle.close, candle.volume, candle.turnover,
    ]
    return ["\(candle.symbol)"] + numbers.map { $0.map { "\($0)" } }
  }

  private static func values(
    of change: PublishedChange, _ instruments: [String: String]
  ) -> [String?] {
    let id = change.values["instrument_id"].flatMap { $0 } ?? ""
    return [instruments[id]] + columns.map { change.values[$0].flatMap { $0 } }
  }

  /// By id: they come beside their candles.
  private static func symbols(of changes: [PublishedChange]) throws -> [String: String] {
    var found: [String: String] = [:]
    for change in changes where change.table == "candled.instrument" {
      let id = try #require(change.values["id"].flatMap { $0 })
      found[id] = change.values["symbol"].flatMap { $0 }
    }
    return found
  }
}

/// A slot for pgoutput that pg_recvlogical reads. It goes with its server.
private struct ReceivingSlot {
  private let database: StoreDatabase
  private let command: String

  init(on database: StoreDatabase) throws {
    self.database = database
    let binaries = try #require(PostgresServers.used)
    command =
      "\(binaries.directory)/pg_recvlogical -d '\(try database.publisherAddress())' --slot=kafka"
    try #require(Shell.output(of: "\(command) --create-slot -P pgoutput 2>&1") != nil)
  }

  /// All that was committed since the slot was made.
  func changes(of publication: String) throws -> [PublishedChange] {
    let end = try database.value("select pg_current_wal_flush_lsn()") ?? ""
    let bytes = try #require(
      Shell.output(
        of: "\(command) --start --endpos=\(end) --no-loop -o proto_version=1"
          + " -o publication_names=\(publication) -f -"))
    var messages = PublishedMessages(bytes)
    return try messages.changes()
  }
}
