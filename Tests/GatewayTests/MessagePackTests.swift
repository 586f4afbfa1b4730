import Foundation
import Market
import TestSupport
import Testing

@testable import Gateway

@Suite struct MessagePackTests {
  @Test("what is written is read again as the same JSON, at every length")
  func roundTrip() {
    var random = SplitMix(seed: 5)
    for count in [0, 1, 15, 16, 31, 32, 255, 256, 70_000] {
      var packed = MessagePackWriter()
      var text = JSONWriter()
      packed.array(count: count + 1)
      let long = String(repeating: "茅", count: min(count, 20_000))
      packed.string(long)
      text.array { list in
        list.string(long)
        for _ in 0..<count {
          let number = Int64.random(in: .min ... .max, using: &random) >> Int64(count % 64)
          packed.map(count: 1)
          packed.string("n")
          packed.integer(number)
          list.object { $0.member("n") { $0.integer(number) } }
        }
      }
      #expect(MessagePackReader.json(of: packed.bytes) == text.bytes, "\(count)")
    }
  }

  @Test("every type of the specification is read")
  func types() {
    let cases: [(bytes: [UInt8], json: String?)] = [
      ([0xC0], "null"), ([0xC2], "false"), ([0xC3], "true"), ([0x7F], "127"), ([0xE0], "-32"),
      ([0xCC, 0xFF], "255"), ([0xCD, 1, 0], "256"), ([0xCE, 0, 1, 0, 0], "65536"),
      ([0xCF] + [UInt8](repeating: 0xFF, count: 8), "9223372036854775807"),
      ([0xD0, 0x80], "-128"), ([0xD1, 0xFF, 0], "-256"), ([0xD2, 0xFF, 0, 0, 0], "-16777216"),
      ([0xD3, 0x80, 0, 0, 0, 0, 0, 0, 0], "-9223372036854775808"),
      ([0xCA, 0, 0, 0, 0], "null"), ([0xCB, 0, 0, 0, 0, 0, 0, 0, 0], "null"),
      ([0xC4, 1, 7], "null"), ([0xC7, 1, 5, 7], "null"), ([0xD4, 5, 7], "null"),
      ([0xD7, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0], "null"), ([0xD9, 1, 0x61], "\"a\""),
      ([0xDA, 0, 1, 0x61], "\"a\""), ([0xDB, 0, 0, 0, 1, 0x61], "\"a\""),
      ([0xDC, 0, 1, 0xC0], "[null]"), ([0xDD, 0, 0, 0, 1, 0xC0], "[null]"),
      ([0xDE, 0, 1, 0xA1, 0x61, 1], "{\"a\":1}"), ([0xDF, 0, 0, 0, 1, 0xA1, 0x61, 1], "{\"a\":1}"),
      ([], nil), ([0xC1], nil), ([0xC0, 0xC0], nil), ([0xA1], nil), ([0xA1, 0xFF], nil),
      ([0x81, 1, 1], nil), ([0x92, 1], nil), ([0xDD, 0xFF, 0xFF, 0xFF, 0xFF], nil),
      ([0xDB, 0xFF, 0xFF, 0xFF, 0xFF, 0x61], nil), ([0xC9, 0xFF, 0xFF, 0xFF, 0xFF, 1], nil),
    ]
    for (bytes, json) in cases {
      let found = MessagePackReader.json(of: bytes).map { String(decoding: $0, as: UTF8.self) }
      #expect(found == json, "\(bytes)")
    }
  }

  @Test("a nest deeper than the bound is refused")
  func depth() {
    for depth in [1, MessagePackReader.depthMax, MessagePackReader.depthMax + 1, 100_000] {
      let nest = [UInt8](repeating: 0x91, count: depth) + [0xC0]
      #expect(
        (MessagePackReader.json(of: nest) != nil) == (depth <= MessagePackReader.depthMax))
    }
  }

  @Test("whatever bytes come, the answer is JSON of bounded size, or none")
  func hostile() throws {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(seed: seed)
    var request = MessagePackWriter()
    request.map(count: 2)
    request.string("action")
    request.string("subscribe")
    request.string("bars")
    request.array(count: 20)
    for number in 0..<20 { request.string("sh\(600_000 + number)") }
    for round in 0..<20_000 {
      var bytes = round.isMultiple(of: 2) ? request.bytes : []
      for _ in 0..<Int.random(in: 1...8, using: &random) {
        let byte = UInt8.random(in: .min ... .max, using: &random)
        let index = Int.random(in: 0...bytes.count, using: &random)
        if index < bytes.count, Bool.random(using: &random) { bytes.remove(at: index) }
        bytes.insert(byte, at: min(index, bytes.count))
      }
      guard let json = MessagePackReader.json(of: bytes) else { continue }
      #expect(json.count <= 22 * bytes.count, "seed \(seed)")
      let value = try? JSONSerialization.jsonObject(with: Data(json), options: .fragmentsAllowed)
      #expect(value != nil, "seed \(seed) \(bytes)")
    }
  }

  @Test("decimals are the nearest binary numbers, times keep their microseconds")
  func values() throws {
    var packed = MessagePackWriter()
    packed.number(try ExactDecimal("1769.040"))
    let bits = packed.bytes.dropFirst().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    #expect(packed.bytes.first == 0xCB && Double(bitPattern: bits) == 1769.04)
    var moment = MessagePackWriter()
    moment.moment(Timestamp(microseconds: 1_783_302_600_000_007))
    let word = moment.bytes.dropFirst(2).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    #expect(moment.bytes.prefix(2) == [0xD7, 0xFF])
    #expect(word >> 34 == 7_000 && word & 0x3_FFFF_FFFF == 1_783_302_600)
  }
}
