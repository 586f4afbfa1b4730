import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import Gateway

@Suite struct LivenessTests {
  private let channel = EmbeddedChannel()

  init() throws {
    try channel.pipeline.syncOperations.addHandler(LivenessHandler())
    try channel.connect(to: try SocketAddress(ipAddress: "192.0.2.1", port: 9)).wait()
  }

  /// - Returns: whether it was passed on.
  private func ask(_ path: String) throws -> Bool {
    var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: path)
    head.headers.add(name: "Host", value: "test")
    try channel.writeInbound(HTTPServerRequestPart.head(head))
    try channel.writeInbound(HTTPServerRequestPart.end(nil))
    var count = 0
    while try channel.readInbound(as: HTTPServerRequestPart.self) != nil { count += 1 }
    return count == 2
  }

  private func answers() throws -> [HTTPServerResponsePart] {
    var parts: [HTTPServerResponsePart] = []
    while let part = try channel.readOutbound(as: HTTPServerResponsePart.self) {
      parts.append(part)
    }
    return parts
  }

  @Test func `livez is answered on the event loop, and no other path is`() throws {
    #expect(try ask("/livez") == false)
    let parts = try answers()
    #expect(parts.count == 3)
    #expect(
      parts.dropFirst().first == .body(.byteBuffer(ByteBuffer(string: #"{"status":"alive"}"#))))
    #expect(try ask("/readyz") == true)
    #expect(try answers().isEmpty)
  }

  @Test func `behind a request that has no answer yet livez waits for its turn`() throws {
    #expect(try ask("/v1/market") == true)
    #expect(try ask("/livez") == true)
    for _ in 0..<2 {
      try channel.writeOutbound(
        HTTPServerResponsePart.head(HTTPResponseHead(version: .http1_1, status: .ok)))
      try channel.writeOutbound(HTTPServerResponsePart.end(nil))
    }
    _ = try answers()
    #expect(try ask("/livez") == false)
  }
}
