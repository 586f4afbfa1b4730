import ExchangeSimulator
import Feeds
import Ledgers
import Market
import TestExchange

/// A sound simulated market as the sources' checks see it at some moments: each response is
/// made once, and then judged as it is or rewritten.
struct CheckedWorld: Sendable {
  enum Moment: String, CaseIterable {
    /// In the middle of a quarter of an hour.
    case session = "2026-07-10T10:37:20+08:00"
    case lunch = "2026-07-10T12:10:00+08:00"
    case evening = "2026-07-10T20:00:00+08:00"
    case saturday = "2026-07-11T12:00:00+08:00"
  }

  /// A response as it came.
  struct Response: Sendable {
    let query: FeedQuery
    var status: Int
    var body: [UInt8]

    /// Byte for byte: each is one character.
    var text: String {
      get { String(decoding: body.map(UInt16.init), as: UTF16.self) }
      set { body = newValue.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } }
    }
  }

  private struct Sent: Sendable {
    let request: CheckRequest
    let at: Timestamp
    let response: Response
  }

  private let symbols: [Symbol]
  /// By moment and source.
  private var sent: [String: [Sent]] = [:]

  static let shared = CheckedWorld()

  private init() {
    let day = TradingDay(daysSince1970: 20_644)
    let history = SimulatedHistory(
      seed: 41, through: day, days: 2, earlierDays: 60)
    let licences = ["licence": MairuiOptions.Licence.valid(requestsPerDay: 50)]
    var exchange = MemoryExchange(
      history: history, from: history.days[1], mairui: MairuiOptions(licences: licences),
      alpaca: AlpacaOptions(keys: ["id": "secret"]))
    symbols = Array(history.symbols.prefix(300))
    for moment in Moment.allCases {
      for source in SourceRegistry.all {
        sent["\(moment) \(source.name)"] = Self.send(
          CheckRun(context(source, at: moment)), to: &exchange)
      }
    }
  }

  private static func send(
    _ checkRun: CheckRun, to exchange: inout MemoryExchange
  ) -> [Sent] {
    let context = checkRun.context
    let words = ["mairui": ["licence"], "alpaca": ["id", "secret"]]
    let credentials = words[context.source.name].map { FeedCredentials(words: $0) }
    var now = context.now
    return checkRun.requests.map { request in
      now = now.adding(seconds: Int64(request.waitSeconds))
      let feedRequest = FeedRequest(request.query, to: context.series).sent(at: now)
      let endpoint = feedRequest.endpoint(credentials: credentials)
      let headers = endpoint.headers.map { ($0.name.lowercased(), $0.value) }
      let answer = exchange.response(
        endpoint.path, headers: Dictionary(uniqueKeysWithValues: headers), at: now)
      return Sent(
        request: request, at: now,
        response: Response(
          query: request.query, status: answer?.status ?? 0, body: answer?.body ?? []))
    }
  }

  private func context(_ source: any SourceDefinition, at moment: Moment) -> CheckContext {
    let now = Self.timestamp(moment.rawValue)
    return CheckContext(
      source, series: source.mainSeries, now: now, symbols: symbols, batchSymbols: 800)
  }

  private static func timestamp(_ text: String) -> Timestamp {
    let day = TradingDay(text.prefix(10)) ?? TradingDay(daysSince1970: 0)
    let clock = text.dropFirst(11).prefix(8).split(separator: ":").compactMap { Int($0) }
    return Timestamp(day: day, secondOfDay: clock[0] * 3600 + clock[1] * 60 + clock[2])
  }

  /// What a run of checks makes of the responses, each rewritten first.
  func checkRun(
    of name: String, at moment: Moment, rewriting rewrite: (inout Response) -> Void = { _ in }
  ) -> CheckRun {
    let source = SourceRegistry.all.first { $0.name == name } ?? SourceRegistry.all[0]
    var checkRun = CheckRun(context(source, at: moment))
    for sent in self.sent["\(moment) \(name)"] ?? [] where checkRun.endedBecause == nil {
      var response = sent.response
      rewrite(&response)
      let request = FeedRequest(sent.request.query, to: checkRun.context.series).sent(
        at: sent.at)
      checkRun.receive(
        CheckResponse(
          request, status: response.status, body: response.body,
          receivedAt: sent.at.adding(seconds: 1),
          calendar: checkRun.context.decodingCalendar),
        of: sent.request)
    }
    return checkRun
  }
}

extension CheckRun {
  func names(_ isWanted: (CheckVerdict) -> Bool) -> [String] {
    findings.filter { isWanted($0.verdict) }.map(\.name)
  }

  var broken: [String] { names(\.isBroken) }
}

extension CheckVerdict {
  var isBroken: Bool { if case .broken = self { true } else { false } }
  var isUntried: Bool { if case .untried = self { true } else { false } }
}
