import Commits
import EmbeddedPostgres
import Market
import Postgres
import Store
import TestSupport
import TestTraits
import Testing

/// The database's disk is full, and then it is not.
@Suite(.ownThread) struct FullDiskTests {
  /// Enough for a cluster with its log and some rows.
  private static let megabytes = 200
  private static let instruments = 400
  private static let commitsMax = 400

  @Test(.enabled(if: SmallDisk.isPossible, "a small disk is mounted by root only"))
  func `commits a full disk refused are stored once there is space`() async throws {
    let disk = try SmallDisk(megabytes: Self.megabytes)
    let cluster = try PrivateCluster.own(on: disk)
    let server = cluster.server
    try Schema.apply(url: server.ownerConnectionString)
    let writer = StoreWriter(url: server.connectionString)
    try await writer.connect()
    var samples = StoreSamples(seed: 61)
    var candles = 0
    var position: Int64 = 0
    func next() -> Commit {
      position += 1
      let minute = Int(position) % Session.minutesPerDay
      var commit = samples.minute(minute, position: position, instruments: Self.instruments)
      // Of another day each time round, so that every candle is new.
      let days = (position / Int64(Session.minutesPerDay)) * 86_400
      for place in commit.candles.indices {
        commit.candles[place].openedAt = commit.candles[place].openedAt.adding(seconds: days)
        commit.candles[place].closedAt = commit.candles[place].closedAt.adding(seconds: days)
      }
      return commit
    }
    candles += try await writer.commit(next()).candles
    try disk.fill()
    var refused: Commit?
    var error: StoreError?
    while refused == nil, position < Self.commitsMax {
      let commit = next()
      do throws(StoreError) {
        candles += try await writer.commit(commit).candles
      } catch let found {
        (refused, error) = (commit, found)
      }
    }
    let waiting = try #require(refused)
    // Not even its log may have fitted, and then the server went down with it.
    #expect(error?.sqlState == "53100" || error?.code == .connectionLost, "\(error as Any)")
    #expect(error?.isTransient == true)
    disk.empty()
    if !server.isRunning { try server.start() }
    if error?.code == .connectionLost { try await Self.reconnect(writer) }
    candles += try await writer.commit(waiting).candles
    candles += try await writer.commit(next()).candles
    #expect(candles == Int(position) * Self.instruments)
    let url = server.ownerConnectionString
    #expect(
      try SQLProbe.run("select count(*) from candled.candle", url: url) == [["\(candles)"]])
    #expect(
      try SQLProbe.run("select max(seq), count(*), max(position) from candled.change", url: url)
        == [["\(position)", "\(position)", "\(position)"]])
    #expect(try SQLProbe.run("select count(*) from candled.rejected", url: url) == [["0"]])
  }

  private static func reconnect(_ writer: StoreWriter) async throws {
    for _ in 0..<100 {
      do throws(StoreError) {
        return try await writer.connect()
      } catch {
        guard error.isTransient else { throw error }
        try await Task.sleep(nanoseconds: 100_000_000)
      }
    }
    throw TestFailure(sentence: "the server did not come back")
  }
}
