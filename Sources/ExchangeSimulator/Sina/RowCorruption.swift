import Market

/// What a fault does to one quote line: `var hq_str_sh600519="…";\n`.
///
/// Only rows on which a fault really shows are touched: a volume of zero times a thousand is still
/// a right volume, and calling that row invalid would make the ledger wrong.
struct RowCorruption {
  enum Outcome {
    case untouched
    /// Changed, and what counts is still right.
    case valid
    /// Changed: whoever believes this row is wrong.
    case invalid
  }

  private(set) var bytes: [UInt8]

  init(_ line: [UInt8]) { bytes = line }

  private static let hour: Int32 = 3600
  private static let backwardStamp: Int32 = 9 * 3600 + 3

  mutating func apply(
    _ fault: ActiveFault, state: InstrumentState, traits: Traits, now: Int32, servedStamp: Int32
  ) -> Outcome {
    switch fault.kind {
    case .emptyLine:
      guard let quote = bytes.firstIndex(of: UInt8(ascii: "\"")) else { return .untouched }
      bytes.replaceSubrange(quote..., with: "\"\";\n".utf8)
    case .missingRow:
      bytes = []
    case .garbageRow:
      garble(fault)
    case .notANumber:
      setField(3, to: "NaN")
    case .negative:
      setField(3, to: "-1.000")
    case .highBelowLow:
      setField(4, to: "1.000")
      setField(5, to: "2.000")
    case .priceTimesThousand where state.last > 0:
      setField(3, to: scaled(state.last, scale: traits.scale))
      setField(4, to: scaled(state.high, scale: traits.scale))
    case .volumeTimesThousand where state.volume > 0 && !traits.isIndex:
      setField(8, to: String(state.volume * 1000))
    case .futureStamp:
      // An hour after now, not after its own stamp: a quiet line's last change may be long ago.
      setField(31, to: clockText(Int(now + RowCorruption.hour)))
    case .backwardStamp where servedStamp > RowCorruption.backwardStamp && servedStamp < Int32.max:
      setField(31, to: clockText(Int(RowCorruption.backwardStamp)))
    case .brokenName:
      return breakName()
    case .duplicateRow:
      bytes += bytes
      return .valid
    default:
      return .untouched
    }
    return .invalid
  }

  private func scaled(_ units: Int64, scale: UInt8) -> String {
    ExactDecimal(units: units * 1000, scale: scale).description
  }

  /// Where field `number` stands; fields count from 0, the name.
  private func range(ofField number: Int) -> Range<Int>? {
    guard let quote = bytes.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
    var start = quote + 1
    var place = start
    var left = number
    while place < bytes.count {
      if bytes[place] == UInt8(ascii: ",") || bytes[place] == UInt8(ascii: "\"") {
        if left == 0 { return start..<place }
        left -= 1
        start = place + 1
      }
      place += 1
    }
    return nil
  }

  private mutating func setField(_ number: Int, to text: String) {
    if let range = range(ofField: number) { bytes.replaceSubrange(range, with: text.utf8) }
  }

  /// Bytes that are no digits, over the open and the previous close.
  private mutating func garble(_ fault: ActiveFault) {
    guard let open = range(ofField: 1), let reference = range(ofField: 2) else { return }
    let noise = fault.noise(bytes: reference.upperBound - open.lowerBound)
    for (place, byte) in zip(open.lowerBound..<reference.upperBound, noise) {
      bytes[place] = byte | 0x80
    }
  }

  /// 0xFF begins no character of GB18030, and none of UTF-8.
  private mutating func breakName() -> Outcome {
    guard let name = range(ofField: 0), !name.isEmpty else { return .untouched }
    bytes[name.lowerBound] = 0xFF
    return .valid
  }
}
