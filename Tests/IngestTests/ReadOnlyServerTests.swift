import Commits
import Market
import Store
import TestSupport
import TestTraits
import Testing

@testable import Postgres

/// The daemon's store beside a server that turned read-only under its session.
@Suite(.ownThread) struct ReadOnlyServerTests {
  @Test func `a commit reaches the host that takes writes at the first try`() async throws {
    let database = try StoreDatabase.alone()
    let standby = try Standby(of: database)
    let options = try [database.url, standby.url].map { try #require(AddressOptions($0)) }
    func both(_ keyword: String) -> String {
      options.map { $0[keyword] ?? "" }.joined(separator: ",")
    }
    let store = StoreWriter(
      url: "host=\(both("host")) port=\(both("port")) target_session_attrs=read-write"
        + " dbname=\(options[0]["dbname"] ?? "") user=\(options[0]["user"] ?? "")", onReconnect: {})
    try await store.connect()
    _ = try await store.load()
    var samples = StoreSamples(seed: 81)
    _ = try await store.commit(samples.minute(0, position: 1, instruments: 3))
    try database.execute("alter system set default_transaction_read_only = on")
    try database.execute("select pg_reload_conf()")
    while try database.value("show default_transaction_read_only") != "on" {}
    try standby.catchUp(with: database)
    try standby.promote()
    do throws(StoreError) {
      #expect(try await store.commit(samples.minute(1, position: 2, instruments: 3)).candles == 3)
    } catch {
      // A writer that is connected anew reads where it stands before it writes.
      #expect(error.code == .positionConflict, "\(error)")
      #expect(try await store.load().position == JournalPosition(1))
      #expect(try await store.commit(samples.minute(1, position: 2, instruments: 3)).candles == 3)
    }
    #expect(try standby.value("select count(*) from candled.candle where timeframe = 1") == "6")
  }
}
