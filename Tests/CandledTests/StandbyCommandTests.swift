import ExchangeSimulator
import Glibc
import Ledgers
import Market
import TestExchange
import TestSupport
import TestTraits
import Testing

/// The commands of readers on a physical standby, and those that write.
@Suite(.ownThread) struct StandbyCommandTests {
  @Test func `reads everything, refuses to lead, and leads once it is promoted`() throws {
    let day = try #require(TradingDay("2026-07-06"))
    let market = SimulatedMarket(seed: 9, day: day, instruments: 5)
    let exchange = try ExchangeServer(market: market)
    defer { exchange.stop() }
    let database = try StoreDatabase.alone()
    let folder = try PrivateCluster.freshDirectory()
    func runDaemon(until stop: String, from start: String, at url: String) throws -> BuiltBinary.Run
    {
      try BuiltBinary.run(
        ["run"] + SimulatedMorning.options(exchange, market.symbols, stateDirectory: folder) + [
          "--set", "clock.mode=stepped", "--set", "clock.start=2026-07-06T\(start)+08:00",
          "--set", "clock.stop=2026-07-06T\(stop)+08:00", "--set", "store.lease=3s",
        ], input: Self.configuration(url))
    }
    let first = try runDaemon(until: "09:36:00", from: "09:24:00", at: database.daemonURL())
    #expect(first.status == 0, "\(first.errors)")
    let standby = try Standby(of: database)

    let commands = [
      ["watch", "--json", "--after", "0", "--count", "20", "--timeout", "30"], ["gaps"],
      ["query", "latest"], ["query", "candles", market.symbols[0].description],
      ["query", "gaps"], ["schema", "check"],
    ]
    for command in commands {
      let answers = try [database.daemonURL(), standby.url()].map {
        try BuiltBinary.run(
          command + ["--config", "/dev/stdin"], input: Self.configuration($0))
      }
      #expect(answers[1].status == 0, "\(command) \(answers[1].errors)")
      #expect(answers[0].output == answers[1].output && answers[1].errors.isEmpty, "\(command)")
    }
    let status = try BuiltBinary.run(
      ["status", "--config", "/dev/stdin"], input: Self.configuration(standby.url()))
    #expect(status.status == 0, "\(status.errors)")

    let sentence = "the database is a standby, which takes no writes: set store.url to the primary"
    let refused = try runDaemon(until: "09:40:00", from: "09:36:00", at: standby.url())
    #expect(refused.status == 69 && refused.errors.contains(sentence), "\(refused.errors)")
    let filling = try BuiltBinary.run(
      ["gaps", "--fill"]
        + SimulatedMorning.options(exchange, market.symbols, stateDirectory: folder + "/fill"),
      input: Self.configuration(standby.url()))
    #expect(filling.status == 69 && filling.errors.contains(sentence), "\(filling.errors)")

    try standby.promote()
    let before = try standby.value("select epoch from candled.feed_sequence")
    let second = try runDaemon(until: "09:40:00", from: "09:36:00", at: standby.url())
    #expect(second.status == 0, "\(second.errors)")
    #expect(try standby.value("select epoch from candled.feed_sequence") != before)
    #expect(try standby.value("select max(term) from candled.leaders") == "2")
  }

  private static func configuration(_ url: String) -> [UInt8] {
    Array("[store]\nurl = \"\(url)\"\n[admin]\nlisten = \"\"\n".utf8)
  }
}
