import EmbeddedPostgres
import ExchangeSimulator
import Foundation
import Glibc
import Ledgers
import Market
import TestSupport
import TestTraits
import Testing

@Suite(.ownThread) struct `candled export --follow` {
  private static let days = ["2026-07-06", "2026-07-07"]
  private static let looks = 3

  @Test func `adds the days of a standby as they close, and outlives its absence`() throws {
    let database = try StoreDatabase.alone()
    let standby = try Standby(of: database)
    let folder = try PrivateCluster.freshDirectory()
    let state = try PrivateCluster.freshDirectory()
    let follower = try follow(standby, from: "2026-07-03", to: folder)
    for (absences, day) in zip(1..., Self.days) {
      let file = "candles-1m/market=cn/\(day).csv"
      // Until shortly before the close: it must look, and find that the day has not closed.
      try run(day, from: "14:50:00", until: "14:57:00", into: database, state: state)
      try standby.catchUp(with: database)
      try awaitLooks(of: follower, at: standby)
      #expect(access("\(folder)/\(file)", F_OK) != 0)
      // Away while the day closes: a file has the day as it is when it is written.
      try standby.server.stop()
      try run(day, from: "14:57:00", until: "15:45:00", into: database, state: state)
      let hasSeenAbsence = follower.listens {
        follower.captured.split(separator: "\n").count { $0.hasSuffix("trying again") } == absences
      }
      #expect(hasSeenAbsence, "\(follower.captured)")
      try standby.server.start()
      #expect(follower.logContains("\(file): "), "\(follower.captured)")
    }
    #expect(follower.captured.count { $0 == "\n" } == 4, "\(follower.captured)")
    follower.signal(SIGTERM)
    #expect(try follower.ended() == 0, "\(follower.captured)")

    let expected = try PrivateCluster.freshDirectory()
    let export = try SimulatedMorning.ask(
      database, ["export", "--day", Self.days.joined(separator: ".."), "--to", expected])
    #expect(export.status == 0, "\(export.errors)")
    for day in Self.days {
      let name = "candles-1m/market=cn/\(day).csv"
      let text = try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
      #expect(text == (try String(contentsOfFile: "\(expected)/\(name)", encoding: .utf8)))
      #expect(text.contains("T14:59:00+08:00,"))
    }

    let second = try follow(standby, from: Self.days[0], to: folder)
    for day in Self.days {
      #expect(second.logContains("\(day).csv: left as it is\n"), "\(second.captured)")
    }
    second.signal(SIGINT)
    #expect(try second.ended() == 0, "\(second.captured)")
  }

  private func follow(
    _ standby: Standby, from day: String, to folder: String
  ) throws -> RunningBinary {
    let url = standby.url()
    return try RunningBinary(
      [
        "export", "--follow", "--every", "1", "--day", day, "--to", folder, "--market", "cn",
        "--config", "/dev/stdin",
      ], input: Array("[store]\nurl = \"\(url)\"\n".utf8))
  }

  /// Each look has a session of its own, as each of ours has.
  private func awaitLooks(of follower: RunningBinary, at standby: Standby) throws {
    func sessions() throws -> Int {
      let text = try standby.value(
        "select sessions from pg_stat_database where datname = current_database()")
      return Int(text ?? "") ?? 0
    }
    let before = try sessions()
    var ours = 0
    let hasLooked = follower.listens {
      ours += 1
      return ((try? sessions()) ?? 0) > before + ours + Self.looks
    }
    #expect(hasLooked, "\(follower.captured)")
  }

  private func run(
    _ text: String, from start: String, until stop: String, into database: StoreDatabase,
    state: String
  ) throws {
    let day = try #require(TradingDay(text))
    let market = SimulatedMarket(seed: 9, day: day, instruments: 5)
    let exchange = try ExchangeServer(market: market)
    defer { exchange.stop() }
    let run = try BuiltBinary.run(
      ["run"] + SimulatedMorning.options(exchange, market.symbols, stateDirectory: state) + [
        "--set", "clock.mode=stepped", "--set", "clock.start=\(text)T\(start)+08:00",
        "--set", "clock.stop=\(text)T\(stop)+08:00",
      ], input: SimulatedMorning.configuration(database))
    try #require(run.status == 0, "\(run.errors)")
  }
}
