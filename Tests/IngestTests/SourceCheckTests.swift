import ExchangeSimulator
import Feeds
import Ledgers
import Market
import TestExchange
import Testing

/// A sound simulated market, whose responses are handed in as they came or rewritten.
private struct CheckedMarket {
  static let session = "10:37:20"
  static let lunch = "12:10:00"

  private let symbols: [Symbol]
  private var exchange: MemoryExchange

  init() {
    let day = TradingDay(daysSince1970: 20_644)
    let history = SimulatedHistory(seed: 41, through: day, days: 2, earlierDays: 60)
    let licences = ["licence": MairuiOptions.Licence.valid(requestsPerDay: 50)]
    exchange = MemoryExchange(
      history: history, from: history.days[1], mairui: MairuiOptions(licences: licences),
      alpaca: AlpacaOptions(keys: ["id": "secret"]))
    symbols = Array(history.symbols.prefix(300))
  }

  /// - Parameters:
  ///   - name: of the source.
  ///   - lateSeconds: how long after its request a response arrives.
  mutating func check(
    _ name: String, at time: String = CheckedMarket.session, lateSeconds: Int64 = 1,
    rewriting rewrite: (FeedQuery, inout Int, inout [UInt8]) -> Void = { _, _, _ in }
  ) throws -> SourceCheck {
    let source = try #require(SourceRegistry.all.first { $0.name == name })
    let clock = time.split(separator: ":").compactMap { Int($0) }
    let now = Timestamp(
      day: TradingDay(daysSince1970: 20_644),
      secondOfDay: clock[0] * 3_600 + clock[1] * 60 + clock[2])
    var check = SourceCheck(
      source, series: source.mainSeries, now: now, symbols: symbols, batchSymbols: 800)
    let words = ["mairui": ["licence"], "alpaca": ["id", "secret"]]
    let credentials = words[name].map { FeedCredentials(words: $0) }
    for place in check.requests.indices where !check.isEnded {
      let request = FeedRequest(check.requests[place], to: check.series).sent(at: now)
      let endpoint = request.endpoint(credentials: credentials)
      let headers = endpoint.headers.map { ($0.name.lowercased(), $0.value) }
      let response = exchange.response(
        endpoint.path, headers: Dictionary(uniqueKeysWithValues: headers), at: now)
      var (status, body) = (response?.status ?? 0, response?.body ?? [])
      rewrite(request.query, &status, &body)
      check.receive(
        place, request: request, status: status, body: body,
        receivedAt: now.adding(seconds: lateSeconds))
    }
    return check
  }
}

extension SourceCheck {
  /// The requests with a broken response, and what was found.
  fileprivate var broken: [String] {
    findings.compactMap { finding -> String? in
      if case .broken(let found) = finding.verdict { "\(finding.request): \(found)" } else { nil }
    }
  }
}

@Suite struct `The check of a source` {
  @Test(arguments: [CheckedMarket.session, CheckedMarket.lunch])
  func `finds nothing wrong with a sound service, in at most 15 requests`(time: String) throws {
    var market = CheckedMarket()
    for source in SourceRegistry.all {
      let check = try market.check(source.name, at: time)
      #expect(check.broken.isEmpty, "\(source.name)")
      let requests = check.requests
      #expect((1...SourceCheck.requestsMax).contains(requests.count))
      #expect(Set(requests).count == requests.count)
    }
  }

  @Test func `compares the stamps of quotes with the clock in a session`() throws {
    var market = CheckedMarket()
    let late = try market.check("tencent", lateSeconds: 90)
    #expect(late.broken.count == 1 && late.broken[0].contains("s behind this machine's clock"))
    let early = try market.check("tencent", lateSeconds: -60)
    #expect(early.broken.count == 1 && early.broken[0].contains("s ahead of this machine's clock"))
    let closed = try market.check("tencent", at: CheckedMarket.lunch, lateSeconds: 90)
    #expect(closed.broken.isEmpty)
  }

  @Test func `compares the order of quotes with that of the request`() throws {
    var market = CheckedMarket()
    let check = try market.check("sina") { query, _, body in
      guard case .quotes = query else { return }
      let lines = body.split(separator: UInt8(ascii: "\n"))
      body = Array(lines.reversed().joined(separator: [UInt8(ascii: "\n")])) + [10]
    }
    #expect(check.broken.count == 1)
    #expect(check.broken.allSatisfy { $0.hasSuffix("is not in the order of the request") })
  }

  @Test func `counts the symbols without a line and the rows that are refused`() throws {
    var market = CheckedMarket()
    let check = try market.check("sina") { query, _, body in
      guard case .quotes = query else { return }
      body = Array(body.prefix(while: { $0 != UInt8(ascii: "\n") })) + [10]
    }
    #expect(check.broken.count == 1)
    #expect(check.broken.allSatisfy { $0.contains("rows refused, the first: ") })
  }

  @Test func `ends the requests where a source bans or refuses the key`() throws {
    var market = CheckedMarket()
    let banned = try market.check("sina") { _, status, body in
      (status, body) = (456, Array("<html>Client Error</html>".utf8))
    }
    #expect(banned.isEnded && banned.broken == ["quotes/0: refused as banned (HTTP status 456)"])
    let refused = try market.check("alpaca") { _, status, body in
      (status, body) = (403, Array(#"{"message":"forbidden."}"#.utf8))
    }
    #expect(refused.isEnded && refused.broken.count == 1)
    #expect(refused.findings.last?.verdict == .untried("an earlier request was refused"))
  }

  @Test func `has no response where a request fails`() throws {
    var market = CheckedMarket()
    var check = try market.check("mairui")
    for place in check.requests.indices { check.fail(place, because: "the request timed out") }
    #expect(check.findings.allSatisfy { $0.verdict == .unreachable("the request timed out") })
  }
}
