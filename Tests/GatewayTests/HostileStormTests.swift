import Dispatch
import Foundation
import Platform
import TestSupport
import TestTraits
import Testing

@testable import Gateway

/// Crowds of clients that mean no good, in small; `script/trials storm` is the large form.
@Suite(.ownThread, .serialized) struct HostileStormTests {
  private static let crowd = 300

  @Test("a gateway that stops in a storm of connections ends in order", .timeLimit(.minutes(2)))
  func stops() async throws {
    for round in 0..<6 {
      let (service, port) = try await HostileServer.start()
      let stormed = DispatchSemaphore(value: 0)
      try DetachedThread.start(name: "storm") {
        var clients: [StreamsClient] = []
        for _ in 0..<500 { (try? StreamsClient(port: port)).map { clients.append($0) } }
        stormed.signal()
      }
      usleep(UInt32(round) * 3_000)
      service.cancel()
      try await service.value
      stormed.wait()
    }
  }

  /// Whether a client that does as it should is served.
  private func expectService(port: Int) throws {
    let client = try StreamsClient(port: port)
    #expect(try client.get("/livez").hasPrefix("HTTP/1.1 200"))
    _ = try client.text(through: "alive\"}")
    #expect(try client.get("/v1/market").hasPrefix("HTTP/1.1 200"))
    let stream = try StreamsClient(port: port)
    #expect(try stream.upgrade().hasPrefix("HTTP/1.1 101"))
    _ = try stream.message("welcome")
  }

  @Test("300 heads that never end keep nobody from being served")
  func slowHeads() async throws {
    try await HostileServer.run { port in
      let slow = try (0..<Self.crowd).map { _ in try StreamsClient(port: port) }
      for letter in "GET /v1/market HTTP/1.1\r\nHost: x\r\nX-Slow: ab" {
        for client in slow { client.write(Array(letter.utf8)) }
        if letter == "/" { try expectService(port: port) }
      }
      try expectService(port: port)
    }
  }

  @Test("what stands behind a request for a stream is not answered within it")
  func trailing() async throws {
    let (service, port) = try await HostileServer.start()
    let client = try StreamsClient(port: port)
    client.write(
      Array("GET /v1/stream?symbols=s0 HTTP/1.1\r\nHost: x\r\n\r\n\0garbage\r\n\r\n".utf8))
    _ = try client.text(through: "retry: 2000")
    try expectService(port: port)
    service.cancel()
    try await service.value
    #expect(!String(decoding: client.rest(), as: UTF8.self).contains("HTTP/1.1"))
  }

  @Test("what is too large is refused, wherever it stands")
  func oversized() async throws {
    try await HostileServer.run { port in
      let long = String(repeating: "a", count: 9_000)
      for head in [
        "GET /\(long) HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /livez HTTP/1.1\r\nHost: x\r\nX-Long: \(long)\r\n\r\n",
        "GET /livez HTTP/1.1\r\nHost: x\r\n\(long): x\r\n\r\n",
        "GET /livez HTTP/1.1\r\nHost: x\r\n"
          + String(repeating: "X-Many: x\r\n", count: 200) + "\r\n",
      ] {
        let client = try StreamsClient(port: port)
        client.write(Array(head.utf8))
        let text = try? client.text(through: "\r\n")
        #expect(text == nil || text?.hasPrefix("HTTP/1.1 4") == true, "\(text ?? "")")
      }
      let post = try StreamsClient(port: port)
      post.write(
        Array("POST /v1/watchlists HTTP/1.1\r\nHost: x\r\nContent-Length: 70000\r\n\r\n".utf8))
      for _ in 0..<70 { post.write([UInt8](repeating: 0x20, count: 1_000)) }
      #expect(try post.text(through: "\r\n").hasPrefix("HTTP/1.1 4"))
      try expectService(port: port)
    }
  }

  @Test("floods of bad frames close their own connections only")
  func frames() async throws {
    try await HostileServer.run { port in
      let floods: [(UInt16, (StreamsClient) -> Void)] = [
        // Unmasked, wrong UTF-8, cut UTF-8, too long in all, a frame of 2^63 bytes.
        (1002, { $0.send(Array("{}".utf8), isMasked: false) }),
        (1007, { $0.send([0x22, 0xC3, 0x28, 0x22]) }), (1007, { $0.send([0x22, 0xE4, 0xB8]) }),
        (
          1009,
          { client in
            let part = [UInt8](repeating: 0x20, count: 16_000)
            client.send(part, isLast: false)
            for _ in 0..<5 { client.send(part, opcode: 0, isLast: false) }
          }
        ), (1009, { $0.write([0x81, 0xFF, 0x7F] + [UInt8](repeating: 0xFF, count: 7)) }),
        (4429, { client in for _ in 0..<500 { client.send([], opcode: 0, isLast: false) } }),
      ]
      for (code, flood) in floods {
        var clients: [StreamsClient] = []
        for _ in 0..<Self.crowd / floods.count {
          let client = try StreamsClient(port: port)
          try client.upgrade()
          if code == 4429 { client.send([], isLast: false) }
          flood(client)
          clients.append(client)
        }
        try expectService(port: port)
        for client in clients {
          var last = try client.frame()
          while case .text = last { last = try client.frame() }
          #expect(last == .close(code: code) || last == .end, "\(code)")
        }
      }
    }
  }
}
