import Market
import TestSupport
import Testing

@Suite struct FoldedIntegerTests {
  /// The format by its definition, a byte at a time.
  private static func plainBytes(_ number: UInt64) -> [UInt8] {
    var (rest, bytes) = (number, [UInt8]())
    while rest >= 0x80 {
      bytes.append(UInt8(rest & 0x7F) | 0x80)
      rest >>= 7
    }
    return bytes + [UInt8(rest)]
  }

  private static func bytes(_ number: UInt64) -> [UInt8] {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 10) { room in
      guard let start = room.baseAddress else { return [] }
      return Array(room[..<start.distance(to: number.encode(at: start))])
    }
  }

  @Test func `a number of any length is seven bits a byte, and read back`() {
    var random = SplitMix(seed: 20_260_706)
    var numbers: [UInt64] = [.max]
    for shift in UInt64(0)..<64 { numbers += [1 << shift, (1 << shift) - 1] }
    for place in UInt64(0)..<10_000 { numbers.append(random.next() >> (place % 64)) }
    for number in numbers {
      let bytes = Self.bytes(number)
      #expect(bytes == Self.plainBytes(number))
      var rest = bytes[...]
      #expect(UInt64(decoding: { rest.popFirst() }) == number)
      #expect(rest.isEmpty)
    }
  }

  @Test(arguments: [0, 1, -1, 64, -65, Int64.max, Int64.min])
  func `small numbers of either sign stay small`(_ number: Int64) {
    #expect(Int64(folded: number.folded) == number)
  }
}
