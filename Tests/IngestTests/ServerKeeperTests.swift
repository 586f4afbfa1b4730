import Logging
import Market
import Operations
import Store
import TestSupport
import TestTraits
import Testing

@testable import Ingest

@Suite struct ServerRevivalTests {
  private let start = Timestamp(seconds: 1_000)

  /// Looks twice a second for an hour, while the server does not start.
  private func hour(
    _ fault: (Int) -> String
  ) -> (attempts: [Int64], steps: [ServerRevival.Step]) {
    var revival = ServerRevival()
    var attempts: [Int64] = []
    var told: [ServerRevival.Step] = []
    for look in 0..<7_200 {
      let now = start.adding(milliseconds: Int64(look) * 500)
      for step in revival.found(isRunning: false, at: now) {
        guard step == .start else {
          told.append(step)
          continue
        }
        attempts.append(now.microseconds(since: start) / 1_000)
        told += revival.tried(fault: fault(attempts.count), at: now)
      }
    }
    return (attempts, told)
  }

  @Test func `a server that does not start is tried ever less often, every 30 s at last`() {
    let attempts = hour { _ in "no disk" }.attempts
    #expect(attempts.prefix(8) == [0, 500, 1_500, 3_500, 7_500, 15_500, 31_500, 61_500])
    #expect(zip(attempts.dropFirst(7), attempts.dropFirst(6)).allSatisfy { $0 - $1 == 30_000 })
    #expect(attempts.count < 130)
  }

  @Test func `an hour of the same trouble is two lines, and another trouble a third`() {
    #expect(hour { _ in "no disk" }.steps == [.tellGone, .tellFault("no disk")])
    #expect(
      hour { $0 < 9 ? "no disk" : "no binaries" }.steps
        == [.tellGone, .tellFault("no disk"), .tellFault("no binaries")])
  }

  @Test func `a server that started is as good as new`() {
    var revival = ServerRevival()
    #expect(revival.found(isRunning: false, at: start) == [.tellGone, .start])
    #expect(revival.tried(fault: "no disk", at: start) == [.tellFault("no disk")])
    let later = start.adding(milliseconds: 500)
    #expect(revival.found(isRunning: false, at: later) == [.start])
    #expect(revival.tried(fault: nil, at: later) == [.tellBack])
    #expect(revival.found(isRunning: true, at: later).isEmpty)
    #expect(revival.found(isRunning: false, at: later) == [.tellGone, .start])
  }

  @Test func `a server that somebody else started is told of, and left alone`() {
    var revival = ServerRevival()
    #expect(revival.found(isRunning: true, at: start).isEmpty)
    #expect(revival.found(isRunning: false, at: start) == [.tellGone, .start])
    _ = revival.tried(fault: "locked", at: start)
    #expect(revival.found(isRunning: true, at: start) == [.tellBack])
    #expect(revival.found(isRunning: true, at: start).isEmpty)
  }
}

@Suite(.ownThread) struct ServerKeeperTests {
  @Test func `a postmaster killed by -9 is back with everything that was committed`() async throws {
    let cluster = try PrivateCluster.own()
    let (lines, inbox) = AsyncStream.makeStream(of: String.self)
    let log = Logger(label: "keeper") { label in
      LineLogHandler(
        label: label, level: .info, format: .text, mask: SecretMask(), isJournal: false,
        write: { inbox.yield(String(decoding: $0, as: UTF8.self)) })
    }
    let keeper = ServerKeeper(cluster.server, log: log)
    try SQLProbe.run(
      "create table t as select 7 as n", url: cluster.server.ownerConnectionString)
    let watch = Task { await keeper.keepRunning() }
    try cluster.server.killHard()
    var heard: [String] = []
    for await line in lines {
      heard.append(line)
      if line.contains("runs again") { break }
    }
    #expect(heard.count == 2 && heard[0].contains("is gone"), "\(heard)")
    let found = try SQLProbe.run("select n from t", url: cluster.server.ownerConnectionString)
    #expect(found == [["7"]])
    watch.cancel()
    await watch.value
  }
}
