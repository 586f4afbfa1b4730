import ExchangeSimulator
import Foundation
import Glibc
import Ledgers
import Market
import TestExchange
import TestSupport
import TestTraits
import Testing

/// What a process is given by whoever starts it: descriptors, an environment, limits.
@Suite(.ownThread) struct `A process` {
  @Test func `whose output is closed fails, and writes no row anywhere else`() throws {
    let morning = try SimulatedMorning.get()
    for closed in [[1], [0, 1]] as [[Int32]] {
      let run = try BuiltBinary.run(
        ["query", "latest", "--set", "store.url=\(try morning.database.daemonURL())"],
        under: BuiltBinary.Conditions(closed: closed))
      #expect(run.status == 74, "\(closed): \(run.errors)")
      #expect(run.errors == "candled: cannot write the result: Bad file descriptor\n")
    }
  }

  @Test(arguments: [["--help"], ["--version"], ["query", "latest", "--help"]])
  func `whose output is closed claims no success for a text either`(
    _ arguments: [String]
  ) throws {
    let run = try BuiltBinary.run(arguments, under: BuiltBinary.Conditions(closed: [1]))
    #expect(run.status == 74, "\(run.errors)")
    #expect(run.errors == "candled: cannot write the result: Bad file descriptor\n")
    // Nor with all three closed, where nobody can be told why.
    let mute = try BuiltBinary.run(arguments, under: BuiltBinary.Conditions(closed: [0, 1, 2]))
    #expect(mute.status == 74)
  }

  @Test func `that records needs none of the three descriptors`() throws {
    let whole = try record()
    for closed in [[2], [1, 2], [0, 1, 2]] as [[Int32]] {
      let run = try record(under: BuiltBinary.Conditions(closed: closed))
      #expect(run.status == 0, "\(closed)")
      #expect(run.candles == whole.candles && run.candles > 0, "\(closed)")
    }
  }

  @Test func `writes no TLS key where SSLKEYLOGFILE asks for it`() throws {
    let file = try PrivateCluster.freshDirectory() + "-keys"
    let run = try record(
      under: BuiltBinary.Conditions(environment: ["SSLKEYLOGFILE=\(file)"]))
    #expect(run.status == 0 && run.candles > 0)
    #expect(access(file, F_OK) != 0)
  }

  /// Root's threads are not counted, so somebody else's are: a number nobody has.
  @Test(.enabled(if: geteuid() == 0, "only root may be somebody else"), arguments: [1, 2, 3, 5, 9])
  func `that gets too few threads ends at once with 75, which is tried again`(
    threads: Int
  ) throws {
    let user = 61_000 + threads
    let launcher = [
      "/usr/bin/setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups",
      "/usr/bin/prlimit", "--nproc=\(threads)",
    ]
    let store = ["--set", "store.url=postgresql://candled@127.0.0.1:1/none"]
    let commands: [(program: String, name: String, arguments: [String])] = [
      (BuiltBinary.path, "candled", ["run"] + store), (BuiltBinary.demo, "candled-demo", []),
      (BuiltBinary.path, "candled", ["watch"] + store),
    ]
    for (program, name, arguments) in commands {
      let run = try BuiltBinary.run(
        arguments, under: BuiltBinary.Conditions(program: program, launcher: launcher))
      #expect(run.status == 75, "\(name) \(arguments): \(run.errors)")
      let sentence = "\(name): too few threads: the system gives \(threads - 1) of "
      #expect(run.errors.hasPrefix(sentence), "\(run.errors)")
    }
    // What needs no second thread does its work.
    let version = try BuiltBinary.run(
      ["--version"], under: BuiltBinary.Conditions(launcher: launcher))
    #expect(version.status == 0 && !version.output.isEmpty, "\(version.errors)")
  }

  @Test func `that finds in its journal what is none of it names that and records`() throws {
    let state = try PrivateCluster.freshDirectory()
    let journal = state + "/journal"
    try FileManager.default.createDirectory(atPath: journal, withIntermediateDirectories: true)
    let segment = { (number: String) in "\(journal)/journal-0\(number).candled" }
    let (pipe, folder) = (segment("0000000000000000077"), segment("0000000000000000078"))
    let (last, sparse) = (segment("9223372036854775807"), segment("0000000000000000001"))
    #expect(mkfifo(pipe, 0o600) == 0 && mkdir(folder, 0o700) == 0)
    for path in [last, sparse] { close(open(path, O_WRONLY | O_CREAT, 0o600)) }
    #expect(truncate(sparse, 64 << 30) == 0)
    let run = try record(in: state)
    #expect(run.status == 0 && run.candles > 0, "\(run.errors)")
    for sentence in [
      "\(pipe) is a named pipe", "\(folder) is a folder",
      "\(last) has a number too large for a journal",
    ] {
      #expect(run.errors.contains(sentence), "\(run.errors)")
    }
    #expect(run.errors.contains("bytes=\(64 << 30) path=\(sparse)"), "\(run.errors)")
    #expect(access(pipe, F_OK) == 0 && access(folder, F_OK) == 0 && access(last, F_OK) == 0)
  }

  private func record(
    in state: String? = nil, under conditions: BuiltBinary.Conditions = BuiltBinary.Conditions()
  ) throws -> (status: Int32, candles: Int, errors: String) {
    let day = try #require(TradingDay("2026-07-06"))
    let market = SimulatedMarket(seed: 9, day: day, instruments: 12)
    let exchange = try ExchangeServer(market: market)
    defer { exchange.stop() }
    let database = try StoreDatabase()
    // No configuration from standard input, which may be closed.
    let options = SimulatedMorning.options(
      exchange, market.symbols,
      stateDirectory: try state ?? PrivateCluster.freshDirectory()
    ).dropFirst(2)
    let run = try BuiltBinary.run(
      ["run"] + options + [
        "--set", "store.url=\(try database.daemonURL())", "--set", "admin.listen=",
        "--set", "clock.mode=stepped", "--set", "clock.start=2026-07-06T09:29:00+08:00",
        "--set", "clock.stop=2026-07-06T09:32:00+08:00",
      ], under: conditions)
    let candles = try #require(try database.value("select count(*) from candled.candle"))
    return (run.status, try #require(Int(candles)), run.errors)
  }
}
