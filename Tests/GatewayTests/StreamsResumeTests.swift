import Foundation
import Market
import Store
import TestSupport
import TestTraits
import Testing

@testable import Gateway

/// Clients that come again must get no candle twice, and no resync that is not needed.
@Suite("streams that resume", .ownThread) struct StreamsResumeTests {
  @Test("a log that is ahead of prices that wait is named apart")
  func logAhead() {
    let source = StreamsMarket(count: 2)
    var one = StreamsFollower.following(source, prices: [0], every: 60, candles: [0])
    one.deliver(source.commit(stocks: [0]))
    #expect(one.pull() == [.prices(seq: 2, objects: [StreamsMarket.stock(0, seq: 2)])])
    let candle = StreamsMarket.candle(0, number: 1)
    one.deliver(source.commit(stocks: [0], messages: [candle]))
    #expect(one.pull() == [.log(type: .candles, seq: 2, objects: [candle])])
    #expect(one.follower.reached(in: one.market) == .init(seq: 2, log: LogCursor(after: 3)))
    var again = StreamsFollower(source)
    again.send(
      StreamsFollower.subscription(
        prices: [0], candles: [0], after: (7, 2), log: LogCursor(after: 3)))
    let outputs = again.pull().dropFirst(2)
    #expect(
      Array(outputs) == [
        .snapshot(.init(seq: 3, part: 1, parts: 1, objects: [StreamsMarket.stock(0, seq: 3)]))
      ])
  }

  @Test("a cut within a commit that takes several messages repeats none of them")
  func withinCommit() {
    let source = StreamsMarket(count: 3)
    let candles = (0..<3).map { StreamsMarket.candle($0, number: $0, padding: 40_000) }
    var one = StreamsFollower.following(source, candles: [0, 1, 2])
    one.deliver(source.commit(messages: candles))
    #expect(
      one.follower.next(in: one.market, now: 0)
        == .log(type: .candles, seq: 1, objects: [candles[0]]))
    let log = LogCursor(after: 1, position: 1)
    #expect(one.follower.reached(in: one.market) == .init(seq: 1, log: log))
    var again = StreamsFollower(source)
    again.send(StreamsFollower.subscription(candles: [0, 1, 2], after: (7, 1), log: log))
    #expect(
      again.pull().dropFirst(2).flatMap(\.objects) == Array(candles.dropFirst()))
    // Another gateway does not have the commit yet.
    let behind = StreamsMarket(count: 3)
    var other = StreamsFollower(behind)
    other.send(StreamsFollower.subscription(candles: [0, 1, 2], after: (7, 1), log: log))
    #expect(other.pull().flatMap(\.objects).isEmpty)
    #expect(other.follower.reached(in: other.market) == .init(seq: 1, log: log))
    other.deliver(behind.commit(messages: candles))
    #expect(other.pull().flatMap(\.objects) == Array(candles.dropFirst()))
  }

  @Test("a commit that was begun is not begun again when less than it is read")
  func begun() {
    let source = StreamsMarket(count: 2)
    let candles = (0..<2).map { StreamsMarket.candle($0, number: $0, padding: 40_000) }
    _ = source.commit()
    _ = source.commit(messages: candles)
    let market = StreamMarket(source)
    var interests = LogInterests()
    let places = PlaceSet([SeriesPlace(index: 0), SeriesPlace(index: 1)])
    interests.add(.named(places), to: .candles(.minute1))
    var cursor = LogCursor(after: 1)
    let steps = [3, 2, 3].map { cursor.next(for: interests, through: $0, in: market) }
    #expect(
      steps == [
        .message(type: .candles, objects: [candles[0]]), .end,
        .message(type: .candles, objects: [candles[1]]),
      ])
  }

  @Test("an event stream names both, and resumes from both")
  func events() async throws {
    let source = StreamsMarket(count: 1)
    let path = "/v1/stream?symbols=s0&channels=stock-prices,candles&every=60s"
    try await StreamsServer.run(source) { port, hub in
      let one = try StreamsClient(port: port)
      try one.get(path)
      _ = try one.text(through: "\"snapshot\"")
      hub.receive(.update(source.commit(stocks: [0])))
      _ = try one.text(through: "id: 7-2\n")
      hub.receive(
        .update(source.commit(stocks: [0], messages: [StreamsMarket.candle(0, number: 1)])))
      _ = try one.text(through: "id: 7-2-3\n")
      #expect(
        try one.text(through: "\n\n").contains(#"{"type":"candles","seq":2,"logSeq":3,"data"#))
      let two = try StreamsClient(port: port)
      try two.get(path, headers: ["Last-Event-ID: 7-2-3"])
      _ = try two.text(through: "id: 7-3\n")
      #expect(try two.text(through: "\n\n").hasPrefix("data: {\"type\":\"snapshot\""))
      // What was missed has an id, too: whoever is cut off behind it does not get it again.
      let three = try StreamsClient(port: port)
      try three.get(path, headers: ["Last-Event-ID: 7-1"])
      _ = try three.text(through: "id: 7-3\n")
      #expect(try three.text(through: "\n\n").hasPrefix("data: {\"type\":\"candles\""))
    }
  }

  @Test("before the first state no stream is opened, and the first state is no resync")
  func firstLoad() async throws {
    let source = StreamsMarket(count: 1, epoch: 0)
    try await StreamsServer.run(source) { port, hub in
      let early = try StreamsClient(port: port)
      let head = try early.upgrade()
      #expect(head.hasPrefix("HTTP/1.1 503") && head.lowercased().contains("retry-after: 2"))
      source.restore(epoch: 7, seq: 5)
      let one = try StreamsClient(port: port)
      #expect(try one.upgrade().hasPrefix("HTTP/1.1 101"))
      one.send(StreamsFollower.subscription(prices: [0], after: (7, 5)))
      hub.receive(.resync(reason: .anotherDatabase, epoch: 7, seq: 5))
      var types: [String] = []
      while types.last != "stock-prices", case .text(let text) = try one.frame() {
        let message = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        types.append(message?["type"] as? String ?? "")
        if types.last == "heartbeat" { break }
        if types.last == "snapshot" { hub.receive(.update(source.commit(stocks: [0]))) }
      }
      #expect(types == ["welcome", "subscribed", "snapshot", "stock-prices"])
    }
  }

  @Test("while the log of the last minutes is read, who resumes from before is sent away")
  func logIsRead() async throws {
    let ring = FeedRing()
    let source = StreamsMarket(count: 1, log: ring)
    ring.reset(epoch: source.current.epoch, seq: source.current.seq, lacksPast: true)
    try await StreamsServer.run(source) { port, _ in
      func last(after seq: Int64?) throws -> StreamsClient.Frame {
        let client = try StreamsClient(port: port)
        _ = try client.upgrade()
        client.send(
          StreamsFollower.subscription(candles: [0], after: seq.map { (7, $0) }))
        _ = try client.message("welcome")
        return try client.frame()
      }
      func isText(_ frame: StreamsClient.Frame, _ text: String) -> Bool {
        if case .text(let found) = frame { found.contains(text) } else { false }
      }
      let early = try last(after: 0)
      #expect(early == .close(code: 1013))
      let (new, knowing) = (try last(after: nil), try last(after: 1))
      #expect(isText(new, "subscribed") && isText(knowing, #""recovered":true"#))
      let log = FeedRing()
      log.reset(epoch: source.current.epoch, seq: 0)
      ring.prepend(log, through: source.current.seq)
      let late = try last(after: 0)
      #expect(isText(late, "subscribed"))
    }
  }

  @Test("a gateway that was started again has the log of the last minutes")
  func logOfLastMinutes() async throws {
    let fixture = try await GatewayFixture()
    _ = try await fixture.state { $0.isLoaded }
    var samples = StoreSamples(seed: 8)
    for minute in 0..<3 {
      _ = try await fixture.writer.commit(
        samples.minute(minute, position: Int64(minute + 1), instruments: 4))
    }
    let epoch = try await fixture.state(through: 3).epoch
    let another = try await GatewayFixture(fixture.database)
    _ = try await another.state(through: 3)
    let updates = fixture.news.updates
    // Quotes are served before the log is read.
    _ = try await another.state { _ in
      if case .updates = another.ring.updates(after: 0, epoch: epoch) { true } else { false }
    }
    guard case .updates(let kept) = another.ring.updates(after: 0, epoch: epoch) else {
      Issue.record("the log begins with the start")
      return
    }
    #expect(kept.map(\.seq) == [1, 2, 3])
    #expect(kept.map { $0.messages.map(\.json) } == updates.map { $0.messages.map(\.json) })
  }

  @Test("a schema that was not there for a while is no resync")
  func schemaBack() async throws {
    let fixture = try await GatewayFixture()
    var samples = StoreSamples(seed: 10)
    _ = try await fixture.writer.commit(samples.minute(0, position: 1, instruments: 2))
    _ = try await fixture.state(through: 1)
    try fixture.database.execute("alter schema candled rename to elsewhere")
    try fixture.database.execute(
      """
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()
      """)
    _ = try await fixture.state { $0.lostAt != nil }
    // Until it came again, and met no schema.
    try await Task.sleep(for: .milliseconds(500))
    try fixture.database.execute("alter schema elsewhere rename to candled")
    let writer = try await GatewayFixture.openWriter(fixture.database)
    _ = try await writer.commit(samples.minute(1, position: 2, instruments: 2))
    _ = try await fixture.state(through: 2)
    // That of the start.
    #expect(fixture.news.resyncs == [.anotherDatabase])
    #expect(fixture.news.updates.last?.seq == 2)
  }

  @Test("of the log nothing older than a quarter of an hour is read again")
  func oldLog() async throws {
    let fixture = try await GatewayFixture()
    var samples = StoreSamples(seed: 9)
    for minute in 0..<3 {
      _ = try await fixture.writer.commit(
        samples.minute(minute, position: Int64(minute + 1), instruments: 2))
    }
    try fixture.database.execute(
      "update candled.change set committed_at = now() - interval '16 min' where seq <= 2")
    let another = try await GatewayFixture(fixture.database)
    let epoch = try await another.state(through: 3).epoch
    // Quotes are served before the log is read.
    _ = try await another.state { _ in
      if case .updates = another.ring.updates(after: 2, epoch: epoch) { true } else { false }
    }
    guard case .updates(let kept) = another.ring.updates(after: 2, epoch: epoch) else {
      Issue.record("the last minutes are missing")
      return
    }
    #expect(kept.map(\.seq) == [3])
    guard case .pastHorizon = another.ring.updates(after: 1, epoch: epoch) else {
      Issue.record("what is older was read, too")
      return
    }
  }
}

extension FollowerOutput {
  fileprivate var objects: [FeedMessage] {
    if case .log(_, _, let objects) = self { objects } else { [] }
  }
}
