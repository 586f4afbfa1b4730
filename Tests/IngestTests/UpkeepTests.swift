import Commits
import Glibc
import Journal
import Logging
import Market
import Operations
import Postgres
import Store
import TestSupport
import Testing

@testable import Ingest
@testable import Transport

/// What a daemon must do, or forget, if it is to run for years.
@Suite struct UpkeepTests {
  /// Takes every commit; pruning fails.
  private actor CrowdedSink: CommitSink {
    private(set) var prunes = 0
    private let sink = MemorySink()

    func commit(_ commit: Commit) async throws(StoreError) -> CommitReceipt {
      try await sink.commit(commit)
    }

    func load() async throws(StoreError) -> StoredState { try await sink.load() }
    func repairCandidates(from day: TradingDay) async throws(StoreError) -> [RepairCandidate] { [] }

    func prune(on day: TradingDay) async throws(StoreError) -> Int64 {
      prunes += 1
      throw StoreError(.refused, message: "on order", context: "prune")
    }
  }

  @Test func `ledgers that cannot be pruned are logged and counted, and not tried in a loop`()
    async throws
  {
    var run = try EngineRun()
    run.lines = LogLines()
    let sink = CrowdedSink()
    let engine = try run.engine(sink)
    _ = try await engine.run()
    #expect(await sink.prunes == 1)
    #expect(await engine.status.store.pruneFailures == 1)
    #expect(run.lines?.count("cannot delete old rows of ledgers") == 1)
  }

  /// Each morning the previous close is another than the last price, be that of the close or not.
  @Test(arguments: ["15:00", "14:30"])
  func `a replay keeps each instrument that went ex dividend once`(_ time: String) throws {
    var pipeline = Pipeline()
    let symbol = try #require(Symbol("sh600036"))
    var position: Int64 = 0
    var exRights = ExRights()
    for (number, day) in ["06", "07", "08", "09", "10"].enumerated() {
      let close = "\(10 + number).000"
      let zeros = Array(repeating: "0,0.000", count: 10).joined(separator: ",")
      let body =
        "var hq_str_sh600036=\"A,\(close),\(9 + number).500,\(close),\(close),\(close),"
        + "0.000,0.000,100,\(1_000 + 100 * number).000,\(zeros),2026-07-\(day),\(time):01,00,\";\n"
      position += 1
      let at = try #require(Timestamp(rfc3339: "2026-07-\(day)T\(time):02+08:00"))
      let digest = pipeline.process(
        .quotes(
          group: 0, symbols: symbol.bytes, requestedAt: at, receivedAt: at, status: 200,
          body: Array(body.utf8)), at: JournalPosition(position))
      #expect(digest.accepted == 1)
      exRights.add(digest.found)
    }
    let sawClose = time == "15:00"
    #expect(exRights.seen == (sawClose ? [symbol] : []))
    #expect(exRights.supposed == (sawClose ? [] : [symbol]))
    let exDays = pipeline.takeCommit()?.reference.factors.flatMap(\.exDays) ?? []
    #expect(
      exDays.map { "\($0.symbol) \($0.day)" }
        == ["07", "08", "09", "10"].map { "sh600036 2026-07-\($0)" })
  }

  @Test func `keys of earlier reloads are dropped once every worker has the new ones`() throws {
    let settings = try ConfigurationFile.load(nil, overrides: [], table: .candled)
    var workers = SourceWorkers(
      WorkerConfiguration(),
      upstream: HTTPUpstream(
        client: try HTTPClient(), hosts: try HTTPUpstream.hosts(settings),
        credentials: SourceCredentials()))
    for number in 1...5 {
      let credentials = try credentials("licence-\(number)-licence")
      var configuration = WorkerConfiguration()
      configuration.keys = credentials
      workers = workers.renewed(configuration, credentials: credentials)
      #expect((workers.upstream as? HTTPUpstream)?.keys.count == (number == 1 ? 1 : 2))
      workers.forgetEarlierKeys()
      #expect((workers.upstream as? HTTPUpstream)?.keys.count == 1)
    }
  }

  @Test func `unequal keys whose labels are equal get longer ones, whatever their order`() throws {
    let secrets = (0..<20_000).map { "licence-\($0)" }
    let labels = SourceCredentials.labels("mairui", secrets: secrets)
    #expect(Set(labels).count == secrets.count)
    let long = labels.filter { $0.utf8.count == 19 }
    #expect(long.count >= 2 && labels.allSatisfy(KeyUsage.isLabel))
    #expect(labels.allSatisfy { [13, 19].contains($0.utf8.count) })
    #expect(SourceCredentials.labels("mairui", secrets: secrets.reversed()) == labels.reversed())
    let first = try #require(labels.firstIndex { $0.utf8.count == 13 })
    #expect(SourceCredentials.labels("mairui", secrets: [secrets[first]]) == [labels[first]])
  }

  private func credentials(_ licence: String) throws -> SourceCredentials {
    let path = try PrivateCluster.freshDirectory() + "/licence"
    let file = try #require(fopen(path, "we"))
    fputs(licence + "\n", file)
    fclose(file)
    #expect(chmod(path, 0o600) == 0)
    return try SourceCredentials(
      ConfigurationFile.load(nil, overrides: ["mairui.licence_file=\(path)"], table: .candled))
  }
}
