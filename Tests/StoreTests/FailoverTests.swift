import Commits
import Foundation
import Market
import Store
import Synchronization
import TestSupport
import TestTraits
import Testing

@testable import Postgres

/// A server that turned read-only under its sessions, with the one that takes writes in the same
/// address: whoever writes ends the session and looks for that one.
@Suite(.ownThread) struct FailoverTests {
  private let database: StoreDatabase
  private let standby: Standby
  private let url: String

  init() throws {
    database = try StoreDatabase.alone()
    standby = try Standby(of: database)
    let options = try [database.url, standby.url].map { try #require(AddressOptions($0)) }
    func both(_ keyword: String) -> String {
      options.map { $0[keyword] ?? "" }.joined(separator: ",")
    }
    url =
      "host=\(both("host")) port=\(both("port")) target_session_attrs=read-write"
      + " dbname=\(options[0]["dbname"] ?? "") user=\(options[0]["user"] ?? "")"
  }

  /// The old primary lives on, and takes no writes; the standby does.
  private func failOver() throws {
    try database.execute("alter system set default_transaction_read_only = on")
    try database.execute("select pg_reload_conf()")
    // Without sleeping: a new session shows when the setting is in force.
    while try database.value("show default_transaction_read_only") != "on" {}
    try standby.catchUp(with: database)
    try standby.promote()
  }

  @Test func `a writer goes on where writes are taken, and nothing is lost`() async throws {
    let writer = StoreWriter(url: url)
    try await writer.connect()
    _ = try await writer.load()
    var samples = StoreSamples(seed: 61)
    for minute in 0..<2 {
      _ = try await writer.commit(
        samples.minute(minute, position: Int64(minute + 1), instruments: 3))
    }
    try failOver()
    let next = samples.minute(2, position: 3, instruments: 3)
    do throws(StoreError) {
      _ = try await writer.commit(next)
      Issue.record("written to a server that takes no writes")
    } catch {
      #expect(error.code == .connectionLost && error.isReadOnly, "\(error)")
    }
    try await writer.connect()
    #expect(try await writer.load().position == JournalPosition(2))
    #expect(try await writer.commit(next).candles == 3)
    #expect(try standby.value("select count(*) from candled.candle where timeframe = 1") == "9")
  }

  @Test func `a lease is renewed where writes are taken`() throws {
    let asker = LeaseConnection(url: url, holder: "a", host: "here", milliseconds: 60_000)
    guard case .taken(let lease, _) = try asker.take() else {
      Issue.record("not taken")
      return
    }
    try failOver()
    #expect(throws: StoreError.self) { try asker.renew(lease) }
    try asker.renew(lease)
    #expect(try standby.value("select holder from candled.lease") == "a")
  }

  @Test func `a server that says nothing while it is asked counts as lost`() throws {
    let long = Statement(name: "long", sql: "select pg_sleep(30)")
    for isPrepared in [true, false] {
      let connection = try PostgresConnection(url: database.url, application: "test")
      connection.silenceSecondsMax = 1
      let one = Statement(name: "one", sql: "select generate_series(1, 50000)")
      #expect(try connection.run(one, context: "test").rowCount == 50_000)
      #expect(try connection.execute("begin; select 1; commit", context: "test").rowCount == 0)
      let error = #expect(throws: StoreError.self) {
        if isPrepared {
          try connection.run(long, context: "test")
        } else {
          try connection.execute(long.sql, context: "test")
        }
      }
      #expect(error?.code == .connectionLost)
      #expect(error?.message == "PostgreSQL does not respond within 1 s")
    }
  }

  @Test func `a host that takes connections and says nothing is passed over`() throws {
    let (listener, port) = try LoopbackListener.open()
    defer { close(listener) }
    let server = try TCPServer.shared()
    let connection = try PostgresConnection(
      url: "host=127.0.0.1,127.0.0.1 port=\(port),\(server.port) user=postgres dbname=postgres"
        + " sslmode=disable connect_timeout=1",
      application: "test")
    try connection.execute("select 1", context: "test")
  }

  @Test func `a timeout of zero is no limit, and one of one second is`() throws {
    let (listener, port) = try LoopbackListener.open()
    let address = "host=127.0.0.1 port=\(port) user=x dbname=x sslmode=disable connect_timeout="
    let begun = ContinuousClock.now
    let error = #expect(throws: StoreError.self) {
      try PostgresConnection(url: address + "1", application: "test")
    }
    #expect(error?.message == "PostgreSQL does not respond within 1 s")
    #expect(ContinuousClock.now - begun < .seconds(5))
    let isEnded = Mutex<String?>(nil)
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      do throws(StoreError) {
        _ = try PostgresConnection(url: address + "0", application: "test")
      } catch {
        isEnded.withLock { $0 = error.message }
      }
      done.signal()
    }
    // While another attempt runs into its limit, this one goes on.
    _ = try? PostgresConnection(url: address + "2", application: "test")
    #expect(isEnded.withLock { $0 } == nil)
    // The kernel resets what nobody has accepted.
    close(listener)
    done.wait()
    #expect(isEnded.withLock { $0 }?.contains("does not respond") == false)
  }
}
