import EmbeddedPostgres
import Logging
import Market
import Operations
import Postgres
import TestSupport
import TestTraits
import Testing

@testable import Ingest

@Suite struct ServerRestartPolicyTests {
  private let start = Timestamp(seconds: 1_000)

  /// Looks twice a second for an hour, while the server does not start.
  private func hour(
    _ fault: (Int) -> String
  ) -> (attempts: [Int64], steps: [ServerRestartPolicy.Step]) {
    var restartPolicy = ServerRestartPolicy()
    var attempts: [Int64] = []
    var steps: [ServerRestartPolicy.Step] = []
    for look in 0..<7_200 {
      let now = start.adding(milliseconds: Int64(look) * 500)
      for step in restartPolicy.found(isRunning: false, at: now) {
        guard step == .start else {
          steps.append(step)
          continue
        }
        attempts.append(now.microseconds(since: start) / 1_000)
        steps += restartPolicy.tried(fault: fault(attempts.count), at: now)
      }
    }
    return (attempts, steps)
  }

  @Test func `a server that does not start is tried ever less often, every 30 s at last`() {
    let attempts = hour { _ in "no disk" }.attempts
    #expect(attempts.prefix(8) == [0, 500, 1_500, 3_500, 7_500, 15_500, 31_500, 61_500])
    #expect(zip(attempts.dropFirst(7), attempts.dropFirst(6)).allSatisfy { $0 - $1 == 30_000 })
    #expect(attempts.count < 130)
  }

  @Test func `an hour of the same trouble is two lines, and another trouble a third`() {
    #expect(hour { _ in "no disk" }.steps == [.logStopped, .logFault("no disk")])
    #expect(
      hour { $0 < 9 ? "no disk" : "no binaries" }.steps
        == [.logStopped, .logFault("no disk"), .logFault("no binaries")])
  }

  @Test func `a server that started is as good as new`() {
    var restartPolicy = ServerRestartPolicy()
    #expect(restartPolicy.found(isRunning: false, at: start) == [.logStopped, .start])
    #expect(restartPolicy.tried(fault: "no disk", at: start) == [.logFault("no disk")])
    let later = start.adding(milliseconds: 500)
    #expect(restartPolicy.found(isRunning: false, at: later) == [.start])
    #expect(restartPolicy.tried(fault: nil, at: later) == [.logRecovered])
    #expect(restartPolicy.found(isRunning: true, at: later).isEmpty)
    #expect(restartPolicy.found(isRunning: false, at: later) == [.logStopped, .start])
  }

  @Test func `a server that somebody else started is reported and left alone`() {
    var restartPolicy = ServerRestartPolicy()
    #expect(restartPolicy.found(isRunning: true, at: start).isEmpty)
    #expect(restartPolicy.found(isRunning: false, at: start) == [.logStopped, .start])
    _ = restartPolicy.tried(fault: "locked", at: start)
    #expect(restartPolicy.found(isRunning: true, at: start) == [.logRecovered])
    #expect(restartPolicy.found(isRunning: true, at: start).isEmpty)
  }
}

@Suite(.ownThread) struct PostgresSupervisorTests {
  @Test func `a postmaster killed by -9 is back with everything that was committed`() async throws {
    let cluster = try PrivateCluster.own()
    let (lines, inbox) = AsyncStream.makeStream(of: String.self)
    let log = Logger(label: "keeper") { label in
      LineLogHandler(
        label: label, control: LogControl(level: .info, format: .text), mask: SecretMask(),
        isJournal: false,
        write: { inbox.yield(String(decoding: $0, as: UTF8.self)) })
    }
    let keeper = PostgresSupervisor(cluster.server, log: log)
    try SQLProbe.run(
      "create table t as select 7 as n", url: cluster.server.ownerConnectionString)
    let watch = Task { await keeper.keepRunning() }
    try cluster.server.killHard()
    var logged: [String] = []
    for await line in lines {
      logged.append(line)
      if line.contains("runs again") { break }
    }
    #expect(logged.count == 2 && logged[0].contains("stopped, restarting"), "\(logged)")
    let found = try SQLProbe.run("select n from t", url: cluster.server.ownerConnectionString)
    #expect(found == [["7"]])
    watch.cancel()
    await watch.value
  }
}
