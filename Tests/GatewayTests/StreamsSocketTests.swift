import Foundation
import Testing

@testable import Gateway

@Suite("streams over a socket", .serialized) struct StreamsSocketTests {
  private let subscription = StreamsFollower.subscription(prices: [0, 1])

  @Test("a socket gets its snapshot and what changes; other requests are HTTP's")
  func follows() async throws {
    let source = StreamsMarket(count: 3)
    let subscription = subscription
    try await StreamsServer.run(source) { port, hub in
      let plain = try StreamsClient(port: port)
      #expect(try plain.get("/plain").hasPrefix("HTTP/1.1 200"))
      _ = try plain.text(through: "plain")
      // The second request of a connection may open a stream, too.
      let head = try plain.upgrade("/v1/ws", headers: ["Sec-WebSocket-Protocol: x, candled.v1"])
      #expect(head.hasPrefix("HTTP/1.1 101") && head.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="))
      #expect(head.contains("candled.v1"))
      plain.send(subscription)
      #expect(try plain.message("snapshot")["parts"] as? Int == 1)
      hub.receive(.update(source.commit(stocks: [1, 2])))
      let delta = try plain.message("stock-prices")
      #expect(delta["seq"] as? Int == 2)
      #expect((delta["data"] as? [[String: Any]])?.map { $0["symbol"] as? String } == ["s1"])
      StreamsServer.goAway(hub)
      #expect(try plain.frame() == .close(code: 1001))
    }
  }

  @Test("fragments are joined, a ping in between is answered")
  func fragments() async throws {
    let subscription = Array(subscription.utf8)
    try await StreamsServer.run(StreamsMarket(count: 2)) { port, _ in
      let client = try StreamsClient(port: port)
      try client.upgrade()
      client.send(Array(subscription.prefix(9)), isLast: false)
      client.send([1, 2], opcode: 9)
      client.send(Array(subscription.dropFirst(9).prefix(9)), opcode: 0, isLast: false)
      client.send(Array(subscription.dropFirst(18)), opcode: 0)
      _ = try client.frame()
      #expect(try client.frame() == .pong([1, 2]))
      #expect(try client.message("subscribed")["id"] as? String == "7")
      client.send([0x03, 0xE8], opcode: 8)
      var last = try client.frame()
      while case .text = last { last = try client.frame() }
      #expect(last == .close(code: 1000))
      #expect(try client.frame() == .end)
    }
  }

  @Test("frames that RFC 6455 forbids close with its code")
  func violations() async throws {
    try await StreamsServer.run(StreamsMarket(count: 2)) { port, _ in
      let cases: [(code: UInt16, send: (StreamsClient) -> Void)] = [
        (1002, { $0.send([123], isMasked: false) }), (1002, { $0.send([123], opcode: 0) }),
        (1002, { $0.send([123], opcode: 3) }), (1002, { $0.send([123], opcode: 9, isLast: false) }),
        (1002, { $0.send([UInt8](repeating: 0, count: 126), opcode: 9) }),
        (1002, { $0.send([3], opcode: 8) }), (1002, { $0.send([3, 0xED], opcode: 8) }),
        (1003, { $0.send([123], opcode: 2) }), (1007, { $0.send([0xC3, 0x28]) }),
        (1009, { $0.send([UInt8](repeating: 0x20, count: 16_385)) }),
        (
          1009,
          { client in
            for number in 0..<5 {
              let bytes = [UInt8](repeating: 0x20, count: 16_384)
              client.send(bytes, opcode: number == 0 ? 1 : 0, isLast: false)
            }
          }
        ),
      ]
      for (index, one) in cases.enumerated() {
        let client = try StreamsClient(port: port)
        try client.upgrade()
        _ = try client.frame()
        one.send(client)
        #expect(try client.frame() == .close(code: one.code), "case \(index)")
        #expect(try client.frame() == .end, "case \(index)")
      }
    }
  }

  @Test("tokens: in the header, in a message, as a ticket; and at most so many connections")
  func authenticates() async throws {
    try await StreamsServer.run(StreamsMarket(count: 2), isAnonymousAllowed: false) { port, _ in
      let one = try StreamsClient(port: port)
      try one.upgrade(headers: ["Authorization: Bearer good"])
      _ = try one.message("authenticated")
      let two = try StreamsClient(port: port)
      try two.upgrade("/ws?ticket=once")
      _ = try two.message("authenticated")
      let three = try StreamsClient(port: port)
      try three.upgrade()
      three.send(#"{"action":"auth","token":"good"}"#)
      _ = try three.frame()
      #expect(try three.frame() == .close(code: 4409))
      let four = try StreamsClient(port: port)
      try four.upgrade(headers: ["Authorization: Bearer poor"])
      _ = try four.frame()
      #expect(try four.frame() == .close(code: 4403))
      let five = try StreamsClient(port: port)
      #expect(try five.upgrade(headers: ["Origin: https://bad.example"]).contains(" 403 "))
      let six = try StreamsClient(port: port)
      #expect(try six.get("/v1/stream?symbols=s0").contains(" 401 "))
      let often = ["Authorization: Bearer often"]
      let seven = try StreamsClient(port: port)
      let refusal = try seven.get("/v1/stream?symbols=s0", headers: often).lowercased()
      #expect(refusal.contains(" 429 ") && refusal.contains("retry-after: 3"))
      let eight = try StreamsClient(port: port)
      try eight.upgrade(headers: often)
      _ = try eight.frame()
      #expect(try eight.frame() == .close(code: 1013))
    }
  }

  @Test("a stream of events carries the same messages, and resumes by Last-Event-ID")
  func events() async throws {
    let source = StreamsMarket(count: 3)
    try await StreamsServer.run(source) { port, hub in
      let one = try StreamsClient(port: port)
      let head = try one.get("/v1/stream?symbols=s0,s2&every=1s")
      #expect(head.hasPrefix("HTTP/1.1 200") && head.contains("text/event-stream"))
      // nginx passes them on at once, whatever its settings.
      #expect(head.contains("x-accel-buffering: no"))
      #expect(try one.text(through: "\n\n") == "retry: 2000\n\n")
      #expect(try one.text(through: "\n\n").hasPrefix("data: {\"type\":\"welcome\""))
      #expect(try one.text(through: "\n\n").hasPrefix("data: {\"type\":\"subscribed\""))
      #expect(try one.text(through: "\n\n").hasPrefix("id: 7-1\ndata: {\"type\":\"snapshot\""))
      hub.receive(.update(source.commit(stocks: [2])))
      #expect(try one.text(through: "\n\n").hasPrefix("id: 7-2\ndata: {\"type\":\"stock-prices\""))
      one.disconnect()
      hub.receive(.update(source.commit(stocks: [0])))
      let two = try StreamsClient(port: port)
      try two.get("/v1/stream?symbols=s0,s2", headers: ["Last-Event-ID: 7-2"])
      let text = try two.text(through: "\"snapshot\"") + two.text(through: "\n\n")
      #expect(text.contains("\"recovered\":true") && text.contains("id: 7-3\n"))
      #expect(text.contains("\"s0\"") && !text.contains("\"s2\""))
    }
  }

  @Test("a socket that comes again with after gets what it missed, once")
  func reconnects() async throws {
    let source = StreamsMarket(count: 4)
    try await StreamsServer.run(source) { port, hub in
      var numbers: [Int] = []
      var after: (Int64, Int64)?
      for round in 0..<20 {
        let client = try StreamsClient(port: port)
        try client.upgrade()
        client.send(StreamsFollower.subscription(prices: [1, 2], candles: [1], after: after))
        let answer = try client.message("subscribed")
        #expect(answer["recovered"] as? Bool == (round == 0 ? nil : true))
        if round > 0 {
          numbers += try Self.numbers(of: client.message("candles"))
        }
        let live = [StreamsMarket.candle(1, number: 2 * round)]
        hub.receive(.update(source.commit(stocks: [1], messages: live)))
        let message = try client.message("candles")
        numbers += Self.numbers(of: message)
        after = (7, Int64(message["seq"] as? Int ?? 0))
        client.disconnect()
        let missed = [StreamsMarket.candle(1, number: 2 * round + 1)]
        hub.receive(.update(source.commit(stocks: [2], messages: missed)))
        try await StreamsServer.everyLoop(of: hub)
      }
      #expect(numbers == Array(0..<39))
    }
  }

  private static func numbers(of message: [String: Any]) -> [Int] {
    (message["data"] as? [[String: Any]] ?? []).compactMap { $0["number"] as? Int }
  }

  @Test("a reader that stops costs bounded memory, and then gets the newest values")
  func slowReader() async throws {
    let source = StreamsMarket(count: 20, padding: 1_000)
    try await StreamsServer.run(source) { port, hub in
      let client = try StreamsClient(port: port, receiveBufferBytes: 4_096)
      try client.upgrade()
      client.send(StreamsFollower.subscription(prices: Array(0..<20), candles: [0]))
      _ = try client.message("snapshot")
      for number in 1...1_500 {
        let candles = number % 50 == 0 ? [StreamsMarket.candle(0, number: number)] : []
        hub.receive(
          .update(source.commit(stocks: Array(0..<20), messages: candles, padding: 1_000)))
      }
      // Every loop has passed on all of it.
      try await StreamsServer.everyLoop(of: hub)
      var (bytes, slow, numbers, prices) = (0, 0, [Int](), [String: Int]())
      while prices.count < 20 || prices.values.contains(where: { $0 < 1_501 }) || numbers.count < 30
      {
        guard case .text(let text) = try client.frame() else { break }
        bytes += text.utf8.count
        let message = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        for object in message?["data"] as? [[String: Any]] ?? [] {
          if let number = object["number"] as? Int { numbers.append(number) }
          if let symbol = object["symbol"] as? String, let seq = object["seq"] as? Int {
            prices[symbol] = seq
          }
        }
        if message?["type"] as? String == "slow" { slow += 1 }
      }
      #expect(prices.count == 20 && prices.values.allSatisfy { $0 == 1_501 })
      #expect(numbers == (1...30).map { $0 * 50 })
      #expect(slow >= 1)
      // All commits together are 31 MB.
      #expect(bytes < 2_000_000, "\(bytes) bytes were kept for it")
    }
  }

  @Test("500 followers on two loops get exactly their symbols")
  func many() async throws {
    let source = StreamsMarket(count: 100)
    try await StreamsServer.run(source) { port, hub in
      var clients: [StreamsClient] = []
      for number in 0..<500 {
        let client = try StreamsClient(port: port)
        try client.upgrade()
        client.send(StreamsFollower.subscription(prices: [number % 100, (number * 7 + 1) % 100]))
        _ = try client.message("snapshot")
        clients.append(client)
      }
      #expect(hub.services.connections.open == 500)
      let changed = Array(stride(from: 0, to: 100, by: 3))
      hub.receive(.update(source.commit(stocks: changed)))
      hub.receive(.update(source.commit(stocks: Array(0..<100))))
      for (number, client) in clients.enumerated() {
        let followed = Set([number % 100, (number * 7 + 1) % 100])
        if !followed.isDisjoint(with: changed) {
          #expect(try symbols(of: client) == Set(followed.intersection(changed).map { "s\($0)" }))
        }
        #expect(try symbols(of: client) == Set(followed.map { "s\($0)" }))
      }
    }
  }

  private func symbols(of client: StreamsClient) throws -> Set<String> {
    let data = try client.message("stock-prices")["data"] as? [[String: Any]] ?? []
    return Set(data.compactMap { $0["symbol"] as? String })
  }
}
