import Foundation
import TestSupport
import Testing

@testable import Gateway

@Suite("streams under hostile input") struct StreamsHostileTests {
  fileprivate static let messages = [
    StreamsFollower.subscription(prices: [0, 1], every: 2, candles: [1], after: (7, 1)),
    #"{"action":"unsubscribe","id":1,"channels":[{"name":"gaps"},{"name":"market"}]}"#,
    #"{"action":"auth","token":"good"}"#, #"{"action":"ping","id":"x"}"#,
  ]

  fileprivate static func mutated(_ bytes: [UInt8], by random: inout SplitMix) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
      let index = Int.random(in: bytes.indices, using: &random)
      switch Int.random(in: 0..<3, using: &random) {
      case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
      case 1: bytes.remove(at: index)
      default: bytes.insert(contentsOf: bytes[index...].prefix(9), at: index)
      }
    }
    return bytes
  }

  @Test("mutated messages are answered or refused", arguments: UInt64(1)...10)
  func messages(seed: UInt64) {
    var random = SplitMix(seed: seed)
    let source = StreamsMarket(count: 2)
    var one = StreamsFollower(source)
    for _ in 0..<300 {
      one.now += 100
      let text = Self.messages[Int.random(in: 0..<4, using: &random)]
      let message = ClientMessage(json: Self.mutated(Array(text.utf8), by: &random))
      one.perform(
        one.follower.received(message, bytes: 0, now: one.now, in: one.market) { _ in nil })
      if !one.authorizing.isEmpty { one.authorized(.granted) }
      one.authorizing = []
      one.deliver(source.commit(stocks: [0, 1]))
      _ = one.pull()
    }
    #expect(!one.follower.isClosed, "seed \(seed)")
  }
}

/// With the other tests over sockets: their clients block a thread of the pool, so that one runs at
/// a time.
extension StreamsSocketTests {
  @Test("mutated frames end in answers or a close, and the server serves on")
  func frames() async throws {
    let source = StreamsMarket(count: 2)
    try await StreamsServer.run(source) { port, hub in
      for seed in UInt64(1)...300 {
        var random = SplitMix(seed: seed)
        let client = try StreamsClient(port: port)
        try client.upgrade(seed % 3 == 0 ? "/ws?ticket=%zz" : "/ws")
        var frame: [UInt8] = [0x81, 0xFE, 0, 200] + [0, 0, 0, 0]
        frame += Array(StreamsHostileTests.messages[0].utf8)
        client.write(StreamsHostileTests.mutated(frame, by: &random))
        hub.receive(.update(source.commit(stocks: [0])))
        client.disconnect()
      }
      let client = try StreamsClient(port: port)
      try client.upgrade()
      client.send(StreamsFollower.subscription(prices: [0]))
      _ = try client.message("snapshot")
      while hub.services.connections.open > 1 { await Task.yield() }
    }
  }
}
