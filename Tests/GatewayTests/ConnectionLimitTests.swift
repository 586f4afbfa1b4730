import AppStore
import Glibc
import NIOCore
import NIOEmbedded
import NIOHTTP1
import TestSupport
import TestTraits
import Testing

@testable import Gateway

@Suite struct ConnectionBookTests {
  private static let home = AccessKey.address([192, 0, 2, 1])
  private static let office = AccessKey.address([192, 0, 2, 2])

  private func book(_ count: Int, ofAddress: Int = 3, ofToken: Int = 2) -> ConnectionBook<Int> {
    var limits = ConnectionLimits(connectionsMax: count)
    (limits.connectionsOfAddressMax, limits.connectionsOfUserMax) = (ofAddress, ofToken)
    (limits.unsentBytesOfClientMax, limits.unsentBytesMax) = (100, 250)
    return ConnectionBook(limits)
  }

  @Test func `an address with one connection too many loses the one that is idle for longest`() {
    var book = book(10)
    for id in 1...3 { #expect(book.open(id, client: Self.home) == []) }
    book.begin(1)
    book.rest(1)
    #expect(book.open(4, client: Self.office) == [])
    #expect(book.open(5, client: Self.home) == [2])
    #expect(book.open(6, client: Self.home) == [3])
    #expect(book.count == 4)
  }

  @Test func `a connection is refused where all of its address are busy`() {
    var book = book(10)
    for id in 1...3 {
      _ = book.open(id, client: Self.home)
      book.begin(id)
    }
    #expect(book.open(4, client: Self.home) == [4] && book.count == 3)
    book.close(2)
    #expect(book.open(5, client: Self.home) == [])
  }

  @Test func `where all places are taken the one of all that is idle for longest makes room`() {
    var book = book(3)
    for id in 1...3 { _ = book.open(id, client: .address([UInt8(id)])) }
    book.begin(1)
    #expect(book.open(4, client: Self.home) == [2])
    for id in [3, 4] { book.begin(id) }
    #expect(book.open(5, client: Self.home) == [5])
  }

  @Test func `a connection is its user's once it shows a token, and a stream is nobody's`() {
    var book = book(10)
    for id in 1...3 {
      _ = book.open(id, client: Self.home)
      book.begin(id)
    }
    #expect(book.identify(1, as: .user(7)) == .admitted)
    #expect(book.identify(2, as: .user(7)) == .admitted)
    #expect(book.identify(3, as: .user(7)) == .tooMany)
    book.rest(1)
    #expect(book.identify(3, as: .user(7)) == .replaces(1))
    for id in 4...6 { #expect(book.open(id, client: Self.home) == []) }
    for id in 4...6 {
      book.begin(id)
      book.becomeStream(id)
    }
    for id in 7...9 { #expect(book.open(id, client: Self.home) == []) }
  }

  @Test func `connections of a proxy count in all alone, though their requests name tokens`() {
    var book = book(5)
    for id in 1...5 {
      #expect(book.open(id, client: nil) == [])
      book.begin(id)
      #expect(book.identify(id, as: .user(7)) == .admitted)
    }
    #expect(book.open(6, client: nil) == [6])
  }

  @Test func `answers that are not taken are bounded by client and in all`() {
    var book = book(10)
    for id in 1...4 { _ = book.open(id, client: .address([UInt8(id)])) }
    #expect(book.hold(120, of: .user(1), on: 1) == true, "one answer of any size")
    #expect(!book.hold(1, of: .user(1), on: 2) && book.identify(2, as: .user(1)) == .unread)
    #expect(book.hold(100, of: .user(2), on: 2) == true)
    #expect(!book.hold(31, of: .user(3), on: 3) && book.hold(30, of: .user(3), on: 3))
    #expect(book.unsentBytes == 250)
    #expect(!book.hold(1, of: .user(2), on: 2) && book.identify(2, as: .user(2)) == .unread)
    #expect(book.identify(3, as: .user(3)) == .admitted, "its last answer was taken in")
    book.rest(1)
    book.close(2)
    #expect(book.identify(4, as: .user(1)) == .admitted)
    #expect(book.unsentBytes == 30)
    #expect(book.hold(100, of: .user(1), on: 1) && book.hold(100, of: .user(2), on: 4))
  }

  @Test(arguments: [UInt64.random(in: 1...1_000_000)])
  func `numbers stay those of the connections there are, whatever happens`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var book = book(20, ofAddress: 6, ofToken: 4)
    var open: Set<Int> = []
    for step in 0..<20_000 {
      let id = open.randomElement(using: &random) ?? 0
      switch Int.random(in: 0..<7, using: &random) {
      case 0...1:
        open.insert(step)
        for closed in book.open(step, client: .address([.random(in: 0...5, using: &random)])) {
          open.remove(closed)
        }
      case 2:
        book.close(id)
        open.remove(id)
      case 3: book.begin(id)
      case 4: book.rest(id)
      case 5:
        let outcome = book.identify(id, as: .user(.random(in: 0...5, using: &random)))
        if case .replaces(let closed) = outcome { open.remove(closed) }
      default: _ = book.hold(Int.random(in: 1...90, using: &random), of: .user(1), on: id)
      }
      guard book.count == open.count, open.count <= 20 else {
        Issue.record("seed \(seed), step \(step): \(book.count) of \(open.count)")
        return
      }
    }
    for id in open { book.close(id) }
    #expect(book.count == 0 && book.unsentBytes == 0, "seed \(seed)")
    for id in 0..<6 { #expect(book.open(-1 - id, client: Self.home) == [], "seed \(seed)") }
  }
}

@Suite struct UnreadAnswerTests {
  @Test func `an answer counts until the kernel has it, also where its request ends later`() throws
  {
    let channel = EmbeddedChannel()
    let table = ConnectionTable(ConnectionLimits(connectionsMax: 10))
    try channel.pipeline.syncOperations.addHandler(ExchangeTimeout(counting: table))
    table.opened(channel)
    let bytes = 2 * ConnectionLimits.unsentBytesMin
    try channel.writeInbound(
      HTTPServerRequestPart.head(HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")))
    #expect(table.hold(bytes, of: .user(1), on: ObjectIdentifier(channel)) == nil)
    let head = HTTPResponseHead(version: .http1_1, status: .ok)
    channel.write(HTTPServerResponsePart.head(head), promise: nil)
    channel.write(HTTPServerResponsePart.end(nil), promise: nil)
    try channel.writeInbound(HTTPServerRequestPart.end(nil))
    #expect(table.figures.unsentBytes == bytes)
    channel.flush()
    #expect(table.figures.unsentBytes == 0)
    _ = try channel.finish()
  }

  @Test func `the connection of a request stays the one it came over while it is answered`() throws
  {
    weak var channel: EmbeddedChannel?
    let context = try {
      let opened = EmbeddedChannel()
      _ = try opened.finish()
      channel = opened
      return GatewayContext(of: opened, log: quietLog)
    }()
    #expect(channel.map { ObjectIdentifier($0) } == context.connection)
  }
}

@Suite struct HeadLimitTests {
  private let channel = EmbeddedChannel()

  init() throws {
    let clock = HeadClock()
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandlers(
      clock, ByteToMessageHandler(HTTPRequestDecoder()), HTTPServerPipelineHandler())
    try pipeline.addHandler(ExchangeTimeout(awaitingHeads: clock))
    try channel.connect(to: try SocketAddress(ipAddress: "192.0.2.1", port: 9)).wait()
  }

  private func isOpen(afterSeconds seconds: Int64) -> Bool {
    channel.embeddedEventLoop.advanceTime(by: .seconds(seconds))
    return channel.isActive
  }

  private func send(_ text: String) throws {
    try channel.writeInbound(ByteBuffer(string: text))
  }

  @Test func `a connection without a byte is closed after 10 to 15 seconds`() {
    #expect(isOpen(afterSeconds: 9) && !isOpen(afterSeconds: 6))
  }

  @Test func `a first head that comes byte by byte has no more time than none`() throws {
    for letter in "GET / HTTP/1.1" where channel.isActive {
      try send(String(letter))
      _ = isOpen(afterSeconds: 1)
    }
    #expect(!isOpen(afterSeconds: 1))
  }

  @Test func `between requests it may be silent, and from a later head's first byte it may not`()
    throws
  {
    try send("GET /v1/market HTTP/1.1\r\nHost: x\r\n\r\n")
    try channel.writeOutbound(
      HTTPServerResponsePart.head(HTTPResponseHead(version: .http1_1, status: .ok)))
    try channel.writeOutbound(HTTPServerResponsePart.end(nil))
    #expect(isOpen(afterSeconds: 40))
    try send("GET /v1")
    #expect(isOpen(afterSeconds: 9) && !isOpen(afterSeconds: 6))
  }

  @Test func `a head behind a request that is still answered may wait for that`() throws {
    for path in ["/1", "/2"] { try send("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n") }
    #expect(isOpen(afterSeconds: 30))
    try channel.writeOutbound(
      HTTPServerResponsePart.head(HTTPResponseHead(version: .http1_1, status: .ok)))
    try channel.writeOutbound(HTTPServerResponsePart.end(nil))
    #expect(isOpen(afterSeconds: 30))
  }

  @Test func `a client that takes no byte for 30 seconds has stalled, and one that takes some not`()
  {
    var stall = AnswerStall()
    for second in 0..<7 {
      let now = NIODeadline.uptimeNanoseconds(0) + .seconds(Int64(second) * 5)
      #expect(stall.isOver(waitingBytes: 900 - second, at: now) == false)
    }
    let start = NIODeadline.uptimeNanoseconds(0) + .seconds(100)
    #expect(stall.isOver(waitingBytes: 50, at: start) == false)
    #expect(stall.isOver(waitingBytes: 50, at: start + .seconds(29)) == false)
    #expect(stall.isOver(waitingBytes: 50, at: start + .seconds(30)) == true)
    #expect(stall.isOver(waitingBytes: 0, at: start + .seconds(31)) == false)
    #expect(stall.isOver(waitingBytes: 50, at: start + .seconds(32)) == false)
  }
}

/// A gateway with small bounds, as clients meet it.
@Suite(.ownThread) struct ClientLimitTests {
  private func run(
    _ limit: WritableKeyPath<ConnectionLimits, Int>, _ most: Int,
    body: (_ port: Int) async throws -> Void
  ) async throws {
    try await HostileServer.run(
      .init(anonymous: true, addressRequests: 10_000), limit: { $0[keyPath: limit] = most },
      body: body)
  }

  private func status(of client: StreamsClient, _ path: String = "/v1/market") -> String {
    String(((try? client.get(path)) ?? "nothing").prefix(12))
  }

  @Test func `silent connections of an address keep nobody at it from being served`() async throws {
    try await run(\.connectionsOfAddressMax, 20) { port in
      let silent = try (0..<100).map { _ in try StreamsClient(port: port) }
      for _ in 0..<30 {
        #expect(status(of: try StreamsClient(port: port)) == "HTTP/1.1 200")
      }
      _ = silent
    }
  }

  @Test func `where all places are taken by silent connections a newcomer has one at once`()
    async throws
  {
    try await run(\.connectionsMax, 20) { port in
      let silent = try (0..<100).map { _ in try StreamsClient(port: port) }
      for _ in 0..<30 {
        #expect(status(of: try StreamsClient(port: port)) == "HTTP/1.1 200")
      }
      _ = silent
    }
  }

  @Test func `streams stay open while connections around them make room`() async throws {
    try await run(\.connectionsOfAddressMax, 5) { port in
      let streams = try (0..<10).map { _ in
        let stream = try StreamsClient(port: port)
        #expect(try stream.upgrade().hasPrefix("HTTP/1.1 101"))
        _ = try stream.message("welcome")
        return stream
      }
      for _ in 0..<20 { #expect(status(of: try StreamsClient(port: port)) == "HTTP/1.1 200") }
      for stream in streams {
        stream.send(#"{"action":"ping","id":1}"#)
        _ = try stream.message("pong")
      }
    }
  }

  @Test func `a client that does not read is refused more, until what it had is gone`() async throws
  {
    try await run(\.unsentBytesOfClientMax, 100 << 10) { port in
      let large = "GET /v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"
      var deaf: StreamsClient? = try StreamsClient(port: port, receiveBufferBytes: 4_096)
      deaf?.write(Array(large.utf8))
      func answers(_ wanted: String) throws -> Bool {
        for _ in 0..<1_000 where status(of: try StreamsClient(port: port)) == wanted {
          return true
        }
        return false
      }
      #expect(try answers("HTTP/1.1 429"))
      let refused = try StreamsClient(port: port)
      try refused.get("/v1/market")
      #expect(try refused.text(through: "}").contains("answers_unread"))
      deaf = nil
      #expect(try answers("HTTP/1.1 200"))
    }
  }
}
