import Market
import TestExchange
import Testing

@testable import ExchangeSimulator
@testable import Ledgers
@testable import TestExchange

/// Each fault, seen from the other end of a socket.
@Suite struct FaultTests {
  private static let symbols = ["sh000001", "sh600000", "sz000001", "sz300001", "bj920000"]

  /// Asks twice: at 10:00 without the fault, and at `moment` under it.
  private func meet(
    _ kind: Fault.Kind, symbols struck: [String]? = nil, patience: Int32 = RawClient.patience
  ) throws -> (clean: RawClient.Response, struck: RawClient.Response) {
    let market = try Fixture.market()
    let moment = try Fixture.moment(10, 0)
    let server = try ExchangeServer(market: market, recorder: DayRecorder(market))
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    defer { client.close() }
    let path = Fixture.path(FaultTests.symbols.compactMap { Symbol($0) }, at: moment)
    let clean = client.get(path)
    server.order(Fault(kind, symbols: struck.map { Set($0.compactMap { Symbol($0) }) }))
    return (clean, client.get(path, patienceMilliseconds: patience))
  }

  @Test(
    arguments: [
      (.forbidden, 403, "Forbidden"), (.throttled, 456, "Client Error"),
      (.banPage, 200, "<html>"), (.internalError, 500, "<html>"), (.badGateway, 502, "<html>"),
      (.batchFailed, 200, "sys_auth=\"FAILED\""), (.emptyBody, 200, ""),
    ] as [(Fault.Kind, Int, String)])
  func `an answer is refused as a whole`(_ kind: Fault.Kind, _ status: Int, _ text: String) throws {
    let response = try meet(kind).struck
    #expect(response.status == status)
    #expect(response.text.contains(text) || text.isEmpty && response.body.isEmpty)
    #expect(response.ending == .complete)
  }

  @Test func `the ban page is in GB18030`() throws {
    let body = try meet(.banPage).struck.body
    let text = try #require(GB18030.decodedToUTF8(body))
    #expect(String(decoding: text, as: UTF8.self).contains("你的 IP 存在异常访问"))
  }

  @Test func `noise is no quotes`() throws {
    let response = try meet(.garbageBody).struck
    #expect(response.body.count == 4096 && !response.text.contains("hq_str_"))
  }

  @Test func `a reset is a reset`() throws {
    #expect(try meet(.reset).struck.ending == .reset)
  }

  @Test func `an answer may never come`() throws {
    let response = try meet(.neverResponds, patience: 200).struck
    #expect(response.ending == .silence && response.body.isEmpty)
  }

  @Test func `a slow body is the same body`() throws {
    let (clean, struck) = try meet(.slowBody(bytesPerSecond: 10_000))
    #expect(struck.body == clean.body && struck.ending == .complete)
  }

  @Test func `a connection is cut before the promised length`() throws {
    let (clean, struck) = try meet(.cutConnection(afterBytes: 100))
    #expect(struck.body == Array(clean.body.prefix(100)) && struck.ending == .closed)
  }

  @Test func `a stale node answers as of before`() throws {
    let struck = try meet(.staleNode(lagSeconds: 60)).struck
    var market = try Fixture.market()
    market.advance(to: try Fixture.moment(9, 59))
    #expect(struck.body == market.body(for: FaultTests.symbols.compactMap { Symbol($0) }))
  }

  @Test(arguments: [0, 1, 30, 200, 225, 226, 227, 228, 229, 230, 500, 100_000])
  func `a truncated body is a beginning of the body with whole lines and one open end`(
    _ byte: Int
  ) throws {
    let (clean, struck) = try meet(.truncated(atByte: byte))
    #expect(clean.body.starts(with: struck.body) && struck.ending == .complete)
    let last = struck.body.split(separator: UInt8(ascii: "\n")).last ?? []
    #expect(struck.body.last == UInt8(ascii: "\n") || !last.contains(UInt8(ascii: ";")))
  }

  @Test func `names in UTF-8 leave the numbers alone`() throws {
    let (clean, struck) = try meet(.utf8Names)
    #expect(struck.text.contains("上证指数") && struck.body != clean.body)
    let numbers = { (body: [UInt8]) in
      WireLine.all(in: body).map { $0?.fields.dropFirst().map(Array.init) }
    }
    #expect(numbers(struck.body) == numbers(clean.body))
  }

  @Test(
    arguments: [
      (.emptyLine, "=\"\";"), (.notANumber, ",NaN,"), (.negative, ",-1.000,"),
      (.highBelowLow, ",1.000,2.000,"), (.futureStamp, ",11:00:00,"),
      (.backwardStamp, ",09:00:03,"),
    ] as [(Fault.Kind, String)])
  func `one row is bad and its neighbours are not`(_ kind: Fault.Kind, _ sign: String) throws {
    let (clean, struck) = try meet(kind, symbols: ["sz000001"])
    let (before, after) = (clean.lines, struck.lines)
    #expect(after.count == before.count && after[2].contains(sign))
    for place in [0, 1, 3, 4] { #expect(after[place] == before[place]) }
  }

  @Test(arguments: [(.priceTimesThousand, 3), (.volumeTimesThousand, 8)] as [(Fault.Kind, Int)])
  func `a number may jump a thousandfold`(_ kind: Fault.Kind, _ field: Int) throws {
    let (clean, struck) = try meet(kind, symbols: ["sz000001"])
    let before = try #require(WireLine.all(in: clean.body)[2])
    let after = try #require(WireLine.all(in: struck.body)[2])
    #expect(try after.number(field) == before.number(field) * ExactDecimal(1000))
  }

  @Test func `a row may be missing, doubled, garbled or badly named`() throws {
    let missing = try meet(.missingRow, symbols: ["sz000001"])
    #expect(missing.struck.lines.count == 4)
    #expect(!missing.struck.text.contains("sz000001"))
    let doubled = try meet(.duplicateRow, symbols: ["sz000001"]).struck
    #expect(doubled.lines.count == 6 && doubled.lines[2] == doubled.lines[3])
    let garbled = try meet(.garbageRow, symbols: ["sz000001"])
    #expect(garbled.struck.body.count == garbled.clean.body.count)
    #expect(garbled.struck.body != garbled.clean.body)
    let named = try meet(.brokenName, symbols: ["sz000001"])
    #expect(zip(named.struck.body, named.clean.body).filter { $0 != $1 }.map(\.0) == [0xFF])
  }

  @Test func `a fault strikes in its time and so often as it was ordered`() throws {
    let market = try Fixture.market()
    let server = try ExchangeServer(market: market)
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    defer { client.close() }
    server.order(
      Fault(.forbidden, from: try Fixture.moment(10, 0), to: try Fixture.moment(10, 1)))
    server.order(Fault(.throttled, from: try Fixture.moment(11, 0), responsesMax: 2))
    let symbol = try Fixture.symbol("sh000001")
    let statuses = try [(9, 59), (10, 0), (10, 1), (11, 0), (11, 1), (11, 2)].map { hour, minute in
      client.get(Fixture.path([symbol], at: try Fixture.moment(hour, minute))).status
    }
    #expect(statuses == [200, 403, 200, 456, 456, 200])
  }

  @Test func `chance is a function of seed and moment`() throws {
    let responses = try (0..<2).map { _ in
      let market = try Fixture.market()
      let plan = FaultPlan(seed: 3, [Fault(.emptyBody, chancePerMille: 500)])
      let server = try ExchangeServer(market: market, faults: plan)
      defer { server.stop() }
      let client = try RawClient(port: server.port)
      defer { client.close() }
      return try (0..<40).map { step in
        let moment = try Fixture.moment(10, 0).adding(seconds: Int64(3 * step))
        return client.get(Fixture.path([try Fixture.symbol("sh000001")], at: moment)).body.isEmpty
      }
    }
    #expect(responses[0] == responses[1] && Set(responses[0]).count == 2)
  }
}
