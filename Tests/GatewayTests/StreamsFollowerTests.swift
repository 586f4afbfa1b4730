import Market
import Testing

@testable import Gateway

@Suite("a follower") struct StreamsFollowerTests {
  @Test("the document's subscribe message works verbatim, unknown symbols are listed")
  func documentsMessage() {
    let source = StreamsMarket(count: 3)
    var one = StreamsFollower(source)
    let message =
      #"{"action":"subscribe","channels":[{"name":"stock-prices","#
      + #""symbols":["AAPL","GOOGL","MSFT"]}]}"#
    let places = ["AAPL": 0, "MSFT": 2]
    let actions = one.follower.received(
      ClientMessage(json: Array(message.utf8)), bytes: 0, now: 0, in: one.market,
      resolve: { places[$0].map(SeriesPlace.init(index:)) })
    #expect(actions == [.watch([SeriesPlace(index: 0), SeriesPlace(index: 2)])])
    #expect(
      one.pull() == [
        .welcome(epoch: 7, seq: 1),
        .subscribed(
          .init(
            id: nil, channels: [SubscribedChannel(name: "stock-prices", count: 2)],
            unknown: ["GOOGL"], to: 1)),
        .snapshot(
          .init(
            seq: 1, part: 1, parts: 1,
            objects: [StreamsMarket.stock(0, seq: 1), StreamsMarket.stock(2, seq: 1)])),
      ])
  }

  @Test("a commit is one message of the followed series that it changed")
  func deltas() {
    let source = StreamsMarket(count: 5)
    var one = StreamsFollower.following(source, prices: [1, 3])
    one.deliver(source.commit(stocks: [0, 3, 4]))
    #expect(one.pull() == [.prices(seq: 2, objects: [StreamsMarket.stock(3, seq: 2)])])
    one.deliver(source.commit(stocks: [0]))
    #expect(one.pull() == [])
    one.send(
      #"{"action":"unsubscribe","id":8,"channels":[{"name":"stock-prices","symbols":["s3"]}]}"#)
    one.deliver(source.commit(stocks: [1, 3]))
    #expect(
      one.pull() == [
        .unsubscribed(
          id: .number(8), channels: [SubscribedChannel(name: "stock-prices", count: 1)],
          unknown: []),
        .prices(seq: 4, objects: [StreamsMarket.stock(1, seq: 4)]),
      ])
  }

  @Test("every 2s sends the newest value once in two seconds")
  func every() {
    let source = StreamsMarket(count: 2)
    var one = StreamsFollower.following(source, prices: [0, 1], every: 2)
    one.deliver(source.commit(stocks: [0]))
    #expect(one.pull() == [.prices(seq: 2, objects: [StreamsMarket.stock(0, seq: 2)])])
    one.now = 1_000
    one.deliver(source.commit(stocks: [0]))
    one.deliver(source.commit(stocks: [0, 1]))
    one.deliver(source.commit(stocks: [1]))
    #expect(one.pull() == [])
    #expect(one.follower.deadline == 2_000)
    one.now = 2_000
    #expect(
      one.pull() == [
        .prices(seq: 5, objects: [StreamsMarket.stock(0, seq: 4), StreamsMarket.stock(1, seq: 5)])
      ])
  }

  @Test("a client that resumes gets the series that changed and the candles that it missed")
  func resumes() {
    let source = StreamsMarket(count: 4)
    let candles = (0..<3).map { StreamsMarket.candle($0, number: 1) }
    _ = source.commit(stocks: [0, 1], messages: candles)
    _ = source.commit(stocks: [2], messages: [StreamsMarket.candle(1, number: 2)])
    var one = StreamsFollower(source)
    one.send(
      StreamsFollower.subscription(prices: [0, 1, 2, 3], candles: [1, 2], after: (7, 1)))
    let channels = [
      SubscribedChannel(name: "stock-prices", count: 4),
      SubscribedChannel(name: "candles", count: 2),
    ]
    var answer = FollowerOutput.Subscribed(
      id: .text("7"), channels: channels, unknown: [], isRecovered: true, from: 1, to: 3)
    let changed = [
      StreamsMarket.stock(0, seq: 2), StreamsMarket.stock(1, seq: 2),
      StreamsMarket.stock(2, seq: 3),
    ]
    let missed = [candles[1], candles[2], StreamsMarket.candle(1, number: 2)]
    #expect(
      one.pull() == [
        .welcome(epoch: 7, seq: 3), .subscribed(answer),
        .snapshot(.init(seq: 1, part: 1, parts: 1, objects: changed)),
        .log(type: .candles, seq: 3, objects: missed),
      ])

    var other = StreamsFollower(source)
    other.send(StreamsFollower.subscription(prices: [3], after: (7, 3)))
    answer = .init(
      id: .text("7"), channels: [SubscribedChannel(name: "stock-prices", count: 1)], unknown: [],
      isRecovered: true, from: 3, to: 3)
    #expect(
      other.pull() == [
        .welcome(epoch: 7, seq: 3), .subscribed(answer),
        .snapshot(.init(seq: 3, part: 1, parts: 1, objects: [])),
      ])
  }

  @Test(
    "another database, or a log that is no longer kept, is a resync with a snapshot",
    arguments: [(Int64(6), ResyncReason.anotherDatabase), (7, .pastHorizon)])
  func resyncs(epoch: Int64, reason: ResyncReason) {
    let source = StreamsMarket(count: 2, ringMax: 2)
    for _ in 0..<5 { _ = source.commit(stocks: [0]) }
    var one = StreamsFollower(source)
    one.send(StreamsFollower.subscription(prices: [0, 1], candles: [0], after: (epoch, 2)))
    let outputs = one.pull()
    #expect(outputs.count == 4)
    guard case .subscribed(let answer) = outputs[1] else { return #expect(Bool(false)) }
    #expect(answer.isRecovered == false && answer.from == nil)
    #expect(
      outputs.dropFirst(2) == [
        .resync(reason, epoch: 7, seq: 6),
        .snapshot(
          .init(
            seq: 6, part: 1, parts: 1,
            objects: [StreamsMarket.stock(0, seq: 6), StreamsMarket.stock(1, seq: 1)])),
      ])
  }

  @Test("a client that read from a gateway that is ahead gets no candle twice")
  func ahead() {
    let source = StreamsMarket(count: 1)
    var one = StreamsFollower(source)
    one.send(StreamsFollower.subscription(candles: [0], after: (7, 3)))
    _ = one.pull()
    for number in 2...4 {
      one.deliver(source.commit(messages: [StreamsMarket.candle(0, number: number)]))
    }
    let last = StreamsMarket.candle(0, number: 4)
    #expect(one.pull() == [.log(type: .candles, seq: 4, objects: [last])])
  }

  @Test("a second subscription names no seq beyond prices that wait")
  func secondSubscription() {
    let source = StreamsMarket(count: 2)
    var one = StreamsFollower.following(source, prices: [0], every: 60)
    one.deliver(source.commit(stocks: [0]))
    _ = one.pull()
    one.deliver(source.commit(stocks: [0]))
    #expect(one.pull() == [])
    one.send(StreamsFollower.subscription(prices: [1]))
    let seqs = one.pull().compactMap { output in
      if case .snapshot(let snapshot) = output { snapshot.seq } else { nil }
    }
    #expect(seqs == [2])
  }

  @Test("a heartbeat that is due soon goes with another message")
  func earlyHeartbeat() {
    let source = StreamsMarket(count: 1)
    var one = StreamsFollower.following(source, prices: [0])
    one.now = 11_000
    one.deliver(source.commit(stocks: [0]))
    #expect(one.follower.next(in: one.market, now: one.now)?.isResumable == true)
    #expect(one.follower.next(in: one.market, now: one.now - 1, isAlone: false) == nil)
    #expect(one.follower.next(in: one.market, now: one.now) == nil)
    #expect(
      one.follower.next(in: one.market, now: one.now, isAlone: false) == .heartbeat(seq: 2))
    #expect(one.follower.deadline == 26_000)
  }

  @Test("a heartbeat every 15 s names the seq to resume from")
  func heartbeats() {
    let source = StreamsMarket(count: 2)
    var one = StreamsFollower.following(source, prices: [0], every: 60)
    one.deliver(source.commit(stocks: [0]))
    _ = one.pull()
    one.now = 14_999
    one.deliver(source.commit(stocks: [0]))
    one.deliver(source.commit(stocks: [1]))
    #expect(one.pull() == [])
    one.now = 15_000
    #expect(one.pull() == [.heartbeat(seq: 2)])
    one.now = 20_000
    one.follower.feedChanged(now: one.now)
    #expect(one.pull() == [.heartbeat(seq: 2)])
    #expect(one.follower.deadline == 35_000)
  }

  @Test("a snapshot comes in parts of at most 64 KiB, each series once")
  func parts() {
    let source = StreamsMarket(count: 400, padding: 500)
    var one = StreamsFollower(source)
    one.send(StreamsFollower.subscription(prices: Array(0..<400)))
    var objects: [EncodedStock] = []
    var parts: [Int] = []
    for case .snapshot(let snapshot) in one.pull() {
      #expect(snapshot.objects.reduce(0) { $0 + $1.json.count + 1 } <= StreamLimits.objectBytesMax)
      #expect(snapshot.parts == 4)
      parts.append(snapshot.part)
      objects += snapshot.objects
    }
    #expect(parts == [1, 2, 3, 4])
    #expect(objects == (0..<400).map { StreamsMarket.stock($0, seq: 1, padding: 500) })
  }

  @Test("a commit larger than a message is sent in several, of which only the last is its end")
  func largeCommit() {
    let source = StreamsMarket(count: 300)
    var one = StreamsFollower.following(
      source, prices: Array(0..<300), candles: Array(0..<300))
    let candles = (0..<300).map { StreamsMarket.candle($0, number: 1, padding: 400) }
    one.deliver(source.commit(stocks: Array(0..<300), messages: candles, padding: 400))
    let seqs = one.pull().map { output -> Int64 in
      switch output {
      case .prices(let seq, _), .log(_, let seq, _): seq
      default: -1
      }
    }
    #expect(seqs == [1, 1, 1, 1, 1, 2])
  }
}
