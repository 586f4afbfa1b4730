import Market
import TestSupport
import Testing

@testable import Gateway

/// What a client makes of the messages.
private struct View {
  var prices: [Int: Int64] = [:]
  var candles: [String] = []
  var resumeSeq: Int64 = 0
  var log: LogCursor?

  /// - Parameter follower: that sent it.
  mutating func read(_ output: FollowerOutput, of follower: StreamsFollower) {
    read(output)
    guard output.isResumable else { return }
    log = follower.follower.reached(in: follower.market).log(behind: resumeSeq)
  }

  mutating func read(_ output: FollowerOutput) {
    switch output {
    case .snapshot(let snapshot):
      for stock in snapshot.objects { readPrice(stock.json) }
      resumeSeq = snapshot.part == snapshot.parts ? snapshot.seq : resumeSeq
    case .prices(let seq, let stocks):
      for stock in stocks { readPrice(stock.json) }
      resumeSeq = seq
    case .log(_, let seq, let messages):
      candles += messages.map { String(decoding: $0.json, as: UTF8.self) }
      resumeSeq = seq
    case .heartbeat(let seq): resumeSeq = seq
    default: break
    }
  }

  private mutating func readPrice(_ object: [UInt8]) {
    let words = String(decoding: object, as: UTF8.self).split { !$0.isNumber }
    guard words.count >= 2, let index = Int(words[0]), let seq = Int64(words[1]) else { return }
    prices[index] = seq
  }
}

@Suite("followers under random conditions") struct StreamsPropertyTests {
  @Test(
    "prices end as the state is, and each candle comes once and in order",
    arguments: UInt64(1)...60)
  func converges(seed: UInt64) {
    var random = SplitMix(seed: seed)
    let source = StreamsMarket(count: 40, ringMax: 2_000, padding: 200)
    let followed = (0..<40).filter { _ in Bool.random(using: &random) } + [0]
    let every: Int? = Bool.random(using: &random) ? nil : Int.random(in: 1...5, using: &random)
    var one = StreamsFollower(source)
    one.send(StreamsFollower.subscription(prices: followed, every: every, candles: followed))
    var view = View()
    var expected: [String] = []
    var isReading = true
    for number in 0..<300 {
      one.now += Int64.random(in: 0...700, using: &random)
      let changed = (0..<40).filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
      let candles = (0..<40).filter { _ in Int.random(in: 0..<30, using: &random) == 0 }
        .map { StreamsMarket.candle($0, number: number, padding: number % 7 == 0 ? 40_000 : 0) }
      for candle in candles where followed.contains(candle.place?.index ?? -1) {
        expected.append(String(decoding: candle.json, as: UTF8.self))
      }
      one.deliver(source.commit(stocks: changed, messages: candles, padding: 200))
      if Int.random(in: 0..<10, using: &random) == 0 { isReading.toggle() }
      one.isWritable = isReading
      guard isReading else { continue }
      for _ in 0..<Int.random(in: 0...6, using: &random) {
        if let output = one.follower.next(in: one.market, now: one.now) {
          view.read(output, of: one)
        }
      }
      if Int.random(in: 0..<40, using: &random) == 0 {
        let gap = view.resumeSeq
        guard gap > 0 else { continue }
        one = StreamsFollower(source).moved(to: one.now)
        one.send(
          StreamsFollower.subscription(
            prices: followed, every: every, candles: followed, after: (7, gap),
            log: view.log))
      }
    }
    one.now += 10_000
    for output in one.pull() { view.read(output) }
    let state = source.current.stocks
    for index in followed {
      #expect(view.prices[index] == state[index]?.seq, "seed \(seed), series \(index)")
    }
    #expect(view.candles == expected, "seed \(seed)")
  }

  @Test("random symbols come and go, and only followed series are sent", arguments: UInt64(1)...30)
  func subscriptions(seed: UInt64) {
    var random = SplitMix(seed: seed)
    let source = StreamsMarket(count: 20)
    var one = StreamsFollower(source)
    var view = View()
    var followed: Set<Int> = []
    for _ in 0..<200 {
      one.now += 200
      let symbol = Int.random(in: 0..<20, using: &random)
      if Bool.random(using: &random) {
        followed.insert(symbol)
        one.send(StreamsFollower.subscription(prices: [symbol]))
      } else {
        for output in one.pull() { view.read(output) }
        followed.remove(symbol)
        view.prices[symbol] = nil
        let channel = #"{"name":"stock-prices","symbols":["s\#(symbol)"]}"#
        one.send(#"{"action":"unsubscribe","channels":[\#(channel)]}"#)
      }
      one.deliver(source.commit(stocks: [symbol, (symbol + 1) % 20]))
      if Bool.random(using: &random) { for output in one.pull() { view.read(output) } }
    }
    for output in one.pull() { view.read(output) }
    let state = source.current.stocks
    let expected = followed.map { ($0, state[$0]?.seq ?? 0) }
    #expect(view.prices == Dictionary(uniqueKeysWithValues: expected), "seed \(seed)")
  }
}

extension StreamsFollower {
  fileprivate func moved(to time: Int64) -> StreamsFollower {
    var moved = self
    moved.now = time
    return moved
  }
}
