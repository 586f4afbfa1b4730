import Market
import Testing

@testable import Gateway

@Suite("limits of a follower") struct StreamsLimitTests {
  @Test("without a token for 10 s it is closed with 4401")
  func authenticationTimeout() {
    var one = StreamsFollower(StreamsMarket(count: 1), isAnonymousAllowed: false)
    one.send(StreamsFollower.subscription(prices: [0]))
    #expect(one.follower.deadline == 10_000)
    one.now = 9_999
    one.follower.tick(bufferedBytes: 0, now: one.now)
    one.now = 10_000
    #expect(
      one.pull() == [
        .welcome(epoch: 7, seq: 1), .failed(id: .text("7"), .authenticationRequired),
      ])
    one.follower.tick(bufferedBytes: 0, now: one.now)
    #expect(one.pull() == [.close(.authenticationTimeout)])
  }

  @Test("messages behind the token wait until it is checked")
  func authorizes() {
    var one = StreamsFollower(StreamsMarket(count: 1), isAnonymousAllowed: false)
    one.send(#"{"action":"auth","id":"1","token":"good"}"#)
    one.send(#"{"action":"ping","id":2}"#)
    one.send(StreamsFollower.subscription(prices: [0]))
    #expect(one.authorizing == [.token("good")])
    #expect(one.pull() == [.welcome(epoch: 7, seq: 1)])
    one.authorized(.granted)
    let outputs = one.pull()
    #expect(outputs.prefix(2) == [.authenticated(id: .text("1")), .pong(id: .number(2))])
    #expect(outputs.count == 4)
  }

  @Test("what one message held is free once that is taken")
  func takenBytes() {
    var inbox = Follower.Inbox(now: 0)
    let half = StreamLimits.waitingBytesMax / 2
    var kept: [Bool] = []
    for number: Int64 in 1...3 {
      kept.append(inbox.keep(.ping(id: .number(number)), bytes: half))
    }
    let first = inbox.takeFirst()
    for _ in 0..<2 { kept.append(inbox.keep(.ping(id: nil), bytes: half)) }
    #expect(kept == [true, true, false, true, false])
    #expect(first == .ping(id: .number(1)))
  }

  @Test("messages that wait for the token are bounded in bytes, and the bound closes with 1013")
  func waitingBytes() {
    var one = StreamsFollower(StreamsMarket(count: 1), credential: .token("good"))
    func wait(bytes: Int) {
      one.perform(
        one.follower.received(.ping(id: nil), bytes: bytes, now: 0, in: one.market) { _ in nil })
    }
    wait(bytes: StreamLimits.waitingBytesMax)
    #expect(one.pull() == [.welcome(epoch: 7, seq: 1)])
    wait(bytes: 1)
    #expect(one.pull() == [.close(.tryAgainLater)])
    // What was handled no longer counts.
    var other = StreamsFollower(StreamsMarket(count: 1), credential: .token("good"))
    (one, other) = (other, one)
    wait(bytes: StreamLimits.waitingBytesMax)
    one.authorized(.granted)
    one.send(#"{"action":"auth","token":"better"}"#)
    wait(bytes: StreamLimits.waitingBytesMax)
    #expect(!one.follower.isClosed)
  }

  @Test(
    "a refused token closes it",
    arguments: [StreamClose.forbidden, .tooManyConnections, .tryAgainLater])
  func refused(reason: StreamClose) {
    var one = StreamsFollower(StreamsMarket(count: 1), credential: .ticket("x"))
    #expect(one.authorizing == [.ticket("x")])
    one.authorized(.refused(reason))
    #expect(one.pull() == [.welcome(epoch: 7, seq: 1), .close(reason)])
    one.send(#"{"action":"ping"}"#)
    #expect(one.pull() == [])
  }

  @Test("more than 10 messages in a second close it with 4429")
  func messageRate() {
    var one = StreamsFollower(StreamsMarket(count: 1))
    for _ in 0..<10 { one.send(#"{"action":"ping"}"#) }
    one.now = 100
    one.send(#"{"action":"ping"}"#)
    #expect(one.pull().count == 12)
    one.send(#"{"action":"ping"}"#)
    #expect(one.pull() == [.close(.tooManyMessages)])
  }

  @Test("more than 6,000 symbols of a channel are refused, and nothing changes")
  func symbolsMax() {
    var one = StreamsFollower(StreamsMarket(count: 7_000))
    one.send(StreamsFollower.subscription(prices: Array(0..<6_000)))
    _ = one.pull()
    one.send(StreamsFollower.subscription(prices: [6_000]))
    one.send(StreamsFollower.subscription(candles: Array(0..<6_001)))
    #expect(
      one.pull() == [
        .failed(id: .text("7"), .tooManySymbols), .failed(id: .text("7"), .tooManySymbols),
      ])
    #expect(one.follower.prices.count == 6_000 && one.follower.logs.isEmpty)
  }

  @Test(
    "what cannot be read is answered",
    arguments: [
      ("", StreamError.malformed), ("[]", .malformed), (#"{"action":7}"#, .malformed),
      (#"{"action":"auth"}"#, .malformed), (#"{"action":"subscribe"}"#, .malformed),
      (#"{"action":"sing"}"#, .unknownAction("sing")),
      (#"{"action":"ping","channels":[]}"#, .unknownField("channels")),
      (
        #"{"action":"subscribe","channels":[{"name":"candles","symbol":["a"]}]}"#,
        .unknownField("channels[0].symbol")
      ),
      (#"{"action":"subscribe","channels":[{"name":"weather"}]}"#, .unknownChannel("weather")),
      (
        #"{"action":"subscribe","channels":[{"name":"stock-prices","every":"0s"}]}"#,
        .invalidEvery("0s")
      ),
      (
        #"{"action":"subscribe","channels":[{"name":"candles","intervals":["2m"]}]}"#,
        .invalidInterval("2m")
      ),
      (
        #"{"action":"subscribe","channels":[{"name":"candles","symbols":["a\u0000"]}]}"#,
        .invalidSymbol
      ),
    ])
  func malformed(text: String, error: StreamError) {
    var one = StreamsFollower(StreamsMarket(count: 1))
    one.send(text)
    #expect(one.pull().dropFirst() == [.failed(id: nil, error)])
  }

  @Test("one that does not read is notified once, then gets the newest value of each series")
  func conflates() {
    let source = StreamsMarket(count: 3)
    var one = StreamsFollower.following(source, prices: [0, 1, 2], candles: [0])
    one.isWritable = false
    for number in 2...9 {
      let candles = [StreamsMarket.candle(0, number: number)]
      one.deliver(source.commit(stocks: [0, number % 2], messages: candles))
    }
    #expect(one.urgent == [.slow(conflated: 2)])
    let candles = (2...9).map { StreamsMarket.candle(0, number: $0) }
    #expect(
      one.pull() == [
        .prices(
          seq: 1, objects: [StreamsMarket.stock(0, seq: 9), StreamsMarket.stock(1, seq: 9)]),
        .log(type: .candles, seq: 9, objects: candles),
      ])
    one.deliver(source.commit(stocks: [2]))
    one.deliver(source.commit(stocks: [2]))
    #expect(one.urgent.count == 2)
  }

  @Test("without progress for 30 s it is closed with 4408, with progress it is not")
  func stall() {
    var one = StreamsFollower.following(StreamsMarket(count: 1), prices: [0])
    one.follower.blocked(bufferedBytes: 50_000, now: 0)
    for second in Int64(1)...25 { one.follower.tick(bufferedBytes: 50_000, now: second * 1_000) }
    one.follower.tick(bufferedBytes: 49_999, now: 26_000)
    for second in Int64(27)...55 { one.follower.tick(bufferedBytes: 49_999, now: second * 1_000) }
    #expect(!one.follower.isClosed)
    one.follower.tick(bufferedBytes: 49_999, now: 56_000)
    #expect(one.pull() == [.close(.tooSlow)])
  }
}
