import Foundation
import Market

/// An app that follows the market through a gateway: what it wants, what it got, and what was
/// amiss. A value; its connection is the crowd's.
struct AppFollower: Sendable {
  struct Plan: Sendable {
    var symbols: [String]
    var intervals = ["1m"]
    var everySeconds: Int?
    var isEvents = false
    var token: String?
    /// Of its socket; nil is the system's.
    var receiveBufferBytes: Int32?
  }

  /// What it names when it comes again.
  struct Position: Sendable, Equatable {
    var epoch: Int64
    var seq: Int64
    /// Of the log, where that is further than the prices: a seq, and a place behind it.
    var log: Int64?
    var logPosition: Int64?
  }

  struct Counts: Sendable {
    var messages = 0
    var subscribed = 0
    var recovered = 0
    var resyncs = 0
    var slow = 0
    var closeCodes: [Int: Int] = [:]
    var statuses: [Int: Int] = [:]
  }

  let plan: Plan
  private(set) var position: Position?
  private(set) var counts = Counts()
  private(set) var complaints: [String] = []
  /// The life of the database that it reads, and since which change.
  private(set) var epoch: Int64 = 0
  private(set) var since: Int64 = 0
  /// By symbol, interval and opening.
  private(set) var candles: [String: String] = [:]
  private var finals: Set<String> = []
  /// By symbol.
  private(set) var prices: [String: String] = [:]
  /// What led to this, for complaints.
  private var trail: [String] = []
  /// As the gateway greeted.
  private var greetedEpoch: Int64 = 0

  private static let complaintsMax = 5

  /// - Parameter position: where it stopped before.
  init(_ plan: Plan, after position: Position? = nil) {
    self.plan = plan
    self.position = position
    (epoch, since) = (position?.epoch ?? 0, position?.seq ?? 0)
  }

  // MARK: Requests

  var path: String {
    guard plan.isEvents else { return "/ws" }
    let every = plan.everySeconds.map { "&every=\($0)s" } ?? ""
    return "/v1/stream?symbols=\(plan.symbols.joined(separator: ","))"
      + "&channels=stock-prices,candles&intervals=\(plan.intervals.joined(separator: ","))\(every)"
  }

  var headers: [String] {
    var headers = plan.token.map { ["Authorization: Bearer \($0)"] } ?? []
    if plan.isEvents, let position {
      let log = [position.log, position.logPosition].compactMap { $0.map { "-\($0)" } }.joined()
      headers.append("Last-Event-ID: \(position.epoch)-\(position.seq)\(log)")
    }
    return headers
  }

  /// The message that a WebSocket begins with.
  var subscription: String {
    let symbols = plan.symbols.map { "\"\($0)\"" }.joined(separator: ",")
    let intervals = plan.intervals.map { "\"\($0)\"" }.joined(separator: ",")
    let every = plan.everySeconds.map { ",\"every\":\"\($0)s\"" } ?? ""
    let after = position.map { position in
      let place = position.logPosition.map { ",\"logPosition\":\($0)" } ?? ""
      let log = position.log.map { ",\"logSeq\":\($0)\(place)" } ?? ""
      return ",\"after\":{\"epoch\":\(position.epoch),\"seq\":\(position.seq)\(log)}"
    }
    return "{\"action\":\"subscribe\",\"id\":1\(after ?? ""),\"channels\":["
      + "{\"name\":\"stock-prices\",\"symbols\":[\(symbols)]\(every)},"
      + "{\"name\":\"candles\",\"symbols\":[\(symbols)],\"intervals\":[\(intervals)]}]}"
  }

  // MARK: What comes

  mutating func complain(_ sentence: String) {
    if complaints.count < Self.complaintsMax { complaints.append(sentence) }
  }

  mutating func answered(status: Int) { counts.statuses[status, default: 0] += 1 }

  mutating func closed(code: Int) { counts.closeCodes[code, default: 0] += 1 }

  /// - Parameter restored: the epoch of a database that went back: its seqs do, before there is
  ///   another epoch.
  mutating func take(_ json: Data, eventID: String?, restored: Int64?) {
    counts.messages += 1
    guard let message = try? JSONSerialization.jsonObject(with: json) as? [String: Any] else {
      return complain("a message that is no JSON object: \(String(decoding: json, as: UTF8.self))")
    }
    let seq = (message["seq"] as? NSNumber)?.int64Value
    switch message["type"] as? String {
    case "welcome": greetedEpoch = (message["epoch"] as? NSNumber)?.int64Value ?? 0
    case "subscribed": subscribed(message)
    case "resync": resync(message, restored: restored)
    case "snapshot":
      takePrices(message)
      guard !plan.isEvents, message["part"] as? Int == message["parts"] as? Int else { break }
      let itsEpoch = (message["epoch"] as? NSNumber)?.int64Value ?? epoch
      position = seq.map { Position(epoch: itsEpoch, seq: $0) }
      advance(to: seq, message)
    case "stock-prices":
      takePrices(message)
      advance(to: seq, message)
    case "candles":
      takeCandles(message)
      advance(to: seq, message)
    case "heartbeat": advance(to: seq, message)
    case "slow": counts.slow += 1
    case "authenticated": break
    case "error": complain("refused: \(String(decoding: json, as: UTF8.self))")
    case let type: complain("unexpected: \(type ?? "no type")")
    }
    if let eventID { advance(toEvent: eventID) }
  }

  private var named: String {
    position.map { "\($0.epoch) \($0.seq) \($0.log ?? 0) \($0.logPosition ?? 0)" } ?? "nothing"
  }

  private mutating func advance(to seq: Int64?, _ message: [String: Any]) {
    guard !plan.isEvents, let seq, position != nil else { return }
    position?.seq = seq
    position?.log = (message["logSeq"] as? NSNumber)?.int64Value
    position?.logPosition = (message["logPosition"] as? NSNumber)?.int64Value
  }

  private mutating func advance(toEvent name: String) {
    let numbers = name.split(separator: "-").compactMap { Int64($0) }
    guard numbers.count >= 2 else { return complain("an id of another form: \(name)") }
    position = Position(
      epoch: numbers[0], seq: numbers[1], log: numbers.count > 2 ? numbers[2] : nil,
      logPosition: numbers.count > 3 ? numbers[3] : nil)
  }

  private mutating func subscribed(_ message: [String: Any]) {
    counts.subscribed += 1
    let (from, through) = (message["from"] ?? "", message["to"] ?? "")
    trail.append("subscribed \(greetedEpoch) after \(named) from \(from) to \(through)")
    if message["recovered"] as? Bool == true { counts.recovered += 1 }
    if let unknown = message["unknown"] as? [String], !unknown.isEmpty {
      complain("unknown symbols: \(unknown.prefix(3))")
    }
    guard position == nil else { return }
    begin(epoch: greetedEpoch, seq: (message["to"] as? NSNumber)?.int64Value ?? 0)
  }

  private mutating func resync(_ message: [String: Any], restored: Int64?) {
    counts.resyncs += 1
    let itsEpoch = (message["epoch"] as? NSNumber)?.int64Value ?? 0
    let reason = message["reason"] as? String ?? ""
    trail.append("resync \(reason) \(itsEpoch) \(message["seq"] ?? "")")
    if reason != "another_database" || itsEpoch == epoch && itsEpoch != restored {
      complain("resync without need: \(reason), epoch \(itsEpoch) after \(epoch)")
    }
    begin(epoch: itsEpoch, seq: (message["seq"] as? NSNumber)?.int64Value ?? 0)
  }

  private mutating func begin(epoch: Int64, seq: Int64) {
    (self.epoch, since, position) = (epoch, seq, nil)
    (candles, finals, prices) = ([:], [], [:])
  }

  private mutating func takePrices(_ message: [String: Any]) {
    for case let stock as [String: Any] in message["data"] as? [Any] ?? [] {
      let line = StoredMarket.line(StoredMarket.priceFields.map { stock[$0] })
      guard let symbol = stock["symbol"] as? String, plan.symbols.contains(symbol) else {
        complain("a price that was not subscribed: \(line)")
        continue
      }
      prices[symbol] = line
    }
  }

  private mutating func takeCandles(_ message: [String: Any]) {
    for case let candle as [String: Any] in message["data"] as? [Any] ?? [] {
      let key = StoredMarket.line(StoredMarket.candleKey.map { candle[$0] })
      if candle["state"] as? String == "final", !finals.insert(key).inserted {
        complain("final twice: \(key), since \(since), \(trail.suffix(4))")
      }
      candles[key] = StoredMarket.line(StoredMarket.candleFields.map { candle[$0] })
    }
  }
}
