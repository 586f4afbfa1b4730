import Market
import TestExchange
import Testing

@testable import ExchangeSimulator
@testable import Ledgers
@testable import TestExchange

/// Mairui's lists, its licences and the ways it says no.
@Suite struct MairuiTests {
  private static let licence = "AF98235C-0001"

  private func server(
    _ options: MairuiOptions = MairuiOptions(licences: [
      licence: .valid(requestsPerDay: 3), "demo": .demonstration, "old": .expired,
    ]), faults: [Fault] = []
  ) throws -> ExchangeServer {
    try ExchangeServer(
      market: Fixture.market(), faults: FaultPlan(seed: 9, faults), mairui: options)
  }

  private func ask(
    _ server: ExchangeServer, _ path: String, at moment: Timestamp? = nil
  ) throws -> RawClient.Response {
    let client = try RawClient(port: server.port)
    defer { client.close() }
    let moment = try moment ?? Fixture.moment(16, 30)
    return client.get(path + "?_=\(moment.microseconds / 1000)", referer: nil)
  }

  static func rows(_ text: String) -> [Substring] {
    Array(text.split(separator: "{").dropFirst())
  }

  @Test func `a list is plausible in size and unsorted`() throws {
    let server = try server()
    defer { server.stop() }
    let response = try ask(server, "/hslt/list/\(MairuiTests.licence)")
    let rows = MairuiTests.rows(response.text)
    #expect(response.status == 200 && rows.count == 4_800 && Set(rows).count == 4_800)
    #expect(rows != rows.sorted())
    #expect(rows.contains { $0.hasPrefix("\"dm\":\"600000.SH\",\"mc\":\"") })
    #expect(rows.allSatisfy { $0.contains("\"jys\":\"SH\"}") || $0.contains("\"jys\":\"SZ\"}") })
  }

  @Test func `the older shape is bare and in lower case`() throws {
    var options = MairuiOptions(licences: [MairuiTests.licence: .valid(requestsPerDay: 3)])
    options.shape = .bare
    options.rowsMin = 0
    let server = try server(options)
    defer { server.stop() }
    let market = try Fixture.market()
    let text = try ask(server, "/hslt/list/\(MairuiTests.licence)").text
    let listed = market.listings.filter {
      $0.kind == .stock && $0.exchange != .beijing && $0.previousClose.isPositive
    }
    #expect(MairuiTests.rows(text).count == listed.count)
    #expect(text.contains("{\"dm\":\"600000\",\"mc\":\"") && text.contains("\"jys\":\"sh\"}"))
  }

  @Test func `Beijing has a list of its own`() throws {
    let server = try server()
    defer { server.stop() }
    let rows = MairuiTests.rows(try ask(server, "/bj/list/all/\(MairuiTests.licence)").text)
    #expect(rows.count == 270 && rows.allSatisfy { $0.contains(".BJ\"") })
  }

  @Test func `a licence has a quota for each Shanghai day, and every request counts`() throws {
    let server = try server()
    defer { server.stop() }
    let path = "/hslt/list/\(MairuiTests.licence)"
    let late = try Fixture.moment(23, 59)
    for _ in 0..<3 { #expect(try ask(server, path, at: late).body.first == UInt8(ascii: "[")) }
    #expect(try ask(server, path, at: late).text == "101:Licence证书当日次数已超出")
    let midnight = late.adding(seconds: 60)
    #expect(try ask(server, path, at: midnight).body.first == UInt8(ascii: "["))
    let ledger = server.mairuiLedger
    #expect(ledger.requests(MairuiTests.licence, on: late.shanghaiDay) == 4)
    #expect(ledger.requests(MairuiTests.licence, on: midnight.shanghaiDay) == 1)
    #expect(ledger.refusals == 1)
  }

  @Test func `invalid, expired and demonstration licences are distinguished`() throws {
    let server = try server()
    defer { server.stop() }
    #expect(try ask(server, "/hslt/list/none").text == "{\"detail\":\"Licence证书无效\"}")
    #expect(try ask(server, "/hslt/list/old").text.contains("\"code\":102"))
    #expect(MairuiTests.rows(try ask(server, "/hslt/list/demo").text).count == 1)
    #expect(server.mairuiLedger.licences == ["demo", "none", "old"])
  }

  @Test(arguments: [
    (CannedResponse.mairuiQuotaBare, 200, "101"), (.mairuiQuotaNine, 200, "9"),
    (.mairuiQuotaJSON, 200, "{\"code\":101"), (.mairuiAddresses, 429, "{\"code\":103}"),
    (.mairuiNotFound, 404, "404:资源不存在"), (.mairuiOverloaded, 503, "{\"code\":503}"),
    (.emptyList, 200, "[]"), (.nginx(502, reason: "Bad Gateway"), 502, "<html>"),
  ])
  func `an ordered refusal is given word for word and counted`(
    _ canned: CannedResponse, _ status: Int, _ text: String
  ) throws {
    let server = try server(faults: [Fault(.response(canned), on: .mairui)])
    defer { server.stop() }
    let response = try ask(server, "/hslt/list/\(MairuiTests.licence)")
    #expect(response.status == status && response.text.hasPrefix(text))
    #expect(server.mairuiLedger.requests(MairuiTests.licence, on: try Fixture.day()) == 1)
  }

  @Test func `a list may be short, cut or damaged in places`() throws {
    let path = "/hslt/list/\(MairuiTests.licence)"
    func text(_ kind: Fault.Kind, _ chance: Int = 1000) throws -> [UInt8] {
      let server = try server(faults: [Fault(kind, on: .mairui, chancePerMille: chance)])
      defer { server.stop() }
      return try ask(server, path).body
    }
    func rows(_ kind: Fault.Kind, _ chance: Int = 1000) throws -> [Substring] {
      MairuiTests.rows(String(decoding: try text(kind, chance), as: UTF8.self))
    }
    #expect(try rows(.shortList(rows: 200)).count == 200)
    #expect(try text(.truncated(atByte: 1000)).count == 1000)
    #expect((4_200..<4_600).contains(try rows(.missingRow, 100).count))
    #expect((5_000..<5_500).contains(try rows(.duplicateRow, 100).count))
    let contradictory = try rows(.wrongExchange, 100).filter {
      $0.contains(".SH\"") && $0.contains("\"SZ\"}")
    }
    #expect((100..<400).contains(contradictory.count))
    #expect(String(validating: try text(.brokenName, 10), as: UTF8.self) == nil)
  }
}
