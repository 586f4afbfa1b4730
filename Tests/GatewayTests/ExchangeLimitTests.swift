import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import Gateway

@Suite struct ExchangeLimitTests {
  private let channel = EmbeddedChannel()
  private let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/v1/watchlists")

  init() throws {
    try channel.pipeline.syncOperations.addHandler(ExchangeTimeout())
    try channel.connect(to: try SocketAddress(ipAddress: "192.0.2.1", port: 9)).wait()
  }

  private func advance(seconds: Int64) {
    channel.embeddedEventLoop.advanceTime(by: .seconds(seconds))
  }

  private func answer() throws {
    try channel.writeOutbound(
      HTTPServerResponsePart.head(HTTPResponseHead(version: .http1_1, status: .ok)))
    try channel.writeOutbound(HTTPServerResponsePart.end(nil))
  }

  @Test("a request whose body never ends closes its connection after two minutes at most")
  func slowBody() throws {
    advance(seconds: 30)
    try channel.writeInbound(HTTPServerRequestPart.head(head))
    for _ in 0..<8 {
      try channel.writeInbound(HTTPServerRequestPart.body(ByteBuffer(string: "x")))
      advance(seconds: 10)
    }
    #expect(channel.isActive)
    advance(seconds: 30)
    #expect(!channel.isActive)
  }

  @Test("a request that was refused before its body ends is no longer read after two minutes")
  func slowBodyAnswered() throws {
    try channel.writeInbound(HTTPServerRequestPart.head(head))
    try answer()
    for _ in 0..<12 {
      #expect(channel.isActive)
      try channel.writeInbound(HTTPServerRequestPart.body(ByteBuffer(string: "x")))
      advance(seconds: 10)
    }
    #expect(!channel.isActive)
  }

  @Test("one request after the other keeps it open, and none for a minute does not")
  func busy() throws {
    advance(seconds: 55)
    for _ in 0..<20 {
      try channel.writeInbound(HTTPServerRequestPart.head(head))
      try channel.writeInbound(HTTPServerRequestPart.end(nil))
      advance(seconds: 20)
      try answer()
    }
    advance(seconds: 55)
    #expect(channel.isActive)
    advance(seconds: 10)
    #expect(!channel.isActive)
  }

  @Test("an answer that takes its time is waited for, a minute and more")
  func slowAnswer() throws {
    try channel.writeInbound(HTTPServerRequestPart.head(head))
    try channel.writeInbound(HTTPServerRequestPart.end(nil))
    advance(seconds: 65)
    #expect(channel.isActive)
    try answer()
    advance(seconds: 55)
    #expect(channel.isActive)
    _ = try channel.finish()
  }
}
