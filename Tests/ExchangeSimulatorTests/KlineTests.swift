import Market
import TestExchange
import Testing

@testable import ExchangeSimulator
@testable import Ledgers
@testable import TestExchange

/// Sina's K-lines, byte by byte and against the truth.
@Suite struct KlineTests {
  private static let jsonp = "/cn/api/jsonp_v2.php/=/CN_MarketDataService.getKLineData"

  /// Rows of an answer, each as its keys and texts.
  static func rows(_ text: String) -> [[String: String]] {
    text.split(separator: "{").dropFirst().map { row in
      let pairs = row.prefix { $0 != "}" }.split(separator: ",").map { pair in
        pair.split(separator: ":", maxSplits: 1).map { $0.filter { $0 != "\"" } }
      }
      return Dictionary(uniqueKeysWithValues: pairs.map { (String($0[0]), String($0[1])) })
    }
  }

  private func ask(
    _ history: SimulatedHistory, _ path: String, faults: [Fault] = []
  ) throws -> RawClient.Response {
    let server = try ExchangeServer(history: history, faults: FaultPlan(seed: 3, faults))
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    defer { client.close() }
    return client.get(path)
  }

  private func query(_ moment: Timestamp, _ symbol: String, _ scale: Int, _ count: Int) -> String {
    "?symbol=\(symbol)&scale=\(scale)&ma=no&datalen=\(count)&_=\(moment.microseconds / 1000)"
  }

  @Test func `a finished day has 238 one-minute bars, the last the closing auction`() throws {
    let history = try HistoryTests.history(days: 2)
    let moment = Timestamp(day: history.days[1], secondOfDay: 57_000)
    let response = try ask(history, KlineTests.jsonp + query(moment, "sh600000", 1, 1970))
    #expect(response.status == 200)
    #expect(response.text.hasPrefix("/*<script>location.href='//sina.com';</script>*/\n=(["))
    #expect(response.text.hasSuffix("]);"))
    let rows = KlineTests.rows(response.text)
    #expect(rows.count == 2 * 238)
    let clocks = rows.suffix(238).compactMap { $0["day"]?.suffix(8) }
    #expect(clocks.first == "09:31:00" && clocks[119...120] == ["11:30:00", "13:01:00"])
    #expect(clocks.suffix(2) == ["14:57:00", "15:00:00"])
  }

  @Test(arguments: [1, 5, 15, 30, 60])
  func `minutes add up to what traded, in volume and amount`(_ scale: Int) throws {
    var history = try HistoryTests.history(31, days: 1)
    let moment = Timestamp(day: history.days[0], secondOfDay: 57_000)
    let truth = history.trueLedger(on: history.days[0])
    let server = try ExchangeServer(history: history)
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    defer { client.close() }
    for symbol in history.symbols {
      let response = client.get(KlineTests.jsonp + query(moment, "\(symbol)", scale, 300))
      let rows = KlineTests.rows(response.text)
      let volume = try rows.reduce(.zero) { try $0 + ExactDecimal($1["volume"] ?? "") }
      let amount = try rows.reduce(.zero) { try $0 + ExactDecimal($1["amount"] ?? "") }
      let totals = try #require(truth.totals(of: symbol))
      #expect(volume == totals.volume && amount == totals.turnover, "\(symbol)")
      #expect(rows.isEmpty || rows.count == (scale == 1 ? 238 : 240 / scale))
    }
  }

  @Test func `the running bar is there and grows`() throws {
    var history = try HistoryTests.history(days: 1)
    let day = history.days[0]
    let symbol = try Fixture.symbol("sh600000")
    let early = history.candles(of: symbol, .minute5, at: Timestamp(day: day, secondOfDay: 36_030))
    let late = history.candles(of: symbol, .minute5, at: Timestamp(day: day, secondOfDay: 36_240))
    #expect(early.count == 7 && late.count == 7 && early.dropLast() == late.dropLast())
    #expect(early.last?.closedAt == Timestamp(day: day, secondOfDay: 36_300))
    #expect(try #require(early.last).volume < #require(late.last).volume)
  }

  @Test func `an instrument that does not trade is flat, a halted one absent`() throws {
    var history = try HistoryTests.history(days: 1)
    let market = history.market(on: history.days[0])
    let moment = Timestamp(day: market.day, secondOfDay: 57_000)
    let untraded = history.candles(
      of: try Fixture.first(market, .untraded), .minute1, at: moment)
    #expect(untraded.count == 238)
    #expect(untraded.allSatisfy { $0.flags == .noTrade && $0.volume.isZero && $0.open == $0.close })
    let halted = try Fixture.first(market, .haltedAllDay)
    #expect(history.candles(of: halted, .minute1, at: moment).isEmpty)
  }

  @Test func `days are those before, those simulated and the running one`() throws {
    var history = try HistoryTests.history(days: 3)
    let moment = Timestamp(day: history.days[2], secondOfDay: 40_000)
    let symbol = try Fixture.symbol("sz000001")
    let days = history.candles(of: symbol, .day1, at: moment)
    #expect(days.count == 1203 && days.last?.tradingDay == history.days[2])
  }

  @Test func `day rows have no amount`() throws {
    let history = try HistoryTests.history(days: 1)
    let moment = Timestamp(day: history.days[0], secondOfDay: 57_000)
    let plain = query(moment, "sh600000", 240, 3)
    let row = try #require(KlineTests.rows(try ask(history, KlineTests.jsonp + plain).text).last)
    #expect(Set(row.keys) == ["day", "open", "high", "low", "close", "volume"])
    #expect(row["day"] == history.days[0].description)
    #expect(row["open"]?.split(separator: ".").last?.count == 3)
  }

  @Test(arguments: [
    "?symbol=sh999999&scale=5&datalen=10", "?symbol=sh600000&scale=5&datalen=1971",
    "?symbol=sh600000&scale=7&datalen=10",
  ])
  func `what it does not like is null`(_ query: String) throws {
    let response = try ask(HistoryTests.history(days: 1), KlineTests.jsonp + query)
    #expect(response.text.hasSuffix("\n=(null);"))
  }

  @Test func `faults on the K-line leave the quotes alone, and the other way round`() throws {
    let history = try HistoryTests.history(days: 1)
    let moment = Timestamp(day: history.days[0], secondOfDay: 40_000)
    let path = KlineTests.jsonp + query(moment, "sh600000", 5, 10)
    let quotes = Fixture.path([try Fixture.symbol("sh600000")], at: moment)
    let onKline = [Fault(.response(.null), on: .sinaHistory)]
    #expect(try ask(history, path, faults: onKline).text == "null")
    #expect(try ask(history, quotes, faults: onKline).lines.count == 1)
    let onQuotes = [Fault(.throttled)]
    #expect(try ask(history, path, faults: onQuotes).status == 200)
    #expect(try ask(history, quotes, faults: onQuotes).status == 456)
  }

  @Test func `damaged rows stand among whole ones`() throws {
    let history = try HistoryTests.history(days: 1)
    let moment = Timestamp(day: history.days[0], secondOfDay: 57_000)
    let path = KlineTests.jsonp + query(moment, "sh600000", 1, 238)
    let faults = [Fault(.negative, on: .sinaHistory, chancePerMille: 100)]
    let rows = KlineTests.rows(try ask(history, path, faults: faults).text)
    let damaged = rows.filter { $0["close"] == "-1.000" }.count
    #expect(rows.count == 238 && damaged > 5 && damaged < 60)
  }

  @Test func `minutes of the truth have no differences, others are named`() throws {
    var history = try HistoryTests.history(12, days: 1)
    let ledger = history.trueLedger(on: history.days[0])
    let moment = Timestamp(day: history.days[0], secondOfDay: 57_000)
    var candles = history.symbols.flatMap { history.candles(of: $0, .minute1, at: moment) }
    #expect(ledger.repairDifferences(candles: candles) == [])
    candles[3].high = ExactDecimal(1)
    candles[5].turnover = nil
    candles.remove(at: 7)
    let lines = ledger.repairDifferences(candles: candles)
    #expect(lines.count == 3)
    #expect(lines.contains { $0.contains("09:33:00+08:00: high 1, in truth ") })
    #expect(lines.contains { $0.contains("turnover none") })
    #expect(lines.contains { $0.hasSuffix("traded, no candle") })
  }
}
