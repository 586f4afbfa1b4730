import Foundation
import Market
import NIOCore
import Reader
import TestSupport
import TestTraits
import Testing

@testable import Gateway

@Suite(.ownThread) struct AlpacaStreamTests {
  /// The messages of the next frame, each as sorted JSON.
  private static func list(_ client: StreamsClient) throws -> [[String: Any]] {
    guard case .text(let text) = try client.frame() else { throw StreamsClient.Closed() }
    return try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]] ?? []
  }

  /// The next message of a type, and those of its frame.
  private static func next(_ type: String, _ client: StreamsClient) throws -> [[String: Any]] {
    while true {
      let messages = try list(client)
      if messages.contains(where: { $0["T"] as? String == type }) { return messages }
    }
  }

  @Test("in JSON: connected, authenticated, subscription; then quotes, bars and revised bars")
  func follows() async throws {
    let fixture = try await AlpacaFixture()
    try await fixture.listen { port in
      let client = try StreamsClient(port: port)
      #expect(try client.upgrade("/v2/iex").hasPrefix("HTTP/1.1 101"))
      #expect(try client.frame() == .text(#"[{"T":"success","msg":"connected"}]"#))
      client.send(#"{"action":"subscribe","bars":["AAPL"]}"#)
      #expect(
        try client.frame() == .text(#"[{"T":"error","code":401,"msg":"not authenticated"}]"#))
      client.send(#"{"action":"auth","key":"k","secret":"\#(fixture.secret)"}"#)
      #expect(try client.frame() == .text(#"[{"T":"success","msg":"authenticated"}]"#))
      client.send(
        #"{"action":"subscribe","bars":["AAPL","600001.SH"],"quotes":["600001.SH","AAPL"],"#
          + #""updatedBars":["sh600000"],"trades":["AAPL"],"dailyBars":["nothing"],"#
          + #""orderbooks":["AAPL"],"statuses":[]}"#)
      let answer = try Self.list(client)
      #expect(answer.map { $0["T"] as? String } == ["subscription", "error", "error"])
      #expect(answer[0]["bars"] as? [String] == ["600001.SH", "AAPL"])
      #expect(answer[0]["updatedBars"] as? [String] == ["sh600000"])
      #expect(answer[0]["trades"] as? [String] == [] && answer[0]["dailyBars"] as? [String] == [])
      #expect(answer.dropFirst().map { $0["code"] as? Int } == [400, 409])
      #expect((answer[2]["msg"] as? String)?.hasSuffix("there are no orderbooks, trades") == true)
      let first = try Self.next("q", client)
      #expect(first.map { $0["S"] as? String } == ["600001.SH"])
      try await fixture.commit(30)
      var types: [String: [String]] = [:]
      while types["b"]?.count != 2 || types["u"] == nil || types["q"] == nil {
        for message in try Self.list(client) {
          let type = message["T"] as? String ?? ""
          types[type, default: []].append(message["S"] as? String ?? "")
        }
      }
      #expect(types["b"]?.sorted() == ["600001.SH", "AAPL"] && types["u"] == ["sh600000"])
      #expect(types["q"] == ["600001.SH"])
      client.send(#"{"action":"unsubscribe","bars":["sh600001"],"quotes":["600001.SH"]}"#)
      let left = try Self.next("subscription", client)[0]
      #expect(left["bars"] as? [String] == ["AAPL"] && left["quotes"] as? [String] == ["AAPL"])
      client.send([7], opcode: 9)
      #expect(try client.frame() == .pong([7]))
    }
  }

  @Test("a bar of the stream has the digits of the database")
  func decimals() async throws {
    let fixture = try await AlpacaFixture()
    try await fixture.listen { port in
      let client = try StreamsClient(port: port)
      try client.upgrade("/v2/sip", headers: ["APCA-API-SECRET-KEY: \(fixture.secret)"])
      _ = try Self.list(client)
      #expect(try client.frame() == .text(#"[{"T":"success","msg":"authenticated"}]"#))
      client.send(#"{"action":"subscribe","bars":["sh600002"]}"#)
      _ = try Self.next("subscription", client)
      try await fixture.commit(30)
      guard case .text(let text) = try client.frame() else { throw StreamsClient.Closed() }
      let row = try #require(try fixture.minutes(of: "sh600002").last).map { $0 ?? "null" }
      #expect(
        text == #"[{"T":"b","S":"sh600002","t":"\#(row[0])","o":\#(row[1]),"h":\#(row[2]),"#
          + #""l":\#(row[3]),"c":\#(row[4]),"v":\#(row[5]),"n":null,"vw":\#(row[6])}]"#)
    }
  }

  @Test("a quote that changed is translated anew, one that did not is not")
  func changedQuote() throws {
    let stream = AlpacaStream { MarketState() }
    func quote(volume: Int64, json: String) throws -> String {
      var quote = Quote(
        symbol: StoreSamples.symbol(0), tradingDay: StoreSamples.day, secondOfDay: 34_200)
      quote.bids[0] = BookLevel(price: ExactDecimal(10), volume: ExactDecimal(volume))
      let stock = EncodedStock(quote, json: Array(json.utf8))
      let translation = try #require(stream.translation(of: stock))
      return String(
        decoding: translation.bytes(spelled: "a", isBinary: false), as: UTF8.self)
    }
    #expect(try quote(volume: 100, json: "1").contains(#""bp":10,"bs":100,"#))
    #expect(try quote(volume: 200, json: "2").contains(#""bp":10,"bs":200,"#))
    #expect(try quote(volume: 300, json: "2").contains(#""bp":10,"bs":200,"#))
  }

  @Test("an American bar of the stream has the average price of its source")
  func americanAverage() async throws {
    let fixture = try await AlpacaFixture()
    try await fixture.listen { port in
      let client = try StreamsClient(port: port)
      try client.upgrade("/v2/iex", headers: ["APCA-API-SECRET-KEY: \(fixture.secret)"])
      _ = try Self.list(client)
      _ = try client.frame()
      client.send(#"{"action":"subscribe","bars":["AAPL"]}"#)
      _ = try Self.next("subscription", client)
      try await fixture.commit(30)
      let bar = try Self.next("b", client)[0]
      // The fixture's bars have their close as the average.
      #expect(bar["vw"] is NSNumber && bar["vw"] as? NSNumber == bar["c"] as? NSNumber)
    }
  }

  @Test("a wrong secret, wrong syntax and wrong paths are answered in Alpaca's terms")
  func refusals() async throws {
    let fixture = try await AlpacaFixture()
    try await fixture.listen { port in
      let client = try StreamsClient(port: port)
      try client.upgrade("/v2/iex")
      _ = try Self.list(client)
      for wrong in [
        "{", #"{"action":"auth"}"#, #"{"action":"dance"}"#, "[]",
        #"{"action":"subscribe","symbols":"AAPL"}"#,
      ] {
        client.send(wrong)
        #expect(try client.frame() == .text(#"[{"T":"error","code":400,"msg":"invalid syntax"}]"#))
      }
      client.send(#"{"action":"auth","key":"k","secret":"cndl_nothing"}"#)
      #expect(try client.frame() == .text(#"[{"T":"error","code":402,"msg":"auth failed"}]"#))
      #expect(try client.frame() == .close(code: 4403))
      for path in ["/v2/IEX", "/v2/", "/v2/a/b", "/v2/aaaaaaaaaaaaaaaaa"] {
        let other = try StreamsClient(port: port)
        #expect(try other.upgrade(path).hasPrefix("HTTP/1.1 404"), "\(path)")
      }
      let foreign = try StreamsClient(port: port)
      let head = try foreign.upgrade("/v2/iex", headers: ["Origin: https://bad.example"])
      #expect(head.hasPrefix("HTTP/1.1 403") && head.contains("application/json"))
      let text = String(decoding: foreign.rest(), as: UTF8.self)
      #expect(text.hasPrefix(#"{"code":40310000,"message":"#))
    }
  }

  @Test("where reading is anonymous any secret will do")
  func anonymous() async throws {
    let fixture = try await AlpacaFixture(isAnonymous: true)
    try await fixture.listen { port in
      for secret in ["any", fixture.secret] {
        let client = try StreamsClient(port: port)
        try client.upgrade("/v2/iex")
        _ = try Self.list(client)
        client.send(#"{"action":"auth","key":"k","secret":"\#(secret)"}"#)
        #expect(try client.frame() == .text(#"[{"T":"success","msg":"authenticated"}]"#))
      }
    }
  }

  @Test("5,000 symbols in frames of 32 KiB, then an empty one, in MessagePack")
  func fragments() async throws {
    let source = StreamsMarket(count: 5_000)
    var state = source.current
    state.directory = InstrumentDirectory().updated(with: Self.records(count: 5_000))
    let market = state
    let door = AlpacaStream { market }
    try await StreamsServer.run(source, doors: [{ door.translator(for: $0) }]) { port, _ in
      let client = try StreamsClient(port: port)
      try client.upgrade("/v2/iex", headers: ["Content-Type: application/msgpack"])
      _ = try Self.packed(client)
      var request = MessagePackWriter()
      request.map(count: 3)
      request.string("action")
      request.string("subscribe")
      for channel in ["bars", "quotes"] {
        request.string(channel)
        request.array(count: 5_000)
        for number in 0..<5_000 { request.string("sh\(600_000 + number)") }
      }
      var rest = request.bytes[...]
      client.send(Array(rest.prefix(32_768)), opcode: 2, isLast: false)
      rest = rest.dropFirst(32_768)
      while !rest.isEmpty {
        client.send(Array(rest.prefix(32_768)), opcode: 0, isLast: false)
        rest = rest.dropFirst(32_768)
      }
      client.send([], opcode: 0)
      let answer = try Self.packed(client)[0]
      #expect(answer["T"] as? String == "subscription")
      #expect((answer["bars"] as? [String])?.count == 5_000)
      #expect((answer["quotes"] as? [String])?.count == 5_000)
      client.send("{}")
      #expect(try client.frame() == .close(code: 1003))
    }
  }

  private static func packed(_ client: StreamsClient) throws -> [[String: Any]] {
    guard case .binary(let bytes) = try client.frame(),
      let json = MessagePackReader.json(of: bytes)
    else { throw StreamsClient.Closed() }
    return try JSONSerialization.jsonObject(with: Data(json)) as? [[String: Any]] ?? []
  }

  private static func records(count: Int) -> [SeriesRecord] {
    (0..<count).map { number in
      SeriesRecord(
        id: Int32(number + 1), symbol: StoreSamples.symbol(number), source: .live,
        sourceName: "one", priority: 1, name: nil, exchange: nil, kind: nil, board: nil,
        currency: "CNY", zone: .shanghai)
    }
  }

  @Test("all symbols are meant by a star, and a refused request changes nothing")
  func wildcard() throws {
    var state = MarketState(epoch: 1, seq: 1)
    state.directory = InstrumentDirectory().updated(with: Self.records(count: 3))
    let market = state
    let stream = AlpacaStream { market }
    let one = AlpacaTranslator(stream, feed: "iex", isBinary: false)
    let all = PlaceSet(Array(state.directory.places))
    #expect(
      one.read(Array(#"{"action":"subscribe","quotes":["*"],"bars":["600001.SH"]}"#.utf8))
        == .subscribe(
          ChannelsRequest(channels: [
            ChannelRequest(name: "stock-prices", places: all),
            ChannelRequest(name: "candles", intervals: ["1m"], places: PlaceSet([all.places[1]])),
          ])))
    var buffer = ByteBuffer()
    let accepted = FollowerOutput.Subscribed(id: nil, channels: [], unknown: [], to: 1)
    one.write(.subscribed(accepted), to: &buffer)
    #expect(String(buffer: buffer).contains(#""quotes":["*"],"bars":["600001.SH"]"#))
    _ = one.read(Array(#"{"action":"subscribe","dailyBars":["*"]}"#.utf8))
    one.write(.failed(id: nil, .tooManySymbols), to: &buffer)
    #expect(String(buffer: buffer).contains(#""code":405"#))
    // Bars that are followed as updated ones, too, stay so.
    _ = one.read(Array(#"{"action":"subscribe","updatedBars":["sh600001"]}"#.utf8))
    #expect(
      one.read(Array(#"{"action":"unsubscribe","bars":["sh600001"],"quotes":["*"]}"#.utf8))
        == .unsubscribe(
          ChannelsRequest(channels: [ChannelRequest(name: "stock-prices", places: all)])))
  }

  @Test("a star is all there is, also of more series than one client may name of our own channels")
  func wholeMarket() {
    let count = StreamLimits.symbolsMax + 500
    let source = StreamsMarket(count: count)
    var one = StreamsFollower(source)
    let all = PlaceSet((0..<count).map { SeriesPlace(index: $0) })
    let whole = ChannelsRequest(channels: [
      ChannelRequest(name: "stock-prices", places: all),
      ChannelRequest(name: "candles", intervals: ["1m"], places: all),
    ])
    one.perform(
      one.follower.received(.subscribe(whole), bytes: 0, now: 0, in: one.market) { _ in nil })
    let answers = one.pull()
    #expect(!answers.contains { if case .failed = $0 { true } else { false } })
    #expect(one.follower.prices.count == count)
    one.perform(
      one.follower.received(.unsubscribe(whole), bytes: 0, now: 0, in: one.market) { _ in nil })
    _ = one.pull()
    #expect(one.follower.prices.isEmpty && one.follower.logs.isEmpty)
  }

  @Test("what was missed and slowness are said, heartbeats are not")
  func notices() {
    let stream = AlpacaStream { MarketState() }
    let one = AlpacaTranslator(stream, feed: "iex", isBinary: false)
    var buffer = ByteBuffer()
    one.write(.heartbeat(seq: 1), to: &buffer)
    #expect(buffer.readableBytes == 0)
    one.write(.slow(conflated: 3), to: &buffer)
    #expect(String(buffer: buffer).contains(#""code":407"#))
    one.write(.resync(.pastHorizon, epoch: 1, seq: 1), to: &buffer)
    #expect(String(buffer: buffer).contains(#""code":500"#))
    for (reason, code) in [
      (StreamClose.authenticationTimeout, 404), (.tooManyConnections, 406), (.tooSlow, 407),
    ] {
      buffer.clear()
      one.write(.close(reason), to: &buffer)
      #expect(String(buffer: buffer).contains("\"code\":\(code)"))
    }
  }
}
